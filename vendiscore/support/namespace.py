"""Functions that serve NumPy and torch alike: kind, precision, blocks of rows, two products."""

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

# A name for type checkers, used through the array API standard; torch is not imported for it.
Array: TypeAlias = "np.ndarray | torch.Tensor"

_BLOCK_BYTES = 1 << 21  # a block of rows that stays in a core's cache
# Rows that are multiplied with their own transpose at once: half as many as were seen to fail.
MAX_GRAM_ROWS = 8192


def is_torch(x: object) -> TypeGuard[torch.Tensor]:
    """Return whether `x` is a torch tensor, without importing torch."""
    # While another thread imports torch, the module has no names yet, and x is not a tensor.
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return tensor is not None and isinstance(x, tensor)


def is_numpy(x: object) -> TypeGuard[np.ndarray]:
    """Return whether `x` is a NumPy array, so that NumPy's and SciPy's own routines apply."""
    return isinstance(x, np.ndarray)


def is_sparse(x: object) -> TypeGuard[csr_array]:
    """Return whether `x` is one of SciPy's sparse arrays, without importing them."""
    issparse = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return issparse is not None and issparse(x)


def namespace(x: Array) -> ModuleType:
    """Return the array API namespace of `x` (NumPy for sparse matrices)."""
    if type(x) is np.ndarray or is_sparse(x):
        return np
    from array_api_compat import array_namespace  # here: NumPy alone does without it

    return array_namespace(x)


def detach(x: object) -> Any:
    """Return `x` outside of any differentiation."""
    return x.detach() if hasattr(x, "detach") else x


def to_float(x: Array | float) -> float:
    """Return a 0-d array as a Python float, outside of any differentiation."""
    return float(detach(x))


def to_host(x: Array) -> np.ndarray:
    """Return a NumPy array, outside of any differentiation; bfloat16, of a tensor, in float32."""
    if isinstance(x, np.ndarray) or not is_torch(x):
        return np.asarray(x)
    # NumPy lacks lazily negated views, such as `.imag` of a conjugate.
    tensor: Any = x.detach().cpu().resolve_neg()
    return np.asarray(tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor)


def asarray_like(x: object, other: Array) -> Array:
    """Return `x` in the namespace, precision and place of `other`."""
    if isinstance(other, np.ndarray) or not is_torch(other):
        return np.asarray(to_host(x), dtype=other.dtype)
    if is_torch(x):
        return x.to(dtype=other.dtype, device=other.device)  # asarray drops the gradient, or warns
    return namespace(other).asarray(x, dtype=other.dtype, device=other.device)


def row_blocks(n: int, row_bytes: int, min_rows: int = 64) -> Iterable[slice]:
    """Return slices that cut n rows into blocks that fit in the cache, of at least so many rows."""
    size = max(min_rows, _BLOCK_BYTES // max(1, row_bytes))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def gram(A: Array) -> Array:
    """Return A Aᵀ for A of shape (m, k), in A's precision."""
    # NumPy hands a product with its own transpose to OpenBLAS' threaded syrk, which ends the
    # process from about 16,000 rows on some machines (numpy/numpy#19685): blocks are smaller.
    m = A.shape[0]
    if not is_numpy(A) or m <= MAX_GRAM_ROWS:
        return A @ A.T
    out = np.empty((m, m), A.dtype)
    size = -(-m // -(-m // MAX_GRAM_ROWS))  # blocks of one size
    for start in range(0, m, size):
        own, later = slice(start, start + size), slice(start + size, None)
        out[own, own] = A[own] @ A[own].T
        if start + size < m:
            np.matmul(A[own], A[later].T, out=out[own, later])
            out[later, own] = out[own, later].T
    return out


def disable_autocast(X: object) -> AbstractContextManager[None]:
    """Return a context in which torch multiplies tensors like X in their own precision."""
    if not is_torch(X):
        return nullcontext()
    context: AbstractContextManager[None] = sys.modules["torch"].autocast(
        X.device.type, enabled=False
    )
    return context


def has_exact_float32_matmul(X: torch.Tensor) -> bool:
    """Return whether torch multiplies float32 tensors like X in float32, not in TF32 or bfloat16.

    `torch.set_float32_matmul_precision` and `torch.backends` allow others.
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
    """Multiply rows by powers of two that bring their largest entry into [½, 1), zeros aside."""
    size = abs(detach(X))
    top = size.max(axis=1).toarray().ravel() if is_sparse(X) else namespace(X).max(size, axis=1)
    exponent = np.frexp(to_host(top))[1]
    half = exponent // 2  # 2⁻¹⁰⁷⁴ has no inverse, but two factors have
    for part in (half, exponent - half):
        X = scale_rows(X, asarray_like(np.ldexp(1.0, -part), X))
    return X


def product(A: Array | csr_array, V: Array) -> Array:
    """Return A @ V in the precision of V: torch, unlike NumPy, does not mix precisions."""
    return (A.to(V.dtype) if is_torch(A) else A) @ V
