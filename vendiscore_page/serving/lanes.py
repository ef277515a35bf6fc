"""Lanes for short and for long work on two cores, with few places for each visitor.

Tiny work runs in the server process, and work of `WORKER_LANES` in one of two worker processes.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from ..aliases import Steps, Value
from ..inputs.declared_sizes import Size

# Short work takes less than about a second, middle work (large files, reports) a few seconds;
# long work is encoders and large sets; work that is away waits for another host.
TINY, SHORT, MIDDLE, LONG, AWAY = "tiny", "short", "middle", "long", "away"
WORKERS = {TINY: 2, SHORT: 2, MIDDLE: 1, LONG: 1, AWAY: 2}
WORKER_LANES = (SHORT, MIDDLE, LONG)
# Sizes that are read within about a second, and within a few seconds.
_SHORT_SIZE = Size(bytes=4_000_000, cells=1_000_000, pixels=40_000_000)
_MAX_MIDDLE_PIXELS = 400_000_000
_MAX_WAITING = 200  # before a visitor in a lane
_BUSY_MESSAGE = "This page has too many users at the moment; try again in a few minutes."
_MAX_REQUESTS = 15  # requests of a visitor under way
_TOO_MANY_MESSAGE = f"{_MAX_REQUESTS} of your requests are already running; wait for one to finish."
# The same for an address, since a classroom can share one, and anybody can invent a session.
_MAX_SHARED_REQUESTS = 120
_TOO_MANY_SHARED_MESSAGE = (
    f"{_MAX_SHARED_REQUESTS} requests from your address are already running; try again in a moment."
)
_REQUESTS_PER_TURN = 6  # requests of an address that count as one, where visitors take turns
_MAX_SESSION_LENGTH = 40  # characters of a session
_LEFT_SECONDS = 0.5  # after which a running job is stopped if the visitor has left

Notify = Callable[[str], object]


class Visitor(NamedTuple):
    """The user of a request: an address, and a session of a page or client at this address."""

    address: str
    session: str = ""


class _Turn(NamedTuple):
    visitor: Visitor
    round: int
    has_come: asyncio.Event
    notify: Notify


class Lanes:
    """The lanes of one event loop, by name, in each of which visitors take turns."""

    def __init__(self) -> None:
        # At work, then waiting.
        self._turns: dict[str, list[_Turn]] = {name: [] for name in WORKERS}
        self._round = dict.fromkeys(WORKERS, 0)  # of the latest work that has begun
        self._threads = ThreadPoolExecutor(sum(WORKERS.values()), "lane")

    def check(self, visitor: Visitor, lane: str) -> tuple[int, int]:
        """Return a visitor's round and place in line; raise an HTTPException if no more can wait.

        In a round, each visitor has one turn, and each address `_REQUESTS_PER_TURN`. A new visitor
        is served in the round after the current one, so every request is served eventually.
        """
        visitors = [turn.visitor for turns in self._turns.values() for turn in turns]
        if visitors.count(visitor) >= _MAX_REQUESTS:
            raise HTTPException(429, _TOO_MANY_MESSAGE)
        if [other.address for other in visitors].count(visitor.address) >= _MAX_SHARED_REQUESTS:
            raise HTTPException(429, _TOO_MANY_SHARED_MESSAGE)
        turns = self._turns[lane]
        waiting = [turn for turn in turns if not turn.has_come.is_set()]
        n_own = sum(turn.visitor == visitor for turn in waiting)
        n_shared = sum(turn.visitor.address == visitor.address for turn in waiting)
        round_number = self._round[lane] + 1 + max(n_own, n_shared // _REQUESTS_PER_TURN)
        position = len(turns) - sum(turn.round > round_number for turn in waiting)
        if position >= WORKERS[lane] + _MAX_WAITING:
            raise HTTPException(503, _BUSY_MESSAGE)
        return round_number, position

    @contextlib.asynccontextmanager
    async def _wait_for_turn(
        self, visitor: Visitor, lane: str, notify: Notify
    ) -> AsyncIterator[None]:
        round_number, position = self.check(visitor, lane)
        turns, turn = self._turns[lane], _Turn(visitor, round_number, asyncio.Event(), notify)
        turns.insert(position, turn)
        try:
            self._move(lane, position)
            await turn.has_come.wait()
            yield
        finally:
            turns.remove(turn)
            self._move(lane)

    def _move(self, lane: str, first: int = 0) -> None:
        for i, turn in enumerate(self._turns[lane][first:], first - WORKERS[lane]):
            if i >= 0:
                turn.notify(f"Waiting: {i} ahead of you." if i else "Waiting: you are next.")
            elif not turn.has_come.is_set():
                turn.has_come.set()
                self._round[lane] = max(self._round[lane], turn.round)

    async def run(
        self,
        visitor: Visitor,
        lane: str,
        steps: Steps[Value],
        notify: Notify = lambda message: None,
    ) -> Value:
        """Return the result of work; `notify` gets its words and its place in line meanwhile."""
        stopped, started = threading.Event(), False

        def run_steps(loop: asyncio.AbstractEventLoop) -> Value:
            try:
                while not stopped.is_set():
                    if message := next(steps):
                        loop.call_soon_threadsafe(notify, message)
            except StopIteration as end:
                result: Value = end.value
                return result
            steps.close()  # here, as it may take a moment
            raise asyncio.CancelledError  # the result is no longer needed

        async def run_in_turn() -> Value:
            nonlocal started
            try:
                async with self._wait_for_turn(visitor, lane, notify):
                    started = True
                    loop = asyncio.get_running_loop()
                    return await loop.run_in_executor(self._threads, run_steps, loop)
            finally:
                steps.close()

        task = asyncio.ensure_future(run_in_turn())
        # Nobody may be there to be told of an error.
        task.add_done_callback(lambda task: task.cancelled() or task.exception())
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            stopped.set()
            if not started:
                task.cancel()
            raise

    async def run_for(self, request: Request, lane: str, steps: Steps[Value]) -> Value:
        """Return the result of work for a request; stop the work if its visitor leaves."""
        job = asyncio.ensure_future(self.run(get_visitor(request), lane, steps))
        try:
            while not (await asyncio.wait([job], timeout=_LEFT_SECONDS))[0]:
                if await request.is_disconnected():
                    raise ClientDisconnect
            return job.result()
        finally:
            job.cancel()


def choose_lane(size: Size) -> str:
    """Return the lane of reading an input of this size."""
    if size.pixels > _MAX_MIDDLE_PIXELS:
        return LONG
    is_short = all(value <= limit for value, limit in zip(size, _SHORT_SIZE, strict=True))
    return SHORT if is_short else MIDDLE


def as_steps(work: Callable[[], Value]) -> Steps[Value]:
    """Make work of a single step."""
    yield from ()
    return work()


def get_address(request: Request) -> str:
    """Return the address of a visitor; on a Space, the one that its proxy puts last."""
    forwarded = request.headers.get("x-forwarded-for", "") if "SPACE_ID" in os.environ else ""
    return forwarded.rpartition(",")[2].strip() or (request.client.host if request.client else "")


def get_visitor(request: Request) -> Visitor:
    """Return the user of a request: the address, and the session from a header or from gradio."""
    headers = (request.headers.get(name) for name in ("x-session", "mcp-session-id"))
    session = next(filter(None, headers), getattr(request, "session_hash", None))
    return Visitor(get_address(request), (session or "")[:_MAX_SESSION_LENGTH])
