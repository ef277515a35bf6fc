"""The twin property: Limbeck et al., arXiv 2311.16054, Figure S.5.

100 points in the plane to which copies of themselves are added, up to five times as many. A
measure of how many different points there are must not change. The paper's figure shows MagArea
constant and the others drifting; the numbers here are relative to those without copies.

python benchmarks/papers/magnitude_twins.py --json benchmarks/results/magnitude_twins.json
"""

import argparse
from pathlib import Path

import numpy as np
from common import write

from vendiscore import compute
from vendiscore.magnitude.area import mag_area

MEASURES = ("MagArea", "VS", "AvgSim", "GMStds")
COPIES = (0, 50, 100, 200, 400)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--draws", type=int, default=20)
    options = parser.parse_args()
    ratios = np.empty((options.draws, len(MEASURES), len(COPIES)))
    for draw in range(options.draws):
        rng = np.random.default_rng(draw)
        X = rng.standard_normal((100, 2))
        # Copies fall on few of the points, as they do when a generator repeats itself.
        copies = X[rng.choice(20, COPIES[-1])]
        for j, count in enumerate(COPIES):
            Y = np.concatenate([X, copies[:count]])
            gaps = np.sqrt(((Y[:, None] - Y) ** 2).sum(-1))
            scores = compute(np.exp(-gaps), score_K=True, measures=["VS", "AvgSim"])
            scores |= {"MagArea": mag_area(Y), "GMStds": Y.std(axis=0).prod() ** 0.5}
            ratios[draw, :, j] = [scores[name] for name in MEASURES]
    ratios /= ratios[:, :, :1]
    print(f"{options.draws} draws of 100 points; with copies ÷ without, mean (largest change)")
    print(f"{'copies':<10}" + "".join(f"{count:<18}" for count in COPIES))
    rows = []
    for i, name in enumerate(MEASURES):
        mean, change = ratios[:, i].mean(axis=0), np.abs(ratios[:, i] - 1).max(axis=0)
        rows.append({"name": name, "copies": COPIES, "mean": list(mean), "change": list(change)})
        print(f"{name:<10}" + "".join(
            f"{f'{m:.3f} ({c:.1e})':<18}" for m, c in zip(mean, change, strict=True)))  # fmt: skip
    write(options.json, rows, draws=options.draws)


if __name__ == "__main__":
    main()
