"""Errors of `growth` with few samples: from how many samples are its curves informative?

    python benchmarks/growth_few.py --json benchmarks/results/growth_few.json

Sets of 5, 10, 20, 50 and 100 samples are drawn from labels (Zipf's law with 200 labels, the fine
labels of TREC, geometric proportions, ten equally frequent labels), clusters of vectors (20 by
Zipf's law, 10 equally frequent, with an RBF kernel) and texts (TREC questions with n-grams and with
static word vectors). `growth` estimates the scores of n and 2n samples at orders 1 and 2. The rows
for each population, size and order contain

- how often the 95 % intervals at n and at 2n cover E log VS of so many samples, the mean over other
  sets;
- `error`: the root mean square error of log VS at 2n; `plain`: the same if the score at n is used
  as the estimate for 2n;
- `width`: the median of log(high / low) at 2n;
- `undecided`: how often the interval at 2n contains both the score at n and twice that score. The
  score of twice as many samples lies between these values, so such an interval is not informative;
- for the limit: its bias on the log scale, and how often it exceeds the true limit.

The script takes about nine minutes on one core.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from growth import N_LABELS, Population, read_column
from pairs import DATA, collect_environment, write_results
from threadpoolctl import threadpool_limits

from vendiscore import as_similarity, effective_number
from vendiscore.similarity.base import Similarity
from vendiscore.spectral.vendi_scores import compute_vendi_scores
from vendiscore.tools.analysis.growth import MIN_EXTRAPOLATED_SIZE, growth_from_similarity

SIZES, ORDERS = (5, 10, 20, 50, 100), (1.0, 2.0)
DIMENSIONS, SPREAD, SIGMA = 8, 0.1, 1.0  # of clusters; centres are standard normal


class Clusters(Population):
    """Vectors around centres that are chosen in proportion to `proportions`."""

    def __init__(self, proportions: np.ndarray) -> None:
        super().__init__(proportions=proportions)
        rng = np.random.default_rng(5)
        self.centres = rng.standard_normal((len(proportions), DIMENSIONS))

    def draw(self, rng: np.random.Generator, n: int) -> Similarity:
        labels = rng.choice(len(self.proportions), n, p=self.proportions)
        X = self.centres[labels] + SPREAD * rng.standard_normal((n, DIMENSIONS))
        return as_similarity(X, k="rbf", sigma=SIGMA)


def zipf_proportions(n_labels: int) -> np.ndarray:
    weights = 1 / np.arange(1, n_labels + 1)
    return np.asarray(weights / weights.sum())


def make_populations(data: Path) -> dict[str, Callable[[], Population]]:
    """Return functions that create the populations, by name."""
    counts = np.unique(read_column(data, "fine_label"), return_counts=True)[1]
    geometric = 0.8 ** np.arange(60)
    questions = sorted(set(read_column(data, "question")))
    return {
        "labels, Zipf": lambda: Population(proportions=zipf_proportions(N_LABELS)),
        "labels, TREC": lambda: Population(proportions=counts / counts.sum()),
        "labels, geometric": lambda: Population(proportions=geometric / geometric.sum()),
        "labels, ten even": lambda: Population(proportions=np.full(10, 0.1)),
        "clusters, Zipf": lambda: Clusters(zipf_proportions(20)),
        "clusters, ten even": lambda: Clusters(np.full(10, 0.1)),
        "n-grams, TREC": lambda: Population(questions, k="ngram_overlap"),
        "static vectors, TREC": lambda: Population(questions, k="static"),
    }


def mean_log_scores(population: Population, m: int, n_sets: int) -> np.ndarray:
    """Return the mean log VS of new sets of m samples at each order."""
    rng = np.random.default_rng([1, m])
    logs = [
        np.log(compute_vendi_scores(population.draw(rng, m), list(ORDERS)).values)
        for _ in range(n_sets)
    ]
    return np.mean(np.array(logs, dtype=float), axis=0)


def root_mean_square(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def compute_rows(name: str, population: Population, n: int, repeats: int) -> list[dict[str, Any]]:
    """Return the rows of sets of n samples, one for each order."""
    n_sets = 800 if n < 50 else 300
    at_n, at_2n = mean_log_scores(population, n, n_sets), mean_log_scores(population, 2 * n, n_sets)
    rng = np.random.default_rng([2, n])
    sets = [population.draw(rng, n) for _ in range(repeats)]
    is_labels = type(population) is Population and population.proportions is not None
    rows = []
    for q, of_n, of_2n in zip(ORDERS, at_n, at_2n, strict=True):
        can_extrapolate = is_labels or q == 2 or n >= MIN_EXTRAPOLATED_SIZE
        growth_results = [
            growth_from_similarity(sample_set, [n, 2 * n] if can_extrapolate else [n], q)
            for sample_set in sets
        ]
        scores, low, high = (
            np.log([getattr(result, attribute) for result in growth_results])
            for attribute in ("scores", "low", "high")
        )
        row: dict[str, Any] = {"name": name, "n": n, "q": q, "repeats": repeats}
        row["grows"] = float(of_2n - of_n)
        row["covered_at_n"] = float(((low[:, 0] <= of_n) & (of_n <= high[:, 0])).mean())
        if can_extrapolate:
            log_scores_at_n = scores[:, 0]
            row["covered_at_2n"] = float(((low[:, 1] <= of_2n) & (of_2n <= high[:, 1])).mean())
            row["error"] = root_mean_square(scores[:, 1] - of_2n)
            row["plain"] = root_mean_square(log_scores_at_n - of_2n)
            row["width"] = float(np.median(high[:, 1] - low[:, 1]))
            contains_both = (low[:, 1] <= log_scores_at_n) & (
                high[:, 1] >= log_scores_at_n + math.log(2)
            )
            row["undecided"] = float(contains_both.mean())
        limits = [math.log(result.asymptote[0]) for result in growth_results if result.asymptote]
        if is_labels and limits:
            truth = math.log(effective_number(population.eigenvalues, q))
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
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    with threadpool_limits(1):
        for name, make_population in make_populations(options.data).items():
            population = make_population()
            for n in SIZES:
                rows += compute_rows(
                    name, population, n, options.repeats if n < 50 else options.repeats // 2
                )
    write_results(options.json, rows, collect_environment() | {"repeats": options.repeats})


if __name__ == "__main__":
    main()
