"""Convert samples, from lists, arrays, tensors, data frames or columns, to arrays and lists."""

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from numbers import Integral, Number
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj

from ..core.eigenvalues import EPS
from ..support.errors import SampleError, short_repr, warn
from ..support.exact_integers import MAX_EXACT_INTEGER, describe_inexact_integer
from ..support.namespace import (
    Array,
    check_no_transform,
    is_numpy,
    is_torch,
    to_float,
    to_host,
)
from ..support.types import DType, Rows, SampleContainer, Samples, Tensor
from . import sparse as sp
from .concatenation import concatenate_samples, num_samples

# Methods that only lazy and partitioned collections have, and the method that loads their data into
# memory.
_GATHER_METHODS = {
    "__dask_graph__": "compute",
    "collect": "collect",  # polars, Daft and Spark
    "to_spark": "to_pandas",  # Ray, and pandas on Spark
}
# Packages and names of the classes of lazy collections that `score_batches` accepts.
_SCORED_IN_BATCHES = {
    ("dask", "DataFrame"),
    ("ray", "Dataset"),
    ("pyspark", "DataFrame"),
    ("polars", "LazyFrame"),
    ("daft", "DataFrame"),
}
# Cache of the results of `as_matrix`: id of the samples to (samples, rows). None means no cache.
ROWS_CACHE: ContextVar[dict[int, tuple[object, Rows]] | None] = ContextVar("read", default=None)

_SHARED_DTYPES = ("torch.float32", "torch.float64")
RowCheck = Callable[[Rows], dict[int, str]]  # problems of rows, by row index


def as_samples(samples: object, name: str = "samples", *, empty: bool = False) -> SampleContainer:
    """Convert samples to a list or an array; the path of a folder becomes a list of its images.

    `name` is the argument that error messages mention. With `empty`, an empty collection is
    accepted; otherwise it raises a ValueError.
    """
    if type(samples) is np.ndarray and samples.dtype.kind in "fiub" and samples.ndim > 0:
        converted: SampleContainer = samples
    elif type(samples) is list:
        converted = list(samples)
    else:
        converted = _convert_samples(samples, name)
    if not empty and num_samples(converted) == 0:
        raise ValueError(f"`{name}` is empty; pass at least one sample")
    return converted


def _convert_samples(samples: Any, name: str) -> SampleContainer:
    """Convert samples that are neither a list nor a numeric NumPy array to a list or an array.

    `name` is the argument that error messages mention.
    """
    if samples is None:
        raise TypeError(f"`{name}` is missing; pass a list, or an array with one row per sample")
    check_in_memory(samples, name)
    # A string or path is a folder of images, or an error. Labels cannot be a folder.
    if isinstance(samples, (str, os.PathLike)) and name not in ("by", "groups"):
        from ..support.folders import is_folder, list_image_files

        if is_folder(samples):
            return list_image_files(samples, name)
    if isinstance(samples, os.PathLike) or (isinstance(samples, str) and samples.endswith("/")):
        raise TypeError(
            f"`{name}` must be a collection of samples, got the path {os.fspath(samples)!r}, which "
            f"is not a folder; check the path, or pass a list of paths{_suggest_read(samples)}"
        )
    if isinstance(samples, (str, bytes)):
        raise TypeError(
            f"`{name}` must be a collection of samples, got one {type(samples).__name__}; "
            f"pass [{samples[:20]!r}, …]{_describe_missing_folder(samples)}"
        )
    # SciPy's sparse DOK matrices are also mappings.
    if isinstance(samples, (Mapping, set, frozenset)) and not sp.issparse(samples):
        raise TypeError(
            f"`{name}` must be an ordered collection of samples, got a {type(samples).__name__}; "
            f"{_suggest_values(samples, name)}pass a list, or one column of a table (to compare "
            f"named sets, use compare(…))"
        )
    if type(samples).__name__ in ("SeriesGroupBy", "DataFrameGroupBy"):  # of pandas
        raise TypeError(
            f"`{name}` must be a collection of samples, got a {type(samples).__name__}; "
            f"{_suggest_groups(samples)}"
        )
    # Return early: another thread may still be importing torch, which the checks below use.
    if isinstance(samples, (list, tuple)):
        return list(samples)
    # Sparse matrices become CSR arrays.
    if sp.issparse(samples):
        _check_two_dimensional(samples, name)
        rows = samples.tocsr()
        if not rows.has_canonical_format:  # duplicate entries are summed
            rows = rows.copy()
            rows.sum_duplicates()
        return rows
    # Columns and arrays of other libraries become lists, NumPy arrays or tensors.
    if hasattr(samples, "__arrow_c_stream__") or hasattr(samples, "__arrow_c_array__"):
        from .arrow import from_arrow

        samples = from_arrow(samples)
    if hasattr(samples, "to_numpy") and not is_array_api_obj(samples):  # pandas, polars
        samples = samples.to_numpy()
    if is_torch(samples):
        check_no_transform(samples, name)
        _check_tensor(samples, name)
        samples = move_from_mps(samples)
    elif is_array_api_obj(samples) or hasattr(samples, "__array__"):
        samples = to_numpy(samples, name)
    if hasattr(samples, "ndim"):
        if samples.ndim == 0:
            raise TypeError(f"`{name}` must be a collection of samples, got the scalar {samples}")
        if is_numpy(samples) and samples.dtype.kind in "OUST":  # objects and strings
            return samples.tolist()
        return samples
    if not isinstance(samples, Iterable):
        raise TypeError(
            f"`{name}` must be a collection of samples, got {type(samples).__name__}; "
            f"pass a list or an array"
        )
    return list(samples)


