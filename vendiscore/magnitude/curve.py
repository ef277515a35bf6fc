"""The magnitude function of a set up to beyond its convergence scale, to look at and to ask."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arguments import number
from .distances import as_space
from .scales import check_count, check_epsilon, convergence, evaluate, even_scales
from .space import MetricSpace

# Up to how many convergence scales there is something to see.
REACH = 1.5


@dataclass(frozen=True, eq=False)
class Curve:
    """Magnitude at many scales.

    Attributes
    ----------
    space : MetricSpace
    epsilon, convergence : float
        Mag(convergence) = (1 − ε) · distinct; 0 where all samples are the same.
    scales, values : array (m,)
        Mag(t) at scales t, ascending from 0.
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
        """Mag(t) at any scale t ≥ 0; errors as for `magnitude`."""
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
    samples, **how
        As for `magnitude`; a Similarity is looked at through the distances √(2 − 2k).
    epsilon : float in (0, 1)
        The convergence scale is where magnitude reaches (1 − ε) of all distinct samples.
    n_scales : int ≥ 2
        How many evenly spaced scales.
    reach : float > 0
        The largest of them, in convergence scales.

    Returns
    -------
    Curve

    Raises
    ------
    As for `magnitude` and `convergence_scale`.

    Notes
    -----
    Cost: that of `magnitude`, for each scale.

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
