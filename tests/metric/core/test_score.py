"""The number by itself: a naive reference, and what the paper proves of it."""

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


def naive(K, q, p=None):
    """Return the definition, word for word: the Hill number of the eigenvalues of K_p."""
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


def unit_rows(n, d, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def similarities(n, d, seed=0):
    X = unit_rows(n, d, seed)
    return X @ X.T


def weights(n, seed=0):
    p = np.random.default_rng(seed).random(n)
    return p / p.sum()


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 3), (8, 3), (30, 50), (200, 20)])
def test_scores_are_those_of_the_definition(n, d, q):
    K, X, p = similarities(n, d), unit_rows(n, d), weights(n)
    for given_p in (None, p):
        assert score_K(K, q, given_p) == pytest.approx(naive(K, q, given_p), rel=1e-6)
        assert score_X(X, q, given_p) == pytest.approx(naive(K, q, given_p), rel=1e-6)
    scaled = K * np.outer(range(1, n + 1), range(1, n + 1))
    assert score_K(scaled, q, normalize=True) == pytest.approx(naive(K, q), rel=1e-6)
    longer = X * np.arange(1, n + 1)[:, None]
    assert score_X(longer, q) == pytest.approx(naive(K, q), rel=1e-6)


@pytest.mark.parametrize("q", ORDERS)
def test_different_samples_count_and_equal_ones_are_one(q):
    """Theorem 3.1 a: n samples with nothing in common score n, n times the same scores 1."""
    assert score_K(np.eye(7), q) == pytest.approx(7, rel=1e-12)
    assert score_K(np.ones((7, 7)), q) == pytest.approx(1, rel=1e-12)
    p = np.array([0.9, 0.1])
    assert score_K(np.eye(2), q, p) == pytest.approx(naive(np.eye(2), q, p), rel=1e-8)


@pytest.mark.parametrize("q", ORDERS)
def test_identical_samples_add_their_weights(q):
    """Theorem 3.1 b."""
    K, p = similarities(6, 8), weights(8)
    again = [0, 1, 2, 3, 4, 5, 0, 3]
    together = np.bincount(again, p)
    assert score_K(K[np.ix_(again, again)], q, p) == pytest.approx(
        score_K(K, q, together), rel=1e-9
    )


@pytest.mark.parametrize("q", ORDERS)
def test_parts_with_nothing_in_common_are_counted_by_their_hill_number(q):
    """Theorem 3.1 c, at any order: (Σ π^q VS^{1−q})^{1/(1−q)} over parts of weight π."""
    sizes, pi = (3, 5, 4), np.array([0.2, 0.5, 0.3])
    blocks = [similarities(m, m + 2, seed) for seed, m in enumerate(sizes)]
    K = np.zeros((12, 12))
    for start, block in zip((0, 3, 8), blocks, strict=True):
        K[start : start + len(block), start : start + len(block)] = block
    p = np.repeat(pi / sizes, sizes)
    parts = np.array([score_K(block, q) for block in blocks])
    if abs(q - 1) < 1e-6:
        expected = math.exp(np.sum(pi * np.log(parts / pi)))
    elif q == math.inf:
        expected = np.min(parts / pi)
    else:
        expected = np.sum(pi**q * parts ** (1 - q)) ** (1 / (1 - q))
    assert score_K(K, q, p) == pytest.approx(expected, rel=1e-7)


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 99))
def test_scores_fall_with_the_order_and_keep_when_samples_change_places(n, d, seed):
    """Theorem 3.1 d, and Hill numbers."""
    K, p = similarities(n, d, seed), weights(n, seed)
    scores = [score_K(K, q, p) for q in ORDERS]
    assert all(low <= high + 1e-6 for high, low in pairwise(scores))
    assert 1 <= min(scores) <= max(scores) <= n
    places = np.random.default_rng(seed).permutation(n)
    moved = [score_K(K[np.ix_(places, places)], q, p[places]) for q in ORDERS]
    assert moved == pytest.approx(scores, rel=1e-6)


def test_entropy_of_the_density_matrix():
    """Lemma 3.1: log VS is −tr(K/n log K/n)."""
    from scipy.linalg import logm

    A = similarities(6, 9) / 6
    assert math.log(score_K(A * 6, 1.0)) == pytest.approx(-np.trace(A @ logm(A)), rel=1e-10)


