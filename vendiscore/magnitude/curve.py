"""The magnitude function of a set up to beyond its convergence scale, to look at and to ask."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arguments import number
from .scales import check_count, check_epsilon, convergence, evaluate, even_scales
from .space import MetricSpace
from .spaces_of_samples import as_space

# Up to how many convergence scales there is something to see.
REACH = 1.5


@dataclass(frozen=True, eq=False)
class Curve:
    """Magnitude at many scales, to be drawn by `vendiscore.plots.magnitude`.

    Attributes
    ----------
    space : MetricSpace
    epsilon, convergence : float
        Mag(convergence) = (1 − ε) · distinct; 0 where all samples are the same.
    scales, values : array (m,)
        Mag(t) at scales t, ascending from 0.

    Examples
    --------
    >>> curve = magnitude_curve([0.0, 1.0])
    >>> curve.distinct, round(curve.at(1.0), 3)
    (2, 1.462)
    """

    space: MetricSpace
    epsilon: float
    convergence: float
    scales: np.ndarray
    values: np.ndarray

    @property
    def distinct(self) -> int:
        """Number of distinct samples, which magnitude approaches."""
        return self.space.distinct

    def at(self, t: float) -> float:
        """Mag(t) at any scale t ≥ 0, as `magnitude` gives it."""
        return self.space.magnitude(t)


def magnitude_curve(
    samples: Any,
    *,
    epsilon: float = 0.05,
    n_scales: int = 25,
    reach: float = REACH,
    **how: Any,
) -> Curve:
    """The magnitude function from 0 to beyond the convergence scale.

    Parameters
    ----------
    samples : list, array, Similarity or MetricSpace
        n samples; a Similarity is looked at through the distances √(2 − 2k).
    epsilon : float, at least 1e-6 and below 1
        The convergence scale is where magnitude reaches (1 − ε) of all distinct samples.
    n_scales : int ≥ 2
        How many evenly spaced scales.
    reach : float > 0
        The largest of them, in convergence scales.
    **how
        `metric`, `k`, `solver` and options of the metric or kernel, as for `magnitude`.

    Returns
    -------
    Curve

    Raises
    ------
    IndefiniteError
        If there is no magnitude at one of the scales.
    TypeError, ValueError, TooLargeError
        For arguments that are refused, and sets that are too large for memory.

    Notes
    -----
    Cost: that of `magnitude`, for each scale.

    References
    ----------
    Leinster, Documenta Mathematica 2013, §2.2; Limbeck et al., arXiv 2311.16054, §3.

    Examples
    --------
    >>> found = magnitude_curve([0.0, 1.0], n_scales=4)
    >>> round(found.at(found.convergence), 6)  # 0.95 · 2
    1.9
    >>> found.values.round(3)
    array([1.   , 1.627, 1.9  , 1.976])
    """
    n_scales, epsilon = check_count(n_scales), check_epsilon(epsilon)
    reach = number("reach", reach, "a finite number above 0", lambda r: 0 < r < math.inf)
    space = as_space(samples, **how)
    limit = convergence(space, epsilon)
    scales, values = evaluate(space, even_scales(reach * limit, n_scales))
    return Curve(space, epsilon, limit, scales, values)
