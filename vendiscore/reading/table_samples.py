"""Samples from tables, columnar files and arrays: the right columns, and the groups of rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .columns import pick
from .csv_cells import csv_row
from .json_documents import describe_value
from .limits import RefusedError, Wanted
from .number_tables import check_width, numbers_of
from .samples import Samples
from .tables import Table, are_numbers, checked_column, is_row, join_names

if TYPE_CHECKING:
    from .columnar_files import Columns
    from .numpy_files import Arrays

_KEPT = 200  # characters of a value that is not a string


def samples_of(
    read: Table | Columns | Arrays, wanted: Wanted, kinds: Mapping[int, str] | None = None
) -> Samples:
    r"""Return the samples of what a parser of `FORMATS` has read, with the labels of each.

    Parameters
    ----------
    read : Table, Columns or Arrays
    wanted : Wanted, which columns they are, and of which kind
    kinds : mapping of int to str, optional, the kind of the samples of an array by its dimensions

    Returns
    -------
    Samples
        The column that is wanted, the one that is clearly meant, or all columns of numbers.

    Raises
    ------
    AskError, RefusedError
        Where several columns could be meant, and for columns that are not there.

    Examples
    --------
    >>> from vendiscore.report import FORMATS, Wanted, samples_of
    >>> wanted = Wanted(kind="texts")
    >>> read = FORMATS["csv"].parse(b"id,answer\n1,a cat sat\n2,a dog ran\n", wanted)
    >>> samples_of(read, wanted).values
    ['a cat sat', 'a dog ran']
    """
    from .numpy_files import Arrays

    if isinstance(read, Arrays):
        return array_samples(read, wanted, kinds or {})
    if not isinstance(read, Table):
        return columns_samples(read, wanted)
    if not read.rows:
        return Samples([], [], kind=wanted.kind or "texts")
    rest = read.without([checked_column(read.names, c) for c in wanted.others])
    if not rest.names:
        but = f" other than {', '.join(wanted.others)}" if wanted.others else ""
        raise RefusedError(f"it has no columns{but}, and so no samples")
    notes: tuple[str, ...] = ()
    numbers = wanted.kind == "vectors" or _are_numbers(rest, wanted)
    if not numbers:
        column, notes = _picked(rest, wanted, read.names)
        wanted = replace(wanted, column=column)
        numbers = _are_numbers(rest, wanted)
    if numbers:
        samples = numbers_of(read if wanted.column else rest, wanted)
        whole = replace(samples.table or rest, names=read.names, header=read.header)
        samples = replace(samples, table=whole)
    else:
        samples = _strings(read, str(wanted.column), wanted.kind)
    if read.origin or not read.typed:
        samples = replace(samples, written=lambda kept: _written(read, kept))
    return _labelled(replace(samples, notes=notes), read, wanted)


def columns_samples(file: Columns, wanted: Wanted) -> Samples:
    """Return a column of texts or of rows of numbers, or all columns of numbers."""
    others = [checked_column(file.names, c) for c in wanted.others]
    rest = [c for c in file.names if c not in others]
    column = wanted.column and checked_column(file.names, wanted.column)
    numeric = {*file.numbers, *file.vectors}
    notes = tuple[str, ...]()
    if not column and wanted.kind != "vectors":
        if len(rest) == 1:
            column = rest[0]
        elif wanted.kind or not {*rest} <= numeric:
            column, notes = _picked(file.head().without(others), wanted, rest, file.vectors)
    if wanted.kind == "vectors" or (not wanted.kind and (not column or column in numeric)):
        samples = file.numeric_samples(column, others)
        if others:
            samples = _labelled(samples, file.table(others), wanted)
    elif not column:
        raise RefusedError("it has no columns, and so no samples")
    else:
        read = file.table(list(dict.fromkeys([column, *others])))
        samples = samples_of(read, replace(wanted, column=column))
    return replace(samples, notes=notes)


def array_samples(arrays: Arrays, wanted: Wanted, kinds: Mapping[int, str]) -> Samples:
    """Return rows of an array as samples, their kind by its dimensions, or one value a sample."""
    if wanted.others:
        raise RefusedError("it has arrays, no columns; leave out --by, --group-by and --quality")
    if arrays.single and wanted.column:
        raise RefusedError("it is a single array, which has no columns; leave out --column")
    name = arrays.choose_array(wanted.column)
    shape, _, dtype, _ = arrays.headers[name]
    strings = dtype.kind == "U" and wanted.kind != "vectors"
    values = len(shape) == 1 and (wanted.kind == "values" or strings)
    if not values and dtype.kind not in "fiubO":
        raise RefusedError(f"Expected an array of real numbers, got {dtype} values.")
    if not values and len(shape) not in kinds and dtype.kind != "O":
        raise RefusedError(
            f"Expected rows of numbers (n, d){' or images (n, H, W)' * (3 in kinds)}, got shape "
            f"{shape}."
        )
    if len(shape) == 2:
        check_width(shape[1], wanted.limits)
    X = arrays.read(name)
    return Samples(
        X.tolist() if values else X.copy(),
        range(1, len(X) + 1),
        "row",
        kind=(wanted.kind or "texts") if values else kinds[len(shape)],
        column=name if len(arrays.headers) > 1 else None,
    )


def _strings(read: Table, column: str, kind: str) -> Samples:
    """Return the strings of a column, or its values if the kernel compares labels."""
    values = read.column(column)
    problems = dict(read.problems)
    if kind != "values":
        for i, value in enumerate(values):
            if not isinstance(value, str):
                what = "is missing" if value is None else f"is {describe_value(value)}, not text"
                problems.setdefault(i, what)
                values[i] = "" if value is None else str(value)[:_KEPT]
    return Samples(
        values,
        read.places,
        read.unit,
        dict(sorted(problems.items())),
        kind=kind or "texts",
        column=column if len(read.names) > 1 or read.header else "",
        wrong=dict.fromkeys(read.problems, ""),
        table=replace(read, rows=[], problems={}, origin=()),
    )


def _picked(
    rest: Table, wanted: Wanted, names: Sequence[str], vectors: Sequence[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """Return the column whose contents look like the samples, and a note on the choice."""
    try:
        column = pick(rest, wanted)
    except RefusedError:
        rows = vectors or [c for c in rest.names if rest.holds_rows(c)]
        if wanted.kind or wanted.column or len(rows) != 1:
            raise
        column = rows[0]
    if wanted.column or len(rest.names) == 1:
        return column, ()
    return column, (f"the samples are column {column!r} of {join_names(names)} (--column)",)


def is_numeric(read: Table, column: str | None) -> bool:
    """Return whether a column, or each column, is of numbers or of rows of them."""
    columns = [read.column(name) for name in ([column] if column in read.names else read.names)]
    if read.typed:  # there, a string of digits is text
        columns = [["text" if isinstance(c, str) else c for c in cells] for cells in columns]
    return bool(columns) and all(
        any(map(is_row, cells[:20])) or are_numbers(cells) for cells in columns
    )


def _are_numbers(read: Table, wanted: Wanted) -> bool:
    """Return whether a table of typed values holds numbers, where the kind of sample is open."""
    return not wanted.kind and read.typed and is_numeric(read, wanted.column)


def _labelled(samples: Samples, read: Table, wanted: Wanted) -> Samples:
    """Add the sets, groups, quality and prompts of the samples, and the rows that have none."""
    problems = dict(samples.problems)
    wrong = dict(samples.wrong)

    def missing(i: int, column: str, what: str) -> None:
        if i not in problems:
            problems[i], wrong[i] = what, column

    def labels(column: str | None, what: str) -> list[str]:
        found = read.labels(column) if column else []
        for i in (i for i, label in enumerate(found) if not label):
            missing(i, str(column), f"is empty, so that the sample has no {what}")
        return found

    sets = labels(wanted.by, "set")
    groups = labels(wanted.group_by, "group")
    prompts = labels(wanted.prompts, "prompt")
    quality: list[float] = []
    for i, value in enumerate(read.column(wanted.quality) if wanted.quality else []):
        try:
            quality.append(float(value))
        except (TypeError, ValueError, OverflowError):
            quality.append(0.0)
            missing(i, str(wanted.quality), f"is {describe_value(value)}, not a number")
    return replace(
        samples,
        sets=sets,
        groups=groups,
        quality=quality,
        prompts=prompts,
        problems=dict(sorted(problems.items())),
        wrong=wrong,
    )


def _written(read: Table, kept: Sequence[int]) -> str:
    """Return rows of a table as text: lines of JSON unchanged, elements and cells written anew."""
    if read.unit == "line":
        return "".join(f"{read.origin[i]}\n" for i in kept)
    if read.origin:
        elements = (json.dumps(read.origin[i], ensure_ascii=False) for i in kept)
        return "[" + ",\n ".join(elements) + "]\n"
    rows = [read.names] if read.header is not None else []
    rows += (read.rows[i] for i in kept)
    return "".join(csv_row(row, read.delimiter or ",") for row in rows)
