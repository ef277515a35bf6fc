"""Magnitude against `magnipy` 1.0.0: agreement first, then time and peak memory in pairs.

The peer pins scipy 1.13, so it lives in an environment of its own (Python 3.10 to 3.12):

python3.11 -m venv peer && peer/bin/pip install magnipy==1.0.0
python benchmarks/magnitude.py --peer peer/bin/python --json benchmarks/results/magnitude.json

Every job runs in a process of its own, ours and theirs by turns. Besides normal clouds, which have
no structure, features of real images: 2,000 patches of 32 × 32 pixels, drawn with seed 0 by turns
from the two colour photographs that come with scikit-learn, each described by the means of 8 × 8
pixels in three colours (d = 48, from 0 to 1).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from pairs import environment, write
from sklearn.datasets import load_digits, load_sample_images, make_blobs, make_swiss_roll

HERE = Path(__file__).resolve().parent
RTOL = 1e-6


def patches(n: int) -> np.ndarray:
    """Return means of the cells of 8 × 8 pixels of n patches of photographs, (n, 48)."""
    rng = np.random.default_rng(0)
    photographs = load_sample_images().images
    rows = []
    for i in range(n):
        photograph = photographs[i % len(photographs)]
        height, width, colours = photograph.shape
        y, x = rng.integers(0, height - 31), rng.integers(0, width - 31)
        patch = photograph[y : y + 32, x : x + 32] / 255
        rows.append(patch.reshape(4, 8, 4, 8, colours).mean(axis=(1, 3)).ravel())
    return np.array(rows)


def run(side: str, python: str, jobs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the results of the jobs, run by one interpreter in a new process."""
    arrays: dict[str, Any] = {}
    listed = []
    for job in jobs:
        entry = {}
        for name, value in job.items():
            if isinstance(value, np.ndarray):
                arrays[f"a{len(arrays)}"] = value
                value = f"@a{len(arrays) - 1}"
            entry[name] = value
        listed.append(entry)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, jobs=json.dumps(listed), **arrays)
        path = {"PYTHONPATH": str(HERE.parent)} if side == "ours" else {}
        subprocess.run(
            [python, str(HERE / "magnitude_job.py"), side, str(source), str(target)],
            check=True,
            env={**os.environ, **path, "TQDM_DISABLE": "1"},
        )
        with np.load(target) as results:
            return {name: results[name] for name in results.files}


def agreement(peer: str) -> list[dict[str, Any]]:
    """Return relative differences on real and synthetic data; stops if one is above 1e-6."""
    digits = load_digits()
    data = {f"digits {c}": digits.data[digits.target == c] for c in range(10)}
    cases = [(f"{name}, {m}", X, m) for m in ("euclidean", "cosine") for name, X in data.items()]
    cases.append(("Swiss roll", make_swiss_roll(1000, random_state=0)[0], "euclidean"))
    for d in (2, 10):
        X = make_blobs(1000, d, centers=5, random_state=0)[0]
        cases.append((f"blobs in {d} dimensions", X, "euclidean"))
    X = patches(1200)
    cases += [("photographs, part 1", X[:600], "euclidean")]
    cases += [("photographs, part 2", X[600:], "euclidean")]
    # The reference of a MagDiff: the case before, of the same kind of data.
    jobs = []
    for i, (_, X, metric) in enumerate(cases):
        job = {"X": X, "metric": metric, "n_scales": 30, "weights": True}
        if i and cases[i - 1][2] == metric and cases[i - 1][1].shape[1] == X.shape[1]:
            job["reference"] = cases[i - 1][1]
        jobs.append(job)
    theirs = run("magnipy", peer, jobs)
    for i, job in enumerate(jobs):
        # At their cut-offs, which are theirs to 1e-5: see t_conv for how far ours are.
        del job["weights"]
        job |= {"t_cut": float(theirs[f"{i}.t_conv"]), "scales": theirs[f"{i}.scales"]}
        if "reference" in job:
            job["reference_cut"] = float(theirs[f"{i}.reference_cut"])
    ours = run("ours", sys.executable, jobs)
    rows = []
    print(f"{'relative difference':<26} t_conv  MagArea  MagDiff  absolute  weights (largest)")
    for i, (name, X, metric) in enumerate(cases):
        row: dict[str, Any] = {"name": name, "n": len(X), "d": X.shape[1], "metric": metric}
        for key in ("t_conv", "MagArea", "MagDiff", "absolute", "weights"):
            a, b = ours.get(f"{i}.{key}"), theirs.get(f"{i}.{key}")
            if a is not None and b is not None:
                row[key] = float(np.max(np.abs(a - b)) / np.max(np.abs(b)))
        row["perturbed"] = str(theirs[f"{i}.log"]).count("perturbing")
        rows.append(row)
        shown = [f"{row[key]:.1e}" if key in row else "      –" for key in
                 ("t_conv", "MagArea", "MagDiff", "absolute", "weights")]  # fmt: skip
        print(f"{name:<26}", "  ".join(shown), f"  perturbed {row['perturbed']}", flush=True)
        for key in ("MagArea", "MagDiff", "absolute", "weights"):
            if row.get(key, 0) > RTOL and not row["perturbed"]:
                raise SystemExit(f"{name}: {key} differs by {row[key]:.1e}")
    return rows


