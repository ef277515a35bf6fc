"""Who works when: lanes for short and for long work, and few places for each visitor.

Two cores serve everybody. Work stands in line for its lane, so that what takes a moment never
waits for what takes long; it is taken step by step in a thread, and stops at its next step when
nobody waits for it any more.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic

from ...progress import Steps, Value

# Short work takes less than about a second. A second or a few take large files and reports. Long
# are encoders and large sets. What is away waits for another host.
SHORT, MIDDLE, LONG, AWAY = "short", "middle", "long", "away"
WORKERS = {SHORT: 2, MIDDLE: 1, LONG: 1, AWAY: 2}
PLACES = 3  # of a visitor, waiting or at work
_WAITING = 40  # in a lane
_BEHIND = 12  # of a visitor, for a place of their own

Told = Callable[[str], object]


class BusyError(Exception):
    """No more can wait; the message is for the visitor.

    Attributes
    ----------
    status : int
        Of the HTTP response.
    """

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


class StoppedError(Exception):
    """Nobody waited for the result any more."""


class Line:
    """A number of places, and those who wait for one in the order in which they came."""

    def __init__(
        self, places: int, waiting: int, words: Callable[[int], str], full: BusyError
    ) -> None:
        self.places = self.free = places
        self._most, self._words, self._full = waiting, words, full
        self._waiting: deque[tuple[asyncio.Future[None], Told]] = deque()

    @property
    def idle(self) -> bool:
        return self.free == self.places

    def check(self) -> None:
        """Raise if no more can wait."""
        if not self.free and len(self._waiting) >= self._most:
            raise BusyError(str(self._full), self._full.status)

    @contextlib.asynccontextmanager
    async def place(self, told: Told) -> AsyncIterator[None]:
        """A place, once there is one."""
        await self._enter(told)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, told: Told) -> None:
        if self.free:
            self.free -= 1
            return
        self.check()
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((turn, told))
        told(self._words(len(self._waiting) - 1))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                with contextlib.suppress(ValueError):  # passed over already
                    self._waiting.remove((turn, told))
                    self._tell()
            else:  # the turn came at the same moment
                self._leave()
            raise

    def _leave(self) -> None:
        while self._waiting:
            turn, _ = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                self._tell()
                return
        self.free += 1

    def _tell(self) -> None:
        for before, (_, told) in enumerate(self._waiting):
            told(self._words(before))


class Lanes:
    """The lanes of one event loop, by name, and the places of its visitors."""

    def __init__(self, workers: Mapping[str, int] = WORKERS, places: int = PLACES) -> None:
        busy = "More visitors are here than this page can serve; please try again in a few minutes."
        self._places = places
        self._lines = {
            name: Line(n, _WAITING, _before, BusyError(busy, 503)) for name, n in workers.items()
        }
        self._visitors: dict[str, Line] = {}
        self._threads = ThreadPoolExecutor(sum(workers.values()), "lane")

    def check(self, visitor: str, lane: str) -> None:
        """Raise a BusyError if no more can wait."""
        self._lines[lane].check()
        if visitor in self._visitors:
            self._visitors[visitor].check()

    async def run(
        self, visitor: str, lane: str, steps: Steps[Value], told: Told = lambda words: None
    ) -> Value:
        """The result of work, whose words and whose place in line are told meanwhile.

        Cancelled, it gives up its place in line, or stops at its next step and gives up its place
        then.
        """
        work = _Work(steps, told)
        task = asyncio.ensure_future(self._through(visitor, lane, work))
        task.add_done_callback(_seen)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            work.stopped.set()
            if not work.started:
                task.cancel()
            raise

    async def _through(self, visitor: str, lane: str, work: _Work[Value]) -> Value:
        try:
            own = self._visitors.setdefault(visitor, self._line())
            async with own.place(work.told), self._lines[lane].place(work.told):
                work.started = True
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._threads, work.take, loop)
        finally:
            work.steps.close()
            if own.idle:
                self._visitors.pop(visitor, None)

    def _line(self) -> Line:
        full = BusyError(
            f"{self._places + _BEHIND} of your requests are under way already; wait for some of "
            f"them to finish.",
            429,
        )
        return Line(self._places, _BEHIND, lambda _: "Your other requests come first.", full)


class _Work(Generic[Value]):
    def __init__(self, steps: Steps[Value], told: Told) -> None:
        self.steps, self.told = steps, told
        self.started = False
        self.stopped = threading.Event()

    def take(self, loop: asyncio.AbstractEventLoop) -> Value:
        """All steps, in a thread beside the loop."""
        while not self.stopped.is_set():
            try:
                words = next(self.steps)
            except StopIteration as end:
                result: Value = end.value
                return result
            loop.call_soon_threadsafe(self.told, words)
        raise StoppedError


def whole(work: Callable[[], Value]) -> Steps[Value]:
    """Work of a single step."""
    yield from ()
    return work()


def address(headers: Mapping[str, str], host: str) -> str:
    """Who a request is from: an address; on a Space, the one that its proxy puts last."""
    forwarded = headers.get("x-forwarded-for", "") if "SPACE_ID" in os.environ else ""
    return forwarded.rpartition(",")[2].strip() or host


def _before(others: int) -> str:
    return f"Waiting: {others} before you." if others else "Waiting: you are next."


def _seen(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()  # nobody may be there to be told
