"""The application has routes with and without gradio, and loads after the page is sent."""

import asyncio
import subprocess
import sys

import pytest

pytest.importorskip("mcp")
httpx = pytest.importorskip("httpx")
testing = pytest.importorskip("starlette.testclient")
from coroutines import run_coroutine  # noqa: E402

from vendiscore_page.serving import application, server  # noqa: E402


@pytest.fixture
def without_workers(monkeypatch):
    """Start neither worker processes nor the thread that removes samples."""
    monkeypatch.setattr(application.Workers, "start", lambda workers: None)
    monkeypatch.setattr(application, "start_sweeping", lambda store: None)


@pytest.mark.usefixtures("without_workers")
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_addresses_of_gradio_name_the_flag(method):
    with testing.TestClient(application.build_application()) as http:
        for path in ("/config", "/gradio_api/info", "/gradio_api/call/v2/compute"):
            answer = http.request(method, path)
            if (method, path) != ("POST", "/config"):
                assert (answer.status_code, answer.text) == (404, application.NO_GRADIO)
        assert http.request(method, "/nothing").text == "This address does not exist."


@pytest.mark.usefixtures("without_workers")
def test_other_sites_may_call_the_api_of_a_space_only(monkeypatch):
    headers = {"origin": "https://other.example"}
    for is_space in (False, True):
        if is_space:
            monkeypatch.setenv("SPACE_ID", "owner/vendiscore")
        with testing.TestClient(application.build_application()) as http:
            answer = http.get("/openapi.json", headers=headers)
        assert ("access-control-allow-origin" in answer.headers) is is_space


def test_page_is_sent_and_other_requests_wait_until_the_application_is_loaded():
    page = server.build()

    async def visit():
        transport = httpx.ASGITransport(page.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://page") as http:
            waiting = asyncio.ensure_future(http.get("/openapi.json"))
            assert "<title>" in (await http.get("/")).text
            await asyncio.sleep(0.05)
            assert not waiting.done()
            async with page.load():
                assert (await waiting).json()["openapi"] == "3.1.0"

    page._build = lambda: application.Starlette(
        routes=[
            application.Route(
                "/openapi.json", lambda _: application.PlainTextResponse('{"openapi": "3.1.0"}')
            )
        ]
    )
    run_coroutine(visit())


def test_page_is_built_without_gradio_kernels_and_mcp():
    code = (
        "import sys; from vendiscore_page.serving.server import build; build()\n"
        "late = {'gradio', 'mcp', 'pydantic', 'scipy', 'vendiscore.kernels', 'vendiscore.report',\n"
        "        'vendiscore_page.answers', 'vendiscore_page.serving.application'}\n"
        "print(sorted(late & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