def speed(peer: str, sizes: list[int], dimensions: list[int], repeats: int) -> list[dict[str, Any]]:
    """Time MagArea with 30 scales, t_conv included, of Gaussian points and of patches of photos."""
    rows = []
    for d in [*dimensions, None]:
        for n in sizes:
            if d is None:
                X, what = patches(n), "patches of photographs (d = 48)"
            else:
                X, what = np.random.default_rng(0).standard_normal((n, d)), f"{d} dimensions"
            job = {"X": X, "metric": "euclidean", "n_scales": 30}
            pairs = []
            for _ in range(repeats):
                pairs.append((run("ours", sys.executable, [job]), run("magnipy", peer, [job])))
                for key in ("MagArea", "t_conv"):
                    np.testing.assert_allclose(*(side[f"0.{key}"] for side in pairs[-1]), rtol=1e-5)
            seconds = [[float(side["0.seconds"]) for side in pair] for pair in pairs]
            ratios = [b / a for a, b in seconds]
            row = {
                "name": f"MagArea, 30 scales, n = {n:,}, {what}",
                "n": n,
                "d": X.shape[1],
                "dtype": "float64",
                "ours_s": statistics.median(a for a, _ in seconds),
                "theirs_s": statistics.median(b for _, b in seconds),
                "times_faster": statistics.median(ratios),
                "ratio_range": [min(ratios), max(ratios)],
                "repeats": repeats,
                "ours_solves": json.loads(str(pairs[0][0]["0.log"])),
                "MagArea_difference": abs(
                    float(pairs[0][0]["0.MagArea"]) / float(pairs[0][1]["0.MagArea"]) - 1
                ),
            }
            for key in ("peak_mb", "imported_mb"):
                for side, name in enumerate(("ours", "theirs")):
                    row[f"{name}_{key}"] = max(float(pair[side][key]) for pair in pairs)
            rows.append(row)
            print(
                f"{row['name']:<62} ours {row['ours_s']:7.2f} s   theirs {row['theirs_s']:7.2f} s"
                f"   {row['times_faster']:.1f} × ({min(ratios):.1f} to {max(ratios):.1f})   peak "
                f"{row['ours_peak_mb']:.0f} MB of {row['theirs_peak_mb']:.0f} MB "
                f"({100 * row['ours_peak_mb'] / row['theirs_peak_mb']:.0f} %; after imports "
                f"{row['ours_imported_mb']:.0f} and {row['theirs_imported_mb']:.0f})  solves "
                f"{row['ours_solves']}",
                flush=True,
            )
    return rows


def large(n: int, dimensions: list[int]) -> list[dict[str, Any]]:
    """Return one run of ours alone at a size that the peer has no memory for."""
    rows = []
    for d in dimensions:
        X = np.random.default_rng(0).standard_normal((n, d))
        result = run("ours", sys.executable, [{"X": X, "metric": "euclidean", "n_scales": 30}])
        row = {
            "name": f"MagArea, 30 scales, n = {n:,}, {d} dimensions, ours alone",
            "n": n,
            "d": d,
            "ours_s": float(result["0.seconds"]),
            "ours_peak_mb": float(result["peak_mb"]),
            "ours_solves": json.loads(str(result["0.log"])),
        }
        rows.append(row)
        print(
            f"{row['name']}: {row['ours_s']:.0f} s, peak {row['ours_peak_mb']:.0f} MB, solves "
            f"{row['ours_solves']}",
            flush=True,
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="an interpreter that has magnipy 1.0.0")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="*", default=[2000, 5000])
    parser.add_argument("--dimensions", type=int, nargs="*", default=[10, 2])
    parser.add_argument("--large", type=int, help="also time ours alone at this size, 20000 say")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if options.peer:
        rows += agreement(options.peer)
        rows += speed(options.peer, options.sizes, options.dimensions, options.repeats)
    if options.large:
        rows += large(options.large, options.dimensions)
    write(options.json, rows, {**environment("scikit-learn"), "peer": "magnipy 1.0.0"})


if __name__ == "__main__":
    main()
