"""Zips: nothing is written to disk, and sizes that they state are not believed."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath

from ...reading.folders import is_hidden
from ...reading.limits import RefusedError
from ..quotas import MAX_ENTRIES, MAX_UNPACKED, MAX_UPLOAD

# Bytes of the list of entries, an entry of which takes 46 and its name.
_MOST_LISTED = 300 * MAX_ENTRIES


def names(data: bytes) -> list[str]:
    """Return the paths of the files in a zip, without folders and what systems add."""
    with _opened(data) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        return [entry.filename for entry in entries if not _is_hidden(entry.filename)]


def contents(
    data: bytes, wanted: Callable[[str], bool], left: int = MAX_UNPACKED
) -> Iterator[tuple[str, bytes]]:
    """Yield the wanted files of a zip, by their names without folders."""
    with _opened(data) as archive:
        for entry in archive.infolist():
            if entry.is_dir() or _is_hidden(entry.filename) or not wanted(entry.filename):
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
    """Return a name without its folders."""
    return PurePosixPath(name.replace("\\", "/")).name


@contextmanager
def _opened(data: bytes) -> Iterator[zipfile.ZipFile]:
    try:
        _check_listed(data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if (count := len(archive.infolist())) > MAX_ENTRIES:
                raise RefusedError(
                    f"The zip has {count:,} entries; this page takes up to {MAX_ENTRIES:,}."
                )
            yield archive
    except RefusedError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        EOFError,
        OSError,
        ValueError,
    ) as error:
        reason = "it is encrypted" if "encrypted" in str(error) else "it may be damaged"
        raise RefusedError(f"This zip cannot be read: {reason}.") from None


def _check_listed(data: bytes) -> None:
    """Refuse a list of entries so long that reading it alone would take much memory."""
    end = data.rfind(b"PK\x05\x06")
    sizes = [int.from_bytes(data[end + 12 : end + 16], "little")] if end >= 0 else []
    far = data.rfind(b"PK\x06\x06")
    if far >= 0 and data.rfind(b"PK\x06\x07") >= 0:
        sizes = [int.from_bytes(data[far + 40 : far + 48], "little")]
    if any(size > _MOST_LISTED for size in sizes if size != 0xFFFFFFFF):
        raise RefusedError(
            f"The zip lists more files than this page takes: {MAX_ENTRIES:,} at most."
        )


def _is_hidden(name: str) -> bool:
    return is_hidden(PurePosixPath(name.replace("\\", "/")))
