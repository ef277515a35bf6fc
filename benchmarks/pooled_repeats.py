"""Coverage of intervals of single prompts that use how often answers repeat in all prompts.

    python benchmarks/pooled_repeats.py --json benchmarks/results/pooled_repeats.json

A source consists of a hundred populations of answers, one for each prompt. Tables of 6, 10 and 30
prompts with 4, 8 or 20 answers each (or "mixed", any of these) are drawn repeatedly. The rows
contain how often the 95 % intervals of the prompts cover E log VS_n, the mean of thousands of other
sets of the population: for separate intervals ("own"), and if repeats are pooled. `width` is the
median width, and `above` the proportion of intervals above the mean. Misses are correlated within a
table, so standard errors are those of the proportions by table. Most sources do not follow the
model of `recurrence_prior`. The method was developed with the sources in `DEVELOPMENT_SOURCES`; the
other sources were not used before.

Part "differences" compares a prompt of two sets, in tables of 10 prompts, with repeats pooled
within each set. The rows contain how often intervals of the difference cover the true difference,
and how often they exclude it on either side; `stated` is how often they exclude 0. In some pairs,
both populations of a prompt have the same E log VS_n and different shapes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from few_samples import build_similarity, digits, molecules, questions
from pairs import DATA, collect_environment, write_results
from threadpoolctl import threadpool_limits

from vendiscore import as_similarity
from vendiscore.scoring.group_intervals import estimate_log_scores, pool_lower_limits
from vendiscore.similarity.base import Similarity
from vendiscore.similarity.matrix import MatrixSimilarity
from vendiscore.spectral.stacked_spectra import StackedSpectra
from vendiscore.tools.analysis.pair_inference import estimate_difference

LEVEL = 0.95
ORDERS = (0.5, 1.0, 2.0, math.inf)
SIZES: tuple[int | str, ...] = (
    4,
    8,
    20,
    "mixed",
)  # answers per prompt; "mixed": not the same number
TABLES_BY_PROMPTS = {6: 300, 10: 200, 30: 100}  # number of tables by number of prompts
N_POPULATIONS = 100
TRUTH_SETS = 2000  # number of sets for E log VS_n
MIN_COVERAGE = 0.93  # lowest accepted coverage


class Source(NamedTuple):
    """Items with their similarities, and the proportions of the items in several populations.

    The proportions have shape (populations, items).
    """

    similarity: Similarity
    proportions: np.ndarray

    def draw(self, rng: np.random.Generator, populations: np.ndarray, n: int) -> np.ndarray:
        """Draw n answers from each of these populations; return their items, shape (…, n)."""
        bounds = np.cumsum(self.proportions, axis=1)
        uniform = rng.random((*populations.shape, n))
        items = np.empty(uniform.shape, dtype=int)
        for population in np.unique(populations):
            is_population = populations == population
            item_indices = np.searchsorted(
                bounds[population] / bounds[population, -1], uniform[is_population]
            )
            items[is_population] = item_indices
        return items


def as_matrix(similarity: Similarity) -> MatrixSimilarity:
    """Return the similarities of all pairs as a float64 matrix."""
    return MatrixSimilarity(np.asarray(similarity.dense(), dtype=float))


def proportions_with_favourite(favourite_proportions: np.ndarray, items: int) -> np.ndarray:
    """Return proportions in which the first item has the given proportion in each population."""
    table = np.tile((1 - favourite_proportions)[:, None] / (items - 1), items)
    table[:, 0] = favourite_proportions
    return table


def equal_proportions(counts: np.ndarray, items: int) -> np.ndarray:
    """Return equal proportions of the first items, as many as `counts` has for each population."""
    return (np.arange(items) < counts[:, None]) / counts[:, None]


def beta_proportions(a: float, b: float) -> np.ndarray:
    """Draw a proportion from Beta(a, b) for each population."""
    return np.random.default_rng(0).beta(a, b, N_POPULATIONS)


def make_labels(make_proportions: Callable[[], np.ndarray]) -> Callable[[Path], Source]:
    """Return a function that builds a source of labels with these proportions."""

    def source(data: Path) -> Source:
        table = make_proportions()
        return Source(MatrixSimilarity(np.eye(table.shape[1])), table)

    return source


def half_favourite() -> np.ndarray:
    """Return 1,000 proportions per population; in every second one, the first is Beta(2, 2)."""
    proportions = np.where(np.arange(N_POPULATIONS) % 2, beta_proportions(2, 2), 0.01)
    return proportions_with_favourite(proportions, 1000)


def tenth_favourite() -> np.ndarray:
    """Return 1,000 proportions per population; the first is 0.5 in every tenth population."""
    return proportions_with_favourite(np.where(np.arange(N_POPULATIONS) % 10, 0.0, 0.5), 1000)


def dirichlet_proportions() -> np.ndarray:
    """Draw 60 proportions for each population, of which a few are large."""
    return np.random.default_rng(0).dirichlet(np.full(60, 0.15), N_POPULATIONS)


def make_template_answers(data: Path) -> Source:
    """Return answers of a template: 10 to 200 answers, depending on the prompt."""
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice(list("abcdefghiklmnoprstuvwz"), 6)) for _ in range(200)]
    similarity = as_similarity([f"My favourite name is {name}." for name in names])
    return Source(
        as_matrix(similarity), equal_proportions(rng.choice([10, 20, 50, 200], N_POPULATIONS), 200)
    )


def make_favourite_question(a: float, b: float, minilm: bool = False) -> Callable[[Path], Source]:
    """Return a function that builds a source of questions; in each prompt, the proportion of one
    question has the distribution Beta(a, b). The kernel is n-grams, or MiniLM if `minilm`.
    """

    def source(data: Path) -> Source:
        similarity = build_similarity(questions(data)[:499], minilm)
        return Source(
            as_matrix(similarity), proportions_with_favourite(beta_proportions(a, b), 499)
        )

    return source


def make_model_answers(name: str, key: str = "generations") -> Callable[[Path], Source]:
    """Return a function that builds a source from the answers of a model of NoveltyBench.

    Each prompt is a population. With key="partition", the classes of the answers are the items.
    """

    def source(data: Path) -> Source:
        """Build one population per prompt, with the observed proportions of the distinct items."""
        with gzip.open(data / "noveltybench_curated.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [row for row in map(json.loads, lines) if row["model"] == name]
        answers = [[f"{i}:{x}" for x in row[key]] for i, row in enumerate(rows)]
        if key == "generations":
            answers = [row[key] for row in rows]
        items, codes = np.unique(np.concatenate(answers), return_inverse=True)
        proportions = np.zeros((len(rows), len(items)))
        prompt_indices = np.repeat(np.arange(len(rows)), list(map(len, answers)))
        np.add.at(proportions, (prompt_indices, codes), 1)
        kernel = "ngram_overlap" if key == "generations" else "labels"
        similarity = as_similarity(items.tolist(), k=kernel)
        return Source(as_matrix(similarity), proportions / proportions.sum(axis=1, keepdims=True))

    return source


def vectors_with_recurring_row(
    make_favourite_proportions: Callable[[], np.ndarray], columns: int, mean: float
) -> Callable[[Path], Source]:
    """Return normal rows, the first of which may recur."""

    def source(data: Path) -> Source:
        X = np.random.default_rng(0).normal(mean, size=(2000, columns))
        return Source(
            as_matrix(as_similarity(X, k="cosine")),
            proportions_with_favourite(make_favourite_proportions(), len(X)),
        )

    return source


def make_equally_similar_items(
    similarity: float, make_favourite_proportions: Callable[[], np.ndarray]
) -> Callable[[Path], Source]:
    """Return equally similar items, the first of which may recur."""

    def source(data: Path) -> Source:
        K = np.full((600, 600), similarity) + (1 - similarity) * np.eye(600)
        return Source(
            MatrixSimilarity(K), proportions_with_favourite(make_favourite_proportions(), 600)
        )

    return source


def make_near_copies(data: Path) -> Source:
    """Return normal rows; half of the items are near-copies of one row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 32))
    X[:500] = X[0] + rng.normal(scale=0.01, size=(500, 32))
    proportions = beta_proportions(1, 6)[:, None] * (np.arange(1000) < 500) / 500
    proportions += (1 - proportions.sum(axis=1, keepdims=True)) * (np.arange(1000) >= 500) / 500
    return Source(as_matrix(as_similarity(X, k="cosine")), proportions)


