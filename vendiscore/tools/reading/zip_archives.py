"""Zip archives: nothing is written to disk, and the sizes that they state are not trusted."""

import io
import math
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from .limits import RefusedError

_LISTED = 300  # bytes of an entry in the directory, which takes 46 and its name


@contextmanager
def open_zip(
    data: bytes, most: int, unpacked: float = math.inf
) -> Iterator[tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]]:
    """Open a zip of at most `most` entries, and bytes; raise a RefusedError if it cannot be read.

    No entry gives more bytes than it declares, of which `unpacked` are the most in all.
    """
    try:
        _check_listed(data, most)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if (count := len(entries)) > most:
                raise RefusedError(f"The zip has {count:,} entries, more than {most:,}.")
            if sum(entry.file_size for entry in entries) > unpacked:
                raise RefusedError(f"The zip unpacks to more than {unpacked / 1e6:,.0f} MB.")
            yield archive, [entry for entry in entries if not entry.filename.endswith("/")]
    except RefusedError:
        raise
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError, ValueError) as error:
        reason = "it is encrypted" if "encrypted" in str(error) else "it may be damaged"
        raise RefusedError(f"This zip cannot be read: {reason}.") from None


def _check_listed(data: bytes, most: int) -> None:
    """Refuse a directory of entries so long that reading it would take much memory."""
    end = data.rfind(b"PK\x05\x06")
    sizes = [int.from_bytes(data[end + 12 : end + 16], "little")] if end >= 0 else []
    far = data.rfind(b"PK\x06\x06")
    if far >= 0 and data.rfind(b"PK\x06\x07") >= 0:
        sizes = [int.from_bytes(data[far + 40 : far + 48], "little")]
    if any(size > _LISTED * most for size in sizes if size != 0xFFFFFFFF):
        raise RefusedError(f"The zip lists more files than are read: {most:,} at most.")
