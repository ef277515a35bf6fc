"""Similarities that are computed when asked, over many blocks."""

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

KINDS = {
    "rbf": lambda: as_similarity(X, k="rbf"),
    "rbf of few columns": lambda: as_similarity(X[:, :3], k="rbf"),
    "rbf far apart": lambda: as_similarity(X + 1e8 * (np.arange(N)[:, None] % 2), k="rbf", sigma=5),
    "laplacian": lambda: as_similarity(X, k="laplacian"),
    "bits": lambda: BitSimilarity(BITS),
    "of rows": lambda: RowsSimilarity.of_rows(X, lambda A, B: 1 / (1 + cdist(A, B))),
}


@pytest.fixture(params=KINDS)
def similarity(request):
    return KINDS[request.param]()


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_every_view_over_many_blocks_is_that_of_the_dense_matrix(
    similarity, kept, scaled, monkeypatch
):
    monkeypatch.setattr("vendiscore.support.memory.MAX_CACHE_FRACTION", 0.25 if kept else 0.0)
    K = similarity.dense()
    if scaled:
        s = rng.uniform(0.5, 2, N)
        similarity, K = similarity.scaled(s), s[:, None] * K * s
    index = np.array([200, 3, 3, 64, 329])
    close = {"rtol": 0, "atol": 1e-12}
    np.testing.assert_array_equal(similarity.dense(), similarity.dense().T)
    np.testing.assert_allclose(similarity.matmul(V), K @ V, atol=1e-11)
    np.testing.assert_allclose(similarity.matmul(V[:, 0]), K @ V[:, 0], atol=1e-11)
    np.testing.assert_allclose(similarity.squared_norm(), (K * K).sum(), rtol=1e-13)
    np.testing.assert_allclose(similarity.rows(index), K[index], **close)
    np.testing.assert_allclose(similarity.rows(slice(100, 250)), K[100:250], **close)
    np.testing.assert_allclose(similarity.diagonal(), K.diagonal(), **close)
    part = similarity.take(index)
    np.testing.assert_allclose(part.dense(), K[np.ix_(index, index)], **close)
    np.testing.assert_allclose(np.vstack([rows for _, rows in similarity.blocks()]), K, **close)
    assert (similarity._cache.K is not None) == kept


