"""Read the declared numbers of values and page sizes from parquet files, without decoding values.

Damaged column metadata makes pyarrow end the process, so this module parses the metadata itself.
It is stored in the compact protocol of Thrift.
"""

import io
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import IO, Any

from vendiscore.report import RefusedError

_MAGIC = b"PAR1"
_TAIL_BYTES = 8  # bytes: the length of the footer, then the magic bytes
_MAX_FOOTER_BYTES = 8_000_000  # maximum size of a footer
_MAX_SHIFT = 56  # maximum shift of the last seven bits of an integer
# Field numbers of the structures in parquet.thrift.
_ROW_GROUPS = 4
_COLUMNS = 1
_METADATA = 3
_PATH, _VALUE_COUNT, _COMPRESSED_SIZE, _DATA_OFFSET, _DICTIONARY_OFFSET = 3, 5, 7, 9, 11
_PAGE_SIZE, _PAGE_COMPRESSED_SIZE = 2, 3
_MAX_PAGES = 50_000  # maximum number of page headers that are read
# Type codes of the protocol. The type code of a bool field is also its value.
_TRUE, _FALSE, _BYTE, _SHORT, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 4, 7, 8, 9, 10, 12
_DAMAGE_ERRORS = (
    IndexError,
    KeyError,
    TypeError,
    AttributeError,
    ValueError,
    OSError,
    RecursionError,
)


def declared_values(file: IO[bytes]) -> list[Counter[str]]:
    """Return the declared number of values of each top-level column, for each row group.

    Each element of a list counts as a value.
    """
    with _replace_damage_errors():
        return [_count_values(group) for group in _read_footer(file)[_ROW_GROUPS]]


def largest_pages(
    file: IO[bytes], columns: Collection[str], groups: Collection[int]
) -> Counter[str]:
    """Return the declared size of the largest uncompressed page of each top-level column, in bytes.

    A reader decompresses whole pages, and a page of gigabytes may be compressed to a few bytes.
    The sizes of the fields of a structure are added.
    """
    largest: Counter[tuple[str, ...]] = Counter()
    n_pages = 0
    with _replace_damage_errors():
        footer = _read_footer(file)
        for i in groups:
            for column in footer[_ROW_GROUPS][i][_COLUMNS]:
                metadata = column[_METADATA]
                path = tuple(name.decode() for name in metadata[_PATH])
                # A reader stops after 0 values.
                if path[0] not in columns or metadata[_VALUE_COUNT] <= 0:
                    continue
                for size in _iter_page_sizes(file, metadata):
                    largest[path] = max(largest[path], size)
                    n_pages += 1
                    if n_pages > _MAX_PAGES:
                        raise RefusedError(
                            f"This parquet file has more than {_MAX_PAGES:,} pages; save it with "
                            f"larger pages, or send fewer rows."
                        )
    sizes: Counter[str] = Counter()
    for path, size in largest.items():
        sizes[path[0]] += size
    return sizes


def _iter_page_sizes(file: IO[bytes], metadata: dict[int, Any]) -> Iterator[int]:
    """Yield the declared uncompressed size of each page of a column in a row group."""
    start = metadata[_DATA_OFFSET]
    if 0 < metadata.get(_DICTIONARY_OFFSET, 0) < start:
        start = metadata[_DICTIONARY_OFFSET]
    end = start + metadata[_COMPRESSED_SIZE]
    while start < end:
        file.seek(start)
        header = _read_structure(file)
        if header[_PAGE_COMPRESSED_SIZE] < 0 or header[_PAGE_SIZE] < 0:
            raise ValueError("a page of negative size")
        start = file.tell() + header[_PAGE_COMPRESSED_SIZE]
        yield header[_PAGE_SIZE]


def _read_footer(file: IO[bytes]) -> dict[int, Any]:
    size = file.seek(0, io.SEEK_END)
    file.seek(size - _TAIL_BYTES)
    tail = file.read()
    length = int.from_bytes(tail[:4], "little") if tail[4:] == _MAGIC else 0
    if _MAX_FOOTER_BYTES < length < size:
        raise RefusedError(
            f"The footer of this parquet file has {length / 1e6:,.0f} MB, more than "
            f"{_MAX_FOOTER_BYTES // 10**6} MB; save it with fewer columns or larger row groups."
        )
    file.seek(size - _TAIL_BYTES - length)
    return _read_structure(io.BytesIO(file.read(length)))


@contextmanager
def _replace_damage_errors() -> Iterator[None]:
    """Replace errors caused by an invalid file with a `RefusedError` that describes the problem."""
    try:
        yield
    except RefusedError:
        raise
    except _DAMAGE_ERRORS:
        raise RefusedError("This parquet file cannot be read; it may be damaged.") from None


def _count_values(group: dict[int, Any]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for column in group[_COLUMNS]:
        metadata = column[_METADATA]
        counts[metadata[_PATH][0].decode()] += max(0, metadata[_VALUE_COUNT])
    return counts


def _read_structure(data: IO[bytes]) -> dict[int, Any]:
    """Read the fields of a structure, by field number; raise IndexError at the end of the data."""
    fields: dict[int, Any] = {}
    number = 0
    while head := data.read(1)[0]:
        step, kind = head >> 4, head & 15
        number = number + step if step else _read_value(data, _SHORT)
        fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else _read_value(data, kind)
    return fields


def _read_value(data: IO[bytes], kind: int) -> Any:
    if kind <= _BYTE:
        return data.read(1)[0]
    if kind < _DOUBLE:
        return (number := _read_varint(data)) >> 1 ^ -(number & 1)
    if kind == _DOUBLE:
        return data.read(8)[7]
    if kind == _BINARY:
        return data.read(_read_varint(data))
    if kind in (_LIST, _SET):
        head = data.read(1)[0]
        count = head >> 4 if head < 0xF0 else _read_varint(data)
        return [_read_value(data, head & 15) for _ in range(count)]
    if kind == _STRUCT:
        return _read_structure(data)
    raise TypeError(f"type {kind}")  # such as a map, which parquet metadata does not contain


def _read_varint(data: IO[bytes]) -> int:
    number = shift = 0
    while (byte := data.read(1)[0]) > 127:
        number |= (byte & 127) << shift
        shift += 7
        if shift > _MAX_SHIFT:
            raise IndexError("too large")
    return number | byte << shift
