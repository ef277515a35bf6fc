"""False and true differences that `compare` reports, and the coverage of its intervals.

    python benchmarks/compare_null.py --repeats 300 --json benchmarks/results/compare_null.json

- No difference: two, three and eight sets of the same population are drawn repeatedly, of equal or
  unequal sizes from 4 to 200, also prompt by prompt, at orders from 0.5 to ∞. The rows contain how
  often `compare` reports a difference of any two sets at 5 % and at 1 %, and how often an interval
  of a difference excludes 0. Samples are questions, digits, molecules, labels, and simulated
  sentences and vectors.
- Equal diversity: two populations of equal diversity that have nothing in common, for which
  permutations of the labels are not exact.
- A difference: a population and a narrower one. The rows contain how often the interval covers the
  difference, and how often the sets are distinguished.
- `--only recurring` computes only the rows for the populations of few_samples.py, whose answers
  recur, and for models whose difference varies randomly between prompts.
- `--only equal` computes only the rows for populations with equal mean scores and different
  distributions: a question that recurs among others, against texts that all share four words; and
  eight equally likely labels, against one common label among unique labels. The permutation test
  detects that they differ, but each direction that `compare` states is wrong.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy
from few_samples import SOURCES
from pairs import DATA, collect_environment, write_results
from threadpoolctl import threadpool_limits

from vendiscore.resolve.similarity_builder import as_similarity
from vendiscore.similarity.base import Similarity
from vendiscore.similarity.matrix import MatrixSimilarity
from vendiscore.spectral.stacked_spectra import StackedSpectra
from vendiscore.support.namespace import to_host
from vendiscore.support.progress import run_steps
from vendiscore.tools.analysis.compare_options import CompareOptions
from vendiscore.tools.analysis.compare_sets import comparison_steps
from vendiscore.tools.analysis.comparison import (
    DIRECTION_UNKNOWN,
    LESS_DIVERSE,
    MORE_DIVERSE,
    Comparison,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from populations import draw_sentences, draw_vectors

PERMUTATIONS = 499  # the smallest possible p-value of three pairs is 0.006
PERMUTATIONS_OF_EIGHT_SETS = 2999  # the smallest possible p-value of 28 pairs is 0.009
POOL_SIZE = 1600  # samples of a population
N_PROMPTS, N_ANSWERS = 12, 4
Draw = Callable[[np.random.Generator, int], Similarity]
LABEL_SOURCES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "labels, 200 kinds": lambda rng, n: rng.integers(200, size=n),
    "labels, 20 kinds": lambda rng, n: rng.integers(20, size=n),
    "labels, one kind 95 %": lambda rng, n: np.where(
        rng.random(n) < 0.95, 0, rng.integers(1, 10**9, size=n)
    ),
}


def build_pools() -> dict[str, np.ndarray]:
    """Return the similarities of many samples of each population."""
    rng = np.random.default_rng(0)
    with (DATA / "trec_questions.tsv").open(encoding="utf-8") as file:
        questions = [row["question"] for row in csv.DictReader(file, delimiter="\t")]
    images = np.load(DATA / "mnist_test.npz")["images"]
    digits = images.reshape(len(images), -1).astype(float)
    digits = digits[rng.choice(len(digits), POOL_SIZE, replace=False)]
    median_distance = float(np.median(np.linalg.norm(digits[:500] - digits[500:1000], axis=1)))
    with gzip.open(DATA / "goodscents.tsv.gz", "rt", encoding="utf-8") as file:
        smiles = sorted({row[0] for row in csv.reader(file, delimiter="\t") if row})
    samples_by_source = {
        "questions, n-grams": (rng.choice(questions, POOL_SIZE, replace=False).tolist(), {}),
        "digits, cosine": (digits, {"k": "cosine"}),
        "digits, narrow RBF": (digits, {"k": "rbf", "sigma": median_distance / 3}),
        "odorants, Tanimoto": (
            rng.choice(smiles, POOL_SIZE, replace=False).tolist(),
            {"k": "morgan", "on_error": "skip"},
        ),
        "sentences, n-grams": (draw_sentences(rng, POOL_SIZE), {}),
        "vectors, cosine": (draw_vectors(rng, POOL_SIZE), {"k": "cosine"}),
    }
    return {
        name: np.asarray(as_similarity(x, **kernel_options).dense())
        for name, (x, kernel_options) in samples_by_source.items()
    }


def draw_similarities(
    name: str, pool: np.ndarray | None, rng: np.random.Generator, n: int
) -> np.ndarray:
    """Draw n samples of a population; return their similarities."""
    if pool is None:
        labels = LABEL_SOURCES[name](rng, n)
        return (labels[:, None] == labels).astype(float)
    indices = rng.choice(len(pool), n, replace=False)
    return pool[np.ix_(indices, indices)]


def run_comparison(
    K: np.ndarray | Similarity, sizes: Any, n_prompts: int = 0, **option_values: Any
) -> Comparison:
    """Compare consecutive sets of a pool with `compare`; with prompts, each set has equally many
    samples of each prompt.
    """
    codes, groups = np.repeat(np.arange(len(sizes)), sizes), None
    if n_prompts:
        starts = np.cumsum([0, *sizes])
        indices_by_set = [
            np.split(np.arange(a, b), n_prompts) for a, b in itertools.pairwise(starts)
        ]
        groups = [list(indices) for indices in zip(*indices_by_set, strict=True)]
    names = [f"S{i}" for i in range(len(sizes))]
    option_values.setdefault(
        "permutations", PERMUTATIONS if len(sizes) < 8 else PERMUTATIONS_OF_EIGHT_SETS
    )
    options = CompareOptions(**option_values).checked()
    pool = K if isinstance(K, Similarity) else MatrixSimilarity(K)
    return run_steps(comparison_steps(pool, codes, names, options, groups))


def count_null_differences(
    name: str,
    pool: Any,
    sizes: tuple[int, ...],
    repeats: int,
    kind: str = "one source",
    **option_values: Any,
) -> dict[str, Any]:
    """Count how often sets of equal diversity are reported as different."""
    comparisons = []
    for seed in range(repeats):
        rng = np.random.default_rng([seed, *sizes, *name.encode()])
        if kind == "two of one diversity":
            a, b = (draw_similarities(name, pool, rng, n) for n in sizes)
            K = np.block([[a, np.zeros((len(a), len(b)))], [np.zeros((len(b), len(a))), b]])
        else:
            K = draw_similarities(name, pool, rng, sum(sizes))
        comparisons.append(
            run_comparison(
                K, sizes, N_PROMPTS if kind == "prompts" else 0, seed=seed, **option_values
            )
        )
    p = np.array([min(row.p_adjusted for row in comparison.pairs) for comparison in comparisons])
    excludes_zero = [
        any(not row.low <= 0 <= row.high for row in comparison.pairs) for comparison in comparisons
    ]
    row = {
        "name": name,
        "sizes": sizes,
        "q": str(option_values.get("q", 1)),
        "sources": kind,
        "runs": repeats,
        "differ": float(np.mean(p <= 0.05 + 1e-9)),
        "differ_at_1_percent": float(np.mean(p <= 0.01 + 1e-9)),
        "interval_without_0": float(np.mean(excludes_zero)),
        "disagree": int(np.sum(np.array(excludes_zero) != (p <= 0.05 + 1e-9))),
    }
    print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
    return row


def count_narrower_differences(
    name: str, pool: Any, n: int, repeats: int, proportion: float
) -> dict[str, Any]:
    """Compare a population with a narrower one, which draws a proportion of samples from the
    quarter that is nearest to one sample.
    """
    scores, comparisons = np.empty((repeats, 2)), []
    near_indices = np.argsort(-pool[np.random.default_rng(1).integers(len(pool))])[: len(pool) // 4]
    for seed in range(repeats):
        rng = np.random.default_rng([seed, n, *name.encode()])
        a = rng.choice(len(pool), n, replace=False)
        inside = rng.choice(near_indices, rng.binomial(n, proportion), replace=False)
        other_indices = np.setdiff1d(np.arange(len(pool)), inside)
        indices = np.concatenate(
            [a, inside, rng.choice(other_indices, n - len(inside), replace=False)]
        )
        comparisons.append(run_comparison(pool[np.ix_(indices, indices)], (n, n)))
        scores[seed] = [np.log(row.matched) for row in comparisons[-1].sets]
    difference = float(np.subtract(*np.exp(scores.mean(0))))
    pairs = [comparison.pairs[0] for comparison in comparisons]
    row = {
        "name": name,
        "sizes": (n, n),
        "q": "1",
        "sources": f"two, {proportion:g} of the second near one sample",
        "runs": repeats,
        "difference": difference,
        "differ": float(np.mean([row.p <= 0.05 + 1e-9 and row.difference > 0 for row in pairs])),
        "directions": float(
            np.mean([comparison.verdict("S0", "S1") == MORE_DIVERSE for comparison in comparisons])
        ),
        "covered": float(np.mean([row.low <= difference <= row.high for row in pairs])),
        "above": float(np.mean([row.low > difference for row in pairs])),
        "below": float(np.mean([row.high < difference for row in pairs])),
    }
    print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
    return row


RECURRING_SOURCES = [
    *(f"{m} answers of a template" for m in (10, 20, 50)),
    *(f"one question has {share} %" for share in (10, 20, 30)),
    *(f"a model, prompt {i}" for i in (0, 30, 60)),
    "labels, Zipf",
    "90 % and 1,000 rare labels",
    "cosine, MNIST",
    "RBF 3, MNIST",
    "Tanimoto, odorants",
    "MiniLM, TREC",
]


def count_recurring_differences(name: str, repeats: int) -> list[dict[str, Any]]:
    """Compare pairs of sets of a population in which samples recur."""
    rows = []
    with threadpool_limits(1):
        source = SOURCES[name](DATA)
        for n in (8, 20, 40):
            rng = np.random.default_rng(n)
            sets = source.sets(rng, repeats, 2 * n)
            pairs = [
                run_comparison(source.similarity.take(indices), (n, n), seed=seed).pairs[0]
                for seed, indices in enumerate(sets)
            ]
            rows.append(summarize_pairs(name, (n, n), "recurring", pairs))
    return rows


def count_prompt_differences(n_prompts: int, repeats: int) -> dict[str, Any]:
    """Count the directions stated for two models that differ by prompt, but not on average."""
    pairs = []
    for seed in range(repeats):
        rng = np.random.default_rng([seed, n_prompts])
        n_distinct = rng.geometric(0.1, (n_prompts, 2)) + 1
        answers = rng.integers(0, n_distinct[:, :, None], (n_prompts, 2, 8))
        labels = (answers + 1000 * np.arange(n_prompts)[:, None, None]).swapaxes(0, 1).ravel()
        K = (labels[:, None] == labels).astype(float)
        pairs.append(run_comparison(K, (8 * n_prompts,) * 2, n_prompts, seed=seed).pairs[0])
    return summarize_pairs(f"{n_prompts} prompts", (8, 8), "random effects", pairs)


EQUAL_SIZES = (8, 20, 50)
EQUAL_LABELS = 0.4059  # same mean log VS at n = 8 as eight labels
CALIBRATION_SETS = 4000  # number of sets from which mean scores are estimated


class EqualMean(NamedTuple):
    """Two populations of equal mean log VS at one sample size, as indices into a pool."""

    name: str
    n: int
    pool: Similarity
    draw_a: Callable[[np.random.Generator, int], np.ndarray]
    draw_b: Callable[[np.random.Generator, int], np.ndarray]

    def mean_log_scores(self, rng: np.random.Generator, sets: int) -> tuple[float, float]:
        """Return the mean log VS of many sets of both sources."""
        a = compute_log_scores(self.pool, self.draw_a(rng, sets))
        b = compute_log_scores(self.pool, self.draw_b(rng, sets))
        return float(a.mean()), float(b.mean())


def compute_log_scores(pool: Similarity, sets: np.ndarray) -> np.ndarray:
    """Return log VS of sets of n samples.

    `sets`, shape (number of sets, n), contains indices into `pool`.
    """
    logs = []
    for batch in np.array_split(sets, max(1, len(sets) // 500)):
        K = to_host(pool.stack(batch))
        logs.append(np.log(StackedSpectra(K, None, [1.0], "clip").values[0]))
    return np.concatenate(logs)


def make_question_among_texts(n: int) -> EqualMean:
    """Return two populations: 300 questions, the first of which recurs, and 400 texts that share
    four words. All pairs of texts are equally similar, so their score hardly varies. The proportion
    of the first question is chosen such that both populations have the same mean log VS.
    """
    with (DATA / "trec_questions.tsv").open(encoding="utf-8") as file:
        all_questions = [row["question"] for row in csv.DictReader(file, delimiter="\t")]
    questions = (
        np.random.default_rng(0).choice(sorted(set(all_questions)), 300, replace=False).tolist()
    )
    texts = [
        f"all texts share these {' '.join(f'word{i}x{j}' for j in range(6))}" for i in range(400)
    ]
    pool = as_similarity([*questions, *texts], k="ngram_overlap")

    def draw_b(rng: np.random.Generator, sets: int) -> np.ndarray:
        return 300 + rng.permuted(np.tile(np.arange(400), (sets, 1)), axis=1)[:, :n]

    def draw_a(rng: np.random.Generator, sets: int, proportion: float) -> np.ndarray:
        other_indices = rng.integers(1, 300, (sets, n))
        return np.where(rng.random((sets, n)) < proportion, 0, other_indices)

    target = float(compute_log_scores(pool, draw_b(np.random.default_rng(0), 50)).mean())

    def excess(proportion: float) -> float:
        indices = draw_a(np.random.default_rng(1), CALIBRATION_SETS, proportion)
        return float(compute_log_scores(pool, indices).mean()) - target

    proportion = float(scipy.optimize.brentq(excess, 0.02, 0.6, xtol=1e-3))
    name = f"a question has {100 * proportion:.1f} %, texts share four words"
    return EqualMean(name, n, pool, lambda rng, sets: draw_a(rng, sets, proportion), draw_b)


def make_equal_or_one_label(n: int = 8) -> EqualMean:
    """Return two populations: eight equally likely labels, and one common label among unique
    labels.
    """
    labels = [*range(8), "common", *(f"unique {i}" for i in range(n))]
    pool = as_similarity(labels, k="labels")

    def one_common(rng: np.random.Generator, sets: int) -> np.ndarray:
        return np.where(rng.random((sets, n)) < EQUAL_LABELS, 8, 9 + np.arange(n))

    return EqualMean(
        "eight equal labels, one label of 40.59 %",
        n,
        pool,
        lambda rng, sets: rng.integers(8, size=(sets, n)),
        one_common,
    )


def count_equal_mean_directions(
    source: EqualMean, runs: int, permutations: int = 199
) -> dict[str, Any]:
    """Count the directions stated between two populations of equal mean score, all of which are
    wrong.
    """
    n = source.n
    rng = np.random.default_rng([n, *source.name.encode()])
    sets = np.concatenate([source.draw_a(rng, runs), source.draw_b(rng, runs)], axis=1)
    comparisons = []
    for seed, indices in enumerate(sets):
        pool = source.pool.take(indices)
        comparisons.append(run_comparison(pool, (n, n), seed=seed, permutations=permutations))
    row = summarize_pairs(
        source.name,
        (n, n),
        "equal mean scores",
        [comparison.pairs[0] for comparison in comparisons],
    )
    row["permutations"] = permutations
    row["mean_log_scores"] = source.mean_log_scores(np.random.default_rng(2), CALIBRATION_SETS)
    verdicts = [comparison.verdict("S0", "S1") for comparison in comparisons]
    row["directions"] = float(
        np.mean([verdict in (MORE_DIVERSE, LESS_DIVERSE) for verdict in verdicts])
    )
    row["more"] = float(np.mean([verdict == MORE_DIVERSE for verdict in verdicts]))
    row["direction_not_shown"] = float(
        np.mean([verdict == DIRECTION_UNKNOWN for verdict in verdicts])
    )
    print(f"proportion of stated directions: {row['directions']:.4f} of {runs} runs", flush=True)
    return row


def iter_equal_mean_rows(repeats: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of both pairs of populations of equal mean score, with fewer runs for larger
    sets.
    """
    for n, n_runs in zip(EQUAL_SIZES, (4 * repeats, 2 * repeats, repeats), strict=True):
        yield count_equal_mean_directions(make_question_among_texts(n), n_runs)
    yield count_equal_mean_directions(make_equal_or_one_label(), 10 * repeats)


