"""Check comparisons of models that did not answer all prompts.

    python benchmarks/incomplete_tables.py --json benchmarks/results/incomplete_tables.json

Simulations: 12 models answer 40 prompts, eight answers each; 30 % of the cells (model × prompt) are
missing. In "at random", each cell is missing with the same probability. In "hard prompts", the
probability increases with the diversity of a prompt for half of the models, so that means over the
available prompts are biased. A row contains Kendall's tau of the ranking with that of the complete
table (median, and the lowest 5 %), for the additive model and for means over the available prompts;
the proportion of intervals of differences that cover the true difference, at 95 %; and the number
of prompts that all models answered. The true difference is the mean over the complete tables of all
runs.

Real data: the curated answers of NoveltyBench of people, gpt-4o and gemini-1.5-pro. 30 % of the
cells are removed at random; `same_order` is the proportion of runs with the order of the complete
table.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from few_samples import answers
from pairs import DATA, collect_environment, write_results
from scipy.stats import kendalltau

from vendiscore import compare
from vendiscore.tools.analysis.additive_model import estimate_adjusted_means

N_MODELS = 12
N_PROMPTS = 40
N_ANSWERS = 8
N_LABELS = 30
MISSING = 0.3
LEVEL = 0.95
MODELS = ("human", "gpt-4o", "gemini-1.5-pro")
NAMES = [f"model {i}" for i in range(N_MODELS)]


def draw_scores(rng: np.random.Generator) -> np.ndarray:
    """Draw the Vendi Scores of answers that are equal or differ, shape (models, prompts)."""
    concentrations = np.exp(np.linspace(-1.0, 1.0, N_MODELS))[:, None] * rng.gamma(
        2, 0.5, N_PROMPTS
    )
    scores = np.empty(concentrations.shape)
    for i, prompt in np.ndindex(scores.shape):
        p = rng.dirichlet(np.full(N_LABELS, 0.02 + concentrations[i, prompt] / 5))
        counts = rng.multinomial(N_ANSWERS, p)
        proportions = counts[counts > 0] / N_ANSWERS
        scores[i, prompt] = np.exp(-proportions @ np.log(proportions))
    return scores


def draw_missing(rng: np.random.Generator, scores: np.ndarray, mechanism: str) -> np.ndarray:
    """Draw which cells are missing, shape (models, prompts)."""
    probabilities = np.full(scores.shape, MISSING)
    if mechanism == "hard prompts":
        ranks = scores.mean(axis=0).argsort().argsort() / (N_PROMPTS - 1)
        probabilities[::2] = 2 * MISSING * ranks
    return rng.random(scores.shape) < probabilities


def run_simulation(mechanism: str, runs: int) -> dict[str, Any]:
    """Return the agreement of rankings and the coverage of differences of a simulation."""
    tables = [draw_scores(np.random.default_rng([0, run])) for run in range(runs)]
    true_means = np.mean(tables, axis=(0, 2))
    pairs = list(itertools.combinations(range(N_MODELS), 2))
    taus, available_taus, covered, complete_prompts = [], [], [], []
    for run, scores in enumerate(tables):
        rng = np.random.default_rng([1, run])
        is_missing = draw_missing(rng, scores, mechanism)
        incomplete = np.where(is_missing, np.nan, scores)
        incomplete = incomplete[:, np.isfinite(incomplete).sum(axis=0) >= 2]
        adjusted = estimate_adjusted_means(incomplete, NAMES)
        complete_means = scores.mean(axis=1)
        taus.append(kendalltau(adjusted.means, complete_means).statistic)
        available_means = np.nanmean(incomplete, axis=1)
        available_taus.append(kendalltau(available_means, complete_means).statistic)
        for i, j in pairs:
            (_, low, high), _, _ = adjusted.estimate_difference(i, j, LEVEL)
            covered.append(low <= true_means[i] - true_means[j] <= high)
        complete_prompts.append(np.count_nonzero(~is_missing.any(axis=0)))
    row = {
        "name": mechanism,
        "runs": runs,
        "tau": float(np.median(taus)),
        "tau_mean": float(np.mean(taus)),
        "tau_lowest": float(np.quantile(taus, 0.05)),
        "tau_available": float(np.median(available_taus)),
        "coverage": float(np.mean(covered)),
        "complete_prompts": float(np.mean(complete_prompts)),
    }
    print(row, flush=True)
    return row


def run_real_data(data: Path, runs: int) -> dict[str, Any]:
    """Return how often the order of three sources is that of the complete table."""
    answers_by_source = answers(data)
    by_model = [answers_by_source[name] for name in MODELS]
    n_prompts = min(map(len, by_model))
    cells = [
        (name, prompt, answers_of_model[prompt][:N_ANSWERS])
        for name, answers_of_model in zip(MODELS, by_model, strict=True)
        for prompt in range(n_prompts)
    ]
    orders = []
    covered = []
    complete = None
    for run in range(runs + 1):
        rng = np.random.default_rng(run)
        retained = [cell for cell in cells if run == 0 or rng.random() >= MISSING]
        texts = [text for _, _, texts in retained for text in texts]
        sets = [name for name, _, texts in retained for _ in texts]
        prompts = [prompt for _, prompt, texts in retained for _ in texts]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = compare(texts, by=sets, prompts=prompts, permutations=59)
        orders.append([row.name for row in sorted(result.sets, key=lambda row: -row.matched)])
        if complete is None:
            complete = result
        differences = {(row.a, row.b): row for row in result.pairs}
        for pair in complete.pairs:
            row = differences.get((pair.a, pair.b))
            if row is not None and run > 0:
                covered.append(row.low <= pair.difference <= row.high)
    row_of_data = {
        "name": "NoveltyBench",
        "runs": runs,
        "prompts": n_prompts,
        "order": orders[0],
        "same_order": float(np.mean([order == orders[0] for order in orders[1:]])),
        "coverage_of_complete": float(np.mean(covered)),
    }
    print(row_of_data, flush=True)
    return row_of_data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = [run_simulation(name, options.runs) for name in ("at random", "hard prompts")]
    rows.append(run_real_data(options.data, max(1, options.runs // 25)))
    write_results(options.json, rows, collect_environment())


if __name__ == "__main__":
    main()
