"""From what people hold (lists, arrays, tensors, frames, columns) to what the maths reads.

`as_samples` turns any container into a list or leaves an array where it is; `as_matrix` asks for
rows of finite numbers. Torch tensors stay tensors, on their device.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from array_api_compat import array_namespace, is_array_api_obj

Array = Any  # a NumPy array or a torch tensor: what the array API standard describes

_BLOCK_BYTES = 1 << 21  # a block of rows that stays in a core's cache
# Rows that are multiplied with their own transpose at once: half of what has been seen to fail.
GRAM_ROWS = 8192


def is_torch(x: object) -> bool:
    """Whether `x` is a torch tensor, without importing torch."""
    # While another thread imports torch, it is there without its names, and x is no tensor.
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return tensor is not None and isinstance(x, tensor)


def is_numpy(x: object) -> bool:
    """Whether `x` is a NumPy array, so that NumPy's and SciPy's own routines apply."""
    return isinstance(x, np.ndarray)


def namespace(x: Array) -> Any:
    """The array API namespace of `x` (NumPy for sparse matrices)."""
    return np if sp.issparse(x) else array_namespace(x)


def scalar(x: Array) -> float:
    """A 0-d array as a Python float, outside of any differentiation."""
    return float(x.detach() if is_torch(x) else x)


def to_host(x: Array) -> np.ndarray:
    """A NumPy array, outside of any differentiation."""
    return np.asarray(x.detach().cpu() if is_torch(x) else x)


def as_kind_of(x: Any, other: Array) -> Array:
    """`x` in the namespace, precision and place of `other`."""
    xp = namespace(other)
    if is_torch(other):
        return xp.asarray(x, dtype=other.dtype, device=other.device)
    return xp.asarray(to_host(x), dtype=other.dtype)


def row_blocks(n: int, row_bytes: int, least: int = 64) -> Iterable[slice]:
    """Slices that cut n rows into blocks that fit in the cache, but have at least so many rows."""
    size = max(least, _BLOCK_BYTES // max(1, row_bytes))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def gram(A: Array, out: Array | None = None) -> Array:
    """A Aᵀ for A of shape (m, k), in A's precision; into `out` (C-ordered) if given.

    Never one product of a large array with its own transpose: NumPy hands that to OpenBLAS'
    threaded syrk, which ends the process with a segmentation fault from about 16,000 rows on some
    machines (numpy/numpy#19685). Blocks below that size keep its half of the work.
    """
    m = A.shape[0]
    if not is_numpy(A):
        return A @ A.T
    if m <= GRAM_ROWS:
        return np.matmul(A, A.T, out=out)
    if out is None:
        out = np.empty((m, m), A.dtype)
    size = -(-m // -(-m // GRAM_ROWS))  # blocks of one size
    for start in range(0, m, size):
        own, later = slice(start, start + size), slice(start + size, None)
        out[own, own] = A[own] @ A[own].T
        if start + size < m:
            np.matmul(A[own], A[later].T, out=out[own, later])
            out[later, own] = out[own, later].T
    return out


def as_samples(samples: Any, name: str = "samples") -> Any:
    """A list of samples, or the array itself when one is given.

    Parameters
    ----------
    samples : iterable or array
        List, tuple, generator, NumPy array, SciPy sparse matrix, torch tensor, pandas Series or
        DataFrame, Arrow array, or `datasets` column. Neither copied nor changed if an array.
    name : str
        How to call it in an error.

    Raises
    ------
    TypeError
        If it is missing, one string, a mapping, or not iterable.
    ValueError
        If it is empty.
    """
    if samples is None:
        raise TypeError(f"`{name}` is missing: pass a list of samples or an array, one row each")
    if isinstance(samples, (str, bytes)):
        raise TypeError(
            f"`{name}` must be a collection of samples, got one {type(samples).__name__}; "
            f"pass [{samples[:20]!r}, …]"
        )
    if isinstance(samples, (Mapping, set, frozenset)):
        raise TypeError(
            f"`{name}` must be an ordered collection of samples, got a {type(samples).__name__}; "
            f"pass one of its columns or list(…)"
        )
    converted = _from_container(samples, name)
    if (converted.shape[0] if hasattr(converted, "shape") else len(converted)) == 0:
        raise ValueError(f"`{name}` is empty: expected at least one sample; check how it was made")
    return converted


def _from_container(samples: Any, name: str) -> Any:
    if isinstance(samples, (list, tuple)):
        return list(samples)
    if sp.issparse(samples):
        return samples.tocsr()
    if is_array_api_obj(samples):
        if samples.ndim == 0:
            raise TypeError(f"`{name}` must be a collection of samples, got the scalar {samples}")
        return samples.tolist() if is_numpy(samples) and samples.dtype.kind in "OUS" else samples
    if hasattr(samples, "to_pylist"):  # Arrow: array, chunked array
        return _from_arrow(samples)
    if hasattr(samples, "to_numpy"):  # pandas, polars: series, frame
        values = samples.to_numpy()
        return values.tolist() if values.dtype.kind in "OUST" else values
    if not isinstance(samples, Iterable):
        raise TypeError(
            f"`{name}` must be a collection of samples, got {type(samples).__name__}; "
            f"pass a list or an array"
        )
    return list(samples)


def _from_arrow(column: Any) -> Any:
    if column.null_count:
        return column.to_pylist()  # the kernel names the first missing value
    try:
        values = column.to_numpy(zero_copy_only=False)
    except TypeError:  # a chunked array takes no such argument
        values = column.to_numpy()
    return column.to_pylist() if values.dtype.kind == "O" else values


def as_matrix(samples: Any, name: str = "samples") -> Any:
    """Rows of finite numbers: a float array (n, d), a CSR matrix, or a torch tensor.

    Integers and booleans become float64, half precision becomes float32; anything else keeps its
    precision and is not copied.

    Raises
    ------
    TypeError
        If the entries are not real numbers.
    ValueError
        If it is not two-dimensional, its rows differ in length, or an entry is NaN or infinite;
        the message names the first such row.
    """
    X = as_samples(samples, name)
    if isinstance(X, list):
        X = _stack(X, name)
    if X.ndim != 2:
        raise ValueError(
            f"`{name}` must be two-dimensional, one row per sample, got shape {tuple(X.shape)}; "
            f"reshape it to (n, d)"
        )
    if X.shape[1] == 0:
        raise ValueError(f"`{name}` must have at least one column, got shape {tuple(X.shape)}")
    X = _as_float(X, name)
    check_finite(X, name)
    return X


def _stack(rows: Sequence[Any], name: str) -> Any:
    if is_torch(rows[0]):
        return sys.modules["torch"].stack(list(rows))
    widths = [np.shape(row) if not isinstance(row, (str, bytes, dict)) else None for row in rows]
    for i, (row, width) in enumerate(zip(rows, widths, strict=True)):
        if width is None or row is None:
            raise TypeError(
                f"`{name}` must be rows of numbers, got {type(row).__name__} at row {i}"
            )
        if width != widths[0]:
            raise ValueError(
                f"`{name}` must have rows of one shape: row 0 has {widths[0]}, row {i} has {width}"
            )
    return np.asarray(rows)


def _as_float(X: Any, name: str) -> Any:
    if is_torch(X):
        torch = sys.modules["torch"]
        if X.is_complex():
            raise TypeError(f"`{name}` must be real, got {X.dtype}; pass its real part")
        if X.is_floating_point():
            return X if X.dtype in (torch.float32, torch.float64) else X.to(torch.float32)
        return X.to(torch.float64)
    kind = X.dtype.kind
    if kind not in "fbiu":
        raise TypeError(f"`{name}` must be real numbers, got dtype {X.dtype}; convert it first")
    if kind == "f":
        return (
            X
            if X.dtype.itemsize in (4, 8)
            else X.astype(np.float32 if X.dtype.itemsize < 4 else np.float64)
        )
    return X.astype(np.float64)


def check_finite(X: Any, name: str) -> None:
    """Raise a ValueError that names the first row with a NaN or an infinity."""
    values = X.data if sp.issparse(X) else X
    # A finite sum of squares proves that every entry is finite, at the speed of memory.
    if is_numpy(values):
        flat = values.ravel() if values.flags.c_contiguous else values.ravel(order="K")
        with np.errstate(over="ignore"):
            if np.isfinite(np.vdot(flat, flat)):
                return
    xp = namespace(values)
    if bool(xp.all(xp.isfinite(values))):
        return
    if sp.issparse(X):
        row = int(np.searchsorted(X.indptr, np.flatnonzero(~np.isfinite(values))[0], "right")) - 1
        bad = float(values[~np.isfinite(values)][0])
    else:
        flags = xp.isfinite(X)
        row = int(xp.argmin(xp.astype(xp.all(flags, axis=1), xp.int8)))
        bad = scalar(X[row][~flags[row]][0])
    raise ValueError(
        f"`{name}` must be finite, got {bad} in row {row}; remove or impute such samples"
    )
