"""Gzip is detected from first bytes, and decompressed within limits."""

import gzip

import pytest

from vendiscore.tools.reading.compressed_files import decompress
from vendiscore.tools.reading.limits import RefusedError

DATA = b"one two\n" * 1000
PACKED = gzip.compress(
    DATA, mtime=0
)  # without the time, which differs between workers of pytest-xdist


@pytest.mark.parametrize("name", ["a.txt.gz", "a.txt.GZ", "a.txt"])
@pytest.mark.parametrize("data", [DATA, PACKED, PACKED * 2], ids=["plain", "packed", "two members"])
def test_content_decides_whether_to_decompress(name, data):
    expected = DATA * (2 if len(data) != len(DATA) and data.count(b"\x1f\x8b\x08") > 1 else 1)
    assert decompress(name, data) == ("a.txt", expected)
    assert decompress(name, data, len(expected)) == ("a.txt", expected)


@pytest.mark.parametrize("copies", [1, 2])
def test_content_above_limit_is_rejected(copies):
    data = PACKED * copies
    with pytest.raises(RefusedError, match="unpacks to more than"):
        decompress("a.gz", data, len(DATA) * copies - 1)


@pytest.mark.parametrize(
    "data",
    [PACKED[:-9], b"\x1f\x8b", b"\x1f\x8b\x08\0zzz"],
    ids=["truncated", "first bytes only", "bytes that are not compressed"],
)
def test_damaged_content_is_rejected(data):
    with pytest.raises(RefusedError, match="truncated or damaged"):
        decompress("a.gz", data)
