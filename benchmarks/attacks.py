"""Time of attacks on the web app, answers to other users meanwhile, and memory afterwards.

    python benchmarks/attacks.py --json benchmarks/results/attacks.json

Runs the attacks of `tests/helpers/attacks.py` one after another against a server with limits of 2 s
and 500 MB per job. Ten other users score two texts again and again, with 0.2 s in between.
`usual_s` is the median time of their visits without an attack, and `others_s` during an attack that
lasts at least a second. Memory is what the server and its workers do not share with other
processes: idle, after one use of the page, the API and the tools; and after the attacks, when
stored samples have expired.
"""

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
from pairs import collect_environment, write_results

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
import attacks
import page_client
from page_process import running_app

SECONDS = 2.0  # of processor time of a job
MEMORY = 500_000_000  # bytes of a job
STORE_SECONDS = 30  # instead of 15 minutes
N_USERS = 10
PAUSE = 0.2  # seconds between two visits of a user
USUAL_SECONDS = 20.0  # without an attack, to measure usual times
MIN_SECONDS = 1.0  # of an attack during which times of others are compared
MAX_RELEASE_SECONDS = 180  # until memory is released
# A job may take four times its limit of processor time as elapsed time, and an attack has up to
# four jobs.
TIMEOUT = 4 * 4 * SECONDS + 10
SERVER = f"""
from vendiscore_page.quotas import JobLimits
from vendiscore_page.serving.lanes import WORKER_LANES
from vendiscore_page.serving.server import build, launch
from vendiscore_page.serving.store import Store
limits = dict.fromkeys(WORKER_LANES, JobLimits({SECONDS}, {MEMORY}))
launch(build(Store(seconds={STORE_SECONDS}), limits))
"""


def visit(url: str, user: int, path: str) -> None:
    """Score two texts again and again, and write the time of each visit to a file."""
    headers = {"x-session": f"user {user}"}
    with (
        httpx.Client(base_url=url, timeout=120, headers=headers) as http,
        Path(path).open("w", buffering=1) as out,
    ):
        while True:
            start = time.monotonic()
            answer = page_client.upload_and_score(http, "ngram_overlap", "a b\nc d")
            row = {"start": start, "end": time.monotonic(), "VS": answer["VS"]}
            out.write(json.dumps(row) + "\n")
            time.sleep(PAUSE)


def load_visits(folder: Path) -> list[dict[str, float]]:
    """Return the visits of all users."""
    lines = [line for path in folder.glob("*.jsonl") for line in path.read_text().split("\n")]
    return [json.loads(line) for line in lines if line.endswith("}")]


def measure_memory(server: psutil.Process) -> list[float]:
    """Return the memory in MB that no other process uses: of the server, then of each worker."""
    sizes = []
    for process in (server, *server.children(recursive=True)):
        with suppress(psutil.Error):
            sizes.append(process.memory_full_info().uss / 1e6)
    return sizes


def use_once(http: httpx.Client) -> None:
    """Use the page, the API and a tool."""
    page_client.upload_and_score(http, "ngram_overlap", "a b\nc d")
    page_client.call_api(http, "vendi_score_texts", texts=["a b", "c d"])
    page_client.call_mcp_tool(http, "compute", samples=["a b", "c d"], arguments="")


def summarize(rows: list[dict[str, Any]], visits: list[dict[str, float]], start: float) -> None:
    """Add the times of visits during each attack."""
    before = [v["end"] - v["start"] for v in visits if start <= v["start"] < start + USUAL_SECONDS]
    usual = statistics.median(before)
    for row in rows:
        times = [
            v["end"] - v["start"]
            for v in visits
            if v["end"] > row["start"] and v["start"] < row["end"]
        ]
        row |= {"usual_s": usual, "n_visits": len(times)}
        if row["seconds"] >= MIN_SECONDS and times:
            row["others_s"] = statistics.median(times)


def main() -> None:
    """Run the attacks, print the results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="", help="part of the names of attacks")
    options = parser.parse_args()
    os.environ.setdefault("HF_HOME", tempfile.mkdtemp())
    os.environ["HF_HUB_OFFLINE"] = "1"
    folder = Path(tempfile.mkdtemp())
    known = set(psutil.Process().children())
    with running_app(folder, "-c", SERVER) as app:
        server = (set(psutil.Process().children()) - known).pop()
        with httpx.Client(base_url=app.url, timeout=2 * TIMEOUT) as http:
            use_once(http)
            time.sleep(90)  # until the server has released what it does not need
            idle = measure_memory(server)
            print(f"idle: {sum(idle):.0f} MB, by process {np.round(idle)}", flush=True)
            context = multiprocessing.get_context("spawn")
            users = [
                context.Process(target=visit, args=(app.url, i, str(folder / f"{i}.jsonl")))
                for i in range(N_USERS)
            ]
            for user in users:
                user.start()
            time.sleep(10)
            start = time.monotonic()
            time.sleep(USUAL_SECONDS)
            rows: list[dict[str, Any]] = []
            try:
                for name, attack in attacks.ATTACKS.items():
                    if options.only not in name:
                        continue
                    begin = time.monotonic()
                    answer = attack(http)
                    end = time.monotonic()
                    row = {"name": name, "start": begin, "end": end, "seconds": end - begin}
                    print(f"{end - begin:6.1f} s  {name}: {answer[:70]!a}", flush=True)
                    rows.append(row | {"answer": answer[:200]})
            finally:
                for user in users:
                    user.terminate()
                    user.join()
            visits = load_visits(folder)
            summarize(rows, visits, start)
            released = time.monotonic()
            while sum(memory := measure_memory(server)) > sum(idle) + 30:
                if time.monotonic() > released + MAX_RELEASE_SECONDS:
                    break
                time.sleep(5)
            seconds = time.monotonic() - released
    compared = [row["others_s"] / row["usual_s"] for row in rows if "others_s" in row]
    result = {
        "name": "all",
        "n": len(rows),
        "longest_s": max(row["seconds"] for row in rows),
        "n_visits": len(visits),
        "n_wrong": sum(abs(v["VS"] - 2) > 1e-9 for v in visits),
        "usual_s": rows[0]["usual_s"],
        "n_compared": len(compared),
        "median_ratio": statistics.median(compared) if compared else None,
        "max_ratio": max(compared, default=None),
        "n_beyond_twice": sum(ratio > 2 for ratio in compared),
        "idle_mb": sum(idle),
        "memory_mb": sum(memory),
        "idle_by_process_mb": idle,
        "memory_by_process_mb": memory,
        "release_s": seconds,
    }
    for row in sorted(rows, key=lambda row: -row.get("others_s", 0))[:15]:
        if "others_s" in row:
            print(
                f"{row['others_s'] / row['usual_s']:.2f} x  {row['seconds']:.1f} s  {row['name']}"
            )
    print(result)
    write_results(options.json, [*rows, result], collect_environment())


if __name__ == "__main__":
    main()
