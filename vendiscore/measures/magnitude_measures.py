"""Measures based on the magnitude of a metric space.

Mag(t), the magnitude at scale t, is the sum of the weights w_j with Σ_j exp(−t d_ij) w_j = 1 for
all points i, where d_ij are the distances of n distinct points. It is 1 at t = 0 and approaches n.
The convergence scale is the scale at which Mag(t) = (1 − ε) n.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np

from ..magnitude.area import compute_area, compute_area_difference
from ..magnitude.magnitude_options import OPTION_CHECKS, SolverName, check_scales
from ..magnitude.scales import (
    compute_convergence_scale_of_equal_distances,
    evaluate_magnitude,
    find_convergence_scale,
)
from ..result import scale_suffix
from ..support.arguments import is_collection
from ..support.types import Number
from .measure import register_measure
from .sample_set import SampleSet
from .stacked_groups import StackedGroups

_LEINSTER = "Leinster, Documenta Mathematica 2013"
_LIMBECK = "Limbeck et al., arXiv 2311.16054"
_WILLERTON = "Willerton, Int. J. of Computational Geometry & Applications 2015"
SAMPLES_CUT_NOTE = (
    "The upper limit of MagArea is the convergence scale t_conv{at} of the samples, so the values "
    "of different sets are not comparable. To compare sets, pass `references`, or the same `t_cut` "
    "for all sets."
)
REFERENCES_CUT_NOTE = (
    "The upper limit of MagArea is the convergence scale of the references, so only values with "
    "the same references are comparable."
)
SAMPLES_CUT = "t_conv"  # value of `t_cut` for the convergence scale of the samples


def _check_cutoff(t_cut: object) -> float | str | None:
    """Validate the option `t_cut`, the largest scale of an area: a number, None, or "t_conv"."""
    if isinstance(t_cut, str) and t_cut == SAMPLES_CUT:
        return SAMPLES_CUT
    return OPTION_CHECKS["t_cut"](t_cut)


def _check_scales(t: object) -> float | list[float]:
    """Validate the option `t`: a scale of the distances, or a list of scales."""
    scales = check_scales("t", t)
    return scales if is_collection(t) else scales[0]


_register = partial(
    register_measure,
    needs="distances",
    readers={**OPTION_CHECKS, "t": _check_scales, "t_cut": _check_cutoff},
    stacks=True,
)


@_register(
    "Magnitude",
    range="[1, ∞)",
    source=f"{_LEINSTER}, Definition 2.1",
)
def magnitude(
    sample_set: SampleSet | StackedGroups,
    t: float | Sequence[float] = 1.0,
    solver: SolverName = "auto",
) -> Number | dict[str, Number]:
    """The effective number of points at scale t of the distances; one value for each t.

    It is the sum of the weights w_j with Σ_j exp(−t d_ij) w_j = 1 for all points i, where d_ij are
    the distances of distinct points. `solver` is the method that solves these equations.
    """
    function = evaluate_magnitude(sample_set.build_spaces(solver)[0], np.atleast_1d(t))
    # For stacked groups, `values` has shape (groups, scales).
    return _key_values_by_scale(t, list(function.values.T))


def _key_values_by_scale(
    t: float | Sequence[float], values: Sequence[Number]
) -> Number | dict[str, Number]:
    """Return the value at a single scale t, or a dict with the values at several scales.

    `values` contains one value per scale. The keys of the dict are suffixes of result keys, such as
    "_t0.5".
    """
    if isinstance(t, float):
        return values[0]
    return {scale_suffix(scale): value for scale, value in zip(t, values, strict=True)}


@_register("Spread", range="[1, n]", source=_WILLERTON)
def spread(
    sample_set: SampleSet | StackedGroups, t: float | Sequence[float] = 1.0
) -> Number | dict[str, Number]:
    """Σ_i 1 / Σ_j exp(−t d_ij) over distinct points at scale t; one value for each t.

    d_ij is the distance of points i and j. Identical samples are the same point.
    """
    values = [sample_set.space.spread(scale) for scale in np.atleast_1d(t)]
    return _key_values_by_scale(t, values)


@_register(
    "MagArea",
    range="[0, ∞)",
    source=f"{_LIMBECK}, Definition 3.3",
    references_without="t_cut",
)
def magnitude_area(
    sample_set: SampleSet | StackedGroups,
    n_scales: int = 30,
    epsilon: float = 0.05,
    t_cut: float | Literal["t_conv"] | None = None,
    average: bool = False,
    solver: SolverName = "auto",
) -> Number:
    """The area under the magnitude function, up to a cut-off scale.

    The magnitude function maps a scale t of the distances to the magnitude, the effective number of
    points at this scale. The convergence scale of n points is the scale at which their magnitude is
    (1 − ε) n, where ε is `epsilon`.

    For distances of a kernel k, the cut-off is the convergence scale of n samples with nothing in
    common (k = 0), which is the same for all sets of n samples. For other distances, the cut-off is
    the convergence scale of the references, or of the samples if there are no references (see
    `mag_area`). Areas with different cut-offs are not comparable. `t_cut` sets the cut-off;
    "t_conv" selects the convergence scale of the samples. `n_scales` is the number of scales at
    which magnitude is evaluated. `average=True` divides the area by the cut-off.
    """
    space, *reference_space = sample_set.build_spaces(solver)  # no second space without references
    cutoff: Number
    if isinstance(t_cut, float):
        cutoff = t_cut
    elif t_cut is None and space.unit is not None:
        # `unit` is the distance of samples with k = 0; it is None if distances are not of a kernel.
        cutoff = compute_convergence_scale_of_equal_distances(space.n, space.unit, epsilon)
    elif t_cut is None and reference_space:
        sample_set.notes.append(REFERENCES_CUT_NOTE)
        cutoff = find_convergence_scale(reference_space[0], epsilon)
        if cutoff == 0:
            raise ValueError(
                "the convergence scale of `references`, which is the upper limit of MagArea, must "
                "be above 0, got 0, because all references are nearly identical; pass other "
                "references, or `t_cut`"
            )
    else:
        cutoff = find_convergence_scale(space, epsilon)
        # Groups have different cut-offs, so their common note contains no number.
        has_one_cutoff = sample_set.parent is sample_set
        at = f"={cutoff:.6g}" if has_one_cutoff else ""
        sample_set.notes.append(SAMPLES_CUT_NOTE.format(at=at))
    return compute_area(space, cutoff, n_scales, average)


@_register("t_conv", range="[0, ∞)", direction="lower", source=f"{_LIMBECK}, Definition 3.5")
def convergence_scale(
    sample_set: SampleSet | StackedGroups, epsilon: float = 0.05, solver: SolverName = "auto"
) -> Number:
    """The convergence scale, at which magnitude is (1 − ε) n; larger if samples are closer.

    n is the number of distinct samples, and ε is `epsilon`.
    """
    return find_convergence_scale(sample_set.build_spaces(solver)[0], epsilon)


@_register(
    "MagDiff",
    range="(−∞, ∞)",
    source=f"{_LIMBECK}, Definition 3.4",
    references=True,
)
def magnitude_difference(
    sample_set: SampleSet | StackedGroups,
    n_scales: int = 30,
    epsilon: float = 0.05,
    t_cut: float | Literal["t_conv"] | None = None,
    average: bool = False,
    relative: bool = False,
    absolute: bool = False,
    solver: SolverName = "auto",
) -> Number:
    """The integral of Mag(samples) − Mag(references) over scales from 0 to `t_cut`.

    Mag is the magnitude, the effective number of points, at a scale t of the distances. By default,
    `t_cut` is the convergence scale of the references, at which their magnitude is (1 − `epsilon`)
    times their number.
    """
    return compute_area_difference(
        *sample_set.build_spaces(solver),
        # "t_conv" is a cut-off of MagArea and means the default here.
        t_cut=t_cut if isinstance(t_cut, float) else None,
        epsilon=epsilon,
        n_scales=n_scales,
        average=average,
        relative=relative,
        absolute=absolute,
    )
