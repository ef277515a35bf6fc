"""NumPy's files: headers are checked before anything is unpacked; pickles are never loaded."""

import io
import math
from typing import IO, NamedTuple

import numpy as np
from numpy.lib import format as npy

from .limits import AskError, RefusedError
from .names import join_names
from .tables import check_column
from .zip_archives import open_zip

_MAX_HEADER_SIZE = 1 << 14  # bytes that contain the header; NumPy reads 10,000
_MAX_ARRAYS = 100
_SPARSE_NAMES = {"data", "indices", "indptr", "shape", "format"}


class Header(NamedTuple):
    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype
    size: int  # of the header itself

    @property
    def squeezed_shape(self) -> tuple[int, ...]:
        """The shape (n, d) of rows of numbers that have further dimensions of length 1."""
        dimensions = tuple(length for length in self.shape if length != 1)
        return dimensions if len(self.shape) > len(dimensions) == 2 else self.shape

    def can_hold(self, kind: str) -> bool:
        """Return whether an array can hold samples of a kind, "" for any."""
        if self.dtype.kind == "U":
            return len(self.shape) == 1 and kind != "vectors"
        if self.dtype.kind not in "fiub":
            return False
        if kind == "values" and len(self.shape) == 1:
            return True
        is_image = len(self.shape) in (3, 4) and kind != "vectors"
        return is_image or len(self.squeezed_shape) == 2


class NumpyArchive:
    """The arrays of a .npz file by name, or the array of a .npy file under the name ""."""

    def __init__(self, data: bytes, packed: bool) -> None:
        self._data = data
        self.single: bool = not packed
        self.headers: dict[str, Header] = {}
        if self.single:
            self.headers[""] = _read_header(io.BytesIO(data))
            return
        with open_zip(data, _MAX_ARRAYS) as (archive, entries):
            for entry in entries:
                with archive.open(entry) as file:
                    self.headers[entry.filename.removesuffix(".npy")] = _read_header(file)

    def choose_array(self, name: str | None, kind: str = "") -> str:
        """Return the name of the array with the samples: `name`, or the only one that can be it."""
        if self.single or (not name and len(self.headers) == 1):
            return next(iter(self.headers))
        if not self.headers:
            raise RefusedError("There are no arrays in the file.")
        if name:
            return check_column(self.headers, name, "array")
        if set(self.headers) >= _SPARSE_NAMES:
            raise RefusedError(
                "This is a sparse matrix of SciPy: save its rows with np.save(path, X.toarray())."
            )
        sizes = {key: " × ".join(map(str, header.shape)) for key, header in self.headers.items()}
        candidates = [key for key, header in self.headers.items() if header.can_hold(kind)]
        if len(candidates) == 1:
            return candidates[0]
        if not candidates:
            listed = join_names(f"{key} ({size or 1})" for key, size in sizes.items())
            raise RefusedError(
                f"None of its arrays holds rows of numbers (n, d); it has {listed}. Save them with "
                f"np.save."
            )
        raise AskError(
            f"Which array holds the samples? The file has {join_names(candidates)}.",
            [(f"{key} ({sizes[key]})", {"column": key}) for key in candidates],
        )

    def read(self, name: str) -> np.ndarray:
        """Return an array from the file, without a copy."""
        shape, fortran, dtype, size = self.headers[name]
        expected_size = math.prod(shape) * dtype.itemsize
        if dtype.hasobject:
            raise RefusedError(
                "The array holds Python objects, which are never unpickled; save numbers, "
                "np.save(path, np.asarray(X, dtype=float))."
            )
        data = self._data
        if not self.single:
            # Sizes in a zip can be wrong: read as many bytes as the array needs, and one more.
            with open_zip(data, _MAX_ARRAYS) as (archive, entries):
                names = [entry.filename.removesuffix(".npy") for entry in entries]
                with archive.open(entries[names.index(name)]) as file:
                    data = file.read(size + expected_size + 1)
        if (actual_size := len(data) - size) != expected_size:
            raise RefusedError(
                f"The array is damaged: its header declares {expected_size:,} bytes, but the file "
                f"contains {actual_size:,}."
            )
        return np.ndarray(shape, dtype, data, size, order="F" if fortran else "C")


def _read_header(file: IO[bytes]) -> Header:
    data = io.BytesIO(file.read(_MAX_HEADER_SIZE))
    try:
        is_version_1 = npy.read_magic(data) == (1, 0)
        read_array_header = npy.read_array_header_1_0 if is_version_1 else npy.read_array_header_2_0
        shape, fortran, dtype = read_array_header(data)
        np.broadcast_shapes(shape)  # refuses lengths that an array cannot have
    except Exception:  # also errors of Python's own parser, and warnings of Python 2's headers
        raise RefusedError("This is not a .npy array (its header cannot be read).") from None
    return Header(shape, fortran, dtype, data.tell())
