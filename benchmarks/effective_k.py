"""Does the effective number of classes add to the number of classes of NoveltyBench?

    python benchmarks/effective_k.py --json benchmarks/results/effective_k.json

For each model, the ten answers to a prompt are divided at random into two halves. `distinct_k` is
the number of classes in the first half, and `effective_k` is the score of its classes. The outcome
is the share of pairs of answers of the second half that belong to different classes. The rows
contain the correlation of both numbers with the outcome, and the partial correlation of
`effective_k`, given `distinct_k`, as means over random halves. Intervals are percentiles of a
bootstrap over prompts. Further rows contain the range of `effective_k` of all answers for each
value of `distinct_k`.
"""

import gzip
import json
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from pairs import DATA, collect_environment, parse_arguments, write_results

from vendiscore import score

MODELS = ("gemini-1.5-pro", "gpt-4o")
N_SPLITS, N_BOOTSTRAP = 200, 1000


def read_partitions(model: str) -> list[list[int]]:
    """Return the classes of the answers of a model, for each prompt."""
    with gzip.open(DATA / "noveltybench_curated.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [row["partition"] for row in rows if row["model"] == model]


def compute_effective_k(classes: Sequence[int]) -> float:
    """Return the effective number of classes."""
    return float(score(np.asarray(classes), "labels"))


def measure_halves(partitions: list[list[int]]) -> np.ndarray:
    """Return distinct_k, effective_k and the outcome, with shape (N_SPLITS, prompts, 3)."""
    rng = np.random.default_rng(0)
    rows = []
    for partition in partitions:
        for _ in range(N_SPLITS):
            classes = rng.permutation(partition)
            first, second = np.split(classes, 2)
            outcome = np.mean([a != b for a, b in combinations(second, 2)])
            rows.append((len({*first}), compute_effective_k(first), outcome))
    return np.reshape(rows, (len(partitions), N_SPLITS, 3)).swapaxes(0, 1)


def compute_correlations(halves: np.ndarray) -> np.ndarray:
    """Return the two correlations with the outcome and the partial correlation, (3,)."""
    centred = halves - halves.mean(axis=1, keepdims=True)
    products = np.einsum("spi,spj->sij", centred, centred)
    scales = np.sqrt(np.einsum("sii->si", products))
    correlations = products / (scales[:, :, None] * scales[:, None])
    de, dy, ey = correlations[:, 0, 1], correlations[:, 0, 2], correlations[:, 1, 2]
    partial = (ey - de * dy) / np.sqrt((1 - de**2) * (1 - dy**2))
    return np.array([dy.mean(), ey.mean(), partial.mean()])


def describe_model(model: str) -> list[dict[str, Any]]:
    """Return the rows of a model."""
    partitions = read_partitions(model)
    halves = measure_halves(partitions)
    values = compute_correlations(halves)
    rng = np.random.default_rng(1)
    n = len(partitions)
    resampled = [
        compute_correlations(halves[:, rng.integers(n, size=n)]) for _ in range(N_BOOTSTRAP)
    ]
    low, high = np.percentile(resampled, [2.5, 97.5], axis=0)
    names = ("distinct_k", "effective_k", "effective_k given distinct_k")
    rows: list[dict[str, Any]] = [
        {"model": model, "number": name, "correlation": value, "interval": [*interval], "n": n}
        for name, value, *interval in zip(names, values, low, high, strict=True)
    ]
    by_distinct: dict[int, list[float]] = {}
    for partition in partitions:
        by_distinct.setdefault(len({*partition}), []).append(compute_effective_k(partition))
    return rows + [
        {
            "model": model,
            "distinct_k": k,
            "n": len(scores),
            "effective_k": [min(scores), max(scores)],
        }
        for k, scores in sorted(by_distinct.items())
    ]


def main() -> None:
    """Print and write the rows of all models."""
    options = parse_arguments(__doc__)
    rows = [row for model in MODELS for row in describe_model(model)]
    for row in rows:
        print(row)
    write_results(options.json, rows, collect_environment())


if __name__ == "__main__":
    main()
