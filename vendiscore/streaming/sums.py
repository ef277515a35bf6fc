"""Σ w x xᵀ over samples of unit length: of one batch, and as the half of it that is kept."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from ..arrays import memory
from ..arrays.namespace import gram, is_numpy, is_torch, refuse_gradient, row_blocks, to_host
from ..similarity.base import Similarity
from ..similarity.given import DIAGONAL_TOLERANCE

Precision = Literal["double", "single"]
PRECISIONS: tuple[Precision, ...] = ("double", "single")

# Squared lengths of rows that have all their digits, by the precision that they are found in.
_RANGE = {np.dtype(np.float32): (1e-30, 1e30), np.dtype(np.float64): (1e-280, 1e280)}
_BLOCK_BYTES = 1 << 22  # of rows that are multiplied at once


def of_rows(
    X: np.ndarray, weights: np.ndarray | None, precision: Precision, unit: bool
) -> np.ndarray | None:
    """Σ w x xᵀ / ‖x‖² over the rows of X, in one pass, or None if some row needs a closer look.

    Parameters
    ----------
    X : array (n, d), float32 or float64
    weights : array (n,), optional
    precision : {"double", "single"}
        What rows in float32 are multiplied in; blocks are added up in double precision. Others
        are multiplied in double precision.
    unit : bool
        Whether the rows must be of unit length already, up to rounding.

    Returns
    -------
    array (d, d), float64, or None
        None where a row is not finite, is zero, has no square, or is not of unit length.
    """
    n, d = X.shape
    dtype = X.dtype if precision == "single" else np.dtype(np.float64)
    low, high = _RANGE[dtype]
    total, product = np.zeros((d, d)), np.empty((d, d), dtype)
    buffer = np.empty((min(n, _block_rows(d, dtype.itemsize)), d), dtype)
    for start in range(0, n, len(buffer)):
        block = slice(start, min(start + len(buffer), n))
        F = buffer[: block.stop - start]
        for part in row_blocks(len(F), 4 * dtype.itemsize * d, least=1):  # half a megabyte
            rows, F_part = X[block][part], F[part]
            if rows.dtype != dtype:
                F_part[...] = rows
                rows = F_part
            with np.errstate(all="ignore"):
                squares = np.vecdot(rows, rows)
            if not (squares.min() >= low and squares.max() <= high):  # nor where it is NaN
                return None
            if unit and not np.abs(squares - 1).max() <= DIAGONAL_TOLERANCE:
                return None
            factors = 1 / np.sqrt(squares, dtype=np.float64)
            if weights is not None:
                factors *= np.sqrt(weights[block][part])
            np.multiply(rows, factors.astype(dtype)[:, None], out=F_part)
        total += gram(F.T, out=product)
    return total


def _block_rows(d: int, itemsize: int) -> int:
    """So many rows that adding d² numbers costs little beside their product."""
    return max(4 * d, _BLOCK_BYTES // (itemsize * d))


def of_similarity(similarity: Similarity, weights: np.ndarray | None) -> np.ndarray:
    """The same for samples that a kernel has seen; its features, divided by their lengths."""
    diagonal = similarity.diagonal()
    if is_numpy(diagonal):
        factors = np.sqrt((1.0 if weights is None else weights) / diagonal)
    else:
        import torch

        own = torch.ones_like(diagonal) if weights is None else torch.as_tensor(weights)
        factors = torch.sqrt(own.to(diagonal) / diagonal)
    return np.asarray(to_host(similarity.scaled(factors).covariance()), dtype=np.float64)


def length(d: int) -> int:
    """How many numbers the upper triangle of a (d, d) matrix has."""
    return d * (d + 1) // 2


def width(numbers: int) -> int:
    """The d of a triangle of so many numbers."""
    return (math.isqrt(8 * numbers + 1) - 1) // 2


def packed(C: np.ndarray) -> np.ndarray:
    """The upper triangle of a symmetric (d, d) matrix, row by row, d (d + 1) / 2 numbers.

    >>> packed(np.array([[1.0, 2.0], [2.0, 3.0]]))
    array([1., 2., 3.])
    """
    return np.concatenate([C[i, i:] for i in range(len(C))])


def unpacked(triangle: np.ndarray) -> np.ndarray:
    """The symmetric matrix that `packed` got.

    >>> unpacked(np.array([1.0, 2.0, 3.0]))
    array([[1., 2.],
           [2., 3.]])
    """
    d = width(len(triangle))
    C = np.empty((d, d))
    start = 0
    for i in range(d):
        row = triangle[start : start + d - i]
        C[i, i:] = C[i:, i] = row
        start += d - i
    return C


def require(d: int) -> None:
    """Raise a `TooLargeError` if a state of d features, and one more batch, would not fit."""
    # The triangle of what is there and of what comes, and two matrices on the way.
    what = f"a state of {d} features"
    memory.require_large(8 * (3 * d * d + d), what, "compare samples by fewer features")


def read_weights(p: Any, n: int) -> np.ndarray:
    """Weights of a batch of n samples in float64, at least 0, of any sum."""
    expected = f"`p` must be numbers of at least 0, one for each of {n} samples of the batch"
    refuse_gradient(p, "a State")
    try:
        values = np.asarray(to_host(p) if is_torch(p) else p)
        if values.dtype.kind not in "fiu":
            raise TypeError(values.dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{expected}, got {p!r:.40}") from error
    if values.shape != (n,):
        raise ValueError(f"{expected}, got shape {values.shape}")
    values = values.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        raise ValueError(f"{expected}, got {values[bad[0]]} at index {bad[0]}")
    return values
