"""Shapes, colours, mixtures of normals: Friedman & Dieng, arXiv 2210.02410, Figures 1 and 2, §3.2.

The elements of Figure 1 have a shape and a colour. Their similarity is 1 if both are equal, ½ if
one is equal, and 0 otherwise: the mean of two label kernels. VS should count modes (a), increase if
both attributes are used instead of one (b), and decrease if the attributes are correlated (c).
IntDiv, the mean dissimilarity, should not. Figure 2 has samples of mixtures of normals on a line
with an RBF kernel, with 1 to 5 components, several proportions, and several variances.

The paper prints no values of the figures. The values of the animation in the README of the authors'
repository (vertaix/Vendi-Score, `diversity.gif`: 24 elements, an increasing number of modes) were
measured from its bars. A pixel is 0.009; bars that end at a grid line, as for equal modes, cannot
be measured. The sizes of the sets of Figure 1, and the bandwidth, distances and sizes of Figure 2,
are not given, so the script checks what holds for every size or over a range. (The RBF kernel of
§4.1 is printed without its minus sign.)

Each claim is also checked in a case in which it must fail: at another order, with a product of
kernels instead of their mean, and with renamed values of attributes.

    python benchmarks/papers/shapes_colours.py --json benchmarks/results/papers/shapes_colours.json
"""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
from findings import Finding, Group, claim, compare_number, run

from vendiscore import compute, score

GROUP = Group(
    name="shapes_colours",
    title="Shapes and colours, and mixtures of normals",
    source="Friedman & Dieng, arXiv 2210.02410, Figures 1 and 2, §3.2 and §4.1; "
    "animation of vertaix/Vendi-Score",
    method="Similarity is the mean of two kernels of labels. The paper prints no numbers here: "
    "those of the animation are read off its bars (a pixel is 0.009; ± is a standard error of half "
    "of one), the figures' are claims. Sizes, "
    "bandwidth and distances are not given; closed forms or ranges stand in for them.",
    agrees=(
        "Every bar of the figure and every claim is reproduced: VS counts modes and detects "
        "correlated attributes, whereas IntDiv does neither."
    ),
)

BOTH_ATTRIBUTES = {"labels:shape": 0.5, "labels:colour": 0.5}

# Sizes of the modes in six frames of the animation, and the height of the bar.
FRAMES = {
    (22, 2): 1.33,
    (20, 4): 1.57,
    (16, 8): 1.90,
    (10, 10, 4): 2.80,
    (8, 7, 7, 2): 3.65,
    (7, 7, 7, 3): 3.82,
}


def make_elements(*parts: tuple[str, str, int]) -> list[dict[str, str]]:
    return [{"shape": s, "colour": c} for s, c, times in parts for _ in range(times)]


def make_modes(sizes: tuple[int, ...]) -> list[dict[str, str]]:
    """Return modes that have neither shape nor colour in common."""
    return make_elements(*((f"shape {i}", f"colour {i}", size) for i, size in enumerate(sizes)))


def make_joint_elements(m: int, proportion: float, per_cell: int = 8) -> list[dict[str, str]]:
    """Return elements of m equally common shapes and m equally common colours.

    A proportion of the elements of each shape has the colour with the number of the shape. The
    other elements of the shape have all colours equally often, so that the proportions of shapes
    and colours do not depend on `proportion`.
    """
    parts = []
    for i in range(m):
        paired = round(proportion * m * per_cell)
        parts.append((f"{i}", f"{i}", paired))
        # Distribute the other elements over all colours, so the counts of colours are equal.
        parts += [
            (
                f"{i}",
                f"{(i + j) % m}",
                (m * per_cell - paired) // m + (j < (m * per_cell - paired) % m),
            )
            for j in range(m)
        ]
    return make_elements(*parts)


def scores(samples, k=None, **options) -> tuple[float, float]:
    result = compute(samples, k=k or BOTH_ATTRIBUTES, measures=["VS", "IntDiv"], **options)
    return result["VS"], result["IntDiv"]


def check_animation() -> list[Finding]:
    """Compare VS with the values of the animation in the README of the authors' repository."""
    sizes = list(FRAMES)
    result = [
        compare_number(
            f"animation: modes of {', '.join(map(str, s))} elements",
            f"{FRAMES[s]:.2f} ± 0.005",
            scores(make_modes(s))[0],
        )
        for s in sizes
    ]
    worst = {
        q: max(abs(score(make_modes(s), k=BOTH_ATTRIBUTES, q=q) - FRAMES[s]) for s in sizes)
        for q in (1, 2, 0)
    }
    result.append(
        claim(
            "which order the bars have",
            "the Shannon entropy's, q = 1",
            worst[1] < 0.02 < min(worst[0], worst[2]),
            f"farthest from a bar: {worst[1]:.3f} at q = 1, {worst[2]:.2f} at q = 2, "
            f"{worst[0]:.2f} at q = 0",
        )
    )
    return result