def two_favourites() -> np.ndarray:
    """Return 1,000 proportions per population; the first two are equal and may be large."""
    table = proportions_with_favourite(beta_proportions(1, 6), 1000)
    return np.roll(table, 1, axis=1) * 0.5 + table * 0.5


def zipf_proportions() -> np.ndarray:
    """Return 500 proportions per population by Zipf's law with exponents from 0.5 to 2."""
    powers = np.linspace(0.5, 2.0, N_POPULATIONS)[:, None]
    table = np.arange(1, 501) ** -powers
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def make_odorants(data: Path) -> Source:
    return Source(as_matrix(as_similarity(molecules(data)[:600], k="morgan")), one_favourite(600))


def make_digits(data: Path) -> Source:
    similarity = as_similarity(digits(data)[:1000], k="rbf", sigma=5.0)
    return Source(as_matrix(similarity), one_favourite(1000))


def one_favourite(items: int) -> np.ndarray:
    """Return proportions per population; the first is drawn from Beta(1, 6)."""
    return proportions_with_favourite(beta_proportions(1, 6), items)


def one_rare_favourite() -> np.ndarray:
    """Return the proportion 1/2000 of the first item, for each population."""
    return np.full(N_POPULATIONS, 1 / 2000)


DEVELOPMENT_SOURCES: dict[str, Callable[[Path], Source]] = {
    "labels, favourite Beta(1, 6)": make_labels(lambda: one_favourite(1000)),
    "labels, 300 even": make_labels(lambda: equal_proportions(np.full(N_POPULATIONS, 300), 300)),
    "labels, half Beta(2, 2)": make_labels(half_favourite),
    "labels, every tenth 50 %": make_labels(tenth_favourite),
    "labels, Dirichlet(0.15)": make_labels(dirichlet_proportions),
    "labels, 10 even": make_labels(lambda: equal_proportions(np.full(N_POPULATIONS, 10), 10)),
    "labels, 2 to 29 even": make_labels(
        lambda: equal_proportions(2 + np.arange(N_POPULATIONS) % 28, 29)
    ),
    "background 0.45, Beta(1, 6)": make_equally_similar_items(0.45, lambda: beta_proportions(1, 6)),
    "template, 10 to 200 names": make_template_answers,
    "questions, Beta(1, 6)": make_favourite_question(1, 6),
    "questions, Beta(1, 60)": make_favourite_question(1, 60),
    "questions, MiniLM, Beta(1, 6)": make_favourite_question(1, 6, minilm=True),
    "answers of gpt-4o": make_model_answers("gpt-4o"),
    "answers of gemini-1.5-pro": make_model_answers("gemini-1.5-pro"),
    "classes of gpt-4o": make_model_answers("gpt-4o", "partition"),
    "rows, mode Beta(1, 6)": vectors_with_recurring_row(lambda: beta_proportions(1, 6), 32, 0.0),
    "rows, none recurs": vectors_with_recurring_row(one_rare_favourite, 32, 0.7),
}
SOURCES: dict[str, Callable[[Path], Source]] = DEVELOPMENT_SOURCES | {
    "labels, two favourites": make_labels(two_favourites),
    "labels, Zipf 0.5 to 2": make_labels(zipf_proportions),
    "background 0.8, Beta(1, 6)": make_equally_similar_items(0.8, lambda: beta_proportions(1, 6)),
    "odorants, Beta(1, 6)": make_odorants,
    "digits, RBF 5, Beta(1, 6)": make_digits,
    "answers of people": make_model_answers("human"),
    "classes of people": make_model_answers("human", "partition"),
    "rows, near-copies Beta(1, 6)": make_near_copies,
    "rows, 384 columns, none recurs": vectors_with_recurring_row(one_rare_favourite, 384, 0.3),
}


