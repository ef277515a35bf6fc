"""Check how often `compare(within=…)` reports equivalence at the edge of the margin.

    python benchmarks/compare_options.py --repeats 200 \\
        --json benchmarks/results/compare_options.json

The scores of two populations differ by exactly the margin of `within`, on average over many sets.
Sets of both are drawn and compared, and the verdicts "the same within …" are counted.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pairs import collect_environment, parse_arguments, write_results

from vendiscore import compare, score

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from populations import draw_sentences, draw_vectors

CALIBRATION_SETS = 2000  # number of sets from which the difference is estimated
Draw = Callable[[np.random.Generator, int], Any]
Row = dict[str, Any]


def uniform_labels(n_labels: int) -> Draw:
    """Return a population of `n_labels` equally frequent labels."""
    return lambda rng, n: rng.integers(n_labels, size=n).tolist()


def print_row(row: Row) -> Row:
    print({k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
    return row


def count_equivalence_verdicts(
    name: str, draw_first: Draw, draw_second: Draw, options: Row, n: int, repeats: int
) -> Row:
    """Count how often two populations are called equivalent within a margin that equals their
    difference.
    """
    rng = np.random.default_rng(n)
    logs = [
        [math.log(score(draw(rng, n), **options)) for draw in (draw_first, draw_second)]
        for _ in range(CALIBRATION_SETS)
    ]
    log_ratio, error = np.subtract(*np.mean(logs, 0)), np.std(np.subtract(*np.transpose(logs)))
    within = math.expm1(log_ratio)
    comparisons = []
    for seed in range(repeats):
        rng = np.random.default_rng([seed, n])
        options = {**options, "permutations": 99, "seed": seed}
        comparisons.append(
            compare(draw_first(rng, n), draw_second(rng, n), within=within, **options)
        )
    is_equivalent = [
        comparison.verdict("A", "B").startswith("the same within") for comparison in comparisons
    ]
    row = {"name": name, "sizes": (n, n), "within": within}
    row |= {
        "within_se": float(math.exp(log_ratio) * error / math.sqrt(CALIBRATION_SETS)),
        "runs": repeats,
    }
    return print_row(row | {"same": float(np.mean(is_equivalent))})


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    options = parse_arguments(__doc__)
    rows, repeats = [], options.repeats
    for n in (8, 20, 80):
        count_verdicts = partial(count_equivalence_verdicts, n=n, repeats=repeats)
        rows += [
            count_verdicts(
                "labels of 20 and 12 kinds", uniform_labels(20), uniform_labels(12), {"k": "labels"}
            ),
            count_verdicts(
                "sentences, n-grams", draw_sentences, partial(draw_sentences, concentration=0.5), {}
            ),
            count_verdicts(
                "vectors, cosine",
                draw_vectors,
                partial(draw_vectors, concentration=0.5),
                {"k": "cosine"},
            ),
        ]
    write_results(options.json, rows, collect_environment() | {"repeats": repeats})


if __name__ == "__main__":
    main()
