"""The cost of explaining 20,000 to 200,000 rows of 384 numbers, and of the products of all pairs.

python benchmarks/explain_large.py --json benchmarks/results/explain_large.json   # 25 minutes

Each case runs in a process of its own, whose peak memory is reported; the products are by blocks
of 1,024 rows with all rows in single precision, of larger sets for every eighth block. A twentieth
of the rows are near-copies, all of which must be found.
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
# Decays of the columns' sizes: embeddings have some.
DECAYS = {"decaying": 0.5, "flat": 0.0}
CASES = [
    (20_000, "decaying", 5),
    (20_000, "flat", 5),
    (100_000, "decaying", 1),
    (200_000, "decaying", 1),
]


def make_rows(n: int, spectrum: str) -> np.ndarray:
    """Return unit rows in single precision, a twentieth of which are near-copies of others."""
    rng = np.random.default_rng(0)
    sizes = np.arange(1, WIDTH + 1, dtype=np.float32) ** -DECAYS[spectrum]
    X = rng.standard_normal((n, WIDTH), dtype=np.float32) * sizes
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    copies = n // 20
    noise = rng.standard_normal((copies, WIDTH), dtype=np.float32)
    X[-copies:] = X[:copies] + 0.25 * noise / np.sqrt(WIDTH, dtype=np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def time_call(function: Callable[[], Any]) -> tuple[float, Any]:
    """Time a call, and return what it gives."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def time_products(X: np.ndarray) -> float:
    """Return seconds of the products of all pairs."""
    step = 1 if len(X) <= MAX_FULL_PRODUCTS else 8
    starts = range(0, len(X), BLOCK)

    def multiply() -> None:
        for start in starts[::step]:
            X[start : start + BLOCK] @ X.T

    return time_call(multiply)[0] * len(starts) / len(starts[::step])


def run_case(n: int, spectrum: str, repeats: int) -> dict[str, Any]:
    """Time one case, in turns with the products."""
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
