"""Work in as many Python threads as BLAS may take, while BLAS itself takes one."""

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
# Results, beyond one per thread, that may be kept until their turn.
MAX_WAITING_RESULTS = 2


def slices(stop: int, size: int, start: int = 0) -> list[slice]:
    """Return slices of `size` places each, the last of fewer."""
    starts = range(start, stop, size)
    return [slice(first, min(first + size, stop)) for first in starts]


def map_ordered(
    function: Callable[[Item], Value], items: Iterable[Item], threaded: bool = True
) -> Generator[Value]:
    """Yield `map(function, items)`, computed in threads, with few results in memory at a time.

    Without threads, where the function does not bear them, BLAS keeps its own.
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
    """Call `function` on each item in threads, for its effect."""
    deque(map_ordered(function, items), maxlen=0)


class _BlasThreadLimits:
    """Who needs few BLAS threads: the lowest need holds for the whole process until it ends."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.needs: dict[object, int] = {}
        self.original_limits: list[tuple[LibController, int]] = []

    def begin(self, user: object, max_threads: int) -> int:
        """Let BLAS take at most so many threads, and return how many it had."""
        with self.lock:
            self.needs[user] = max_threads
            if not self.original_limits:
                self.original_limits = [
                    (one, one.num_threads) for one in blas_controller().lib_controllers
                ]
            self.apply()
            return max((threads for _, threads in self.original_limits), default=1)

    def end(self, user: object) -> None:
        """End this user's limit; ending it twice does no harm."""
        with self.lock:
            self.needs.pop(user, None)
            self.apply()
            if not self.needs:
                self.original_limits = []

    def apply(self) -> None:
        for library, threads in self.original_limits:
            wanted = min([threads, *self.needs.values()])
            if library.num_threads != wanted:  # to ask takes a tenth of the time
                library.set_num_threads(wanted)


_blas_limits = _BlasThreadLimits()


@contextmanager
def limit_blas_threads(max_threads: int) -> Iterator[int]:
    """Limit BLAS to so many threads, and yield how many it had.

    An interrupt may arrive within any call here, also within one that lifts the limit, so that
    the limit is lifted twice.
    """
    user = object()
    try:
        yield _blas_limits.begin(user, max_threads)
    finally:
        try:
            _blas_limits.end(user)
        finally:
            _blas_limits.end(user)


@cache
def blas_controller() -> ThreadpoolController:
    """Return the controller of the threads of NumPy's and SciPy's BLAS."""
    import scipy.linalg  # noqa: F401  its BLAS differs from NumPy's and must be loaded
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
