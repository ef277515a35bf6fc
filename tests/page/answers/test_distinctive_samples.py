"""Samples that others lack: their surprise beyond chance, and how many samples have as much."""

import numpy as np
import pytest

from vendiscore import as_similarity, surprise
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


@pytest.mark.parametrize(("samples", "references", "how"), SETS)
def test_excess_of_samples_compared_before_is_that_of_both_sets(samples, references, how):
    together = [*samples, *references] if isinstance(samples, list) else X
    excess, false = distinct(as_similarity(together, **how), len(samples), 12)
    right = surprise(samples, references, permutations=12, **how)
    assert excess == pytest.approx(right, abs=1e-9)
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
