"""`score_X` of float32 rows, next to `vendi_score.score_dual`, with one thread and with two.

    python benchmarks/float32_rows.py --json benchmarks/results/float32_rows.json

Each number of threads is a process of its own. The peer multiplies and decomposes in float32; both
are compared with all of it in float64 before they are timed. Rows are normals whose columns are
alike (flat), or fall as exp(−i/60), along the axes or turned.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SIZES = ((1000, 384), (5000, 384), (50_000, 512), (10_000, 768), (10_000, 1024))
SPECTRA = ("flat", "decaying", "decaying, turned")
WRONG = 3e-5  # of float32, in the worst


def measure(repeats: int) -> list[dict[str, Any]]:
    import numpy as np
    from pairs import agree, compare
    from vendi_score import vendi

    from vendiscore import score_X

    rng, rows = np.random.default_rng(0), []
    for n, d in SIZES:
        for spectrum in SPECTRA:
            X = rng.standard_normal((n, d))
            if spectrum != "flat":
                X *= np.exp(-np.arange(d) / 60)
            if spectrum.endswith("turned"):
                X = X @ np.linalg.qr(rng.standard_normal((d, d)))[0]
            exact, X = score_X(X.astype(np.float32).astype(np.float64)), X.astype(np.float32)
            ours, theirs = score_X(X), float(vendi.score_dual(X))
            agree(ours, exact, WRONG)
            agree(theirs, exact, 10 * WRONG)
            off = {"ours_off": ours / exact - 1, "theirs_off": theirs / exact - 1}
            name = f"{n:,} × {d}, {spectrum}, threads: {os.environ['OMP_NUM_THREADS']}"
            rows.append(
                compare(
                    name, lambda X=X: score_X(X), lambda X=X: vendi.score_dual(X), repeats, **off
                )
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=21)
    parser.add_argument("--job", action="store_true", help="measure in this process")
    given = parser.parse_args()
    if given.job:
        rows = measure(given.repeats)
        given.json.write_text(json.dumps(rows), encoding="utf-8")
        return
    import tempfile

    from pairs import environment, write

    rows = []
    for threads in ("1", "2"):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            command = [sys.executable, __file__, "--job", "--json", file.name]
            limits = {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
            subprocess.run(
                [*command, "--repeats", str(given.repeats)], env=os.environ | limits, check=True
            )
            rows += json.loads(Path(file.name).read_text(encoding="utf-8"))
    print(f"worst: {min(row['times_faster'] for row in rows):.2f} ×")
    write(given.json, rows, environment())


if __name__ == "__main__":
    main()
