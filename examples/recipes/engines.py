"""Scores of rows that an engine keeps in partitions: copy the function of your engine.

Each takes rows of an engine and a function that adds up record batches, here `all_rows` or
`within_prompts`, and returns its state of all rows. Partitions merge in their order, so that a
prompt whose rows a border cuts is one prompt; rows of a prompt must stand together (ORDER BY).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from vendiscore import GroupState, State

# Record batches of Arrow, tables or frames of pandas and polars, in their order.
Batches: TypeAlias = Iterable[Any]
Add: TypeAlias = Callable[[Batches], Any]


def all_rows(batches: Batches) -> State:
    """Return the state of vectors in the column x."""
    state = State(k="cosine")
    for batch in batches:
        state.update(batch["x"])
    return state


def within_prompts(batches: Batches) -> GroupState:
    """Return the state of vectors in the column x, scored within each prompt."""
    state = GroupState("x", prompts="prompt", k="cosine")
    for batch in batches:
        state.update(batch)
    return state


def dask_state(frame: Any, add: Add) -> Any:
    """Add up a dask.dataframe on its workers, and merge eight states at once, as a tree."""
    import dask

    def merged(states: list[Any]) -> Any:
        return states[0].merge(*states[1:])

    states = [dask.delayed(add, pure=False)([part]) for part in frame.to_delayed()]
    while len(states) > 1:
        eights = [states[i : i + 8] for i in range(0, len(states), 8)]
        states = [dask.delayed(merged, pure=False)(eight) for eight in eights]
    return states[0].compute()


def ray_state(dataset: Any, add: Add) -> Any:
    """Add up a dataset of Ray Data on its workers, and merge states here as they arrive."""

    def added(block: Any) -> dict[str, Any]:
        return {"state": [pickle.dumps(add([block]))]}

    dataset.context.execution_options.preserve_order = True
    states = dataset.map_batches(added, batch_size=None, batch_format="pyarrow")
    total = add([])
    for row in states.iter_rows():
        total = total.merge(pickle.loads(row["state"]))
    return total


def spark_state(frame: Any, add: Add) -> Any:
    """Add up a DataFrame of Spark on its executors, and merge states on the driver."""

    def added(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        yield pa.record_batch({"state": [pickle.dumps(add(batches))]})

    rows = frame.mapInArrow(added, "state binary").collect()
    return add([]).merge(*(pickle.loads(row.state) for row in rows))


def duckdb_state(relation: Any, add: Add) -> Any:
    """Add up SELECT … ORDER BY of DuckDB, which sorts on disk if need be."""
    return add(relation.to_arrow_reader(100_000))


def polars_state(frame: Any, add: Add) -> Any:
    """Add up a LazyFrame of polars, which its streaming engine reads."""
    return add(frame.collect_batches(chunk_size=100_000, maintain_order=True))


def pyarrow_state(dataset: Any, add: Add) -> Any:
    """Add up a pyarrow.dataset, such as a folder of Parquet."""
    return add(dataset.to_batches())


def datasets_state(dataset: Any, add: Add) -> Any:
    """Add up a dataset of Hugging Face, in memory or streaming=True."""
    return add(dataset.with_format("arrow").iter(10_000))


def daft_state(frame: Any, add: Add) -> Any:
    """Add up a DataFrame of Daft, one result of its engine after the other."""
    return add(frame.to_arrow_iter())
