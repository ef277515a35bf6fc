"""How much is read, where somebody limits it, and the error for what is not."""

from __future__ import annotations

import sys
from dataclasses import dataclass

_ANY = sys.maxsize


class RefusedError(ValueError):
    """Something that somebody sent and that is not taken; the message is written for them."""


@dataclass(frozen=True)
class Limits:
    """The most that is read; without arguments as much as there is.

    Attributes
    ----------
    samples : int
        Rows; of more, one row too many is read, for whoever counts them.
    columns : int
    values : int
        Rows × columns.
    text : int
        Characters of a cell, as far as messages name it.
    smiles : int
        Characters of a cell that may be a molecule.
    lines : int
    """

    samples: int = _ANY
    columns: int = _ANY
    values: int = _ANY
    text: int = _ANY
    smiles: int = _ANY
    lines: int = _ANY
