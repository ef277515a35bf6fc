"""The running server gives the same score in all interfaces and keeps no user data."""

import base64
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import page_client
import pytest
from image_samples import encode_png
from page_client import call_api, upload_and_score, upload_samples

pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")
PIL = pytest.importorskip("PIL.Image")

from vendiscore import (  # noqa: E402
    __version__,
    compare,
    compute,
)
from vendiscore.result import key_at  # noqa: E402
from vendiscore_page.answers import offered_encoders  # noqa: E402
from vendiscore_page.inputs import examples  # noqa: E402
from vendiscore_page.serving.schemas import EXAMPLES  # noqa: E402
from vendiscore_page.serving.tools import INSTRUCTIONS  # noqa: E402


@pytest.fixture(scope="module")
def http(server):
    with httpx.Client(base_url=server.url, timeout=60) as http:
        yield http


def test_openapi_describes_six_functions(http):
    document = http.get("/openapi.json").json()
    assert (document["info"]["title"], document["info"]["version"]) == ("Vendi Score", __version__)
    assert set(document["paths"]) == {f"/api/{name}" for name in page_client.SAMPLE_ARGUMENTS}


def test_mcp_server_reports_name_version_and_instructions(http):
    client_info = {"name": "a", "version": "1"}
    parameters = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client_info}
    answer = page_client.call_mcp(http, "initialize", **parameters)
    result = json.loads(page_client.parse_events(answer.text)[0][1])["result"]
    assert result["serverInfo"] == {"name": "vendiscore", "version": __version__}
    assert result["instructions"] == INSTRUCTIONS


TEXTS = examples.find_example("A model in a rut").text.splitlines()
SCENTS = examples.find_example("Scents").text.splitlines()
ROWS = [
    [float(x) for x in r.split(",")]
    for r in examples.find_example("Three clusters").text.split("\n")
]
IMAGES = examples.find_example("Shapes in three colours").open_images()
FILES = [(f"{i:02}.png", encode_png(image)) for i, image in enumerate(IMAGES)]
ENCODED_IMAGES = [base64.b64encode(data).decode() for _, data in FILES]
PIXELS = {"k": "pixels", "mode": "RGB"}
MORGAN = {"k": "morgan"}
NGRAMS = {"k": "ngram_overlap", "ns": [1, 2]}
MINILM, DINOV2 = (
    offered_encoders.ALLOWED["texts"]["MiniLM"],
    offered_encoders.ALLOWED["images"]["DINOv2"],
)
PASTED_TEXTS = {
    "texts": "\n".join(TEXTS),
    "molecules": "\n".join(SCENTS),
    "vectors": "\n".join(", ".join(map(str, row)) for row in ROWS),
}
SCORE_CASES = [
    ("texts", "ngram_overlap", {"ns": [1, 2]}, {"texts": TEXTS}, TEXTS, NGRAMS),
    ("texts", "MiniLM", {}, {"texts": TEXTS}, TEXTS, MINILM),
    ("images", "pixels", {}, {"images": ENCODED_IMAGES}, IMAGES, PIXELS),
    ("images", "DINOv2", {}, {"images": ENCODED_IMAGES}, IMAGES, DINOV2),
    ("molecules", "morgan", {}, {"smiles": SCENTS}, SCENTS, MORGAN),
    ("vectors", "rbf", {}, {"rows": ROWS}, np.array(ROWS), {"k": "rbf"}),
]


@pytest.mark.parametrize(("kind", "kernel", "options", "sent", "samples", "arguments"), SCORE_CASES)
@pytest.mark.parametrize("q", [1, 2])
def test_page_api_tool_metric_and_package_scores_are_equal(
    http, metric, kind, kernel, options, sent, samples, arguments, q
):
    key = key_at(q)
    expected = compute(samples, q=q, **arguments)[key]
    # Encoders use single precision and another number of threads.
    rel = 1e-6 if "model_path" in arguments else 1e-12
    metric_result = metric.compute(samples=samples, q=q, **arguments)
    assert metric_result[key] == pytest.approx(expected, rel=rel)
    name, arguments_of_call = f"vendi_score_{kind}", {**sent, **options, "kernel": kernel, "q": q}
    assert call_api(http, name, **arguments_of_call)[key] == pytest.approx(expected, rel=rel)
    tool_result = json.loads(
        page_client.call_mcp_tool(http, name, **arguments_of_call)["content"][0]["text"]
    )
    assert tool_result[key] == pytest.approx(expected, rel=rel)
    files = FILES if kind == "images" else ()
    settings = {"options": options, "q": q}
    page_result = upload_and_score(
        http, kernel, PASTED_TEXTS.get(kind, ""), files, settings, kind=kind
    )
    assert page_result[key] == pytest.approx(expected, rel=rel)
    assert page_result["n"] == len(samples)


