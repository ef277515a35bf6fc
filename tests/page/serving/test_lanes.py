"""Short work never waits for long work, few places each, work that nobody waits for stops."""

import asyncio
import threading

import pytest
from coroutines import run_coroutine

pytest.importorskip("starlette")
from starlette.exceptions import HTTPException
from starlette.requests import Request

from vendiscore_page.inputs.declared_sizes import Size
from vendiscore_page.serving.lanes import (
    LONG,
    MIDDLE,
    SHORT,
    Lanes,
    Visitor,
    address,
    lane_of,
    visitor_of,
    whole,
)

SOON = 20  # seconds after which a test has failed


class Held:
    """Work of many steps that waits for a word before each."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()
        self._go = threading.Semaphore(0)
        self.taken = 0

    def go(self, steps: int = 1) -> None:
        self._go.release(steps)

    def steps(self, count: int = 1):
        try:
            for i in range(count):
                self.begun.set()
                assert self._go.acquire(timeout=SOON)
                self.taken += 1
                yield f"{i + 1} of {count}"
            return "done"
        finally:
            self.ended.set()


def run(test) -> None:
    """Return an asynchronous test, with lanes of its own."""

    async def alone() -> None:
        lanes = Lanes()
        async with asyncio.timeout(SOON):
            await test(lanes)

    run_coroutine(alone())


async def happened(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, SOON)


async def settled() -> None:
    """Wait until all that can go on has gone on."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_run_reports_steps_and_returns_result():
    async def test(lanes):
        held, said = Held(), []
        held.go(3)
        assert await lanes.run(Visitor("a"), SHORT, held.steps(3), said.append) == "done"
        assert said == ["1 of 3", "2 of 3", "3 of 3"]
        assert await lanes.run(Visitor("a"), SHORT, whole(lambda: 7)) == 7

    run(test)


def test_short_work_runs_while_long_work_is_blocked():
    async def test(lanes):
        held = [Held() for _ in range(5)]
        long = [
            asyncio.ensure_future(lanes.run(Visitor(f"visitor {i}"), LONG, each.steps()))
            for i, each in enumerate(held)
        ]
        await happened(held[0].begun)
        for i in range(30):
            assert await lanes.run(Visitor(f"other {i}"), SHORT, whole(lambda i=i: i)) == i
        assert not any(task.done() for task in long)
        assert not held[1].begun.is_set()
        for each in held:
            each.go()
        assert await asyncio.gather(*long) == ["done"] * 5

    run(test)


def test_waiting_users_see_queue_position_and_run_in_order():
    async def test(lanes):
        held = [Held() for _ in range(4)]
        said = [[] for _ in held]
        tasks = []
        for i, each in enumerate(held):
            work = lanes.run(Visitor(f"visitor {i}"), LONG, each.steps(), said[i].append)
            tasks.append(asyncio.ensure_future(work))
            await settled()
        assert said[1:] == [
            ["Waiting: you are next."],
            ["Waiting: 1 before you."],
            ["Waiting: 2 before you."],
        ]
        tasks[2].cancel()
        await settled()
        assert said[3][1:] == ["Waiting: 1 before you."]
        for i in (0, 1, 3):
            await happened(held[i].begun)
            held[i].go()
            assert await tasks[i] == "done"
        assert said[3][2:] == ["Waiting: you are next.", "1 of 1"]
        assert not held[2].begun.is_set()

    run(test)


def test_users_take_turns():
    async def test(lanes):
        held = [Held() for _ in range(6)]
        said = [[] for _ in held]
        greedy = [
            asyncio.ensure_future(lanes.run(Visitor("greedy"), LONG, each.steps(), said[i].append))
            for i, each in enumerate(held)
        ]
        await happened(held[0].begun)
        mine = [Held(), Held()]
        for each in mine:
            each.go()
        modest = [asyncio.ensure_future(lanes.run(Visitor("m"), LONG, x.steps())) for x in mine]
        await settled()
        assert [words[-1:] for words in said] == [
            [],
            ["Waiting: you are next."],
            *[[f"Waiting: {i} before you."] for i in (2, 4, 5, 6)],  # after the other one
        ]
        for each in held[:3]:
            each.go()
        assert await asyncio.gather(*modest) == ["done"] * 2
        assert not greedy[3].done()
        for each in held[3:]:
            each.go()
        assert await asyncio.gather(*greedy) == ["done"] * 6

    run(test)


