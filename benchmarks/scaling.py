"""Time and memory against n, ours and `vendi_score` 0.0.3's, as numbers and as a picture.

python benchmarks/scaling.py --json benchmarks/results/scaling.json

Scores of a similarity matrix, of features (d = 384) and of an RBF kernel (d = 32, σ = 1), of which
the peer is given the matrix that it needs, made by NumPy in the same time; and the estimate of the
last, to half a percent, where this version has it. Every call runs in a process of its own, by
turns, on samples that another one made, so that its peak of memory is its own. Scores agree before
anything is timed. The picture goes to docs/images/scaling.png.
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
from pairs import ROOT, agree, environment, record_mb, write

SIZES = (250, 500, 1000, 2000, 4000, 8000)
SIGMA = 1.0
RTOL = 1e-2  # that an estimate is asked for
PICTURE = ROOT / "docs" / "images" / "scaling.png"

Score = Callable[[np.ndarray], float]


def samples(series: str, n: int) -> np.ndarray:
    """Draw Gaussian rows of decreasing variances, (n, 384) of length 1 or (n, 32), or a matrix."""
    rng = np.random.default_rng(0)
    d = 32 if series.startswith("rbf") else 384
    X = rng.standard_normal((n, d)) / np.sqrt(np.arange(1, d + 1))
    if series.startswith("rbf"):
        return X
    if series == "score_X":
        return X / np.linalg.norm(X, axis=1)[:, None]
    return rbf(X)


def rbf(X: np.ndarray) -> np.ndarray:
    squares = (X * X).sum(axis=1)
    K = X @ X.T
    K *= 2
    K -= squares
    K -= squares[:, None]
    K /= 2 * SIGMA**2
    np.exp(K, out=K)
    np.fill_diagonal(K, 1)
    return K


def ours(series: str) -> Score:
    from vendiscore import compute, score_K, score_X

    if series == "score_K":
        return score_K
    if series == "score_X":
        return score_X
    how = {"method": "estimate", "rtol": RTOL, "seed": 0} if series == "rbf, estimate" else {}
    return lambda X: float(compute(X, k="rbf", sigma=SIGMA, **how)["VS"])


def theirs(series: str) -> Score:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from vendi_score import vendi

    if series == "score_K":
        return vendi.score_K
    if series == "score_X":
        return vendi.score_X
    return lambda X: vendi.score_K(rbf(X))


SIDES = {"ours": ours, "vendi_score": theirs}


def job(side: str, series: str, path: Path) -> None:
    """Return value, seconds and peaks of memory of one call, printed as JSON."""
    warnings.simplefilter("ignore")
    score = SIDES[side](series)
    score(samples(series, 20))  # all is imported before anything is timed
    given = np.load(path)
    before = record_mb()
    start = time.perf_counter()
    value = float(score(given))
    seconds = time.perf_counter() - start
    told = {"value": value, "seconds": seconds, "peak_mb": record_mb(), "before_mb": before}
    print(json.dumps(told))


def call(side: str, series: str, path: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--as", side, series, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{side}, {series}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def estimates() -> bool:
    """Return whether this version estimates at all."""
    try:
        ours("rbf, estimate")(samples("rbf", 20))
    except (TypeError, ValueError):
        return False
    return True


def measure(sizes: list[int], repeats: int) -> list[dict[str, Any]]:
    """Return rows of medians, one for each series and size."""
    series = {"score_K": ["score_K"], "score_X": ["score_X"], "rbf": ["rbf"]}
    if estimates():
        series["rbf"].append("rbf, estimate")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples.npy"
        for base, variants in series.items():
            for n in sizes:
                np.save(path, samples(base, n))
                ways = [*(("ours", name) for name in variants), ("vendi_score", base)]
                first = {way: call(*way, path) for way in ways}
                for way, result in first.items():
                    rtol = 2 * RTOL if way[1] == "rbf, estimate" else 1e-6
                    agree(result["value"], first[ways[-1]]["value"], rtol)
                runs: dict[tuple[str, str], list[dict[str, float]]] = {way: [] for way in ways}
                for _ in range(repeats):
                    for way in ways:
                        runs[way].append(call(*way, path))
                rows += [row(name, n, runs["ours", name], runs[ways[-1]]) for name in variants]
    return rows


def row(name: str, n: int, own: list[dict[str, float]], peer: list[dict[str, float]]) -> dict:
    told: dict[str, Any] = {"series": name, "n": n, "VS": own[0]["value"], "repeats": len(own)}
    for side, runs in (("ours", own), ("theirs", peer)):
        told[f"{side}_s"] = statistics.median(run["seconds"] for run in runs)
        for key in ("peak_mb", "before_mb"):
            told[f"{side}_{key}"] = statistics.median(run[key] for run in runs)
    ratios = [b["seconds"] / a["seconds"] for a, b in zip(own, peer, strict=True)]
    told["ratio"] = statistics.median(ratios)
    told["ratio_range"] = [min(ratios), max(ratios)]
    print(
        f"{name:<14} n = {n:>6,}   ours {told['ours_s']:8.4f} s {told['ours_peak_mb']:6.0f} MB   "
        f"theirs {told['theirs_s']:8.4f} s {told['theirs_peak_mb']:6.0f} MB   "
        f"{told['ratio']:6.2f} × ({min(ratios):.2f} to {max(ratios):.2f})",
        flush=True,
    )
    return told


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw seconds and megabytes against n, both axes logarithmic; the peer's lines are dashed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.4), dpi=130, layout="constrained")
    panels = figure.subplots(1, 2)
    for i, name in enumerate(dict.fromkeys(row["series"] for row in rows)):
        own = [row for row in rows if row["series"] == name]
        n = [row["n"] for row in own]
        for ax, key in zip(panels, ("s", "peak_mb"), strict=True):
            line = {"color": f"C{i}", "marker": "o", "ms": 3, "lw": 1.2}
            ax.plot(n, [row[f"ours_{key}"] for row in own], label=name, **line)
            if name != "rbf, estimate":
                theirs = [row[f"theirs_{key}"] for row in own]
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--picture", type=Path, default=PICTURE)
    parser.add_argument("--as", dest="job", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        side, series, path = given.job
        job(side, series, Path(path))
        return
    rows = measure(given.sizes, given.repeats)
    draw(rows, given.picture)
    write(given.json, rows, environment("vendi-score", "matplotlib"))


if __name__ == "__main__":
    main()
