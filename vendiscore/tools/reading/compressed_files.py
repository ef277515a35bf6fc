"""Gzip: files are decompressed if their first bytes show it, whatever their name."""

import math
import zlib

from .limits import RefusedError

_MAGIC = b"\x1f\x8b"
_GZIP = 31  # window bits that make zlib read gzip


def decompress(name: str, data: bytes, max_size: float = math.inf) -> tuple[str, bytes]:
    """Return the name without .gz and the decompressed content of a file.

    Content that is not compressed is returned unchanged: browsers decompress files that they
    download, but keep their names. Raise a RefusedError if the content is truncated, or has more
    than `max_size` bytes.

    >>> import gzip
    >>> decompress("a.txt.gz", gzip.compress(b"one"))
    ('a.txt', b'one')
    """
    inner_name = name[:-3] if name.lower().endswith(".gz") else name
    if not data.startswith(_MAGIC):
        return inner_name, data
    max_length = 0 if math.isinf(max_size) else int(max_size) + 1  # 0 is unlimited
    parts: list[bytes] = []
    size = 0
    try:
        while data.startswith(_MAGIC):  # a file can consist of several compressed parts
            decompressor = zlib.decompressobj(_GZIP)
            parts.append(decompressor.decompress(data, max_length and max_length - size))
            size += len(parts[-1])
            if size > max_size:
                raise RefusedError(f"the file unpacks to more than {max_size / 1e6:,.0f} MB")
            if not decompressor.eof:
                raise zlib.error("unexpected end")
            data = decompressor.unused_data
    except zlib.error as error:
        raise RefusedError(f"the file is truncated or damaged ({error})") from None
    return inner_name, b"".join(parts)
