"""Curvature from the magnitude of disks: Limbeck et al., arXiv 2311.16054, §5 and Table 1.

201 geodesic disks of radius 1 have constant curvatures from −2 to 2, with 500 uniform points each
and geodesic distances. MagArea uses 30 equally spaced scales up to t = 73. The curvature is
predicted from MagArea with five-fold cross-validation. The paper prints mean squared errors of 0.05
± 0.03 for a piecewise linear and 0.10 ± 0.05 for a quantile regression, which we interpret as mean
and deviation of the folds. It does not state the number of pieces, how points are drawn, and the
order of disks in folds: the main run draws points uniformly by area, shuffles, and uses three
pieces between quantiles. The script prints the effect of each of these choices. As a null case,
areas are assigned to random disks.

One set-up follows public code: the data of an earlier paper on curvature (Turkeš et al. 2022,
github.com/renata-turkes/turkevs2022on, SRC/data_construction.py) use hyperbolic distances
R artanh(…), but the distances of the Poincaré disk are 2 R artanh(…).
"""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from findings import Finding, Group, claim, run
from sklearn.linear_model import QuantileRegressor
from sklearn.model_selection import KFold

from vendiscore.magnitude.magnitude_functions import convergence_scale
from vendiscore.magnitude.metric_space_builder import as_space
from vendiscore.magnitude.space import MetricSpace

DISKS, POINTS, FEWER_POINTS, MORE_POINTS = 201, 500, 250, 1000
DISK_STEP = 5  # use every fifth disk if there are many points
T_CUT, SCALES = 73.0, 30
FOLDS = 5
PIECES = 3
CURVATURES = np.linspace(-2, 2, DISKS)
PAPER_ERRORS = {"piecewise linear": (0.05, 0.03), "quantile": (0.10, 0.05)}

GROUP = Group(
    name="magnitude_curvature",
    title="Curvature from MagArea",
    source="Limbeck et al., arXiv 2311.16054, §5 and Table 1",
    method=f"{DISKS} disks of radius 1 with curvatures −2 to 2, {POINTS} uniform points each, "
    f"MagArea at {SCALES} even scales to t = {T_CUT:g}; the mean squared error of the curvature "
    f"predicted from it, mean ± standard deviation of {FOLDS} folds, as which the paper's numbers "
    f"are read. A mean of folds is uncertain by the deviation / √{FOLDS}, of which the verdict "
    "allows twice. The paper leaves open the number of pieces, the order of folds and how points "
    "are drawn.",
    agrees=(
        "Curvature can be estimated from MagArea. With quantile regression, the error is the "
        "printed one."
    ),
    packages=("scikit-learn",),
)

Regression = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def sample_disk(curvature: float, n: int, rng: np.random.Generator, by: str = "area") -> np.ndarray:
    """Return geodesic distances of n points of a unit disk of constant curvature, uniform by area
    or by radius.
    """
    u, angle = rng.random(n), rng.random(n) * 2 * np.pi
    gap = np.cos(angle[:, None] - angle)
    if curvature == 0:
        r = u if by == "radius" else np.sqrt(u)
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
        r = u if by == "radius" else arccos(1 - u * (1 - cos(s))) / s
        sign = 1 if curvature > 0 else -1
        D = arccos(np.outer(cos(s * r), cos(s * r)) + sign * np.outer(sin(s * r), sin(s * r)) * gap)
        D /= s
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0)
    return D


def make_spaces(n: int, seed: int = 0, by: str = "area", step: int = 1) -> list[MetricSpace]:
    """Return the metric space of n random points of a disk, for each `step`-th curvature."""
    rng = np.random.default_rng(seed)
    return [as_space(sample_disk(c, n, rng, by), metric="precomputed") for c in CURVATURES[::step]]


def compute_magnitudes(disks: list[MetricSpace], scales: np.ndarray) -> np.ndarray:
    """Return the magnitudes of all disks at all scales, computed from the largest scale down."""
    rows = [[space.magnitude(t) if t else 1.0 for t in scales[::-1]] for space in disks]
    return np.array(rows)[:, ::-1]