def expected_log_scores(source: Source, n: int, sets: int) -> np.ndarray:
    """Return E log VS_n of each population, shape (orders, populations)."""
    rng = np.random.default_rng(n)
    logs = np.empty((len(ORDERS), len(source.proportions)))
    for population in range(len(source.proportions)):
        items = source.draw(rng, np.full(sets, population), n)
        stack = StackedSpectra(source.similarity.stack(items), None, ORDERS, "clip")
        logs[:, population] = np.log(stack.values).mean(axis=1)
    return logs


def count_coverage(
    name: str, source: Source, n: int | str, truths: dict[int, np.ndarray], table_factor: float
) -> list[dict[str, Any]]:
    """Count how often intervals of prompts cover E log VS_n, separately and with pooled repeats."""
    rng = np.random.default_rng(n if isinstance(n, int) else 0)
    rows = []
    for n_prompts, default_tables in TABLES_BY_PROMPTS.items():
        tables = max(4, round(table_factor * default_tables))
        populations = rng.integers(len(source.proportions), size=(tables, n_prompts))
        sizes = rng.choice(list(truths), size=populations.shape) if n == "mixed" else None
        sizes = np.full(populations.shape, n) if sizes is None else sizes
        groups: list[np.ndarray] = [np.empty(0)] * populations.size
        for size in np.unique(sizes):
            size_indices = np.flatnonzero(sizes == size)
            for i, items in zip(
                size_indices, source.draw(rng, populations.ravel()[size_indices], size), strict=True
            ):
                groups[i] = items
        scores = estimate_log_scores(source.similarity, groups, ORDERS, LEVEL, "clip")
        pooled = scores.low.copy()
        for table in np.split(np.arange(populations.size), tables):
            table_scores = type(scores)(*(values[..., table] for values in scores))
            pooled[:, table] = pool_lower_limits(table_scores, sizes.ravel()[table], LEVEL)
        truth = np.empty_like(pooled)
        for size, logs in truths.items():
            size_indices = np.flatnonzero(sizes == size)
            truth[:, size_indices] = logs[:, populations.ravel()[size_indices]]
        for k, q in enumerate(ORDERS):
            row: dict[str, Any] = {"part": "covered", "source": name, "n": n, "prompts": n_prompts}
            row |= {"tables": tables, "q": q}
            for method, low in (("own", scores.low[k]), ("pooled", pooled[k])):
                high = scores.high[k]
                above = (low > truth[k] + 1e-9).reshape(tables, n_prompts).mean(axis=1)
                below = (high < truth[k] - 1e-9).reshape(tables, n_prompts).mean(axis=1)
                misses = above + below
                width = float(np.median(np.exp(high) - np.exp(low)))
                row |= {
                    f"held_{method}": float(1 - misses.mean()),
                    f"above_{method}": float(above.mean()),
                    f"se_{method}": float(misses.std(ddof=1) / math.sqrt(tables)),
                    f"width_{method}": width,
                }
            rows.append(row)
    return rows


