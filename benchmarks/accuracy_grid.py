"""Errors of log VS of float32 unit rows against float64, relative to the allowed error.

    python benchmarks/accuracy_grid.py --json benchmarks/results/accuracy.json
    python benchmarks/accuracy_grid.py --widths 384 1024 --sizes 2000 --seeds 2

Most sets are those of tests/helpers/hard_sets.py, for which float32 products or eigenvalues are
least accurate: a flat tail at noise level below one, two, three and ten large eigenvalues,
collapsed sets with up to 30 outliers, and identical rows in 2, 3 and 10 clusters. The others have
ordinary spectra, for which single precision should be used. Each set is scored at orders 1, 2 and
∞, by `score_X` and by one call of `compute` for all orders. The exit status is 1 if an error
exceeds max(1e-8, min(2e-5, 1 % of log VS)).
"""

import argparse
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from pairs import collect_environment, write_results

from vendiscore import FeatureSimilarity, compute, score_X
from vendiscore.spectral.vendi_scores import compute_vendi_scores

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from hard_sets import CASES, ORDERS, error_ratio, exact_log_scores, hard_rows, unit_rows

WIDTHS = (384, 768, 1024, 1536, 2048, 3072)
SIZES = (1000, 2000, 5000, 10_000, 20_000)
NOISE = (0.003, 0.009)  # of the flat tail
ORDINARY = ("flat", "1/i", "exp(-i/60)", "exp(-i/20)")


def spectrum_rows(name: str, n: int, d: int, seed: int) -> np.ndarray:
    """Return unit rows in general position with the spectrum that `name` describes."""
    rng = np.random.default_rng(seed)
    i = np.arange(d)
    variances = {
        "flat": np.ones(d),
        "1/i": 1 / (i + 1),
        "exp(-i/60)": np.exp(-i / 60),
        "exp(-i/20)": np.exp(-i / 20),
    }[name]
    rotation = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return unit_rows(rng.standard_normal((n, d)) * np.sqrt(variances) @ rotation)


def iter_sets(n: int, d: int, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name and the rows of each set of this size."""
    for case in CASES:
        for noise in NOISE if case.endswith("large") else (0.0,):
            name = f"{case}, noise {noise:g}" if noise else case
            yield name, hard_rows(case, n, d, seed, noise)
    for name in ORDINARY:
        yield name, spectrum_rows(name, n, d, seed)


def measure_errors(name: str, X: np.ndarray, seed: int) -> dict[str, object]:
    """Return the largest error of each entry point for a set, relative to the allowed error."""
    exact = exact_log_scores(X)
    function_scores = [score_X(X, q) for q in ORDERS]
    by_order = compute(X, k="cosine", q=ORDERS)
    compute_scores = [by_order[f"VS_q{q:g}"] for q in ORDERS]
    spectrum = compute_vendi_scores(FeatureSimilarity(X).normalized(), [1.0]).spectrum
    row: dict[str, object] = {
        "name": name,
        "n": len(X),
        "d": X.shape[1],
        "seed": seed,
        "single": spectrum is not None and spectrum.single_precision,
    }
    for route, scores in (("score_X", function_scores), ("compute", compute_scores)):
        pairs = zip(scores, exact, strict=True)
        row[f"{route}_ratios"] = [error_ratio(score, log_score) for score, log_score in pairs]
        row[f"{route}_errors"] = [
            abs(math.log(score) - log_score) for score, log_score in zip(scores, exact, strict=True)
        ]
    row["worst"] = max(map(max, (row["score_X_ratios"], row["compute_ratios"])))  # type: ignore
    return row


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--widths", type=int, nargs="+", default=WIDTHS)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = []
    for d in arguments.widths:
        for n in arguments.sizes:
            start = time.perf_counter()
            cell_rows = [
                measure_errors(name, X, seed)
                for seed in range(arguments.seeds)
                for name, X in iter_sets(n, d, seed)
            ]
            rows += cell_rows
            worst = max(cell_rows, key=lambda row: row["worst"])
            n_single = sum(row["single"] for row in cell_rows)
            ordinary = [row for row in cell_rows if row["name"] in ORDINARY]
            n_single_ordinary = sum(row["single"] for row in ordinary)
            print(
                f"{n:>6,} × {d:<5,} worst {worst['worst']:.3f} ({worst['name']}); single precision "
                f"in {n_single} of {len(cell_rows)} sets, {n_single_ordinary} of {len(ordinary)} "
                "ordinary ones; "
                f"{time.perf_counter() - start:.0f} s",
                flush=True,
            )
    worst = max(rows, key=lambda row: row["worst"])
    print(
        f"{len(rows)} sets, {6 * len(rows)} scores: the worst error is {worst['worst']:.3f} of "
        f"the allowed error ({worst['name']}, {worst['n']:,} × {worst['d']:,})"
    )
    write_results(arguments.json, rows, collect_environment())
    sys.exit(worst["worst"] > 1)


if __name__ == "__main__":
    main()
