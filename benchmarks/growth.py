"""Coverage of the intervals of `growth`, for more samples than observed and in the limit.

    python benchmarks/growth.py --json benchmarks/results/growth.json

Sets of n samples are drawn repeatedly from 4,000 TREC questions (n-grams), MNIST images (a narrow
RBF kernel, and the cosine of pixels), 3,500 odorants (Tanimoto), and labels (200 labels by Zipf's
law, and the fine labels of TREC). The rows contain

- how often the 95 % intervals at n/4, n and 2n cover E log VS of so many samples (the mean over
  other sets), and on which side they miss it;
- how often an asymptote is reported, and how often its interval covers the score of the population.

Also the spiders of Chao et al. 2014 (Table 2): growth of labels compared with the estimators of
iNEXT, which are implemented here directly.
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
from pairs import DATA, collect_environment, write_results
from scipy.special import digamma, gammaln
from threadpoolctl import threadpool_limits

from vendiscore import as_similarity, effective_number, growth
from vendiscore.similarity.base import Similarity
from vendiscore.spectral.vendi_scores import compute_vendi_scores
from vendiscore.tools.analysis.growth import growth_from_similarity

POOL_SIZE, N_LABELS = 4000, 200
SIZES, ORDERS = (20, 40, 150), (0.5, 1.0, 2.0, math.inf)
SIZE_LABELS = ("at_quarter", "at_n", "at_2n")
# Numbers of spiders by species, below girdled and logged hemlocks.
SPIDER_COUNTS = {
    "Girdled": [46, 22, 17, 15, 15, 9, 8, 6, 6, 4, 2, 2, 2, 2, *[1] * 12],
    "Logged": [88, 22, 16, 15, 13, 10, 8, 8, 7, 7, 7, 5, *[4] * 3, *[3] * 4, *[2] * 4, *[1] * 14],
}


def read_column(data: Path, column: str) -> list[str]:
    with (data / "trec_questions.tsv").open(encoding="utf-8") as file:
        return [row[column] for row in csv.DictReader(file, delimiter="\t")]


def read_odorants(data: Path) -> list[str]:
    with (data / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        return sorted({row["smiles"] for row in csv.DictReader(file)})


def read_images(data: Path) -> np.ndarray:
    with np.load(data / "mnist_test.npz") as file:
        X = file[file.files[0]]
    return X.reshape(len(X), -1) / 255


class Population:
    """Samples to draw from: samples without replacement, or labels in proportion to
    `proportions`.
    """

    def __init__(self, samples: Any = None, proportions: Any = None, **options: Any) -> None:
        """Store the similarity matrix of `samples`, or the `proportions` of labels.

        `options` are those of `as_similarity`.
        """
        self.proportions = proportions
        if proportions is None:
            indices = np.random.default_rng(0).permutation(len(samples))[:POOL_SIZE]
            subset = (
                samples[indices]
                if isinstance(samples, np.ndarray)
                else [samples[i] for i in indices]
            )
            self.all = as_similarity(as_similarity(subset, **options).dense(), score_K=True)

    def draw(self, rng: np.random.Generator, n: int) -> Similarity:
        if self.proportions is None:
            return self.all.take(rng.choice(self.all.n, n, replace=False))
        return as_similarity(rng.choice(len(self.proportions), n, p=self.proportions), k="labels")

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """Normalized eigenvalues of the population."""
        if self.proportions is not None:
            return np.asarray(self.proportions)
        values = np.maximum(np.linalg.eigvalsh(self.all.dense()), 0)
        return np.asarray(values / values.sum())

    def limit(self, q: float) -> float:
        """Return log VS of the population; at order 2, without the pairs of a sample with
        itself.
        """
        if self.proportions is None and q == 2:
            K = self.all.dense()
            return -math.log((np.sum(K**2) - len(K)) / (len(K) * (len(K) - 1)))
        return math.log(effective_number(self.eigenvalues, q))


def make_pools(data: Path) -> dict[str, Callable[[], Population]]:
    """Return functions that create the populations, by name."""
    counts = np.unique(read_column(data, "fine_label"), return_counts=True)[1]
    zipf = 1 / np.arange(1, N_LABELS + 1)
    return {
        "n-grams, TREC": lambda: Population(
            sorted(set(read_column(data, "question"))), k="ngram_overlap"
        ),
        "Tanimoto, odorants": lambda: Population(read_odorants(data), k="morgan"),
        "narrow RBF, MNIST": lambda: Population(read_images(data), k="rbf", sigma=5.0),
        "cosine, MNIST": lambda: Population(read_images(data), k="cosine"),
        "labels, Zipf": lambda: Population(proportions=zipf / zipf.sum()),
        "labels, TREC": lambda: Population(proportions=counts / counts.sum()),
    }


def mean_log_scores(population: Population, n: int, n_sets: int, seed: int) -> np.ndarray:
    """Return the mean log VS at each order, over new sets."""
    rng = np.random.default_rng([seed, n])
    logs = [
        np.log(compute_vendi_scores(population.draw(rng, n), list(ORDERS)).values)
        for _ in range(n_sets)
    ]
    return np.mean(np.array(logs, dtype=float), axis=0)


def summarize_intervals(
    results: list[Any], get_values: Callable[[Any], tuple[float, float, float]], truth: float
) -> Any:
    """Return how often intervals cover the truth or miss it on either side, and the error of the
    scores.
    """
    scores, low, high = np.log([get_values(result) for result in results]).T
    return {
        "covered": float(((low <= truth) & (truth <= high)).mean()),
        "above": float((low > truth).mean()),
        "below": float((high < truth).mean()),
        "bias": float(scores.mean() - truth),
        "deviation": float(scores.std()),
        "width": float(np.median(high - low)),
    }


def compute_rows(name: str, pool: Population, n: int, repeats: int) -> list[dict[str, Any]]:
    """Return the rows of sets of n samples, one for each order."""
    sizes = [n // 4, n, 2 * n]
    truths = {
        m: mean_log_scores(pool, m, 4 * repeats if m < 100 else 2 * repeats, 1) for m in sizes
    }
    rng = np.random.default_rng([2, n])
    sets = [pool.draw(rng, n) for _ in range(repeats)]
    rows = []
    for j, q in enumerate(ORDERS):
        growth_results = [growth_from_similarity(sample_set, sizes, q) for sample_set in sets]
        row: dict[str, Any] = {"name": name, "n": n, "q": str(q), "repeats": repeats}
        row["grows"] = float(truths[2 * n][j] - truths[n][j])
        for i, label in enumerate(SIZE_LABELS):
            row[label] = summarize_intervals(
                growth_results,
                lambda growth_result, i=i: (
                    growth_result.scores[i],
                    growth_result.low[i],
                    growth_result.high[i],
                ),
                truths[sizes[i]][j],
            )
        with_asymptote = [sample_set for sample_set in growth_results if sample_set.asymptote]
        row["asymptote"] = {"told": len(with_asymptote) / repeats, "score": math.exp(pool.limit(q))}
        if with_asymptote:
            row["asymptote"] |= summarize_intervals(
                with_asymptote, lambda growth_result: growth_result.asymptote, pool.limit(q)
            )
        rows.append(row)
        print(format_row(row), flush=True)
    return rows


def run_source(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the rows of one population, using one thread."""
    rows = []
    with threadpool_limits(1):
        population = make_pools(options.data)[name]()
        for n in SIZES:
            repeats = options.repeats if n < 100 else options.repeats // 2
            rows += compute_rows(name, population, n, repeats)
    return rows


