"""Reports as a single HTML file, and the functions that the web app shares with them.

Functions other than `report` are for programs that present the results in their own way.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...support import types
    from ..analysis.sources_result import Sources
    from .app_exports import *  # noqa: F403
    from .document import Report


def __getattr__(name: str) -> Any:
    """Return a name of `app_exports`, imported on first use."""
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(".app_exports", __name__), name)


def report(
    samples: types.Samples | Sources,
    references: types.Samples | None = None,
    *,
    title: str | None = None,
    **keywords: object,
) -> Report:
    """Write a report on the diversity of samples as a single self-contained HTML file.

    It contains the score and its interval, near-duplicates, modes, the contribution of each sample,
    repeated phrases of texts, growth, figures, all samples, and Python code that recomputes the
    score.

    Parameters
    ----------
    samples : list, array-like, Similarity or Sources
        The n samples, as for `compute`. A list of lists means groups. Not modified. For a result
        of `sources`, the report is about the effective number of sources; then no other argument
        than `title` is supported.
    references : list, array-like or Similarity, optional
        Second set, for two-sample measures.
    title : str, optional
        Heading, by default for example "Diversity of 20 texts".
    **keywords
        `k`, `q`, `groups`, `measures` and other arguments of `compute`.

    Returns
    -------
    Report
        The report. ``write_html(path)`` writes the file, ``html()`` returns it as a string, and
        `numbers` is the result of `compute` with details. Notebooks display the report.

    Raises
    ------
    SampleError
        If samples are unusable; the message lists their indices.
    NotPSDError
        If similarities have negative eigenvalues and ``psd="check"``, whatever the order `q`,
        because the report shows the scores of all orders.
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
    The same samples, arguments and package versions give the same bytes. If `ci` is omitted, a 95 %
    interval is added unless its computation would take long. Contributions are computed for at most
    2000 random samples, growth for at most 1000. Repeated phrases are listed for texts that are
    compared by n-grams, in at most 500 random texts, or in groups of at most 500. Near-duplicates
    and modes are computed for all samples if the kernel has dense features, otherwise for at most
    2000. Samples are escaped. The table of samples is truncated to keep the file below about
    500 kB. Figures require matplotlib, drawings of molecules require RDKit.

    Examples
    --------
    >>> import vendiscore
    >>> result = vendiscore.report(["a cat", "a cat", "the dog"], ns=[1, 2])
    >>> result.numbers["VS"]
    1.889...
    >>> [section.name for section in result.sections][:2]
    ['score', 'alike']
    """
    from ..analysis.report_data import compute_report_data
    from ..analysis.sources_result import Sources
    from .document import report_of

    if title is not None and not isinstance(title, str):
        raise TypeError(
            f"`title` must be a string, got {type(title).__name__}; omit it for the default title"
        )
    if isinstance(samples, Sources):
        from .source_report import source_report

        if references is not None or keywords:
            raise TypeError(
                "a report on sources supports only the argument `title`; pass other arguments to "
                "`sources`"
            )
        return source_report(samples, title)
    return report_of(compute_report_data(samples, references, keywords), title)
