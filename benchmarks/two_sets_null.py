"""Scores of two sets, and of groups, where there is no difference to find.

    python benchmarks/two_sets_null.py --data DATA --json benchmarks/results/two_sets_null.json

Draws two sets of n questions of TREC again and again, and prints the mean of "RelativeVS", of
"JensenShannon", and the share of samples whose `surprise` is more than 0.6 of its largest value,
log 2. Then answers that have nothing to do with their prompts, each one of so many sentences with
nothing in common, and the mean of "BetweenVS", whose answer would be 1.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np
from pairs import DATA, environment, write

from vendiscore import compute, surprise

SIZES = (30, 200)
PROMPTS, ANSWERS = 20, 4
SENTENCES = (3, 10, 200)
MUCH = 0.6 * np.log(2)


def questions(data: Path) -> np.ndarray:
    with (data / "trec_questions.tsv").open(encoding="utf-8") as file:
        return np.array([row["question"] for row in csv.DictReader(file, delimiter="\t")])


def one_source(texts: np.ndarray, n: int, repeats: int) -> dict[str, Any]:
    """Two sets of n texts, drawn from all without replacement."""
    scores, shares = [], []
    for seed in range(repeats):
        drawn = np.random.default_rng(seed).choice(texts, 2 * n, replace=False).tolist()
        found = compute(drawn[:n], drawn[n:], measures=["RelativeVS", "JensenShannon"])
        each = surprise(drawn[:n], drawn[n:])
        assert np.isclose(np.log(found["RelativeVS"]), each.mean())
        scores.append([found["RelativeVS"], found["JensenShannon"]])
        shares.append(float((each > MUCH).mean()))
    relative, divergence = np.mean(scores, axis=0)
    return {
        "name": f"two draws of {n} questions, n-grams",
        "RelativeVS": float(relative),
        "JensenShannon": float(divergence),
        "surprise_above_0.6_log_2": float(np.mean(shares)),
    }


def any_prompt(sentences: int, repeats: int) -> dict[str, Any]:
    """Answers drawn for each prompt from the same sentences."""
    prompts = np.repeat(np.arange(PROMPTS), ANSWERS)
    found = []
    for seed in range(repeats):
        drawn = np.random.default_rng(seed).integers(sentences, size=len(prompts)).tolist()
        scores = compute(drawn, groups=prompts, measures="BetweenVS", k="labels")
        found.append(scores["BetweenVS"])
    name = f"{PROMPTS} prompts, {ANSWERS} answers each, of the same {sentences} sentences"
    return {"name": name, "BetweenVS": float(np.mean(found))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=10)
    given = parser.parse_args()
    texts = questions(given.data)
    rows = [one_source(texts, n, given.repeats) for n in SIZES]
    rows += [any_prompt(sentences, given.repeats) for sentences in SENTENCES]
    for row in rows:
        print({name: round(x, 3) if isinstance(x, float) else x for name, x in row.items()})
    write(given.json, rows, environment() | {"repeats": given.repeats})


if __name__ == "__main__":
    main()
