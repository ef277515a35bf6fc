"""Work in as many Python threads as BLAS may take, while BLAS itself takes one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")
# Results, beyond one per thread, that may be kept until their turn.
WAITING = 2


def in_order(function: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[Value]:
    """Yield `map(function, items)`, computed in threads, with few results in memory at a time."""
    with single_threads() as threads:
        if threads < 2:
            yield from map(function, items)
            return
        pool = ThreadPoolExecutor(threads)
        waiting: deque[Future[Value]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > threads + WAITING:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def each(function: Callable[[Item], Any], items: Iterable[Item]) -> None:
    """Call `function` on each item in threads, for its effect."""
    deque(in_order(function, items), maxlen=0)


class _Cap:
    """A limit of one BLAS thread while anybody needs it: the limit holds for the whole process."""

    def __init__(self) -> None:
        self.lock, self.users, self.threads = Lock(), 0, 1
        self.limited: Any = None


_cap = _Cap()


@contextmanager
def single_threads() -> Iterator[int]:
    """Limit BLAS to one thread, and yield how many it had."""
    with _cap.lock:
        if not _cap.users:
            blas = blas_libraries()
            _cap.threads = max((found.num_threads for found in blas.lib_controllers), default=1)
            _cap.limited = blas.limit(limits=1)
        _cap.users += 1
    try:
        yield _cap.threads
    finally:
        with _cap.lock:
            _cap.users -= 1
            if not _cap.users:
                _cap.limited.restore_original_limits()


@cache
def blas_libraries() -> Any:
    """Return the controller of the threads of NumPy's and SciPy's BLAS."""
    import scipy.linalg  # noqa: F401  its BLAS differs from NumPy's and must be loaded
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
