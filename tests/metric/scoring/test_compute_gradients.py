"""The gradient of log VS matches finite differences where it exists, and is finite elsewhere.

As a function of rows (X, or a smooth kernel of X), log VS is differentiable except at kinks of the
order or the kernel, because a step of size h into a new direction adds an eigenvalue of size h².
As a function of K, entries that add a new direction have only a one-sided slope. It is exact above
order 1. Up to order 1 it is infinite, and the slope along the existing directions is returned.
"""

import math

import numpy as np
import pytest

from vendiscore import MatrixSimilarity, compute, score, score_K, score_X
from vendiscore.result import key_at
from vendiscore.spectral.vendi_scores import compute_spectrum

torch = pytest.importorskip("torch")

ORDERS = [0.5, 1.0, 1.2, 2.0, 3.0, math.inf]
STEP, TOLERANCE = 1e-5, 1e-6


def make_rows(n, d, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, d, dtype=torch.float64, generator=generator)


def compute_gradient(function, X):
    X = X.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(function(X).log(), X)
    return gradient


def compute_finite_differences(function, X):
    """Return central finite differences of log f."""
    gradient = torch.zeros_like(X)
    for index in np.ndindex(*X.shape):
        E = torch.zeros_like(X)
        E[index] = STEP
        gradient[index] = (function(X + E).log() - function(X - E).log()) / (2 * STEP)
    return gradient


def compute_one_sided_slope(function, K, target, step=1e-4):
    """Return the one-sided slope of log f from K towards `target`."""
    values = [float(function(K + i * step * (target - K)).log()) for i in range(5)]
    return float(np.dot([-25, 48, -36, 16, -3], values)) / (12 * step)


def make_gram_matrix(X):
    X = X / X.norm(dim=1, keepdim=True)
    return X @ X.T


SCORES = {
    "X": lambda X, **options: score_X(X, **options),
    "X of unit rows": lambda X, **options: score_X(
        X / X.norm(dim=1, keepdim=True), normalize=False, **options
    ),
    "K": lambda X, **options: score_K(X @ X.T + torch.eye(len(X)), normalize=True, **options),
    "rbf": lambda X, **options: score(X, "rbf", sigma=1.3, **options),
    "rbf, median": lambda X, **options: score(X, "rbf", **options),
    "laplacian": lambda X, **options: score(X, "laplacian", sigma=1.3, **options),
}


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("shape", [(5, 2), (2, 5)], ids=["tall", "wide"])
@pytest.mark.parametrize("case", SCORES)
def test_gradient_matches_finite_differences(case, shape, q):
    X, p = make_rows(*shape), torch.arange(1.0, shape[0] + 1, dtype=torch.float64)
    for options in ({}, {"p": p / p.sum()}):

        def function(X, options=options):
            return SCORES[case](X, q=q, **options)

        error = compute_gradient(function, X) - compute_finite_differences(function, X)
        assert error.abs().max() <= TOLERANCE


@pytest.mark.parametrize("q", ORDERS)
def test_gradient_of_weights_matches_finite_differences(q):
    X, p = make_rows(6, 3), torch.tensor([0.1, 0.1, 0.2, 0.2, 0.3, 0.1], dtype=torch.float64)

    def function(p):
        return score_X(X, q=q, p=p / p.sum())

    assert (
        compute_gradient(function, p) - compute_finite_differences(function, p)
    ).abs().max() <= TOLERANCE


REPEATED_ROWS = {
    "one sample": make_rows(1, 4),
    "two identical": make_rows(1, 4)[[0, 0]],
    "all identical": make_rows(1, 2)[[0] * 6],
    "opposite": torch.cat([make_rows(1, 3), -make_rows(1, 3)]),
    "some identical": make_rows(4, 3)[[0, 0, 1, 2, 2, 3]],
    "some identical, wide": make_rows(3, 8)[[0, 0, 1, 2]],
    "orthogonal": torch.eye(4, dtype=torch.float64),
    "orthogonal, wide": torch.eye(3, 6, dtype=torch.float64),
    "orthogonal, twice": torch.eye(3, dtype=torch.float64)[[0, 1, 2, 0, 1, 2]],
    "one column": torch.ones(4, 1, dtype=torch.float64),
    "lengths": make_rows(4, 3)
    * torch.tensor([[1.0], [1e-8], [1e8], [1e-150]], dtype=torch.float64),
}


# At order ½, a new direction adds a kink |step|, whose slopes on both sides cancel.
@pytest.mark.parametrize("q", [q for q in ORDERS if q >= 1])
@pytest.mark.parametrize("score_case", ["X", "rbf"])
@pytest.mark.parametrize("case", REPEATED_ROWS)
def test_gradient_at_repeated_eigenvalues_matches_finite_differences(case, score_case, q):
    X = REPEATED_ROWS[case]
    if case == "lengths":  # the step of finite differences is proportional to the length of the row
        lengths = X.norm(dim=1, keepdim=True)
        if score_case == "rbf":
            lengths = torch.ones_like(lengths)

        def function(U):
            return SCORES[score_case](lengths * U, q=q)

        X = X / lengths
    else:

        def function(X):
            return SCORES[score_case](X, q=q)

    assert (
        compute_gradient(function, X) - compute_finite_differences(function, X)
    ).abs().max() <= TOLERANCE


@pytest.mark.parametrize("q", [0, *ORDERS])
@pytest.mark.parametrize("score_case", list(SCORES))
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_gradient_is_finite_and_has_dtype_of_samples(dtype, score_case, q):
    for case, X in REPEATED_ROWS.items():
        if case == "lengths" and (dtype != "float64" or "K" in score_case):
            continue
        if "median" in score_case and case in ("opposite", "lengths"):
            continue
        options = {"normalize": True} if score_case == "X of unit rows" else {}
        X = X.to(getattr(torch, dtype))
        gradient = compute_gradient(
            lambda X, options=options: SCORES[score_case.split(" of")[0]](X, q=q, **options), X
        )
        assert gradient.dtype == X.dtype
        assert bool(gradient.isfinite().all()), case