def format_row(row: dict[str, Any]) -> str:
    """Return a row of results as a line of text."""
    parts = [f"{row['name']:18} n={row['n']:3} q={row['q']:4} grows {row['grows']:.3f}"]
    for label in (*SIZE_LABELS, "asymptote"):
        cell = row[label]
        text = f"{100 * cell['told']:.0f} % told " if "told" in cell else ""
        if "covered" in cell:
            sides = f"(above {100 * cell['above']:.1f}, below {100 * cell['below']:.1f})"
            text += f"{100 * cell['covered']:.1f} % {sides} bias {cell['bias']:+.3f}"
        parts.append(f"{label}: {text}")
    return " | ".join(parts)


def interpolate_diversity(counts: np.ndarray, m: int, q: int) -> float:
    """Return the diversity of order q for m ≤ n individuals (Chao et al. 2014, Table 1)."""
    n = counts.sum()
    if q == 2:
        return float(1 / (1 / m + (m - 1) / m * np.sum(counts * (counts - 1)) / (n * (n - 1))))

    def log_binomial(a: Any, b: Any) -> Any:
        return gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1)

    k = np.arange(1, m + 1)[:, None]
    possible = (k <= counts) & (m - k <= n - counts)
    with np.errstate(all="ignore"):
        logs = log_binomial(counts, k) + log_binomial(n - counts, m - k) - log_binomial(n, m)
    f = np.where(possible, np.exp(np.where(possible, logs, 0)), 0).sum(axis=1)
    k = k[:, 0]
    return float(f.sum() if q == 0 else np.exp(-np.sum(k / m * np.log(k / m) * f)))


