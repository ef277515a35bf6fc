"""A comparison in words: the HTML of the page, the table, the JSON and the lines of Python."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ..report.code import READ_DOWNLOAD, call, source
from ..uncertainty import SAME, Comparison, PairRow
from . import views
from .comparing import Compared
from .report import as_csv, link


def page(compared: Compared, sets: Sequence[Any], kind: str) -> str:
    """Sets side by side as HTML."""
    result = compared.comparison
    rows = "".join(
        f"<tr><th>{row.name}</th><td>{row.n}</td><td>{row.score:.2f}</td>"
        f"<td>{row.matched:.2f} ± {row.matched_se:.2f}</td>"
        f"<td>{_against_first(result, i)}</td></tr>"
        for i, row in enumerate(result.sets)
    )
    best = max(result.sets, key=lambda row: round(row.matched, 9)).name
    verdicts = " ".join(
        _verdict(result, turned(result, best, name), kind) for name in result.names if name != best
    )
    figures = "".join(
        f"<figure>{picture}<figcaption>{caption}</figcaption></figure>"
        for picture, caption in (
            (
                views.intervals(result),
                f"<b>Scores at matched size.</b> The bar is the {100 * result.level:g} % interval.",
            ),
            (
                views.profiles(result),
                "<b>Profiles at matched size.</b> With intervals. Curves that cross: which set is "
                "more diverse depends on q.",
            ),
        )
    )
    everything = {
        "matched_size": result.sets[0].size,
        "VS_whole": [row.score for row in result.sets],
        **{name: value for name, value in result.to_dict().items() if name != "sets"},
        "scores": [asdict(row) for row in result.sets],
        "arguments": dict(compared.arguments),
        "sets": [list(each) if isinstance(each, list) else each.tolist() for each in sets],
    }
    table = link("Table (CSV)", "vendiscore.csv", "text/csv", _csv(result))
    full = link(
        "Everything (JSON)", "vendiscore.json", "application/json", json.dumps(everything, indent=1)
    )
    size = result.sets[0].size
    return (
        f'<section class="vs" aria-label="Result"><p>{verdicts}</p><div class="vs-scroll">'
        f"<table><thead><tr><th>set</th><th>n</th><th>score, whole</th><th>score of {size}</th>"
        f"<th>against A</th></tr></thead><tbody>{rows}</tbody></table></div>"
        f"<p>A larger set scores higher for its size alone, so the last two columns draw {size} of "
        f"each (as many as the smallest has, 100 at most), without replacement. ± is one standard "
        f"error: what another set of the same source "
        f"might change. p is how often sets differ as much once their samples are exchanged at "
        f"random. Sets of one source are said to differ at most once in a hundred times.</p>"
        f'<div class="vs-grid">{figures}</div><p class="vs-links">{table}{full}</p></section>'
    )


def turned(result: Comparison, a: str, b: str) -> PairRow:
    """The row of two sets, with a first."""
    (row,) = (each for each in result.pairs if {each.a, each.b} == {a, b})
    if row.a == a:
        return row
    return PairRow(
        a, b, -row.difference, -row.high, -row.low, row.p, row.p_adjusted, row.permutations
    )


def code(compared: Compared, kind: str) -> str:
    """Three lines of Python that give the whole scores."""
    result = compared.comparison
    if kind == "images":
        modules = "glob"
        sets = f"[sorted(glob.glob(folder + '/*')) for folder in {result.names}]  # of images"
    else:
        modules, download = READ_DOWNLOAD
        sets = f'{download}["sets"]  # the download'
    scores = call("samples", compared.arguments, result.q)
    return f"{source(modules)}\nsets = {sets}\nprint([{scores} for samples in sets])"


def _against_first(result: Comparison, i: int) -> str:
    if i == 0:
        return ""
    row = turned(result, result.names[i], result.names[0])
    return f"{row.difference:+.2f} ({row.low:.2f} to {row.high:.2f}), p = {row.p_adjusted:.2g}"


def _csv(result: Comparison) -> str:
    names = ("score", "se", "low", "high", "size", "matched", "matched_se", "matched_low")
    return as_csv(
        [
            *("set", "n", "VS", "VS_se", "VS_low", "VS_high", "matched_size"),
            *("VS_matched", "VS_matched_se", "VS_matched_low", "VS_matched_high"),
        ],
        *(
            [row.name, row.n, *(_digits(getattr(row, name)) for name in (*names, "matched_high"))]
            for row in result.sets
        ),
    )


def _digits(value: float) -> str:
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def _verdict(result: Comparison, row: PairRow, kind: str) -> str:
    size = result.sets[0].size
    beside = (
        f"({100 * result.level:g} % interval {row.low:.2f} to {row.high:.2f}, "
        f"p = {row.p_adjusted:.2g})"
    )
    if result.verdict(row.a, row.b) == SAME:
        return (
            f"<b>{row.a} and {row.b} cannot be told apart:</b> of {size} {kind}, they differ by "
            f"{row.difference:.2f} {beside}; so much may be chance."
        )
    return (
        f"<b>{row.a} is more diverse than {row.b}:</b> of {size} {kind}, {row.difference:.2f} more "
        f"are effectively different {beside}."
    )
