"""Coverage of intervals of the mean score over few prompts, and of mean differences.

    python benchmarks/prompt_means.py --data DATA --json benchmarks/results/prompt_means.json

The populations are the answers of humans and models to 100 to 250 prompts (`answers` of
few_samples.py). Prompts are drawn with replacement, so the mean over all prompts is known.

- `choose`: coverage of the interval for several weights of the pseudo-observation at a limit, with
  random weights, only on the sources in DEVELOPMENT_SOURCES. `PSEUDO_WEIGHT` of
  `vendiscore/scoring/bayesian_bootstrap.py` was chosen with them, before the others were used.
- `means`: coverage of the interval of `compute` (keys without a suffix), of Student's t, and of the
  jackknife of the logit, on all sources. `chosen_on` marks the sources that were used for the
  choice. `width` is the median width divided by that of ±1.96 standard errors of the population.
- `differences`: the difference of two sources of NoveltyBench by prompt. The rows contain the
  coverage of its interval and how often it lies above and below the true difference; how often p is
  at most 0.05 or 0.01, and how often a direction is stated, if names are permuted at random
  (`exchanged`) or if the answers of one source are divided at random (`split`); and how often the
  right direction is stated.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from few_samples import answers
from pairs import DATA, collect_environment, write_results

from vendiscore import as_similarity
from vendiscore.scoring.bayesian_bootstrap import PSEUDO_WEIGHT
from vendiscore.scoring.subsampling import bounded_mean_interval, logit_interval, student_interval
from vendiscore.similarity.base import Similarity
from vendiscore.spectral.stacked_spectra import StackedSpectra
from vendiscore.support.namespace import to_host
from vendiscore.tools.analysis.pair_inference import (
    can_sign_flips_reach,
    estimate_paired_difference,
    exact_p_value,
    student_p_value,
)
from vendiscore.tools.analysis.paired_comparison import _flip_all_signs, _studentized_means

LEVEL = 0.95
DEVELOPMENT_SOURCES = (
    "human",
    "McDiv_nuggets, story_gen",
    "conTest, prompt_gen",
    "decTest, story_gen",
)
NOVELTYBENCH_SOURCES = ("human", "gemini-1.5-pro", "gpt-4o")
MEAN_PROMPT_COUNTS = (4, 6, 12, 30)
FEW_ANSWERS, WEIGHT_PROMPT_COUNTS = 4, (3, 4, 6, 8, 12, 20, 30, 50)
WEIGHTS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2)
RANDOM_WEIGHTS = 2000
DIFFERENCE_PROMPT_COUNTS = (3, 4, 5, 6, 8, 10, 12, 20)
N_SIGN_FLIPS = 499  # random sign flips, if not all are enumerated
PARTS = ("choose", "means", "differences")
Rows = list[dict[str, Any]]


class Source:
    """The answers to each prompt; all prompts have equally many."""

    def __init__(self, sets: list[list[str]]) -> None:
        self.n_prompts, self.n_answers = len(sets), len(sets[0])
        self.similarity: Similarity = as_similarity(
            [text for answers_to_prompt in sets for text in answers_to_prompt]
        )

    def scores(self, q: float, count: int) -> np.ndarray:
        """Return the score of the first `count` answers to each prompt."""
        indices = np.arange(self.n_prompts)[:, None] * self.n_answers + np.arange(count)
        return self.score(indices, q)

    def score(self, indices: np.ndarray, q: float = 1.0) -> np.ndarray:
        K = to_host(self.similarity.stack(indices))
        return np.asarray(StackedSpectra(K, None, [q]).values[0])


def count_coverage(low: np.ndarray, high: np.ndarray, truth: float) -> dict[str, float]:
    """Return how often intervals cover the truth, lie above it, and lie below it."""
    above = float(np.mean(low > truth + 1e-9))
    below = float(np.mean(high < truth - 1e-9))
    return {"held": 1 - above - below, "above": above, "below": below}


def iter_cells(source: Source) -> Iterator[tuple[float, int, np.ndarray]]:
    """Yield the order, the number of answers, and the score of each prompt."""
    for q, count in itertools.product((1.0, 2.0), sorted({FEW_ANSWERS, source.n_answers})):
        yield q, count, source.scores(q, count)


def compare_weights(sources: dict[str, Source], draws: int) -> Rows:
    """Count the coverage of intervals for several weights of the pseudo-observation."""
    rows: Rows = []
    for name in DEVELOPMENT_SOURCES:
        for q, count, scores in iter_cells(sources[name]):
            truth = float(scores.mean())
            for m in WEIGHT_PROMPT_COUNTS:
                rng = np.random.default_rng([m, count, int(q)])
                drawn_scores = scores[rng.integers(len(scores), size=(draws, m))]
                logits = np.array(
                    [compute_logit_interval(values, float(count)) for values in drawn_scores]
                ).T
                gammas = rng.exponential(size=(RANDOM_WEIGHTS, m))
                sums = drawn_scores @ gammas.T
                wide = 3.92 * float(scores.std()) / math.sqrt(m)
                row: dict[str, Any] = {"part": "choose", "name": name, "q": q, "answers": count}
                row |= {"prompts": m}
                for weight in WEIGHTS:
                    extra = rng.gamma(weight, size=RANDOM_WEIGHTS)
                    total = gammas.sum(axis=1) + extra
                    low = np.quantile((sums + extra) / total, (1 - LEVEL) / 2, axis=1)
                    high = np.quantile((sums + count * extra) / total, (1 + LEVEL) / 2, axis=1)
                    low, high = np.minimum(low, logits[0]), np.maximum(high, logits[1])
                    row[f"held_{weight}"] = count_coverage(low, high, truth)["held"]
                    row[f"width_{weight}"] = float(np.median(high - low)) / wide
                rows.append(row)
    for weight in WEIGHTS:
        coverage = np.array([row[f"held_{weight}"] for row in rows])
        width = np.exp(np.mean(np.log([row[f"width_{weight}"] for row in rows])))
        print(
            f"weight {weight}: at least {coverage.min():.3f}, below 0.93 in "
            f"{(coverage < 0.93).sum()} of "
            f"{len(coverage)} cells, width {width:.2f}",
            flush=True,
        )
    return rows


def compute_logit_interval(values: np.ndarray, upper: float) -> tuple[float, float]:
    n, mean = len(values), float(values.mean())
    return logit_interval(mean, (n * mean - values) / (n - 1), LEVEL, 1.0, upper)


def count_mean_coverage(sources: dict[str, Source], draws: int) -> Rows:
    """Count how often intervals of the mean over few prompts cover the mean over all prompts."""
    rows: Rows = []
    for name, source in sources.items():
        for q, count, scores in iter_cells(source):
            truth = float(scores.mean())
            for m in MEAN_PROMPT_COUNTS:
                rng = np.random.default_rng([m, count, int(q), 1])
                drawn_scores = scores[rng.integers(len(scores), size=(draws, m))]
                row: dict[str, Any] = {"part": "means", "name": name, "q": q, "answers": count}
                row |= {"prompts": m, "mean": truth, "chosen_on": name in DEVELOPMENT_SOURCES}
                intervals_by_method = {
                    "": [
                        bounded_mean_interval(values, LEVEL, 1.0, float(count))[2:]
                        for values in drawn_scores
                    ],
                    "_student": [student_interval(values, LEVEL)[2:] for values in drawn_scores],
                    "_logit": [
                        compute_logit_interval(values, float(count)) for values in drawn_scores
                    ],
                }
                wide = 3.92 * float(scores.std()) / math.sqrt(m)
                for method, ends in intervals_by_method.items():
                    low, high = np.array(ends).T
                    row |= {
                        f"{key}{method}": x for key, x in count_coverage(low, high, truth).items()
                    }
                    row[f"width{method}"] = float(np.median(high - low)) / wide
                rows.append(row)
                print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()})
    for chosen in (True, False):
        coverage = np.array([row["held"] for row in rows if row["chosen_on"] == chosen])
        print(
            f"used for the choice: {chosen}: {coverage.min():.3f} to {coverage.max():.3f} in "
            f"{len(coverage)} cells"
        )
    return rows


def compute_p_value(differences: np.ndarray, rng: np.random.Generator) -> float:
    """Return the p-value of `compare` for these differences by prompt, for one pair at level
    0.95.
    """
    if not can_sign_flips_reach(LEVEL, len(differences)):
        return student_p_value(differences)
    observed = float(_studentized_means(differences))
    if len(differences) <= 11:
        return exact_p_value(observed, _flip_all_signs(differences))
    signs = rng.choice([-1, 1], (N_SIGN_FLIPS, len(differences)))
    return exact_p_value(observed, _studentized_means(signs * differences))


def infer_direction(
    differences: np.ndarray, rng: np.random.Generator
) -> tuple[float, float, float, float]:
    """Return the p-value, both limits of the interval, and the sign of the stated direction, or
    0.
    """
    p = compute_p_value(differences, rng)
    _, low, high = estimate_paired_difference(differences, np.zeros(len(differences)), LEVEL)
    sign = float(np.sign(low)) if p <= 1 - LEVEL + 1e-12 and (low > 0 or high < 0) else 0.0
    return p, low, high, sign


def count_null_directions(kind: str, name: str, m: int, outcomes: np.ndarray) -> dict[str, Any]:
    """Return how often p-values are small and a direction is stated if the sets do not differ."""
    p, _, _, sign = outcomes.T
    row = {"part": "differences", "kind": kind, "name": name, "prompts": m}
    row |= {f"p_{level}": float(np.mean(p <= level + 1e-12)) for level in (0.05, 0.01)}
    row["stated"] = float(np.mean(sign != 0))
    print(row, flush=True)
    return row


def count_difference_coverage(sources: dict[str, Source], draws: int) -> Rows:
    """Return how often intervals of differences cover the true difference, and which directions
    are stated, for pairs of sources, with random signs, and for random halves of one source.
    """
    rows: Rows = []
    for count, (a, b) in itertools.product((4, 8), itertools.combinations(NOVELTYBENCH_SOURCES, 2)):
        all_differences = sources[a].scores(1.0, count) - sources[b].scores(1.0, count)
        truth = float(all_differences.mean())
        larger = max(sources[name].scores(1.0, count).mean() for name in (a, b))
        for m in DIFFERENCE_PROMPT_COUNTS:
            rng = np.random.default_rng([m, count])
            drawn_differences = all_differences[rng.integers(len(all_differences), size=(draws, m))]
            _, low, high, sign = np.array(
                [infer_direction(differences, rng) for differences in drawn_differences]
            ).T
            row: dict[str, Any] = {"part": "differences", "kind": "true", "name": f"{a}, {b}"}
            row |= {"answers": count, "prompts": m, "difference": truth}
            row |= {"proportion": abs(truth) / larger, **count_coverage(low, high, truth)}
            row |= {
                "right": float(np.mean(sign * truth > 0)),
                "wrong": float(np.mean(sign * truth < 0)),
            }
            print(row, flush=True)
            rows.append(row)
            signs = rng.choice([-1, 1], drawn_differences.shape)
            result = np.array(
                [infer_direction(differences, rng) for differences in drawn_differences * signs]
            )
            rows.append(
                count_null_directions("exchanged", f"{a}, {b}", m, result) | {"answers": count}
            )
    for name in NOVELTYBENCH_SOURCES:
        source = sources[name]
        half = source.n_answers // 2
        for m in DIFFERENCE_PROMPT_COUNTS:
            rng = np.random.default_rng(m)
            prompts = rng.integers(source.n_prompts, size=(draws * m, 1))
            order = np.argsort(rng.random((draws * m, source.n_answers)), axis=1)
            indices = prompts * source.n_answers + order
            halves = (indices[:, :half], indices[:, half : 2 * half])
            scores = [source.score(half_indices).reshape(draws, m) for half_indices in halves]
            result = np.array(
                [infer_direction(differences, rng) for differences in np.subtract(*scores)]
            )
            rows.append(count_null_directions("split", name, m, result) | {"answers": half})
    return rows


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    sources = {name: Source(sets) for name, sets in answers(options.data).items()}
    rows: Rows = []
    if "choose" in options.parts:
        rows += compare_weights(sources, options.draws)
    if "means" in options.parts:
        rows += count_mean_coverage(sources, options.draws)
    if "differences" in options.parts:
        rows += count_difference_coverage(sources, options.draws)
    facts = {"draws": options.draws, "level": LEVEL, "weight": PSEUDO_WEIGHT}
    write_results(options.json, rows, collect_environment() | facts)


if __name__ == "__main__":
    main()
