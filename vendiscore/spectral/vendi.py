"""The Vendi Score of a similarity: effective numbers of several orders, from one spectrum at most.

The Vendi Score of order q is the Hill number of the shares (Friedman & Dieng, arXiv 2210.02410;
orders: Pasarkar & Dieng, arXiv 2310.12952). Whatever way it came, it is looked at last: an
effective number of n samples is between 1 and n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays.namespace import Array, is_torch, scalar, to_host
from ..errors import warn
from ..similarity.base import Similarity
from .hill import RANGE_TOLERANCE, effective_number
from .lanczos import largest_eigenvalue
from .routes import PSD, Plan, choose
from .spectrum import (
    CUT_MATTERS,
    Shares,
    fault_of,
    find_shares,
    merge_identical,
    negative_mass_of,
    weighted_by,
)


@dataclass(frozen=True)
class Spectral:
    """Effective numbers with how they were found.

    Attributes
    ----------
    values : list of float (or 0-d torch tensors)
        One for each order asked for, in that order; each in [1, n].
    plans : list of Plan
        One for each order.
    distinct : int
        Number of samples after identical ones were merged, where they were looked for, else n.
    negative_mass : float or None
        Minus the sum of the negative eigenvalues that were set to zero, of a trace of 1; None
        where no spectrum was needed.
    cut : float
        Shares below this counted as rounding, and so as zero; 0 where none was sought.
    """

    values: list[Any]
    plans: list[Plan]
    distinct: int
    negative_mass: float | None = None
    cut: float = 0.0


def vendi(
    similarity: Similarity,
    orders: Sequence[float] = (1.0,),
    p: Array | None = None,
    psd: PSD = "check",
) -> Spectral:
    """The Vendi Scores of several orders, from as little work as they need.

    Parameters
    ----------
    similarity : Similarity
        With unit diagonal; not changed.
    orders : sequence of float in [0, ∞]
        One spectrum serves all that need one.
    p : array (n,), optional
        Probability weights, uniform by default.
    psd : {"check", "clip"}
        What to do about negative eigenvalues beyond rounding: raise, or set them to zero and
        restore the trace. "check" looks at the eigenvalues that an order needs: alone, order 2
        needs none and order ∞ only some, so that a negative one can go unnoticed there.

    Returns
    -------
    Spectral

    Raises
    ------
    NotPSDError
        See `psd`.
    TooLargeError
        If the matrix would not fit in memory, before it is allocated.

    Notes
    -----
    Time O(n d² + d³) from d < n features, O(n³) from a dense matrix, O(n²) for orders 2 and ∞.
    One matrix of size min(n, d)² is allocated.
    """
    full = choose(similarity, 1.0, psd)
    plans = [choose(similarity, q, psd) for q in orders]
    if full in plans:
        # The spectrum is needed anyway, and gives the orders with closed forms for nothing.
        plans = [full] * len(plans)
    merged, weights = similarity, p
    if full in plans and full.method == "eigenvalues":
        merged, weights = merge_identical(similarity, p)
    weighted = weighted_by(merged, weights)
    values = [_closed_form(weighted, plan, psd) for plan in plans]
    found = None
    if any(value is None for value in values):
        found = find_shares(weighted, psd, orders)
        if full not in plans:
            full = replace(full, why="Lanczos iteration was too slow")
        elif merged.n < similarity.n:
            full = replace(full, why=f"{full.why}, {merged.n} of them distinct", size=merged.n)
        plans = [full if v is None else plan for v, plan in zip(values, plans, strict=True)]
        values = [
            effective_number(found.values, q) if v is None else v
            for v, q in zip(values, orders, strict=True)
        ]
        _tell_of_cut(found, orders)
    values = [_in_range(value, q, weighted) for value, q in zip(values, orders, strict=True)]
    if found is None:
        return Spectral(values, plans, merged.n)
    return Spectral(values, plans, merged.n, found.negative_mass, found.cut)


def _closed_form(weighted: Similarity, plan: Plan, psd: PSD) -> Any:
    if plan.method == "norm":
        with np.errstate(all="ignore"):
            return 1 / weighted.squared_norm()
    if plan.method == "lanczos":
        floor = -negative_mass_of(weighted) if psd == "check" else -math.inf
        largest = largest_eigenvalue(weighted, floor)
        return None if largest is None else 1 / largest
    return None


def _in_range(value: Any, q: float, weighted: Similarity) -> Any:
    """The effective number, if it can be one of n samples; rounding is taken off it."""
    n = weighted.n
    if not 1 - RANGE_TOLERANCE <= scalar(value) <= n * (1 + RANGE_TOLERANCE):
        raise ValueError(
            f"the Vendi Score of order {q:g} came out as {scalar(value):.6g}, which no {n} samples "
            f"have: {fault_of(weighted)}"
        )
    return value if is_torch(value) else float(min(max(value, 1.0), n))


def _tell_of_cut(found: Shares, orders: Sequence[float]) -> None:
    """Warn where what was taken for rounding may have changed a score of small order."""
    kept = to_host(found.values)
    kept = kept[kept > 0]
    q = min(orders)  # the least order moves most
    if found.lost and q < 1:
        moved = math.log1p(found.lost * found.cut**q / float(np.sum(kept**q))) / (1 - q)
        if moved > CUT_MATTERS:
            warn(
                f"{found.lost} eigenvalues below {found.cut:.2g} of the trace may be rounding and "
                f"count as zero; order {q:g} would be up to {math.expm1(moved):.2g} larger if they "
                f"are not (relative). Orders of 1 and more do not depend on them."
            )