def test_rounding_does_not_count_at_order_0():
    X = unit_rows(40, 7)
    assert score_X(X, 0.0) == 7
    assert score_K(X @ X.T, 0.0) == 7


def test_negative_eigenvalues_are_refused_but_for_rounding():
    K = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1.0]])
    with pytest.raises(NotPSDError, match=r"its smallest eigenvalue is -0\.138"):
        score_K(K, 1.0)
    single = similarities(60, 3).astype(np.float32)
    assert score_K(single, 1.0) == pytest.approx(naive(similarities(60, 3), 1.0), rel=1e-5)


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
def test_matrices_that_are_no_similarities_are_refused(K, message):
    with pytest.raises(ValueError, match=message):
        score_K(K, 1.0)


def test_samples_that_are_not_like_themselves_are_named():
    K = np.eye(3)
    K[1, 1] = 0.5
    with pytest.raises(SampleError, match="sample 1 of `K` must have similarity 1 with itself"):
        score_K(K, 1.0)
    with pytest.raises(SampleError, match="sample 0 of `X` cannot be normalized"):
        score_X(np.zeros((2, 2)), 1.0)
    with pytest.raises(SampleError, match="sample 1 of `X` must have similarity 1 with itself"):
        score_X(np.array([[1.0, 0], [1, 1]]), 1.0, normalize=False)


def test_orders_below_1_warn_where_small_eigenvalues_were_cut():
    decaying = unit_rows(60, 60) * 10.0 ** -np.arange(60)
    with pytest.warns(UserWarning, match="may be rounding errors and are set to zero"):
        score_K(decaying @ decaying.T, 0.0, normalize=True)


def test_matrices_are_symmetric_within_1e_5_and_their_halves_count_alike():
    K = similarities(200, 30)
    K[0, 1] += 9e-6
    assert score_K(K, 2.0) == pytest.approx(score_K(K.T.copy(), 2.0), rel=1e-15)
    assert score_K(K, 1.0) == pytest.approx(score_K((K + K.T) / 2, 1.0), rel=1e-13)
    assert score_K(K, 1.0) == score_K(K.T.copy(), 1.0)  # of one half alone it would differ


def test_shares_of_a_diagonal_matrix_are_exact_however_small():
    K, p = np.eye(3), np.array([1 - 1e-13, 1e-13 - 1e-200, 1e-200])
    assert score_K(K, 0.0, p) == 3


def test_rows_of_any_length_have_the_same_cosines():
    X = unit_rows(20, 5)
    lengths = 10.0 ** np.linspace(-200, 200, 20)
    assert score_X(X * lengths[:, None], 1.0) == pytest.approx(score_X(X, 1.0), rel=1e-12)
    for length in (1e-200, 1e200):  # whose squares overflow or vanish
        assert score_X(X * length, 1.0) == pytest.approx(score_X(X, 1.0), rel=1e-12)


def test_a_float32_matrix_has_the_score_of_its_entries_in_double():
    for n in (64, 300, 1000):
        x = np.random.default_rng(n).normal(size=(n, 2))
        K = np.exp(-((x[:, None] - x) ** 2).sum(-1) / 18).astype(np.float32)
        for q in (1.0, 1.5, 2.0):
            for normalize in (False, True):
                (wanted,) = compute(K, score_K=True, q=q, normalize=normalize).values()
                assert score_K(K, q, None, normalize) == pytest.approx(wanted, rel=1e-9), (n, q)


@pytest.mark.parametrize("n", [300, 1000])
def test_a_flat_tail_of_a_float32_matrix_is_kept_at_orders_from_1_on(n):
    """Each of its eigenvalues is below the rounding of one entry; together they are not."""
    labels = np.arange(n) % 2
    K = ((1 - 3e-6) * (labels[:, None] == labels) + 3e-6 * np.eye(n)).astype(np.float32)
    np.fill_diagonal(K, 1)
    for q in (1.0, 1.5, 2.0):
        exact = score_K(K.astype(np.float64), q)
        assert exact > 2 + 1e-6
        assert score_K(K, q) == pytest.approx(exact, rel=1e-10)
        assert [*compute(K, score_K=True, q=q).values()] == pytest.approx([exact], rel=1e-10)
