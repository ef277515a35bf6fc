"""Scores are correct in extreme cases, or an error describes the problem."""

import itertools
import math
import warnings

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import (
    FeatureSimilarity,
    MatrixSimilarity,
    NotPSDError,
    compute,
    effective_number,
    mag_area,
    score,
    score_dual,
    score_K,
    score_X,
)
from vendiscore.result import key_at
from vendiscore.similarity.composite import RepeatedSimilarity
from vendiscore.spectral.lanczos import compute_largest_eigenvalue
from vendiscore.spectral.vendi_scores import compute_vendi_scores

INF = math.inf
ORDERS = [0.5, 1.0, 2.0, 3.0, INF]


def make_matrix_with_spectrum(values, seed=0, first_vector=None):
    """Return a symmetric matrix with these eigenvalues, optionally with the first eigenvector."""
    rng = np.random.default_rng(seed)
    n = len(values)
    A = rng.standard_normal((n, n))
    if first_vector is not None:
        A[:, 0] = first_vector
    Q = np.linalg.qr(A)[0]
    return (Q * values) @ Q.T


def make_group_similarities(n, m, between):
    """Return similarities of m groups: 1 within groups, and `between` across groups."""
    label = np.arange(n) % m
    return np.where(label[:, None] == label, 1.0, between)


def make_hard_matrices(n=600):
    rng = np.random.default_rng(3)
    small_eigenvalues = rng.random(n - 2) * 0.3
    for between in (-0.01, -1e-3, -1e-6, 0.0, 1e-6):
        yield f"two groups {between:g} apart", make_group_similarities(n, 2, between)
    for m in (3, 20):
        yield f"{m} groups that repel", make_group_similarities(n, m, -0.9 / (m - 1))
    for gap in (1e-1, 1e-3, 1e-6):
        values = np.r_[1.0, 1 + gap, small_eigenvalues]
        yield (
            f"ones are second by {gap:g}",
            make_matrix_with_spectrum(values, first_vector=np.ones(n)),
        )
    for gap in (1e-2, 1e-5, 1e-7):
        yield (
            f"four on top, {gap:g} apart",
            make_matrix_with_spectrum(np.r_[1 + gap, [1] * 3, small_eigenvalues[:-2]]),
        )
    yield "uniform", make_matrix_with_spectrum(rng.random(n))
    unit_rows = rng.standard_normal((n, 2 * n))
    unit_rows /= np.linalg.norm(unit_rows, axis=1)[:, None]
    yield "white", unit_rows @ unit_rows.T


@pytest.mark.parametrize(
    ("name", "K"), list(make_hard_matrices()), ids=lambda x: x if type(x) is str else ""
)
def test_largest_eigenvalue_matches_numpy_for_hard_matrices(name, K):
    K = (K + K.T) / 2
    result = compute_largest_eigenvalue(MatrixSimilarity(K))
    assert result is not None, name
    assert result == pytest.approx(np.linalg.eigvalsh(K)[-1], rel=1e-9)


@pytest.mark.parametrize("n", [500, 700, 1500])
@pytest.mark.parametrize("cosine", [-0.005, -1e-4])
def test_order_infinity_of_two_repelling_groups_matches_closed_form(n, cosine):
    K = make_group_similarities(n, 2, cosine)
    expected = n / (n / 2 * (1 - cosine))
    assert score_K(K, q=INF) == pytest.approx(expected, rel=1e-9)
    assert compute(K, score_K=True, q=[1, INF])["VS_qinf"] == pytest.approx(expected, rel=1e-9)
    angle = math.acos(cosine)
    X = np.array([[1.0, 0.0], [math.cos(angle), math.sin(angle)]])[np.arange(n) % 2]
    assert score_X(np.c_[X, np.zeros((n, n))], q=INF) == pytest.approx(expected, rel=1e-9)


def compute_clipped_score(K, q, p):
    """Return the score with negative eigenvalues set to zero and the trace restored."""
    lam = np.linalg.eigvalsh(np.sqrt(np.outer(p, p)) * K)
    lam = lam[lam > 1e-12]
    lam /= lam.sum()
    if q == 1:
        return math.exp(-(lam * np.log(lam)).sum())
    return 1 / lam.max() if q == INF else (lam**q).sum() ** (1 / (1 - q))


