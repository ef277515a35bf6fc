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
from .limits import ReadOptions, RefusedError

if TYPE_CHECKING:
    from .columnar_files import Columns
    from .numpy_files import Arrays
    from .tables import Table


# Parsers return text, `Table`, `Columns` or `Arrays`; formats without one are opened elsewhere.
Parser = Callable[[bytes, ReadOptions], "str | Table | Columns | Arrays"]


class Format(NamedTuple):
    """A format: the endings of its files' names, the first bytes, and its parser."""

    endings: tuple[str, ...]
    parse: Parser | None
    magic: tuple[bytes, ...] = ()


def _text(data: bytes, how: ReadOptions) -> str:
    return decode(data, how.encoding)[0]


def _cells(data: bytes, how: ReadOptions, sign: str = "") -> Table:
    from .csv_cells import original_table
    from .tables import table

    text, encoding = decode(data, how.encoding)
    if sign not in text.partition("\n")[0]:  # in files named .tab, too
        sign = ""
    return original_table(table(text, how, sign=sign, encoding=encoding), text)


def _parsed_text(parser: str) -> Parser:
    """Return a parser of text by its module and name, such as "sequences:sequences"."""
    return lambda data, how: resolve_name(f"{__package__}.{parser}")(_text(data, how), how)


def _layout(form: str) -> Parser:
    """Return the parser of a JSON object whose keys name records, columns or groups."""

    def parse(data: bytes, how: ReadOptions) -> Table:
        from .json_documents import document

        return document(_text(data, how), how, form.removeprefix("json-"))

    return parse


def _log(data: bytes, how: ReadOptions) -> Table:
    """Read an Inspect log, a zip with a file of JSON for each sample."""
    from .json_documents import documents
    from .zip_archives import open_zip

    with open_zip(data, how.limits.samples, how.limits.unpacked) as (archive, entries):
        named = [entry for entry in entries if entry.filename.startswith("samples/")]
        return documents([archive.read(entry).decode() for entry in named], how)


def _parquet(data: bytes, how: ReadOptions) -> Columns:
    from .columnar_files import Columns

    return Columns(io.BytesIO(data), how.limits)


def _arrays(data: bytes, how: ReadOptions, packed: bool = False) -> Arrays:
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
    **{name: Format((), _layout(name)) for name in ("json-records", "json-columns", "json-groups")},
    "fields": Format((), _parsed_text("text_fields:parse_fields")),
    "smi": Format(("smi", "smiles"), _text),
    "parquet": Format(("parquet", "pq"), _parquet, (b"PAR1",)),
    "npy": Format(("npy",), _arrays, (b"\x93NUMPY",)),
    "npz": Format(("npz",), partial(_arrays, packed=True)),
    "zip": Format(("zip",), None, _ZIP),
    "image": Format(IMAGE_EXTENSIONS, None, (b"\x89PNG", b"\xff\xd8\xff", b"GIF8")),
}
TYPES = tuple(name for name, form in FORMATS.items() if form.parse)
ENDINGS = {ending: name for name, form in FORMATS.items() for ending in form.endings}


class _Unsupported(NamedTuple):
    """A format that no parser reads: its endings, first bytes, name, and what to do instead."""

    endings: tuple[str, ...]
    magic: bytes  # a regular expression; empty if only the ending shows the format
    name: str
    hint: str


