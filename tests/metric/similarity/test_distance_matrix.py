"""Distances of all pairs of rows: agreement with SciPy, accuracy for close pairs, errors."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from vendiscore import TooLargeError
from vendiscore.magnitude.metric_space_builder import as_space
from vendiscore.similarity.distance_matrix import compute_distances
from vendiscore.similarity.metrics import METRICS, SCIPY_METRICS


def random_rows(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, d))


def jensen_shannon(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a / a.sum(), b / b.sum()
    m = (a + b) / 2
    return float(np.sqrt(sum((c[c > 0] * np.log(c[c > 0] / m[c > 0])).sum() for c in (a, b)) / 2))


# The definitions, for one pair of rows.
FORMULAS: dict[str, Any] = {
    "euclidean": lambda a, b: math.sqrt(((a - b) ** 2).sum()),
    "manhattan": lambda a, b: np.abs(a - b).sum(),
    "cityblock": lambda a, b: np.abs(a - b).sum(),
    "sqeuclidean": lambda a, b: ((a - b) ** 2).sum(),
    "chebyshev": lambda a, b: np.abs(a - b).max(),
    "minkowski": lambda a, b: math.sqrt(((a - b) ** 2).sum()),
    "cosine": lambda a, b: 1 - a @ b / math.sqrt((a @ a) * (b @ b)),
    "correlation": lambda a, b: 1 - np.corrcoef(a, b)[0, 1],
    "braycurtis": lambda a, b: np.abs(a - b).sum() / np.abs(a + b).sum(),
    "canberra": lambda a, b: (np.abs(a - b) / (np.abs(a) + np.abs(b))).sum(),
    "hamming": lambda a, b: (a != b).mean(),
    "jensenshannon": lambda a, b: jensen_shannon(a, b),
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("d", [3, 40])
def test_distances_match_the_formula_of_the_metric(metric: str, d: int) -> None:
    X = np.abs(random_rows(60, d)) + 0.1
    expected = np.array([[FORMULAS[metric](a, b) for a in X] for b in X])
    np.fill_diagonal(expected, 0)
    D = compute_distances(X, metric)
    np.testing.assert_allclose(D, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(D, D.T, rtol=1e-12)
    assert (np.diagonal(D) == 0).all()


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("d", [2, 100])
def test_close_pairs_far_from_the_origin_are_accurate(metric: str, d: int) -> None:
    X = random_rows(30, d) + (10 if metric == "euclidean" else 0)
    Y = X + 1e-6 * np.random.default_rng(1).standard_normal(X.shape)
    D = compute_distances(np.concatenate([X, Y]), metric)
    if metric == "euclidean":
        expected = np.linalg.norm(X - Y, axis=1)
    else:
        U, V = (A / np.linalg.norm(A, axis=1)[:, None] for A in (X, Y))
        expected = ((U - V) ** 2).sum(axis=1) / 2
    np.testing.assert_allclose(np.diagonal(D[:30, 30:]), expected, rtol=1e-6)


def test_cosine_distance_of_multiples_is_zero() -> None:
    X = random_rows(20, 30)
    assert (
        np.diagonal(compute_distances(np.concatenate([X, 3 * X]), "cosine")[:20, 20:]) == 0
    ).all()


def test_options_are_passed_to_the_metric() -> None:
    X = random_rows(10, 3)
    np.testing.assert_allclose(
        compute_distances(X, "minkowski", {"exponent": 3}), cdist(X, X, "minkowski", p=3)
    )


def test_metric_can_be_a_function_of_two_rows() -> None:
    D = compute_distances(np.array([[1.0], [4.0]]), lambda a, b: abs(a[0] - b[0]) ** 0.5)
    np.testing.assert_allclose(D, [[0, 3**0.5], [3**0.5, 0]])


def test_as_space_accepts_sparse_torch_and_float32_rows() -> None:
    X = random_rows(20, 5)
    expected = compute_distances(X)
    np.testing.assert_allclose(as_space(sp.csr_array(X)).D, expected)
    np.testing.assert_allclose(as_space(X.astype(np.float32)).D, expected, rtol=1e-5, atol=1e-6)
    torch = pytest.importorskip("torch")
    np.testing.assert_allclose(as_space(torch.from_numpy(X)).D, expected)


def test_input_is_not_modified() -> None:
    X = random_rows(20, 30)
    original = X.copy()
    for metric in ("euclidean", "cosine", "manhattan"):
        compute_distances(X, metric)
    np.testing.assert_array_equal(X, original)


def test_error_names_pairs_with_undefined_distance() -> None:
    with pytest.raises(ValueError, match=r"is undefined .* rows 0 and 2 of `samples`"):
        as_space([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]], metric="jensenshannon")


def test_scipy_supports_the_declared_metrics() -> None:
    X = np.abs(random_rows(5, 3))
    for metric in SCIPY_METRICS:
        cdist(X, X, metric)


def test_insufficient_memory_raises_before_computation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 1000)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 0)
    with pytest.raises(TooLargeError, match=r"needs .* \(3,200 bytes\)"):
        compute_distances(random_rows(20, 2))
