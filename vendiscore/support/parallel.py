"""Parallel computation in Python threads, while BLAS uses a single thread.

The number of Python threads is the number of threads that BLAS may use otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import LibController, ThreadpoolController

Item = TypeVar("Item")
Value = TypeVar("Value")
# Maximum number of results, in addition to one per thread, that wait to be yielded in their order.
MAX_WAITING_RESULTS = 2


def slices(stop: int, size: int, start: int = 0) -> list[slice]:
    """Split range(start, stop) into slices of length `size`; the last may be shorter."""
    starts = range(start, stop, size)
    return [slice(first, min(first + size, stop)) for first in starts]


def map_ordered(
    function: Callable[[Item], Value], items: Iterable[Item], threaded: bool = True
) -> Generator[Value]:
    """Yield `function(item)` for each item in order, computed in several Python threads.

    Meanwhile, BLAS uses a single thread for each of them. Only a few results are in memory at a
    time. Pass `threaded=False` for functions that are not thread-safe; BLAS then uses several
    threads.
    """
    if not threaded:
        yield from map(function, items)
        return
    with limit_blas_threads(1) as threads:
        if threads < 2:  # threads would have no advantage
            yield from map(function, items)
            return
        pool = ThreadPoolExecutor(threads)
        waiting: deque[Future[Value]] = deque()
        try:
            # A further item is submitted only if few results wait, which limits the memory.
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > threads + MAX_WAITING_RESULTS:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # also if the caller stops the iteration, or an item raises an error
            pool.shutdown(cancel_futures=True)


def run_parallel(function: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Call `function(item)` for each item in several Python threads, and discard the results."""
    deque(map_ordered(function, items), maxlen=0)


class _BlasThreadLimits:
    """Limits on the number of threads of BLAS, of several contexts at the same time.

    Contexts can be nested, or active in several Python threads. The lowest limit applies to the
    whole process. When the last limit is removed, the BLAS libraries use their original numbers of
    threads again.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.limits: dict[object, int] = {}
        self.original_limits: list[tuple[LibController, int]] = []

    def add(self, key: object, max_threads: int) -> int:
        """Limit BLAS to `max_threads` threads, and return its original number of threads.

        `key` identifies the limit, so that it can be removed later.
        """
        with self.lock:
            self.limits[key] = max_threads
            if not self.original_limits:
                self.original_limits = [
                    (library, library.num_threads) for library in blas_controller().lib_controllers
                ]
            self.apply()
            return max((threads for _, threads in self.original_limits), default=1)

    def remove(self, key: object) -> None:
        """Remove the limit identified by `key`; removing it again has no effect."""
        with self.lock:
            self.limits.pop(key, None)
            self.apply()
            if not self.limits:
                self.original_limits = []

    def apply(self) -> None:
        """Set the number of threads of each BLAS library to the lowest of the current limits."""
        for library, threads in self.original_limits:
            max_threads = min([threads, *self.limits.values()])
            if library.num_threads != max_threads:  # reading is ten times faster than setting
                library.set_num_threads(max_threads)


_blas_limits = _BlasThreadLimits()


@contextmanager
def limit_blas_threads(max_threads: int) -> Iterator[int]:
    """Limit BLAS to `max_threads` threads within the context.

    Yields the number of threads that BLAS uses without limits.
    """
    key = object()
    try:
        yield _blas_limits.add(key, max_threads)
    finally:
        # An interrupt can arrive while the limit is being removed, so remove it twice.
        try:
            _blas_limits.remove(key)
        finally:
            _blas_limits.remove(key)


@cache
def blas_controller() -> ThreadpoolController:
    """Return the controller of the threads of the BLAS libraries of NumPy and SciPy."""
    import scipy.linalg  # noqa: F401  loads SciPy's BLAS, which differs from NumPy's
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
