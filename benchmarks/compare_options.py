"""Do verdicts of equivalence hold?

    python benchmarks/compare_options.py --repeats 200 \\
        --json benchmarks/results/compare_options.json

Draws sets of two sources whose scores differ, as means over many sets, by just the share that
`within=` asks about, and counts how often they are called the same within it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pairs import arguments, environment, write

from vendiscore import compare, score

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from populations import draw_sentences, draw_vectors

MANY = 2000  # sets that the share between two sources is the mean of
Draw = Callable[[np.random.Generator, int], Any]
Row = dict[str, Any]


def kinds(count: int) -> Draw:
    """Return a source of labels of so many kinds."""
    return lambda rng, n: rng.integers(count, size=n).tolist()


def said(row: Row) -> Row:
    print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
    return row


def at_the_edge(name: str, wide: Draw, narrow: Draw, how: Row, n: int, repeats: int) -> Row:
    """Ask whether two sources are the same within just the share that parts their scores."""
    rng = np.random.default_rng(n)
    logs = [[math.log(score(draw(rng, n), **how)) for draw in (wide, narrow)] for _ in range(MANY)]
    apart, error = np.subtract(*np.mean(logs, 0)), np.std(np.subtract(*np.transpose(logs)))
    within = math.expm1(apart)
    result = []
    for seed in range(repeats):
        rng = np.random.default_rng([seed, n])
        how = {**how, "permutations": 99, "seed": seed}
        result.append(compare(wide(rng, n), narrow(rng, n), within=within, **how))
    same = [each.verdict("A", "B").startswith("the same within") for each in result]
    row = {"name": name, "sizes": (n, n), "within": within}
    row |= {"within_se": float(math.exp(apart) * error / math.sqrt(MANY)), "runs": repeats}
    return said(row | {"same": float(np.mean(same))})


def main() -> None:
    given = arguments(__doc__)
    rows, most = [], given.repeats
    for n in (8, 20, 80):
        of = partial(at_the_edge, n=n, repeats=most)
        rows += [
            of("labels of 20 and 12 kinds", kinds(20), kinds(12), {"k": "labels"}),
            of("sentences, n-grams", draw_sentences, partial(draw_sentences, narrow=0.5), {}),
            of("vectors, cosine", draw_vectors, partial(draw_vectors, narrow=0.5), {"k": "cosine"}),
        ]
    write(given.json, rows, environment() | {"repeats": most})


if __name__ == "__main__":
    main()
