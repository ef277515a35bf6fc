"""A million embeddings, of which no more than a batch is ever in memory.

    python examples/stream_embeddings.py                 # 50,000 made up ones, in batches
    python examples/stream_embeddings.py X.npy [1000000] # rows of a file, read as they are needed

Batches could as well come from several machines: see examples/recipes.
"""

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from vendiscore import State

BATCH, FEATURES = 10_000, 128


def made_up(n: int) -> Iterator[Any]:
    """Yield batches of embeddings around fifty centres."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((50, FEATURES), dtype=np.float32)
    for start in range(0, n, BATCH):
        m = min(BATCH, n - start)
        noise = rng.standard_normal((m, FEATURES), dtype=np.float32)
        yield centres[rng.integers(0, 50, m)] + 0.3 * noise


def from_file(path: str) -> Iterator[Any]:
    """Yield batches of the rows of a .npy file, which stays on disk."""
    X = np.load(path, mmap_mode="r")
    for start in range(0, len(X), BATCH):
        yield np.asarray(X[start : start + BATCH])


def main() -> None:
    path, n = [*sys.argv[1:], "", "50000"][:2]
    state = State.empty(k="cosine")
    start = time.perf_counter()
    for batch in from_file(path) if path else made_up(int(n)):
        state.update(batch)
    seconds = time.perf_counter() - start
    scores = state.compute(q=[0.5, 1, 2])
    print(f"{state.n:,} embeddings of {state.d} features in {seconds:.1f} s")
    print(", ".join(f"{name} = {value:.2f}" for name, value in scores.items()))
    print(f"The state of all of them is {len(state.to_bytes()) / 1e6:.2f} MB, wherever it goes:")
    halves = state.merge(State.from_bytes(state.to_bytes()))
    print(f"every one of them twice has the same score, VS = {halves.compute()['VS']:.2f}")


if __name__ == "__main__":
    main()