def _suggest_values(samples: object, name: str) -> str:
    """Return a hint to pass the values of a dict, to precede other hints; "" if there is none.

    The values can be counts of species, or the samples of each group, such as a prompt. `name` is
    the argument that contains the dict.
    """
    if not isinstance(samples, Mapping) or not samples:
        return ""
    values = list(samples.values())
    if all(isinstance(value, Integral) for value in values):
        return f"for counts of species, use compute(counts=list({name}.values())); otherwise "
    if not all(isinstance(value, (list, tuple)) for value in values):
        return ""
    if len(values) == 1:
        return f"pass {name}[{next(iter(samples))!r}]; otherwise "
    return (
        f"for the mean over its {len(values)} lists, use compute(list({name}.values())); otherwise "
    )


def _suggest_groups(grouped: Any) -> str:
    """Return a hint how to score the groups of a GroupBy object of pandas."""
    keys = getattr(grouped, "keys", None)
    column = getattr(grouped.obj, "name", None)  # the name of a Series
    data = "df[column]" if column is None else f"df[{column!r}]"
    if isinstance(keys, str):
        return f"use compute({data}, groups=df[{keys!r}])"
    return f"use compute({data}, groups=labels) with one label per sample"


def _describe_missing_folder(samples: str | bytes) -> str:
    """Return a hint for a message if a string may be meant as the path of a file or a folder.

    The hint continues a sentence. It is "" if the string cannot be a path.
    """
    if not isinstance(samples, str) or not samples or len(samples.split()) > 1 or "\0" in samples:
        return ""
    if hint := _suggest_read(samples):
        return hint
    return f", or the path of a folder of images ({short_repr(samples)} is not a folder)"


def _suggest_read(path: str | os.PathLike[Any]) -> str:
    """Return a hint to read a file with `vendiscore.read`; "" if the path cannot be a file.

    A file that does not exist is recognized by the extension of its name.
    """
    name = os.fsdecode(path)
    if not os.path.isfile(name) and not re.search(r"\w\.[A-Za-z]\w{1,7}$", name):
        return ""
    return (
        f"; to score the samples in this file, use "
        f"vendiscore.compute(**vendiscore.read({short_repr(name)}).arguments)"
    )


