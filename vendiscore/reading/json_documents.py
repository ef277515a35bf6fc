"""JSON as people have it: a value a line, or one array of texts, records or rows of numbers."""

import json
from collections.abc import Sequence
from itertools import chain, islice
from typing import Any

from .limits import RefusedError, Wanted
from .tables import Table, is_row, join_names

# Arrays and objects unpacked at once: each takes far more memory than its two brackets.
_MOST_NESTED = 2_000_000
_EXPECTED = "Expected an array of texts, of records or of rows of numbers"


def records(text: str, wanted: Wanted) -> Table:
    """Read lines of JSON, each an object, a string or a row of numbers, as a table."""
    values: list[Any] = []
    problems: dict[int, str] = {}
    every = ((i, line.removesuffix("\r")) for i, line in enumerate(text.split("\n"), 1))
    filled = ((i, line) for i, line in every if line.strip())
    kept = list(islice(filled, wanted.limits.samples + 1))
    for i, (_, line) in enumerate(kept):
        try:
            values.append(_loaded(line))
        except RefusedError as error:
            values.append(None)
            at = f" at {error.place.partition(', ')[2]}" if error.place else ""
            problems[i] = f"is not valid JSON{at}: {error.message}"
    places = [place for place, _ in kept]
    lines = [line for _, line in kept]
    return _table(values, places, lines, "line", problems, wanted)


def document(text: str, wanted: Wanted) -> Table:
    """Read one value of JSON: an array of samples, or an object of named columns."""
    values = _array(_loaded(text))
    return _table(values, range(1, len(values) + 1), values, "element", {}, wanted)


def _loaded(text: str) -> Any:
    if (opened := text.count("[") + text.count("{")) > _MOST_NESTED:
        raise RefusedError(
            f"{opened:,} arrays and objects in one value of JSON are too many: send one array of "
            f"samples."
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


def _array(found: object) -> list[Any]:
    """Return the samples: an array, the only one in an object, or columns put together."""
    if isinstance(found, list):
        return found
    if isinstance(found, dict) and found:
        arrays = {name: value for name, value in found.items() if isinstance(value, list)}
        if len(arrays) == len(found) > 1 and len({*map(len, arrays.values())}) == 1:
            rows = zip(*arrays.values(), strict=True)
            return [dict(zip(arrays, row, strict=True)) for row in rows]
        if len(arrays) == 1:
            return next(iter(arrays.values()))
        # pandas' to_json: an object for each column, keyed by the index of the rows.
        columns = list(found.values())
        if all(
            isinstance(column, dict) and column.keys() == columns[0].keys() for column in columns
        ):
            return [{name: found[name][key] for name in found} for key in columns[0]]
        raise RefusedError(
            f"{_EXPECTED}, got an object with {join_names(found)}; save the list of samples itself."
        )
    raise RefusedError(f"{_EXPECTED}, got {type(found).__name__}.")


def _table(
    values: list[Any],
    places: Sequence[int],
    origin: Sequence[object],
    unit: str,
    problems: dict[int, str],
    wanted: Wanted,
) -> Table:
    """Make a table of values; values without names go under "text" or "row", by the first."""
    limits = wanted.limits
    anything = wanted.kind == "values"
    more = len(values) > limits.samples
    most = limits.samples
    values = values[:most]
    places = places[:most]
    origin = origin[:most]
    problems = {i: what for i, what in problems.items() if i < most}
    for i, value in enumerate(values):
        filled = isinstance(value, str) or (isinstance(value, dict) and len(value) > 0)
        if i not in problems and not (anything or filled or is_row(value) or is_row([value])):
            what = f"is {describe_value(value)}, not an object, string or row of numbers"
            problems[i] = "is an empty object" if value == {} else what
    first = next((_shape(value) for i, value in enumerate(values) if i not in problems), "")
    if values and not first:
        raise RefusedError(f"it {problems[0]}", f"{unit} {places[0]}")
    for i, value in enumerate(values):
        if i not in problems and _shape(value) != first and not (anything and first != "an object"):
            problems[i] = f"is {describe_value(value)}, where the first is {first}"
    name = "text" if first == "a string" else "row"
    rows = [
        {} if i in problems else value if first == "an object" else {name: value}
        for i, value in enumerate(values)
    ]
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
        names, cells, list(places), unit, problems, header, typed=True, origin=origin, more=more
    )


def describe_value(value: object) -> str:
    return f"{type(value).__name__} {value!r:.40}" if value is not None else "null"


def _shape(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    return "a string" if isinstance(value, str) else "a row of numbers"
