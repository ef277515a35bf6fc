"""Time and memory of `explain` for 20,000 to 200,000 rows, compared with the products of all pairs.

python benchmarks/explain_large.py --json benchmarks/results/explain_large.json   # 2 minutes

Rows have 384 columns. Each case runs in a separate process, whose peak memory is reported. The
products are computed in single precision, for blocks of 1,024 rows with all rows; for larger sets,
only every eighth block is computed and the time is extrapolated. 5 % of the rows are near-copies,
all of which `explain` must find.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pairs import collect_environment, write_results

from vendiscore import explain

WIDTH, THRESHOLD, BLOCK, MAX_FULL_PRODUCTS = 384, 0.95, 1024, 20_000
# Exponents by which columns decrease, as in embeddings.
DECAYS = {"decaying": 0.5, "flat": 0.0}
CASES = [
    (20_000, "decaying", 5),
    (20_000, "flat", 5),
    (100_000, "decaying", 1),
    (200_000, "decaying", 1),
]


def make_rows(n: int, spectrum: str) -> np.ndarray:
    """Return float32 unit rows, 5 % of which are near-copies of others."""
    rng = np.random.default_rng(0)
    sizes = np.arange(1, WIDTH + 1, dtype=np.float32) ** -DECAYS[spectrum]
    X = rng.standard_normal((n, WIDTH), dtype=np.float32) * sizes
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    copies = n // 20
    noise = rng.standard_normal((copies, WIDTH), dtype=np.float32)
    X[-copies:] = X[:copies] + 0.25 * noise / np.sqrt(WIDTH, dtype=np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def time_call(function: Callable[[], Any]) -> tuple[float, Any]:
    """Call a function; return the seconds and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def time_products(X: np.ndarray) -> float:
    """Return the seconds for the products of all pairs."""
    step = 1 if len(X) <= MAX_FULL_PRODUCTS else 8
    starts = range(0, len(X), BLOCK)

    def multiply() -> None:
        for start in starts[::step]:
            X[start : start + BLOCK] @ X.T

    return time_call(multiply)[0] * len(starts) / len(starts[::step])


def run_case(n: int, spectrum: str, repeats: int) -> dict[str, Any]:
    """Time `explain` and the products alternately for one case."""
    X = make_rows(n, spectrum)
    product_seconds, explain_seconds = [], []
    for _ in range(repeats):
        product_seconds.append(time_products(X))
        time.sleep(0.1)
        seconds, result = time_call(lambda: explain(X, k="cosine", threshold=THRESHOLD))
        explain_seconds.append(seconds)
    sentence_seconds = time_call(lambda: str(result))[0]
    removed = n - len(result.kept)
    assert removed == n // 20
    return {
        "n": n,
        "spectrum": spectrum,
        "products_s": statistics.median(product_seconds),
        "explain_s": statistics.median(explain_seconds),
        "times_products": statistics.median(
            b / a for a, b in zip(product_seconds, explain_seconds, strict=True)
        ),
        "sentence_s": sentence_seconds,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "removed": removed,
    }


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--job", type=json.loads)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(run_case(*options.job)))
        return
    result: list[dict[str, Any]] = []
    for case in CASES:
        command = [sys.executable, __file__, "--job", json.dumps(case)]
        process = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        row = json.loads(process.stdout.splitlines()[-1])
        result.append(row)
        print(
            f"{row['n']:>7,} {row['spectrum']:<9} {row['explain_s']:6.1f} s, "
            f"{row['times_products']:.2f} × the products; sentence {row['sentence_s']:.1f} s; "
            f"{row['peak_mb']:,.0f} MB",
            flush=True,
        )
    write_results(options.json, result, collect_environment())


if __name__ == "__main__":
    main()