@pytest.mark.parametrize(
    ("kind", "sent", "samples", "arguments"),
    [
        ("texts", {"texts": [TEXTS[:5], TEXTS[5:]]}, [TEXTS[:5], TEXTS[5:]], {}),
        (
            "images",
            {"images": [ENCODED_IMAGES[:4], ENCODED_IMAGES[4:]]},
            [IMAGES[:4], IMAGES[4:]],
            PIXELS,
        ),
        ("molecules", {"smiles": [SCENTS[:9], SCENTS[9:]]}, [SCENTS[:9], SCENTS[9:]], MORGAN),
        ("vectors", {"rows": [ROWS[:9], ROWS[9:]]}, [ROWS[:9], ROWS[9:]], {"k": "cosine"}),
    ],
)
def test_group_scores_of_api_and_metric_match_package(http, metric, kind, sent, samples, arguments):
    if kind == "texts":
        sent = {**sent, "kernel": "ngram_overlap"}
    if kind == "images":
        sent = {**sent, "kernel": "pixels"}
    result = call_api(http, f"vendi_score_{kind}", **sent)
    for expected in (
        compute(samples, **arguments),
        metric.compute(samples=samples, **arguments),
    ):
        assert result["VS"] == pytest.approx(expected["VS"], rel=1e-12)
        assert result["VS_se"] == pytest.approx(expected["VS_se"], rel=1e-9)
    assert len(result["by_group"]) == 2


def test_pasted_and_column_groups_match_package(http):
    nested = [TEXTS[:5], TEXTS[5:]]
    expected = compute(nested)
    box = json.dumps(nested)
    rows = [f"{i};{text}" for i, group in enumerate(nested) for text in group]
    table = ("a.csv", "\n".join(["prompt;answer", *rows]).encode())
    for result in (
        upload_and_score(http, "ngram_overlap", box, kind="texts"),
        upload_and_score(http, "ngram_overlap", files=[table], kind="texts", by="prompt"),
    ):
        assert result["VS"] == pytest.approx(expected["VS"], rel=1e-12)
        assert result["se"] == pytest.approx(expected["VS_se"], rel=1e-9)
        assert [group["n"] for group in result["by_group"]] == [5, len(TEXTS) - 5]


@pytest.mark.parametrize(
    ("kind", "kernel", "samples", "sent", "arguments"),
    [
        ("texts", "ngram_overlap", TEXTS, TEXTS, {"k": "ngram_overlap", "ns": [1, 2, 3, 4]}),
        ("texts", "MiniLM", TEXTS, TEXTS, MINILM),
        ("images", "pixels", IMAGES, ENCODED_IMAGES, PIXELS),
        ("molecules", "morgan", SCENTS, SCENTS, {"k": "morgan"}),
        ("vectors", "cosine", ROWS, ROWS, {"k": "cosine"}),
    ],
)
def test_comparison_of_page_and_api_matches_package(http, kind, kernel, samples, sent, arguments):
    expected = compare(samples, samples[:6], **arguments)
    rel = 1e-6 if "model_path" in arguments else 1e-9
    files, lines = FILES if kind == "images" else (), PASTED_TEXTS.get(kind, "").splitlines()
    keys = {
        name: upload_samples(http, "\n".join(lines[:n]), files[:n], kind=kind)["key"]
        for name, n in (("all", len(samples)), ("some", 6))
    }
    page_result = page_client.compare_uploads(http, keys, kernel)
    api_result = call_api(http, "vendi_compare", sets=[sent, sent[:6]], kind=kind, kernel=kernel)
    assert page_result["matched_size"] == api_result["matched_size"] == 6
    ranked = sorted(expected.sets, key=lambda row: -row.matched)
    for row, page_item, api_row in zip(
        ranked, page_result["rows"], api_result["rows"], strict=True
    ):
        assert page_item["n"] == api_row["n"] == row.n
        for row_result in (page_item, api_row):
            assert row_result["VS"] == pytest.approx(row.score, rel=rel)
            assert row_result["matched"] == pytest.approx(row.matched, rel=rel)
    (pair,) = expected.pairs
    for page_item in (*page_result["pairs"], *api_result["pairs"]):
        assert abs(page_item["difference"]) == pytest.approx(
            abs(pair.difference), rel=1e-4, abs=1e-6
        )
        assert page_item["p"] == pytest.approx(pair.p, abs=0.02)


