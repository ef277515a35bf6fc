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


def test_refusals_have_the_form_of_the_path():
    error = HTTPException(413, "Too large.")
    responses = {path: guard.make_refusal(path, error) for path in ("/page/a", "/api/a", "/a")}
    assert all("content-security-policy" in each.headers for each in responses.values())
    bodies = {path: response.body for path, response in responses.items()}
    assert json.loads(bodies["/page/a"]) == {"problem": {"text": "Too large."}}
    assert json.loads(bodies["/api/a"]) == {"error": "Too large."}
    assert bodies["/a"] == b"Too large."
