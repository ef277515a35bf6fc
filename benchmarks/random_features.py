"""Random Fourier features against `seqme`'s FKEA at the same number: agreement, error, time.

FKEA lives in an environment of its own:

python3.11 -m venv peer && peer/bin/pip install seqme==0.5.1
python benchmarks/random_features.py --peer peer/bin/python \\
    --json benchmarks/results/random_features.json

Its `n_random_fourier_features` is what `n_features` is here, a cosine and a sine each; its
`bandwidth` is 2σ². First the exact scores of both have to agree. Then the error |log VS − exact|
is averaged over seeds, and whole scores are timed, by processes that take turns.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
SEEDS = 5
RTOL = 2e-4  # FKEA's eigenvalues are in single precision, and those below 1e-8 are raised to it


def ours(X: np.ndarray, sigma: float, n_features: int | None, seed: int) -> float:
    from vendiscore import compute

    features = {} if n_features is None else {"n_features": n_features, "seed": seed}
    return float(compute(X, k="rbf", sigma=sigma, **features)["VS"])


def fkea(X: np.ndarray, sigma: float, n_features: int | None, seed: int) -> float:
    from seqme.metrics import FKEA

    score = FKEA(
        lambda sequences: X,
        2 * sigma**2,
        alpha=1,
        n_random_fourier_features=n_features,
        seed=seed,
    )
    return float(score([""] * len(X)).value)


SIDES = {"ours": ours, "seqme": fkea}


def job(side: str, source: Path, target: Path) -> None:
    """Return scores and seconds of the calls that a file lists, after one small call."""
    with np.load(source) as given:
        arrays = {name: given[name] for name in given.files if name != "calls"}
        calls = json.loads(str(given["calls"]))
    SIDES[side](np.ones((8, 2), np.float32), 1.0, 4, 0)
    found = []
    for name, sigma, n_features, seed in calls:
        start = time.perf_counter()
        score = SIDES[side](arrays[name], sigma, n_features, seed)
        found.append((score, time.perf_counter() - start))
    target.write_text(json.dumps({"version": version(PACKAGES[side]), "found": found}))


PACKAGES = {"ours": "vendiscore", "seqme": "seqme"}


def run(side: str, python: str, sets: dict[str, np.ndarray], calls: list[Any]) -> dict[str, Any]:
    """Return what a process of one side found."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.json"
        np.savez(source, calls=json.dumps(calls), **sets)
        path = {"PYTHONPATH": str(HERE.parent)} if side == "ours" else {}
        subprocess.run(
            [python, __file__, "--job", side, str(source), str(target)],
            check=True,
            env={**os.environ, **path},
        )
        return json.loads(target.read_text())


def data() -> dict[str, tuple[np.ndarray, float]]:
    """Return sets of samples in float32 and widths: medians of distances, and half of them."""
    from scipy.spatial.distance import pdist
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(0)
    centres = 3 * rng.standard_normal((20, 32))
    sets = {
        "digits": load_digits().data,
        "normal, d = 2": rng.standard_normal((1000, 2)),
        "normal, d = 4": rng.standard_normal((1000, 4)),
        "normal, d = 16": rng.standard_normal((1000, 16)),
        "20 clusters, d = 32": centres[rng.integers(0, 20, 1000)] + rng.standard_normal((1000, 32)),
    }
    found = {}
    for name, X in sets.items():
        median = float(np.median(pdist(X)))
        found[name] = (X.astype(np.float32), median)
        found[f"{name}, narrow"] = (X.astype(np.float32), median / 2)
    return found


def errors(peer: str, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """Mean |log VS − exact log VS| of both over seeds, for each set and number of features."""
    given = data()
    sets = {name: X for name, (X, _) in given.items()}
    exact_calls = [(name, sigma, None, 0) for name, (_, sigma) in given.items()]
    cases = [(name, sigma, m) for m in sizes for name, (_, sigma) in given.items()]
    calls = [(*case, seed) for case in cases for seed in range(SEEDS)]
    scores = {}
    for side, python in (("ours", sys.executable), ("seqme", peer)):
        found = run(side, python, sets, [*exact_calls, *calls])["found"]
        scores[side] = np.array([score for score, _ in found])
    exact = {side: found[: len(given)] for side, found in scores.items()}
    np.testing.assert_allclose(exact["ours"], exact["seqme"], rtol=RTOL)
    logs = {side: np.log(s[len(given) :]).reshape(-1, SEEDS) for side, s in scores.items()}
    rows = []
    for at, (name, _, m) in enumerate(cases):
        truth = float(np.log(exact["ours"][at % len(given)]))
        gaps = {side: float(np.abs(log[at] - truth).mean()) for side, log in logs.items()}
        closer = gaps["seqme"] / gaps["ours"]
        row = {"name": name, "n_features": m, "exact_log_VS": truth, "seeds": SEEDS}
        rows.append({**row, "ours": gaps["ours"], "seqme": gaps["seqme"], "times_closer": closer})
        print(
            f"{name:<30} {m:>5} features  exact log VS {truth:6.3f}  error ours "
            f"{gaps['ours']:.5f}  seqme {gaps['seqme']:.5f}  {closer:5.2f} × closer",
            flush=True,
        )
    return rows


def times(peer: str, repeats: int) -> Iterator[dict[str, Any]]:
    """Yield seconds of a score of order 1 from float32 rows, processes by turns."""
    for n, d, m in ((5_000, 64, 512), (20_000, 64, 512), (20_000, 384, 1024), (20_000, 64, 2048)):
        X = np.random.default_rng(0).standard_normal((n, d)).astype(np.float32)
        sets, calls = {"X": X}, [("X", float(np.sqrt(2 * d)), m, 0)]
        seconds: dict[str, list[float]] = {"ours": [], "seqme": []}
        for _ in range(repeats):
            for side, python in (("ours", sys.executable), ("seqme", peer)):
                seconds[side].append(run(side, python, sets, calls)["found"][0][1])
        ratios = [b / a for a, b in zip(seconds["ours"], seconds["seqme"], strict=True)]
        row: dict[str, Any] = {
            "name": f"random features of RBF, {n:,} × {d}, {m} of them",
            "n": n,
            "d": d,
            "n_features": m,
        }
        row |= {
            "ours_s": statistics.median(seconds["ours"]),
            "theirs_s": statistics.median(seconds["seqme"]),
            "times_faster": statistics.median(ratios),
            "ratio_range": [min(ratios), max(ratios)],
        }
        print(
            f"{row['name']:<30} ours {row['ours_s']:7.3f} s   seqme {row['theirs_s']:7.3f} s   "
            f"{row['times_faster']:6.2f} × ({min(ratios):.2f} to {max(ratios):.2f})",
            flush=True,
        )
        yield {**row, "repeats": repeats}


def main() -> None:
    if sys.argv[1:2] == ["--job"]:
        job(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
        return
    from pairs import environment, write

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", required=True, help="a Python that has seqme")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    versions = {**environment("scikit-learn"), "seqme": run("seqme", given.peer, {}, [])["version"]}
    rows = errors(given.peer, (128, 512))
    write(given.json, rows, versions)
    for row in times(given.peer, given.repeats):
        rows.append(row)
        write(given.json, rows, versions)


if __name__ == "__main__":
    main()
