"""Compare the announced time of twelve calls with the time that they take.

    python benchmarks/foretold.py --json benchmarks/results/foretold.json

Each call scores dense vectors, sparse n-grams, fingerprints, or groups of vectors at order 1, 2 or
∞. The clock starts where a long call announces its time, or would if it were long. On a machine
that may be busy, times are of one core, of this process alone, and the shortest run counts. The two
differ by a factor of 5 at most. Vectors are of 40 clusters: order ∞ of independent ones takes twice
as many products.
"""

import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from pairs import arguments, environment, write
from threadpoolctl import threadpool_limits

from vendiscore import compute, progress

CLOCK = time.process_time
FACTOR = 5.0
ORDERS = (1, 2, "inf")
WORDS = 4000


def texts(n: int, rng: np.random.Generator) -> list[str]:
    """Return sentences whose words have the frequencies of words in a language."""
    chances = 1 / np.arange(1, WORDS + 1)
    drawn = rng.choice(WORDS, (n, 12), p=chances / chances.sum())
    return [" ".join(f"w{word}" for word in row) for row in drawn]


def vectors(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Return vectors around 40 centres, as embeddings are."""
    centres = rng.standard_normal((40, d))
    return centres[rng.integers(0, 40, n)] + rng.standard_normal((n, d))


def calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    rng = np.random.default_rng(0)
    rows = vectors(2000, 3000, rng)
    sentences = texts(2000, rng)
    bits = (rng.random((2000, 1024)) < rng.beta(0.4, 4, 1024)).astype(np.uint8)
    groups = np.repeat(np.arange(4), 800)
    in_groups = vectors(3200, 1200, rng)
    for q in ORDERS:
        yield f"dense, q={q}", partial(compute, rows, k="cosine", q=q)
        yield f"sparse n-grams, q={q}", partial(compute, sentences, k="ngram_overlap", q=q)
        yield f"fingerprints, q={q}", partial(compute, bits, k="tanimoto", q=q)
        yield f"groups, q={q}", partial(compute, in_groups, k="cosine", q=q, groups=groups)


@contextmanager
def announcements() -> Iterator[list[tuple[float, float]]]:
    """Collect the times of all announcements, however short, and the seconds they announce."""
    found: list[tuple[float, float]] = []

    def words(seconds: float) -> str:
        found.append((CLOCK(), seconds))
        return ""

    replaced = {"_LONG": 0.0, "_duration": words, "announce": lambda _: None}
    replaced["time"] = types.SimpleNamespace(perf_counter=CLOCK)  # which measures the core's speed
    kept = {name: getattr(progress, name) for name in replaced}
    vars(progress).update(replaced)
    try:
        yield found
    finally:
        vars(progress).update(kept)


def measured(call: Callable[[], Any]) -> tuple[float, float]:
    """Return the seconds announced, and those from the first announcement to the end."""
    with announcements() as found:
        call()
        end = CLOCK()
    start = found[0][0] if found else end
    return sum(seconds for _, seconds in found), end - start


def main() -> None:
    options = arguments(__doc__.partition("\n")[0])
    rows = []
    for name, call in calls():
        with threadpool_limits(1):
            runs = [measured(call) for _ in range(min(3, options.repeats))]
        estimate = runs[0][0]
        seconds = min(run for _, run in runs)
        ratio = estimate / seconds if seconds else float("nan")
        row = {"name": name, "estimate_s": estimate, "run_s": seconds, "ratio": ratio}
        rows.append(row)
        print(f"{name:<24} {estimate:9.3f} s announced, {seconds:9.3f} s taken, {ratio:8.2f}")
    write(options.json, rows, environment() | {"threads": "1"})
    far = [row["name"] for row in rows if not 1 / FACTOR <= row["ratio"] <= FACTOR]
    assert not far, f"announced and taken differ by more than {FACTOR:g} times: {far}"


if __name__ == "__main__":
    main()
