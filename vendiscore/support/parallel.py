"""Run work in as many Python threads as BLAS may use, while BLAS itself uses one."""

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
# Maximum number of results, in addition to one per thread, that wait to be yielded in order.
MAX_WAITING_RESULTS = 2


def slices(stop: int, size: int, start: int = 0) -> list[slice]:
    """Split range(start, stop) into slices of length `size`; the last may be shorter."""
    starts = range(start, stop, size)
    return [slice(first, min(first + size, stop)) for first in starts]


def map_ordered(
    function: Callable[[Item], Value], items: Iterable[Item], threaded: bool = True
) -> Generator[Value]:
    """Yield `map(function, items)`, computed in threads, with few results in memory at a time.

    `threaded=False` is for functions that are not thread-safe; BLAS then uses its own threads.
    """
    if not threaded:
        yield from map(function, items)
        return
    with limit_blas_threads(1) as threads:
        if threads < 2:
            yield from map(function, items)
            return
        pool = ThreadPoolExecutor(threads)
        waiting: deque[Future[Value]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > threads + MAX_WAITING_RESULTS:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def run_parallel(function: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Call `function` on each item in threads, and discard the results."""
    deque(map_ordered(function, items), maxlen=0)


class _BlasThreadLimits:
    """Nested and concurrent limits on BLAS threads; the lowest applies to the whole process."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.needs: dict[object, int] = {}
        self.original_limits: list[tuple[LibController, int]] = []

    def begin(self, user: object, max_threads: int) -> int:
        """Limit BLAS to `max_threads` threads, and return its original number."""
        with self.lock:
            self.needs[user] = max_threads
            if not self.original_limits:
                self.original_limits = [
                    (one, one.num_threads) for one in blas_controller().lib_controllers
                ]
            self.apply()
            return max((threads for _, threads in self.original_limits), default=1)

    def end(self, user: object) -> None:
        """Remove the limit of `user`; calling it twice has no effect."""
        with self.lock:
            self.needs.pop(user, None)
            self.apply()
            if not self.needs:
                self.original_limits = []

    def apply(self) -> None:
        for library, threads in self.original_limits:
            wanted = min([threads, *self.needs.values()])
            if library.num_threads != wanted:  # reading is ten times faster than setting
                library.set_num_threads(wanted)


_blas_limits = _BlasThreadLimits()


@contextmanager
def limit_blas_threads(max_threads: int) -> Iterator[int]:
    """Limit BLAS to `max_threads` threads within the context, and yield its original number."""
    user = object()
    try:
        yield _blas_limits.begin(user, max_threads)
    finally:
        # An interrupt can arrive while the limit is being removed, so remove it twice.
        try:
            _blas_limits.end(user)
        finally:
            _blas_limits.end(user)


@cache
def blas_controller() -> ThreadpoolController:
    """Return the controller of the threads of NumPy's and SciPy's BLAS."""
    import scipy.linalg  # noqa: F401  loads SciPy's BLAS, which differs from NumPy's
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
