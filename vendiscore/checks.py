"""Checks of what `compute` is given, made before any work starts.

Each returns the checked value, ready to use, or raises an error that names the argument, what was
expected, what came (and where) and what to do about it.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import memory
from .arrays import Array, as_matrix, is_torch, namespace, precision, scalar, to_numpy
from .errors import suggestion
from .mixtures import is_mixture, read_mixture
from .registry import check_options, get_kernel, list_kernels
from .similarity import Similarity
from .spectral import PSD

# How far from 1 a diagonal, and from symmetric a matrix of unit diagonal, may be by rounding in
# single precision; weights may miss a sum of 1 by as much.
DIAGONAL_TOLERANCE = 1e-5
SYMMETRY_TOLERANCE = 1e-5
WEIGHT_TOLERANCE = 1e-5

TEXT_KERNEL = "ngram_overlap"  # the kernel of strings when none is named
SETTINGS = frozenset(
    ("k", "score_K", "score_X", "score_dual", "normalize", "q", "p", "psd", "measures", "details")
)


def check_arguments(arguments: Mapping[str, Any]) -> None:
    """Raise a TypeError or ValueError for keywords of `compute` that it would not accept.

    Looks at no samples, so that a typing mistake costs nothing, and not at `measures`, which stand
    on this module: `scoring.check_arguments` does both.
    """
    given = dict(arguments)
    settings = {name: given.pop(name) for name in SETTINGS if name in given}
    if "q" in settings:
        check_orders(settings["q"])
    check_psd(settings.get("psd", "check"))
    k = settings.get("k")
    ways = [name for name in ("score_K", "score_X", "score_dual") if settings.get(name)]
    if len(ways) + (k is not None) > 1:
        raise ValueError(f"pass one of {', '.join(['k', *ways])}: each says what the samples are")
    if isinstance(k, str):
        check_options(get_kernel(k), given)
    elif is_mixture(k):
        read_mixture(k, **given)
    elif k is not None and not callable(k):
        raise TypeError(
            f"`k` must be a kernel name or a function k(a, b), got {type(k).__name__}; "
            f"use score_K=True for a similarity matrix"
        )
    elif k is None and not ways and given.keys() <= get_kernel(TEXT_KERNEL).options.keys():
        pass  # options of the kernel that is used when none is named
    elif given:
        options = {option for kernel in list_kernels() for option in kernel.options}
        for name in given:
            if name not in options:
                raise TypeError(f"unknown keyword `{name}`. {suggestion(name, options | SETTINGS)}")
            raise TypeError(f"`{name}` is an option of a named kernel: pass that name as `k`")


def check_orders(q: Any) -> list[float]:
    """The orders as floats; an error names the first that is none."""
    single = isinstance(q, (str, bool)) or not isinstance(q, Iterable)
    orders = [_order(item) for item in ([q] if single else q)]
    if not orders:
        raise ValueError("`q` must be an order or several, got an empty list; pass q=1")
    return orders


def _order(q: Any) -> float:
    try:
        order = float(q)
    except (TypeError, ValueError):
        raise TypeError(f"`q` must be a number in [0, inf] or 'inf', got {q!r}") from None
    if not order >= 0:
        raise ValueError(f"`q` must be in [0, inf], got {q}; q=1 is the usual Vendi Score")
    return order


def check_weights(
    p: Any, n: int, dropped: Collection[int] = (), like: Array | None = None
) -> Array | None:
    """Weights (n,) in float64 that sum to exactly 1, or None.

    Where a kernel left samples out, `p` is for all that came in; the weights of the n that are
    left are divided by their sum. They are a torch tensor if `p` is one, or an array `like` that
    they go with; then on its device.
    """
    if p is None:
        return None
    weights = _numbers(p, n)
    if is_torch(like) and not is_torch(weights):
        weights = sys.modules["torch"].as_tensor(weights)
    if is_torch(weights):
        weights = weights.double()
        weights = weights.to(like.device) if like is not None and is_torch(like) else weights
    xp = namespace(weights)
    if tuple(weights.shape) != (n + len(dropped),):
        raise ValueError(
            f"`p` must have one weight for each of {n + len(dropped)} samples, got shape "
            f"{tuple(weights.shape)}"
        )
    good = xp.isfinite(weights) & (weights >= 0)
    if not bool(xp.all(good)):
        i = int(xp.argmin(xp.astype(good, xp.int8)))
        raise ValueError(
            f"`p` must be finite and at least 0, got {scalar(weights[i])} at index {i}"
        )
    with np.errstate(all="ignore"):  # weights too small to be told from 0, or too large to add
        total = scalar(xp.sum(weights))
    if not abs(total - 1) <= max(WEIGHT_TOLERANCE, 2 * precision(p)):
        raise ValueError(f"`p` must sum to 1, got {total:.6g}; pass p / p.sum()")
    if dropped:
        weights = weights[[i for i in range(n + len(dropped)) if i not in dropped]]
        if scalar(xp.sum(weights)) == 0:
            raise ValueError("`p` gives all weight to samples that the kernel left out")
    with np.errstate(all="ignore"):
        return weights / xp.sum(weights)


def _numbers(p: Any, n: int) -> Array:
    """Weights as an array of real numbers, a torch tensor if they are or hold tensors."""
    expected = f"`p` must be numbers, one weight for each of {n} samples, got "
    if is_torch(p):
        if p.is_complex() or p.dtype == sys.modules["torch"].bool:
            raise TypeError(f"{expected}{p.dtype}")
        return p
    if isinstance(p, (list, tuple)) and any(map(is_torch, p)):
        torch = sys.modules["torch"]
        try:
            if any("complex" in f"{type(w)}{getattr(w, 'dtype', '')}" for w in p):
                raise TypeError("complex")
            return torch.stack([torch.as_tensor(weight, dtype=torch.float64) for weight in p])
        except (TypeError, ValueError, RuntimeError) as error:
            raise TypeError(f"{expected}{p!r:.40}") from error
    try:
        values = p.to_numpy() if hasattr(p, "to_numpy") else p
        values = to_numpy(values if hasattr(values, "__array__") else [*values], "p")
        if values.dtype.kind not in "fiuO" or any(np.iscomplexobj(w) for w in values.flat):
            raise TypeError(values.dtype)
        return values.astype(float)
    except (TypeError, ValueError, OverflowError) as error:
        if "masked" in str(error):
            raise
        raise TypeError(f"{expected}{p!r:.40}") from None


def check_psd(psd: Any) -> PSD:
    """What to do about negative eigenvalues."""
    if psd not in ("check", "clip"):
        raise ValueError(f"`psd` must be 'check' or 'clip', got {psd!r}")
    return psd  # type: ignore[no-any-return]


def check_matrix(K: Any) -> Array:
    """A square, symmetric, finite matrix (n, n), dense."""
    K = as_matrix(K)
    n = K.shape[0]
    if K.shape[1] != n:
        raise ValueError(
            f"`samples` with score_K=True must be a square similarity matrix, got shape "
            f"{tuple(K.shape)}; rows of features go with score_X=True"
        )
    if sp.issparse(K):
        memory.require(8 * n * n, f"a dense {n} × {n} similarity matrix", "score fewer samples")
        K = K.toarray()
    xp = namespace(K)
    largest = scalar(xp.max(xp.abs(xp.linalg.diagonal(K))))
    tolerance = SYMMETRY_TOLERANCE * max(1.0, largest)
    size = 512  # two blocks and their difference fit in a core's cache
    for i in range(0, n, size):
        for j in range(i, n, size):
            block = K[i : i + size, j : j + size]
            if scalar(xp.max(xp.abs(block))) > largest + tolerance:
                a, b = divmod(int(xp.argmax(xp.abs(block))), block.shape[1])
                raise ValueError(
                    f"`samples` with score_K=True must have no entry that can exceed the largest "
                    f"of the diagonal, {largest:.6g}, but K[{i + a}, {j + b}] = "
                    f"{scalar(block[a, b]):.6g}; such a matrix is not positive semidefinite"
                )
            gap = xp.abs(block - K[j : j + size, i : i + size].T)
            if scalar(xp.max(gap)) > tolerance:
                a, b = divmod(int(xp.argmax(gap)), gap.shape[1])
                a, b = i + a, j + b
                raise ValueError(
                    f"`samples` with score_K=True must be a symmetric matrix, got K[{a}, {b}] = "
                    f"{scalar(K[a, b]):.6g} and K[{b}, {a}] = {scalar(K[b, a]):.6g}; "
                    f"pass (K + K.T) / 2 if that is meant"
                )
    return K


def check_diagonal(similarity: Similarity) -> Similarity:
    """The similarity itself, if k(x, x) = 1 for every sample."""
    diagonal = similarity.diagonal()
    xp = namespace(diagonal)
    off = xp.abs(diagonal - 1)
    if scalar(xp.max(off)) > DIAGONAL_TOLERANCE:
        i = int(xp.argmax(xp.astype(off > DIAGONAL_TOLERANCE, xp.int8)))
        raise ValueError(
            f"a sample must have similarity 1 with itself, got {scalar(diagonal[i]):.6g} for "
            f"sample {i}; pass normalize=True to divide k(x, y) by √(k(x, x) k(y, y))"
        )
    return similarity
