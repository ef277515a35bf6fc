"""Coverage of jackknife intervals, and bias of the bootstrap."""

import math

import numpy as np
import pytest
from populations import draw_molecules, draw_vectors

from vendiscore import FeatureSimilarity, as_similarity, compute, score
from vendiscore.result import key_at
from vendiscore.scoring.jackknife import influence_error, jackknife
from vendiscore.spectral.vendi_scores import compute_spectrum

KERNELS = {
    "linear": (draw_vectors, {"k": "cosine"}),
    "rbf": (draw_vectors, {"k": "rbf", "sigma": 2.0}),
    "tanimoto": (draw_molecules, {"k": "morgan"}),
}


def draw_similarity(name: str, n: int, seed: int):
    source, options = KERNELS[name]
    return as_similarity(source(np.random.default_rng(seed), n), **options)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [40, 80])
def test_intervals_cover_the_expected_score(name, n):
    """benchmarks/intervals.py tests 300 sets of 100 and of 400 samples: 92 to 98 % coverage."""
    if name == "tanimoto":
        pytest.importorskip("rdkit")
    result = [
        jackknife(compute_spectrum(draw_similarity(name, n, seed), vectors=True))
        for seed in range(100)
    ]
    expected = np.mean([estimate.log_score for estimate in result])
    is_covered = [
        abs(estimate.log_score - expected) <= 1.96 * estimate.error for estimate in result
    ]
    assert 0.88 <= np.mean(is_covered) <= 1


@pytest.mark.parametrize("q", [0.5, 1, 1.5, 2, math.inf])
def test_jackknife_error_matches_leave_one_out_scores(q):
    X = np.random.default_rng(0).normal(size=(15, 4))
    leave_out_scores = [
        math.log(compute(np.delete(X, i, axis=0), k="cosine", q=q)[key_at(q)])
        for i in range(len(X))
    ]
    score = math.log(compute(X, k="cosine", q=q)[key_at(q)])
    result = jackknife(compute_spectrum(as_similarity(X, k="cosine"), vectors=True), q)
    assert result.log_score == pytest.approx(score, rel=1e-9)
    assert result.error == pytest.approx(math.sqrt(14 * np.var(leave_out_scores)), rel=1e-6)


@pytest.mark.parametrize("q", [0.5, 1, 2, 3, math.inf])
def test_influence_error_is_close_to_jackknife_for_many_samples(q):
    X = np.random.default_rng(0).normal(size=(60, 4)) + 0.5
    result = compute_spectrum(as_similarity(X, k="cosine"), vectors=True)
    assert influence_error(result, q) == pytest.approx(jackknife(result, q).error, rel=0.1)


@pytest.mark.parametrize("q", [0.5, 1, 3, math.inf])
def test_influence_error_matches_finite_differences_of_weights(q):
    X = np.random.default_rng(0).normal(size=(10, 3)) + 0.5
    step = 1e-5

    def log_score(w):
        return math.log(compute(X, k="cosine", q=q, p=w / w.sum())[key_at(q)])

    slopes = []
    for i in range(10):
        up, down = np.full(10, 0.1), np.full(10, 0.1)
        up[i] += step
        down[i] -= step
        slopes.append((log_score(up) - log_score(down)) / (2 * step))
    result = influence_error(compute_spectrum(as_similarity(X, k="cosine"), vectors=True), q)
    assert result == pytest.approx(math.sqrt(np.sum(np.square(slopes))) / 10, rel=1e-5)


def test_bootstrap_scores_are_far_below_the_score():
    """A bootstrap is not offered because it is 1 to 36 % low in benchmarks/intervals.py."""
    similarity = draw_similarity("rbf", 60, 0)
    rng = np.random.default_rng(0)
    draws = [score(similarity.take(rng.integers(60, size=60))) for _ in range(30)]
    assert max(draws) < score(similarity)
    assert np.mean(draws) < 0.8 * score(similarity)


def test_error_of_identical_and_of_orthogonal_samples_is_zero():
    for X in (np.eye(6), np.ones((6, 1))):
        result = jackknife(compute_spectrum(FeatureSimilarity(X), vectors=True))
        assert result.error == pytest.approx(0, abs=1e-7)
