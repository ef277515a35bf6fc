"""α-nDCG of relevant and diverse selections: how well do they cover the intents of a query?

    python benchmarks/retrieval.py --peers folder-of-packages

α-nDCG@10 (Clarke et al., SIGIR 2008; α = 0.5) of ten of 200 documents, with constructed relevance:
a query has several intents of unequal frequency, and a document has one intent or none. Methods get
the embeddings and the relevance, which is the cosine to the query. "topics": 384 dimensions, with a
direction for the query, one for each intent, and noise. "digits": scikit-learn's images; a query is
the mean of images of three to five digits. All methods use their defaults; some are also shown with
other weights of diversity. `--peers` names a folder with other packages, from `pip install --target
FOLDER --no-deps pyversity==0.2.0 vendirag==0.2.0`; missing packages are skipped. Differences from
`select` are means over the same queries, with their standard errors.
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
from pairs import collect_environment, write_results

N_RANKED, N_DOCUMENTS, ALPHA = 10, 200, 0.5
Method = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]


def alpha_ndcg(order: Any, intent: np.ndarray, grade: np.ndarray, depth: int = N_RANKED) -> float:
    """Return α-nDCG of ranked documents; each has one intent (−1: none) and a grade in [0, 1]."""

    def discounted_gain(ranking: list[int]) -> float:
        """Return α-DCG: the gain of an intent shrinks with each earlier document of this intent."""
        seen: dict[int, int] = {}
        total = 0.0
        for rank, i in enumerate(ranking[:depth]):
            if intent[i] >= 0:
                times = seen.get(intent[i], 0)
                total += grade[i] * (1 - ALPHA) ** times / np.log2(rank + 2)
                seen[intent[i]] = times + 1
        return total

    ideal: list[int] = []
    remaining_gain = np.where(intent >= 0, grade, 0.0)
    for _ in range(depth):  # the ideal ranking is approximated greedily, as usual
        i = int(np.argmax(remaining_gain))
        ideal.append(i)
        remaining_gain[intent == intent[i]] *= 1 - ALPHA
        remaining_gain[i] = -1.0
    return discounted_gain([int(i) for i in order]) / discounted_gain(ideal)


def draw_topics(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return embeddings of documents and of a query, and the intent and grade of each document.

    An intent is a subtopic of the query, or −1 for documents that match none. A grade is the
    relevance of a document to its intent, between 0 and 1.
    """
    d, intents = 384, int(rng.integers(3, 9))
    query, *directions = rng.normal(size=(1 + intents, d)) / np.sqrt(d)
    frequencies = np.arange(1, intents + 1) ** -1.0
    intent = np.where(
        rng.random(N_DOCUMENTS) < 0.6,
        rng.choice(intents, N_DOCUMENTS, p=frequencies / frequencies.sum()),
        -1,
    )
    grade = rng.choice([0.33, 0.67, 1.0], N_DOCUMENTS)
    # A document points in the direction of its topic, or in a random one without an intent.
    query_weights = np.where(intent >= 0, 0.6 + 0.6 * grade, rng.uniform(0.0, 0.9, N_DOCUMENTS))
    noise_directions, noise = rng.normal(size=(2, N_DOCUMENTS, d)) / np.sqrt(d)
    topic_directions = np.where(
        (intent >= 0)[:, None], np.array(directions)[intent], noise_directions
    )
    return query_weights[:, None] * query + topic_directions + 0.7 * noise, query, intent, grade


