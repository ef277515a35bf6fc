"""User input, and the settings for reading it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["texts", "images", "molecules", "vectors"]
KINDS: tuple[Kind, ...] = ("texts", "images", "molecules", "vectors")
COUNTS = "counts"  # of species at sites, which are scored as rows of numbers
# Separators of texts; any other value is itself the separating string.
LINE, BLANK, ROW = "line", "blank", "row"
# What several text files hold: a text each, the texts of one set, or the texts of a set each.
ONE_TEXT, ONE_SET, SETS = FILES = ("texts", "set", "sets")
# The name under which the page sends a pasted text that is too large for its box.
PASTED = "pasted.txt"
# Roles of a column next to the column of samples; found in this order.
ROLES = ("prompt", "model", "id", "label")


class Dataset(NamedTuple):
    """A parquet file of a dataset on the Hub."""

    name: str
    data: bytes
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class UserInput:
    """A visitor's input: files, or else pasted text, or else a dataset of the Hub."""

    files: Sequence[tuple[str, bytes]] = ()  # their names and contents
    text: str = ""
    dataset: Dataset | None = None  # None to fetch the requested one


@dataclass(frozen=True)
class InputSettings:
    """Settings for reading the input; None and "" mean that the value is to be inferred."""

    kind: str | None = None  # one of `KINDS`, or COUNTS
    column: str | None = None  # of a table, or the array of a .npz file
    by: str | None = None  # the column of groups
    pool: bool = False  # whether all rows are one set, whatever their prompts and models
    prompts: str | None = None  # the column of prompts on which similarities are conditioned
    sets: str | None = None  # the column that names the sets of a comparison
    prompt: str | None = None  # the column of a role; None to find it, "" for no column
    model: str | None = None
    id: str | None = None
    label: str | None = None
    correct: str | None = None  # column that states whether each sample is correct
    # Makes `correct` a column of numbers: samples with at least this number are correct.
    min_quality: float | int | None = None
    wide: bool = False  # whether each column of texts holds the answers of one model
    answers: bool = False  # whether the columns of texts together hold the answers of one model
    files: str | None = None  # what several text files hold, one of `FILES`
    separator: str | None = None  # "line", "blank", "row" of a table, or a sign such as ---
    draw: int = 0  # which random part is taken of more samples than fit
    example: str | None = None  # instead of a `UserInput`
    dataset: str | None = None  # "owner/name:config/split" on the Hub, instead of a `UserInput`
    type: str | None = None  # the format of a file whose name does not say it
    matrix: bool | None = None  # whether a symmetric table holds similarities
    transpose: bool = False  # whether rows of a table of counts are species
    distances: bool = False  # whether it holds distances, which become similarities
    header: bool | None = None  # whether the first row names the columns
    index: bool | None = None  # whether the first column numbers the rows
    comments: bool | None = None  # whether lines of text that begin with "# " are comments