def match_expected_log_scores(logs: np.ndarray, n: int) -> Source:
    """Return equally likely labels, the last of which may be rarer, with these E log VS_n."""
    label_counts = np.unique(np.geomspace(1, 999, 60).round(2))
    curve = Source(MatrixSimilarity(np.eye(1000)), fractional_proportions(label_counts))
    expected = expected_log_scores(curve, n, TRUTH_SETS)[ORDERS.index(1.0)]
    return Source(
        curve.similarity,
        fractional_proportions(np.interp(logs, np.maximum.accumulate(expected), label_counts)),
    )


def fractional_proportions(counts: np.ndarray) -> np.ndarray:
    """Return proportions 1/count for the first labels, and the remaining proportion for one more
    label.
    """
    return np.clip(counts[:, None] - np.arange(1000), 0, 1) / counts[:, None]


def make_source_pairs(data: Path, n: int) -> dict[str, tuple[Source, Source]]:
    """Return pairs of sources by name, whose populations are compared prompt by prompt."""
    labels_a = SOURCES["labels, favourite Beta(1, 6)"](data)
    truth = expected_log_scores(labels_a, n, TRUTH_SETS)[ORDERS.index(1.0)]
    question_source = SOURCES["questions, Beta(1, 6)"](data)
    question_proportion = {4: 0.22, 8: 0.20, 20: 0.18}[n]  # equal mean scores at these sizes
    question_proportions = proportions_with_favourite(
        np.full(N_POPULATIONS, question_proportion), 499
    )
    target = expected_log_scores(
        Source(question_source.similarity, question_proportions), n, TRUTH_SETS
    )[ORDERS.index(1.0)].mean()
    K = np.eye(600)
    low, high = 0.0, 0.9
    for _ in range(40):  # bisection for the similarity with the same mean score
        middle = (low + high) / 2
        shares = np.r_[middle + (1 - middle) / n, np.full(n - 1, (1 - middle) / n)]
        if -(shares * np.log(shares)).sum() > target:
            low = middle
        else:
            high = middle
    constant = MatrixSimilarity(low + (1 - low) * K)
    unique_items = proportions_with_favourite(np.full(N_POPULATIONS, 1 / 600), 600)
    half_favourite_items = proportions_with_favourite(np.full(N_POPULATIONS, 0.5), 1000)
    uniform = proportions_with_favourite(np.full(N_POPULATIONS, 1 / 1000), 1000)
    identity = MatrixSimilarity(np.eye(1000))
    answers = {name: SOURCES[f"answers of {name}"](data) for name in ("gpt-4o", "gemini-1.5-pro")}
    return {
        "equal: a favourite, even labels": (labels_a, match_expected_log_scores(truth, n)),
        "equal: a favourite question, alike": (
            Source(question_source.similarity, question_proportions),
            Source(constant, unique_items),
        ),
        "equal: questions twice": (question_source, question_source),
        "gpt-4o, gemini-1.5-pro": (answers["gpt-4o"], answers["gemini-1.5-pro"]),
        "50 % one answer, none repeats": (
            Source(identity, half_favourite_items),
            Source(identity, uniform),
        ),
    }


