"""The optional two-stage eigensolver returns accurate eigenvalues and is verified before use."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.linalg

from vendiscore import MatrixSimilarity, compute
from vendiscore.spectral import eigendecomposition, two_stage_eigensolver
from vendiscore.spectral.eigendecomposition import decompose
from vendiscore.support.parallel import blas_controller

TOLERANCE = 1e-12  # of the largest eigenvalue


@pytest.fixture
def driver():
    result = two_stage_eigensolver.load_eigensolver()
    if result is None:
        pytest.skip("this build of NumPy and SciPy has no two-stage driver")
    return result


def matrix_with_eigenvalues(values: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return a symmetric matrix with the given eigenvalues."""
    n = len(values)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    A = (Q * values) @ Q.T
    return (A + A.T) / 2


SPECTRA = {
    "one": np.ones(1),
    "two": np.array([1.0, 3.0]),
    "falling": 2.0 ** -np.arange(80.0),
    "repeated": np.repeat([1e-3, 1.0, 1.0, 2.0], 40),
    "zeros": np.r_[np.zeros(150), np.ones(3)],
    "huge": 1e150 * np.arange(1.0, 90),
    "tiny": 1e-150 * np.arange(1.0, 90),
    "both signs": np.linspace(-1, 2, 333),
}


@pytest.mark.parametrize("name", SPECTRA)
def test_two_stage_eigenvalues_match_scipy(driver, name):
    A = matrix_with_eigenvalues(SPECTRA[name])
    expected = scipy.linalg.eigvalsh(A)
    result = driver(A.copy())
    np.testing.assert_allclose(result, expected, atol=TOLERANCE * abs(expected).max(), rtol=0)
    assert (np.diff(result) >= 0).all()


@pytest.mark.parametrize("name", ["two", "falling", "repeated", "zeros", "both signs"])
def test_single_precision_eigenvalues_match_scipy(name):
    single_driver = two_stage_eigensolver.load_single_eigensolver()
    if single_driver is None:
        pytest.skip("this build of NumPy and SciPy has no two-stage driver")
    A = matrix_with_eigenvalues(SPECTRA[name])
    result = single_driver(A.astype(np.float32))
    assert result.dtype == np.float32
    largest = abs(SPECTRA[name]).max()
    # Rounding errors grow at most with the number of rows.
    tolerance = len(A) * np.finfo(np.float32).eps * largest
    np.testing.assert_allclose(result, scipy.linalg.eigvalsh(A), atol=tolerance, rtol=0)


def test_eigenvalues_do_not_depend_on_memory_order(driver):
    A = matrix_with_eigenvalues(np.linspace(0, 1, 200))
    np.testing.assert_array_equal(driver(np.asfortranarray(A)), driver(np.ascontiguousarray(A)))


def test_concurrent_calls_return_correct_eigenvalues(driver):
    matrices = [matrix_with_eigenvalues(np.linspace(0, 1, 150), seed) for seed in range(8)]
    expected = [driver(A.copy()) for A in matrices]
    with ThreadPoolExecutor(4) as threads:
        result = list(threads.map(lambda A: driver(A.copy()), matrices))
    np.testing.assert_allclose(result, expected, atol=TOLERANCE)


@pytest.fixture
def small_size_limit(monkeypatch):
    """Treat matrices with 64 or more rows as large."""
    monkeypatch.setattr(eigendecomposition, "NUMPY_SIZE", 63)


def rbf_matrix(n: int = 100) -> np.ndarray:
    X = np.random.default_rng(0).standard_normal((n, 3))
    return np.exp(-((X[:, None] - X) ** 2).sum(2) / 2)


def hide_driver(monkeypatch, module: str = "numpy.linalg._umath_linalg") -> None:
    monkeypatch.setattr(two_stage_eigensolver, "_LIBRARIES", ((module, "no_such_{}_", None),))


def test_score_is_the_same_without_the_driver_and_reason_names_the_driver(
    driver, small_size_limit, monkeypatch
):
    K = rbf_matrix()
    with_driver = compute(K, score_K=True, q=[0.5, 1, 3], details=True)
    hide_driver(monkeypatch)
    without_driver = compute(K, score_K=True, q=[0.5, 1, 3], details=True)
    assert with_driver["details"]["why"]["1"].endswith("in two stages")
    assert "stages" not in without_driver["details"]["why"]["1"]
    for q in ("0.5", "1", "3"):
        assert with_driver[f"VS_q{q}"] == pytest.approx(without_driver[f"VS_q{q}"], rel=1e-9)


def test_missing_symbol_disables_the_driver(monkeypatch):
    hide_driver(monkeypatch)
    assert two_stage_eigensolver.load_eigensolver() is None


def test_load_eigensolver_returns_none_without_lapack_library(monkeypatch):
    hide_driver(monkeypatch, "numpy.linalg.no_such_module")
    assert two_stage_eigensolver.load_eigensolver() is None


def test_inaccurate_driver_is_rejected(driver):
    assert two_stage_eigensolver._is_accurate(driver)
    assert not two_stage_eigensolver._is_accurate(lambda A: driver(A) * (1 + 1e-8))

    def raise_error(A):
        raise np.linalg.LinAlgError

    assert not two_stage_eigensolver._is_accurate(raise_error)
    single = np.linalg.eigvalsh
    assert two_stage_eigensolver._is_accurate(single, np.float32)
    assert not two_stage_eigensolver._is_accurate(lambda A: single(A) * (1 + 1e-4), np.float32)


def test_eigenvectors_and_small_matrices_do_not_use_the_driver(driver, monkeypatch):
    calls = []
    monkeypatch.setattr(two_stage_eigensolver, "load_eigensolver", lambda: calls.append(1))
    decompose(rbf_matrix(50))
    decompose(rbf_matrix(1200), vectors=True)
    decompose(rbf_matrix(1200))
    assert not calls


def test_nonfinite_entries_raise_before_lapack_is_called(small_size_limit):
    K = rbf_matrix()
    K[3, 4] = K[4, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN or infinite values"):
        decompose(K)


def test_two_stage_reduction_uses_at_most_max_threads(driver, monkeypatch):
    thread_counts = []

    def record_threads(matrix):
        thread_counts.append(max(library["num_threads"] for library in blas_controller().info()))
        return driver(matrix)

    monkeypatch.setattr(two_stage_eigensolver, "MAX_THREADS", 1)
    monkeypatch.setattr(two_stage_eigensolver, "load_eigensolver", lambda: record_threads)
    decompose(rbf_matrix(eigendecomposition.NUMPY_SIZE + 1))
    assert thread_counts == [1]


def test_matrix_just_above_the_size_limit_uses_the_driver(driver):
    n = eigendecomposition.NUMPY_SIZE + 1
    diagonal = np.linspace(0.5, 1.5, n)
    A = np.diag(diagonal / diagonal.sum())
    A[0, 1] = A[1, 0] = 1e-5
    assert eigendecomposition.describe_eigensolver(A, vectors=False) == "reduced in two stages"
    assert eigendecomposition.describe_eigensolver(A, vectors=True) == ""
    K = MatrixSimilarity(np.eye(n), psd=True)
    assert compute(K)["VS"] == pytest.approx(n)
