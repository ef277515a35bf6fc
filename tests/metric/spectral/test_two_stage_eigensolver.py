"""Eigenvalues in two stages: the same numbers, tried before they are trusted, and never needed."""

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


def of_spectrum(values: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return a symmetric matrix with these eigenvalues."""
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
def test_values_are_those_of_the_usual_driver(driver, name):
    A = of_spectrum(SPECTRA[name])
    expected = scipy.linalg.eigvalsh(A)
    result = driver(A.copy())
    np.testing.assert_allclose(result, expected, atol=TOLERANCE * abs(expected).max(), rtol=0)
    assert (np.diff(result) >= 0).all()


def test_a_matrix_of_either_order_is_the_same(driver):
    A = of_spectrum(np.linspace(0, 1, 200))
    np.testing.assert_array_equal(driver(np.asfortranarray(A)), driver(np.ascontiguousarray(A)))


def test_threads_do_not_disturb_each_other(driver):
    matrices = [of_spectrum(np.linspace(0, 1, 150), seed) for seed in range(8)]
    alone = [driver(A.copy()) for A in matrices]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda A: driver(A.copy()), matrices))
    np.testing.assert_allclose(together, alone, atol=TOLERANCE)


@pytest.fixture
def from_here_on(monkeypatch):
    """Matrices of 64 rows count as large."""
    monkeypatch.setattr(eigendecomposition, "NUMPY_SIZE", 63)


def similar(n: int = 100) -> np.ndarray:
    X = np.random.default_rng(0).standard_normal((n, 3))
    return np.exp(-((X[:, None] - X) ** 2).sum(2) / 2)


def hide(monkeypatch, module: str = "numpy.linalg._umath_linalg") -> None:
    monkeypatch.setattr(two_stage_eigensolver, "_LIBRARIES", ((module, "no_such_{}_", None),))


def test_the_score_is_the_same_without_the_driver_and_says_which_ran(
    driver, from_here_on, monkeypatch
):
    K = similar()
    with_driver = compute(K, score_K=True, q=[0.5, 1, 3], details=True)
    hide(monkeypatch)
    without = compute(K, score_K=True, q=[0.5, 1, 3], details=True)
    assert with_driver["details"]["why"]["1"].endswith("in two stages")
    assert "stages" not in without["details"]["why"]["1"]
    for q in ("0.5", "1", "3"):
        assert with_driver[f"VS_q{q}"] == pytest.approx(without[f"VS_q{q}"], rel=1e-9)


def test_a_name_that_is_not_there_is_no_driver(monkeypatch):
    hide(monkeypatch)
    assert two_stage_eigensolver.load_eigensolver() is None


def test_no_library_is_no_driver(monkeypatch):
    hide(monkeypatch, "numpy.linalg.no_such_module")
    assert two_stage_eigensolver.load_eigensolver() is None


def test_a_driver_that_is_wrong_is_not_taken(driver):
    assert two_stage_eigensolver._is_accurate(driver)
    assert not two_stage_eigensolver._is_accurate(lambda A: driver(A) * (1 + 1e-8))

    def fails(A):
        raise np.linalg.LinAlgError

    assert not two_stage_eigensolver._is_accurate(fails)


def test_vectors_and_small_matrices_take_the_usual_way(driver, monkeypatch):
    calls = []
    monkeypatch.setattr(two_stage_eigensolver, "load_eigensolver", lambda: calls.append(1))
    decompose(similar(50))
    decompose(similar(1200), vectors=True)
    decompose(similar(1200))
    assert not calls


def test_entries_that_are_not_finite_are_named_before_lapack_sees_them(from_here_on):
    K = similar()
    K[3, 4] = K[4, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN or infinite values"):
        decompose(K)


def test_a_reduction_has_no_more_threads_than_it_uses(driver, monkeypatch):
    seen = []

    def looking(matrix):
        seen.append(max(library["num_threads"] for library in blas_controller().info()))
        return driver(matrix)

    monkeypatch.setattr(two_stage_eigensolver, "MAX_THREADS", 1)
    monkeypatch.setattr(two_stage_eigensolver, "load_eigensolver", lambda: looking)
    decompose(similar(eigendecomposition.NUMPY_SIZE + 1))
    assert seen == [1]


def test_a_similarity_of_size_just_at_the_limit_takes_the_driver(driver):
    n = eigendecomposition.NUMPY_SIZE + 1
    diagonal = np.linspace(0.5, 1.5, n)
    A = np.diag(diagonal / diagonal.sum())
    A[0, 1] = A[1, 0] = 1e-5
    assert eigendecomposition.describe_eigensolver(A, vectors=False) == "reduced in two stages"
    assert eigendecomposition.describe_eigensolver(A, vectors=True) == ""
    K = MatrixSimilarity(np.eye(n), psd=True)
    assert compute(K)["VS"] == pytest.approx(n)
