"""Do intervals of the mean score over few prompts, and of a mean difference, hold on real answers?

    python benchmarks/prompt_means.py --data DATA --json benchmarks/results/prompt_means.json

Sources are the answers of people and models to 100 to 250 prompts (`answers` of few_samples.py),
whose prompts are drawn with replacement, so that the mean over all of them is known.

- `choose`: coverage of the interval with several weights of the pseudo-observation at a bound, by
  random weights, on the sources in CHOSEN_ON alone. `PSEUDO_WEIGHT` of
  `vendiscore/scoring/bayesian_bootstrap.py` was chosen there, before the others were looked at.
- `means`: coverage of the interval of `compute` (in the rows `held`), of Student's t, and of the
  jackknife of the logit, on all sources; `chosen_on` tells which are no evidence. `width` is the
  median width over that of ±1.96 standard errors of the source itself.
- `differences`: the difference of two sources of NoveltyBench, per prompt: coverage of its
  interval, and how often it lies above and below the true difference; how often p is 0.05 or 0.01
  at most, and a direction is stated, where names are exchanged at random (`exchanged`) or the
  answers of one source are split at random (`split`); and how often the right direction is stated.
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
from pairs import DATA, environment, write

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
CHOSEN_ON = ("human", "McDiv_nuggets, story_gen", "conTest, prompt_gen", "decTest, story_gen")
NOVELTY = ("human", "gemini-1.5-pro", "gpt-4o")
PROMPTS = (4, 6, 12, 30)
FEW, MANY_PROMPTS = 4, (3, 4, 6, 8, 12, 20, 30, 50)
WEIGHTS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2)
RANDOM_WEIGHTS = 2000
DIFFERENCES = (3, 4, 5, 6, 8, 10, 12, 20)
SIGNS = 499  # random ones, where not all are tried
PARTS = ("choose", "means", "differences")
Rows = list[dict[str, Any]]


class Source:
    """The answers to each prompt, as many to all of them."""

    def __init__(self, sets: list[list[str]]) -> None:
        self.prompts, self.answers = len(sets), len(sets[0])
        self.similarity: Similarity = as_similarity([text for own in sets for text in own])

    def scores(self, q: float, count: int) -> np.ndarray:
        """Return the score of the first answers to each prompt."""
        indices = np.arange(self.prompts)[:, None] * self.answers + np.arange(count)
        return self.score(indices, q)

    def score(self, indices: np.ndarray, q: float = 1.0) -> np.ndarray:
        K = to_host(self.similarity.stack(indices))
        return np.asarray(StackedSpectra(K, None, [q]).values[0])


def counted(low: np.ndarray, high: np.ndarray, truth: float) -> dict[str, float]:
    """Return how often intervals hold the truth, lie above it, and below."""
    above = float(np.mean(low > truth + 1e-9))
    below = float(np.mean(high < truth - 1e-9))
    return {"held": 1 - above - below, "above": above, "below": below}


def cells(source: Source) -> Iterator[tuple[float, int, np.ndarray]]:
    """Yield the order, the number of answers, and the score of each prompt."""
    for q, count in itertools.product((1.0, 2.0), sorted({FEW, source.answers})):
        yield q, count, source.scores(q, count)


def choose_rows(sources: dict[str, Source], draws: int) -> Rows:
    """Count intervals with several weights, from random weights of the values."""
    rows: Rows = []
    for name in CHOSEN_ON:
        for q, count, scores in cells(sources[name]):
            truth = float(scores.mean())
            for m in MANY_PROMPTS:
                rng = np.random.default_rng([m, count, int(q)])
                drawn = scores[rng.integers(len(scores), size=(draws, m))]
                logits = np.array([logit_ends(values, float(count)) for values in drawn]).T
                gammas = rng.exponential(size=(RANDOM_WEIGHTS, m))
                sums = drawn @ gammas.T
                wide = 3.92 * float(scores.std()) / math.sqrt(m)
                row: dict[str, Any] = {"part": "choose", "name": name, "q": q, "answers": count}
                row |= {"prompts": m}
                for weight in WEIGHTS:
                    extra = rng.gamma(weight, size=RANDOM_WEIGHTS)
                    total = gammas.sum(axis=1) + extra
                    low = np.quantile((sums + extra) / total, (1 - LEVEL) / 2, axis=1)
                    high = np.quantile((sums + count * extra) / total, (1 + LEVEL) / 2, axis=1)
                    low, high = np.minimum(low, logits[0]), np.maximum(high, logits[1])
                    row[f"held_{weight}"] = counted(low, high, truth)["held"]
                    row[f"width_{weight}"] = float(np.median(high - low)) / wide
                rows.append(row)
    for weight in WEIGHTS:
        held = np.array([row[f"held_{weight}"] for row in rows])
        width = np.exp(np.mean(np.log([row[f"width_{weight}"] for row in rows])))
        print(
            f"weight {weight}: at least {held.min():.3f}, below .93 in {(held < 0.93).sum()} of "
            f"{len(held)} cells, width {width:.2f}",
            flush=True,
        )
    return rows


def logit_ends(values: np.ndarray, most: float) -> tuple[float, float]:
    n, mean = len(values), float(values.mean())
    return logit_interval(mean, (n * mean - values) / (n - 1), LEVEL, 1.0, most)


def means_rows(sources: dict[str, Source], draws: int) -> Rows:
    """Count intervals of the mean over few prompts that hold the mean over all."""
    rows: Rows = []
    for name, source in sources.items():
        for q, count, scores in cells(source):
            truth = float(scores.mean())
            for m in PROMPTS:
                rng = np.random.default_rng([m, count, int(q), 1])
                drawn = scores[rng.integers(len(scores), size=(draws, m))]
                row: dict[str, Any] = {"part": "means", "name": name, "q": q, "answers": count}
                row |= {"prompts": m, "mean": truth, "chosen_on": name in CHOSEN_ON}
                ways = {
                    "": [
                        bounded_mean_interval(values, LEVEL, 1.0, float(count))[2:]
                        for values in drawn
                    ],
                    "_student": [student_interval(values, LEVEL)[2:] for values in drawn],
                    "_logit": [logit_ends(values, float(count)) for values in drawn],
                }
                wide = 3.92 * float(scores.std()) / math.sqrt(m)
                for way, ends in ways.items():
                    low, high = np.array(ends).T
                    row |= {f"{key}{way}": x for key, x in counted(low, high, truth).items()}
                    row[f"width{way}"] = float(np.median(high - low)) / wide
                rows.append(row)
                print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()})
    for chosen in (True, False):
        held = np.array([row["held"] for row in rows if row["chosen_on"] == chosen])
        print(f"chosen on: {chosen}: {held.min():.3f} to {held.max():.3f} in {len(held)} cells")
    return rows


def p_value(differences: np.ndarray, rng: np.random.Generator) -> float:
    """Return p of `compare` for these differences of prompts, at one pair and level 0.95."""
    if not can_sign_flips_reach(LEVEL, len(differences)):
        return student_p_value(differences)
    observed = float(_studentized_means(differences))
    if len(differences) <= 11:
        return exact_p_value(observed, _flip_all_signs(differences))
    signs = rng.choice([-1, 1], (SIGNS, len(differences)))
    return exact_p_value(observed, _studentized_means(signs * differences))


def stated(differences: np.ndarray, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Return p, both ends of the interval, and the sign of the direction that is stated, or 0."""
    p = p_value(differences, rng)
    _, low, high = estimate_paired_difference(differences, np.zeros(len(differences)), LEVEL)
    sign = float(np.sign(low)) if p <= 1 - LEVEL + 1e-12 and (low > 0 or high < 0) else 0.0
    return p, low, high, sign


