"""The running page: one number everywhere, hostile calls answered in words, nothing left over."""

import base64
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hostile
import numpy as np
import pytest
import visitor
from drawn import png
from visitor import upload

pytest.importorskip("gradio")
httpx = pytest.importorskip("httpx")
PIL = pytest.importorskip("PIL.Image")

from vendiscore.app import encoders, examples, limits  # noqa: E402
from vendiscore.scoring import compute  # noqa: E402
from vendiscore.uncertainty import compare  # noqa: E402


@pytest.fixture(scope="module")
def client(server):
    from gradio_client import Client

    client = Client(server.url, verbose=False)
    yield client
    client.close()


@pytest.fixture(scope="module")
def http(server):
    with httpx.Client(base_url=server.url + "/gradio_api", timeout=30) as http:
        yield http


@pytest.fixture
def healthy(server, http):
    """After the test, the server still scores, and nobody's traceback was sent anywhere."""
    yield
    assert call(http, "text", [["a b", "c d"], "ngram_overlap", [1], "word", 1])["VS"] == 2


def call(http, name: str, data: list) -> dict:
    """One call of the API by hand: its result, or {"error": what clients are told}."""
    try:
        return visitor.call(http, name, data)
    except visitor.CallError as error:
        said = str(error)
    assert "Traceback" not in said
    return {"error": said}


def press(http, tab: str, data: list) -> str:
    """What the page shows after its button is pressed, past all that the browser checks."""
    shown = visitor.press(http, tab, data)
    assert "Traceback" not in shown
    return shown


def test_the_api_has_the_five_named_endpoints(client):
    named = client.view_api(return_format="dict", print_info=False)["named_endpoints"]
    assert set(named) == {"/text", "/images", "/molecules", "/vectors", "/compare"}
    parameters = {
        p["parameter_name"]: p["python_type"]["type"] for p in named["/text"]["parameters"]
    }
    assert parameters == {
        "texts": "list[str] | list[list[str]]",
        "kernel": "str",
        "ns": "list[int]",
        "unit": "str",
        "q": "float",
    }


TEXTS = examples.TEXTS["A model in a rut"].splitlines()
SCENTS = examples.MOLECULES["Scents"].splitlines()
ROWS = [[float(x) for x in r.split(",")] for r in examples.VECTORS["Three clusters"][0].split("\n")]
IMAGES = examples.images()["Shapes in three colours"]
SENT = [base64.b64encode(png(image)).decode() for image in IMAGES]
PIXELS = {"k": "pixels", "mode": "RGB"}
MORGAN = {"k": "morgan"}
MINILM, DINOV2 = encoders.ALLOWED["texts"]["MiniLM"], encoders.ALLOWED["images"]["DINOv2"]
SAME = [
    ("/text", {"texts": TEXTS, "ns": [1, 2]}, TEXTS, {"k": "ngram_overlap", "ns": [1, 2]}),
    ("/text", {"texts": TEXTS, "kernel": "MiniLM"}, TEXTS, MINILM),
    ("/images", {"images": SENT}, IMAGES, PIXELS),
    ("/images", {"images": SENT, "kernel": "DINOv2"}, IMAGES, DINOV2),
    ("/molecules", {"smiles": SCENTS}, SCENTS, {"k": "morgan"}),
    ("/vectors", {"rows": ROWS, "kernel": "rbf"}, np.array(ROWS), {"k": "rbf"}),
]


@pytest.mark.parametrize(("name", "sent", "samples", "arguments"), SAME)
@pytest.mark.parametrize("q", [1, 2])
def test_client_evaluate_and_package_give_one_number(
    client, metric, name, sent, samples, arguments, q
):
    number = client.predict(**sent, q=q, api_name=name)["VS"]
    # Single precision of the encoders, on another number of threads.
    rel = 1e-6 if "model_path" in arguments else 1e-12
    assert number == pytest.approx(compute(samples, q=q, **arguments)["VS"], rel=rel)
    assert number == pytest.approx(metric.compute(samples=samples, q=q, **arguments)["VS"], rel=rel)


