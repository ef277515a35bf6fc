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
from vendiscore_page.serving.wire import SERVER_ERROR_MESSAGE, parse_json  # noqa: E402
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
        (b'{"texts": [' + b"[]," * 200_000 + b"1]}", 422, "more than 200,000 lists and objects"),
        (b'{"texts": [' + b"{}," * 200_000 + b"1]}", 422, "more than 200,000 lists and objects"),
        (b'{"texts": [' + b"1," * 4_000_000 + b"1]}", 422, "more than 4,000,000 values"),
        (b'{"texts": [[' + b"7" * 401 + b"]]}", 422, "An integer has 401 digits"),
        (b'{"texts": [-' + b"1234567890" * 400 + b"]}", 422, "An integer has 4,001 digits"),
        (b'{"texts": ' + b"[" * 60 + b"]" * 60 + b"}", 422, "more than 50 levels"),
    ],
)
def test_invalid_calls_return_error(http, body, status, message):
    answer = http.post("/api/vendi_score_texts", content=body)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    assert message in answer.json()["error"]


def test_largest_usual_arguments_are_parsed():
    row = [round(0.1234567 * i, 6) for i in range(50)]
    rows = [row] * 20_000
    assert parse_json(json.dumps({"rows": rows})) == {"rows": rows}
    texts = ["[" * 100_000 + "]" * 100_000, "{,}" * 70_000, "7" * 20_000]
    integers = [10**399, -(10**300)]
    arguments = {"texts": texts, "integers": integers}
    assert parse_json(json.dumps(arguments)) == arguments
    nested = json.loads("[" * 49 + "]" * 49)
    assert parse_json(json.dumps({"groups": nested}).encode()) == {"groups": nested}


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
