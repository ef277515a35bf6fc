"""Vendi Scores compared with a naive implementation and with theorems of the paper."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vendiscore import NotPSDError, SampleError, compute
from vendiscore.core.score import score_K, score_X

ORDERS = (0.0, 0.3, 1.0, 1.0 + 1e-9, 1.5, 2.0, 5.0, math.inf)
rng = np.random.default_rng(0)


def naive_score(K, q, p=None):
    """Return the Hill number of the eigenvalues of K_p, directly from the definition."""
    p = np.full(len(K), 1 / len(K)) if p is None else p
    values = np.linalg.eigh(np.sqrt(np.outer(p, p)) * K)[0]
    values = values[values > len(K) * np.finfo(float).eps * values.max()]
    if q == 0:
        return len(values)
    if q == math.inf:
        return 1 / values.max()
    if abs(q - 1) < 1e-6:
        return math.exp(-np.sum(values * np.log(values)))
    return np.sum(values**q) ** (1 / (1 - q))


def draw_unit_rows(n, d, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def draw_similarities(n, d, seed=0):
    X = draw_unit_rows(n, d, seed)
    return X @ X.T


def draw_weights(n, seed=0):
    p = np.random.default_rng(seed).random(n)
    return p / p.sum()


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 3), (8, 3), (30, 50), (200, 20)])
def test_scores_match_definition(n, d, q):
    K, X, p = draw_similarities(n, d), draw_unit_rows(n, d), draw_weights(n)
    for row_weights in (None, p):
        assert score_K(K, q, row_weights) == pytest.approx(naive_score(K, q, row_weights), rel=1e-6)
        assert score_X(X, q, row_weights) == pytest.approx(naive_score(K, q, row_weights), rel=1e-6)
    scaled = K * np.outer(range(1, n + 1), range(1, n + 1))
    assert score_K(scaled, q, normalize=True) == pytest.approx(naive_score(K, q), rel=1e-6)
    longer = X * np.arange(1, n + 1)[:, None]
    assert score_X(longer, q) == pytest.approx(naive_score(K, q), rel=1e-6)


@pytest.mark.parametrize("q", ORDERS)
def test_unrelated_samples_score_n_and_identical_score_1(q):
    """Theorem 3.1 a: n unrelated samples score n, and n identical samples score 1."""
    assert score_K(np.eye(7), q) == pytest.approx(7, rel=1e-12)
    assert score_K(np.ones((7, 7)), q) == pytest.approx(1, rel=1e-12)
    p = np.array([0.9, 0.1])
    assert score_K(np.eye(2), q, p) == pytest.approx(naive_score(np.eye(2), q, p), rel=1e-8)


@pytest.mark.parametrize("q", ORDERS)
def test_identical_samples_add_weights(q):
    """Theorem 3.1 b."""
    K, p = draw_similarities(6, 8), draw_weights(8)
    sample_indices = [0, 1, 2, 3, 4, 5, 0, 3]
    merged_weights = np.bincount(sample_indices, p)
    assert score_K(K[np.ix_(sample_indices, sample_indices)], q, p) == pytest.approx(
        score_K(K, q, merged_weights), rel=1e-9
    )


@pytest.mark.parametrize("q", ORDERS)
def test_score_of_unrelated_blocks_matches_hill_number_formula(q):
    """Theorem 3.1 c, at any order: (Σ π^q VS^{1−q})^{1/(1−q)} for blocks of weight π."""
    sizes, block_weights = (3, 5, 4), np.array([0.2, 0.5, 0.3])
    blocks = [draw_similarities(m, m + 2, seed) for seed, m in enumerate(sizes)]
    K = np.zeros((12, 12))
    for start, block in zip((0, 3, 8), blocks, strict=True):
        K[start : start + len(block), start : start + len(block)] = block
    p = np.repeat(block_weights / sizes, sizes)
    block_scores = np.array([score_K(block, q) for block in blocks])
    if abs(q - 1) < 1e-6:
        expected = math.exp(np.sum(block_weights * np.log(block_scores / block_weights)))
    elif q == math.inf:
        expected = np.min(block_scores / block_weights)
    else:
        expected = np.sum(block_weights**q * block_scores ** (1 - q)) ** (1 / (1 - q))
    assert score_K(K, q, p) == pytest.approx(expected, rel=1e-7)


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 99))
def test_scores_decrease_with_order_and_ignore_sample_order(n, d, seed):
    """Theorem 3.1 d, and monotonicity of Hill numbers."""
    K, p = draw_similarities(n, d, seed), draw_weights(n, seed)
    scores = [score_K(K, q, p) for q in ORDERS]
    assert all(low <= high + 1e-6 for high, low in pairwise(scores))
    assert 1 <= min(scores) <= max(scores) <= n
    indices = np.random.default_rng(seed).permutation(n)
    permuted_scores = [score_K(K[np.ix_(indices, indices)], q, p[indices]) for q in ORDERS]
    assert permuted_scores == pytest.approx(scores, rel=1e-6)


def test_order_1_is_entropy_of_density_matrix():
    """Lemma 3.1: log VS is −tr(K/n log K/n)."""
    from scipy.linalg import logm

    A = draw_similarities(6, 9) / 6
    assert math.log(score_K(A * 6, 1.0)) == pytest.approx(-np.trace(A @ logm(A)), rel=1e-10)


def test_order_0_ignores_rounding_errors():
    X = draw_unit_rows(40, 7)
    assert score_X(X, 0.0) == 7
    assert score_K(X @ X.T, 0.0) == 7


def test_score_k_rejects_negative_eigenvalues_beyond_rounding():
    K = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1.0]])
    with pytest.raises(NotPSDError, match=r"its smallest eigenvalue is -0\.138"):
        score_K(K, 1.0)
    float32_matrix = draw_similarities(60, 3).astype(np.float32)
    assert score_K(float32_matrix, 1.0) == pytest.approx(
        naive_score(draw_similarities(60, 3), 1.0), rel=1e-5
    )


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.ones((2, 3)), r"must be a square similarity matrix, got shape \(2, 3\)"),
        (np.array([[1, 0.5], [0.4, 1]]), r"symmetric matrix, got K\[0, 1\] = 0\.5 and K\[1, 0\]"),
        (
            np.array([[1, 2], [2, 1.0]]),
            r"between -1 and 1, as its diagonal is 1, got K\[0, 1\]",
        ),
        (np.array([[0, 3], [3, 0.0]]), "probably contains distances"),
    ],
)
def test_score_k_rejects_invalid_matrices(K, message):
    with pytest.raises(ValueError, match=message):
        score_K(K, 1.0)


def test_errors_name_samples_with_invalid_self_similarity():
    K = np.eye(3)
    K[1, 1] = 0.5
    with pytest.raises(SampleError, match="sample 1 of `K` must have similarity 1 with itself"):
        score_K(K, 1.0)
    with pytest.raises(SampleError, match="sample 0 of `X` cannot be normalized"):
        score_X(np.zeros((2, 2)), 1.0)
    with pytest.raises(SampleError, match="sample 1 of `X` must have similarity 1 with itself"):
        score_X(np.array([[1.0, 0], [1, 1]]), 1.0, normalize=False)


def test_orders_below_1_warn_about_truncated_small_eigenvalues():
    rows = draw_unit_rows(60, 60) * 10.0 ** -np.arange(60)
    with pytest.warns(UserWarning, match="may be rounding errors and are set to zero"):
        score_K(rows @ rows.T, 0.0, normalize=True)


def test_score_k_averages_asymmetries_within_1e_5():
    K = draw_similarities(200, 30)
    K[0, 1] += 9e-6
    assert score_K(K, 2.0) == pytest.approx(score_K(K.T.copy(), 2.0), rel=1e-15)
    assert score_K(K, 1.0) == pytest.approx(score_K((K + K.T) / 2, 1.0), rel=1e-13)
    assert score_K(K, 1.0) == score_K(
        K.T.copy(), 1.0
    )  # would differ if only one triangle were used


def test_diagonal_matrix_keeps_tiny_weights():
    K, p = np.eye(3), np.array([1 - 1e-13, 1e-13 - 1e-200, 1e-200])
    assert score_K(K, 0.0, p) == 3


def test_score_x_ignores_row_lengths():
    X = draw_unit_rows(20, 5)
    lengths = 10.0 ** np.linspace(-200, 200, 20)
    assert score_X(X * lengths[:, None], 1.0) == pytest.approx(score_X(X, 1.0), rel=1e-12)
    for length in (1e-200, 1e200):  # their squares overflow or underflow
        assert score_X(X * length, 1.0) == pytest.approx(score_X(X, 1.0), rel=1e-12)


def test_float32_matrix_is_scored_in_float64():
    for n in (64, 300, 1000):
        x = np.random.default_rng(n).normal(size=(n, 2))
        K = np.exp(-((x[:, None] - x) ** 2).sum(-1) / 18).astype(np.float32)
        for q in (1.0, 1.5, 2.0):
            for normalize in (False, True):
                (expected,) = compute(K, score_K=True, q=q, normalize=normalize).values()
                assert score_K(K, q, None, normalize) == pytest.approx(expected, rel=1e-9), (n, q)


@pytest.mark.parametrize("n", [300, 1000])
def test_small_eigenvalues_of_float32_matrix_count_at_orders_from_1(n):
    """Each small eigenvalue is below the rounding error of one entry, but their sum is not."""
    labels = np.arange(n) % 2
    K = ((1 - 3e-6) * (labels[:, None] == labels) + 3e-6 * np.eye(n)).astype(np.float32)
    np.fill_diagonal(K, 1)
    for q in (1.0, 1.5, 2.0):
        expected = score_K(K.astype(np.float64), q)
        assert expected > 2 + 1e-6
        assert score_K(K, q) == pytest.approx(expected, rel=1e-10)
        assert [*compute(K, score_K=True, q=q).values()] == pytest.approx([expected], rel=1e-10)
