"""Compare methods for the limits of the interval of a difference: power against error rate.

    python benchmarks/difference_ends.py --json benchmarks/results/difference_ends.json

The interval of log VS of one set combines several parts: the jackknife error on both sides; below,
the possibility that the most common item is more frequent than observed; above, the possibility
that equal pairs are rarer. This script combines them in several ways, without the p-value:

- "package": the limits of the package, which allow for unseen samples in more cases than the
  others;
- "farther above": above, the maximum of the jackknife error and the part of equal pairs; below, the
  root of the sum of squares, as in the package;
- "squares above": the root of the sum of squares also above, as in earlier versions;
- "Welch": Student's t with the degrees of freedom of both sets;
- "log scale": the difference of log VS;
- "Jeffreys": Jeffreys' instead of Clopper and Pearson's interval for the most common item;
- "farther below": the maximum instead of the root of the sum of squares below;
- "seen only": no allowance below for a more frequent item.

`right` is the proportion of runs in which the interval of two populations of power.py lies above 0,
averaged over populations; the score of the second is lower by a fifth. `wrong` is, for labels of
equal mean score, the proportion of runs in which the interval excludes 0 on its more frequent side:
the mean over pairs, the maximum, and the number of pairs above 2.5 %. The script takes five minutes
on one core.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from compare_null import CALIBRATION_SETS
from pairs import collect_environment, write_results
from power import calibrate, compute_log_scores_of_labels, make_sources
from threadpoolctl import threadpool_limits

from vendiscore.scoring.recurrence_intervals import (
    compute_log_score_interval,
    make_log_deficit,
    poisson_lower_limit,
)
from vendiscore.similarity.base import Similarity
from vendiscore.similarity.matrix import MatrixSimilarity
from vendiscore.tools.analysis.compare_options import CompareOptions
from vendiscore.tools.analysis.pair_inference import EQUALITY_TOLERANCE
from vendiscore.tools.analysis.unpaired_comparison import estimate_score

LEVEL = 0.95
RUNS = {8: 400, 20: 400, 50: 250, 100: 120}
POWER_RUNS = {8: 150, 20: 150, 50: 100, 100: 60}
# Maps a generator, the number of sets and n to labels (sets, n). Unique labels start at
# FIRST_UNIQUE_LABEL.
Draw = Callable[[np.random.Generator, int, int], np.ndarray]
FIRST_UNIQUE_LABEL = 10**6
MAX_RARE_PROPORTION = (
    0.25  # of samples other than the most common item; above it, unseen items are ignored
)


def one_common_label(proportion: float) -> Draw:
    """Return a population with one common label among unique labels."""
    return lambda rng, sets, n: np.where(
        rng.random((sets, n)) < proportion, 0, FIRST_UNIQUE_LABEL + np.arange(n)
    )


def two_common_labels(proportion: float) -> Draw:
    """Return a population with two common labels of this proportion each among unique labels."""

    def draw(rng: np.random.Generator, sets: int, n: int) -> np.ndarray:
        u = rng.random((sets, n))
        return np.where(
            u < 2 * proportion, (u < proportion).astype(int), FIRST_UNIQUE_LABEL + np.arange(n)
        )

    return draw


def even_labels(count: int) -> Draw:
    return lambda rng, sets, n: rng.integers(count, size=(sets, n))


def common_and_even_labels(proportion: float, count: int) -> Draw:
    """Return a population with one common label, and `count` others that are equally frequent."""
    return lambda rng, sets, n: np.where(
        rng.random((sets, n)) < proportion, 0, 1 + rng.integers(count, size=(sets, n))
    )


LABELS: dict[str, Draw] = {
    **{
        f"one of {100 * x:g} %": one_common_label(x)
        for x in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8)
    },
    **{f"{count} even": even_labels(count) for count in (3, 5, 10, 20, 50, 200)},
    "two of 10 %": two_common_labels(0.1),
    "two of 20 %": two_common_labels(0.2),
    "one of 30 %, 10 even": common_and_even_labels(0.3, 10),
    "one of 20 %, 200 even": common_and_even_labels(0.2, 200),
}


def mean_log_score(draw: Draw, n: int) -> float:
    return float(
        compute_log_scores_of_labels(draw(np.random.default_rng(1), CALIBRATION_SETS, n)).mean()
    )


def find_source_with_mean(
    make: Callable[[float], Draw], highest: float, n: int, mean: float
) -> Draw | None:
    """Return the population of a family that has this mean score; None if there is none."""

    def excess(x: float) -> float:
        return mean_log_score(make(x), n) - mean

    if excess(0.0) * excess(highest) > 0:
        return None
    return make(float(scipy.optimize.brentq(excess, 0.0, highest, xtol=1e-4)))


def equally_similar(n: int, mean: float) -> Similarity:
    """Return n equally similar samples with this log VS."""

    def excess(similarity: float) -> float:
        values = np.r_[1 + (n - 1) * similarity, np.full(n - 1, 1 - similarity)] / n
        return float(-(values * np.log(values)).sum()) - mean

    similarity = float(scipy.optimize.brentq(excess, 0.0, 1 - 1e-9))
    return MatrixSimilarity(similarity + (1 - similarity) * np.eye(n))


def compute_interval_parts(similarity: Similarity) -> np.ndarray:
    """Return the parts from which the interval of one set is computed."""
    n = similarity.n
    result, recurrences = estimate_score(similarity, n, CompareOptions().checked())
    assert recurrences is not None
    recurrences = recurrences._replace(conservative_tails=True)
    deficit_of = make_log_deficit(1.0)
    deficit = math.log(n) - float(result.log_score)
    K, counts, n_distinct = recurrences.K, recurrences.counts, len(recurrences.counts)
    above = 0.0
    if recurrences.equal_pairs and n_distinct > 1:
        deficit_without_repeats = deficit_of(K, np.full(n_distinct, 1 / n_distinct), n_distinct)
        above = max(
            0.0,
            (deficit - deficit_without_repeats)
            * (1 - poisson_lower_limit(recurrences.equal_pairs, LEVEL) / recurrences.equal_pairs),
        )
    below, above_unseen = [], []
    for exact in (True, False):
        fewest, highest = recurrences._replace(
            conservative_tails=exact
        ).compute_proportion_interval(LEVEL)
        below.append(
            max(0.0, deficit_of(K, recurrences.raise_central_proportion(highest), n) - deficit)
        )
        n_others = n * (1 - fewest)
        n_whole = int(n_others)
        proportions = np.r_[fewest, np.full(n_whole, 1 / n), (n_others - n_whole) / n]
        has_few_others = n - counts.max() <= MAX_RARE_PROPORTION * n
        above_unseen.append(
            deficit_of(np.eye(len(proportions)), proportions, n) if has_few_others else math.nan
        )
    repeat_factor = math.sqrt(np.count_nonzero(counts > 1)) / n_distinct
    package_interval = compute_log_score_interval(result, n, 1.0, LEVEL, recurrences)
    repeat_error = 2 * n * float(result.mean_drop) * repeat_factor
    error = float(result.error)
    return np.array(
        [
            result.log_score,
            error,
            repeat_error,
            recurrences.equal_pairs,
            *below,
            above,
            *above_unseen,
            n,
            *package_interval,
        ]
    )


METHODS: dict[str, dict[str, Any]] = {
    "package": {},
    "farther above": {"above": np.maximum},
    "squares above": {"above": np.hypot},
    "Welch": {"welch": True},
    "log scale": {"log": True},
    "Jeffreys": {"jeffreys": True},
    "farther below": {"below": np.maximum},
    "seen only": {"seen": True},
}


def compute_interval(parts: np.ndarray, options: dict[str, Any]) -> tuple[np.ndarray, ...]:
    """Return log VS and both limits for sets; `parts` is an array of shape (sets, columns) from
    `compute_interval_parts`.
    """
    log, error, second, pairs, exact, jeffreys, above, odd, odd_jeffreys, n, low, high = parts.T
    if not options:
        return log, low, high
    t_quantile = scipy.stats.t.ppf((1 + LEVEL) / 2, (2 * n - 2) if "welch" in options else (n - 1))
    weight = np.where((error > 1e-9) & (pairs > n), n / np.maximum(pairs, 1), 1.0)
    error = t_quantile * np.hypot(error, (1 - weight) * second)
    below = jeffreys if "jeffreys" in options else exact
    lower_reach = options.get("below", np.hypot)(error, weight * below)
    deficit = np.log(n) - log - options.get("above", np.maximum)(error, weight * above)
    deficit = np.fmin(deficit, odd_jeffreys if "jeffreys" in options else odd)
    lower_reach = error if "seen" in options else lower_reach
    return log, np.maximum(0.0, log - lower_reach), np.log(n) - np.maximum(0.0, deficit)


def exclude_zero(a: np.ndarray, b: np.ndarray, options: dict[str, Any]) -> tuple[float, float]:
    """Return how often the interval of a − b lies above 0, and below 0 (Zou & Donner 2008)."""
    (x, x_low, x_high), (y, y_low, y_high) = (compute_interval(parts, options) for parts in (a, b))
    if "log" not in options:
        x, x_low, x_high, y, y_low, y_high = map(np.exp, (x, x_low, x_high, y, y_low, y_high))
    difference = np.where(np.abs(x - y) < EQUALITY_TOLERANCE * np.abs(x), 0.0, x - y)
    low = difference - np.hypot(x - x_low, y_high - y)
    high = difference + np.hypot(x_high - x, y - y_low)
    return float(np.mean(low > EQUALITY_TOLERANCE)), float(np.mean(high < -EQUALITY_TOLERANCE))


def compute_label_parts(draw: Draw, n: int, name: str) -> np.ndarray:
    """Return `compute_interval_parts` of many sets of labels; sets with equal counts are computed
    once.
    """
    rng = np.random.default_rng([n, *name.encode()])
    cache: dict[tuple[int, ...], np.ndarray] = {}
    rows = []
    for labels in draw(rng, RUNS[n], n):
        counts = np.sort(np.unique(labels, return_counts=True)[1])
        key = tuple(counts.tolist())
        if key not in cache:
            codes = np.repeat(np.arange(len(counts)), counts)
            cache[key] = compute_interval_parts(
                MatrixSimilarity((codes[:, None] == codes).astype(float))
            )
        rows.append(cache[key])
    return np.array(rows)


def equal_pairs(n: int) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Compute the parts of intervals for pairs of populations with equal mean scores.

    Each row contains the name of the pair, and the parts for samples of both populations.
    """
    result = []
    for name, draw in LABELS.items():
        mean = mean_log_score(draw, n)
        a = compute_label_parts(draw, n, name)
        if 0 < mean < math.log(n) - 1e-3:
            b = np.tile(compute_interval_parts(equally_similar(n, mean)), (len(a), 1))
            result.append((f"{name}, one similarity", a, b))
        for family, make_source, highest in (
            ("one", one_common_label, 1.0),
            ("two", two_common_labels, 0.5),
        ):
            equal = find_source_with_mean(make_source, highest, n, mean)
            if equal is not None and not name.startswith(family):
                key = f"{name}, {family} common"
                result.append((key, a, compute_label_parts(equal, n, key)))
    return result


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    with threadpool_limits(1):
        power_sets: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {n: [] for n in POWER_RUNS}
        for source in make_sources():
            for n, runs in POWER_RUNS.items():
                proportion, _ = calibrate(source, n)
                rng = np.random.default_rng([n, *source.name.encode()])
                a, b = (
                    np.array(
                        [
                            compute_interval_parts(source.pool.take(x))
                            for x in source.draw(rng, runs, n, draw_proportion)
                        ]
                    )
                    for draw_proportion in (0.0, proportion)
                )
                power_sets[n].append((a, b))
        for n in RUNS:
            equal_mean_pairs = equal_pairs(n)
            for name, method_options in METHODS.items():
                wrong = [
                    (max(exclude_zero(a, b, method_options)), key) for key, a, b in equal_mean_pairs
                ]
                rates = np.array([rate for rate, _ in wrong])
                right = [exclude_zero(a, b, method_options)[0] for a, b in power_sets[n]]
                row = {"name": name, "n": n, "right": float(np.mean(right)), "rights": right}
                row |= {"wrong": float(rates.mean()), "worst": max(wrong)[0], "of": max(wrong)[1]}
                row |= {"above": int((rates > 0.025).sum()), "pairs": len(wrong), "runs": RUNS[n]}
                print({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()})
                rows.append(row)
    write_results(options.json, rows, collect_environment() | {"level": LEVEL})


if __name__ == "__main__":
    main()
