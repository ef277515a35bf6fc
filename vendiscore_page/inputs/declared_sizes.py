"""Sizes that an input declares in its headers, read before anything is unpacked or decoded."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from ..parquet_footers import declared_values
from ..quotas import RefusedError
from . import zips
from .pictures import count_pixels
from .submission import UserInput

_ZIP = b"PK"
_PARQUET = b"PAR1"


class Size(NamedTuple):
    """The size of an input, unpacked."""

    bytes: int = 0
    cells: int = 0  # of parquet files, where a few bytes can stand for many
    pixels: int = 0  # of images


def read_declared_size(user_input: UserInput) -> Size:
    """Return the declared size of files, or else of pasted text; nothing for damaged files."""
    sizes = [Size(len(user_input.text))]
    files = (
        [user_input.dataset.data] if user_input.dataset else [data for _, data in user_input.files]
    )
    for data in files:
        with suppress(RefusedError):  # which is raised again, with its place, by who reads the file
            sizes += _iter_sizes(data)
    return Size(*map(sum, zip(*sizes, strict=True)))


def _iter_sizes(data: bytes) -> Iterator[Size]:
    if data.startswith(_PARQUET):
        yield Size(len(data), sum(group.total() for group in declared_values(io.BytesIO(data))))
    elif not data.startswith(_ZIP):
        yield Size(len(data), pixels=count_pixels(data))
    else:
        yield Size(sum(zips.read_sizes(data).values()))
        for _, inner in zips.iter_contents(data, lambda name: True):
            if not inner.startswith(_ZIP):
                yield from (size._replace(bytes=0) for size in _iter_sizes(inner))
