"""Files, folders and standard input as samples, as the options of a command say."""

import csv
import gzip
import sys
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.errors import SHOWN
from ..hints import suggestion
from ..reading.encodings import NotTextError
from ..reading.folders import folder_samples
from ..reading.formats import FORMATS, TYPES, format_of
from ..reading.limits import AskError, RefusedError, Wanted
from ..reading.samples import Samples
from ..reading.text_lines import line_samples
from .exit_codes import DataError, tell

STDIN = "-"
NO_SAMPLES = "there are no samples in it"
BY_FOLDER = "folder"  # what --group-by calls the folder that a file is in
_OF_ARRAYS = {2: "vectors", 3: "images", 4: "images"}  # by their dimensions


def read(path: str, wanted: Wanted) -> Samples:
    name = "standard input" if path == STDIN else path
    try:
        found = replace(_read(path, wanted), name=name)
    except RefusedError as error:
        at = f", {error.place}" if error.place else ""
        remedy = "; or name its --encoding or --type" if isinstance(error, NotTextError) else ""
        said = error.message.replace("; pick a column:", "; name one with --column:")
        if isinstance(error, AskError) and said == error.message:
            said += " Name it with --column, or put a row of names above the table."
        raise DataError(f"{name}{at}: {said}{remedy}") from None
    except OSError as error:
        raise DataError(f"{name}: {_why(error, path)}") from None
    if found.problems:
        check(found, {found.place(i): what for i, what in found.problems.items()}, wanted.skip)
        found = found.subset([i for i in range(len(found)) if i not in found.problems])
    if not len(found):
        raise DataError(f"{name}: {NO_SAMPLES}")
    lost = (f"column {column!r} is left out: {why}" for column, why in found.lost.items())
    return replace(found, notes=(*found.notes, *lost))


def check(source: Samples, found: Mapping[str, str], skip: bool) -> None:
    """Say which samples of a file cannot be used, as an error or, if they are left out, a note."""
    if skip:
        of = "sample is" if len(found) == 1 else "samples are"
        shown = [f"{where} {problem}" for where, problem in found.items()]
        listed = "; ".join(shown[:SHOWN] + ["…"] * (len(shown) > SHOWN))
        tell(f"{source.name}: {len(found):,} {of} left out: {listed}")
        return
    (where, said), *more = found.items()
    rows = [name.partition(", column ")[0] for name, _ in more]
    listed = ", ".join(rows[:5]) + (", …" if len(rows) > 5 else "")
    others = f" (and {len(more):,} more: {listed})" if more else ""
    remedy = "" if "; " in said else "; correct or remove it"
    raise DataError(
        f"{source.name}, {where} {said}{others}{remedy}, or pass --on-error skip to leave out what "
        f"cannot be used"
    )


def _read(path: str, wanted: Wanted) -> Samples:
    if path != STDIN and Path(path).is_dir():
        return _of_folder(Path(path), wanted)
    file = path.removesuffix(".gz") if path.lower().endswith(".gz") else path
    data = _bytes(path)
    form = wanted.type or format_of("" if path == STDIN else file, data) or "txt"
    if form == "image":
        raise RefusedError("a single image is not read; pass the folder it is in")
    if form not in TYPES:
        raise RefusedError(
            f"a file of type {form} is not read; unpack it into a folder, or name its --type"
        )
    if wanted.split != "row" and (form != "txt" or wanted.kind == "vectors"):
        raise RefusedError("--split is for lines of text, and this is not; leave --split out")
    lines = form in ("txt", "smi")
    if lines and wanted.kind == "vectors":
        form = "csv"
        lines = False
    found = _parsed(form, data, wanted)
    if lines:
        if wanted.column or wanted.others:
            raise RefusedError(
                "it is read as lines of text, which have no columns; name its type with --type "
                "csv, tsv or jsonl, or leave out all options that name columns"
            )
        return line_samples(found, wanted.split, form == "smi")
    from ..reading import table_samples as tables  # which texts need not wait for
    from ..reading.tables import Table

    is_open = isinstance(found, Table) and not wanted.kind and not found.typed
    if is_open and tables.is_numeric(found.without(wanted.others), wanted.column):
        wanted = replace(wanted, kind="vectors")
        found = _parsed(form, data, wanted)
    return tables.samples_of(found, wanted, _OF_ARRAYS)


def _parsed(form: str, data: bytes, wanted: Wanted) -> Any:
    parse = FORMATS[form].parse
    before = csv.field_size_limit(2**31 - 1)  # of the process, for cells of any length
    try:
        return parse and parse(data, wanted)
    finally:
        csv.field_size_limit(before)


def _of_folder(folder: Path, wanted: Wanted) -> Samples:
    if wanted.column or {*wanted.others} - {BY_FOLDER}:
        raise RefusedError(
            f"it is a folder, which has no columns; leave out all options that name columns, but "
            f"for --group-by {BY_FOLDER} and --by {BY_FOLDER}"
        )
    if wanted.split != "row" or wanted.type not in (None, "txt"):
        raise RefusedError(
            "it is a folder, whose samples are a file each; leave out --split and --type"
        )
    found = folder_samples(folder, wanted.kind, bool(wanted.others), wanted.encoding)
    for note in found.notes:
        tell(f"{folder}: {note}")
    labels = found.groups
    return replace(
        found, notes=(), sets=labels if wanted.by else (), groups=labels if wanted.group_by else ()
    )


def _bytes(path: str) -> bytes:
    if path == STDIN:
        if sys.stdin is None:
            raise OSError("it is not open")
        return sys.stdin.buffer.read()
    data = Path(path).read_bytes()
    if not path.lower().endswith(".gz"):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, zlib.error) as error:
        raise OSError(f"it is cut short or damaged ({error})") from None


def _why(error: OSError, path: str) -> str:
    if isinstance(error, FileNotFoundError):
        folder = Path(path).parent
        names = [file.name for file in folder.iterdir()] if folder.is_dir() else []
        close = suggestion(Path(path).name, names, look=" ") if names else ""
        return f"there is no such file. {close}".partition("Available")[0].strip()
    return (error.strerror or str(error)).rstrip(".")
