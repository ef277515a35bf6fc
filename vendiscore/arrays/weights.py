"""Weights of samples: read, checked, and made to sum to 1."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any

import numpy as np

from ..errors import SampleError
from .inputs import check_in_memory, to_numpy
from .namespace import Array, is_torch, namespace, precision, scalar
from .types import Weights

WEIGHT_TOLERANCE = 1e-5


def check_weights(
    p: Weights | None, n: int, dropped: Collection[int] = (), like: Array | None = None
) -> Array | None:
    """Return weights (n,), float64 of sum exactly 1; a tensor if `p` or `like` (samples) is one."""
    if p is None:
        return None
    weights = _numbers(p, n)
    if is_torch(weights) and weights.requires_grad and like is not None and not is_torch(like):
        raise TypeError(
            "`p` has a gradient, which is lost unless the samples are a torch tensor; pass "
            "p.detach(), or the samples as a tensor"
        )
    if like is not None and is_torch(like):
        weights = sys.modules["torch"].as_tensor(weights, device=like.device)
    if is_torch(weights):
        weights = weights.double()
    xp = namespace(weights)
    if tuple(weights.shape) != (n + len(dropped),):
        raise ValueError(
            f"`p` must have one weight for each of {n + len(dropped)} samples, got shape "
            f"{tuple(weights.shape)}"
        )
    good = xp.isfinite(weights) & (weights >= 0)
    check_each("p", weights, good, "must be finite and at least 0")
    with np.errstate(all="ignore"):  # weights that vanish in double precision, or overflow in a sum
        total = scalar(xp.sum(weights))
    if not abs(total - 1) <= max(WEIGHT_TOLERANCE, 2 * precision(p)):
        raise ValueError(f"`p` must sum to 1, got {total:.6g}; pass p / p.sum()")
    if dropped:
        weights = weights[[i for i in range(n + len(dropped)) if i not in dropped]]
        if scalar(xp.sum(weights)) == 0:
            raise ValueError("`p` gives all weight to samples that the kernel left out")
    with np.errstate(all="ignore"):
        return weights / xp.sum(weights)


def check_each(name: str, values: Array, good: Array, expected: str, remedy: str = "") -> None:
    """Raise a SampleError for samples whose number in the argument `name` is not `good` (n,)."""
    if bool(good.all()):
        return
    bad = np.flatnonzero(~np.asarray(good.tolist(), dtype=bool)).tolist()
    SampleError.check(
        {i: f"of `{name}` {expected}, got {scalar(values[i]):.6g}{remedy}" for i in bad}
    )


def _numbers(p: Any, n: int) -> Array:
    """Return weights as an array of real numbers, a torch tensor if they are or hold tensors."""
    check_in_memory(p, "p")
    expected = f"`p` must be numbers, one weight for each of {n} samples, got "
    if is_torch(p):
        if p.is_complex() or p.dtype == sys.modules["torch"].bool:
            raise TypeError(f"{expected}{p.dtype}")
        return p
    try:
        if isinstance(p, (list, tuple)) and any(map(is_torch, p)):
            if any("complex" in f"{type(w)}{getattr(w, 'dtype', '')}" for w in p):
                raise TypeError("complex")
            torch = sys.modules["torch"]
            return torch.stack([torch.as_tensor(weight, dtype=torch.float64) for weight in p])
        values = p.to_numpy() if hasattr(p, "to_numpy") else p
        values = to_numpy(values if hasattr(values, "__array__") else [*values], "p")
        if values.dtype.kind not in "fiuO" or any(np.iscomplexobj(w) for w in values.flat):
            raise TypeError(values.dtype)
        return values.astype(float)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        if "masked" in str(error):
            raise
        raise TypeError(f"{expected}{p!r:.40}") from None
