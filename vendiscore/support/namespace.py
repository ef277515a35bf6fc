"""Functions for NumPy arrays and torch tensors: types, conversion, blocks of rows, products."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

if TYPE_CHECKING:
    import torch
    from scipy.sparse import csr_array

# For type checkers; torch is not imported. Code uses the array API standard.
Array: TypeAlias = "np.ndarray | torch.Tensor"

_BLOCK_BYTES = 1 << 21  # size of a block of rows that fits in the cache of a core
# Maximum number of rows in one product with its own transpose; failures were observed at twice
# as many, see `gram`.
MAX_GRAM_ROWS = 8192


def is_torch(x: object) -> TypeGuard[torch.Tensor]:
    """Return whether `x` is a torch tensor, without importing torch."""
    # If another thread is importing torch, the module has no attributes yet; x is not a tensor.
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return tensor is not None and isinstance(x, tensor)


def is_numpy(x: object) -> TypeGuard[np.ndarray]:
    """Return whether `x` is a NumPy array, which NumPy's and SciPy's routines accept."""
    return isinstance(x, np.ndarray)


def is_sparse(x: object) -> TypeGuard[csr_array]:
    """Return whether `x` is a SciPy sparse array, without importing scipy.sparse."""
    issparse = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return issparse is not None and issparse(x)


def namespace(x: Array) -> ModuleType:
    """Return the array API namespace of `x` (NumPy for sparse matrices)."""
    if type(x) is np.ndarray or is_sparse(x):
        return np
    from array_api_compat import array_namespace  # not needed for NumPy arrays

    return array_namespace(x)


def detach(x: object) -> Any:
    """Return `x`, a tensor without its gradient."""
    return x.detach() if hasattr(x, "detach") else x


def to_float(x: Array | float) -> float:
    """Return a 0-d array or tensor as a Python float, without its gradient."""
    return float(detach(x))


def to_host(x: Array) -> np.ndarray:
    """Return an array or tensor as a NumPy array without gradient; bfloat16 becomes float32."""
    if isinstance(x, np.ndarray) or not is_torch(x):
        return np.asarray(x)
    # NumPy does not support lazily negated views, such as `.imag` of a conjugate.
    tensor: Any = x.detach().cpu().resolve_neg()
    return np.asarray(tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor)


def asarray_like(x: object, other: Array) -> Array:
    """Return `x` as an array with the library, dtype and device of `other`."""
    if isinstance(other, np.ndarray) or not is_torch(other):
        return np.asarray(to_host(x), dtype=other.dtype)
    if is_torch(x):
        return x.to(dtype=other.dtype, device=other.device)  # asarray would drop the gradient
    return namespace(other).asarray(x, dtype=other.dtype, device=other.device)


def row_blocks(n: int, row_bytes: int, min_rows: int = 64) -> Iterable[slice]:
    """Split n rows into slices of blocks that fit in the cache, of at least `min_rows` rows."""
    size = max(min_rows, _BLOCK_BYTES // max(1, row_bytes))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def gram(A: Array) -> Array:
    """Return A Aᵀ for A of shape (m, k), in the precision of A."""
    # NumPy computes a product with its own transpose by the threaded syrk of OpenBLAS, which
    # crashes from about 16,000 rows on some machines (numpy/numpy#19685). So use smaller blocks.
    m = A.shape[0]
    if not is_numpy(A) or m <= MAX_GRAM_ROWS:
        return A @ A.T
    out = np.empty((m, m), A.dtype)
    size = -(-m // -(-m // MAX_GRAM_ROWS))  # blocks of equal size
    for start in range(0, m, size):
        own, later = slice(start, start + size), slice(start + size, None)
        out[own, own] = A[own] @ A[own].T
        if start + size < m:
            np.matmul(A[own], A[later].T, out=out[own, later])
            out[later, own] = out[own, later].T
    return out


def disable_autocast(X: object) -> AbstractContextManager[None]:
    """Return a context in which torch multiplies tensors like X without autocast."""
    if not is_torch(X):
        return nullcontext()
    context: AbstractContextManager[None] = sys.modules["torch"].autocast(
        X.device.type, enabled=False
    )
    return context


def has_exact_float32_matmul(X: torch.Tensor) -> bool:
    """Return whether torch multiplies float32 tensors like X in float32, not in TF32 or bfloat16.

    This depends on `torch.set_float32_matmul_precision` and `torch.backends`.
    """
    torch = sys.modules["torch"]
    backend = torch.backends.cuda if X.device.type == "cuda" else torch.backends.mkldnn
    precision = getattr(getattr(backend, "matmul", None), "fp32_precision", None)
    if precision is None:  # torch before 2.9
        precision = torch.get_float32_matmul_precision()
    return precision in ("none", "ieee", "highest")


def scale_rows(F: Array | csr_array, s: Array) -> Array | csr_array:
    """Return diag(s) F for dense or sparse F."""
    if not is_sparse(F):
        return F * s[:, None]
    F = F.tocsr(copy=True)
    F.data = F.data * np.repeat(s, np.diff(F.indptr))
    return F


def rescale_rows(X: Array | csr_array) -> Array | csr_array:
    """Multiply each non-zero row by a power of two so its largest entry is in [½, 1)."""
    size = abs(detach(X))
    top = size.max(axis=1).toarray().ravel() if is_sparse(X) else namespace(X).max(size, axis=1)
    exponent = np.frexp(to_host(top))[1]
    half = exponent // 2  # 2¹⁰⁷⁴ overflows, so multiply by two factors
    for part in (half, exponent - half):
        X = scale_rows(X, asarray_like(np.ldexp(1.0, -part), X))
    return X


def product(A: Array | csr_array, V: Array) -> Array:
    """Return A @ V in the precision of V; torch, unlike NumPy, does not promote dtypes here."""
    return (A.to(V.dtype) if is_torch(A) else A) @ V
