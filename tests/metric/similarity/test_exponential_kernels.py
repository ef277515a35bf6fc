"""Exponential kernels and their bandwidths, compared with 50-digit arithmetic at any scale."""

from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import SampleError, TooLargeError, as_similarity, compute, score, score_X

KERNELS = ("rbf", "laplacian")


def exact_similarities(X: np.ndarray, sigma: float, kernel: str) -> np.ndarray:
    """Return the similarities by the definition, computed with 50 digits."""
    with mpmath.workdps(50):
        rows = [[mpmath.mpf(float(x)) for x in row] for row in X]
        bandwidth = mpmath.mpf(float(sigma))

        def k(a, b):
            gaps = [abs(x - y) for x, y in zip(a, b, strict=True)]
            if kernel == "laplacian":
                return mpmath.exp(-mpmath.fsum(gaps) / bandwidth)
            return mpmath.exp(-mpmath.fsum(g * g for g in gaps) / (2 * bandwidth**2))

        return np.array([[float(k(a, b)) for b in rows] for a in rows])


def exact_median_distance(X: np.ndarray, kernel: str) -> float:
    """Return the median distance between distinct rows, computed with 50 digits."""
    distinct = np.unique(X + 0.0, axis=0)
    with mpmath.workdps(50):
        rows = [[mpmath.mpf(float(x)) for x in row] for row in distinct]
        result = []
        for i, a in enumerate(rows):
            for b in rows[:i]:
                gaps = [abs(x - y) for x, y in zip(a, b, strict=True)]
                euclidean = mpmath.sqrt(mpmath.fsum(g * g for g in gaps))
                result.append(mpmath.fsum(gaps) if kernel == "laplacian" else euclidean)
        result.sort()
        return float((result[(len(result) - 1) // 2] + result[len(result) // 2]) / 2)


def make_samples(d: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(d)
    standard = rng.standard_normal((12, d))
    clusters, outlier, offset, scales, near_duplicates = (standard.copy() for _ in range(5))
    clusters[6:] += 1e8
    outlier[3] = -1e9
    offset += rng.integers(0, 3, (12, 1)) * 1e7
    scales *= 10.0 ** rng.integers(-8, 8, (12, 1))
    near_duplicates[5], near_duplicates[1], near_duplicates[9] = (
        near_duplicates[2] + 1e-9,
        near_duplicates[2],
        -near_duplicates[9] * 1e12,
    )
    return {
        "plain": standard,
        "two clusters": clusters,
        "an outlier": outlier,
        "three offsets": offset,
        "scales over 16 decades": scales,
        "near-duplicates": near_duplicates,
        "zeros of both signs": standard * np.sign(standard).clip(max=0) * 0 + standard.round(),
        "huge": standard * 1e200,
        "tiny": standard * 1e-200,
        "subnormal": standard * 1e-310,
        "largest": standard / abs(standard).sum() * 1.7e308,
    }


@pytest.mark.parametrize("name", make_samples(3))
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("layout", ["few columns", "many columns", "torch"])
def test_similarities_match_the_definition_at_any_scale(name, kernel, layout):
    X = make_samples(3 if layout == "few columns" else 30)[name]
    samples = pytest.importorskip("torch").tensor(X) if layout == "torch" else X
    median_distance = exact_median_distance(X, kernel)
    for sigma in (None, median_distance * 1e-7, median_distance * 0.3, 1.0):
        if sigma is not None and abs(X).max() / sigma > 1e300:
            continue
        options = {} if sigma is None else {"sigma": sigma}
        similarity = as_similarity(samples, k=kernel, **options)
        K, fitted_sigma = np.asarray(similarity.dense()), similarity.settings["sigma"]
        np.testing.assert_allclose(
            K, exact_similarities(X, fitted_sigma, kernel), rtol=0, atol=2e-12
        )
        assert fitted_sigma == pytest.approx(median_distance if sigma is None else sigma, rel=1e-9)
        assert (np.diagonal(K) == 1).all()
        assert K.max() <= 1


def test_distant_clusters_keep_their_inner_distances():
    """Two pairs at distance 1, infinitely far apart: λ = (1 ± k)/4 twice, k = exp(−½)."""
    k = np.exp(-0.5)
    eigenvalues = np.array([1 + k, 1 - k, 1 + k, 1 - k]) / 4
    expected = {
        "VS_q1": np.exp(-(eigenvalues * np.log(eigenvalues)).sum()),
        "VS_q2": 1 / (eigenvalues**2).sum(),
    }
    X = np.array([[0.0], [1.0], [1e8], [1e8 + 1]])
    for columns in (1, 30):
        wide = np.hstack([X, np.zeros((4, columns - 1))])
        assert compute(wide, k="rbf", sigma=1.0, q=[1, 2]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_bandwidth_ignores_sign_of_zero_and_duplicates(kernel):
    rng = np.random.default_rng(0)
    X = (rng.random((80, 6)) < 0.05) * rng.standard_normal((80, 6))  # many −0.0, many duplicates
    assert np.signbit(X[X == 0]).any()
    expected = score(np.unique(X + 0.0, axis=0), kernel, p=weights_of_distinct_rows(X + 0.0))
    for samples in (X, X + 0.0, np.negative(-X), sp.csr_array(X), X.tolist()):
        assert score(samples, kernel) == pytest.approx(expected, rel=1e-9)
    torch = pytest.importorskip("torch")
    assert score(torch.tensor(X), kernel).item() == pytest.approx(expected, rel=1e-9)


def weights_of_distinct_rows(X: np.ndarray) -> np.ndarray:
    return np.unique(X, axis=0, return_counts=True)[1] / len(X)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("q", [0.5, 1, 2, "inf"])
def test_identical_samples_score_one(kernel, q):
    torch = pytest.importorskip("torch")
    for samples in ([[0.0], [-0.0]], np.full((5, 3), 1e9 / 3), torch.zeros(4, 2), [7, 7]):
        assert float(score(samples, kernel, q=q)) == pytest.approx(1)


@pytest.mark.parametrize("kernel", KERNELS)
def test_too_small_median_distance_is_rejected_as_bandwidth(kernel):
    X = np.array([[0.0], [1e-200], [2e-200], [3e-200], [4e-200], [1.0]])
    torch = pytest.importorskip("torch")
    if kernel == "rbf":
        for samples in (X, torch.tensor(X), np.hstack([X, np.zeros((6, 20))])):
            with pytest.raises(ValueError, match=r"the median distance .* too small.*`sigma`"):
                compute(samples, k=kernel)
    similarity = as_similarity(X, k=kernel, sigma=1e-200)
    np.testing.assert_allclose(
        similarity.dense(), exact_similarities(X, 1e-200, kernel), atol=1e-14
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_sigma_too_small_for_the_distances_is_rejected(kernel):
    with pytest.raises(ValueError, match=r"`sigma` is 1e-200 .* 5e\+200: their ratio exceeds"):
        compute(np.array([[5e200], [1.0]]), k=kernel, sigma=1e-200)


@pytest.mark.parametrize("kernel", KERNELS)
def test_median_distance_that_overflows_is_rejected(kernel):
    with pytest.raises(
        ValueError, match=r"the median distance .* exceeds the range of double precision; divide"
    ):
        compute(np.array([[1.7e308, 1.7e308], [-1.7e308, -1.7e308]]), k=kernel)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("has_duplicates", [False, True])
def test_gradient_includes_the_fitted_bandwidth(kernel, has_duplicates):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    X, V = (torch.tensor(rng.standard_normal((12, 5))) for _ in range(2))
    if has_duplicates:  # the rows stay duplicates along the direction V
        X[3], X[0], V[3], V[0] = X[5], X[5], V[5], V[5]
    scale = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    score(scale * X, kernel).backward()
    assert scale.grad.item() == pytest.approx(
        0, abs=1e-12
    )  # the score does not depend on the scale
    rows = X.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(score(rows, kernel), rows)
    h = 1e-5
    difference = (score(X + h * V, kernel) - score(X - h * V, kernel)).item() / (2 * h)
    assert (gradient * V).sum().item() == pytest.approx(difference, rel=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_is_correct_for_fixed_bandwidth(kernel):
    torch = pytest.importorskip("torch")
    X = torch.tensor(np.random.default_rng(0).standard_normal((5, 3)), requires_grad=True)
    assert torch.autograd.gradcheck(lambda X: score(X, kernel, sigma=2.0), X)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "sigma",
    [
        *(300, 300.0, Fraction(300), Decimal(300), np.array(300.0), np.array(300, np.int16)),
        *(kind(300) for kind in (np.float16, np.float32, np.int16, np.uint16, np.int64)),
    ],
)
def test_sigma_is_converted_to_double_precision(kernel, sigma):
    X = np.random.default_rng(0).standard_normal((9, 4)) * 300
    assert compute(X, k=kernel, sigma=sigma) == compute(X, k=kernel, sigma=300.0)


@pytest.mark.parametrize("sigma", ["a", "1", b"1", True, 1j, [1.0], np.ones(2), np.nan, np.inf, 0])
def test_invalid_sigma_is_rejected(sigma):
    for kernel in KERNELS:
        with pytest.raises((TypeError, ValueError), match="`sigma` must be a finite number above"):
            compute([[0.0], [1.0]], k=kernel, sigma=sigma)


@pytest.mark.parametrize("kernel", KERNELS)
def test_fitted_bandwidth_can_be_reused_for_other_samples(kernel):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((30, 4)), 3 * rng.standard_normal((30, 4))
    similarity = as_similarity(A, k=kernel)
    sigma = compute(A, k=kernel, details=True)["details"]["options"]["sigma"]
    assert dict(similarity.fitted) == {"sigma": sigma}
    assert type(sigma) is float
    expected = as_similarity(np.vstack([A, B]), k=kernel, sigma=sigma).dense()
    np.testing.assert_allclose(as_similarity(B, k=kernel, sigma=sigma).dense(), expected[30:, 30:])
    assert dict(as_similarity(B, k=kernel, sigma=sigma).fitted) == {}
    assert dict(similarity.take(np.arange(3)).fitted) == {"sigma": sigma}
    assert dict(similarity.scaled(np.ones(30)).fitted) == {"sigma": sigma}
    repeated = as_similarity([1.0, 2.0, 2.0, 5.0], k=kernel)
    assert dict(repeated.fitted) == {"sigma": 3.0}  # the median of the distances 1, 3 and 4


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("as_tensor", [False, True])
@pytest.mark.parametrize("tiny", [1e-9, 1e-41, 1e-150])
def test_median_distance_rounded_to_zero_by_an_outlier_is_rejected(kernel, as_tensor, tiny):
    def rows(*values):
        X = np.array(values)[:, None]
        return pytest.importorskip("torch").from_numpy(X) if as_tensor else X

    with pytest.raises(
        ValueError, match=r"the median distance between distinct samples is .* pass"
    ):
        as_similarity(rows(0.0, tiny, -tiny, 0.3 * tiny, 1e308), k=kernel)
    pair = as_similarity(rows(0.0, -0.0, tiny, 1e308), k=kernel)
    assert pair.fitted["sigma"] == 1e308  # the median of 1e308, 1e308 and a tiny distance


@pytest.mark.parametrize("container", [list, np.asarray, np.float32, sp.csr_array, "torch"])
def test_zero_vectors_raise_or_are_dropped(container):
    container = pytest.importorskip("torch").tensor if container == "torch" else container
    samples = container([[1.0, 0.0], [0.0, 0.0], [1e-30, 1e-30], [0.0, 1.0], [0.0, -0.0]])
    with pytest.raises(SampleError, match="sample 1 is a zero vector") as caught:
        compute(samples, k="cosine")
    assert list(caught.value.problems) == [1, 4]
    with pytest.warns(UserWarning, match="dropped 2 of 5 samples that"):
        retained = as_similarity(samples, k="cosine", on_error="skip")
    assert (retained.n, list(retained.dropped)) == (3, [1, 4])


@pytest.mark.parametrize("scale", [1e155, 1e200, 1e300, 1e-155, 1e-200, 1e-300])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, "torch"])
def test_cosines_do_not_depend_on_row_lengths(scale, container):
    X = np.array([[1.0, 2.0, 3.0], [3.0, 1.0, -1.0], [1.0, 0.0, 5.0], [2.0, 4.0, 6.0]])
    container = pytest.importorskip("torch").tensor if container == "torch" else container
    expected = as_similarity(X, k="cosine").dense()
    lengths = np.array([[1.0], [scale], [1.0], [scale]])
    for arguments in ({"k": "cosine"}, {"score_X": True, "normalize": True}):
        for samples in (X * scale, X * lengths):
            K = np.asarray(as_similarity(container(samples), **arguments).dense())
            np.testing.assert_allclose(K, expected, atol=1e-14)


@pytest.mark.parametrize("scale", [1e155, 1e200, 1e-160, 1e-200])
def test_overflowing_dot_products_require_normalization(scale):
    X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]) * scale
    with pytest.raises(SampleError, match=r"similarity 1 with itself, got .*; pass normalize=True"):
        compute(X, k="linear")
    for container in (np.asarray, sp.csr_array, pytest.importorskip("torch").tensor):
        result = compute(container(X), k="linear", normalize=True)["VS"]
        assert float(result) == pytest.approx(float(score_X(container(X))))
        assert float(result) == pytest.approx(score_X(X / scale))


def test_error_lists_zero_and_nonfinite_rows():
    rows = [[1.0, 1.0], [0.0, -0.0], [np.nan, 1.0], [2.0, 1.0], [0.0, 0.0]]
    with pytest.raises(SampleError, match="sample 1 is a zero vector") as caught:
        compute(rows, k="cosine")
    assert list(caught.value.problems) == [1, 2, 4]


@pytest.mark.parametrize("samples", [[5.0, 5.0, 5.0, np.nan], [5, 5, 5, None], [5, 5.0, 5, "a"]])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine", "linear"])
def test_error_names_index_of_invalid_number_in_list(samples, kernel):
    with pytest.raises(SampleError, match="sample 3 of `samples`"):
        compute(samples, k=kernel)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("scale", "offset", "sigma"),
    [(1, 0, 1.5), (1, 1e6, 1.5), (1e5, 0, 1.0), (1e200, 0, 1e200), (1e-200, 0, 1e-200)],
    ids=["usual", "far from 0", "narrow", "huge", "tiny"],
)
def test_tensors_and_arrays_have_equal_similarities_with_unit_diagonal(
    kernel, scale, offset, sigma
):
    torch = pytest.importorskip("torch")
    X = scale * np.random.default_rng(0).standard_normal((40, 3)) + offset
    K = as_similarity(torch.tensor(X), k=kernel, sigma=sigma)
    np.testing.assert_allclose(
        K.dense(), as_similarity(X, k=kernel, sigma=sigma).dense(), atol=1e-9
    )
    assert K.diagonal().tolist() == [1.0] * 40


def test_tensors_without_memory_for_the_matrix_raise_with_a_hint(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 0)
    for kernel in KERNELS:
        with pytest.raises(TooLargeError, match=r"compare fewer samples, or pass X\.numpy\(\)"):
            as_similarity(torch.ones(3000, 2), k=kernel)