_AS_ARRAY = "save the array with np.save"
_UNPACK = "unpack it, or zip it"
_UNSUPPORTED = (
    _Unsupported(
        ("xlsx", "xls", "ods"),
        rb"\xd0\xcf\x11\xe0",
        "a spreadsheet",
        "save the sheet as “CSV UTF-8”",
    ),
    _Unsupported(
        ("pdf", "docx", "doc", "rtf", "odt"),
        rb"%PDF-|\{\\rtf",
        "a PDF or RTF document",
        "copy its text into a .txt file",
    ),
    _Unsupported(
        ("pkl", "pickle", "pt", "pth", "joblib"),
        rb"\x80[\x02-\x05]",
        "a pickle",
        "unpickling runs what is in it; save numbers with np.save",
    ),
    _Unsupported(
        ("h5", "hdf5", "h5ad"),
        rb"\x89HDF\r\n\x1a\n|CDF[\x01\x02\x05]",
        "an HDF5 or netCDF file",
        _AS_ARRAY,
    ),
    _Unsupported(
        ("rdata", "rda", "rds"),
        rb"RD[XA][23]\n|X\n\0\0\0",
        "a file of R",
        "save the table in R with write.csv(x, 'x.csv')",
    ),
    _Unsupported((), rb"MATLAB 5\.0 MAT", "a file of MATLAB", "save the matrix with writematrix"),
    _Unsupported(
        ("sqlite", "sqlite3"),
        rb"SQLite format 3\0",
        "an SQLite database",
        "export the table as CSV",
    ),
    _Unsupported(
        ("arrow", "feather"),
        rb"ARROW1\0|FEA1\0|\xff{4}.{3}\0\x10\0\0\0",
        "an Arrow file",
        "save it as parquet",
    ),
    _Unsupported(("safetensors",), rb".{2}\0{6}\{\"", "a safetensors file", _AS_ARRAY),
    _Unsupported(
        ("tar", "tgz", "7z", "rar", "bz2", "xz", "zst"),
        rb"7z\xbc\xaf|Rar!\x1a|BZh\d1AY|\xfd7zXZ\0|\x28\xb5\x2f\xfd|.{257}ustar",
        "an archive",
        _UNPACK,
    ),
    _Unsupported(
        ("tif", "tiff", "svg", "psd"), b"", "a picture", "save the picture as PNG or JPEG"
    ),
    _Unsupported(("mol", "sdf"), b"", "a file of molecules", "convert it to SMILES"),
    _Unsupported(
        (),
        rb"MThd\0|RIFF.{4}(?!WEBP)|ID3[\x02-\x04]|fLaC\0|OggS\0|.{4}ftyp(?!hei[cx]|mif1|avif)",
        "a MIDI, audio or video file",
        "compute embeddings of such files, and save them with np.save",
    ),
    _Unsupported(
        (),
        rb"version https://git-lfs\.github\.com/spec/",
        "a Git LFS pointer instead of the file",
        "download the file with `git lfs pull`",
    ),
    _Unsupported(
        ("yaml", "yml", "toml"),
        b"",
        "a YAML or TOML document",
        "save its texts as .txt, .csv or .json",
    ),
    _Unsupported(
        (),
        rb"(\.\.?/)+[^\r\n]+\s*\Z",
        "a symbolic link that was saved as text",
        "read the file to which it points",
    ),
    _Unsupported(
        ("html", "htm", "xml", "ipynb"),
        b"",
        "a document of HTML or XML, or a notebook",
        "save its texts as .txt, .csv or .json",
    ),
)
_REFUSED = {ending: form.hint for form in _UNSUPPORTED for ending in form.endings}
_MAGIC = {magic: name for name, form in FORMATS.items() for magic in form.magic}
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
    inside = _format_inside(data)
    if inside == "zip" and found not in ("zip", "npz", "eval"):
        sheet = b"xl/workbook" in data or b"[Content_Types].xml" in data[:4096]
        return known_format("sheet.xlsx") if sheet else "zip"
    if inside and inside != "zip":
        return inside
    # no ending, or "answers of v1.2"
    return "txt" if not found and not re.fullmatch(r"[a-z]\w{0,7}", file_extension(name)) else found


def _format_inside(data: bytes) -> str | None:
    """Return the format that the first bytes show; None for text and for unknown bytes.

    Raise a RefusedError if no parser reads the format.
    """
    if data[4:12] in _HEIC or (data[:4] == b"RIFF" and data[8:12] == b"WEBP"):
        return "image"
    for form in _UNSUPPORTED:
        if form.magic and re.match(form.magic, data, re.DOTALL):
            raise RefusedError(f"this is {form.name}, which is not read: {form.hint}")
    return next((name for magic, name in _MAGIC.items() if data.startswith(magic)), None)
