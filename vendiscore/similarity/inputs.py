"""Readers of samples: from lists, arrays, tensors, frames and columns to arrays and lists."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from numbers import Number
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from ..core.errors import SampleError
from ..core.namespace import Array, is_numpy, is_torch, namespace, scalar, to_host
from ..core.types import Pool, Rows, Tensor
from ..reading.limits import WHOLE, inexact
from . import sparse as sp
from .pools import pooled, size

# Methods of lazy and partitioned collections alone, and the method that gathers one in memory.
_GATHERS = {
    "__dask_graph__": "compute",
    "collect": "collect",  # polars and Spark
    "to_spark": "to_pandas",  # Ray, and pandas on Spark
}
# Rows of numbers already read, by the id of their samples, while they are remembered.
ROWS_READ: ContextVar[dict[int, tuple[Any, Any]] | None] = ContextVar("read", default=None)

_IN_NUMPY = ("torch.float32", "torch.float64")


def as_samples(samples: object, name: str = "samples", *, empty: bool = False) -> Pool:
    """Return a list of samples, or an array as it is; a folder's path stands for its images."""
    if type(samples) is np.ndarray and samples.dtype.kind in "fiub" and samples.ndim > 0:
        converted: Any = samples
    elif type(samples) is list:
        converted = list(samples)
    else:
        converted = _from_other(samples, name)
    if not empty and (converted.shape[0] if hasattr(converted, "shape") else len(converted)) == 0:
        raise ValueError(f"`{name}` is empty: expected at least one sample; check how it was made")
    return converted


def _from_other(samples: Any, name: str) -> Pool:
    """Read samples that are neither a list nor a NumPy array of numbers."""
    if samples is None:
        raise TypeError(f"`{name}` is missing: pass a list of samples or an array, one row each")
    check_in_memory(samples, name)
    if isinstance(samples, (str, os.PathLike)) and name not in ("by", "groups"):  # no labels
        from ..reading.folders import image_files, is_folder

        if is_folder(samples):
            return image_files(samples, name)
    if isinstance(samples, os.PathLike) or (isinstance(samples, str) and samples.endswith("/")):
        raise TypeError(
            f"`{name}` must be a collection of samples, got the path {os.fspath(samples)!r}, which "
            "is not a folder; check it, or pass a list of paths"
        )
    if isinstance(samples, (str, bytes)):
        raise TypeError(
            f"`{name}` must be a collection of samples, got one {type(samples).__name__}; "
            f"pass [{samples[:20]!r}, …]{_no_folder(samples)}"
        )
    # SciPy's sparse matrices of the kind "dok" are mappings too.
    if isinstance(samples, (Mapping, set, frozenset)) and not sp.issparse(samples):
        raise TypeError(
            f"`{name}` must be an ordered collection of samples, got a {type(samples).__name__}; "
            f"pass one of its columns or list(…)"
        )
    if isinstance(samples, (list, tuple)):
        return list(samples)
    if sp.issparse(samples):
        _check_two_dimensional(samples, name)
        rows = samples.tocsr()
        if not rows.has_canonical_format:  # an entry may have several parts, to be added
            rows = rows.copy()
            rows.sum_duplicates()
        return rows
    if hasattr(samples, "to_pylist"):  # Arrow: array, chunked array, table
        return _from_arrow(samples)
    if hasattr(samples, "to_numpy") and not is_array_api_obj(samples):  # pandas, polars
        samples = samples.to_numpy()
    if is_torch(samples):
        _check_tensor(samples, name)
    elif is_array_api_obj(samples) or hasattr(samples, "__array__"):
        samples = to_numpy(samples, name)
    if hasattr(samples, "ndim"):
        if samples.ndim == 0:
            raise TypeError(f"`{name}` must be a collection of samples, got the scalar {samples}")
        if is_numpy(samples) and samples.dtype.kind in "OUST":
            return samples.tolist()
        return samples
    if not isinstance(samples, Iterable):
        raise TypeError(
            f"`{name}` must be a collection of samples, got {type(samples).__name__}; "
            f"pass a list or an array"
        )
    return list(samples)


def _no_folder(samples: str | bytes) -> str:
    """Return a hint that a single word or path does not name a folder of images."""
    if not isinstance(samples, str) or not samples or len(samples.split()) > 1 or "\0" in samples:
        return ""
    if os.path.isfile(samples):
        return f", or the folder that the file {samples!r:.80} is in, if it is an image"
    return f", or the path of a folder of images: {samples!r:.80} is not a folder"