def estimate_limits(
    source: Source, rng: np.random.Generator, populations: np.ndarray, n: int
) -> dict[str, np.ndarray]:
    """Estimate VS and the limits of its interval for one set of n samples per population.

    `populations`, shape (tables, prompts), are the indices of the populations of the source. A
    table is one simulated data set. Each value of the result has one number per population:
    "score", "own" (lower limit from the samples of the prompt), "pooled" (lower limit from all
    prompts of the table) and "high" (upper limit).
    """
    groups = list(source.draw(rng, populations.ravel(), n))
    scores = estimate_log_scores(
        source.similarity, groups, [1.0], LEVEL, "clip", conservative_tails=True
    )
    n_tables, n_prompts = populations.shape
    pooled = scores.low.copy()
    for table in np.split(np.arange(populations.size), n_tables):
        table_scores = type(scores)(*(values[..., table] for values in scores))
        pooled[:, table] = pool_lower_limits(
            table_scores, np.full(n_prompts, n), LEVEL, conservative_tails=True
        )
    logs = {"score": scores.log, "own": scores.low, "pooled": pooled, "high": scores.high}
    return {name: np.exp(values[0]) for name, values in logs.items()}


def count_difference_coverage(
    name: str,
    sources: tuple[Source, Source],
    truth: list[np.ndarray],
    n: int,
    n_prompts: int,
    table_factor: float,
) -> dict[str, Any]:
    """Count how often intervals contain the true difference of VS of two sets in one prompt.

    A table is one simulated data set: n samples of each source for each of `n_prompts` prompts.
    `truth` contains log VS of both sources, by order and population.
    """
    rng = np.random.default_rng(n)
    tables = max(4, round(table_factor * TABLES_BY_PROMPTS[n_prompts]))
    populations = rng.integers(N_POPULATIONS, size=(tables, n_prompts))
    limits_a, limits_b = (estimate_limits(source, rng, populations, n) for source in sources)
    true_a, true_b = (np.exp(logs[ORDERS.index(1.0), populations.ravel()]) for logs in truth)
    true_differences = true_a - true_b
    row: dict[str, Any] = {"part": "differences", "pair": name, "n": n, "prompts": n_prompts}
    row |= {"tables": tables, "difference": float(np.median(true_differences))}
    for method in ("own", "pooled"):
        intervals_a, intervals_b = (
            np.column_stack([limits["score"], limits[method], limits["high"]]).tolist()
            for limits in (limits_a, limits_b)
        )
        differences = [
            estimate_difference(interval_a, interval_b)
            for interval_a, interval_b in zip(intervals_a, intervals_b, strict=True)
        ]
        _, low, high = np.transpose(differences)
        above = (low > true_differences + 1e-9).reshape(tables, n_prompts).mean(axis=1)
        below = (high < true_differences - 1e-9).reshape(tables, n_prompts).mean(axis=1)
        stated = np.where(low > 0, 1, np.where(high < 0, -1, 0))
        equal = name.startswith("equal")
        wrong = stated != 0 if equal else stated * np.sign(true_differences) < 0
        misses = above + below
        row |= {
            f"held_{method}": float(1 - misses.mean()),
            f"above_{method}": float(above.mean()),
            f"below_{method}": float(below.mean()),
            f"se_{method}": float(misses.std(ddof=1) / math.sqrt(tables)),
            f"width_{method}": float(np.median(high - low)),
            f"stated_{method}": float((stated != 0).mean()),
            f"wrong_{method}": float(wrong.mean()),
        }
    return row


