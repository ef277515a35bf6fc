"""Time query engines that update states in partitions, and selections from partitions.

    python benchmarks/partitions.py --greedi dask ray --json benchmarks/results/partitions.json

Vectors with 64 columns, eight per prompt, are stored in Parquet files whose borders split prompts.
Each installed engine reads them, and `score_batches` computes their score, in two processes if the
engine has workers. The score must equal that of a single process. A call is timed after a first
call, which starts the workers. Then `select_batches` selects 50 rows from partitions.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from pairs import collect_environment, write_results

from vendiscore import State, compute, score_batches, select, select_batches

N_COLUMNS, N_FILES, ROWS_PER_PROMPT, N_PARTITIONS, SELECTION_SIZE = 64, 20, 8, 8, 50
TOLERANCE = 1e-12
# Clusters are chosen such that a random subset has at most 0.6 of the score of `select`.
CLUSTERS, NOISE = 200, 0.5
WORKERS = ("ray", "dask", "spark")
ENGINES = (*WORKERS, "duckdb", "polars", "pyarrow", "datasets", "daft")
PACKAGES = ("dask", "ray", "pyspark", "duckdb", "polars", "pyarrow", "datasets", "daft")


def write_rows(folder: Path, rows: int) -> None:
    """Write rows to files, so that rows of one prompt are split between two files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    ends = [0, *(rows * i // N_FILES + 3 for i in range(1, N_FILES)), rows]
    for i, (a, b) in enumerate(itertools.pairwise(ends)):
        x = pa.array(rng.standard_normal((b - a) * N_COLUMNS, dtype=np.float32))
        column = pa.FixedSizeListArray.from_arrays(x, N_COLUMNS)
        table = pa.table({"x": column, "prompt": pa.array(np.arange(a, b) // ROWS_PER_PROMPT)})
        pq.write_table(table, folder / f"{i:02d}.parquet")


@contextmanager
def open_engine(engine: str, folder: Path) -> Iterator[Callable[[], Any]]:
    """Yield a function that returns the rows as a collection of the engine; its workers run
    meanwhile.
    """
    files = [str(path) for path in sorted(folder.glob("*.parquet"))]
    if engine == "dask":
        frame = importlib.import_module("dask.dataframe")
        client = importlib.import_module("distributed").Client
        with client(n_workers=2, threads_per_worker=1, dashboard_address=None):
            yield lambda: frame.read_parquet(files)
    if engine == "ray":
        ray = importlib.import_module("ray")
        data = importlib.import_module("ray.data")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield lambda: data.read_parquet(str(folder))
        ray.shutdown()
    if engine == "spark":
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        sql = importlib.import_module("pyspark.sql")
        builder = sql.SparkSession.builder.master("local[2,4]")
        session = builder.config("spark.ui.enabled", "false").getOrCreate()
        yield lambda: session.read.parquet(*files).orderBy("prompt")
        session.stop()
    if engine == "duckdb":
        duckdb = importlib.import_module("duckdb")
        yield lambda: duckdb.sql(f"SELECT x, prompt FROM '{folder}/*.parquet' ORDER BY prompt")
    if engine == "polars":
        polars = importlib.import_module("polars")
        yield lambda: polars.scan_parquet(files).sort("prompt")
    if engine == "pyarrow":
        yield lambda: importlib.import_module("pyarrow.dataset").dataset(files)
    if engine == "datasets":
        load = importlib.import_module("datasets").load_dataset
        yield lambda: load("parquet", data_files=files, split="train", streaming=True)
    if engine == "daft":
        daft = importlib.import_module("daft")
        yield lambda: daft.read_parquet(files).sort("prompt")


def time_call(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return function(), time.perf_counter() - start


def iter_engine_rows(rows: int, names: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the times and the errors of each engine; the first one is a single process."""
    column_options: dict[str, dict[str, Any]] = {"all": {}, "within": {"prompts": "prompt"}}
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        write_rows(folder, rows)
        expected: dict[str, dict[str, float]] = {}
        for engine in ["pyarrow", *(name for name in names if name != "pyarrow")]:
            try:
                row: dict[str, Any] = {"name": engine, "part": "engine"}
                row |= {"processes": 2 if engine in WORKERS else 1}
                with open_engine(engine, folder) as collection:
                    score_batches(collection(), "x", k="cosine")
                    for name, columns in column_options.items():
                        score, row[f"{name}_s"] = time_call(
                            lambda: score_batches(
                                collection(),
                                "x",
                                k="cosine",
                                details=True,
                                **columns,  # noqa: B023
                            )
                        )
                        n = score.pop("details")["n"]
                        expected.setdefault(name, score)
                        if n != rows:
                            raise SystemExit(f"{engine} added {n} of {rows} rows")
                        errors = [abs(score[key] / expected[name][key] - 1) for key in score]
                        if not max(errors) < TOLERANCE:
                            raise SystemExit(f"{engine}, {name}: {max(errors):.1e} off")
                        row[f"{name}_error"] = max(errors)
            except ImportError as error:
                print(f"{engine} is skipped: {error}")
                continue
            print(row, flush=True)
            yield row


def make_clusters(rows: int, count: int = CLUSTERS, noise: float = NOISE) -> np.ndarray:
    """Return vectors with 64 columns in clusters; cluster i has a size proportional to 1/i^1.5."""
    rng = np.random.default_rng(0)
    sizes = 1 / np.arange(1, count + 1) ** 1.5
    centres = rng.standard_normal((count, N_COLUMNS), dtype=np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    labels = rng.choice(count, rows, p=sizes / sizes.sum())
    scatter = rng.standard_normal((rows, N_COLUMNS), dtype=np.float32)
    return centres[labels] + np.float32(noise / math.sqrt(N_COLUMNS)) * scatter


def compare_selection(rows: int, engine: str) -> dict[str, Any]:
    """Compare the selection of 50 rows from partitions with `select` in a single process."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    X = make_clusters(rows)
    rng = np.random.default_rng(1)
    random_subsets = [rng.choice(rows, SELECTION_SIZE, replace=False) for _ in range(10)]
    random = float(np.mean([compute(X[indices], k="cosine")["VS"] for indices in random_subsets]))
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        for i, partition in enumerate(np.array_split(X, N_PARTITIONS)):
            x = pa.FixedSizeListArray.from_arrays(pa.array(partition.ravel()), N_COLUMNS)
            pq.write_table(pa.table({"x": x}), folder / f"{i}.parquet")
        with open_engine(engine, folder) as collection:
            result, seconds = time_call(
                lambda: select_batches(collection(), "x", SELECTION_SIZE, k="cosine")
            )
    selection, select_seconds = time_call(lambda: select(X, SELECTION_SIZE, k="cosine"))
    row = {
        "name": f"greedi, {engine}",
        "part": "greedi",
        "rows": rows,
        "seconds": seconds,
        "VS": float(result.scores[-1]),
        "bound": result.bound,
        "select_s": select_seconds,
        "select_VS": float(selection.scores[-1]),
        "random_VS": random,
    }
    print(row, f"{row['VS'] / row['select_VS']:.4f} of select", flush=True)
    return row


def measure_state(rows: int = 100_000, d: int = 384) -> dict[str, Any]:
    """Measure the time and size of a streaming state for rows with d columns.

    Costs of larger data sets are extrapolated from these values.
    """
    X = np.random.default_rng(0).standard_normal((rows, d), dtype=np.float32)
    state = State(k="cosine").update(X[:1000])
    seconds = min(time_call(lambda: state.update(X))[1] for _ in range(3))
    score = time_call(state.compute)[1]
    bytes_of_one = len(state.to_bytes())
    row = {"name": "rate", "part": "rate", "rows": rows, "d": d, "seconds": seconds}
    row |= {"bytes": bytes_of_one, "score_s": score}
    print(row, flush=True)
    return row


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--chosen-from", type=int, default=1_000_000)
    parser.add_argument("--engines", nargs="*", default=ENGINES)
    parser.add_argument("--greedi", nargs="*", default=["dask"])
    options = parser.parse_args()
    environment_info = collect_environment(*PACKAGES)  # before engines change the number of threads
    rows = [measure_state()]
    if options.engines:
        rows += iter_engine_rows(options.rows, list(options.engines))
    rows += [compare_selection(options.chosen_from, engine) for engine in options.greedi]
    environment_info |= {
        "rows": options.rows,
        "d": N_COLUMNS,
        "files": N_FILES,
        "parts": N_PARTITIONS,
        "chosen": SELECTION_SIZE,
    }
    write_results(options.json, rows, environment_info)


if __name__ == "__main__":
    main()
