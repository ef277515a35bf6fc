"""Lanes for short and for long work on two cores, with few places for each visitor."""

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request

from ..aliases import Steps, Value
from ..inputs.declared_sizes import Size

# Short work takes less than about a second, middle work (large files, reports) a few seconds;
# long work is encoders and large sets; work that is away waits for another host.
SHORT, MIDDLE, LONG, AWAY = "short", "middle", "long", "away"
WORKERS = {SHORT: 2, MIDDLE: 1, LONG: 1, AWAY: 2}
# Sizes that are read within about a second, and within a few seconds.
_QUICK = Size(bytes=4_000_000, cells=1_000_000, pixels=40_000_000)
_MOST_PIXELS = 400_000_000
_WAITING = 40  # in a lane
_BUSY = "More visitors are here than this page can serve; please try again in a few minutes."
PLACES, _BEHIND = 3, 12  # of a visitor: waiting or at work, and those that wait for such a place
_MANY = f"{PLACES + _BEHIND} of your requests are under way already; wait for one to finish."
_OTHERS = "Your other requests come first."
# The same for an address, since a classroom can share one, and anybody can invent a session.
_PLACES_SHARED, _BEHIND_SHARED = 6, 114
_MANY_SHARED = (
    f"{_PLACES_SHARED + _BEHIND_SHARED} requests from your address are under way already; please "
    f"try again in a moment."
)
_NEIGHBOURS = "Other requests from your address come first."
_LONGEST = 40  # characters of a session

Told = Callable[[str], object]


class Visitor(NamedTuple):
    """Who asks: an address, and one of the pages that are open behind it."""

    address: str
    session: str = ""


class Line:
    """A number of places, and visitors who wait for one in the order in which they came."""

    def __init__(
        self, places: int, waiting: int, words: Callable[[int], str], status: int, full: str
    ) -> None:
        self._places, self._most, self._words = places, places + waiting, words
        self._full = status, full
        self.turns: list[tuple[asyncio.Event, Told]] = []  # at work, then waiting

    def check(self) -> None:
        if len(self.turns) >= self._most:
            raise HTTPException(*self._full)

    @contextlib.asynccontextmanager
    async def place(self, told: Told) -> AsyncIterator[None]:
        """Enter a place, once there is one; `told` gets the words for those who wait."""
        self.check()
        turn = asyncio.Event(), told
        self.turns.append(turn)
        try:
            self._move(len(self.turns) - 1)
            await turn[0].wait()
            yield
        finally:
            self.turns.remove(turn)
            self._move()

    def _move(self, first: int = 0) -> None:
        for i, (turn, told) in enumerate(self.turns[first:], first):
            if i < self._places:
                turn.set()
            else:
                told(self._words(i - self._places))


class Lanes:
    """The lanes of one event loop, by name, and the places of its visitors."""

    def __init__(self) -> None:
        self._lines = {name: Line(n, _WAITING, _before, 503, _BUSY) for name, n in WORKERS.items()}
        self._visitors: dict[Visitor | str, Line] = {}  # and addresses, each with a line
        self._threads = ThreadPoolExecutor(sum(WORKERS.values()), "lane")

    def check(self, visitor: Visitor, lane: str) -> None:
        """Raise an HTTPException, whose text is for the visitor, if no more can wait."""
        self._lines[lane].check()
        for key in (visitor, visitor.address):
            if key in self._visitors:
                self._visitors[key].check()

    async def run(
        self, visitor: Visitor, lane: str, steps: Steps[Value], told: Told = lambda words: None
    ) -> Value:
        """Return the result of work; `told` gets its words and its place in line meanwhile."""
        stopped, started = threading.Event(), False

        def take(loop: asyncio.AbstractEventLoop) -> Value:
            while not stopped.is_set():
                try:
                    words = next(steps)
                except StopIteration as end:
                    result: Value = end.value
                    return result
                loop.call_soon_threadsafe(told, words)
            raise asyncio.CancelledError  # nobody waits for the result any more

        async def through() -> Value:
            nonlocal started
            line = Line(PLACES, _BEHIND, lambda _: _OTHERS, 429, _MANY)
            own = self._visitors.setdefault(visitor, line)
            line = Line(_PLACES_SHARED, _BEHIND_SHARED, lambda _: _NEIGHBOURS, 429, _MANY_SHARED)
            shared = self._visitors.setdefault(visitor.address, line)
            try:
                shared.check()  # before a wait for the visitor's own requests
                async with own.place(told), shared.place(told), self._lines[lane].place(told):
                    started = True
                    loop = asyncio.get_running_loop()
                    return await loop.run_in_executor(self._threads, take, loop)
            finally:
                steps.close()
                for key, line in ((visitor, own), (visitor.address, shared)):
                    if not line.turns and self._visitors.get(key) is line:
                        del self._visitors[key]

        task = asyncio.ensure_future(through())
        # Nobody may be there to be told of an error.
        task.add_done_callback(lambda task: task.cancelled() or task.exception())
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            stopped.set()
            if not started:
                task.cancel()
            raise


def lane_of(size: Size) -> str:
    """Return the lane of reading an input of this size."""
    if size.pixels > _MOST_PIXELS:
        return LONG
    quick = all(part <= most for part, most in zip(size, _QUICK, strict=True))
    return SHORT if quick else MIDDLE


def whole(work: Callable[[], Value]) -> Steps[Value]:
    """Make work of a single step."""
    yield from ()
    return work()


def address(request: Request) -> str:
    """Return the address of a visitor; on a Space, the one that its proxy puts last."""
    forwarded = request.headers.get("x-forwarded-for", "") if "SPACE_ID" in os.environ else ""
    return forwarded.rpartition(",")[2].strip() or (request.client.host if request.client else "")


def visitor_of(request: Request) -> Visitor:
    return Visitor(address(request), request.headers.get("x-session", "")[:_LONGEST])


def _before(others: int) -> str:
    return f"Waiting: {others} before you." if others else "Waiting: you are next."