def check_in_memory(samples: object, name: str) -> None:
    """Raise a TypeError for a lazy or partitioned collection, such as a Dask or Spark data frame.

    Converting it would load all its data into memory. `name` is the argument in the message.
    """
    # `_GATHER_METHODS` maps a method that only lazy collections have to the method that loads their
    # data. Look it up in the class, because attributes of the object may be columns of a table.
    cls = type(samples)
    gather_method = next(
        (method for mark, method in _GATHER_METHODS.items() if hasattr(cls, mark)), None
    )
    if gather_method is None:
        return
    # xarray has Dask's methods also for arrays in memory, for which both attributes are None.
    if gather_method == "compute" and (
        getattr(samples, "npartitions", None) is getattr(samples, "chunks", None)
    ):
        return
    classes = {(base.__module__.partition(".")[0], base.__name__) for base in cls.__mro__}
    alternative = "add its partitions to a State"
    if not _SCORED_IN_BATCHES.isdisjoint(classes):
        labels = f', {name}="label"' if name in ("groups", "prompts") else ""
        alternative = (
            f'score the column "x" of a data frame without loading it: '
            f'vendiscore.score_batches(frame, "x"{labels}, k="cosine"); to select rows, use '
            f"vendiscore.select_batches"
        )
    raise TypeError(
        f"`{name}` must be in memory, got {cls.__module__}.{cls.__qualname__}, which is lazy or "
        f"partitioned; pass {name}.{gather_method}() if it fits into memory, or {alternative} "
        f"(docs/tasks/large.md)"
    )


def to_numpy(array: object, name: str) -> np.ndarray:
    """Convert an array of another library, or of a subclass of ndarray, to a NumPy array.

    `name` is the argument that error messages mention.
    """
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise TypeError(
            f"`{name}` has masked entries, which have no value; fill them, with X.filled(…), or "
            f"remove those samples"
        )
    try:
        return np.asarray(array)
    except Exception as error:  # other libraries may raise anything
        raise TypeError(
            f"`{name}` must be a NumPy array, a torch tensor or an object that np.asarray "
            f"converts, got {type(array).__module__}.{type(array).__name__} ({error!s:.80}); "
            "convert it to a NumPy array"
        ) from error


def _check_tensor(X: Tensor, name: str) -> None:
    """Raise a TypeError for a tensor that is not dense, or has no values.

    `name` is the argument that the error mentions.
    """
    torch = sys.modules["torch"]
    if X.is_nested or X.is_meta or X.is_quantized or X.layout != torch.strided:
        raise TypeError(
            f"`{name}` must be a dense torch tensor with values, got one that is nested, meta, "
            "quantized or sparse; pass X.to_padded_tensor(…), X.dequantize() or X.to_dense()"
        )


def move_from_mps(X: Tensor) -> Tensor:
    """Move a tensor from an MPS device, which does not support float64, to the CPU, and warn.

    Other tensors are returned unchanged.
    """
    if X.device.type != "mps":
        return X
    warn("MPS does not support double precision, so tensors on MPS are moved to the CPU")
    return X.cpu()


def flatten_nested(values: SampleContainer, name: str) -> tuple[SampleContainer, list[int]]:
    """Concatenate groups of values; return all values in one list or array, and the group sizes.

    `values` is a list of groups, or an array of shape (number of groups, group size, …). `name` is
    the argument that error messages mention.
    """
    if not isinstance(values, list):
        n_groups, group_size = values.shape[:2]
        return values.reshape(-1, *values.shape[2:]), [group_size] * n_groups
    lists = [
        group if isinstance(group, list) else as_samples(group, name, empty=True)
        for group in values
    ]
    return concatenate_samples(lists), list(map(num_samples, lists))


def check_same_grouping(name: str, sizes: list[int], groups: object) -> None:
    """Raise a ValueError unless an argument is grouped like the samples.

    The argument `name`, such as "p", was passed as a list of groups with these `sizes`. `groups`
    are the groups of the samples; it has an attribute `sizes` if the samples were also passed as a
    list of groups.
    """
    sample_sizes = getattr(groups, "sizes", None)
    alternative = ""
    if sample_sizes is not None:
        alternative = f", or nested like the samples, as {_format_sizes(sample_sizes)}"
    if sizes != sample_sizes:
        raise ValueError(
            f"`{name}` must be one list in the order of the samples{alternative}, got "
            f"{_format_sizes(sizes)}"
        )


def _format_sizes(sizes: list[int]) -> str:
    """Format the first six group sizes for a message, such as "lists of lengths 2, 3"."""
    first = ", ".join(map(str, sizes[:6]))
    if len(sizes) > 6:
        return f"lists of lengths {first}, …"
    return f"lists of lengths {first}"