def check_figure_1() -> list[Finding]:
    """Check the claims about shapes and colours (Figure 1)."""
    result = []
    # (a) the number of modes
    counts = (1, 2, 3, 4, 6, 8, 12, 24)
    pairs = {m: scores(make_modes((24 // m,) * m)) for m in counts}
    line = max(abs(vs / m - 1) for m, (vs, _) in pairs.items())
    steps = [pairs[2 * m][1] - pairs[m][1] for m in (1, 2, 4)]
    result += [
        claim(
            "1a: VS against the number m of equal modes",
            "grows linearly: from two modes to four it doubles, to eight again",
            line < 1e-9,
            f"VS = m for m of {', '.join(map(str, counts))}, to {line:.0e}",
        ),
        claim(
            "1a: IntDiv",
            "less and less sensitive, converging to 1",
            all(b < a for a, b in pairwise(steps))
            and max(abs(d - (1 - 1 / m)) for m, (_, d) in pairs.items()) < 1e-9,
            "1 − 1/m: " + ", ".join(f"{pairs[m][1]:.3f}" for m in (1, 2, 4, 8)) + " at 1, 2, 4, 8",
        ),
    ]
    # (b) two similarities instead of one
    free = make_joint_elements(4, 0.0)
    shape, colour, both_scores = (
        scores(free, {f"labels:{name}": 1.0 for name in names}) if len(names) == 1 else scores(free)
        for names in (("shape",), ("colour",), ("shape", "colour"))
    )
    closed_form = 4 * 2 ** (
        1 - 1 / 4
    )  # m 2^(1 − 1/m), from eigenvalues 1/m and 2(m − 1) times 1/(2m)
    tied = scores(make_joint_elements(4, 1.0))
    result += [
        claim(
            "1b: shape and colour that vary apart, together against alone",
            "combining distinct similarities can raise VS above the mean of both, "
            "and leaves IntDiv unchanged",
            both_scores[0] > (shape[0] + colour[0]) / 2 + 1
            and abs(both_scores[0] - closed_form) < 1e-9
            and abs(both_scores[1] - (shape[1] + colour[1]) / 2) < 1e-9,
            f"four of each: VS {shape[0]:.2f} and {colour[0]:.2f} alone, {both_scores[0]:.3f} "
            "together "
            f"(closed form m·2^(1 − 1/m) = {closed_form:.3f}); IntDiv {shape[1]:.3f}, "
            f"{colour[1]:.3f}, "
            f"{both_scores[1]:.3f}",
        ),
        claim(
            "1b, null: colour says no more than shape",
            "only if they “describe distinct dimensions of variation”",
            abs(tied[0] - 4) < 1e-9,
            f"VS {tied[0]:.3f} together, as alone",
        ),
    ]
    # (c) correlation of the attributes at the same marginals
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    sets = [make_joint_elements(4, share) for share in shares]
    for elements in sets:
        for name in ("shape", "colour"):
            assert sorted(np.unique([r[name] for r in elements], return_counts=True)[1]) == [32] * 4
    falls = [scores(elements) for elements in sets]
    renamed = [{**r, "colour": str((int(r["colour"]) + 1) % 4)} for r in sets[-1]]
    lc = [compute(elements, k=BOTH_ATTRIBUTES, measures={"LC": {}})["LC"] for elements in sets]
    ranks = [compute(elements, k=BOTH_ATTRIBUTES, q=0)["VS_q0"] for elements in sets]
    product = [
        scores([f"{r['shape']} {r['colour']}" for r in elements], "labels")[1] for elements in sets
    ]
    result += [
        claim(
            "1c: the share of elements whose colour is their shape's, at equal marginals",
            "VS is highest where attributes are not correlated; IntDiv does not see it",
            bool((np.diff([v for v, _ in falls]) < -1e-6).all())
            and float(np.ptp([d for _, d in falls])) < 1e-9,
            "VS "
            + ", ".join(f"{v:.2f}" for v, _ in falls)
            + f" at shares {', '.join(map(str, shares))}; IntDiv {falls[0][1]:.3f} at each. Not at "
            f"order 0 (rank {', '.join(f'{r:.0f}' for r in ranks)}), and for the mean of kernels "
            f"alone: under their product IntDiv falls, {product[0]:.3f} to {product[-1]:.3f}",
        ),
        claim(
            "1c: Leinster and Cobbold's D₁",
            "like IntDiv, it does not account for correlation (§2)",
            float(np.ptp(lc)) < 1e-9,
            f"{lc[0]:.3f} at each share",
        ),
        claim(
            "1c, null: colours renamed, so that no colour has its shape's name",
            "correlation is what counts, not names",
            abs(scores(renamed)[0] - falls[-1][0]) < 1e-9,
            f"VS {scores(renamed)[0]:.2f}, as before",
        ),
    ]
    # The identity of §3.2
    many_elements = make_elements(("diamond", "blue", 90), ("square", "yellow", 10))
    few_elements = make_elements(("diamond", "blue", 1), ("square", "yellow", 1))
    a, b = scores(many_elements)[0], compute(few_elements, k=BOTH_ATTRIBUTES, p=[0.9, 0.1])["VS"]
    result.append(
        claim(
            "§3.2: 90 blue diamonds and 10 yellow squares",
            "as one of each with p = (0.9, 0.1)",
            abs(a - b) < 1e-12,
            f"{a:.6f} and {b:.6f}",
        )
    )
    return result


def draw_mixture(
    proportions: tuple[float, ...], sd: float, gap: float, n: int, rng: np.random.Generator
) -> np.ndarray:
    component_indices = rng.choice(len(proportions), n, p=proportions)
    return (gap * component_indices + sd * rng.standard_normal(n))[:, None]


def check_figure_2() -> list[Finding]:
    """Check the claims about mixtures of normals (Figure 2)."""
    n, seeds = 500, 5

    def mean(share, sd, gap=10.0, sigma=1.0):
        scores_by_seed = [
            scores(
                draw_mixture(tuple(share), sd, gap, n, np.random.default_rng(s)), "rbf", sigma=sigma
            )
            for s in range(seeds)
        ]
        return np.mean(scores_by_seed, axis=0), np.std(scores_by_seed, axis=0, ddof=1)

    result = []
    counts = range(1, 6)
    # Variances and distances, which the paper does not state, in units of σ.
    set_ups = [(sd, gap) for sd in (0.02, 0.05, 0.1) for gap in (5.0, 10.0)]
    rows = {set_up: [mean(np.full(m, 1 / m), *set_up)[0] for m in counts] for set_up in set_ups}
    max_error = max(abs(row[i][0] / (i + 1) - 1) for row in rows.values() for i in range(5))
    gains = np.array([[b[1] - a[1] for a, b in pairwise(row)] for row in rows.values()])
    result += [
        claim(
            "2, first row: one to five components of equal share",
            "VS between one and five, the effective number of modes",
            max_error < 0.1,
            f"within {100 * max_error:.0f} % of the number, over components of sd 0.02 to 0.1 σ, "
            "5 and 10 σ apart",
        ),
        claim(
            "2, first row: IntDiv",
            "additional modes bring diminishing returns",
            bool((np.diff(gains, axis=1) < 0).all()),
            "gains of " + ", ".join(f"{g:.2f}" for g in gains.mean(axis=0)),
        ),
    ]
    skews = (0.0, 0.25, 0.5, 0.75, 1.0)
    shares = [np.array([1 - 0.8 * s, *[0.2 * s] * 4]) for s in skews]
    rows2 = [mean(share, 0.05) for share in shares]
    entropy = [math.exp(-sum(x * math.log(x) for x in share if x)) for share in shares]
    max_error = max(abs(r[0][0] / e - 1) for r, e in zip(rows2, entropy, strict=True))
    result.append(
        claim(
            "2, second row: proportions of five components from one alone to equal",
            "VS between one and five",
            max_error < 0.1 and bool((np.diff([r[0][0] for r in rows2]) > 0).all()),
            "VS "
            + ", ".join(f"{r[0][0]:.2f} ± {r[1][0]:.2f}" for r in rows2)
            + "; exp H of the proportions "
            + ", ".join(f"{e:.2f}" for e in entropy),
        )
    )
    equal = np.full(5, 0.2)
    sds = (0.05, 0.2, 0.3, 0.4, 0.5)
    rows3 = [mean(equal, sd) for sd in sds]
    vs, div = (np.array([r[0][i] for r in rows3]) for i in (0, 1))
    reach = float(np.interp(7.0, vs, sds)) if vs[-1] >= 7 else math.nan
    intdiv_at_seven = float(np.interp(7.0, vs, div))
    result += [
        claim(
            "2, third row: the variance within five components",
            "VS from five to seven",
            bool((np.diff(vs) > 0).all()) and abs(vs[0] - 5) < 0.1 and vs[-1] >= 7,
            "VS "
            + ", ".join(f"{v:.2f}" for v in vs)
            + f" at sd {', '.join(map(str, sds))} σ: 7 at {reach:.2f} σ",
        ),
        claim(
            "2, third row: IntDiv",
            "relatively insensitive to variance within modes",
            (intdiv_at_seven / div[0] - 1) < 0.25 * (7 / vs[0] - 1),
            f"{div[0]:.3f} to {intdiv_at_seven:.3f} (+{100 * (intdiv_at_seven / div[0] - 1):.1f} "
            "%) while VS goes from "
            f"{vs[0]:.2f} to 7 (+{100 * (7 / vs[0] - 1):.0f} %)",
        ),
        claim(
            "2, null: five components in one place",
            "it is modes that count, not labels",
            abs(mean(equal, 0.05, gap=0.0)[0][0] - mean([1.0], 0.05)[0][0]) < 0.02,
            f"VS {mean(equal, 0.05, gap=0.0)[0][0]:.2f}, as one component's",
        ),
    ]
    return result


def findings(data: Path) -> list[Finding]:
    return [*check_animation(), *check_figure_1(), *check_figure_2()]


if __name__ == "__main__":
    run(GROUP, findings)
