"""Sizes that an input declares in its headers, read before anything is unpacked or decoded."""

from __future__ import annotations

import io
from typing import NamedTuple

from ..parquet_footers import declared_values
from ..quotas import RefusedError
from . import pictures, zips
from .submission import Given

_ZIP = b"PK"
_PARQUET = b"PAR1"
_LOOKED_INTO = 4_000_000  # bytes of a zip whose entries' own headers are read


class Size(NamedTuple):
    """The size of an input, unpacked."""

    bytes: int = 0
    cells: int = 0  # of parquet files, where a few bytes can stand for many
    pixels: int = 0  # of images


def declared_size(given: Given, draw: int) -> Size:
    """Return the declared size of files, or else of pasted text; nothing for damaged files."""
    size = Size(bytes=len(given.text))
    for name, data in given.files:
        try:
            file = _size(name, data, draw)
        except RefusedError:  # which is raised again, with its place, by who reads the file
            continue
        size = Size(*map(sum, zip(size, file, strict=True)))
    return size


def _size(name: str, data: bytes, draw: int) -> Size:
    if data.startswith(_PARQUET):
        groups = declared_values(io.BytesIO(data))
        return Size(len(data), sum(group.total() for group in groups))
    if not data.startswith(_ZIP):
        return Size(len(data), pixels=pictures.area(data))
    size, cells = zips.unpacked(data), 0
    if size <= _LOOKED_INTO:
        for inner, content in zips.contents(data, lambda entry: True):
            if content.startswith(_PARQUET):
                cells += _size(inner, content, draw).cells
    return Size(size, cells, pictures.declared_pixels([(name, data)], draw))