@pytest.mark.parametrize("scale", [1.0, 2.0**660, 2.0**-660])
@pytest.mark.parametrize("apart", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("groups", [2, 40])
@pytest.mark.parametrize("sigma", [None, 0.5])
def test_similarities_keep_their_digits_in_every_block(scale, apart, groups, sigma):
    Y = X + apart * (np.arange(N)[:, None] % groups)
    squares = np.square(np.subtract(Y[:, None], Y[None], dtype=np.longdouble)).sum(axis=2)
    width = np.median(np.sqrt(squares[np.triu_indices(N, 1)])) if sigma is None else sigma
    similarity = as_similarity(Y * scale, k="rbf", sigma=None if sigma is None else sigma * scale)
    assert similarity.settings["sigma"] / scale == pytest.approx(float(width), rel=1e-13)
    K = np.exp(-squares / (2 * width**2)).astype(float)
    some = np.arange(0, N, 3)
    np.testing.assert_allclose(similarity.dense(), K, rtol=0, atol=4e-13)
    result = similarity.take(some).dense()
    np.testing.assert_allclose(result, K[np.ix_(some, some)], rtol=0, atol=4e-13)


def test_rows_of_a_kernel_can_be_pickled():
    for k in ("rbf", "laplacian"):
        similarity = as_similarity(X, k=k)
        again = pickle.loads(pickle.dumps(similarity))
        np.testing.assert_array_equal(again.dense(), similarity.dense())


@pytest.mark.parametrize("k", ["rbf", "laplacian"])
@pytest.mark.parametrize("d", [3, 30])
def test_nothing_of_size_n_squared_is_made_before_it_is_asked_for(k, d, monkeypatch):
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


def test_products_keep_the_matrix_for_all_scaled_copies(monkeypatch):
    similarity = as_similarity(X, k="rbf")
    similarity.scaled(np.full(N, 2.0)).matmul(V)
    assert similarity._cache.K is not None
    part = similarity.take(np.arange(9))
    np.testing.assert_array_equal(part.dense(), similarity.dense()[:9, :9])
    assert part._cache.K is not None  # so that nothing is compared again
    other = similarity.take(np.array([3, 3, 1]))
    np.testing.assert_array_equal(other.dense(), similarity.dense()[np.ix_([3, 3, 1], [3, 3, 1])])
    monkeypatch.setattr("vendiscore.similarity.rows.MAX_EAGER_CACHE_BYTES", 0)
    large = as_similarity(X, k="rbf")
    first = large.matmul(V)
    assert large._cache.K is None
    np.testing.assert_allclose(large.matmul(V), first, rtol=1e-12)
    assert large._cache.K is not None


def test_a_caller_who_forbids_underflow_gets_the_same_numbers():
    Y = np.array([[0.0] * 20, [1e-170] * 20, [50.0] * 20, [1.0] * 20])
    for k in ("rbf", "laplacian"):
        expected = compute(Y, k=k)
        with np.errstate(all="raise"):
            assert compute(Y, k=k) == expected


# Settings that kernels fit


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_what_is_fitted_is_what_the_kernel_takes_without_a_bandwidth(kernel):
    kernel = get_kernel(kernel)
    fitted = kernel.fit(X)
    assert list(fitted) == ["sigma"]
    assert kernel.fit(X, sigma=2.0) == {}
    np.testing.assert_array_equal(kernel.build(X).dense(), kernel.build(X, **fitted).dense())
    assert dict(as_similarity(X, k=kernel.name).fitted) == fitted
    assert dict(as_similarity(X, k=kernel.name, **fitted).fitted) == {}


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_a_bandwidth_that_is_a_tensor_keeps_its_gradient(kernel):
    torch = pytest.importorskip("torch")
    Y = torch.tensor(X[:8, :3])
    sigma = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: compute(Y, k=kernel, sigma=s)["VS"], sigma)
    with torch.no_grad():
        plain = compute(Y, k=kernel, sigma=1.5)["VS"]
        assert compute(Y, k=kernel, sigma=sigma)["VS"] == plain
    Y.requires_grad_()
    assert get_kernel(kernel).fit(Y)["sigma"].requires_grad
    for wrong in (-1.0, 0.0, float("nan")):
        with pytest.raises(ValueError, match="`sigma` must be a finite number above 0"):
            compute(Y, k=kernel, sigma=torch.tensor(wrong))


# Functions


def test_a_function_is_called_when_something_is_asked_and_once():
    calls = []

    def k(a, b):
        calls.append((a, b))
        return float(np.exp(-abs(a - b)))

    similarity = callable_similarity(range(12), k)
    scaled, part = similarity.scaled(np.full(12, 2.0)), similarity.take(np.array([3, 5]))
    assert calls == []
    assert part.dense()[0, 1] == pytest.approx(np.exp(-2))
    seen = len(calls)
    np.testing.assert_allclose(scaled.dense(), 4 * similarity.dense())
    assert similarity.squared_norm() > 0
    assert len(calls) == seen == 12 * 13 // 2 + 12 * 11 // 2


def test_what_failed_is_tried_again():
    results = iter([ValueError("not yet"), np.eye(2)])

    def compute_it() -> np.ndarray:
        result = next(results)
        if isinstance(result, Exception):
            raise result
        return result

    similarity = DeferredSimilarity(2, compute_it)
    with pytest.raises(ValueError, match="not yet"):
        similarity.diagonal()
    np.testing.assert_array_equal(similarity.diagonal(), [1, 1])


# Rows that stand alone


@pytest.mark.parametrize("k", ["cosine", "linear", "pixels"])
def test_features_of_a_kernel_with_rows_depend_on_no_other_sample(k):
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
        apart = [get_kernel(k).build(part, **options).features() for part in samples]
        together = get_kernel(k).build(np.concatenate(samples), **options).features()
        np.testing.assert_array_equal(together, np.vstack(apart))


# Large sets

# The peak of this process alone: what `resource` tells of a child begins with its parent's.
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
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read where Linux has it")
@pytest.mark.parametrize("k", ["rbf", "laplacian"])
def test_many_samples_take_less_than_their_matrix(k):
    ran = subprocess.run(
        [sys.executable, "-c", LARGE, k], cwd=ROOT, capture_output=True, text=True, check=True
    )
    print(ran.stdout)
    assert int(ran.stdout.split()[0]) < 5e8  # K has 2 GB
