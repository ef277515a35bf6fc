"""Validation of the parameters that several functions that compute magnitude have in common."""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Literal, get_args

from ..support.arguments import check_bool, check_choice, check_float, check_int, is_collection
from ..support.types import Record

SolverName = Literal["auto", "cg", "cholesky"]
MAX_SCALES = 10**6
# Minimum distance of a target magnitude from 1, and from n relative to n. Magnitudes have relative
# errors of 1e-9, so this distance is computed with three correct digits.
RANGE_END_TOLERANCE = 1e-6


def check_scale(name: str, t: object) -> float:
    """Return a scale t, which multiplies distances, as a float; `name` is the parameter.

    Raises a TypeError or ValueError unless it is a finite number of at least 0.
    """
    # Adding 0.0 turns −0.0 into 0.0.
    return 0.0 + check_float(name, t, "a finite scale of at least 0", lambda t: 0 <= t < math.inf)


def check_scales(name: str, t: object) -> list[float]:
    """Return the argument `t`, one or several scales, as a list of floats.

    Raises a TypeError or ValueError unless each scale is a finite number of at least 0. `name` is
    the parameter, for messages.
    """
    values = t if isinstance(t, Iterable) and is_collection(t) else [t]
    scales = [check_scale(name, scale) for scale in values]
    if not scales:
        raise ValueError(
            f"`{name}` must contain at least one scale, got none; pass a number or a non-empty list"
        )
    return scales


def check_n_scales(n_scales: object, min_value: int = 2) -> int:
    """Return the number of scales as an int; raise unless it is in [min_value, MAX_SCALES]."""
    return check_int("n_scales", n_scales, min_value, MAX_SCALES, "the default is 30")


def _check_t_cut(t_cut: object) -> float | None:
    """Return the upper limit of scales as a float, or None; raise if it is not above 0."""
    if t_cut is None:
        return None
    expected = "a finite scale above 0"
    hint = "omit `t_cut` to use the convergence scale"
    return check_float("t_cut", t_cut, expected, lambda t: 0 < t < math.inf, hint)


def _check_epsilon(epsilon: object) -> float:
    """Return epsilon as a float; raise if it is not between RANGE_END_TOLERANCE and 1.

    It defines the convergence scale, at which the magnitude of n distinct points is (1 − ε) n.
    """
    expected = "a number between 0 and 1"
    hint = "the default is 0.05"
    number = check_float("epsilon", epsilon, expected, lambda e: 0 < e < 1, hint)
    if number < RANGE_END_TOLERANCE:
        raise ValueError(
            f"`epsilon` must be at least {RANGE_END_TOLERANCE:g}, because magnitudes have a "
            f"relative error of 1e-9, got {number!r}; {hint}"
        )
    return number


OPTION_CHECKS: Mapping[str, Callable[[object], float | str | None]] = {
    "t": partial(check_scale, "t"),
    "n_scales": check_n_scales,
    "epsilon": _check_epsilon,
    "t_cut": _check_t_cut,
    "solver": partial(check_choice, "solver", choices=get_args(SolverName)),
    **{name: partial(check_bool, name) for name in ("average", "relative", "absolute")},
}


def check_magnitude_options(**options: object) -> Record:
    """Return the options of a magnitude function in canonical form, for example numbers as floats.

    Raises a TypeError or ValueError for the first invalid option.
    """
    return {name: OPTION_CHECKS[name](value) for name, value in options.items()}
