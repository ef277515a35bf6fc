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
from .parts import fit_to_limits
from .submission import BLANK, LINE, ROW, InputSettings
from .visitor_samples import Samples

# Rules that a menu shows; each is tried on the whole text.
_MAX_RULES = 10
_UNITS = {LINE: "line", BLANK: "paragraph"}
_WORDS = {LINE: "lines", BLANK: "blank lines"}


def split_rows(text: str) -> list[str]:
    check_lines(text.count("\n") + text.count("\r"))
    return LINE_BREAK.split(clean_text(text))


def split_texts(
    rows: Sequence[str],
    name: str,
    settings: InputSettings,
    kind: str,
    python: FileCode | None = None,
) -> Samples:
    """Split the text of these lines as asked, or as is likeliest; `python` reads its lines."""
    rules: dict[str, int] = count_rules(rows) if kind == "texts" else {}
    if kind == "texts" and are_fortunes(rows):
        rules = {"%": sum(row.strip() == "%" for row in rows), **rules}
    separators = dict(islice(rules.items(), _MAX_RULES))
    splits = {option: _split_at(rows, option) for option in (LINE, BLANK, *separators)}
    default_separator = LINE
    if kind == "texts" and len(splits[LINE]) > len(splits[BLANK]) > 2:
        default_separator = BLANK  # as a block has several lines
    if max(separators.values(), default=0) > 1:
        default_separator = next(iter(separators))  # the most frequent
    separator = (settings.separator or "").strip()
    separator = default_separator if separator in ("", ROW) else separator
    texts = splits.setdefault(separator, _split_at(rows, separator))
    unit = _UNITS.get(separator, "part")
    python = python if separator == LINE else None
    samples_without_notes = Samples(
        list(texts.values()), list(texts), unit, kind=kind, python=python
    )
    samples = fit_to_limits(samples_without_notes, settings.draw)
    source = f" from {name:.60}" if name else ""
    notes = [f"Read {len(texts):,} {unit}{'s' * (len(texts) != 1)}{source}."]
    if separator == LINE and rules:
        notes.append(f"{format_dropped_count(sum(rules.values()), 'separator line')}.")
    return replace(
        samples,
        notes=(*notes, *samples.notes),
        name=name or "pasted",
        separator=separator,
        splits=tuple((option, len(texts)) for option, texts in splits.items()),
        how=f"split by {_WORDS.get(separator, separator)}",
    )


def _split_at(rows: Sequence[str], separator: str) -> dict[int, str]:
    """Return the texts between separators, by their places: of lines, or 1, 2, 3, …"""
    if separator == LINE:
        return {i: row.strip() for i, row in enumerate(rows, 1) if row.strip() and not is_rule(row)}
    separator_line = "" if separator == BLANK else separator
    parts = iter_parts(rows, lambda row: row.strip() == separator_line)
    texts = ["\n".join(map(str.rstrip, part)) for _, part in parts]
    # A sign counts where it has a line of its own; if it nowhere has, wherever it stands.
    if separator != BLANK and len(texts) == 1:
        texts = "\n".join(rows).split(separator)
    return dict(enumerate(filter(None, map(str.strip, texts)), 1))
