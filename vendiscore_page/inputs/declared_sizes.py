"""Sizes that an input declares in its headers, read before anything is unpacked or decoded."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from vendiscore.report import named_format

from ..parquet_footers import declared_values
from ..quotas import RefusedError
from . import zips
from .pictures import area
from .submission import Given

_ZIP = b"PK"
_PARQUET = b"PAR1"
_LOOKED_INTO = 4_000_000  # bytes of a zip whose entries' own headers are read


class Size(NamedTuple):
    """The size of an input, unpacked."""

    bytes: int = 0
    cells: int = 0  # of parquet files, where a few bytes can stand for many
    pixels: int = 0  # of images


def declared_size(given: Given) -> Size:
    """Return the declared size of files, or else of pasted text; nothing for damaged files."""
    sizes = [Size(len(given.text))]
    for _, data in given.files:
        with suppress(RefusedError):  # which is raised again, with its place, by who reads the file
            sizes += _sizes(data)
    return Size(*map(sum, zip(*sizes, strict=True)))


def _sizes(data: bytes) -> Iterator[Size]:
    if data.startswith(_PARQUET):
        yield Size(len(data), sum(group.total() for group in declared_values(io.BytesIO(data))))
    elif not data.startswith(_ZIP):
        yield Size(len(data), pixels=area(data))
    else:
        size = sum(zips.sizes(data).values())
        yield Size(size)
        looked = size <= _LOOKED_INTO
        for _, inner in zips.contents(data, lambda name: looked or named_format(name) == "image"):
            if not inner.startswith(_ZIP):
                yield from (each._replace(bytes=0) for each in _sizes(inner))
