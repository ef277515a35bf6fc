"""Scores of groups without a difference to find, and with one.

    python benchmarks/two_sets_null.py --data DATA --json benchmarks/results/two_sets_null.json

Draws answers that have nothing to do
with their prompts, each one of so many sentences with nothing in common, a question or a digit:
"BetweenVS", its excess, and how often p is small; the same where some of the answers are the
prompt's own; answers of people and of models; and what the null value costs.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pairs import DATA, environment, write

from vendiscore import compute

GROUPS = {
    "20 × 4": (4,) * 20,
    "of 2 to 20": (2, 3, 4, 5, 8, 12, 20) * 2,
    "3 × 30": (30,) * 3,
    "2 × 5": (5, 5),
    "100 × 4": (4,) * 100,
}
SENTENCES = (3, 10, 200)
PERMUTATIONS = 99
Rows = dict[str, Any]


def questions(data: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return questions and their classes."""
    with (data / "trec_questions.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return tuple(np.array([row[key] for row in rows]) for key in ("question", "fine_label"))


def sources(data: Path) -> dict[str, tuple[np.ndarray, dict[str, Any]]]:
    """Return samples of each source, and how they are compared."""
    texts, classes = questions(data)
    digits = np.load(data / "mnist_test.npz")["images"].reshape(10_000, -1) / 255
    return {
        "questions, n-grams": (texts, {"k": "ngram_overlap"}),
        "classes of questions": (classes, {"k": "labels"}),
        "digits, cosine": (digits, {"k": "cosine"}),
    }


def small(p: Sequence[float]) -> dict[str, float]:
    """Return how often p is at most 0.05 and 0.01."""
    return {f"p_{level}": float(np.mean(np.array(p) <= level)) for level in (0.05, 0.01)}


def mean(found: Sequence[dict[str, Any]], key: str) -> float:
    """Return the mean of a number over all draws."""
    return float(np.mean([each[key] for each in found]))


def groups(
    name: str,
    sizes: Sequence[int],
    draw: Callable[[np.random.Generator, np.ndarray], Any],
    how: Any,
    repeats: int,
) -> Rows:
    """Return the mean of "BetweenVS", its excess, and how often p is small."""
    prompts, result, p = np.repeat(np.arange(len(sizes)), sizes), [], []
    for seed in range(repeats):
        samples = draw(np.random.default_rng(seed), prompts)
        how = {**how, "groups": prompts, "measures": "BetweenVS"}
        result.append(compute(samples, permutations=PERMUTATIONS, **how))
        p.append(result[-1]["BetweenVS_p"])
    keys = ("BetweenVS", "BetweenVS_excess")
    row = {"name": name, "draws": repeats, **{key: mean(result, key) for key in keys}}
    deviation = np.std([each["BetweenVS_excess"] for each in result], ddof=1)
    return row | {"deviation": float(deviation), **small(p)}


def any_of(kinds: int, own: float = 0.0) -> Callable[[np.random.Generator, np.ndarray], Any]:
    """Return answers of so many sentences, a share of which is the prompt's own."""

    def draw(rng: np.random.Generator, prompts: np.ndarray) -> Any:
        chance = rng.integers(kinds, size=len(prompts))
        return np.where(rng.random(len(prompts)) < own, prompts % kinds, chance).tolist()

    return draw


def real(data: Path) -> list[Rows]:
    """Score answers of people and of models as they are, and exchanged between prompts."""
    rows = []
    for file, key, what in (
        ("human_diversity.jsonl.gz", "responses", ("test", "source")),
        ("noveltybench_curated.jsonl.gz", "generations", ("model",)),
    ):
        sets: dict[str, list[list[str]]] = {}
        with gzip.open(data / file, "rt", encoding="utf-8") as lines:
            for each in map(json.loads, lines):
                name = ", ".join(each[x] for x in what)
                sets.setdefault(name, []).append([t for t in each[key] if t.strip()])
        for name, answers in sets.items():
            few = [own for own in answers if own][:40]
            flat = np.random.default_rng(0).permutation([text for own in few for text in own])
            mixed = np.split(flat, np.cumsum([len(own) for own in few])[:-1])
            row: Rows = {"name": f"{name}: {len(few)} prompts"}
            for end, each in (("", few), ("_exchanged", [own.tolist() for own in mixed])):
                result = compute(each, measures="BetweenVS", ci=0.95, permutations=PERMUTATIONS)
                row |= {f"{key}{end}": value for key, value in result.items()}
            rows.append(row)
    return rows


def cost(data: Path) -> list[Rows]:
    """Time scores with their null value over those without, of the median of five."""
    texts, rows = questions(data)[0], []
    rng = np.random.default_rng(0)
    for name in ("20 × 4", "3 × 30", "100 × 4"):
        labels = np.repeat(np.arange(len(GROUPS[name])), GROUPS[name])
        samples = [rng.choice(texts, len(labels), replace=False).tolist()]
        how = {"measures": "BetweenVS", "groups": labels}
        rows.append(timed(f"BetweenVS, {name}", samples, how, ({}, {"ci": 0.95})))
    return rows


def timed(name: str, sets: Any, how: dict[str, Any], ways: Sequence[dict[str, Any]]) -> Rows:
    """Return the time of scores with what goes with them over those alone."""
    seconds = []
    for way in ({"permutations": 0}, *ways):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            compute(*sets, **how, **way)
            times.append(time.perf_counter() - start)
        seconds.append(float(np.median(times)))
    ratios = {
        f"times_{i}": x / seconds[0] for i, x in zip(("null", "ci"), seconds[1:], strict=False)
    }
    return {"name": name, "seconds": seconds[0], **ratios}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=200)
    given = parser.parse_args()
    rows: list[Rows] = []

    def add(*more: Rows) -> None:
        for row in more:
            shown = {key: round(x, 3) if isinstance(x, float) else x for key, x in row.items()}
            print(shown, flush=True)
        rows.extend(more)

    for name, (samples, how) in sources(given.data).items():
        if name != "classes of questions":

            def answers(rng: np.random.Generator, prompts: np.ndarray) -> Any:
                return samples[rng.choice(len(samples), len(prompts), replace=False)]  # noqa: B023

            for label in ("20 × 4", "of 2 to 20"):
                said = f"one source: {label} answers, {name}"
                add(groups(said, GROUPS[label], answers, how, given.repeats))
    for label, sizes in GROUPS.items():
        for kinds in SENTENCES if label == "20 × 4" else (10,) if len(sizes) < 100 else (200,):
            name = f"one source: {label} answers, the same {kinds} sentences"
            draws = given.repeats if len(sizes) < 100 else given.repeats // 3
            add(groups(name, sizes, any_of(kinds), {"k": "labels"}, draws))
    for label, kinds, own in (
        ("20 × 4", 10, 0.3),
        ("20 × 4", 40, 0.6),
        ("of 2 to 20", 14, 0.5),
        ("of 2 to 20", 14, 0.15),
        ("3 × 30", 10, 0.4),
        ("20 × 4", 200, 0.9),
    ):
        name = f"{label} answers of {kinds} sentences, a share of {own} the prompt's own"
        draw = any_of(kinds, own)
        add(groups(name, GROUPS[label], draw, {"k": "labels"}, given.repeats))
    add(*real(given.data), *cost(given.data))
    write(given.json, rows, environment() | {"repeats": given.repeats})


if __name__ == "__main__":
    main()
