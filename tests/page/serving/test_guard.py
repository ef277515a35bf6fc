"""The server refuses large requests and those of other sites, and fetches nothing for a user."""

import asyncio
import json

import page_client
import pytest
from coroutines import run_coroutine

pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")
from starlette.exceptions import HTTPException  # noqa: E402

from vendiscore_page.serving import guard  # noqa: E402


@pytest.fixture(scope="module")
def http(permissive_server):
    with httpx.Client(base_url=permissive_server.url, timeout=30) as http:
        yield http


def test_upload_above_shared_limit_is_rejected(http):
    with pytest.raises(
        page_client.RejectedRequestError, match="Too many files are being"
    ) as caught:
        page_client.upload_samples(http, files=[("a.txt", b"x" * 2_000_001)])
    assert caught.value.status == 503
    assert page_client.upload_samples(http, files=[("a.txt", b"one two\nthree four")])["n"] == 2


def test_concurrent_uploads_share_size_limit(monkeypatch):
    monkeypatch.setattr(guard, "MAX_CONCURRENT_UPLOADS", 150)
    answers, is_answered = [], asyncio.Event()

    async def app(scope, receive, send):
        await receive()
        answers.append(200)
        await is_answered.wait()

    async def receive():
        return {"type": "http.request", "body": b"x" * 100, "more_body": True}

    async def send(message):
        if message["type"] == "http.response.start":
            answers.append(message["status"])
            is_answered.set()

    middleware = guard.Guard(app)

    def upload(*headers: tuple[bytes, bytes]):
        scope = {"type": "http", "path": "/page/read", "method": "POST", "headers": headers}
        return middleware(scope, receive, send)

    async def visitors():
        await asyncio.gather(upload(), upload())
        assert answers == [200, 503]
        await upload()
        is_answered.clear()
        await asyncio.gather(upload(), upload((b"content-length", b"100")))

    run_coroutine(visitors())
    assert answers == [200, 503, 200, 200, 503]


class Connection:
    """A request with a body in parts, each after some seconds, and its answers."""

    def __init__(self, path: str, parts, headers=()) -> None:
        self.scope = {"type": "http", "path": path, "method": "POST", "headers": headers}
        self.parts = list(parts)
        self.received: list[bytes] = []
        self.statuses: list[int] = []

    async def receive(self):
        await asyncio.sleep(self.parts[0][0])
        _, body = self.parts.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(self.parts)}

    async def send(self, message):
        if message["type"] == "http.response.start":
            self.statuses.append(message["status"])

    async def read(self, scope, receive, send):
        """Read the body, as an app."""
        while True:
            message = await receive()
            self.received.append(message["body"])
            if not message["more_body"]:
                await send({"type": "http.response.start", "status": 200})
                return


def visit(*connections: Connection) -> guard.Guard:
    """Send requests at the same time."""

    async def app(scope, receive, send):
        own = next(each for each in connections if each.scope is scope)
        await own.read(scope, receive, send)

    middleware = guard.Guard(app)

    async def send_all():
        await asyncio.gather(
            *(middleware(each.scope, each.receive, each.send) for each in connections)
        )

    run_coroutine(send_all())
    return middleware


@pytest.mark.parametrize("path", ["/page/read", "/page/score", "/api/compute", "/gradio_api/mcp"])
@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ([(0, b"abc")] * 9, 200),
        ([(0.02, b"abc")] * 5, 200),  # of 20 bytes in all
        ([(0, b"abc"), (9, b"")], 408),  # stalls
        ([(0.02, b"a")] * 50, 408),  # sends fewer than 10 bytes in 0.3 seconds
        ([(0.02, b"abc")] * 90, 408),  # takes more than a second
    ],
)
def test_slow_requests_are_rejected(monkeypatch, path, parts, status):
    monkeypatch.setattr(guard, "SLOW_SECONDS", 0.3)
    monkeypatch.setattr(guard, "SLOW_BYTES", 10)
    monkeypatch.setattr(guard, "MAX_BODY_SECONDS", 1)
    monkeypatch.setattr(guard, "_MAX_READING_SECONDS", 0)
    connection = Connection(path, parts)
    visit(connection)
    assert connection.statuses == [status]


