"""JSON Lines, and JSON documents that contain texts, records or rows of numbers."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain

from ...support.errors import short_repr
from .json_layouts import EXPECTED, Rows, extract_rows
from .limits import ReadOptions, RefusedError
from .records import is_conversation, split_records
from .saved_datasets import check_no_dataset
from .tables import Table, is_row

# Arrays and objects unpacked at once: each takes far more memory than its two brackets.
_MAX_NESTED = 2_000_000
# Each takes some 50 bytes besides its letters.
_MAX_STRINGS = 4_000_000
# Columns of values without names.
_NAMES = {"a row of numbers": "row", "a conversation": "messages"}
_SEPARATOR = re.compile(r"[\s,]*")  # documents that follow each other


def parse_json_lines(text: str, read_options: ReadOptions) -> Table:
    """Read lines of JSON, each an object, a string or a row of numbers, as a table.

    Documents of several lines each are read one after the other.
    """
    if begins_long_document(text) and (table := _parse_consecutive_documents(text, read_options)):
        return table
    values: list[object] = []
    line_numbers, lines, problems = [], [], {}
    for line_number, line in enumerate(_iter_lines(text), 1):
        if len(values) > read_options.limits.samples:
            break
        if not line.strip():
            continue
        line_numbers.append(line_number)
        lines.append(line.removesuffix("\r"))
        try:
            values.append(_parse_json(line))
        except RefusedError as error:
            location = f" at {error.place.partition(', ')[2]}" if error.place else ""
            problems[len(values)] = f"is not valid JSON{location}: {error.message}"
            values.append(None)
    return _build_table(Rows(values), line_numbers, lines, "line", problems, read_options)


def _iter_lines(text: str) -> Iterator[str]:
    """Yield the lines one by one, as a reader may stop before the last of very many."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def begins_long_document(text: str) -> bool:
    """Return whether the first line with text begins a document, and does not end it."""
    first = next(filter(str.strip, _iter_lines(text)), "").strip()
    if first[:1] not in ("{", "["):
        return False
    try:
        json.loads(first)
    except json.JSONDecodeError as error:
        # A line that is damaged is invalid before its end.
        return error.pos >= len(first)
    except (ValueError, RecursionError):
        pass
    return False


def _parse_consecutive_documents(text: str, read_options: ReadOptions) -> Table | None:
    """Read documents of several lines each, one after the other; None if the first is damaged."""
    values: list[object] = []
    line_numbers: list[int] = []
    origin: list[str] = []
    _check_size(text)
    decoder = json.JSONDecoder()
    start = end = 0
    line_number = 1
    while len(values) <= read_options.limits.samples:
        separator = _SEPARATOR.match(text, end)
        begin = separator.end() if separator else end
        if begin == len(text):
            break
        line_number += text.count("\n", start, begin)
        start = begin
        try:
            value, end = decoder.raw_decode(text, begin)
        except json.JSONDecodeError as error:
            if not values:
                return None
            raise RefusedError(error.msg, f"line {error.lineno}, column {error.colno}") from None
        except (ValueError, RecursionError):
            raise _build_unreadable_error() from None
        values.append(value)
        line_numbers.append(line_number)
        origin.append(text[begin:end])
    if len(values) == 1:
        return _build_document_table(values[0], "", read_options)
    appended = [record for value in values if isinstance(value, list) for record in value]
    if all(map(_is_array_of_objects, values)):
        return _build_document_table(appended, "", read_options)
    return _build_table(Rows(values), line_numbers, origin, "line", {}, read_options)


def _is_array_of_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(x, dict) for x in value)


def parse_document(text: str, read_options: ReadOptions, layout: str = "") -> Table:
    """Read one value of JSON, an array of samples or an object of named columns, or many lines.

    The `layout` of an object is detected, unless it is given: see `extract_rows`.
    """
    try:
        value = _parse_json(text)
    except RefusedError as error:
        if error.message != "Extra data":
            raise
        return parse_json_lines(text, read_options)
    return _build_document_table(value, layout, read_options)


def _build_document_table(value: object, layout: str, read_options: ReadOptions) -> Table:
    if not layout:
        check_no_dataset(value)
    rows = extract_rows(value, layout)
    n = len(rows.values)
    return _build_table(rows, range(1, n + 1), rows.values, "element", {}, read_options)


