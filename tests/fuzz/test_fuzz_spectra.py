"""Fast algorithms for spectra, compared with a full decomposition in double precision."""

import math
from concurrent.futures import ThreadPoolExecutor

import fuzz
import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import vendiscore
from vendiscore import FeatureSimilarity, MatrixSimilarity, as_similarity, compute
from vendiscore.result import key_at

# Orders below 1 may warn about truncated eigenvalues.
pytestmark = pytest.mark.filterwarnings("ignore:.*may be rounding")

# Largest eigenvalue by iteration


def opposite_groups(rng, n):
    """Return a matrix in which √p is close to an eigenvector, but not the top one."""
    sign = np.where(np.arange(n) < n // 2 + rng.integers(-2, 3), 1.0, -1.0)
    return np.where(np.outer(sign, sign) > 0, 1.0, -(10.0 ** -rng.uniform(0.5, 6)))


def near_equal_groups(rng, n):
    """Return blocks of nearly equal size, whose top eigenvalues are close to each other."""
    m = int(rng.integers(2, 60))
    group = rng.permutation(np.arange(n) % m)
    inside, across = (
        rng.uniform(0.5, 1),
        rng.uniform(-0.9, 0.9) / (m if rng.random() < 0.5 else 1e4),
    )
    return np.where(group[:, None] == group, inside, across * inside)


def uneven_groups(rng, n):
    group = rng.choice(12, n, p=rng.dirichlet(np.full(12, 0.7)))
    return np.where(group[:, None] == group, 0.97, 0.0)


def vectors_around_axes(rng, n):
    """Return similarities of unit vectors around ± m axes; √p is orthogonal to the top vector."""
    m = int(rng.integers(2, 9))
    axes = np.linalg.qr(rng.standard_normal((40, m)))[0]
    axis = rng.choice(m, n, p=rng.dirichlet(np.full(m, rng.choice([1.0, 1e3]))))
    X = axes[:, axis].T * np.where(np.arange(n) % 2, 1, -1)[:, None]
    X = X + rng.choice([0.0, 1e-6, 1e-2]) * rng.standard_normal(X.shape)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X @ X.T


def noise(rng, n):
    X = rng.standard_normal((n, int(rng.choice([3, 100, 2 * n]))))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X @ X.T


def identity(rng, n):
    return np.eye(n)


SPECTRA = (
    opposite_groups,
    opposite_groups,
    near_equal_groups,
    near_equal_groups,
    uneven_groups,
    vectors_around_axes,
    noise,
    identity,
)


@fuzz.fuzz_settings(30)
@given(
    make_matrix=st.sampled_from(SPECTRA), n=st.integers(500, 640), seed=fuzz.seeds, data=st.data()
)
def test_score_of_order_infinity_matches_full_spectrum(make_matrix, n, seed, data):
    K = make_matrix(np.random.default_rng(seed), n)
    np.fill_diagonal(K, 1.0)
    p = data.draw(fuzz.weights(n))
    root = np.full(n, n**-0.5) if p is None else np.sqrt(p)
    expected = 1 / np.linalg.eigvalsh(root[:, None] * K * root)[-1]
    clip = data.draw(st.booleans())
    if clip:
        values = np.linalg.eigvalsh(root[:, None] * K * root)
        expected *= values[values > 0].sum()
    result = compute(K, score_K=True, q=math.inf, p=p, psd="clip" if clip else "check")["VS_qinf"]
    assert result == pytest.approx(expected, rel=1e-8)


@fuzz.fuzz_settings(10)
@given(
    make_matrix=st.sampled_from(SPECTRA),
    seed=fuzz.seeds,
    input_form=st.sampled_from(("wide", "function", "labels")),
)
def test_score_of_order_infinity_is_correct_for_features_matrices_and_labels(
    make_matrix, seed, input_form
):
    rng = np.random.default_rng(seed)
    n = 520
    if input_form == "labels":
        samples = rng.choice(40, n, p=rng.dirichlet(np.full(40, 5.0))).tolist()
        expected = n / np.bincount(samples).max()
        assert compute(samples, k="labels", q=math.inf)["VS_qinf"] == pytest.approx(
            expected, rel=1e-8
        )
        return
    K = make_matrix(rng, n)
    np.fill_diagonal(K, 1.0)
    values, vectors = np.linalg.eigh(K)
    F = vectors * np.sqrt(np.maximum(values, 0))
    F /= np.linalg.norm(F, axis=1, keepdims=True)
    expected = n / np.linalg.eigvalsh(F @ F.T)[-1]
    similarity = FeatureSimilarity(F) if input_form == "wide" else MatrixSimilarity(F @ F.T)
    assert compute(similarity, q=math.inf)["VS_qinf"] == pytest.approx(expected, rel=1e-8)


# Covariances in single precision


@st.composite
def float32_rows(draw):
    """Return float32 rows; the scales of columns may be very different."""
    d = draw(st.sampled_from((16, 128, 256, 384)))
    n = draw(st.integers(d + 1, 4000))
    rng = np.random.default_rng(draw(fuzz.seeds))
    X = rng.standard_normal((n, d))
    kind = draw(st.sampled_from(("even", "second", "decay", "late rows", "common")))
    factor = 10.0 ** -draw(st.integers(1, 6))
    if kind == "second":
        X[:, draw(st.integers(0, 1)) :: 2] *= factor
    elif kind == "decay":
        X *= np.geomspace(1, factor, d)
    elif kind == "late rows":
        X[n // 3 :, : d // 2] *= factor
    elif kind == "common":
        X += 1 / factor
    return X.astype(np.float32)


@fuzz.fuzz_settings(25)
@given(X=float32_rows(), q=st.sampled_from((0, 0.1, 0.5, 1, 1.5, 2, 3, math.inf)), data=st.data())
def test_single_precision_scores_are_accurate_to_one_millionth(X, q, data):
    p = data.draw(fuzz.weights(len(X)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "vendiscore.similarity.covariance.MIN_FLOAT32_PRODUCTS", 1
        )  # normally requires more rows
        score = compute(X, score_X=True, normalize=True, q=q, p=p)[key_at(q)]
    F = X / np.linalg.norm(X.astype(float), axis=1, keepdims=True)
    root = np.full(len(F), len(F) ** -0.5) if p is None else np.sqrt(p)
    eigenvalues = np.linalg.svd(root[:, None] * F, compute_uv=False)[::-1] ** 2
    # The remaining n − d eigenvalues are zero; rounding is that of n samples.
    lower, upper = reference.score_bounds(
        np.concatenate([np.zeros(len(F) - len(eigenvalues)), eigenvalues]), q
    )
    fuzz.check_value(score, lower, upper, 1e-6)


# Threads


@fuzz.fuzz_settings(10)
@given(seed=fuzz.seeds, k=st.sampled_from(("rbf", "cosine", "labels")))
def test_similarity_can_be_shared_by_threads(seed, k):
    X = np.random.default_rng(seed).integers(0, 9, (60, 1 if k == "labels" else 4))
    samples = X[:, 0].tolist() if k == "labels" else X + 0.5
    shared = as_similarity(samples, k=k)
    orders = [1, 2, math.inf, 0.5, 3] * 4

    def compute_scores(q):
        return compute(shared, q=q)[key_at(q)], compute(
            samples, k=k, q=q, measures=["VS", "IntDiv"]
        )

    expected = [compute_scores(q) for q in orders]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(compute_scores, orders)) == [
            (pytest.approx(a), pytest.approx(b)) for a, b in expected
        ]


# Orders


@fuzz.fuzz_settings(60)
@given(
    proportions=st.lists(st.floats(1e-12, 1), min_size=1, max_size=8),
    q=st.one_of(fuzz.orders, st.floats(1 - 1e-6, 1 + 1e-6)),
)
def test_hill_numbers_match_high_precision_arithmetic(proportions, q):
    total = math.fsum(proportions)
    proportions = np.array([proportion / total for proportion in proportions])
    expected = reference.hill_number(proportions, q)
    fuzz.check_value(vendiscore.effective_number(proportions, q), expected, expected, 1e-9)


@fuzz.fuzz_settings(60)
@given(
    orders=st.lists(
        st.one_of(fuzz.orders, st.floats(0.99, 1.01)), min_size=1, max_size=6, unique=True
    )
)
def test_orders_have_distinct_keys(orders):
    K = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]])
    result = compute(K, score_K=True, q=orders, details=True)
    assert len(fuzz.result_values(result)) == len(orders)
    assert len(result["details"]["method"]) == len(orders)
    for q, value in zip(orders, fuzz.result_values(result), strict=True):
        assert value == pytest.approx(reference.vendi_score(K, q), rel=1e-10)
