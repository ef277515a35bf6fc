"""Folders as samples: their images, or their texts, a file each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..reading.image_folders import ending, is_hidden
from ..reading.string_patterns import IMAGES
from .encodings import encoding_of, undecodable
from .exit_codes import DataError, tell
from .sources import Source, Wanted

# What --group-by calls the folder that a file is in.
BY_FOLDER = "folder"
_NAMED = 5


def read(folder: Path, wanted: Wanted) -> Source:
    """The images of a folder, or its .txt files, by name.

    Folders in it are looked into only to group by them. Images are not opened here.
    """
    if wanted.column or {*wanted.others} - {BY_FOLDER}:
        raise DataError(
            f"{folder} is a folder, which has no columns; leave out --column, --quality, --by and "
            f"--group-by, but for --group-by {BY_FOLDER} and --by {BY_FOLDER}"
        )
    if wanted.split != "row" or wanted.type not in (None, "txt"):
        raise DataError(
            f"{folder} is a folder, whose samples are a file each; leave out --split and --type"
        )
    every = folder.rglob("*") if wanted.others else folder.iterdir()
    shown = [file for file in every if not is_hidden(file.relative_to(folder))]
    files = sorted(file for file in shown if file.is_file())
    images = [file for file in files if ending(file.name) in IMAGES]
    texts = [file for file in files if ending(file.name) == "txt"]
    if wanted.kind in ("text", "images"):
        found = texts if wanted.kind == "text" else images
    elif images and texts:
        raise DataError(
            f"{folder} has {len(images):,} images and {len(texts):,} .txt files; say which are "
            f"meant by the kernel: -k pixels, or -k ngram_overlap"
        )
    else:
        found = images or texts
    what = "texts" if found is texts else "images"
    if not found:
        below = [file.name for file in shown if file.is_dir()]
        remedy = f"; it has folders, whose files count with --group-by {BY_FOLDER}" if below else ""
        raise DataError(
            f"{folder} has no {'.txt files' if wanted.kind == 'text' else 'images'}{remedy}"
        )
    known = set(found)
    left = [file for file in files if file not in known]
    left += [] if wanted.others else [file for file in shown if file.is_dir()]
    if left:
        some = ", ".join(str(file.relative_to(folder)) for file in sorted(left)[:_NAMED])
        more = ", …" if len(left) > _NAMED else ""
        tell(f"{folder}: {len(found):,} samples; left out, as no {what}: {some}{more}")
    names = [str(file.relative_to(folder)) for file in found]
    paths = [str(file) for file in found]
    above = [str(Path(name).parent) for name in names]
    source = Source(
        name=str(folder),
        kind="images",
        values=paths,
        numbers=names,
        unit="file",
        sets=above if wanted.by else (),
        groups=above if wanted.group_by else (),
        written=lambda kept: "".join(f"{paths[i]}\n" for i in kept),
    )
    return source if found is images else _texts(source, wanted)


def _texts(source: Source, wanted: Wanted) -> Source:
    values, problems = [], {}
    for i, path in enumerate(source.values):
        data = Path(path).read_bytes()
        try:
            text = data.decode(encoding_of(data, wanted.encoding)).removeprefix("\ufeff").rstrip()
        except UnicodeDecodeError as error:
            text = ""
            said = undecodable(error, wanted.encoding)
            problems[i] = "", f"is no text that can be read: byte {error.start + 1:,}, {said}"
        if "\0" in text:
            problems[i] = "", "has a NUL, which no text has"
        values.append(text)
    return replace(source, kind="text", values=values, problems=problems)
