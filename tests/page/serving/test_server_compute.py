"""The page, the HTTP API and the MCP tool return the values of the library for the same calls."""

import json
from pathlib import Path

import page_client
import pytest
from compute_calls import random_calls
from page_client import (
    CallError,
    RejectedRequestError,
    call_api,
    call_mcp_tool,
    iter_messages,
    post_to_route,
    upload_samples,
)

pytest.importorskip("uvicorn")
pytest.importorskip("rdkit")
pytest.importorskip("sacrebleu")
httpx = pytest.importorskip("httpx")

from vendiscore import compute  # noqa: E402

CLOSE = {"rel": 1e-12, "abs": 1e-12}


@pytest.fixture(scope="module")
def http(server):
    with httpx.Client(base_url=server.url, timeout=60) as http:
        yield http


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", random_calls(), ids=lambda call: call.text[:60])
def test_page_api_and_mcp_tool_return_the_values_of_the_library(http, call):
    expected = compute(call.samples, **call.keywords)
    arguments = {"samples": call.samples, "arguments": call.text}
    assert call_api(http, "compute", **arguments)["values"] == pytest.approx(expected, **CLOSE)
    key = upload_samples(http, call.pasted, kind=call.kind)["key"]
    *_, last = iter_messages(http, "compute", key=key, arguments=call.text)
    assert last["result"]["values"] == pytest.approx(expected, **CLOSE)
    pytest.importorskip("mcp")
    answer = call_mcp_tool(http, "compute", **arguments)
    assert answer["structuredContent"]["values"] == pytest.approx(expected, **CLOSE)
    assert json.loads(answer["content"][0]["text"]) == answer["structuredContent"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("k=open('/etc/passwd')", "`k` must be a number, a text"),
        ("k='/etc/passwd'", "Unknown kernel"),
        ("device='cuda'", "`device` cannot be set here"),
        ("measures='BetweenVS', groups=[1, 2], permutations=99999", "at most 9,999"),
    ],
)
def test_arguments_beyond_the_limits_are_rejected(http, arguments, message):
    with pytest.raises(CallError, match=message):
        call_api(http, "compute", samples=["a", "b"], arguments=arguments)


def test_page_checks_arguments_and_returns_controls(http):
    answer = post_to_route(http, "arguments", kind="texts", arguments="k='ngram_overlap', ns=[2]")
    assert answer["controls"] == {"kernel": "ngram_overlap", "options": {"ns": [2]}, "q": None}
    with pytest.raises(RejectedRequestError, match="Did you mean `sigma`"):
        post_to_route(http, "arguments", kind="texts", arguments="sigmaa=2")
    with pytest.raises(RejectedRequestError, match="Unknown kind"):
        post_to_route(http, "arguments", kind="songs", arguments="q=2")
    key = upload_samples(http, "a cat\na dog", kind="texts")["key"]
    with pytest.raises(RejectedRequestError, match="cannot be set here"):
        list(iter_messages(http, "compute", key=key, arguments="device='cpu'"))


def test_page_and_api_return_magnitude_of_the_evaluate_metric(http):
    evaluate = pytest.importorskip("evaluate")
    metric = evaluate.load(str(Path(__file__).parents[3] / "magnitude.py"))
    A, B = [[1, 2], [3, 4], [5, 7], [2, 2.5]], [[0, 1], [4, 4], [2, 1], [1, 3]]
    expected = metric.compute(samples=A, references=B)
    arguments = "measures=['MagArea', 't_conv', 'MagDiff']"
    answer = call_api(http, "compute", samples=A, arguments=f"{arguments}, references={B}")
    assert answer["values"] == pytest.approx(expected, **CLOSE)
    pasted = {
        name: "\n".join(",".join(map(str, row)) for row in X)
        for name, X in zip("AB", (A, B), strict=True)
    }
    sets = [
        {"key": upload_samples(http, text, kind="vectors")["key"], "name": name}
        for name, text in pasted.items()
    ]
    *_, last = iter_messages(http, "compute", sets=sets, arguments=arguments)
    assert last["result"]["values"] == pytest.approx(expected, **CLOSE)
    expected = metric.compute(samples=B, references=B)
    del expected["MagDiff"]
    assert last["result"]["reference_values"] == pytest.approx(expected, **CLOSE)
    assert last["result"]["sets"] == ["A", "B"]


def test_suggestion_of_another_tool_is_a_valid_call(http):
    K = [[2, 1], [1, 2]]
    with pytest.raises(CallError, match=r"normalize=True .* argument of the tool `compute`"):
        call_api(http, "vendi_score_vectors", rows=K, kernel="K")
    arguments = "score_K=True, normalize=True"
    answer = call_api(http, "compute", samples=K, arguments=arguments)
    assert answer["values"] == pytest.approx(compute(K, score_K=True, normalize=True))


def test_mcp_describes_arguments_and_results_of_compute(http):
    pytest.importorskip("mcp")
    listed = page_client.call_mcp(http, "tools/list")
    tools = json.loads(page_client.parse_events(listed.text)[0][1])["result"]["tools"]
    (tool,) = (tool for tool in tools if tool["name"] == "compute")
    assert set(tool["inputSchema"]["properties"]) == {"samples", "arguments"}
    assert {"values", "notes", "signature"} <= set(tool["outputSchema"]["properties"])
