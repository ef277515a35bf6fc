"""Time and memory of vendiscore and `vendi_score` 0.0.3 against n, as rows and as a figure.

python benchmarks/scaling.py --json benchmarks/results/scaling.json

The calls score a similarity matrix, features (d = 384), and vectors with an RBF kernel (d = 32,
σ = 1). `vendi_score` needs a matrix, which NumPy computes within the measured time. The RBF kernel
is also scored with `method="estimate"` and rtol = 0.01. Each call runs in a separate process, so
its peak memory is measured separately, and calls of both packages alternate. Values are compared
before anything is timed. The figure is docs/images/scaling.png.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pairs import ROOT, assert_close, collect_environment, peak_process_memory, write_results

SIZES = (250, 500, 1000, 2000, 4000, 8000)
SIGMA = 1.0
RTOL = 1e-2  # of estimates
PICTURE = ROOT / "docs" / "images" / "scaling.png"

ScoreFunction = Callable[[np.ndarray], float]


def make_samples(series: str, n: int) -> np.ndarray:
    """Draw n Gaussian rows of decreasing variances: 384 columns and length 1, 32 columns, or K."""
    rng = np.random.default_rng(0)
    d = 32 if series.startswith("rbf") else 384
    X = rng.standard_normal((n, d)) / np.sqrt(np.arange(1, d + 1))
    if series.startswith("rbf"):
        return X
    if series == "score_X":
        return X / np.linalg.norm(X, axis=1)[:, None]
    return rbf_matrix(X)


def rbf_matrix(X: np.ndarray) -> np.ndarray:
    """Return the RBF similarity matrix, computed in place to limit memory."""
    squares = (X * X).sum(axis=1)
    K = X @ X.T
    K *= 2
    K -= squares
    K -= squares[:, None]
    K /= 2 * SIGMA**2
    np.exp(K, out=K)
    np.fill_diagonal(K, 1)
    return K


def make_package_score(series: str) -> ScoreFunction:
    """Return our function for the score of a series."""

    from vendiscore import compute, score_K, score_X

    if series == "score_K":
        return score_K
    if series == "score_X":
        return score_X
    options = {"method": "estimate", "rtol": RTOL, "seed": 0} if series == "rbf, estimate" else {}
    return lambda X: float(compute(X, k="rbf", sigma=SIGMA, **options)["VS"])


def make_peer_score(series: str) -> ScoreFunction:
    """Return the function of vendi_score for the score of a series."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from vendi_score import vendi

    if series == "score_K":
        return vendi.score_K
    if series == "score_X":
        return vendi.score_X
    return lambda X: vendi.score_K(rbf_matrix(X))


MAKE_SCORE = {"ours": make_package_score, "vendi_score": make_peer_score}


def run_job(side: str, series: str, path: Path) -> None:
    """Run one call; print the value, the seconds and the peak memory as JSON."""
    warnings.simplefilter("ignore")
    score = MAKE_SCORE[side](series)
    score(make_samples(series, 20))  # warm-up: import modules
    data = np.load(path)
    before = peak_process_memory()
    start = time.perf_counter()
    value = float(score(data))
    seconds = time.perf_counter() - start
    record = {
        "value": value,
        "seconds": seconds,
        "peak_mb": peak_process_memory(),
        "before_mb": before,
    }
    print(json.dumps(record))