@pytest.mark.parametrize(
    ("name", "sent", "samples", "arguments"),
    [
        ("/text", {"texts": [TEXTS[:5], TEXTS[5:]]}, [TEXTS[:5], TEXTS[5:]], {}),
        ("/images", {"images": [SENT[:4], SENT[4:]]}, [IMAGES[:4], IMAGES[4:]], PIXELS),
        ("/molecules", {"smiles": [SCENTS[:9], SCENTS[9:]]}, [SCENTS[:9], SCENTS[9:]], MORGAN),
        ("/vectors", {"rows": [ROWS[:9], ROWS[9:]]}, [ROWS[:9], ROWS[9:]], {"k": "cosine"}),
    ],
)
def test_groups_have_one_number_and_one_standard_error_everywhere(
    client, metric, name, sent, samples, arguments
):
    found = client.predict(**sent, api_name=name)
    for right in (
        compute(samples, **arguments),
        metric.compute(samples=samples, **arguments),
    ):
        assert found["VS"] == pytest.approx(right["VS"], rel=1e-12)
        assert found["VS_se"] == pytest.approx(right["VS_se"], rel=1e-9)
    assert len(found["groups"]) == 2


def test_groups_of_the_box_and_of_a_column_have_the_numbers_of_the_package(http):
    nested = [TEXTS[:5], TEXTS[5:]]
    right = compute(nested)
    said = f"VS = {right['VS']:.6f} ± {right['VS_se']:.6f}"
    settings = ["ngram_overlap", [1, 2, 3, 4], "word", 1, 1, "a new line", False]
    box = "\n\n".join("\n".join(group) for group in nested)
    assert said in press(http, "text", [box, None, None, *settings, True])
    rows = [f"{i};{text}" for i, group in enumerate(nested) for text in group]
    (file,) = upload(http, [("a.csv", "\n".join(["prompt;answer", *rows]).encode())])
    assert said in press(http, "text", ["", file, None, *settings, False, "prompt", "file"])


@pytest.mark.parametrize(
    ("kind", "kernel", "samples", "sent", "arguments"),
    [
        ("texts", "ngram_overlap", TEXTS, TEXTS, {"k": "ngram_overlap", "ns": [1, 2, 3, 4]}),
        ("texts", "MiniLM", TEXTS, TEXTS, MINILM),
        ("images", "pixels", IMAGES, SENT, PIXELS),
        ("molecules", "morgan", SCENTS, SCENTS, {"k": "morgan"}),
        ("vectors", "cosine", ROWS, ROWS, {"k": "cosine"}),
    ],
)
def test_a_comparison_by_the_client_is_that_of_the_package(
    client, metric, kind, kernel, samples, sent, arguments
):
    ours = client.predict(
        sets=[sent, sent[:6]], kind=kind, kernel=kernel, permutations=299, api_name="/compare"
    )
    rel = 1e-6 if "model_path" in arguments else 1e-9
    for part, found in zip((samples, samples[:6]), ours["sets"], strict=True):
        assert found["n"] == len(part)
        for score in (compute(part, **arguments), metric.compute(samples=part, **arguments)):
            assert found["VS"] == pytest.approx(score["VS"], rel=rel)
    assert ours["matched_size"] == 6
    right = compare(samples, samples[:6], level=0.99, permutations=299, **arguments)
    for row, found in zip(right.sets, ours["sets"], strict=True):
        assert found["matched"] == pytest.approx(row.matched, rel=rel)
        assert found["matched_se"] == pytest.approx(row.matched_se, rel=1e-3)
    (found,), (pair,) = ours["differences_to_first"], right.pairs
    assert found["difference"] == pytest.approx(-pair.difference, rel=1e-4, abs=1e-6)
    assert found["low"] == pytest.approx(-pair.high, rel=1e-2)
    assert found["p"] == pytest.approx(pair.p, abs=0.02)
    assert found["verdict"] == "no difference larger than chance"


