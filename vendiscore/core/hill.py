"""Hill numbers of every order: effective numbers of types, from their proportions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from ..support.arguments import DEFAULT_ORDER, check_order
from ..support.errors import short_repr
from ..support.namespace import Array, detach, is_numpy, is_torch, namespace, to_float
from ..support.types import Number

# Maximum rounding error of a sum of proportions, and maximum relative error of a score at its lower
# or upper bound.
RANGE_TOLERANCE = 1e-6
# For orders this close to 1, tensors use the gradient of q = 1: the factor 1/(q − 1) would amplify
# rounding errors.
ORDER_ONE_TOLERANCE = 1e-8


def effective_number(shares: Array, q: float = DEFAULT_ORDER) -> Number:
    """Compute the Hill number of order q of proportions: (sum_i shares_i^q)^(1 / (1 - q)).

    Order 0 counts the positive proportions, order 1 is the exponential of their Shannon entropy,
    order 2 is the inverse of their sum of squares, and order infinity the inverse of the largest.

    Parameters
    ----------
    shares : array-like of shape (m,)
        Non-negative proportions that sum to 1 within their precision. Zeros are ignored.
    q : float, default 1
        Order, 0 <= q <= infinity.

    Returns
    -------
    float
        Between 1 and the number of positive proportions. For a torch tensor, a differentiable 0-d
        tensor of float64.

    See Also
    --------
    spectrum : Eigenvalues of a similarity matrix, whose Hill number is the Vendi Score.

    Notes
    -----
    The value does not increase with q. Up to order 1, the derivative with respect to a proportion
    of 0 is infinite. The gradient of a tensor therefore includes only the positive proportions.

    References
    ----------
    1. M. O. Hill, "Diversity and Evenness: A Unifying Notation and Its Consequences", Ecology,
       1973.
    2. A. P. Pasarkar and A. B. Dieng, "Cousins of the Vendi Score", 2023. arXiv:2310.12952,
       eq. (3).

    Examples
    --------
    >>> effective_number([0.5, 0.5, 0.0], q=1)
    2.0
    """
    q = check_order(q, hint="call the function once for each order")
    if not is_torch(shares) or shares.ndim != 1:
        shares = _check_proportions(shares)
    shares, precision = _to_float64(shares)
    positive = shares[shares > 0]
    total = to_float(shares.sum())
    if math.isnan(total):
        raise ValueError("`shares` must be numbers, but some are missing (NaN); remove them")
    if positive.shape[0] == 0 or not abs(total - 1) <= max(RANGE_TOLERANCE, 2 * precision):
        raise ValueError(
            f"`shares` must be proportions that sum to 1, got a sum of {total:.6g}; divide "
            f"`shares` by their sum"
        )
    smallest = to_float(shares.min())
    if smallest < 0:
        raise ValueError(f"`shares` must be at least 0, got {smallest:.3g}; pass proportions")
    if precision:  # a sum that differs from 1 by rounding would change orders near 1
        positive = positive / total
    return hill_number(positive, q)


def hill_number(proportions: Array, q: float) -> Number:
    """Compute the Hill number of order q of m proportions, shape (m,), or of each row of (..., m).

    The proportions of a row must be at least 0 and sum to 1, which is not checked. Zeros are
    ignored. The result is between 1 and the number of positive proportions. It is a float for a
    single NumPy row, otherwise an array or a tensor.
    """
    if is_numpy(proportions) and proportions.ndim == 1:
        positive = proportions[proportions > 0]
        n_positive = len(positive)
        return clip_number(_hill_number(positive, np.log(positive), q, n_positive), n_positive)
    xp = namespace(proportions)
    # Dividing by the sum, which is 1, gives the gradient under the constraint that it remains 1.
    if is_torch(proportions) and q <= 1 + ORDER_ONE_TOLERANCE:
        proportions = proportions / proportions.sum(-1)[..., None]
    is_positive = proportions > 0
    n_positive = is_positive.sum(-1)
    largest = xp.max(proportions, axis=-1, keepdims=True)
    logs = xp.log(xp.where(is_positive, proportions, largest))  # avoids log 0
    return clip_to_range(_hill_number(proportions, logs, q, n_positive), n_positive)


def _hill_number(proportions: Array, logs: Array, q: float, n_positive: Array | int) -> Array:
    """Compute the Hill number of order q from proportions (..., m) and their logarithms `logs`.

    For proportions of 0, `logs` contains the logarithm of the largest proportion in the same row.
    `n_positive` is the number of positive proportions in each row, shape (...).
    """
    if q == 0:
        return (proportions * 0).sum(-1) + n_positive  # an array or tensor like the proportions
    xp = namespace(proportions)
    if math.isinf(q):
        return 1 / xp.max(proportions, axis=-1)
    return xp.exp(log_power_mean(proportions, logs, q))


def clip_number(value: Array | float, upper: int) -> float:
    """Clip an effective number to [1, upper], and return it as a float."""
    return min(max(float(value), 1.0), float(upper))


def clip_to_range(values: Array | float, upper: Array | int) -> Any:
    """Clip effective numbers to [1, upper], elementwise if these are arrays.

    The gradient of a tensor is not changed by clipping. A single number that is not a tensor is
    returned as a float.
    """
    if is_numpy(values):
        return np.clip(values, 1.0, upper)
    if not is_torch(values):
        return clip_number(values, int(upper))
    xp = namespace(values)
    detached = detach(values)
    bound = xp.astype(xp.asarray(upper, device=values.device), detached.dtype)
    clipped = xp.minimum(xp.maximum(detached, xp.ones_like(detached)), bound)
    return values + (clipped - detached)  # the gradient is that of `values`


def _check_proportions(shares: object) -> np.ndarray:
    """Return `shares` as a one-dimensional array; raise a TypeError if they are not numbers."""
    array: Any = shares
    if not (is_numpy(shares) or is_torch(shares) or hasattr(shares, "__array_namespace__")):
        with suppress(TypeError, ValueError, OverflowError):  # reported below
            array = np.asarray(shares, dtype=float)  # of a list or a column of a data frame
    if getattr(getattr(array, "dtype", None), "kind", "O") not in "biuf" or array.ndim != 1:
        hint = ""
        if isinstance(shares, Mapping):
            hint = "for a dict of counts, use compute(counts=list(shares.values())); otherwise "
        raise TypeError(
            f"`shares` must be a one-dimensional array of proportions that sum to 1, got "
            f"{short_repr(shares)}; {hint}use score(samples) for samples, or score_K(K) for a "
            f"similarity matrix"
        )
    return array


def _to_float64(shares: Array) -> tuple[Array, float]:
    """Return proportions in float64, and the machine epsilon of their dtype.

    The latter is 0 for float64 and for integers.
    """
    xp = namespace(shares)
    if shares.dtype == xp.float64:
        return shares, 0.0
    precision = float(xp.finfo(shares.dtype).eps) if "float" in str(shares.dtype) else 0.0
    return xp.astype(shares, xp.float64), precision


def log_power_mean(weights: Array, logs: Array, q: float) -> Array:
    """Compute log (Σ_i w_i exp((q − 1) logs_i)) / (1 − q), or its limit −Σ_i w_i logs_i for q = 1.

    The sum is over the last axis, along which the `weights` w sum to 1. For proportions w and
    logs = log w, the result is the logarithm of the Hill number of order q.
    """
    if q == 1:
        return -(weights * logs).sum(-1)
    xp = namespace(logs)
    if abs(q - 1) < 0.5:
        # Σ w e^x = 1 + Σ w (e^x − 1) is accurate for q → 1, where the plain formula tends to 0/0.
        excess = xp.sum(weights * xp.expm1((q - 1) * logs), axis=-1)
        # The sum of weights is 1, but its gradient with respect to weights of 0 is not 0.
        if is_torch(weights) and abs(q - 1) > ORDER_ONE_TOLERANCE:
            total = xp.sum(weights, axis=-1)
            excess = excess + (total - total.detach())
        return xp.log1p(excess) / (1 - q)
    # Factor out the largest term, exp((q − 1) top), so the exponents (q − 1) (logs − top) are at
    # most 0, possibly −∞, and the powers cannot overflow.
    top = (xp.max if q > 1 else xp.min)(logs, axis=-1, keepdims=True)
    with np.errstate(over="ignore", under="ignore"):
        powers = xp.exp((q - 1) * (logs - top))
    return xp.log(xp.sum(weights * powers, axis=-1)) / (1 - q) - top[..., 0]
