"""Several collections of samples as one: an array if all are arrays of one shape, else a list."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np

from ..core.namespace import is_numpy, is_torch, to_host
from ..core.types import Pool
from . import sparse as sp


def size(samples: Pool) -> int:
    """Return the number of samples in a list or an array."""
    if hasattr(samples, "shape"):
        return int(samples.shape[0])
    return len(samples)


def shape_of(x: Any) -> tuple[int, ...] | None:
    """Return the shape of an array, or of lists of numbers by the first of each, else None."""
    if isinstance(x, (str, bytes)):
        return None
    if hasattr(x, "shape"):
        return tuple(x.shape)
    if isinstance(x, Number):
        return ()
    first = None
    if isinstance(x, (list, tuple)) and x:
        first = shape_of(x[0])
    if first is None:
        return None
    return (len(x), *first)


def pooled(sets: Sequence[Pool]) -> Pool:
    """Join the samples of all sets, in order, on the device of the first tensor if there is one.

    >>> pooled([np.zeros(2), np.ones(1)]), pooled([["a"], ["b", "c"]])
    (array([0., 0., 1.]), ['a', 'b', 'c'])
    """
    first = sets[0]
    if len(sets) == 1:
        return first
    if any(is_torch(each[0] if isinstance(each, list) and each else each) for each in sets):
        sets = _as_arrays(sets)
    of_one_type = len({getattr(samples, "dtype", None) for samples in sets}) == 1
    if all(map(is_numpy, sets)) and of_one_type and _of_one_shape(sets):
        return np.concatenate(sets)
    tensor = next((samples for samples in sets if is_torch(samples)), None)
    if tensor is not None:
        numbers = all(is_torch(s) or (is_numpy(s) and s.dtype.kind in "fiub") for s in sets)
        if numbers and _of_one_shape(sets):
            torch = sys.modules["torch"]
            return torch.cat([torch.as_tensor(each, device=tensor.device) for each in sets])
    if all(map(sp.issparse, sets)):
        return sp.vstack(sets, format="csr")
    if all(is_torch(samples) and samples.ndim > 1 for samples in sets):
        return [row for samples in sets for row in samples]  # of images of several sizes
    return [sample for samples in sets for sample in _listed(samples)]


def _as_arrays(sets: Sequence[Any]) -> list[Any]:
    """Return sets in which lists of tensors are tensors, and all lists of rows next to tensors."""
    sets = [_stacked(each) if isinstance(each, list) else each for each in sets]
    if any(map(is_torch, sets)):
        sets = [_rows(each) if isinstance(each, list) else each for each in sets]
        sets = [np.require(each, requirements="W") if is_numpy(each) else each for each in sets]
    return sets


def _stacked(rows: list[Any]) -> Any:
    """Return a list of tensors, rows or numbers, of one shape as one tensor."""
    if not all(is_torch(row) and row.ndim < 2 for row in rows):
        return rows
    alike = len({(row.shape, row.device, row.dtype) for row in rows}) == 1
    if alike:
        return sys.modules["torch"].stack(rows)
    return rows


def _rows(rows: list[Any]) -> Any:
    """Return a list of numbers, rows or arrays of one shape as an array."""
    shape = shape_of(rows)
    if shape is None or any(shape_of(row) != shape[1:] or is_torch(row) for row in rows):
        return rows
    try:
        X = np.asarray(rows)
    except ValueError:  # lists in lists of several lengths
        return rows
    if X.dtype.kind in "fiub":
        return X
    return rows


def _of_one_shape(sets: Sequence[Any]) -> bool:
    """Return whether the rows of arrays have one shape."""
    return len({tuple(samples.shape[1:]) for samples in sets}) == 1


def _listed(samples: Any) -> list[Any]:
    if isinstance(samples, list):
        return samples
    if sp.issparse(samples):
        return list(samples.toarray())
    samples = to_host(samples)  # a tensor, pooled with samples of another kind
    if samples.ndim == 1:
        return samples.tolist()
    return list(samples)