@pytest.mark.parametrize("n", [3, 40, 520])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("array", ["numpy", "torch"])
def test_clipped_scores_match_formula_for_single_and_several_orders(n, weighted, array):
    rng = np.random.default_rng(n)
    K = rng.uniform(-0.2, 1, (n, n))
    K[0, 1] = K[1, 2] = K[1, 0] = K[2, 1] = 0.9
    K[0, 2] = K[2, 0] = 0.0
    K = (K + K.T) / 2
    np.fill_diagonal(K, 1)
    p = rng.dirichlet(np.ones(n)) if weighted else np.full(n, 1 / n)
    samples = K if array == "numpy" else pytest.importorskip("torch").from_numpy(K)
    all_orders = compute(samples, score_K=True, q=ORDERS, p=p, psd="clip")
    for q, value in zip(ORDERS, all_orders.values(), strict=True):
        single_order = compute(samples, score_K=True, q=q, p=p, psd="clip")[key_at(q)]
        assert float(single_order) == pytest.approx(compute_clipped_score(K, q, p), rel=1e-9)
        assert float(value) == pytest.approx(float(single_order), rel=1e-9)
    with pytest.raises(NotPSDError):
        score_K(K, p=p)


K3 = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.0], [0.2, 0.0, 1.0]])


@pytest.mark.parametrize("q", [0.0, *ORDERS])
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-6, 1.0, 1e6, 1e160, 1e300])
def test_normalized_scores_do_not_depend_on_matrix_scale(q, scale):
    expected = score_K(K3, q=q)
    assert score_K(scale * K3, q=q, normalize=True) == pytest.approx(expected, rel=1e-12)
    rows = np.array([1.0, scale, 1.0])[:, None]  # one sample has another length than the others
    if 1e-150 < scale < 1e150:
        assert score_K(rows * K3 * rows.T, q=q, normalize=True) == pytest.approx(
            expected, rel=1e-12
        )


@pytest.mark.parametrize(("dtype", "scale"), [("float32", 1e25), ("float32", 1e-25), ("int8", 100)])
@pytest.mark.parametrize("q", [1.0, 2.0, INF])
def test_normalized_score_of_scaled_float32_and_int8_matrices(dtype, scale, q):
    K = (K3 * scale).astype(dtype)
    expected = score_K(K.astype(float), q=q, normalize=True)
    assert compute(MatrixSimilarity(K), normalize=True, q=q)[key_at(q)] == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-155, 1e155, 1e200])
@pytest.mark.parametrize("kind", ["numpy", "sparse", "torch"])
@pytest.mark.parametrize("q", [1.0, 2.0])
def test_cosine_scores_do_not_depend_on_vector_lengths(scale, kind, q):
    X = np.random.default_rng(0).integers(-8, 9, (6, 3)) + 0.5
    expected = score_X(X, q=q)
    Y = X * np.where(np.arange(6) % 2, scale, 1.0)[:, None]
    if kind == "sparse":
        Y = sp.csr_array(Y)
    elif kind == "torch":
        Y = pytest.importorskip("torch").from_numpy(Y)
    # The subnormal number 1e-310 has 14 fewer binary digits.
    tolerance = 1e-10 if scale < 1e-300 else 1e-12
    assert float(score_X(Y, q=q)) == pytest.approx(expected, rel=tolerance)
    assert float(score(Y, "cosine", q=q)) == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize("q", [0.5, 1.0, 2.0, INF])
@pytest.mark.parametrize("n", [4, 600])
@pytest.mark.parametrize("invalid_value", [math.nan, math.inf, 1.5])
def test_impossible_similarities_raise_with_two_samples(q, n, invalid_value):
    K = np.eye(n)
    K[1, 2] = K[2, 1] = invalid_value
    # The value 1.5 is detected only by eigenvalues, which order 2 does not compute.
    error = NotPSDError if invalid_value == 1.5 else ValueError
    if invalid_value == 1.5 and q == 2:
        return
    with pytest.raises(error, match=r"1 and 2|smallest eigenvalue"), np.errstate(all="ignore"):
        compute_vendi_scores(MatrixSimilarity(K), [q])


def test_score_out_of_range_raises():
    K = np.array([[1.0, 5.0], [5.0, 1.0]])
    with pytest.raises(ValueError, match=r"order 2 must be between 1 and 2, .*got 0\.07"):
        compute_vendi_scores(MatrixSimilarity(K), [2.0])


@pytest.mark.parametrize("q", [1e8, 1e300, 1e308, 1.7e308])
def test_huge_orders_match_order_infinity(q):
    shares = np.array([0.15] + [0.85 / 19] * 19)
    assert effective_number(shares, q) == pytest.approx(1 / 0.15, rel=1e-7)
    assert compute(np.eye(3), score_K=True, q=q)[key_at(q)] == pytest.approx(3)


@pytest.mark.parametrize(
    ("shares", "q"),
    [([0.5, 0.5], -1), ([0.5, 0.5], math.nan), ([0.7, 0.7], 1), ([1.5, -0.5], 1), ([], 1)],
)
def test_effective_number_rejects_invalid_shares_and_orders(shares, q):
    with pytest.raises(ValueError, match="`shares`" if q == 1 else "`q` must be a number"):
        effective_number(np.array(shares, float), q)


