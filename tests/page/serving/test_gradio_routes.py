"""gradio's routes call the same functions within the same limits, and no other route is open."""

import asyncio
import http.server as servers
import json
import subprocess
import sys
import threading

import page_client
import pytest
from coroutines import run_coroutine

pytest.importorskip("gradio")
httpx = pytest.importorskip("httpx")
gradio_client = pytest.importorskip("gradio_client")

from vendiscore import compute  # noqa: E402
from vendiscore_page.quotas import RefusedError  # noqa: E402
from vendiscore_page.serving import gradio_routes  # noqa: E402
from vendiscore_page.serving.schemas import EXAMPLES  # noqa: E402
from vendiscore_page.serving.store import Store  # noqa: E402

TEXT = ["ngram_overlap", [1], "word", 1]
REJECTION = (400, gradio_routes._NO_FILES_MESSAGE)


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
    ):
        assert (answer.status_code, answer.text) == REJECTION
    # Not an object with fields for other interfaces, which fetch nothing.
    assert http.post(f"/api/{name}", json=sent).status_code in (200, 422)
    assert page_client.call_mcp(http, "tools/call", name=name, arguments=sent).status_code == 200


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
    answer = http.post("/gradio_api/call/vendi_compare", json={"data": [sent, "texts"]})
    assert (answer.status_code, answer.text) == REJECTION
    assert http.post("/api/vendi_compare", json={"sets": sent}).status_code == 422
    assert page_client.call_mcp_tool(http, "vendi_compare", sets=sent)["isError"]
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
    paths += ["/monitoring", "/monitoring/summary", "/docs", "/static/img/a.svg"]
    paths += ["/assets/index.js", "/login", "/logout", "/theme.css", "/gradio_api/upload_progress"]
    for path in paths:
        for answer in (http.get(path), http.head(path)):
            assert answer.status_code == 404, path


def test_client_routes_are_open(http):
    for path in ("/config", "/gradio_api/info", "/gradio_api/openapi.json"):
        assert http.get(path).status_code == 200, path


def test_visitors_get_the_page_instead_of_the_page_of_gradio(http):
    for path in ("/", "/?view=api", "/?__theme=dark"):
        assert "gradio_config" not in http.get(path).text
        assert "<title>" in http.get(path).text


def test_forwarding_headers_do_not_change_page_address(http):
    headers = {"x-forwarded-host": "evil.example", "x-gradio-server": "http://evil.example"}
    for name in ("x-forwarded-proto", "x-forwarded-prefix", "x-forwarded-port"):
        headers[name] = "evil.example"
    for path in ("/", "/config", "/gradio_api/info", "/gradio_api/openapi.json"):
        answer = http.get(path, headers=headers)
        assert "evil" not in answer.text, path
    assert http.get("/config", headers=headers).json()["root"] == str(http.base_url).rstrip("/")


def test_space_host_determines_page_address(monkeypatch):
    monkeypatch.setenv("SPACE_HOST", "a-b.hf.space,its.own.domain")
    headers = [(b"x-forwarded-host", b"evil.example"), (b"host", b"10.0.0.1")]
    headers += [(b"x-forwarded-proto", b"http"), (b"x-forwarded-for", b"1.2.3.4")]
    assert gradio_routes._replace_forwarded({"headers": headers}) == [
        (b"host", b"10.0.0.1"),
        (b"x-forwarded-for", b"1.2.3.4"),
        (b"x-forwarded-host", b"a-b.hf.space"),
        (b"x-forwarded-proto", b"https"),
    ]


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


LARGE = [f"text {i} of many" for i in range(2_000)]


def test_gradio_gets_references_instead_of_large_arguments():
    calls = gradio_routes.Calls(Store())
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
    expected = page_client.call_gradio(http, "vendi_score_texts", texts=texts)["VS"]
    assert expected > 1
    assert page_client.call_api(http, "vendi_score_texts", texts=texts)["VS"] == expected
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
    calls = gradio_routes.Calls(Store())

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
        await gradio_routes.GradioGuard(app, {}, calls)(scope, receive, None)
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
def test_find_session(path, query, session):
    assert gradio_routes._find_session({"path": path, "query_string": query}) == session


@pytest.fixture(scope="module")
def client(gradio_server):
    client = gradio_client.Client(gradio_server.url, verbose=False)
    yield client
    client.close()


def test_client_lists_six_functions_with_described_arguments(client):
    named = client.view_api(return_format="dict", print_info=False)["named_endpoints"]
    assert set(named) == {f"/{name}" for name in page_client.SAMPLE_ARGUMENTS}
    for name, endpoint in named.items():
        for parameter in endpoint["parameters"]:
            text = parameter["python_type"]["description"]
            assert text.endswith("."), (name, parameter["parameter_name"])
    parameters = {
        p["parameter_name"]: p["python_type"]["type"]
        for p in named["/vendi_score_texts"]["parameters"]
    }
    assert parameters == {
        "texts": "list[str] | list[list[str]]",
        "kernel": "str",
        "ns": "list[int]",
        "unit": "str",
        "q": "float | str",
        "threshold": "float",
        "prompts": "list[str]",
        "allow_repeats": "bool",
    }


@pytest.mark.parametrize("name", page_client.SAMPLE_ARGUMENTS)
def test_clients_of_gradio_get_the_results_of_the_api(gradio_server, client, name):
    argument = page_client.SAMPLE_ARGUMENTS[name]
    samples = EXAMPLES[argument]
    with httpx.Client(base_url=gradio_server.url, timeout=60) as http:
        expected = page_client.call_api(http, name, **{argument: samples})
        assert page_client.call_gradio(http, name, **{argument: samples}) == expected
    assert client.predict(**{argument: samples}, api_name=f"/{name}") == expected
    assert client.predict(samples, api_name=f"/{name}") == expected


def test_client_returns_score_of_package_and_message_of_errors(client):
    texts = ["a cat sat", "a cat ran", "a dog ran"]
    answer = client.predict(texts=texts, kernel="ngram_overlap", q=2, api_name="/vendi_score_texts")
    assert answer["VS_q2"] == pytest.approx(compute(texts, q=2)["VS_q2"], rel=1e-12)
    with pytest.raises(gradio_client.exceptions.AppError, match="Unknown unit 'line'"):
        client.predict(texts=texts, unit="line", api_name="/vendi_score_texts")


def test_generated_code_of_gradio_runs(gradio_server):
    info = httpx.get(f"{gradio_server.url}/gradio_api/info", timeout=60).json()
    code = info["named_endpoints"]["/vendi_compare"]["code_snippets"]["python"]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'sentence': " in done.stdout
