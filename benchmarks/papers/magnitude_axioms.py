"""Properties that a diversity measure should have: Limbeck et al., arXiv 2311.16054, Figure 1, §3.

The caption of Figure 1 describes the beginning and the end of a magnitude function. The caption of
Table S.1 states that magnitude passes checks that other measures fail: it does not decrease if a
point is added, and it does not change if points are copied (see magnitude_twins.py and table_s1.py)
or if the space is moved. The abstract calls the measures provably stable under perturbations. Null
cases are a space whose similarity is not positive definite, points that are added far away,
stretched axes, and two copies at decreasing distance.
"""

from pathlib import Path

import numpy as np
from findings import Finding, Group, claim, run

from vendiscore import compute
from vendiscore.magnitude.area import mag_area
from vendiscore.magnitude.magnitude_functions import convergence_scale, magnitude_function

DRAWS, POINTS = 20, 40

GROUP = Group(
    name="magnitude_axioms",
    title="Checks that magnitude should pass",
    source="Limbeck et al., arXiv 2311.16054, abstract, Figure 1 and caption of Table S.1",
    method=f"{DRAWS} draws of {POINTS} normal points in the plane, Euclidean distances; the other "
    "measures with exp(−distance). Areas to the convergence scale of the points as drawn, but "
    "where it says otherwise.",
    agrees=(
        "Magnitude lies between 1 and the number of points, never decreases if a point is "
        "added, and does not change if all points are moved together. With a common cut-off "
        "it is stable."
    ),
)


def distances(X: np.ndarray) -> np.ndarray:
    return np.sqrt(((X[:, None] - X) ** 2).sum(-1))


def scores(X: np.ndarray, t_cut: float) -> dict[str, float]:
    """Return the measures of one set."""
    result = compute(np.exp(-distances(X)), score_K=True, measures=["VS", "AvgSim"])
    return {
        "MagArea": mag_area(X, t_cut=t_cut),
        "VS": result["VS"],
        "AvgSim": -result["AvgSim"],
        "GMStds": float(X.std(axis=0).prod() ** 0.5),
    }


def check_ends(sets: list[np.ndarray]) -> Finding:
    """Check the beginning and the end of magnitude functions."""
    first, last, rising = [], [], []
    for X in sets:
        t_conv = convergence_scale(X)
        values = magnitude_function(X, scales=np.linspace(0, 20 * t_conv, 200))[1]
        first.append(float(magnitude_function(X, scales=np.array([1e-6 * t_conv]))[1][0]))
        last.append(float(values[-1]) / len(X))
        rising.append(bool((np.diff(values) > -1e-9).all()))
    # A group of three points and one of two; distance 1 between groups and 2 within groups.
    D = np.ones((5, 5))
    D[:3, :3] = D[3:, 3:] = 2.0
    np.fill_diagonal(D, 0)
    indefinite_values = [float(np.linalg.inv(np.exp(-t * D)).sum()) for t in (0.34, 0.346, 0.347)]
    return claim(
        "a magnitude function begins at 1 and ends at the number of points (Figure 1)",
        "close to 1 for small scales, converges to the cardinality",
        max(first) < 1.001
        and min(last) > 0.999
        and all(rising)
        and min(indefinite_values) < 0
        and max(indefinite_values) > 5,
        f"{max(first):.5f} at a millionth of t_conv, {min(last):.4f} n at 20 t_conv, rising all "
        f"the way in {sum(rising)} of {len(sets)} draws; the graph K₃,₂, whose similarity is not "
        f"positive definite, has {', '.join(f'{value:.1f}' for value in indefinite_values)} at t "
        "= 0.34, "
        "0.346, 0.347",
        why=f"{max(first):.5f}, {min(last):.4f}, {sum(rising)}",
    )


def check_added_points(sets: list[np.ndarray], rng: np.random.Generator) -> Finding:
    """Count how often each measure decreases if a point is added."""
    falls = dict.fromkeys(("MagArea", "VS", "AvgSim", "GMStds"), 0)
    far = dict.fromkeys(falls, 0)
    for X in sets:
        t_cut = convergence_scale(X)
        before = scores(X, t_cut)
        for shift, count in ((0.0, falls), (20.0, far)):
            after = scores(np.concatenate([X, rng.standard_normal((1, 2)) + shift]), t_cut)
            for name, value in after.items():
                count[name] += value < before[name] - 1e-9
    other_measures = ("VS", "AvgSim", "GMStds")
    return claim(
        "a new point never lowers it (Table S.1: monotonicity in observations)",
        "magnitude passes, others fail",
        falls["MagArea"] == far["MagArea"] == 0 < min(falls[name] for name in other_measures),
        f"of {len(sets)} draws MagArea falls in {falls['MagArea']}; "
        + ", ".join(f"{name} in {falls[name]}" for name in other_measures)
        + "; when the point lies far from all, in "
        + ", ".join(str(far[name]) for name in other_measures),
        why=f"MagArea falls in {falls['MagArea']}",
    )


