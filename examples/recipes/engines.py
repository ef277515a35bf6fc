"""Score a column of a folder of Parquet files with each query engine, in one call.

    python examples/recipes/engines.py ENGINE FOLDER COLUMN [PROMPT_COLUMN]

Dask, Ray and Spark compute on their workers, which must have vendiscore installed. The other
engines stream batches to this process. Rows with the same prompt must be adjacent, so the functions
sort by prompt if there are prompts.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from vendiscore import score_batches


def read_dask(folder: Path, prompts: str | None) -> Any:
    import dask.dataframe

    frame = dask.dataframe.read_parquet(folder)
    return frame if prompts is None else frame.sort_values(prompts)


def read_ray(folder: Path, prompts: str | None) -> Any:
    import ray.data

    dataset = ray.data.read_parquet(str(folder))
    return dataset if prompts is None else dataset.sort(prompts)


def read_spark(folder: Path, prompts: str | None) -> Any:
    from pyspark.sql import SparkSession

    frame = SparkSession.builder.getOrCreate().read.parquet(str(folder))
    return frame if prompts is None else frame.orderBy(prompts)


def read_duckdb(folder: Path, prompts: str | None) -> Any:
    import duckdb

    relation = duckdb.read_parquet(f"{folder}/*.parquet")
    return relation if prompts is None else relation.order(f'"{prompts}"')


def read_polars(folder: Path, prompts: str | None) -> Any:
    import polars

    frame = polars.scan_parquet(folder / "*.parquet")
    return frame if prompts is None else frame.sort(prompts)


def read_pyarrow(folder: Path, prompts: str | None) -> Any:
    import pyarrow.dataset

    dataset = pyarrow.dataset.dataset(folder)
    return dataset if prompts is None else dataset.sort_by(prompts)


def read_datasets(folder: Path, prompts: str | None) -> Any:
    """Read a stream, which cannot be sorted: the files must contain prompts in order."""
    import datasets

    return datasets.load_dataset(str(folder), split="train", streaming=True)


def read_daft(folder: Path, prompts: str | None) -> Any:
    import daft

    frame = daft.read_parquet(f"{folder}/*.parquet")
    return frame if prompts is None else frame.sort(prompts)


READERS = {
    "dask": read_dask,
    "ray": read_ray,
    "spark": read_spark,
    "duckdb": read_duckdb,
    "polars": read_polars,
    "pyarrow": read_pyarrow,
    "datasets": read_datasets,
    "daft": read_daft,
}


if __name__ == "__main__":
    engine, folder, column, *rest = sys.argv[1:]
    prompts = rest[0] if rest else None
    data = READERS[engine](Path(folder), prompts)
    print(score_batches(data, column, prompts=prompts, k="cosine"))
