"""Footers of parquet files: how many values are declared, read without decoding any.

pyarrow ends the process where the metadata of a column is damaged, so they are read here, in the
compact protocol of Thrift that the format prescribes.
"""

import io
from collections import Counter
from typing import IO, Any

from vendiscore.report import RefusedError

_MAGIC = b"PAR1"
_TAIL = 8  # bytes: the length of the footer, then the magic bytes
_LONGEST = 8_000_000  # bytes of a footer that is read
_DEEPEST = 32  # structures within each other; the format has 6
# Numbers of fields in the structures of parquet.thrift.
_GROUPS = 4
_COLUMNS = 1
_METADATA = 3
_PATH, _VALUES = 3, 5
# Types of the protocol.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12


def declared_values(file: IO[bytes]) -> list[Counter[str]]:
    """Count the declared values of each top-level column, for each row group.

    A row that has a list counts each of its elements.
    """
    try:
        footer = _Reader(_footer(file)).structure()
        return [_count(group) for group in footer[_GROUPS]]
    except (IndexError, KeyError, TypeError, AttributeError, UnicodeDecodeError, OSError):
        raise RefusedError("This parquet file cannot be read; it may be damaged.") from None


def _footer(file: IO[bytes]) -> bytes:
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _TAIL))
    tail = file.read(_TAIL)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or not 0 < length <= size - _TAIL:
        raise IndexError("no footer")
    if length > _LONGEST:
        raise RefusedError(
            f"The footer of this parquet file has {length / 1e6:,.0f} MB, more than "
            f"{_LONGEST // 10**6} MB; save it with fewer columns or larger row groups."
        )
    file.seek(size - _TAIL - length)
    return file.read(length)


def _count(group: dict[int, Any]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for column in group[_COLUMNS]:
        metadata = column[_METADATA]
        counts[metadata[_PATH][0].decode()] += max(0, metadata[_VALUES])
    return counts


class _Reader:
    """A reader of one message, from its start."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._depth = 0

    def structure(self) -> dict[int, Any]:
        """Read the fields of a structure by their numbers."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise IndexError("too deep")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._integer()
            # The type of a field that is true or false is its value.
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind)
        self._depth -= 1
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind < _DOUBLE:
            return self._integer()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind in (_LIST, _SET):
            return self._list()
        if kind == _STRUCT:
            return self.structure()
        raise TypeError(f"type {kind}")  # such as a map, which the format has none of

    def _list(self) -> list[Any]:
        head = self._byte()
        count, kind = head >> 4, head & 15
        if count == 15:
            count = self._varint()
        if count > len(self._data) - self._at:
            raise IndexError("too long")
        return [self._value(kind) for _ in range(count)]

    def _integer(self) -> int:
        encoded = self._varint()
        return (encoded >> 1) ^ -(encoded & 1)

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise IndexError("too large")

    def _byte(self) -> int:
        byte = self._data[self._at]
        self._at += 1
        return byte

    def _bytes(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count]
        if len(taken) < count:
            raise IndexError("cut short")
        self._at += count
        return taken
