"""Surprise beyond chance: above its mean over shuffles."""

import math

import numpy as np
import pytest

from vendiscore import surprise

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
def test_it_is_above_the_mean_over_shuffles_that_leave_the_sample_in_its_set(
    samples, references, how
):
    n, both = len(samples), [*samples, *references]
    turns, rng = math.ceil(len(both) / n), np.random.default_rng(0)
    drawn = [[] for _ in both]
    for turn in range(2 * turns):
        order = np.roll(order, -n) if turn % turns else rng.permutation(len(both))  # noqa: F821
        sets = [[both[i] for i in part] for part in (order[:n], order[n:])]
        sets = sets if isinstance(samples, list) else map(np.array, sets)
        for i, value in zip(order[:n], surprise(*sets, **how), strict=True):
            drawn[i].append(value)
    expected = surprise(samples, references, **how) - [np.mean(own) for own in drawn[:n]]
    found = surprise(samples, references, permutations=2 * turns, **how)
    assert found == pytest.approx(expected, abs=1e-7)


def test_a_sample_like_no_other_says_nothing_and_a_kind_of_one_set_much():
    samples = ["new"] * 6 + ["old"] * 5 + ["once"]
    references = ["old"] * 11 + ["also once"]
    plain = surprise(samples, references, k="labels")
    found = surprise(samples, references, k="labels", permutations=100)
    assert plain[-1] == pytest.approx(plain[0]) == pytest.approx(math.log(2))
    assert found[-1] == pytest.approx(0)
    assert found[0] > 0.5
    assert found[6] < 0


def test_each_sample_must_have_its_turn():
    with pytest.raises(ValueError, match="`permutations` must be at least 15, so that each of 30 "):
        surprise(X[:2], X[2:], k="cosine", permutations=9)
    with pytest.raises(ValueError, match="`permutations` must be an integer of at least 0"):
        surprise(X[:2], X[2:], k="cosine", permutations=-1)
