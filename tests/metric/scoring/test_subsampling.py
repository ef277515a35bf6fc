"""Half-sampling estimates the standard error of a score."""

import math

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, score
from vendiscore.scoring.jackknife import jackknife
from vendiscore.scoring.subsampling import half_sampling_error
from vendiscore.spectral.vendi_scores import compute_spectrum


def estimate_error(n, evaluate, draws=20, seed=0):
    return float(half_sampling_error(n, evaluate, n // 2, draws, np.random.default_rng(seed)))


@pytest.mark.parametrize("n", [20, 101])
def test_squared_half_sampling_error_of_a_mean_is_unbiased(n):
    """E (a − b)²/2 · m/n = σ²/n for the mean of n numbers of variance σ², also for odd n."""
    rng = np.random.default_rng(0)

    def square(x, seed):
        return estimate_error(n, lambda indices: x[indices].mean(), draws=4, seed=seed) ** 2

    squares = [square(rng.exponential(size=n), seed) for seed in range(1000)]
    assert np.mean(squares) == pytest.approx(1 / n, abs=4 * np.std(squares) / math.sqrt(1000))


def test_half_sampling_error_of_a_mean_matches_standard_error():
    x = np.random.default_rng(0).normal(size=50)
    result = estimate_error(50, lambda indices: x[indices].mean(), draws=4000)
    assert result == pytest.approx(x.std(ddof=1) / math.sqrt(50), rel=0.04)


def test_half_sampling_error_of_vendi_score_matches_jackknife():
    X = np.random.default_rng(0).normal(size=(200, 5)) + 1
    similarity = FeatureSimilarity(X).normalized()

    def log_score(indices):
        return math.log(score(similarity.take(indices)))

    result = estimate_error(200, log_score, draws=100)
    assert result == pytest.approx(
        jackknife(compute_spectrum(similarity, vectors=True)).error, rel=0.2
    )


def test_halves_are_disjoint_and_depend_on_seed():
    halves = []
    estimate_error(9, lambda indices: halves.append(indices) or 0.0, draws=3)
    assert [len(half) for half in halves] == [4] * 6
    for a, b in zip(halves[::2], halves[1::2], strict=True):
        assert not set(a) & set(b)
        assert (np.diff(a) > 0).all()
    first = list(halves)
    halves.clear()
    estimate_error(9, lambda indices: halves.append(indices) or 0.0, draws=3, seed=1)
    assert any(not np.array_equal(a, b) for a, b in zip(first, halves, strict=True))


def test_half_sampling_error_of_a_constant_is_zero():
    assert estimate_error(4, lambda indices: -0.0) == 0.0
