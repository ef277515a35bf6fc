"""Large sets end in a number or in a sentence, never in a signal: `python benchmarks/large.py`.

Each case runs in a process of its own, which may say `TooLargeError` where memory is short. From
about 16,000 rows a product of a matrix with its own transpose has ended the process with a
segmentation fault on some machines (numpy/numpy#19685); see `support.namespace.gram`.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROWS = "X = np.random.default_rng(0).standard_normal(({n}, {d}))"

# Name, rows, columns, what to do with them.
CASES = [
    ("bare NumPy", 20_000, 384, "(X @ X.T).shape"),
    ("rbf, q = 2", 20_000, 384, "vendiscore.score(X, 'rbf', q=2)"),
    ("magnitude, euclidean", 20_000, 384, "vendiscore.mag_area(X, n_scales=2)"),
    ("magnitude, cosine", 17_000, 384, "vendiscore.mag_area(X, metric='cosine', n_scales=2)"),
    ("magnitude, k='cosine'", 17_000, 384, "vendiscore.mag_area(X, k='cosine', n_scales=2)"),
]


def run(n: int, d: int, call: str) -> tuple[int, str, float]:
    """Return exit status, the last line that was printed, and seconds."""
    code = (
        f"import numpy as np, vendiscore\n{ROWS.format(n=n, d=d)}\n"
        f"try:\n    print({call})\nexcept vendiscore.TooLargeError as error:\n    print(error)\n"
    )
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()
    return done.returncode, lines[-1] if lines else "", time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    only = parser.parse_args().only
    failed = []
    for name, n, d, call in CASES:
        if only not in name:
            continue
        status, said, seconds = run(n, d, call)
        print(f"{name:<26} {n:,} × {d}  exit {status:>3}  {seconds:4.0f} s  {said}", flush=True)
        if status and name != "bare NumPy":  # which tells whether this machine can fail at all
            failed.append(name)
    if failed:
        raise SystemExit(f"ended by a signal or an error: {', '.join(failed)}")


if __name__ == "__main__":
    main()
