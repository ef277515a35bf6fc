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
    """Write a report of how diverse samples are, and why: one HTML file that needs nothing else.

    It has the number and its interval, near-duplicates, modes, redundant samples, growth, pictures,
    all samples, and Python code that recomputes the number.

    Parameters
    ----------
    samples : list, array, Similarity or Sources
        n samples of the kind that `k` compares; a list of lists means groups. Not changed. A
        result of `sources` gives the report of how many sources differ, and takes only `title`.
    references : samples of the same kind, optional, for measures that compare two sets
    title : str, optional, the heading; such as "Diversity of 20 texts" by default
    **keywords
        As for `compute`: `k`, `q`, `groups`, `measures` and so on.

    Returns
    -------
    Report
        `write_html(path)` writes the file, `html()` returns its text, and `numbers` is the result
        of `compute` with details; notebooks show the report.

    Raises
    ------
    TypeError, ValueError, SampleError, TooLargeError
        For input that cannot be scored, or not in memory; the message names the remedy.
    NotPSDError
        For negative eigenvalues unless `psd="clip"`, whatever `q` is: the profile has every order.

    Notes
    -----
    The same samples, keywords and versions of packages give the same bytes. A 95 % interval is
    added unless `ci` is passed or it would take long. Pairs are compared among 2,000 samples drawn
    at most (but among all for near-duplicates and modes of dense features), and growth uses at most
    1,000. The table of samples, which are escaped, ends where the file would exceed about 500 kB.
    Pictures need matplotlib, and drawings of molecules RDKit.

    Examples
    --------
    >>> import vendiscore
    >>> found = vendiscore.report(["a cat", "a cat", "the dog"], ns=[1, 2])
    >>> found.numbers["VS"]
    1.889...
    >>> [section.title for section in found.sections][:2]
    ['The number', 'What is alike']
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
