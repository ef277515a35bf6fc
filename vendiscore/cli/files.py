"""Files, folders and standard input as samples, as the options of a command say."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..hints import suggestion
from ..reading.encodings import NotTextError
from ..reading.folders import folder_samples
from ..reading.formats import FORMATS, TYPES, Parsing, format_of, known
from ..reading.limits import AskError, Limits, RefusedError
from ..reading.samples import Samples
from ..reading.text_lines import line_samples
from .exit_codes import DataError, places, tell

if TYPE_CHECKING:
    from ..reading.columnar_files import Columns
    from ..reading.numpy_files import Arrays
    from ..reading.tables import Table

STDIN = "-"
NO_SAMPLES = "there are no samples in it"
BY_FOLDER = "folder"  # what --group-by calls the folder that a file is in
_LIMITS = Limits(smiles=1_000)
_OF_ARRAYS = {2: "vectors", 3: "images", 4: "images"}  # by their dimensions


@dataclass(frozen=True)
class Wanted:
    """How a file is to be read."""

    kind: str = ""  # of samples that the kernel compares, "" where none is named
    column: str | None = None
    by: str | None = None
    group_by: str | None = None
    quality: str | None = None
    split: str = "row"  # of lines: "row", "blank", or the line that stands between two texts
    type: str | None = None
    encoding: str | None = None
    skip: bool = False  # samples that cannot be read

    @property
    def others(self) -> list[str]:
        """The columns that are not samples."""
        return list(filter(None, dict.fromkeys([self.by, self.group_by, self.quality])))


def read(path: str, wanted: Wanted) -> Samples:
    """Read the samples of a file, a folder, or "-", standard input."""
    name = "standard input" if path == STDIN else path
    try:
        found = replace(_read(path, wanted), name=name)
    except RefusedError as error:
        at = f", {error.place}" if error.place else ""
        remedy = (
            "; or name its --encoding, or its --type" if isinstance(error, NotTextError) else ""
        )
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
    return found


def check(source: Samples, found: Mapping[str, str], skip: bool) -> None:
    """Say which samples of a file cannot be used, as an error or, if they are left out, a note."""
    if skip:
        of = "sample is" if len(found) == 1 else "samples are"
        tell(f"{source.name}: {len(found):,} {of} left out: {places(found)}")
        return
    (where, said), more = next(iter(found.items())), len(found) - 1
    others = f" (and {more:,} more: {_listed(list(found)[1:])})" if more else ""
    remedy = "" if "; " in said else "; mend or remove it"
    raise DataError(
        f"{source.name}, {where} {said}{others}{remedy}, or pass --on-error skip to leave out what "
        f"cannot be used"
    )


def _listed(names: Iterable[str]) -> str:
    names = [name.partition(", column ")[0] for name in names]
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")


def _read(path: str, wanted: Wanted) -> Samples:
    if path != STDIN and Path(path).is_dir():
        return _of_folder(Path(path), wanted)
    file = path.removesuffix(".gz") if path.lower().endswith(".gz") else path
    if wanted.type is None and path != STDIN and known(file) == "image":
        raise RefusedError("a single image is not read; pass the folder it is in")
    data = _bytes(path)
    form = wanted.type or format_of("" if path == STDIN else file, data) or "txt"
    if form not in TYPES:
        raise RefusedError(
            f"a file of type {form} is not read; unpack it into a folder, or name its --type"
        )
    if wanted.split != "row" and (form != "txt" or wanted.kind == "vectors"):
        raise RefusedError("it is not read as lines of text, and --split is for these")
    lines = form in ("txt", "smi")
    if lines and wanted.kind == "vectors":
        form, lines = "csv", False
    how = Parsing(
        _LIMITS,
        wanted.encoding,
        numeric=wanted.kind == "vectors",
        molecules=wanted.kind == "molecules",
        anything=wanted.kind == "values",
    )
    found = _parsed(form, data, how)
    if lines:
        if wanted.column or wanted.others:
            raise RefusedError(
                "it is read as lines of text, which have no columns; name what it is with "
                "--type csv, tsv or jsonl, or leave out --column, --by, --group-by and --quality"
            )
        return line_samples(found, wanted.split, form == "smi")
    if form in ("npy", "npz"):
        return _of_arrays(found, wanted)
    if form == "parquet":
        return _of_columns(found, wanted)
    if not wanted.kind and not found.typed and _is_numeric(found.without(wanted.others), wanted):
        found, wanted = (
            _parsed(form, data, replace(how, numeric=True)),
            replace(wanted, kind="vectors"),
        )
    return _of_table(found, wanted)


def _parsed(form: str, data: bytes, how: Parsing) -> Any:
    parse = FORMATS[form].parse
    before = csv.field_size_limit(2**31 - 1)  # of the process, for cells of any length
    try:
        return parse and parse(data, how)
    finally:
        csv.field_size_limit(before)


def _of_folder(folder: Path, wanted: Wanted) -> Samples:
    if wanted.column or {*wanted.others} - {BY_FOLDER}:
        raise RefusedError(
            f"it is a folder, which has no columns; leave out --column, --quality, --by and "
            f"--group-by, but for --group-by {BY_FOLDER} and --by {BY_FOLDER}"
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


def _of_arrays(found: Arrays, wanted: Wanted) -> Samples:
    """Return rows of numbers, images (n, H, W) or (n, H, W, C), or one value a sample."""
    if wanted.others:
        raise RefusedError("it has arrays, no columns; leave out --by, --group-by and --quality")
    if found.single and wanted.column:
        raise RefusedError("it is a single array, which has no columns; leave out --column")
    name = found.chosen(wanted.column)
    array = found.read(name, _LIMITS)
    samples = Samples(array, range(1, len(array) + 1) if array.ndim else (), "row")
    if array.ndim == 1 and (wanted.kind == "values" or array.dtype.kind == "U"):
        return replace(samples, values=array.tolist(), kind=wanted.kind or "texts")
    if array.dtype.kind not in "fiub":
        raise RefusedError(f"expected real numbers, got {array.dtype} values")
    if array.ndim not in _OF_ARRAYS:
        raise RefusedError(
            f"expected rows of numbers (n, d) or images (n, H, W), got shape {array.shape}"
        )
    return replace(samples, values=array.copy(), kind=_OF_ARRAYS[array.ndim])


def _of_columns(file: Columns, wanted: Wanted) -> Samples:
    """Return a column of texts or of rows of numbers, or all columns of numbers."""
    others = [_column(file.names, c) for c in wanted.others]
    rest = [c for c in file.names if c not in others]
    column = wanted.column if wanted.column is None else _column(file.names, wanted.column)
    numeric = [*file.numbers, *file.vectors]
    notes: tuple[str, ...] = ()
    if column is None and wanted.kind != "vectors":
        if len(rest) == 1:
            column = rest[0]
        elif wanted.kind or not {*rest} <= {*numeric}:
            column, notes = _picked(file.head().without(others), wanted, file.names, file.vectors)
    if wanted.kind == "vectors" or (not wanted.kind and (column is None or column in numeric)):
        chosen = file.numeric(column, others)
        X, problems = file.matrix(chosen)
        left = () if column else [c for c in rest if c not in chosen]
        samples = Samples(
            X,
            range(1, len(X) + 1),
            "row",
            {i: what for i, (_, what) in problems.items()},
            (*notes, f"columns {', '.join(left)} are left out: no numbers") if left else notes,
            kind="vectors",
            wrong={i: at for i, (at, _) in problems.items()},
        )
        return _labelled(samples, file.table(others), wanted) if others else samples
    if column is None:
        raise RefusedError("it has no columns, and so no samples")
    read = file.table(list(dict.fromkeys([column, *others])))
    return replace(_of_table(read, replace(wanted, column=column)), notes=notes)


def _of_table(read: Table, wanted: Wanted) -> Samples:
    """Return the column that is meant, or all columns of numbers, with the groups of the rows."""
    if not read.rows:
        return Samples([], [])
    others = [_column(read.names, c) for c in wanted.others]
    rest = read.without(others)
    if not rest.names:
        but = f" beside {', '.join(others)}" if others else ""
        raise RefusedError(f"it has no columns{but}, and so no samples")
    if wanted.kind == "vectors" or (not wanted.kind and read.typed and _is_numeric(rest, wanted)):
        samples = _of_numbers(read if wanted.column else rest, wanted)
    else:
        column, notes = wanted.column, tuple[str, ...]()
        if column is not None:
            column = _column(read.names, column)
        elif len(rest.names) == 1:
            column = rest.names[0]
        else:
            column, notes = _picked(rest, wanted, read.names)
        if not wanted.kind and read.typed and _is_numeric(rest, replace(wanted, column=column)):
            samples = _of_numbers(read, replace(wanted, column=column))
        else:
            samples = _of_strings(read, column, wanted)
        samples = replace(samples, notes=notes)
    samples = replace(samples, written=lambda kept: _written(read, kept))
    return _labelled(samples, read, wanted)


def _of_strings(read: Table, column: str, wanted: Wanted) -> Samples:
    """Return the strings of a column, or its values where labels are compared."""
    from ..reading.json_documents import described

    values, problems = read.column(column), dict(read.problems)
    shown = column if len(read.names) > 1 or read.header else ""
    if wanted.kind != "values":
        for i, value in enumerate(values):
            if i not in problems and not isinstance(value, str):
                problems[i] = (
                    f"is {described(value)}, no string" if value is not None else "is missing"
                )
        values = [value if isinstance(value, str) else "" for value in values]
    return Samples(
        values,
        read.places,
        read.unit,
        dict(sorted(problems.items())),
        kind=wanted.kind or "texts",
        column=shown,
        wrong=dict.fromkeys(read.problems, ""),
    )


def _of_numbers(read: Table, wanted: Wanted) -> Samples:
    """Return the rows of numbers of a table."""
    from ..reading.number_tables import numbers_of, numbers_of_records

    if read.typed:
        found = numbers_of_records(read, wanted.column, _LIMITS)
    else:
        chosen = None
        if wanted.column is not None:
            whole = wanted.column in read.names
            asked = [wanted.column] if whole else wanted.column.split(",")
            chosen = [read.names.index(_column(read.names, c)) for c in asked]
        found = numbers_of(read, chosen=chosen)
    return Samples(
        found.X,
        read.places,
        read.unit,
        {i: what for i, (what, _) in found.problems.items()},
        tuple(f"column {read.names[j]!r} is left out: {why}" for j, why in found.lost.items()),
        kind="vectors",
        wrong={
            i: "" if j is None or not (read.header or len(read.names) > 1) else read.names[j]
            for i, (_, j) in found.problems.items()
        },
    )


def _picked(
    rest: Table, wanted: Wanted, names: Sequence[str], vectors: Sequence[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """Return the column that holds the samples by what is in it, and a note on it."""
    from ..reading.columns import pick
    from ..reading.tables import is_row, listed

    try:
        column = pick(rest, None, "molecule" if wanted.kind == "molecules" else "text", _LIMITS)
    except RefusedError:
        rows = vectors or [c for c in rest.names if any(map(is_row, rest.column(c)[:20]))]
        if wanted.kind or len(rows) != 1:
            raise
        column = rows[0]
    return column, (f"the samples are column {column!r} of {listed(names)} (--column)",)


def _is_numeric(read: Table, wanted: Wanted) -> bool:
    """Return whether the columns that may be meant are of numbers, or of rows of them."""
    from ..reading.tables import are_numbers, is_row

    names = [wanted.column] if wanted.column in read.names else read.names
    if read.typed:
        columns = [
            ["text" if isinstance(c, str) else c for c in read.column(str(name))] for name in names
        ]
        return bool(names) and all(
            are_numbers(cells) or any(map(is_row, cells[:20])) for cells in columns
        )
    return bool(names) and all(are_numbers(read.column(str(name))) for name in names)


def _labelled(samples: Samples, read: Table, wanted: Wanted) -> Samples:
    """Add the sets, groups and quality of the samples, and the rows that have none."""
    from ..reading.json_documents import described

    problems, wrong = dict(samples.problems), dict(samples.wrong)

    def missing(i: int, column: str, what: str) -> None:
        if i not in problems:
            problems[i], wrong[i] = what, column

    def labels(column: str | None, what: str) -> list[str]:
        cells = read.column(column) if column else []
        found = ["" if c is None or c != c else str(c).strip() for c in cells]  # NaN ≠ NaN
        for i in (i for i, label in enumerate(found) if not label):
            missing(i, str(column), f"is empty, so that the sample has no {what}")
        return found

    sets, groups = labels(wanted.by, "set"), labels(wanted.group_by, "group")
    quality: list[float] = []
    for i, value in enumerate(read.column(wanted.quality) if wanted.quality else []):
        try:
            quality.append(float(value))
        except (TypeError, ValueError, OverflowError):
            quality.append(0.0)
            missing(i, str(wanted.quality), f"is {described(value)}, no number")
    return replace(
        samples,
        sets=sets,
        groups=groups,
        quality=quality,
        problems=dict(sorted(problems.items())),
        wrong=wrong,
    )


def _column(names: Sequence[str], column: str) -> str:
    from ..reading.tables import checked_column

    return checked_column(names, column)


def _written(read: Table, kept: Sequence[int]) -> str:
    """Return rows of a table as text: lines of JSON as they were, elements and cells anew."""
    if read.unit == "line":
        return "".join(f"{read.origin[i]}\n" for i in kept)
    if read.origin:
        return (
            "[" + ",\n ".join(json.dumps(read.origin[i], ensure_ascii=False) for i in kept) + "]\n"
        )
    out = io.StringIO()
    writer = csv.writer(out, delimiter=read.delimiter or ",", lineterminator="\n")
    if read.header is not None:
        writer.writerow(read.names)
    writer.writerows(read.rows[i] for i in kept)
    return out.getvalue()


def _bytes(path: str) -> bytes:
    if path == STDIN:
        if sys.stdin is None:
            raise OSError("there is none")
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
