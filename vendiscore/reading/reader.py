"""One reader of a file's contents, for the library, the command and the page."""

import csv
from dataclasses import replace
from itertools import islice
from typing import Any

from .formats import FORMATS, TYPES, format_of
from .limits import AskError, RefusedError, Wanted
from .samples import Samples
from .text_lines import line_samples

_OF_ARRAYS = {2: "vectors", 3: "images", 4: "images"}  # kinds by their dimensions
_LOOK = 20  # lines of text that show whether they are rows of numbers
_OF_NUMBERS = "+-.#0123456789"  # first characters of rows of numbers
_SHOWN = 20  # bytes that a question shows
_SIGNS = ",;\t|"  # between the cells of tables


def read_data(name: str, data: bytes, wanted: Wanted) -> Samples:
    r"""Return the samples in the bytes of a file, whose format its name or its first bytes say.

    Parameters
    ----------
    name, data : str, bytes, the name of the file, and what is in it
    wanted : Wanted, the columns and the kind of samples, as far as a person named them

    Returns
    -------
    Samples
        Their `taken` says in words which were taken.

    Raises
    ------
    AskError, RefusedError
        Where two readings exist, with the choices; for what cannot be read.

    Examples
    --------
    >>> from vendiscore.report import Wanted, read_data
    >>> read_data("a.csv", b"id,answer\n1,a cat sat\n2,a dog ran\n", Wanted()).taken
    "2 texts of column 'answer'; left out: id"
    """
    form = wanted.type or format_of(name, data)
    if form is None:
        raise AskError(
            f"Of which type is it? It begins with {data[:_SHOWN]!r}",
            [(each, {"type": each}) for each in TYPES],
        )
    if form == "image":
        raise RefusedError("a single image is not read; pass the folder it is in")
    if form not in TYPES:
        raise RefusedError(
            f"a file of type {form} is not read; unpack it into a folder, or name its type"
        )
    if wanted.split != "row" and (form != "txt" or wanted.kind == "vectors"):
        raise RefusedError(
            f"`split` is for lines of text, and this is read as {form}; leave it out, or name the "
            "type txt"
        )
    if form in ("txt", "smi") and wanted.kind == "vectors":
        form = "csv"
    read = _parsed(form, data, wanted)
    are_lines = form == "txt" and wanted.split == "row"
    could_be_rows = are_lines and not wanted.kind and read.lstrip()[:1] in _OF_NUMBERS
    of_numbers = could_be_rows and are_rows(read)
    named = not of_numbers or read.startswith("#")
    has_cells = {*_SIGNS} & {*read.partition("\n")[0]} if are_lines and named else ()
    if has_cells and not wanted.type:
        from .tables import is_table

        if is_table(read):
            raise AskError(
                "Its lines have as many cells each: is it a table?",
                [("It is a table", {"type": "csv"}), ("Each line is a text", {"type": "txt"})],
            )
    if of_numbers:
        form, wanted = "csv", replace(wanted, kind="vectors")
        lines = (line for line in read.splitlines(keepends=True) if not line.startswith("#"))
        read = _parsed(form, "".join(lines).encode(), replace(wanted, encoding=None))
    if form in ("txt", "smi"):
        if wanted.column or wanted.others:
            raise RefusedError(
                "it is read as lines of text, which have no columns; name its type (csv, tsv or "
                "jsonl), or leave out all options that name columns"
            )
        return line_samples(read, wanted.split, form == "smi")
    from .columns import is_numeric  # which texts need not wait for
    from .table_samples import samples_of
    from .tables import Table

    is_open = isinstance(read, Table) and not wanted.kind and not read.typed
    if is_open and is_numeric(read, wanted):
        wanted = replace(wanted, kind="vectors")
        read = _parsed(form, data, wanted)
    return samples_of(read, wanted, _OF_ARRAYS)


def are_rows(text: str) -> bool:
    """Return whether the first lines of a text are rows of as many numbers each, of two or more."""
    from .tables import is_number

    some = islice((line for line in text.splitlines() if not line.startswith("#")), _LOOK)
    rows = [cells for line in some if (cells := line.replace(",", " ").split())]
    if len(rows) < 2 or len(rows[0]) < 2 or len({*map(len, rows)}) > 1:
        return False
    return all(is_number(cell) for cells in rows for cell in cells)


def _parsed(form: str, data: bytes, wanted: Wanted) -> Any:
    parse = FORMATS[form].parse
    before = csv.field_size_limit(2**31 - 1)  # of the process, for cells of any length
    try:
        return parse and parse(data, wanted)
    finally:
        csv.field_size_limit(before)
