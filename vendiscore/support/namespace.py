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

# An array or tensor, for type checkers; torch is not imported. Code uses the array API standard.
Array: TypeAlias = "np.ndarray | torch.Tensor"

_BLOCK_BYTES = 1 << 21  # size of a block of rows that fits in the cache of a core
# Maximum number of rows of a matrix in one product with its own transpose. With twice this number,
# crashes of OpenBLAS were observed (numpy/numpy#19685).
MAX_GRAM_ROWS = 8192


def is_torch(x: object) -> TypeGuard[torch.Tensor]:
    """Return whether `x` is a torch tensor, without importing torch."""
    # While another thread is importing torch, the module has no attributes yet, so x is no tensor.
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return tensor is not None and isinstance(x, tensor)


def check_no_transform(x: object, name: str) -> None:
    """Raise a TypeError for a tensor within torch.func.grad, vmap or a similar transform.

    The message calls the argument `name`. Such tensors have no storage, so NumPy cannot read them.
    """
    torch = sys.modules.get("torch")
    # This private module differs between versions of torch, and may be missing.
    functorch = getattr(getattr(torch, "_C", None), "_functorch", None)
    is_wrapped = getattr(functorch, "is_functorch_wrapped_tensor", None)
    if is_wrapped is not None and is_torch(x) and is_wrapped(x):
        raise TypeError(
            f"`{name}` is a tensor within a transform of torch.func, such as grad or vmap, which "
            f"is not supported; use requires_grad=True with torch.autograd.grad or backward() "
            f"instead of grad, and a loop instead of vmap, or "
            f"vendiscore.integrations.loss.vendi_loss"
        )


def is_numpy(x: object) -> TypeGuard[np.ndarray]:
    """Return whether `x` is a NumPy array."""
    return isinstance(x, np.ndarray)


def is_sparse(x: object) -> TypeGuard[csr_array]:
    """Return whether `x` is a SciPy sparse array, without importing scipy.sparse."""
    issparse = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return issparse is not None and issparse(x)


def namespace(x: Array) -> ModuleType:
    """Return the array API namespace of `x` (NumPy for sparse matrices)."""
    if type(x) is np.ndarray or is_sparse(x):
        return np
    if is_torch(x):  # `array_namespace` has a cache, which torch.compile does not support
        import array_api_compat.torch

        return array_api_compat.torch
    from array_api_compat import array_namespace  # not needed for NumPy arrays

    return array_namespace(x)


def detach(x: object) -> Any:
    """Return `x`, without its gradient if it is a tensor."""
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
    """Split n rows of `row_bytes` bytes into blocks that fit in the cache of a core, as slices.

    A block has at least `min_rows` rows, except for the last one.
    """
    size = max(min_rows, _BLOCK_BYTES // max(1, row_bytes))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def gram(A: Array) -> Array:
    """Return A Aᵀ, shape (m, m), for A of shape (m, k), in the precision of A."""
    # NumPy multiplies a matrix by its own transpose with the threaded routine syrk of OpenBLAS,
    # which crashes for about 16,000 rows or more on some machines (numpy/numpy#19685). So use
    # smaller blocks.
    m = A.shape[0]
    if not is_numpy(A) or m <= MAX_GRAM_ROWS:
        return A @ A.T
    out = np.empty((m, m), A.dtype)
    n_blocks = -(-m // MAX_GRAM_ROWS)
    size = -(-m // n_blocks)  # blocks of equal size, except for rounding
    for start in range(0, m, size):
        block, later_rows = slice(start, start + size), slice(start + size, None)
        out[block, block] = A[block] @ A[block].T
        if start + size < m:  # the products with later rows, on both sides of the diagonal
            np.matmul(A[block], A[later_rows].T, out=out[block, later_rows])
            out[later_rows, block] = out[block, later_rows].T
    return out


def disable_autocast(X: object) -> AbstractContextManager[None]:
    """Return a context without autocast for torch tensors on the device of X."""
    if not is_torch(X):
        return nullcontext()
    context: AbstractContextManager[None] = sys.modules["torch"].autocast(
        X.device.type, enabled=False
    )
    return context


def has_exact_float32_matmul(X: torch.Tensor) -> bool:
    """Return whether torch multiplies float32 tensors in float32, not in TF32 or bfloat16.

    This depends on the device of X, on `torch.set_float32_matmul_precision` and on
    `torch.backends`.
    """
    torch = sys.modules["torch"]
    # Products of float32 tensors use cuBLAS on a GPU and oneDNN (mkldnn) on a CPU.
    backend = torch.backends.cuda if X.device.type == "cuda" else torch.backends.mkldnn
    precision = getattr(getattr(backend, "matmul", None), "fp32_precision", None)
    if precision is None:  # torch before 2.9
        precision = torch.get_float32_matmul_precision()
    return precision in ("none", "ieee", "highest")


def scale_rows(F: Array | csr_array, s: Array) -> Array | csr_array:
    """Multiply each row of F, dense or sparse, by the corresponding entry of s."""
    if not is_sparse(F):
        return F * s[:, None]
    F = F.tocsr(copy=True)
    F.data = F.data * np.repeat(s, np.diff(F.indptr))
    return F


def rescale_rows(X: Array | csr_array) -> Array | csr_array:
    """Multiply each non-zero row by a power of two to bring its largest entry into [½, 1).

    The largest entry is that with the largest absolute value. Powers of two cause no rounding.
    """
    magnitudes = abs(detach(X))
    if is_sparse(X):
        largest = magnitudes.max(axis=1).toarray().ravel()
    else:
        largest = namespace(X).max(magnitudes, axis=1)
    # largest = m · 2^exponent with m in [½, 1); the exponent of 0 is 0.
    exponent = np.frexp(to_host(largest))[1]
    half = exponent // 2  # 2¹⁰⁷⁴ overflows, so multiply by two factors
    for half_exponent in (half, exponent - half):
        X = scale_rows(X, asarray_like(np.ldexp(1.0, -half_exponent), X))
    return X


def product(A: Array | csr_array, V: Array) -> Array:
    """Return A @ V in the precision of V.

    Torch does not promote dtypes in products, unlike NumPy.
    """
    return (A.to(V.dtype) if is_torch(A) else A) @ V
