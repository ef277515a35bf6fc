"""Tables and columnar files as samples: the columns that are meant, and the groups of the rows."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from .columnar_files import Columns
from .columns import pick
from .json_documents import describe_value
from .limits import Limits, RefusedError
from .number_tables import numbers_of, numbers_of_records
from .samples import Samples
from .tables import Table, are_numbers, checked_column, is_row, join_names


@dataclass(frozen=True)
class Wanted:
    """How a file is to be read by the options of a command."""

    kind: str = ""  # of samples that the kernel compares, "" where none is named
    column: str | None = None
    by: str | None = None
    group_by: str | None = None
    quality: str | None = None
    split: str = "row"  # of lines: "row", "blank", or the line that stands between two texts
    type: str | None = None
    encoding: str | None = None
    skip: bool = False  # samples that cannot be read
    limits: Limits = field(default_factory=partial(Limits, smiles=1_000))

    @property
    def others(self) -> list[str]:
        """The columns that are not samples."""
        return list(filter(None, dict.fromkeys([self.by, self.group_by, self.quality])))


def columns_samples(file: Columns, wanted: Wanted) -> Samples:
    """Return a column of texts or of rows of numbers, or all columns of numbers."""
    others = [checked_column(file.names, c) for c in wanted.others]
    rest = [c for c in file.names if c not in others]
    column = wanted.column if wanted.column is None else checked_column(file.names, wanted.column)
    numeric = [*file.numbers, *file.vectors]
    notes: tuple[str, ...] = ()
    if column is None and wanted.kind != "vectors":
        if len(rest) == 1:
            column = rest[0]
        elif wanted.kind or not {*rest} <= {*numeric}:
            column, notes = _picked(file.head().without(others), wanted, file.names, file.vectors)
    if wanted.kind == "vectors" or (not wanted.kind and (column is None or column in numeric)):
        chosen = file.numeric(column, others)
        X, problems = file.matrix(chosen)
        left = () if column else [c for c in rest if c not in chosen]
        samples = Samples(
            X,
            range(1, len(X) + 1),
            "row",
            {i: what for i, (_, what) in problems.items()},
            (*notes, f"columns {', '.join(left)} are left out: no numbers") if left else notes,
            kind="vectors",
            wrong={i: at for i, (at, _) in problems.items()},
        )
        return _labelled(samples, file.table(others), wanted) if others else samples
    if column is None:
        raise RefusedError("it has no columns, and so no samples")
    read = file.table(list(dict.fromkeys([column, *others])))
    return replace(table_samples(read, replace(wanted, column=column)), notes=notes)


def table_samples(read: Table, wanted: Wanted) -> Samples:
    """Return the column that is meant, or all columns of numbers, with the groups of the rows."""
    if not read.rows:
        return Samples([], [])
    others = [checked_column(read.names, c) for c in wanted.others]
    rest = read.without(others)
    if not rest.names:
        but = f" beside {', '.join(others)}" if others else ""
        raise RefusedError(f"it has no columns{but}, and so no samples")
    column, notes = wanted.column, tuple[str, ...]()
    numbers = wanted.kind == "vectors" or _are_numbers(rest, wanted)
    if not numbers:
        if column is None and len(rest.names) == 1:
            column = rest.names[0]
        elif column is None:
            column, notes = _picked(rest, wanted, read.names)
        column = checked_column(read.names, column)
        numbers = _are_numbers(rest, replace(wanted, column=column))
    if numbers:
        samples = _of_numbers(read if column else rest, column, wanted.limits)
    else:
        samples = _of_strings(read, str(column), wanted.kind)
    if read.origin or not read.typed:
        samples = replace(samples, written=lambda kept: _written(read, kept))
    return _labelled(replace(samples, notes=(*notes, *samples.notes)), read, wanted)


def _of_strings(read: Table, column: str, kind: str) -> Samples:
    """Return the strings of a column, or its values where labels are compared."""
    values, problems = read.column(column), dict(read.problems)
    shown = column if len(read.names) > 1 or read.header else ""
    if kind != "values":
        for i, value in enumerate(values):
            if i not in problems and not isinstance(value, str):
                problems[i] = (
                    "is missing" if value is None else f"is {describe_value(value)}, no string"
                )
        values = [value if isinstance(value, str) else "" for value in values]
    return Samples(
        values,
        read.places,
        read.unit,
        dict(sorted(problems.items())),
        kind=kind or "texts",
        column=shown,
        wrong=dict.fromkeys(read.problems, ""),
    )


def _of_numbers(read: Table, column: str | None, limits: Limits) -> Samples:
    """Return the rows of numbers of a table, all or of columns with commas between their names."""
    if read.typed:
        found = numbers_of_records(read, column, limits)
    else:
        asked = () if column is None else [column] if column in read.names else column.split(",")
        chosen = [read.names.index(checked_column(read.names, c)) for c in asked]
        found = numbers_of(read, chosen=chosen or None)
    return Samples(
        found.X,
        read.places,
        read.unit,
        {i: what for i, (what, _) in found.problems.items()},
        tuple(f"column {read.names[j]!r} is left out: {why}" for j, why in found.lost.items()),
        kind="vectors",
        wrong={
            i: "" if j is None or not (read.header or len(read.names) > 1) else read.names[j]
            for i, (_, j) in found.problems.items()
        },
    )


def _picked(
    rest: Table, wanted: Wanted, names: Sequence[str], vectors: Sequence[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """Return the column that holds the samples by what is in it, and a note on it."""
    try:
        column = pick(
            rest, None, "molecule" if wanted.kind == "molecules" else "text", wanted.limits
        )
    except RefusedError:
        rows = vectors or [c for c in rest.names if any(map(is_row, rest.column(c)[:20]))]
        if wanted.kind or len(rows) != 1:
            raise
        column = rows[0]
    return column, (f"the samples are column {column!r} of {join_names(names)} (--column)",)


def is_numeric(read: Table, column: str | None) -> bool:
    """Return whether a column, or each column, is of numbers or of rows of them."""
    columns = [read.column(name) for name in ([column] if column in read.names else read.names)]
    if read.typed:  # a string of digits is a text there
        columns = [["text" if isinstance(c, str) else c for c in cells] for cells in columns]
    return bool(columns) and all(
        any(map(is_row, cells[:20])) or are_numbers(cells) for cells in columns
    )


def _are_numbers(read: Table, wanted: Wanted) -> bool:
    """Return whether samples of any kind that were not read as numbers are numbers."""
    return not wanted.kind and read.typed and is_numeric(read, wanted.column)


def _labelled(samples: Samples, read: Table, wanted: Wanted) -> Samples:
    """Add the sets, groups and quality of the samples, and the rows that have none."""
    problems, wrong = dict(samples.problems), dict(samples.wrong)

    def missing(i: int, column: str, what: str) -> None:
        if i not in problems:
            problems[i], wrong[i] = what, column

    def labels(column: str | None, what: str) -> list[str]:
        found = read.labels(column) if column else []
        for i in (i for i, label in enumerate(found) if not label):
            missing(i, str(column), f"is empty, so that the sample has no {what}")
        return found

    sets, groups = labels(wanted.by, "set"), labels(wanted.group_by, "group")
    quality: list[float] = []
    for i, value in enumerate(read.column(wanted.quality) if wanted.quality else []):
        try:
            quality.append(float(value))
        except (TypeError, ValueError, OverflowError):
            quality.append(0.0)
            missing(i, str(wanted.quality), f"is {describe_value(value)}, no number")
    return replace(
        samples,
        sets=sets,
        groups=groups,
        quality=quality,
        problems=dict(sorted(problems.items())),
        wrong=wrong,
    )


def _written(read: Table, kept: Sequence[int]) -> str:
    """Return rows of a table as text: lines of JSON as they were, elements and cells anew."""
    if read.unit == "line":
        return "".join(f"{read.origin[i]}\n" for i in kept)
    if read.origin:
        elements = (json.dumps(read.origin[i], ensure_ascii=False) for i in kept)
        return "[" + ",\n ".join(elements) + "]\n"
    out = io.StringIO()
    writer = csv.writer(out, delimiter=read.delimiter or ",", lineterminator="\n")
    if read.header is not None:
        writer.writerow(read.names)
    writer.writerows(read.rows[i] for i in kept)
    return out.getvalue()
