"""The MCP server passes arguments to functions without copying them."""

import json

import page_client
import pytest

pytest.importorskip("mcp")
httpx = pytest.importorskip("httpx")
testing = pytest.importorskip("starlette.testclient")
from starlette.applications import Starlette  # noqa: E402
from starlette.exceptions import HTTPException  # noqa: E402

from vendiscore_page.serving import lanes, tools  # noqa: E402
from vendiscore_page.serving.api_calls import ApiCalls  # noqa: E402
from vendiscore_page.serving.lanes import Lanes  # noqa: E402
from vendiscore_page.serving.workers import run_here  # noqa: E402

# Older versions of mcp do not close all streams.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def http():
    mcp = tools.Tools(Lanes(), ApiCalls(run_here))
    app = Starlette(routes=mcp.build_routes(), lifespan=lambda app: mcp.run())
    with testing.TestClient(app) as http:
        yield http


def test_arguments_are_taken_out_of_a_call():
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call = message | {"params": {"name": "compute", "arguments": {"samples": ["a"] * 9_999}}}
    arguments, body = tools._take_arguments(json.dumps(call).encode())
    assert arguments == {"samples": ["a"] * 9_999}
    assert json.loads(body) == message | {"params": {"name": "compute"}}


@pytest.mark.parametrize("body", [b"7", b"[]", b'{"params": 7}', b'{"params": {"arguments": 7}}'])
def test_other_messages_are_not_changed(body):
    assert tools._take_arguments(body) == ({}, body)


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 10**6])
def test_invalid_json_is_rejected(http, body):
    with pytest.raises(HTTPException):
        tools._take_arguments(body)
    answer = http.post(f"{tools.PATH}/", content=body, headers=page_client.MCP_HEADERS)
    assert (answer.status_code, answer.text) == (400, "The body must be JSON.")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"params": {"arguments": [' + b"[]," * 600_000 + b"1]}}", 422),
        (b'{"params": {"arguments": ' + b"[" * 60 + b"]" * 60 + b"}}", 422),
        (b'{"params": {"name": [' + b"1," * 600_000 + b'1], "arguments": {}}}', 413),
        (b'{"method": "' + b"a" * 1_000_001 + b'"}', 413),
    ],
)
def test_too_large_messages_are_rejected(http, body, status):
    answer = http.post(f"{tools.PATH}/", content=body, headers=page_client.MCP_HEADERS)
    assert answer.status_code == status


@pytest.mark.parametrize("path", [tools.PATH, f"{tools.PATH}/"])
def test_tool_is_called_at_address_with_and_without_slash(http, path):
    parameters = {"name": "vendi_score_texts", "arguments": {"texts": ["a b", "c d"]}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}
    answer = http.post(path, json=body, headers=page_client.MCP_HEADERS)
    result = json.loads(page_client.parse_events(answer.text)[0][1])["result"]
    assert result["structuredContent"]["VS"] == pytest.approx(2)


def test_limit_of_requests_holds_for_tools(http, monkeypatch):
    monkeypatch.setattr(lanes, "_MAX_REQUESTS", 0)
    result = page_client.call_mcp_tool(http, "vendi_score_texts", texts=["a b", "c d"])
    assert result["isError"]
    assert "of your requests are already running" in result["content"][0]["text"]


def test_other_methods_name_the_protocol(http):
    answer = http.get(f"{tools.PATH}/", headers={"accept": "text/html"})
    assert answer.status_code == 405
    assert "Model Context Protocol" in answer.text


def test_schema_lists_the_tools(http):
    names = [tool["name"] for tool in http.get(f"{tools.PATH}/schema").json()]
    assert names == list(page_client.SAMPLE_ARGUMENTS)
