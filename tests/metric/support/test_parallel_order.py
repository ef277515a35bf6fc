"""Work in threads: results in order, errors for the caller, limits of BLAS that end."""

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
    monkeypatch.setattr(parallel, "blas_controller", lambda: blas)
    seen = []

    def square(i: int) -> int:
        seen.append((blas.num_threads, threading.current_thread().name))
        time.sleep(0.001 * (i % 3))
        return i * i

    outer = parallel.map_ordered(square, range(40))
    assert next(outer) == 0
    assert list(parallel.map_ordered(square, range(40))) == [i * i for i in range(40)]
    assert blas.num_threads == 1
    assert list(outer) == [i * i for i in range(1, 40)]
    assert blas.num_threads == count
    assert {limit for limit, _ in seen} == {1}
    assert (len({name for _, name in seen}) > 1) == (count > 1)


def test_what_fails_in_a_thread_fails_for_the_caller(monkeypatch):
    blas = Blas(4)
    monkeypatch.setattr(parallel, "blas_controller", lambda: blas)
    with pytest.raises(ZeroDivisionError):
        list(parallel.map_ordered(lambda i: 1 / (i - 5), range(40)))
    stopped = parallel.map_ordered(lambda i: i, range(40))
    next(stopped)
    stopped.close()
    assert blas.num_threads == 4


def test_a_product_does_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr("vendiscore.support.memory.MAX_CACHE_FRACTION", 0.0)
    similarity = as_similarity(X, k="rbf")
    products = []
    for count in (1, 2, 7):
        monkeypatch.setattr(
            "vendiscore.support.parallel.blas_controller", lambda count=count: Blas(count)
        )
        products.append(similarity.matmul(V))
    np.testing.assert_array_equal(products[0], products[1])
    np.testing.assert_array_equal(products[0], products[2])


def test_threads_are_those_of_every_library_that_multiplies():
    code = """
    from threadpoolctl import threadpool_info
    from vendiscore.support import parallel
    held = len(parallel.blas_controller().info())
    import scipy.linalg
    there = sum(found["user_api"] == "blas" for found in threadpool_info())
    assert held == there, (held, there)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
