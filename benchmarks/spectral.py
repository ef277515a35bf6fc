"""The Vendi Score of matrices and features against `vendi_score` 0.0.3, in pairs.

python benchmarks/spectral.py --json benchmarks/results/spectral.json
"""

import contextlib
import io
import math
import re
import statistics
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections.abc import Iterator
from pathlib import Path

import evaluate
import numpy as np
from pairs import PAUSE, agree, arguments, compare, environment, write

import vendiscore
from vendiscore import FeatureSimilarity, effective_number, progress
from vendiscore.spectral.vendi_scores import spectrum
from vendiscore.spectral.vendi_scores import vendi as find

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from vendi_score import vendi

ROOT = Path(__file__).resolve().parents[1]
warnings.filterwarnings("ignore", category=DeprecationWarning)
warnings.filterwarnings("ignore", message=".*eigenvalues below")  # at order 0.5


def embeddings(n: int, d: int, dtype: type = np.float64) -> np.ndarray:
    """Return Gaussian rows whose variances fall off as in sentence embeddings."""
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
    agree(vendiscore.score_dual(X), vendi.score_dual(X.astype(np.float64)), rtol=2e-5)
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


def spectra(n: int, d: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield float32 rows of unit length whose spectra fall off in ways that data's do."""
    rng = np.random.default_rng(0)

    def normal(width: int = d) -> np.ndarray:
        return rng.standard_normal((n, width))

    i, turn = np.arange(d), np.linalg.qr(rng.standard_normal((d, d)))[0]
    centres = 2 * rng.standard_normal((20, d))
    digits = np.round(30 * np.maximum(normal(40) @ rng.standard_normal((40, d)) - 6, 0))
    makers = {
        "flat": normal,
        "exponential, exp(-i/60) in columns": lambda: normal() * np.exp(-i / 60),
        "exponential, exp(-i/60)": lambda: normal() * np.exp(-i / 60) @ turn,
        "exponential, exp(-i/20)": lambda: normal() * np.exp(-i / 20) @ turn,
        "exponential, exp(-i/200)": lambda: normal() * np.exp(-i / 200) @ turn,
        "power law, 1/i": lambda: normal() / np.sqrt(i + 1) @ turn,
        "power law, 1/i²": lambda: normal() / (i + 1) @ turn,
        "of rank 64": lambda: normal(64) @ rng.standard_normal((64, d)),
        "one dominant direction": lambda: normal() * np.where(i == 0, 60, 1) @ turn,
        "clustered": lambda: centres[rng.integers(0, 20, n)] + normal() * np.exp(-i / 100) @ turn,
        "like digits": lambda: np.minimum(digits, 255) + (i == 0),
        "columns of very different scales": lambda: normal() * 10.0 ** rng.uniform(-6, 2, d),
        "a third of the columns zero": lambda: normal() / np.sqrt(i + 1) * (i % 3 > 0),
        "a large common mean": lambda: normal() / np.sqrt(i + 1) @ turn + rng.standard_normal(d),
    }
    for name, make in makers.items():
        X = make()
        yield name, (X / np.linalg.norm(X, axis=1)[:, None]).astype(np.float32)


def single_precision(repeats: int) -> list[dict]:
    """Compare with double precision, with the peer and with the product alone, in turns."""
    n, d, rows = 50_000, 512, []
    for name, X in spectra(n, d):
        similarity = FeatureSimilarity(X).normalized()
        exact = spectrum(similarity)
        title = f"score_X, {n:,} × {d} float32, {name}"
        row = {"name": title, "n": n, "d": d, "dtype": "float32", "orders": {}}
        for q in (0.5, 1.0, 2.0, 5.0, float("inf")):
            wanted = effective_number(exact, q)
            found = find(similarity, [q, 1.0])
            off = abs(math.log(found.values[0] / wanted))
            if off > max(1e-8, min(2e-5, 0.01 * math.log(wanted))):
                raise SystemExit(f"{name}, order {q:g}: {off:.1e} off")
            single = found.spectrum.single
            row["orders"][f"{q:g}"] = {"VS": wanted, "off": off, "single": single}
        calls = (lambda X: X.T @ X, vendiscore.score_X, vendi.score_dual)
        seconds: list[list[float]] = [[], [], []]
        for _ in range(repeats):
            for call, times in zip(calls, seconds, strict=True):
                time.sleep(PAUSE)
                start = time.perf_counter()
                call(X)
                times.append(time.perf_counter() - start)
        pairs = list(zip(*seconds, strict=True))
        row |= dict(
            zip(("product_s", "ours_s", "theirs_s"), map(statistics.median, seconds), strict=True)
        )
        row["of_product"] = statistics.median(ours / product for product, ours, _ in pairs)
        row["times_faster"] = statistics.median(theirs / ours for _, ours, theirs in pairs)
        of_orders = "  ".join(
            f"{q}: {each['off']:.0e}" if each["single"] else f"{q}: double"
            for q, each in row["orders"].items()
        )
        print(
            f"{name:<35} {row['of_product']:5.2f} × the product's time, {row['times_faster']:5.2f} "
            f"× as fast as the peer; off by {of_orders}",
            flush=True,
        )
        rows.append(row)
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


def foretold(repeats: int) -> list[dict]:
    """Compare the time that is announced before long work with the time it takes."""
    X = embeddings(2500, 1000)
    calls = {
        "all eigenvalues": lambda: vendiscore.compute(X, k="rbf", sigma=30),
        "eigenvectors": lambda: vendiscore.explain(X[:, :9], k="rbf", sigma=3),
        "a covariance": lambda: vendiscore.score_X(X.repeat(20, axis=0)),
        "magnitude": lambda: vendiscore.magnitude_function(X[:, :20], n_scales=10),
    }
    rows, announced = [], progress._LONG
    progress._LONG = 0.0  # of work that is not long, too
    try:
        for name, call in calls.items():
            ratios = []
            for _ in range(repeats):
                progress._rate.cache_clear()  # the machine's speed now
                heard, start = io.StringIO(), time.perf_counter()
                with contextlib.redirect_stderr(heard):
                    call()
                took = time.perf_counter() - start
                told = re.findall(r": about ([0-9.]+) (seconds|minutes)", heard.getvalue())
                seconds = sum(float(n) * (60 if unit == "minutes" else 1) for n, unit in told)
                ratios.append(seconds / took)
            ratio = statistics.median(ratios)
            rows.append({"name": f"foretold: {name}", "of_time": ratio, "seconds": took})
            print(f"{name:<20} {took:6.2f} s, announced as {ratio:.2f} times that", flush=True)
    finally:
        progress._LONG = announced
    return rows


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
    groups = (importing, through_evaluate, features, single_precision, foretold, matrices)
    results = [row for group in groups for row in group(args.repeats)]
    write(args.json, results, environment("vendi-score", "evaluate", "scikit-learn"))
