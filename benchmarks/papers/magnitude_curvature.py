"""Curvature from the magnitude of disks: Limbeck et al., arXiv 2311.16054, §5 and Table 1.

201 geodesic disks of radius 1 and constant curvature −2 … 2, 500 uniform points each, geodesic
distances, MagArea over 30 even scales up to t = 73; five-fold cross-validation of the curvature
predicted from that one number. The paper does not say how many pieces its piecewise linear
regression has; three are used here.

python benchmarks/papers/magnitude_curvature.py --json benchmarks/results/magnitude_curvature.json
"""

import argparse
import time
from pathlib import Path

import numpy as np
from common import write
from sklearn.linear_model import LinearRegression, QuantileRegressor
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

from vendiscore.magnitude.area import mag_area

PAPER = {"piecewise linear": (0.05, 0.03), "quantile": (0.10, 0.05)}


def disk(curvature: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """Geodesic distances of n uniform points of a unit disk of constant curvature."""
    u, angle = rng.random(n), rng.random(n) * 2 * np.pi
    gap = np.cos(angle[:, None] - angle)
    if curvature == 0:
        r = np.sqrt(u)
        squares = r[:, None] ** 2 + r**2 - 2 * np.outer(r, r) * gap
        D = np.sqrt(np.maximum(squares, 0))
    else:
        s = np.sqrt(abs(curvature))
        cos, sin, arccos = (
            (np.cos, np.sin, lambda x: np.arccos(np.clip(x, -1, 1)))
            if curvature > 0
            else (np.cosh, np.sinh, lambda x: np.arccosh(np.maximum(x, 1)))
        )
        # The area within radius r grows as |1 − cos(sr)|; distances by the law of cosines.
        r = arccos(1 - u * (1 - cos(s))) / s
        sign = 1 if curvature > 0 else -1
        D = arccos(np.outer(cos(s * r), cos(s * r)) + sign * np.outer(sin(s * r), sin(s * r)) * gap)
        D /= s
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0)
    return D


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--disks", type=int, default=201)
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    curvatures = np.linspace(-2, 2, options.disks)
    start = time.perf_counter()
    areas = np.array(
        [
            mag_area(disk(kappa, options.points, rng), metric="precomputed", t_cut=73.0)
            for kappa in curvatures
        ]
    )
    seconds = time.perf_counter() - start
    models = {
        "piecewise linear": make_pipeline(
            SplineTransformer(n_knots=4, degree=1, knots="quantile", extrapolation="linear"),
            LinearRegression(),
        ),
        "quantile": make_pipeline(StandardScaler(), QuantileRegressor(quantile=0.5, alpha=0)),
    }
    folds = KFold(5, shuffle=True, random_state=options.seed)
    rows = []
    print(f"{options.disks} disks of {options.points} points, {seconds:.0f} s")
    for name, model in models.items():
        errors = -cross_val_score(
            model, areas[:, None], curvatures, cv=folds, scoring="neg_mean_squared_error"
        )
        mean, deviation = PAPER[name]
        rows.append({"name": name, "mse": errors.mean(), "std": errors.std(), "paper": PAPER[name]})
        print(
            f"{name:<18} MSE {errors.mean():.3f} ± {errors.std():.3f}"
            f"   paper {mean:.2f} ± {deviation:.2f}"
        )
    write(options.json, rows, seconds=seconds, disks=options.disks, points=options.points)


if __name__ == "__main__":
    main()