@pytest.mark.parametrize("q", [0.0, 0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("small", [1e-14, 1e-30, 1e-300])
def test_scores_of_labels_with_tiny_weights_are_exact(q, small):
    p = np.array([1 - 999 * small] + [small] * 999)
    with mpmath.workdps(50):
        exact_weights = [mpmath.mpf(float(x)) for x in p]
        total = sum(exact_weights)
        if q == 1:
            expected = mpmath.exp(-sum(x / total * mpmath.log(x / total) for x in exact_weights))
        else:
            expected = sum((x / total) ** q for x in exact_weights) ** (1 / mpmath.mpf(1 - q))
    result = compute(list(range(1000)), k="labels", p=p, q=q)[key_at(q)]
    assert result == pytest.approx(float(expected), rel=1e-12)


def test_truncation_warns_and_is_reported_in_details():
    x = np.linspace(0, 1, 30)
    with pytest.warns(UserWarning, match="eigenvalues below .* may be rounding") as caught:
        result = compute(x, k="rbf", sigma=1.0, q=[0, 0.1, 1], details=True)
    assert caught[0].filename == __file__  # the warning points to the caller, not into the package
    assert 0 < result["details"]["cut"] < 1e-13
    assert any("numerical rank" in note for note in result["details"]["notes"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compute(x, k="rbf", sigma=1.0, q=[1, 2])  # these orders do not depend on truncation
        low_rank = np.random.default_rng(0).standard_normal((50, 3))
        low_rank /= np.linalg.norm(low_rank, axis=1)[:, None]
        assert score_K(low_rank @ low_rank.T, q=0) == 3  # eigenvalues have a gap
        float32_rows = low_rank.astype(np.float32)
        assert score_K(float32_rows @ float32_rows.T, q=0) == 3  # rounding of float32


@pytest.mark.parametrize("case", ["every second column tiny", "drift", "tiled", "exact blocks"])
@pytest.mark.parametrize("q", [0.1, 1.0])
def test_float32_score_matches_float64_if_columns_or_rows_differ_in_scale(monkeypatch, case, q):
    monkeypatch.setattr("vendiscore.similarity.covariance.MIN_FLOAT32_PRODUCTS", 0)
    rng = np.random.default_rng(0)
    n, d = 8000, 64
    X = {
        "every second column tiny": lambda: (
            rng.standard_normal((n, d)) * np.tile([1.0, 3e-5], d // 2)
        ),
        "drift": lambda: (
            np.outer(rng.random(n), rng.random(d)) + 1e-2 * rng.standard_normal((n, d))
        ),
        "tiled": lambda: np.tile(rng.standard_normal((2 * d, d)), (n // (2 * d) + 1, 1)),
        "exact blocks": lambda: np.vstack(
            [rng.integers(0, 2, (n // 2, d)) + np.eye(n // 2, d), rng.random((n // 2, d)) + 0.5]
        ),
    }[case]()
    X = np.concatenate([X, np.eye(d)]).astype(np.float32)
    float32_score = compute_vendi_scores(FeatureSimilarity(X).normalized(), [q]).values[0]
    float64_score = compute_vendi_scores(
        FeatureSimilarity(X.astype(float)).normalized(), [q]
    ).values[0]
    assert float32_score == pytest.approx(float64_score, rel=1e-6)


@pytest.mark.parametrize("offset", [1e3, 1e5, 1e6])
def test_score_of_nearly_equal_float32_rows_matches_float64(offset):
    X = (np.random.default_rng(0).standard_normal((1100, 1000)) + offset).astype(np.float32)
    assert score_X(X) == pytest.approx(score_X(X.astype(float)), rel=1e-6)


def test_gradient_of_samples_without_weight_is_zero():
    torch = pytest.importorskip("torch")
    X = torch.rand(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    p = [0.5, 0.3, 0.2, 0, 0]
    assert torch.autograd.gradcheck(lambda X: score_X(X, p=p), X.requires_grad_())
    (gradient,) = torch.autograd.grad(score_X(X, p=p), X)
    assert torch.equal(gradient[3:], torch.zeros(2, 3, dtype=torch.float64))


@pytest.mark.parametrize("q", [1e4, INF])
def test_large_orders_match_largest_eigenvalue_of_decaying_spectrum(q):
    X = np.random.default_rng(0).standard_normal((600, 2))
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1))
    top = np.linalg.eigvalsh(K / 600)[-1]
    expected = 1 / top if q == INF else top ** (q / (1 - q))
    p = np.r_[np.full(300, 1 / 300), np.full(300, 1e-300)]
    assert score_K(K, q=q) == pytest.approx(expected, rel=1e-9)
    assert score_K(K, q=q, p=p) == pytest.approx(score_K(K[:300, :300], q=q), rel=1e-9)


def test_second_derivatives_at_repeated_eigenvalues_raise():
    torch = pytest.importorskip("torch")
    X = torch.eye(4, 6, dtype=torch.float64).requires_grad_()
    (first,) = torch.autograd.grad(score_X(X), X, create_graph=True)
    with pytest.raises(ValueError, match="second derivatives require distinct eigenvalues"):
        first.pow(2).sum().backward()
    Y = torch.randn(4, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.autograd.gradgradcheck(lambda X: score_X(X), Y.requires_grad_())


@pytest.mark.parametrize(
    ("measure", "q"),
    [("IntDiv", 1), ("AvgSim", 1), *itertools.product(["VS", "LC"], [0, 0.5, 1, 2, INF])],
)
def test_differentiable_measures_pass_gradcheck(measure, q):
    torch = pytest.importorskip("torch")
    X = torch.rand(7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    def value(X):
        (result,) = compute(X, k="cosine", q=q, measures=measure).values()
        return result

    value(X.requires_grad_()).backward()
    assert torch.isfinite(X.grad).all()
    assert torch.autograd.gradcheck(value, X)


@pytest.mark.parametrize("measure", ["GMStds", "MagArea"])
def test_measures_without_gradient_reject_tensors_with_gradients(measure):
    torch = pytest.importorskip("torch")
    X = torch.rand(7, 3, dtype=torch.float64)
    assert isinstance(compute(X, k="cosine", measures=measure)[measure], float)
    with pytest.raises(
        TypeError, match=r"(GMStds|magnitude) cannot be differentiated; pass samples\.det"
    ):
        compute(X.requires_grad_(), k="cosine", measures=measure)
    for options in ({}, {"k": "cosine"}):
        with pytest.raises(TypeError, match="magnitude cannot be differentiated"):
            mag_area(X, **options)
    with pytest.raises(TypeError, match="`p` has a gradient, which is lost unless the samples"):
        compute(np.eye(2), score_K=True, p=torch.tensor([0.5, 0.5], requires_grad=True))


@pytest.mark.parametrize("seed", range(5))
def test_squared_norm_of_sparse_and_duplicate_samples_matches_dense(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((40, 90)) * (rng.random((40, 90)) < 0.1)
    X[:, :3] = rng.random((40, 3))  # some columns are dense
    scale = rng.random(40)
    similarity = FeatureSimilarity(sp.csr_array(X)).scaled(scale)
    expected = np.linalg.norm(scale[:, None] * (X @ X.T) * scale) ** 2
    assert similarity.squared_norm() == pytest.approx(expected, rel=1e-12)
    inverse = rng.integers(0, 40, 100)
    scale = rng.random(100)
    repeated = RepeatedSimilarity(MatrixSimilarity(X @ X.T), inverse).scaled(scale)
    expected = np.linalg.norm(scale[:, None] * (X @ X.T)[np.ix_(inverse, inverse)] * scale) ** 2
    assert repeated.squared_norm() == pytest.approx(expected, rel=1e-12)


def test_order_two_of_many_equal_or_orthogonal_samples_is_fast():
    # Any computation of cost n² would take minutes.
    calls = []
    assert score([7] * 100_000, lambda a, b: calls.append(1) or 1.0, q=2) == pytest.approx(1)
    assert len(calls) < 10
    assert score_X(sp.identity(100_000, format="csr"), q=2) == pytest.approx(100_000)


@pytest.mark.parametrize("k", ["rbf", "laplacian", "cosine", "linear"])
@pytest.mark.parametrize("q", [0.5, 1, 2, 5000, INF])
def test_scores_ignore_numpy_error_settings(k, q):
    X = np.random.default_rng(0).standard_normal((40, 3))
    X[0] *= 1e3
    p = np.r_[1e-300, np.full(39, 1 / 39)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about small orders
        expected = compute(X, k=k, q=q, p=p, normalize=True)
        with np.errstate(all="raise"):
            assert compute(X, k=k, q=q, p=p, normalize=True) == expected


def test_positional_arguments_match_vendi_score_package():
    X = np.random.default_rng(0).standard_normal((5, 3))
    X /= np.linalg.norm(X, axis=1)[:, None]
    assert score_dual(X, 1, False) == pytest.approx(score_X(X, 1, None, True))
    with pytest.raises(TypeError, match="`normalize` must be True or False"):
        score_dual(X, 1, np.full(5, 0.2))
