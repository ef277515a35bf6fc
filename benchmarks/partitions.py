"""Time engines that add up rows in partitions, and the choice of a subset from partitions.

    python benchmarks/partitions.py --greedi dask ray --json benchmarks/results/partitions.json

Rows × 64 of 8 to a prompt lie in Parquet files, whose borders cut prompts. Each engine that is
installed reads them with two processes, if it has workers, and adds them up by the functions of
examples/recipes/engines.py; its state must score as one process does. A call is timed after
a first one, which starts workers. Then greedi.py chooses 50 of rows in clusters.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import math
import os
import runpy
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from pairs import environment, write

from vendiscore import State, compute, select

RECIPES = Path(__file__).resolve().parents[1] / "examples" / "recipes"
D, FILES, EACH, PARTS, SIZE = 64, 20, 8, 8, 50
AGREE = 1e-12
# Rows around centres of unit length; a random choice has at most 0.6 of the score of `select`.
CLUSTERS, NOISE = 200, 0.5
WORKERS = ("ray", "dask", "spark")
ENGINES = (*WORKERS, "duckdb", "polars", "pyarrow", "datasets", "daft")
PACKAGES = ("dask", "ray", "pyspark", "duckdb", "polars", "pyarrow", "datasets", "daft")


def made(folder: Path, rows: int) -> None:
    """Write rows in files that end within a prompt."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    ends = [0, *(rows * i // FILES + 3 for i in range(1, FILES)), rows]
    for i, (a, b) in enumerate(itertools.pairwise(ends)):
        x = pa.array(rng.standard_normal((b - a) * D, dtype=np.float32))
        column = pa.FixedSizeListArray.from_arrays(x, D)
        table = pa.table({"x": column, "prompt": pa.array(np.arange(a, b) // EACH)})
        pq.write_table(table, folder / f"{i:02d}.parquet")


@contextmanager
def opened(engine: str, folder: Path) -> Iterator[Callable[[], Any]]:
    """Yield what returns the rows of an engine, whose workers run meanwhile."""
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


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return function(), time.perf_counter() - start


def over_engines(rows: int, names: list[str]) -> Iterator[dict[str, Any]]:
    """Yield seconds and the error of each engine, the first of which is one process."""
    recipes = runpy.run_path(str(RECIPES / "engines.py"))
    adds = {"all": recipes["all_rows"], "within": recipes["within_prompts"]}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        made(folder, rows)
        expected: dict[str, dict[str, float]] = {}
        for engine in ["pyarrow", *(name for name in names if name != "pyarrow")]:
            try:
                row: dict[str, Any] = {"name": engine, "part": "engine"}
                row |= {"processes": 2 if engine in WORKERS else 1}
                with opened(engine, folder) as collection:
                    state_of = recipes[f"{engine}_state"]
                    state_of(collection(), adds["all"])
                    for name, add in adds.items():
                        state, row[f"{name}_s"] = timed(lambda: state_of(collection(), add))  # noqa: B023
                        score = state.compute()
                        expected.setdefault(name, score)
                        if state.n != rows:
                            raise SystemExit(f"{engine} added {state.n} of {rows} rows")
                        errors = [abs(score[key] / expected[name][key] - 1) for key in score]
                        if not max(errors) < AGREE:
                            raise SystemExit(f"{engine}, {name}: {max(errors):.1e} off")
                        row[f"{name}_error"] = max(errors)
            except ImportError as error:
                print(f"{engine} was left out: {error}")
                continue
            print(row, flush=True)
            yield row


def clusters(rows: int, count: int = CLUSTERS, noise: float = NOISE) -> np.ndarray:
    """Return rows (n, 64) in clusters of sizes 1/i^1.5."""
    rng = np.random.default_rng(0)
    sizes = 1 / np.arange(1, count + 1) ** 1.5
    centres = rng.standard_normal((count, D), dtype=np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    of_each = rng.choice(count, rows, p=sizes / sizes.sum())
    scatter = rng.standard_normal((rows, D), dtype=np.float32)
    return centres[of_each] + np.float32(noise / math.sqrt(D)) * scatter


def subset(rows: int, engine: str) -> dict[str, Any]:
    """Return scores and seconds of 50 rows, over partitions and on one machine."""
    recipe = runpy.run_path(str(RECIPES / "greedi.py"))
    X = clusters(rows)
    rng = np.random.default_rng(1)
    drawn = [rng.choice(rows, SIZE, replace=False) for _ in range(10)]
    random = float(np.mean([compute(X[some], k="cosine")["VS"] for some in drawn]))
    parts = np.array_split(X, PARTS)
    if engine == "dask":
        client = importlib.import_module("distributed").Client
        with client(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers:
            over = recipe["over_dask"](workers.scatter(parts))
            result, seconds = timed(lambda: recipe["greedi"](over, SIZE))
    elif engine == "ray":
        ray = importlib.import_module("ray")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        over = recipe["over_ray"]([ray.put(part) for part in parts])
        result, seconds = timed(lambda: recipe["greedi"](over, SIZE))
        ray.shutdown()
    else:
        result, seconds = timed(
            lambda: recipe["greedi"](lambda f, *more: [f(part, *more) for part in parts], SIZE)
        )
    whole, whole_seconds = timed(lambda: select(X, SIZE, k="cosine"))
    row = {
        "name": f"greedi, {engine}",
        "part": "greedi",
        "rows": rows,
        "seconds": seconds,
        "VS": result["VS"],
        "bound": result["bound"],
        "select_s": whole_seconds,
        "select_VS": float(whole.scores[-1]),
        "random_VS": random,
    }
    print(row, f"{row['VS'] / row['select_VS']:.4f} of select", flush=True)
    return row


def rate(rows: int = 100_000, d: int = 384) -> dict[str, Any]:
    """Return seconds and bytes of a state of 384 columns, from which a plan follows."""
    X = np.random.default_rng(0).standard_normal((rows, d), dtype=np.float32)
    state = State(k="cosine").update(X[:1000])
    seconds = min(timed(lambda: state.update(X))[1] for _ in range(3))
    score = timed(state.compute)[1]
    bytes_of_one = len(state.to_bytes())
    row = {"name": "rate", "part": "rate", "rows": rows, "d": d, "seconds": seconds}
    row |= {"bytes": bytes_of_one, "score_s": score}
    print(row, flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--chosen-from", type=int, default=1_000_000)
    parser.add_argument("--engines", nargs="*", default=ENGINES)
    parser.add_argument("--greedi", nargs="*", default=["dask"])
    given = parser.parse_args()
    about = environment(*PACKAGES)  # before engines set a number of threads
    rows = [rate()]
    if given.engines:
        rows += over_engines(given.rows, list(given.engines))
    rows += [subset(given.chosen_from, engine) for engine in given.greedi]
    about |= {"rows": given.rows, "d": D, "files": FILES, "parts": PARTS, "chosen": SIZE}
    write(given.json, rows, about)


if __name__ == "__main__":
    main()