@pytest.fixture(scope="module")
def tools(http):
    pytest.importorskip("mcp")
    answer = page_client.call_mcp(http, "tools/list")
    result = json.loads(page_client.parse_events(answer.text)[0][1])["result"]["tools"]
    return {tool["name"]: tool for tool in result}


def test_mcp_tools_are_described_in_sentences(tools):
    assert set(tools) == set(page_client.SAMPLE_ARGUMENTS)
    for tool in tools.values():
        assert tool["description"][-1] == "."
        assert not re.search(r"[,.;:],|,\s*,|\n|Returns", tool["description"])
        for side in ("inputSchema", "outputSchema"):
            for name, field in tool[side]["properties"].items():
                assert field["description"].endswith("."), (tool["name"], name)
                assert "\n" not in field["description"]
        assert tool["inputSchema"]["required"] == [page_client.SAMPLE_ARGUMENTS[tool["name"]]]
        if tool["name"] != "compute":
            assert {"type": "string"} in tool["inputSchema"]["properties"]["q"]["anyOf"]


@pytest.mark.parametrize("name", page_client.SAMPLE_ARGUMENTS)
@pytest.mark.parametrize("q", [0, 2, "inf"])
def test_mcp_results_match_schema_and_api(http, tools, name, q):
    jsonschema = pytest.importorskip("jsonschema")
    call_arguments = {
        page_client.SAMPLE_ARGUMENTS[name]: EXAMPLES[page_client.SAMPLE_ARGUMENTS[name]],
        **({"arguments": f"ns=[1, 2], q={q!r}"} if name == "compute" else {"q": q}),
    }
    result = page_client.call_mcp_tool(http, name, **call_arguments)
    assert not result["isError"], result
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert result["structuredContent"] == call_api(http, name, **call_arguments)
    schema = tools[name]["outputSchema"]
    openapi = http.get("/openapi.json").json()["paths"][f"/api/{name}"]["post"]
    described = openapi["responses"]["200"]["content"]["application/json"]["schema"]
    assert described == schema
    jsonschema.validate(
        call_arguments, openapi["requestBody"]["content"]["application/json"]["schema"]
    )
    jsonschema.validate(result["structuredContent"], schema)
    patterns = "|".join(schema["patternProperties"]) or "^$"
    extra_keys = result["structuredContent"].keys() - schema["properties"].keys()
    assert all(re.search(patterns, name) for name in extra_keys)
    assert bool(extra_keys) == (name not in ("vendi_compare", "compute"))


@pytest.mark.parametrize(
    ("name", "sent", "message"),
    [
        ("vendi_score_texts", {"texts": ["a"], "unit": "line"}, "Unknown unit 'line'"),
        ("vendi_score_texts", {"texts": ["a"], "order": 2}, "Unknown argument 'order'; pick"),
        ("vendi_score_texts", {}, "requires the argument `texts`"),
        ("vendi_score_texts", {"texts": [7]}, "must be a string"),
        ("vendi_score_sounds", {}, "Unknown function 'vendi_score_sounds'"),
    ],
)
def test_mcp_errors_contain_message(http, tools, name, sent, message):
    result = page_client.call_mcp_tool(http, name, **sent)
    assert result["isError"]
    assert message in result["content"][0]["text"]


def test_expired_samples_return_gone(expiring_server):
    with httpx.Client(base_url=expiring_server.url, timeout=30) as http:
        key = upload_samples(http, "one two\nthree four")["key"]
        result = page_client.score_upload(http, key, "ngram_overlap")
        assert (
            page_client.post_to_route(http, "groups", id=result["id"], threshold=0.5)["groups"]
            is not None
        )
        time.sleep(1.5)
        for path in ("score", "groups", "papers", "report"):
            answer = http.post(f"/page/{path}", json={"key": key, "id": result["id"]})
            assert (answer.status_code, answer.json()) == (410, {"gone": True})
    assert not expiring_server.leftover_files


def test_concurrent_users_get_their_own_results(server):
    def score_twice(i: int) -> tuple[float, list[str], float]:
        texts = [f"w{j}" for j in range(i + 2)]
        headers = {"x-forwarded-for": f"10.0.0.{i}"}
        with httpx.Client(base_url=server.url, timeout=60, headers=headers) as http:
            page_result = upload_and_score(http, "ngram_overlap", "\n".join(texts), kind="texts")
            api_result = call_api(http, "vendi_score_texts", texts=texts)
        assert page_result["samples"]["text"] == texts
        return page_result["VS"], api_result["VS"]

    with ThreadPoolExecutor(8) as pool:
        result = np.array(list(pool.map(score_twice, range(24))))
    np.testing.assert_allclose(result, np.arange(2, 26)[:, None] + [[0, 0]], rtol=1e-9)
