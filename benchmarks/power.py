"""Proportions of right and wrong directions that `compare` states.

    python benchmarks/power.py --json benchmarks/results/power.json [--before FILE] [--only PART]

- `unpaired`: two populations. The score of the second is lower by a fifth at this number of
  samples, because a proportion of its samples comes from ten samples that recur, or from samples
  that are near to each other. The proportion is calibrated on other sets. If nothing recurs, there
  are also rows with `allow_repeats=False`.
- `paired`: eight answers of humans or models to each of 3 to 20 prompts of NoveltyBench. The second
  set contains answers of a less diverse model for a proportion of the prompts, or repeats an
  answer.
- `pooled`: the same answers without their prompts.
- `equal`: two populations of equal mean score, so each direction is wrong: those of
  compare_null.py, labels one of which is common against texts whose score hardly varies or against
  equally frequent labels, and the answers of models and humans to pairs of prompts.

The rows contain how often the first set is called more diverse (the right direction, unless both
are equal) or less diverse, how often p is at most 0.05, and how often the interval excludes 0.
`--before` names a file that this script wrote with an earlier version of the package; its values
are added as `before`. Without it, these values are kept from the file that is rewritten. The script
takes ten minutes on one core.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy
from compare_null import (
    EqualMean,
    compute_log_scores,
    make_equal_or_one_label,
    make_question_among_texts,
    run_comparison,
)
from few_samples import build_similarity as texts_compared
from few_samples import molecules, questions
from pairs import DATA, collect_environment, write_results
from threadpoolctl import threadpool_limits

from vendiscore import compare
from vendiscore.resolve.similarity_builder import as_similarity
from vendiscore.similarity.base import Similarity
from vendiscore.similarity.matrix import MatrixSimilarity
from vendiscore.tools.analysis.comparison import LESS_DIVERSE, MORE_DIVERSE, Comparison

PERMUTATIONS = 199  # p ≤ 0.05 is about as frequent as with 999
POOL_SIZE = 1000  # samples of a population
N_NEIGHBOURS = 50  # nearest neighbours of a sample
N_TEMPLATE_TEXTS = 100  # texts that share a template
RATIO = 0.8  # of the second score to the first
COMMON_SAMPLE_SIZE = 200  # to which larger sets are reduced
UNPAIRED_RUNS = {8: 150, 20: 150, 50: 100, 100: 60, 200: 30, 400: 20}
# for n ≥ 200; the others need fewer samples
LARGE_SOURCES = ("labels, ten of 200", "labels, one of 200")
PROMPT_COUNTS = (3, 4, 5, 6, 8, 10, 12, 20)
POOLED_PROMPT_COUNTS = (3, 6, 12, 20)
N_ANSWERS = 8
PAIRED_RUNS, POOLED_RUNS = 200, 40
RATIOS = (0.8, 0.72)
EQUAL_RUNS = {8: 400, 20: 300, 50: 150}
POOL_RUNS = 3  # for each pair of pools of answers
CALIBRATION_SETS = 4000  # number of sets from which mean scores are estimated
MAX_LOG_DIFFERENCE = 0.01  # mean log scores with smaller differences count as equal
COUNT_KEYS = ("runs", "more", "less", "p", "interval")

# Maps a generator, the number of sets, n and a proportion to indices (sets, n) into a pool.
Draw = Callable[[np.random.Generator, int, int, float], np.ndarray]


class Source(NamedTuple):
    """A population, and a less diverse one that draws a proportion of its samples from some of
    them.
    """

    name: str
    pool: Similarity
    draw: Draw
    recurs: bool = True


def draw_different(rng: np.random.Generator, size: int, sets: int, n: int) -> np.ndarray:
    """Draw sets of n different indices below `size`."""
    return np.stack([rng.choice(size, n, replace=False) for _ in range(sets)])


def source_with_common_samples(name: str, pool: Similarity, count: int) -> Source:
    """Return a population that draws a proportion from `count` samples with replacement."""

    def draw(rng: np.random.Generator, sets: int, n: int, proportion: float) -> np.ndarray:
        common = rng.integers(count, size=(sets, n))
        other_indices = count + draw_different(rng, pool.n - count, sets, n)
        return np.where(rng.random((sets, n)) < proportion, common, other_indices)

    return Source(name, pool, draw)


def source_with_neighbours(name: str, pool: Similarity) -> Source:
    """Return a population that draws a proportion from the nearest neighbours of a sample, without
    replacement. The sample is the one that is most similar to its neighbours.
    """
    K = np.asarray(pool.dense())
    centre = int(np.partition(K, -N_NEIGHBOURS, axis=1)[:, -N_NEIGHBOURS:].mean(axis=1).argmax())
    order = np.argsort(-K[centre], kind="stable")
    inside, outside = np.split(order, [N_NEIGHBOURS])

    def draw(rng: np.random.Generator, sets: int, n: int, proportion: float) -> np.ndarray:
        """Draw the indices of n different samples for each set, shape (sets, n)."""
        if not proportion:
            return draw_different(rng, pool.n, sets, n)
        counts = np.minimum(rng.binomial(n, proportion, sets), N_NEIGHBOURS)
        return np.stack(
            [
                np.r_[
                    rng.choice(inside, count, replace=False),
                    rng.choice(outside, n - count, replace=False),
                ]
                for count in counts
            ]
        )

    return Source(name, pool, draw, recurs=False)


def source_with_template(name: str, texts: list[str]) -> Source:
    """Return a population of texts, a proportion of which share seven of ten words, without
    repeats.
    """
    words = " ".join(f"shared{i}" for i in range(7))
    template_texts = [
        f"{words} {' '.join(f'own{i}x{j}' for j in range(3))}" for i in range(N_TEMPLATE_TEXTS)
    ]
    pool = as_matrix(as_similarity([*texts, *template_texts]))

    def draw(rng: np.random.Generator, sets: int, n: int, proportion: float) -> np.ndarray:
        other_indices = draw_different(rng, len(texts), sets, n)
        common = len(texts) + draw_different(rng, N_TEMPLATE_TEXTS, sets, n)
        return np.where(rng.random((sets, n)) < proportion, common, other_indices)

    return Source(name, pool, draw, recurs=False)


def source_with_common_labels(name: str, count: int, common: int) -> Source:
    """Return equally likely labels, a proportion of which is drawn from a few of them."""

    def draw(rng: np.random.Generator, sets: int, n: int, proportion: float) -> np.ndarray:
        labels = rng.integers(count, size=(sets, n))
        return np.where(rng.random((sets, n)) < proportion, labels % common, labels)

    return Source(name, as_similarity(list(range(count)), k="labels"), draw)


def as_matrix(similarity: Similarity) -> Similarity:
    """Return the same similarities as a matrix, from which subsets are taken faster."""
    return MatrixSimilarity(np.asarray(similarity.dense(), dtype=float))


def make_sources() -> list[Source]:
    """Return populations of texts, molecules and labels."""
    texts = questions(DATA)[:POOL_SIZE]
    by_words = as_matrix(texts_compared(texts, minilm=False))
    by_vectors = as_matrix(texts_compared(texts, minilm=True))
    smiles = np.random.default_rng(0).permutation(molecules(DATA))[:POOL_SIZE].tolist()
    by_bits = as_matrix(as_similarity(smiles, k="morgan", on_error="skip"))
    return [
        source_with_common_samples("n-grams, ten questions", by_words, 10),
        source_with_template("n-grams, a template", texts),
        source_with_common_samples("MiniLM, ten questions", by_vectors, 10),
        source_with_neighbours("MiniLM, neighbours", by_vectors),
        source_with_common_samples("Tanimoto, ten odorants", by_bits, 10),
        source_with_neighbours("Tanimoto, neighbours", by_bits),
        source_with_common_labels("labels, ten of 200", 200, 10),
        source_with_common_labels("labels, one of 200", 200, 1),
    ]


def calibrate(source: Source, n: int) -> tuple[float, float]:
    """Return the proportion of common samples at which the mean score is lower by the factor RATIO.

    Also return the ratio that other random sets have at this proportion.
    """
    matched = min(n, COMMON_SAMPLE_SIZE)
    count = max(60, min(1000, 20_000 // matched))

    def log_ratio(proportion: float, seed: int) -> float:
        """Return the mean of log VS at this proportion minus that at the proportion 0."""
        logs = [
            compute_log_scores(
                source.pool, source.draw(np.random.default_rng(seed), count, matched, x)
            )
            for x in (0.0, proportion)
        ]
        return float(np.mean(logs[1]) - np.mean(logs[0]))

    if log_ratio(1.0, 0) > math.log(RATIO):
        raise ValueError(f"scores of {source.name} do not reach the ratio at n = {n}")
    proportion = float(
        scipy.optimize.brentq(lambda x: log_ratio(x, 0) - math.log(RATIO), 0.0, 1.0, xtol=0.005)
    )
    return proportion, math.exp(log_ratio(proportion, 1))


def count_verdicts(comparisons: list[Comparison]) -> dict[str, Any]:
    """Count stated directions, p-values of at most 0.05, and intervals that exclude 0."""
    verdicts = [comparison.verdict(*comparison.names) for comparison in comparisons]
    pairs = [comparison.pairs[0] for comparison in comparisons]
    return {
        "runs": len(pairs),
        "more": float(np.mean([verdict == MORE_DIVERSE for verdict in verdicts])),
        "less": float(np.mean([verdict == LESS_DIVERSE for verdict in verdicts])),
        "p": float(np.mean([pair.p <= 0.05 + 1e-9 for pair in pairs])),
        "interval": float(np.mean([pair.low > 0 or pair.high < 0 for pair in pairs])),
    }


def print_row(row: dict[str, Any]) -> dict[str, Any]:
    print(
        " ".join(f"{x:.3g}" if isinstance(x, float) else str(x) for x in row.values()), flush=True
    )
    return row


def iter_unpaired_rows() -> Iterator[dict[str, Any]]:
    """Yield how often a direction is stated, by number of samples."""
    for source in make_sources():
        for n, runs in UNPAIRED_RUNS.items():
            if n > 100 and source.name not in LARGE_SOURCES:
                continue
            proportion, ratio = calibrate(source, n)
            rng = np.random.default_rng([n, *source.name.encode()])
            sets = np.concatenate([source.draw(rng, runs, n, x) for x in (0.0, proportion)], axis=1)
            for allow_repeats in (True, False):
                if not allow_repeats and (source.recurs or n > 100):
                    continue
                plan = {"permutations": PERMUTATIONS, "allow_repeats": allow_repeats}
                result = [
                    run_comparison(source.pool.take(indices), (n, n), seed=seed, **plan)
                    for seed, indices in enumerate(sets)
                ]
                name = source.name + ("" if allow_repeats else ", allow_repeats=False")
                row = {"part": "unpaired", "name": name, "n": n, "ratio": RATIO, "reached": ratio}
                yield print_row(row | {"proportion": proportion} | count_verdicts(result))


class ModelPair(NamedTuple):
    """Answers of a model to prompts, and of a second model that sometimes answers differently.

    `answers` and `other_answers` contain indices into a pool for each prompt. If
    `repeats_one_answer`, the other answers are one repeated answer, which replaces a proportion of
    the answers to each prompt. Otherwise they replace all answers to a proportion of the prompts.
    """

    name: str
    answers: list[np.ndarray]
    other_answers: list[np.ndarray]
    repeats_one_answer: bool

    def draw(self, rng: np.random.Generator, prompts: np.ndarray, proportion: float) -> np.ndarray:
        """Draw answers of the second model to some prompts, shape (prompts, answers)."""
        answers, others = (
            np.stack([rng.choice(answers_by_prompt[prompt], N_ANSWERS) for prompt in prompts])
            for answers_by_prompt in (self.answers, self.other_answers)
        )
        shape = answers.shape if self.repeats_one_answer else (len(prompts), 1)
        return np.where(rng.random(shape) < proportion, others, answers)


def answers_by_model() -> tuple[Similarity, dict[str, list[np.ndarray]]]:
    """Return the answers of NoveltyBench, and their indices by model and prompt."""
    with gzip.open(DATA / "noveltybench_curated.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = sorted(map(json.loads, file), key=lambda row: row["prompt"])
    texts: list[str] = []
    indices: dict[str, list[np.ndarray]] = {}
    for row in rows:
        answers = row["generations"]
        indices.setdefault(row["model"], []).append(len(texts) + np.arange(len(answers)))
        texts += answers
    return as_matrix(as_similarity(texts)), indices


def make_models(indices: dict[str, list[np.ndarray]]) -> list[ModelPair]:
    """Return pairs of models from the answers of NoveltyBench."""
    people, gpt, gemini = (indices[name] for name in ("human", "gpt-4o", "gemini-1.5-pro"))
    return [
        ModelPair("people, and gemini to some prompts", people, gemini, repeats_one_answer=False),
        ModelPair("gpt-4o, and gemini to some prompts", gpt, gemini, repeats_one_answer=False),
        ModelPair(
            "gpt-4o, and one answer repeated",
            gpt,
            [answers[:1] for answers in gpt],
            repeats_one_answer=True,
        ),
    ]


def calibrate_model_pair(pool: Similarity, pair: ModelPair, ratio: float) -> float:
    """Return the `proportion` of `pair.draw` at which the mean score of the second model is `ratio`
    times that of the first model.
    """
    prompts = np.repeat(np.arange(len(pair.answers)), 40)  # 40 draws for each prompt

    def mean(proportion: float) -> float:
        answers = pair.draw(np.random.default_rng(0), prompts, proportion)
        return float(np.exp(compute_log_scores(pool, answers)).mean())

    target = ratio * mean(0.0)
    return float(scipy.optimize.brentq(lambda x: mean(x) - target, 0.0, 1.0, xtol=0.002))


def iter_prompt_rows(part_name: str) -> Iterator[dict[str, Any]]:
    """Yield how often a direction is stated between two models with different mean scores.

    Sets are compared within prompts if `part_name` is "paired", else without prompts.
    """
    paired = part_name == "paired"
    pool, indices = answers_by_model()
    for pair in make_models(indices):
        for ratio in RATIOS if paired else RATIOS[:1]:
            proportion = calibrate_model_pair(pool, pair, ratio)
            for count in PROMPT_COUNTS if paired else POOLED_PROMPT_COUNTS:
                rng = np.random.default_rng([count, *pair.name.encode()])
                result = []
                for seed in range(PAIRED_RUNS if paired else POOLED_RUNS):
                    prompts = rng.choice(len(pair.answers), count, replace=False)
                    sets = [
                        pair.draw(rng, prompts, replaced_proportion).ravel()
                        for replaced_proportion in (0.0, proportion)
                    ]
                    similarity = pool.take(np.concatenate(sets))
                    codes = np.repeat(["A", "B"], len(sets[0])).tolist()
                    groups = 2 * np.repeat(np.arange(count), N_ANSWERS).tolist() if paired else None
                    result.append(compare(similarity, by=codes, groups=groups, seed=seed))
                row = {"part": part_name, "name": pair.name, "prompts": count, "ratio": ratio}
                yield print_row(row | {"proportion": proportion} | count_verdicts(result))


def make_one_common_label(n: int, proportion: float) -> EqualMean:
    """Return two populations with the same mean score of sets of n samples.

    In the first, a common label has the given proportion, and all other labels are unique. In the
    second, all pairs of texts have the same similarity.
    """
    mean = float(compute_log_scores_with_common_label(proportion, n).mean())

    def excess(similarity: float) -> float:
        values = np.r_[1 + (n - 1) * similarity, np.full(n - 1, 1 - similarity)] / n
        return float(-(values * np.log(values)).sum()) - mean

    similarity = float(scipy.optimize.brentq(excess, 0.0, 1 - 1e-9))
    K = np.eye(2 * n + 1)
    K[n + 1 :, n + 1 :] += similarity * (1 - np.eye(n))

    def draw_common(rng: np.random.Generator, sets: int) -> np.ndarray:
        return np.where(rng.random((sets, n)) < proportion, n, np.arange(n))

    name = f"a label has {100 * proportion:g} %, texts of one similarity"
    pool = MatrixSimilarity(K)
    return EqualMean(
        name, n, pool, draw_common, lambda rng, sets: np.tile(n + 1 + np.arange(n), (sets, 1))
    )


def make_even_or_common_labels(n: int, count: int) -> EqualMean:
    """Return two populations with the same mean score of sets of n samples.

    In the first, `count` labels are equally frequent. In the second, one label is common, and all
    other labels are unique.
    """
    labels = np.random.default_rng(1).integers(count, size=(CALIBRATION_SETS, n))
    mean = float(compute_log_scores_of_labels(labels).mean())
    proportion = float(
        scipy.optimize.brentq(
            lambda x: compute_log_scores_with_common_label(x, n).mean() - mean, 0, 1
        )
    )

    def draw_common(rng: np.random.Generator, sets: int) -> np.ndarray:
        return np.where(rng.random((sets, n)) < proportion, count + n, count + np.arange(n))

    def draw_even(rng: np.random.Generator, sets: int) -> np.ndarray:
        return rng.integers(count, size=(sets, n))

    pool = as_similarity(list(range(count + n + 1)), k="labels")
    name = f"{count} even labels, one common label"
    return EqualMean(
        name, n, pool, lambda rng, sets: rng.integers(count, size=(sets, n)), draw_common
    )


def compute_log_scores_of_labels(labels: np.ndarray) -> np.ndarray:
    """Return log VS of each set, shape (sets,), from its n integer labels, shape (sets, n)."""
    n = labels.shape[1]
    return np.asarray(
        math.log(n) - np.log((labels[:, :, None] == labels[:, None]).sum(-1)).mean(-1)
    )


def compute_log_scores_with_common_label(proportion: float, n: int) -> np.ndarray:
    """Return log VS of random sets of n labels: a common label of this proportion, and labels that
    occur once.
    """
    is_common = np.random.default_rng(1).random((CALIBRATION_SETS, n)) < proportion
    labels = np.where(is_common, n, np.arange(n))  # n is the common label
    return compute_log_scores_of_labels(labels)


def iter_answer_pools(n: int) -> Iterator[EqualMean]:
    """Yield pairs of pools of answers to one prompt each, with nearly equal mean scores of n
    answers.
    """
    pool, indices = answers_by_model()
    answers = list(itertools.chain.from_iterable(indices.values()))
    rng = np.random.default_rng(n)
    means = [
        compute_log_scores(pool, rng.choice(answer_indices, (CALIBRATION_SETS // 2, n))).mean()
        for answer_indices in answers
    ]
    order = np.argsort(means)

    def draw(rng: np.random.Generator, sets: int, answer_indices: np.ndarray) -> np.ndarray:
        return np.asarray(rng.choice(answer_indices, (sets, n)))

    for i, j in itertools.pairwise(order):
        if means[j] - means[i] < MAX_LOG_DIFFERENCE:
            draws = (
                partial(draw, answer_indices=answers[i]),
                partial(draw, answer_indices=answers[j]),
            )
            yield EqualMean("answers to two prompts", n, pool, *draws)


def iter_equal_rows() -> Iterator[dict[str, Any]]:
    """Yield how often a direction is stated if mean scores are equal."""
    for n, runs in EQUAL_RUNS.items():
        recurring = "one question recurs, texts share four words"
        pairs = [make_question_among_texts(n)._replace(name=recurring)]
        pairs += [make_one_common_label(n, proportion) for proportion in (0.2, 0.4, 0.6)]
        pairs += [make_even_or_common_labels(n, count) for count in (10, 50)]
        if n == 8:
            pairs.append(make_equal_or_one_label(n))
        for pair in pairs:
            yield count_equal_directions([pair], runs)
    for n in (8, 20):
        pools = list(iter_answer_pools(n))
        yield count_equal_directions(pools, POOL_RUNS) | {"pairs": len(pools)}


def count_equal_directions(pairs: list[EqualMean], runs: int) -> dict[str, Any]:
    """Return how often a direction is stated, in `runs` runs for each pair."""
    result = []
    for i, pair in enumerate(pairs):
        rng = np.random.default_rng([i, pair.n, *pair.name.encode()])
        sets = np.concatenate([pair.draw_a(rng, runs), pair.draw_b(rng, runs)], axis=1)
        for seed, indices in enumerate(sets):
            sizes = (pair.n, pair.n)
            result.append(
                run_comparison(pair.pool.take(indices), sizes, seed=seed, permutations=PERMUTATIONS)
            )
    row = {"part": "equal", "name": pairs[0].name, "n": pairs[0].n}
    return print_row(row | count_verdicts(result))


ROW_ITERATORS: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
    "unpaired": iter_unpaired_rows,
    "paired": partial(iter_prompt_rows, "paired"),
    "pooled": partial(iter_prompt_rows, "pooled"),
    "equal": iter_equal_rows,
}
ROW_KEYS = ("part", "name", "n", "prompts", "ratio")


def row_key(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return the fields that identify a row."""
    return tuple(row.get(key) for key in ROW_KEYS)


def read_rows(path: Path | None) -> list[dict[str, Any]]:
    """Return the rows of a file; an empty list if there is no such file."""
    if path is None or not path.exists():
        return []
    return list(json.loads(path.read_text(encoding="utf-8"))["rows"])


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--only", choices=list(ROW_ITERATORS))
    options = parser.parse_args()
    earlier = read_rows(options.json)
    rows = []
    start = time.perf_counter()
    with threadpool_limits(1):
        for part_name, iter_rows in ROW_ITERATORS.items():
            if options.only in (None, part_name):
                rows += list(iter_rows())
            else:
                rows += [row for row in earlier if row["part"] == part_name]
    print(f"{time.perf_counter() - start:.0f} s")
    before = {row_key(row): row["before"] for row in earlier if "before" in row}
    before |= {row_key(row): row for row in read_rows(options.before)}
    for row in rows:
        if result := before.get(row_key(row)):
            row["before"] = {key: result[key] for key in COUNT_KEYS}
    write_results(options.json, rows, collect_environment() | {"permutations": PERMUTATIONS})


if __name__ == "__main__":
    main()
