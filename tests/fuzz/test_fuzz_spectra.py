"""Fast ways to a spectrum against the plain one: Lanczos, single precision, merged samples."""

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

# Orders below 1 may say that what they leave out as rounding counts.
pytestmark = pytest.mark.filterwarnings("ignore:.*may be rounding")

# one eigenvalue by iteration


def two_groups(rng, n):
    """Return √p is nearly an eigenvector, and not the top one."""
    sign = np.where(np.arange(n) < n // 2 + rng.integers(-2, 3), 1.0, -1.0)
    return np.where(np.outer(sign, sign) > 0, 1.0, -(10.0 ** -rng.uniform(0.5, 6)))


def groups(rng, n):
    """Return blocks of equal or almost equal size: the top eigenvalues are as close as their
    sizes."""
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


def prescribed(rng, n):
    """Return unit vectors ±u_j around m orthogonal axes: eigenvalues at will, √p orthogonal to the
    top."""
    m = int(rng.integers(2, 9))
    axes = np.linalg.qr(rng.standard_normal((40, m)))[0]
    place = rng.choice(m, n, p=rng.dirichlet(np.full(m, rng.choice([1.0, 1e3]))))
    X = axes[:, place].T * np.where(np.arange(n) % 2, 1, -1)[:, None]
    X = X + rng.choice([0.0, 1e-6, 1e-2]) * rng.standard_normal(X.shape)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X @ X.T


def noise(rng, n):
    X = rng.standard_normal((n, int(rng.choice([3, 100, 2 * n]))))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X @ X.T


def identity(rng, n):
    return np.eye(n)


SPECTRA = (two_groups, two_groups, groups, groups, uneven_groups, prescribed, noise, identity)


@fuzz.fuzz_settings(30)
@given(make=st.sampled_from(SPECTRA), n=st.integers(500, 640), seed=fuzz.seeds, data=st.data())
def test_the_largest_eigenvalue_alone_is_that_of_the_whole_spectrum(make, n, seed, data):
    K = make(np.random.default_rng(seed), n)
    np.fill_diagonal(K, 1.0)
    p = data.draw(fuzz.weights(n))
    root = np.full(n, n**-0.5) if p is None else np.sqrt(p)
    right = 1 / np.linalg.eigvalsh(root[:, None] * K * root)[-1]
    clip = data.draw(st.booleans())
    if clip:
        values = np.linalg.eigvalsh(root[:, None] * K * root)
        right *= values[values > 0].sum()
    got = compute(K, score_K=True, q=math.inf, p=p, psd="clip" if clip else "check")["VS_qinf"]
    assert got == pytest.approx(right, rel=1e-8)


@fuzz.fuzz_settings(10)
@given(
    make=st.sampled_from(SPECTRA),
    seed=fuzz.seeds,
    kind=st.sampled_from(("wide", "function", "labels")),
)
def test_features_and_functions_have_the_same_largest_eigenvalue(make, seed, kind):
    rng = np.random.default_rng(seed)
    n = 520
    if kind == "labels":
        samples = rng.choice(40, n, p=rng.dirichlet(np.full(40, 5.0))).tolist()
        right = n / np.bincount(samples).max()
        assert compute(samples, k="labels", q=math.inf)["VS_qinf"] == pytest.approx(right, rel=1e-8)
        return
    K = make(rng, n)
    np.fill_diagonal(K, 1.0)
    values, vectors = np.linalg.eigh(K)
    F = vectors * np.sqrt(np.maximum(values, 0))
    F /= np.linalg.norm(F, axis=1, keepdims=True)
    right = n / np.linalg.eigvalsh(F @ F.T)[-1]
    similarity = FeatureSimilarity(F) if kind == "wide" else MatrixSimilarity(F @ F.T)
    assert compute(similarity, q=math.inf)["VS_qinf"] == pytest.approx(right, rel=1e-8)


# covariances in single precision


@st.composite
def single_columns(draw):
    """Return float32 rows whose columns have very different sizes, here and there."""
    d = draw(st.sampled_from((16, 128, 256, 384)))
    n = draw(st.integers(d + 1, 4000))
    rng = np.random.default_rng(draw(fuzz.seeds))
    X = rng.standard_normal((n, d))
    kind = draw(st.sampled_from(("even", "second", "decay", "late rows", "common")))
    small = 10.0 ** -draw(st.integers(1, 6))
    if kind == "second":
        X[:, draw(st.integers(0, 1)) :: 2] *= small
    elif kind == "decay":
        X *= np.geomspace(1, small, d)
    elif kind == "late rows":
        X[n // 3 :, : d // 2] *= small
    elif kind == "common":
        X += 1 / small
    return X.astype(np.float32)


@fuzz.fuzz_settings(25)
@given(X=single_columns(), q=st.sampled_from((0, 0.1, 0.5, 1, 1.5, 2, 3, math.inf)), data=st.data())
def test_single_precision_moves_a_score_by_no_more_than_a_millionth(X, q, data):
    p = data.draw(fuzz.weights(len(X)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "vendiscore.similarity.covariance.MIN_FLOAT32_PRODUCTS", 1
        )  # as if there were many more rows
        got = compute(X, score_X=True, normalize=True, q=q, p=p)[key_at(q)]
    F = X / np.linalg.norm(X.astype(float), axis=1, keepdims=True)
    root = np.full(len(F), len(F) ** -0.5) if p is None else np.sqrt(p)
    values = np.linalg.svd(root[:, None] * F, compute_uv=False)[::-1] ** 2
    # The n − d eigenvalues that features have not are zero; rounding is as for n samples.
    low, high = reference.score_bounds(np.concatenate([np.zeros(len(F) - len(values)), values]), q)
    fuzz.check_value(got, low, high, 1e-6)


# many at a time


@fuzz.fuzz_settings(10)
@given(seed=fuzz.seeds, k=st.sampled_from(("rbf", "cosine", "labels")))
def test_one_similarity_serves_many_threads(seed, k):
    X = np.random.default_rng(seed).integers(0, 9, (60, 1 if k == "labels" else 4))
    samples = X[:, 0].tolist() if k == "labels" else X + 0.5
    shared = as_similarity(samples, k=k)
    jobs = [1, 2, math.inf, 0.5, 3] * 4

    def one(q):
        return compute(shared, q=q)[key_at(q)], compute(
            samples, k=k, q=q, measures=["VS", "IntDiv"]
        )

    alone = [one(q) for q in jobs]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, jobs)) == [(pytest.approx(a), pytest.approx(b)) for a, b in alone]


# what else may be asked


@fuzz.fuzz_settings(60)
@given(
    shares=st.lists(st.floats(1e-12, 1), min_size=1, max_size=8),
    q=st.one_of(fuzz.orders, st.floats(1 - 1e-6, 1 + 1e-6)),
)
def test_hill_numbers_of_any_order_are_those_at_forty_digits(shares, q):
    total = math.fsum(shares)
    shares = np.array([share / total for share in shares])
    right = reference.hill_number(shares, q)
    fuzz.check_value(vendiscore.effective_number(shares, q), right, right, 1e-9)


@fuzz.fuzz_settings(60)
@given(
    orders=st.lists(
        st.one_of(fuzz.orders, st.floats(0.99, 1.01)), min_size=1, max_size=6, unique=True
    )
)
def test_every_order_asked_for_has_a_key_of_its_own(orders):
    K = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]])
    result = compute(K, score_K=True, q=orders, details=True)
    assert len(fuzz.result_values(result)) == len(orders)
    assert len(result["details"]["method"]) == len(orders)
    for q, value in zip(orders, fuzz.result_values(result), strict=True):
        assert value == pytest.approx(reference.vendi_score(K, q), rel=1e-10)
