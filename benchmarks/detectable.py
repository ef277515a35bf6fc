"""Check `detectable_difference`: is the direction of such a difference stated in 80 % of cases?

    python benchmarks/detectable.py --data DATA --json benchmarks/results/detectable.json

Two sets are drawn repeatedly, one from a population and one from the same population narrowed to
several degrees, for small and large true differences. A row for each degree contains the true
difference of the scores at the common sample size (the mean over all draws), the median of
`detectable_difference`, and the proportions of right and wrong directions. `at_detectable`, for
each population and design, is the proportion of right directions if the true difference equals the
reported one, by interpolation between degrees. It is 0.8 if the report is correct, and NaN if the
difference is not that large for any degree.

With prompts: answers of NoveltyBench to 3 to 20 prompts, divided at random into two halves for each
prompt. In one half, each answer is replaced by the first one, with the probability of the degree.
Also the first eight answers of two models, with one true difference and several numbers of prompts.
Without prompts: 20 to 100 sentences, vectors and molecules (tests/helpers/populations.py) and
questions.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from few_samples import answers, questions
from pairs import DATA, collect_environment, write_results

from vendiscore import as_similarity
from vendiscore.similarity.base import Similarity
from vendiscore.support.progress import run_steps
from vendiscore.tools.analysis.compare_options import CompareOptions
from vendiscore.tools.analysis.compare_sets import comparison_steps
from vendiscore.tools.analysis.comparison import LESS_DIVERSE, MORE_DIVERSE, Comparison

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from populations import POPULATIONS, pool_sets

OPTIONS = CompareOptions(permutations=199).checked()
PROMPT_COUNTS = (3, 4, 6, 8, 12, 20)
SIZES = (20, 50, 100)
REPLACED_PROPORTIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 0.95)
MODELS = ("human", "gpt-4o", "gemini-1.5-pro")
N_ANSWERS = 8
MODEL_PROMPT_COUNTS = (3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 25, 30)
NARROW_DEGREES = (0.3, 0.35, 0.4, 0.5, 0.6, 0.8)  # the default is 0.25
Draw = Callable[[np.random.Generator, int, float], Comparison]


def build_prompt_draw(similarity: Similarity, n_prompts: int, n_answers: int) -> Draw:
    """Return a function that compares random halves of the answers to some prompts."""

    def draw(rng: np.random.Generator, m: int, degree: float) -> Comparison:
        """Compare halves of the answers to m random prompts; `degree` is the proportion that is
        replaced by a repeated answer in the second half.
        """
        half = n_answers // 2
        prompt_indices = rng.integers(n_prompts, size=m)
        order = np.argsort(rng.random((m, n_answers)), axis=1) + n_answers * prompt_indices[:, None]
        a, b = order[:, :half], order[:, half : 2 * half].copy()
        replaced = rng.random(b.shape) < degree
        b = np.where(replaced, b[:, :1], b)
        subset = similarity.take(np.concatenate([a, b], axis=1).ravel())
        indices = np.arange(2 * half * m).reshape(m, 2, half)
        codes = np.tile(np.repeat([0, 1], half), m)
        return run_steps(comparison_steps(subset, codes, ["a", "b"], OPTIONS, indices.tolist()))

    return draw


def build_unpaired_draw(name: str) -> Draw:
    """Return a function that compares a population with a more concentrated one.

    `degree` is the concentration of the second set, and 0.25 that of the first. A higher
    concentration makes common words, centres or functional groups more frequent.
    """
    source, options = POPULATIONS[name]

    def draw(rng: np.random.Generator, n: int, degree: float) -> Comparison:
        sets = [source(rng, n, 0.25), source(rng, n, degree)]
        pooled_samples, sizes = pool_sets(sets, **options)
        return run_steps(
            comparison_steps(pooled_samples, np.repeat([0, 1], sizes), ["a", "b"], OPTIONS)
        )

    return draw


def build_question_draw(data: Path) -> Draw:
    """Return a function that compares questions with questions of which some are replaced by the
    first.
    """
    similarity = as_similarity(questions(data)[:2000])

    def draw(rng: np.random.Generator, n: int, degree: float) -> Comparison:
        indices = rng.choice(np.arange(1, 2000), 2 * n, replace=False)
        # Half of `degree` is the proportion of replaced questions in the second set.
        indices[n:][rng.random(n) < degree / 2] = 0
        subset = similarity.take(indices)
        return run_steps(comparison_steps(subset, np.repeat([0, 1], n), ["a", "b"], OPTIONS))

    return draw


def build_model_draw(a: list[list[str]], b: list[list[str]]) -> Draw:
    """Return a function that compares the answers of two models to some prompts."""
    texts = [
        text
        for answers_of_both in zip(a, b, strict=True)
        for answers in answers_of_both
        for text in answers[:N_ANSWERS]
    ]
    similarity = as_similarity(texts)
    codes = np.repeat([0, 1], N_ANSWERS)

    def draw(rng: np.random.Generator, m: int, degree: float) -> Comparison:
        """Compare the two models on m random prompts."""
        prompt_indices = rng.integers(len(a), size=m)  # `degree` is not used: models are fixed
        # The answers of both models to a prompt are successive rows of `similarity`.
        subset = similarity.take(
            (2 * N_ANSWERS * prompt_indices[:, None] + np.arange(2 * N_ANSWERS)).ravel()
        )
        indices = np.arange(2 * N_ANSWERS * m).reshape(m, 2, N_ANSWERS)
        steps = comparison_steps(subset, np.tile(codes, m), ["a", "b"], OPTIONS, indices.tolist())
        return run_steps(steps)

    return draw


def compute_rows(
    name: str,
    design: str,
    draw: Draw,
    sizes: tuple[int, ...],
    degrees: tuple[float, ...],
    repeats: int,
) -> list[dict[str, Any]]:
    """Return a row for each size and degree, and one row with `at_detectable`."""
    rows = []
    for size, degree in itertools.product(sizes, degrees):
        rng = np.random.default_rng([size, round(100 * degree)])
        comparisons = [draw(rng, size, degree) for _ in range(repeats)]
        verdicts = [comparison.verdict("a", "b") for comparison in comparisons]
        pairs = [comparison.pairs[0] for comparison in comparisons]
        row: dict[str, Any] = {"name": name, "design": design, "size": size, "degree": degree}
        row["difference"] = float(np.mean([pair.difference for pair in pairs]))
        larger_score = float(np.mean([comparison.sets[0].matched for comparison in comparisons]))
        row["proportion"] = row["difference"] / larger_score
        detectable = [pair.detectable_difference for pair in pairs]
        row["detectable"] = float(np.nanmedian(detectable))
        row["detectable_quartiles"] = np.nanquantile(detectable, [0.25, 0.75]).tolist()
        row["right"] = verdicts.count(MORE_DIVERSE) / repeats
        row["wrong"] = verdicts.count(LESS_DIVERSE) / repeats
        print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
        rows.append(row)
    true = np.mean([row["difference"] for row in rows]) if len(degrees) == 1 else None
    ratios = [(true or row["difference"]) / row["detectable"] for row in rows]
    right_rates = [row["right"] for row in rows]
    order = np.argsort(ratios)
    rate_at_detectable = np.interp(
        1.0, np.array(ratios)[order], np.array(right_rates)[order], np.nan, np.nan
    )
    summary = {
        "name": name,
        "design": design,
        "sizes": sizes,
        "at_detectable": float(rate_at_detectable),
    }
    print(summary, flush=True)
    return [*rows, summary]


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=100)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # intervals of width 0
    rows = []
    sources = answers(options.data)
    for a, b in itertools.combinations(MODELS, 2):
        draw = build_model_draw(sources[a], sources[b])
        rows += compute_rows(
            f"{a}, {b}", "models", draw, MODEL_PROMPT_COUNTS, (0.0,), 2 * options.repeats
        )
    for name in MODELS[:2]:
        sets = sources[name]
        similarity = as_similarity(
            [text for answers_to_prompt in sets for text in answers_to_prompt]
        )
        draw = build_prompt_draw(similarity, len(sets), len(sets[0]))
        for m in PROMPT_COUNTS:
            rows += compute_rows(name, "prompts", draw, (m,), REPLACED_PROPORTIONS, options.repeats)
    designs = {name: build_unpaired_draw(name) for name in POPULATIONS if name != "vectors, rbf"}
    for name, draw in {**designs, "questions": build_question_draw(options.data)}.items():
        degrees = REPLACED_PROPORTIONS if name == "questions" else NARROW_DEGREES
        for n in SIZES:
            rows += compute_rows(name, "samples", draw, (n,), degrees, options.repeats // 2)
    write_results(options.json, rows, collect_environment() | {"repeats": options.repeats})


if __name__ == "__main__":
    main()
