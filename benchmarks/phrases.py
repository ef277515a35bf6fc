"""Check the phrases that `phrases` finds, their costs, and the level of its test.

    python benchmarks/phrases.py --json benchmarks/results/phrases.json

Three parts, with TREC questions. *Planted*: 20 sets of 300 questions, 45 of which end with a
planted phrase; its rank among all phrases, and the largest difference between a cost and the change
of the score of texts in which the tokens are replaced by unique ones. *Level*: pairs of sets of 20
questions each from the same population, 99 permutations, order 2; the proportion of pairs in which
any phrase has p <= 0.05, which should be 5 %. *Time*: sets of 300 to 2,000 questions.
"""

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import numpy as np
from pairs import DATA, collect_environment, write_results

from vendiscore import phrases, score
from vendiscore.kernels.text import tokenize_texts

N_SETS, SET_SIZE, N_PLANTED = 20, 300, 45
PLANTED = (
    "in the context of this course",
    "please answer in one sentence",
    "as far as anyone knows",
    "according to the latest reports",
    "if you had to guess",
)
N_RUNS, RUN_SIZE, PERMUTATIONS = 1000, 20, 99
TIMED_SIZES = (300, 1000, 2000)


def load_questions(data: Path) -> list[str]:
    with (data / "trec_questions.tsv").open(encoding="utf-8") as file:
        questions = [row["question"] for row in csv.DictReader(file, delimiter="\t")]
    # Tokens are joined by spaces, so that texts can be rewritten token by token.
    return [" ".join(map(str, tokens)) for tokens in tokenize_texts(questions)]


def rewrite(texts: list[str], replaced_phrases: list[str]) -> list[str]:
    """Replace each token of each occurrence of the phrases by a unique token."""
    count = 0
    result = []
    for text in texts:
        tokens = text.split()
        is_replaced = np.zeros(len(tokens), bool)
        for phrase in replaced_phrases:
            words = phrase.split()
            for start in range(len(tokens) - len(words) + 1):
                if tokens[start : start + len(words)] == words:
                    is_replaced[start : start + len(words)] = True
        for i in np.flatnonzero(is_replaced):
            tokens[i] = f"unique{count}"
            count += 1
        result.append(" ".join(tokens))
    return result


def evaluate_planted(questions: list[str]) -> dict[str, Any]:
    """Return the ranks of planted phrases, and the largest error of a cost."""
    ranks, errors = [], []
    for seed in range(N_SETS):
        rng = np.random.default_rng(seed)
        texts = [questions[i] for i in rng.choice(len(questions), SET_SIZE, replace=False)]
        planted = PLANTED[seed % len(PLANTED)]
        for i in rng.choice(SET_SIZE, N_PLANTED, replace=False):
            texts[i] = f"{texts[i]} {planted}"
        result = phrases(texts, tokenizer=str.split)
        ranks.append(
            next((i + 1 for i, row in enumerate(result.rows) if planted in row.phrase), None)
        )
        for row in result.rows:
            before = rewrite(texts, list(row.overlaps))
            after = rewrite(texts, [*row.overlaps, row.phrase])
            change = score(after, tokenizer=str.split) - score(before, tokenizer=str.split)
            errors.append(abs(row.cost - change))
    return {
        "name": "planted",
        "sets": N_SETS,
        "texts": SET_SIZE,
        "texts_with_phrase": N_PLANTED,
        "rank_1": ranks.count(1),
        "ranks": ranks,
        "costs": len(errors),
        "largest_error": max(errors),
    }


def evaluate_level(questions: list[str], n_runs: int) -> dict[str, Any]:
    """Return how often any phrase is significant in two sets from the same population."""
    smallest = []
    for seed in range(n_runs):
        rng = np.random.default_rng([seed, 1])
        texts = [questions[i] for i in rng.choice(len(questions), 2 * RUN_SIZE, replace=False)]
        options = {"q": 2, "permutations": PERMUTATIONS, "seed": seed, "tokenizer": str.split}
        result = phrases(texts[:RUN_SIZE], texts[RUN_SIZE:], n_phrases=1, **options)
        smallest.append(result.rows[0].p if result.rows else 1.0)
    p_values = np.array(smallest)
    proportions = {
        f"at_{level:g}": float(np.mean(p_values <= level + 1e-12)) for level in (0.01, 0.05, 0.1)
    }
    return {
        "name": "level",
        "runs": n_runs,
        "texts_per_set": RUN_SIZE,
        "permutations": PERMUTATIONS,
        "order": 2,
        "runs_without_phrases": int(np.sum(p_values == 1.0)),
        **proportions,
    }


def time_phrases(questions: list[str]) -> list[dict[str, Any]]:
    """Return the CPU time of `phrases` for random questions."""
    rows = []
    for n in TIMED_SIZES:
        texts = [
            questions[i] for i in np.random.default_rng(0).choice(len(questions), n, replace=False)
        ]
        start = time.process_time()
        phrases(texts, tokenizer=str.split)
        seconds = time.process_time() - start
        rows.append({"name": f"{n:,} questions", "texts": n, "cpu_seconds": seconds})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--runs", type=int, default=N_RUNS)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    questions = load_questions(options.data)
    rows = [evaluate_planted(questions), evaluate_level(questions, options.runs)]
    rows += time_phrases(questions)
    for row in rows:
        print(row, flush=True)
    write_results(options.json, rows, collect_environment())


if __name__ == "__main__":
    main()
