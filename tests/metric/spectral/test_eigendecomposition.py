"""Eigenvalues of dense symmetric matrices for all eigensolvers."""

import numpy as np
import pytest

from vendiscore.spectral import eigendecomposition, two_stage_eigensolver
from vendiscore.spectral.eigendecomposition import (
    NUMPY_SIZE,
    ONE_THREAD_SIZES,
    can_use_two_stages,
    compute_eigenvalues_in_one_thread,
    decompose,
    describe_eigensolver,
    estimate_eigensolver_work,
    estimate_eigenvectors_bytes,
)

RNG = np.random.default_rng(0)


def symmetric_matrix(n):
    """Return a matrix with eigenvalues −1, …, n − 2 and its eigenvectors."""
    Q = np.linalg.qr(RNG.standard_normal((n, n)))[0]
    A = Q * np.arange(-1.0, n - 1) @ Q.T
    return (A + A.T) / 2


@pytest.mark.parametrize("n", [1, 9, 10, 30, 31])
@pytest.mark.parametrize("vectors", [False, True])
def test_decompose_returns_the_prescribed_eigenvalues(n, vectors, monkeypatch):
    monkeypatch.setattr(eigendecomposition, "ONE_THREAD_SIZES", (10, 30))
    A = symmetric_matrix(n)
    result = decompose(A.copy(), vectors)
    np.testing.assert_allclose(result.values, np.arange(-1.0, n - 1), atol=1e-9)
    if vectors:
        U = result.vectors
        np.testing.assert_allclose(U * result.values @ U.T, A, atol=1e-9)
    else:
        assert result.vectors is None


@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_large_matrices_are_decomposed_with_and_without_two_stages(vectors, order, monkeypatch):
    monkeypatch.setattr(eigendecomposition, "NUMPY_SIZE", 50)
    A = symmetric_matrix(80)
    result = decompose(np.array(A, order=order), vectors)
    np.testing.assert_allclose(result.values, np.arange(-1.0, 79), atol=1e-9)
    if vectors:
        np.testing.assert_allclose(result.vectors * result.values @ result.vectors.T, A, atol=1e-9)
    monkeypatch.setattr(two_stage_eigensolver, "load_eigensolver", lambda: None)
    assert not can_use_two_stages(A)
    np.testing.assert_allclose(decompose(A.copy()).values, np.arange(-1.0, 79), atol=1e-9)


def test_decompose_accepts_stacks_and_does_not_overwrite_them():
    stack = np.stack([symmetric_matrix(4), 2 * symmetric_matrix(4)])
    original = stack.copy()
    result = decompose(stack, vectors=True)
    np.testing.assert_allclose(result.values, [[-1, 0, 1, 2], [-2, 0, 2, 4]], atol=1e-12)
    assert result.vectors.shape == (2, 4, 4)
    np.testing.assert_array_equal(stack, original)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("n", [3, ONE_THREAD_SIZES[0]])
def test_decompose_rejects_nonfinite_entries_with_their_cause(value, n):
    A = np.eye(n)
    A[1, 0] = A[0, 1] = value
    with pytest.raises(ValueError, match=r"NaN or infinite values.*; because of it"):
        decompose(A, describe_cause=lambda: "because of it")


def test_two_stages_require_large_contiguous_matrices(monkeypatch):
    monkeypatch.setattr(two_stage_eigensolver, "load_eigensolver", lambda: np.linalg.eigvalsh)
    monkeypatch.setattr(two_stage_eigensolver, "load_single_eigensolver", lambda: None)
    large = np.zeros((NUMPY_SIZE + 1, NUMPY_SIZE + 1))
    assert can_use_two_stages(large)
    assert describe_eigensolver(large, False) == "reduced in two stages"
    assert describe_eigensolver(large, True) == ""
    assert not can_use_two_stages(large[:-1, :-1])
    assert not can_use_two_stages(large.astype(np.float32))
    assert not can_use_two_stages(large.astype(np.float16))
    assert not can_use_two_stages(large[None])
    assert not can_use_two_stages(np.zeros((2, *large.shape))[:, ::2][:, :, ::2])


def test_eigenvalues_in_one_thread_match_numpy():
    A = symmetric_matrix(30)
    np.testing.assert_allclose(
        compute_eigenvalues_in_one_thread(A.copy()), np.linalg.eigvalsh(A), atol=1e-12
    )


def test_work_and_memory_estimates_match_formulas():
    assert estimate_eigensolver_work(10) == 4 * 10**3
    assert estimate_eigensolver_work(10, True) == 10 * 10**3
    assert estimate_eigenvectors_bytes(NUMPY_SIZE) == 5 * 8 * NUMPY_SIZE**2
    assert estimate_eigenvectors_bytes(NUMPY_SIZE + 1) == 3 * 8 * (NUMPY_SIZE + 1) ** 2


class TestTorch:
    torch = pytest.importorskip("torch")

    def test_gradient_of_an_eigenvalue_is_the_outer_product_of_its_vector(self):
        A = self.torch.tensor(symmetric_matrix(5), requires_grad=True)
        values = decompose(A).values
        values[-1].backward()
        top = np.linalg.eigh(A.detach().numpy())[1][:, -1]
        np.testing.assert_allclose(A.grad.numpy(), np.outer(top, top), atol=1e-10)

    @pytest.mark.parametrize(
        ("vectors", "message"),
        [(True, "eigenvectors require"), (False, "second derivatives require")],
    )
    def test_nonfinite_gradients_raise(self, vectors, message):
        A = self.torch.eye(3, dtype=self.torch.float64, requires_grad=True)
        result = decompose(A, vectors)
        loss = (
            result.vectors[0].sum() if vectors else result.values.sum() * self.torch.tensor(np.nan)
        )
        with pytest.raises(ValueError, match=f"the gradient is not finite: .*{message}"):
            loss.backward()
