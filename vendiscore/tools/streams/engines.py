"""Data of query engines, recognized without importing the engine, and reduced on its workers.

`reduce_data` computes a partial result of each partition and merges all partial results. Engines
with workers (Dask, Ray, Spark) do both on their workers, which must have vendiscore installed.
Other engines yield Arrow batches, and the result is computed in this process.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import Any, Protocol, TypeVar

from ...similarity.sample_arrays import check_in_memory
from ...support.errors import collect_warnings, warn
from ...support.optional import require
from ...support.parallel import slices
from .arrow_tables import PURPOSE, check_column_names

# Maximum number of rows in a batch that an engine yields, or that is taken from a pandas partition.
BATCH_ROWS = 10_000
# Number of partial results that a worker merges at once. In Spark each level of the tree is a
# shuffle, so executors merge more of them in a single level, and the driver merges the rest.
MERGED_AT_ONCE = 8
MERGED_AT_ONCE_IN_SPARK = 32

Result = TypeVar("Result")
Batches = Iterable[Any]  # Arrow record batches or tables, or data frames


class Reduction(Protocol[Result]):
    """A computation on partitions that can be pickled, so that an engine can run it on workers.

    Attributes
    ----------
    shared : mapping
        Objects by name that results may refer to, such as a model. Each worker gets them with the
        reduction, so they are not pickled with every result.
    """

    @property
    def shared(self) -> Mapping[str, object]: ...

    def compute(self, batches: Batches) -> Result:
        """Compute the partial result of the batches of one partition, which may be empty."""

    def merge(self, results: Sequence[Result]) -> Result:
        """Merge the partial results of consecutive partitions, in order."""


def reduce_data(data: Any, columns: Sequence[str], reduction: Reduction[Result]) -> Result:
    """Compute the partial results of all partitions, on workers if there are any, and merge them.

    Parameters
    ----------
    data : data frame, dataset or iterable of batches
        Data of a supported engine, any object that exports an Arrow stream, or batches.
    columns : sequence of str
        Names of the columns that are needed.
    reduction : Reduction
        The computation.
    """
    columns = list(dict.fromkeys(columns))
    reduce_on_workers = _find_adapter(data, _ENGINES_WITH_WORKERS)
    if reduce_on_workers is None:
        return reduction.compute(iter_batches(data, columns))
    require("pyarrow", "streaming", PURPOSE)
    result, warnings = _load(reduction, reduce_on_workers(data, columns, reduction))
    for message, category in warnings:
        warn(message, category)
    return result


def iter_batches(data: Any, columns: Sequence[str]) -> Iterator[Any]:
    """Iterate over batches of data without workers; the batches may contain further columns."""
    iter_engine_batches = _find_adapter(data, _ENGINES_WITHOUT_WORKERS)
    if iter_engine_batches is not None:
        yield from iter_engine_batches(data, columns)
        return
    check_in_memory(data, "batches")
    if hasattr(data, "__arrow_c_stream__"):
        data = require("pyarrow", "streaming", PURPOSE).RecordBatchReader.from_stream(data)
    yield from data


def _find_adapter(
    data: object, adapters: Mapping[tuple[str, str], Callable[..., Any]]
) -> Callable[..., Any] | None:
    """Return the adapter for the class of `data` or a base class of it, or None.

    Classes are identified by their top-level package and name, so that no engine is imported.
    """
    for cls in type(data).__mro__:
        package = cls.__module__.partition(".")[0]
        if (package, cls.__name__) in adapters:
            return adapters[package, cls.__name__]
    return None


class _Pickler(pickle.Pickler):
    """Replaces objects that all partial results share by their names."""

    def __init__(self, file: io.BytesIO, shared: Mapping[str, object]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._names = {id(value): name for name, value in shared.items()}

    def persistent_id(self, value: object) -> str | None:
        return self._names.get(id(value))


class _Unpickler(pickle.Unpickler):
    """Replaces the names of shared objects by the objects."""

    def __init__(self, file: io.BytesIO, shared: Mapping[str, object]) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, name: str) -> object:
        return self._shared[name]


def _compute(reduction: Reduction[Any], batches: Batches) -> bytes:
    """Compute a partial result on a worker; return it as bytes, with the warnings."""
    with collect_warnings() as warnings:
        result = reduction.compute(batches)
    return _dump(reduction, (result, warnings))


def _merge(reduction: Reduction[Any], dumps: Sequence[bytes]) -> bytes:
    """Merge partial results on a worker."""
    results = []
    with collect_warnings() as warnings:
        for dump in dumps:
            result, warnings_of_result = _load(reduction, dump)
            results.append(result)
            warnings += warnings_of_result
        merged = reduction.merge(results)
    return _dump(reduction, (merged, list(dict.fromkeys(warnings))))


def _dump(reduction: Reduction[Any], result: object) -> bytes:
    """Pickle a result, with references to the shared objects of the reduction."""
    file = io.BytesIO()
    _Pickler(file, reduction.shared).dump(result)
    return file.getvalue()


def _load(reduction: Reduction[Any], data: bytes) -> Any:
    """Unpickle the bytes of `_dump`."""
    return _Unpickler(io.BytesIO(data), reduction.shared).load()


def _reduce_dask(frame: Any, columns: list[str], reduction: Reduction[Any]) -> bytes:
    """Reduce a Dask DataFrame on the workers of the current client, or in threads without one."""
    check_column_names(columns, list(frame.columns))
    dask = import_module("dask")
    shared_reduction = dask.delayed(reduction, pure=False, traverse=False)  # sent to a worker once
    compute = dask.delayed(_compute_pandas_partition, pure=False)
    merge = dask.delayed(_merge, pure=False)
    dumps = [compute(shared_reduction, part) for part in frame[columns].to_delayed()]
    while len(dumps) > 1:
        dumps = [
            merge(shared_reduction, dumps[group]) for group in slices(len(dumps), MERGED_AT_ONCE)
        ]
    try:
        dump: bytes = dumps[0].compute()
    except (TypeError, ValueError) as error:
        if "got str: '[" in str(error):
            error.add_note(
                "Dask converts columns of Python objects to strings; create the data frame within "
                "dask.config.set({'dataframe.convert-string': False}), or read it from Parquet"
            )
        raise
    return dump


def _compute_pandas_partition(reduction: Reduction[Any], frame: Any) -> bytes:
    """Compute the partial result of a pandas data frame, which is converted to Arrow in parts."""
    starts = range(0, len(frame), BATCH_ROWS)
    return _compute(reduction, (frame.iloc[start : start + BATCH_ROWS] for start in starts))


def _reduce_ray(dataset: Any, columns: list[str], reduction: Reduction[Any]) -> bytes:
    """Reduce a Ray Dataset in Ray tasks."""
    ray = import_module("ray")
    schema = None
    with suppress(TypeError, ValueError):  # raised for blocks whose schemas Ray cannot unify
        schema = dataset.schema(fetch_if_missing=False)
    if schema is not None:
        check_column_names(columns, schema.names)
        dataset = dataset.select_columns(columns)
    results = dataset.map_batches(
        _compute_ray_block, batch_size=None, batch_format="pyarrow", fn_args=(reduction,)
    )
    with _ray_options(results.context):
        blocks = results.to_arrow_refs()
    merge = ray.remote(_merge_ray_blocks)
    shared_reduction = ray.put(reduction)
    while True:
        groups = slices(len(blocks), MERGED_AT_ONCE)
        blocks = [merge.remote(shared_reduction, *blocks[group]) for group in groups]
        if len(blocks) < 2:
            break
    dump: bytes = _merge_ray_blocks(reduction, *ray.get(blocks))["result"][0].as_py()
    return dump


@contextmanager
def _ray_options(context: Any) -> Iterator[None]:
    """Keep the order of blocks, and raise errors of tasks unchanged; then restore the options."""
    execution = context.execution_options
    original = execution.preserve_order, getattr(context, "raise_original_map_exception", False)
    execution.preserve_order = context.raise_original_map_exception = True
    try:
        yield
    finally:
        execution.preserve_order, context.raise_original_map_exception = original


def _compute_ray_block(block: Any, reduction: Reduction[Any]) -> dict[str, list[bytes]]:
    return {"result": [_compute(reduction, [block])]}


def _merge_ray_blocks(reduction: Reduction[Any], *blocks: Any) -> Any:
    """Merge the partial results in Arrow tables; the table of an empty block has no columns."""
    pa = require("pyarrow", "streaming", PURPOSE)
    dumps = [
        dump
        for block in blocks
        if "result" in block.column_names
        for dump in block["result"].to_pylist()
    ]
    return pa.table({"result": pa.array([_merge(reduction, dumps)], pa.large_binary())})


def _reduce_spark(frame: Any, columns: list[str], reduction: Reduction[Any]) -> bytes:
    """Reduce a Spark DataFrame, or a pandas-on-Spark DataFrame, on the executors."""
    if hasattr(frame, "to_spark"):
        frame = frame.to_spark()
    check_column_names(columns, frame.columns)
    names = ["`" + name.replace("`", "``") + "`" for name in columns]
    results = frame.select(*names).mapInArrow(
        partial(_compute_spark_partition, reduction), "parent long, part long, result binary"
    )
    # Spark uses the annotations of a function, so this one has none.
    merged = results.groupBy("parent").applyInArrow(
        lambda table: _merge_spark_results(reduction, table), "parent long, result binary"
    )
    rows = sorted(merged.collect(), key=lambda row: row.parent)
    return _merge(reduction, [bytes(row.result) for row in rows])


def _compute_spark_partition(reduction: Reduction[Any], batches: Batches) -> Iterator[Any]:
    pa = require("pyarrow", "streaming", PURPOSE)
    part = import_module("pyspark").TaskContext.get().partitionId()
    yield pa.record_batch(
        {
            "parent": [part // MERGED_AT_ONCE_IN_SPARK],
            "part": [part],
            "result": [_compute(reduction, batches)],
        }
    )


def _merge_spark_results(reduction: Reduction[Any], table: Any) -> Any:
    pa = require("pyarrow", "streaming", PURPOSE)
    table = table.sort_by("part")
    dump = _merge(reduction, table["result"].to_pylist())
    return pa.table({"parent": [table["parent"][0].as_py()], "result": [dump]})


def _iter_duckdb(relation: Any, columns: list[str]) -> Iterator[Any]:
    """Iterate over a DuckDB relation, in its order."""
    check_column_names(columns, relation.columns)
    # DuckDB does not guarantee that a projection keeps the order of ORDER BY, so all columns of the
    # relation are read.
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch  # before 1.5
    return iter(read(BATCH_ROWS))


def _iter_polars(frame: Any, columns: list[str]) -> Iterator[Any]:
    """Iterate over a polars LazyFrame, computed by the streaming engine."""
    check_column_names(columns, frame.collect_schema().names())
    frames: Iterator[Any] = frame.select(columns).collect_batches(
        chunk_size=BATCH_ROWS, maintain_order=True
    )
    return frames


def _iter_pyarrow(dataset: Any, columns: list[str]) -> Iterator[Any]:
    """Iterate over a pyarrow dataset, such as a folder of Parquet files."""
    check_column_names(columns, dataset.schema.names)
    # With threads, pyarrow reads up to 1 GiB ahead of the batches that are processed. Without
    # threads, it reads a batch when it is requested.
    scanner = dataset.scanner(
        columns=columns,
        batch_size=BATCH_ROWS,
        batch_readahead=1,
        fragment_readahead=1,
        use_threads=False,
    )
    return iter(scanner.to_reader())


def _iter_datasets(dataset: Any, columns: list[str]) -> Iterator[Any]:
    """Iterate over a Hugging Face dataset, which may be streaming."""
    if dataset.column_names is not None:  # unknown for some streaming datasets
        check_column_names(columns, dataset.column_names)
        dataset = dataset.select_columns(columns)
    return iter(dataset.with_format("arrow").iter(BATCH_ROWS))


def _iter_daft(frame: Any, columns: list[str]) -> Iterator[Any]:
    """Iterate over a Daft DataFrame, partition by partition."""
    check_column_names(columns, frame.column_names)
    return iter(frame.select(*columns).to_arrow_iter())


# By top-level package and name of the class.
_ENGINES_WITH_WORKERS: dict[tuple[str, str], Callable[..., bytes]] = {
    ("dask", "DataFrame"): _reduce_dask,
    ("ray", "Dataset"): _reduce_ray,
    ("pyspark", "DataFrame"): _reduce_spark,
}
_ENGINES_WITHOUT_WORKERS: dict[tuple[str, str], Callable[..., Iterator[Any]]] = {
    ("duckdb", "DuckDBPyRelation"): _iter_duckdb,
    ("_duckdb", "DuckDBPyRelation"): _iter_duckdb,  # duckdb 1.4
    ("polars", "LazyFrame"): _iter_polars,
    ("pyarrow", "Dataset"): _iter_pyarrow,
    ("datasets", "Dataset"): _iter_datasets,
    ("datasets", "IterableDataset"): _iter_datasets,
    ("daft", "DataFrame"): _iter_daft,
}
