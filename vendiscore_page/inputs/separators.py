"""Separators of texts that stand one below the other, in a box or in a .txt file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from vendiscore.tools.reading.encodings import LINE_BREAK, clean_text
from vendiscore.tools.reading.names import format_dropped_count
from vendiscore.tools.reading.text_fields import is_rule
from vendiscore.tools.reading.text_lines import are_fortunes, count_rules, iter_parts

from ..quotas import check_lines
from .file_code import FileCode
from .parts import fit
from .submission import BLANK, LINE, ROW, Asked
from .visitor_samples import Samples

# Rules that a menu shows; each is tried on the whole text.
_MAX_RULES = 10
_UNITS = {LINE: "line", BLANK: "paragraph"}
_WORDS = {LINE: "lines", BLANK: "blank lines"}


def rows_of(text: str) -> list[str]:
    check_lines(text.count("\n") + text.count("\r"))
    return LINE_BREAK.split(clean_text(text))


def split_texts(
    rows: Sequence[str], name: str, asked: Asked, kind: str, python: FileCode | None = None
) -> Samples:
    """Split the text of these lines as asked, or as is likeliest; `python` reads its lines."""
    rules: dict[str, int] = count_rules(rows) if kind == "texts" else {}
    if kind == "texts" and are_fortunes(rows):
        rules = {"%": sum(row.strip() == "%" for row in rows), **rules}
    signs = dict(islice(rules.items(), _MAX_RULES))
    ways = {way: _split(rows, way) for way in (LINE, BLANK, *signs)}
    likely = LINE
    if kind == "texts" and len(ways[LINE]) > len(ways[BLANK]) > 2:
        likely = BLANK  # as a block has several lines
    if max(signs.values(), default=0) > 1:
        likely = next(iter(signs))  # the most frequent
    separator = (asked.separator or "").strip()
    separator = likely if separator in ("", ROW) else separator
    found = ways.setdefault(separator, _split(rows, separator))
    unit = _UNITS.get(separator, "part")
    python = python if separator == LINE else None
    whole = Samples(list(found.values()), list(found), unit, kind=kind, python=python)
    samples = fit(whole, asked.draw)
    of = f" from {name:.60}" if name else ""
    notes = [f"Read {len(found):,} {unit}{'s' * (len(found) != 1)}{of}."]
    if separator == LINE and rules:
        notes.append(f"{format_dropped_count(sum(rules.values()), 'separator line')}.")
    return replace(
        samples,
        notes=(*notes, *samples.notes),
        name=name or "pasted",
        separator=separator,
        splits=tuple((way, len(texts)) for way, texts in ways.items()),
        how=f"split by {_WORDS.get(separator, separator)}",
    )


def _split(rows: Sequence[str], separator: str) -> dict[int, str]:
    """Return the texts between separators, by their places: of lines, or 1, 2, 3, …"""
    if separator == LINE:
        return {i: row.strip() for i, row in enumerate(rows, 1) if row.strip() and not is_rule(row)}
    alone = "" if separator == BLANK else separator
    between = iter_parts(rows, lambda row: row.strip() == alone)
    found = ["\n".join(map(str.rstrip, part)) for _, part in between]
    # A sign counts where it has a line of its own; if it nowhere has, wherever it stands.
    if separator != BLANK and len(found) == 1:
        found = "\n".join(rows).split(separator)
    return dict(enumerate(filter(None, map(str.strip, found)), 1))
