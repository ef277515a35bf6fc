"""Samples from tables, columnar files and arrays, with the labels of their rows."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ...support.errors import short_repr
from .columns import (
    ColumnRoles,
    analyze_columns,
    check_one_set,
    detect_columns,
    find_setting_columns,
    merge_numbered,
)
from .count_columns import find_coordinates, find_counts_answer, find_long_table, find_weights
from .count_tables import take_individuals, without_columns
from .csv_cells import format_csv_row
from .json_documents import describe_value
from .limits import AskError, Limits, ReadOptions, RefusedError
from .names import PERSON_NAMES, format_dropped_count, is_named
from .number_tables import (
    check_width,
    complete_triangle,
    take_numbers,
    to_similarities,
    without_percent_sign,
)
from .records import extract_answers, extract_image, extract_label
from .samples import Samples
from .tables import Table, check_column_path

if TYPE_CHECKING:
    from .columnar_files import Columns
    from .numpy_files import NumpyArchive

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
_MAX_VALUE_LENGTH = 200  # characters of a value that is not a string


def samples_of(read: Table | Columns | NumpyArchive, read_options: ReadOptions) -> Samples:
    r"""Read the samples of a parsed table, with their labels.

    Parameters
    ----------
    read : Table, Columns or NumpyArchive
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
    from .numpy_files import NumpyArchive

    if isinstance(read, NumpyArchive):
        return _take_array_samples(read, read_options)
    preview = read if isinstance(read, Table) else read.head()
    if not preview.rows:
        return Samples([], [], kind=read_options.kind or "texts")
    _check_names(read.names, read_options)
    if isinstance(read, Table):
        read = complete_triangle(read)
        merged = merge_numbered(read, read_options)
        samples = _take_table_samples(
            merged,
            _add_layout_groups(detect_columns(merged, read_options), merged, read_options),
            read_options,
        )
    else:
        samples = _take_columnar_samples(read, preview, read_options)
    return replace(samples, source=read)


def _check_names(names: Sequence[str], read_options: ReadOptions) -> None:
    """Raise an error for missing columns, and for a table without a column of samples."""
    for path in filter(None, [read_options.column, *read_options.others]):
        if "," not in path:
            check_column_path(names, path)
    if not {*names} - {*read_options.others}:
        raise RefusedError(
            "all its columns are selected for other roles, so it has no column of samples"
        )


def _add_layout_groups(roles: ColumnRoles, table: Table, read_options: ReadOptions) -> ColumnRoles:
    """Return the roles with the groups that the layout of the file defines.

    If there are prompts, these groups are sets, such as answers before and after a change.
    """
    if roles.column == table.group:
        return roles
    if roles.prompt:
        group = read_options.unnamed_groups("", table.group)[1]
        return roles if roles.model else roles._replace(model=group)
    return roles._replace(prompt=read_options.unnamed_groups(table.group, "")[0])


def _take_table_samples(table: Table, roles: ColumnRoles, read_options: ReadOptions) -> Samples:
    if roles.kind in ("vectors", "counts"):
        if roles.kind == "counts":
            # Coordinates can define sets or groups.
            columns = analyze_columns(table, replace(read_options, by=None, group_by=None))
            remaining_columns = [
                column for column in columns if column.name not in read_options.others
            ]
            long = find_long_table(remaining_columns, table)
            coordinates = [] if long else find_coordinates(columns, read_options)
            counted = without_columns(table, coordinates, "coordinates")
            return take_individuals(counted, roles.record, long, read_options)
        samples = take_numbers(table, replace(read_options, column=roles.column))
        rows: Sequence[int] = range(len(samples))
    else:
        _check_no_weights(table, roles, read_options)
        check_one_set(table, roles, read_options)
        samples, rows = _take_column_samples(table, roles, read_options.limits)
    if not samples.groups and (table.origin or not table.typed):
        samples = replace(
            samples, written=lambda indices: _serialize_rows(table, [rows[j] for j in indices])
        )
    return _add_labels(samples, table, read_options, roles, rows)


