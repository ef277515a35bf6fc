"""Options and limits of reading, and the errors for refused input."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

_UNLIMITED = sys.maxsize // 2  # one more can still be counted


class RefusedError(ValueError):
    """Input that cannot be read.

    Attributes
    ----------
    message : str
        What is wrong and what to do.
    place : str
        Location in the input; empty if it is unknown.

    Examples
    --------
    >>> print(RefusedError("this is not text", "line 2"))
    Line 2: this is not text
    """

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(f"{place.capitalize()}: {message}" if place else message)
        self.message = message
        self.place = place


class AmbiguousInputError(RefusedError):
    """Input that can be read in several ways.

    Attributes
    ----------
    question : str
        The question to ask the user.
    choices : list of tuple
        Pairs of an answer and its options: keyword arguments of `vendiscore.read` if that function
        raised the error, else options of `ReadOptions`.
    known : mapping of str to str
        Options of `ReadOptions` with columns that were detected, for every answer.

    Examples
    --------
    >>> import vendiscore
    >>> records = [{"one": "a cat", "two": "a dog"}, {"one": "a cow", "two": "a fox"}]
    >>> try:
    ...     vendiscore.read(records)
    ... except vendiscore.AmbiguousInputError as error:
    ...     label, keywords = error.choices[0]
    >>> keywords
    {'column': 'one'}
    >>> vendiscore.read(records, **keywords).samples
    ['a cat', 'a cow']
    """

    def __init__(
        self,
        question: str,
        choices: Iterable[tuple[str, Mapping[str, object]]],
        known: Mapping[str, str] | None = None,
        calls: Sequence[str] = (),
    ) -> None:
        message = question
        if calls:  # complete calls for the choices
            message = "\n  ".join([f"{question} Use one of:", *calls])
        super().__init__(message)
        self.question = question
        self.known: dict[str, str] = dict(known or {})
        self.choices: list[tuple[str, dict[str, object]]] = [
            (label, dict(options)) for label, options in choices
        ]
        self._calls = tuple(calls)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.question, self.choices, self.known, self._calls)


AskError = AmbiguousInputError  # the name until version 0.4


@dataclass(frozen=True)
class Limits:
    """Maximum sizes that a reader accepts; by default unlimited.

    Attributes
    ----------
    samples : int
        Maximum number of rows.
    columns : int
        Maximum number of columns.
    values : int
        Maximum number of rows times columns.
    text : int
        Maximum number of characters in a cell.
    unpacked : int
        Maximum number of bytes in columns of a parquet file.
    declared : callable or None
        Function that counts the values of each column of a parquet file before they are unpacked.
    largest_pages : callable or None
        Function that returns the size of the largest page of given columns in given row groups.

    See Also
    --------
    vendiscore.report.ReadOptions : Options of reading.

    Examples
    --------
    >>> Limits(samples=1_000).samples
    1000
    """

    # Of more rows, readers return one too many, so that the caller notices it.
    samples: int = _UNLIMITED
    columns: int = _UNLIMITED
    values: int = _UNLIMITED  # rows × columns
    text: int = _UNLIMITED  # characters of a cell, as far as messages name it
    unpacked: int = _UNLIMITED  # bytes of columns
    # Counts the values of each column of a parquet file, by row groups, before any is unpacked.
    declared: Callable[[IO[bytes]], list[Counter[str]]] | None = None
    # The unpacked bytes of the largest page of each of some columns, in some row groups.
    largest_pages: Callable[[IO[bytes], Sequence[str], Sequence[int]], Counter[str]] | None = None


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading, from the command line or the web app.

    Attributes
    ----------
    kind : str
        Type of the samples: "texts", "molecules", "vectors" or "values"; empty to detect it.
    column : str or None
        Column with the samples.
    by : str or None
        Column with the set of each sample.
    group_by : str or None
        Column with the group of each sample.
    quality : str or None
        Column with the quality of each sample.
    correct : str or None
        Column that says whether each sample is correct.
    weights : str or None
        Column with the weight of each sample, such as how often it occurred.
    prompts : str or None
        Column with the prompt of each sample.
    split : str
        Separator between texts.
    type : str or None
        Format of the file.
    encoding : str or None
        Text encoding.
    header : bool or None
        Whether the first row contains column names; None to detect it.
    index : bool or None
        Whether the first column numbers the rows; None to detect it.
    pool : bool
        Whether to ignore columns of prompts and models that were not requested.
    subfolders : bool or None
        Whether to read files in the subfolders of a folder.
    matrix : bool or None
        Whether a symmetric table contains similarities.
    distances : bool
        Whether the table contains distances, which become similarities exp(−distance).
    transpose : bool
        Whether the rows of a table of counts are species, and its columns sites.
    comments : bool or None
        Whether lines of text that begin with "# " are comments; None to ask.
    skip_rows : int
        Number of rows above the header.
    limits : Limits
        Maximum sizes.

    See Also
    --------
    vendiscore.report.read_data : Read the samples of a file.

    Examples
    --------
    >>> ReadOptions(column="answer", prompts="question").others
    ['question']
    """

    kind: str = ""  # kind of samples that the kernel compares, "" without a kernel
    column: str | None = None
    by: str | None = None
    group_by: str | None = None
    quality: str | None = None
    correct: str | None = None
    weights: str | None = None
    prompts: str | None = None
    split: str = ""  # between texts: "row", "blank", or a line; "" to detect it
    type: str | None = None
    encoding: str | None = None
    header: bool | None = None  # whether the first row names the columns; None to detect it
    index: bool | None = None  # whether the first column numbers the rows
    pool: bool = False  # whether to ignore detected columns of prompts and models
    subfolders: bool | None = None  # whether to read subfolders; None to detect it
    matrix: bool | None = None  # whether a symmetric table holds similarities; None to ask
    distances: bool = False  # whether it holds distances
    transpose: bool = False  # whether rows of counts are species
    comments: bool | None = None  # whether lines of text that begin with "# " are comments
    skip_rows: int = 0  # rows above the header
    limits: Limits = field(default_factory=Limits)

    @property
    def others(self) -> list[str]:
        """The columns that are not samples."""
        named = [self.by, self.group_by, self.quality, self.correct, self.prompts]
        named.append(self.weights)
        return list(filter(None, dict.fromkeys(named)))

    @property
    def groups_named(self) -> bool:
        """True if the user selected the columns that group samples, or that none does."""
        return self.pool or bool(self.by or self.group_by or self.prompts)

    def unnamed_groups(self, prompt: str, model: str) -> tuple[str, str]:
        """Return the detected columns of prompts and models; "" for a role that the user selected.

        A selected column replaces the detected column of its role, but not that of the other role.

        >>> ReadOptions(by="model").unnamed_groups("prompt", "model")
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


#: Name of `ReadOptions` in version 0.4.
Wanted = ReadOptions
