"""The server rejects hostile calls, files and bodies with a message, and keeps nothing of them."""

import base64
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import hostile_files
import page_client
import pytest
from page_client import upload_and_score, upload_samples
from user_files import encode_zip

pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")
pytest.importorskip("PIL.Image")

from vendiscore_page import quotas  # noqa: E402
from vendiscore_page.inputs.submission import ROLES  # noqa: E402


@pytest.fixture(scope="module")
def http(server):
    with httpx.Client(base_url=server.url, timeout=60) as http:
        yield http


@pytest.fixture
def check_server_afterwards(server, http):
    """After the test, check that the server still scores and has no leftover files."""
    yield
    assert upload_and_score(http, "ngram_overlap", "a b\nc d")["VS"] == pytest.approx(2)
    assert not server.leftover_files


def get_api_error(http, name: str, **arguments) -> str:
    """Return the error message of a rejected API call."""
    with pytest.raises(page_client.CallError) as caught:
        page_client.call_api(http, name, **arguments)
    message = str(caught.value)
    assert "Traceback" not in message
    return message


def get_rejection(http, text: str = "", files=(), kernel: str = "", **options) -> str:
    """Return the problem that the server reports for samples, as JSON text."""
    with pytest.raises(page_client.RejectedRequestError) as caught:
        upload_and_score(http, kernel, text, files, **options)
    assert caught.value.status in (200, 400, 413, 422)
    message = json.dumps(caught.value.problem, ensure_ascii=False)
    assert "Traceback" not in message
    return message


@pytest.mark.usefixtures("check_server_afterwards")
@pytest.mark.parametrize(
    ("name", "sent", "message"),
    [
        ("vendi_score_texts", {"texts": "x" * 10**6}, "Expected a list of texts"),
        ("vendi_score_texts", {"texts": ["x" * 10**6]}, "1,000,000 characters"),
        ("vendi_score_texts", {"texts": ["a"] * 5000}, "More than 1,000 texts"),
        ("vendi_score_texts", {"texts": ["a"], "kernel": "__import__('os')"}, "Unknown kernel"),
        ("vendi_score_texts", {"texts": ["a"], "kernel": ["MiniLM"]}, "Unknown kernel"),
        ("vendi_score_texts", {"texts": ["a"], "q": {"$ne": 1}}, "must be a number"),
        ("vendi_score_texts", {"texts": {"path": "/etc/passwd"}}, "Expected a list"),
        ("vendi_score_texts", {"texts": ["a", "b"], "threshold": 7}, "between -1 and 1"),
        ("vendi_score_molecules", {"smiles": ["C"] * 317 + ["C1CC("] + ["C"]}, "sample 317"),
        ("vendi_score_vectors", {"rows": [[1, None]]}, "real numbers"),
        ("vendi_score_vectors", {"rows": [[1] * 5000]}, "More than 4,096 columns"),
        ("vendi_score_images", {"images": ["QUJD"]}, "not an image"),
        ("vendi_compare", {"sets": [["a"] * 4] * 9}, "8"),
        ("vendi_score_texts", {"texts": ["a"], "nothing": 1}, "Unknown argument 'nothing'"),
        ("vendi_score_texts", {}, "requires the argument `texts`"),
        ("vendi_score_nothing", {"texts": ["a"]}, "This address does not exist."),
    ],
)
def test_api_calls_reject_invalid_or_too_large_arguments(http, name, sent, message):
    assert message in get_api_error(http, name, **sent)


@pytest.mark.usefixtures("check_server_afterwards")
@pytest.mark.parametrize("depth", [51, 300, 600, 800, 990, 100_000])
def test_deeply_nested_json_is_rejected(http, depth):
    nested = "[" * depth + "1" + "]" * depth
    message = "(levels of lists and objects|Expected a JSON object|body must be JSON)"
    for path, body in {
        "/api/compute": f'{{"samples": {nested}, "arguments": "k=\'rbf\'"}}',
        "/api/vendi_score_texts": f'{{"texts": ["a b", "c d"], "kernel": {nested}}}',
        "/page/drawings": f'{{"smiles": {nested}}}',
    }.items():
        answer = http.post(path, content=body)
        assert answer.status_code == 422
        assert re.search(message, answer.text)
    answer = http.post("/gradio_api/mcp/", content=nested, headers=page_client.MCP_HEADERS)
    assert answer.status_code in (400, 422)
    assert re.search(message, answer.text)


