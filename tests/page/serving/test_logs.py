"""No user input is written to a log, at any level or route."""

import contextlib
import io
import json
import logging
import socket
import sys
import threading
import time
import traceback
from urllib.parse import quote

import page_client
import pytest

pytest.importorskip("gradio")
httpx = pytest.importorskip("httpx")

from vendiscore_page.inputs.submission import ROLES  # noqa: E402
from vendiscore_page.serving import logs  # noqa: E402

MARK = "Zq7marked"
POISON = f"{MARK}\r\n2026-01-01 ERROR forged\x1b[31m\x07\x00\x9b2J\u2028\u202e\x85\ud800"
PLAIN = POISON.encode("utf-8", "replace").decode()
HEADER = f"{MARK}\x9b2J\x85".encode("latin-1")
JSON = {"content-type": "application/json"}
MCP_JSON_HEADERS = {**JSON, **page_client.MCP_HEADERS}
# Maximum logging: all levels of all loggers, warnings, and the debug mode of asyncio.
LOUD_SERVER_CODE = """
import logging, os, sys, warnings
os.environ["PYTHONASYNCIODEBUG"] = "1"
warnings.simplefilter("always")
logging.basicConfig(level=1)
logging.Logger.isEnabledFor = lambda self, level: True
from vendiscore_page.answers import api
from vendiscore_page.serving import api_calls, server
def fails(smiles: list[str] = [""], kernel: str = "") -> dict:
    print("printed", smiles)
    print("printed", smiles, file=sys.stderr)
    warnings.warn(f"warned of {smiles}")
    logging.getLogger("any").critical(f"said {smiles}")
    try:
        raise RuntimeError(smiles)
    except RuntimeError as error:
        raise KeyError(f"about {smiles}") from error
fails.__name__ = "vendi_fails"
fails.__doc__ = api.vendi_score_molecules.__doc__
api_calls.API = (*api_calls.API, fails)
server.launch(server.build(has_gradio=True))
"""
SAMPLE_ARGUMENTS = page_client.SAMPLE_ARGUMENTS | {"vendi_fails": "smiles"}
ARGUMENT_COUNTS = dict(zip(SAMPLE_ARGUMENTS, (6, 4, 4, 5, 6, 2, 2), strict=True))
VALUES = (POISON, [POISON], [[POISON, POISON], [POISON]], {POISON: POISON}, [7, POISON])


class LoggedPage:
    """A server with maximum logging; `read_new` returns the log since the last call."""

    def __init__(self, app):
        self.url, self.app = app.url, app
        self.log, self.position = app.folder / "log.txt", 0

    def read_new(self) -> str:
        time.sleep(0.05)  # tasks after the response may still write
        data = self.log.read_bytes()[self.position :]
        self.position += len(data)
        return data.decode()


@pytest.fixture(scope="module")
def page(start_app, tmp_path_factory):
    with start_app(tmp_path_factory.mktemp("page"), "-c", LOUD_SERVER_CODE) as app:
        yield LoggedPage(app)


@pytest.fixture(scope="module")
def http(page):
    with httpx.Client(base_url=page.url, timeout=30) as http:
        yield http


@pytest.fixture
def check_log(page):
    """After the test, check that no marked input was logged or saved and no line was forged."""
    page.read_new()
    yield page
    log = page.read_new()
    assert MARK not in log, log[max(0, log.index(MARK) - 3000) :][:4000]
    assert "forged" not in log
    unprintable = {char for char in log if not char.isprintable()} - {"\n"}
    assert not unprintable
    for path in page.app.folder.rglob("*"):
        if path.is_file():
            assert MARK.encode() not in path.read_bytes(), path
            assert MARK not in path.name


def encode_json(value) -> bytes:
    return json.dumps(value).encode()


def open_stream(http, path: str, **more) -> str:
    """Return the status and the first text of a stream that may never end."""
    with http.stream("GET", path, **more) as stream:
        return f"{stream.status_code} {next(stream.iter_text(), '')}"


@pytest.mark.usefixtures("check_log")
@pytest.mark.parametrize("name", [*SAMPLE_ARGUMENTS, "vendi_nothing", f"vendi_{MARK}"])
def test_api_calls_are_not_logged(http, name):
    for value in VALUES:
        values = [value] * 12
        for path, body in (
            *(
                (f"call/{name}", {"data": values[:n]})
                for n in (0, 1, ARGUMENT_COUNTS.get(name, 2), 12)
            ),
            (f"call/{name}", {"data": value}),
            (f"call/{name}", {"data": [value], "session_hash": POISON, "event_data": value}),
            (f"call/{name}", value),
            (f"call/v2/{name}", {SAMPLE_ARGUMENTS.get(name, "texts"): value}),
            (f"call/v2/{name}", {SAMPLE_ARGUMENTS.get(name, "texts"): value, "kernel": value}),
            (f"call/v2/{name}", {POISON: value}),
            (f"call/v2/{name}", value),
        ):
            answer = http.post(f"/gradio_api/{path}", content=encode_json(body), headers=JSON)
            assert "object at 0x" not in answer.text
            assert "Javascript" not in answer.text
            if answer.status_code == 200:
                result = http.get(f"/gradio_api/{path}/{answer.json()['event_id']}").text
                assert "object at 0x" not in result
                assert "Javascript" not in result
            else:
                assert 400 <= answer.status_code < 500, (path, answer.text)


