"""How well do relevant and diverse selections cover what a query may mean?

    python benchmarks/retrieval.py --peers folder-of-packages

α-nDCG@10 (Clarke et al., SIGIR 2008; α = 0.5) of ten documents of 200, by constructed relevance: a
query has several intents of unequal frequency, a document has one of them or none. Relevance is
the cosine to the query, which is all that any method sees besides the embeddings. "topics": a
direction for the query, one for each intent and noise, 384 dimensions; "digits": scikit-learn's
images, where a query is the mean of images of three to five digits. Each method has its defaults;
others are shown at other shares of diversity. `--peers` names a folder that has been filled by
`pip install --target FOLDER --no-deps pyversity==0.2.0 vendirag==0.2.0`; what is not there is left
out. Differences to ours are means over the same queries with their standard errors.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pairs import environment, write

DEPTH, POOL, ALPHA = 10, 200, 0.5
Method = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]


def alpha_ndcg(order: Any, intent: np.ndarray, grade: np.ndarray, depth: int = DEPTH) -> float:
    """Return α-nDCG of ranked documents with one intent each (−1: none) and grades in [0, 1]."""

    def gained(places: list[int]) -> float:
        seen: dict[int, int] = {}
        total = 0.0
        for rank, i in enumerate(places[:depth]):
            if intent[i] >= 0:
                times = seen.get(intent[i], 0)
                total += grade[i] * (1 - ALPHA) ** times / np.log2(rank + 2)
                seen[intent[i]] = times + 1
        return total

    ideal: list[int] = []
    worth = np.where(intent >= 0, grade, 0.0)
    for _ in range(depth):  # the greedy ranking, which is the usual ideal
        i = int(np.argmax(worth))
        ideal.append(i)
        worth[intent == intent[i]] *= 1 - ALPHA
        worth[i] = -1.0
    return gained([int(i) for i in order]) / gained(ideal)


def topics(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return embeddings of documents and of a query, and intent and grade of each document."""
    d, intents = 384, int(rng.integers(3, 9))
    query, *directions = rng.normal(size=(1 + intents, d)) / np.sqrt(d)
    share = np.arange(1, intents + 1) ** -1.0
    intent = np.where(rng.random(POOL) < 0.6, rng.choice(intents, POOL, p=share / share.sum()), -1)
    grade = rng.choice([0.33, 0.67, 1.0], POOL)
    # The topic of a document has a direction; a document without an intent has its own.
    near = np.where(intent >= 0, 0.6 + 0.6 * grade, rng.uniform(0.0, 0.9, POOL))
    alone, noise = rng.normal(size=(2, POOL, d)) / np.sqrt(d)
    own = np.where((intent >= 0)[:, None], np.array(directions)[intent], alone)
    return near[:, None] * query + own + 0.7 * noise, query, intent, grade


def digits(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return the same of images: the intents are the digits whose mean is the query."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    images = images - images.mean(axis=0)
    wanted = rng.permutation(10)[: rng.integers(3, 6)]
    chance = np.where(np.isin(labels, wanted), 1.0, 0.3)
    for share, digit in enumerate(wanted, 1):
        chance[labels == digit] /= share
    some = rng.choice(len(images), POOL, replace=False, p=chance / chance.sum())
    query = np.mean([images[labels == digit].mean(axis=0) for digit in wanted], axis=0)
    places = {int(digit): i for i, digit in enumerate(wanted)}
    intent = np.array([places.get(int(label), -1) for label in labels[some]])
    return images[some], query, intent, np.ones(POOL)


def methods(peers: Path | None) -> dict[str, Method]:
    """Return rankings by name: documents, cosines and query in, places out."""
    import vendiscore

    def ours(X: np.ndarray, scores: np.ndarray, query: np.ndarray, **how: Any) -> Any:
        return vendiscore.select(X, DEPTH, k="cosine", relevance=scores, **how).places

    result: dict[str, Method] = {"select": ours}
    for share in (0.3, 0.7):
        result[f"select, tradeoff={share}"] = partial(ours, tradeoff=share)
    result["relevance alone"] = lambda X, scores, query: np.argsort(-scores)[:DEPTH]
    if peers:
        sys.path.append(str(peers))
    try:
        from pyversity import diversify

        def py(X: np.ndarray, scores: np.ndarray, query: np.ndarray, **how: Any) -> Any:
            return diversify(X, scores, DEPTH, **how).indices

        for strategy in ("dpp", "mmr", "msd", "cover", "ssd"):
            result[f"pyversity {strategy}"] = partial(py, strategy=strategy)
        for share in (0.3, 0.7):
            result[f"pyversity mmr, {share}"] = partial(py, strategy="mmr", diversity=share)
            result[f"pyversity dpp, {share}"] = partial(py, strategy="dpp", diversity=share)
    except ImportError as error:
        print(f"pyversity: {error}")
    try:
        from vendirag import vrs_select

        def vrs(X: np.ndarray, scores: np.ndarray, query: np.ndarray, **how: Any) -> Any:
            return vrs_select(X, query, k=DEPTH, **how)

        result["vendirag"] = vrs
        for share in (0.3, 0.5):
            result[f"vendirag, s={share}"] = partial(vrs, s=share)
    except ImportError as error:
        print(f"vendirag: {error}")
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--peers", type=Path, help="a folder that has the other packages")
    parser.add_argument("--queries", type=int, default=200)
    given = parser.parse_args()
    perfect = np.array([0, 1, 2, -1])
    assert alpha_ndcg([0, 1, 2, 3], perfect, np.ones(4), 3) == 1
    assert alpha_ndcg([3, 0, 1, 2], perfect, np.ones(4), 3) < 1
    rows: list[dict[str, Any]] = []
    ways = methods(given.peers)
    for table, make in (("topics", topics), ("digits", digits)):
        values: dict[str, list[float]] = {name: [] for name in ways}
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        rng = np.random.default_rng(1)
        for _ in range(given.queries):
            X, query, intent, grade = make(rng)
            X = X / np.linalg.norm(X, axis=1)[:, None]
            scores = X @ (query / np.linalg.norm(query))
            for name, way in ways.items():
                start = time.perf_counter()
                order = way(X, scores, query)
                seconds[name].append(time.perf_counter() - start)
                values[name].append(alpha_ndcg(order, intent, grade))
        print(f"\n{table}: α-nDCG@{DEPTH} of {given.queries} queries, {DEPTH} of {POOL}")
        for name in sorted(ways, key=lambda name: -float(np.mean(values[name]))):
            less = np.array(values["select"]) - values[name]
            row = {
                "table": table,
                "name": name,
                "alpha_ndcg": float(np.mean(values[name])),
                "below_select": float(less.mean()),
                "error": float(less.std() / np.sqrt(len(less))),
                "ms": 1e3 * float(np.median(seconds[name])),
            }
            rows.append(row)
            print(
                f"  {name:<24} {row['alpha_ndcg']:.3f}   below select by {less.mean():+.3f} ± "
                f"{row['error']:.3f}   {row['ms']:8.2f} ms",
                flush=True,
            )
    write(given.json, rows, environment("pyversity", "vendirag", "scikit-learn"))


if __name__ == "__main__":
    main()
