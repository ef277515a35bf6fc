"""StackedSpectra returns the same scores as separate sets."""

import math
import warnings

import numpy as np
import pytest
from circulant_matrices import HALF_SPECTRA, ORDERS, circulant_matrix, circulant_score

from vendiscore import MatrixSimilarity, compute
from vendiscore.scoring.jackknife import influence
from vendiscore.spectral.stacked_spectra import StackedSpectra
from vendiscore.spectral.vendi_scores import compute_spectrum

X = np.random.default_rng(0).normal(size=(4, 7, 3))
X /= np.linalg.norm(X, axis=-1, keepdims=True)
X[1, 3] = X[1, 5]  # a duplicate
K = X @ X.swapaxes(-1, -2)


@pytest.mark.parametrize("q", [0.5, 1, 1.7, 2, 3, math.inf])
def test_log_scores_leaving_each_out_match_scores_of_the_others(q):
    log_scores = StackedSpectra(K, None, [q], vectors=True).log_scores_leaving_each_out(q)
    assert log_scores.shape == (4, 7)
    for i in range(4):
        for j in range(7):
            (score,) = compute(np.delete(X[i], j, axis=0), k="cosine", q=q).values()
            assert log_scores[i, j] == pytest.approx(math.log(score), abs=1e-8)


@pytest.mark.parametrize("q", [0.5, 1, 3, math.inf])
def test_compute_influence_matches_the_influence_of_single_sets(q):
    influences = StackedSpectra(K, None, [q], vectors=True).compute_influence(q)
    for matrix, set_influence in zip(K, influences, strict=True):
        spectrum = compute_spectrum(MatrixSimilarity(matrix), vectors=True)
        assert set_influence == pytest.approx(influence(spectrum, q), abs=1e-9)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("vectors", [False, True])
def test_stacked_scores_match_known_eigenvalues(q, vectors):
    stack = StackedSpectra(
        np.array([circulant_matrix(name) for name in HALF_SPECTRA]), None, [q], vectors=vectors
    )
    assert stack.values[0] == pytest.approx(
        [circulant_score(name, q) for name in HALF_SPECTRA], rel=1e-7
    )
    assert not stack.unusual.any()
    if vectors:
        for K, values, V in zip(stack.K, stack.eigenvalues.values, stack.vectors, strict=True):
            assert pytest.approx(K, abs=1e-9) == (V * values) @ V.T
            assert (np.diff(values) <= 0).all()


@pytest.mark.parametrize("q", ORDERS)
def test_negative_eigenvalues_are_marked_or_clipped(q):
    names = ["falling", "slightly negative", "negative"]
    K = np.array([circulant_matrix(name) for name in names])
    marked = StackedSpectra(K, None, [q, 1.5]).unusual.tolist()
    assert marked == [False, False, True]
    clipped = StackedSpectra(K, None, [q], "clip")
    assert not clipped.unusual.any()
    assert clipped.values[0] == pytest.approx(
        [circulant_score(name, q) for name in names], rel=1e-9
    )
    assert clipped.is_clipped.tolist() == [False, True, True]


def test_truncated_eigenvalues_of_a_set_warn_once_below_order_1():
    F = np.linalg.qr(np.random.default_rng(0).standard_normal((30, 30)))[0] * 10.0 ** -np.arange(30)
    F /= np.linalg.norm(F, axis=1, keepdims=True)
    K = np.array([F @ F.T, np.eye(30)])
    message = r"^in 1 of 2 groups, up to \d+ eigenvalues below"
    with pytest.warns(UserWarning, match=message) as caught:
        StackedSpectra(K, None, [0.5]).warn_about_truncation([0.5])
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        StackedSpectra(K, None, [1.5]).warn_about_truncation([1.5])


def test_rounding_errors_of_float32_entries_are_ignored_below_order_1():
    X = np.random.default_rng(0).standard_normal((20, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    single = MatrixSimilarity((X @ X.T).astype(np.float32)).noted(roundoff=2.0**-23)
    stack = StackedSpectra(np.float64(single.K)[None], None, [0.0, 0.5], similarity=single)
    exact = compute_spectrum(MatrixSimilarity(X @ X.T))
    assert stack.values[0].tolist() == [3]
    assert stack.values[1] == pytest.approx(exact.effective_number(0.5), rel=1e-5)


@pytest.mark.parametrize("q", [1.0, 1.5])
def test_small_eigenvalues_of_float32_entries_are_kept_from_order_1_on(q):
    labels = np.arange(60) % 2
    K = ((1 - 3e-6) * (labels[:, None] == labels)).astype(np.float32)
    np.fill_diagonal(K, 1)
    single = MatrixSimilarity(K).noted(roundoff=2.0**-23)
    (score,) = StackedSpectra(np.float64(K)[None], None, [q], similarity=single).values[0]
    exact = compute_spectrum(MatrixSimilarity(np.float64(K))).effective_number(q)
    assert score == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("q", [0.0, 1.0, 2.0, 5.0, math.inf])
def test_scores_reach_their_minimum_and_maximum(q):
    K = np.array([np.eye(7), np.ones((7, 7))])
    assert StackedSpectra(K, None, [q]).values[0] == pytest.approx([7, 1], rel=1e-12)
    for matrix, score in zip(K, (7, 1), strict=True):
        (result,) = compute(matrix, score_K=True, q=q).values()
        assert result == pytest.approx(score, rel=1e-12)


def test_invalid_matrices_are_marked_as_unusual():
    K = np.array([np.eye(3), [[1, 3, 0], [3, 1, 0], [0, 0, 1]]])
    stack = StackedSpectra(K, None, [2.0])
    assert stack.unusual.tolist() == [False, True]
    assert np.isnan(stack.values[0]).tolist() == [False, True]
