"""Measure the error of a score of a state whose products are in single precision.

    python benchmarks/single_precision.py --json benchmarks/results/single_precision.json

Rows of six shapes are added to a state in single and in double precision. The number of a row is
the relative error of the score of single precision at orders 1, 2 and infinity.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pairs import arguments, environment, write

from vendiscore import State

SIZES = ((5_000, 64), (20_000, 384), (20_000, 768))
ORDERS = (1, 2, "inf")
PROMISED = 1e-4  # by the docstring of State.empty


def shapes(n: int, d: int, seed: int = 0) -> Iterator[tuple[str, np.ndarray]]:
    """Yield six sets of n rows in float32, each with the name of its spectrum."""
    rng = np.random.default_rng(seed)
    noise, i = rng.standard_normal((n, d)), np.arange(d)
    yield "flat", noise
    yield "exp(-i/20)", noise * np.exp(-i / 20)
    yield "1/i", noise / (1 + i)
    yield "large mean", noise + 100
    yield "two scales", noise * np.where(i < d // 2, 1, 1e-3)
    yield "clusters", rng.standard_normal((10, d))[rng.integers(0, 10, n)] + 1e-3 * noise


def score(X: np.ndarray, precision: str) -> np.ndarray:
    state = State.empty(k="cosine", precision=precision).update(X)
    return np.array(list(state.compute(q=ORDERS).values()))


def main() -> None:
    options = arguments(__doc__)
    rows = []
    for n, d in SIZES:
        for name, X in shapes(n, d):
            X = X.astype(np.float32)
            errors = abs(score(X, "single") / score(X, "double") - 1)
            if errors.max() > PROMISED:
                raise SystemExit(f"{name}: {errors.max():.1e} is more than {PROMISED:g}")
            print(f"{name:<12} n={n} d={d}", *(f"{error:.1e}" for error in errors))
            errors_by_order = dict(zip(map(str, ORDERS), errors.tolist(), strict=True))
            rows.append({"name": name, "n": n, "d": d, "errors": errors_by_order})
    write(options.json, rows, environment())


if __name__ == "__main__":
    main()
