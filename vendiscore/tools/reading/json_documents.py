"""JSON as people have it: a value a line, or one array of texts, records or rows of numbers."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain

from ...support.errors import short_repr
from .limits import RefusedError, Wanted
from .names import join_names
from .records import HOLDERS
from .tables import Table, is_row

# Arrays and objects unpacked at once: each takes far more memory than its two brackets.
_MOST_NESTED = 2_000_000
# Each takes some 50 bytes besides its letters.
_MOST_STRINGS = 4_000_000
_EXPECTED = "Expected an array of texts, of records or of rows of numbers"


def records(text: str, wanted: Wanted) -> Table:
    """Read lines of JSON, each an object, a string or a row of numbers, as a table."""
    values: list[object] = []
    places, lines, problems = [], [], {}
    for place, line in enumerate(_lines(text), 1):
        if len(values) > wanted.limits.samples:
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
    return _table(values, places, lines, "line", problems, wanted)


def _lines(text: str) -> Iterator[str]:
    """Yield the lines one by one, as a reader may stop before the last of very many."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def document(text: str, wanted: Wanted) -> Table:
    """Read one value of JSON, an array of samples or an object of named columns, or many lines."""
    try:
        values = _array(_loaded(text))
    except RefusedError as error:
        if error.message != "Extra data":
            raise
        return records(text, wanted)
    return _table(values, range(1, len(values) + 1), values, "element", {}, wanted)


def documents(texts: Sequence[str], wanted: Wanted) -> Table:
    """Read several documents of JSON, a record each."""
    values = [_loaded(text) for text in texts]
    return _table(values, range(1, len(values) + 1), values, "sample", {}, wanted)


def _loaded(text: str) -> object:
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
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise RefusedError(error.msg, f"line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError):
        raise RefusedError(
            f"This JSON cannot be read: it is nested too deeply, or holds a number of thousands of "
            f"digits. {_EXPECTED}."
        ) from None


def _array(document: object) -> list[object]:
    """Return the samples: an array, the records of an object, or columns put together."""
    if isinstance(document, list):
        return document
    if not isinstance(document, dict) or not document:
        raise RefusedError(f"{_EXPECTED}, got {type(document).__name__}.")
    arrays = {name: value for name, value in document.items() if isinstance(value, list)}
    if len(arrays) == len(document) > 1 and len({*map(len, arrays.values())}) == 1:
        rows = zip(*arrays.values(), strict=True)
        return [dict(zip(arrays, row, strict=True)) for row in rows]
    filled = {name: value for name, value in arrays.items() if value}
    held = [name for name in HOLDERS if name in filled] or list(filled)
    if len(held) == 1 or (held and held[0] in HOLDERS):
        return [_unwrapped(value) for value in filled[held[0]]]
    # pandas' to_json: an object for each column, keyed by the index of the rows.
    columns = list(document.values())
    if all(isinstance(column, dict) and column.keys() == columns[0].keys() for column in columns):
        return [{name: document[name][key] for name in document} for key in columns[0]]
    raise RefusedError(
        f"{_EXPECTED}, got an object with {join_names(document)}; save the list of samples itself."
    )


def _unwrapped(value: object) -> object:
    """Return the row of a dataset viewer, which stands under its number."""
    return value["row"] if isinstance(value, dict) and "row_idx" in value else value


def _table(
    values: list[object],
    places: Sequence[int],
    origin: Sequence[object],
    unit: str,
    problems: dict[int, str],
    wanted: Wanted,
) -> Table:
    """Make a table of values; values without names go under "text" or "row", by the first."""
    limits = wanted.limits
    most = limits.samples
    more = len(values) > most
    values = values[:most]
    problems = {i: what for i, what in problems.items() if i < most}
    any_shape = wanted.kind == "values"  # unless they are records
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
    name = "row" if first == "a row of numbers" else "text"
    rows: list[dict[str, object]] = []
    for i, value in enumerate(values):
        row = value if first == "an object" and isinstance(value, dict) else {name: value}
        rows.append({} if i in problems else row)
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
    return "a row of numbers" if is_row(value) or is_row([value]) else ""