def table_from_value(value: object, read_options: ReadOptions) -> Table:
    """Build a table from a parsed JSON value; its records are numbered from 0."""
    rows = extract_rows(value)
    return _build_table(rows, range(len(rows.values)), rows.values, "record", {}, read_options)


def parse_documents(texts: Sequence[str], read_options: ReadOptions) -> Table:
    """Read several documents of JSON, a record each."""
    values = [_parse_json(text) for text in texts]
    return _build_table(Rows(values), range(1, len(values) + 1), values, "sample", {}, read_options)


def _parse_json(text: str) -> object:
    _check_size(text)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise RefusedError(error.msg, f"line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError):
        raise _build_unreadable_error() from None


def _check_size(text: str) -> None:
    """Refuse text that would take too much memory as objects, before it is parsed."""
    if (opened := text.count("[") + text.count("{")) > _MAX_NESTED:
        raise RefusedError(
            f"{opened:,} arrays and objects in one value of JSON are too many: send one array of "
            f"samples."
        )
    # Names of fields are held once each.
    if (strings := text.count('"') // 2 - text.count('":')) > _MAX_STRINGS:
        raise RefusedError(
            f"{strings:,} strings in one value of JSON are too many: send a random part of them."
        )


def _build_unreadable_error() -> RefusedError:
    return RefusedError(
        f"This JSON cannot be read: it is nested too deeply, or holds a number of thousands of "
        f"digits. {EXPECTED}."
    )


def _build_table(
    document_rows: Rows,
    numbers: Sequence[int],
    origin: Sequence[object],
    unit: str,
    problems: dict[int, str],
    read_options: ReadOptions,
) -> Table:
    """Build a table from values; values without keys get a column "text", "row" or "messages"."""
    limits = read_options.limits
    max_rows = limits.samples
    more = len(document_rows.values) > max_rows
    values = document_rows.values[:max_rows]
    problems = {i: problem for i, problem in problems.items() if i < max_rows}
    any_shape = read_options.kind == "values"  # unless they are records
    first_type = ""
    for i, value in enumerate(values):
        if i in problems:
            continue
        value_type = _describe_type(value) or "a value" * any_shape
        first_type = first_type or value_type
        if not value_type:
            problems[i] = f"is {describe_value(value)}, not an object, string or row of numbers"
        elif value_type != first_type and not (any_shape and first_type != "an object"):
            problems[i] = f"is {describe_value(value)}, where the first is {first_type}"
        if i in problems and value == {}:
            problems[i] = "is an empty object"
    if values and not first_type:
        raise RefusedError(f"it {problems[0]}", f"{unit} {numbers[0]}")
    name = _NAMES.get(first_type, "text")
    rows: list[dict[str, object]] = []
    for i, value in enumerate(values):
        row = value if first_type == "an object" and isinstance(value, dict) else {name: value}
        rows.append({} if i in problems else row)
    group = document_rows.group
    if first_type == "an object" and (split := split_records(rows, limits.values)):
        # Each row has the location of its record, but is written as a record of its own.
        rows, record_indices, group = (
            split.rows[:max_rows],
            split.records[:max_rows],
            split.group or group,
        )
        more |= len(split.rows) > max_rows
        problems = {i: problems[k] for i, k in enumerate(record_indices) if k in problems}
        numbers = [numbers[k] for k in record_indices]
        origin = rows if unit != "line" else [json.dumps(row, ensure_ascii=False) for row in rows]
    names = list(dict.fromkeys(chain.from_iterable(rows)))
    if len(names) > limits.columns:
        raise RefusedError(f"{len(names):,} fields are too many: the limit is {limits.columns:,}.")
    if len(names) * len(rows) > limits.values:
        raise RefusedError(
            f"{len(rows):,} records of {len(names):,} fields are too many: the limit is "
            f"{limits.values:,} values."
        )
    cells = [[row.get(name) for name in names] for row in rows]
    header = names if first_type == "an object" else None
    return Table(
        names,
        cells,
        numbers[:max_rows],
        unit,
        problems,
        header,
        typed=True,
        origin=origin[:max_rows],
        more=more,
        group=group,
    )


def describe_value(value: object) -> str:
    return f"{type(value).__name__} {short_repr(value)}" if value is not None else "null"


def _describe_type(value: object) -> str:
    """Describe the type of a sample for messages; "" if it is not a sample."""
    if isinstance(value, dict) and value:
        return "an object"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return "a list of texts"
    if is_conversation(value):
        return "a conversation"
    return "a row of numbers" if is_row(value) or is_row([value]) else ""
