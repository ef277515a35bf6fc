"""JSON as people have it: lines of it, or one array of texts, records or rows of numbers."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Any

from .limits import Limits, RefusedError
from .tables import Table, check_lines, listed

# Arrays and objects that are unpacked at once: each takes far more room than its two signs.
_MOST_NESTED = 2_000_000
TEXT, ROW = "text", "row"  # what the values of an array are called that have no names


def records(text: str, limits: Limits) -> Table:
    """Lines of JSON, each an object, a string or a row of numbers, as a table."""
    check_lines(text, limits)
    values: list[Any] = []
    places: list[int] = []
    problems: dict[int, str] = {}
    filled = ((i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip())
    for place, line in islice(filled, min(limits.samples + 1, sys.maxsize)):
        places.append(place)
        try:
            _check_nested(line)
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if not _is_sample(value):
            problems[len(values)] = f"is not valid JSON of an object or a string: {line!r:.60}"
            value = {}
        values.append(value)
    if values and len(problems) == len(values):
        raise RefusedError(
            f"Line {places[0]} must be a JSON object or string, and so must all others; "
            f"it {problems[0]}."
        )
    return _table(values, places, "line", problems, limits)


def document(text: str, limits: Limits) -> Table:
    """One value of JSON: an array of samples, or of their columns under names."""
    try:
        _check_nested(text)
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise RefusedError(
            f"This is not valid JSON: line {error.lineno}, column {error.colno}: {error.msg}."
        ) from None
    except RefusedError:
        raise
    except (ValueError, RecursionError):
        raise RefusedError(
            "This JSON cannot be read: it is nested too deeply, or holds a number of thousands of "
            "digits. Expected an array of texts, of records or of rows of numbers."
        ) from None
    values = _array(found)
    values = values[: min(limits.samples + 1, sys.maxsize)]
    problems = {
        i: f"is {type(value).__name__} {value!r:.40}, no object, string or row of numbers"
        for i, value in enumerate(values)
        if not _is_sample(value)
    }
    values = [{} if i in problems else value for i, value in enumerate(values)]
    if values and len(problems) == len(values):
        raise RefusedError(f"Expected texts, records or rows of numbers; element 1 {problems[0]}.")
    return _table(values, range(1, len(values) + 1), "element", problems, limits)


def _array(found: Any) -> list[Any]:
    """The samples of a document: its array, the only one in an object, or columns put together."""
    if isinstance(found, list):
        return found
    if isinstance(found, dict) and found:
        arrays = {name: value for name, value in found.items() if isinstance(value, list)}
        if len(arrays) == len(found) > 1 and len({len(value) for value in arrays.values()}) == 1:
            return [
                dict(zip(arrays, row, strict=True)) for row in zip(*arrays.values(), strict=True)
            ]
        if len(arrays) == 1:
            return next(iter(arrays.values()))
        # pandas' to_json: an object of each column, by the index of its rows.
        columns = list(found.values())
        if all(
            isinstance(column, dict) and column.keys() == columns[0].keys() for column in columns
        ):
            return [{name: found[name][key] for name in found} for key in columns[0]]
        raise RefusedError(
            f"Expected an array of texts, of records or of rows of numbers, got an object with "
            f"{listed(found)}; save the list of samples itself."
        )
    raise RefusedError(
        f"Expected an array of texts, of records or of rows of numbers, got {type(found).__name__}."
    )


def _table(
    values: Sequence[Any],
    places: Iterable[int],
    unit: str,
    problems: dict[int, str],
    limits: Limits,
) -> Table:
    rows = [value if isinstance(value, dict) else {_called(value): value} for value in values]
    names = list(dict.fromkeys(chain.from_iterable(rows)))
    if len(names) > limits.columns:
        raise RefusedError(f"{len(names):,} fields are too many: the limit is {limits.columns:,}.")
    if len(names) * len(rows) > limits.values:
        raise RefusedError(
            f"{len(rows):,} records of {len(names):,} fields are too many: the limit is "
            f"{limits.values:,} values."
        )
    cells = [[row.get(name) for name in names] for row in rows]
    return Table(names, cells, list(places), unit, problems)


def _called(value: Any) -> str:
    return TEXT if isinstance(value, str) else ROW


def _is_sample(value: Any) -> bool:
    if isinstance(value, dict):
        return len(value) > 0
    return isinstance(value, str) or is_row(value) or _is_real(value)


def is_row(value: Any) -> bool:
    """Whether a value is an array of numbers."""
    return isinstance(value, list) and len(value) > 0 and all(map(_is_real, value))


def _is_real(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_nested(text: str) -> None:
    if (opened := text.count("[") + text.count("{")) > _MOST_NESTED:
        raise RefusedError(
            f"{opened:,} arrays and objects in one value of JSON are too many: send one array of "
            f"samples."
        )