def check_motions(sets: list[np.ndarray], rng: np.random.Generator) -> Finding:
    """Check that measures do not change if the space is moved; stretched axes are the null case."""
    names = ("MagArea", "VS", "AvgSim", "GMStds")
    change, stretch = {name: [] for name in names}, []
    for X in sets:
        t_cut = convergence_scale(X)
        angle = rng.uniform(0, np.pi)
        rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        X = X * [1, 3]
        before, after = scores(X, t_cut), scores(X @ rotation + 5, t_cut)
        for name in names:
            change[name].append(abs(after[name] / before[name] - 1))
        stretch.append(mag_area(X * [2, 1], t_cut=t_cut) / before["MagArea"] - 1)
    worst = {name: max(values) for name, values in change.items()}
    return claim(
        "turning and shifting the points",
        "an invariant of the metric space",
        max(worst[name] for name in names[:3]) < 1e-9 < 0.1 < worst["GMStds"]
        and min(stretch) > 0.01,
        f"MagArea, VS and AvgSim change by less than 1e-9, GMStds by up to "
        f"{100 * worst['GMStds']:.0f} %; stretching an axis to twice its length raises MagArea by "
        f"{100 * min(stretch):.0f} to {100 * max(stretch):.0f} %",
        why=f"MagArea by {worst['MagArea']:.1e}",
    )


def check_stability(sets: list[np.ndarray], rng: np.random.Generator) -> list[Finding]:
    """Check how much measures change under small perturbations of the points."""
    noises = (1e-4, 1e-3, 1e-2)
    change = []
    for X in sets:
        t_cut = convergence_scale(X)
        before = mag_area(X, t_cut=t_cut)
        noise = rng.standard_normal(X.shape)
        change.append([abs(mag_area(X + e * noise, t_cut=t_cut) / before - 1) for e in noises])
    worst = np.max(change, axis=0)
    pair = np.array([[0.0], [1.0]])
    gaps = (1e-1, 1e-2, 1e-3)
    near = [np.concatenate([pair, [[gap]]]) for gap in gaps]
    # Enough scales for changes at scales of 1 and of 1,000.
    whole_area, cut = convergence_scale(pair), 30_000
    own_cutoff_areas = [mag_area(X, n_scales=cut) for X in near]
    common = [mag_area(X, t_cut=whole_area) for X in near]
    limit = mag_area(pair, t_cut=whole_area)
    return [
        claim(
            "noise on the points, areas to one cut-off",
            "stable under perturbations",
            worst[0] < 1e-3 and worst[1] < 12 * worst[0] and worst[2] < 12 * worst[1],
            "areas change by at most "
            + ", ".join(f"{100 * value:.3f} %" for value in worst)
            + " with noise of 0.0001, 0.001 and 0.01, in proportion",
            why=f"{100 * worst[0]:.3f} %",
        ),
        claim(
            "a near-copy, areas up to the convergence scale of each set, as defined for one set",
            "stable under perturbations",
            max(own_cutoff_areas) / min(own_cutoff_areas) < 1.1,
            "points 0, 1 and δ at δ = 0.1, 0.01, 0.001: "
            + ", ".join(f"{value:.1f}" for value in own_cutoff_areas)
            + f"; points 0 and 1 alone {limit:.3f}",
            why="the area grows as 1/δ, because its upper limit is the scale at which magnitude "
            "reaches 0.95 n, and there even near-copies count as two points; at δ = 0 it is the "
            "area of two points. Up to the convergence scale of the two points, the area is "
            f"{common[0]:.3f}, {common[1]:.3f}, {common[2]:.3f}, and {limit:.3f} in the limit",
        ),
    ]


def findings(data: Path) -> list[Finding]:
    """Check the properties of magnitude that the paper proves, with random points in the plane."""
    rng = np.random.default_rng(0)
    sets = [rng.standard_normal((POINTS, 2)) for _ in range(DRAWS)]
    return [
        check_ends(sets),
        check_added_points(sets, rng),
        check_motions(sets, rng),
        *check_stability(sets, rng),
    ]


if __name__ == "__main__":
    run(GROUP, findings)