HOSTILE_FILES = {
    "a 192-byte .npy of 40 GB": (
        "a.npy",
        hostile_files.npy_claiming_forty_gigabytes,
        "40,000 MB; this page",
    ),
    "a pickle": ("a.npy", lambda: b"\x80\x04K\x01.", "this is a pickle, which is not read"),
    "an object array": ("a.npy", hostile_files.npy_with_objects, "never unpickled"),
    "NaN": ("a.csv", lambda: b"1,2\n3,nan\n", "row 2 has nan"),
    "a million columns": ("a.csv", lambda: b"1" + b",1" * 10**6, "columns are too many"),
    "a zip bomb": (
        "a.zip",
        lambda: encode_zip({f"{i}.png": b"\0" * 10**7 for i in range(20)}),
        "unpacks to more than",
    ),
    "one bomb in a zip": (
        "a.zip",
        lambda: encode_zip({"a.png": b"\0" * 10**8 * 2}),
        "unpacks to more than",
    ),
    "a zip of nothing that is read": (
        "a.zip",
        lambda: encode_zip({"../../a.exe": b"a"}),
        "a.exe",
    ),
    "100 megapixels": (
        "a.png",
        lambda: hostile_files.encode_grey_png(10_000, 10_000),
        "has 100 megapixels",
    ),
    "half a JPEG": ("a.jpg", hostile_files.truncated_jpeg, "cannot be read"),
    "an SVG": ("a.svg", lambda: b"<svg/>", "svg"),
    "an SVG called PNG": ("a.png", lambda: b"<svg onload='alert(1)'/>", "not an image"),
    "a million columns of text": ("a.csv", lambda: b"a" + b",a" * 10**6, "columns are too many"),
    "a million characters": ("a.txt", lambda: b"x" * 10**6, "1,000,000 characters"),
    "nothing": ("a.csv", lambda: b"", "no texts yet"),
}


@pytest.mark.usefixtures("check_server_afterwards")
@pytest.mark.parametrize("case", HOSTILE_FILES)
def test_hostile_files_are_rejected(http, case):
    name, data, message = HOSTILE_FILES[case]
    assert message in get_rejection(http, files=[(name, data())])


@pytest.mark.usefixtures("check_server_afterwards")
def test_wide_table_with_too_many_cells_is_rejected(http):
    names = [*(f"answer {i}" for i in range(90)), *(f"other {i}" for i in range(900))]
    row = ",".join(["Yes it is so."] * 90) + "," * 900
    table = "\n".join([",".join(names), *[row] * 150]).encode()
    message = get_rejection(http, files=[("a.csv", table)], wide=True, kind="texts")
    assert "12,177,000 cells, more than 12,000,000" in message


@pytest.mark.usefixtures("check_server_afterwards")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "pickles"}, "pickles"),
        ({"kind": ["texts"]}, "`kind` has an invalid"),
        ({"draw": "1"}, "`draw` has an invalid"),
        ({"column": {"a": 1}}, "`column` has an invalid"),
        ({"wide": "yes"}, "`wide` has an invalid"),
        ({"answers": 1}, "`answers` has an invalid"),
        ({"min_quality": float("nan")}, "`min_quality` has an invalid"),
        ({"min_quality": float("-inf")}, "`min_quality` has an invalid"),
        *(({role: ["a"]}, f"`{role}` has an invalid") for role in ("sets", *ROLES)),
        ({"__class__": "a"}, "Unknown option '__class__'"),
        ({"example": "../../etc/passwd"}, "etc/passwd"),
    ],
)
def test_invalid_read_options_are_rejected(http, options, message):
    assert message in get_rejection(http, "a b\nc d", **options)


@pytest.mark.usefixtures("check_server_afterwards")
def test_unknown_columns_and_invalid_sizes_are_rejected(http):
    table = ("a.csv", b"id,model,answer\n1,a,yes it is\n2,b,no it is not\n3,a,who knows that\n")
    for option in ("column", "by", "sets", "prompts", *ROLES):
        assert "__class__" in get_rejection(
            http, files=[table], kind="texts", **{option: "__class__"}
        )
    key = upload_and_score(http, "ngram_overlap", files=[table])["id"]
    for size in (None, 0, -1, 4, 10**30, 1.5, True, "2", [2], {"a": 1}):
        answer = http.post("/page/subset", json={"id": key, "size": size})
        assert answer.status_code == 422
        assert "must be from 1 to 3" in answer.json()["problem"]["text"]


@pytest.mark.usefixtures("check_server_afterwards")
def test_thresholds_that_are_no_floats_are_rejected(http):
    key = upload_and_score(http, "ngram_overlap", "a b\nc d")["id"]
    for threshold in (10**390, -(10**390), "9" * 5_000, [1], None):
        answer = http.post("/page/groups", json={"id": key, "threshold": threshold})
        assert answer.status_code == 422
        assert "The similarity threshold must be" in answer.json()["problem"]["text"]


