"""Formatting of results as text, Markdown, LaTeX, CSV and JSON."""

import json
import os
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ...support.signature import to_plain
from ...support.summary import to_json_value
from ..reading.csv_cells import escape_formula, format_csv_row

Row = Mapping[str, object]
Table = tuple[str, Sequence[Row]]
_BOLD = "\x1b[1m"
_RESET = "\x1b[0m"
_MIN_COMPARED_ROWS = 2  # in a table with fewer rows, no column is redundant
# Columns that a terminal shows even if they are redundant.
_ESSENTIAL_COLUMNS = ("score", "difference", "p", "verdict", "adds", "similarity", "sample")
_LATEX_TEMPLATE = """\
\\begin{tabular}{%s}
\\toprule
%s
\\midrule
%s
\\bottomrule
\\end{tabular}
"""
_SIGNATURE_FORMATS = {"md": "`%s`\n", "latex": "%% %s\n"}  # formats of the signature


def format_short(value: object) -> str:
    """Format a value for readers: floats with four digits, and large numbers with commas."""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{value:,}" if type(value) is int else format_exact(value)


def format_exact(value: object) -> str:
    """Format a value for programs: numbers with all digits, and None as an empty text."""
    return "" if value is None else str(value)


def is_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout is not None and not sys.stdout.closed and sys.stdout.isatty()


def emphasize(text: str) -> str:
    """Return the text in bold on a terminal that supports it, otherwise unchanged."""
    if not is_terminal() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    if sys.platform == "win32" and "WT_SESSION" not in os.environ:  # not Windows Terminal
        return text
    return f"{_BOLD}{text}{_RESET}"


def format_text_table(rows: Sequence[Row], score_keys: Collection[str] = ()) -> str:
    """Format a table for standard output: all columns, or on a terminal only informative ones.

    On a terminal, a column with the same value in all rows, or with the same values as another
    column, is omitted from the table and mentioned in a line below it, unless it is one of
    `score_keys`, the columns with scores.
    """
    if not is_terminal():
        return format_table(rows)
    rows, note = _drop_redundant_columns(rows, score_keys)
    header, _, lines = format_table(rows).partition("\n")
    return f"{emphasize(header)}\n{lines}{note}"


def _drop_redundant_columns(
    rows: Sequence[Row], score_keys: Collection[str]
) -> tuple[Sequence[Row], str]:
    """Return rows without constant and duplicate columns, and a line that lists these columns.

    The first column, `score_keys` (the columns with scores) and a few essential columns are always
    retained.
    """
    if len(rows) < _MIN_COMPARED_ROWS:
        return rows, ""
    first, *other_names = _column_names(rows)
    retained: dict[tuple[str, ...], str] = {}  # name of the first column with these cells
    descriptions = []
    for name in other_names:
        cells = tuple(format_exact(row.get(name)) for row in rows)
        # Always retained, and later columns with the same cells are redundant.
        if name in score_keys or name in _ESSENTIAL_COLUMNS:
            retained.setdefault(cells, name)
        elif len({*cells}) == 1:  # empty columns are not listed
            descriptions += [f"{name} = {format_short(rows[0].get(name))}"] if cells[0] else []
        elif cells in retained:
            descriptions.append(f"{name} = {retained[cells]}")
        else:
            retained[cells] = name
    shown_names = {first, *retained.values(), *score_keys, *_ESSENTIAL_COLUMNS}
    rows = [{name: value for name, value in row.items() if name in shown_names} for row in rows]
    return rows, f"In all rows: {', '.join(descriptions)}\n" if descriptions else ""


def format_table(rows: Sequence[Row]) -> str:
    """Format a table with aligned columns: numbers on the right, other values on the left."""
    are_numeric, lines = _format_cells(rows)
    # Width of each column: its longest cell, including the header.
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = ""
    for cells in filter(None, lines):  # in a table without rows, the header has no cells
        aligned_cells = [
            cell.rjust(width) if is_numeric else cell.ljust(width)
            for cell, width, is_numeric in zip(cells, widths, are_numeric, strict=True)
        ]
        text += "  ".join(aligned_cells).rstrip() + "\n"
    return text