def test_waiting_user_is_not_starved():
    async def test(lanes):
        held = [Held() for _ in range(4)]

        async def visit(name: str, work: Held) -> None:
            await lanes.run(Visitor(name), LONG, work.steps())

        greedy = [asyncio.ensure_future(visit("greedy", each)) for each in held]
        await happened(held[0].begun)
        others = []
        for i in range(20):  # others come all the time
            for name in (f"other {i}", f"another {i}"):
                work = Held()
                work.go()
                others.append(asyncio.ensure_future(visit(name, work)))
            await settled()
            if i < len(held):
                held[i].go()
                await greedy[i]
        assert await asyncio.gather(*others)

    run(test)


def test_queue_limits_are_enforced():
    async def test(lanes):
        held = Held()
        first = asyncio.ensure_future(lanes.run(Visitor("a"), LONG, held.steps()))
        await happened(held.begun)
        rest = [asyncio.ensure_future(lanes.run(Visitor("a"), LONG, whole(int))) for _ in range(14)]
        await settled()
        lanes.check(Visitor("b"), LONG)
        with pytest.raises(HTTPException, match="15 of your requests are under way") as caught:
            lanes.check(Visitor("a"), LONG)
        assert caught.value.status_code == 429
        with pytest.raises(HTTPException, match="15 of your requests"):
            await lanes.run(Visitor("a"), SHORT, whole(int))
        more = [
            asyncio.ensure_future(lanes.run(Visitor(f"{i}"), LONG, whole(int))) for i in range(199)
        ]
        await settled()
        with pytest.raises(HTTPException, match="More visitors are here") as caught:
            lanes.check(Visitor("b"), LONG)
        assert caught.value.status_code == 503
        with pytest.raises(HTTPException, match="More visitors are here"):
            await lanes.run(Visitor("b"), LONG, whole(int))
        lanes.check(Visitor("b"), SHORT)
        held.go()
        assert await first == "done"
        assert await asyncio.gather(*rest, *more) == [0] * 213
        lanes.check(Visitor("a"), LONG)

    run(test)


def test_cancelled_work_blocks_lane_until_next_step():
    async def test(lanes):
        held, next_ = Held(), Held()
        task = asyncio.ensure_future(lanes.run(Visitor("a"), LONG, held.steps(1000)))
        await happened(held.begun)
        other = asyncio.ensure_future(lanes.run(Visitor("b"), LONG, next_.steps()))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await settled()
        assert not held.ended.is_set()
        assert not next_.begun.is_set()  # the step is still at work
        held.go()
        await happened(held.ended)
        assert held.taken == 1
        next_.go()
        assert await other == "done"

    run(test)


def test_work_cancelled_in_queue_never_starts():
    async def test(lanes):
        held = Held()
        first = asyncio.ensure_future(lanes.run(Visitor("a"), LONG, held.steps()))
        await happened(held.begun)
        for _ in range(50):
            task = asyncio.ensure_future(lanes.run(Visitor("a"), LONG, whole(pytest.fail)))
            await settled()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        held.go()
        assert await first == "done"
        assert await lanes.run(Visitor("a"), LONG, whole(lambda: 1)) == 1

    run(test)


def test_turn_of_cancelled_work_passes_to_next():
    async def test(lanes):
        held, third = Held(), Held()
        first = asyncio.ensure_future(lanes.run(Visitor("a"), LONG, held.steps()))
        await happened(held.begun)
        second = asyncio.ensure_future(lanes.run(Visitor("b"), LONG, whole(pytest.fail)))
        last = asyncio.ensure_future(lanes.run(Visitor("c"), LONG, third.steps()))
        await settled()
        held.go()
        third.go()
        second.cancel()  # as its turn comes
        assert await first == "done"
        assert await last == "done"
        assert lanes._turns[LONG] == []

    run(test)


