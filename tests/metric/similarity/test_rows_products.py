"""Tiled products agree with the matrix for any number of threads, and can be interrupted."""

import _thread
import signal
import threading

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from vendiscore import RowsSimilarity, as_similarity
from vendiscore.similarity import rows
from vendiscore.similarity.bit_sets import BitSimilarity
from vendiscore.similarity.rows import symmetric_product

rng = np.random.default_rng(0)
X = rng.standard_normal((700, 20))
SIMILARITIES = {
    "rbf": lambda: as_similarity(X, k="rbf", sigma=3.0),
    "laplacian": lambda: as_similarity(X, k="laplacian"),
    "bits": lambda: BitSimilarity((X > 0.5).astype(np.uint8)),
    "of rows": lambda: RowsSimilarity.of_rows(X, lambda A, B: 1 / (1 + cdist(A, B))),
}


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr("vendiscore.support.memory.MAX_CACHE_FRACTION", 0.0)
    monkeypatch.setattr(rows, "TILE_COLUMNS", 90)


@pytest.mark.parametrize("name", SIMILARITIES)
@pytest.mark.parametrize("n", [1, 63, 64, 65, 700])
@pytest.mark.parametrize("scaled", [False, True])
def test_matmul_and_norm_match_the_dense_matrix(name, n, scaled):
    similarity = SIMILARITIES[name]().take(np.arange(n))
    if scaled:
        similarity = similarity.scaled(rng.uniform(0.01, 2, n))
    K, V = similarity.dense(), rng.standard_normal((n, 5))
    np.testing.assert_allclose(similarity.matmul(V), K @ V, atol=1e-12 * (K @ abs(V)).max())
    np.testing.assert_allclose(similarity.matmul(V[:, 0]), K @ V[:, 0], atol=1e-12 * len(V))
    assert similarity.squared_norm() == pytest.approx(np.sum(K * K), rel=1e-12)


def test_user_functions_are_called_in_the_calling_thread():
    thread_ids = set()

    def k(A, B):
        thread_ids.add(threading.get_ident())
        return np.exp(-cdist(A, B))

    RowsSimilarity.of_rows(X, k).matmul(np.ones(len(X)))
    assert thread_ids == {threading.get_ident()}


@pytest.fixture
def interruptible():
    """Let Ctrl-C raise KeyboardInterrupt, which a shell disables for background jobs."""
    original_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, original_handler)


@pytest.mark.usefixtures("interruptible")
def test_interrupt_stops_a_product_and_its_threads():
    interrupted, threads_before = threading.Event(), threading.enumerate()

    def entries(rows, columns):
        # Python may lose a thread whose start is interrupted: both must have begun.
        if threading.current_thread().name.endswith("_1") and not interrupted.is_set():
            interrupted.set()
            _thread.interrupt_main()
        return np.zeros((rows.stop - rows.start, columns.stop - columns.start))

    def multiply():
        for _ in range(1000):  # the second thread may begin in a later product
            interrupted.clear()
            symmetric_product(entries, np.ones((6400, 3)))

    with threadpool_limits(2, "blas"), pytest.raises(KeyboardInterrupt):
        multiply()
    new_threads = [thread for thread in threading.enumerate() if thread not in threads_before]
    workers = [thread for thread in new_threads if "ThreadPool" in thread.name]
    for worker in workers:  # a worker that was just started ends without a signal
        worker.join(10)
    assert not any(worker.is_alive() for worker in workers)
