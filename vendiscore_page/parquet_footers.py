"""Footers of parquet files: the values and sizes that are declared, read without decoding any.

pyarrow ends the process where the metadata of a column is damaged, so they are read here, in the
compact protocol of Thrift that the format prescribes.
"""

import io
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
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
_PATH, _VALUES, _PACKED, _DATA, _DICTIONARY = 3, 5, 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED = 2, 3
_MOST_PAGES = 50_000  # whose headers are read
# Types of the protocol: a field that is true or false has its value for a type.
_TRUE, _FALSE, _BYTE, _SHORT, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 4, 7, 8, 9, 10, 12
_DAMAGED = (IndexError, KeyError, TypeError, AttributeError, ValueError, OSError, RecursionError)


def declared_values(file: IO[bytes]) -> list[Counter[str]]:
    """Count the declared values of each top-level column, for each row group.

    A row that has a list counts each of its elements.
    """
    with _damaged():
        return [_count(group) for group in _footer(file)[_GROUPS]]


def largest_pages(
    file: IO[bytes], columns: Collection[str], groups: Collection[int]
) -> Counter[str]:
    """Return the declared bytes of the largest unpacked page of each top-level column.

    A reader unpacks a page as a whole; a few bytes can stand for a page of gigabytes. Pages of
    the fields of a structure are added up.
    """
    largest: Counter[tuple[str, ...]] = Counter()
    left = _MOST_PAGES
    with _damaged():
        footer = _footer(file)
        for i in groups:
            for column in footer[_GROUPS][i][_COLUMNS]:
                metadata = column[_METADATA]
                path = tuple(name.decode() for name in metadata[_PATH])
                if (
                    path[0] not in columns or metadata[_VALUES] <= 0
                ):  # a reader stops after 0 values
                    continue
                for size in _page_sizes(file, metadata):
                    largest[path] = max(largest[path], size)
                    left -= 1
                    if left < 0:
                        raise RefusedError(
                            f"This parquet file has more than {_MOST_PAGES:,} pages; save it with "
                            f"larger pages, or send a part of it."
                        )
    whole: Counter[str] = Counter()
    for path, size in largest.items():
        whole[path[0]] += size
    return whole


def _page_sizes(file: IO[bytes], metadata: dict[int, Any]) -> Iterator[int]:
    """Yield the declared unpacked size of each page of a column in a row group."""
    start = metadata[_DATA]
    if 0 < metadata.get(_DICTIONARY, 0) < start:
        start = metadata[_DICTIONARY]
    end = start + metadata[_PACKED]
    while start < end:
        file.seek(start)
        header = _structure(file)
        if header[_PAGE_PACKED] < 0 or header[_PAGE_UNPACKED] < 0:
            raise ValueError("a page of negative size")
        start = file.tell() + header[_PAGE_PACKED]
        yield header[_PAGE_UNPACKED]


def _footer(file: IO[bytes]) -> dict[int, Any]:
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
    return _structure(io.BytesIO(file.read(length)))


@contextmanager
def _damaged() -> Iterator[None]:
    """Replace errors about a file that is not as the format prescribes by one in plain words."""
    try:
        yield
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
