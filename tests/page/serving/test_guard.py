"""The server fetches no URL and reads no file for a user, and closes unused routes."""

import asyncio
import http.server as servers
import json
import threading

import page_client
import pytest
from coroutines import run_coroutine

gradio = pytest.importorskip("gradio")
httpx = pytest.importorskip("httpx")
from gradio import route_utils  # noqa: E402
from starlette.requests import Request  # noqa: E402

from vendiscore_page.quotas import RefusedError  # noqa: E402
from vendiscore_page.serving import guard  # noqa: E402
from vendiscore_page.serving.store import Kept  # noqa: E402

TEXT = ["ngram_overlap", [1], "word", 1]
REJECTION = (400, guard._NO_FILES)


@pytest.fixture(scope="module")
def recording_host():
    """The URL of another host, and the paths that were requested from it."""
    requested_paths = []

    class Answer(servers.BaseHTTPRequestHandler):
        def do_GET(self):
            requested_paths.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"one\ntwo")

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    with servers.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as host:
        threading.Thread(target=host.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{host.server_port}", requested_paths
        host.shutdown()


@pytest.fixture(scope="module")
def http(permissive_server):
    with httpx.Client(base_url=permissive_server.url, timeout=30) as http:
        yield http


@pytest.fixture
def address(recording_host, http):
    """The URL of a file on another host; after the test, check that it was not requested."""
    url, requested_paths = recording_host
    requested_paths.clear()
    yield f"{url}/a.txt"
    assert requested_paths == []
    assert page_client.call_api(http, "vendi_score_texts", texts=["a b", "c d"])["VS"] == 2


def make_file_data(path: str, **more: object) -> dict:
    return {"path": path, "meta": {"_type": "gradio.FileData"}, **more}


@pytest.mark.parametrize("name", page_client.SAMPLE_ARGUMENTS)
@pytest.mark.parametrize(
    "wrap_file",
    [
        make_file_data,
        lambda path: make_file_data(path, url=path, is_stream=True, orig_name="a.png"),
        lambda path: [{"image": make_file_data(path), "caption": None}] * 3,
        lambda path: {"value": [[{"deep": [make_file_data(path)]}]]},
    ],
)
def test_file_arguments_are_rejected_without_request(http, address, name, wrap_file):
    sent = {page_client.SAMPLE_ARGUMENTS[name]: [wrap_file(address), ["a"]]}
    joined = {"data": [[wrap_file(address)]] * 5, "fn_index": 0, "session_hash": "a"}
    for answer in (
        http.post(f"/gradio_api/call/{name}", json={"data": [[wrap_file(address)]] * 5}),
        http.post(f"/gradio_api/call/v2/{name}", json=sent),
        http.post(f"/gradio_api/call/v2/{name}/", json=sent),
        http.post("/gradio_api/queue/join", json=joined),
        page_client.call_mcp(http, "tools/call", name=name, arguments=sent),
    ):
        assert (answer.status_code, answer.text) == REJECTION


def test_escaped_or_encoded_bodies_are_rejected(http, address):
    body = json.dumps({"data": [[make_file_data(address)], *TEXT]})
    escaped = body.replace("path", "\\u0070ath").replace("http", "h\\u0074tp")
    for sent in (escaped.encode(), body.encode("utf-16"), body.encode("utf-8-sig")):
        answer = http.post(
            "/gradio_api/call/vendi_score_texts",
            content=sent,
            headers={"content-type": "text/json"},
        )
        assert (answer.status_code, answer.text) == REJECTION
    for broken in (body[:-1], "[" * 10**6):
        answer = http.post("/gradio_api/call/vendi_score_texts", content=broken)
        assert (answer.status_code, answer.text) == (400, "The body must be JSON.")


def test_url_in_samples_is_scored_as_text(http, address):
    result = page_client.call_api(http, "vendi_score_texts", texts=[address, "what is it"])
    assert result["VS"] == 2
    sent = page_client.upload_samples(http, f"{address}\nwhat is it", kind="texts")
    page_result = page_client.score_upload(http, sent["key"], "ngram_overlap")
    assert page_result["samples"]["text"] == [address, "what is it"]
    assert page_client.upload_samples(http, files=[(address, b"one two\nthree four")])["n"] == 2


def test_url_as_dataset_is_rejected(http, address):
    for dataset in (address, address[5:], f"{address}/..", "../../etc/passwd", "a" * 5000):
        with pytest.raises(page_client.RejectedRequestError) as caught:
            page_client.upload_samples(http, dataset=dataset)
        assert caught.value.status == 422


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/passwd", "a.txt", "../a.txt", "HTTP://a/b", "file:///etc/passwd", "ftp://a/b"),
        *("//a/b", "data:,a", "x" * 5_000, "a\0b", "", 7, None, {"path": "/etc/passwd"}),
    ],
)
def test_server_files_are_not_read(permissive_server, http, path):
    before = sorted(permissive_server.folder.rglob("*"))
    sent = [[make_file_data(path)], ["a"]]
    for answer in (
        http.post("/gradio_api/call/vendi_compare", json={"data": [sent, "texts"]}),
        # gradio's own client would send the tool any file that the server can read.
        page_client.call_mcp(http, "tools/call", name="vendi_compare", arguments={"sets": sent}),
    ):
        assert (answer.status_code, answer.text) == REJECTION
    assert sorted(permissive_server.folder.rglob("*")) == before