def piecewise_linear(knots: np.ndarray) -> Regression:
    """Return a least-squares regression with a continuous function that is linear between knots."""

    def predicted(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
        center, unit = x.mean(), x.std()

        def columns(a: np.ndarray) -> np.ndarray:
            bends = np.maximum(a[:, None] - knots, 0) / unit
            return np.column_stack([np.ones(len(a)), (a - center) / unit, bends])

        return columns(new) @ np.linalg.lstsq(columns(x), y, rcond=None)[0]

    return predicted


def quantile_knots(x: np.ndarray, y: np.ndarray, new_x: np.ndarray, pieces: int) -> np.ndarray:
    """Fit with knots at quantiles of x."""
    inner = np.linspace(0, 1, pieces + 1)[1:-1]
    return piecewise_linear(np.quantile(x, inner))(x, y, new_x)


def even_knots(x: np.ndarray, y: np.ndarray, new_x: np.ndarray, pieces: int) -> np.ndarray:
    """Fit with evenly spaced knots."""
    return piecewise_linear(np.linspace(x.min(), x.max(), pieces + 1)[1:-1])(x, y, new_x)


def free_knots(x: np.ndarray, y: np.ndarray, new_x: np.ndarray, pieces: int) -> np.ndarray:
    """Fit with the best knots among fifteen quantiles."""
    candidates = np.quantile(x, np.linspace(0.05, 0.95, 15))
    fits = [piecewise_linear(np.array(knots)) for knots in combinations(candidates, pieces - 1)]
    best = min(fits, key=lambda line: float(((line(x, y, x) - y) ** 2).sum()))
    return best(x, y, new_x)


def separate_lines(x: np.ndarray, y: np.ndarray, new_x: np.ndarray, pieces: int) -> np.ndarray:
    """Fit a separate line between consecutive quantiles, with jumps."""
    edges = np.quantile(x, np.linspace(0, 1, pieces + 1)[1:-1])
    result = np.empty(len(new_x))
    for piece in range(pieces):
        is_in_piece, is_new_in_piece = (
            np.digitize(x, edges) == piece,
            np.digitize(new_x, edges) == piece,
        )
        result[is_new_in_piece] = np.polyval(
            np.polyfit(x[is_in_piece] - x.mean(), y[is_in_piece], 1),
            new_x[is_new_in_piece] - x.mean(),
        )
    return result


def median_line(x: np.ndarray, y: np.ndarray, new_x: np.ndarray) -> np.ndarray:
    """Fit a line by quantile regression of the median."""
    center, unit = x.mean(), x.std()
    model = QuantileRegressor(quantile=0.5, alpha=0).fit(((x - center) / unit)[:, None], y)
    return model.predict(((new_x - center) / unit)[:, None])


def squared_errors(areas: np.ndarray, regression: Regression, seed: int | None = 0) -> np.ndarray:
    """Return the mean squared error of each fold; without a seed, folds are contiguous."""
    truth = CURVATURES[:: DISKS // len(areas)]
    folds = KFold(FOLDS, shuffle=seed is not None, random_state=seed)
    return np.array(
        [
            (
                (regression(areas[training], truth[training], areas[testing]) - truth[testing]) ** 2
            ).mean()
            for training, testing in folds.split(areas)
        ]
    )


def with_pieces(regression: Callable[..., np.ndarray], n_pieces: int) -> Regression:
    return lambda x, y, new: regression(x, y, new, n_pieces)


MAIN_REGRESSION = with_pieces(quantile_knots, PIECES)
SetUp = tuple[np.ndarray, Regression, int | None]  # areas, regression, seed of the folds


class SetUpErrors(NamedTuple):
    """Mean squared errors of the two regressions with one set-up."""

    piecewise_linear: float
    quantile: float


def vary_regression(area: np.ndarray) -> dict[str, SetUp]:
    """Return regressions of curvature on `area` by name, with different knots, pieces and folds."""
    result: dict[str, SetUp] = {}
    for count in (1, 2, 4, 6, 10):
        result[f"{count} pieces between quantiles"] = area, with_pieces(quantile_knots, count), 0
    result["3 even pieces"] = area, with_pieces(even_knots, 3), 0
    result["2 pieces, free knot"] = area, with_pieces(free_knots, 2), 0
    result["3 pieces, free knots"] = area, with_pieces(free_knots, 3), 0
    result["3 lines with jumps"] = area, with_pieces(separate_lines, 3), 0
    for seed in (1, 2, 3, 4):
        result[f"folds of seed {seed}"] = area, MAIN_REGRESSION, seed
    result["area / t_cut"] = area / T_CUT, MAIN_REGRESSION, 0
    return result


def vary_areas(scales: np.ndarray, M: np.ndarray) -> dict[str, SetUp]:
    """Return set-ups with other areas: magnitudes of the main run if possible, otherwise smaller
    sets of disks.
    """
    result: dict[str, SetUp] = {}
    for last in (4, 8, 12, 16, 17, 18, 20, 24):
        area = np.trapezoid(M[:, : last + 1], scales[: last + 1], axis=1)
        result[f"t_cut = {scales[last]:.1f}"] = area, MAIN_REGRESSION, 0
    few_scales = np.array([0, 1, 2, 3, 4, 6, 8, 11, 15, 21, len(scales) - 1])
    result[f"{len(few_scales)} scales, denser at 0"] = (
        np.trapezoid(M[:, few_scales], scales[few_scales], axis=1),
        MAIN_REGRESSION,
        0,
    )
    disks_text = f"{len(CURVATURES[::DISK_STEP])} disks"
    thinned = np.trapezoid(M[::DISK_STEP][:, few_scales], scales[few_scales], axis=1)
    result[f"{POINTS} points, {disks_text}"] = thinned, MAIN_REGRESSION, 0
    more = compute_magnitudes(make_spaces(MORE_POINTS, step=DISK_STEP), scales[few_scales])
    result[f"{MORE_POINTS} points, {disks_text}"] = (
        np.trapezoid(more, scales[few_scales], axis=1),
        MAIN_REGRESSION,
        0,
    )

    # Faster variants with half of the points, and their own main run.
    disks = make_spaces(FEWER_POINTS)
    name = f"{FEWER_POINTS} points"
    fewer = np.trapezoid(compute_magnitudes(disks, scales), scales, axis=1)
    result[name] = fewer, MAIN_REGRESSION, 0
    cuts = np.array([convergence_scale(space) for space in disks])
    own_cutoff_areas = np.empty(DISKS)
    for i, (space, cut) in enumerate(zip(disks, cuts, strict=True)):
        even_scales = np.linspace(0, cut, SCALES)
        own_cutoff_areas[i] = np.trapezoid(compute_magnitudes([space], even_scales)[0], even_scales)
    result[f"{name}, own t_conv"] = own_cutoff_areas, MAIN_REGRESSION, 0
    result[f"{name}, own t_conv, divided by it"] = own_cutoff_areas / cuts, MAIN_REGRESSION, 0
    by_radius = compute_magnitudes(make_spaces(FEWER_POINTS, by="radius"), scales)
    result[f"{name}, radius uniform"] = np.trapezoid(by_radius, scales, axis=1), MAIN_REGRESSION, 0
    # Half of the distances at scale t are the distances at scale t / 2.
    halved, less = fewer.copy(), np.flatnonzero(CURVATURES < 0)
    halves = compute_magnitudes([disks[i] for i in less], scales / 2)
    halved[less] = np.trapezoid(halves, scales, axis=1)
    result[f"{name}, hyperbolic distances halved"] = halved, MAIN_REGRESSION, 0
    result[f"{name}, halved, 3 even pieces"] = halved, with_pieces(even_knots, 3), 0
    return result


def findings(data: Path) -> list[Finding]:
    """Compare errors of curvatures that are predicted from magnitude with the printed errors."""
    scales = np.linspace(0, T_CUT, SCALES)
    M = compute_magnitudes(make_spaces(POINTS), scales)
    area = np.trapezoid(M, scales, axis=1)
    ours = {
        "piecewise linear": squared_errors(area, MAIN_REGRESSION),
        "quantile": squared_errors(area, median_line),
    }
    shuffled_error = squared_errors(
        np.random.default_rng(0).permutation(area), MAIN_REGRESSION
    ).mean()
    regression = {**vary_regression(area), "folds not shuffled": (area, MAIN_REGRESSION, None)}
    table = {
        "as in the main run": (area, MAIN_REGRESSION, 0),
        **regression,
        **vary_areas(scales, M),
    }
    result = {
        name: SetUpErrors(
            squared_errors(a, regression_of_set_up, seed).mean(),
            squared_errors(a, median_line, seed).mean(),
        )
        for name, (a, regression_of_set_up, seed) in table.items()
    }
    print(f"{'set-up':<40}{'piecewise linear':>18}{'quantile':>10}")
    for name, errors in result.items():
        print(f"{name:<40}{errors.piecewise_linear:>18.3f}{errors.quantile:>10.3f}")
    print()
    reason = describe_set_ups(result, list(vary_regression(area)))
    rows = []
    for name, folds in ours.items():
        theirs, spread = PAPER_ERRORS[name]
        slack = 0.005 + 2 * np.hypot(spread, folds.std()) / FOLDS**0.5
        rows.append(
            claim(
                f"mean squared error, {name}",
                f"{theirs:.2f} ± {spread:.2f}",
                bool(abs(folds.mean() - theirs) <= slack),
                f"{folds.mean():.3f} ± {folds.std():.3f}",
                reason,
            )
        )
    largest = max(folds.mean() for folds in ours.values())
    text = f"{largest:.2f} at most; with areas dealt to the wrong disks {shuffled_error:.2f}"
    rows.append(
        claim(
            "curvature can be read from MagArea", "yes", bool(10 * largest < shuffled_error), text
        )
    )
    return rows


def describe_set_ups(
    errors_by_set_up: dict[str, SetUpErrors], varied_regressions: list[str]
) -> str:
    """Describe which choices change the error of the piecewise linear regression.

    Set-ups have the names of `vary_areas` and `vary_regression`; `varied_regressions` are the names
    of the latter. t_cut is the largest scale of the areas, `T_CUT` in the main run. t_conv is the
    convergence scale of a disk.
    """
    errors = {name: pair.piecewise_linear for name, pair in errors_by_set_up.items()}
    errors_by_cutoff = {name: error for name, error in errors.items() if name.startswith("t_cut")}
    paper_error = PAPER_ERRORS["piecewise linear"][0]
    closest_cutoff = min(
        errors_by_cutoff, key=lambda name: abs(errors_by_cutoff[name] - paper_error)
    )
    errors_by_pieces = [errors[name] for name in varied_regressions if "folds" not in name]
    errors_by_shuffle = [errors[name] for name in varied_regressions if "folds" in name]
    fewer_text = f"{FEWER_POINTS} points"
    halved_distances = errors_by_set_up[f"{fewer_text}, halved, 3 even pieces"]
    disks_text = f"{len(CURVATURES[::DISK_STEP])} disks"
    cutoffs = [parse_cutoff(name) for name in errors_by_cutoff]
    sentences = (
        "the error depends on the cut-off and the number of points: it is "
        f"{min(errors_by_cutoff.values()):.3f} to {max(errors_by_cutoff.values()):.3f} for "
        "the same disks and cut-offs of "
        f"{min(cutoffs):.0f} to {max(cutoffs):.0f}, and "
        f"{errors_by_cutoff[closest_cutoff]:.3f} at "
        f"{closest_cutoff}; at t_cut = {T_CUT:g}, {FEWER_POINTS} points instead of {POINTS} have "
        f"an error of {errors[fewer_text]:.2f}, "
        f"and, on {disks_text}, {MORE_POINTS:,} points "
        f"{errors[f'{MORE_POINTS} points, {disks_text}']:.2f} instead of "
        f"{errors[f'{POINTS} points, {disks_text}']:.2f}.",
        "Points uniform by radius make it "
        f"{errors[f'{fewer_text}, radius uniform'] / errors[fewer_text]:.1f} times as large, and "
        "areas to each disk's convergence scale hardly predict the curvature "
        f"({errors[f'{fewer_text}, own t_conv']:.2f}).",
        f"Pieces and knots ({min(errors_by_pieces):.3f} to {max(errors_by_pieces):.3f}), "
        "how folds are shuffled "
        f"({min(errors_by_shuffle):.3f} to {max(errors_by_shuffle):.3f}) and 11 uneven scales "
        f"({errors['11 scales, denser at 0']:.3f}) hardly matter; folds that are not shuffled give "
        f"{errors['folds not shuffled']:.2f}.",
        "Hyperbolic distances without their factor 2, as in public code for such disks, are out: "
        f"the quantile goes from {errors_by_set_up[fewer_text].quantile:.2f} to "
        f"{halved_distances.quantile:.2f}",
    )
    return " ".join(sentences)


def parse_cutoff(name: str) -> float:
    """Return the number at the end of the name of a set-up, such as "t_cut = 10.1"."""
    return float(name.rpartition(" ")[2])


if __name__ == "__main__":
    run(GROUP, findings)
