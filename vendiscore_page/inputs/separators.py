"""Separators of texts that stand one below the other, in a box or in .txt files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vendiscore.reading.encodings import LINE_BREAK, plain
from vendiscore.reading.text_lines import parts
from vendiscore.report import RefusedError

from ..quotas import check_lines
from .parts import fit
from .submission import BLANK, FILE, LINE, Asked
from .visitor_samples import Samples

# Lines of three or more of these alone separate texts as people write them.
_RULE = re.compile(r"\s*([-=*#])\1\1+\s*")
_UNITS = {LINE: "line", BLANK: "paragraph", FILE: "file"}
_WORDS = {LINE: "lines", BLANK: "blank lines", FILE: "files"}


def rows_of(text: str) -> list[str]:
    check_lines(text.count("\n") + text.count("\r"))
    return LINE_BREAK.split(plain(text))


def split_texts(texts: Sequence[tuple[str, str]], asked: Asked, kind: str = "texts") -> Samples:
    """Split texts with their names as asked, or as is likeliest; several are a sample each."""
    several = len(texts) > 1
    every = [(name, rows_of(text)) for name, text in texts]
    ways = Counter({FILE: len(texts)} if several else {})
    for _, rows in every:
        signs = dict.fromkeys([BLANK, *filter(None, map(_sign, rows))])
        for way in (LINE, *signs) if kind == "texts" else (LINE,):
            ways[way] += len(_split(rows, way))
    usual = FILE if several else _likeliest(every[0][1], ways)
    separator = LINE if asked.blocks else (asked.separator or usual).strip()
    values: list[str] = []
    places: list[int | str] = []
    for name, rows in every:
        own = {name: "\n".join(rows)} if separator == FILE else _split(rows, separator)
        values += own.values()
        places += [f"{i} of {name}" for i in own] if several and separator != FILE else own
    unit = _UNITS.get(separator, "part")
    samples = fit(Samples(values, places, unit, kind=kind), asked.draw)
    name = f"{len(texts):,} files" if several else texts[0][0]
    of = f" of {name:.60}" if name and separator != FILE else ""
    many = f"{samples.total:,} {unit}{'s' * (samples.total != 1)}"
    samples = replace(
        samples,
        notes=(f"Read {many}{of}.", *samples.notes),
        name=name or "pasted",
        separator=separator,
        splits=tuple({**ways, separator: len(values)}.items()),
        how=f"split by {_WORDS.get(separator, separator)}",
    )
    return _in_blocks(samples) if asked.blocks else samples


def _likeliest(rows: Sequence[str], ways: Counter[str]) -> str:
    """Return a sign that stands alone twice; else blank lines, if a block has several lines."""
    for sign, count in Counter(filter(None, map(_sign, rows))).most_common(1):
        if count > 1 and sign in ways:
            return sign
    return BLANK if ways[LINE] > ways[BLANK] > 2 else LINE


def _split(rows: Sequence[str], separator: str) -> dict[int, str]:
    """Return the texts between separators, by their places: of lines, or 1, 2, 3, …"""
    if separator == LINE:
        return {i: row.strip() for i, row in enumerate(rows, 1) if row.strip()}
    found = [
        "\n".join(map(str.rstrip, part)) for _, part in parts(rows, lambda row: _is(row, separator))
    ]
    # A sign counts where it has a line of its own; if it nowhere has, wherever it stands.
    if separator != BLANK and len(found) == 1:
        found = "\n".join(rows).split(separator)
    return dict(enumerate(filter(None, map(str.strip, found)), 1))


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
