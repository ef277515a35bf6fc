"""Thirty visitors at once, behind one address and behind thirty: answers, refusals and memory.

python benchmarks/load.py --visitors 30 --addresses 1 30 --seconds 60 --json load.json

Starts the page, computes the right answers with the package, then lets every visitor score
sets of all kinds, as the page does (samples sent, scored, groups at another threshold) as often as
by the API, one after the other with a short pause to look at the result. Hostile files are among
them: a WebP of 38 bytes that has 14 megapixels, which is read, and a parquet file of 1 kB whose
numbers take 1.5 GB, which is refused. Visitors behind an address share a loopback address of this
machine; pages differ by their session, calls of the API by nothing. An answer that differs by more
than 1e-6 counts as wrong; "refused" is the answer when no more can wait, or too many requests of
one visitor or address do.

Visitors' samples are kept for half a minute here, so that memory shows what is never given back.
It is read when the page is served, when nobody has come for a while after a first round (the
idle level: everything is imported, and every buffer that two jobs at a time need is there), at
its peak, and when nobody has come for as long after each load.

With HF_HOME at a cache that `tests/helpers/hub_cache.py` filled, and HF_HUB_OFFLINE=1, the
encoders of the page take part.
"""

from __future__ import annotations

import argparse
import base64
import collections
import io
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from pairs import environment

from vendiscore.analysis.compare_sets import compare
from vendiscore.result import key_at
from vendiscore.scoring.compute import compute
from vendiscore_page.answers import offered_encoders
from vendiscore_page.inputs import examples

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "helpers"))
import hostile  # noqa: E402
import visitor  # noqa: E402
from drawn import png  # noqa: E402

_START = "import app; app.demo.state.kept.seconds = 30; app.launch(app.demo)"
# Its name, how to ask, and the right answer.
Job = tuple[str, Callable[[httpx.Client], float], float]


