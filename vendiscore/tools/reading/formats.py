"""Formats of files: their endings, their first bytes, and the parser of each."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, NamedTuple

from ...support.folders import file_extension
from ...support.text_detection import IMAGE_EXTENSIONS
from .encodings import decode
from .limits import RefusedError, Wanted

if TYPE_CHECKING:
    from .columnar_files import Columns
    from .numpy_files import Arrays
    from .tables import Table


# Parsers return text, `Table`, `Columns` or `Arrays`; formats without one are opened elsewhere.
Parser = Callable[[bytes, Wanted], "str | Table | Columns | Arrays"]


class Format(NamedTuple):
    """A format: the endings of its files' names, the first bytes, and its parser."""

    endings: tuple[str, ...]
    parse: Parser | None
    magic: tuple[bytes, ...] = ()


def _text(data: bytes, how: Wanted) -> str:
    return decode(data, how.encoding)[0]


def _cells(data: bytes, how: Wanted, sign: str = "") -> Table:
    from .csv_cells import original_table
    from .tables import table

    text, encoding = decode(data, how.encoding)
    return original_table(table(text, how, sign=sign, encoding=encoding), text)


def _parsed_text(parser: str) -> Parser:
    """Return a parser of text by its module and name, such as "sequences:sequences"."""
    return lambda data, how: resolve_name(f"{__package__}.{parser}")(_text(data, how), how)


def _log(data: bytes, how: Wanted) -> Table:
    """Read an Inspect log, a zip with a file of JSON for each sample."""
    from .json_documents import documents
    from .zip_archives import open_zip

    with open_zip(data, how.limits.samples, how.limits.unpacked) as (archive, entries):
        named = [entry for entry in entries if entry.filename.startswith("samples/")]
        return documents([archive.read(entry).decode() for entry in named], how)


def _parquet(data: bytes, how: Wanted) -> Columns:
    from .columnar_files import Columns

    return Columns(io.BytesIO(data), how.limits)


def _arrays(data: bytes, how: Wanted, packed: bool = False) -> Arrays:
    from .numpy_files import Arrays

    return Arrays(data, packed)


_SEQUENCES = ("fasta", "fa", "faa", "fna", "ffn", "fastq", "fq", "a3m")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
#: Formats by their names, each with `endings` of names of files, `parse` and `magic`.
FORMATS = {
    "txt": Format(("txt", "md", "text"), _text),
    "csv": Format(("csv",), _cells),
    "tsv": Format(("tsv", "tab"), partial(_cells, sign="\t")),
    "jsonl": Format(("jsonl", "ndjson"), _parsed_text("json_documents:records")),
    "fasta": Format(
        _SEQUENCES,
        _parsed_text("sequences:sequences"),
    ),
    "eval": Format(("eval",), _log),
    "vec": Format(("vec",), _parsed_text("sequences:word_vectors")),
    "json": Format(("json",), _parsed_text("json_documents:document")),
    "smi": Format(("smi", "smiles"), _text),
    "parquet": Format(("parquet", "pq"), _parquet, (b"PAR1",)),
    "npy": Format(("npy",), _arrays, (b"\x93NUMPY",)),
    "npz": Format(("npz",), partial(_arrays, packed=True)),
    "zip": Format(("zip",), None, _ZIP),
    "image": Format(IMAGE_EXTENSIONS, None, (b"\x89PNG", b"\xff\xd8\xff", b"GIF8")),
}
TYPES = tuple(name for name, form in FORMATS.items() if form.parse)
ENDINGS = {ending: name for name, form in FORMATS.items() for ending in form.endings}
# Formats that people have and no parser reads, with the remedy for each.
_REFUSED = {
    **dict.fromkeys(("xlsx", "xls", "ods"), "save the sheet as “CSV UTF-8”"),
    **dict.fromkeys(("pdf", "docx", "doc", "rtf", "odt"), "copy its text into a .txt file"),
    **dict.fromkeys(
        ("pkl", "pickle", "pt", "pth", "joblib"),
        "unpickling runs what is in it; save numbers with np.save",
    ),
    **dict.fromkeys(("tar", "tgz", "7z", "rar", "bz2", "xz", "gz"), "unpack it, or zip it"),
    **dict.fromkeys(("tif", "tiff", "svg", "psd"), "save the picture as PNG or JPEG"),
    **dict.fromkeys(("mol", "sdf"), "convert it to SMILES"),
    "arrow": "save it as parquet",
    "safetensors": "save the array with np.save",
}
_MAGIC = {
    **{magic: name for name, form in FORMATS.items() for magic in form.magic},
    b"%PDF": "pdf",
    b"\x1f\x8b": "gz",
    b"\x80\x04\x95": "pkl",
    b"\xd0\xcf\x11\xe0": "xls",
}
_HEIC = (b"ftypheic", b"ftypmif1", b"ftypavif", b"ftypheix")


def named_format(name: str) -> str | None:
    """Detect the format of a file from the extension of its name.

    Parameters
    ----------
    name : str
        Name of the file.

    Returns
    -------
    str or None
        A key of `FORMATS`; None if the format is unknown.

    See Also
    --------
    vendiscore.report.format_of : Detect the format also from the content.

    Examples
    --------
    >>> from vendiscore.report import named_format
    >>> named_format("answers.CSV"), named_format("a.jpeg"), named_format("a.docx")
    ('csv', 'image', None)
    """
    return ENDINGS.get(file_extension(name))


def known_format(name: str) -> str | None:
    """Return `named_format`; refuse formats that people have and no parser reads."""
    end = file_extension(name)
    if end in _REFUSED:
        raise RefusedError(f"Files of type .{end} are not read: {_REFUSED[end]}.")
    return ENDINGS.get(end)


def format_of(name: str, data: bytes) -> str | None:
    """Detect the format of a file from its name, unless its first bytes show another one.

    Parameters
    ----------
    name : str
        Name of the file.
    data : bytes
        Content of the file.

    Returns
    -------
    str or None
        A key of `FORMATS`; None if the format is unknown.

    Raises
    ------
    RefusedError
        If the format is known but not supported.

    See Also
    --------
    vendiscore.report.named_format : Detect the format only from the name.

    Examples
    --------
    >>> format_of("answers.csv", b"id,answer"), format_of("answers", b"PAR1")
    ('csv', 'parquet')
    """
    found = known_format(name)
    inside = next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), None)
    if inside == "zip" and found not in ("zip", "npz", "eval"):
        sheet = b"xl/workbook" in data or b"[Content_Types].xml" in data[:4096]
        return known_format("sheet.xlsx") if sheet else "zip"
    if inside is None and data[4:12] in _HEIC:
        return "image"
    if inside and found in (None, "txt", "csv", "tsv"):
        return inside if inside in FORMATS else known_format(f"file.{inside}")
    # no ending, or "answers of v1.2"
    return "txt" if not found and not re.fullmatch(r"[a-z]\w{0,7}", file_extension(name)) else found