def estimate_asymptotic_diversity(counts: np.ndarray, q: int) -> float:
    """Return the asymptotic diversity: Chao1 at q = 0; Chao, Wang & Jost 2013 at q = 1; the
    unbiased estimator at q = 2.
    """
    n, n_singletons, n_doubletons = counts.sum(), np.sum(counts == 1), np.sum(counts == 2)
    if q == 0:
        n_unseen = (  # estimated for an infinite sample
            n_singletons**2 / (2 * n_doubletons)
            if n_doubletons
            else n_singletons * (n_singletons - 1) / 2
        )
        return float(len(counts) + (n - 1) / n * n_unseen)
    if q == 2:
        return float(n * (n - 1) / np.sum(counts * (counts - 1)))
    A = 2 * n_doubletons / ((n - 1) * n_singletons + 2 * n_doubletons)
    r = np.arange(1, n)
    tail = -math.log(A) - np.sum((1 - A) ** r / r)
    entropy = np.sum(counts / n * (digamma(n) - digamma(counts)))
    return float(np.exp(entropy + n_singletons / n * (1 - A) ** (1 - n) * tail))


def extrapolate_diversity(counts: np.ndarray, m: int, q: int) -> float:
    """Return the diversity of order q for m > n individuals (Chao et al. 2014, Table 1)."""
    n, n_singletons = counts.sum(), np.sum(counts == 1)
    if q == 2:
        return interpolate_diversity(counts, m, 2)
    limit = estimate_asymptotic_diversity(counts, q)
    observed = len(counts) if q == 0 else interpolate_diversity(counts, n, 1)
    if q == 0:
        unseen = limit - observed
        return float(
            observed + unseen * (1 - (1 - n_singletons / (n * unseen + n_singletons)) ** (m - n))
        )
    return float(np.exp(n / m * np.log(observed) + (m - n) / m * np.log(limit)))


def compare_spiders() -> list[dict[str, Any]]:
    """Compare `growth` of the counts of spider species with the formulas of Chao et al."""
    rows = []
    for name, species in SPIDER_COUNTS.items():
        counts = np.array(species)
        n, labels = counts.sum(), np.repeat(np.arange(len(counts)), counts)
        for q in (0, 1, 2):
            half = int(n) // 2
            result = growth(labels, [half, int(n), 2 * int(n)], q=q, k="labels")
            ours = [*result.scores, result.asymptote[0] if result.asymptote else None]
            theirs = [interpolate_diversity(counts, half, q), interpolate_diversity(counts, n, q)]
            theirs += [
                extrapolate_diversity(counts, 2 * n, q),
                estimate_asymptotic_diversity(counts, q),
            ]
            intervals = [*zip(result.low, result.high, strict=True)]
            row = {"name": name, "q": q, "ours": ours, "chao": theirs, "intervals": intervals}
            row["limit_interval"] = result.asymptote and list(result.asymptote[1:])
            rows.append(row)
            print(row, flush=True)
    return rows


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument(
        "--only", default="", help="only populations of this name; other rows are kept"
    )
    options = parser.parse_args()
    rows = compare_spiders()
    if options.only:
        earlier_rows = json.loads(options.json.read_text(encoding="utf-8"))["rows"]
        rows += [
            row for row in earlier_rows if "chao" not in row and options.only not in row["name"]
        ]
    names = [name for name in make_pools(options.data) if options.only in name]
    with ProcessPoolExecutor() as processes:
        for result in processes.map(run_source, names, [options] * len(names)):
            rows += result
    write_results(options.json, rows, collect_environment() | {"repeats": options.repeats})


if __name__ == "__main__":
    main()
