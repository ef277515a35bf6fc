"""Array that stores similarities in one triangle and their factor in the other."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from vendiscore.magnitude.triangular_storage import TriangularArrays, multiply_similarities


@pytest.fixture(params=[3, 64, 65, 200])
def D(request: pytest.FixtureRequest) -> np.ndarray:
    X = np.random.default_rng(0).standard_normal((request.param, 2))
    return cdist(X, X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_similarities_and_factor_do_not_overwrite_each_other(D: np.ndarray, dtype: type) -> None:
    n = len(D)
    v = np.random.default_rng(1).standard_normal(n)
    rtol = 1e-4 if dtype is np.float32 else 1e-12
    Z = TriangularArrays(n, dtype)
    assert Z.factor_scale == 0
    np.testing.assert_allclose(
        multiply_similarities(D, 5.0, v, above_diagonal=Z.array),
        np.exp(-5 * D) @ v,
        rtol=1e-12,
        atol=1e-12,
    )
    np.testing.assert_allclose(Z.multiply(v), np.exp(-5 * D) @ v, rtol=rtol, atol=rtol)
    assert Z.factorise(5.0)
    assert Z.factor_scale == 5.0
    np.testing.assert_allclose(Z.multiply(v), np.exp(-5 * D) @ v, rtol=rtol, atol=rtol)
    for t in (5.0, 2.0, 8.0):
        multiply_similarities(D, t, v, above_diagonal=Z.array)
        np.testing.assert_allclose(Z.multiply(v), np.exp(-t * D) @ v, rtol=rtol, atol=rtol)
        recomputed = np.exp(-5 * D) @ Z.solve(v)
        np.testing.assert_allclose(recomputed, v, rtol=0, atol=100 * rtol)


def test_indefinite_matrix_is_not_factorised_and_stays_usable() -> None:
    D = np.full((6, 6), 2.0)
    D[:3, 3:] = D[3:, :3] = 0.1
    np.fill_diagonal(D, 0)
    Z = TriangularArrays(6, np.float32)
    multiply_similarities(D, 1.0, np.zeros(6), above_diagonal=Z.array)
    assert not Z.factorise(1.0)
    assert Z.factor_scale == 0
    np.testing.assert_allclose(Z.multiply(np.ones(6)), np.exp(-D).sum(axis=1), rtol=1e-6)


@pytest.mark.parametrize("t", [20.0, 90.0, 1e6, 1e307])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_similarities_are_never_subnormal(D: np.ndarray, dtype: type, t: float) -> None:
    v = np.random.default_rng(1).standard_normal(len(D))
    with np.errstate(under="ignore", over="ignore"):
        Z = TriangularArrays(len(D), dtype)
        expected = np.exp(-t * D) @ v
        for largest in (math.inf, float(D.max())):
            result = multiply_similarities(D, t, v, largest, Z.array)
            np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-22)
            entries_above_diagonal = Z.array[np.triu_indices(len(D), 1)]
            assert entries_above_diagonal.min() >= np.finfo(dtype).tiny * 1e6
            np.testing.assert_allclose(Z.multiply(v), expected, rtol=1e-5, atol=1e-5)