def format_markdown(rows: Sequence[Row], _: Collection[str] = ()) -> str:
    """Format a Markdown table, with numbers on the right."""
    are_numeric, lines = _format_cells(rows)
    table_lines = []
    for cells in lines:
        escaped_cells = [cell.replace("|", r"\|") for cell in cells]
        table_lines.append(f"| {' | '.join(escaped_cells)} |\n")
    rule = "|".join("--:" if is_numeric else "---" for is_numeric in are_numeric)
    table_lines.insert(1, f"|{rule}|\n")
    return "".join(table_lines)


def format_csv(rows: Sequence[Row], _: Collection[str] = ()) -> str:
    """Format CSV for spreadsheets, with all digits."""
    names = _column_names(rows)
    text = format_csv_row(map(escape_formula, names))
    for row in rows:
        cells = []
        for name in names:
            value = row.get(name)
            # `text_cell` marks texts that a spreadsheet would run as formulas.
            cells.append(escape_formula(value) if isinstance(value, str) else format_exact(value))
        text += format_csv_row(cells)
    return text


def as_json(result: object) -> str:
    """Format JSON; infinity becomes a string, and NaN null."""
    return json.dumps(to_json_value(to_plain(result)), ensure_ascii=False, indent=1) + "\n"


def _format_cells(rows: Sequence[Row]) -> tuple[list[bool], list[list[str]]]:
    """Return whether each column is numeric, and the lines of the table as lists of cells.

    The first line is the header.
    """
    names = _column_names(rows)
    lines = [names]
    are_numeric = [True] * len(names)
    for row in rows:
        values = [row.get(name) for name in names]
        # A line feed in a cell would break the table.
        lines.append([" ".join(format_short(value).split()) for value in values])
        for column, value in enumerate(values):
            are_numeric[column] &= isinstance(value, (int, float, type(None)))
    return are_numeric, lines


def format_latex(rows: Sequence[Row], _: Collection[str] = ()) -> str:
    """Format a LaTeX table for the package booktabs."""
    lines = _format_cells(rows)[1]
    latex_rows = []
    for cells in lines:
        escaped_cells = [re.sub("[&%#$_{}]", r"\\\g<0>", cell) for cell in cells]
        latex_rows.append(" & ".join(escaped_cells) + r" \\")
    header, *body = latex_rows
    return _LATEX_TEMPLATE % ("l" * len(_column_names(rows)), header, "\n".join(body))


def append_signatures(args: Namespace, parts: Sequence[str], *signatures: str) -> str:
    """Join the parts of the output with blank lines, and append signatures if requested.

    A signature is a line with the settings of a result. It is requested by --signature.
    """
    if args.signature and args.format != "csv":  # in CSV, the signature is a column
        line = _SIGNATURE_FORMATS.get(args.format, "%s\n")
        parts = [*parts, "".join(line % signature for signature in signatures)]
    return "\n".join(parts)


def format_result(
    args: Namespace,
    make_result: Callable[[], Row],
    sentence: str,
    rows: Sequence[Row],
    tables: Iterable[Table],
    signature: str,
    legend: str = "",
) -> str:
    """Format a result as requested by -f.

    Text and Markdown consist of `sentence`, `tables` and `legend`, which explains their columns,
    CSV of `rows`, and JSON of the dict that `make_result` returns. The signature is included if
    --signature was passed.
    """
    signature_fields = {"signature": signature} if args.signature else {}
    if args.format == "json":
        return as_json({**make_result(), **signature_fields})
    if args.format == "csv":
        return format_csv([{**row, **signature_fields} for row in rows])
    parts = [f"{sentence}\n"]
    parts += [format_titled_table(args.format, title, table) for title, table in tables if table]
    if legend:
        parts.append(f"{legend}\n")
    return append_signatures(args, parts, signature)


def format_titled_table(
    output_format: str, title: str, rows: Sequence[Row], score_keys: Collection[str] = ()
) -> str:
    """Format a table with a heading, as text or Markdown."""
    heading = f"### {title}\n\n" if output_format == "md" else f"{emphasize(f'{title}:')}\n"
    return heading + FORMATS[output_format](rows, score_keys)


def _column_names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


# Functions that format a table, given its rows and the columns that a terminal always shows.
FORMATS = {
    "text": format_text_table,
    "md": format_markdown,
    "csv": format_csv,
    "latex": format_latex,
}
