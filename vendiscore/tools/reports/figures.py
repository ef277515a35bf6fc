"""The figures of a report, with titles and captions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ...magnitude.curve import MagnitudeCurve
from ...support.namespace import to_host
from ...support.types import Axes
from .. import plots
from ..analysis import report_text
from ..analysis.growth import Growth
from ..analysis.report_data import ReportData
from .svg import render_svg

# Maximum number of rows of the heat map, to keep the file small.
_MAX_HEAT_MAP_ROWS = 120


class Figure(NamedTuple):
    """A figure with its name, title and caption.

    Attributes
    ----------
    name : str
        Name such as "heat".
    svg : str
        The figure as SVG, for inclusion in an HTML page.
    title : str
        The title.
    text : str
        The caption.

    See Also
    --------
    vendiscore.report.pictures : Draw the figures of a report.

    Examples
    --------
    >>> from vendiscore.report import Figure
    >>> figure = Figure.of("dots", "Dots", "Two of them.", lambda ax: ax.plot([0, 1], "o"), "dots")
    >>> figure.svg[:4]
    '<svg'
    """

    name: str
    svg: str
    title: str
    text: str

    @classmethod
    def of(
        cls, name: str, title: str, text: str, draw: Callable[[Axes], object], label: str
    ) -> Figure:
        """Draw a figure with matplotlib.

        Parameters
        ----------
        name : str
            Name of the figure.
        title : str
            The title.
        text : str
            The caption.
        draw : callable
            Function that draws on matplotlib Axes.
        label : str
            Description for screen readers.

        Returns
        -------
        Figure
            The figure.
        """
        return cls(name, render_svg(draw, label), title, text)


def pictures(report_data: ReportData, curve: MagnitudeCurve | None = None) -> Iterator[Figure]:
    """Draw the figures of a report, one by one.

    Parameters
    ----------
    report_data : ReportData
        Result of `compute_report_data`.
    curve : MagnitudeCurve, optional
        A magnitude function to draw if `report_data` contains no magnitude function.

    Yields
    ------
    Figure
        Similarities, spectrum, profile, growth and magnitude, if `report_data` contains them.

    See Also
    --------
    vendiscore.report.compute_report_data : Compute the content of a report.

    Examples
    --------
    >>> from vendiscore.report import compute_report_data, pictures
    >>> data = compute_report_data(["a cat", "a cat", "the dog"], None, {})
    >>> [figure.name for figure in pictures(data)]
    ['heat', 'spectrum', 'profile']
    """
    if report_data.similarity is not None:
        yield heat_map_figure(report_data)
        yield spectrum_figure(report_data)
        yield profile_figure(report_data)
    if report_data.growth is not None:
        yield growth_figure(report_data.growth, report_data.n)
    if (magnitude_curve := report_data.curve or curve) is not None:
        yield magnitude_figure(magnitude_curve)


def heat_map_figure(report_data: ReportData) -> Figure:
    """Draw the similarities of all compared samples; similar samples of a group are adjacent."""
    svg = render_svg(
        lambda ax: plots.heat_map(
            report_data.K,
            report_data.heat_map_order,
            groups=report_data.codes,
            ax=ax,
            cells=_MAX_HEAT_MAP_ROWS,
        ),
        report_text.describe_heat_map(report_data.K),
        (4.4, 3.7),
        (0.15, 0.13, 0.68, 0.85),
    )
    caption = "Bright squares along the diagonal are clusters of similar samples."
    if report_data.codes is not None:
        caption += " Lines separate the groups."
    caption += _subsample_note(len(report_data.subsample_rows), report_data.n)
    return Figure("heat", svg, "Similarities", caption)


def spectrum_figure(report_data: ReportData) -> Figure:
    """Draw the largest normalized eigenvalues, in percent."""
    eigenvalues = to_host(report_data.spectrum.values)
    label = (
        f"Spectrum: the largest of {len(eigenvalues)} normalized eigenvalues is "
        f"{100 * eigenvalues[0]:.1f}%"
    )
    caption = (
        "The proportion of the set along each direction. A single bar means identical samples, "
        "equal bars mean completely different ones. The score is the effective number of bars."
    )
    return Figure.of(
        "spectrum", "Spectrum", caption, lambda ax: plots.spectrum(eigenvalues, ax=ax), label
    )


def profile_figure(report_data: ReportData) -> Figure:
    """Draw the score at each order; without groups, the requested order is marked."""
    orders = report_data.profile_orders
    values = report_data.profile
    mark = None
    if report_data.is_vendi and not report_data.grouped:
        mark = report_data.order, report_data.value
    label = f"Profile: from {values[0]:.1f} at q = 0 to {values[-1]:.1f} at q = {orders[-1]:g}"
    caption = (
        "Small orders q count rare samples fully, large orders depend only on the most common "
        "ones. A steep curve means that a few clusters of similar samples dominate the set."
    )
    return Figure.of(
        "profile",
        "Profile",
        caption,
        lambda ax: plots.profile(orders, values, mark=mark, ax=ax),
        label,
    )


def growth_figure(growth: Growth, n: int) -> Figure:
    """Draw the score of fewer and of more samples; the set has n samples."""
    label = (
        f"Growth: {growth.scores[0]:.1f} of {growth.sizes[0]} samples to {growth.scores[-1]:.1f} "
        f"of {growth.sizes[-1]}"
    )
    caption = (
        "The score of fewer samples and, as a dashed line, the expected score of up to twice as "
        "many. If the curve is flat, more samples would add little."
    )
    caption += _subsample_note(growth.n, n)
    return Figure.of("growth", "Growth", caption, growth.plot, label)


def magnitude_figure(curve: MagnitudeCurve) -> Figure:
    """Draw a magnitude function, with its convergence scale marked."""
    t = curve.convergence
    label = (
        f"Magnitude function: {curve.magnitude_at(t):.1f} at scale {t:.3g}; at larger scales, it "
        f"approaches {curve.distinct}, the number of distinct samples"
    )
    caption = (
        "The effective number of points at scale t: points much closer than 1/t count nearly as "
        "one. The dashed line is the convergence scale, where the magnitude reaches 95 % of the "
        "number of distinct points."
    )
    return Figure.of(
        "magnitude", "Magnitude", caption, lambda ax: plots.magnitude(curve, t=t, ax=ax), label
    )


def _subsample_note(n_shown: int, n: int) -> str:
    """Return a sentence, after a space, if only a random subset of n samples is shown."""
    if n_shown == n:
        return ""
    return f" Based on a random subset of {n_shown:,} of the {n:,} samples."