def round_values(row: dict[str, Any]) -> dict[str, Any]:
    return {key: round(x, 3) if isinstance(x, float) else x for key, x in row.items()}


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument(
        "--times", type=float, default=1.0, help="factor for the number of simulated tables"
    )
    parser.add_argument("--sources", nargs="*", choices=SOURCES, default=list(SOURCES))
    parser.add_argument("--differences", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args()
    result: list[dict[str, Any]] = []
    with threadpool_limits(1):
        for n in (4, 8, 20) if options.differences else ():
            for name, source_pair in make_source_pairs(options.data, n).items():
                truth = [expected_log_scores(source, n, TRUTH_SETS) for source in source_pair]
                for n_prompts in TABLES_BY_PROMPTS:
                    result.append(
                        count_difference_coverage(
                            name, source_pair, truth, n, n_prompts, options.times
                        )
                    )
                    print(round_values(result[-1]), flush=True)
        for name in options.sources:
            source = SOURCES[name](options.data)
            sets = max(500, round(min(1.0, options.times) * TRUTH_SETS))
            truths = {n: expected_log_scores(source, n, sets) for n in SIZES if isinstance(n, int)}
            for answers in SIZES:
                rows = count_coverage(name, source, answers, truths, options.times)
                for row in rows:
                    if row["q"] == 1 or row["held_pooled"] < MIN_COVERAGE:
                        print(round_values(row), flush=True)
                result += rows
    write_results(options.json, result, collect_environment() | {"level": LEVEL})


if __name__ == "__main__":
    main()
