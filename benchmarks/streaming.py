"""Time, memory and accuracy of a State for a million embeddings.

    python benchmarks/streaming.py

Batches of 10,000 × 384 are added to a state, and multiplied by their transpose, ten at a time and
alternately, so changes of the machine's speed affect both. Before this, the state is compared with
`compute` of all rows at once, and with the same rows divided into other batches. Peak memory is
measured in a separate process.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pairs import PAUSE, collect_environment, parse_arguments, write_results

from vendiscore import State, compute

N_ROWS, N_FEATURES, BATCH_SIZE, BATCHES_PER_TURN = 1_000_000, 384, 10_000, 10
N_CHECKED = 100_000  # rows that are also scored at once
TOLERANCE = 1e-12

# Prints the peak memory above the memory with one batch, in a separate process.
MEMORY_SCRIPT = f"""
import numpy as np
from pathlib import Path
from vendiscore import State
def status(name):
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if name in x)
    return int(line.split()[1]) / 1024
rng = np.random.default_rng(0)
batch = rng.standard_normal(({BATCH_SIZE}, {N_FEATURES}), dtype=np.float32)
state = State.empty(k="cosine")
state.update(batch[:10]).compute()  # warm-up: modules are imported on first use
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
for _ in range({N_ROWS // BATCH_SIZE}):
    rng.standard_normal(out=batch, dtype=np.float32)
    state.update(batch)
added = status("VmHWM") - before
state.compute()
print(added, status("VmHWM") - before, state.n)
"""


def make_batches() -> list[np.ndarray]:
    """Return ten batches of embeddings with a decaying spectrum, which are used in turn."""
    rng = np.random.default_rng(0)
    scale = np.arange(1, N_FEATURES + 1, dtype=np.float32) ** -0.5
    return [
        rng.standard_normal((BATCH_SIZE, N_FEATURES), dtype=np.float32) * scale for _ in range(10)
    ]


def make_state(pieces: list[np.ndarray]) -> State:
    state = State.empty(k="cosine")
    for piece in pieces:
        state.update(piece)
    return state


def check_accuracy() -> dict[str, Any]:
    """Check that scores of a streaming state hardly depend on precision and batches.

    "whole" is the largest relative difference between scores of the state, for ten equal batches,
    and scores of all rows in double precision. "pieces" is the largest relative difference between
    scores of the state for ten equal batches and for batches of random sizes.
    """
    X = np.concatenate(make_batches())[:N_CHECKED]
    orders = [1, 2, "inf"]
    expected = compute(X.astype(np.float64), k="cosine", q=orders)
    rng = np.random.default_rng(1)
    result = make_state(np.split(X, 10)).compute(q=orders)
    differences = [abs(result[key] / expected[key] - 1) for key in expected]
    all_split_indices = [np.sort(rng.integers(0, N_CHECKED, 20)) for _ in range(5)]
    other_results = [
        make_state(np.split(X, split_indices)).compute(q=orders)
        for split_indices in all_split_indices
    ]
    pieces = [abs(other[key] / result[key] - 1) for other in other_results for key in result]
    row = {"name": "accuracy", "whole": max(differences), "pieces": max(pieces)}
    if not max(differences + pieces) < TOLERANCE:
        raise SystemExit(f"{row} is more than {TOLERANCE:g}")
    print(f"{row['name']:<28} at once {row['whole']:.1e}   other pieces {row['pieces']:.1e}")
    return row


def time_updates(
    name: str, state: State, rows: list[np.ndarray], product: Callable[[int], Any]
) -> dict[str, Any]:
    """Return the seconds for all rows and for products of batches, and the median ratio of
    speeds.
    """
    ours, theirs = [], []
    for _ in range(N_ROWS // BATCH_SIZE // BATCHES_PER_TURN):
        time.sleep(PAUSE)
        start = time.perf_counter()
        for i in range(BATCHES_PER_TURN):
            state.update(rows[i])
        ours.append(time.perf_counter() - start)
        time.sleep(PAUSE)
        start = time.perf_counter()
        for i in range(BATCHES_PER_TURN):
            product(i)
        theirs.append(time.perf_counter() - start)
    ratios = np.array(theirs) / np.array(ours)
    low, middle, high = (float(x) for x in np.quantile(ratios, [0.1, 0.5, 0.9]))
    print(
        f"{name:<52} {sum(ours):6.2f} s beside {sum(theirs):6.2f} s: "
        f"{middle:.2f} of its speed ({low:.2f} to {high:.2f})",
        flush=True,
    )
    return {
        "name": name,
        "seconds": sum(ours),
        "product_seconds": sum(theirs),
        "speed_of_product": middle,
        "speed_10_to_90": [low, high],
    }


def measure_memory() -> dict[str, Any]:
    """Return the memory that a streaming state needs in addition to its batch, in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY_SCRIPT], capture_output=True, text=True, check=True
    )
    adding, scoring, n = map(float, done.stdout.split())
    print(f"memory above the batch: {adding:.1f} MB, with the score {scoring:.1f} MB")
    return {"name": "memory", "adding_mb": adding, "scoring_mb": scoring, "n": int(n)}


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    options = parse_arguments(__doc__)
    rows, single = [check_accuracy()], make_batches()
    double = [X.astype(np.float64) for X in single]
    state = State.empty(k="cosine")
    in_single, in_double = (lambda i: single[i].T @ single[i]), (lambda i: double[i].T @ double[i])
    rows += [
        time_updates("float32 rows beside float32 X.T @ X", state, single, in_single),
        time_updates("float32 rows beside float64 X.T @ X", state, single, in_double),
        time_updates("float64 rows beside float64 X.T @ X", state, double, in_double),
        measure_memory(),
    ]
    size = len(state.update(single[0]).to_bytes())
    environment_info = {
        "rows": N_ROWS,
        "d": N_FEATURES,
        "batch": BATCH_SIZE,
        "bytes_of_a_state": size,
    }
    write_results(options.json, rows, collect_environment() | environment_info)


if __name__ == "__main__":
    main()