def test_stalled_upload_returns_its_share(monkeypatch):
    monkeypatch.setattr(guard, "MAX_CONCURRENT_UPLOADS", 150)
    monkeypatch.setattr(guard, "SLOW_SECONDS", 0.5)
    monkeypatch.setattr(guard, "SLOW_BYTES", 1)
    monkeypatch.setattr(guard, "_MAX_READING_SECONDS", 0)
    stalled = Connection("/page/read", [(0, b"x" * 100), (60, b"")])
    early = Connection("/page/read", [(0.1, b"x" * 100)])
    late = Connection("/page/read", [(0.4, b"x"), (0.4, b"x" * 99)])
    assert visit(stalled, early, late)._received == 0
    assert (stalled.statuses, early.statuses, late.statuses) == ([408], [503], [200])


def test_time_limit_ends_with_the_body(monkeypatch):
    monkeypatch.setattr(guard, "SLOW_SECONDS", 0.05)

    async def app(scope, receive, send):
        assert (await receive())["body"] == b"abc"
        assert (await receive())["type"] == "http.disconnect"
        await send({"type": "http.response.start", "status": 200})

    connection = Connection("/api/compute", [(0, b"abc")])

    async def receive():
        if connection.parts:
            return await Connection.receive(connection)
        await asyncio.sleep(0.2)
        return {"type": "http.disconnect"}

    run_coroutine(guard.Guard(app)(connection.scope, receive, connection.send))
    assert connection.statuses == [200]


def test_calls_of_the_api_share_the_limit_of_uploads(monkeypatch):
    monkeypatch.setattr(guard, "MAX_CONCURRENT_UPLOADS", 250)
    monkeypatch.setattr(guard, "MAX_PAGE_REQUEST", 50)
    monkeypatch.setattr(guard, "_MAX_READING_SECONDS", 0)
    large = [(0, b"x" * 100), (0.5, b"")]
    first = [Connection(path, large) for path in ("/page/read", "/api/compute")]
    later = [
        Connection("/page/read", [(0.1, b"x" * 60)]),
        Connection("/api/compute", [(0.1, b"x" * 60)]),
        Connection("/api/compute", [(0, b"")], [(b"content-length", b"60")]),
        Connection("/api/compute", [(0.1, b"x" * 40)]),
        Connection("/page/score", [(0.1, b"x" * 40)]),
        Connection("/openapi.json", [(0.1, b"")]),
        Connection("/api/compute", [(0.7, b"x" * 100)]),
    ]

    assert visit(*first, *later)._received == 0
    assert [each.statuses for each in first] == [[200], [200]]
    assert [each.statuses[0] for each in later] == [503, 503, 200, 200, 200, 200, 200]


def test_uploads_are_passed_on_in_small_pieces():
    body = bytes(range(256)) * 400
    connection = Connection("/page/read", [(0, body), (0, b"abc"), (0, b"")])
    visit(connection)
    assert b"".join(connection.received) == body + b"abc"
    assert max(map(len, connection.received)) <= 16_000
    assert connection.statuses == [200]


def test_refusals_have_the_form_of_the_path():
    error = HTTPException(413, "Too large.")
    responses = {path: guard.make_refusal(path, error) for path in ("/page/a", "/api/a", "/a")}
    assert all("content-security-policy" in each.headers for each in responses.values())
    bodies = {path: response.body for path, response in responses.items()}
    assert json.loads(bodies["/page/a"]) == {"problem": {"text": "Too large."}}
    assert json.loads(bodies["/api/a"]) == {"error": "Too large."}
    assert bodies["/a"] == b"Too large."
