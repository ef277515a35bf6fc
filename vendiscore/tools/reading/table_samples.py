"""Samples from tables, columnar files and arrays, with the labels of their rows."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ...support.errors import short_repr
from .columns import (
    Choice,
    check_one_set,
    choose,
    columns_of,
    merge_numbered,
    setting_columns,
)
from .count_columns import find_coordinates, find_long_table, find_weights
from .count_tables import counts_of, without_columns
from .csv_cells import csv_row
from .json_documents import describe_value
from .limits import AskError, Limits, ReadOptions, RefusedError
from .names import say_left_out
from .number_tables import (
    check_width,
    complete_triangle,
    numbers_of,
    similarities_of,
    without_percent_sign,
)
from .records import answers_in, image_in, label_in
from .samples import Samples
from .tables import Table, column_of

if TYPE_CHECKING:
    from .columnar_files import Columns
    from .numpy_files import Arrays

_NO_ANSWER: tuple[object, ...] = (None, "", [], "None", "nan")
# Labels of samples, by the option that names their column; faults are looked for in this order.
_LABELS = {
    "sets": "by",
    "groups": "group_by",
    "prompts": "prompts",
    "quality": "quality",
    "correct": "correct",
    "weights": "weights",
}
# Cells of a column that says whether samples are correct, in lower case.
BOOLEANS = {"true": True, "yes": True, "1": True, "1.0": True}
BOOLEANS |= {"false": False, "no": False, "0": False, "0.0": False}
_KEPT = 200  # characters of a value that is not a string


def samples_of(read: Table | Columns | Arrays, read_options: ReadOptions) -> Samples:
    r"""Read the samples of a parsed table, with their labels.

    Parameters
    ----------
    read : Table, Columns or Arrays
        What a parser of `FORMATS` returned.
    read_options : ReadOptions
        Options such as columns and the type of the samples.

    Returns
    -------
    Samples
        The requested column, the only plausible one, or all numeric columns.

    Raises
    ------
    AskError
        If several columns are plausible.
    RefusedError
        If a requested column does not exist or cannot be used.

    See Also
    --------
    vendiscore.report.read_data : Read the samples of a file.

    Examples
    --------
    >>> from vendiscore.report import FORMATS, ReadOptions, samples_of
    >>> read_options = ReadOptions(kind="texts")
    >>> read = FORMATS["csv"].parse(b"id,answer\n1,a cat sat\n2,a dog ran\n", read_options)
    >>> samples_of(read, read_options).values
    ['a cat sat', 'a dog ran']
    """
    from .numpy_files import Arrays

    if isinstance(read, Arrays):
        return _of_arrays(read, read_options)
    head = read if isinstance(read, Table) else read.head()
    if not head.rows:
        return Samples([], [], kind=read_options.kind or "texts")
    _check_names(read.names, read_options)
    if isinstance(read, Table):
        read = complete_triangle(read)
        merged = merge_numbered(read, read_options)
        samples = _of_table(
            merged, _grouped(choose(merged, read_options), merged, read_options), read_options
        )
    else:
        samples = _of_columns(read, head, read_options)
    return replace(samples, source=read)


def _check_names(names: Sequence[str], read_options: ReadOptions) -> None:
    """Refuse names of columns that are not there, and a table without any other column."""
    for path in filter(None, [read_options.column, *read_options.others]):
        if "," not in path:
            column_of(names, path)
    if not {*names} - {*read_options.others}:
        raise RefusedError("it has no columns of samples, but for the columns that are named")


def _grouped(chosen: Choice, read: Table, read_options: ReadOptions) -> Choice:
    """Return a choice with the groups that the layout of the file shows.

    If there are prompts, these groups are sets, such as answers before and after a change.
    """
    if chosen.column == read.group:
        return chosen
    if chosen.prompt:
        group = read_options.unnamed_groups("", read.group)[1]
        return chosen if chosen.model else chosen._replace(model=group)
    return chosen._replace(prompt=read_options.unnamed_groups(read.group, "")[0])


def _of_table(read: Table, chosen: Choice, read_options: ReadOptions) -> Samples:
    if chosen.kind in ("vectors", "counts"):
        if chosen.kind == "counts":
            # Coordinates can define sets or groups.
            columns = columns_of(read, replace(read_options, by=None, group_by=None))
            others = [column for column in columns if column.name not in read_options.others]
            long = find_long_table(others, read)
            coordinates = [] if long else find_coordinates(columns, read_options)
            counted = without_columns(read, coordinates, "coordinates")
            return counts_of(counted, chosen.record, long, read_options)
        samples = numbers_of(read, replace(read_options, column=chosen.column))
        rows: Sequence[int] = range(len(samples))
    else:
        _check_no_weights(read, chosen, read_options)
        check_one_set(read, chosen, read_options)
        samples, rows = _strings(read, chosen, read_options.limits)
    if not samples.groups and (read.origin or not read.typed):
        samples = replace(samples, written=lambda kept: _written(read, [rows[j] for j in kept]))
    return _labelled(samples, read, read_options, chosen, rows)


def _check_no_weights(read: Table, chosen: Choice, read_options: ReadOptions) -> None:
    """Ask whether a column counts how often each row occurred, unless the samples were named."""
    if read_options.weights or read_options.column or chosen.record or chosen.kind != "texts":
        return
    name = find_weights(columns_of(read, read_options), read)
    if name and name != chosen.column:
        raise AskError(
            f"Does column {short_repr(name)} state how often each of the texts occurred?",
            [
                (f"Each row counts as often as {name} states", {"weights": name}),
                ("Each row counts once", {"column": chosen.column}),
            ],
        )


def _of_columns(file: Columns, head: Table, read_options: ReadOptions) -> Samples:
    """Return the samples of a parquet file, of which only the columns that are needed are read."""
    merged = merge_numbered(head, read_options)
    if merged is not head:  # a column of lists is made of several columns
        table = merge_numbered(file.table(file.names), read_options)
        return _of_table(table, choose(table, read_options), read_options)
    chosen = choose(head, read_options)
    needed = [chosen.column, chosen.prompt, chosen.model, chosen.once, *read_options.others]
    needed += [column.name for column in setting_columns(head, chosen, read_options)]
    needed.append(find_weights(columns_of(head, read_options), head))
    X = first = None
    if chosen.kind == "counts":
        needed = [*file.names]
    elif chosen.kind == "vectors":
        rows_wanted = replace(read_options, column=chosen.column)
        # Of the first rows, only the columns are needed.
        first = numbers_of(head, replace(rows_wanted, matrix=False, distances=False))
        X = file.matrix(first.features)
        needed[:1] = first.features if X is None else ()
    columns = {column_of(file.names, path) for path in needed if path}
    read = file.table([name for name in file.names if name in columns])
    if X is not None and first:
        X = similarities_of(X, read_options)
        numbers = replace(first, values=X, places=range(1, len(X) + 1), problems={}, wrong={})
        samples = _labelled(numbers, read, read_options, chosen, range(len(X)))
    else:
        samples = _of_table(read, chosen, read_options)
    above = samples.table.above if samples.table else []
    whole = Table(file.names, [], [], header=file.names, typed=True, more=file.more, above=above)
    rows = samples.rows or range(len(samples))
    if len({*rows}) == len(rows):  # else rows hold several samples
        samples = replace(
            samples,
            written=lambda kept: file.json_lines([rows[i] for i in kept]),
            saved=lambda kept, path: file.save_rows([rows[i] for i in kept], path),
            endings=("parquet", "pq"),
        )
    return replace(samples, table=whole, lost={**samples.lost, **(first.lost if first else {})})


def _of_arrays(arrays: Arrays, read_options: ReadOptions) -> Samples:
    """Return rows of an array as samples, their kind by its dimensions, or one value a sample."""
    if read_options.others:
        raise RefusedError("it has arrays, no columns; leave out options that name columns")
    if arrays.single and read_options.column:
        raise RefusedError("it is a single array, which has no columns; leave out --column")
    name = arrays.choose_array(read_options.column, read_options.kind)
    header = arrays.headers[name]
    shape, dtype = header.shape, header.dtype
    takes_images = read_options.kind != "vectors"
    if not header.can_hold(read_options.kind) and dtype.kind != "O":  # whose error `read` raises
        if dtype.kind not in "fiub":
            raise RefusedError(f"Expected an array of real numbers, got {dtype} values.")
        images = " or images (n, H, W)" if takes_images else ""
        raise RefusedError(f"Expected rows of numbers (n, d){images}, got shape {shape}.")
    kind = "vectors" if len(header.squeezed_shape) == 2 else "images"
    if len(shape) == 1:
        kind = read_options.kind or "texts"
    elif kind == "vectors" and takes_images and len(shape) > 2:
        if read_options.kind != "images":
            rows = " × ".join(map(str, header.squeezed_shape))
            raise AskError(
                f"The array has shape {shape}: are these {rows} numbers, a vector per row, or "
                f"images? If these are vectors, it can also be saved as np.squeeze(X).",
                [
                    ("They are vectors", {"kind": "vectors"}),
                    ("They are images", {"kind": "images"}),
                ],
            )
        kind = "images"
    above = []
    if kind == "vectors":
        check_width(header.squeezed_shape[1], read_options.limits)
    X = arrays.read(name)  # after its header is judged; refuses Python objects
    if kind == "vectors" and len(shape) > 2:
        X = X.reshape(header.squeezed_shape)
        above = [f"shape {shape} is read as {X.shape}"]
    if not read_options.kind:
        _check_numbers(X, kind)
    whole = X  # unchanged by those who scale the values

    def saved(kept: Sequence[int], path: str) -> None:
        with open(path, "wb") as file:  # np.save would add an ending
            np.save(file, whole[list(kept)])

    values = X.tolist() if len(shape) == 1 else X.copy()
    return Samples(
        similarities_of(values, read_options) if kind == "vectors" else values,
        range(1, len(X) + 1),
        "row",
        kind=kind,
        column=None if len(arrays.headers) == 1 else name,
        saved=saved,
        endings=("npy",),
        above=above,
    )


def _check_numbers(X: np.ndarray, kind: str) -> None:
    """Ask about bytes that may be packed bits; refuse numbers that cannot be images."""
    if X.size and kind == "vectors" and X.dtype == np.uint8 and X.max() > 1:
        raise AskError(
            "Are these bytes numbers, or packed bits, for example fingerprints with 8 bits per "
            "byte? If they are packed bits, save np.unpackbits(X, axis=1), and compare them with "
            "-k tanimoto.",
            [("They are numbers", {"kind": "vectors"})],
        )
    if X.size and kind == "images" and X.dtype.kind == "f" and X.ndim == 3 and X.min() < 0:
        raise RefusedError(
            f"an array of shape {X.shape} is read as images (n, H, W), but has values from "
            f"{X.min():.6g} to {X.max():.6g}. If it has vectors of tokens (n, tokens, d), save "
            f"their means, X.mean(axis=1); for images from −1 to 1, save (X + 1) / 2"
        )


def _strings(read: Table, chosen: Choice, limits: Limits) -> tuple[Samples, Sequence[int]]:
    """Return the texts, images or values of a column, and the row of each: a list is a group."""
    column = str(chosen.column)
    cells = read.column(column)
    kept: Sequence[int] = range(len(cells))
    if chosen.kind == "images":
        cells = list(map(image_in, cells))
    elif chosen.kind != "values":
        cells = list(map(answers_in, cells))
        kept = _answered(read, cells, chosen)
    total = sum(len(cells[i]) if isinstance(cells[i], list) else 1 for i in kept)
    if chosen.kind != "values" and total > limits.samples:
        raise RefusedError(
            f"{total:,} answers in {len(kept):,} rows are too many: the limit is "
            f"{limits.samples:,}; send a random part of the rows."
        )
    values: list[object] = []
    rows: list[int] = []
    numbers: list[int] = []  # of the answers in a row
    problems: dict[int, str] = {}
    for i in kept:
        cell = cells[i]
        answers = cell if isinstance(cell, list) and chosen.kind != "values" else [cell]
        if not answers:
            problems[len(values)] = "has no answers"
            answers = [""]
        values += answers
        rows += [i] * len(answers)
        numbers += range(1, len(answers) + 1)
    places: list[int | str] = [read.places[i] for i in rows]
    groups = []
    if rows != [*kept]:  # some cells have several answers, or none
        groups = [f"{read.unit} {place}" for place in places]
        places = [f"{place}, answer {k}" for place, k in zip(places, numbers, strict=True)]
    unread = {j: read.problems[i] for j, i in enumerate(rows) if i in read.problems}
    problems |= unread
    wrong = dict.fromkeys(unread, "")
    for j, value in enumerate(values):
        if chosen.kind in ("molecules", "values") and label_in(value) == "":
            problems.setdefault(j, "is empty")
        if not isinstance(value, str) and chosen.kind not in ("values", "images"):
            what = "is missing" if value is None else f"is {describe_value(value)}, not text"
            problems.setdefault(j, what)
            values[j] = "" if value is None else str(value)[:_KEPT]
    left = len(cells) - len(kept)
    samples = Samples(
        values,
        places,
        read.unit,
        dict(sorted(problems.items())),
        groups=groups,
        kind=chosen.kind,
        column=column if len(read.names) > 1 or read.header else "",
        wrong=wrong,
        table=replace(read, rows=[], problems={}, origin=()),
        above=[say_left_out(left, "row", " without an answer")] if left else [],
    )
    return samples, rows


def _answered(read: Table, answers: Sequence[object], chosen: Choice) -> Sequence[int]:
    """Return the rows of a tool's records that have an answer, as a request may have failed."""
    if not chosen.record:
        return range(len(answers))
    kept = [i for i, each in enumerate(answers) if i in read.problems or each not in _NO_ANSWER]
    if chosen.once in read.names:
        once = read.labels(chosen.once)
        kept = [i for i in kept if once[i] == once[0]]
    if not kept:
        raise RefusedError(f"none of its {len(answers):,} rows has an answer")
    return kept


