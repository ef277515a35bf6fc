"""The Vendi Score of a collection of Dask: a state a partition, merged as a tree.

    pip install 'dask[array,distributed]'      # in addition to vendiscore
    python examples/recipes/dask_collection.py

The partitions of an array of rows are `X.rechunk({1: -1}).to_delayed().ravel().tolist()`, of a
dataframe of numbers or a bag `frame.to_delayed()`; some may have no rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vendiscore import State

HOW = {"k": "cosine"}


def added(part: Any) -> State:
    """Return the state of a partition, on the worker that has it."""
    rows = np.asarray(part if hasattr(part, "shape") else list(part))  # bags have iterators
    return State.empty(**HOW).update(rows) if len(rows) else State.empty(**HOW)


def merged(states: Sequence[State]) -> State:
    """Return the state of the samples of several states."""
    return State.empty(**HOW).merge(*states)


def state_of(parts: Sequence[Any], split_every: int = 8) -> Any:
    """Return the state of all partitions as a `Delayed`, of which 8 are merged at once."""
    import dask

    sums = [dask.delayed(added, pure=False)(part) for part in parts]
    while len(sums) > 1:
        groups = [sums[i : i + split_every] for i in range(0, len(sums), split_every)]
        sums = [dask.delayed(merged, pure=False)(group) for group in groups]
    return sums[0] if sums else dask.delayed(merged, pure=False)([])


def main() -> None:
    import dask.array
    from distributed import Client

    X = np.random.default_rng(0).standard_normal((20_000, 32))
    collection = dask.array.from_array(X, chunks=(2000, 16)).rechunk({1: -1})
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        state = state_of(collection.to_delayed().ravel().tolist()).compute()
    whole = State.empty(**HOW).update(X)
    print(f"{state.n} rows: VS = {state.compute()['VS']!r}, at once {whole.compute()['VS']!r}")


if __name__ == "__main__":
    main()