def take_samples(samples: SampleContainer, indices: Sequence[int] | np.ndarray) -> SampleContainer:
    """Return the samples with the given indices, as a list or an array like `samples`."""
    if isinstance(samples, Sequence):
        return [samples[i] for i in indices]
    return samples[indices]


def as_vectors(
    samples: SampleContainer, name: str = "samples", extra_check: RowCheck | None = None
) -> Rows:
    """Convert samples to a finite matrix, one row per sample; numbers become rows with one entry.

    The result is a float array, a CSR array or a tensor. Raises a SampleError that lists all
    invalid rows. If any row is invalid, `extra_check` is called with the matrix of the remaining
    rows, and the error also lists the problems that it returns, by row index. `name` is the
    argument in messages.
    """
    if isinstance(samples, list):
        if any(map(_is_scalar, samples)):
            samples = [np.atleast_1d(x) if _is_scalar(x) else x for x in samples]
    elif samples.ndim == 1:
        samples = samples.reshape(-1, 1)
    return as_matrix(samples, name, extra_check)


def _is_scalar(x: object) -> bool:
    """Return whether x is a number, or an array or tensor without dimensions."""
    return getattr(x, "ndim", None) == 0 or isinstance(x, Number)


def as_matrix(samples: object, name: str = "samples", extra_check: RowCheck | None = None) -> Rows:
    """Convert samples to a finite matrix, one row per sample: float array, CSR array or tensor.

    Raises a SampleError that lists all invalid rows. If any row is invalid, `extra_check` is called
    with the matrix of the remaining rows, and the error also lists the problems that it returns, by
    row index. `name` is the argument in messages.
    """
    cached = ROWS_CACHE.get()
    if cached is not None and id(samples) in cached:
        return cached[id(samples)][1]
    original = samples
    samples = as_samples(samples, name)
    try:
        X = _as_finite_matrix(samples, name)
        if cached is not None:
            cached[id(original)] = original, X
        return X
    except SampleError as error:
        problems = error.problems
    # Find the problems of the other rows: convert them without the invalid ones, which may reveal
    # further invalid rows, until the conversion succeeds.
    while remaining := [i for i in range(num_samples(samples)) if i not in problems]:
        try:
            X = _as_finite_matrix(take_samples(samples, remaining), name)
            further_problems = extra_check(X) if extra_check else {}
            problems |= {remaining[i]: problem for i, problem in further_problems.items()}
            break
        except SampleError as error:
            problems |= error.reindexed(remaining).problems
        except (TypeError, ValueError):
            break  # reported in the next call, once these rows are corrected
    raise SampleError.from_problems(problems)


def _as_finite_matrix(X: SampleContainer, name: str) -> Rows:
    """Convert samples to a matrix of finite floats; raise an error if they are not valid rows.

    `name` is the argument that error messages mention.
    """
    if isinstance(X, list):
        check_row_dimensions(X, name)
        X = _stack_rows(X, name)
    _check_two_dimensional(X, name)
    if X.shape[1] == 0:
        raise ValueError(f"`{name}` must have at least one column, got shape {tuple(X.shape)}")
    X = _as_float(X, name)
    check_finite(X, name)
    return X


def check_row_dimensions(samples: Samples, name: str) -> None:
    """Raise a ValueError for an array of three or more dimensions, or a list of 2-d arrays.

    Such samples are not rows of one matrix. `name` is the argument in the message.
    """
    first: object = samples
    dimensions = 2
    if isinstance(samples, (list, tuple)):
        first = next(iter(samples), None)
        dimensions = 1
    if getattr(first, "ndim", dimensions) > dimensions:
        from .shapes import raise_row_shape_error

        raise_row_shape_error(samples, name)


def _check_two_dimensional(X: Rows, name: str) -> None:
    """Raise a ValueError unless X has two dimensions; `name` is the argument in the message."""
    if X.ndim != 2:
        from .shapes import raise_row_shape_error

        raise_row_shape_error(X, name)


