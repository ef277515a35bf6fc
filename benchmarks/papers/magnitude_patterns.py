"""Four patterns in the plane, ranked: Limbeck et al., arXiv 2311.16054, Figure 1 and Table S.2.

200 points each in [0, 2]²: uniform (X1), a clustered Hawkes process (X2), two Gaussians (X3), one
Gaussian (X4), the first the most diverse. MagArea is taken over a common interval (the median of
the four convergence scales). Printed is in how many draws each measure finds this order; the mean
similarity and the geometric mean of standard deviations see how far apart points are on average,
not how they clump.

python benchmarks/papers/magnitude_patterns.py --json benchmarks/results/magnitude_patterns.json
"""

import argparse
from pathlib import Path

import numpy as np
from common import write

from vendiscore import compute
from vendiscore.magnitude.area import mag_areas

NAMES = ("X1 uniform", "X2 Hawkes", "X3 two Gaussians", "X4 one Gaussian")
MEASURES = ("MagArea", "VS", "AvgSim", "GMStds")


def hawkes(n: int, rng: np.random.Generator) -> np.ndarray:
    """n points of a spatial Hawkes process on [0, 2]²: 91 centres, 0.6 offspring a point."""
    points: list[np.ndarray] = []
    while len(points) < n:
        points = list(rng.random((rng.poisson(91), 2)))
        for point in points:  # offspring have offspring
            points.extend(point + 0.02 * rng.random((rng.poisson(0.6), 2)))
    return 2 * np.array(points[:n])


def patterns(n: int, rng: np.random.Generator) -> list[np.ndarray]:
    deviation = np.sqrt(0.02)
    low, high = np.array([0.5, 0.5]), np.array([1.5, 1.5])
    half = n // 2
    two = [low + deviation * rng.standard_normal((half, 2)),
           high + deviation * rng.standard_normal((n - half, 2))]  # fmt: skip
    one = low + deviation * rng.standard_normal((n, 2))
    sets = [2 * rng.random((n, 2)), hawkes(n, rng), np.concatenate(two), one]
    return [np.clip(X, 0, 2) for X in sets]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--points", type=int, default=200)
    options = parser.parse_args()
    values = np.empty((options.draws, len(MEASURES), len(NAMES)))
    for draw in range(options.draws):
        sets = patterns(options.points, np.random.default_rng(draw))
        values[draw, 0] = mag_areas(sets, average=True)
        for j, X in enumerate(sets):
            # exp(−distance) as in Table S.1, here with Euclidean distances.
            gaps = np.sqrt(((X[:, None] - X) ** 2).sum(-1))
            K = np.exp(-gaps)
            scores = compute(K, score_K=True, measures=["VS", "AvgSim"])
            scores |= {"GMStds": X.std(axis=0).prod() ** 0.5}
            values[draw, 1:, j] = [scores[name] for name in MEASURES[1:]]
    print(f"{options.draws} draws of {options.points} points, mean (standard deviation)")
    print(f"{'':<10}" + "".join(f"{name:<22}" for name in NAMES) + "right order")
    rows = []
    for i, name in enumerate(MEASURES):
        signed = -values[:, i] if name == "AvgSim" else values[:, i]
        right = (np.diff(signed, axis=1) < 0).all(axis=1)
        mean, std = values[:, i].mean(axis=0), values[:, i].std(axis=0)
        rows.append(
            {"name": name, "mean": list(mean), "std": list(std), "right_order": int(right.sum())}
        )
        cells = "".join(f"{f'{m:.3f} ({s:.3f})':<22}" for m, s in zip(mean, std, strict=True))
        print(f"{name:<10}{cells}{right.sum()} of {options.draws}")
    write(options.json, rows, draws=options.draws, points=options.points)


if __name__ == "__main__":
    main()
