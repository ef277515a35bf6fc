"""From what a visitor sent to samples: of which kind they are is found out, or asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from vendiscore.core.errors import quoted
from vendiscore.report import (
    FORMATS,
    RefusedError,
    Wanted,
    decode,
    format_of,
    join_names,
    named_format,
)

from ..quotas import INPUT, MAX_UPLOAD
from . import cells, hub, kinds, pictures, separators, zips
from .delimiters import delimiter_of
from .examples import Example, find_example
from .submission import COUNTS, KINDS, LINE, PASTED, ROW, Asked, Given
from .visitor_samples import Samples
from .western_text import encoding_of

File = tuple[str, bytes]
_AS_FOUND = Asked()
_TABLES = ("csv", "tsv")
_READ = f"This page reads {', '.join(FORMATS)}s."
_LOOK = 200  # lines that tell what the others are


def read(given: Given, asked: Asked = _AS_FOUND) -> Samples:
    if asked.kind not in (None, COUNTS, *KINDS):
        raise RefusedError(f"Unknown kind {quoted(asked.kind)}; pick one of {', '.join(KINDS)}.")
    draw: object = asked.draw
    if not isinstance(draw, int) or not 0 <= draw < 2**31:
        raise RefusedError(
            f"The draw must be a whole number of at least 0, got {quoted(asked.draw)}."
        )
    if asked.separator is not None and not str(asked.separator).strip():
        raise RefusedError("Pick what separates two texts: line, blank or a sign such as ---.")
    if asked.dataset:
        found = hub.read(asked)
    elif asked.example:
        found = _of_example(find_example(asked.example, asked.kind), asked)
    elif given.files:
        found = _of_files([(zips.base(name) or "file", data) for name, data in given.files], asked)
    else:
        found = _of_box(given.text, asked)
    kinds_ = tuple(kind for kind in found.kinds if kind != found.kind)
    return replace(found, total=found.total or len(found), kinds=kinds_)


def _of_example(example: Example, asked: Asked) -> Samples:
    if example.kind == "images":
        return pictures.drawings(example.images(), example.name)
    matrix = example.kernel == "K"
    found = _of_box(example.text, replace(asked, kind=example.kind, matrix=matrix))
    return replace(found, name=example.name, text=example.text, kinds=())


def _of_files(files: Sequence[File], asked: Asked) -> Samples:
    _check_sizes(files)
    if len(files) == 1:
        return _of_file(*files[0], asked)
    forms = {_format(name, data) for name, data in files}
    if forms <= {"image", "zip"}:
        return pictures.pictures(files, asked.draw)
    if forms == {"txt"}:
        return _of_texts(files, asked)
    names = join_names(name for name, _ in files)
    raise RefusedError(
        f"Several files are read together if they are images or .txt files, got {names}: send one "
        f"at a time, or use Compare."
    )


def _check_sizes(files: Sequence[File]) -> None:
    for name, data in files:
        if len(data) > MAX_UPLOAD:
            raise RefusedError(
                f"{name:.60} has {len(data) / 1e6:.0f} MB; this page takes up to "
                f"{MAX_UPLOAD // 10**6} MB a file."
            )
        if not data:
            raise RefusedError(f"{name:.60} is empty.")


def _of_file(name: str, data: bytes, asked: Asked) -> Samples:
    form = asked.type or _format(name, data)
    if form == "zip":
        return _of_zip(name, data, asked)
    if form == "image":
        return pictures.pictures([(name, data)], asked.draw)
    if form != "txt" and (form not in _TABLES or not _is_split(asked)):
        return cells.of_file(name, data, form, asked)
    text = decode(data, encoding_of(data))[0]
    if name == PASTED:
        return _of_box(text, asked)
    _check_filled(text)
    if not _is_split(asked) and asked.kind in (None, "vectors"):
        found = cells.of_file(name, data, form, asked)
        if found.kind == "vectors":
            return found
    return _of_lines(text, replace(asked, separator=asked.separator or LINE), name)


def _format(name: str, data: bytes) -> str | None:
    try:
        return format_of(name, data)
    except RefusedError as error:
        raise RefusedError(f"{name:.60}: {error} {_READ}") from None


def _of_zip(name: str, data: bytes, asked: Asked) -> Samples:
    """Read the images in a zip, its files of text as one sample each, or its only file."""
    names = zips.names(data)
    forms = {entry: named_format(entry) for entry in names}
    if "image" in forms.values():
        return pictures.pictures([(name, data)], asked.draw)
    if list(forms.values()).count("txt") > 1:
        found = _of_texts(list(zips.contents(data, lambda e: forms.get(e) == "txt")), asked)
        return replace(found, name=name)
    read = [entry for entry in names if forms[entry] not in (None, "zip")]
    if len(read) == 1:
        ((inner, content),) = zips.contents(data, lambda entry: entry == read[0])
        return _of_file(inner, content, asked)
    raise RefusedError(
        f"{name:.60} has no images, no .txt files and no single table, but "
        f"{join_names(names) or 'nothing'}: send the file with the samples."
    )


def _of_texts(files: Sequence[File], asked: Asked) -> Samples:
    kind = "molecules" if asked.kind == "molecules" else "texts"
    texts = [(name, decode(data, encoding_of(data))[0]) for name, data in files]
    return separators.split_texts(texts, asked, kind)


def _of_box(text: str, asked: Asked) -> Samples:
    """Read the samples of the box: a table or JSON, rows of numbers, or texts."""
    _check_filled(text)
    rows = separators.rows_of(text)
    form = _form(text, rows)
    if not form or _is_split(asked):
        return _of_lines(text, asked, "", form)
    found = cells.of_file(cells.BOX, text.encode("utf-8", "replace"), form, asked)
    if form in _TABLES:
        ways = (ROW, found.total or len(found)), (LINE, sum(bool(row.strip()) for row in rows))
        found = replace(found, separator=ROW, splits=ways)
    return replace(found, python=None, name=found.name.replace(cells.BOX, "pasted", 1))


def _of_lines(text: str, asked: Asked, name: str, form: str = "") -> Samples:
    """Read texts that stand one below the other, or rows of numbers; `form` could be meant, too."""
    some = [row for row in separators.rows_of(text) if row.strip()]
    could = kinds.kinds_of_lines(some[: 2 * _LOOK])
    kind = asked.kind if asked.kind not in (None, "images") else None
    kind = kind or ("texts" if name or _is_split(asked) else could[0])
    if kind == "vectors":
        found = _of_numbers(text, name, asked, some)
    else:
        found = separators.split_texts([(name, text)], asked, kind)
    if form in _TABLES:
        found = replace(found, splits=((ROW, _count(text, form, asked)), *found.splits))
    return replace(found, kinds=tuple(could))


def _of_numbers(text: str, name: str, asked: Asked, rows: Sequence[str]) -> Samples:
    """Read rows of numbers; of the box, no first row of numbers names, no first column counts."""
    if not name and asked.header is None:
        asked = replace(asked, header=not kinds.are_rows(rows[:1]))
    if not asked.header and asked.index is None:
        asked = replace(asked, index=False)
    data = text.encode("utf-8", "replace")
    found = cells.of_file(name or cells.BOX, data, "csv", replace(asked, kind="vectors"))
    return found if name else replace(found, name="pasted")


def _check_filled(text: str) -> None:
    if not text.strip():
        raise RefusedError("There are no samples yet: paste or upload some, or pick an example.")


def _is_split(asked: Asked) -> bool:
    """Return whether the visitor chose the separator of samples, so that nothing has cells."""
    return asked.separator not in (None, ROW) or asked.blocks


def _count(text: str, form: str, asked: Asked) -> int:
    try:
        wanted = Wanted(header=asked.header, limits=INPUT)
        return len(cells.parsed(text.encode("utf-8", "replace"), form, wanted).rows)
    except RefusedError:
        return 0


def _form(text: str, rows: Sequence[str]) -> str:
    """Return the format that text has by itself: JSON, cells under a delimiter, or ""."""
    start = text.lstrip("\ufeff \r\n\t")[:1]
    some = [row for row in rows[: 2 * _LOOK] if row.strip()]
    if start == "{" and all(row.strip().startswith("{") for row in some) and _is_json(some[0]):
        return "jsonl"
    if start == "[" and text.rstrip().endswith("]") and _is_json(text):
        return "json"
    if len(some) < 2 or (kinds.are_rows(some) and kinds.are_rows(some[:1])):
        return ""
    tabs = {row.rstrip("\r").count("\t") for row in some}
    sign = "\t" if len(tabs) == 1 and 0 not in tabs else delimiter_of(text, INPUT)
    return "" if sign is None else "tsv" if sign == "\t" else "csv"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
