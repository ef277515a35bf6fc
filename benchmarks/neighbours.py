"""Precision, recall, density and coverage against `prdc`, in pairs: agreement, time, memory.

python benchmarks/neighbours.py --json benchmarks/results/neighbours.json

Samples are rows of normal numbers, and references lie a little apart. Peaks of memory are above
what imports and rows take, each in a process of its own (Linux only). Rows of 2 × 20,000 samples
are ours alone: `prdc` would take 10 GB and more. The last row is of points that are close together
and far from others, next to distances from differences.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from pairs import arguments, compare, environment, peak, write
from prdc import compute_prdc
from scipy.spatial.distance import cdist

import vendiscore

D, K = 64, 5
FOUR = ["Precision", "Recall", "Density", "Coverage"]
LARGE = 20_000


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, D)) + 0.1, rng.standard_normal((n, D))


def ours(X: np.ndarray, Y: np.ndarray) -> dict[str, float]:
    return vendiscore.compute(X, Y, measures=FOUR, neighbours=K)


def theirs(X: np.ndarray, Y: np.ndarray) -> dict[str, float]:
    found = compute_prdc(real_features=Y, fake_features=X, nearest_k=K)
    return {name: float(found[name.lower()]) for name in FOUR}


def pairs(repeats: int) -> list[dict[str, Any]]:
    results = []
    for n in (2000, 5000, 10_000):
        X, Y = rows(n)
        mine, other = ours(X, Y), theirs(X, Y)
        for name in FOUR:
            np.testing.assert_allclose(mine[name], other[name], rtol=1e-12)
        facts = {"n": n, "m": n, "d": D, "k": K, "dtype": "float64"}
        print(f"n = m = {n}, d = {D}, k = {K}, float64: equal to 1e-12")
        results.append(
            compare(
                f"precision, recall, density, coverage, n = m = {n}",
                partial(ours, X, Y),
                partial(theirs, X, Y),
                repeats,
                **facts,
            )
        )
        peaks = {f"{who}_mb": peak_of(f, n) for who, f in (("ours", ours), ("theirs", theirs))}
        print(f"peak of memory, n = m = {n}: {peaks}")
        results.append({"name": f"peak of memory, n = m = {n}", **facts, **peaks})
    return results


def large() -> list[dict[str, Any]]:
    X, Y = rows(LARGE)
    start = time.perf_counter()
    scores = ours(X, Y)
    seconds = time.perf_counter() - start
    facts = {"n": LARGE, "m": LARGE, "d": D, "k": K, "dtype": "float64", **scores}
    row = {"name": "four, of large sets", "ours_s": seconds, "ours_mb": peak_of(ours, LARGE)}
    print(f"{row}")
    return [row | facts]


def close_together() -> list[dict[str, Any]]:
    """Draw points around two distant places that differ from the seventh digit on."""
    n = 1000
    rng = np.random.default_rng(0)
    places = np.repeat([[1.0], [-1.0]], n // 2, axis=0)
    X, Y = (places + 1e-7 * (rng.standard_normal((n, D)) + shift) for shift in (0.1, 0.0))
    of_references, between = np.sort(cdist(Y, Y), axis=1)[:, K], cdist(X, Y)
    inside = between <= of_references
    exact = {"Density": inside.sum() / (K * n), "Coverage": inside.any(axis=0).mean()}
    mine, other = ours(X, Y), theirs(X, Y)
    row: dict[str, Any] = {"name": "close together and far from others", "n": n, "d": D}
    for name, value in exact.items():
        np.testing.assert_allclose(mine[name], value, rtol=1e-12)
        row |= {f"{name}_exact": value, f"{name}_ours": mine[name], f"{name}_theirs": other[name]}
    print(row)
    return [row]


def peak_of(score: Callable[[np.ndarray, np.ndarray], Any], n: int) -> float:
    """Return the peak of memory in MB for n rows and n references, in a fresh process."""
    return peak(_scored, score, n)


def _scored(
    score: Callable[[np.ndarray, np.ndarray], Any], n: int
) -> tuple[Callable[[], Any], ...]:
    X, Y = rows(n)
    return lambda: score(X[:50], Y[:50]), lambda: score(X, Y)


if __name__ == "__main__":
    options = arguments(__doc__)
    results = [*pairs(options.repeats), *large(), *close_together()]
    write(options.json, results, environment("prdc", "scikit-learn"))
