"""Four tiny sets, four measures: Limbeck et al., arXiv 2311.16054, Table S.1.

X = {1, 0}, Q = {(1, 0), (0, 0)}, Z = {1, 0, 0} and Y = {1, 0, 0.01}: Q is X in a plane, Z contains
a point twice, and Y nearly so. Distances are Manhattan distances, and K = exp(−D). MagArea is not
divided by the cut-off; it uses 10 equally spaced scales up to the convergence scale of X, 2.944.
With 20 or 30 scales, or with the cut-off of each set, the third decimal differs; these are the null
cases.
"""

from pathlib import Path

import numpy as np
from findings import Finding, Group, claim, compare_number, run

from vendiscore import compute
from vendiscore.magnitude.area import mag_area
from vendiscore.magnitude.magnitude_functions import convergence_scale

SETS = {
    "X": [[1.0], [0.0]],
    "Q": [[1.0, 0.0], [0.0, 0.0]],
    "Z": [[1.0], [0.0], [0.0]],
    "Y": [[1.0], [0.0], [0.01]],
}
PRINTED = {
    "MagArea": ("4.602", "4.602", "4.602", "4.613"),
    "VS": ("1.867", "1.866", "1.77", "1.809"),
    "AvgSim": (".368", ".368", ".579", ".577"),
    "GMStds": (".500", "0", ".471", ".469"),
}

GROUP = Group(
    name="table_s1",
    title="Four tiny sets, four measures",
    source="Limbeck et al., arXiv 2311.16054, Table S.1",
    method="X = {1, 0}; Q, X in a plane; Z = {1, 0, 0}; Y = {1, 0, 0.01}. Manhattan distances, "
    "similarity exp(−distance), MagArea at 10 even scales up to X's convergence scale at ε = 0.05, "
    "not divided by it.",
    agrees="All values except one are reproduced to the printed digit.",
)


def compute_measure(name: str, points: np.ndarray, t_cut: float) -> float:
    """Return a measure of points under the Manhattan distance."""
    if name == "MagArea":
        return mag_area(points, metric="cityblock", n_scales=10, t_cut=t_cut)
    if name == "GMStds":
        return compute(points, measures="GMStds")["GMStds"]
    D = np.abs(points[:, None] - points).sum(-1)
    return compute(np.exp(-D), score_K=True, measures=name)[name]


def findings(data: Path) -> list[Finding]:
    """Compare four measures of the four sets with the printed values."""
    sets = {name: np.array(points) for name, points in SETS.items()}
    t_cut = convergence_scale(sets["X"], metric="cityblock")
    half = (1 + np.exp(-1)) / 2  # the eigenvalues of X are `half` and 1 − `half`
    closed = np.exp(-half * np.log(half) - (1 - half) * np.log(1 - half))
    reasons = {
        (
            "VS",
            "X",
        ): f"the closed form is {closed:.5f}; for Q, which has the same distances, 1.866 is printed"
    }
    rows = []
    for measure, printed in PRINTED.items():
        for (name, points), paper in zip(sets.items(), printed, strict=True):
            ours = compute_measure(measure, points, t_cut)
            if paper == "0":  # must be exact; by rounding, any value below 0.5 would pass
                rows.append(claim(f"{measure} of {name}", paper, ours == 0, f"{ours:.0f}"))
                continue
            reason = reasons.get((measure, name), "")
            rows.append(compare_number(f"{measure} of {name}", paper, ours, why=reason))
    finer = [
        mag_area(sets["X"], metric="cityblock", n_scales=count, t_cut=t_cut) for count in (20, 30)
    ]
    own_cutoff_area = mag_area(sets["Y"], metric="cityblock", n_scales=10)
    rows.append(
        claim(
            "MagArea of Q and Z is that of X, that of Y nearly",
            "yes",
            len({f"{compute_measure('MagArea', sets[name], t_cut):.9f}" for name in "XQZ"}) == 1,
            f"to 1e-9; with 20 or 30 scales X has {finer[0]:.3f} or {finer[1]:.3f}, and with its "
            f"own cut-off Y has {own_cutoff_area:.1f}",
        )
    )
    return rows


if __name__ == "__main__":
    run(GROUP, findings)