def null_row(kind: str, name: str, m: int, found: np.ndarray) -> dict[str, Any]:
    p, _, _, sign = found.T
    row = {"part": "differences", "kind": kind, "name": name, "prompts": m}
    row |= {f"p_{level}": float(np.mean(p <= level + 1e-12)) for level in (0.05, 0.01)}
    row["stated"] = float(np.mean(sign != 0))
    print(row, flush=True)
    return row


def differences_rows(sources: dict[str, Source], draws: int) -> Rows:
    rows: Rows = []
    for count, (a, b) in itertools.product((4, 8), itertools.combinations(NOVELTY, 2)):
        all_differences = sources[a].scores(1.0, count) - sources[b].scores(1.0, count)
        truth = float(all_differences.mean())
        larger = max(sources[each].scores(1.0, count).mean() for each in (a, b))
        for m in DIFFERENCES:
            rng = np.random.default_rng([m, count])
            drawn = all_differences[rng.integers(len(all_differences), size=(draws, m))]
            _, low, high, sign = np.array([stated(each, rng) for each in drawn]).T
            row: dict[str, Any] = {"part": "differences", "kind": "true", "name": f"{a}, {b}"}
            row |= {"answers": count, "prompts": m, "difference": truth}
            row |= {"proportion": abs(truth) / larger, **counted(low, high, truth)}
            row |= {
                "right": float(np.mean(sign * truth > 0)),
                "wrong": float(np.mean(sign * truth < 0)),
            }
            print(row, flush=True)
            rows.append(row)
            signs = rng.choice([-1, 1], drawn.shape)
            result = np.array([stated(each, rng) for each in drawn * signs])
            rows.append(null_row("exchanged", f"{a}, {b}", m, result) | {"answers": count})
    for name in NOVELTY:
        source = sources[name]
        half = source.answers // 2
        for m in DIFFERENCES:
            rng = np.random.default_rng(m)
            prompts = rng.integers(source.prompts, size=(draws * m, 1))
            order = np.argsort(rng.random((draws * m, source.answers)), axis=1)
            indices = prompts * source.answers + order
            halves = (indices[:, :half], indices[:, half : 2 * half])
            scores = [source.score(part).reshape(draws, m) for part in halves]
            result = np.array([stated(each, rng) for each in np.subtract(*scores)])
            rows.append(null_row("split", name, m, result) | {"answers": half})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    given = parser.parse_args()
    sources = {name: Source(sets) for name, sets in answers(given.data).items()}
    rows: Rows = []
    if "choose" in given.parts:
        rows += choose_rows(sources, given.draws)
    if "means" in given.parts:
        rows += means_rows(sources, given.draws)
    if "differences" in given.parts:
        rows += differences_rows(sources, given.draws)
    facts = {"draws": given.draws, "level": LEVEL, "weight": PSEUDO_WEIGHT}
    write(given.json, rows, environment() | facts)


if __name__ == "__main__":
    main()
