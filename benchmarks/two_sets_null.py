"""Null values and p-values of "BetweenVS", for groups without and with a difference.

    python benchmarks/two_sets_null.py --data DATA --json benchmarks/results/two_sets_null.json

Answers are drawn independently of their prompts: sentences that have nothing in common, questions
or digits. The rows contain "BetweenVS", its excess, and how often p is small; the same if some
answers depend on the prompt; answers of humans and of models; and the time that the null value
costs.
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
from pairs import DATA, collect_environment, write_results

from vendiscore import compute

GROUPS = {
    "20 × 4": (4,) * 20,
    "of 2 to 20": (2, 3, 4, 5, 8, 12, 20) * 2,
    "3 × 30": (30,) * 3,
    "2 × 5": (5, 5),
    "100 × 4": (4,) * 100,
}
SENTENCE_COUNTS = (3, 10, 200)
PERMUTATIONS = 99
Row = dict[str, Any]


def read_questions(data: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return questions and their classes."""
    with (data / "trec_questions.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return tuple(np.array([row[key] for row in rows]) for key in ("question", "fine_label"))


def read_sources(data: Path) -> dict[str, tuple[np.ndarray, dict[str, Any]]]:
    """Return the samples of each source, and the options of their kernel."""
    texts, classes = read_questions(data)
    digits = np.load(data / "mnist_test.npz")["images"].reshape(10_000, -1) / 255
    return {
        "questions, n-grams": (texts, {"k": "ngram_overlap"}),
        "classes of questions": (classes, {"k": "labels"}),
        "digits, cosine": (digits, {"k": "cosine"}),
    }


def small_p_rates(p: Sequence[float]) -> dict[str, float]:
    """Return how often p is at most 0.05 and 0.01."""
    return {f"p_{level}": float(np.mean(np.array(p) <= level)) for level in (0.05, 0.01)}


def mean_of_key(results: Sequence[dict[str, Any]], key: str) -> float:
    """Return the mean of a value over all draws."""
    return float(np.mean([result[key] for result in results]))


def score_groups(
    name: str,
    sizes: Sequence[int],
    draw: Callable[[np.random.Generator, np.ndarray], Any],
    options: Any,
    repeats: int,
) -> Row:
    """Return the mean of "BetweenVS", its excess, and how often p is small."""
    prompts, results, p = np.repeat(np.arange(len(sizes)), sizes), [], []
    for seed in range(repeats):
        samples = draw(np.random.default_rng(seed), prompts)
        options = {**options, "groups": prompts, "measures": "BetweenVS"}
        results.append(compute(samples, permutations=PERMUTATIONS, **options))
        p.append(results[-1]["BetweenVS_p"])
    keys = ("BetweenVS", "BetweenVS_excess")
    row = {"name": name, "draws": repeats, **{key: mean_of_key(results, key) for key in keys}}
    deviation = np.std([one_result["BetweenVS_excess"] for one_result in results], ddof=1)
    return row | {"deviation": float(deviation), **small_p_rates(p)}


def draw_sentences(
    n_sentences: int, own_proportion: float = 0.0
) -> Callable[[np.random.Generator, np.ndarray], Any]:
    """Return a function that draws sentences, a proportion of which depends on the prompt."""

    def draw(rng: np.random.Generator, prompts: np.ndarray) -> Any:
        random_sentences = rng.integers(n_sentences, size=len(prompts))
        return np.where(
            rng.random(len(prompts)) < own_proportion, prompts % n_sentences, random_sentences
        ).tolist()

    return draw


def score_real_answers(data: Path) -> list[Row]:
    """Score answers of humans and of models as they are, and permuted between prompts."""
    rows = []
    for file, key, name_keys in (
        ("human_diversity.jsonl.gz", "responses", ("test", "source")),
        ("noveltybench_curated.jsonl.gz", "generations", ("model",)),
    ):
        sets: dict[str, list[list[str]]] = {}
        with gzip.open(data / file, "rt", encoding="utf-8") as lines:
            for item in map(json.loads, lines):
                name = ", ".join(item[x] for x in name_keys)
                sets.setdefault(name, []).append([t for t in item[key] if t.strip()])
        for name, answers in sets.items():
            nonempty_prompts = [prompt_answers for prompt_answers in answers if prompt_answers][:40]
            flat = np.random.default_rng(0).permutation(
                [text for prompt_answers in nonempty_prompts for text in prompt_answers]
            )
            mixed = np.split(
                flat, np.cumsum([len(prompt_answers) for prompt_answers in nonempty_prompts])[:-1]
            )
            row: Row = {"name": f"{name}: {len(nonempty_prompts)} prompts"}
            for suffix, item in (
                ("", nonempty_prompts),
                ("_exchanged", [prompt_answers.tolist() for prompt_answers in mixed]),
            ):
                result = compute(item, measures="BetweenVS", permutations=PERMUTATIONS)
                row |= {f"{key}{suffix}": value for key, value in result.items()}
            rows.append(row)
    return rows


def time_null_values(data: Path) -> list[Row]:
    """Compare the time of scores with and without their null value, the median of five calls."""
    texts, rows = read_questions(data)[0], []
    rng = np.random.default_rng(0)
    for name in ("20 × 4", "3 × 30", "100 × 4"):
        labels = np.repeat(np.arange(len(GROUPS[name])), GROUPS[name])
        samples = [rng.choice(texts, len(labels), replace=False).tolist()]
        options = {"measures": "BetweenVS", "groups": labels}
        rows.append(time_variants(f"BetweenVS, {name}", samples, options))
    return rows


def time_variants(name: str, sets: Any, options: dict[str, Any]) -> Row:
    """Return the time of scores with null values, divided by the time of only the scores."""
    seconds = []
    for variant in ({"permutations": 0}, {}):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            compute(*sets, **options, **variant)
            times.append(time.perf_counter() - start)
        seconds.append(float(np.median(times)))
    return {"name": name, "seconds": seconds[0], "times_null": seconds[1] / seconds[0]}


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=200)
    options = parser.parse_args()
    rows: list[Row] = []

    def add(*more: Row) -> None:
        for row in more:
            printed_row = {
                key: round(x, 3) if isinstance(x, float) else x for key, x in row.items()
            }
            print(printed_row, flush=True)
        rows.extend(more)

    for name, (samples, kernel_options) in read_sources(options.data).items():
        if name != "classes of questions":

            def answers(rng: np.random.Generator, prompts: np.ndarray) -> Any:
                return samples[rng.choice(len(samples), len(prompts), replace=False)]  # noqa: B023

            for label in ("20 × 4", "of 2 to 20"):
                name_of_row = f"one source: {label} answers, {name}"
                add(
                    score_groups(
                        name_of_row, GROUPS[label], answers, kernel_options, options.repeats
                    )
                )
    for label, sizes in GROUPS.items():
        for n_sentences in (
            SENTENCE_COUNTS if label == "20 × 4" else (10,) if len(sizes) < 100 else (200,)
        ):
            name = f"one source: {label} answers, the same {n_sentences} sentences"
            draws = options.repeats if len(sizes) < 100 else options.repeats // 3
            add(score_groups(name, sizes, draw_sentences(n_sentences), {"k": "labels"}, draws))
    for label, n_sentences, own_proportion in (
        ("20 × 4", 10, 0.3),
        ("20 × 4", 40, 0.6),
        ("of 2 to 20", 14, 0.5),
        ("of 2 to 20", 14, 0.15),
        ("3 × 30", 10, 0.4),
        ("20 × 4", 200, 0.9),
    ):
        name = (
            f"{label} answers of {n_sentences} sentences, a share of {own_proportion} the prompt's "
            "own"
        )
        draw = draw_sentences(n_sentences, own_proportion)
        add(score_groups(name, GROUPS[label], draw, {"k": "labels"}, options.repeats))
    add(*score_real_answers(options.data), *time_null_values(options.data))
    write_results(options.json, rows, collect_environment() | {"repeats": options.repeats})


if __name__ == "__main__":
    main()
