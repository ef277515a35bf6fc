"""The Vendi Score of matrices and features against `vendi_score` 0.0.3, in pairs.

python benchmarks/spectral.py --json benchmarks/results/spectral.json
"""

import statistics
import subprocess
import sys
import time
import tracemalloc
import warnings
from pathlib import Path

import evaluate
import numpy as np
from pairs import agree, arguments, compare, environment, write

import vendiscore

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from vendi_score import vendi

ROOT = Path(__file__).resolve().parents[1]
warnings.filterwarnings("ignore", category=DeprecationWarning)


def embeddings(n: int, d: int, dtype: type = np.float64) -> np.ndarray:
    """Gaussian rows whose variances fall off as those of sentence embeddings do."""
    rng = np.random.default_rng(0)
    return (rng.standard_normal((n, d)) / np.sqrt(np.arange(1, d + 1)) + 0.1).astype(dtype)


def matrices(repeats: int) -> list[dict]:
    n = 5000
    X = embeddings(n, 384)
    X /= np.linalg.norm(X, axis=1)[:, None]
    noise = np.random.default_rng(1).standard_normal((n, 2 * n)) / np.sqrt(2 * n)
    K = 0.8 * X @ X.T + 0.2 * noise @ noise.T  # full rank
    K /= np.sqrt(np.outer(np.diag(K), np.diag(K)))
    rows = []
    for q in (1, 2, float("inf")):
        # The peer takes the string for the largest eigenvalue, and a number for all others.
        theirs = "inf" if q == float("inf") else q
        agree(vendiscore.score_K(K, q=q), vendi.score_K(K, q=theirs), rtol=1e-8)
        rows.append(
            compare(
                f"score_K, n = 5,000, q = {q:g}",
                lambda q=q: vendiscore.score_K(K, q=q),
                lambda q=theirs: vendi.score_K(K, q=q),
                repeats,
                n=n,
                dtype="float64",
            )
        )
    return rows


def features(repeats: int) -> list[dict]:
    X = embeddings(5000, 384)
    agree(vendiscore.score_X(X), vendi.score_X(X), rtol=1e-8)
    rows = [
        compare(
            "score_X, 5,000 × 384, q = 1",
            lambda: vendiscore.score_X(X),
            lambda: vendi.score_X(X),
            repeats,
            n=5000,
            d=384,
            dtype="float64",
        )
    ]
    X = embeddings(50_000, 512, np.float32)
    # The peer multiplies in single precision, with about four digits of the smallest shares.
    agree(vendiscore.score_dual(X), vendi.score_dual(X), rtol=1e-4)
    agree(vendiscore.score_dual(X), vendi.score_dual(X.astype(np.float64)), rtol=1e-8)
    rows.append(
        compare(
            "score_dual, 50,000 × 512 float32, q = 1",
            lambda: vendiscore.score_dual(X),
            lambda: vendi.score_dual(X),
            3 * repeats,
            n=50_000,
            d=512,
            dtype="float32",
        )
    )
    return rows


def through_evaluate(repeats: int) -> list[dict]:
    X = embeddings(20_000, 512)
    metric = evaluate.load(str(ROOT / "vendiscore.py"))

    def direct() -> float:
        return vendiscore.score_X(X)

    def loaded() -> float:
        return metric.compute(samples=X, score_X=True, normalize=True)["VS"]

    agree(loaded(), direct(), rtol=0)
    row = compare(
        "through evaluate, 20,000 × 512, q = 1", loaded, direct, 3 * repeats, n=20_000, d=512
    )
    for name, function in (("direct", direct), ("evaluate", loaded)):
        tracemalloc.start()
        function()
        row[f"peak_MB_{name}"] = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    print(
        f"peak memory beyond X ({X.nbytes / 1e6:.0f} MB): direct {row['peak_MB_direct']:.1f} MB, "
        f"through evaluate {row['peak_MB_evaluate']:.1f} MB"
    )
    return [row]


def importing(repeats: int) -> list[dict]:
    heavy = ("torch", "transformers", "sklearn", "matplotlib", "evaluate", "datasets")
    code = f"import vendiscore, sys; print([m for m in {heavy} if m in sys.modules])"
    seconds = []
    for _ in range(2 * repeats):
        bare = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        start = time.perf_counter()
        out = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT
        )
        seconds.append(time.perf_counter() - start - (start - bare))
    row = {"name": "import vendiscore", "ours_s": statistics.median(seconds)}
    print(f"import vendiscore: {row['ours_s']:.3f} s beyond Python's start")
    print(f"heavy packages it brings in: {out.stdout.strip()}")
    return [row]


if __name__ == "__main__":
    args = arguments(__doc__)
    groups = (importing, through_evaluate, features, matrices)
    results = [row for group in groups for row in group(args.repeats)]
    write(args.json, results, environment("vendi-score", "evaluate", "scikit-learn"))
