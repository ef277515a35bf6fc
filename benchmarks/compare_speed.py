"""Time `compare` of two sets with 999 exchanges.

    python benchmarks/compare_speed.py --repeats 5 --json benchmarks/results/compare_speed.json

Of 2 × 20, 2 × 200 and 2 × 400 (of which 200 are matched) questions of TREC under n-grams, and rows
of 384 numbers in single precision; the second set as the first, or with a quarter of it repeated,
so that all exchanges are drawn.
"""

from __future__ import annotations

import csv
import statistics
import time
from typing import Any

import numpy as np
from pairs import DATA, PAUSE, arguments, environment, write

from vendiscore import compare


def timed(
    name: str, samples: Any, n: int, repeated: bool, repeats: int, **how: Any
) -> dict[str, Any]:
    """Return median seconds of one comparison."""
    first = samples[:n]
    second = list(range(n, 2 * n))
    if repeated:
        second[: n // 4] = second[n // 4 : 2 * (n // 4)]
    second = [samples[i] for i in second] if isinstance(samples, list) else samples[second]
    compare(samples[:4], samples[4:8], permutations=19, **how)
    seconds, processor = [], []
    for _ in range(repeats):
        time.sleep(PAUSE)
        start, before = time.perf_counter(), time.process_time()
        found = compare(first, second, **how)
        seconds.append(time.perf_counter() - start)
        processor.append(time.process_time() - before)  # which a busy machine leaves as it is
    row = {
        "name": name,
        "n": n,
        "repeated": repeated,
        "exchanges": found.pairs[0].permutations,
        "seconds": statistics.median(seconds),
        "processor_seconds": statistics.median(processor),
    }
    print(row, flush=True)
    return row


def main() -> None:
    given = arguments(__doc__)
    with (DATA / "trec_questions.tsv").open(encoding="utf-8") as file:
        texts = [row["question"] for row in csv.DictReader(file, delimiter="\t")]
    rng = np.random.default_rng(0)
    texts = [texts[i] for i in rng.permutation(len(texts))]
    scales = np.exp(-np.arange(384) / 60)
    X = (rng.standard_normal((800, 384)) * scales).astype(np.float32)
    rows = []
    for n in (20, 200, 400):
        for again in (False, True):
            rows.append(timed("texts, n-grams", texts, n, again, given.repeats))
            rows.append(timed("vectors, cosine", X, n, again, given.repeats, k="cosine"))
    write(given.json, rows, environment() | {"repeats": given.repeats})


if __name__ == "__main__":
    main()
