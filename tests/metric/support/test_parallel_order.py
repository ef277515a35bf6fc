"""Parallel work returns results in order, raises errors in the caller and restores BLAS threads."""

import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from vendiscore import as_similarity
from vendiscore.support import parallel

rng = np.random.default_rng(0)
X, V = rng.standard_normal((190, 30)), rng.standard_normal((190, 3))


class FakeBlas:
    """A BLAS library with a given number of threads."""

    def __init__(self, threads: int) -> None:
        self.num_threads = threads
        self.lib_controllers = [self]

    def set_num_threads(self, threads: int) -> None:
        self.num_threads = threads


@pytest.mark.parametrize("count", [1, 4])
def test_map_ordered_keeps_the_order_and_restores_blas_threads(count, monkeypatch):
    blas = FakeBlas(count)
    monkeypatch.setattr(parallel, "blas_controller", lambda: blas)
    calls = []

    def square(i: int) -> int:
        calls.append((blas.num_threads, threading.current_thread().name))
        time.sleep(0.001 * (i % 3))
        return i * i

    outer = parallel.map_ordered(square, range(40))
    assert next(outer) == 0
    assert list(parallel.map_ordered(square, range(40))) == [i * i for i in range(40)]
    assert blas.num_threads == 1
    assert list(outer) == [i * i for i in range(1, 40)]
    assert blas.num_threads == count
    assert {limit for limit, _ in calls} == {1}
    assert (len({name for _, name in calls}) > 1) == (count > 1)


def test_map_ordered_raises_errors_of_threads_in_the_caller(monkeypatch):
    blas = FakeBlas(4)
    monkeypatch.setattr(parallel, "blas_controller", lambda: blas)
    with pytest.raises(ZeroDivisionError):
        list(parallel.map_ordered(lambda i: 1 / (i - 5), range(40)))
    results = parallel.map_ordered(lambda i: i, range(40))
    next(results)
    results.close()
    assert blas.num_threads == 4


def test_product_does_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr("vendiscore.support.memory.MAX_CACHE_FRACTION", 0.0)
    similarity = as_similarity(X, k="rbf")
    products = []
    for count in (1, 2, 7):
        monkeypatch.setattr(
            "vendiscore.support.parallel.blas_controller", lambda count=count: FakeBlas(count)
        )
        products.append(similarity.matmul(V))
    np.testing.assert_array_equal(products[0], products[1])
    np.testing.assert_array_equal(products[0], products[2])


def test_blas_controller_covers_all_loaded_blas_libraries():
    code = """
    from threadpoolctl import threadpool_info
    from vendiscore.support import parallel
    controlled = len(parallel.blas_controller().info())
    import scipy.linalg
    loaded = sum(library["user_api"] == "blas" for library in threadpool_info())
    assert controlled == loaded, (controlled, loaded)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
