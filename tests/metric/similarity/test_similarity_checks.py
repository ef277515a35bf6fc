"""Matrices of users: scaled, rounded, slightly asymmetric, in half precision."""

import warnings

import numpy as np
import pytest

from vendiscore import MatrixSimilarity, NotPSDError, compute, score_K, score_X
from vendiscore.similarity.similarity_checks import check_matrix

ORDERS = [0.5, 1, 2, "inf"]
SCALES = [1e-200, 1e-6, 1.0, 1e6, 1e200]


def random_cosines(n: int = 30, d: int = 50, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1)[:, None]
    K = X @ X.T
    np.fill_diagonal(K, 1.0)
    return K


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize(
    ("K", "message"),
    [
        ([[1, 0.9], [-0.9, 1]], r"symmetric matrix, got K\[0, 1\] = 0\.9 and K\[1, 0\] = -0\.9"),
        ([[1, 5.0], [5, 1]], r"entries between -1 and 1, as its diagonal is 1, got K\[0, 1\] = 5"),
        ([[1, 0, 0], [0, 1e-6, 9e-7], [0, -9e-7, 1e-6]], r"symmetric .* K\[1, 2\] = 0\.9 and"),
        ([[1, 0], [0, -1]], r"sample 1 of `K` cannot be normalized: .* got -1"),
    ],
)
def test_invalid_matrices_are_rejected_at_any_scale(K, message, scale, q):
    K = np.array(K, float)
    message = message.replace("got -1", r"got -1(e.\d+)?")
    with pytest.raises(ValueError, match=message):
        score_K(scale * K, q=q, normalize=True)


@pytest.mark.parametrize("layout", ["numpy", "torch", "fortran", "strided"])
@pytest.mark.parametrize("q", [0.5, 1, 2, 3, "inf"])
@pytest.mark.parametrize(
    ("n", "asymmetry"), [(30, 0.0), (30, 1e-12), (30, 1e-9), (30, 1e-6), (520, 1e-6)]
)
def test_nearly_symmetric_matrix_scores_like_its_symmetric_part(layout, q, n, asymmetry):
    K = random_cosines(n, 2 * n)
    K += np.triu(np.full((n, n), asymmetry), 1)
    permutation = np.random.default_rng(1).permutation(n)

    def score_matrix(K):
        if layout == "torch":
            K = pytest.importorskip("torch").from_numpy(np.ascontiguousarray(K))
        elif layout == "fortran":
            K = np.asfortranarray(K)
        elif layout == "strided":
            K = np.repeat(K, 2, axis=1)[:, ::2]
        return float(score_K(K, q=q))

    expected = score_matrix((K + K.T) / 2)
    for matrix in (K, K.T, K[np.ix_(permutation, permutation)]):
        assert score_matrix(matrix) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("n", [3, 700])
def test_error_names_the_single_asymmetric_entry(n):
    K = random_cosines(n, 2 * n)
    K[n - 1, n // 2] += 3e-5
    with pytest.raises(ValueError, match=rf"K\[{n // 2}, {n - 1}\] = .* K\[{n - 1}, {n // 2}\]"):
        score_K(K)
    with pytest.raises(ValueError, match=rf"K\[{n // 2}, {n - 1}\]"):
        score_K(K.astype(np.float32))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("input_form", ["score_X", "linear", "score_K", "normalize"])
def test_half_precision_scores_are_accurate_to_the_input_precision(dtype, input_form):
    torch = pytest.importorskip("torch")
    X = torch.randn(300, 20, generator=torch.Generator().manual_seed(0))
    X = torch.nn.functional.normalize(X, dim=1)
    expected = float(score_X(X.double()))
    E = X.to(getattr(torch, dtype))
    options = {
        "score_X": {"score_X": True},
        "linear": {"k": "linear"},
        "score_K": {"score_K": True},
        "normalize": {"score_K": True, "normalize": True},
    }[input_form]
    samples = E @ E.T if options.get("score_K") else E
    eps = torch.finfo(E.dtype).eps
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = compute(samples, details=True, **options)
    # 300 samples of 20 dimensions: half the spectrum of rounding is clipped, σ = eps/√12.
    assert float(result["VS"]) == pytest.approx(expected, rel=max(1e-5, 10 * eps))
    negative = result["details"]["negative_mass"]
    messages = [
        str(warning.message) for warning in caught if "negative eigenvalues" in str(warning)
    ]
    assert len(messages) == (negative > 1e-6)
    assert "dtype=torch." + dtype in result["details"]["signature"]


def test_error_names_rounding_as_possible_cause_of_negative_eigenvalues():
    K = random_cosines(300, 5)
    with pytest.raises(
        NotPSDError, match=r"psd='clip' .* eigenvalues this small may be rounding errors"
    ):
        score_K(K.round(3))
    clipped = compute(K.round(3), score_K=True, psd="clip")["VS"]
    assert clipped == pytest.approx(score_K(K), rel=0.03)


def test_half_precision_does_not_hide_invalid_matrices():
    torch = pytest.importorskip("torch")
    K = torch.tensor([[1.0, 0.9, 0.0], [0.9, 1.0, 0.9], [0.0, 0.9, 1.0]])
    for dtype in (torch.bfloat16, torch.float16):
        with pytest.raises(NotPSDError):
            score_K(K.to(dtype))
        with pytest.raises(ValueError, match="similarity 1 with itself"):
            score_K(1.1 * K.to(dtype))


def test_symmetric_matrix_is_not_copied():
    K = random_cosines()
    K = (K + K.T) / 2
    assert check_matrix(K).K is K
    assert isinstance(check_matrix(K, normalize=True), MatrixSimilarity)
