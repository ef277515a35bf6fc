"""Samples that others lack: their witness, its level, and p of their set."""

import numpy as np
import pytest

from vendiscore import as_similarity
from vendiscore_page.answers.distinctive_samples import EXCHANGES, witnesses_of

A = ["a cat sat", "a dog sat", "the cat ran", "it snows", "a cat sat"]
B = ["a dog ran", "a cat ran", "the dog sat here"]
X = np.random.default_rng(0).normal(size=(30, 4))


def alike(samples, **how) -> np.ndarray:
    K = np.array(as_similarity(samples, **how).dense())
    np.fill_diagonal(K, 0.0)
    return K


@pytest.mark.parametrize(
    ("K", "n"),
    [(alike([*A, *B], k="ngram_overlap", ns=[1, 2]), 5), (alike(X, k="rbf", sigma=2.0), 12)],
)
def test_a_witness_is_the_mean_likeness_to_its_own_set_less_that_to_others(K, n):
    own = np.arange(len(K)) < n

    def naive(own):
        inside, outside = np.flatnonzero(own), np.flatnonzero(~own)
        values = [K[i, inside].sum() / (len(inside) - 1) - K[i, outside].mean() for i in inside]
        others = [K[i, inside].mean() - K[i, outside].sum() / (len(outside) - 1) for i in outside]
        return np.array(values), np.mean(values) - np.mean(others)

    rng = np.random.default_rng(0)
    drawn = [naive(rng.permutation(own)) for _ in range(EXCHANGES)]
    values, squared = naive(own)
    witnesses, least, p = witnesses_of(K, own)
    assert witnesses == pytest.approx(values, abs=1e-12)
    assert p == (1 + sum(each >= squared - 1e-12 for _, each in drawn)) / (EXCHANGES + 1)
    chance = np.concatenate([each for each, _ in drawn])
    assert least == pytest.approx(np.quantile(chance, 0.95), abs=1e-12)


def test_a_kind_of_one_set_is_beyond_chance_and_a_sample_like_no_other_is_not():
    samples = ["new"] * 6 + ["old"] * 5 + ["once"] + ["old"] * 11 + ["also once"]
    witnesses, least, p = witnesses_of(alike(samples, k="labels"), np.arange(24) < 12)
    assert witnesses[0] > least > witnesses[11]
    assert p <= 0.05
