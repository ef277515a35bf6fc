"""Products in single precision agree with the dense matrix, as far as single precision goes."""

import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from vendiscore import (
    FeatureSimilarity,
    MatrixSimilarity,
    ProductSimilarity,
    SumSimilarity,
    as_similarity,
)
from vendiscore.arrays import threads
from vendiscore.similarity.bit_sets import BitSimilarity
from vendiscore.similarity.composite import RepeatedSimilarity
from vendiscore.similarity.rows import RowsSimilarity

N = 190
rng = np.random.default_rng(0)
X = rng.standard_normal((N, 30))
BITS = (rng.random((N, 40)) < 0.2).astype(np.uint8)
BITS[[5, 150]] = 0
RARE = (rng.random((N, 900)) < 0.02).astype(np.uint8) | np.eye(N, 900, dtype=np.uint8)
RARE[5] = 0
COUNTS = sp.csr_array(rng.random((N, 60)) * (rng.random((N, 60)) < 0.2))
V = rng.standard_normal((N, 3))

KINDS = {
    "rbf": lambda: as_similarity(X, k="rbf"),
    "narrow rbf": lambda: as_similarity(X, k="rbf", sigma=0.3),
    "wide rbf": lambda: as_similarity(X, k="rbf", sigma=1e9),
    "rbf of few columns": lambda: as_similarity(X[:, :3], k="rbf"),
    "rbf with an outlier": lambda: as_similarity(np.vstack([X[1:], 1e5 + X[:1]]), k="rbf", sigma=5),
    "rbf far apart": lambda: as_similarity(X + 1e8 * (np.arange(N)[:, None] % 2), k="rbf", sigma=5),
    "rbf of huge numbers": lambda: as_similarity(X * 2.0**700, k="rbf"),
    "rbf of tiny numbers": lambda: as_similarity(X * 2.0**-700, k="rbf"),
    "laplacian": lambda: as_similarity(X, k="laplacian"),
    "polynomial": lambda: as_similarity(X, k="polynomial"),
    "high polynomial": lambda: as_similarity(X, k="polynomial", degree=90),
    "tanimoto": lambda: BitSimilarity(BITS),
    "rare bits": lambda: BitSimilarity(RARE),
    "dice": lambda: BitSimilarity(BITS, "dice"),
    "of rows": lambda: RowsSimilarity.of_rows(X, lambda A, B: 1 / (1 + cdist(A, B))),
    "matrix": lambda: MatrixSimilarity(X @ X.T),
    "single matrix": lambda: MatrixSimilarity((X @ X.T).astype(np.float32)),
    "features": lambda: FeatureSimilarity(X),
    "single features": lambda: FeatureSimilarity(X.astype(np.float32)),
    "whole features": lambda: FeatureSimilarity(BITS),
    "sparse features": lambda: FeatureSimilarity(COUNTS),
    "repeated": lambda: RepeatedSimilarity(BitSimilarity(BITS[:99]), np.arange(N) % 99),
    "sum": lambda: SumSimilarity([BitSimilarity(BITS), as_similarity(X, k="rbf")], [0.3, 0.7]),
    "product": lambda: ProductSimilarity([BitSimilarity(BITS), as_similarity(X, k="rbf")]),
}


@pytest.fixture(params=KINDS)
def similarity(request, monkeypatch):
    monkeypatch.setattr("vendiscore.arrays.threads.blas_libraries", lambda: Blas(3))
    return KINDS[request.param]()


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_a_product_in_single_precision_is_one_of_the_dense_matrix(
    similarity, kept, scaled, monkeypatch
):
    monkeypatch.setattr("vendiscore.similarity.rows.KEPT_SHARE", 0.25 if kept else 0.0)
    if scaled:
        similarity = similarity.scaled(rng.uniform(0.5, 2, N))
    K = similarity.dense()
    largest = K if K.min() >= 0 else np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    for columns in (V, V[:, 0], V * [1e-200, 1.0, 1e200], V[:, :0], np.eye(N, 5)):
        for _ in range(2):
            found = similarity.matmul(columns, single=True)
            assert found.dtype == np.float64
            assert found.shape == columns.shape
            sizes = largest @ np.abs(columns)
            assert np.all(np.abs(found - K @ columns) <= 5e-6 * sizes + 1e-30 * sizes.max(axis=0))


def test_a_product_in_single_precision_is_right_to_a_millionth_of_its_size(similarity):
    K = similarity.dense()
    gap = similarity.matmul(V, single=True) - K @ V
    assert np.linalg.norm(gap) < 1e-6 * np.linalg.norm(K) * np.linalg.norm(V)


class Blas:
    """A library of matrix products with so many threads."""

    def __init__(self, threads: int) -> None:
        self.num_threads = threads
        self.lib_controllers = [self]

    def set_num_threads(self, threads: int) -> None:
        self.num_threads = threads


@pytest.mark.parametrize("count", [1, 4])
def test_work_in_threads_comes_back_in_order_and_leaves_blas_as_it_was(count, monkeypatch):
    blas = Blas(count)
    monkeypatch.setattr(threads, "blas_libraries", lambda: blas)
    seen = []

    def square(i: int) -> int:
        seen.append((blas.num_threads, threading.current_thread().name))
        time.sleep(0.001 * (i % 3))
        return i * i

    outer = threads.in_order(square, range(40))
    assert next(outer) == 0
    assert list(threads.in_order(square, range(40))) == [i * i for i in range(40)]
    assert blas.num_threads == 1
    assert list(outer) == [i * i for i in range(1, 40)]
    assert blas.num_threads == count
    assert {limit for limit, _ in seen} == {1}
    assert (len({name for _, name in seen}) > 1) == (count > 1)


def test_what_fails_in_a_thread_fails_for_the_caller(monkeypatch):
    blas = Blas(4)
    monkeypatch.setattr(threads, "blas_libraries", lambda: blas)
    with pytest.raises(ZeroDivisionError):
        list(threads.in_order(lambda i: 1 / (i - 5), range(40)))
    stopped = threads.in_order(lambda i: i, range(40))
    next(stopped)
    stopped.close()
    assert blas.num_threads == 4


def test_a_product_does_not_depend_on_the_number_of_threads(monkeypatch):
    similarity = as_similarity(X, k="rbf")
    products = []
    for count in (1, 2, 7):
        monkeypatch.setattr(
            "vendiscore.arrays.threads.blas_libraries", lambda count=count: Blas(count)
        )
        products.append(similarity.matmul(V, single=True))
    np.testing.assert_array_equal(products[0], products[1])
    np.testing.assert_array_equal(products[0], products[2])


def test_threads_are_those_of_every_library_that_multiplies():
    code = """
    from threadpoolctl import threadpool_info
    from vendiscore.arrays import threads
    held = len(threads.blas_libraries().info())
    import scipy.linalg
    there = sum(found["user_api"] == "blas" for found in threadpool_info())
    assert held == there, (held, there)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