def jobs() -> list[Job]:
    """Return work of every kind, from a dozen samples to some hundreds, with the right answers."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(300)]
    long = [" ".join(rng.choice(words, 20)) for _ in range(500)]
    texts = [(each.text.splitlines(), 1) for each in examples.MENU["texts"]] + [(long, 2)]
    kernels = {
        "ngram_overlap": {"k": "ngram_overlap", "ns": [1, 2]},
        **offered_encoders.offered("texts"),
    }
    found: list[Job] = []
    for samples, q in texts:
        for kernel, options in kernels.items():
            few = samples if kernel == "ngram_overlap" else samples[:60]
            right = compute(few, q=q, **options)[key_at(q)]
            settings = {"q": q, "options": {"ns": [1, 2]}}
            found.append(_api("texts", right, texts=few, kernel=kernel, ns=[1, 2], q=q))
            found.append(_page("texts", few, kernel, settings, right))
    for pictures in (each.images() for each in examples.MENU["images"]):
        right = compute(pictures, k="pixels", mode="RGB")["VS"]
        files = [(f"{i:03}.png", png(picture)) for i, picture in enumerate(pictures)]
        encoded = [base64.b64encode(data).decode() for _, data in files]
        found.append(_api("images", right, images=encoded, kernel="pixels"))
        found.append(_page("images", [], "pixels", {}, right, files))
    for box in (each.text for each in examples.MENU["molecules"]):
        smiles = box.splitlines()
        right = compute(smiles, k="morgan")["VS"]
        found.append(_api("molecules", right, smiles=smiles, kernel="morgan"))
        found.append(_page("molecules", smiles, "morgan", {}, right))
    for n in (50, 300):
        X = rng.normal(size=(n, 8)).round(6)
        right = compute(X, k="rbf")["VS"]
        found.append(_api("vectors", right, rows=X.tolist(), kernel="rbf"))
        rows = [", ".join(map(str, row)) for row in X.tolist()]
        found.append(_page("vectors", rows, "rbf", {}, right))
    found.append(_comparison([long[:200], long[200:300]]))
    return [*found, *_hostile()]


def _hostile() -> list[Job]:
    """Return files that are small to send and large to open: 1 if they are read, 0 if refused."""
    zeros = io.BytesIO()
    one = {"row_group_size": 10**9, "max_rows_per_page": 10**9, "write_batch_size": 10**9}
    pq.write_table(pa.table({"x": np.zeros(187_500_000)}), zeros, data_page_size=10**9, **one)

    def ask(http: httpx.Client, file: tuple[str, bytes]) -> float:
        try:
            return float(visitor.send(http, files=[file])["n"])
        except visitor.RefusedError as error:
            if error.status != 422:
                raise
            return 0.0

    files = {"WebP of 14 megapixels": ("a.webp", hostile.webp(3_800))}
    files["parquet file of 1.5 GB"] = ("a.parquet", zeros.getvalue())
    return [
        (f"hostile: {name}, {len(file[1]):,} bytes", partial(ask, file=file), float("WebP" in name))
        for name, file in files.items()
    ]


def _api(kind: str, right: float, **sent: Any) -> Job:
    def ask(http: httpx.Client) -> float:
        answer = visitor.call(http, f"vendi_score_{kind}", **sent)
        return float(answer[key_at(sent.get("q", 1))])

    return f"{kind}, {sent['kernel']} (API)", ask, right


def _page(
    kind: str,
    samples: list[str],
    kernel: str,
    settings: dict[str, Any],
    right: float,
    files: list[tuple[str, bytes]] = [],  # noqa: B006 (never written to)
) -> Job:
    """Return one sample a line, or one a file."""

    def ask(http: httpx.Client) -> float:
        found = visitor.show(http, kernel, "\n".join(samples), files, settings, kind=kind)
        visitor.ask(http, "groups", id=found["id"], threshold=0.9)
        return float(found[key_at(settings.get("q", 1))])

    return f"{kind}, {kernel} (page)", ask, right


def _comparison(sets: list[list[str]]) -> Job:
    right = compare(*sets, k="ngram_overlap").pairs[0].difference

    def ask(http: httpx.Client) -> float:
        keys = {
            name: visitor.send(http, "\n".join(texts), kind="texts", separator="line")["key"]
            for name, texts in zip("AB", sets, strict=True)
        }
        found = visitor.compare(http, keys, "ngram_overlap")
        return abs(float(found["pairs"][0]["difference"]))

    return "compare (page)", ask, abs(right)


def outcome(http: httpx.Client, job: Job) -> str:
    """Return "right", "wrong", "refused" or the error."""
    _, ask, right = job
    try:
        value = ask(http)
    except (visitor.CallError, visitor.RefusedError) as error:
        many = "More visitors" in str(error) or "under way already" in str(error)
        return "refused" if many else f"error: {error}"
    except httpx.HTTPError as error:
        return f"error: {type(error).__name__}"
    agrees = abs(value - right) <= 1e-6 * max(1, abs(right))
    return "right" if agrees else f"wrong: {value} instead of {right}"


class Crowd:
    """Visitors of a page, what became of their calls, and how long they waited."""

    def __init__(self, url: str, work: list[Job], pause: float, addresses: int) -> None:
        self.url, self.work, self.pause, self.addresses = url, work, pause, addresses
        self.outcomes: collections.Counter[str] = collections.Counter()
        self.waits: dict[str, list[float]] = collections.defaultdict(list)
        self._lock = threading.Lock()

    def come(self, visitors: int, seconds: float, watch: Callable[[], object]) -> list[Any]:
        """Return all come at once and stay so long; what `watch` says, twice a second."""
        until = time.perf_counter() + seconds
        threads = [threading.Thread(target=self._visit, args=(i, until)) for i in range(visitors)]
        for thread in threads:
            thread.start()
        seen = [watch()]
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.5)
            seen.append(watch())
        return seen

    def _visit(self, seed: int, until: float) -> None:
        rng = random.Random(seed)
        transport = httpx.HTTPTransport(local_address=f"127.0.0.{2 + seed % self.addresses}")
        session = {"x-session": f"visitor {seed}"}
        how: dict[str, Any] = {"base_url": self.url, "timeout": 120, "headers": session}
        with httpx.Client(transport=transport, **how) as http:
            while time.perf_counter() < until:
                job = rng.choice(self.work)
                begin = time.perf_counter()
                found = outcome(http, job)
                with self._lock:
                    self.outcomes[found] += 1
                    self.waits[job[0]].append(time.perf_counter() - begin)
                time.sleep(rng.uniform(0, 2 * self.pause))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--addresses", type=int, nargs="+", default=[1, 30])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--first", type=float, default=60, help="seconds of the first round")
    parser.add_argument("--pause", type=float, default=1.0, help="mean seconds between two calls")
    parser.add_argument("--settle", type=float, default=100, help="seconds before memory is read")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    work = jobs()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [sys.executable, "-c", _START],
            cwd=ROOT,
            env=os.environ | {"GRADIO_SERVER_PORT": str(port), "TMPDIR": folder},
            stdout=subprocess.DEVNULL,
        )
        process = psutil.Process(server.pid)
        memory = partial(_megabytes, process)
        levels = {}

        def settled(name: str) -> None:
            time.sleep(options.settle)
            levels[name] = memory()

        try:
            wait_for(url)
            levels["served"] = memory()
            with httpx.Client(base_url=url, timeout=120) as http:
                for job in work:
                    assert (found := outcome(http, job)) == "right", (job[0], found)
            first = Crowd(url, work, options.pause, options.visitors)
            first.come(options.visitors, options.first, memory)
            settled("idle")
            crowds = [Crowd(url, work, options.pause, count) for count in options.addresses]
            busy = psutil.cpu_percent(interval=5)  # by others, while nobody visits
            worked = -_processor_seconds(process)
            for crowd in crowds:
                seen = crowd.come(options.visitors, options.seconds, memory)
                name = f"{crowd.addresses} address{'es' * (crowd.addresses > 1)}"
                levels[f"peak of {name}"] = max(seen)
                settled(f"after {name}")
            worked += _processor_seconds(process)
            left = sum(1 for path in Path(folder).rglob("*") if path.is_file())
        finally:
            server.terminate()
            server.wait()
    waits: dict[str, list[float]] = collections.defaultdict(list)
    for crowd in crowds:
        for name, seconds in crowd.waits.items():
            waits[name] += seconds
    everything = [seconds for each in waits.values() for seconds in each]
    calls = {crowd.addresses: sum(map(len, crowd.waits.values())) for crowd in crowds}
    minutes = options.visitors * options.seconds / 60
    result = {
        "visitors": options.visitors,
        "addresses": options.addresses,
        "seconds": options.seconds,
        "processors_busy_percent_before": busy,
        "mean_pause_seconds": options.pause,
        "encoders": [*offered_encoders.offered("texts"), *offered_encoders.offered("images")],
        "calls": len(everything),
        "outcomes_by_addresses": {crowd.addresses: dict(crowd.outcomes) for crowd in crowds},
        "calls_a_minute_each_by_addresses": {
            count: round(many / minutes, 1) for count, many in calls.items()
        },
        "processor_seconds_per_call": round(
            worked / sum(crowd.outcomes.total() for crowd in crowds), 3
        ),
        "wait_median_seconds": round(statistics.median(everything), 3),
        "wait_p95_seconds": round(float(np.quantile(everything, 0.95)), 3),
        "wait_median_by_job": {
            name: round(statistics.median(values), 3) for name, values in sorted(waits.items())
        },
        "wait_p95_by_job": {
            name: round(float(np.quantile(values, 0.95)), 3)
            for name, values in sorted(waits.items())
        },
        "megabytes": {name: round(value, 1) for name, value in levels.items()},
        "settle_seconds": options.settle,
        "files_left": left,
        "environment": environment("gradio"),
    }
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _megabytes(process: psutil.Process) -> float:
    return process.memory_info().rss / 1e6


def _processor_seconds(process: psutil.Process) -> float:
    return sum(process.cpu_times()[:2])


def wait_for(url: str) -> None:
    """Wait until a page is served there."""
    for _ in range(600):
        try:
            httpx.get(url)
            return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise TimeoutError(f"nothing is served at {url}")


if __name__ == "__main__":
    main()
