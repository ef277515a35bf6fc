"""Answers of the web app to many visitors at the same time, and how long they take.

    python benchmarks/load.py --json benchmarks/results/load.json

Each visitor opens the page, uploads and scores texts, compares two sets, and calls the HTTP API and
a tool, `--rounds` times. Visitors start at once and have texts of their own: i + 4 texts without
common words, whose Vendi Score is i + 4, so that an answer to another visitor would be wrong.
"""

import argparse
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
from pairs import collect_environment, write_results

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
import page_client
from page_process import running_app


def visit(url: str, number: int, rounds: int) -> list[dict[str, Any]]:
    """Return for each request of a visitor its name, its time and whether its answer is right."""
    rows: list[dict[str, Any]] = []
    texts = [f"visitor{number}word{i}" for i in range(number + 4)]
    pasted = "\n".join(texts)

    with httpx.Client(
        base_url=url, timeout=300, headers={"x-session": f"visitor {number}"}
    ) as http:

        def score_page() -> float:
            result = page_client.upload_and_score(http, "ngram_overlap", pasted, kind="texts")
            return float(result["VS"])

        def compare_page() -> float:
            keys = {
                name: page_client.upload_samples(http, text, kind="texts")["key"]
                for name, text in {"own": pasted, "other": "\n".join(["same"] * len(texts))}.items()
            }
            result = page_client.compare_uploads(http, keys, "ngram_overlap")
            return float({row["name"]: row["VS"] for row in result["rows"]}["own"])

        def call_api() -> float:
            return float(page_client.call_api(http, "vendi_score_texts", texts=texts)["VS"])

        def call_tool() -> float:
            result = page_client.call_mcp_tool(http, "compute", samples=texts)
            return float(result["structuredContent"]["values"]["VS"])

        def open_page() -> float:
            return len(texts) if "<title>" in http.get("/").text else 0.0

        for _ in range(rounds):
            for request in (open_page, score_page, compare_page, call_api, call_tool):
                start = time.monotonic()
                value = request()
                seconds = time.monotonic() - start
                is_right = abs(value - len(texts)) < 1e-9 * len(texts)
                rows.append({"name": request.__name__, "seconds": seconds, "is_right": is_right})
    return rows


def main() -> None:
    """Let visitors use a server, print times, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    command = ("-m", "vendiscore", "page", "--port", "{port}")
    with (
        running_app(Path(tempfile.mkdtemp()), *command, home=tempfile.mkdtemp()) as app,
        ThreadPoolExecutor(options.visitors) as pool,
    ):
        visit(app.url, 0, 1)  # until all code is imported
        start = time.monotonic()
        visits = pool.map(lambda i: visit(app.url, i, options.rounds), range(options.visitors))
        requests = [row for rows in visits for row in rows]
        elapsed = time.monotonic() - start
    results = []
    for name in dict.fromkeys(row["name"] for row in requests):
        rows = [row for row in requests if row["name"] == name]
        times = sorted(row["seconds"] for row in rows)
        results.append(
            {
                "name": name,
                "n": len(rows),
                "n_wrong": sum(not row["is_right"] for row in rows),
                "median_s": statistics.median(times),
                "p95_s": times[int(0.95 * (len(times) - 1))],
                "max_s": times[-1],
            }
        )
        print(results[-1])
    print(f"{options.visitors} visitors, {len(requests)} requests in {elapsed:.1f} s")
    write_results(options.json, results, collect_environment())


if __name__ == "__main__":
    main()
