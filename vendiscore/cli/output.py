"""Rows of names and numbers as text, Markdown and CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..signature import plain

Row = Mapping[str, Any]


def shown(value: Any, width: int | None) -> str:
    """A cell for people: six digits, or `width` behind the point.

    >>> shown(3.90657412, None), shown(3.90657412, 2), shown(1234, None), shown(None, 2)
    ('3.90657', '3.91', '1,234', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if width is None else f"{value:.{width}f}"


def exact(value: Any, width: int | None) -> str:
    """A cell for programs: all digits, unless a width is asked for.

    >>> exact(0.1 + 0.2, None), exact(0.1 + 0.2, 2)
    ('0.30000000000000004', '0.30')
    """
    if isinstance(value, float):
        return repr(value) if width is None else f"{value:.{width}f}"
    return "" if value is None else str(value)


def table(rows: Sequence[Row], width: int | None) -> str:
    """Aligned columns: numbers to the right, all else to the left.

    >>> print(table([{"file": "a.txt", "VS": 2.5}, {"file": "b.txt", "VS": 10.0}], 1), end="")
    file     VS
    a.txt   2.5
    b.txt  10.0
    """
    if not rows:
        return ""
    names = _names(rows)
    right = [_is_of_numbers(rows, name) for name in names]
    cells = [names, *([_one_line(shown(row.get(name), width)) for name in names] for row in rows)]
    wide = [max(len(line[j]) for line in cells) for j in range(len(names))]
    lines = (
        "  ".join(
            cell.rjust(wide[j]) if right[j] else cell.ljust(wide[j]) for j, cell in enumerate(line)
        )
        for line in cells
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


def markdown(rows: Sequence[Row], width: int | None) -> str:
    """A table of Markdown.

    >>> print(markdown([{"file": "a|b", "VS": 2.5}], None), end="")
    | file | VS |
    |---|--:|
    | a\\|b | 2.5 |
    """
    names = _names(rows)
    right = [_is_of_numbers(rows, name) for name in names]
    lines = [names, *([shown(row.get(name), width) for name in names] for row in rows)]
    text = [
        "| " + " | ".join(_one_line(cell).replace("|", r"\|") for cell in line) + " |"
        for line in lines
    ]
    rule = "|" + "|".join("--:" if each else "---" for each in right) + "|"
    return "\n".join([text[0], rule, *text[1:]]) + "\n"


def comma_separated(rows: Sequence[Row], width: int | None) -> str:
    """CSV, with all digits unless a width is asked for."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = _names(rows)
    writer.writerow(names)
    writer.writerows([exact(row.get(name), width) for name in names] for row in rows)
    return out.getvalue()


def as_json(found: Any, width: int | None) -> str:
    """JSON, with numbers rounded if a width is asked for; what is not finite is text, or null.

    >>> print(as_json({"q": float("inf"), "VS": 2.25}, 1), end="")
    {
     "q": "inf",
     "VS": 2.2
    }
    """
    return json.dumps(_rounded(plain(found), width), ensure_ascii=False, indent=1) + "\n"


def _rounded(found: Any, width: int | None) -> Any:
    if isinstance(found, float) and not math.isfinite(found):
        return None if math.isnan(found) else str(found)
    if isinstance(found, dict):
        return {key: _rounded(value, width) for key, value in found.items()}
    if isinstance(found, list):
        return [_rounded(value, width) for value in found]
    return round(found, width) if isinstance(found, float) and width is not None else found


def _is_of_numbers(rows: Sequence[Row], name: str) -> bool:
    return all(isinstance(row.get(name), (int, float, type(None))) for row in rows)


def _names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _one_line(cell: str) -> str:
    return " ".join(cell.split())
