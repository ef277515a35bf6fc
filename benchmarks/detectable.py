"""Is the direction of a difference as large as `detectable_difference` stated in 80 % of cases?

    python benchmarks/detectable.py --data DATA --json benchmarks/results/detectable.json

Two sets are drawn again and again, one of a source and one of the same source narrowed by several
degrees, so that true differences are small and large. For each degree: the true difference of the
scores at the matched size (the mean over all draws), the median `detectable_difference`, and how
often the right and the wrong direction are stated. Then, for each source and design, the proportion
of right directions where the true difference is the reported one (`at_detectable`, by
interpolation between degrees), which is 0.8 if the report holds, and NaN if no degree differs
by so much.

By prompt: answers of NoveltyBench, 3 to 20 prompts, two random halves of each prompt's, in one of
which an answer is replaced by the prompt's first one with the probability of the degree; and the
first eight answers of two sources, where the true difference is one, and the number of prompts
varies. Without prompts: sentences, vectors and molecules (tests/helpers/populations.py) and
questions, 20 to 100.
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
from pairs import DATA, environment, write

from vendiscore import as_similarity
from vendiscore.similarity.base import Similarity
from vendiscore.support.progress import run_steps
from vendiscore.tools.analysis.compare_options import CompareOptions
from vendiscore.tools.analysis.compare_sets import comparison_steps
from vendiscore.tools.analysis.comparison import LESS_DIVERSE, MORE_DIVERSE, Comparison

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from populations import POPULATIONS, pool_sets

PLAN = CompareOptions(permutations=199).checked()
PROMPTS = (3, 4, 6, 8, 12, 20)
SIZES = (20, 50, 100)
REPLACED = (0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 0.95)
MODELS = ("human", "gpt-4o", "gemini-1.5-pro")
ANSWERS = 8
NUMBERS = (3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 25, 30)  # of prompts that two models answer
NARROW = (0.3, 0.35, 0.4, 0.5, 0.6, 0.8)  # the usual is 0.25
Draw = Callable[[np.random.Generator, int, float], Comparison]


def of_prompts(similarity: Similarity, prompts: int, count: int) -> Draw:
    """Return comparisons of halves of the answers to each of a few prompts."""

    def draw(rng: np.random.Generator, m: int, degree: float) -> Comparison:
        half = count // 2
        chosen = rng.integers(prompts, size=m)
        order = np.argsort(rng.random((m, count)), axis=1) + count * chosen[:, None]
        a, b = order[:, :half], order[:, half : 2 * half].copy()
        replaced = rng.random(b.shape) < degree
        b = np.where(replaced, b[:, :1], b)
        part = similarity.take(np.concatenate([a, b], axis=1).ravel())
        indices = np.arange(2 * half * m).reshape(m, 2, half)
        codes = np.tile(np.repeat([0, 1], half), m)
        return run_steps(comparison_steps(part, codes, ["a", "b"], PLAN, indices.tolist()))

    return draw


def without_prompts(name: str) -> Draw:
    """Return comparisons of a source of the helpers with the same, narrowed."""
    source, options = POPULATIONS[name]

    def draw(rng: np.random.Generator, n: int, degree: float) -> Comparison:
        sets = [source(rng, n, 0.25), source(rng, n, degree)]
        pool, sizes = pool_sets(sets, **options)
        return run_steps(comparison_steps(pool, np.repeat([0, 1], sizes), ["a", "b"], PLAN))

    return draw


def of_questions(data: Path) -> Draw:
    """Return comparisons of questions, some of which are the first one in the second set."""
    similarity = as_similarity(questions(data)[:2000])

    def draw(rng: np.random.Generator, n: int, degree: float) -> Comparison:
        indices = rng.choice(np.arange(1, 2000), 2 * n, replace=False)
        indices[n:][rng.random(n) < degree / 2] = 0
        part = similarity.take(indices)
        return run_steps(comparison_steps(part, np.repeat([0, 1], n), ["a", "b"], PLAN))

    return draw


def of_models(a: list[list[str]], b: list[list[str]]) -> Draw:
    """Return comparisons of the answers of two models to a few prompts."""
    texts = [text for own in zip(a, b, strict=True) for each in own for text in each[:ANSWERS]]
    similarity = as_similarity(texts)
    codes = np.repeat([0, 1], ANSWERS)

    def draw(rng: np.random.Generator, m: int, degree: float) -> Comparison:
        chosen = rng.integers(len(a), size=m)
        part = similarity.take((2 * ANSWERS * chosen[:, None] + np.arange(2 * ANSWERS)).ravel())
        indices = np.arange(2 * ANSWERS * m).reshape(m, 2, ANSWERS)
        steps = comparison_steps(part, np.tile(codes, m), ["a", "b"], PLAN, indices.tolist())
        return run_steps(steps)

    return draw


def rows_of(
    name: str,
    design: str,
    draw: Draw,
    sizes: tuple[int, ...],
    degrees: tuple[float, ...],
    repeats: int,
) -> list[dict[str, Any]]:
    """Return a row for each size and degree, and one for the difference that is reported."""
    rows = []
    for size, degree in itertools.product(sizes, degrees):
        rng = np.random.default_rng([size, round(100 * degree)])
        result = [draw(rng, size, degree) for _ in range(repeats)]
        verdicts = [each.verdict("a", "b") for each in result]
        pairs = [each.pairs[0] for each in result]
        row: dict[str, Any] = {"name": name, "design": design, "size": size, "degree": degree}
        row["difference"] = float(np.mean([pair.difference for pair in pairs]))
        larger = float(np.mean([each.sets[0].matched for each in result]))
        row["proportion"] = row["difference"] / larger
        detectable = [pair.detectable_difference for pair in pairs]
        row["detectable"] = float(np.nanmedian(detectable))
        row["detectable_quartiles"] = np.nanquantile(detectable, [0.25, 0.75]).tolist()
        row["right"] = verdicts.count(MORE_DIVERSE) / repeats
        row["wrong"] = verdicts.count(LESS_DIVERSE) / repeats
        print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
        rows.append(row)
    true = np.mean([row["difference"] for row in rows]) if len(degrees) == 1 else None
    ratios = [(true or row["difference"]) / row["detectable"] for row in rows]
    right = [row["right"] for row in rows]
    order = np.argsort(ratios)
    at = np.interp(1.0, np.array(ratios)[order], np.array(right)[order], np.nan, np.nan)
    summary = {"name": name, "design": design, "sizes": sizes, "at_detectable": float(at)}
    print(summary, flush=True)
    return [*rows, summary]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=100)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # of intervals without a width
    rows = []
    sources = answers(given.data)
    for a, b in itertools.combinations(MODELS, 2):
        draw = of_models(sources[a], sources[b])
        rows += rows_of(f"{a}, {b}", "models", draw, NUMBERS, (0.0,), 2 * given.repeats)
    for name in MODELS[:2]:
        sets = sources[name]
        similarity = as_similarity([text for own in sets for text in own])
        draw = of_prompts(similarity, len(sets), len(sets[0]))
        for m in PROMPTS:
            rows += rows_of(name, "prompts", draw, (m,), REPLACED, given.repeats)
    designs = {name: without_prompts(name) for name in POPULATIONS if name != "vectors, rbf"}
    for name, draw in {**designs, "questions": of_questions(given.data)}.items():
        degrees = REPLACED if name == "questions" else NARROW
        for n in SIZES:
            rows += rows_of(name, "samples", draw, (n,), degrees, given.repeats // 2)
    write(given.json, rows, environment() | {"repeats": given.repeats})


if __name__ == "__main__":
    main()
