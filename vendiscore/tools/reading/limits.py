"""Options and limits of reading, and the errors for refused input."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

_ANY = sys.maxsize // 2  # one more can still be counted


class RefusedError(ValueError):
    """Input that is refused; `message` says why, and `place` where in the input.

    Examples
    --------
    >>> print(RefusedError("this is not text", "line 2"))
    Line 2: this is not text
    """

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(f"{place.capitalize()}: {message}" if place else message)
        self.message = message
        self.place = place


class AskError(RefusedError):
    """Input that can be read in several ways: a question, and what to set for each answer.

    `choices` are pairs: words for an answer, and the fields of `Wanted` that stand for it. `known`
    are fields of `Wanted` with the columns that were detected, which hold for every answer.

    Examples
    --------
    >>> AskError("Which column?", [("a", {"column": "a"})]).choices
    [('a', {'column': 'a'})]
    """

    def __init__(
        self,
        question: str,
        choices: Iterable[tuple[str, Mapping[str, object]]],
        known: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(question)
        self.question = question
        self.known = dict(known or {})
        self.choices: list[tuple[str, dict[str, object]]] = [
            (label, dict(options)) for label, options in choices
        ]


@dataclass(frozen=True)
class Limits:
    """The most that a reader accepts; unlimited without arguments.

    Attributes
    ----------
    samples, columns, values : int, rows, columns, and rows × columns
    text, unpacked : int, characters of a cell, and bytes of columns
    declared, largest_pages : callable, optional
        Counts the values of each column of a parquet file before they are unpacked; returns the
        size of the largest page of some columns in some row groups.

    Examples
    --------
    >>> Limits(samples=1_000).samples
    1000
    """

    samples: int = _ANY  # rows; of more, readers return one too many, so that the caller sees it
    columns: int = _ANY
    values: int = _ANY  # rows × columns
    text: int = _ANY  # characters of a cell, as far as messages name it
    unpacked: int = _ANY  # bytes of columns
    # Counts the values of each column of a parquet file, by row groups, before any is unpacked.
    declared: Callable[[IO[bytes]], list[Counter[str]]] | None = None
    # The unpacked bytes of the largest page of each of some columns, in some row groups.
    largest_pages: Callable[[IO[bytes], Sequence[str], Sequence[int]], Counter[str]] | None = None


@dataclass(frozen=True)
class Wanted:
    """Options of reading, from the command line or the page.

    Attributes
    ----------
    kind : str, "texts", "molecules", "vectors" or "values"; empty to find out
    column, by, group_by, quality, prompts : str, optional
        Names of the columns of samples, and of their sets, groups, quality and prompts.
    split, type, encoding : str, the sign between texts, the format, and how letters are coded
    header, index : bool, optional
        Whether the first row names the columns, and the first column numbers the rows.
    pool : bool, whether to ignore columns of prompts and models that nobody named
    subfolders : bool, optional, whether files in the folders of a folder count
    matrix : bool, optional, whether a symmetric table holds similarities
    skip_rows : int, rows above the header
    limits : Limits

    Examples
    --------
    >>> Wanted(column="answer", prompts="question").others
    ['question']
    """

    kind: str = ""  # kind of samples that the kernel compares, "" without a kernel
    column: str | None = None
    by: str | None = None
    group_by: str | None = None
    quality: str | None = None
    prompts: str | None = None
    split: str = ""  # between texts: "row", "blank", or a line; "" to find out
    type: str | None = None
    encoding: str | None = None
    header: bool | None = None  # whether the first row names the columns; None to find out
    index: bool | None = None  # whether the first column numbers the rows
    pool: bool = False  # whether to ignore columns of prompts and models that nobody named
    subfolders: bool | None = None  # whether files in folders of a folder count; None to find out
    matrix: bool | None = None  # whether a symmetric table holds similarities; None to ask
    skip_rows: int = 0  # rows above the header
    limits: Limits = field(default_factory=Limits)

    @property
    def others(self) -> list[str]:
        """The columns that are not samples."""
        named = [self.by, self.group_by, self.quality, self.prompts]
        return list(filter(None, dict.fromkeys(named)))

    @property
    def groups_named(self) -> bool:
        """True if a person named the columns that group samples, or that none does."""
        return self.pool or bool(self.by or self.group_by or self.prompts)

    def unnamed_groups(self, prompt: str, model: str) -> tuple[str, str]:
        """Return the detected columns of prompts and models, "" for a role that a person named.

        A named column replaces the detected column of its role, and leaves the other one in use.

        >>> Wanted(by="model").unnamed_groups("prompt", "model")
        ('prompt', '')
        """
        if self.pool:
            return "", ""
        named = self.others
        if self.prompts or prompt in named:
            prompt = ""
        if self.by or model in named:
            model = ""
        return prompt, model
