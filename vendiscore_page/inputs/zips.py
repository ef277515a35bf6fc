"""Files in zips, by their names without what systems add."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from vendiscore.reading.folders import is_hidden
from vendiscore.reading.zip_archives import open_zip
from vendiscore.report import RefusedError

from ..quotas import MAX_ENTRIES, MAX_UNPACKED, MAX_UPLOAD


def names(data: bytes) -> list[str]:
    with open_zip(data, MAX_ENTRIES) as (_, entries):
        return [entry.filename for entry in entries if not is_hidden(entry.filename)]


def unpacked(data: bytes) -> int:
    """Return the bytes of all entries, as the zip declares them; no more of one is ever read."""
    with open_zip(data, MAX_ENTRIES) as (_, entries):
        return sum(entry.file_size for entry in entries if not is_hidden(entry.filename))


def contents(data: bytes, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    with open_zip(data, MAX_ENTRIES) as (archive, entries):
        visible = [entry for entry in entries if not is_hidden(entry.filename)]
        chosen = [entry for entry in visible if wanted(entry.filename)]
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
