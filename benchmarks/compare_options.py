"""Do verdicts hold of clusters, and of equivalence?

    python benchmarks/compare_options.py --repeats 200 \\
        --json benchmarks/results/compare_options.json

Draws two sets of one source again and again, digits with noise on copies of a few, and counts how
often `compare` says that they differ, with `clusters=` and without. Then two sets of labels whose
scores differ, as means over many sets, by just the share that `within=` asks about: how often they
are called the same within it.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from pairs import DATA, arguments, environment, write

from vendiscore import compare, score
from vendiscore.analysis.comparison import Comparison

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from sources import sentences, vectors

PERMUTATIONS = 199
MANY = 2000  # sets that the share between two sources is the mean of
COPIES = 5
Draw = Callable[[np.random.Generator, int], Any]
Row = dict[str, Any]


def kinds(count: int) -> Draw:
    """Return a source of labels of so many kinds."""
    return lambda rng, n: rng.integers(count, size=n).tolist()


@cache
def digits() -> np.ndarray:
    images = np.load(DATA / "mnist_test.npz")["images"]
    return np.asarray(images.reshape(len(images), -1) / 255)


def near_copies(rng: np.random.Generator, clusters: int, uneven: bool) -> tuple[Any, np.ndarray]:
    """Draw digits, with noise on several copies of each, and the cluster of each."""
    sizes = rng.integers(1, 2 * COPIES, clusters) if uneven else np.full(clusters, COPIES)
    codes = np.repeat(np.arange(clusters), sizes)
    X = digits()[rng.choice(len(digits()), clusters, replace=False)][codes]
    return np.clip(X + rng.normal(0, 0.1, X.shape), 0, 1), codes


def shares(name: str, found: list[Comparison], **facts: Any) -> Row:
    """Return how often a difference was told at 5 % and 1 %, and an interval leaves out 0."""
    pairs = [each.pairs[0] for each in found]
    p = np.array([pair.p_adjusted for pair in pairs])
    out = np.array([not pair.low <= 0 <= pair.high for pair in pairs])
    row = {
        "name": name,
        **facts,
        "runs": len(found),
        "differ": float(np.mean(p <= 0.05 + 1e-9)),
        "differ_at_1_percent": float(np.mean(p <= 0.01 + 1e-9)),
        "disagree": int(np.sum(out != (p <= 0.05 + 1e-9))),
    }
    return said(row)


def said(row: Row) -> Row:
    print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
    return row


def in_clusters(how: Row, clusters: int, uneven: bool, q: float, repeats: int) -> list[Row]:
    """Compare sets of near-copies of one source, by clusters and by samples."""
    how = {**how, "q": q, "permutations": PERMUTATIONS}
    ways: dict[str, list[Comparison]] = {"clusters": [], "samples": []}
    for seed in range(repeats):
        rng = np.random.default_rng([seed, clusters])
        (a, of_a), (b, of_b) = (near_copies(rng, clusters, uneven) for _ in range(2))
        for by, found in ways.items():
            clustered = [of_a, of_b] if by == "clusters" else None
            found.append(compare(a, b, clusters=clustered, seed=seed, **how))
    name = f"digits, {how['k']}, near-copies" + (" of uneven number" if uneven else "")
    return [shares(name, found, clusters=clusters, by=by, q=str(q)) for by, found in ways.items()]


def at_the_edge(name: str, wide: Draw, narrow: Draw, how: Row, n: int, repeats: int) -> Row:
    """Ask whether two sources are the same within just the share that parts their scores."""
    rng = np.random.default_rng(n)
    logs = [[math.log(score(draw(rng, n), **how)) for draw in (wide, narrow)] for _ in range(MANY)]
    apart, error = np.subtract(*np.mean(logs, 0)), np.std(np.subtract(*np.transpose(logs)))
    within = math.expm1(apart)
    found = []
    for seed in range(repeats):
        rng = np.random.default_rng([seed, n])
        how = {**how, "permutations": 99, "seed": seed}
        found.append(compare(wide(rng, n), narrow(rng, n), within=within, **how))
    same = [each.verdict("A", "B").startswith("the same within") for each in found]
    row = {"name": name, "sizes": (n, n), "within": within}
    row |= {"within_se": float(math.exp(apart) * error / math.sqrt(MANY)), "runs": repeats}
    return said(row | {"same": float(np.mean(same))})


def main() -> None:
    given = arguments(__doc__)
    rows, most = [], given.repeats
    for how in ({"k": "cosine"}, {"k": "rbf", "sigma": 5.0}):
        for clusters, uneven, q in itertools.product((8, 20), (False, True), (1, 2)):
            rows += in_clusters(how, clusters, uneven, q, most)
    for n in (8, 20, 80):
        of = partial(at_the_edge, n=n, repeats=most)
        rows += [
            of("labels of 20 and 12 kinds", kinds(20), kinds(12), {"k": "labels"}),
            of("sentences, n-grams", sentences, partial(sentences, narrow=0.5), {}),
            of("vectors, cosine", vectors, partial(vectors, narrow=0.5), {"k": "cosine"}),
        ]
    write(given.json, rows, environment() | {"repeats": most, "permutations": PERMUTATIONS})


if __name__ == "__main__":
    main()
