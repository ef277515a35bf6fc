"""Kinds of samples, found by what is in lines or in cells."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vendiscore.report import (
    MOLECULE_NAMES,
    OTHER_NAMES,
    TEXT_NAMES,
    Table,
    are_numbers,
    is_named,
    is_prose,
    is_smiles,
    share_of_numbers,
)

from ..quotas import MAX_SMILES
from .submission import Asked, Kind

_LOOK, _LOOK_SMILES = 200, 40
_LONG = 2_000  # characters of a line or a cell that tell what the others are
_MOST_STRINGS = 40  # columns that are looked into for molecules
_NAMED = 0.25  # of the cells under such a name that must be molecules
_FEATURES = 3  # columns of numbers, next to labels, that make rows of numbers
_NUMBERS = 0.8  # of the cells of a line
_PLAIN = 0.75  # of the lines that must be molecules, where nothing else says that they are


def kinds_of_lines(lines: Sequence[str]) -> list[Kind]:
    """Return the kinds that pasted lines can be, the likeliest first."""
    some = [line.strip() for line in lines if line.strip()]
    found: list[Kind] = ["texts"]
    if are_molecules(some):
        found.insert(0, "molecules")
    elif share_of_molecules(some) > 0.5:
        found.append("molecules")
    return ["vectors", *found] if are_rows(some) else found


def are_rows(lines: Sequence[str]) -> bool:
    """Return whether lines are rows of numbers, but for a row of names above and some cells."""
    some = lines[:_LOOK]
    body = [line[:_LONG] for line in (some[1:] if len(some) > 1 else some)]
    cells = [cell for line in body for cell in re.split(r"[;\t| ]+|,\s+|,(?=[^\s])", line) if cell]
    return share_of_numbers(cells) > _NUMBERS


def are_molecules(lines: Sequence[str]) -> bool:
    """Return whether nearly all lines are SMILES, and such as no words are."""
    some = _spread(lines)
    if not some or max(map(len, some)) > 2 * MAX_SMILES:
        return False
    marked = 2 * sum(not _head(line).isalpha() for line in some) >= len(some)
    return marked and share_of_molecules(some) >= _PLAIN


def share_of_molecules(lines: Sequence[str]) -> float:
    """Return the share of some of the lines that RDKit reads; 0 without it."""
    some = _spread(lines)
    try:
        found = [is_smiles(_head(line), MAX_SMILES) for line in some]
    except ImportError:  # without RDKit nothing is found out about molecules
        return 0.0
    return sum(found) / max(1, len(some))


def _spread(lines: Sequence[str]) -> list[str]:
    return list(lines[:: max(1, len(lines) // _LOOK_SMILES)][: 2 * _LOOK_SMILES])


def _head(line: str) -> str:
    return line.split(maxsplit=1)[0] if line.strip() else ""


def kinds_of_table(read: Table, asked: Asked) -> list[Kind]:
    """Return the kinds that the samples of a table can be, the likeliest first."""
    names = [asked.column] if asked.column in read.names else read.names
    names = [name for name in names if name != asked.by]
    at = {name: read.names.index(name) for name in names}
    cells = {name: [row[j] for row in read.rows[:_LOOK]] for name, j in at.items()}
    rows = [name for name in names if read.holds_rows(name)]
    numbers = [name for name in names if name not in rows and are_numbers(cells[name])]
    strings: dict[str, list[str]] = {}
    for name in names:
        starts = [cell[:_LONG].strip() for cell in cells[name] if isinstance(cell, str)]
        filled = [start for start in starts if start]
        if filled and name not in (*rows, *numbers):
            strings[name] = filled
    if not strings:
        return ["vectors"] if rows or numbers else ["texts"]
    found: list[Kind] = ["texts"]
    some = dict(list(strings.items())[:_MOST_STRINGS])
    if any(_are_molecules(name, filled) for name, filled in some.items()):
        found.insert(0, "molecules")
    elif any(share_of_molecules(filled) > 0.5 for filled in some.values()):
        found.append("molecules")
    if len(names) == 1 and are_rows(next(iter(strings.values()))):
        return ["vectors", "texts"]  # apart by spaces
    features = [name for name in numbers if not is_named(name, OTHER_NAMES)]
    labels = not any(
        is_named(name, TEXT_NAMES) or sum(map(is_prose, filled)) > 0.3 * len(filled)
        for name, filled in strings.items()
    )
    if rows or features:
        first = found[0] == "texts" and labels and len(features) >= _FEATURES
        found.insert(0 if first else len(found), "vectors")
    return found


def _are_molecules(name: str, cells: Sequence[str]) -> bool:
    if is_named(name, MOLECULE_NAMES):
        return share_of_molecules(cells) > _NAMED
    return are_molecules(cells)
