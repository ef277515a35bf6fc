"""JSON as people have it: a value a line, or one array or object of texts, records or numbers."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain

from ...support.errors import short_repr
from .json_layouts import EXPECTED, Rows, layout_rows
from .limits import ReadOptions, RefusedError
from .records import is_conversation, split_records
from .tables import Table, is_row

# Arrays and objects unpacked at once: each takes far more memory than its two brackets.
_MOST_NESTED = 2_000_000
# Each takes some 50 bytes besides its letters.
_MOST_STRINGS = 4_000_000
# Columns of values without names.
_NAMES = {"a row of numbers": "row", "a conversation": "messages"}
_BETWEEN = re.compile(r"[\s,]*")  # documents that follow each other


def records(text: str, read_options: ReadOptions) -> Table:
    """Read lines of JSON, each an object, a string or a row of numbers, as a table.

    Documents of several lines each are read one after the other.
    """
    if begins_long_document(text) and (read := _documents_of_lines(text, read_options)):
        return read
    values: list[object] = []
    places, lines, problems = [], [], {}
    for place, line in enumerate(_lines(text), 1):
        if len(values) > read_options.limits.samples:
            break
        if not line.strip():
            continue
        places.append(place)
        lines.append(line.removesuffix("\r"))
        try:
            values.append(_loaded(line))
        except RefusedError as error:
            at = f" at {error.place.partition(', ')[2]}" if error.place else ""
            problems[len(values)] = f"is not valid JSON{at}: {error.message}"
            values.append(None)
    return _table(Rows(values), places, lines, "line", problems, read_options)


def _lines(text: str) -> Iterator[str]:
    """Yield the lines one by one, as a reader may stop before the last of very many."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def begins_long_document(text: str) -> bool:
    """Return whether the first line with text begins a document, and does not end it."""
    first = next(filter(str.strip, _lines(text)), "").strip()
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


def _documents_of_lines(text: str, read_options: ReadOptions) -> Table | None:
    """Read documents of several lines each, one after the other; None if the first is damaged."""
    values: list[object] = []
    places: list[int] = []
    origin: list[str] = []
    _check_size(text)
    decoder = json.JSONDecoder()
    start = end = 0
    place = 1
    while len(values) <= read_options.limits.samples:
        between = _BETWEEN.match(text, end)
        begin = between.end() if between else end
        if begin == len(text):
            break
        place += text.count("\n", start, begin)
        start = begin
        try:
            value, end = decoder.raw_decode(text, begin)
        except json.JSONDecodeError as error:
            if not values:
                return None
            raise RefusedError(error.msg, f"line {error.lineno}, column {error.colno}") from None
        except (ValueError, RecursionError):
            raise _unreadable() from None
        values.append(value)
        places.append(place)
        origin.append(text[begin:end])
    if len(values) == 1:
        return _of_document(values[0], "", read_options)
    appended = [record for value in values if isinstance(value, list) for record in value]
    if all(map(_is_array_of_objects, values)):
        return _of_document(appended, "", read_options)
    return _table(Rows(values), places, origin, "line", {}, read_options)


def _is_array_of_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(x, dict) for x in value)


def document(text: str, read_options: ReadOptions, layout: str = "") -> Table:
    """Read one value of JSON, an array of samples or an object of named columns, or many lines.

    The `layout` of an object is detected, unless it is given: see `layout_rows`.
    """
    try:
        value = _loaded(text)
    except RefusedError as error:
        if error.message != "Extra data":
            raise
        return records(text, read_options)
    return _of_document(value, layout, read_options)


def _of_document(value: object, layout: str, read_options: ReadOptions) -> Table:
    rows = layout_rows(value, layout)
    n = len(rows.values)
    return _table(rows, range(1, n + 1), rows.values, "element", {}, read_options)


def table_of_value(value: object, read_options: ReadOptions) -> Table:
    """Make a table of a value in memory, as of a document of JSON; records are counted from 0."""
    rows = layout_rows(value)
    return _table(rows, range(len(rows.values)), rows.values, "record", {}, read_options)


def documents(texts: Sequence[str], read_options: ReadOptions) -> Table:
    """Read several documents of JSON, a record each."""
    values = [_loaded(text) for text in texts]
    return _table(Rows(values), range(1, len(values) + 1), values, "sample", {}, read_options)


def _loaded(text: str) -> object:
    _check_size(text)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise RefusedError(error.msg, f"line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError):
        raise _unreadable() from None


def _check_size(text: str) -> None:
    """Refuse text that would take too much memory as objects, before it is parsed."""
    if (opened := text.count("[") + text.count("{")) > _MOST_NESTED:
        raise RefusedError(
            f"{opened:,} arrays and objects in one value of JSON are too many: send one array of "
            f"samples."
        )
    # Names of fields are held once each.
    if (strings := text.count('"') // 2 - text.count('":')) > _MOST_STRINGS:
        raise RefusedError(
            f"{strings:,} strings in one value of JSON are too many: send a random part of them."
        )


def _unreadable() -> RefusedError:
    return RefusedError(
        f"This JSON cannot be read: it is nested too deeply, or holds a number of thousands of "
        f"digits. {EXPECTED}."
    )


def _table(
    found: Rows,
    places: Sequence[int],
    origin: Sequence[object],
    unit: str,
    problems: dict[int, str],
    read_options: ReadOptions,
) -> Table:
    """Make a table of values; values without names go under "text" or "row", by the first."""
    limits = read_options.limits
    most = limits.samples
    more = len(found.values) > most
    values = found.values[:most]
    problems = {i: what for i, what in problems.items() if i < most}
    any_shape = read_options.kind == "values"  # unless they are records
    first = ""
    for i, value in enumerate(values):
        if i in problems:
            continue
        shape = _shape(value) or "a value" * any_shape
        first = first or shape
        if not shape:
            problems[i] = f"is {describe_value(value)}, not an object, string or row of numbers"
        elif shape != first and not (any_shape and first != "an object"):
            problems[i] = f"is {describe_value(value)}, where the first is {first}"
        if i in problems and value == {}:
            problems[i] = "is an empty object"
    if values and not first:
        raise RefusedError(f"it {problems[0]}", f"{unit} {places[0]}")
    name = _NAMES.get(first, "text")
    rows: list[dict[str, object]] = []
    for i, value in enumerate(values):
        row = value if first == "an object" and isinstance(value, dict) else {name: value}
        rows.append({} if i in problems else row)
    group = found.group
    if first == "an object" and (split := split_records(rows, limits.values)):
        # Each row has the place of its record, but what it writes is its own.
        rows, of, group = split.rows[:most], split.records[:most], split.group or group
        more |= len(split.rows) > most
        problems = {i: problems[k] for i, k in enumerate(of) if k in problems}
        places = [places[k] for k in of]
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
    header = names if first == "an object" else None
    return Table(
        names,
        cells,
        places[:most],
        unit,
        problems,
        header,
        typed=True,
        origin=origin[:most],
        more=more,
        group=group,
    )


def describe_value(value: object) -> str:
    return f"{type(value).__name__} {short_repr(value)}" if value is not None else "null"


def _shape(value: object) -> str:
    """Return what a sample is, in words; "" for what is not one."""
    if isinstance(value, dict) and value:
        return "an object"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return "a list of texts"
    if is_conversation(value):
        return "a conversation"
    return "a row of numbers" if is_row(value) or is_row([value]) else ""
