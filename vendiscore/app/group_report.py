"""Scores of groups in words: the HTML of the page, the table, the JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from ..report.markup import escape
from ..report.sentences import of_groups
from .grouping import ByGroup
from .report import as_csv, link

_SHOWN = 40  # groups in the table of the page; the download has all


def page(found: ByGroup, what: str, samples: Sequence[Any], notes: Sequence[str] = ()) -> str:
    """The scores of groups as HTML.

    Parameters
    ----------
    found : ByGroup
    what : str
        The samples in the plural: "texts".
    samples : list of list
        Of each group.
    notes : sequence of str
        What else to say.
    """
    said = [*notes, *found.details["notes"]]
    rows = "".join(
        f"<tr><th>{escape(str(row['group']), 60)}</th><td>{row['n']}</td>"
        f"<td>{row['VS']:.2f}</td></tr>"
        for row in found.table[:_SHOWN]
    )
    more = len(found.table) - _SHOWN
    table = link("Table (CSV)", "vendiscore.csv", "text/csv", table_csv(found))
    everything = json.dumps(
        record(found, what) | {"notes": list(notes), "samples": list(samples)}, indent=1
    )
    full = link("Everything (JSON)", "vendiscore.json", "application/json", everything)
    error = "" if found.se is None else f" ± {found.se:.6f}"
    return (
        f'<section class="vs" aria-label="Result"><p class="vs-score">≈ <b>{found.score:.1f}</b> '
        f"effectively different in a group, the mean of {_groups(len(found.table))}</p>"
        f"<p>{escape(sentence(found, what), 300)}</p>"
        f"{''.join(f'<p>{escape(text, 400)}</p>' for text in said)}"
        f'<div class="vs-scroll"><table><thead><tr><th>group</th><th>n</th><th>score</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
        f"{f'<p>And {more:,} more groups in the table (CSV).</p>' if more > 0 else ''}"
        f'<p class="vs-links">{table}{full}</p>'
        f'<p class="vs-signature">VS = {found.score:.6f}{error} · '
        f"{escape(found.details['signature'], 400)}</p></section>"
    )


def sentence(found: ByGroup, what: str) -> str:
    """The result in one plain sentence."""
    return of_groups([row["n"] for row in found.table], found.score, found.se, what)


def record(found: ByGroup, what: str) -> dict[str, Any]:
    """The scores of groups as plain values: what the API returns and the JSON holds."""
    error = {} if found.se is None else {"VS_se": found.se}
    return {
        "VS": found.score,
        **error,
        "n": found.similarity.n,
        "q": found.q if math.isfinite(found.q) else "inf",
        "sentence": sentence(found, what),
        "groups": found.table,
        "details": dict(found.details),
    }


def table_csv(found: ByGroup) -> str:
    """One row for each group."""
    rows = ([row["group"], row["n"], f"{row['VS']:.6f}"] for row in found.table)
    return as_csv(["group", "n", "VS"], *rows)


def _groups(n: int) -> str:
    return f"{n:,} group{'s'[: n != 1]}"
