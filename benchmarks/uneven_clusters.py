"""Do intervals of clusters of uneven size hold, and are they no wider than they must be?

    python benchmarks/uneven_clusters.py --json benchmarks/results/uneven_clusters.json

Draws sets of m clusters of near-copies in 64 columns again and again, of 1 to 10 samples each, of
1, 1, 1 and 8 in turn, and of five each. Prints the share of 95 % intervals that hold the mean log
VS, their median width, and the median width by the formula that they follow, from scores without
each cluster, each by a decomposition of its own: exp(log n − d exp(± t s/d)), d = log n − log VS
the deficit, s the delete-a-cluster error of log VS, t Student's with m − 1 degrees of freedom.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np
from pairs import environment, write
from scipy.stats import t as student

from vendiscore import compute

SIZES = {"1 to 10": range(1, 11), "1, 1, 1, 8": (1, 1, 1, 8), "five each": (5,)}
CLUSTERS = (8, 20, 30, 50, 51, 60, 100)
ORDERS = (1.0, 2.0)
COLUMNS = 64
# The formula is computed for so many of the sets: each takes m decompositions.
FORMULAS = 10


def drawn(sizes: str, m: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return unit rows near one centre for each of m clusters, and the cluster of each row."""
    counts = np.resize(SIZES[sizes], m)
    if sizes == "1 to 10":
        counts = rng.integers(1, 11, m)
    codes = np.repeat(np.arange(m), counts)
    X = rng.standard_normal((m, COLUMNS))[codes]
    X += 0.3 * rng.standard_normal(X.shape)
    X *= np.exp(-np.arange(COLUMNS) / 16)
    return X / np.linalg.norm(X, axis=1, keepdims=True), codes


def log_scores(values: np.ndarray) -> np.ndarray:
    """Return log VS of both orders from the eigenvalues of K/n."""
    values = values[values > 1e-15]
    return np.array([-(values * np.log(values)).sum(), -np.log((values**2).sum())])


def widths(X: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the widths of both orders by the formula."""
    n, m = len(X), int(codes.max()) + 1
    products, counts = X.T @ X, np.bincount(codes)
    parts = [X[codes == c] for c in range(m)]
    left = [
        log_scores(np.linalg.eigvalsh((products - Y.T @ Y) / (n - count)))
        for Y, count in zip(parts, counts, strict=True)
    ]
    errors = np.sqrt((m - 1) * np.var(left, axis=0))
    deficits = math.log(n) - log_scores(np.linalg.eigvalsh(products / n))
    by = np.exp(student.ppf(0.975, m - 1) * errors / deficits)
    low, high = math.log(n) - deficits * by, math.log(n) - deficits / by
    return np.exp(high) - np.exp(np.maximum(low, 0))


def row(sizes: str, m: int, draws: int) -> list[dict[str, Any]]:
    """Return coverage and widths of both orders."""
    rng = np.random.default_rng(m)
    values, formulas = [], []
    for i in range(draws):
        X, codes = drawn(sizes, m, rng)
        found = compute(X, k="cosine", ci=0.95, clusters=codes, q=list(ORDERS))
        keys = [f"VS_q{q:g}" for q in ORDERS]
        values.append([[found[f"{key}{end}"] for end in ("", "_low", "_high")] for key in keys])
        if i < FORMULAS:
            formulas.append(np.append(widths(X, codes), np.diff(np.array(values[-1])[:, 1:])))
    every = np.log(values)  # (draws, orders, 3)
    truth = every[:, :, 0].mean(axis=0)
    held = (every[:, :, 1] <= truth) & (truth <= every[:, :, 2])
    spans = np.exp(every[:, :, 2]) - np.exp(every[:, :, 1])
    by_formula = np.median(np.array(formulas)[:, :2], axis=0)
    same_sets = np.median(np.array(formulas)[:, 2:], axis=0)
    return [
        {
            "sizes": sizes,
            "clusters": m,
            "q": q,
            "coverage": float(held[:, i].mean()),
            "width": float(np.median(spans[:, i])),
            "of_formula": float(same_sets[i] / by_formula[i]),
        }
        for i, q in enumerate(ORDERS)
    ]


def main() -> None:
    """Print all rows, and raise unless intervals hold and are as narrow as the formula says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = []
    for sizes in SIZES:
        for m in CLUSTERS:
            for each in row(sizes, m, given.draws):
                print(" ".join(f"{key}={value}" for key, value in each.items()), flush=True)
                rows.append(each)
    assert min(each["coverage"] for each in rows) >= 0.9
    assert max(each["of_formula"] for each in rows) <= 1.5
    write(given.json, rows, environment())


if __name__ == "__main__":
    main()
