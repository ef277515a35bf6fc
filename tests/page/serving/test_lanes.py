"""Short work does not wait for long work, users share lanes, and cancelled work stops."""

import asyncio
import threading

import pytest
from coroutines import run_coroutine

pytest.importorskip("starlette")
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from vendiscore_page.inputs.declared_sizes import Size
from vendiscore_page.serving.lanes import (
    LONG,
    MIDDLE,
    SHORT,
    Lanes,
    Visitor,
    as_steps,
    choose_lane,
    get_address,
    get_visitor,
)

TIMEOUT = 20  # seconds


class BlockedWork:
    """Work whose steps wait until the test releases them."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()
        self._go = threading.Semaphore(0)
        self.n_steps = 0

    def go(self, n_steps: int = 1) -> None:
        self._go.release(n_steps)

    def steps(self, count: int = 1):
        try:
            for i in range(count):
                self.begun.set()
                assert self._go.acquire(timeout=TIMEOUT)
                self.n_steps += 1
                yield f"{i + 1} of {count}"
            return "done"
        finally:
            self.ended.set()


def run_with_lanes(test) -> None:
    """Run an asynchronous test with new lanes."""

    async def alone() -> None:
        lanes = Lanes()
        async with asyncio.timeout(TIMEOUT):
            await test(lanes)

    run_coroutine(alone())


async def wait_for_event(event: threading.Event) -> None:
    assert await asyncio.to_thread(event.wait, TIMEOUT)


async def run_pending_tasks() -> None:
    """Let all pending tasks run."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_run_reports_steps_and_returns_result():
    async def test(lanes):
        work, messages = BlockedWork(), []
        work.go(3)
        assert await lanes.run(Visitor("a"), SHORT, work.steps(3), messages.append) == "done"
        assert messages == ["1 of 3", "2 of 3", "3 of 3"]
        assert await lanes.run(Visitor("a"), SHORT, as_steps(lambda: 7)) == 7

    run_with_lanes(test)


def test_short_work_runs_while_long_work_is_blocked():
    async def test(lanes):
        works = [BlockedWork() for _ in range(5)]
        long = [
            asyncio.ensure_future(lanes.run(Visitor(f"visitor {i}"), LONG, work.steps()))
            for i, work in enumerate(works)
        ]
        await wait_for_event(works[0].begun)
        for i in range(30):
            assert await lanes.run(Visitor(f"other {i}"), SHORT, as_steps(lambda i=i: i)) == i
        assert not any(task.done() for task in long)
        assert not works[1].begun.is_set()
        for work in works:
            work.go()
        assert await asyncio.gather(*long) == ["done"] * 5

    run_with_lanes(test)


def test_waiting_users_see_queue_position_and_run_in_order():
    async def test(lanes):
        works = [BlockedWork() for _ in range(4)]
        messages = [[] for _ in works]
        tasks = []
        for i, item in enumerate(works):
            run = lanes.run(Visitor(f"visitor {i}"), LONG, item.steps(), messages[i].append)
            tasks.append(asyncio.ensure_future(run))
            await run_pending_tasks()
        assert messages[1:] == [
            ["Waiting: you are next."],
            ["Waiting: 1 ahead of you."],
            ["Waiting: 2 ahead of you."],
        ]
        tasks[2].cancel()
        await run_pending_tasks()
        assert messages[3][1:] == ["Waiting: 1 ahead of you."]
        for i in (0, 1, 3):
            await wait_for_event(works[i].begun)
            works[i].go()
            assert await tasks[i] == "done"
        assert messages[3][2:] == ["Waiting: you are next.", "1 of 1"]
        assert not works[2].begun.is_set()

    run_with_lanes(test)


def test_users_take_turns():
    async def test(lanes):
        greedy_works = [BlockedWork() for _ in range(6)]
        messages = [[] for _ in greedy_works]
        greedy = [
            asyncio.ensure_future(
                lanes.run(Visitor("greedy"), LONG, work.steps(), messages[i].append)
            )
            for i, work in enumerate(greedy_works)
        ]
        await wait_for_event(greedy_works[0].begun)
        modest_works = [BlockedWork(), BlockedWork()]
        for work in modest_works:
            work.go()
        modest = [
            asyncio.ensure_future(lanes.run(Visitor("m"), LONG, x.steps())) for x in modest_works
        ]
        await run_pending_tasks()
        assert [words[-1:] for words in messages] == [
            [],
            ["Waiting: you are next."],
            *[[f"Waiting: {i} ahead of you."] for i in (2, 4, 5, 6)],  # behind the other user
        ]
        for work in greedy_works[:3]:
            work.go()
        assert await asyncio.gather(*modest) == ["done"] * 2
        assert not greedy[3].done()
        for work in greedy_works[3:]:
            work.go()
        assert await asyncio.gather(*greedy) == ["done"] * 6

    run_with_lanes(test)