@pytest.mark.usefixtures("check_log")
def test_queue_requests_are_not_logged(http):
    valid_request = {"fn_index": 0, "data": [[POISON]] * 6, "session_hash": "s" + MARK}
    for name, values in {
        "fn_index": (0, 2, 5, 6, -1, True, POISON, None),
        "data": ([], [POISON], [POISON] * 6, [[POISON]] * 12, POISON, None),
        "session_hash": (POISON, None, 7, [POISON]),
        "batched": (True, POISON),
        "trigger_id": (1, POISON),
        "event_data": (POISON, {POISON: POISON}),
        POISON: (POISON,),
    }.items():
        for value in values:
            body = encode_json({**valid_request, name: value})
            answer = http.post("/gradio_api/queue/join", content=body, headers=JSON)
            assert answer.status_code in (200, 400, 422), answer.text
    for session in ("s" + MARK, PLAIN, "unknown" + MARK):
        result = open_stream(http, "/gradio_api/queue/data", params={"session_hash": session})
        assert result.startswith("200 data: ")
    for path in ("cancel", "reset"):
        for sent in (POISON, 7, None, [], {"event_id": POISON}, {"session_hash": POISON}):
            answer = http.post(f"/gradio_api/{path}", content=encode_json(sent), headers=JSON)
            assert answer.status_code in (200, 422)
        full = {"event_id": POISON, "session_hash": POISON, "fn_index": 0}
        answer = http.post(f"/gradio_api/{path}", content=encode_json(full), headers=JSON)
        assert answer.status_code == 200


def test_unknown_event_logs_no_traceback(http, check_log):
    for path in ("call/vendi_score_texts/a", "call/v2/vendi_fails/a", "queue/data?session_hash=a"):
        assert "404: Not Found" in http.get(f"/gradio_api/{path}").text
    log = check_log.read_new()
    assert "Traceback" not in log
    assert "RuntimeError" not in log


@pytest.mark.usefixtures("check_log")
def test_mcp_requests_are_not_logged(http):
    pytest.importorskip("mcp")
    for text in (POISON, MARK):
        for method in ("tools/list", "tools/call", "initialize", "prompts/get", "ping", text):
            parameters = {"name": text, "arguments": {text: text}, "uri": text}
            body = {"jsonrpc": "2.0", "id": text, "method": method, "params": parameters}
            sent = http.post(
                "/gradio_api/mcp/", content=encode_json(body), headers=MCP_JSON_HEADERS
            )
            assert sent.status_code in (200, 202, 400)
        for tool, name in SAMPLE_ARGUMENTS.items():
            for sent in ({name: text}, {name: [text]}, {text: [text]}, {name: [text], "q": text}):
                body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
                body |= {"params": {"name": tool, "arguments": sent}}
                http.post("/gradio_api/mcp/", content=encode_json(body), headers=MCP_JSON_HEADERS)
        for body in (text, [text], {"jsonrpc": text}, 7, None):
            for path in ("", "http/", "messages/?session_id=" + MARK, MARK):
                sent = http.post(f"/gradio_api/mcp/{path}", content=encode_json(body), headers=JSON)
                assert sent.status_code >= 400
    for name in ("mcp-session-id", "mcp-protocol-version", "last-event-id", "accept"):
        http.post("/gradio_api/mcp/", content=b"{}", headers={**MCP_JSON_HEADERS, name: HEADER})
        http.delete("/gradio_api/mcp/", headers={name: HEADER})
    assert http.get(f"/gradio_api/mcp/?{MARK}").status_code == 405
    assert http.get(f"/gradio_api/mcp/schema?tools={MARK}").status_code == 200


