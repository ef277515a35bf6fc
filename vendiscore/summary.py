"""Results in print: a sentence for people, one line for a prompt, digits that mean something."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

_WIDTH = 120


class Summary:
    """A result that prints as its sentence, and at a prompt as one line of some attributes."""

    _brief: ClassVar[tuple[str, ...]]

    @property
    def sentence(self) -> str:
        """Return the result in words."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return one_line(type(self).__name__, {name: getattr(self, name) for name in self._brief})


def one_line(kind: str, shown: Mapping[str, object]) -> str:
    """Return a `repr` of one line, cut at 120 characters; numbers have four digits."""
    short = (
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value!r}"
        for name, value in shown.items()
    )
    return cut(f"{kind}({', '.join(short)})")


def cut(text: str) -> str:
    """Return one line of at most 120 characters, of what ends in a bracket."""
    text = " ".join(text.split())
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 2]}…)"


def shortened(text: str, longest: int) -> str:
    """Cut a text to at most `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def with_error(value: float, error: float) -> str:
    """Return a number and its standard error, if it has one."""
    known = math.isfinite(error) and error > 0
    return measured(value, error) + (f" ± {measured(error, error)}" if known else "")


def measured(value: float, error: float | None = None) -> str:
    """Return a number with the digits that its standard error leaves, or else with four."""
    value = float(value)
    if error is None or not math.isfinite(error) or error <= 0 or not math.isfinite(value):
        return f"{value:.4g}"
    places = max(0, 1 - math.floor(math.log10(error)))
    return f"{round(value, places) + 0.0:.{places}f}"  # 0.0 is added for the sign of −0.0


def html_table(columns: Mapping[str, Sequence[object]], caption: str = "") -> str:
    """Return columns of values as a table in HTML, its numbers with four digits."""

    def cell(value: object) -> str:
        shown = f"{value:.4g}" if isinstance(value, float) else html.escape(str(value))
        return f"<td>{'' if value is None else shown}</td>"

    head = "".join(f"<th>{name}</th>" for name in columns)
    rows = zip(*columns.values(), strict=True)
    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    said = f"<caption>{caption}</caption>" if caption else ""
    return f"<table>{said}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
