"""Compute FᵀF by blocks of rows, in double or single precision."""

from __future__ import annotations

import numpy as np

from ..support.namespace import Array, disable_autocast, gram, is_numpy, namespace

# Rows per product in single precision. The error is the same for 1,024 to 16,384 rows, and smaller
# blocks are slower.
FLOAT32_BLOCK_ROWS = 16_384
# Below this number of multiplications, double precision takes about a millisecond.
MIN_FLOAT32_PRODUCTS = 10**7


def is_float32_faster(X: Array) -> bool:
    """Return whether X is in float32 and large enough for float32 products to save time."""
    n, d = X.shape
    return str(X.dtype).endswith("float32") and n * d * min(n, d) >= MIN_FLOAT32_PRODUCTS


def compute_covariance(X: Array, scale: Array | None, single_precision: bool = False) -> Array:
    """Compute FᵀF for F = diag(scale) X by blocks of rows, accumulated in float64.

    With `single_precision`, blocks are multiplied in single precision, and rows must have length 1:
    `scale` is ignored for NumPy arrays, and used for tensors because of its gradient.
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
    out = np.empty_like(X[:rows], dtype) if is_numpy(X) else None  # reused: allocation is slow
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
