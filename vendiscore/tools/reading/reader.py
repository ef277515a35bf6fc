"""Reading of the content of a file, for the library, the command and the web app."""

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from .compressed_files import decompress
from .encodings import NotTextError, decode
from .formats import FORMATS, TYPES, format_of
from .limits import AskError, ReadOptions, RefusedError
from .samples import Samples
from .text_lines import take_line_samples

_PREVIEW_LINES = 20  # lines of text that show whether they are rows of cells
_NUMBER = r"[-+]?(?:[\d.]*\d[\d.]*(?:e[-+]?\d+)?|nan|inf)"
_ROW = re.compile(rf"\s*(?:(\S+)\s+(?=\S+[\s,]+\S))??({_NUMBER}(?:[\s,]+{_NUMBER})*)\s*", re.I)
_SHOWN_BYTES = 20  # bytes that a question shows
_CELL_FORMATS = ("csv", "tsv")
_BINARY_FORMATS = ("parquet", "npy", "npz", "eval")
_TEXT_FORMATS = tuple(form for form in TYPES if form not in _BINARY_FORMATS)
# The formats on which an option of reading has an effect.
_FORMATS_BY_OPTION = {
    "header": _CELL_FORMATS,
    "index": _CELL_FORMATS,
    "skip_rows": _CELL_FORMATS,
    "comments": ("txt",),
    "encoding": _TEXT_FORMATS,
    "counts": (*_CELL_FORMATS, "jsonl", "json", "parquet"),
}
# Starts of texts in a format, in files with an unknown ending.
_START_PATTERNS = {
    "json": re.compile(r"\s*(\{\s*[\"}]|\[\s*([\[{\"]|-?[\d.]+\s*,))"),  # or lines of JSON
    "fasta": re.compile(r">[^\n]*\n[A-Za-z*-]+\s"),
}
_DELIMITERS = ",;\t|"  # between the cells of tables


def read_data(
    name: str, data: bytes, read_options: ReadOptions, *, strict: bool = False
) -> Samples:
    r"""Read the samples of a file, whose format is detected from its name or first bytes.

    Parameters
    ----------
    name : str
        Name of the file.
    data : bytes
        Content of the file.
    read_options : ReadOptions
        Options such as columns and the type of the samples.
    strict : bool, default False
        Whether to raise an error for options that have no effect on this format.

    Returns
    -------
    Samples
        The samples; `taken` describes which ones were read.

    Raises
    ------
    AskError
        If the file can be read in several ways.
    RefusedError
        If the file cannot be read.

    See Also
    --------
    vendiscore.report.samples_of : Read the samples of a table.

    Examples
    --------
    >>> from vendiscore.report import ReadOptions, read_data
    >>> read_data("a.csv", b"id,answer\n1,a cat sat\n2,a dog ran\n", ReadOptions()).taken
    "2 texts of column 'answer'; left out: id"
    """
    name, data = decompress(name, data, read_options.limits.unpacked)
    requested_kind = read_options.kind
    form = read_options.type or format_of(name, data) or _detect_content_format(data, read_options)
    if form == "image":
        raise RefusedError("a single image is not read; pass the folder it is in")
    if form not in TYPES:
        raise RefusedError(
            f"a file of type {form} is not read; unpack it into a folder, or name its type"
        )
    if read_options.split not in ("", "row") and (form != "txt" or read_options.kind == "vectors"):
        raise RefusedError(
            f"`split` is for lines of text, and this is read as {form}; remove it, or set the "
            "type to txt"
        )
    if form in ("txt", "smi") and read_options.kind == "vectors":
        form = "csv"
    parsed = _parse(form, data, read_options)
    if form == "txt" and not (read_options.type or read_options.split):
        candidate, is_unclear = detect_lines_format(parsed)
        if is_unclear:
            reason = "All lines have the same number of cells"
            if candidate.startswith("json"):
                reason = "The text looks like JSON"
            raise AskError(
                f"{reason}. Is this a table?",
                [("It is a table", {"type": candidate}), ("Each line is a text", {"type": "txt"})],
            )
        if candidate == "tsv":  # whose first row names columns
            form = candidate
            parsed = _parse(form, data, read_options)
        elif candidate != "txt" and not read_options.kind:
            form, read_options = candidate, replace(read_options, kind="vectors")
            lines = (line for line in parsed.splitlines(keepends=True) if not line.startswith("#"))
            parsed = _parse(form, "".join(lines).encode(), replace(read_options, encoding=None))
    if strict:
        _check_options(form, read_options)
    if form in ("txt", "smi"):
        if read_options.column or read_options.others:
            raise RefusedError(
                "it is read as lines of text, which have no columns; set its type (csv, tsv or "
                "jsonl), or remove all options that name columns"
            )
        return take_line_samples(parsed, read_options, form == "smi")
    from .columns import is_numeric  # which texts need not wait for
    from .table_samples import samples_of
    from .tables import Table

    is_open = isinstance(parsed, Table) and not read_options.kind and not parsed.typed
    if is_open and is_numeric(parsed, read_options):
        read_options = replace(read_options, kind="vectors")
        parsed = _parse(form, data, read_options)
    if (
        isinstance(parsed, Table)
        and parsed.rows
        and not requested_kind
        and read_options.kind == "vectors"
    ):
        from .number_tables import check_no_class

        check_no_class(parsed, read_options)
    samples = samples_of(parsed, read_options)
    if not requested_kind:
        from .number_tables import check_no_uneven_diagonal, check_no_whole_columns

        check_no_uneven_diagonal(samples, read_options)
        check_no_whole_columns(samples, read_options)
    return samples