def check_in_memory(samples: object, name: str) -> None:
    """Raise a TypeError for a lazy or partitioned collection, which reading would gather."""
    kind = type(samples)  # a table may have a column of such a name
    gathers = [method for mark, method in _GATHERS.items() if hasattr(kind, mark)]
    if not gathers:
        return
    # xarray has Dask's methods for arrays in memory, too.
    in_memory = getattr(samples, "npartitions", None) is getattr(samples, "chunks", None)
    if gathers[0] == "compute" and in_memory:
        return
    raise TypeError(
        f"`{name}` must be in memory, got {kind.__module__}.{kind.__qualname__}, which is lazy or "
        f"partitioned; pass {name}.{gathers[0]}() if it fits into memory, or add its parts up in "
        "vendiscore.State.empty(…)"
    )


def to_numpy(array: object, name: str) -> np.ndarray:
    """Convert an array of another library, or of a NumPy subclass, to a plain NumPy array."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise TypeError(
            f"`{name}` has masked entries, which have no value; fill them, with X.filled(…), or "
            f"remove those samples"
        )
    try:
        return np.asarray(array)
    except Exception as error:  # any error of that library
        raise TypeError(
            f"`{name}` must be a NumPy array or a torch tensor, or become one by np.asarray, got "
            f"{type(array).__module__}.{type(array).__name__} ({error!s:.80}); bring it to NumPy"
        ) from error


def _check_tensor(X: Tensor, name: str) -> None:
    torch = sys.modules["torch"]
    kinds = {
        "nested": (X.is_nested, "pass X.to_padded_tensor(…), or a list of its rows"),
        "meta": (X.is_meta, "pass one with values"),
        "quantized": (X.is_quantized, "pass X.dequantize()"),
        "sparse": (X.layout != torch.strided, "pass X.to_dense(), or a SciPy sparse matrix"),
    }
    for kind, (found, remedy) in kinds.items():
        if found:
            raise TypeError(f"`{name}` must be a dense torch tensor, got a {kind} one; {remedy}")


def _from_arrow(column: Any) -> list[Any] | np.ndarray:
    if hasattr(column, "num_columns"):  # a table
        columns = [_arrow_values(each) for each in column.columns]
        numbers = [x for x in columns if x is not None and x.dtype.kind in "fbiu"]
        whole = numbers and len(numbers) == len(columns)
        if whole:
            return np.column_stack(numbers)
        return column.to_pylist()
    values = None if column.null_count else _arrow_values(column)
    # The kernel names the missing values.
    if values is None or values.dtype.kind == "O":
        return column.to_pylist()
    return values


def _arrow_values(column: Any) -> np.ndarray | None:
    """Convert an Arrow column, missing numbers to NaN; return None for types that NumPy lacks."""
    try:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    except TypeError:  # a chunked array takes no such argument
        return np.asarray(column.to_numpy())
    except NotImplementedError:
        return None


def unnested(values: Any, name: str) -> tuple[Any, list[int]]:
    """Return the members of lists, or of an array of groups, one after the other, and the sizes."""
    if hasattr(values, "ndim"):
        groups, size_of_each = values.shape[:2]
        return values.reshape(-1, *values.shape[2:]), [size_of_each] * groups
    lists = [as_samples(each, name, empty=True) for each in values]
    return pooled(lists), list(map(size, lists))


def check_in_step(name: str, sizes: list[int], groups: Any) -> None:
    """Raise unless the samples are groups of these sizes, one after the other."""
    samples = None
    nested = ""
    if groups is not None:
        samples = groups.sizes
    if samples is not None:
        nested = f", or nested as these are, in {_listed(samples)}"
    if sizes != samples:
        raise ValueError(
            f"`{name}` must be one list in the order of the samples{nested}, got {_listed(sizes)}"
        )


def _listed(sizes: list[int]) -> str:
    """Return a few sizes for a message."""
    first = ", ".join(map(str, sizes[:6]))
    if len(sizes) > 6:
        return f"lists of {first}, …"
    return f"lists of {first}"


def choose(samples: Pool, places: Sequence[int] | np.ndarray) -> Pool:
    """Return the samples at these places, of a list or an array."""
    if isinstance(samples, Sequence):
        return [samples[i] for i in places]
    return samples[places]


def as_vectors(
    samples: Pool, name: str = "samples", also: Callable[[Any], dict[int, str]] | None = None
) -> Rows:
    """Return finite rows (n, d) as `as_matrix`, plain numbers as vectors of length 1."""
    if isinstance(samples, list):
        if any(map(_is_number, samples)):
            samples = [np.atleast_1d(x) if _is_number(x) else x for x in samples]
    elif samples.ndim == 1:
        samples = samples.reshape(-1, 1)
    return as_matrix(samples, name, also)


def _is_number(x: object) -> bool:
    return getattr(x, "ndim", None) == 0 or isinstance(x, Number)


def as_matrix(
    samples: object, name: str = "samples", also: Callable[[Any], dict[int, str]] | None = None
) -> Rows:
    """Return finite rows (n, d): floats, CSR or a tensor; `also` adds the caller's refusals."""
    known = ROWS_READ.get()
    if known is not None and id(samples) in known:
        return known[id(samples)][1]
    given = samples
    samples = as_samples(samples, name)
    try:
        X = _matrix(samples, name)
        if known is not None:
            known[id(given)] = given, X
        return X
    except SampleError as error:
        problems = error.problems
    while rest := [i for i in range(size(samples)) if i not in problems]:
        try:
            X = _matrix(choose(samples, rest), name)
            problems |= {rest[i]: problem for i, problem in (also(X) if also else {}).items()}
            break
        except SampleError as error:
            problems |= error.at(rest).problems
        except (TypeError, ValueError):
            break  # to be reported once these rows are mended
    raise SampleError.of(problems)


