"""Measures of the spread of columns, and of how evenly points fill a box."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy

from ..arrays import sparse as sp
from ..core.arguments import is_several, number
from ..core.errors import SampleError
from ..core.namespace import to_host
from ..distances.all_pairs import numpy_rows
from ..registry.measure import register_measure
from .subject import Subject, UnsuitedError

Ends = float | tuple[float, ...]


def _read_box(box: Any) -> tuple[Ends, Ends]:
    expected = (
        f"`box` must be the lowest and the highest corner, each a number or one for each column, "
        f"got {box!r:.60}; pass (0, 1)"
    )
    ends = list(box) if is_several(box) else []
    if len(ends) != 2:
        raise ValueError(expected)
    end = partial(number, "box", expected="of finite numbers", remedy="pass (0, 1)")
    low, high = (tuple(map(end, each)) if is_several(each) else end(each) for each in ends)
    lows, highs = np.atleast_1d(low), np.atleast_1d(high)
    if 1 not in (len(lows), len(highs)) and len(lows) != len(highs):
        raise ValueError(expected)
    if not (lows < highs).all():
        raise ValueError(f"`box` must have every lowest end below the highest, got {box!r:.60}")
    return low, high


@register_measure(
    "L2Star",
    needs="samples",
    range="[0, ∞)",
    direction="lower",
    source="Warnock 1972; Limbeck et al., arXiv 2311.16054, C.5",
    readers={"box": _read_box},
)
def l2_star(subject: Subject, box: tuple[Ends, Ends] = (0, 1)) -> float:
    """The L2-star discrepancy of points from an even filling of a box, the unit cube by default.

    `box` is its lowest and highest corner, each a number or one for each column. Time O(n² d).
    """
    X = subject.vectors
    if X is None:
        raise UnsuitedError(f"samples that are points, got {type(subject.samples).__name__}")
    with subject.located():
        X = np.asarray(numpy_rows(X), dtype=np.float64)
    for end in box:
        if np.size(end) not in (1, X.shape[1]):
            raise ValueError(
                f"`box` must have an end for each of {X.shape[1]} columns, got {np.size(end)}; "
                f"pass one number for all"
            )
    low, high = (np.broadcast_to(np.asarray(end, float), X.shape[1:]) for end in box)
    outside = ~((low <= X) & (high >= X))
    problems, places = {}, subject.places_kept
    for i in map(int, np.flatnonzero(outside.any(axis=1))):
        j = int(np.argmax(outside[i]))
        problems[int(places[i])] = (
            f"has {X[i, j]:.6g} in column {j}, outside of [{low[j]:g}, {high[j]:g}], the box of "
            "L2Star; pass one `box` for all sets, or leave L2Star out"
        )
    SampleError.check(problems)
    unit = np.clip((X - low) / (high - low), 0.0, 1.0)  # what is inside may be rounded out of it
    return float(scipy.stats.qmc.discrepancy(unit, method="L2-star"))


@register_measure(
    "GMStds",
    needs="features",
    range="[0, ∞)",
    direction="higher",
    source="Lai et al., 2020; Limbeck et al., arXiv 2311.16054, C.1",
)
def geometric_mean_of_deviations(subject: Subject) -> float:
    """The geometric mean of the standard deviations of all columns; 0 if one is constant.

    The columns of texts are their own words and phrases, not the words of other groups.
    """
    X = subject.features
    if sp.issparse(X):
        X = sp.csc_array(X).astype(np.float64)
        n = X.shape[0]
        ends = [np.asarray(end.toarray()).ravel() for end in (X.min(axis=0), X.max(axis=0))]
        mean, stored = np.asarray(X.mean(axis=0)).ravel(), np.diff(X.indptr)
        X.data = (X.data - np.repeat(mean, stored)) ** 2
        deviations = np.sqrt((X.sum(axis=0) + (n - stored) * mean**2) / n)
    else:
        X = np.asarray(to_host(X), dtype=np.float64)
        ends = [X.min(axis=0), X.max(axis=0)]
        # Powers of two, which take no digit: squares of 1e200 overflow.
        top = np.ldexp(1.0, np.frexp(np.abs(X).max(axis=0))[1] - 1)
        deviations = np.std(X / top, axis=0) * top
    # Rounding makes the mean of equal numbers differ from them.
    if not (deviations > 0).all() or (ends[0] == ends[1]).any():
        return 0.0
    return float(np.exp(np.log(deviations).mean()))