def _detect_content_format(data: bytes, read_options: ReadOptions) -> str:
    """Return the format of a file with an unknown ending: JSON, sequences or rows of numbers.

    Raise an AskError if the content does not show it, with the most likely formats first.
    """
    try:
        text = decode(data, read_options.encoding)[0]
    except NotTextError:
        raise RefusedError(
            f"its type is not known, and it is not text; it begins with {data[:_SHOWN_BYTES]!r}. "
            "Save numbers with np.save, and texts as .txt, .csv or .json; or name its type"
        ) from None
    for form, start in _START_PATTERNS.items():
        if start.match(text):
            return form
    candidate, is_unclear = detect_lines_format(text)
    if candidate != "txt" and not is_unclear:
        return "txt"  # also for rows of numbers
    raise AskError(
        f"Of which type is it? It begins with {data[:_SHOWN_BYTES]!r}",
        [(form, {"type": form}) for form in dict.fromkeys([candidate, "txt", "csv"])],
    )


def _check_options(form: str, read_options: ReadOptions) -> None:
    """Refuse options that have no effect on a file of a format."""
    passed = {
        "header": read_options.header is not None,
        "index": read_options.index is not None,
        "skip_rows": bool(read_options.skip_rows),
        "comments": read_options.comments is not None,
        "encoding": bool(read_options.encoding),
        "counts": read_options.kind == "counts",
    }
    for name, is_passed in passed.items():
        formats = _FORMATS_BY_OPTION[name]
        if is_passed and form not in formats:
            subject = "counts are read from" if name == "counts" else f"`{name}` is for"
            raise RefusedError(
                f"{subject} files of type {', '.join(formats)}, and this is read as {form}; "
                "remove it, or set the type"
            )


def detect_lines_format(text: str) -> tuple[str, bool]:
    """Return the type of lines of text, and whether to ask for it.

    The type is "csv" for rows of equally many numbers, "vec" if each row begins with a word, "tsv"
    for cells between tabs below column names, and otherwise "txt". The result is uncertain for
    other cells, single numbers, names above numbers, and JSON. Only the first lines are used.
    """
    content_lines = (
        line for line in io.StringIO(text) if line.strip() and not line.startswith("#")
    )
    lines = list(islice(content_lines, _PREVIEW_LINES))
    first_line = "".join(lines[:1])
    first, *rows = map(_ROW.fullmatch, lines or [""])
    widths = {len(re.split(r"[\s,]+", row[2])) for row in rows if row}
    names_line = text.partition("\n")[0] * text.startswith("#")  # names, as a comment
    form, is_unclear = "txt", False
    if all(rows) and len(widths) == 1:
        form = "vec" if any(row and row[1] for row in rows) else "csv"
        is_unclear = not first or widths == {1}
    elif re.fullmatch(r"\s*\{.*\}\s*", first_line):
        form, is_unclear = "jsonl", True
    elif first_line.lstrip()[:1] in ("[", "{") and (_begins_json(text) or _is_list(lines)):
        form, is_unclear = "json", True
    else:
        names_line = first_line
    if {*_DELIMITERS} & {*names_line} or "  " in names_line.strip():
        from .tables import is_table

        is_unclear = is_unclear or is_table(text)
        if is_unclear and form == "txt" and _has_column_names(lines):
            return "tsv", False
    return "csv" if is_unclear and not form.startswith("json") else form, is_unclear


def _has_column_names(lines: Sequence[str]) -> bool:
    """Return whether lines have equally many cells between tabs, the first names of columns."""
    from .names import is_column_name

    first, *rest = (line.rstrip("\n").split("\t") for line in lines)
    are_even = len(first) > 1 and {*map(len, rest)} == {len(first)}
    return are_even and any(map(is_column_name, first))


def _is_list(lines: Sequence[str]) -> bool:
    """Return whether the only line of a text is a list of several values in JSON."""
    if len(lines) != 1:
        return False
    try:
        value = json.loads(lines[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(value, list) and len(value) > 1


def _begins_json(text: str) -> bool:
    from .json_documents import begins_long_document

    return begins_long_document(text)


def _parse(form: str, data: bytes, read_options: ReadOptions) -> Any:
    parse = FORMATS[form].parse
    previous_limit = csv.field_size_limit(2**31 - 1)  # of the process, for cells of any length
    try:
        return parse and parse(data, read_options)
    finally:
        csv.field_size_limit(previous_limit)