def draw_digits(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return images of digits as documents, a query, and the intent and grade of each document.

    The query is the mean of the mean images of 3 to 5 digits. These digits are the intents; other
    digits have the intent −1. All grades are 1.
    """
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    images = images - images.mean(axis=0)
    query_digits = rng.permutation(10)[: rng.integers(3, 6)]
    chance = np.where(np.isin(labels, query_digits), 1.0, 0.3)
    for rank, digit in enumerate(query_digits, 1):
        chance[labels == digit] /= rank
    document_indices = rng.choice(len(images), N_DOCUMENTS, replace=False, p=chance / chance.sum())
    query = np.mean([images[labels == digit].mean(axis=0) for digit in query_digits], axis=0)
    intent_of_digit = {int(digit): i for i, digit in enumerate(query_digits)}
    intent = np.array([intent_of_digit.get(int(label), -1) for label in labels[document_indices]])
    return images[document_indices], query, intent, np.ones(N_DOCUMENTS)


def build_methods(peers: Path | None) -> dict[str, Method]:
    """Return ranking functions by name; they map documents, cosines and the query to indices."""
    import vendiscore

    def select_documents(
        X: np.ndarray, scores: np.ndarray, query: np.ndarray, **options: Any
    ) -> Any:
        return vendiscore.select(X, N_RANKED, k="cosine", relevance=scores, **options).places

    result: dict[str, Method] = {"select": select_documents}
    for tradeoff in (0.3, 0.7):
        result[f"select, tradeoff={tradeoff}"] = partial(select_documents, tradeoff=tradeoff)
    result["relevance alone"] = lambda X, scores, query: np.argsort(-scores)[:N_RANKED]
    if peers:
        sys.path.append(str(peers))
    try:
        from pyversity import diversify

        def select_with_pyversity(
            X: np.ndarray, scores: np.ndarray, query: np.ndarray, **options: Any
        ) -> Any:
            return diversify(X, scores, N_RANKED, **options).indices

        for strategy in ("dpp", "mmr", "msd", "cover", "ssd"):
            result[f"pyversity {strategy}"] = partial(select_with_pyversity, strategy=strategy)
        for tradeoff in (0.3, 0.7):
            result[f"pyversity mmr, {tradeoff}"] = partial(
                select_with_pyversity, strategy="mmr", diversity=tradeoff
            )
            result[f"pyversity dpp, {tradeoff}"] = partial(
                select_with_pyversity, strategy="dpp", diversity=tradeoff
            )
    except ImportError as error:
        print(f"pyversity: {error}")
    try:
        from vendirag import vrs_select

        def select_with_vendirag(
            X: np.ndarray, scores: np.ndarray, query: np.ndarray, **options: Any
        ) -> Any:
            return vrs_select(X, query, k=N_RANKED, **options)

        result["vendirag"] = select_with_vendirag
        for tradeoff in (0.3, 0.5):
            result[f"vendirag, s={tradeoff}"] = partial(select_with_vendirag, s=tradeoff)
    except ImportError as error:
        print(f"vendirag: {error}")
    return result


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--peers", type=Path, help="folder with the other packages")
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    perfect = np.array([0, 1, 2, -1])
    assert alpha_ndcg([0, 1, 2, 3], perfect, np.ones(4), 3) == 1
    assert alpha_ndcg([3, 0, 1, 2], perfect, np.ones(4), 3) < 1
    rows: list[dict[str, Any]] = []
    methods = build_methods(options.peers)
    for table, draw in (("topics", draw_topics), ("digits", draw_digits)):
        values: dict[str, list[float]] = {name: [] for name in methods}
        seconds: dict[str, list[float]] = {name: [] for name in methods}
        rng = np.random.default_rng(1)
        for _ in range(options.queries):
            X, query, intent, grade = draw(rng)
            X = X / np.linalg.norm(X, axis=1)[:, None]
            scores = X @ (query / np.linalg.norm(query))
            for name, rank in methods.items():
                start = time.perf_counter()
                order = rank(X, scores, query)
                seconds[name].append(time.perf_counter() - start)
                values[name].append(alpha_ndcg(order, intent, grade))
        print(
            f"\n{table}: α-nDCG@{N_RANKED} of {options.queries} queries, {N_RANKED} of "
            f"{N_DOCUMENTS}"
        )
        for name in sorted(methods, key=lambda name: -float(np.mean(values[name]))):
            differences = np.array(values["select"]) - values[name]
            row = {
                "table": table,
                "name": name,
                "alpha_ndcg": float(np.mean(values[name])),
                "below_select": float(differences.mean()),
                "error": float(differences.std() / np.sqrt(len(differences))),
                "ms": 1e3 * float(np.median(seconds[name])),
            }
            rows.append(row)
            print(
                f"  {name:<24} {row['alpha_ndcg']:.3f}   below select by "
                f"{differences.mean():+.3f} ± "
                f"{row['error']:.3f}   {row['ms']:8.2f} ms",
                flush=True,
            )
    write_results(options.json, rows, collect_environment("pyversity", "vendirag", "scikit-learn"))


if __name__ == "__main__":
    main()