def _check_no_weights(table: Table, roles: ColumnRoles, read_options: ReadOptions) -> None:
    """Ask whether a column counts how often each row occurred, unless the samples were named."""
    if read_options.weights or read_options.column or roles.record or roles.kind != "texts":
        return
    columns = analyze_columns(table, read_options)
    name = find_weights(columns, table)
    if name and name != roles.column:
        choices: list[tuple[str, Mapping[str, object]]] = [
            (f"Each row counts as often as {name} states", {"weights": name}),
            ("Each row counts once", {"column": roles.column}),
        ]
        if counts_answer := find_counts_answer(table, columns):
            choices.append(("Each row is a species, with its count", counts_answer))
        raise AskError(
            f"Does column {short_repr(name)} state how often each of the texts occurred?", choices
        )


def _take_columnar_samples(file: Columns, preview: Table, read_options: ReadOptions) -> Samples:
    """Return the samples of a parquet file, of which only the columns that are needed are read."""
    merged = merge_numbered(preview, read_options)
    if merged is not preview:  # a column of lists is made of several columns
        merged_table = merge_numbered(file.table(file.names), read_options)
        return _take_table_samples(
            merged_table, detect_columns(merged_table, read_options), read_options
        )
    roles = detect_columns(preview, read_options)
    names = [
        roles.column,
        roles.prompt,
        roles.model,
        roles.first_value_column,
        *read_options.others,
    ]
    names += [column.name for column in find_setting_columns(preview, roles, read_options)]
    names.append(find_weights(analyze_columns(preview, read_options), preview))
    X = first = None
    if roles.kind == "counts":
        names = [*file.names]
    elif roles.kind == "vectors":
        vector_options = replace(read_options, column=roles.column)
        # Of the first rows, only the columns are needed.
        first = take_numbers(preview, replace(vector_options, matrix=False, distances=False))
        X = file.matrix(first.features)
        names[:1] = first.features if X is None else ()
    columns = {check_column_path(file.names, path) for path in names if path}
    table = file.table([name for name in file.names if name in columns])
    if X is not None and first:
        X = to_similarities(X, read_options)
        numbers = replace(first, values=X, places=range(1, len(X) + 1), problems={}, wrong={})
        samples = _add_labels(numbers, table, read_options, roles, range(len(X)))
    else:
        samples = _take_table_samples(table, roles, read_options)
    descriptions = samples.table.above if samples.table else []
    table_without_rows = Table(
        file.names, [], [], header=file.names, typed=True, more=file.more, above=descriptions
    )
    rows = samples.rows or range(len(samples))
    if len({*rows}) == len(rows):  # else rows hold several samples
        samples = replace(
            samples,
            written=lambda indices: file.json_lines([rows[i] for i in indices]),
            saved=lambda indices, path: file.save_rows([rows[i] for i in indices], path),
            endings=("parquet", "pq"),
        )
    return replace(
        samples, table=table_without_rows, lost={**samples.lost, **(first.lost if first else {})}
    )


