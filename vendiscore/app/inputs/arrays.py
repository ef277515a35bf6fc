"""NumPy's files: judged by their headers before anything is unpacked; pickles are never loaded."""

from __future__ import annotations

import ast
import io
import math
import zipfile
import zlib
from dataclasses import replace
from typing import IO, Any, NamedTuple

import numpy as np

from ...reading.limits import AskError, RefusedError
from ...reading.tables import listed
from ..quotas import MAX_UNPACKED
from .matrices import check_array, of_array
from .samples import Samples
from .submission import Asked

_HEADER = 1 << 16  # bytes of a header at most, as NumPy itself reads
_MOST_ARRAYS = 100
_SPARSE = {"data", "indices", "indptr", "shape", "format"}


class _Header(NamedTuple):
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    size: int  # of the header itself


def npy(name: str, data: bytes, asked: Asked) -> Samples:
    """The rows of a .npy file."""
    header = _header(io.BytesIO(data[: _HEADER + 128]))
    _check(header, len(data) - header.size)
    return of_array(
        _array(header, data[header.size :]), name, asked, "numpy as np", f"np.load({name!r})"
    )


def npz(name: str, data: bytes, asked: Asked) -> Samples:
    """The rows of the array of a .npz file, or of the one that is asked for."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = {
                entry.filename.removesuffix(".npy"): entry
                for entry in archive.infolist()[: _MOST_ARRAYS + 1]
            }
            if len(entries) > _MOST_ARRAYS:
                raise RefusedError(
                    f"The file has more than {_MOST_ARRAYS} arrays: save the one with np.save."
                )
            headers = {}
            for key, entry in entries.items():
                with archive.open(entry) as file:
                    headers[key] = _header(file)
            key = _chosen(headers, asked.column)
            header = headers[key]
            promised = math.prod(header.shape) * header.dtype.itemsize
            _check(header, promised)
            with archive.open(entries[key]) as file:
                # What a zip says of sizes can be wrong: read what the array needs, and one more.
                found = file.read(header.size + promised + 1)
    except RefusedError:
        raise
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError, ValueError):
        raise RefusedError("This .npz file cannot be read; it may be damaged.") from None
    _check(header, len(found) - header.size)
    X = _array(header, found[header.size :])
    samples = of_array(X, name, asked, "numpy as np", f"np.load({name!r})[{key!r}]")
    if len(headers) == 1:
        return samples
    return replace(samples, name=f"{name} › {key}", column=key, columns=tuple(headers))


def _chosen(headers: dict[str, _Header], column: str | None) -> str:
    if not headers:
        raise RefusedError("There are no arrays in the file.")
    if column:
        if column not in headers:
            raise RefusedError(f"There is no array {column!r:.60}; the file has {listed(headers)}.")
        return column
    if set(headers) >= _SPARSE:
        raise RefusedError(
            "This is a sparse matrix of SciPy: save its rows with np.save(path, X.toarray())."
        )
    if len(headers) == 1:
        return next(iter(headers))
    sized = {key: " × ".join(map(str, header.shape)) or "1" for key, header in headers.items()}
    raise AskError(
        f"Which array holds the rows? The file has {listed(headers)}.",
        [(f"{key} ({size})", {"column": key}) for key, size in sized.items()],
    )


def _header(file: IO[bytes]) -> _Header:
    """The header, read as the literal that it is."""
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
        if not isinstance(shape, tuple) or not all(type(length) is int for length in shape):
            raise TypeError
    except (ValueError, SyntaxError, TypeError, LookupError, RecursionError, MemoryError):
        raise RefusedError("This is not a .npy array (its header cannot be read).") from None
    return _Header(shape, dtype, bool(fortran), size)


def _check(header: _Header, there: int) -> None:
    shape, dtype = header.shape, header.dtype
    check_array(shape, dtype)
    promised = math.prod(shape) * dtype.itemsize
    if promised > MAX_UNPACKED:
        raise RefusedError(
            f"The array has {promised / 1e6:,.0f} MB; this page takes up to "
            f"{MAX_UNPACKED // 10**6} MB: save it as float16, or a random part of its rows."
        )
    if promised != there:
        raise RefusedError(
            f"The array says it has {promised:,} bytes but the file holds {there:,}; it is damaged."
        )


def _array(header: _Header, data: bytes) -> np.ndarray:
    """The array as it lies in the file, without a copy."""
    flat = np.frombuffer(data, dtype=header.dtype)
    return flat.reshape(header.shape, order="F" if header.fortran else "C")
