"""Samples that others lack: what they add beyond chance, and how many samples add as much."""

import math

import numpy as np
import pytest

from vendiscore import as_similarity, novelty
from vendiscore_page.answers.distinctive_samples import distinct

A = ["a cat sat", "a dog sat", "the cat ran", "it snows", "a cat sat"]
B = ["a dog ran", "a cat ran", "the dog sat here"]
X = np.random.default_rng(0).normal(size=(30, 4))
SETS = [
    (A, B, {"k": "ngram_overlap", "ns": [1, 2]}),
    (B, A, {"k": "ngram_overlap", "ns": [1]}),
    (X[:20], X[20:], {"k": "cosine"}),
    (X[:15], X[15:], {"k": "rbf", "sigma": 2.0}),
]


def share(samples, references, **how):
    """Return novelty as a share of what a sample adds that nothing is like."""
    found = novelty(samples, references, **how)
    return found.values / found.most


@pytest.mark.parametrize(("samples", "references", "how"), SETS)
def test_the_excess_is_novelty_above_its_mean_over_shuffles(samples, references, how):
    n, both = len(samples), [*samples, *references]
    turns, rng = math.ceil(len(both) / n), np.random.default_rng(0)
    drawn = [[] for _ in both]
    for turn in range(12):
        order = np.roll(order, -n) if turn % turns else rng.permutation(len(both))  # noqa: F821
        sets = [[both[i] for i in part] for part in (order[:n], order[n:])]
        sets = sets if isinstance(samples, list) else map(np.array, sets)
        for i, value in zip(order[:n], share(*sets, **how), strict=True):
            drawn[i].append(value)
    expected = share(samples, references, **how) - [np.mean(own) for own in drawn[:n]]
    together = both if isinstance(samples, list) else X
    excess, false = distinct(as_similarity(together, **how), n, 12)
    assert excess == pytest.approx(expected, abs=1e-9)
    assert (np.diff(false[np.argsort(excess)]) <= 0).all()
    assert ((false >= 0) & (false <= 1)).all()


def test_a_kind_of_one_set_is_beyond_chance_and_a_sample_like_no_other_is_not():
    samples = ["new"] * 6 + ["old"] * 5 + ["once"]
    references = ["old"] * 11 + ["also once"]
    _, false = distinct(as_similarity(samples + references, k="labels"), 12, 100)
    assert false[0] < 0.05 < 0.5 < false[-1]


def test_of_two_draws_of_one_source_few_samples_are_told_apart():
    told, excess = 0, []
    for seed in range(20):
        kinds = np.random.default_rng(seed).integers(30, size=60).tolist()
        above, false = distinct(as_similarity(kinds, k="labels"), 25, 24)
        told += (false <= 0.1).any()
        excess.append(above.mean())
    assert told <= 5
    assert abs(np.mean(excess)) < 0.02
