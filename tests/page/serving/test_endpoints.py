"""Routes of the web app, with simulated work: progress, cancellation, errors."""

import contextlib
import json
import threading
import time
import zlib

import page_client
import pytest

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")
starlette = pytest.importorskip("starlette.applications")
uvicorn = pytest.importorskip("uvicorn")
from starlette.middleware import Middleware  # noqa: E402

from vendiscore.report import AskError  # noqa: E402
from vendiscore_page.answers.sample_readout import UnusableError  # noqa: E402
from vendiscore_page.inputs.visitor_samples import Samples  # noqa: E402
from vendiscore_page.quotas import RefusedError  # noqa: E402
from vendiscore_page.serving import endpoints, wire  # noqa: E402
from vendiscore_page.serving.guard import Guard  # noqa: E402
from vendiscore_page.serving.lanes import Lanes  # noqa: E402
from vendiscore_page.serving.store import Store  # noqa: E402
from vendiscore_page.serving.wire import SERVER_ERROR_MESSAGE  # noqa: E402

TIMEOUT = 20  # seconds


class ControlledWork:
    """A replacement of scoring whose steps the test controls."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()
        self._go = threading.Semaphore(0)
        self.steps, self.n_calls = 0, 0
        self.error: Exception | None = None

    def go(self, n_steps: int = 1) -> None:
        self._go.release(n_steps)

    def score(self, samples, settings):
        self.n_calls += 1
        try:
            for i in range(3):
                yield f"{i} of 3"
                self.begun.set()
                assert self._go.acquire(timeout=TIMEOUT)
                self.steps += 1
            if self.error:
                raise self.error
            return FakeResult(samples)
        finally:
            self.ended.set()

    def is_long(self, samples, settings) -> bool:
        return settings.kernel == "long"


class FakeResult:
    nbytes = 1000
    is_tiny = False

    def __init__(self, samples) -> None:
        self.answer = {"VS": float(len(samples)), "samples": list(samples.values)}

    def groups(self, threshold):
        if threshold is None:
            raise RefusedError("No threshold.")
        return {"threshold": threshold}

    def report(self, title):
        return f"<p>{title}\ud800</p>"


def fake_read(submission, options) -> Samples:
    """Return the submitted lines as samples, or raise an AskError for column "?"."""
    if options.column == "?":
        raise AskError("Which column?", [("the first", {"column": "a"})])
    names = [f"{name}:{len(data)}" for name, data in submission.files]
    return Samples([*names, *submission.text.splitlines()], [])


@pytest.fixture
def work(monkeypatch) -> ControlledWork:
    work = ControlledWork()
    monkeypatch.setattr(endpoints.one_set, "score", work.score)
    monkeypatch.setattr(endpoints.one_set, "is_long", work.is_long)
    monkeypatch.setattr(endpoints.one_set, "is_tiny", lambda samples, settings: False)
    monkeypatch.setattr(endpoints.one_set, "Result", FakeResult)
    monkeypatch.setattr(
        endpoints.sample_readout, "read_answer", lambda samples: {"n": len(samples)}
    )
    monkeypatch.setattr(endpoints.sample_readout.uploads, "read", fake_read)
    return work


@pytest.fixture
def url(work):
    """The URL of a server with only the routes of the page."""
    page = endpoints.Routes(Lanes(), Store())
    app = starlette.Starlette(routes=page.build_routes(), middleware=[Middleware(Guard)])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + TIMEOUT
    while not server.started and time.monotonic() < until:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(TIMEOUT)


@pytest.fixture
def http(url):
    with httpx.Client(base_url=url, timeout=TIMEOUT) as http:
        yield http


@contextlib.contextmanager
def stream_score(http, key: str, **body):
    """Yield the messages of a running score, line by line."""
    with http.stream("POST", "/page/score", json={"key": key, "kernel": "short", **body}) as stream:
        assert stream.status_code == 200
        with contextlib.closing(stream.iter_lines()) as lines:
            yield (json.loads(line) for line in lines if line)


def test_progress_lines_are_sent_immediately(http, work):
    key = page_client.upload_samples(http, "a\nb")["key"]
    with stream_score(http, key) as lines:
        for i in range(3):
            assert next(lines) == {"said": f"{i} of 3"}
            assert work.steps == i
            work.go()
        result = next(lines)["result"]
        assert not list(lines)
    assert (result["VS"], result["samples"], result["key"]) == (2, ["a", "b"], key)
    assert result["id"] != key
    assert page_client.post_to_route(http, "groups", id=result["id"], threshold=0.5) == {
        "threshold": 0.5
    }


def test_progress_lines_are_compressed(http, work):
    key = page_client.upload_samples(http, "a " * 1000)["key"]
    work.go(3)
    body = {"key": key}
    with http.stream("POST", "/page/score", json=body) as stream:
        raw = b"".join(stream.iter_raw())
    assert len(raw) < 400
    assert len(zlib.decompress(raw, 31)) > 2000
    assert stream.headers["content-type"] == "application/x-ndjson"


def test_silent_stream_sends_empty_lines(http, work, monkeypatch):
    monkeypatch.setattr(wire, "_MAX_SILENCE", 0.01)
    key = page_client.upload_samples(http, "a")["key"]
    with http.stream("POST", "/page/score", json={"key": key}) as stream:
        lines = stream.iter_lines()
        assert json.loads(next(line for line in lines if line)) == {"said": "0 of 3"}
        assert [next(lines) for _ in range(3)] == [""] * 3
        work.go(3)
        assert "result" in json.loads([line for line in lines if line][-1])


def test_closed_request_stops_work_at_next_step(http, work):
    key = page_client.upload_samples(http, "a")["key"]
    with stream_score(http, key) as lines:
        next(lines)
        assert work.begun.wait(TIMEOUT)
    time.sleep(0.2)  # until the server closes the connection, too
    assert not work.ended.is_set()
    work.go()
    assert work.ended.wait(TIMEOUT)
    assert work.steps == 1
    work.go(3)
    assert page_client.score_upload(http, key, "short")["VS"] == 1


def test_long_job_does_not_delay_short_job(http, work, monkeypatch):
    key = page_client.upload_samples(http, "a\nb\nc")["key"]
    with stream_score(http, key, kernel="long") as lines:
        next(lines)
        with stream_score(http, key, kernel="long") as waiting_lines:
            assert next(waiting_lines) == {"said": "Waiting: you are next."}
            assert page_client.upload_samples(http, "a")["n"] == 1
            short = ControlledWork()
            short.go(3)
            monkeypatch.setattr(endpoints.one_set, "score", short.score)
            assert page_client.score_upload(http, key, "short")["VS"] == 3
            monkeypatch.setattr(endpoints.one_set, "score", work.score)
            assert work.steps == 0
            work.go(6)
            assert list(lines)[-1]["result"]["VS"] == 3
            assert list(waiting_lines)[-1]["result"]["VS"] == 3


def test_too_many_concurrent_requests_are_rejected(http, work):
    key = page_client.upload_samples(http, "a")["key"]
    with contextlib.ExitStack() as stack:
        open_streams = [
            stack.enter_context(stream_score(http, key, kernel="long")) for _ in range(15)
        ]
        for lines in open_streams:
            next(lines)
        with pytest.raises(page_client.RejectedRequestError, match="15 of your requests") as caught:
            page_client.upload_samples(http, "a")
        assert caught.value.status == 429
        with pytest.raises(page_client.RejectedRequestError, match="15 of your requests") as caught:
            page_client.score_upload(http, key, "short")
        assert caught.value.status == 429
        address = {"x-forwarded-for": "1.2.3.4"}
        other = stack.enter_context(httpx.Client(base_url=http.base_url, headers=address))
        assert page_client.upload_samples(other, "a")["n"] == 1
    work.go(100)


def test_ambiguous_input_returns_question(http):
    assert page_client.upload_samples(http, "a", column="?") == {
        "question": {
            "text": "Which column?",
            "choices": [{"label": "the first", "options": {"column": "a"}}],
        }
    }


def test_uploaded_files_are_scored_with_their_names_and_contents(http, work):
    large = b"x" * 3_000_000  # too large to be held in memory
    sent = page_client.upload_samples(http, files=[("b.txt", b"abc"), ("c.txt", large)])
    work.go(3)
    assert page_client.score_upload(http, sent["key"], "short")["samples"] == [
        "b.txt:3",
        "c.txt:3000000",
    ]


def test_user_errors_are_returned_and_internal_errors_only_logged(http, work, caplog):
    key = page_client.upload_samples(http, "a\nb")["key"]
    work.go(100)
    samples = Samples(["a", "b"], [1, 2])
    unusable = UnusableError({"": (samples, {1: "is empty"})}, "texts")
    for error, problem in (
        (ValueError("too odd"), {"text": "too odd"}),
        (KeyError("/secret/path"), {"text": SERVER_ERROR_MESSAGE}),
        (
            unusable,
            {
                "text": unusable.summary,
                "lines": ["line 2, 'b', is empty"],
                "others": 1,
                "rows": "line 2",
            },
        ),
    ):
        work.error = error
        with pytest.raises(page_client.RejectedRequestError) as caught:
            page_client.score_upload(http, key, "short")
        assert caught.value.problem == problem
    assert "/secret/path" in caplog.text
    work.error = None
    result = page_client.score_upload(http, key, "short")
    with pytest.raises(page_client.RejectedRequestError, match=r"^No threshold\.$") as caught:
        page_client.post_to_route(http, "groups", id=result["id"])
    assert caught.value.status == 422


def test_report_is_sent_as_file(http, work):
    work.go(3)
    key = page_client.upload_samples(http, "a")["key"]
    result = page_client.score_upload(http, key, "short")
    answer = http.post("/page/report", json={"id": result["id"], "title": "T" * 500})
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="vendi-score.html"'
    assert answer.text == f"<p>{'T' * 200}?</p>"
