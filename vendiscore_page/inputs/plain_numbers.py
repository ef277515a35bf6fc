"""Large tables of nothing but numbers, which NumPy reads in half the time."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np

from vendiscore.report import Table, Wanted, not_finite, samples_of

from .visitor_samples import Samples


def plain_numbers(text: str, head: Table, wanted: Wanted) -> Samples | None:
    """Read a large text of features only by NumPy, in half the time; `head` has its first rows."""
    if head.delimiter not in (",", ";", "\t") or '"' in text or not head.rows:
        return None
    some, width, limits = Samples.of(samples_of(head, wanted)), len(head.names), wanted.limits
    above = head.skipped + (head.header is not None)
    n = text.strip("\r\n").count("\n") + 1 - above
    comma = bool(some.table and some.table.comma)
    most = min(limits.samples, limits.values // width)
    if some.problems or some.lost or n > most or (comma and "." in text):
        return None
    source = io.StringIO(text.replace(",", ".") if comma else text, newline=None)
    try:
        X = np.loadtxt(source, delimiter=head.delimiter, skiprows=above, comments=None, ndmin=2)
    except ValueError:
        return None
    if X.shape != (n, width):
        return None
    places = range(head.places[0], head.places[0] + n)
    read = some.table and replace(some.table, places=places)
    problems = {i: what for i, (what, _) in not_finite(X).items()}
    return replace(
        some, values=X, places=places, problems=problems, table=read, written=None, rows=()
    )
