"""Block Lanczos is exact on a full Krylov space; trace estimates match their standard errors."""

import numpy as np
import pytest

from vendiscore.spectral.block_lanczos import EigenPairs, GaussQuadrature, KrylovBasis, project_out

RNG = np.random.default_rng(0)
N = 24
Q = np.linalg.qr(RNG.standard_normal((N, N)))[0]
VALUES = np.r_[50.0, 20.0, np.linspace(0.1, 1, N - 2)]
A = Q * VALUES @ Q.T


def build_krylov_basis(b, steps, seed=0):
    Z = np.random.default_rng(seed).choice([-1.0, 1.0], (N, b))
    krylov = KrylovBasis(lambda V: A @ V, Z, steps)
    krylov.extend(steps)
    return Z, krylov


@pytest.mark.parametrize("b", [1, 2, 3])
def test_matrix_is_the_projection_on_an_orthonormal_basis(b):
    Z, krylov = build_krylov_basis(b, 5)
    assert krylov.size == 5 * b
    basis = krylov.basis[: krylov.size]
    np.testing.assert_allclose(basis @ basis.T, np.eye(5 * b), atol=1e-12)
    np.testing.assert_allclose(krylov.matrix(), basis @ A @ basis.T, atol=1e-10)
    np.testing.assert_allclose(basis[:b].T @ krylov.start, Z, atol=1e-12)


@pytest.mark.parametrize("b", [1, 2, 3])
def test_full_krylov_space_has_all_eigenvalues(b):
    _, krylov = build_krylov_basis(b, N // b)
    result = np.linalg.eigvalsh(krylov.matrix())
    np.testing.assert_allclose(result, np.sort(VALUES), rtol=1e-8)


def test_extend_runs_new_steps_once_up_to_the_dimension():
    products = []

    def multiply(V):
        products.append(V.shape)
        return A @ V

    krylov = KrylovBasis(multiply, RNG.standard_normal((N, 5)), 100)
    assert krylov.max_steps == N // 5
    krylov.extend(2)
    krylov.extend(2)
    assert products == [(N, 5)] * 2
    krylov.extend(100)
    assert (krylov.steps, len(products)) == (4, 4)


def test_basis_of_a_low_rank_matrix_is_orthonormal():
    low_rank = Q[:, :3] @ Q[:, :3].T
    krylov = KrylovBasis(lambda V: low_rank @ V, RNG.standard_normal((N, 2)), 8)
    krylov.extend(8)
    basis = krylov.basis[: krylov.size]
    np.testing.assert_allclose(basis @ basis.T, np.eye(16), atol=1e-10)
    np.testing.assert_allclose(krylov.matrix(), basis @ low_rank @ basis.T, atol=1e-10)


def test_converged_eigenpairs_have_small_residuals():
    _, krylov = build_krylov_basis(2, 6)
    pairs = krylov.converged_eigenpairs(0.0)
    assert {20, 50} <= {*np.rint(pairs.values).astype(int)}
    for value, vector in zip(pairs.values, pairs.vectors.T, strict=True):
        assert np.linalg.norm(A @ vector - value * vector) <= 1e-3 * value * 1.01
    assert len(krylov.converged_eigenpairs(30.0).values) == 1


def test_complement_basis_is_orthogonal_to_known_eigenpairs():
    eigenpairs = EigenPairs(VALUES[:2], Q[:, :2])
    Z = RNG.standard_normal((N, 2))
    krylov = eigenpairs.build_complement_basis(lambda V: A @ V, Z, 11)
    krylov.extend(11)
    np.testing.assert_allclose(krylov.basis @ Q[:, :2], 0, atol=1e-10)
    assert np.linalg.eigvalsh(krylov.matrix())[-1] == pytest.approx(1)


def test_project_out_removes_the_span_of_a_basis():
    V = RNG.standard_normal((N, 4))
    result = project_out(Q[:, :5].T, V)
    np.testing.assert_allclose(result, Q[:, 5:] @ Q[:, 5:].T @ V, atol=1e-12)


@pytest.mark.parametrize("function", [np.log1p, np.sqrt, lambda x: x**1.5])
def test_quadrature_on_a_full_space_is_exact(function):
    Z, krylov = build_krylov_basis(2, N // 2)
    quadrature = GaussQuadrature(krylov)
    expected = [z @ (Q * function(VALUES) @ Q.T) @ z for z in Z.T]
    np.testing.assert_allclose(function(quadrature.nodes) @ quadrature.weights, expected, rtol=1e-8)
    assert quadrature.min_eigenvalue == pytest.approx(VALUES.min())


def test_nodes_below_rounding_become_zero():
    _, krylov = build_krylov_basis(2, N // 2)
    quadrature = GaussQuadrature(krylov, rounding=0.5)
    assert sorted({*quadrature.nodes[quadrature.nodes < 0.5]}) == [0]


MOMENTS = np.array([N, VALUES.sum(), (VALUES**2).sum()])


def test_trace_of_quadratic_polynomials_is_exact():
    _, krylov = build_krylov_basis(3, 8)
    quadrature = GaussQuadrature(krylov)
    value, error = quadrature.estimate_trace(
        3 + 2 * quadrature.nodes - 0.5 * quadrature.nodes**2, MOMENTS
    )
    assert value == pytest.approx(3 * N + 2 * MOMENTS[1] - 0.5 * MOMENTS[2], rel=1e-9)
    assert error == pytest.approx(0, abs=1e-6)


def test_trace_estimates_are_within_their_standard_errors():
    expected = np.sqrt(VALUES).sum()
    ratios = []
    for seed in range(200):
        _, krylov = build_krylov_basis(12, 2, seed)
        quadrature = GaussQuadrature(krylov)
        value, error = quadrature.estimate_trace(np.sqrt(quadrature.nodes), MOMENTS)
        ratios.append((value - expected) / error)
    assert np.mean(np.abs(ratios) < 2) > 0.9
    assert 0.5 < np.std(ratios) < 1.5
