"""Files in zips, by their names without what systems add."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from vendiscore.reading.folders import is_hidden
from vendiscore.reading.zip_archives import open_zip
from vendiscore.report import RefusedError, join_names, named_format

from ..quotas import MAX_ENTRIES, MAX_UNPACKED, MAX_UPLOAD


def names(data: bytes) -> list[str]:
    with open_zip(data, MAX_ENTRIES) as (_, entries):
        return [entry.filename for entry in entries if not is_hidden(entry.filename)]


def unpacked(data: bytes) -> int:
    """Return the bytes of all entries, as the zip declares them; no more of one is ever read."""
    with open_zip(data, MAX_ENTRIES) as (_, entries):
        return sum(entry.file_size for entry in entries if not is_hidden(entry.filename))


def samples_in(name: str, data: bytes) -> list[tuple[str, bytes]]:
    """Return the images in a zip, or else its files of text, or its only file that is read."""
    there = {entry: named_format(entry) for entry in names(data)}
    read = [entry for entry, form in there.items() if form not in (None, "zip")]
    for kind in ("image", "txt"):
        if kind in there.values():
            read = [entry for entry in read if there[entry] == kind]
            break
    else:
        if len(read) != 1:
            raise RefusedError(
                f"{name:.60} has no images, no .txt files and no single table, but "
                f"{join_names(there) or 'nothing'}: send the file with the samples."
            )
    return list(contents(data, read.__contains__))


def contents(data: bytes, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    with open_zip(data, MAX_ENTRIES) as (archive, entries):
        chosen = [e for e in entries if wanted(e.filename) and not is_hidden(e.filename)]
        sizes = [entry.file_size for entry in chosen]
        if sum(sizes) > MAX_UNPACKED or max(sizes, default=0) > MAX_UPLOAD:
            raise RefusedError(
                f"The zip unpacks to more than {MAX_UNPACKED // 10**6} MB, or an entry to more "
                f"than {MAX_UPLOAD // 10**6} MB; send fewer or smaller files."
            )
        for entry in chosen:
            with archive.open(entry) as file:  # which gives no more than the declared size
                yield base(entry.filename), file.read(entry.file_size + 1)


def base(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name
