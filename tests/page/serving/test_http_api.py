"""The HTTP API answers calls with a result or an error, compressed on request."""

import json

import pytest

pytest.importorskip("starlette")
httpx = pytest.importorskip("httpx")
testing = pytest.importorskip("starlette.testclient")
from starlette.applications import Starlette  # noqa: E402

from vendiscore_page.serving import lanes  # noqa: E402
from vendiscore_page.serving.api_calls import ApiCalls  # noqa: E402
from vendiscore_page.serving.http_api import HttpApi  # noqa: E402
from vendiscore_page.serving.lanes import Lanes  # noqa: E402
from vendiscore_page.serving.wire import SERVER_ERROR_MESSAGE  # noqa: E402
from vendiscore_page.serving.workers import run_here  # noqa: E402


@pytest.fixture
def calls():
    return ApiCalls(run_here)


@pytest.fixture
def http(calls):
    with testing.TestClient(Starlette(routes=HttpApi(Lanes(), calls).build_routes())) as http:
        yield http


def test_call_returns_result_as_json(http):
    texts = ["a b", "c d"]
    answer = http.post("/api/vendi_score_texts", json={"texts": texts})
    assert answer.status_code == 200
    assert answer.json()["VS"] == pytest.approx(2)
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"] == "no-store"
    plain = {"accept-encoding": "identity"}
    answer = http.post("/api/vendi_score_texts", json={"texts": texts}, headers=plain)
    assert "content-encoding" not in answer.headers
    assert json.loads(answer.content)["n"] == 2


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"[]", 422, "Expected a JSON object."),
        (b"{", 422, "Expected a JSON object."),
        (b'{"texts": "a"}', 422, "Expected a list of texts"),
        (b'{"text": []}', 422, "Unknown argument 'text'"),
    ],
)
def test_invalid_calls_return_error(http, body, status, message):
    answer = http.post("/api/vendi_score_texts", content=body)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert message in answer.json()["error"]


def test_too_many_requests_are_rejected_with_their_status(http, monkeypatch):
    monkeypatch.setattr(lanes, "_MAX_REQUESTS", 0)
    answer = http.post("/api/vendi_score_texts", json={"texts": ["a b", "c d"]})
    assert answer.status_code == 429
    assert "of your requests are already running" in answer.json()["error"]


def test_internal_errors_are_not_shown(http, calls):
    def fail(texts: list) -> dict:
        raise KeyError("/secret")

    calls.functions["vendi_score_texts"] = fail
    answer = http.post("/api/vendi_score_texts", json={"texts": []})
    assert (answer.status_code, answer.json()) == (500, {"error": SERVER_ERROR_MESSAGE})


def test_api_is_called_by_post_only(http):
    assert http.get("/api/compute").status_code == 405
    assert http.get("/openapi.json").json()["openapi"] == "3.1.0"