def test_the_tools_of_mcp_are_described_and_work(http):
    pytest.importorskip("mcp")

    def ask(method: str, **parameters: object) -> dict:
        answer = http.post(
            "/mcp/",
            json={"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters},
            headers={"accept": "application/json, text/event-stream"},
        )
        return json.loads(visitor.events(answer.text)[0][1])["result"]

    tools = {tool["name"]: tool for tool in ask("tools/list")["tools"]}
    assert set(tools) == {"text", "images", "molecules", "vectors", "compare"}
    for tool in tools.values():
        assert len(tool["description"]) > 80
        assert tool["description"].endswith(".")
        for name, field in tool["inputSchema"]["properties"].items():
            assert field["description"].endswith("."), (tool["name"], name)
    described = tools["compare"]["inputSchema"]["properties"]["kernel"]["description"]
    assert described.startswith("A kernel of that kind")
    assert described.endswith('"cosine", "rbf" or "laplacian".')
    two = {"texts": ["a b", "c d"], "q": 2}
    answer = ask("tools/call", name="text", arguments=two)
    (content,) = answer["content"]
    assert json.loads(content["text"]) == call(
        http, "text", [two["texts"], "ngram_overlap", [1, 2, 3, 4], "word", 2]
    )
    answer = ask("tools/call", name="text", arguments={"texts": [["a b", "c d"], ["e", "e"]]})
    assert json.loads(answer["content"][0]["text"])["VS"] == 1.5
    wrong = ask("tools/call", name="text", arguments=two | {"unit": "line"})
    assert (wrong["isError"], wrong["content"][0]["text"][:14]) == (True, "Unknown unit '")


@pytest.mark.usefixtures("healthy")
@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("text", [["x" * 10**6], "ngram_overlap", [1], "word", 1], "1,000,000 characters"),
        ("text", [["a"] * 5000, "ngram_overlap", [1], "word", 1], "More than 1,000 texts"),
        ("text", [["a"], "__import__('os')", [1], "word", 1], "Unknown kernel"),
        ("text", [["a"], "ngram_overlap", [1], "word", {"$ne": 1}], "must be a number"),
        ("text", [{"path": "/etc/passwd"}, "ngram_overlap", [1], "word", 1], "Expected a list"),
        ("molecules", [["C"] * 317 + ["C1CC("] + ["C"] * 182, "morgan", 1], "sample 317"),
        ("vectors", [[[1, None]], "cosine", 0, 1], "real numbers"),
        ("vectors", [[[1] * 5000], "cosine", 0, 1], "columns are too many"),
        ("images", [["QUJD"], "pixels", 1], "not an image"),
        ("compare", [[["a"], ["b"]], "texts", "ngram_overlap", 1, 10**9], "from 299 to 999"),
        ("text", [["a"]], "needed: 5, got: 1"),
    ],
)
def test_raw_calls_past_the_limits_of_the_page_are_told_why(http, name, data, said):
    start = time.perf_counter()
    assert said in call(http, name, data)["error"]
    assert time.perf_counter() - start < 5


@pytest.mark.usefixtures("healthy")
def test_a_browser_that_lies_is_told_why(http):
    order = [1, 1]
    assert press(
        http, "text", ["x" * 10**6, None, None, "ngram_overlap", [1], "word", *order]
    ).count("1,000,000 characters")
    found = press(http, "text", ["a\nb", None, None, "pickle", [1], "word", *order])
    assert "not in the list of choices" in found or "Unknown kernel" in found
    found = press(http, "text", ["a\nb", None, None, "ngram_overlap", [1], "word", -5, 1])
    assert "at least 0" in found or "less than minimum" in found


@pytest.mark.usefixtures("healthy")
def test_uploads_with_paths_in_their_names_stay_in_the_folder(http, server):
    (file,) = upload(http, [("../../../../tmp/evil.txt", b"one\ntwo")])
    assert str(server.folder) in os.path.realpath(file["path"])
    page = press(http, "text", ["", file, None, "ngram_overlap", [1], "word", 1, 1])
    assert "effectively different of 2" in page


@pytest.mark.usefixtures("healthy")
def test_ten_thousand_tiny_files_are_refused(http):
    many = [("files", (f"{i}.png", b"x")) for i in range(10_000)]
    assert http.post("/upload", files=many).status_code in (400, 413)
    gallery = [
        {"image": file, "caption": None} for file in upload(http, [("a.png", b"x")])
    ] * 10_000
    assert "More than 200 images" in press(http, "images", [gallery, None, "pixels", 1, 1])


HOSTILE = {
    "a 192-byte .npy of 40 GB": ("a.npy", hostile.forty_gigabytes, "columns are too many"),
    "a pickle": ("a.npy", lambda: b"\x80\x04K\x01.", "not a .npy array"),
    "an object array": ("a.npy", hostile.object_array, "never pickled objects"),
    "NaN": ("a.csv", lambda: b"1,2\n3,nan\n", "row 2 has nan"),
    "a million columns": ("a.csv", lambda: b"1" + b",1" * 10**6, "columns are too many"),
    "a zip bomb": (
        "a.zip",
        lambda: hostile.archive({f"{i}.png": b"\0" * 10**7 for i in range(20)}),
        "unpacks to more than",
    ),
    "one bomb in a zip": (
        "a.zip",
        lambda: hostile.archive({"a.png": b"\0" * 10**8}),
        "unpacks to more than",
    ),
    "10,000 files in a zip": (
        "a.zip",
        lambda: hostile.archive({f"{i}.png": b"x" for i in range(10_000)}),
        "10,000 entries",
    ),
    "100 megapixels": ("a.png", lambda: hostile.png(10_000, 10_000), "has 100 megapixels"),
    "half a JPEG": ("a.jpg", hostile.half_a_jpeg, "cannot be read"),
    "an SVG": ("a.svg", lambda: b"<svg/>", "Invalid file type"),
    "an SVG called PNG": ("a.png", lambda: b"<svg onload='alert(1)'/>", "not an image"),
    "a million columns of text": ("a.csv", lambda: b"a" + b",a" * 10**6, "columns are too many"),
    "a million characters": ("a.txt", lambda: b"x" * 10**6, "1,000,000 characters"),
}


