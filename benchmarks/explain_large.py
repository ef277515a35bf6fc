"""The cost of explaining 20,000 to 200,000 rows of 384 numbers, and of the products of all pairs.

python benchmarks/explain_large.py --json benchmarks/results/explain_large.json   # 25 minutes

Each case runs in a process of its own, whose peak memory is reported; the products are by blocks
of 1,024 rows with all rows in single precision, of larger sets for every eighth block. A twentieth
of the rows are near-copies. Before anything is timed, what an index finds is held against what all
pairs give.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pairs import environment, write

from vendiscore import explain

WIDTH, THRESHOLD, BLOCK, FEW = 384, 0.95, 1024, 20_000
# Decays of the columns' sizes: embeddings have some, a flat spectrum is the hardest for an index.
DECAYS = {"decaying": 0.5, "flat": 0.0}
CASES = [
    (20_000, "decaying", "exact", 5),
    (20_000, "flat", "exact", 5),
    (20_000, "decaying", "approximate", 5),
    (100_000, "decaying", "exact", 1),
    (100_000, "decaying", "approximate", 2),
    (100_000, "flat", "approximate", 1),
    (200_000, "decaying", "exact", 1),
    (200_000, "decaying", "approximate", 1),
    (200_000, "flat", "approximate", 1),
]


def rows(n: int, spectrum: str) -> np.ndarray:
    """Return unit rows in single precision, a twentieth of which are near-copies of others."""
    rng = np.random.default_rng(0)
    sizes = np.arange(1, WIDTH + 1, dtype=np.float32) ** -DECAYS[spectrum]
    X = rng.standard_normal((n, WIDTH), dtype=np.float32) * sizes
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    copies = n // 20
    noise = rng.standard_normal((copies, WIDTH), dtype=np.float32)
    X[-copies:] = X[:copies] + 0.25 * noise / np.sqrt(WIDTH, dtype=np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """Time a call, and return what it gives."""
    start = time.perf_counter()
    found = function()
    return time.perf_counter() - start, found


def products(X: np.ndarray) -> float:
    """Return seconds of the products of all pairs."""
    step = 1 if len(X) <= FEW else 8
    starts = range(0, len(X), BLOCK)

    def multiply() -> None:
        for start in starts[::step]:
            X[start : start + BLOCK] @ X.T

    return seconds(multiply)[0] * len(starts) / len(starts[::step])


def check() -> None:
    """Stop unless an index finds the pairs that there are, and says how many it missed."""
    for spectrum in DECAYS:
        X = rows(FEW, spectrum)
        every, some = (
            explain(X, k="cosine", threshold=THRESHOLD, index=index)
            for index in ("exact", "approximate")
        )
        true = np.mean(some.redundant_of[every.redundant_of >= 0] >= 0)
        nearest = np.mean(some.nearest == every.nearest)
        print(
            f"{FEW:,} rows, {spectrum}: of near-duplicates {true:.1%} are found, {some.recall:.1%} "
            f"told; of nearest samples {nearest:.1%} and {some.duplicates.search.nearest:.1%}"
        )
        assert abs(true - some.recall) < 0.02
        assert true >= 0.98


def run(n: int, spectrum: str, index: Any, repeats: int) -> dict[str, Any]:
    """Time one case, in turns with the products."""
    X = rows(n, spectrum)
    bare, whole = [], []
    for _ in range(repeats):
        bare.append(products(X))
        time.sleep(0.1)
        took, found = seconds(lambda: explain(X, k="cosine", threshold=THRESHOLD, index=index))
        whole.append(took)
    read = seconds(lambda: str(found))[0]
    search = found.duplicates.search
    return {
        "n": n,
        "spectrum": spectrum,
        "index": index,
        "products_s": statistics.median(bare),
        "explain_s": statistics.median(whole),
        "times_products": statistics.median(b / a for a, b in zip(bare, whole, strict=True)),
        "sentence_s": read,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "removed": n - len(found.kept),
        "planted": n // 20,
        "recall": search.recall,
        "pairs": search.pairs,
        "nearest": search.nearest,
    }


def commands(n: int) -> dict[str, Any]:
    """Time `vendiscore explain` and a report of n rows in a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.npy")
        np.save(file, rows(n, "decaying"))
        command = [sys.executable, "-m", "vendiscore"]
        told = {}
        for name, call in {
            "vendiscore explain": ["explain", str(file), "-k", "cosine"],
            "vendiscore -f html": [str(file), "-k", "cosine", "-f", "html"],
        }.items():
            told[name], done = seconds(
                lambda call=call: subprocess.run([*command, *call], capture_output=True, text=True)
            )
            assert done.returncode == 0, done.stderr
            print(f"{name}, {n:,} rows: {told[name]:.0f} s")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"n": n, "commands_s": told, "peak_mb": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--job", type=json.loads)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(run(*options.job)))
        return
    check()
    found: list[dict[str, Any]] = []
    for case in CASES:
        call = [sys.executable, __file__, "--job", json.dumps(case)]
        done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        row = json.loads(done.stdout.splitlines()[-1])
        found.append(row)
        print(
            f"{row['n']:>7,} {row['spectrum']:<9} {row['index']:<12} {row['explain_s']:6.1f} s, "
            f"{row['times_products']:.2f} × the products; sentence {row['sentence_s']:.1f} s; "
            f"{row['peak_mb']:,.0f} MB; recall {row['recall']:.1%} of {row['pairs']}, nearest "
            f"{row['nearest']:.1%}; {row['removed']:,} of {row['planted']:,}",
            flush=True,
        )
    found.append(commands(200_000))
    write(options.json, found, environment())


if __name__ == "__main__":
    main()
