"""Formats of files: their endings, their first bytes, and the parser of each."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import PurePath
from pkgutil import resolve_name
from typing import TYPE_CHECKING, NamedTuple

from ...support.folders import file_extension
from ...support.text_detection import IMAGE_EXTENSIONS
from .encodings import decode
from .limits import ReadOptions, RefusedError
from .saved_datasets import format_conversion

if TYPE_CHECKING:
    from .columnar_files import Columns
    from .numpy_files import NumpyArchive
    from .tables import Table


# Parsers return text or a table. Formats without a parser are opened by other functions.
Parser = Callable[[bytes, ReadOptions], "str | Table | Columns | NumpyArchive"]


class Format(NamedTuple):
    """A format: the endings of its files' names, the first bytes, and its parser."""

    endings: tuple[str, ...]
    parse: Parser | None
    magic: tuple[bytes, ...] = ()


def _parse_text(data: bytes, read_options: ReadOptions) -> str:
    return decode(data, read_options.encoding)[0]


def _parse_cells(data: bytes, read_options: ReadOptions, delimiter: str = "") -> Table:
    from .csv_cells import unescape_formulas
    from .markdown import convert_table
    from .tables import parse_table

    text, encoding = decode(data, read_options.encoding)
    text = convert_table(text)
    if delimiter not in text.partition("\n")[0]:  # in files named .tab, too
        delimiter = ""
    return unescape_formulas(
        parse_table(text, read_options, delimiter=delimiter, encoding=encoding), text
    )


def _make_text_parser(parser: str) -> Parser:
    """Return a parser of text by its module and name, such as "sequences:parse_sequences"."""
    return lambda data, read_options: resolve_name(f"{__package__}.{parser}")(
        _parse_text(data, read_options), read_options
    )


def _make_layout_parser(form: str) -> Parser:
    """Return the parser of a JSON object whose keys name records, columns or groups."""

    def parse(data: bytes, read_options: ReadOptions) -> Table:
        from .json_documents import parse_document

        return parse_document(
            _parse_text(data, read_options), read_options, form.removeprefix("json-")
        )

    return parse


def _parse_inspect_log(data: bytes, read_options: ReadOptions) -> Table:
    """Read an Inspect log, a zip with a file of JSON for each sample."""
    from .json_documents import parse_documents
    from .zip_archives import open_zip

    with open_zip(data, read_options.limits.samples, read_options.limits.unpacked) as (
        archive,
        entries,
    ):
        named = [entry for entry in entries if entry.filename.startswith("samples/")]
        return parse_documents([archive.read(entry).decode() for entry in named], read_options)


def _open_parquet(data: bytes, read_options: ReadOptions) -> Columns:
    from .columnar_files import Columns

    return Columns(io.BytesIO(data), read_options.limits)


def _open_arrays(data: bytes, read_options: ReadOptions, packed: bool = False) -> NumpyArchive:
    from .numpy_files import NumpyArchive

    return NumpyArchive(data, packed)


