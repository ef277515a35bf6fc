"""Row similarities are computed lazily, over many blocks."""

import pickle
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from vendiscore import RowsSimilarity, as_similarity, compute, get_kernel
from vendiscore.similarity.bit_sets import BitSimilarity
from vendiscore.similarity.callable_kernel import callable_similarity
from vendiscore.similarity.matrix import DeferredSimilarity

ROOT = Path(__file__).resolve().parents[3]
N = 330  # six blocks of rows
rng = np.random.default_rng(0)
X = rng.standard_normal((N, 30))
BITS = (rng.random((N, 40)) < 0.2).astype(np.uint8)
V = rng.standard_normal((N, 2))

SIMILARITIES = {
    "rbf": lambda: as_similarity(X, k="rbf"),
    "rbf of few columns": lambda: as_similarity(X[:, :3], k="rbf"),
    "rbf far apart": lambda: as_similarity(X + 1e8 * (np.arange(N)[:, None] % 2), k="rbf", sigma=5),
    "laplacian": lambda: as_similarity(X, k="laplacian"),
    "bits": lambda: BitSimilarity(BITS),
    "of rows": lambda: RowsSimilarity.of_rows(X, lambda A, B: 1 / (1 + cdist(A, B))),
}


@pytest.fixture(params=SIMILARITIES)
def similarity(request):
    return SIMILARITIES[request.param]()


