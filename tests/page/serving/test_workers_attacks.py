"""No request occupies the web app: each ends within its limit, while others are answered."""

import threading
import time

import attacks
import page_client
import pytest
from page_process import running_app

pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")
for package in ("PIL", "pyarrow", "rdkit"):
    pytest.importorskip(package)

SECONDS = 2.0  # of processor time of a job
MAX_JOBS = 4  # of an attack: the size of the input, reading, scoring, and another route
# A job may take four times its limit of processor time, as elapsed time, until it is ended.
MAX_ELAPSED = MAX_JOBS * 4 * SECONDS + 10
CODE = f"""
from vendiscore_page.quotas import JobLimits
from vendiscore_page.serving.lanes import WORKER_LANES
from vendiscore_page.serving.server import build, launch
limits = dict.fromkeys(WORKER_LANES, JobLimits({SECONDS}, 500_000_000))
launch(build(limits=limits))
"""
# Attacks that are short to prepare and run; the others are long tests.
QUICK = (
    "pasted: rules",
    "pasted: blank lines",
    "pasted: open brackets",
    "file: equal column names",
    "file: 36 MB of short lines",
    "file: a gigabyte of bytes",
    "file: WebP of 49 megapixels",
    "file: a zip bomb",
    "score: long texts, order 2.5",
    "call: an indefinite matrix",
    "call: texts of half surrogates",
    "body: empty lists for /api/compute",
    "body: escapes of a form",
    "body: large options",
    "body: short chunks",
    "compute: 9,999 permutations",
    "compute: a power",
    "compute: deep dicts",
    "tool: paths",
)


class Visitor:
    """A user who scores two texts again and again, from the start until `stop`."""

    def __init__(self, url: str) -> None:
        self.scores: list[float] = []
        self._url, self._is_stopped = url, threading.Event()
        self._thread = threading.Thread(target=self._visit)
        self._thread.start()

    def _visit(self) -> None:
        with httpx.Client(base_url=self._url, timeout=MAX_ELAPSED) as http:
            while not (self._is_stopped.is_set() and self.scores):
                answer = page_client.upload_and_score(http, "ngram_overlap", "a b\nc d")
                self.scores.append(answer["VS"])
                time.sleep(0.2)

    def stop(self) -> None:
        self._is_stopped.set()
        self._thread.join()


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with running_app(tmp_path_factory.mktemp("page"), "-c", CODE) as app:
        yield app


@pytest.fixture(scope="module")
def http(app):
    with httpx.Client(base_url=app.url, timeout=2 * MAX_ELAPSED) as http:
        yield http


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.long)
        for name in attacks.ATTACKS
    ],
)
def test_attack_ends_within_its_limit(app, http, name):
    visitor = Visitor(app.url)
    try:
        start = time.monotonic()
        answer = attacks.ATTACKS[name](http)
        elapsed = time.monotonic() - start
    finally:
        visitor.stop()
    assert answer
    assert "An error occurred on the server" not in answer
    assert "Traceback" not in answer
    assert elapsed < MAX_ELAPSED + attacks.PREPARATION_SECONDS
    assert visitor.scores == pytest.approx([2.0] * len(visitor.scores))
