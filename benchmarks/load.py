"""Twenty visitors at once on the running page: every answer checked, waits and memory reported.

python benchmarks/load.py --visitors 20 --seconds 120 --json load.json

Starts `python app.py`, computes the right answers with the package, then lets every visitor score
sets from all tabs through the queue that browsers use, one after the other with a short pause to
look at the result. An answer that differs by more than 1e-6 counts as wrong; "busy" is what the
queue says when it is full.
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
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
from pairs import environment

from vendiscore.app import examples
from vendiscore.app.comparing import compare
from vendiscore.scoring import compute

ROOT = Path(__file__).resolve().parents[1]
Job = tuple[str, list[Any], float]  # endpoint, its arguments, the right answer


def jobs() -> list[Job]:
    """Work from every tab, from a dozen samples to some hundreds, with the right answers."""
    rng = np.random.default_rng(0)
    found: list[Job] = []
    for box in examples.TEXTS.values():
        texts = box.splitlines()
        right = compute(texts, k="ngram_overlap", ns=[1, 2])["VS"]
        found.append(("text", [texts, "ngram_overlap", [1, 2], "word", 1], right))
    words = [f"w{i}" for i in range(300)]
    long = [" ".join(rng.choice(words, 20)) for _ in range(500)]
    right = compute(long, k="ngram_overlap", ns=[1, 2], q=2)["VS"]
    found.append(("text", [long, "ngram_overlap", [1, 2], "word", 2], right))
    for pictures in examples.images().values():
        encoded = []
        for picture in pictures:
            buffer = io.BytesIO()
            picture.save(buffer, "PNG")
            encoded.append(base64.b64encode(buffer.getvalue()).decode())
        right = compute(pictures, k="pixels", mode="RGB")["VS"]
        found.append(("images", [encoded, "pixels", 1], right))
    for box in examples.MOLECULES.values():
        smiles = box.splitlines()
        found.append(("molecules", [smiles, "morgan", 1], compute(smiles, k="morgan")["VS"]))
    for n in (50, 300):
        X = rng.normal(size=(n, 8))
        found.append(("vectors", [X.tolist(), "rbf", 0, 1], compute(X, k="rbf")["VS"]))
    sets = [long[:200], long[200:300]]
    right = compare(sets, draws=5, k="ngram_overlap", ns=[1, 2, 3, 4]).difference(1, 0)[0]
    found.append(("compare", [sets, "texts", "ngram_overlap", 1, 5], right))
    return found


def ask(http: httpx.Client, job: Job) -> str:
    """One call through the queue: "right", "wrong", "busy" or what went wrong."""
    name, data, right = job
    joined = http.post(f"/call/{name}", json={"data": data})
    if joined.status_code in (429, 503) or "full" in joined.text:
        return "busy"
    if joined.status_code != 200:
        return f"status {joined.status_code}"
    answer = http.get(f"/call/{name}/{joined.json()['event_id']}").text
    kind, _, body = answer.strip().split("\n\n")[-1].partition("\n")
    if kind != "event: complete":
        return "busy" if "full" in body else f"error: {body[:200]}"
    result = json.loads(body.removeprefix("data: "))[0]
    value = result["differences_to_first"][0]["mean"] if name == "compare" else result["VS"]
    return "right" if abs(value - right) <= 1e-6 * max(1, abs(right)) else "wrong"


def visit(
    url: str, work: list[Job], seed: int, until: float, pause: float, seen: Callable[..., None]
) -> None:
    """One visitor, until the time is up."""
    rng = random.Random(seed)
    with httpx.Client(base_url=url + "/gradio_api", timeout=120) as http:
        while time.perf_counter() < until:
            job = rng.choice(work)
            begin = time.perf_counter()
            try:
                outcome = ask(http, job)
            except httpx.HTTPError as error:
                outcome = f"error: {type(error).__name__}"
            seen(job[0], outcome, time.perf_counter() - begin)
            time.sleep(rng.uniform(0, 2 * pause))


def megabytes(process: psutil.Process) -> float:
    return process.memory_info().rss / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--pause", type=float, default=1.0, help="mean seconds between two calls")
    parser.add_argument("--settle", type=float, default=90, help="seconds before the last look")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    work = jobs()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    outcomes: collections.Counter[str] = collections.Counter()
    waits: dict[str, list[float]] = collections.defaultdict(list)
    lock = threading.Lock()

    def seen(name: str, outcome: str, seconds: float) -> None:
        with lock:
            outcomes[outcome] += 1
            waits[name].append(seconds)

    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [sys.executable, "app.py"],
            cwd=ROOT,
            env=os.environ | {"GRADIO_SERVER_PORT": str(port), "GRADIO_TEMP_DIR": folder},
            stdout=subprocess.DEVNULL,
        )
        try:
            process = psutil.Process(server.pid)
            for _ in range(600):
                try:
                    httpx.get(url)
                    break
                except httpx.HTTPError:
                    time.sleep(0.1)
            with httpx.Client(base_url=url + "/gradio_api", timeout=120) as http:
                for job in work:  # each once: what is imported on first use is part of idle
                    assert ask(http, job) == "right", job[0]
            time.sleep(min(70, options.settle))
            idle = peak = megabytes(process)
            until = time.perf_counter() + options.seconds
            visitors = [
                threading.Thread(target=visit, args=(url, work, i, until, options.pause, seen))
                for i in range(options.visitors)
            ]
            for visitor in visitors:
                visitor.start()
            while any(visitor.is_alive() for visitor in visitors):
                peak = max(peak, megabytes(process))
                time.sleep(0.5)
            time.sleep(options.settle)
            after = megabytes(process)
            left = sum(1 for path in Path(folder).rglob("*") if path.is_file())
        finally:
            server.terminate()
            server.wait()
    everything = [seconds for each in waits.values() for seconds in each]
    result = {
        "visitors": options.visitors,
        "seconds": options.seconds,
        "mean_pause_seconds": options.pause,
        "calls": len(everything),
        "outcomes": dict(outcomes),
        "wait_median_seconds": round(statistics.median(everything), 3),
        "wait_p95_seconds": round(float(np.quantile(everything, 0.95)), 3),
        "wait_median_by_endpoint": {
            name: round(statistics.median(values), 3) for name, values in sorted(waits.items())
        },
        "idle_megabytes": round(idle, 1),
        "peak_megabytes": round(peak, 1),
        "after_megabytes": round(after, 1),
        "settle_seconds": options.settle,
        "files_left": left,
        "environment": environment("gradio"),
    }
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
