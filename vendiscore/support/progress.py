"""Progress bars, and messages that announce long computations.

A computation is a generator that yields its progress and returns its result.
"""

import contextlib
import math
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextvars import ContextVar
from functools import cache
from typing import Any, TextIO, TypeVar

Value = TypeVar("Value")
Step = TypeVar("Step")
Mapped = TypeVar("Mapped")
# Yields descriptions of the current step, and returns the result.
Steps = Generator[str, None, Value]
# Yields the number of samples processed so far, starting from 0, and returns the result.
Counts = Generator[int, None, Value]

_DELAY = 2.0  # seconds before a bar appears
_QUIET = ContextVar("quiet", default=False)
_MIN_ANNOUNCED_SECONDS = 10.0  # computations that take longer are announced
# Lower bound of the speed of any machine. The actual speed is measured only for computations that
# could take long at this speed.
_MIN_FLOPS_PER_SECOND = 1e9
_DURATION_ANNOUNCED = ContextVar("duration_announced", default=False)


def quiet(enabled: bool = True) -> contextlib.AbstractContextManager[None]:
    """Return a context that suppresses bars and announcements in this thread."""
    return _override(_QUIET, enabled)


@contextlib.contextmanager
def _override(variable: ContextVar[bool], value: bool) -> Iterator[None]:
    """Set a context variable to a value within this context, then restore it."""
    before = variable.get()
    variable.set(value)
    try:
        yield
    finally:
        variable.set(before)  # not `reset`: a generator may end in another context


def run_steps(steps: Generator[object, None, Value]) -> Value:
    """Run a generator to its end and return its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def map_steps(
    steps: Generator[Step, None, Value], transform: Callable[[Step], Mapped | None]
) -> Generator[Mapped, None, Value]:
    """Yield `transform(step)` for each step that a generator yields, and return its result.

    The result is the value that the generator `steps` returns at its end. If `transform` returns
    None, nothing is yielded for this step.
    """
    # If the caller stops the iteration early, the generator `steps` is closed, too.
    with contextlib.closing(steps):
        while True:
            try:
                step = next(steps)
            except StopIteration as end:  # has the value that the generator returns
                result = end.value
                return result
            transformed = transform(step)
            if transformed is not None:
                yield transformed


def run_with_progress(counts: Counts[Value], total: int, description: str) -> Value:
    """Run a computation with a progress bar, and return its result.

    `counts` is a generator that yields the number of items done, out of `total`, and returns the
    result.
    """
    if not _shows_bars():
        return run_steps(counts)
    with _make_progress_bar(None, total, description) as bar:
        # `done` is a total, and `bar.update` expects the increase since the last call (`bar.n`).
        result = run_steps(map_steps(counts, lambda done: bar.update(done - bar.n)))
        # The last step may not be followed by another count.
        bar.update(total - bar.n)
        return result


def track(items: Iterable[Step], total: int | None, description: str) -> Iterator[Step]:
    """Iterate over `items` with a progress bar.

    `quiet` and `datasets.disable_progress_bars()` disable the bar.
    """
    if not _shows_bars():
        yield from items
    else:
        yield from _make_progress_bar(items, total, description)


def announce(sentence: str) -> None:
    """Print a line to stderr, for computations without a progress bar.

    `quiet` and `datasets.disable_progress_bars()` suppress it.
    """
    if not _is_silent():
        print(sentence, file=_Terminal(sys.stderr), flush=True)


def announce_duration(
    description: str,
    flops: float,
    n_bytes: float = 0,
    *,
    single_precision: bool = False,
    hint: str = "",
) -> contextlib.AbstractContextManager[None]:
    """Announce the estimated time and memory of a computation of more than 10 seconds.

    `description` begins the line ("Scoring 20,000 samples"), and `hint` ends it. `flops` is the
    number of multiplications and additions. The estimate assumes that they are as fast as those of
    a matrix product in the given precision. `n_bytes` is the required memory. Within the returned
    context, no other computation is announced.
    """
    # The speed of the machine is measured only if the computation would be long on a slow one.
    if flops > _MIN_ANNOUNCED_SECONDS * _MIN_FLOPS_PER_SECOND and not (
        _DURATION_ANNOUNCED.get() or _is_silent()
    ):
        seconds = flops / _measure_flops_per_second(single_precision)
        if seconds > _MIN_ANNOUNCED_SECONDS:
            memory = f" and {n_bytes / 1e9:.2g} GB of memory" if n_bytes >= 1e8 else ""
            announce(
                f"{description}: about {_format_duration(seconds)}{memory}{hint and '; '}{hint}."
            )
    return _override(_DURATION_ANNOUNCED, True)


def _format_duration(seconds: float) -> str:
    """Format a duration with two digits and a unit, such as "2.5 minutes" or "12 seconds".

    More digits are shown only for 100 hours or more.
    """
    units = {"seconds": 1, "minutes": 60, "hours": 3600}
    unit = next((unit for unit, length in units.items() if seconds < 100 * length), "hours")
    count = seconds / units[unit]
    # A number that would round to 10 or more has two digits without a decimal.
    return f"{count:.{1 if count < 9.5 else 0}f} {unit}"


@cache
def _measure_flops_per_second(single_precision: bool) -> float:
    """Measure the floating-point operations per second of a matrix product, in about 0.1 s."""
    import numpy as np

    # In smaller products, threads mostly wait for each other on a busy machine.
    size, seconds = 768, math.inf
    A = np.full((size, size), 0.5, np.float32 if single_precision else np.float64)
    for _ in range(4):  # the first product starts the threads
        start = time.perf_counter()
        A @ A  # a product with its own transpose would take half of the operations
        seconds = min(seconds, time.perf_counter() - start)
    return 2 * size**3 / seconds


def _make_progress_bar(items: Iterable[object] | None, total: int | None, description: str) -> Any:
    """Return a bar of tqdm that iterates over `items`, or is updated manually if it is None."""
    from tqdm.auto import tqdm

    return tqdm(
        items,
        total=total,
        desc=description,
        delay=_DELAY,
        file=_Terminal(sys.stderr),
        dynamic_ncols=True,
        disable=None,  # outside notebooks, show bars only on terminals
    )


def _shows_bars() -> bool:
    """Return whether progress bars are visible: on terminals and in notebooks, unless disabled.

    Otherwise tqdm, whose import takes 30 ms, is not needed.
    """
    if _is_silent():
        return False
    is_terminal = hasattr(sys.stderr, "isatty") and sys.stderr.isatty()
    return is_terminal or "ipykernel" in sys.modules


def _is_silent() -> bool:
    """Return whether progress bars and messages about long computations are disabled."""
    # An interrupt inside tqdm can leave its lock with the main thread; others would deadlock.
    if _QUIET.get() or threading.current_thread() is not threading.main_thread():
        return True
    # If `datasets` has not been imported, its bars cannot have been disabled.
    datasets = sys.modules.get("datasets")
    is_disabled = datasets is not None and datasets.are_progress_bars_disabled()
    # In a program without a console, stderr is None.
    return is_disabled or getattr(sys.stderr, "closed", sys.stderr is None)


class _Terminal:
    """A wrapper of a stream that ignores errors when writing, as of a closed terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.stream.flush()
