"""Values where there is nothing to find: of samples whose groups, or sets, were shuffled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays.namespace import scalar
from ..arrays.types import Record
from ..measures import group_shuffles
from ..measures.evaluation import Chosen
from ..measures.subject import Subject
from ..registry.measure import Measure
from ..similarity.matrix import in_full
from ..uncertainty.jackknife import quantile
from ..uncertainty.subsampling import student_reach
from .intervals import Sureness
from .request import Request

LEAST, MOST = 2, 20  # numbers of shuffles where `permutations` is not passed
_FAR = 4  # standard deviations of shuffles, beyond which the jackknife's interval is taken
_NEAR = 0.9  # of its largest, above which intervals of an excess were seen to be too narrow
_ROUNDING = 1e-9


def add_nulls(
    subject: Subject, request: Request, scores: Sequence[Mapping[str, Any]], sure: Sureness
) -> None:
    """Add the null value and the excess of each number that has them, and p if asked."""
    for chosen, own in zip(request.measures, scores, strict=True):
        if not chosen.measure.null:
            continue
        grouped = chosen.measure.groups
        parts = [subject] if grouped or subject.groups is None else subject.parts
        shuffles = request.permutations or min(_usual(part, chosen, request) for part in parts)
        drawn = np.mean([_drawn(part, chosen, shuffles) for part in parts], axis=0)  # (keys, B)
        errors = None
        if grouped and request.ci is not None:  # by the jackknife, as it is and shuffled
            logs = np.array([group_shuffles.left_out(subject, mixed) for mixed in (False, True)])
            spread = np.sqrt((subject.n - 1) * logs.var(axis=-1))
            errors = (np.exp(logs.mean(axis=-1)) * spread).T
        for i, (key, value) in enumerate(own.items()):
            null = float(drawn[i].mean())
            excess = scalar(value) - null
            found: Record = {"null": null, "excess": value - null}
            if request.permutations:
                as_much = drawn[i] >= scalar(value) - _ROUNDING * max(1.0, abs(null))
                found["p"] = float(1 + as_much.sum()) / (1 + shuffles)
            still = float(np.ptp(drawn[i])) < _ROUNDING
            if still and grouped:
                sure.notes.append(
                    f"No shuffle changes {key}: groups of these sizes tell nothing, "
                    "and the interval of its excess is all that is possible."
                )
            if errors is not None and request.ci is not None:
                most = group_shuffles.most(subject, subject.orders[i])
                low, high = min(0.0, 1 - null), max(0.0, most - null)  # all that is possible
                if not still:
                    low, end = ends(excess, drawn[i], errors[i], request.ci)
                    high = min(high, end)
                found |= {"excess_low": min(low, excess), "excess_high": max(high, excess)}
                if not still and scalar(value) > _NEAR * most:
                    sure.notes.append(
                        f"{key} is near {most:.4g}, its largest: the interval of its excess is too "
                        f"narrow where hardly any sample has its like in another group."
                    )
            sure.numbers.setdefault(key, {}).update(found)
        sure.notes.append(_note(chosen.measure, shuffles, request))


def _usual(subject: Subject, chosen: Chosen, request: Request) -> int:
    """Return how many shuffles cost about twice the score, from LEAST to MOST."""
    if not chosen.measure.groups:
        n, m = subject.both.sizes
        return 8 if n == m and chosen.measure.name != "KEN" else LEAST
    sizes = group_shuffles.group_sizes(subject).astype(float)
    few = 2 * sizes.sum() ** 3 / (sizes**3).sum()
    return MOST if request.ci is not None else int(np.clip(few, LEAST, MOST))


def _drawn(subject: Subject, chosen: Chosen, shuffles: int) -> np.ndarray:
    """Return the numbers of a measure with labels shuffled, (keys, shuffles)."""
    if chosen.measure.groups:
        return group_shuffles.shuffled(subject, shuffles)
    rng, compute = np.random.default_rng(0), chosen.measure.compute
    pool = in_full(subject.both.similarity, subject.both.similarity.n)
    mixed = (subject.shuffled(pool, rng) for _ in range(shuffles))
    return np.array([[scalar(compute(each, **chosen.options)) for each in mixed]])


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


def _note(measure: Measure, shuffles: int, request: Request) -> str:
    """Return what a null value is the mean of, and how small p can be."""
    labels = "groups" if measure.groups else "samples and references"
    floor = f" NAME_p is at least {1 / (1 + shuffles):.2g}." if request.permutations else ""
    said = (
        f"NAME_null is the value of NAME if labels mean nothing: its mean over {shuffles} shuffles "
        f"of the samples among {labels}. NAME_excess is NAME less NAME_null.{floor}"
    )
    return said.replace("NAME", measure.name)
