"""Text and HTML forms of results: sentences, one-line reprs, numbers with significant digits."""

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from .call_hints import AttributeHintMixin
from .optional import require
from .types import Frame, Record

_MAX_LINE_LENGTH = 120


class SummaryMixin(AttributeHintMixin):
    """Mixin: `str()` is a summary sentence, `repr()` one line with the main attributes.

    Results can be pickled, deep-copied, and converted by `to_dict` and `to_frame`. A subclass is a
    dataclass. It overrides `to_dict` and `to_frame` if its attributes are not a single row of
    values.
    """

    _repr_attributes: ClassVar[tuple[str, ...]]

    @property
    def sentence(self) -> str:
        """The result as a summary sentence."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return format_repr(
            type(self).__name__, {name: getattr(self, name) for name in self._repr_attributes}
        )

    def to_dict(self) -> Record:
        """Return the attributes as JSON values: NaN becomes None, infinity "inf"."""
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return to_json_record({name: getattr(self, name) for name in names})

    def to_frame(self) -> Frame:
        """Return a pandas DataFrame with one row."""
        return make_frame([self.to_dict()])


def to_json_record(values: Mapping[str, object]) -> Record:
    """Convert a mapping to a dict of JSON values: arrays become lists, and NaN becomes None."""
    return {name: to_json_value(value) for name, value in values.items()}


def to_json_value(value: object) -> Any:
    """Convert a value for JSON: arrays to lists, NaN to None, infinity to "inf"."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): to_json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_value(item) for item in value]
    # JSON has no NaN or infinity.
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return None
        return "inf" if value > 0 else "-inf"
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def format_repr(class_name: str, attributes: Mapping[str, object]) -> str:
    """Format a `repr` from attributes by name, in one line of at most 120 characters."""
    formatted = (
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value!r}"
        for name, value in attributes.items()
    )
    return truncate_line(f"{class_name}({', '.join(formatted)})")


def truncate_line(text: str) -> str:
    """Join the lines of a text and truncate it to 120 characters."""
    return truncate(" ".join(text.split()), _MAX_LINE_LENGTH)


def truncate(text: str, max_length: int) -> str:
    """Truncate a text to at most `max_length` characters."""
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


def format_with_error(value: float, error: float) -> str:
    """Format a number as "value ± error"; without the error if the error is 0 or not finite."""
    has_error = math.isfinite(error) and error > 0
    return format_value(value, error) + (f" ± {format_value(error, error)}" if has_error else "")


def format_with_interval(value: float, low: float, high: float, error: float | None = None) -> str:
    """Format a number and its interval, with digits according to its standard error.

    By default, the standard error is estimated as a quarter of the length of the interval.
    """
    if math.isnan(low) or math.isnan(high):
        return f"{format_value(value, error)} (no interval)"
    # A 95 % interval has a length of about four standard errors.
    error = (high - low) / 4 if error is None else error
    return (
        f"{format_value(value, error)} ({format_value(low, error)} to {format_value(high, error)})"
    )


def format_value(value: float, error: float | None = None) -> str:
    """Format a number with the digits that its standard error justifies, by default four."""
    value = float(value)
    if error is None or not math.isfinite(error) or error <= 0 or not math.isfinite(value):
        return f"{value:.4g}"
    decimals = max(0, 1 - math.floor(math.log10(error)))  # two significant digits of the error
    return f"{round(value, decimals) + 0.0:.{decimals}f}"  # + 0.0 turns −0.0 into 0.0


def render_table(header: Iterable[str], rows: Iterable[Iterable[str]], caption: str = "") -> str:
    """Render a table from cells in HTML; the first cell of each row is its header.

    `header` contains the titles of the columns, and `caption` is plain text.
    """
    titles = "".join(f'<th scope="col">{title}</th>' for title in header)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
        for first, *rest in rows
    )
    caption = html.escape(caption)
    heading = f"<caption>{caption}</caption>" if caption else ""
    name = caption or ", ".join(header)
    # A wide table scrolls horizontally in a region that the keyboard can reach (tabindex).
    return (
        f'<div class="wide" role="region" aria-label="{name}" tabindex="0"><table>{heading}'
        f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def make_frame(rows: object) -> Frame:
    """Build a pandas DataFrame from a list of dicts (rows) or a dict of columns."""
    return require("pandas", "dev", "a frame").DataFrame(rows)


def render_html_table(columns: Mapping[str, Sequence[object]], caption: str = "") -> str:
    """Render columns of values, by title, as an HTML table; floats have four digits."""

    def cell(value: object) -> str:
        if isinstance(value, float):
            return f"{value:.4g}"
        return "" if value is None else html.escape(str(value))

    rows = zip(*columns.values(), strict=True)
    return render_table(columns, (map(cell, row) for row in rows), caption)
