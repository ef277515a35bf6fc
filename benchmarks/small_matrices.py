"""Time `score_K` next to vendi_score's at everyday sizes, with one thread and with two.

    python benchmarks/small_matrices.py --json benchmarks/results/small_matrices.json

The fixed price of a call is what a training loop pays at each step. Each number of threads is a
process of its own, and each timing is of many calls, since one takes less than a millisecond. At 8
and 30 samples it is to be at least as fast, at 100, 300 and 1,000 at least 0.95 times.
"""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pairs import agree, by_threads, compare, environment, write
from vendi_score import vendi as theirs

import vendiscore as ours

SECONDS = 0.2  # of each timing, about
BOUNDS = {8: 1.0, 30: 1.0, 100: 0.95, 300: 0.95, 1000: 0.95}


def matrix(n: int) -> np.ndarray:
    """Return a similarity matrix of n vectors in as many dimensions."""
    X = np.random.default_rng(n).standard_normal((n, n))
    X /= np.linalg.norm(X, axis=1)[:, None]
    K = X @ X.T
    np.fill_diagonal(K, 1.0)
    return K


def many(call: Callable[[], Any], times: int) -> Callable[[], None]:
    def work() -> None:
        for _ in range(times):
            call()

    return work


def measure(repeats: int) -> list[dict[str, Any]]:
    rows, threads = [], os.environ["OMP_NUM_THREADS"]
    for n, bound in BOUNDS.items():
        K = matrix(n)
        agree(ours.score_K(K), theirs.score_K(K), 1e-9)
        times = max(1, int(SECONDS / (1e-4 + 2e-8 * n**2.5)))
        pair = [many(partial(package.score_K, K), times) for package in (ours, theirs)]
        name = f"score_K, {n:,} × {n:,}, threads: {threads}"
        rows.append(compare(name, *pair, repeats=repeats, n=n, calls=times) | {"bound": bound})
    return rows


def main() -> None:
    path, rows = by_threads(__file__, __doc__, measure)
    below = [row["name"] for row in rows if row["times_faster"] < row["bound"]]
    print(f"below the bound: {', '.join(below) or 'none'}")
    write(path, rows, environment("vendi-score"))


if __name__ == "__main__":
    main()
