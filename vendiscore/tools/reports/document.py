"""A report as a self-contained HTML document."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from ...support.summary import SummaryMixin, format_with_error, make_frame, to_json_value
from ...support.types import Frame, Record, Samples
from ..analysis.report_data import ReportData
from .markup import escape, render_list
from .previews import Previews
from .sections import Section, compile_phrases, iter_sections
from .svg import PALETTE


@dataclass(frozen=True, repr=False)
class Report(SummaryMixin):
    """A report on the diversity of samples, as a single HTML file; notebooks display it.

    Attributes
    ----------
    title : str
        The heading.
    numbers : dict
        Result of `compute` with `details`, and with an interval if there is one.
    sections : tuple of Section
        The sections. To use them in another HTML page, add the style sheet
        ``vendiscore.report.document.style()``.

    See Also
    --------
    vendiscore.report : Write a report.

    Examples
    --------
    >>> from vendiscore import report
    >>> result = report(["a cat", "a cat", "the dog"])
    >>> result.title
    'Diversity of 3 texts'
    >>> result.html()[:15]
    '<!DOCTYPE html>'
    """

    _repr_attributes = ("title",)

    title: str
    numbers: Record = field(repr=False)
    sections: tuple[Section, ...] = field(repr=False)

    @property
    def sentence(self) -> str:
        """The title and the first value."""
        name, value = next(iter(self.numbers.items()))
        error = self.numbers.get(f"{name}_se", 0.0)
        return f"{self.title}: {name} = {format_with_error(value, error)}."

    def to_dict(self) -> Record:
        """Return the title and the values as built-in types, for JSON.

        Returns
        -------
        dict
            Values of built-in types.
        """
        return {"title": self.title, **to_json_value(self.numbers)}

    def to_frame(self) -> Frame:
        """Return the title and the values, without details, as a pandas DataFrame.

        Returns
        -------
        pandas DataFrame
            A single row.
        """
        values = {key: value for key, value in self.numbers.items() if key != "details"}
        return make_frame([{"title": self.title, **values}])

    def html(self) -> str:
        """Return the content of the HTML file.

        Returns
        -------
        str
            The HTML document.
        """
        body = "".join(
            f'<section id="{section.name}" aria-label="{section.title}"><h2>{section.title}</h2>'
            f"{section.html}</section>"
            for section in self.sections
        )
        links = render_list(
            f'<a href="#{section.name}">{section.title}</a>' for section in self.sections
        )
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="referrer" content="no-referrer">'
            f"<title>{escape(self.title)}</title><style>\n{style()}</style></head>\n"
            f'<body><main class="report"><header><h1>{escape(self.title)}</h1>'
            f'<nav aria-label="Sections">{links}</nav></header>'
            f"{body}</main></body></html>\n"
        )

    def write_html(self, path: str | Path) -> None:
        """Write the report to an HTML file in UTF-8; an existing file is overwritten.

        Parameters
        ----------
        path : str or Path
            Path of the file.
        """
        Path(path).write_text(self.html(), encoding="utf-8", newline="\n")

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html())}" sandbox '
            f'title="{escape(self.title)}" style="width:100%;height:40em;border:0"></iframe>'
        )


@np.errstate(all="ignore")
def report_of(
    report_data: ReportData, title: str | None = None, samples: Samples | None = None
) -> Report:
    """Write a report from its data.

    Parameters
    ----------
    report_data : ReportData
        Result of `compute_report_data`.
    title : str, optional
        Heading, by default for example "Diversity of 20 texts".
    samples : list, optional
        Samples to show instead of those that were scored, for example images with their names.

    Returns
    -------
    Report
        The report.

    See Also
    --------
    vendiscore.report.compute_report_data : Compute the content of a report.
    vendiscore.report.report : Compute the content and write the report in one call.

    Examples
    --------
    >>> from vendiscore.report import compute_report_data, report_of
    >>> report_of(compute_report_data(["a cat", "a cat", "the dog"], None, {})).title
    'Diversity of 3 texts'
    """
    previews = Previews.from_sample_set(report_data.sample_set)
    if samples is not None:
        previews.samples = samples
    if report_data.phrases is not None:
        previews.marks = compile_phrases(report_data.phrases)
    title = title or f"Diversity of {previews.format_count(report_data.n)}"
    return Report(title, report_data.numbers, tuple(iter_sections(report_data, previews)))


@cache
def style() -> str:
    """Return the style sheet of a report."""
    return PALETTE + (files(__package__) / "style.css").read_text(encoding="utf-8")
