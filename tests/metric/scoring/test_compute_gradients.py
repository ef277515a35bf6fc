"""The gradient of log VS agrees with finite differences where it exists, or else is finite.

From rows (X, or a smooth kernel of them) there is one everywhere but where the order or the kernel
has a kink: a direction that K has not is entered with the square of a step. In K itself, entries
that give it a new direction have a slope on one side only: exact above order 1; infinite up to
order 1, where the slope along the directions that are there is returned.
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


def rows(n, d, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, d, dtype=torch.float64, generator=generator)


def slope(function, X):
    X = X.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(function(X).log(), X)
    return gradient


def differences(function, X):
    """Return central finite differences of log f."""
    gradient = torch.zeros_like(X)
    for place in np.ndindex(*X.shape):
        E = torch.zeros_like(X)
        E[place] = STEP
        gradient[place] = (function(X + E).log() - function(X - E).log()) / (2 * STEP)
    return gradient


def from_inside(function, K, towards, step=1e-4):
    """Return the slope of log f from K towards another matrix, on that side alone."""
    values = [float(function(K + i * step * (towards - K)).log()) for i in range(5)]
    return float(np.dot([-25, 48, -36, 16, -3], values)) / (12 * step)


def gram(X):
    X = X / X.norm(dim=1, keepdim=True)
    return X @ X.T


KINDS = {
    "X": lambda X, **how: score_X(X, **how),
    "X of unit rows": lambda X, **how: score_X(
        X / X.norm(dim=1, keepdim=True), normalize=False, **how
    ),
    "K": lambda X, **how: score_K(X @ X.T + torch.eye(len(X)), normalize=True, **how),
    "rbf": lambda X, **how: score(X, "rbf", sigma=1.3, **how),
    "rbf, median": lambda X, **how: score(X, "rbf", **how),
    "laplacian": lambda X, **how: score(X, "laplacian", sigma=1.3, **how),
}


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("shape", [(5, 2), (2, 5)], ids=["tall", "wide"])
@pytest.mark.parametrize("kind", KINDS)
def test_gradient_matches_finite_differences(kind, shape, q):
    X, p = rows(*shape), torch.arange(1.0, shape[0] + 1, dtype=torch.float64)
    for how in ({}, {"p": p / p.sum()}):

        def function(X, how=how):
            return KINDS[kind](X, q=q, **how)

        gap = slope(function, X) - differences(function, X)
        assert gap.abs().max() <= TOLERANCE


@pytest.mark.parametrize("q", ORDERS)
def test_gradient_of_weights_matches_finite_differences(q):
    X, p = rows(6, 3), torch.tensor([0.1, 0.1, 0.2, 0.2, 0.3, 0.1], dtype=torch.float64)

    def function(p):
        return score_X(X, q=q, p=p / p.sum())

    assert (slope(function, p) - differences(function, p)).abs().max() <= TOLERANCE


REPEATED = {
    "one sample": rows(1, 4),
    "two alike": rows(1, 4)[[0, 0]],
    "all alike": rows(1, 2)[[0] * 6],
    "opposite": torch.cat([rows(1, 3), -rows(1, 3)]),
    "some alike": rows(4, 3)[[0, 0, 1, 2, 2, 3]],
    "some alike, wide": rows(3, 8)[[0, 0, 1, 2]],
    "orthogonal": torch.eye(4, dtype=torch.float64),
    "orthogonal, wide": torch.eye(3, 6, dtype=torch.float64),
    "orthogonal, twice": torch.eye(3, dtype=torch.float64)[[0, 1, 2, 0, 1, 2]],
    "one column": torch.ones(4, 1, dtype=torch.float64),
    "lengths": rows(4, 3) * torch.tensor([[1.0], [1e-8], [1e8], [1e-150]], dtype=torch.float64),
}


# At order ½ a new direction is entered with |step|, a kink whose slopes on both sides cancel.
@pytest.mark.parametrize("q", [q for q in ORDERS if q >= 1])
@pytest.mark.parametrize("kind", ["X", "rbf"])
@pytest.mark.parametrize("case", REPEATED)
def test_gradient_at_repeated_eigenvalues_matches_finite_differences(case, kind, q):
    X = REPEATED[case]
    if case == "lengths":  # differences need a step of the length of each row
        lengths = X.norm(dim=1, keepdim=True)
        if kind == "rbf":
            lengths = torch.ones_like(lengths)

        def function(U):
            return KINDS[kind](lengths * U, q=q)

        X = X / lengths
    else:

        def function(X):
            return KINDS[kind](X, q=q)

    assert (slope(function, X) - differences(function, X)).abs().max() <= TOLERANCE


@pytest.mark.parametrize("q", [0, *ORDERS])
@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_gradient_is_finite_and_has_dtype_of_samples(dtype, kind, q):
    for case, X in REPEATED.items():
        if case == "lengths" and (dtype != "float64" or "K" in kind):
            continue
        if "median" in kind and case in ("opposite", "lengths"):
            continue
        how = {"normalize": True} if kind == "X of unit rows" else {}
        X = X.to(getattr(torch, dtype))
        gradient = slope(lambda X, how=how: KINDS[kind.split(" of")[0]](X, q=q, **how), X)
        assert gradient.dtype == X.dtype
        assert bool(gradient.isfinite().all()), case


@pytest.mark.parametrize("q", ORDERS)
def test_gradient_of_identical_and_of_orthogonal_samples_is_zero(q):
    for X in (rows(1, 3)[[0] * 4], torch.eye(4, dtype=torch.float64)):
        assert slope(lambda X: score_X(X, q=q), X).abs().max() <= 1e-12
    K = torch.eye(4, dtype=torch.float64)
    off = slope(lambda K: score_K((K + K.T) / 2, q=q), K)
    # A largest eigenvalue that is repeated has many slopes; each is in the hull of all.
    assert off.abs().max() <= (1 if q == math.inf else 1e-12)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("c", [0.3, 0.9])
def test_gradient_of_full_rank_matrix_with_equal_eigenvalues(c, q):
    K = c * torch.ones(4, 4, dtype=torch.float64) + (1 - c) * torch.eye(4, dtype=torch.float64)

    def function(K):
        S = (K + K.T) / 2
        return score_K(S / S.diagonal().sqrt() / S.diagonal()[:, None].sqrt(), q=q)

    assert (slope(function, K) - differences(function, K)).abs().max() <= TOLERANCE


DEFICIENT = {
    "two alike": gram(rows(1, 4)[[0, 0]]),
    "all alike": torch.ones(5, 5, dtype=torch.float64),
    "some alike": gram(rows(4, 3)[[0, 0, 1, 2, 2]]),
    "opposite": gram(torch.cat([rows(1, 3), -rows(1, 3)])),
}


@pytest.mark.parametrize("q", [2.0, 2.5, 3.0, math.inf])
@pytest.mark.parametrize("case", DEFICIENT)
def test_slope_towards_new_directions_is_exact_above_order_one(case, q):
    K = DEFICIENT[case]
    towards = torch.eye(len(K), dtype=torch.float64)

    def function(K):
        return score_K(K, q=q)

    gradient = slope(function, K)
    result = float((gradient * (towards - K)).sum())
    assert result == pytest.approx(from_inside(function, K, towards), abs=1e-5)


@pytest.mark.parametrize("case", DEFICIENT)
def test_slope_between_orders_one_and_two_matches_closed_form(case):
    """log VS = log Σλ^q / (1 − q), whose slope is q/(1 − q) tr K^{q−1} dK / tr K^q."""
    K, q = DEFICIENT[case], 1.25
    n, unit = len(K), torch.eye(len(K), dtype=torch.float64)
    values, V = np.linalg.eigh((K / n).numpy())
    values = np.where(values > 1e-12, values, 0)
    power = V @ np.diag(values ** (q - 1)) @ V.T
    want = q / (1 - q) * np.sum(power * ((unit - K) / n).numpy()) / np.sum(values**q)
    result = slope(lambda K: score_K(K, q=q), K)
    assert float((result * (unit - K)).sum()) == pytest.approx(want, rel=1e-10)


@pytest.mark.parametrize("q", [0.5, 1.0])
def test_slope_up_to_order_one_ignores_new_directions(q):
    K = DEFICIENT["some alike"]
    n, unit = len(K), torch.eye(len(K), dtype=torch.float64)
    gradient = slope(lambda K: score_K(K, q=q), K)
    U = compute_spectrum(MatrixSimilarity(K), vectors=True).vectors
    within = U @ U.T @ (unit - K) @ U @ U.T
    # Within the range, and in its units of trace, K has full rank and an ordinary slope.
    values, V = np.linalg.eigh((K / n).numpy())
    kept = values > 1e-12
    values, V = values[kept] / values[kept].sum(), V[:, kept]
    each = np.diag(V.T @ (within / n).numpy() @ V)
    each = each - values * each.sum()
    marginal = -np.log(values) if q == 1 else q / (1 - q) * values ** (q - 1) / np.sum(values**q)
    assert float((gradient * (unit - K)).sum()) == pytest.approx(marginal @ each, rel=1e-9)


@pytest.mark.parametrize("q", ORDERS)
def test_gradient_with_psd_clip_ignores_negative_eigenvalues(q):
    K = torch.tensor([[1, 0.9, 0.1], [0.9, 1, 0.8], [0.1, 0.8, 1]], dtype=torch.float64)
    assert np.linalg.eigvalsh(K)[0] < -0.05

    def function(K):
        S = (K + K.T) / 2
        S = S / S.diagonal().sqrt() / S.diagonal()[:, None].sqrt()
        return compute(S, score_K=True, q=q, psd="clip")[key_at(q)]

    assert (slope(function, K) - differences(function, K)).abs().max() <= TOLERANCE


def test_gradients_of_several_orders_match_separate_calls():
    K = DEFICIENT["some alike"]
    leaf = K.clone().requires_grad_()
    together = compute(leaf, score_K=True, q=[1, 3])
    for q in (1, 3):
        value = together[f"VS_q{q}"]
        (result,) = torch.autograd.grad(value.log(), leaf, retain_graph=True)
        torch.testing.assert_close(result, slope(lambda K, q=q: score_K(K, q=q), K))
