"""How long does the mean score of 2,000 prompts with 8 generations each take?

    python benchmarks/groups.py

Compared with one call for each group, which gives the same mean.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pairs import agree, arguments, environment, write

from vendiscore import as_similarity, compute

PROMPTS, GENERATIONS, WORDS = 2000, 8, 30
VOCABULARY = 20_000
DIMENSIONS = 64
AGREE = 1e-10


def texts(rng: np.random.Generator) -> list[list[str]]:
    """Return words drawn by Zipf's law."""
    shares = 1 / np.arange(1, VOCABULARY + 1)
    drawn = rng.choice(VOCABULARY, (PROMPTS, GENERATIONS, WORDS), p=shares / shares.sum())
    return [[" ".join(f"w{word}" for word in one) for one in group] for group in drawn]


def timed(name: str, work: Callable[[], Any], repeats: int) -> dict[str, Any]:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    print(f"{name:<42} {np.median(seconds):6.2f} s", flush=True)
    return {"name": name, "seconds": float(np.median(seconds))}


def main() -> None:
    given = arguments(__doc__)
    rng = np.random.default_rng(0)
    groups, vectors = texts(rng), rng.standard_normal((PROMPTS, GENERATIONS, DIMENSIONS))
    flat = [text for group in groups for text in group]
    several = ["VS", "IntDiv", "LC", "MagArea"]
    calls: dict[str, Callable[[], Any]] = {
        "n-grams counted, nothing scored": lambda: as_similarity(flat),
        "n-grams, one call": lambda: compute(groups)["VS"],
        "n-grams, a call for each group": lambda: np.mean([compute(g)["VS"] for g in groups]),
        "n-grams, with an interval": lambda: compute(groups, ci=0.95)["VS"],
        "n-grams, four measures": lambda: compute(groups, measures=several)["VS"],
        "BLEU": lambda: compute(groups, k="bleu", psd="clip")["VS"],
        "vectors, rbf": lambda: compute(vectors, k="rbf", sigma=8.0)["VS"],
    }
    some = groups[:100]
    agree(compute(some)["VS"], float(np.mean([compute(group)["VS"] for group in some])), AGREE)
    rows = [timed(name, work, given.repeats) for name, work in calls.items()]
    about = {"prompts": PROMPTS, "generations": GENERATIONS, "words": WORDS, "d": DIMENSIONS}
    write(given.json, rows, environment() | about | {"repeats": given.repeats})


if __name__ == "__main__":
    main()
