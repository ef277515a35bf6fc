"""One self-contained HTML file about a set, and what it and the page share.

The other names are for programs that show findings in their own way, as the page does.
"""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..analysis import sentences
    from ..analysis.between_sources import Sources
    from ..analysis.findings import Findings, find
    from ..core import types
    from ..reading.columnar_files import Columns
    from ..reading.columns import is_prose
    from ..reading.encodings import decode
    from ..reading.formats import FORMATS, format_of, named_format
    from ..reading.limits import AskError, Limits, RefusedError, Wanted
    from ..reading.number_tables import not_finite
    from ..reading.samples import Samples
    from ..reading.string_patterns import is_smiles
    from ..reading.table_samples import samples_of
    from ..reading.tables import (
        MOLECULE_NAMES,
        OTHER_NAMES,
        TEXT_NAMES,
        Table,
        are_numbers,
        is_named,
        join_names,
        share_of_numbers,
    )
    from . import thumbnails
    from .document import Report, report_of
    from .figures import Figure, pictures
    from .source_report import source_pictures

__all__ = [
    "FORMATS",
    "MOLECULE_NAMES",
    "OTHER_NAMES",
    "TEXT_NAMES",
    "AskError",
    "Columns",
    "Figure",
    "Findings",
    "Limits",
    "RefusedError",
    "Samples",
    "Table",
    "Wanted",
    "are_numbers",
    "decode",
    "find",
    "format_of",
    "is_named",
    "is_prose",
    "is_smiles",
    "join_names",
    "named_format",
    "not_finite",
    "pictures",
    "report",
    "report_of",
    "samples_of",
    "sentences",
    "share_of_numbers",
    "source_pictures",
    "thumbnails",
]
# Where the names are; nothing is imported for them before their first use.
_MODULES = {
    "analysis": "sentences",
    "analysis.findings": "Findings find",
    "reading.columnar_files": "Columns",
    "reading.columns": "is_prose",
    "reading.encodings": "decode",
    "reading.formats": "FORMATS format_of named_format",
    "reading.limits": "AskError Limits RefusedError Wanted",
    "reading.number_tables": "not_finite",
    "reading.samples": "Samples",
    "reading.string_patterns": "is_smiles",
    "reading.table_samples": "samples_of",
    "reading.tables": "MOLECULE_NAMES OTHER_NAMES TEXT_NAMES Table are_numbers is_named join_names "
    "share_of_numbers",
    "report": "thumbnails",
    "report.document": "report_of",
    "report.figures": "Figure pictures",
    "report.source_report": "source_pictures",
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names.split():
            return resolve_name(f"vendiscore.{module}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def report(
    samples: types.Samples | Sources,
    references: types.Samples | None = None,
    *,
    title: str | None = None,
    **keywords: Any,
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
    added unless `ci` is passed. Pairs are compared among 2,000 samples drawn at most (but among all
    for near-duplicates and modes of dense features), and growth uses at most 1,000. The table of
    samples, which are escaped, ends where the file would exceed about 500 kB. Pictures need
    matplotlib, and drawings of molecules RDKit.

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
