"""Zip archives are read within limits, regardless of declared sizes."""

import io
import struct
import zipfile

import pytest

from vendiscore.tools.reading.limits import RefusedError
from vendiscore.tools.reading.zip_archives import open_zip


def zip_bytes(files, compression=zipfile.ZIP_DEFLATED):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


FILES = {"a.txt": b"one", "folder/": b"", "folder/b.txt": b"second" * 50}


def test_open_zip_lists_entries_without_folders():
    with open_zip(zip_bytes(FILES), 10) as (archive, entries):
        assert [entry.filename for entry in entries] == ["a.txt", "folder/b.txt"]
        assert archive.read("folder/b.txt") == b"second" * 50


def test_open_zip_limits_entries_and_unpacked_size():
    data = zip_bytes(FILES)
    with open_zip(data, 3, max_size=303) as (_, entries):
        assert len(entries) == 2
    with pytest.raises(RefusedError, match="The zip has 3 entries, more than 2"), open_zip(data, 2):
        pass
    with (
        pytest.raises(RefusedError, match="unpacks to more than 0 MB"),
        open_zip(data, 3, max_size=302),
    ):
        pass


@pytest.mark.parametrize(
    "data",
    [b"", b"no zip", zip_bytes(FILES)[:-30]],
)
def test_damaged_zip_is_rejected(data):
    with pytest.raises(RefusedError, match="it may be damaged"), open_zip(data, 10):
        pass


def test_damaged_entry_is_rejected_when_read():
    data = bytearray(zip_bytes(FILES, zipfile.ZIP_STORED))
    data[data.index(b"second")] ^= 1
    with (
        pytest.raises(RefusedError, match="cannot be read: it may be damaged"),
        open_zip(bytes(data), 10) as (archive, _),
    ):
        archive.read("folder/b.txt")


def test_encrypted_entry_is_rejected():
    data = bytearray(zip_bytes({"a.txt": b"one"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    with (
        pytest.raises(RefusedError, match="it is encrypted"),
        open_zip(bytes(data), 10) as (archive, _),
    ):
        archive.read("a.txt")


@pytest.mark.parametrize("far", [False, True])
def test_long_zip_directory_is_rejected_before_reading(far, monkeypatch):
    data = bytearray(zip_bytes(FILES))
    if far:
        entry = b"PK\x06\x06" + bytes(36) + struct.pack("<Q", 3001) + bytes(8)
        data += entry + b"PK\x06\x07" + bytes(16)
    else:
        end = data.rindex(b"PK\x05\x06")
        data[end + 12 : end + 16] = struct.pack("<I", 3001)
    monkeypatch.setattr(zipfile, "ZipFile", None)  # it is not opened
    with (
        pytest.raises(RefusedError, match="lists more files than are read: 10 at most"),
        open_zip(bytes(data), 10),
    ):
        pass


def test_exceptions_inside_open_zip_block_propagate():
    with pytest.raises(KeyError), open_zip(zip_bytes(FILES), 10) as (archive, _):
        archive.getinfo("missing")
