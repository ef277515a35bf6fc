"""Zip archives: nothing is written to disk, and the sizes that they state are not trusted."""

import io
import math
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from .limits import RefusedError

_MAX_ENTRY_BYTES = 300  # bytes of an entry in the directory, which takes 46 and its name


@contextmanager
def open_zip(
    data: bytes, max_entries: int, max_size: float = math.inf
) -> Iterator[tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]]:
    """Open a zip of at most `max_entries` entries; raise a RefusedError if it cannot be read.

    The entries may unpack to `max_size` bytes in total. No entry returns more bytes than it
    declares.
    """
    try:
        _check_directory_size(data, max_entries)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if (count := len(entries)) > max_entries:
                raise RefusedError(f"The zip has {count:,} entries, more than {max_entries:,}.")
            if sum(entry.file_size for entry in entries) > max_size:
                raise RefusedError(f"The zip unpacks to more than {max_size / 1e6:,.0f} MB.")
            yield archive, [entry for entry in entries if not entry.filename.endswith("/")]
    except RefusedError:
        raise
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError, ValueError) as error:
        reason = "it is encrypted" if "encrypted" in str(error) else "it may be damaged"
        raise RefusedError(f"This zip cannot be read: {reason}.") from None


def _check_directory_size(data: bytes, max_entries: int) -> None:
    """Refuse a directory of entries so long that reading it would take much memory."""
    end = data.rfind(b"PK\x05\x06")
    sizes = [int.from_bytes(data[end + 12 : end + 16], "little")] if end >= 0 else []
    zip64_end = data.rfind(b"PK\x06\x06")
    if zip64_end >= 0 and data.rfind(b"PK\x06\x07") >= 0:
        sizes = [int.from_bytes(data[zip64_end + 40 : zip64_end + 48], "little")]
    if any(size > _MAX_ENTRY_BYTES * max_entries for size in sizes if size != 0xFFFFFFFF):
        raise RefusedError(f"The zip lists more files than are read: {max_entries:,} at most.")
