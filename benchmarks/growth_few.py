"""From how many samples does the curve of `growth` say something? Errors at n and at 2n.

    python benchmarks/growth_few.py --json benchmarks/results/growth_few.json

Draws sets of 5, 10, 20, 50 and 100 samples of labels (Zipf's law with 200 kinds, the fine labels of
TREC, geometric shares, ten even ones), of clusters of vectors (20 by Zipf's law, 10 even, under an
RBF kernel) and of texts (TREC questions by n-grams and by static word vectors), and asks `growth`
for n and 2n samples at orders 1 and 2. Of each source, size and order:

- how often the 95 % intervals at n and at 2n cover E log VS of so many, the mean over fresh sets;
- `error`: the root mean square error of log VS at 2n; `plain`: the same of the score at n, if it is
  taken for that of 2n, as one does without a curve;
- `width`: the median of log(high / low) at 2n;
- `undecided`: how often the interval at 2n contains both the score at n and twice that score. Twice
  as many samples score at least as much and at most twice as much, so this interval excludes
  nothing that doubling the samples could do.
- of the limit: its bias on the scale of logarithms, and how often it exceeds the true one.

It takes about nine minutes on one core.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from growth import KINDS, Pool, texts
from pairs import DATA, environment, write
from threadpoolctl import threadpool_limits

from vendiscore import as_similarity, effective_number
from vendiscore.similarity.base import Similarity
from vendiscore.spectral.vendi_scores import compute_vendi_scores
from vendiscore.tools.analysis.growth import MIN_EXTRAPOLATED_SIZE, growth_from_similarity

SIZES, ORDERS = (5, 10, 20, 50, 100), (1.0, 2.0)
DIMENSIONS, SPREAD, SIGMA = 8, 0.1, 1.0  # of clusters: centres are standard normal


class Clusters(Pool):
    """Vectors around centres, which the shares choose among."""

    def __init__(self, shares: np.ndarray) -> None:
        super().__init__(shares=shares)
        rng = np.random.default_rng(5)
        self.centres = rng.standard_normal((len(shares), DIMENSIONS))

    def draw(self, rng: np.random.Generator, n: int) -> Similarity:
        kinds = rng.choice(len(self.shares), n, p=self.shares)
        X = self.centres[kinds] + SPREAD * rng.standard_normal((n, DIMENSIONS))
        return as_similarity(X, k="rbf", sigma=SIGMA)


def zipf(kinds: int) -> np.ndarray:
    shares = 1 / np.arange(1, kinds + 1)
    return np.asarray(shares / shares.sum())


def sources(data: Path) -> dict[str, Callable[[], Pool]]:
    counts = np.unique(texts(data, "fine_label"), return_counts=True)[1]
    geometric = 0.8 ** np.arange(60)
    questions = sorted(set(texts(data, "question")))
    return {
        "labels, Zipf": lambda: Pool(shares=zipf(KINDS)),
        "labels, TREC": lambda: Pool(shares=counts / counts.sum()),
        "labels, geometric": lambda: Pool(shares=geometric / geometric.sum()),
        "labels, ten even": lambda: Pool(shares=np.full(10, 0.1)),
        "clusters, Zipf": lambda: Clusters(zipf(20)),
        "clusters, ten even": lambda: Clusters(np.full(10, 0.1)),
        "n-grams, TREC": lambda: Pool(questions, k="ngram_overlap"),
        "static vectors, TREC": lambda: Pool(questions, k="static"),
    }


def means(pool: Pool, m: int, count: int) -> np.ndarray:
    """Return the mean log VS of fresh sets of m, at each order."""
    rng = np.random.default_rng([1, m])
    logs = [
        np.log(compute_vendi_scores(pool.draw(rng, m), list(ORDERS)).values) for _ in range(count)
    ]
    return np.mean(np.array(logs, dtype=float), axis=0)


def rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def cell(name: str, pool: Pool, n: int, repeats: int) -> list[dict[str, Any]]:
    """Return a row for each order of sets of n."""
    count = 800 if n < 50 else 300
    at_n, at_2n = means(pool, n, count), means(pool, 2 * n, count)
    rng = np.random.default_rng([2, n])
    sets = [pool.draw(rng, n) for _ in range(repeats)]
    is_labels = type(pool) is Pool and pool.shares is not None
    rows = []
    for q, of_n, of_2n in zip(ORDERS, at_n, at_2n, strict=True):
        goes_on = is_labels or q == 2 or n >= MIN_EXTRAPOLATED_SIZE
        result = [growth_from_similarity(each, [n, 2 * n] if goes_on else [n], q) for each in sets]
        scores, low, high = (
            np.log([getattr(one, part) for one in result]) for part in ("scores", "low", "high")
        )
        row: dict[str, Any] = {"name": name, "n": n, "q": q, "repeats": repeats}
        row["grows"] = float(of_2n - of_n)
        row["covered_at_n"] = float(((low[:, 0] <= of_n) & (of_n <= high[:, 0])).mean())
        if goes_on:
            plain = scores[:, 0]
            row["covered_at_2n"] = float(((low[:, 1] <= of_2n) & (of_2n <= high[:, 1])).mean())
            row["error"] = rms(scores[:, 1] - of_2n)
            row["plain"] = rms(plain - of_2n)
            row["width"] = float(np.median(high[:, 1] - low[:, 1]))
            both = (low[:, 1] <= plain) & (high[:, 1] >= plain + math.log(2))
            row["undecided"] = float(both.mean())
        limits = [math.log(one.asymptote[0]) for one in result if one.asymptote]
        if is_labels and limits:
            truth = math.log(effective_number(pool.eigenvalues, q))
            row["limit"] = {
                "reported": len(limits) / repeats,
                "bias": float(np.mean(limits) - truth),
                "median": float(np.median(limits) - truth),
                "above": float(np.mean(np.array(limits) > truth)),
            }
        rows.append(row)
        print(
            {key: round(x, 3) if isinstance(x, float) else x for key, x in row.items()}, flush=True
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=200)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    with threadpool_limits(1):
        for name, make in sources(given.data).items():
            pool = make()
            for n in SIZES:
                rows += cell(name, pool, n, given.repeats if n < 50 else given.repeats // 2)
    write(given.json, rows, environment() | {"repeats": given.repeats})


if __name__ == "__main__":
    main()
