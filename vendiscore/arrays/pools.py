"""Several collections of samples as one: an array where all are arrays that fit, or a list."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .namespace import is_numpy, is_torch


def size(samples: Any) -> int:
    """Return the number of samples in a list or an array."""
    return int(samples.shape[0]) if hasattr(samples, "shape") else len(samples)


def pooled(sets: Sequence[Any]) -> Any:
    """Return all samples of all sets, in order.

    Arrays of NumPy beside tensors come to torch, on the device of the first that is one.

    >>> pooled([np.zeros(2), np.ones(1)]), pooled([["a"], ["b", "c"]])
    (array([0., 0., 1.]), ['a', 'b', 'c'])
    """
    first = sets[0]
    if len(sets) == 1:
        return first
    if _alike(sets):
        return np.concatenate(sets)
    tensor = next((samples for samples in sets if is_torch(samples)), None)
    if tensor is not None and _fit(sets):
        torch = sys.modules["torch"]
        return torch.cat([torch.as_tensor(samples, device=tensor.device) for samples in sets])
    if all(map(sp.issparse, sets)):
        return sp.vstack(sets, format="csr")
    if all(is_torch(samples) and samples.ndim > 1 for samples in sets):
        return [row for samples in sets for row in samples]  # of images of several sizes
    return [sample for samples in sets for sample in _listed(samples)]


def as_numpy(tensor: Any) -> np.ndarray:
    """Return a tensor on the host; half precision, which NumPy may lack, as single."""
    tensor = tensor.cpu().resolve_neg()
    half = tensor.is_floating_point() and tensor.dtype.itemsize == 2
    return np.asarray(tensor.float() if half else tensor)


def _alike(sets: Sequence[Any]) -> bool:
    """Return whether all are NumPy arrays of one type, whose rows have one shape."""
    first = sets[0]
    return is_numpy(first) and all(
        is_numpy(samples) and samples.dtype == first.dtype and samples.shape[1:] == first.shape[1:]
        for samples in sets
    )


def _fit(sets: Sequence[Any]) -> bool:
    """Return whether all are arrays of numbers, of NumPy or torch, whose rows have one shape."""
    arrays = all(is_torch(s) or (is_numpy(s) and s.dtype.kind in "fiub") for s in sets)
    return arrays and len({tuple(samples.shape[1:]) for samples in sets}) == 1


def _listed(samples: Any) -> list[Any]:
    if isinstance(samples, list):
        return samples
    if sp.issparse(samples):
        return list(samples.toarray())
    if is_torch(samples):  # beside samples that are none
        samples = as_numpy(samples)
    return samples.tolist() if samples.ndim == 1 else list(samples)