def _matrix(X: Pool, name: str) -> Rows:
    if isinstance(X, list):
        X = _stack(X, name)
    _check_two_dimensional(X, name)
    if X.shape[1] == 0:
        raise ValueError(f"`{name}` must have at least one column, got shape {tuple(X.shape)}")
    X = _as_float(X, name)
    check_finite(X, name)
    return X


def _check_two_dimensional(X: Rows, name: str) -> None:
    if X.ndim != 2:
        raise ValueError(
            f"`{name}` must be two-dimensional, one row per sample, got shape {tuple(X.shape)}; "
            f"reshape it to (n, d)"
        )


def _stack(rows: Sequence[object], name: str) -> Array:
    """Stack rows of a list as one array; raise a SampleError for rows that do not fit."""
    if any(map(is_torch, rows)):
        return _stack_tensors(rows, name)
    if not any(isinstance(row, np.ma.MaskedArray) for row in rows):
        try:
            X = np.asarray(rows)
        except (TypeError, ValueError, OverflowError):
            X = None  # ragged, or worse
        if X is not None and X.dtype.kind in "fbiu":
            return X
    read: dict[int, np.ndarray] = {}
    problems: dict[int, str] = {}
    for i, row in enumerate(rows):
        try:
            read[i] = _row(row)
        except (TypeError, ValueError) as error:
            problems[i] = f"of `{name}` {error}"
    _check_shapes({i: row.shape for i, row in read.items()}, problems, name)
    return np.stack(list(read.values()))


def _row(row: object) -> np.ndarray:
    """Read one row in float64, entry by entry; the message of its error is a predicate."""
    listed = hasattr(row, "__len__") and not isinstance(row, (str, bytes, Mapping))
    if not listed and _odd(row):
        remedy = _REMOVE
        if isinstance(row, Mapping):
            remedy = "; pass one of its columns"
        if isinstance(row, os.PathLike):
            remedy = "; images go to k='pixels'"
        raise TypeError(f"must be a row of numbers, got {type(row).__name__}: {row!r:.40}{remedy}")
    if isinstance(row, np.ma.MaskedArray) and np.ma.is_masked(row):
        raise ValueError("has masked entries, which have no value; fill them or remove it")
    try:
        entries = np.array(row, dtype=object)
    except ValueError:
        raise ValueError(f"must be a row of numbers, got {row!r:.40}{_REMOVE}") from None
    for entry in entries.flat:
        if _odd(entry):
            raise TypeError(
                f"must be a row of numbers, got {type(entry).__name__} {entry!r:.40} in it{_REMOVE}"
            )
        try:
            float(entry)
        except OverflowError:
            raise ValueError(f"has {entry!r:.40}, which is beyond double precision") from None
        if said := inexact(entry):
            raise ValueError(said)
    return entries.astype(np.float64)


_REMOVE = "; remove it, or correct it"


def _odd(entry: object) -> bool:
    """Return whether an entry is not a real number."""
    return not isinstance(entry, (Number, np.number, np.bool_)) or isinstance(
        entry, (complex, np.complexfloating)
    )


def _stack_tensors(rows: Sequence[Any], name: str) -> Tensor:
    problems: dict[int, str] = {}
    for i, row in enumerate(rows):
        if is_torch(row):
            _check_tensor(row, name)
        else:
            problems[i] = (
                f"of `{name}` must be a torch tensor like the others, got {type(row).__name__}: "
                f"{row!r:.40}{_REMOVE}"
            )
    tensors = {i: row for i, row in enumerate(rows) if i not in problems}
    _check_shapes({i: tuple(row.shape) for i, row in tensors.items()}, problems, name)
    devices = {str(row.device) for row in tensors.values()}
    if len(devices) > 1:
        raise ValueError(f"`{name}` must be tensors on one device, got {sorted(devices)}")
    return sys.modules["torch"].stack(list(rows))