def _stack_rows(rows: Sequence[object], name: str) -> Array:
    """Stack a list of rows of numbers as an array or a tensor.

    Raises a SampleError that lists rows that are not numeric, or that differ in length from most
    others. `name` is the argument in messages.
    """
    if any(map(is_torch, rows)):
        return _stack_tensors(rows, name)
    if not any(isinstance(row, np.ma.MaskedArray) for row in rows):
        try:
            X = np.asarray(rows)
            if X.dtype.kind in "fbiu":
                return X
        except (TypeError, ValueError, OverflowError):
            pass  # convert row by row below, to report the invalid rows
    converted: dict[int, np.ndarray] = {}
    problems: dict[int, str] = {}
    for i, row in enumerate(rows):
        try:
            converted[i] = _convert_row(row)
        except (TypeError, ValueError) as error:
            problems[i] = f"of `{name}` {error}"
    _check_shapes({i: row.shape for i, row in converted.items()}, problems, name)
    return np.stack(list(converted.values()))


def _convert_row(row: object) -> np.ndarray:
    """Convert a row to a float64 array after checking each entry.

    Error messages have no subject, as in "must be a row of numbers"; the caller adds the subject.
    """
    is_sequence = hasattr(row, "__len__") and not isinstance(row, (str, bytes, Mapping))
    if not (is_sequence or _is_real(row)):
        hint = _REMOVE_HINT
        if isinstance(row, Mapping):
            hint = "; pass one of its columns"
        if isinstance(row, os.PathLike):
            hint = "; for image files, pass k='pixels'"
        raise TypeError(
            f"must be a row of numbers, got {type(row).__name__}: {short_repr(row)}{hint}"
        )
    if isinstance(row, np.ma.MaskedArray) and np.ma.is_masked(row):
        raise ValueError("has masked entries, which have no value; fill them, or remove the row")
    try:
        entries = np.array(row, dtype=object)
    except ValueError:
        raise ValueError(f"must be a row of numbers, got {short_repr(row)}{_REMOVE_HINT}") from None
    for entry in entries.flat:
        if not _is_real(entry):
            raise TypeError(
                f"must be a row of numbers, got {type(entry).__name__} {short_repr(entry)} "
                f"in it{_REMOVE_HINT}"
            )
        try:
            float(entry)
        except OverflowError:
            raise ValueError(
                f"has {short_repr(entry)}, which exceeds the range of double precision"
                f"{_REMOVE_HINT}"
            ) from None
        if problem := describe_inexact_integer(entry):
            raise ValueError(problem)
    return entries.astype(np.float64)


_REMOVE_HINT = "; remove or correct it"


def _is_real(entry: object) -> bool:
    """Return whether an entry of a row is a real number or a bool, of Python or NumPy."""
    is_complex = isinstance(entry, (complex, np.complexfloating))
    return isinstance(entry, (Number, np.bool_)) and not is_complex


def _stack_tensors(rows: Sequence[object], name: str) -> Tensor:
    """Stack a list of tensors of equal shape on one device; raise an error for other rows.

    `name` is the argument that error messages mention.
    """
    problems: dict[int, str] = {}
    shapes = {}
    devices = set()
    for i, row in enumerate(rows):
        if is_torch(row):
            _check_tensor(row, name)
            shapes[i] = tuple(row.shape)
            devices.add(str(row.device))
        else:
            problems[i] = (
                f"of `{name}` must be a torch tensor like the other rows, got "
                f"{type(row).__name__}: {short_repr(row)}{_REMOVE_HINT}"
            )
    _check_shapes(shapes, problems, name)
    if len(devices) > 1:
        raise ValueError(f"`{name}` must be tensors on one device, got {sorted(devices)}")
    return sys.modules["torch"].stack(list(rows))


def _check_shapes(
    shapes: Mapping[int, tuple[int, ...]], problems: dict[int, str], name: str
) -> None:
    """Raise a SampleError for rows with `problems`, and for rows without the most common shape.

    `shapes` contains the shape of each row by row index, and `problems` descriptions of invalid
    rows by row index. `name` is the argument that the error mentions.
    """
    if shapes:
        most_common = Counter(shapes.values()).most_common(1)[0][0]
        for i, shape in shapes.items():
            if shape != most_common:
                problems[i] = (
                    f"of `{name}` has shape {shape}, but other rows have {most_common}"
                    f"{_REMOVE_HINT}"
                )
    SampleError.check(problems)


