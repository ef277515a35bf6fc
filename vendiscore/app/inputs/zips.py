"""Files in zips, by their names without what systems add."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from ...reading.folders import is_hidden
from ...reading.limits import RefusedError
from ...reading.zip_archives import open_zip
from ..quotas import MAX_ENTRIES, MAX_UNPACKED, MAX_UPLOAD


def names(data: bytes) -> list[str]:
    with open_zip(data, MAX_ENTRIES) as (_, entries):
        return [entry.filename for entry in entries if not is_hidden(entry.filename)]


def contents(data: bytes, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    left = MAX_UNPACKED
    with open_zip(data, MAX_ENTRIES) as (archive, entries):
        for entry in entries:
            if is_hidden(entry.filename) or not wanted(entry.filename):
                continue
            with archive.open(entry) as file:
                found = file.read(min(left, MAX_UPLOAD) + 1)
            left -= len(found)
            if left < 0 or len(found) > MAX_UPLOAD:
                raise RefusedError(
                    f"The zip unpacks to more than {MAX_UNPACKED // 10**6} MB, or an entry to "
                    f"more than {MAX_UPLOAD // 10**6} MB; send fewer or smaller files."
                )
            yield base(entry.filename), found


def base(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name
