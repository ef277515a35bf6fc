"""Time and memory of `score_batches` for ten million embeddings, and of merging states.

    OMP_NUM_THREADS=1 python benchmarks/stream_scale.py --json benchmarks/results/stream_scale.json

"stream": Arrow batches of 10,000 × 384 float32 values, ten of them in turn, are scored in one call.
Between two batches, the same batch is multiplied by its transpose in double precision, so changes
of the machine's speed affect both. "files": as many rows are scored from Arrow files by
pyarrow.dataset. The process memory is its maximum over the whole process, with all packages.
"merge": partial results of partitions are merged as on a worker, eight at a time. All scores must
equal those of `compute`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset
from pairs import collect_environment, write_results

from vendiscore import State, compute, score_batches
from vendiscore.tools.streams.batches import StateReduction
from vendiscore.tools.streams.engines import MERGED_AT_ONCE, _compute, _merge

D, BATCH_ROWS, N_BATCHES, ROWS_PER_FILE = 384, 10_000, 10, 500_000
TOLERANCE = 1e-12


def make_batches() -> list[np.ndarray]:
    """Return ten batches of embeddings with a decaying spectrum."""
    rng = np.random.default_rng(0)
    scale = np.arange(1, D + 1, dtype=np.float32) ** -0.5
    return [
        rng.standard_normal((BATCH_ROWS, D), dtype=np.float32) * scale for _ in range(N_BATCHES)
    ]


def to_arrow(X: np.ndarray) -> pa.RecordBatch:
    return pa.record_batch({"x": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), D)})


def check_score(score: dict[str, float]) -> float:
    """Return the relative difference to the score of the distinct rows in memory."""
    expected = compute(np.concatenate(make_batches()).astype(float), k="cosine")
    error = abs(score["VS"] / expected["VS"] - 1)
    if not error < TOLERANCE:
        raise SystemExit(f"the score differs by {error:.1e}")
    return error


def measure_stream(rows: int) -> dict[str, Any]:
    """Time `score_batches` on batches in memory, alternately with the bare products."""
    arrays = make_batches()
    batches = [to_arrow(X) for X in arrays]
    seconds = {"conversion": 0.0, "product": 0.0, "float32_product": 0.0}
    total = np.zeros((D, D))

    def iter_batches() -> Iterator[pa.RecordBatch]:
        for i in range(rows // BATCH_ROWS):
            X = arrays[i % N_BATCHES]
            times = [time.perf_counter()]
            double = X.astype(float)
            times.append(time.perf_counter())
            np.add(total, double.T @ double, out=total)
            times.append(time.perf_counter())
            X.T @ X
            times.append(time.perf_counter())
            for name, took in zip(seconds, np.diff(times), strict=True):
                seconds[name] += float(took)
            yield batches[i % N_BATCHES]

    score_batches(batches, "x", k="cosine")  # imports
    start = time.perf_counter()
    score = score_batches(iter_batches(), "x", k="cosine")
    ours = time.perf_counter() - start - sum(seconds.values())
    bare = seconds["conversion"] + seconds["product"]
    return {
        "name": "stream",
        "rows": rows,
        "seconds": ours,
        "rows_per_second": rows / ours,
        "bare_seconds": bare,
        "times_bare": ours / bare,
        "times_product": ours / seconds["product"],
        "times_float32_product": ours / seconds["float32_product"],
        "error": check_score(score),
    }


def write_files(folder: Path, rows: int) -> None:
    batches = [to_arrow(X) for X in make_batches()]
    for first in range(0, rows, ROWS_PER_FILE):
        path = folder / f"{first // ROWS_PER_FILE:03d}.arrow"
        with pa.ipc.new_file(path, batches[0].schema) as writer:
            for i in range(min(ROWS_PER_FILE, rows - first) // BATCH_ROWS):
                writer.write_batch(batches[i % N_BATCHES])


def score_files(folder: Path) -> None:
    """Print the seconds of `score_batches`, the score and the memory of this process, as JSON."""
    dataset = pyarrow.dataset.dataset(folder, format="ipc")
    start = time.perf_counter()
    score = score_batches(dataset, "x", k="cosine")
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_mb": peak, "VS": score["VS"]}))


def measure_files(rows: int) -> dict[str, Any]:
    """Time `score_batches` on Arrow files, and measure the memory, in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), rows)
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        result = json.loads(
            subprocess.check_output([sys.executable, __file__, "--score", folder], text=True)
        )
    return {
        "name": "files",
        "rows": rows,
        "gb": size / 1e9,
        "seconds": result["seconds"],
        "rows_per_second": rows / result["seconds"],
        "peak_mb": result["peak_mb"],
        "error": check_score(result),
    }


def measure_merge() -> dict[str, Any]:
    """Time merges of eight partial results, as on a worker, and the final score."""
    reduction = StateReduction(State(k="cosine"), "x", ["x"], {})
    batches = [to_arrow(X) for X in make_batches()]
    dumps = [_compute(reduction, [batch]) for batch in batches[:MERGED_AT_ONCE]]
    times = []
    for _ in range(20):
        start = time.perf_counter()
        merged = _merge(reduction, dumps)
        times.append(time.perf_counter() - start)
    state = State(k="cosine").update(make_batches()[0])
    start = time.perf_counter()
    state.compute()
    score_seconds = time.perf_counter() - start
    return {
        "name": "merge",
        "merged": MERGED_AT_ONCE,
        "seconds": float(np.median(times)),
        "bytes": len(merged),
        "score_seconds": score_seconds,
    }


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--score", type=Path, help="only score the Arrow files in this folder")
    options = parser.parse_args()
    if options.score:
        score_files(options.score)
        return
    environment_info = collect_environment("pyarrow") | {
        "d": D,
        "batch_rows": BATCH_ROWS,
        "load_before": os.getloadavg()[0],
    }
    rows = []
    for measure in (
        lambda: measure_stream(options.rows),
        measure_merge,
        lambda: measure_files(options.rows),
    ):
        rows.append(measure())
        print(rows[-1], flush=True)
    environment_info["load_after"] = os.getloadavg()[0]
    write_results(options.json, rows, environment_info)


if __name__ == "__main__":
    main()
