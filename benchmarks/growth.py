"""Do the intervals of `growth` hold, beyond the samples that there are and at the limit?

    python benchmarks/growth.py --json benchmarks/results/growth.json

Draws sets of n samples again and again from 4,000 TREC questions (n-grams), MNIST images (a narrow
RBF, and the cosine of their pixels) or 3,500 odorants (Tanimoto), and from labels: 200 kinds by
Zipf's law, and the fine labels of TREC.
- How often the 95 % intervals at n/4, n and 2n cover E log VS of so many samples, which is the mean
  over fresh sets, and on which side they miss it.
- How often an asymptote is reported, and how often its interval covers the score of the source.
Then the spiders of Chao et al. 2014 (Table 2): growth of labels compared with the estimators of
iNEXT, written out naively here.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from pairs import DATA, environment, write
from scipy.special import digamma, gammaln
from threadpoolctl import threadpool_limits

from vendiscore import as_similarity, effective_number, growth
from vendiscore.similarity.base import Similarity
from vendiscore.spectral.vendi_scores import compute_vendi_scores
from vendiscore.tools.analysis.growth import growth_from_similarity

POOL, KINDS = 4000, 200
SIZES, ORDERS = (20, 40, 150), (0.5, 1.0, 2.0, math.inf)
AT = ("at_quarter", "at_n", "at_2n")
# Species and how many spiders of each, below a canopy of girdled and of logged hemlocks.
SPIDERS = {
    "Girdled": [46, 22, 17, 15, 15, 9, 8, 6, 6, 4, 2, 2, 2, 2, *[1] * 12],
    "Logged": [88, 22, 16, 15, 13, 10, 8, 8, 7, 7, 7, 5, *[4] * 3, *[3] * 4, *[2] * 4, *[1] * 14],
}


def texts(data: Path, column: str) -> list[str]:
    with (data / "trec_questions.tsv").open(encoding="utf-8") as file:
        return [row[column] for row in csv.DictReader(file, delimiter="\t")]


def odorants(data: Path) -> list[str]:
    with (data / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        return sorted({row["smiles"] for row in csv.DictReader(file)})


def images(data: Path) -> np.ndarray:
    with np.load(data / "mnist_test.npz") as file:
        X = file[file.files[0]]
    return X.reshape(len(X), -1) / 255


class Pool:
    """Samples to draw from: all alike without replacement, or labels by their shares."""

    def __init__(self, samples: Any = None, shares: Any = None, **options: Any) -> None:
        self.shares = shares
        if shares is None:
            at = np.random.default_rng(0).permutation(len(samples))[:POOL]
            some = samples[at] if isinstance(samples, np.ndarray) else [samples[i] for i in at]
            self.all = as_similarity(as_similarity(some, **options).dense(), score_K=True)

    def draw(self, rng: np.random.Generator, n: int) -> Similarity:
        if self.shares is None:
            return self.all.take(rng.choice(self.all.n, n, replace=False))
        return as_similarity(rng.choice(len(self.shares), n, p=self.shares), k="labels")

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """Shares of the source."""
        if self.shares is not None:
            return np.asarray(self.shares)
        values = np.maximum(np.linalg.eigvalsh(self.all.dense()), 0)
        return np.asarray(values / values.sum())

    def limit(self, q: float) -> float:
        """Return log VS of the source; at order 2 from pairs of different samples."""
        if self.shares is None and q == 2:
            K = self.all.dense()
            return -math.log((np.sum(K**2) - len(K)) / (len(K) * (len(K) - 1)))
        return math.log(effective_number(self.eigenvalues, q))


def pools(data: Path) -> dict[str, Callable[[], Pool]]:
    counts = np.unique(texts(data, "fine_label"), return_counts=True)[1]
    zipf = 1 / np.arange(1, KINDS + 1)
    return {
        "n-grams, TREC": lambda: Pool(sorted(set(texts(data, "question"))), k="ngram_overlap"),
        "Tanimoto, odorants": lambda: Pool(odorants(data), k="morgan"),
        "narrow RBF, MNIST": lambda: Pool(images(data), k="rbf", sigma=5.0),
        "cosine, MNIST": lambda: Pool(images(data), k="cosine"),
        "labels, Zipf": lambda: Pool(shares=zipf / zipf.sum()),
        "labels, TREC": lambda: Pool(shares=counts / counts.sum()),
    }


def scored(pool: Pool, n: int, count: int, seed: int) -> np.ndarray:
    """Return the mean log VS of every order, over fresh sets."""
    rng = np.random.default_rng([seed, n])
    logs = [
        np.log(compute_vendi_scores(pool.draw(rng, n), list(ORDERS)).values) for _ in range(count)
    ]
    return np.mean(np.array(logs, dtype=float), axis=0)


def hits(found: list[Any], at: Callable[[Any], tuple[float, float, float]], truth: float) -> Any:
    """Count how often intervals cover or miss the truth, and the error of scores."""
    scores, low, high = np.log([at(each) for each in found]).T
    return {
        "covered": float(((low <= truth) & (truth <= high)).mean()),
        "above": float((low > truth).mean()),
        "below": float((high < truth).mean()),
        "bias": float(scores.mean() - truth),
        "deviation": float(scores.std()),
        "width": float(np.median(high - low)),
    }


def covers(name: str, pool: Pool, n: int, repeats: int) -> list[dict[str, Any]]:
    """Return growth of sets of n at every order."""
    sizes = [n // 4, n, 2 * n]
    truths = {m: scored(pool, m, 4 * repeats if m < 100 else 2 * repeats, 1) for m in sizes}
    rng = np.random.default_rng([2, n])
    sets = [pool.draw(rng, n) for _ in range(repeats)]
    rows = []
    for j, q in enumerate(ORDERS):
        result = [growth_from_similarity(each, sizes, q) for each in sets]
        row: dict[str, Any] = {"name": name, "n": n, "q": str(q), "repeats": repeats}
        row["grows"] = float(truths[2 * n][j] - truths[n][j])
        for i, label in enumerate(AT):
            row[label] = hits(
                result,
                lambda each, i=i: (each.scores[i], each.low[i], each.high[i]),
                truths[sizes[i]][j],
            )
        told = [each for each in result if each.asymptote]
        row["asymptote"] = {"told": len(told) / repeats, "score": math.exp(pool.limit(q))}
        if told:
            row["asymptote"] |= hits(told, lambda each: each.asymptote, pool.limit(q))
        rows.append(row)
        print(shown(row), flush=True)
    return rows


def of_source(name: str, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the rows of one source, in a process of its own with one thread."""
    rows = []
    with threadpool_limits(1):
        pool = pools(given.data)[name]()
        for n in SIZES:
            repeats = given.repeats if n < 100 else given.repeats // 2
            rows += covers(name, pool, n, repeats)
    return rows


