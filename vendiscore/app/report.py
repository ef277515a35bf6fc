"""An analysis in words: the HTML of the page, the table, the JSON and the lines of Python.

Everything that a visitor sent is escaped here, once, by `escape`. Pictures and downloads travel
inside the HTML, so that no file is written and nothing is left for the next visitor.
"""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

from ..explanation.analysis import Analysis
from ..report.markup import escape
from ..report.pictures import CAPTIONS
from ..report.sentences import sentence
from . import views
from .zoom import Zoom

Cell = Callable[[int], str]


def problem(message: str) -> str:
    """A message about something that did not work."""
    said = f"<b>That did not work.</b> {escape(message, 600)}"
    return f'<div class="vs-problem" role="alert">{said}</div>'


def note(message: str) -> str:
    """A message while one waits."""
    return f'<div class="vs-note" role="status">{escape(message)}</div>'


def page(
    analysis: Analysis,
    what: str,
    cell: Cell,
    labels: Sequence[str],
    zoom: Zoom | None,
    notes: Sequence[str] = (),
) -> str:
    """The result of one set as HTML.

    Parameters
    ----------
    analysis : Analysis
    what : str
        The samples in the plural: "texts".
    cell : callable
        The HTML of sample i.
    labels : sequence of str
        The samples as text, for the table.
    zoom : Zoom or None
        The magnitude function, if it is there already.
    notes : sequence of str
        What else to say.
    """
    n, score = analysis.n, analysis.score
    share = f"{100 * score / n:.0f} %"
    pictures = [
        ("heat", views.heat_map(analysis)),
        ("spectrum", views.spectrum(analysis)),
        ("profile", views.profile(analysis)),
    ]
    if zoom is not None and n > 1:
        pictures.append(("magnitude", views.magnitude(zoom)))
    figures = "".join(
        f"<figure>{picture}<figcaption>{CAPTIONS[name]}</figcaption></figure>"
        for name, picture in pictures
    )
    table = link("Table (CSV)", "vendiscore.csv", "text/csv", table_csv(analysis, labels))
    said = {"notes": list(notes), "samples": list(labels)}
    everything = json.dumps(record(analysis, what, zoom) | said, indent=1)
    full = link("Everything (JSON)", "vendiscore.json", "application/json", everything)
    magnitude = ""
    if zoom is not None and n > 1:
        magnitude = f"<p>{_magnitude(zoom, what)}</p>"
    return (
        f'<section class="vs" aria-label="Result"><p class="vs-score">≈ <b>{score:.1f}</b> '
        f"effectively different of {n}</p>"
        f'<div class="vs-bar" role="img" aria-label="{share} of {n}">'
        f'<i style="width:{100 * score / n:.1f}%"></i></div>'
        f'<p class="vs-share">The bar is VS / n: {share}.</p>'
        f"<p>{escape(sentence(analysis, what), 300)}</p>"
        f"{magnitude}{''.join(f'<p>{escape(text, 400)}</p>' for text in notes)}"
        f'<div class="vs-grid">{figures}</div>'
        f'<div class="vs-grid">{_pairs(analysis, cell)}{_alone(analysis, cell)}</div>'
        f'<p class="vs-links">{table}{full}</p>'
        f'<p class="vs-signature">VS = {score:.6f} · {escape(analysis.details["signature"], 400)}'
        f"</p></section>"
    )


def _magnitude(zoom: Zoom, what: str) -> str:
    curve = zoom.curve
    said = (
        f"Their magnitude, how many can be told apart at a scale, is {zoom.unzoomed:.1f} at t = 1 "
        f"(distances √(2 − 2k) as they are). To tell 95 % of the {curve.distinct} distinct {what} "
        f"apart takes t = {curve.convergence:.3g}, and more the closer they lie."
    )
    if zoom.t != curve.convergence:
        said += f" At the scale chosen, t = {zoom.t:.3g}, it is {zoom.magnitude:.1f}."
    return said


def record(analysis: Analysis, what: str, zoom: Zoom | None = None) -> dict[str, Any]:
    """The result of one set as plain values: what the API returns and the JSON holds."""
    result: dict[str, Any] = {
        "VS": analysis.score,
        "n": analysis.n,
        "q": analysis.q if analysis.q < float("inf") else "inf",
        "sentence": sentence(analysis, what),
        "shares": [round(float(share), 9) for share in analysis.shares if share > 0],
        "profile": {
            f"{q:g}": float(v) for q, v in zip(analysis.orders, analysis.profile, strict=True)
        },
        "redundant_pairs": [list(pair) for pair in analysis.redundant],
        "stand_alone": [list(one) for one in analysis.alone],
        "details": dict(analysis.details),
    }
    if zoom is not None:
        result["magnitude"] = {
            "convergence_scale": zoom.curve.convergence,
            "at_scale_1": zoom.unzoomed,
            "scales": zoom.curve.scales.tolist(),
            "values": zoom.curve.values.tolist(),
        }
    return result


def table_csv(analysis: Analysis, labels: Sequence[str]) -> str:
    """One row for each sample: its nearest other sample and how similar it is to all."""
    found = analysis.neighbours
    columns = (found.nearest, found.similarity, found.mean)
    return as_csv(
        ["index", "sample", "nearest", "similarity_to_nearest", "mean_similarity"],
        *(
            [i, label, int(nearest), f"{closest:.6g}", f"{mean:.6g}"]
            for i, (label, nearest, closest, mean) in enumerate(zip(labels, *columns, strict=True))
        ),
    )


def _pairs(analysis: Analysis, cell: Cell) -> str:
    rows = "".join(
        f"<li><span>{similarity:.2f}</span><div>{cell(i)}{cell(j)}</div></li>"
        for i, j, similarity in analysis.redundant
    )
    heading = "<h3>Most redundant pairs</h3><p>and their similarity</p>"
    return f'<div class="vs-list">{heading}<ol>{rows or "<li>none</li>"}</ol></div>'


def _alone(analysis: Analysis, cell: Cell) -> str:
    rows = "".join(
        f"<li><span>{similarity:.2f}</span><div>{cell(i)}</div></li>"
        for i, similarity in analysis.alone
    )
    return (
        f'<div class="vs-list"><h3>Stand alone</h3><p>and their similarity to the nearest</p>'
        f"<ol>{rows or '<li>none</li>'}</ol></div>"
    )


def link(text: str, name: str, kind: str, content: str) -> str:
    """A download of some text under a file name, of a MIME type."""
    data = base64.b64encode(content.encode()).decode()
    return f'<a download="{name}" href="data:{kind};base64,{data}">{text}</a>'


def as_csv(*rows: Sequence[Any]) -> str:
    """Rows as the text of a CSV file."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()