def test_error_is_raised_and_frees_lane():
    def wrong():
        yield "begun"
        raise ValueError("no")

    async def test(lanes):
        for _ in range(10):
            with pytest.raises(ValueError, match=r"^no$"):
                await lanes.run(Visitor("a"), LONG, wrong())
        assert await lanes.run(Visitor("a"), LONG, whole(int)) == 0

    run(test)


def test_address_uses_forwarded_header_only_on_space(monkeypatch):
    headers = [(b"x-forwarded-for", b"6.6.6.6, 1.2.3.4")]
    said, plain = (
        Request({"type": "http", "headers": some, "client": ("10.0.0.1", 1)})
        for some in (headers, [])
    )
    assert address(said) == "10.0.0.1"  # anybody can say so
    monkeypatch.setenv("SPACE_ID", "someone/page")
    assert address(said) == "1.2.3.4"  # as its proxy says
    assert address(plain) == "10.0.0.1"


def test_shared_address_is_served_and_flooding_session_rejected():
    async def test(lanes):
        held = Held()
        first = asyncio.ensure_future(lanes.run(Visitor("1.2.3.4", "0"), SHORT, held.steps()))
        await happened(held.begun)
        people = [Visitor("1.2.3.4", str(i)) for i in range(1, 31)]
        class_ = [asyncio.ensure_future(lanes.run(each, SHORT, whole(int))) for each in people * 2]
        await settled()
        for each in people:
            lanes.check(each, SHORT)
        flood = [
            asyncio.ensure_future(lanes.run(Visitor("1.2.3.4", "x"), SHORT, whole(int)))
            for _ in range(40)
        ]
        held.go()
        assert await first == "done"
        assert await asyncio.gather(*class_) == [0] * 60
        answers = await asyncio.gather(*flood, return_exceptions=True)
        refused = [each for each in answers if isinstance(each, HTTPException)]
        assert len(refused) == 25
        assert {each.status_code for each in refused} == {429}
        lanes.check(Visitor("1.2.3.4", "x"), SHORT)

    run(test)


def test_address_with_too_many_sessions_is_rejected():
    async def test(lanes):
        held = [Held() for _ in range(200)]
        flood = [
            asyncio.ensure_future(lanes.run(Visitor("6.6.6.6", str(i)), LONG, each.steps()))
            for i, each in enumerate(held)
        ]
        await happened(held[0].begun)
        await settled()
        with pytest.raises(HTTPException, match="120 requests from your address") as caught:
            lanes.check(Visitor("6.6.6.6", "new"), LONG)
        assert caught.value.status_code == 429
        lanes.check(Visitor("1.2.3.4"), LONG)
        mine = Held()
        mine.go()
        modest = asyncio.ensure_future(lanes.run(Visitor("1.2.3.4"), LONG, mine.steps()))
        await settled()
        for each in held[:12]:
            each.go()
        assert await modest == "done"  # after two rounds of that address
        for each in held:
            each.go()
        answers = await asyncio.gather(*flood, return_exceptions=True)
        refused = [each for each in answers if isinstance(each, HTTPException)]
        assert len(refused) == 80
        assert {each.status_code for each in refused} == {429}

    run(test)


def test_visitor_of_distinguishes_sessions_of_one_address():
    def session(*headers, **more):
        scope = {"type": "http", "headers": headers, "client": ("10.0.0.1", 1)}
        request = Request(scope)
        vars(request).update(more)
        return visitor_of(request)

    assert session((b"x-session", b"a" * 100)) == ("10.0.0.1", "a" * 40)
    assert session((b"mcp-session-id", b"b"), session_hash="c") == ("10.0.0.1", "b")
    assert session(session_hash="c") == ("10.0.0.1", "c")
    assert session() == ("10.0.0.1", "")


@pytest.mark.parametrize(
    ("size", "lane"),
    [
        (Size(), SHORT),
        (Size(bytes=4_000_000, cells=1_000_000, pixels=40_000_000), SHORT),
        (Size(bytes=4_000_001), MIDDLE),
        (Size(bytes=100, cells=1_000_001), MIDDLE),
        (Size(bytes=34, pixels=49_000_000), MIDDLE),
        (Size(bytes=2_000, pixels=24 * 49_000_000), LONG),
    ],
)
def test_lane_of_depends_on_declared_size(size, lane):
    assert lane_of(size) == lane