def test_waiting_user_is_not_starved():
    async def test(lanes):
        greedy_works = [BlockedWork() for _ in range(4)]

        async def visit(name: str, work: BlockedWork) -> None:
            await lanes.run(Visitor(name), LONG, work.steps())

        greedy = [
            asyncio.ensure_future(visit("greedy", greedy_work)) for greedy_work in greedy_works
        ]
        await wait_for_event(greedy_works[0].begun)
        other_tasks = []
        for i in range(20):  # new users arrive all the time
            for name in (f"other {i}", f"another {i}"):
                work = BlockedWork()
                work.go()
                other_tasks.append(asyncio.ensure_future(visit(name, work)))
            await run_pending_tasks()
            if i < len(greedy_works):
                greedy_works[i].go()
                await greedy[i]
        assert await asyncio.gather(*other_tasks)

    run_with_lanes(test)


def test_queue_limits_are_enforced():
    async def test(lanes):
        work = BlockedWork()
        first = asyncio.ensure_future(lanes.run(Visitor("a"), LONG, work.steps()))
        await wait_for_event(work.begun)
        waiting_tasks = [
            asyncio.ensure_future(lanes.run(Visitor("a"), LONG, as_steps(int))) for _ in range(14)
        ]
        await run_pending_tasks()
        lanes.check(Visitor("b"), LONG)
        with pytest.raises(
            HTTPException, match="15 of your requests are already running"
        ) as caught:
            lanes.check(Visitor("a"), LONG)
        assert caught.value.status_code == 429
        with pytest.raises(HTTPException, match="15 of your requests"):
            await lanes.run(Visitor("a"), SHORT, as_steps(int))
        other_tasks = [
            asyncio.ensure_future(lanes.run(Visitor(f"{i}"), LONG, as_steps(int)))
            for i in range(199)
        ]
        await run_pending_tasks()
        with pytest.raises(HTTPException, match="This page has too many users") as caught:
            lanes.check(Visitor("b"), LONG)
        assert caught.value.status_code == 503
        with pytest.raises(HTTPException, match="This page has too many users"):
            await lanes.run(Visitor("b"), LONG, as_steps(int))
        lanes.check(Visitor("b"), SHORT)
        work.go()
        assert await first == "done"
        assert await asyncio.gather(*waiting_tasks, *other_tasks) == [0] * 213
        lanes.check(Visitor("a"), LONG)

    run_with_lanes(test)


def test_cancelled_work_blocks_lane_until_next_step():
    async def test(lanes):
        work, next_work = BlockedWork(), BlockedWork()
        task = asyncio.ensure_future(lanes.run(Visitor("a"), LONG, work.steps(1000)))
        await wait_for_event(work.begun)
        next_task = asyncio.ensure_future(lanes.run(Visitor("b"), LONG, next_work.steps()))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await run_pending_tasks()
        assert not work.ended.is_set()
        assert not next_work.begun.is_set()  # the step is still running
        work.go()
        await wait_for_event(work.ended)
        assert work.n_steps == 1
        next_work.go()
        assert await next_task == "done"

    run_with_lanes(test)


def test_work_cancelled_in_queue_never_starts():
    async def test(lanes):
        work = BlockedWork()
        first = asyncio.ensure_future(lanes.run(Visitor("a"), LONG, work.steps()))
        await wait_for_event(work.begun)
        for _ in range(50):
            task = asyncio.ensure_future(lanes.run(Visitor("a"), LONG, as_steps(pytest.fail)))
            await run_pending_tasks()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        work.go()
        assert await first == "done"
        assert await lanes.run(Visitor("a"), LONG, as_steps(lambda: 1)) == 1

    run_with_lanes(test)


def test_turn_of_cancelled_work_passes_to_next():
    async def test(lanes):
        work, last_work = BlockedWork(), BlockedWork()
        first = asyncio.ensure_future(lanes.run(Visitor("a"), LONG, work.steps()))
        await wait_for_event(work.begun)
        second = asyncio.ensure_future(lanes.run(Visitor("b"), LONG, as_steps(pytest.fail)))
        last = asyncio.ensure_future(lanes.run(Visitor("c"), LONG, last_work.steps()))
        await run_pending_tasks()
        work.go()
        last_work.go()
        second.cancel()  # at the moment of its turn
        assert await first == "done"
        assert await last == "done"
        assert lanes._turns[LONG] == []

    run_with_lanes(test)


