"""Files in zips, by their names without what systems add."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from vendiscore.report import RefusedError, join_names, named_format
from vendiscore.support.folders import is_hidden
from vendiscore.tools.reading.zip_archives import open_zip

from ..quotas import MAX_ENTRIES, MAX_UNPACKED, MAX_UPLOAD


def sizes(data: bytes) -> dict[str, int]:
    """Return the bytes of each entry, as the zip declares them; no more of one is ever read."""
    with open_zip(data, MAX_ENTRIES) as (_, entries):
        return {each.filename: each.file_size for each in entries if not is_hidden(each.filename)}


def samples_in(name: str, data: bytes) -> list[tuple[str, bytes]]:
    """Return the images in a zip, or else its files of text, or its only file that is read."""
    there = {entry: named_format(entry) for entry in sizes(data)}
    read = [entry for entry, form in there.items() if form not in (None, "zip")]
    for kind in ("image", "txt"):
        if kind in there.values():
            read = [entry for entry in read if there[entry] == kind]
            break
    else:
        if len(read) != 1:
            raise RefusedError(
                f"{name:.60} must contain images, .txt files or a single table, got "
                f"{join_names(there) or 'nothing'}; send the file with the samples."
            )
    return list(contents(data, read.__contains__))


def contents(data: bytes, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    chosen = {name: size for name, size in sizes(data).items() if wanted(name)}
    with open_zip(data, MAX_ENTRIES) as (archive, _):
        if sum(chosen.values()) > MAX_UNPACKED or max(chosen.values(), default=0) > MAX_UPLOAD:
            raise RefusedError(
                f"The zip unpacks to more than {MAX_UNPACKED // 10**6} MB, or an entry to more "
                f"than {MAX_UPLOAD // 10**6} MB; send fewer or smaller files."
            )
        for name, size in chosen.items():
            with archive.open(name) as file:  # which gives no more than the declared size
                yield base(name), file.read(size + 1)


def base(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name
