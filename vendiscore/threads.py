"""How many threads NumPy's element-wise work is shared between, which it does not do itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

# Exponentials of a block in cache scale to about as many; more would wait for memory.
MOST = 4


def workers() -> int:
    """The CPUs of this process, at most 4, and at most OMP_NUM_THREADS if that is set."""
    affinity = getattr(os, "sched_getaffinity", None)
    cpus = len(affinity(0)) if affinity else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(MOST, cpus, int(asked) if asked.isdecimal() and int(asked) else MOST)


def share(
    work: Callable[[Sequence[Task]], list[Result]], tasks: Sequence[Task], number: int
) -> list[Result]:
    """The results of `work` on all tasks, in their order, whatever the number of threads.

    Each thread gets every `number`-th task in one call, so that it can keep a buffer.
    """
    number = max(1, min(number, len(tasks)))
    if number == 1:
        return work(tasks)
    results: list[Result | None] = [None] * len(tasks)
    # Made anew each time, since the threads of a lasting pool would be missing after a fork.
    with ThreadPoolExecutor(number - 1) as pool:
        others = [pool.submit(work, tasks[k::number]) for k in range(1, number)]
        results[::number] = work(tasks[::number])
        for k, other in enumerate(others, 1):
            results[k::number] = other.result()
    return results  # type: ignore[return-value]