def run_call(side: str, series: str, path: Path) -> dict[str, float]:
    """Measure a call of vendiscore or of its peer (`side`) in a new process."""
    command = [sys.executable, __file__, "--as", side, series, str(path)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise SystemExit(f"{side}, {series}: {process.stderr[-2000:]}")
    return json.loads(process.stdout.splitlines()[-1])


def can_estimate() -> bool:
    """Return whether this version supports estimates."""
    try:
        make_package_score("rbf, estimate")(make_samples("rbf", 20))
    except (TypeError, ValueError):
        return False
    return True


def compute_rows(sizes: list[int], repeats: int) -> list[dict[str, Any]]:
    """Return rows of medians, one for each series and size."""
    series = {"score_K": ["score_K"], "score_X": ["score_X"], "rbf": ["rbf"]}
    if can_estimate():
        series["rbf"].append("rbf, estimate")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples.npy"
        for base, variants in series.items():
            for n in sizes:
                np.save(path, make_samples(base, n))
                variant_keys = [*(("ours", name) for name in variants), ("vendi_score", base)]
                first = {variant_key: run_call(*variant_key, path) for variant_key in variant_keys}
                for variant_key, result in first.items():
                    rtol = 2 * RTOL if variant_key[1] == "rbf, estimate" else 1e-6
                    assert_close(result["value"], first[variant_keys[-1]]["value"], rtol)
                runs: dict[tuple[str, str], list[dict[str, float]]] = {
                    variant_key: [] for variant_key in variant_keys
                }
                for _ in range(repeats):
                    for variant_key in variant_keys:
                        runs[variant_key].append(run_call(*variant_key, path))
                rows += [
                    make_row(name, n, runs["ours", name], runs[variant_keys[-1]])
                    for name in variants
                ]
    return rows


def make_row(
    name: str, n: int, own_runs: list[dict[str, float]], peer_runs: list[dict[str, float]]
) -> dict:
    """Return medians of seconds and memory over paired runs, and print them."""
    record: dict[str, Any] = {
        "series": name,
        "n": n,
        "VS": own_runs[0]["value"],
        "repeats": len(own_runs),
    }
    for side, runs in (("ours", own_runs), ("theirs", peer_runs)):
        record[f"{side}_s"] = statistics.median(run["seconds"] for run in runs)
        for key in ("peak_mb", "before_mb"):
            record[f"{side}_{key}"] = statistics.median(run[key] for run in runs)
    ratios = [b["seconds"] / a["seconds"] for a, b in zip(own_runs, peer_runs, strict=True)]
    record["ratio"] = statistics.median(ratios)
    record["ratio_range"] = [min(ratios), max(ratios)]
    print(
        f"{name:<14} n = {n:>6,}   ours {record['ours_s']:8.4f} s {record['ours_peak_mb']:6.0f} "
        "MB   "
        f"theirs {record['theirs_s']:8.4f} s {record['theirs_peak_mb']:6.0f} MB   "
        f"{record['ratio']:6.2f} × ({min(ratios):.2f} to {max(ratios):.2f})",
        flush=True,
    )
    return record


def draw_picture(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw seconds and megabytes against n on logarithmic axes; lines of the other package are
    dashed.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.4), dpi=130, layout="constrained")
    panels = figure.subplots(1, 2)
    for i, name in enumerate(dict.fromkeys(row["series"] for row in rows)):
        series_rows = [row for row in rows if row["series"] == name]
        n = [row["n"] for row in series_rows]
        for ax, key in zip(panels, ("s", "peak_mb"), strict=True):
            line = {"color": f"C{i}", "marker": "o", "ms": 3, "lw": 1.2}
            ax.plot(n, [row[f"ours_{key}"] for row in series_rows], label=name, **line)
            if name != "rbf, estimate":
                theirs = [row[f"theirs_{key}"] for row in series_rows]
                ax.plot(n, theirs, ls="--", label=f"{name}, vendi_score", **line)
    for ax, label in zip(panels, ("seconds", "peak memory of the process, MB"), strict=True):
        ax.set(xscale="log", yscale="log", xlabel="samples", ylabel=label)
        sizes = sorted({row["n"] for row in rows})
        ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
        ax.minorticks_off()
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(True, which="major", lw=0.3)
    panels[0].legend(frameon=False, fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})


def main() -> None:
    """Run the benchmark, print its results, and write them to the file of `--json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--picture", type=Path, default=PICTURE)
    parser.add_argument("--as", dest="job", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        side, series, path = options.job
        run_job(side, series, Path(path))
        return
    rows = compute_rows(options.sizes, options.repeats)
    draw_picture(rows, options.picture)
    write_results(options.json, rows, collect_environment("vendi-score", "matplotlib"))


if __name__ == "__main__":
    main()
