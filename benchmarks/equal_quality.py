"""Check the intervals of `compare(..., correct=...)`: narrowing, failures and their sum.

    python benchmarks/equal_quality.py --json benchmarks/results/equal_quality.json

Two models answer the same prompts. In each simulation, one of four things differs between them:

- "fewer failures": the accuracy rises from 0.35 to 0.90; correct answers have one distribution;
- "narrower": the accuracy is 0.6, and the new model has the probabilities of correct answers to the
  power 1.6, divided by their sum;
- "both": vectors compared by "rbf"; the accuracy rises from 0.5 to 0.85, and correct vectors vary
  less;
- "hard prompts": the accuracy differs between prompts, failures of the new model are more similar;
  20 prompts, 8 answers, 3 correct ones are compared, at order 2.

A row contains, for the total and for both parts, the true value (the mean over the prompts of all
runs), the proportion of intervals that cover it, and the proportion that excludes 0 with its sign.
`naive` is the mean change of the Vendi Score of all correct answers, whose numbers differ.
`max_error` is the largest difference between the total and the sum of both parts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pairs import collect_environment, write_results

from vendiscore import as_similarity
from vendiscore.similarity.base import Similarity
from vendiscore.tools.analysis.equal_quality import QualityParts, estimate_quality_parts

PARTS = ("total", "among_correct", "from_failures")
LEVEL = 0.95
N_CORRECT = 30  # different correct answers to a prompt
POWER = 1.6  # of the probabilities of a narrower model
# The answers of both models, and whether each is correct, shape (prompts, 2, answers).
Draw = Callable[[np.random.Generator, int, int], tuple[Similarity, np.ndarray]]


def draw_labels(
    rng: np.random.Generator,
    prompts: int,
    answers: int,
    accuracies: np.ndarray,
    powers: tuple[float, float],
    n_failures: tuple[int, int],
) -> tuple[Similarity, np.ndarray]:
    """Draw answers of both models as labels; `accuracies` has shape (2, prompts)."""
    labels = []
    is_correct = rng.random((prompts, 2, answers)) < accuracies.T[:, :, None]
    for prompt in range(prompts):
        p = rng.dirichlet(np.full(N_CORRECT, 0.3))
        for model in range(2):
            weights = p ** powers[model]
            correct = rng.choice(N_CORRECT, answers, p=weights / weights.sum())
            failures = N_CORRECT + rng.integers(n_failures[model], size=answers)
            labels.append(np.where(is_correct[prompt, model], correct, failures))
    return as_similarity(np.concatenate(labels).tolist(), k="labels"), is_correct


def draw_fewer_failures(
    rng: np.random.Generator, prompts: int, answers: int
) -> tuple[Similarity, np.ndarray]:
    """Draw answers of two models with accuracies 0.9 and 0.35, and equally diverse failures."""
    accuracies = np.repeat([[0.90], [0.35]], prompts, axis=1)
    return draw_labels(rng, prompts, answers, accuracies, (1.0, 1.0), (50, 50))


def draw_narrower(
    rng: np.random.Generator, prompts: int, answers: int
) -> tuple[Similarity, np.ndarray]:
    """Draw answers of two equally accurate models; the first has less diverse correct answers."""
    accuracies = np.full((2, prompts), 0.6)
    return draw_labels(rng, prompts, answers, accuracies, (POWER, 1.0), (50, 50))


def draw_both(
    rng: np.random.Generator, prompts: int, answers: int
) -> tuple[Similarity, np.ndarray]:
    """Draw answers of two models: the first is more often correct, and its correct answers are
    more similar to each other.
    """
    accuracies = np.array([0.85, 0.5])[None, :, None]
    is_correct = rng.random((prompts, 2, answers)) < accuracies
    scales = rng.gamma(4, 0.25, (prompts, 1, 1)) * np.array([0.6, 1.0])[None, :, None]
    scales = np.where(is_correct, scales, 3.0)[..., None]
    X = scales * rng.normal(size=(prompts, 2, answers, 5))
    return as_similarity(X.reshape(-1, 5), k="rbf", sigma=2.0), is_correct


def draw_hard_prompts(
    rng: np.random.Generator, prompts: int, answers: int
) -> tuple[Similarity, np.ndarray]:
    """Draw answers of two models; the second is more accurate, with more diverse failures."""
    accuracy = rng.beta(2, 1, prompts)
    accuracies = np.array([accuracy, np.clip(accuracy + 0.1, 0, 1)])
    return draw_labels(rng, prompts, answers, accuracies, (1.0, 1.0), (2, 50))


# name, how answers are drawn, numbers of prompts and answers, size, order
SIMULATIONS: tuple[tuple[str, Draw, int, int, int, float], ...] = (
    ("fewer failures", draw_fewer_failures, 40, 12, 4, 1.0),
    ("narrower", draw_narrower, 40, 12, 4, 1.0),
    ("both", draw_both, 40, 10, 4, 1.0),
    ("hard prompts", draw_hard_prompts, 20, 8, 3, 2.0),
)


def compute_naive_change(similarity: Similarity, is_correct: np.ndarray) -> float:
    """Return the mean change of the Vendi Score of all correct answers, new minus old."""
    indices = np.arange(is_correct.size).reshape(is_correct.shape)
    changes = []
    for prompt, correct in zip(indices, is_correct, strict=True):
        if correct.any(axis=1).all():
            K = similarity.stack(prompt.ravel()[None])[0]
            answers = is_correct.shape[-1]
            scores = []
            for model in range(2):
                members = model * answers + np.flatnonzero(correct[model])
                eigenvalues = np.linalg.eigvalsh(K[np.ix_(members, members)] / len(members))
                eigenvalues = eigenvalues[eigenvalues > 1e-12]
                scores.append(np.exp(-eigenvalues @ np.log(eigenvalues)))
            changes.append(scores[0] - scores[1])
    return float(np.mean(changes))


def run_simulation(
    name: str, draw: Draw, prompts: int, answers: int, size: int, q: float, runs: int
) -> dict[str, Any]:
    """Return the coverage of the intervals of a simulation."""
    parts: list[QualityParts] = []
    naive = []
    for run in range(runs):
        rng = np.random.default_rng([run, prompts, answers])
        similarity, is_correct = draw(rng, prompts, answers)
        groups = list(np.arange(is_correct.size).reshape(is_correct.shape))
        parts += estimate_quality_parts(
            similarity,
            groups,
            ["new", "old"],
            [(0, 1)],
            is_correct.ravel(),
            size,
            q=q,
            level=LEVEL,
            psd="check",
            seed=run,
        )
        naive.append(compute_naive_change(similarity, is_correct))
    counts = np.array([row.prompts for row in parts])
    row: dict[str, Any] = {
        "name": name,
        "runs": runs,
        "prompts": prompts,
        "answers": answers,
        "size": size,
        "q": q,
        "proportion": float(np.mean([row.proportion for row in parts])),
        "naive": float(np.mean(naive)),
        "max_error": max(abs(x.total - x.among_correct - x.from_failures) for x in parts),
    }
    for part in PARTS:
        values, low, high = (
            np.array([getattr(x, f"{part}{end}") for x in parts]) for end in ("", "_low", "_high")
        )
        true = float(counts @ values / counts.sum())
        row[part] = true
        row[f"{part}_coverage"] = float(np.mean((low <= true) & (true <= high)))
        row[f"{part}_negative"] = float(np.mean(high < 0))
        row[f"{part}_positive"] = float(np.mean(low > 0))
    print({key: round(x, 3) if isinstance(x, float) else x for key, x in row.items()}, flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = [run_simulation(*simulation, options.runs) for simulation in SIMULATIONS]
    write_results(options.json, rows, collect_environment())


if __name__ == "__main__":
    main()
