"""The twin property: Limbeck et al., arXiv 2311.16054, Figure S.5.

Copies are added to 100 points in the plane, up to five times as many points. A measure of how many
different points there are must not change. In the figure of the paper, MagArea is constant and
other measures drift; the values here are relative to those without copies. The paper does not state
which points are copied. Here, a few points are copied many times. As a null case, the same number
of *new* points is added, which MagArea must detect.
"""

from pathlib import Path

import numpy as np
from findings import Finding, Group, claim, run

from vendiscore import compute
from vendiscore.magnitude.area import mag_area

MEASURES = ("MagArea", "VS", "AvgSim", "GMStds")
COPIES = (0, 50, 100, 200, 400)
DRAWS = 20

GROUP = Group(
    name="magnitude_twins",
    title="Copies of samples do not change MagArea",
    source="Limbeck et al., arXiv 2311.16054, Figure S.5",
    method=f"100 normal points in the plane and 0 to {COPIES[-1]} copies of 20 of them, {DRAWS} "
    "draws; similarity exp(−distance). The paper leaves open which points are copied. Ratios to "
    "the value without copies.",
    agrees="Copies do not change MagArea, but change the three other measures.",
)


def scores(X: np.ndarray) -> list[float]:
    gaps = np.sqrt(((X[:, None] - X) ** 2).sum(-1))
    result = compute(np.exp(-gaps), score_K=True, measures=["VS", "AvgSim"])
    result |= {"MagArea": mag_area(X), "GMStds": X.std(axis=0).prod() ** 0.5}
    return [result[name] for name in MEASURES]


def findings(data: Path) -> list[Finding]:
    """Check which measures remain constant if copies of points are added."""
    ratios = np.empty((DRAWS, len(MEASURES), len(COPIES)))
    fresh = np.empty(DRAWS)
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        X = rng.standard_normal((100, 2))
        copies = X[rng.choice(20, COPIES[-1])]
        for j, count in enumerate(COPIES):
            ratios[draw, :, j] = scores(np.concatenate([X, copies[:count]]))
        new_points = rng.standard_normal((COPIES[1], 2))
        fresh[draw] = mag_area(np.concatenate([X, new_points])) / ratios[draw, 0, 0]
    ratios /= ratios[:, :, :1]
    result = []
    for i, name in enumerate(MEASURES):
        largest = np.abs(ratios[:, i] - 1).max()
        if name == "MagArea":
            text = (
                f"largest change {largest:.0e} in {DRAWS} draws; {COPIES[1]} new points in place "
                f"of copies: × {fresh.mean():.2f}"
            )
            result.append(claim(name, "constant", largest < 1e-9 < fresh.min() - 1, text))
        else:
            last = ratios[:, i, -1]
            text = (
                f"× {last.mean():.3f} with {COPIES[-1]} copies ({last.min():.3f} to "
                f"{last.max():.3f}); changed by more than 0.1 % in "
                f"{int((np.abs(last - 1) > 1e-3).sum())} of {DRAWS} draws"
            )
            result.append(claim(name, "drifts", (np.abs(last - 1) > 1e-3).mean() > 0.9, text))
    return result


if __name__ == "__main__":
    run(GROUP, findings)