@pytest.mark.parametrize(
    "path",
    [
        *("upload", "process_recording", "run/vendi_score_texts", "api/vendi_score_texts"),
        *("vibe-edit", "call/nope", "run-history/connect", "stream/a", "component_server"),
        *("profiling/clear", "undo-vibe-edit"),
    ],
)
def test_unused_routes_reject_uploads(permissive_server, http, path):
    before = sorted(permissive_server.folder.rglob("*"))
    for answer in (
        http.post(f"/gradio_api/{path}", json={}),
        http.post(f"/gradio_api/{path}/", files=[("files", ("a.txt", b"a"))]),
        http.put(f"/gradio_api/{path}", json={}),
    ):
        assert (answer.status_code, answer.text) == (404, "This address does not exist.")
    assert sorted(permissive_server.folder.rglob("*")) == before


def test_unused_routes_return_not_found(http, address):
    encoded = address.replace(":", "%3A").replace("/", "%2F")
    paths = [f"/gradio_api/file={path}" for path in (address, encoded, "/etc/passwd", "app.py")]
    paths += [f"/gradio_api/file/{path}" for path in (address, encoded, "etc/passwd")]
    paths += [f"/gradio_api/{path}" for path in (f"proxy={address}", "deep_link", "runs", "token")]
    paths += ["/monitoring", "/monitoring/summary", "/docs", "/openapi.json", "/static/img/a.svg"]
    paths += ["/assets/index.js", "/login", "/logout", "/theme.css", "/gradio_api/upload_progress"]
    for path in paths:
        for answer in (http.get(path), http.head(path)):
            assert answer.status_code == 404, path


def test_client_routes_are_open(http):
    for path in ("/config", "/gradio_api/info", "/gradio_api/openapi.json", "/robots.txt"):
        assert http.get(path).status_code == 200, path
    assert http.get("/gradio_api/mcp/schema").status_code == 200


def test_forwarding_headers_do_not_change_page_address(http):
    headers = {"x-forwarded-host": "evil.example", "x-gradio-server": "http://evil.example"}
    for name in ("x-forwarded-proto", "x-forwarded-prefix", "x-forwarded-port"):
        headers[name] = "evil.example"
    for path in ("/", "/config", "/gradio_api/info", "/gradio_api/openapi.json"):
        answer = http.get(path, headers=headers)
        assert "evil" not in answer.text, path
    assert http.get("/config", headers=headers).json()["root"] == str(http.base_url).rstrip("/")
    page = http.get("/gradio_api/mcp/", headers={**headers, "accept": "text/html"})
    assert page.status_code == 200
    assert "evil" not in page.text


def test_space_host_determines_page_address(monkeypatch):
    monkeypatch.setenv("SPACE_HOST", "a-b.hf.space,its.own.domain")
    seen = []

    async def app(scope, receive, send):
        request = Request(scope)
        seen.append(route_utils.get_root_url(request, "/config", None))
        seen.append(request.headers["x-forwarded-for"])

    headers = [(b"x-forwarded-host", b"evil.example"), (b"host", b"10.0.0.1")]
    headers += [(b"x-forwarded-proto", b"http"), (b"x-forwarded-for", b"1.2.3.4")]
    scope = {"type": "http", "path": "/config", "method": "GET", "query_string": b""}
    run_coroutine(guard.Guard(app, {})({**scope, "headers": headers}, None, None))
    assert seen == ["https://a-b.hf.space", "1.2.3.4"]


