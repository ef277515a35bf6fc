"""Separators of texts that stand one below the other, in a box or a .txt file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...reading.encodings import LINE_BREAK, plain
from ...reading.limits import RefusedError
from ...reading.samples import Samples
from ...reading.tables import check_lines
from ...reading.text_lines import parts
from ..quotas import TABLE
from .cells import begins
from .parts import fit
from .submission import BLANK, FILE, LINE, Asked

# Lines of three or more of these alone separate texts as people write them.
_RULE = re.compile(r"\s*([-=*#])\1\1+\s*")
UNITS = {LINE: "line", BLANK: "paragraph", FILE: "file"}
WORDS = {LINE: "lines", BLANK: "blank lines", FILE: "files"}


def rows_of(text: str) -> list[str]:
    """Return the lines of a text, if they are not too many."""
    check_lines(text, TABLE)
    return LINE_BREAK.split(plain(text))


def lines(text: str, asked: Asked, kind: str = "texts", name: str = "") -> Samples:
    """Split a text into samples as asked, or as is likeliest.

    A sign counts where it has a line of its own; if it nowhere has, wherever it stands. With
    `asked.blocks`, lines between blank lines are a group. Molecules are lines.
    """
    rows = rows_of(text)
    found = splits(rows)
    if kind == "molecules":
        found = found[:1]
    by_lines = asked.blocks or kind == "molecules"
    separator = asked.separator or (LINE if by_lines else likeliest(rows, found))
    separator = separator if separator in (LINE, BLANK) else separator.strip()
    if asked.blocks and separator != LINE:
        raise RefusedError(
            "Groups are blocks of lines, and each line is a sample: split by lines, or have no "
            "groups."
        )
    values, places = split(rows, separator, text)
    unit = UNITS.get(separator, "part")
    samples = fit(Samples(values, places, unit, kind=kind), asked.draw)
    if asked.blocks:
        samples = _in_blocks(samples)
    offered = dict(found) if separator in dict(found) else {**dict(found), separator: len(values)}
    notes = samples.notes if asked.blocks else (*_notes(samples, separator, found, name, asked),)
    return replace(
        samples,
        notes=notes,
        separator=separator,
        splits=tuple(offered.items()),
        how=f"split by {WORDS.get(separator, separator)}",
    )


def splits(rows: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Count the texts that each separator would give: lines, blank lines, signs that are there."""
    filled = [row for row in rows if row.strip()]
    signs = Counter(sign for row in filled if (sign := _sign(row)))
    found = [(LINE, len(filled)), (BLANK, len(_parts(rows, "")))]
    return (*found, *((sign, len(_parts(rows, sign))) for sign in signs))


def likeliest(rows: Sequence[str], found: Sequence[tuple[str, int]]) -> str:
    """Return a sign that stands alone twice; else blank lines, if a block has several lines.

    One blank line alone may have slipped in.
    """
    signs = Counter(sign for row in rows if (sign := _sign(row)))
    if signs and signs.most_common(1)[0][1] > 1:
        return signs.most_common(1)[0][0]
    counts = dict(found)
    return BLANK if counts[LINE] > counts[BLANK] > 2 else LINE


def split(rows: Sequence[str], separator: str, text: str) -> tuple[list[str], list[int]]:
    """Return the texts between separators, and their places: of lines, or 1, 2, 3, …"""
    if separator == LINE:
        filled = [(i, row.strip()) for i, row in enumerate(rows, 1) if row.strip()]
        return [row for _, row in filled], [i for i, _ in filled]
    sign = "" if separator == BLANK else separator
    parts = _parts(rows, sign)
    if sign and not any(_is(row, sign) for row in rows):
        parts = [part.strip() for part in text.split(sign) if part.strip()]
    return parts, list(range(1, len(parts) + 1))


def _parts(rows: Sequence[str], sign: str) -> list[str]:
    """Return the texts between lines that are the sign, or between blank lines."""
    found = (map(str.rstrip, part) for _, part in parts(rows, lambda row: _is(row, sign)))
    return [text for part in found if (text := "\n".join(part).strip())]


def _is(row: str, sign: str) -> bool:
    return row.strip() == sign or (bool(sign) and _sign(row) == sign)


def _sign(row: str) -> str:
    found = _RULE.fullmatch(row)
    return found[1] * 3 if found else ""


def _in_blocks(samples: Samples) -> Samples:
    """Group the lines that stand between the same blank lines."""
    if samples.total > len(samples):
        raise RefusedError(
            f"Groups of {samples.total:,} lines are too many for this page: send fewer."
        )
    places = [int(place) for place in samples.places]
    groups = np.cumsum(np.diff(places, prepend=-1) > 1).tolist()
    note = f"Read {len(samples):,} lines in {groups[-1]:,} groups, separated by blank lines."
    return replace(samples, notes=(note,), groups=groups)


def _notes(
    samples: Samples,
    separator: str,
    found: Sequence[tuple[str, int]],
    name: str,
    asked: Asked,
) -> list[str]:
    """Say what was read, and, if no separator was named, what others would give."""
    n = samples.total or len(samples)
    by = f", separated by {WORDS.get(separator, separator):.40}" if separator != LINE else ""
    of = f" of {name:.60}" if name else ""
    said = [f"Read {n:,} {samples.unit}{'s' * (n != 1)}{of}{by}. {begins(samples.values)}"]
    others = [
        (other, count) for other, count in found if other != separator and count not in (1, n)
    ]
    if not asked.separator and others and samples.kind == "texts":
        ways = ", ".join(f"{count:,} by {WORDS.get(other, other)}" for other, count in others)
        said.append(f"Split another way there would be {ways}.")
    return [*said, *samples.notes]