@pytest.mark.usefixtures("healthy")
@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_files_are_refused_in_words_within_five_seconds(http, what):
    name, data, said = HOSTILE[what]
    start = time.perf_counter()
    (file,) = upload(http, [(name, data())])
    if name.endswith(".zip"):
        page = press(http, "images", [None, file, "pixels", 1, 1])
    elif name.endswith((".png", ".jpg", ".svg")):
        gallery = [{"image": file, "caption": None}]
        page = press(http, "images", [gallery, None, "pixels", 1, 1])
    elif name.endswith(".txt") or "text" in what:
        page = press(http, "text", ["", file, None, "ngram_overlap", [1], "word", 1, 1])
    else:
        page = press(http, "vectors", ["", file, "rbf", 0, 1, 1])
    assert said in page, page
    assert time.perf_counter() - start < 5


@pytest.mark.usefixtures("healthy")
@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.zip", lambda: hostile.archive({"a.png": b"\0" * 10**8}), "unpacks to more than"),
        ("a.zip", lambda: hostile.archive({"../../a.txt": b"a"}), "no images in the zip yet"),
        ("a.txt", lambda: b"a\nb", "no image that can be read here"),
        ("a.png", lambda: hostile.png(10_000, 10_000), "has 100 megapixels"),
    ],
)
def test_hostile_sets_of_images_are_refused_in_words(http, name, data, said):
    start = time.perf_counter()
    (file,) = upload(http, [(name, data())])
    sent = ["images", "pixels", "", "", "", file, file, None, 1, 299]
    assert said in press(http, "compare", sent)
    assert time.perf_counter() - start < 5


@pytest.mark.usefixtures("healthy")
def test_large_requests_and_unused_routes_end_at_the_door(http, server):
    assert http.post("/call/text", content=b"x" * (limits.MAX_REQUEST + 1)).status_code == 413

    def endless():
        for _ in range(limits.MAX_REQUEST // 10**6 + 2):
            yield b" " * 10**6

    assert http.post("/call/text", content=endless()).status_code == 413
    too_large = [("files", ("a.txt", b"x" * (limits.MAX_UPLOAD + 1)))]
    assert http.post("/upload", files=too_large).status_code == 413
    for path in ("/process_recording", "/run/text", "/api/text", "/vibe-edit", "/call/nope"):
        assert http.post(path, json={}).status_code == 404, path
    assert http.get("/proxy=http://127.0.0.1:1/").status_code == 404
    assert httpx.get(server.url + "/monitoring").status_code == 404


def test_uploads_are_deleted_and_examples_stay(forgetful_server):
    url, folder = forgetful_server
    shipped = set(folder.rglob("*.png"))
    assert len(shipped) >= 12
    with httpx.Client(base_url=url + "/gradio_api", timeout=30) as http:
        (file,) = upload(http, [("secret.txt", b"one\ntwo")])
        kept = Path(file["path"])
        assert kept.exists()
        (folder / "tmpbroken").write_bytes(b"half an upload")
        until = time.monotonic() + 30
        while time.monotonic() < until and (kept.exists() or (folder / "tmpbroken").exists()):
            time.sleep(0.2)
        assert not kept.exists()
        assert not (folder / "tmpbroken").exists()
        assert shipped <= set(folder.rglob("*.png"))
        page = press(http, "text", ["", file, None, "ngram_overlap", [1], "word", 1, 1])
        assert "upload it again" in page or "not" in page
        assert "effectively different" not in page


def test_visitors_at_the_same_time_get_their_own_results(http):
    def score(i: int) -> float:
        texts = [f"w{j}" for j in range(i + 1)]
        return call(http, "text", [texts, "ngram_overlap", [1], "word", 1])["VS"]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(score, range(24))) == pytest.approx(range(1, 25))


def test_files_of_the_server_cannot_be_fetched(http):
    for path in ("/etc/passwd", "app.py", "../app.py", "vendiscore.py"):
        assert http.get(f"/file={path}").status_code in (403, 404), path