def summarize_pairs(
    name: str, sizes: tuple[int, ...], kind: str, pairs: list[Any]
) -> dict[str, Any]:
    """Return a row with the proportions of pairs with a small p-value, and with an interval that
    excludes 0.
    """
    p = np.array([pair.p for pair in pairs])
    row = {
        "name": name,
        "sizes": sizes,
        "q": "1",
        "sources": kind,
        "runs": len(pairs),
        "differ": float(np.mean(p <= 0.05 + 1e-9)),
        "differ_at_1_percent": float(np.mean(p <= 0.01 + 1e-9)),
        "interval_without_0": float(np.mean([not pair.low <= 0 <= pair.high for pair in pairs])),
    }
    print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
    return row


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", choices=["recurring", "equal"])
    options = parser.parse_args()
    if options.only == "equal":
        with threadpool_limits(1):
            rows = list(iter_equal_mean_rows(options.repeats))
        if options.json:
            earlier_rows = json.loads(options.json.read_text(encoding="utf-8"))["rows"]
            rows = [row for row in earlier_rows if row["sources"] != "equal mean scores"] + rows
        write_results(options.json, rows, collect_environment() | {"permutations": PERMUTATIONS})
        return
    with ProcessPoolExecutor() as pool:
        rows_by_source = pool.map(
            count_recurring_differences,
            RECURRING_SOURCES,
            [options.repeats] * len(RECURRING_SOURCES),
        )
        rows = list(itertools.chain.from_iterable(rows_by_source))
    rows += [count_prompt_differences(prompts, options.repeats) for prompts in (5, 20)]
    if options.only:
        new_sources = {row["sources"] for row in rows}
        earlier_rows = json.loads(options.json.read_text(encoding="utf-8"))["rows"]
        rows = [row for row in earlier_rows if row["sources"] not in new_sources] + rows
        write_results(options.json, rows, collect_environment() | {"permutations": PERMUTATIONS})
        return
    rows += iter_equal_mean_rows(options.repeats)
    pools_by_name, repeats = build_pools(), options.repeats
    all_sources = {**pools_by_name, **dict.fromkeys(LABEL_SOURCES)}
    large_pools = {name: pools_by_name[name] for name in list(pools_by_name)[:4]}
    for name, pool in all_sources.items():
        rows += [count_null_differences(name, pool, (n, n), repeats) for n in (4, 8, 20, 40)]
        rows += [
            count_null_differences(name, pool, sizes, repeats) for sizes in ((16, 8), (80, 40))
        ]
        rows += [
            count_null_differences(name, pool, (20, 20), repeats, q=q)
            for q in (0.5, 2, float("inf"))
        ]
        rows += [count_null_differences(name, pool, (20,) * 3, repeats)]
        rows += [
            count_null_differences(name, pool, (N_PROMPTS * N_ANSWERS,) * 2, repeats, "prompts")
        ]
        rows += [count_null_differences(name, pool, (80, 80), repeats // 2)]
    for name, pool in large_pools.items():
        rows += [
            count_null_differences(name, pool, (20,) * 8, repeats // 4),
            count_null_differences(name, pool, (200, 200), repeats // 2),
        ]
        rows += [
            count_null_differences(name, pool, (n, n), repeats // 2, "two of one diversity")
            for n in (20, 80)
        ]
    for name, pool in pools_by_name.items():
        rows += [count_narrower_differences(name, pool, n, repeats, 0.5) for n in (4, 8, 20)]
        rows += [count_narrower_differences(name, pool, 100, repeats // 4, 0.3)]
    write_results(
        options.json,
        rows,
        collect_environment() | {"repeats": repeats, "permutations": PERMUTATIONS},
    )


if __name__ == "__main__":
    main()
