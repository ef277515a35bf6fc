"""Compute FᵀF of features F by blocks of rows, in double or single precision."""

from __future__ import annotations

import numpy as np

from ..support.namespace import Array, disable_autocast, gram, is_numpy, namespace

# Rows per product in single precision. The error is the same for 1,024 to 16,384 rows, and smaller
# blocks are slower.
FLOAT32_BLOCK_ROWS = 16_384
# Below this number of multiplications, double precision takes about a millisecond.
MIN_FLOAT32_PRODUCTS = 10**7


def is_float32_faster(X: Array) -> bool:
    """Return whether X (n, d) is in float32, and so large that products in float32 save time."""
    n, d = X.shape
    return str(X.dtype).endswith("float32") and n * d * min(n, d) >= MIN_FLOAT32_PRODUCTS


def compute_covariance(X: Array, scale: Array | None, single_precision: bool = False) -> Array:
    """Compute FᵀF (d, d) for F = diag(scale) X, where X has shape (n, d) and scale (n,).

    Products of blocks of rows are added in float64. With `single_precision`, the products are
    computed in float32, which is accurate enough only for samples of unit norm. For a NumPy array,
    the result is then XᵀX without the factors `scale`, which the caller must apply. A tensor is
    multiplied by `scale` in both cases, because `scale` may have a gradient.
    """
    xp = namespace(X)
    dtype = xp.float64
    block_rows = FLOAT32_BLOCK_ROWS // 4
    if single_precision:
        dtype = xp.float32
        block_rows = FLOAT32_BLOCK_ROWS
    if single_precision and is_numpy(X):
        scale = None
    s = None if scale is None else xp.astype(scale, dtype)[:, None]
    # One buffer for all blocks, because allocation is slow.
    buffer = np.empty_like(X[:block_rows], dtype) if is_numpy(X) else None
    # The product of a single block is not accumulated, so it remains in `dtype`.
    sum_dtype = xp.float64 if buffer is None or len(X) > block_rows else dtype
    C: Array | float = 0.0
    with disable_autocast(X):
        for start in range(0, len(X), block_rows):
            block = slice(start, start + block_rows)
            F = X[block]
            if s is not None:
                if buffer is None:
                    F = F * s[block]
                else:
                    F = np.multiply(F, s[block], out=buffer[: len(F)])
            F = xp.astype(F, dtype, copy=False)
            C = C + xp.astype(gram(F.T), sum_dtype, copy=False)
    return C