def test_error_is_raised_and_frees_lane():
    def failing_steps():
        yield "begun"
        raise ValueError("no")

    async def test(lanes):
        for _ in range(10):
            with pytest.raises(ValueError, match=r"^no$"):
                await lanes.run(Visitor("a"), LONG, failing_steps())
        assert await lanes.run(Visitor("a"), LONG, as_steps(int)) == 0

    run_with_lanes(test)


def test_address_uses_forwarded_header_only_on_space(monkeypatch):
    headers = [(b"x-forwarded-for", b"6.6.6.6, 1.2.3.4")]
    forwarded, plain = (
        Request({"type": "http", "headers": request_headers, "client": ("10.0.0.1", 1)})
        for request_headers in (headers, [])
    )
    assert get_address(forwarded) == "10.0.0.1"  # clients can forge the header
    monkeypatch.setenv("SPACE_ID", "someone/page")
    assert get_address(forwarded) == "1.2.3.4"  # the proxy of the Space sets the header
    assert get_address(plain) == "10.0.0.1"


def test_shared_address_is_served_and_flooding_session_rejected():
    async def test(lanes):
        work = BlockedWork()
        first = asyncio.ensure_future(lanes.run(Visitor("1.2.3.4", "0"), SHORT, work.steps()))
        await wait_for_event(work.begun)
        people = [Visitor("1.2.3.4", str(i)) for i in range(1, 31)]
        class_tasks = [
            asyncio.ensure_future(lanes.run(item, SHORT, as_steps(int))) for item in people * 2
        ]
        await run_pending_tasks()
        for item in people:
            lanes.check(item, SHORT)
        flooding_tasks = [
            asyncio.ensure_future(lanes.run(Visitor("1.2.3.4", "x"), SHORT, as_steps(int)))
            for _ in range(40)
        ]
        work.go()
        assert await first == "done"
        assert await asyncio.gather(*class_tasks) == [0] * 60
        answers = await asyncio.gather(*flooding_tasks, return_exceptions=True)
        errors = [item for item in answers if isinstance(item, HTTPException)]
        assert len(errors) == 25
        assert {item.status_code for item in errors} == {429}
        lanes.check(Visitor("1.2.3.4", "x"), SHORT)

    run_with_lanes(test)


def test_address_with_too_many_sessions_is_rejected():
    async def test(lanes):
        works = [BlockedWork() for _ in range(200)]
        flooding_tasks = [
            asyncio.ensure_future(lanes.run(Visitor("6.6.6.6", str(i)), LONG, item.steps()))
            for i, item in enumerate(works)
        ]
        await wait_for_event(works[0].begun)
        await run_pending_tasks()
        with pytest.raises(HTTPException, match="120 requests from your address") as caught:
            lanes.check(Visitor("6.6.6.6", "new"), LONG)
        assert caught.value.status_code == 429
        lanes.check(Visitor("1.2.3.4"), LONG)
        modest_work = BlockedWork()
        modest_work.go()
        modest = asyncio.ensure_future(lanes.run(Visitor("1.2.3.4"), LONG, modest_work.steps()))
        await run_pending_tasks()
        for item in works[:12]:
            item.go()
        assert await modest == "done"  # after two turns of the flooding address
        for item in works:
            item.go()
        answers = await asyncio.gather(*flooding_tasks, return_exceptions=True)
        errors = [item for item in answers if isinstance(item, HTTPException)]
        assert len(errors) == 80
        assert {item.status_code for item in errors} == {429}

    run_with_lanes(test)


def test_visitor_of_distinguishes_sessions_of_one_address():
    def session(*headers, **more):
        scope = {"type": "http", "headers": headers, "client": ("10.0.0.1", 1)}
        request = Request(scope)
        vars(request).update(more)
        return get_visitor(request)

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
    assert choose_lane(size) == lane


def test_work_of_a_request_stops_when_its_client_leaves():
    async def receive():
        return {"type": "http.disconnect"}

    async def test(lanes):
        work = BlockedWork()
        request = Request({"type": "http", "headers": [], "client": ("a", 1)}, receive)
        with pytest.raises(ClientDisconnect):
            await lanes.run_for(request, SHORT, work.steps(3))
        assert work.n_steps == 0
        await run_pending_tasks()  # which cancel the work
        work.go()
        await wait_for_event(work.ended)
        assert work.n_steps == 1
        while len(asyncio.all_tasks()) > 1:  # until its thread has closed the work
            await asyncio.sleep(0.01)

    run_with_lanes(test)