def _check_shapes(shapes: Mapping[int, Any], problems: dict[int, str], name: str) -> None:
    """Raise a SampleError for `problems` and for rows that differ in shape from most."""
    if shapes:
        usual = Counter(shapes.values()).most_common(1)[0][0]
        for i, shape in shapes.items():
            if shape != usual:
                problems[i] = f"of `{name}` has shape {shape}, the others have {usual}{_REMOVE}"
    SampleError.check(problems)


def _as_float(X: Rows, name: str) -> Rows:
    if is_torch(X):
        torch = sys.modules["torch"]
        if X.is_complex():
            raise TypeError(f"`{name}` must be real, got {X.dtype}; pass its real part")
        if X.is_floating_point():
            if X.dtype in (torch.float32, torch.float64):
                return X
            return X.to(torch.float32)
        if X.element_size() == 8:
            whole = X
            if X.dtype != torch.int64:
                whole = to_host(X)  # uint64 has no maximum
            _check_whole(whole, name)
        return X.to(torch.float64)
    kind = X.dtype.kind
    if kind not in "fbiu":
        raise TypeError(f"`{name}` must be real numbers, got dtype {X.dtype}; convert it first")
    if kind == "f":
        if X.dtype.itemsize in (4, 8):
            if X.dtype.isnative:
                return X
            return X.astype(X.dtype.newbyteorder("="))
        with np.errstate(over="ignore"):  # numbers beyond float64 become infinite
            if X.dtype.itemsize < 4:
                return X.astype(np.float32)
            return X.astype(np.float64)
    if X.dtype.itemsize == 8:
        _check_whole(X, name)
    return X.astype(np.float64)


def _check_whole(X: Rows, name: str) -> None:
    """Raise a SampleError for integers that float64 does not hold."""
    if X.max() <= WHOLE and X.min() >= -WHOLE:
        return
    if sp.issparse(X):
        X = X.toarray()
    X = to_host(X)
    with np.errstate(invalid="ignore"):
        double = X.astype(np.float64)
        wide = X.astype(np.longdouble) != double.astype(np.longdouble)
    rows = wide.reshape(len(X), -1).any(axis=1)
    problems = {}
    for i in np.flatnonzero(rows).tolist():
        first = X[i][wide[i]].flat[0]
        problems[i] = f"of `{name}` {inexact(int(first))}"
    SampleError.check(problems)


def check_finite(X: Rows, name: str) -> None:
    """Raise a SampleError that names all rows with a NaN or an infinity."""
    values = in_host_memory(X.data if sp.issparse(X) else X)
    # A finite sum (of squares) proves that every entry is finite, at the speed of memory.
    if isinstance(values, np.ndarray):
        flat = values.ravel(order="K")
        with np.errstate(all="ignore"):
            if np.isfinite(np.vdot(flat, flat)):
                return
    elif np.isfinite(scalar(values.sum())):
        return
    finite = namespace(values).isfinite(values)
    if bool(finite.all()):
        return
    if sp.issparse(X):
        bad = np.flatnonzero(~finite)
        rows = np.searchsorted(X.indptr, bad, "right") - 1
        found = {int(i): float(values[j]) for i, j in zip(rows[::-1], bad[::-1], strict=True)}
    else:
        bad = np.flatnonzero(~to_host(finite.all(1)))
        found = {int(i): scalar(X[int(i)][~finite[int(i)]][0]) for i in bad}
    SampleError.check(
        {
            i: f"of `{name}` must be finite, got {value}; remove or impute such samples"
            for i, value in found.items()
        }
    )


def in_host_memory(x: Array) -> Array:
    """Return the NumPy array in the memory of a tensor of floats, if there is one, else x.

    Where threads of torch and of others wait for each other, its small steps take 10 ms each.
    """
    if not is_torch(x) or str(x.device) != "cpu" or str(x.dtype) not in _IN_NUMPY:
        return x
    return to_host(x)


def precision(samples: object) -> float:
    """Return the spacing of floats at 1 in the precision of the samples.

    >>> precision(np.ones(3, np.float16))
    0.0009765625
    """
    first: Any = samples[0] if isinstance(samples, (list, tuple)) and len(samples) else samples
    dtype: Any = getattr(first, "dtype", None)
    if is_torch(first):
        torch = sys.modules["torch"]
        return float(torch.finfo(dtype if dtype.is_floating_point else torch.float64).eps)
    floating = isinstance(dtype, np.dtype) and dtype.kind == "f"
    return max(float(np.finfo(dtype if floating else np.float64).eps), float(np.finfo(float).eps))
