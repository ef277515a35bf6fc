"""Score rows that a query engine stores in partitions.

Copy the function for your engine, for example `dask_state`. Its arguments are the rows, as an
object of the engine, and a function that computes the state of record batches, either `all_rows` or
`within_prompts`. It returns the state of all rows. Partitions are merged in order, so a prompt may
span two partitions. The rows of a prompt must be adjacent (ORDER BY).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from vendiscore import GroupState, State

# Arrow record batches or tables, or frames of pandas or polars, in order.
Batches: TypeAlias = Iterable[Any]
Add: TypeAlias = Callable[[Batches], Any]


def all_rows(batches: Batches) -> State:
    """Return the state of vectors in the column x."""
    state = State(k="cosine")
    for batch in batches:
        state.update(batch["x"])
    return state


def within_prompts(batches: Batches) -> GroupState:
    """Return the state of vectors in the column x, with a score for each prompt."""
    state = GroupState("x", prompts="prompt", k="cosine")
    for batch in batches:
        state.update(batch)
    return state


def dask_state(frame: Any, add: Add) -> Any:
    """Compute states of a dask.dataframe on its workers; merge them as a tree, eight at a time."""
    import dask

    def merged(states: list[Any]) -> Any:
        return states[0].merge(*states[1:])

    states = [dask.delayed(add, pure=False)([part]) for part in frame.to_delayed()]
    while len(states) > 1:
        eights = [states[i : i + 8] for i in range(0, len(states), 8)]
        states = [dask.delayed(merged, pure=False)(eight) for eight in eights]
    return states[0].compute()


def ray_state(dataset: Any, add: Add) -> Any:
    """Compute states of a Ray dataset on its workers; merge them here as they arrive."""

    def compute_block_state(block: Any) -> dict[str, Any]:
        return {"state": [pickle.dumps(add([block]))]}

    dataset.context.execution_options.preserve_order = True
    states = dataset.map_batches(compute_block_state, batch_size=None, batch_format="pyarrow")
    total = add([])
    for row in states.iter_rows():
        total = total.merge(pickle.loads(row["state"]))
    return total


def spark_state(frame: Any, add: Add) -> Any:
    """Compute states of a Spark DataFrame on its executors; merge them on the driver."""

    def compute_partition_state(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        yield pa.record_batch({"state": [pickle.dumps(add(batches))]})

    rows = frame.mapInArrow(compute_partition_state, "state binary").collect()
    return add([]).merge(*(pickle.loads(row.state) for row in rows))


def duckdb_state(relation: Any, add: Add) -> Any:
    """Compute the state of a DuckDB query with ORDER BY; DuckDB can sort on disk."""
    return add(relation.to_arrow_reader(100_000))


def polars_state(frame: Any, add: Add) -> Any:
    """Compute the state of a polars LazyFrame with the streaming engine."""
    return add(frame.collect_batches(chunk_size=100_000, maintain_order=True))


def pyarrow_state(dataset: Any, add: Add) -> Any:
    """Compute the state of a pyarrow.dataset, such as a folder of Parquet files."""
    return add(dataset.to_batches())


def datasets_state(dataset: Any, add: Add) -> Any:
    """Compute the state of a Hugging Face dataset, in memory or with streaming=True."""
    return add(dataset.with_format("arrow").iter(10_000))


def daft_state(frame: Any, add: Add) -> Any:
    """Compute the state of a Daft DataFrame, partition by partition."""
    return add(frame.to_arrow_iter())
