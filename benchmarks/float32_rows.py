"""`score_X` of float32 rows, next to `vendi_score.score_dual`, with one thread and with two.

    python benchmarks/float32_rows.py --json benchmarks/results/float32_rows.json

Each number of threads is a process of its own. The peer multiplies and decomposes in float32; both
are compared with all of it in float64 before they are timed. Rows are normals whose columns are
alike (flat), or fall as exp(−i/60), along the axes or turned.
"""

import os
from typing import Any

from pairs import agree, by_threads, compare, environment, write

SIZES = ((1000, 384), (5000, 384), (50_000, 512), (10_000, 768), (10_000, 1024))
SPECTRA = ("flat", "decaying", "decaying, turned")
WRONG = 3e-5  # of float32, in the worst


def measure(repeats: int) -> list[dict[str, Any]]:
    import numpy as np
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
    path, rows = by_threads(__file__, __doc__, measure)
    print(f"worst: {min(row['times_faster'] for row in rows):.2f} ×")
    write(path, rows, environment())


if __name__ == "__main__":
    main()
