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
_LARGEST = 56  # bits below the last seven of an integer that is read
# Numbers of fields in the structures of parquet.thrift.
_GROUPS = 4
_COLUMNS = 1
_METADATA = 3
_PATH, _VALUES = 3, 5
# Types of the protocol: a field that is true or false has its value for a type.
_TRUE, _FALSE, _BYTE, _SHORT, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 4, 7, 8, 9, 10, 12
_DAMAGED = (IndexError, KeyError, TypeError, AttributeError, ValueError, OSError, RecursionError)


def declared_values(file: IO[bytes]) -> list[Counter[str]]:
    """Count the declared values of each top-level column, for each row group.

    A row that has a list counts each of its elements.
    """
    try:
        size = file.seek(0, io.SEEK_END)
        file.seek(size - _TAIL)
        tail = file.read()
        length = int.from_bytes(tail[:4], "little") if tail[4:] == _MAGIC else 0
        if _LONGEST < length < size:
            raise RefusedError(
                f"The footer of this parquet file has {length / 1e6:,.0f} MB, more than "
                f"{_LONGEST // 10**6} MB; save it with fewer columns or larger row groups."
            )
        file.seek(size - _TAIL - length)
        footer = _structure(io.BytesIO(file.read(length)))
        return [_count(group) for group in footer[_GROUPS]]
    except RefusedError:
        raise
    except _DAMAGED:
        raise RefusedError("This parquet file cannot be read; it may be damaged.") from None


def _count(group: dict[int, Any]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for column in group[_COLUMNS]:
        metadata = column[_METADATA]
        counts[metadata[_PATH][0].decode()] += max(0, metadata[_VALUES])
    return counts


def _structure(data: IO[bytes]) -> dict[int, Any]:
    """Read the fields of a structure by their numbers; an IndexError ends what is cut short."""
    fields: dict[int, Any] = {}
    number = 0
    while head := data.read(1)[0]:
        step, kind = head >> 4, head & 15
        number = number + step if step else _value(data, _SHORT)
        fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else _value(data, kind)
    return fields


def _value(data: IO[bytes], kind: int) -> Any:
    if kind <= _BYTE:
        return data.read(1)[0]
    if kind < _DOUBLE:
        return (number := _number(data)) >> 1 ^ -(number & 1)
    if kind == _DOUBLE:
        return data.read(8)[7]
    if kind == _BINARY:
        return data.read(_number(data))
    if kind in (_LIST, _SET):
        head = data.read(1)[0]
        count = head >> 4 if head < 0xF0 else _number(data)
        return [_value(data, head & 15) for _ in range(count)]
    if kind == _STRUCT:
        return _structure(data)
    raise TypeError(f"type {kind}")  # such as a map, which the format has none of


def _number(data: IO[bytes]) -> int:
    number = shift = 0
    while (byte := data.read(1)[0]) > 127:
        number |= (byte & 127) << shift
        shift += 7
        if shift > _LARGEST:
            raise IndexError("too large")
    return number | byte << shift
