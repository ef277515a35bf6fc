"""The Vendi Score of a DataFrame of Spark: a state a partition, as bytes, merged on the driver.

    pip install pyspark pyarrow pandas      # in addition to vendiscore and a Java runtime
    python examples/recipes/spark.py

`mapInArrow` and not a pandas aggregate: those have no partial aggregation, and would bring all rows
of a group to one worker. A partition without rows gives the state of none, which merges with any.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from vendiscore import State

HOW = {"k": "cosine"}


def to_bytes(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the state of the batches of a partition, as one row."""
    import pyarrow as pa

    state = State.empty(**HOW)
    for batch in batches:
        if batch.num_rows:
            rows = batch.column(0)
            state.update(np.asarray(rows.flatten()).reshape(len(rows), -1))
    yield pa.RecordBatch.from_arrays([pa.array([state.to_bytes()], pa.binary())], ["state"])


def state_of(frame: Any, column: str) -> State:
    """Return the state of a column of arrays of numbers, all of one length."""
    pieces = frame.select(column).mapInArrow(to_bytes, "state binary").toLocalIterator()
    return State.empty(**HOW).merge(*(State.from_bytes(bytes(row.state)) for row in pieces))


def main() -> None:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers have what this has
    X = np.random.default_rng(0).standard_normal((20_000, 32))
    spark = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    )
    frame = spark.createDataFrame([(row.tolist(),) for row in X], "x array<double>").repartition(8)
    state = state_of(frame, "x")
    spark.stop()
    whole = State.empty(**HOW).update(X)
    print(f"{state.n} rows: VS = {state.compute()['VS']!r}, at once {whole.compute()['VS']!r}")


if __name__ == "__main__":
    main()
