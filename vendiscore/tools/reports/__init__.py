"""One self-contained HTML file about a set, and what it and the page share.

The other names are for programs that show findings in their own way, as the page does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...support import types
    from ..analysis.between_sources import Sources
    from .document import Report
    from .public_names import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Return a name of `public_names`."""
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(".public_names", __name__), name)


def report(
    samples: types.Samples | Sources,
    references: types.Samples | None = None,
    *,
    title: str | None = None,
    **keywords: object,
) -> Report:
    """Write a report on the diversity of samples as a single self-contained HTML file.

    It contains the score and its interval, near-duplicates, modes, redundant samples, growth,
    figures, all samples, and Python code that recomputes the score.

    Parameters
    ----------
    samples : list, array-like, Similarity or Sources
        The n samples, as for `compute`. A list of lists means groups. Not modified. A result of
        `sources` gives a report on the effective number of sources; it supports only `title`.
    references : list, array-like or Similarity, optional
        Second set, for two-sample measures.
    title : str, optional
        Heading, by default for example "Diversity of 20 texts".
    **keywords
        `k`, `q`, `groups`, `measures` and other arguments of `compute`.

    Returns
    -------
    Report
        ``write_html(path)`` writes the file, ``html()`` returns it as a string, and `numbers` is
        the result of `compute` with details. Notebooks display the report.

    Raises
    ------
    SampleError
        If samples are unusable; the message lists their indices.
    NotPSDError
        If similarities have negative eigenvalues, unless ``psd="clip"``. This holds for every `q`,
        as the report shows all orders.
    TooLargeError
        If the computation does not fit in memory; raised before allocation.
    TypeError, ValueError
        If an argument is invalid.

    See Also
    --------
    compute : Only the scores.
    explain : Contribution of each sample, and near-duplicates, in Python.

    Notes
    -----
    The same samples, arguments and package versions give the same bytes. A 95 % interval is added
    unless `ci` is passed or computing it would take long. Pairs are compared among at most 2000
    random samples, but near-duplicates and modes of dense features among all; growth uses at most
    1000. Samples are escaped; the table of samples ends when the file would exceed about 500 kB.
    Figures require matplotlib, drawings of molecules RDKit.

    Examples
    --------
    >>> import vendiscore
    >>> result = vendiscore.report(["a cat", "a cat", "the dog"], ns=[1, 2])
    >>> result.numbers["VS"]
    1.889...
    >>> [section.name for section in result.sections][:2]
    ['score', 'alike']
    """
    from ..analysis.between_sources import Sources
    from ..analysis.findings import find
    from .document import report_of

    if title is not None and not isinstance(title, str):
        raise TypeError(
            f"`title` must be a string, got {type(title).__name__}; leave it out for the usual one"
        )
    if isinstance(samples, Sources):
        from .source_report import source_report

        if references is not None or keywords:
            raise TypeError(
                "a report of sources takes no keywords but `title`; pass them to `sources`"
            )
        return source_report(samples, title)
    return report_of(find(samples, references, keywords), title)