@pytest.mark.parametrize("body", [b"7", b"null", b'"a"', b"true", b"[]", b"{}"])
@pytest.mark.parametrize("path", ["cancel", "reset", "queue/join", "call/vendi_compare", "mcp/"])
def test_invalid_call_bodies_are_rejected(http, path, body):
    kind = {"content-type": "application/json"}
    answer = http.post(f"/gradio_api/{path}", content=body, headers=kind)
    assert 400 <= answer.status_code < 500


@pytest.mark.parametrize("count", [0, 1, 7, 9])
def test_wrong_number_of_arguments_is_rejected(http, count):
    joined = {"data": [["a"]] * count, "fn_index": 0, "session_hash": "a"}
    for path in ("call/vendi_score_texts", "call/vendi_score_texts/", "queue/join"):
        answer = http.post(f"/gradio_api/{path}", json=joined)
        assert answer.status_code == 422
        assert answer.text.startswith("`data` must be a list of the 8 arguments of vendi_score_te")


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

    middleware = guard.Guard(app, {})

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


LARGE = [f"text {i} of many" for i in range(2_000)]


def test_gradio_gets_references_instead_of_large_arguments():
    calls = guard.Calls(Kept())
    data = calls.put_arguments({"data": [LARGE, "a", 1]}, ["", "call", "f"], 100, "")["data"]
    assert [len(str(value)) < 100 for value in data] == [True, True, True]
    assert [calls.take_argument(value) for value in data] == [LARGE, "a", 1]
    with pytest.raises(RefusedError, match="not available any more"):
        calls.take_argument(data[0])
    named = calls.put_arguments({"texts": LARGE, "q": 2}, ["", "call", "v2", "f"], 100, "")
    assert {name: calls.take_argument(value) for name, value in named.items()} == {
        "texts": LARGE,
        "q": 2,
    }


def test_large_arguments_reach_functions_by_all_paths(http):
    texts = LARGE[:900]
    expected = page_client.call_api(http, "vendi_score_texts", texts=texts)["VS"]
    assert expected > 1
    data = [texts, "ngram_overlap", [1, 2, 3, 4], "word", 1, 0.5, [], True]
    event = http.post("/gradio_api/call/vendi_score_texts", json={"data": data}).json()
    answer = http.get(f"/gradio_api/call/vendi_score_texts/{event['event_id']}").text
    assert json.loads(page_client.parse_events(answer)[-1][1])[0]["VS"] == expected
    joined = {"data": data, "fn_index": 0, "session_hash": "large"}
    http.post("/gradio_api/queue/join", json=joined)
    with http.stream("GET", "/gradio_api/queue/data?session_hash=large") as stream:
        messages = [json.loads(line[6:]) for line in stream.iter_lines() if line.startswith("data")]
    completed = next(m for m in messages if m["msg"] == "process_completed")
    assert completed["output"]["data"][0]["VS"] == expected
    found = page_client.call_mcp_tool(http, "vendi_score_texts", texts=texts)
    assert found["structuredContent"]["VS"] == expected


def test_call_of_a_client_that_left_is_stopped():
    calls = guard.Calls(Kept())

    async def test():
        is_stopped = asyncio.Event()

        async def work():
            try:
                await asyncio.sleep(60)
            finally:
                is_stopped.set()

        async def app(scope, receive, send):
            await receive()

        async def receive():
            return {"type": "http.disconnect"}

        call = asyncio.ensure_future(calls.run("abc", work()))
        other = asyncio.ensure_future(calls.run("other", asyncio.sleep(0.2, "answer")))
        await asyncio.sleep(0.05)  # until both run
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/gradio_api/call/v2/compute/abc",
            "headers": [],
        }
        await guard.Guard(app, {}, calls)(scope, receive, None)
        with pytest.raises(RefusedError, match="disconnected"):
            await asyncio.wait_for(call, 10)
        assert is_stopped.is_set()
        assert await other == "answer"

    run_coroutine(test())


@pytest.mark.parametrize(
    ("path", "query", "session"),
    [
        ("/gradio_api/call/compute/abc", b"", "abc"),
        ("/gradio_api/call/v2/compute/abc", b"", "abc"),
        ("/gradio_api/queue/data", b"a=1&session_hash=s1", "s1"),
        ("/gradio_api/queue/data", b"", ""),
        ("/page/menu", b"session_hash=s1", ""),
    ],
)
def test_session_of_results(path, query, session):
    assert guard._session_of_results({"path": path, "query_string": query}) == session
