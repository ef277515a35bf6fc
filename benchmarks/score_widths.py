"""Time and errors of `score_X` by width, size and precision, compared with vendi_score.

    python benchmarks/score_widths.py --json benchmarks/results/score_widths.json
    python benchmarks/score_widths.py --threads 1 --widths 384 1536 --sizes 10000

Rows have 64 to 3,072 columns, and eigenvalues that are equal or proportional to 1/i. Most are in
float32; some cells have float16 and float64 rows, for which the other program (`vendi_score` 0.0.3)
uses the same precision. Before anything is timed, the error of log VS is computed for both, against
the definition in float64. vendiscore must keep its bound, max(1e-8, min(2e-5, 1 % of log VS));
otherwise, the exit status is 1. Errors of the other program are only reported. A separate process
runs all cells with one thread, and another with two.
"""

import argparse
import itertools
import math
import os
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from grid import HARMONIC_SPECTRUM, make_rows
from pairs import Rows, collect_environment, run_with_threads, time_pair, write_results

import vendiscore

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from hard_sets import allowed_error, exact_log_scores

WIDTHS = (64, 384, 768, 1024, 1535, 1536, 2048, 3072)
SIZES = (1000, 10_000)
SPECTRA = ("flat", HARMONIC_SPECTRUM)
# Combinations of a type, n and d other than those of WIDTHS and SIZES in float32. Products of
# float16 matrices in NumPy take minutes for larger sets.
OTHERS = (
    ("float16", 1000, 384),
    ("float64", 1000, 384),
    ("float64", 10_000, 384),
    ("float64", 10_000, 1536),
    ("float32", 50_000, 384),
    ("float32", 50_000, 1536),
)
MIN_PAIRS, MAX_PAIRS = 9, 21
CELL_SECONDS = 3.0  # approximate time of a cell of short calls
MIN_TURN_SECONDS = 0.01  # shorter calls are repeated within a turn


class Cell(NamedTuple):
    """Rows with a spectrum, n samples, d columns and entries of a type."""

    spectrum: str
    n: int
    d: int
    dtype: str

    @property
    def name(self) -> str:
        return f"{self.n:,} × {self.d:,}, {self.dtype}, eigenvalues {self.spectrum}"


def iter_cells(widths: list[int], sizes: list[int]) -> Iterator[Cell]:
    """Yield the cells with these widths and sizes."""
    for spectrum, d, n in itertools.product(SPECTRA, widths, sizes):
        yield Cell(spectrum, n, d, "float32")
    for dtype, n, d in OTHERS:
        if d in widths:
            yield Cell(HARMONIC_SPECTRUM, n, d, dtype)


def run_cell(cell: Cell, threads: int, max_pairs: int) -> dict[str, Any]:
    """Measure the errors and the times of both programs for a cell."""
    from vendi_score import vendi

    X = make_rows(cell.spectrum, cell.n, cell.d).astype(cell.dtype)
    (exact,) = exact_log_scores(X, (1.0,))
    errors = {}
    seconds = {}
    for program, score in (("ours", vendiscore.score_X), ("theirs", vendi.score_dual)):
        score(X)
        start = time.perf_counter()
        errors[f"{program}_error"] = abs(math.log(score(X)) - exact)
        seconds[program] = time.perf_counter() - start
    pair_seconds = sum(seconds.values())
    calls = max(1, int(MIN_TURN_SECONDS / pair_seconds))
    repeats = int(min(max_pairs, max(MIN_PAIRS, CELL_SECONDS / (calls * pair_seconds))))
    return time_pair(
        cell.name,
        lambda: vendiscore.score_X(X),
        lambda: vendi.score_dual(X),
        repeats,
        calls,
        0.1 if threads > 1 else 0.0,
        **cell._asdict(),
        threads=threads,
        allowed_error=allowed_error(exact),
        **errors,
    )


def run_job(options: argparse.Namespace) -> None:
    """Run the cells in this process, and write their rows."""
    warnings.filterwarnings("ignore", category=DeprecationWarning)  # vendi_score with this SciPy
    threads = int(os.environ["OMP_NUM_THREADS"])
    rows: Rows = []
    for cell in iter_cells(options.widths, options.sizes):
        rows.append(run_cell(cell, threads, options.repeats))
        write_results(options.json, rows, {})


def describe_row(row: dict[str, Any]) -> str:
    return (
        f"{row['name']}, threads: {row['threads']}: {row['times_faster']:.2f} × as fast, errors "
        f"{row['ours_error']:.1e} and {row['theirs_error']:.1e} (bound {row['allowed_error']:.1e})"
    )


def main() -> None:
    """Run the benchmark, print the cells in ascending order of the ratio, and write them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument(
        "--repeats", type=int, default=MAX_PAIRS, help="maximum number of pairs of a cell"
    )
    parser.add_argument("--widths", type=int, nargs="+", default=WIDTHS)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--job", action="store_true", help="run the cells in this process")
    options = parser.parse_args()
    if options.job:
        run_job(options)
        return
    start = time.perf_counter()
    numbers = [
        *("--repeats", str(options.repeats)),
        *("--widths", *map(str, options.widths)),
        *("--sizes", *map(str, options.sizes)),
    ]
    rows = run_with_threads(__file__, options.threads, numbers, {})
    failed = [row for row in rows if "error" in row]
    rows = sorted((row for row in rows if "error" not in row), key=lambda row: row["times_faster"])
    print(*map(describe_row, rows), sep="\n")
    inaccurate = [row for row in rows if row["ours_error"] > row["allowed_error"]]
    print(f"{len(rows)} cells, {len(inaccurate)} beyond the bound, {len(failed)} failed")
    minutes = (time.perf_counter() - start) / 60
    environment_info = collect_environment("vendi-score") | {"minutes": minutes}
    write_results(options.json, rows + failed, environment_info)
    sys.exit(bool(inaccurate or failed))


if __name__ == "__main__":
    main()