@pytest.mark.usefixtures("check_server_afterwards")
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "pickle"}, "Unknown kernel 'pickle'"),
        ({"kernel": ["K"]}, "Unknown kernel"),
        ({"kernel": "MiniLM", "q": -5}, "at least 0"),
        ({"kernel": "ngram_overlap", "q": {}}, "must be a number"),
        ({"kernel": "ngram_overlap", "q": float("nan")}, "at least 0"),
        ({"kernel": "ngram_overlap", "options": [1]}, "`options` must be an object"),
        ({"kernel": "ngram_overlap", "options": {"ns": [99]}}, "between 1 and 10"),
        ({"kernel": "ngram_overlap", "options": {"n": [1]}}, "Unknown option 'n'; pick one of ns"),
        ({"kernel": "ngram_overlap", "options": {"ns": [float("inf")]}}, "must be integers"),
        ({"kernel": "ngram_overlap", "threshold": 7}, "between -1 and 1"),
        ({"kernel": "ngram_overlap", "threshold": 10**390}, "must be a number"),
        ({"kernel": "ngram_overlap", "Q": 2}, "Unknown option 'Q'; pick one of kernel"),
        ({"kernel": "ngram_overlap", "permutations": 299}, "Unknown option 'permutations'"),
    ],
)
def test_invalid_score_settings_are_rejected(http, settings, message):
    key = upload_samples(http, "a b\nc d")["key"]
    body = json.dumps({"key": key, **settings})
    answer = http.post("/page/score", content=body).text
    assert message in answer
    assert "Traceback" not in answer
    assert ("problem" in answer) is bool(message)


def test_unknown_comparison_options_are_rejected(http):
    keys = [upload_samples(http, f"a b{i}\nc d\ne f\ng h")["key"] for i in (1, 2)]
    sets = [{"name": name, "key": key} for name, key in zip("AB", keys, strict=True)]
    for extra_options in ({"seed": 1}, {"key": keys[0]}, {"options": {"seed": 1}}):
        body = {"sets": sets, "kernel": "ngram_overlap", **extra_options}
        assert "Unknown option" in http.post("/page/compare", json=body).text


@pytest.mark.usefixtures("check_server_afterwards")
@pytest.mark.parametrize(
    "path",
    [
        *("score", "second", "phrases", "groups", "subset", "compare", "drawings", "report"),
        "papers",
    ],
)
def test_invalid_request_bodies_are_rejected(http, path):
    key = upload_samples(http, "a b\nc d")["key"]
    for body in (b"", b"[]", b"\xff\xfe", b"[" * 10**5, b'{"a": 1' + b" " * 10**5):
        answer = http.post(f"/page/{path}", content=body)
        assert answer.status_code == 422, body[:9]
        assert answer.json() == {"problem": {"text": "Expected a JSON object."}}
    for value in ("", "x" * 10**5, None, 7, ["a"], {"a": key}):
        answer = http.post(f"/page/{path}", json={"key": value, "id": value, "sets": value})
        assert answer.status_code in (410, 422)
    if path == "drawings":  # drawings belong to no result
        return
    # A key of samples is not the key of a result.
    other = http.post(f"/page/{path}", json={"id": key, "sets": [{"name": "a", "key": "b"}]})
    assert other.json() == {"gone": True}


@pytest.mark.usefixtures("check_server_afterwards")
def test_molecule_drawings_contain_no_injected_markup(http):
    sent = ["CCO |$<script>;;<b onload=x>$|", "<svg onload=x>", "C\0C", "c1" * 150]
    uris = http.post("/page/drawings", json={"smiles": sent}).json()["uris"]
    assert uris[1:] == ["", "", ""]
    svg = base64.b64decode(uris[0].removeprefix("data:image/svg+xml;base64,")).decode()
    assert "<script" not in svg
    assert "<b" not in svg
    invalid_unicode = json.dumps({"smiles": ["\ud800C"]})
    assert http.post("/page/drawings", content=invalid_unicode).json() == {"uris": [""]}


@pytest.mark.usefixtures("check_server_afterwards")
def test_invalid_forms_are_rejected(http):
    for answer in (
        http.post("/page/read", json={"text": "a"}),
        http.post("/page/read", content=b"--x", headers={"content-type": "multipart/form-data"}),
        http.post("/page/read", files=[("text", ("a.txt", b"a\nb"))]),
        http.post("/page/read", files=[("options", ("a.txt", b"{}"))]),
        http.post("/page/read", files=[("options", (None, "[]")), ("text", (None, "a\nb"))]),
    ):
        assert answer.status_code in (400, 422), answer.text
        assert answer.json()["problem"]["text"]


