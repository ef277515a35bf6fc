"""Nothing is fetched for a visitor, no file is read but uploads, and no error names a path."""

import asyncio
import http.server as servers
import json
import threading

import pytest
import visitor

gradio = pytest.importorskip("gradio")
httpx = pytest.importorskip("httpx")
import safehttpx  # noqa: E402
from gradio import processing_utils, route_utils  # noqa: E402

from vendiscore.app import guard, page  # noqa: E402
from vendiscore.app.limits import RefusedError  # noqa: E402
from vendiscore.app.shows import OURS  # noqa: E402

TEXT = [["a b", "c d"], "ngram_overlap", [1], "word", 1]
ASK = {"accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def stand_in():
    """A host of the network, and what it was asked for."""
    asked = []

    class Answer(servers.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"one\ntwo")

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    with servers.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as host:
        threading.Thread(target=host.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{host.server_port}", asked
        host.shutdown()


@pytest.fixture(scope="module")
def http(reckless_server):
    with httpx.Client(base_url=reckless_server.url + "/gradio_api", timeout=30) as http:
        yield http


@pytest.fixture
def address(stand_in, http):
    """The address of a file of the stand-in, which nobody asks it for during the test."""
    url, asked = stand_in
    asked.clear()
    yield f"{url}/a.txt"
    assert asked == []
    assert visitor.call(http, "text", TEXT)["VS"] == 2


def file(path: str, **more: object) -> dict:
    return {"path": path, "meta": {"_type": "gradio.FileData"}, **more}


def mcp(http, tool: str, **arguments: object):
    call = {"name": tool, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    return http.post("/mcp/", json=body, headers=ASK)


@pytest.mark.parametrize("tab", visitor.TABS)
@pytest.mark.parametrize(
    "wrap",
    [
        file,
        lambda path: file(path, url=path, is_stream=True, orig_name="a.png"),
        lambda path: [{"image": file(path), "caption": None}] * 3,
        lambda path: [{"video": file(path), "caption": None}],
        lambda path: {"value": [[{"deep": [file(path)]}]]},
    ],
)
def test_no_input_of_a_tab_is_fetched(http, address, tab, wrap):
    with pytest.raises(visitor.CallError, match="Upload files first"):
        visitor.press(http, tab, [wrap(address)] * len(visitor.TABS[tab]))


@pytest.mark.parametrize("name", ["text", "images", "molecules", "vectors", "compare"])
def test_no_argument_of_a_call_is_fetched(http, address, name):
    with pytest.raises(visitor.CallError, match="Upload files first"):
        visitor.call(http, name, [[file(address)]] * 5)
    field = {"text": "texts", "images": "images", "molecules": "smiles", "vectors": "rows"}
    sent = {field.get(name, "sets"): [[file(address)], ["a"]]}
    for answer in (
        http.post(f"/call/v2/{name}", json=sent),
        http.post(f"/call/v2/{name}/", json=sent),
        mcp(http, name, **sent),
    ):
        assert (answer.status_code, answer.text) == (400, guard._UPLOADED_ONLY)


def test_no_spelling_of_a_body_gets_past(http, address):
    body = json.dumps({"data": [[file(address)], *TEXT[1:]]})
    escaped = body.replace("path", "\\u0070ath").replace("http", "h\\u0074tp")
    for sent in (escaped.encode(), body.encode("utf-16"), body.encode("utf-8-sig")):
        answer = http.post("/call/text", content=sent, headers={"content-type": "text/json"})
        assert (answer.status_code, answer.text) == (400, guard._UPLOADED_ONLY)
    for broken in (body[:-1], "[" * 10**6):
        answer = http.post("/call/text", content=broken)
        assert (answer.status_code, answer.text) == (400, "The body must be JSON.")
    assert http.post("/upload", json={"files": file(address)}).status_code == 400


def test_the_address_of_a_file_relays_nothing(http, address):
    encoded = address.replace(":", "%3A").replace("/", "%2F")
    for path in (f"file={address}", f"file/{address}", f"file={encoded}", f"file/{encoded}"):
        for answer in (http.get(f"/{path}"), http.head(f"/{path}")):
            assert answer.status_code == 404, path
    for path in (address.upper(), address[5:], "file:///etc/passwd", "ftp://a/b", "data:,a"):
        assert http.get(f"/file={path}").status_code == 404, path


def test_an_address_among_texts_is_a_text(http, address):
    assert visitor.call(http, "text", [[address, "what is it"], *TEXT[1:]])["VS"] == 2
    texts = [f"{address}\nwhat is it", None, None, *TEXT[1:], 1]
    assert "effectively different of 2" in visitor.press(http, "text", texts)


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/passwd", "a.txt", "../a.txt", "HTTP://a/b", "file:///etc/passwd", "ftp://a/b"),
        *("//a/b", "data:,a", "x" * 5_000, "a\0b", "", 7, None, {"path": "/etc/passwd"}),
    ],
)
def test_no_file_of_the_server_is_read_and_none_is_named(reckless_server, http, path):
    before = sorted(reckless_server.folder.rglob("*"))
    for send in (
        lambda: visitor.press(http, "text", ["", file(path), None, *TEXT[1:], 1]),
        lambda: visitor.call(http, "compare", [[[file(path)], ["a"]], "texts"]),
    ):
        with pytest.raises(visitor.CallError) as caught:
            send()
        assert str(caught.value) == guard._UPLOADED_ONLY
    # gradio's own client would send the tool any file that the server can read.
    answer = mcp(http, "compare", sets=[[file(path)], ["a"]])
    assert (answer.status_code, answer.text) == (400, guard._UPLOADED_ONLY)
    assert sorted(reckless_server.folder.rglob("*")) == before


def test_an_upload_is_read_and_can_be_fetched_again(http):
    (sent,) = visitor.upload(http, [("a.txt", b"one\ntwo")])
    shown = visitor.press(http, "text", ["", sent, None, *TEXT[1:], 1])
    assert "effectively different of 2" in shown
    assert http.get(f"/file={sent['path']}").content == b"one\ntwo"


def test_nothing_behind_the_guard_can_fetch_either(stand_in, monkeypatch, tmp_path):
    url, asked = stand_in
    asked.clear()
    monkeypatch.setattr(safehttpx, "is_public_ip", lambda ip: True)
    for name in ("get", "async_validate_url"):
        monkeypatch.setattr(safehttpx, name, getattr(safehttpx, name))
    guard.fetch_nothing()
    request = type("Request", (), {"headers": {}, "method": "GET"})
    download = processing_utils.async_ssrf_protected_download
    for fetch in (
        download(url, str(tmp_path)),
        download("https://huggingface.co/a", str(tmp_path)),
        processing_utils.async_ssrf_protected_get(url),
        route_utils.secure_url_stream_response(url, request),
    ):
        with pytest.raises((RefusedError, route_utils.HTTPException)):
            asyncio.run(fetch)
    assert asked == []


def test_an_error_that_names_a_file_of_the_server_goes_to_the_log(caplog):
    def full() -> str:
        raise OSError(28, "No space left on device", "/secret/folder")

    async def call() -> None:
        with page.Page(analytics_enabled=False) as blocks:
            gradio.api(full)
        await blocks.process_api(0, [])

    with pytest.raises(gradio.Error) as caught:
        asyncio.run(call())
    assert caught.value.message == OURS
    assert "/secret/folder" in caplog.text


def test_uploads_of_all_visitors_together_have_a_limit(reckless_server, http):
    half = [("files", ("a.txt", b"x" * 1_000_000))]
    assert http.post("/upload", files=half).status_code == 200
    (kept,) = [
        path for path in reckless_server.folder.rglob("a.txt") if path.stat().st_size == 1_000_000
    ]
    refused = http.post("/upload", files=half)
    assert (refused.status_code, refused.text) == (503, guard._BUSY)
    assert visitor.call(http, "text", TEXT)["VS"] == 2
    kept.unlink()
    assert http.post("/upload", files=half).status_code == 200


def test_uploads_under_way_count_before_they_are_there(monkeypatch, tmp_path):
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    monkeypatch.setattr(guard, "MAX_STORED", 150)
    answers = []

    async def hold(scope, receive, send):
        answers.append(200)
        await asyncio.sleep(0)

    async def send(message):
        if message["type"] == "http.response.start":
            answers.append(message["status"])

    door = guard.Guard(hold)
    headers = [(b"content-length", b"100")]
    scope = {"type": "http", "path": "/gradio_api/upload", "method": "POST", "headers": headers}

    async def visitors():
        await asyncio.gather(*(door(scope, None, send) for _ in range(2)))
        await door(scope, None, send)

    asyncio.run(visitors())
    assert answers == [200, 503, 200]
