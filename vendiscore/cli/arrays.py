"""NumPy's files as samples."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np

from ..hints import suggestion
from .exit_codes import DataError
from .sources import Source, Wanted

_KINDS = {2: "vectors", 3: "images", 4: "images"}


def read(data: bytes, name: str, kind: str, wanted: Wanted) -> Source:
    """The array of a .npy file, or one of a .npz file; pickled objects are never loaded."""
    if wanted.others:
        raise DataError(f"{name} has arrays, no columns; leave out --by, --group-by and --quality")
    if kind == "npy" and wanted.column:
        raise DataError(f"{name} is a single array, which has no columns; leave out --column")
    try:
        found = np.load(io.BytesIO(data), allow_pickle=False)
        array = found if kind == "npy" else _one(found, name, wanted.column)
    except (ValueError, EOFError, zipfile.BadZipFile, KeyError) as error:
        if isinstance(error, DataError):
            raise
        pickled = "allow_pickle" in str(error) or "bject" in str(error)
        why = (
            "it holds Python objects, which are never unpickled; save numbers, np.save(path, "
            "np.asarray(X, dtype=float))"
            if pickled
            else f"it is no .{kind} file that can be read, or damaged"
        )
        raise DataError(f"{name}: {why}") from None
    if not isinstance(array, np.ndarray):
        raise DataError(f"{name} has several arrays: pass it as --type npz")
    return of_array(array, name, wanted)


def of_array(array: np.ndarray, name: str, wanted: Wanted, column: str = "") -> Source:
    """Rows of numbers, images (n, H, W) or (n, H, W, C), or one value a sample: strings, labels."""
    if array.ndim == 1 and wanted.kind == "values":
        return Source(name, "values", array.tolist(), range(1, len(array) + 1), "row", column)
    if array.dtype.kind in "UT" and array.ndim == 1:
        return Source(name, "text", array.tolist(), range(1, len(array) + 1), "row", column)
    if array.dtype.kind not in "fiub":
        raise DataError(f"{name}: expected real numbers, got {array.dtype} values")
    if array.ndim not in _KINDS:
        raise DataError(
            f"{name}: expected rows of numbers (n, d) or images (n, H, W), got shape {array.shape}"
        )
    return Source(name, _KINDS[array.ndim], array, range(1, len(array) + 1), "row", column)


def _one(found: Any, name: str, column: str | None) -> Any:
    if not isinstance(found, np.lib.npyio.NpzFile):
        raise DataError(f"{name} is a single array: pass it as --type npy")
    if column is None and len(found.files) == 1:
        return found[found.files[0]]
    if column not in found.files:
        hint = suggestion(column or "", found.files)
        asked = "which array?" if column is None else f"there is no array {column!r}."
        raise DataError(f"{name}: {asked} {hint} Name one with --column")
    return found[column]
