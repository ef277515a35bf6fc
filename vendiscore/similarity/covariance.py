"""Sums of products of rows, FᵀF, by blocks of rows."""

from __future__ import annotations

import numpy as np

from ..support.namespace import Array, disable_autocast, gram, is_numpy, namespace

# Rows that are multiplied at once in single precision: from 1,024 to 16,384 the error is the same,
# and fewer take longer.
FLOAT32_BLOCK_ROWS = 16_384
# Below so many multiplications, double precision takes a millisecond.
MIN_FLOAT32_PRODUCTS = 10**7


def is_float32_faster(X: Array) -> bool:
    """Return whether rows are in single precision, and so many that it would save time."""
    n, d = X.shape
    return str(X.dtype).endswith("float32") and n * d * min(n, d) >= MIN_FLOAT32_PRODUCTS


def compute_covariance(X: Array, scale: Array | None, single_precision: bool = False) -> Array:
    """Return FᵀF of F = diag(s) X by blocks of rows, added up in float64.

    If `single_precision`, rows have length 1, blocks are multiplied in single precision, and the
    scale of NumPy rows is left out; that of tensors carries the gradient of their lengths.
    """
    xp = namespace(X)
    dtype, rows = (
        (xp.float32, FLOAT32_BLOCK_ROWS)
        if single_precision
        else (xp.float64, FLOAT32_BLOCK_ROWS // 4)
    )
    if single_precision and is_numpy(X):
        scale = None
    s = None if scale is None else xp.astype(scale, dtype)[:, None]
    out = np.empty_like(X[:rows], dtype) if is_numpy(X) else None  # new memory takes longer
    total = xp.float64 if out is None or len(X) > rows else dtype
    C: Array | float = 0.0
    with disable_autocast(X):
        for start in range(0, len(X), rows):
            block = slice(start, start + rows)
            F = X[block]
            if s is not None:
                F = F * s[block] if out is None else np.multiply(F, s[block], out=out[: len(F)])
            F = xp.astype(F, dtype, copy=False)
            C = C + xp.astype(gram(F.T), total, copy=False)
    return C