@pytest.mark.parametrize("is_cached", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_all_methods_match_the_dense_matrix_over_many_blocks(
    similarity, is_cached, scaled, monkeypatch
):
    monkeypatch.setattr("vendiscore.support.memory.MAX_CACHE_FRACTION", 0.25 if is_cached else 0.0)
    K = similarity.dense()
    if scaled:
        factors = rng.uniform(0.5, 2, N)
        similarity, K = similarity.scaled(factors), factors[:, None] * K * factors
    index = np.array([200, 3, 3, 64, 329])
    tolerance = {"rtol": 0, "atol": 1e-12}
    np.testing.assert_array_equal(similarity.dense(), similarity.dense().T)
    np.testing.assert_allclose(similarity.matmul(V), K @ V, atol=1e-11)
    np.testing.assert_allclose(similarity.matmul(V[:, 0]), K @ V[:, 0], atol=1e-11)
    np.testing.assert_allclose(similarity.squared_norm(), (K * K).sum(), rtol=1e-13)
    np.testing.assert_allclose(similarity.rows(index), K[index], **tolerance)
    np.testing.assert_allclose(similarity.rows(slice(100, 250)), K[100:250], **tolerance)
    np.testing.assert_allclose(similarity.diagonal(), K.diagonal(), **tolerance)
    subset = similarity.take(index)
    np.testing.assert_allclose(subset.dense(), K[np.ix_(index, index)], **tolerance)
    np.testing.assert_allclose(np.vstack([rows for _, rows in similarity.blocks()]), K, **tolerance)
    assert (similarity._cache.K is not None) == is_cached


@pytest.mark.parametrize("scale", [1.0, 2.0**660, 2.0**-660])
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("groups", [2, 40])
@pytest.mark.parametrize("sigma", [None, 0.5])
def test_similarities_are_accurate_in_all_blocks(scale, offset, groups, sigma):
    Y = X + offset * (np.arange(N)[:, None] % groups)
    squares = np.square(np.subtract(Y[:, None], Y[None], dtype=np.longdouble)).sum(axis=2)
    bandwidth = np.median(np.sqrt(squares[np.triu_indices(N, 1)])) if sigma is None else sigma
    similarity = as_similarity(Y * scale, k="rbf", sigma=None if sigma is None else sigma * scale)
    assert similarity.settings["sigma"] / scale == pytest.approx(float(bandwidth), rel=1e-13)
    K = np.exp(-squares / (2 * bandwidth**2)).astype(float)
    subset_indices = np.arange(0, N, 3)
    np.testing.assert_allclose(similarity.dense(), K, rtol=0, atol=4e-13)
    result = similarity.take(subset_indices).dense()
    np.testing.assert_allclose(
        result, K[np.ix_(subset_indices, subset_indices)], rtol=0, atol=4e-13
    )


def test_row_similarities_can_be_pickled():
    for k in ("rbf", "laplacian"):
        similarity = as_similarity(X, k=k)
        restored = pickle.loads(pickle.dumps(similarity))
        np.testing.assert_array_equal(restored.dense(), similarity.dense())


@pytest.mark.parametrize("k", ["rbf", "laplacian"])
@pytest.mark.parametrize("d", [3, 30])
def test_products_and_norms_build_no_full_matrix(k, d, monkeypatch):
    monkeypatch.setattr("vendiscore.support.memory.MAX_CACHE_FRACTION", 0.0)
    Y = np.random.default_rng(0).standard_normal((3000, d))
    as_similarity(Y[:9], k=k)
    tracemalloc.start()
    similarity = as_similarity(Y, k=k)
    similarity.squared_norm()
    similarity.matmul(Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.4 * 8 * 3000**2


def test_matmul_caches_the_matrix_for_scaled_copies_and_subsets(monkeypatch):
    similarity = as_similarity(X, k="rbf")
    similarity.scaled(np.full(N, 2.0)).matmul(V)
    assert similarity._cache.K is not None
    subset = similarity.take(np.arange(9))
    np.testing.assert_array_equal(subset.dense(), similarity.dense()[:9, :9])
    assert subset._cache.K is not None  # similarities are not recomputed
    repeated_subset = similarity.take(np.array([3, 3, 1]))
    np.testing.assert_array_equal(
        repeated_subset.dense(), similarity.dense()[np.ix_([3, 3, 1], [3, 3, 1])]
    )
    monkeypatch.setattr("vendiscore.similarity.rows.MAX_EAGER_CACHE_BYTES", 0)
    large = as_similarity(X, k="rbf")
    first = large.matmul(V)
    assert large._cache.K is None
    np.testing.assert_allclose(large.matmul(V), first, rtol=1e-12)
    assert large._cache.K is not None


def test_scores_do_not_depend_on_numpy_error_state():
    Y = np.array([[0.0] * 20, [1e-170] * 20, [50.0] * 20, [1.0] * 20])
    for k in ("rbf", "laplacian"):
        expected = compute(Y, k=k)
        with np.errstate(all="raise"):
            assert compute(Y, k=k) == expected


# Fitted options


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_fitted_sigma_equals_the_default_bandwidth(kernel):
    kernel = get_kernel(kernel)
    fitted = kernel.fit(X)
    assert list(fitted) == ["sigma"]
    assert kernel.fit(X, sigma=2.0) == {}
    np.testing.assert_array_equal(kernel.build(X).dense(), kernel.build(X, **fitted).dense())
    assert dict(as_similarity(X, k=kernel.name).fitted) == fitted
    assert dict(as_similarity(X, k=kernel.name, **fitted).fitted) == {}


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_tensor_sigma_keeps_its_gradient(kernel):
    torch = pytest.importorskip("torch")
    Y = torch.tensor(X[:8, :3])
    sigma = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: compute(Y, k=kernel, sigma=s)["VS"], sigma)
    with torch.no_grad():
        expected = compute(Y, k=kernel, sigma=1.5)["VS"]
        assert compute(Y, k=kernel, sigma=sigma)["VS"] == expected
    Y.requires_grad_()
    assert get_kernel(kernel).fit(Y)["sigma"].requires_grad
    for invalid in (-1.0, 0.0, float("nan")):
        with pytest.raises(ValueError, match="`sigma` must be a finite number above 0"):
            compute(Y, k=kernel, sigma=torch.tensor(invalid))


# Callable kernels


def test_callable_kernel_is_evaluated_lazily_and_once():
    calls = []

    def k(a, b):
        calls.append((a, b))
        return float(np.exp(-abs(a - b)))

    similarity = callable_similarity(range(12), k)
    scaled, subset = similarity.scaled(np.full(12, 2.0)), similarity.take(np.array([3, 5]))
    assert calls == []
    assert subset.dense()[0, 1] == pytest.approx(np.exp(-2))
    n_calls = len(calls)
    np.testing.assert_allclose(scaled.dense(), 4 * similarity.dense())
    assert similarity.squared_norm() > 0
    assert len(calls) == n_calls == 12 * 13 // 2 + 12 * 11 // 2


def test_failed_computation_is_retried():
    results = iter([ValueError("not yet"), np.eye(2)])

    def compute_matrix() -> np.ndarray:
        result = next(results)
        if isinstance(result, Exception):
            raise result
        return result

    similarity = DeferredSimilarity(2, compute_matrix)
    with pytest.raises(ValueError, match="not yet"):
        similarity.diagonal()
    np.testing.assert_array_equal(similarity.diagonal(), [1, 1])


# Independent rows


@pytest.mark.parametrize("k", ["cosine", "linear", "pixels"])
def test_features_of_row_kernels_do_not_depend_on_other_samples(k):
    assert get_kernel(k).rows
    if k == "pixels":
        pytest.importorskip("PIL")
        A, B = (rng.integers(0, 255, (5, 8, 8), dtype=np.uint8) for _ in range(2))
        A[:, :, :3] = 0
        B[:, :4] = 0
        samples = [A, B]
    else:
        samples = [X[:5], 1e3 * X[5:11]]
        samples[1][0] *= 1e150 if k == "cosine" else 1e60
    for options in [{}] if k != "pixels" else [{}, {"size": None}]:
        separate = [get_kernel(k).build(batch, **options).features() for batch in samples]
        joint = get_kernel(k).build(np.concatenate(samples), **options).features()
        np.testing.assert_array_equal(joint, np.vstack(separate))


# Large sets

# Peak memory of this process; the value of `resource` for a child includes its parent.
LARGE = """
import re, sys, time
from pathlib import Path
import numpy as np
from vendiscore import compute
X = np.random.default_rng(0).standard_normal((16_000, 8))
start = time.perf_counter()
score = compute(X, k=sys.argv[1], q=2)["VS_q2"]
seconds = time.perf_counter() - start
assert 1 < score < 16_000
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]
print(1024 * int(peak), f"{seconds:.1f} s")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory from /proc")
@pytest.mark.parametrize("k", ["rbf", "laplacian"])
def test_peak_memory_is_below_the_size_of_the_matrix(k):
    process = subprocess.run(
        [sys.executable, "-c", LARGE, k], cwd=ROOT, capture_output=True, text=True, check=True
    )
    print(process.stdout)
    assert int(process.stdout.split()[0]) < 5e8  # K has 2 GB