@pytest.mark.parametrize("q", ORDERS)
def test_gradient_of_identical_and_of_orthogonal_samples_is_zero(q):
    for X in (make_rows(1, 3)[[0] * 4], torch.eye(4, dtype=torch.float64)):
        assert compute_gradient(lambda X: score_X(X, q=q), X).abs().max() <= 1e-12
    K = torch.eye(4, dtype=torch.float64)
    gradient = compute_gradient(lambda K: score_K((K + K.T) / 2, q=q), K)
    # A repeated largest eigenvalue has several slopes; the result is in their convex hull.
    assert gradient.abs().max() <= (1 if q == math.inf else 1e-12)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("c", [0.3, 0.9])
def test_gradient_of_full_rank_matrix_with_equal_eigenvalues(c, q):
    K = c * torch.ones(4, 4, dtype=torch.float64) + (1 - c) * torch.eye(4, dtype=torch.float64)

    def function(K):
        S = (K + K.T) / 2
        return score_K(S / S.diagonal().sqrt() / S.diagonal()[:, None].sqrt(), q=q)

    assert (
        compute_gradient(function, K) - compute_finite_differences(function, K)
    ).abs().max() <= TOLERANCE


RANK_DEFICIENT = {
    "two identical": make_gram_matrix(make_rows(1, 4)[[0, 0]]),
    "all identical": torch.ones(5, 5, dtype=torch.float64),
    "some identical": make_gram_matrix(make_rows(4, 3)[[0, 0, 1, 2, 2]]),
    "opposite": make_gram_matrix(torch.cat([make_rows(1, 3), -make_rows(1, 3)])),
}


@pytest.mark.parametrize("q", [2.0, 2.5, 3.0, math.inf])
@pytest.mark.parametrize("case", RANK_DEFICIENT)
def test_derivative_out_of_the_span_of_samples_is_exact_above_order_one(case, q):
    K = RANK_DEFICIENT[case]
    target = torch.eye(len(K), dtype=torch.float64)

    def function(K):
        return score_K(K, q=q)

    gradient = compute_gradient(function, K)
    result = float((gradient * (target - K)).sum())
    assert result == pytest.approx(compute_one_sided_slope(function, K, target), abs=1e-5)


@pytest.mark.parametrize("case", RANK_DEFICIENT)
def test_derivative_between_orders_one_and_two_matches_closed_form(case):
    """log VS = log Σλ^q / (1 − q), whose slope is q/(1 − q) tr K^{q−1} dK / tr K^q."""
    K, q = RANK_DEFICIENT[case], 1.25
    n, identity = len(K), torch.eye(len(K), dtype=torch.float64)
    values, V = np.linalg.eigh((K / n).numpy())
    values = np.where(values > 1e-12, values, 0)
    power = V @ np.diag(values ** (q - 1)) @ V.T
    expected = q / (1 - q) * np.sum(power * ((identity - K) / n).numpy()) / np.sum(values**q)
    result = compute_gradient(lambda K: score_K(K, q=q), K)
    assert float((result * (identity - K)).sum()) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("q", [0.5, 1.0])
def test_derivative_up_to_order_one_ignores_directions_out_of_the_span(q):
    K = RANK_DEFICIENT["some identical"]
    n, identity = len(K), torch.eye(len(K), dtype=torch.float64)
    gradient = compute_gradient(lambda K: score_K(K, q=q), K)
    U = compute_spectrum(MatrixSimilarity(K), vectors=True).vectors
    projected_change = U @ U.T @ (identity - K) @ U @ U.T
    # Within its range, and divided by its trace, K has full rank and an ordinary slope.
    values, V = np.linalg.eigh((K / n).numpy())
    is_positive = values > 1e-12
    values, V = values[is_positive] / values[is_positive].sum(), V[:, is_positive]
    changes = np.diag(V.T @ (projected_change / n).numpy() @ V)
    changes = changes - values * changes.sum()
    marginal = -np.log(values) if q == 1 else q / (1 - q) * values ** (q - 1) / np.sum(values**q)
    assert float((gradient * (identity - K)).sum()) == pytest.approx(marginal @ changes, rel=1e-9)


@pytest.mark.parametrize("q", ORDERS)
def test_gradient_with_psd_clip_ignores_negative_eigenvalues(q):
    K = torch.tensor([[1, 0.9, 0.1], [0.9, 1, 0.8], [0.1, 0.8, 1]], dtype=torch.float64)
    assert np.linalg.eigvalsh(K)[0] < -0.05

    def function(K):
        S = (K + K.T) / 2
        S = S / S.diagonal().sqrt() / S.diagonal()[:, None].sqrt()
        return compute(S, score_K=True, q=q, psd="clip")[key_at(q)]

    assert (
        compute_gradient(function, K) - compute_finite_differences(function, K)
    ).abs().max() <= TOLERANCE


def test_gradients_of_several_orders_match_separate_calls():
    K = RANK_DEFICIENT["some identical"]
    leaf = K.clone().requires_grad_()
    scores = compute(leaf, score_K=True, q=[1, 3])
    for q in (1, 3):
        value = scores[f"VS_q{q}"]
        (result,) = torch.autograd.grad(value.log(), leaf, retain_graph=True)
        torch.testing.assert_close(result, compute_gradient(lambda K, q=q: score_K(K, q=q), K))
