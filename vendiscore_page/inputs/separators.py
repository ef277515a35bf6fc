"""Separators of texts that stand one below the other, in a box or in .txt files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vendiscore.reading.encodings import plain
from vendiscore.reading.text_lines import parts
from vendiscore.report import RefusedError

from ..quotas import check_lines
from .cells import begins
from .parts import fit
from .submission import BLANK, FILE, LINE, Asked
from .visitor_samples import Samples

# Lines of three or more of these alone separate texts as people write them.
_RULE = re.compile(r"\s*([-=*#])\1\1+\s*")
_BREAK = re.compile(r"\r\n|\r|\n")
_UNITS = {LINE: "line", BLANK: "paragraph", FILE: "file"}
_WORDS = {LINE: "lines", BLANK: "blank lines", FILE: "files"}


def rows_of(text: str) -> list[str]:
    check_lines(text.count("\n") + text.count("\r"))
    return _BREAK.split(plain(text))


def split_texts(texts: Sequence[tuple[str, str]], asked: Asked, kind: str = "texts") -> Samples:
    """Split texts with their names as asked, or as is likeliest; several are a sample each."""
    name, several = texts[0][0], len(texts) > 1
    every = [(name, text, rows_of(text)) for name, text in texts]
    found = Counter({FILE: len(texts)} if several else {})
    for _, _, rows in every:
        found.update(dict(_count_texts(rows)[: 1 if kind == "molecules" else None]))
    blocks = asked.blocks and not several
    usual = FILE if several else _likeliest(every[0][2], found)
    separator = asked.separator or (LINE if blocks or kind == "molecules" else usual)
    separator = separator if separator in _UNITS else separator.strip()
    if blocks and separator != LINE:
        raise RefusedError(
            "Groups are blocks of lines, and each line is a sample: split by lines, or pick no "
            "groups."
        )
    kind = "texts" if several and separator == FILE else kind
    values: list[str] = []
    places: list[int | str] = []
    for name, text, rows in every:
        some, at = ([text], [name]) if separator == FILE else _split(rows, separator, text)
        values += some
        places += [f"{i} of {name}" for i in at] if several and separator != FILE else at
    samples = fit(Samples(values, places, _UNITS.get(separator, "part"), kind=kind), asked.draw)
    found = found if separator in found else Counter({**found, separator: len(values)})
    name = f"{len(texts):,} files" if several else name
    samples = replace(
        samples,
        notes=_notes(samples, separator, found, name, asked),
        name=name or "pasted",
        separator=separator,
        splits=tuple(found.items()),
        how=f"split by {_WORDS.get(separator, separator)}",
    )
    return _in_blocks(samples) if blocks else samples


def _count_texts(rows: Sequence[str]) -> list[tuple[str, int]]:
    """Count the texts that each separator would give: lines, blank lines, signs that are there."""
    filled = [row for row in rows if row.strip()]
    signs = dict.fromkeys(filter(None, map(_sign, filled)))
    return [(LINE, len(filled)), *((s, len(_parts(rows, s))) for s in (BLANK, *signs))]


def _likeliest(rows: Sequence[str], found: Counter[str]) -> str:
    """Return a sign that stands alone twice; else blank lines, if a block has several lines."""
    for sign, count in Counter(filter(None, map(_sign, rows))).most_common(1):
        if count > 1:
            return sign
    return BLANK if found[LINE] > found[BLANK] > 2 else LINE


def _split(rows: Sequence[str], separator: str, text: str) -> tuple[list[str], list[int]]:
    """Return the texts between separators, and their places: of lines, or 1, 2, 3, …"""
    if separator == LINE:
        filled = [(i, row.strip()) for i, row in enumerate(rows, 1) if row.strip()]
        return [row for _, row in filled], [i for i, _ in filled]
    found = _parts(rows, separator)
    # A sign counts where it has a line of its own; if it nowhere has, wherever it stands.
    if separator != BLANK and not any(_is(row, separator) for row in rows):
        found = [part.strip() for part in text.split(separator) if part.strip()]
    return found, list(range(1, len(found) + 1))


def _parts(rows: Sequence[str], separator: str) -> list[str]:
    """Return the texts between lines that are the sign, or between blank lines."""
    found = (map(str.rstrip, part) for _, part in parts(rows, lambda row: _is(row, separator)))
    return [text for part in found if (text := "\n".join(part).strip())]


def _is(row: str, separator: str) -> bool:
    return not row.strip() if separator == BLANK else separator in (row.strip(), _sign(row))


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
    samples: Samples, separator: str, found: Counter[str], name: str, asked: Asked
) -> tuple[str, ...]:
    """Say what was read, and, if no separator was named, what others would give."""
    n = samples.total
    by = f", separated by {_WORDS.get(separator, separator):.40}"
    by = {LINE: "", FILE: " as one text each"}.get(separator, by)
    of = f" of {name:.60}" if name and separator != FILE else ""
    said = f"Read {n:,} {samples.unit}{'s' * (n != 1)}{of}{by}. {begins(samples.values)}"
    ways = ", ".join(
        f"{count:,} by {_WORDS.get(other, other)}"
        for other, count in found.items()
        if other != separator and count not in (1, n)
    )
    if asked.separator or not ways or samples.kind != "texts":
        return (said, *samples.notes)
    return (said, f"Split another way there would be {ways}.", *samples.notes)
