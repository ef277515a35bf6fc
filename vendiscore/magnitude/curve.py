"""The magnitude function of a set, from scale 0 to 1.5 times its convergence scale, for plots."""

from dataclasses import dataclass

import numpy as np

from ..support.summary import SummaryMixin, make_frame, to_json_record
from ..support.types import Frame, Record, Samples
from .metric_space_builder import build_metric_space
from .scales import evaluate_magnitude, find_convergence_scale
from .space import MetricSpace


@dataclass(frozen=True, eq=False, repr=False)
class MagnitudeCurve(SummaryMixin):
    """A magnitude function at many scales, for `vendiscore.plots.magnitude`.

    Magnitude is an effective number of points if all distances are multiplied by a scale.

    Attributes
    ----------
    space : MetricSpace
        The points and their distances.
    convergence : float
        The convergence scale, at which magnitude is 0.95 times the number of distinct samples; 0 if
        all are identical.
    scales : array of shape (m,)
        Scales in ascending order, from 0.
    values : array of shape (m,)
        Magnitudes at these scales.

    See Also
    --------
    magnitude_curve : Compute a curve.

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
        """Number of distinct samples, which magnitude approaches as the scale increases."""
        return self.space.distinct

    @property
    def sentence(self) -> str:
        """Sentence with the number of distinct samples and the convergence scale."""
        return (
            f"{self.distinct:,} distinct samples; the magnitude is 95 % of this number at the "
            f"scale {self.convergence:.4g}."
        )

    def to_dict(self) -> Record:
        """Return the curve as built-in types, for JSON.

        Returns
        -------
        dict
            Values of built-in types.
        """
        names = ("distinct", "convergence", "scales", "values")
        return to_json_record({name: getattr(self, name) for name in names})

    def to_frame(self) -> Frame:
        """Return one row per scale as a pandas DataFrame.

        Returns
        -------
        pandas DataFrame
            The rows.
        """
        return make_frame({"scale": self.scales, "value": self.values})

    def magnitude_at(self, t: float) -> float:
        """Compute magnitude at any scale.

        Parameters
        ----------
        t : float
            Scale in units of 1 / distance, at least 0.

        Returns
        -------
        float
            The magnitude.
        """
        return self.space.magnitude(t)

    def at(self, t: float) -> float:
        """Compute magnitude at any scale; an alias of `magnitude_at`.

        Parameters
        ----------
        t : float
            Scale in units of 1 / distance, at least 0.

        Returns
        -------
        float
            The magnitude.
        """
        return self.magnitude_at(t)


Curve = MagnitudeCurve  # alias, the name before version 0.5


def magnitude_curve(samples: Samples, **options: object) -> MagnitudeCurve:
    """Compute the magnitude function from 0 to 1.5 times the convergence scale, for a plot.

    Magnitude at the convergence scale is 95 % of the number of distinct samples.

    Parameters
    ----------
    samples : list, array-like, Similarity or MetricSpace
        The n samples, as for `as_space`. Not modified.
    **options
        `metric`, `k`, `solver` and options of the metric or kernel, as for `as_space`.

    Returns
    -------
    MagnitudeCurve
        The scales, the values and the convergence scale.

    Raises
    ------
    IndefiniteError
        If the matrix exp(-t D) of the distances D is singular or indefinite at a scale t, so
        magnitude is undefined. At small scales, this may happen for metrics that are not of
        negative type (unlike "euclidean", for example).
    ArithmeticError
        If a value exceeds the range of double precision, or rounding errors are too large.
    TooLargeError
        If the distances and one work array do not fit in memory; raised before allocation.
    TypeError, ValueError
        If samples, scales or options are invalid.

    See Also
    --------
    vendiscore.magnitude_function : Magnitude at given scales.
    vendiscore.plots.magnitude : Plot the result.

    Notes
    -----
    Time and memory are those of `magnitude` at each scale.

    References
    ----------
    1. T. Leinster, "The Magnitude of Metric Spaces", Documenta Mathematica, 2013,
       section 2.2.
    2. K. Limbeck et al., "Metric Space Magnitude for Evaluating the Diversity of Latent
       Representations", 2024. arXiv:2311.16054, section 3.

    Examples
    --------
    >>> result = magnitude_curve([0.0, 1.0])
    >>> round(result.magnitude_at(result.convergence), 6)  # 0.95 · 2
    1.9
    >>> len(result.values)
    25
    """
    space = build_metric_space(samples, options, magnitude_curve)
    limit = find_convergence_scale(space, 0.05)
    scales, values = evaluate_magnitude(space, np.linspace(0.0, 1.5 * limit, 25))
    return MagnitudeCurve(space, limit, scales, values)
