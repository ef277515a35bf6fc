"""Any file, by what its name or the caller says it is: text, tables, arrays, a folder."""

from __future__ import annotations

import csv
import gzip
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..hints import suggestion
from ..reading.limits import RefusedError
from .encodings import encoding_of, undecodable
from .exit_codes import DataError
from .parser import TYPES
from .sources import Source, Wanted, usable

STDIN = "-"
_ENDINGS = {"ndjson": "jsonl", "smiles": "smi", "pq": "parquet", "tab": "tsv"}
_NEW_LINE = re.compile(r"\r\n|\r|\n")
# What people have and this does not read; all other endings are those of lines of text.
_REFUSED = {
    **dict.fromkeys(("pkl", "pickle", "pt", "pth", "joblib"), "unpickling runs what is in it"),
    **dict.fromkeys(("xlsx", "xls", "ods"), "save the sheet as “CSV UTF-8”"),
    **dict.fromkeys(("zip", "tar", "tgz", "7z"), "unpack it into a folder"),
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "bmp", "webp"), "pass the folder it is in"),
    "arrow": "pass a parquet file",
}


def read(path: str, wanted: Wanted) -> Source:
    """The samples of a file, a folder, or "-", standard input."""
    name = "standard input" if path == STDIN else path
    try:
        return usable(_read(path, name, wanted), wanted)
    except RefusedError as error:
        raise DataError(f"{name}: {error}") from None
    except OSError as error:
        raise DataError(f"{name}: {_why(error, path)}") from None


def _read(path: str, name: str, wanted: Wanted) -> Source:
    if path != STDIN and Path(path).is_dir():
        from . import folders

        return folders.read(Path(path), wanted)
    kind = wanted.type or _type(path, name)
    if wanted.split != "row" and (kind != "txt" or wanted.kind == "vectors"):
        raise DataError(f"{name} is not read as lines of text, and --split is for these")
    if kind in ("txt", "smi") and wanted.kind != "vectors":
        return lines(_decoded(_bytes(path), name, wanted.encoding), name, kind, wanted)
    from . import arrays, tables  # which texts need not wait for

    if kind == "parquet":
        return tables.of_parquet(_bytes(path), name, wanted)
    if kind in ("npy", "npz"):
        return arrays.read(_bytes(path), name, kind, wanted)
    text = _decoded(_bytes(path), name, wanted.encoding)
    if kind in ("json", "jsonl"):
        return tables.of_json(text, name, kind, wanted)
    with _long_cells():
        tabs = kind == "tsv" and not text.startswith("sep=")
        return tables.of_csv(f"sep=\t\n{text}" if tabs else text, name, wanted)


def lines(text: str, name: str, kind: str, wanted: Wanted) -> Source:
    """The texts of a file of lines, as `wanted.split` says, or the molecules of a .smi file."""
    if wanted.column or wanted.others:
        raise DataError(
            f"{name} is read as lines of text, which have no columns; name what it is with "
            f"--type csv, tsv or jsonl, or leave out --column, --by, --group-by and --quality"
        )
    rows = _NEW_LINE.split(text)
    rows = rows[:-1] if not rows[-1] else rows
    places: list[int] = list(range(1, len(rows) + 1))
    values, sign = rows, "\n"
    if kind == "smi":
        values = [row.split(maxsplit=1)[0] if row.strip() else "" for row in rows]
    elif wanted.split != "row":
        parts = list(_parts(rows, "" if wanted.split == "blank" else wanted.split))
        values, places = [part for _, part in parts], [place for place, _ in parts]
        sign = "\n\n" if wanted.split == "blank" else f"\n{wanted.split}\n"
    whole = rows if kind == "smi" else values
    return Source(
        name=name,
        kind="molecules" if kind == "smi" else "text",
        values=values,
        numbers=places,
        written=lambda kept: sign.join(whole[i] for i in kept) + "\n" * bool(kept),
    )


def _parts(rows: list[str], sign: str) -> Iterator[tuple[int, str]]:
    """What stands between lines that are the sign, or between blank lines, of any number."""
    start, part = 1, list[str]()
    for place, row in enumerate([*rows, sign], 1):
        if row.strip() == sign:
            last = place > len(rows)
            if part or not (last or not sign):
                yield start, "\n".join(part)
            start, part = place + 1, []
        else:
            part.append(row)


def _type(path: str, name: str) -> str:
    if path == STDIN:
        return "txt"
    file = Path(path)
    file = file.with_suffix("") if file.suffix.lower() == ".gz" else file
    ending = file.suffix.lower().removeprefix(".")
    if ending in _REFUSED:
        raise DataError(
            f"{name} is not read: files of type .{ending} are not ({_REFUSED[ending]}); what is "
            f"read is {', '.join(TYPES)} and folders, or say what it is with --type"
        )
    ending = _ENDINGS.get(ending, ending)
    return ending if ending in TYPES else "txt"


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


def _decoded(data: bytes, name: str, encoding: str | None) -> str:
    """Text in UTF-8, in UTF-16 with a byte order mark, or in the encoding that is named."""
    used = encoding_of(data, encoding)
    try:
        text = data.decode(used)
    except UnicodeDecodeError as error:
        start = error.start + len(data) - len(error.object)  # utf-8-sig does not count its mark
        seen = data[:start].decode(used, errors="replace")
        raise DataError(f"{name}, {_place(seen)}: {undecodable(error, encoding)}") from None
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        raise DataError(
            f"{name}, {_place(text[: text.index(chr(0))])}: there is a NUL, which no text has; if "
            f"it is an array or a table of another type, say so with --type"
        )
    return text


def _place(before: str) -> str:
    """The line and the column of what comes next, both counted from 1."""
    rows = _NEW_LINE.split(before)
    return f"line {len(rows):,}, column {len(rows[-1]) + 1:,}"


@contextmanager
def _long_cells() -> Iterator[None]:
    """Cells of any length in CSV, whose limit is one of the process."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _why(error: OSError, path: str) -> str:
    if isinstance(error, FileNotFoundError):
        folder = Path(path).parent
        names = [file.name for file in folder.iterdir()] if folder.is_dir() else []
        close = suggestion(Path(path).name, names, look=" ") if names else ""
        return f"there is no such file. {close}".partition("Available")[0].strip()
    return (error.strerror or str(error)).rstrip(".")
