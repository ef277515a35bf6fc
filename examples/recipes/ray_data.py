"""The Vendi Score of a dataset of Ray Data: a state a batch, as bytes, merged as they arrive.

    pip install 'ray[data]'      # in addition to vendiscore
    python examples/recipes/ray_data.py

A batch becomes one row of bytes where it is, and bytes are all that travels. (An aggregation with
`ignore_nulls=True` would turn the state of no rows into None; here no rows give no bytes.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vendiscore import State

HOW = {"k": "cosine"}


def to_bytes(batch: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a batch of rows, as one row."""
    state = State.empty(**HOW).update(np.stack(batch["data"]))
    return {"state": [state.to_bytes()]}


def state_of(dataset: Any, batch_size: int = 10_000) -> State:
    """Return the state of a dataset whose column `data` has rows of numbers."""
    total = State.empty(**HOW)
    for row in dataset.map_batches(to_bytes, batch_size=batch_size).iter_rows():
        total = total.merge(State.from_bytes(row["state"]))
    return total


def main() -> None:
    import ray

    X = np.random.default_rng(0).standard_normal((20_000, 32)).astype(np.float32)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    state = state_of(ray.data.from_numpy(X).repartition(8), batch_size=2000)
    ray.shutdown()
    whole = State.empty(**HOW).update(X)
    print(f"{state.n} rows: VS = {state.compute()['VS']!r}, at once {whole.compute()['VS']!r}")


if __name__ == "__main__":
    main()