_SEQUENCES = ("fasta", "fa", "faa", "fna", "ffn", "fastq", "fq", "a3m")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
#: Formats by their names, each with `endings` of names of files, `parse` and `magic`.
FORMATS = {
    "txt": Format(("txt", "md", "text"), _parse_text),
    "csv": Format(("csv",), _parse_cells),
    "tsv": Format(("tsv", "tab"), partial(_parse_cells, delimiter="\t")),
    "jsonl": Format(("jsonl", "ndjson"), _make_text_parser("json_documents:parse_json_lines")),
    "fasta": Format(
        _SEQUENCES,
        _make_text_parser("sequences:parse_sequences"),
    ),
    "eval": Format(("eval",), _parse_inspect_log),
    "vec": Format(("vec",), _make_text_parser("sequences:parse_word_vectors")),
    "json": Format(("json",), _make_text_parser("json_documents:parse_document")),
    **{
        name: Format((), _make_layout_parser(name))
        for name in ("json-records", "json-columns", "json-groups")
    },
    "fields": Format((), _make_text_parser("text_fields:parse_fields")),
    "list": Format((), _make_text_parser("markdown:parse_list")),
    "smi": Format(("smi", "smiles"), _parse_text),
    "parquet": Format(("parquet", "pq"), _open_parquet, (b"PAR1",)),
    "npy": Format(("npy",), _open_arrays, (b"\x93NUMPY",)),
    "npz": Format(("npz",), partial(_open_arrays, packed=True)),
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
    # Modules and an expression of Python with the samples of `{file}`, for a command that saves
    # them; `{tag}` is the element of HTML or XML that contains most texts.
    modules: str = ""
    expression: str = ""


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
        f"save it as parquet, for example with {format_conversion()} if `datasets` saved it in a "
        f"folder",
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
    _Unsupported(
        ("mol", "sdf"),
        rb"([^\n]*\n){3}[ \d]{6}[^\n]* V[23]000",
        "a file of molecules",
        "convert it to SMILES with RDKit, and pass the new file",
        "rdkit.Chem",
        "[rdkit.Chem.MolToSmiles(m) for m in rdkit.Chem.SDMolSupplier({file}) if m]",
    ),
    _Unsupported(
        ("srt", "vtt"),
        rb"(\xef\xbb\xbf)?(WEBVTT|\d+\r?\n\d\d:\d\d:\d\d,\d{3} -->)",
        "a file of subtitles",
        "save the texts without their times, and pass the new file",
        "re",
        r"[re.sub('<.*?>', '', ' '.join(t.split())) for t in "
        r"re.findall(r'-->.*\n((?:.+\n?)+)', open({file}, encoding='utf-8-sig').read())]",
    ),
    _Unsupported(
        ("pdb", "pdbqt", "cif", "mol2"),
        rb"[ \t]*\d+[ \t]*\r?\n[^\n]*\n[ \t]*[A-Z][a-z]?([ \t]+-?\d+(\.\d*)?){3}",  # .xyz
        "a file of atom positions",
        "save its molecules as SMILES (.smi), for example with Open Babel, or its proteins as "
        "sequences (.fasta), and pass the new file",
    ),
    _Unsupported(
        ("lrc",),
        b"",
        "a file of lyrics with times",
        "save the lines without their times, and pass the new file",
        "re",
        r"re.findall(r'(?m)^(?:\[\d+:[\d.:]+\])+[ \t]*([^\s\[](?:.*\S)?)', "
        r"open({file}, encoding='utf-8-sig').read())",
    ),
    _Unsupported(
        ("bib", "ris"),
        rb"\s*@\w+\{[^\n,{}]+,\s*\n|TY  - ",
        "a bibliography",
        "save its titles, and pass the new file",
        "re",
        r"re.findall(r'(?im)^\s*(?:title\s*=|TI  -|T1  -)\W*(.*\w)', "
        r"open({file}, encoding='utf-8-sig').read())",
    ),
    _Unsupported(
        ("eml",),
        b"",
        "an email",
        "save its text, and pass the new file",
        "email.policy",
        "[email.message_from_binary_file(open({file}, 'rb'), policy=email.policy.default)"
        ".get_body(('plain', 'html')).get_content()]",
    ),
    _Unsupported(
        ("mbox",),
        rb"From [^\n]*\d{4}\r?\n[A-Z][\w-]+: ",
        "a mailbox",
        "save the texts of its emails, and pass the new file",
        "email.policy, mailbox",
        "[b.get_content() for m in mailbox.mbox({file}) if (b := email.message_from_bytes("
        "m.as_bytes(), policy=email.policy.default).get_body(('plain', 'html')))]",
    ),
    _Unsupported(
        (),
        rb'\s*\[\s*\{\s*"title":.{0,1000}?"mapping":\s*\{',
        "an export of ChatGPT",
        "save the answers in its conversations, and pass the new file",
        "",
        "[t for c in json.load(open({file}, encoding='utf-8')) for n in c['mapping'].values() "
        "for m in [n['message'] or {{}}] if m.get('author', {{}}).get('role') == 'assistant' "
        "for t in m['content'].get('parts', []) if isinstance(t, str) and t.strip()]",
    ),
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
        ("yaml", "yml"),
        b"",
        "a YAML document",
        "save it as JSON with PyYAML, and pass the new file",
        "yaml",
        "yaml.safe_load(open({file}, encoding='utf-8'))",
    ),
    _Unsupported(
        ("toml",),
        b"",
        "a TOML document",
        "save it as JSON, and pass the new file",
        "tomllib",
        "tomllib.load(open({file}, 'rb'))",
    ),
    _Unsupported(
        (),
        rb"(\.\.?/)+[^\r\n]+\s*\Z",
        "a symbolic link that was saved as text",
        "read the file to which it points",
    ),
    _Unsupported(
        ("ipynb",),
        rb'\s*\{\s*"cells":\s*\[\s*\{\s*"cell_type"',
        "a notebook",
        "save its cells of code (or, with 'markdown' instead of 'code', of text), and pass the "
        "new file",
        "",
        "[''.join(c['source']) for c in json.load(open({file}, encoding='utf-8'))['cells'] "
        "if c['cell_type'] == 'code']",
    ),
    _Unsupported(
        ("html", "htm", "xml", "rss"),
        # A document; one with its end in the first line can be a text in lines of code.
        rb"(?i)(\xef\xbb\xbf)?\s*<(\?xml|!doctype html|html|(body|ol|ul|table)>)(?![^\n]*</)",
        "a document of HTML or XML",
        "save the texts of its elements <{tag}>, or of others, and pass the new file",
        "html, re",
        r"[html.unescape(re.sub('<.*?>', ' ', t)).strip() for t in "
        r"re.findall(r'(?s)<{tag}\b[^>]*>(.*?)</{tag}>', open({file}, encoding='utf-8').read())]",
    ),
)
# Without endings of files that a format in FORMATS reads. Some types of images are not read.
_UNSUPPORTED_BY_ENDING = {
    ending: form
    for form in _UNSUPPORTED
    for ending in form.endings
    if ENDINGS.get(ending) in (None, "image")
}
_SIMPLE_PATH = re.compile(r"[\w ./\\:+-]+")  # that quotes of Python and of a shell leave as it is
_TEXT_ELEMENT = re.compile(rb"<(\w+)[^<>]*>[^<]*\w[^<]*</\1>")
_PREVIEW_BYTES = 1_000_000  # that show which elements contain texts
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