def _labelled(
    samples: Samples, read: Table, read_options: ReadOptions, chosen: Choice, rows: Sequence[int]
) -> Samples:
    """Add the sets, groups, quality, correctness and prompts, and the rows that have none.

    `rows` are the row of each sample in the table.
    """

    @cache
    def labels(column: str) -> list[str]:
        every = read.labels(column) if column else []
        return [every[i] for i in rows] if column else []

    lost = dict(samples.lost)
    columns = {name: getattr(read_options, option) or "" for name, option in _LABELS.items()}
    # Else there is one model, or most have one sample.
    if _are_repeated(labels(chosen.model)):
        columns["sets"] = chosen.model
    asked = labels(chosen.prompt)
    sets, groups = (labels(columns[name]) or asked for name in ("sets", "groups"))
    if asked and len({*asked}) == 1:
        lost[chosen.prompt] = "all answers have the same prompt"
    elif _are_repeated([*zip(sets, groups, asked, strict=False)]):
        # Named groups have prompts in them.
        columns["prompts" if columns["groups"] else "groups"] = chosen.prompt
    elif asked:
        lost[chosen.prompt] = "most have one answer"
    problems, wrong = dict(samples.problems), dict(samples.wrong)
    quality = []
    correct = []
    weights = []
    for name, column in columns.items():
        for j, label in enumerate(labels(column)):
            problem = "" if label else f"is empty, so that the sample has no {name[:-1]}"
            if name == "quality":
                number = _number(label)
                quality.append(number or 0.0)
                problem = "" if number is not None else f"is {short_repr(label)}, not a number"
            if name == "weights":
                weight = _number(label)
                weights.append(weight if weight and weight > 0 else 0.0)
                if weight is None or weight < 0:
                    problem = f"is {short_repr(label)}, where a weight is a number of at least 0"
            if name == "correct":
                value = BOOLEANS.get(label.strip().lower())
                correct.append(bool(value))
                problem = "" if value is not None else f"is {short_repr(label)}, not true or false"
            if problem and j not in problems:
                problems[j] = problem
                wrong[j] = column
    return replace(
        samples,
        sets=labels(columns["sets"]),
        groups=labels(columns["groups"]) or ([] if read_options.pool else samples.groups),
        quality=quality,
        correct=correct,
        weights=weights,
        prompts=labels(columns["prompts"]),
        problems=dict(sorted(problems.items())),
        wrong=wrong,
        grouping=columns,
        record=chosen.record,
        rows=rows,
        lost=lost,
    )


def _are_repeated(labels: Sequence[object]) -> bool:
    """Return whether there are several labels, of which most are repeated."""
    times = Counter(labels).values()
    return 2 * sum(count > 1 for count in times) >= len(times) > 1


def _number(cell: str) -> float | None:
    """Return a cell as a number, if it is one."""
    try:
        number = float(without_percent_sign(cell))
    except ValueError:
        return None
    return None if math.isinf(number) else number


def _written(read: Table, kept: Sequence[int]) -> str:
    """Return rows of a table as text: lines of JSON unchanged, elements and cells written anew."""
    if read.origin and read.unit == "line":
        return "".join(f"{read.origin[i]}\n" for i in kept)
    if read.origin:
        elements = [json.dumps(read.origin[i], ensure_ascii=False) for i in kept]
        return "[" + ",\n ".join(elements) + "]\n"
    rows = [read.rows[i] for i in kept]
    if read.header is not None:
        rows.insert(0, read.names)
    sign = read.delimiter if len(read.delimiter) == 1 else ","  # else one or aligned columns
    return "".join(csv_row(row, sign) for row in rows)
