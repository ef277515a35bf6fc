"""Score a million embeddings with only one batch in memory at a time.

    python examples/stream_embeddings.py                 # 50,000 random embeddings
    python examples/stream_embeddings.py X.npy [1000000] # rows of a file

examples/recipes/engines.py scores data of Dask, Ray, Spark and other engines.
"""

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from vendiscore import State

BATCH, FEATURES = 10_000, 128


def random_batches(n: int) -> Iterator[Any]:
    """Yield batches of random embeddings around fifty centres."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((50, FEATURES), dtype=np.float32)
    for start in range(0, n, BATCH):
        m = min(BATCH, n - start)
        noise = rng.standard_normal((m, FEATURES), dtype=np.float32)
        yield centres[rng.integers(0, 50, m)] + 0.3 * noise


def from_file(path: str) -> Iterator[Any]:
    """Yield batches of rows of a .npy file without loading the whole file."""
    X = np.load(path, mmap_mode="r")
    for start in range(0, len(X), BATCH):
        yield np.asarray(X[start : start + BATCH])


def main() -> None:
    path, n = [*sys.argv[1:], "", "50000"][:2]
    state = State.empty(k="cosine")
    start = time.perf_counter()
    for batch in from_file(path) if path else random_batches(int(n)):
        state.update(batch)
    seconds = time.perf_counter() - start
    scores = state.compute(q=[0.5, 1, 2])
    print(f"{state.n:,} embeddings of {state.d} features in {seconds:.1f} s")
    print(", ".join(f"{name} = {value:.2f}" for name, value in scores.items()))
    print(f"The state needs {len(state.to_bytes()) / 1e6:.2f} MB.")
    twice = state.merge(State.from_bytes(state.to_bytes()))
    print(f"Merged with a copy of itself, it has the same score: VS = {twice.compute()['VS']:.2f}")


if __name__ == "__main__":
    main()