@pytest.mark.usefixtures("check_server_afterwards")
def test_other_forms_and_large_options_are_rejected(http):
    answer = http.post("/page/read", data={"text": "a b\nc d"})
    assert answer.status_code == 422
    assert "must be sent as multipart/form-data" in answer.json()["problem"]["text"]
    options = json.dumps({"kind": "texts" * 10**6})
    answer = http.post("/page/read", files={"options": (None, options), "text": (None, "a\nb")})
    assert answer.status_code == 422
    assert "`options` has 5,000,0" in answer.json()["problem"]["text"]


@pytest.mark.usefixtures("check_server_afterwards")
@pytest.mark.parametrize("name", ["a\r\n.txt", "a\rb.txt"])
def test_message_about_invalid_file_name_says_what_to_do(http, name):
    head = f'--b\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
    answer = http.post(
        "/page/read",
        content=head.encode() + b"one two\r\nthree four\r\n--b--\r\n",
        headers={"content-type": "multipart/form-data; boundary=b"},
    )
    assert answer.status_code == 400
    assert "remove line breaks and control characters" in answer.json()["problem"]["text"]


@pytest.mark.usefixtures("check_server_afterwards")
def test_bodies_in_many_short_chunks_are_rejected(server, http):
    def post(chunks):
        try:
            return http.post("/api/vendi_score_texts", content=chunks)
        except httpx.TransportError:  # the server has closed the connection
            return None

    body = json.dumps({"texts": ["a b", "c d"]}).encode()
    few = post(bytes([byte]) for byte in body + b" " * 4_000)
    assert few.json()["VS"] == pytest.approx(2)
    long = post(piece for piece in [body, *[b" " * 1_000] * 6_000])
    assert long.json()["VS"] == pytest.approx(2)
    many = post(b" " for _ in range(50_000))
    assert many is None or (many.status_code == 400 and "in longer chunks" in many.text)


@pytest.mark.usefixtures("check_server_afterwards")
def test_paths_are_removed_from_uploaded_file_names(http):
    for name in ("../../../../etc/passwd.txt", "C:\\a\\passwd.txt", "/passwd.txt"):
        sent = upload_samples(http, files=[(name, b"one two\nthree four")])
        assert sent["name"] == "passwd.txt"
        assert sent["n"] == 2
    message = json.dumps(upload_samples(http, files=[("\r\n<b>" * 200 + ".txt", b"a\nb")]))
    assert len(message) < 3000


@pytest.mark.usefixtures("check_server_afterwards")
def test_ten_thousand_files_are_rejected(http):
    files = [(f"{i}.png", b"x") for i in range(10_000)]
    assert "Too many files" in get_rejection(http, files=files)


@pytest.mark.usefixtures("check_server_afterwards")
def test_too_large_requests_are_rejected(http):
    paths = ("/api/vendi_score_texts", "/gradio_api/mcp/")
    for path in paths:
        answer = http.post(path, content=b"x" * 25_000_001)
        assert answer.status_code == 413
        assert "up to 25 MB; send fewer samples" in answer.text

    def endless():
        for _ in range(quotas.MAX_REQUEST // 10**6 + 2):
            yield b" " * 10**6

    for path in paths:
        assert http.post(path, content=endless()).status_code == 413
    assert http.post("/page/score", content=endless()).status_code == 413
    with pytest.raises(page_client.RejectedRequestError, match="up to 64 MB per file"):
        upload_samples(http, files=[("a.txt", b"x" * (quotas.MAX_UPLOAD + 1))])
    with pytest.raises(
        page_client.RejectedRequestError, match="up to 128 MB; send fewer"
    ) as caught:
        upload_samples(
            http, files=[(f"{i}.txt", b"x" * (quotas.MAX_UPLOADS // 2 - 9)) for i in range(3)]
        )
    assert caught.value.status == 413


@pytest.mark.usefixtures("check_server_afterwards")
def test_slow_pastes_do_not_delay_other_users(server, http):
    def paste(i):
        with httpx.Client(base_url=server.url, timeout=60) as other:
            return get_rejection(other, "---\n" * 20_000)

    def wait():
        start = time.monotonic()
        assert upload_and_score(http, "ngram_overlap", "one two\nthree four")[
            "VS"
        ] == pytest.approx(2)
        return time.monotonic() - start

    usual_time = min(wait() for _ in range(3))
    with ThreadPoolExecutor(2) as executor:
        pastes = [executor.submit(paste, i) for i in range(2)]
        time.sleep(0.05)  # so that the pastes arrive first
        waiting_time = wait()
        assert all("no texts yet" in future.result() for future in pastes)
    assert waiting_time - usual_time < 1.0
