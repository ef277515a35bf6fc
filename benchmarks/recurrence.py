"""Coverage of intervals if samples recur, in several containers, and the widths for vectors.

    python benchmarks/recurrence.py --json benchmarks/results/recurrence.json

Part "containers": four populations in which samples recur, passed as texts, as a similarity matrix,
as embeddings and as tuples, if possible. For each container, 500 sets are drawn, and the rows
contain how often the 95 % intervals of `compute(ci=0.95)` cover E log VS_n, the mean log score of
50,000 other sets. `same` is the largest difference between the intervals of a set in two
containers, and `flat` the proportion of sets whose interval has width 0.

Part "widths": the median width of intervals of embeddings that never recur, by default and with
`allow_repeats=False` (the interval of version 0.4.0), and their ratio `growth`. A set without
repeats may also come from a population in which one vector recurs, so intervals must be wider.
`needed` is a lower bound of the ratio. It is computed for a mixture with copies of one vector (1.6
copies in n samples on average): the lower part of the interval of 0.4.0 is scaled by the smallest
factor with which 93 % of the intervals cover E log VS_n of the mixture.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from few_samples import digits, questions
from pairs import DATA, collect_environment, write_results

from vendiscore import as_similarity, compute
from vendiscore.support.types import Options

LEVEL = 0.95
TRUTH_SETS = 50_000  # number of sets for E log VS_n
STACK_SIZE = 2_000  # number of sets that are scored at once
SIZES = (4, 8, 20, 50)
MEAN_COPIES = 1.6  # mean number of copies of one vector in a set
MIN_COVERAGE = 0.93  # 0.95 minus two standard errors for 500 sets
Draw = Callable[[np.random.Generator, int], Any]


class RecurrenceCase(NamedTuple):
    """A population: how sets of n are drawn, and the arguments of `compute` for each container."""

    n: int
    draw: Draw  # indices of items (count, n), or rows (count, n, d)
    similarities: Callable[[np.ndarray], np.ndarray]  # of drawn sets, shape (count, n, n)
    containers: Mapping[str, Callable[[np.ndarray], tuple[Any, Options]]]


def make_item_cell(
    K: np.ndarray, weights: np.ndarray, n: int, texts: list[str], kernel_options: Options
) -> RecurrenceCase:
    """Return a population of items with similarities K that are drawn in proportion to the
    weights.
    """
    values, vectors = np.linalg.eigh(K)
    rows = vectors * np.sqrt(values.clip(0))
    rows /= np.linalg.norm(rows, axis=1)[:, None]

    def draw(rng: np.random.Generator, count: int) -> np.ndarray:
        return rng.choice(len(K), (count, n), p=weights / weights.sum())

    def similarity(a: tuple[int, str], b: tuple[int, str]) -> float:
        return float(K[a[0], b[0]])

    containers = {
        "matrix": lambda indices: (K[indices][:, indices], {"score_K": True}),
        "embeddings": lambda indices: (rows[indices], {"score_X": True}),
        "tuples": lambda indices: ([(int(i), "item") for i in indices], {"k": similarity}),
    }
    if texts:
        containers = {
            "texts": lambda indices: ([texts[i] for i in indices], kernel_options),
            **containers,
        }
    return RecurrenceCase(
        n, draw, lambda indices: K[indices[:, :, None], indices[:, None]], containers
    )


def unit_rows(X: np.ndarray) -> np.ndarray:
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


def cosine_matrix(X: np.ndarray) -> np.ndarray:
    return unit_rows(X) @ np.swapaxes(unit_rows(X), -1, -2)


def make_recurring_vector_cell(n: int) -> RecurrenceCase:
    """Return a population of normal rows with 32 columns, 20 % of which are the same vector."""
    vector = np.random.default_rng(0).normal(size=32)

    def draw(rng: np.random.Generator, count: int) -> np.ndarray:
        X = rng.normal(size=(count, n, 32))
        X[rng.random((count, n)) < 0.2] = vector
        return X

    containers = {
        "matrix": lambda X: (cosine_matrix(X), {"score_K": True}),
        "embeddings": lambda X: (X, {"k": "cosine"}),
        "single precision": lambda X: (X.astype(np.float32), {"k": "cosine"}),
        "tuples": lambda X: ([tuple(row) for row in X.tolist()], {"k": "cosine"}),
    }
    return RecurrenceCase(n, draw, cosine_matrix, containers)


def make_cells(data: Path) -> dict[str, RecurrenceCase]:
    """Return cases in which items recur, by name."""
    names = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gil", "Hana", "Ines", "Jon"]
    template = [f"My favourite name is {name}." for name in names]
    question_list = questions(data)[:499]
    favourite = np.r_[0.2, np.full(498, 0.8 / 498)]
    static: Options = {"k": "static"}
    geometric = np.full((40, 40), 0.45) + 0.55 * np.eye(40)
    return {
        "ten names in a template": make_item_cell(
            as_similarity(template).dense(), np.ones(10), 4, template, {}
        ),
        "one question has 20 %": make_item_cell(
            as_similarity(question_list).dense(), favourite, 8, question_list, {}
        ),
        "one question has 20 %, word vectors": make_item_cell(
            as_similarity(question_list, **static).dense(), favourite, 8, question_list, static
        ),
        "geometric over 40 items": make_item_cell(geometric, 0.7 ** np.arange(40), 4, [], {}),
        "one vector has 20 %": make_recurring_vector_cell(8),
    }


def compute_log_scores(K: np.ndarray) -> np.ndarray:
    """Return log VS of sets of n samples with similarities K, shape (count, n, n), by NumPy."""
    shares = np.linalg.eigvalsh(K).clip(1e-15) / K.shape[-1]
    return -(shares * np.log(shares)).sum(axis=-1)


def expected_log_score(cell: RecurrenceCase, rng: np.random.Generator) -> float:
    """Return E log VS_n of a population, the mean over TRUTH_SETS random sets."""
    logs = [
        compute_log_scores(cell.similarities(cell.draw(rng, STACK_SIZE))).mean()
        for _ in range(TRUTH_SETS // STACK_SIZE)
    ]
    return float(np.mean(logs))


def count_coverage(name: str, cell: RecurrenceCase, repeats: int) -> list[dict[str, Any]]:
    """Return a row for each container of a population."""
    rng = np.random.default_rng(0)
    truth = expected_log_score(cell, rng)
    sets = cell.draw(rng, repeats)
    ends = {container: np.empty((repeats, 2)) for container in cell.containers}
    for i, sample_set in enumerate(sets):
        for container, convert in cell.containers.items():
            samples, kernel_options = convert(sample_set)
            result = compute(samples, ci=LEVEL, **kernel_options)
            ends[container][i] = result["VS_low"], result["VS_high"]
    first = next(iter(ends.values()))
    rows = []
    for container, container_intervals in ends.items():
        low, high = np.log(container_intervals.T)
        rows.append(
            {
                "source": name,
                "n": cell.n,
                "container": container,
                "sets": repeats,
                "coverage": float(np.mean((low <= truth) & (truth <= high))),
                "width": float(np.median(container_intervals[:, 1] - container_intervals[:, 0])),
                "flat": float(
                    np.mean(container_intervals[:, 1] - container_intervals[:, 0] < 1e-9)
                ),
                "same": float(np.abs(container_intervals - first).max()),
            }
        )
    return rows


def make_continuous_sources(data: Path) -> dict[str, Draw]:
    """Return populations of embeddings that never recur."""
    centres = 1.5 * np.random.default_rng(0).normal(size=(12, 32))
    images = digits(data)

    def around(rng: np.random.Generator, n: int) -> np.ndarray:
        return centres[rng.integers(12, size=n)] + 0.5 * rng.normal(size=(n, 32))

    def normal(columns: int, mean: float = 0.0) -> Draw:
        return lambda rng, n: rng.normal(mean, size=(n, columns))

    return {
        "twelve clusters, 32 columns": around,
        "normal, 8 columns": normal(8),
        "normal, 32 columns": normal(32),
        "normal, 384 columns": normal(384),
        "normal around a mean, 384 columns": normal(384, 2.0),
        "digits": lambda rng, n: images[rng.choice(len(images), n, replace=False)],
    }


def compare_widths(name: str, draw: Draw, n: int, repeats: int) -> dict[str, Any]:
    """Return the widths of intervals of a continuous population, and the necessary ratio.

    A mixture of the population with copies of one vector determines the necessary ratio; see the
    module docstring.
    """
    rng = np.random.default_rng(0)

    def ends(X: np.ndarray, allow_repeats: bool) -> list[float]:
        result = compute(X, k="cosine", ci=LEVEL, allow_repeats=allow_repeats)
        return [result["VS_low"], result["VS"], result["VS_high"]]

    with warnings.catch_warnings(action="ignore"):  # some intervals of 0.4.0 have width 0
        sets = [draw(rng, n) for _ in range(repeats)]
        before, now = (np.array([ends(X, allow) for X in sets]) for allow in (False, True))
        vector = draw(rng, 1)
        mixed = []  # whether a set of the mixture has copies, and its interval
        for _ in range(4 * repeats):
            X = draw(rng, n)
            copies = rng.random(n) < MEAN_COPIES / n
            X[copies] = vector
            mixed.append((copies.sum() > 1, *ends(X, allow_repeats=False)))
    has_copies, low, value, high = np.array(mixed).T
    truth = float(np.log(value).mean())
    without_copies = has_copies == 0
    # Assume that intervals of sets with copies cover; the others must cover the rest of 93 %.
    quantile = max(0.0, 1 - (1 - MIN_COVERAGE) / without_copies.mean())
    lower_reach = np.log(value[without_copies]) - np.log(low[without_copies])
    factor = max(
        1.0, float(np.quantile((np.log(value[without_copies]) - truth) / lower_reach, quantile))
    )
    lower = value[without_copies] * np.exp(-factor * lower_reach)
    width = float(np.median(before[:, 2] - before[:, 0]))
    return {
        "source": name,
        "n": n,
        "sets": repeats,
        "before": width,
        "width": float(np.median(now[:, 2] - now[:, 0])),
        "growth": float(np.median(now[:, 2] - now[:, 0])) / width,
        "needed": float(
            np.median(high[without_copies] - lower) / np.median((high - low)[without_copies])
        ),
    }


def main() -> None:
    """Print all rows; raise unless the intervals of all containers have sufficient coverage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    for name, cell in make_cells(options.data).items():
        rows += count_coverage(name, cell, options.repeats)
        for row in rows[-len(cell.containers) :]:
            print(" ".join(f"{key}={value}" for key, value in row.items()), flush=True)
    for name, draw in make_continuous_sources(options.data).items():
        for n in SIZES:
            rows.append(compare_widths(name, draw, n, options.repeats // 5))
            print(" ".join(f"{key}={value}" for key, value in rows[-1].items()), flush=True)
    coverage = [row["coverage"] for row in rows if "coverage" in row]
    assert min(coverage) >= MIN_COVERAGE - 2 * math.sqrt(0.05 * 0.95 / options.repeats) * (
        options.repeats < 500
    )
    assert not any(row["flat"] for row in rows if "flat" in row)
    write_results(options.json, rows, collect_environment() | {"level": LEVEL})


if __name__ == "__main__":
    main()
