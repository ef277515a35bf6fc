"""Any function k(a, b) as a kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import memory
from ..progress import track
from ..similarity import MatrixSimilarity, Similarity

# How many pairs, spread over all, are also compared the other way round.
SYMMETRY_PAIRS = 32
SYMMETRY_TOLERANCE = 1e-6


def pairwise(
    samples: Any, k: Callable[[Any, Any], float], places: Sequence[int] | None = None
) -> Similarity:
    """K_ij = k(x_i, x_j), each pair compared once.

    `places` says where each sample is in the list that the caller knows, for errors.

    A spread of up to 32 pairs is also compared the other way round, to notice a function that is
    not symmetric. Values in single precision make a K in single precision.

    Raises
    ------
    TypeError, ValueError
        If k returns something that is not a finite real number, or is not symmetric; the message
        names the pair.
    """
    n = len(samples)
    at = range(n) if places is None else places
    memory.require(8 * n * n, f"the similarity matrix of {n} samples", "compare fewer samples")
    K = np.empty((0, 0))
    pairs = ((i, j) for i in range(n) for j in range(i, n))
    for i, j in track(pairs, n * (n + 1) // 2, "comparing pairs"):
        value = k(samples[i], samples[j])
        if not K.size:
            K = np.empty((n, n), np.float32 if np.asarray(value).dtype == np.float32 else float)
        K[i, j] = K[j, i] = _number(value, at[i], at[j])
    rows, columns = _spread(n)
    for i, j in zip(rows, columns, strict=True):
        back = _number(k(samples[j], samples[i]), at[j], at[i])
        if abs(back - K[i, j]) > SYMMETRY_TOLERANCE * max(1.0, abs(back)):
            raise ValueError(
                f"`k` must be symmetric, but k(samples[{at[i]}], samples[{at[j]}]) = {K[i, j]:.6g} and "
                f"k(samples[{at[j]}], samples[{at[i]}]) = {back:.6g}; pass the mean of both directions"
            )
    name = getattr(k, "__qualname__", type(k).__qualname__)
    return MatrixSimilarity(K, settings={"kernel": f"function {name}"})


def _number(value: Any, i: int, j: int) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"`k` must return a number, got {type(value).__name__} for samples {i} and {j}"
        ) from None
    if not np.isfinite(number):
        raise ValueError(f"`k` must return finite numbers, got {number} for samples {i} and {j}")
    return number


def _spread(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Up to SYMMETRY_PAIRS pairs i < j, evenly spread over all of them."""
    total = n * (n - 1) // 2
    flat = np.unique(np.linspace(0, total - 1, min(total, SYMMETRY_PAIRS)).astype(int))
    # Row i of the upper triangle starts at position i(2n − i − 1)/2.
    starts = np.arange(n) * (2 * n - np.arange(n) - 1) // 2
    rows = np.searchsorted(starts, flat, side="right") - 1
    return rows, flat - starts[rows] + rows + 1
