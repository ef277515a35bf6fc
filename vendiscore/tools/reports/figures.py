"""Pictures of findings, each with a caption."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ...magnitude.curve import MagnitudeCurve
from ...support.namespace import to_host
from ...support.types import Axes
from .. import plots
from ..analysis import sentences
from ..analysis.findings import Findings
from .svg import svg

_CELLS = 120  # rows of the heat map, whose pixels add to the size of the file


class Figure(NamedTuple):
    """A figure with its name, title and caption.

    Attributes
    ----------
    name : str
        Name such as "heat".
    svg : str
        The figure as SVG, to be included in an HTML page.
    title : str
        The title.
    text : str
        The caption.

    See Also
    --------
    vendiscore.report.pictures : Draw the figures of findings.

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
        return cls(name, svg(draw, label), title, text)


def pictures(found: Findings, curve: MagnitudeCurve | None = None) -> Iterator[Figure]:
    """Draw the figures of findings, one by one.

    Parameters
    ----------
    found : Findings
        Result of `find`.
    curve : MagnitudeCurve, optional
        A magnitude function to draw if the findings lack one.

    Yields
    ------
    Figure
        Similarities, spectrum, profile, growth and magnitude, if the findings contain them.

    See Also
    --------
    vendiscore.report.find : Compute findings.

    Examples
    --------
    >>> from vendiscore.report import find, pictures
    >>> [figure.name for figure in pictures(find(["a cat", "a cat", "the dog"], None, {}))]
    ['heat', 'spectrum', 'profile']
    """
    if found.similarity is not None:
        yield heat(found)
        yield spectrum(found)
        yield profile(found)
    if (grown := found.growth) is not None:
        label = (
            f"Growth: {grown.scores[0]:.1f} of {grown.sizes[0]} samples to {grown.scores[-1]:.1f} "
            f"of {grown.sizes[-1]}"
        )
        text = (
            "The score of fewer samples, and with a dashed line of up to twice as many. A curve "
            "that has become flat: more samples would add little."
        )
        if grown.n < found.n:
            text += f" Drawn from a random {grown.n:,} of all {found.n:,}."
        yield Figure.of("growth", "Growth", text, grown.plot, label)
    if (curve := found.curve or curve) is not None:
        yield magnitude(curve)


def heat(found: Findings) -> Figure:
    """Draw all similarities, with similar samples, and samples of a group, side by side."""
    picture = svg(
        lambda ax: plots.heat_map(found.K, found.seriated, groups=found.codes, ax=ax, cells=_CELLS),
        sentences.heat(found.K),
        (4.4, 3.7),
        (0.15, 0.13, 0.68, 0.85),
    )
    text = "Bright squares along the diagonal are clusters of similar samples."
    if found.codes is not None:
        text += " Lines divide the groups."
    drawn = len(found.chosen)
    if drawn < found.n:
        text += f" Drawn from a random {drawn:,} of all {found.n:,}."
    return Figure("heat", picture, "Similarities", text)


def spectrum(found: Findings) -> Figure:
    """Draw the largest eigenvalues as shares of the whole, in percent."""
    shares = to_host(found.spectrum.values)
    label = f"Spectrum: the largest of {len(shares)} shares is {100 * shares[0]:.1f}%"
    text = (
        "The share of the set that lies in each direction. One bar: all the same. Equal bars: all "
        "different. The score is the effective number of bars."
    )
    return Figure.of("spectrum", "Spectrum", text, lambda ax: plots.spectrum(shares, ax=ax), label)


def profile(found: Findings) -> Figure:
    """Draw the score at every order; mark the requested order if its score is of all samples."""
    orders = found.profile_orders
    values = found.profile
    mark = (found.order, found.value) if found.is_vendi and not found.grouped else None
    label = f"Profile: from {values[0]:.1f} at q = 0 to {values[-1]:.1f} at q = {orders[-1]:g}"
    text = (
        "Small q counts rare samples in full, large q looks at the commonest only. A steep curve "
        "means a few dominate."
    )
    return Figure.of(
        "profile",
        "Profile",
        text,
        lambda ax: plots.profile(orders, values, mark=mark, ax=ax),
        label,
    )


def magnitude(curve: MagnitudeCurve) -> Figure:
    """Draw a magnitude function with its convergence scale marked."""
    t = curve.convergence
    label = (
        f"Magnitude function: {curve.magnitude_at(t):.1f} at scale {t:.3g}, {curve.distinct} far "
        f"beyond {t:.3g}"
    )
    text = (
        "How many samples can be told apart at scale t (zooming in to the right). The dashed line "
        "is the convergence scale, where 95 % can."
    )
    return Figure.of(
        "magnitude", "Magnitude", text, lambda ax: plots.magnitude(curve, t=t, ax=ax), label
    )
