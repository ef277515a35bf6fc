"""Kinds of samples, found by what is in lines: rows of numbers, molecules, or texts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...reading.columns import is_smiles
from ...reading.string_patterns import looks_like
from ...reading.tables import is_number
from ..quotas import MAX_SMILES
from .submission import Kind

_LOOK, _LOOK_SMILES = 200, 40
_LONG = 2_000  # characters of a line that tell what the others are
_PLAIN = 0.75  # of the lines that must be molecules, where nothing else says that they are


def of_lines(lines: Sequence[str]) -> Kind:
    """Return the kind of pasted lines: rows of numbers, molecules if it is plain, or texts."""
    some = [line.strip() for line in lines if line.strip()]
    if are_numbers(some):
        return "vectors"
    return "molecules" if are_molecules(some) else "texts"


def others(kind: str, lines: Sequence[str]) -> tuple[Kind, ...]:
    """Return the kinds that lines could be, too."""
    some = [line.strip() for line in lines if line.strip()]
    found: list[Kind] = []
    if kind != "texts":
        found.append("texts")
    if kind != "molecules" and share_of_molecules(some) > 0.5:
        found.append("molecules")
    if kind != "vectors" and are_numbers(some):
        found.append("vectors")
    return tuple(found)


def are_numbers(lines: Sequence[str]) -> bool:
    """Return whether lines are rows of numbers, but for a row of names above and some cells."""
    some = lines[:_LOOK]
    body = [line[:_LONG] for line in (some[1:] if len(some) > 1 else some)]
    cells = [cell for line in body for cell in re.split(r"[;\t| ]+|,\s+|,(?=[^\s])", line) if cell]
    return bool(cells) and sum(map(is_number, cells)) > 0.8 * len(cells)


def are_molecules(lines: Sequence[str]) -> bool:
    """Return whether nearly all lines are SMILES, and such as no words are."""
    some = _spread(lines)
    if not some or max(map(len, some)) > 2 * MAX_SMILES:
        return False
    marked = 2 * sum(not _head(line).isalpha() for line in some) >= len(some)
    if not marked:
        return False
    looks = looks_like(some)
    if looks is not None and looks.kernel != "morgan":
        return False
    return share_of_molecules(some) >= _PLAIN


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
