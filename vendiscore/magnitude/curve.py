"""The magnitude function of a set up to beyond its convergence scale, to look at and to ask."""

from dataclasses import dataclass

import numpy as np

from ..support.summary import SummaryMixin, make_frame, to_json_record
from ..support.types import Frame, Record, Samples
from .metric_space_builder import build_metric_space
from .scales import evaluate_magnitude, find_convergence_scale
from .space import MetricSpace


@dataclass(frozen=True, eq=False, repr=False)
class MagnitudeCurve(SummaryMixin):
    """Magnitude at many scales, to be drawn by `vendiscore.plots.magnitude`.

    Attributes
    ----------
    space : MetricSpace
    convergence : float, with Mag(convergence) = 0.95 · distinct; 0 if all are the same
    scales, values : array (m,), scales t, ascending from 0, and Mag(t)

    Examples
    --------
    >>> curve = magnitude_curve([0.0, 1.0])
    >>> curve.distinct, round(curve.magnitude_at(1.0), 3)
    (2, 1.462)
    """

    _repr_attributes = ("distinct", "convergence")

    space: MetricSpace
    convergence: float
    scales: np.ndarray
    values: np.ndarray

    @property
    def distinct(self) -> int:
        """Number of distinct samples, which magnitude approaches."""
        return self.space.distinct

    @property
    def sentence(self) -> str:
        """The number of samples that differ, and the scale at which 95 % of them count."""
        return (
            f"{self.distinct:,} distinct samples; 95 % of them count at the scale "
            f"{self.convergence:.4g}."
        )

    def to_dict(self) -> Record:
        """Return the numbers of the curve as plain values, for JSON."""
        names = ("distinct", "convergence", "scales", "values")
        return to_json_record({name: getattr(self, name) for name in names})

    def to_frame(self) -> Frame:
        """Return a pandas DataFrame with a row for each scale."""
        return make_frame({"scale": self.scales, "value": self.values})

    def magnitude_at(self, t: float) -> float:
        """Return Mag(t) at any scale t ≥ 0, as `magnitude` gives it."""
        return self.space.magnitude(t)

    def at(self, t: float) -> float:
        """Return `magnitude_at(t)`: an alias, its name before version 0.5."""
        return self.magnitude_at(t)


Curve = MagnitudeCurve  # its name before version 0.5


def magnitude_curve(samples: Samples, **options: object) -> MagnitudeCurve:
    """Return the magnitude function from 0 to half beyond the convergence scale, where 95 % differ.

    Parameters
    ----------
    samples : list, array, Similarity (by its distances √(2 − 2k)) or MetricSpace, of n samples
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `magnitude`.

    Returns
    -------
    MagnitudeCurve

    Raises
    ------
    ArithmeticError, IndefiniteError, TypeError, ValueError, TooLargeError
        The errors of `magnitude`.

    Notes
    -----
    Time and memory of `magnitude` at each scale.

    References
    ----------
    Leinster, Documenta Mathematica 2013, §2.2; Limbeck et al., arXiv 2311.16054, §3.

    Examples
    --------
    >>> found = magnitude_curve([0.0, 1.0])
    >>> round(found.magnitude_at(found.convergence), 6)  # 0.95 · 2
    1.9
    >>> len(found.values)
    25
    """
    space = build_metric_space(samples, options)
    limit = find_convergence_scale(space, 0.05)
    scales, values = evaluate_magnitude(space, np.linspace(0.0, 1.5 * limit, 25))
    return MagnitudeCurve(space, limit, scales, values)
