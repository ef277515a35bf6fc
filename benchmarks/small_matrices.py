"""Time the score of small matrices, where the way to the eigenvalues costs more than they do.

    python benchmarks/small_matrices.py --json benchmarks/results/small_matrices.json

The fixed price of a call is what a training loop pays at each step: `score_K` of a matrix of 8 × 8
is to take at most 3 times as long as vendi_score's, of 100 × 100 at most 1.3 times. Each
timing is of many calls, since one takes less than a millisecond.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pairs import agree, arguments, compare, environment, write
from vendi_score import vendi as theirs

import vendiscore as ours

SECONDS = 0.2  # of each timing, about
BOUNDS = {8: 3.0, 30: 3.0, 100: 1.3, 300: 1.3}


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


def main() -> None:
    options = arguments(__doc__.partition("\n")[0])
    rows = []
    for n, bound in BOUNDS.items():
        K = matrix(n)
        agree(ours.score_K(K), theirs.score_K(K), 1e-9)
        times = max(5, int(SECONDS / (1e-4 + 2e-8 * n**2.5)))
        pair = [many(partial(package.score_K, K), times) for package in (ours, theirs)]
        row = compare(f"score_K, {n} × {n}", *pair, repeats=options.repeats, n=n, calls=times)
        row["bound"] = bound
        print(f"  {1 / row['times_faster']:.2f} times as long; the bound is {bound}")
        rows.append(row)
    write(options.json, rows, environment("vendi-score"))


if __name__ == "__main__":
    main()