@pytest.mark.usefixtures("check_log")
def test_urls_and_headers_are_not_logged(http):
    names = ("user-agent", "referer", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto")
    names += ("cookie", "origin", "host", "content-type", "authorization", "x-gradio-user", MARK)
    paths = ("/", "/page/menu", "/config", "/gradio_api/info", "/gradio_api/openapi.json")
    paths += ("/robots.txt", "/gradio_api/app_id", "/gradio_api/startup-events")
    for path in (*paths, "/nothing", "/gradio_api/mcp/", "/gradio_api/file=/etc/passwd"):
        for method in ("GET", "POST", "OPTIONS", "DELETE", "PUT", MARK):
            http.request(method, path, params={MARK: PLAIN}, headers=dict.fromkeys(names, HEADER))
        http.get(f"{path}/{quote(PLAIN, safe='')}")
    open_stream(http, f"/gradio_api/heartbeat/{MARK}", headers={"user-agent": HEADER})
    # Malformed requests: invalid start line, invalid chunks, an upgrade, an incomplete body.
    host, _, port = http.base_url.netloc.decode().partition(":")
    for lines in (
        POISON,
        f"GET /{MARK}\x1b[31m HTTP/1.1",
        f"GET /{MARK} HTTP/1.1\r\nhost: a\r\ncookie: {MARK}\x1b[31m\x07",
        f"GET /{MARK} HTTP/9.9",
        f"{MARK} / HTTP/1.1\r\n{MARK}",
        f"POST /page/score HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n{MARK}",
        f"POST /page/read HTTP/1.1\r\nhost: a\r\ncontent-length: 99\r\n\r\n{MARK}",
        f"GET /{MARK} HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: {MARK}",
    ):
        with socket.create_connection((host, int(port)), timeout=5) as raw:
            raw.sendall(lines.encode("latin-1", "replace") + b"\r\n\r\n")
            raw.settimeout(0.2)
            with contextlib.suppress(OSError):
                raw.recv(99)


@pytest.mark.usefixtures("check_log")
def test_page_requests_are_not_logged(http):
    for name, data in (
        ("a.txt", PLAIN.encode()),
        (f"{PLAIN}.csv", f"a,b\n{MARK},{PLAIN}\n".encode()),
        (f"{MARK}.parquet", f"PAR1{MARK}PAR1".encode()),
        (f"{MARK}.npy", b"\x93NUMPY\x01\x00v\x00" + MARK.encode()),
        (f"{MARK}.zip", b"PK\x03\x04" + MARK.encode()),
        (f"{MARK}.png", b"\x89PNG\r\n\x1a\n" + MARK.encode()),
        (f"{MARK}.smi", f"C{MARK}\nCC({PLAIN}\nc1".encode()),
        (f"{MARK}.jsonl", f'{{"{MARK}": 1\n'.encode()),
    ):
        http.post("/page/read", files=[("files", (name, data)), ("text", (None, PLAIN))])
        http.post("/page/read", files=[("files", (name, data))])
        broken = ("options", (None, f'{{"a": "{MARK}"'))
        http.post("/page/read", files=[(MARK, (name, data)), broken])
    for kind in ("texts", "molecules", "vectors", MARK):
        options = (None, json.dumps({"kind": kind}))
        result = http.post("/page/read", files={"text": (None, PLAIN), "options": options})
        assert "Traceback" not in result.text
    for boundary in (HEADER, b'"' + HEADER):
        kind = {"content-type": b"multipart/form-data; boundary=" + boundary}
        http.post("/page/read", content=f"--{MARK}\r\n{PLAIN}".encode(), headers=kind)
    key = page_client.upload_samples(http, f"{MARK} one\ntwo", kind="texts")["key"]
    paths = ("score", "second", "phrases", "compare", "groups", "subset", "papers", "drawings")
    for path in (*paths, "report", MARK):
        for value in (POISON, [POISON], {POISON: POISON}):
            sent = {"key": key, "kernel": value, "q": value, "sets": value, "smiles": [value]}
            sent |= {"id": key, "size": value, "threshold": value}
            http.post(f"/page/{path}", content=encode_json({**sent, "title": value, POISON: value}))
            http.post(f"/page/{path}", content=encode_json(value))
        http.post(f"/page/{path}", content=f'{{"{MARK}'.encode())
    for role in ("sets", *ROLES):
        text, options = f"{MARK}\ta\n{PLAIN}\tb", json.dumps({role: MARK})
        http.post("/page/read", files={"text": (None, text), "options": (None, options)})
    result = page_client.score_upload(http, key, "ngram_overlap")
    for size in (POISON, 1, 2):
        http.post("/page/subset", content=encode_json({"id": result["id"], "size": size}))
    http.post("/page/second", json={"id": result["id"]})
    assert MARK in http.post("/page/phrases", json={"id": result["id"]}).text
    assert MARK in http.post("/page/report", json={"id": result["id"], "title": MARK}).text


def test_errors_are_logged_without_user_input(monkeypatch):
    stream, root = io.StringIO(), logging.getLogger()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, stream)
    monkeypatch.setattr(root, "handlers", [])

    def fails():
        try:
            try:
                int(MARK)
            except ValueError as error:
                raise KeyError(MARK) from error
        except KeyError:
            traceback.print_exc()
            logging.exception(MARK)
        print(MARK)

    logs.hide_input()
    print("It is mine.")
    thread = threading.Thread(target=fails)
    thread.start()
    thread.join()
    log = stream.getvalue()
    assert log.startswith("It is mine.\n")
    assert MARK not in log
    assert [line for line in log.split("\n") if line.startswith("  ") and line[2] != " "] == [
        "  KeyError",
        "  ValueError",
    ]
    assert log.count("test_logs.py") == 3  # in the record and in both errors
