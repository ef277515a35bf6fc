"""Concatenate collections of samples, as an array if their shapes and types allow it."""

import sys
from collections.abc import Sequence
from itertools import chain
from numbers import Number
from typing import TypeGuard

import numpy as np

from ..support.namespace import Array, is_numpy, is_torch, to_host
from ..support.types import SampleContainer
from . import sparse as sp


def num_samples(samples: SampleContainer) -> int:
    """Return the number of samples in a list, an array or a sparse matrix."""
    if isinstance(samples, list) or not hasattr(samples, "shape"):
        return len(samples)
    return int(samples.shape[0])


def infer_shape(x: object) -> tuple[int, ...] | None:
    """Return the shape of an array, or of nested lists of numbers, or None for other objects.

    The shape of a list is its length, followed by the shape of its first element.
    """
    if isinstance(x, (str, bytes)):
        return None
    if hasattr(x, "shape"):
        return tuple(x.shape)
    if isinstance(x, Number):
        return ()
    if not isinstance(x, (list, tuple)) or not x:
        return None
    first = infer_shape(x[0])
    return None if first is None else (len(x), *first)


def concatenate_samples(sets: Sequence[SampleContainer]) -> SampleContainer:
    """Concatenate sets of samples in order, on the device of the first tensor, if any.

    The result is an array, a CSR array or a tensor if all sets can be converted to the same of
    these types without changing values, otherwise a list.

    >>> concatenate_samples([np.zeros(2), np.ones(1)]), concatenate_samples([["a"], ["b", "c"]])
    (array([0., 0., 1.]), ['a', 'b', 'c'])
    """
    if len(sets) == 1:
        return sets[0]
    if "torch" in sys.modules:
        first_samples = [
            samples[0] if isinstance(samples, list) and samples else samples for samples in sets
        ]
        if any(map(is_torch, first_samples)):
            sets = _as_arrays(sets)
    if {*map(type, sets)} == {list}:
        return list(chain.from_iterable(sets))
    dtypes = {getattr(samples, "dtype", None) for samples in sets}
    shapes = {tuple(getattr(samples, "shape", ())[1:]) for samples in sets}  # of single samples
    if all(map(is_numpy, sets)) and len(dtypes) == len(shapes) == 1:
        return np.concatenate(sets)
    tensors = [samples for samples in sets if is_torch(samples)]
    if tensors and all(map(_is_numeric, sets)) and len(shapes) == 1:
        torch = sys.modules["torch"]
        device = tensors[0].device
        return torch.cat([torch.as_tensor(samples, device=device) for samples in sets])
    if all(map(sp.issparse, sets)):
        return sp.vstack(sets, format="csr")
    if all(is_torch(samples) and samples.ndim > 1 for samples in sets):
        return [sample for samples in sets for sample in samples]  # images of several sizes
    return [sample for samples in sets for sample in _to_list(samples)]


def _is_numeric(samples: object) -> TypeGuard[Array]:
    """Return whether samples are a tensor, or a NumPy array of numbers or booleans."""
    if is_numpy(samples):
        return samples.dtype.kind in "fiub"
    return is_torch(samples)


def _as_arrays(sets: Sequence[SampleContainer]) -> list[SampleContainer]:
    """Convert each set that is a list of tensors to one tensor.

    If any set is then a tensor, sets that are lists of numbers or rows become NumPy arrays.
    """
    sets = list(map(_stack_tensors, sets))
    if not any(map(is_torch, sets)):
        return sets
    arrays = []
    for samples in map(_rows_to_array, sets):
        if is_numpy(samples):  # torch warns about arrays that are not writable
            samples = np.require(samples, requirements="W")
        arrays.append(samples)
    return arrays


def _stack_tensors(rows: SampleContainer) -> SampleContainer:
    """Stack a list of 0-d or 1-d tensors of equal shape, device and dtype as one tensor.

    Other samples are returned unchanged.
    """
    if not isinstance(rows, list):
        return rows
    tensor_types = set()
    for row in rows:
        if not is_torch(row) or row.ndim > 1:
            return rows
        tensor_types.add((row.shape, row.device, row.dtype))
    if len(tensor_types) == 1:
        return sys.modules["torch"].stack(rows)
    return rows


def _rows_to_array(rows: SampleContainer) -> SampleContainer:
    """Convert a list of numbers, or of rows of equal shape, to an array.

    Other samples are returned unchanged.
    """
    if not isinstance(rows, list):
        return rows
    shape = infer_shape(rows)
    if shape is None or any(map(is_torch, rows)):
        return rows
    if any(infer_shape(row) != shape[1:] for row in rows):
        return rows
    try:
        X = np.asarray(rows)
    except ValueError:  # nested lists of different lengths
        return rows
    if X.dtype.kind in "fiub":
        return X
    return rows


def _to_list(samples: SampleContainer) -> list[object]:
    """Convert an array of samples to a list: of Python numbers if it is 1-d, else of dense rows.

    A list is returned unchanged.
    """
    if isinstance(samples, list):
        return samples
    if sp.issparse(samples):
        return list(samples.toarray())
    samples = to_host(samples)  # a tensor, next to samples of another type
    if samples.ndim == 1:
        return samples.tolist()
    return list(samples)