def check_format(name: str, data: bytes = b"") -> str | None:
    """Return `named_format`; raise a RefusedError for a known format that is not supported."""
    extension = file_extension(name)
    if form := _UNSUPPORTED_BY_ENDING.get(extension):
        hint = _format_hint(form, name, data)
        end = "" if form.expression else "."  # which would be a part of the command
        raise RefusedError(f"Files of type .{extension} are not read: {hint}{end}")
    return ENDINGS.get(extension)


def _format_hint(form: _Unsupported, name: str, data: bytes) -> str:
    """Return what to do with a file that is not read, with a command that saves its samples."""
    if not form.expression:
        return form.hint
    path = name if _SIMPLE_PATH.fullmatch(name) else "FILE"
    tags = Counter(_TEXT_ELEMENT.findall(data[:_PREVIEW_BYTES])).most_common(1)
    tag = tags[0][0].decode() if tags else "p"
    expression = form.expression.format(file=repr(path), tag=tag)
    modules = ", ".join(filter(None, ["json", form.modules]))
    new_file = f"{PurePath(path).stem}_samples.json"
    redirection = f'"{new_file}"' if " " in new_file else new_file
    script = f"import {modules}; print(json.dumps({expression}, default=str))"
    return f'{form.hint.format(tag=tag)}: python -c "{script}" > {redirection}'


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
    named = check_format(name, data)
    detected = _format_inside(name, data)
    if detected == "zip" and named not in ("zip", "npz", "eval"):
        is_spreadsheet = b"xl/workbook" in data or b"[Content_Types].xml" in data[:4096]
        return check_format("sheet.xlsx") if is_spreadsheet else "zip"
    if detected and detected != "zip":
        return detected
    # no ending, or "answers of v1.2"
    return "txt" if not named and not re.fullmatch(r"[a-z]\w{0,7}", file_extension(name)) else named


def _format_inside(name: str, data: bytes) -> str | None:
    """Return the format that the first bytes show; None for text and for unknown bytes.

    Raise a RefusedError if no parser reads the format.
    """
    if data[4:12] in _HEIC or (data[:4] == b"RIFF" and data[8:12] == b"WEBP"):
        return "image"
    extension = file_extension(name)
    for form in _UNSUPPORTED:
        # `check_format` accepts an ending of such a form only if a parser reads it.
        is_read = extension in form.endings
        if form.magic and not is_read and re.match(form.magic, data, re.DOTALL):
            hint = _format_hint(form, name, data)
            raise RefusedError(f"this is {form.name}, which is not read: {hint}")
    return next((name for magic, name in _MAGIC.items() if data.startswith(magic)), None)
