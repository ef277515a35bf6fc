"""Progress of long work: a generator yields how far it is, and returns its result."""

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
Word = TypeVar("Word")
# Yields words for whoever is waiting, and returns the result.
Steps = Generator[str, None, Value]
# Yields how many of the samples are done, beginning with 0, and returns the result.
Counts = Generator[int, None, Value]

_DELAY = 2.0  # seconds of work before a bar appears
_QUIET = ContextVar("quiet", default=False)
_LONG = 10.0  # seconds of work that are foretold
# No machine is so slow that fewer operations a second are worth a measurement of its speed.
_SLOWEST = 1e9
_FORETOLD = ContextVar("foretold", default=False)


def quiet(wanted: bool = True) -> contextlib.AbstractContextManager[None]:
    """Show no bars and no announcements meanwhile, in this thread."""
    return _meanwhile(_QUIET, wanted)


@contextlib.contextmanager
def _meanwhile(variable: ContextVar[bool], value: bool) -> Iterator[None]:
    before = variable.get()
    variable.set(value)
    try:
        yield
    finally:
        variable.set(before)  # not by a token: a generator may end in another context


def finish(steps: Generator[object, None, Value]) -> Value:
    """Take all steps at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def told(
    steps: Generator[Step, None, Value], words: Callable[[Step], Word | None]
) -> Generator[Word, None, Value]:
    """Translate steps to words, or to other counts; steps without a word are passed over."""
    with contextlib.closing(steps):
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                result = end.value
                return result
            word = words(step)
            if word is not None:
                yield word


def counted(counts: Counts[Value], total: int, description: str) -> Value:
    """Take all steps under a bar, as `track` has."""
    if _silenced():
        return finish(counts)
    with _bar(None, total, description) as bar:
        result = finish(told(counts, lambda done: bar.update(done - bar.n)))
        bar.update(total - bar.n)
        return result


def track(items: Iterable[Step], total: int | None, description: str) -> Iterator[Step]:
    """Iterate over `items` under a bar that `datasets.disable_progress_bars()` silences."""
    if _silenced():
        yield from items
    else:
        yield from _bar(items, total, description)


def announce(sentence: str) -> None:
    """Print a line where a bar would be, for work of a single step."""
    if not _silenced():
        print(sentence, file=_Terminal(sys.stderr), flush=True)


def foretell(
    what: str, flops: float, size: float = 0, *, single: bool = False, tip: str = ""
) -> contextlib.AbstractContextManager[None]:
    """Announce the time and memory of work that takes long, before it begins.

    `what` begins the line ("Scoring 20,000 samples"); `flops` are multiplications and additions at
    the rate of a matrix product, in single precision or double; `size` is in bytes. In a `with`
    block the parts of that work announce nothing of their own.
    """
    if flops > _LONG * _SLOWEST and not (_FORETOLD.get() or _silenced()):
        seconds = flops / _rate(single)
        if seconds > _LONG:
            memory = f" and {size / 1e9:.2g} GB of memory" if size >= 1e8 else ""
            announce(f"{what}: about {_duration(seconds)}{memory}{tip and '; '}{tip}.")
    return _meanwhile(_FORETOLD, True)


def _duration(seconds: float) -> str:
    """Return a time in words, with about two digits."""
    units = {"seconds": 1, "minutes": 60, "hours": 3600}
    unit = next((unit for unit, length in units.items() if seconds < 100 * length), "hours")
    count = seconds / units[unit]
    return f"{count:.{1 if count < 9.5 else 0}f} {unit}"


@cache
def _rate(single: bool) -> float:
    """Measure the operations a second of a matrix product, in less than a tenth of a second."""
    import numpy as np

    # Threads of smaller products wait for each other for most of the time on a busy machine.
    size, seconds = 768, math.inf
    A = np.full((size, size), 0.5, np.float32 if single else np.float64)
    for _ in range(4):  # once to wake the threads
        start = time.perf_counter()
        A @ A  # with its own transpose it would be half the work
        seconds = min(seconds, time.perf_counter() - start)
    return 2 * size**3 / seconds


def _bar(items: Iterable[object] | None, total: int | None, description: str) -> Any:
    from tqdm.auto import tqdm

    return tqdm(
        items,
        total=total,
        desc=description,
        delay=_DELAY,
        file=_Terminal(sys.stderr),
        dynamic_ncols=True,
        disable=None,  # outside of notebooks, bars are for terminals alone
    )


def _silenced() -> bool:
    # An interrupt inside of tqdm can leave its lock to the main thread: others would wait for ever.
    if _QUIET.get() or threading.current_thread() is not threading.main_thread():
        return True
    # Nobody can have disabled the bars of `datasets` without importing it.
    datasets = sys.modules.get("datasets")
    disabled = datasets is not None and datasets.are_progress_bars_disabled()
    return disabled or getattr(sys.stderr, "closed", sys.stderr is None)


class _Terminal:
    """A stream whose failures are nobody's."""

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
