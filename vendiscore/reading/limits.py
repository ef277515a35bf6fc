"""How much is read, where somebody limits it, and the error for what is not."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_ANY = sys.maxsize


class RefusedError(ValueError):
    """Something that somebody sent and that is not taken; the message is written for them."""


class AskError(RefusedError):
    """Something that can be read in several ways, of which whoever sent it knows the right one.

    Attributes
    ----------
    question : str
        The message.
    choices : list of (str, dict)
        What each way is called, and what to set for it: "column", "header", "index", …
    """

    def __init__(self, question: str, choices: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        super().__init__(question)
        self.question = question
        self.choices = [(label, dict(options)) for label, options in choices]


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
