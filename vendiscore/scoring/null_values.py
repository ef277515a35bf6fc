"""Values of BetweenVS where there is nothing to find: of samples whose groups were shuffled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.namespace import scalar
from ..core.types import Record
from ..measures import group_shuffles
from ..measures.subject import Subject
from ..registry.measure import BETWEEN
from ..uncertainty.jackknife import quantile
from ..uncertainty.subsampling import student_reach
from .intervals import Uncertainty
from .request import Request

LEAST, MOST = 2, 20  # numbers of shuffles where `permutations` is not passed
_FAR = 4  # standard deviations of shuffles, beyond which the jackknife's interval is taken
_NEAR = 0.9  # of its largest, above which intervals of an excess were seen to be too narrow
_ROUNDING = 1e-9


def add_nulls(
    subject: Subject,
    request: Request,
    scores: Sequence[Mapping[str, Any]],
    uncertainty: Uncertainty,
) -> None:
    """Add the null value and the excess of BetweenVS of each order, and p if asked."""
    place = [chosen.measure.name for chosen in request.measures].index(BETWEEN)
    shuffles = request.permutations or _usual(subject, request)
    every = group_shuffles.shuffled(subject, shuffles)  # (orders, shuffles)
    errors = None
    if request.ci is not None:  # by the jackknife, as it is and shuffled
        logs = np.array([group_shuffles.left_out(subject, mixed) for mixed in (False, True)])
        spread = np.sqrt((subject.n - 1) * logs.var(axis=-1))
        errors = (np.exp(logs.mean(axis=-1)) * spread).T
    for i, (key, value) in enumerate(scores[place].items()):
        drawn = every[i]
        null = float(drawn.mean())
        excess = scalar(value) - null
        numbers: Record = {"null": null, "excess": value - null}
        if request.permutations:
            as_much = drawn >= scalar(value) - _ROUNDING * max(1.0, abs(null))
            numbers["p"] = float(1 + as_much.sum()) / (1 + shuffles)
        still = float(np.ptp(drawn)) < _ROUNDING
        if still:
            uncertainty.notes.append(
                f"No shuffle changes {key}: groups of these sizes tell nothing, "
                "and the interval of its excess is all that is possible."
            )
        if errors is not None and request.ci is not None:
            most = group_shuffles.most(subject, subject.orders[i])
            low, high = min(0.0, 1 - null), max(0.0, most - null)  # all that is possible
            if not still:
                low, end = ends(excess, drawn, errors[i], request.ci)
                high = min(high, end)
            numbers |= {"excess_low": min(low, excess), "excess_high": max(high, excess)}
            if not still and scalar(value) > _NEAR * most:
                uncertainty.notes.append(
                    f"{key} is near {most:.4g}, its largest: the interval of its excess is too "
                    f"narrow where hardly any sample has its like in another group."
                )
        uncertainty.numbers.setdefault(key, {}).update(numbers)
    uncertainty.notes.append(_note(shuffles, request))


def _usual(subject: Subject, request: Request) -> int:
    """Return how many shuffles cost about twice the score, from LEAST to MOST."""
    if request.ci is not None:
        return MOST
    sizes = group_shuffles.group_sizes(subject).astype(float)
    return int(np.clip(2 * sizes.sum() ** 3 / (sizes**3).sum(), LEAST, MOST))


def ends(excess: float, drawn: np.ndarray, errors: np.ndarray, level: float) -> tuple[float, float]:
    """Return both ends around an excess, which leave out 0 where the shuffles do.

    Where labels tell nothing the spread of shuffles is right and the jackknife too wide, by the
    part of its variance that shuffles have; far from there, the jackknife is right.
    """
    error, chance = errors.tolist()
    spread = float(drawn.std(ddof=1)) * math.sqrt(1 + 1 / len(drawn))
    least = student_reach(level, len(drawn)) * spread
    if abs(excess) > _FAR * spread:
        reach = quantile(level) * error
    else:
        reach = math.hypot(least, quantile(level) * math.sqrt(max(0.0, error**2 - chance**2)))
    low, high = excess - reach, excess + reach
    if abs(excess) > least:
        return (max(low, _ROUNDING), high) if excess > 0 else (low, min(high, -_ROUNDING))
    return low, high


def _note(shuffles: int, request: Request) -> str:
    """Return what a null value is the mean of, and how small p can be."""
    floor = f" {BETWEEN}_p is at least {1 / (1 + shuffles):.2g}." if request.permutations else ""
    return (
        f"{BETWEEN}_null is the value of {BETWEEN} if labels mean nothing: its mean over "
        f"{shuffles} shuffles of the samples among groups. {BETWEEN}_excess is {BETWEEN} less "
        f"{BETWEEN}_null."
        f"{floor}"
    )