def _take_array_samples(arrays: NumpyArchive, read_options: ReadOptions) -> Samples:
    """Return rows of an array as samples, their kind by its dimensions, or one value a sample."""
    if read_options.others:
        raise RefusedError("it has arrays, not columns; remove options that name columns")
    if arrays.single and read_options.column:
        raise RefusedError("it is a single array, which has no columns; remove --column")
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
    descriptions = []
    if kind == "vectors":
        check_width(header.squeezed_shape[1], read_options.limits)
    X = arrays.read(name)  # after its header is judged; refuses Python objects
    if kind == "vectors" and len(shape) > 2:
        X = X.reshape(header.squeezed_shape)
        descriptions = [f"shape {shape} is read as {X.shape}"]
    if not read_options.kind:
        _check_numbers(X, kind)
    original = X  # unchanged by those who scale the values

    def save_rows(indices: Sequence[int], path: str) -> None:
        with open(path, "wb") as file:  # np.save would add an ending
            np.save(file, original[list(indices)])

    values = X.tolist() if len(shape) == 1 else X.copy()
    return Samples(
        to_similarities(values, read_options) if kind == "vectors" else values,
        range(1, len(X) + 1),
        "row",
        kind=kind,
        column=None if len(arrays.headers) == 1 else name,
        saved=save_rows,
        endings=("npy",),
        above=descriptions,
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


def _take_column_samples(
    table: Table, roles: ColumnRoles, limits: Limits
) -> tuple[Samples, Sequence[int]]:
    """Return the texts, images or values of a column, and the row of each: a list is a group."""
    column = str(roles.column)
    cells = table.column(column)
    selected_rows: Sequence[int] = range(len(cells))
    if roles.kind == "images":
        cells = list(map(extract_image, cells))
    elif roles.kind != "values":
        cells = list(map(extract_answers, cells))
        selected_rows = _select_answered_rows(table, cells, roles)
    total = sum(len(cells[i]) if isinstance(cells[i], list) else 1 for i in selected_rows)
    if roles.kind != "values" and total > limits.samples:
        raise RefusedError(
            f"{total:,} answers in {len(selected_rows):,} rows are too many: the limit is "
            f"{limits.samples:,}; send a random part of the rows."
        )
    values: list[object] = []
    rows: list[int] = []
    numbers: list[int] = []  # of the answers in a row
    problems: dict[int, str] = {}
    for i in selected_rows:
        cell = cells[i]
        answers = cell if isinstance(cell, list) and roles.kind != "values" else [cell]
        if not answers:
            problems[len(values)] = "has no answers"
            answers = [""]
        values += answers
        rows += [i] * len(answers)
        numbers += range(1, len(answers) + 1)
    locations: list[int | str] = [table.places[i] for i in rows]
    groups = []
    if rows != [*selected_rows]:  # some cells have several answers, or none
        groups = [f"{table.unit} {location}" for location in locations]
        locations = [
            f"{location}, answer {k}" for location, k in zip(locations, numbers, strict=True)
        ]
    row_problems = {j: table.problems[i] for j, i in enumerate(rows) if i in table.problems}
    problems |= row_problems
    problem_columns = dict.fromkeys(row_problems, "")
    for j, value in enumerate(values):
        if roles.kind in ("molecules", "values") and extract_label(value) == "":
            problems.setdefault(j, "is empty")
        if not isinstance(value, str) and roles.kind not in ("values", "images"):
            problem = "is missing" if value is None else f"is {describe_value(value)}, not text"
            problems.setdefault(j, problem)
            values[j] = "" if value is None else str(value)[:_MAX_VALUE_LENGTH]
    n_dropped = len(cells) - len(selected_rows)
    samples = Samples(
        values,
        locations,
        table.unit,
        dict(sorted(problems.items())),
        groups=groups,
        kind=roles.kind,
        column=column if len(table.names) > 1 or table.header else "",
        wrong=problem_columns,
        table=replace(table, rows=[], problems={}, origin=()),
        above=[format_dropped_count(n_dropped, "row", " without an answer")] if n_dropped else [],
    )
    return samples, rows


def _select_answered_rows(
    table: Table, answers: Sequence[object], roles: ColumnRoles
) -> Sequence[int]:
    """Return the rows of a tool's records that have an answer, as a request may have failed."""
    if not roles.record:
        return range(len(answers))
    answered_rows = [
        i for i, answer in enumerate(answers) if i in table.problems or answer not in _NO_ANSWER
    ]
    if roles.first_value_column in table.names:
        first_values = table.labels(roles.first_value_column)
        answered_rows = [i for i in answered_rows if first_values[i] == first_values[0]]
    if not answered_rows:
        raise RefusedError(f"none of its {len(answers):,} rows has an answer")
    return answered_rows


def _add_labels(
    samples: Samples,
    table: Table,
    read_options: ReadOptions,
    roles: ColumnRoles,
    rows: Sequence[int],
) -> Samples:
    """Add the sets, groups, quality, correctness and prompts, and the rows that have none.

    `rows` are the row of each sample in the table.
    """

    @cache
    def labels(column: str) -> list[str]:
        column_labels = table.labels(column) if column else []
        return [column_labels[i] for i in rows] if column else []

    reasons = dict(samples.lost)
    columns = {name: getattr(read_options, option) or "" for name, option in _LABELS.items()}
    # Else there is one model, or most have one sample.
    if _are_repeated(labels(roles.model)):
        columns["sets"] = roles.model
    prompts = labels(roles.prompt)
    if columns["sets"] == roles.model and is_named(roles.model, PERSON_NAMES):
        persons, groups = (labels(column) or prompts for column in (roles.model, columns["groups"]))
        answers = [*zip(groups, prompts, strict=True)]
        if _are_repeated(answers) and not _are_repeated([*zip(persons, answers, strict=False)]):
            columns["sets"] = ""
            reasons[roles.model] = "gave most prompts one answer each"
    sets, groups = (labels(columns[name]) or prompts for name in ("sets", "groups"))
    if prompts and len({*prompts}) == 1:
        reasons[roles.prompt] = "all answers have the same prompt"
    elif _are_repeated([*zip(sets, groups, prompts, strict=False)]):
        # Named groups have prompts in them.
        columns["prompts" if columns["groups"] else "groups"] = roles.prompt
    elif prompts:
        reasons[roles.prompt] = "most have one answer"
    problems, problem_columns = dict(samples.problems), dict(samples.wrong)
    quality = []
    correct = []
    weights = []
    for name, column in columns.items():
        for j, label in enumerate(labels(column)):
            problem = "" if label else f"is empty, so the sample has no {name[:-1]}"
            if name == "quality":
                number = _parse_number(label)
                quality.append(number or 0.0)
                problem = "" if number is not None else f"is {short_repr(label)}, not a number"
            if name == "weights":
                weight = _parse_number(label)
                weights.append(weight if weight and weight > 0 else 0.0)
                if weight is None or weight < 0:
                    problem = f"must be a number of at least 0, got {short_repr(label)}"
            if name == "correct":
                value = BOOLEANS.get(label.strip().lower())
                correct.append(bool(value))
                problem = "" if value is not None else f"is {short_repr(label)}, not true or false"
            if problem and j not in problems:
                problems[j] = problem
                problem_columns[j] = column
    return replace(
        samples,
        sets=labels(columns["sets"]),
        groups=labels(columns["groups"]) or ([] if read_options.pool else samples.groups),
        quality=quality,
        correct=correct,
        weights=weights,
        prompts=labels(columns["prompts"]),
        problems=dict(sorted(problems.items())),
        wrong=problem_columns,
        grouping=columns,
        record=roles.record,
        rows=rows,
        lost=reasons,
    )


def _are_repeated(labels: Sequence[object]) -> bool:
    """Return whether there are several labels, of which most are repeated."""
    counts = Counter(labels).values()
    return 2 * sum(count > 1 for count in counts) >= len(counts) > 1


def _parse_number(cell: str) -> float | None:
    """Return a cell as a number, if it is one."""
    try:
        number = float(without_percent_sign(cell))
    except ValueError:
        return None
    return None if math.isinf(number) else number


def _serialize_rows(table: Table, indices: Sequence[int]) -> str:
    """Return rows of a table as text: lines of JSON unchanged, elements and cells written anew."""
    if table.origin and table.unit == "line":
        return "".join(f"{table.origin[i]}\n" for i in indices)
    if table.origin:
        elements = [json.dumps(table.origin[i], ensure_ascii=False) for i in indices]
        return "[" + ",\n ".join(elements) + "]\n"
    rows = [table.rows[i] for i in indices]
    if table.header is not None:
        rows.insert(0, table.names)
    delimiter = table.delimiter if len(table.delimiter) == 1 else ","  # else one or aligned columns
    return "".join(format_csv_row(row, delimiter) for row in rows)
