"""Samples from tables, columnar files and arrays: the right columns, and the groups of rows."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .columns import Choice, check_one_set, choose, merge_numbered
from .csv_cells import csv_row
from .json_documents import describe_value
from .limits import RefusedError, Wanted
from .number_tables import check_width, numbers_of
from .records import answers_in, image_in
from .samples import Samples
from .tables import Table, checked_path

if TYPE_CHECKING:
    from .columnar_files import Columns
    from .numpy_files import Arrays

_NO_ANSWER: tuple[Any, ...] = (None, "", [], "None", "nan")
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
    for path in filter(None, [wanted.column, *wanted.others]):
        if "," not in path:
            checked_path(read.names, path)
    if not {*read.names} - {*wanted.others}:
        but = f" other than {', '.join(wanted.others)}" if wanted.others else ""
        raise RefusedError(f"it has no columns{but}, and so no samples")
    read = merge_numbered(read, wanted)
    return _of_table(read, choose(read, wanted), wanted)


def _of_table(read: Table, chosen: Choice, wanted: Wanted) -> Samples:
    if chosen.kind in ("vectors", "counts"):
        samples = numbers_of(read, replace(wanted, column=chosen.column))
        if chosen.kind == "counts":
            return _abundances(read, samples, chosen)
        rows: Sequence[int] = range(len(samples))
    else:
        check_one_set(read, chosen, wanted)
        samples, rows = _strings(read, chosen)
    if not samples.groups and (read.origin or not read.typed):
        samples = replace(samples, written=lambda kept: _written(read, [rows[j] for j in kept]))
    return _labelled(samples, read, wanted, chosen, rows)


def columns_samples(file: Columns, wanted: Wanted) -> Samples:
    """Return a column of texts or of rows of numbers, or all columns of numbers."""
    head = file.head()
    others = [checked_path(head.names, path) for path in wanted.others]
    if not {*file.names} - {*others}:
        raise RefusedError("it has no columns, and so no samples")
    chosen = choose(head, wanted)
    if chosen.kind == "vectors" and (chosen.column is None or chosen.column in file.names):
        samples = file.numeric_samples(chosen.column, others)
        if others:
            samples = _labelled(samples, file.table(others), wanted, chosen, range(len(samples)))
        return samples
    needed = [chosen.column, chosen.prompt, chosen.model, chosen.once, *others]
    columns = {file.holder(path) for path in needed if path}
    read = file.table([name for name in file.names if name in columns])
    samples = _of_table(read, chosen, wanted)
    whole = samples.table and replace(samples.table, names=file.names, header=file.names)
    return replace(samples, table=whole)


def _abundances(read: Table, counted: Samples, chosen: Choice) -> Samples:
    """Return the species of each individual that a table counts, in groups by their sites."""
    if counted.problems:
        return counted
    rows = read.labels(read.names[0])
    counts = counted.values.astype(int)
    species, sites = (rows, counted.features) if chosen.record else (counted.features, rows)
    by_site = counts.T if chosen.record else counts
    labels = [label for row in by_site for label in np.repeat(species, row).tolist()]
    sizes = by_site.sum(axis=1)
    return Samples(
        labels,
        range(1, len(labels) + 1),
        "individual",
        groups=np.repeat(sites, sizes).tolist(),
        kind="labels",
        features=[*counted.features, read.names[0]],
        lost={name: why for name, why in counted.lost.items() if name != read.names[0]},
        table=counted.table,
        record=f"{len(species):,} species at {len(sites):,} sites",
    )


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


def _strings(read: Table, chosen: Choice) -> tuple[Samples, Sequence[int]]:
    """Return the texts, images or values of a column, and the row of each: a list is a group."""
    column = str(chosen.column)
    cells = read.column(column)
    kept: Sequence[int] = range(len(cells))
    if chosen.kind != "values":
        cells, kept = _answers(read, cells, chosen)
    several = any(isinstance(cell, list) for cell in cells) and chosen.kind != "values"
    rows = kept
    places: Sequence[int | str] = [read.places[i] for i in rows]
    groups: Sequence[str] = ()
    if several:
        lists = [cell if isinstance(cell, list) else [cell] for cell in cells]
        rows = [i for i, each in zip(kept, lists, strict=True) for _ in each]
        counts = [k for each in lists for k in range(1, len(each) + 1)]
        places = [f"{read.places[i]}, answer {k}" for i, k in zip(rows, counts, strict=True)]
        cells = [answer for each in lists for answer in each]
        groups = [f"{read.unit} {read.places[i]}" for i in rows]
    problems = {j: read.problems[i] for j, i in enumerate(rows) if i in read.problems}
    wrong = dict.fromkeys(problems, "")
    if chosen.kind not in ("values", "images"):
        for j, value in enumerate(cells):
            if not isinstance(value, str):
                what = "is missing" if value is None else f"is {describe_value(value)}, not text"
                problems.setdefault(j, what)
                cells[j] = "" if value is None else str(value)[:_KEPT]
    left = len(read.rows) - len(kept)
    more = [f"left out: {left:,} rows without an answer"] if left else []
    samples = Samples(
        cells,
        places,
        read.unit,
        dict(sorted(problems.items())),
        groups=groups,
        kind=chosen.kind,
        column=column if len(read.names) > 1 or read.header else "",
        wrong=wrong,
        table=replace(read, rows=[], problems={}, origin=()),
        above=more,
    )
    return samples, rows


def _answers(read: Table, cells: Sequence[Any], chosen: Choice) -> tuple[list[Any], Sequence[int]]:
    """Return what each row answers, and the rows that do: a request may have failed."""
    if chosen.kind == "images":
        return [image_in(cell) for cell in cells], range(len(cells))
    each = [answers_in(cell) for cell in cells]
    each = [cell[0] if isinstance(cell, list) and len(cell) == 1 else cell for cell in each]
    if not chosen.record and chosen.kind != "molecules":
        return each, range(len(cells))
    once = read.labels(chosen.once) if chosen.once in read.names else []
    kept = [i for i, cell in enumerate(each) if i in read.problems or cell not in _NO_ANSWER]
    kept = [i for i in kept if not once or once[i] == once[0]]
    if not kept:
        raise RefusedError(f"none of its {len(cells):,} rows has an answer")
    return [each[i] for i in kept], kept


def _labelled(
    samples: Samples, read: Table, wanted: Wanted, chosen: Choice, rows: Sequence[int]
) -> Samples:
    """Add the sets, groups, quality and prompts of the samples, and the rows that have none.

    `rows` are the row of each sample in the table.
    """
    problems = dict(samples.problems)
    wrong = dict(samples.wrong)

    def missing(j: int, column: str, what: str) -> None:
        if j not in problems:
            problems[j], wrong[j] = what, column

    def of_rows(cells: Sequence[Any]) -> list[Any]:
        return [cells[i] for i in rows]

    def labels(column: str | None, what: str) -> list[str]:
        each = of_rows(read.labels(column)) if column else []
        for j in (j for j, label in enumerate(each) if not label):
            missing(j, str(column), f"is empty, so that the sample has no {what}")
        return each

    sets = labels(wanted.by, "set")
    groups: Sequence[Hashable] = labels(wanted.group_by, "group") or samples.groups
    by = {"sets": wanted.by, "groups": wanted.group_by}
    models = of_rows(read.labels(chosen.model)) if chosen.model else []
    if len({*models}) > 1:
        sets = labels(chosen.model, "model")
        by["sets"] = chosen.model
    if chosen.prompt:
        asked = of_rows(read.labels(chosen.prompt))
        pairs = list(zip(sets or asked, asked, strict=True))
        if 1 < len({*pairs}) < len(pairs):  # else each prompt has one answer, or all have one
            groups = labels(chosen.prompt, "prompt")
            by["groups"] = chosen.prompt
    prompts = labels(wanted.prompts, "prompt")
    quality: list[float] = []
    for j, value in enumerate(of_rows(read.column(wanted.quality)) if wanted.quality else []):
        try:
            quality.append(float(value))
        except (TypeError, ValueError, OverflowError):
            quality.append(0.0)
            missing(j, str(wanted.quality), f"is {describe_value(value)}, not a number")
    if wanted.pool:
        sets, groups = [], []
    return replace(
        samples,
        sets=sets,
        groups=groups,
        quality=quality,
        prompts=prompts,
        problems=dict(sorted(problems.items())),
        wrong=wrong,
        grouping={name: column or "" for name, column in by.items()},
        record=chosen.record,
        rows=rows,
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
