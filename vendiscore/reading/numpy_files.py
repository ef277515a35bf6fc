"""NumPy's files: judged by their headers before anything is unpacked; pickles are never loaded."""

from __future__ import annotations

import ast
import io
import math
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import numpy as np

from ..hints import suggestion
from .limits import AskError, Limits, RefusedError
from .tables import join_names

_HEADER = 1 << 16  # bytes of a header at most, as NumPy itself reads
_MOST_ARRAYS = 100
_SPARSE = {"data", "indices", "indptr", "shape", "format"}


class Header(NamedTuple):
    """The header of one array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    size: int  # of the header itself

    @property
    def promised(self) -> int:
        """The bytes of the array."""
        return math.prod(self.shape) * self.dtype.itemsize


class Arrays:
    """The arrays of a .npz file by their names, or the one of a .npy file, whose name is ""."""

    def __init__(self, data: bytes, packed: bool) -> None:
        self._data, self._packed = data, packed
        self.headers = {"": _header(io.BytesIO(data[: _HEADER + 128]))} if not packed else {}
        if packed:
            with self._archive() as (archive, entries):
                for key, entry in entries.items():
                    with archive.open(entry) as file:
                        self.headers[key] = _header(file)

    @property
    def single(self) -> bool:
        """Whether the file has no names of arrays."""
        return not self._packed

    def choose_array(self, name: str | None) -> str:
        """Return the name of the array that is meant, or ask for it."""
        if self.single or (not name and len(self.headers) == 1):
            return next(iter(self.headers))
        if not self.headers:
            raise RefusedError("There are no arrays in the file.")
        if name:
            if name not in self.headers:
                hint = suggestion(f"{name:.60}", [f"{key:.40}" for key in self.headers])
                raise RefusedError(f"There is no array {name!r:.60}. {hint}")
            return name
        if set(self.headers) >= _SPARSE:
            raise RefusedError(
                "This is a sparse matrix of SciPy: save its rows with np.save(path, X.toarray())."
            )
        sized = {
            key: " × ".join(map(str, header.shape)) or "1" for key, header in self.headers.items()
        }
        raise AskError(
            f"Which array holds the rows? The file has {join_names(self.headers)}.",
            [(f"{key} ({size})", {"column": key}) for key, size in sized.items()],
        )

    def read(self, name: str, limits: Limits) -> np.ndarray:
        """Return an array as it lies in the file, without a copy."""
        header = self.headers[name]
        if header.dtype.hasobject:
            raise RefusedError(
                "The array holds Python objects, which are never unpickled; save numbers, "
                "np.save(path, np.asarray(X, dtype=float))."
            )
        if header.promised > limits.unpacked:
            raise RefusedError(
                f"The array has {header.promised / 1e6:,.0f} MB; this page takes up to "
                f"{limits.unpacked // 10**6} MB: save it as float16, or a random part of its rows."
            )
        data = self._data
        if self._packed:
            # What a zip says of sizes can be wrong: read what the array needs, and one more.
            with self._archive() as (archive, entries), archive.open(entries[name]) as file:
                data = file.read(header.size + header.promised + 1)
        if (there := len(data) - header.size) != header.promised:
            raise RefusedError(
                f"The array says it has {header.promised:,} bytes but the file holds {there:,}; it "
                f"is damaged."
            )
        order: Any = "F" if header.fortran else "C"
        return np.ndarray(header.shape, header.dtype, data, header.size, order=order)

    @contextmanager
    def _archive(self) -> Iterator[tuple[zipfile.ZipFile, dict[str, zipfile.ZipInfo]]]:
        try:
            with zipfile.ZipFile(io.BytesIO(self._data)) as archive:
                some = archive.infolist()[: _MOST_ARRAYS + 1]
                if len(some) > _MOST_ARRAYS:
                    raise RefusedError(
                        f"The file has more than {_MOST_ARRAYS} arrays: save the one with np.save."
                    )
                yield archive, {entry.filename.removesuffix(".npy"): entry for entry in some}
        except RefusedError:
            raise
        except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError, ValueError):
            raise RefusedError("This .npz file cannot be read; it may be damaged.") from None


def _header(file: IO[bytes]) -> Header:
    """Read a header as the literal that it is."""
    data = file.read(_HEADER + 128)
    try:
        if data[:6] != b"\x93NUMPY" or data[6] not in (1, 2, 3):
            raise ValueError
        wide = 2 if data[6] == 1 else 4
        size = 8 + wide + int.from_bytes(data[8 : 8 + wide], "little")
        if size > _HEADER:
            raise ValueError
        found = ast.literal_eval(data[8 + wide : size].decode("utf-8").strip())
        shape, fortran = found["shape"], found["fortran_order"]
        dtype = np.dtype(found["descr"]) if isinstance(found["descr"], str) else np.dtype(object)
        if not all(type(length) is int and length >= 0 for length in (*shape, math.prod(shape))):
            raise TypeError
    except (ValueError, SyntaxError, TypeError, LookupError, RecursionError, MemoryError):
        raise RefusedError("This is not a .npy array (its header cannot be read).") from None
    return Header(tuple(shape), dtype, bool(fortran), size)
