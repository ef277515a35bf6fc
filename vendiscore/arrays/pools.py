"""Several collections of samples as one: an array if all are arrays of one shape, else a list."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np

from . import sparse as sp
from .namespace import is_numpy, is_torch, to_host
from .types import Pool


def size(samples: Pool) -> int:
    """Return the number of samples in a list or an array."""
    return int(samples.shape[0]) if hasattr(samples, "shape") else len(samples)


def pooled(sets: Sequence[Pool]) -> Pool:
    """Join the samples of all sets, in order, on the device of the first tensor if there is one.

    >>> pooled([np.zeros(2), np.ones(1)]), pooled([["a"], ["b", "c"]])
    (array([0., 0., 1.]), ['a', 'b', 'c'])
    """
    first = sets[0]
    if len(sets) == 1:
        return first
    of_one_type = len({getattr(samples, "dtype", None) for samples in sets}) == 1
    if all(map(is_numpy, sets)) and of_one_type and _of_one_shape(sets):
        return np.concatenate(sets)
    tensor = next((samples for samples in sets if is_torch(samples)), None)
    if tensor is not None:
        arrays = [_array(samples) for samples in sets]
        numbers = all(is_torch(s) or (is_numpy(s) and s.dtype.kind in "fiub") for s in arrays)
        if numbers and _of_one_shape(arrays):
            torch = sys.modules["torch"]
            return torch.cat([torch.as_tensor(each, device=tensor.device) for each in arrays])
    if all(map(sp.issparse, sets)):
        return sp.vstack(sets, format="csr")
    if all(is_torch(samples) and samples.ndim > 1 for samples in sets):
        return [row for samples in sets for row in samples]  # of images of several sizes
    return [sample for samples in sets for sample in _listed(samples)]


def _of_one_shape(sets: Sequence[Any]) -> bool:
    """Return whether the rows of arrays have one shape."""
    return len({tuple(samples.shape[1:]) for samples in sets}) == 1


def _array(samples: Any) -> Any:
    """Return a list of numbers, or of rows of equal length, as an array."""
    first = samples[0] if isinstance(samples, list) and samples else None
    if not isinstance(first, (Number, list, tuple)) and not is_numpy(first):
        return samples
    try:
        return np.asarray(samples)
    except ValueError:
        return samples


def _listed(samples: Any) -> list[Any]:
    if isinstance(samples, list):
        return samples
    if sp.issparse(samples):
        return list(samples.toarray())
    samples = to_host(samples)  # a tensor, pooled with samples of another kind
    return samples.tolist() if samples.ndim == 1 else list(samples)
