"""Files in zips, by their names without what systems add."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from vendiscore.report import RefusedError, join_names, named_format
from vendiscore.support.folders import is_hidden
from vendiscore.tools.reading.zip_archives import open_zip

from ..quotas import MAX_ENTRIES, MAX_UNPACKED, MAX_UPLOAD


def read_sizes(data: bytes) -> dict[str, int]:
    """Return the bytes of each entry, as the zip declares them; no more of one is ever read."""
    with open_zip(data, MAX_ENTRIES) as (_, entries):
        return {
            entry.filename: entry.file_size for entry in entries if not is_hidden(entry.filename)
        }


def read_sample_files(name: str, data: bytes) -> list[tuple[str, bytes]]:
    """Return the images in a zip, or else its files of text, or its only file that is read."""
    formats = {entry: named_format(entry) for entry in read_sizes(data)}
    names = [entry for entry, form in formats.items() if form not in (None, "zip")]
    for kind in ("image", "txt"):
        if kind in formats.values():
            names = [entry for entry in names if formats[entry] == kind]
            break
    else:
        if len(names) != 1:
            raise RefusedError(
                f"{name:.60} must contain images, .txt files or a single table, got "
                f"{join_names(formats) or 'nothing'}; send the file with the samples."
            )
    return list(iter_contents(data, names.__contains__))


def iter_contents(data: bytes, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    selected = {name: size for name, size in read_sizes(data).items() if is_wanted(name)}
    with open_zip(data, MAX_ENTRIES) as (archive, _):
        if sum(selected.values()) > MAX_UNPACKED or max(selected.values(), default=0) > MAX_UPLOAD:
            raise RefusedError(
                f"The zip unpacks to more than {MAX_UNPACKED // 10**6} MB, or an entry to more "
                f"than {MAX_UPLOAD // 10**6} MB; send fewer or smaller files."
            )
        for name, size in selected.items():
            with archive.open(name) as file:  # which gives no more than the declared size
                yield base_name(name), file.read(size + 1)


def base_name(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name