def shown(row: dict[str, Any]) -> str:
    parts = [f"{row['name']:18} n={row['n']:3} q={row['q']:4} grows {row['grows']:.3f}"]
    for label in (*AT, "asymptote"):
        at = row[label]
        told = f"{100 * at['told']:.0f} % told " if "told" in at else ""
        if "covered" in at:
            sides = f"(above {100 * at['above']:.1f}, below {100 * at['below']:.1f})"
            told += f"{100 * at['covered']:.1f} % {sides} bias {at['bias']:+.3f}"
        parts.append(f"{label}: {told}")
    return " | ".join(parts)


def chao(counts: np.ndarray, m: int, q: int) -> float:
    """Return the diversity of order q of m ≤ n individuals (Chao et al. 2014, Table 1)."""
    n = counts.sum()
    if q == 2:
        return float(1 / (1 / m + (m - 1) / m * np.sum(counts * (counts - 1)) / (n * (n - 1))))

    def choose(a: Any, b: Any) -> Any:
        return gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1)

    k = np.arange(1, m + 1)[:, None]
    possible = (k <= counts) & (m - k <= n - counts)
    with np.errstate(all="ignore"):
        logs = choose(counts, k) + choose(n - counts, m - k) - choose(n, m)
    f = np.where(possible, np.exp(np.where(possible, logs, 0)), 0).sum(axis=1)
    k = k[:, 0]
    return float(f.sum() if q == 0 else np.exp(-np.sum(k / m * np.log(k / m) * f)))


def chao_limit(counts: np.ndarray, q: int) -> float:
    """Return the asymptotic diversity: Chao1, Chao, Wang & Jost 2013, and the unbiased 1/κ."""
    n, once, twice = counts.sum(), np.sum(counts == 1), np.sum(counts == 2)
    if q == 0:
        pairs = once**2 / (2 * twice) if twice else once * (once - 1) / 2
        return float(len(counts) + (n - 1) / n * pairs)
    if q == 2:
        return float(n * (n - 1) / np.sum(counts * (counts - 1)))
    A = 2 * twice / ((n - 1) * once + 2 * twice)
    r = np.arange(1, n)
    tail = -math.log(A) - np.sum((1 - A) ** r / r)
    entropy = np.sum(counts / n * (digamma(n) - digamma(counts)))
    return float(np.exp(entropy + once / n * (1 - A) ** (1 - n) * tail))


def chao_beyond(counts: np.ndarray, m: int, q: int) -> float:
    """Return the diversity of m > n individuals (Chao et al. 2014, Table 1; order 1: bridge)."""
    n, once = counts.sum(), np.sum(counts == 1)
    if q == 2:
        return chao(counts, m, 2)
    limit = chao_limit(counts, q)
    seen = len(counts) if q == 0 else chao(counts, n, 1)
    if q == 0:
        unseen = limit - seen
        return float(seen + unseen * (1 - (1 - once / (n * unseen + once)) ** (m - n)))
    return float(np.exp(n / m * np.log(seen) + (m - n) / m * np.log(limit)))


def spiders() -> list[dict[str, Any]]:
    rows = []
    for name, species in SPIDERS.items():
        counts = np.array(species)
        n, labels = counts.sum(), np.repeat(np.arange(len(counts)), counts)
        for q in (0, 1, 2):
            half = int(n) // 2
            result = growth(labels, [half, int(n), 2 * int(n)], q=q, k="labels")
            ours = [*result.scores, result.asymptote[0] if result.asymptote else None]
            theirs = [chao(counts, half, q), chao(counts, n, q)]
            theirs += [chao_beyond(counts, 2 * n, q), chao_limit(counts, q)]
            ends = [*zip(result.low, result.high, strict=True)]
            row = {"name": name, "q": q, "ours": ours, "chao": theirs, "intervals": ends}
            row["limit_interval"] = result.asymptote and list(result.asymptote[1:])
            rows.append(row)
            print(row, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--only", default="", help="measure sources of this name anew, keep others")
    given = parser.parse_args()
    rows = spiders()
    if given.only:
        kept = json.loads(given.json.read_text(encoding="utf-8"))["rows"]
        rows += [row for row in kept if "chao" not in row and given.only not in row["name"]]
    names = [name for name in pools(given.data) if given.only in name]
    with ProcessPoolExecutor() as processes:
        for result in processes.map(of_source, names, [given] * len(names)):
            rows += result
    write(given.json, rows, environment() | {"repeats": given.repeats})


if __name__ == "__main__":
    main()