def _as_float(X: Rows, name: str) -> Rows:
    """Convert real numbers to float32 if they are floats of at most 32 bits, otherwise to float64.

    Raises an error for complex numbers, and for integers that float64 cannot represent exactly.
    `name` is the argument that the error mentions.
    """
    if is_torch(X):
        torch = sys.modules["torch"]
        if X.is_complex():
            raise TypeError(f"`{name}` must be real, got {X.dtype}; pass the real part")
        if X.is_floating_point():
            if X.dtype == torch.float64:
                return X
            return X.to(torch.float32)
        if X.element_size() == 8:  # 64-bit integers
            integers = X
            if X.dtype != torch.int64:
                integers = to_host(X)  # torch does not support max of uint64
            _check_exact_integers(integers, name)
        return X.to(torch.float64)
    kind = X.dtype.kind
    if kind not in "fbiu":
        raise TypeError(f"`{name}` must be real numbers, got dtype {X.dtype}; convert it first")
    size = X.dtype.itemsize
    target_dtype: DType = np.float64
    if kind == "f" and size <= 4:
        target_dtype = np.float32
    if kind != "f" and size == 8:  # 64-bit integers
        _check_exact_integers(X, name)
    with np.errstate(over="ignore"):  # too large numbers become infinite: `check_finite` raises
        return X.astype(target_dtype, copy=False)


def _check_exact_integers(X: Rows, name: str) -> None:
    """Raise a SampleError for rows of X with integers that float64 cannot represent exactly.

    `name` is the argument that the error mentions.
    """
    if X.max() <= MAX_EXACT_INTEGER and X.min() >= -MAX_EXACT_INTEGER:
        return
    if sp.issparse(X):
        X = X.toarray()
    X = to_host(X)
    with np.errstate(invalid="ignore"):
        converted = X.astype(np.float64)
        # Integers of 64 bits are exact in long double precision.
        is_inexact = X.astype(np.longdouble) != converted.astype(np.longdouble)
    problems = {}
    for i in np.flatnonzero(is_inexact.any(axis=1)).tolist():
        first = X[i][is_inexact[i]][0]
        problems[i] = f"of `{name}` {describe_inexact_integer(int(first))}"
    SampleError.check(problems)


def check_finite(X: Rows, name: str) -> None:
    """Raise a SampleError that lists all rows of X with NaN or infinite entries.

    `name` is the argument that the error mentions.
    """
    values = as_shared_numpy(X.data if sp.issparse(X) else X)
    with np.errstate(all="ignore"):
        # A finite sum means that all entries are finite, and is fast to compute.
        if np.isfinite(to_float(values.sum())):
            return
    entries = to_host(values).ravel()
    invalid = np.flatnonzero(~np.isfinite(entries))
    if sp.issparse(X):
        rows = np.searchsorted(X.indptr, invalid, "right") - 1
    else:
        rows = invalid // X.shape[1]
    problems = {}
    rows, first = np.unique(rows, return_index=True)
    for i, value in zip(rows.tolist(), entries[invalid[first]], strict=True):
        problems[i] = (
            f"of `{name}` must be finite, got {value}; remove such samples, or impute their values"
        )
    SampleError.check(problems)


def as_shared_numpy(x: Array) -> Array:
    """Return a NumPy view of a float tensor on the CPU; other arrays are returned unchanged.

    Computing with the view is faster: small operations in torch can take 10 ms each if the threads
    of torch compete with those of NumPy.
    """
    if not is_torch(x) or str(x.device) != "cpu" or str(x.dtype) not in _SHARED_DTYPES:
        return x
    return to_host(x)


def machine_epsilon(samples: object) -> float:
    """Return the machine epsilon of the dtype of the samples, at least that of float64.

    The dtype of a list is that of its first element. Samples without a float dtype have the machine
    epsilon of float64.

    >>> machine_epsilon(np.ones(3, np.float16))
    0.0009765625
    """
    if isinstance(samples, (list, tuple)) and samples:
        samples = samples[0]
    dtype = getattr(samples, "dtype", None)
    if is_torch(samples) and samples.is_floating_point():
        return float(sys.modules["torch"].finfo(dtype).eps)
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        return max(EPS, float(np.finfo(dtype).eps))
    return EPS
