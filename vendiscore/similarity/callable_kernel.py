"""The Similarity of a user's function k(a, b) of two samples."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import combinations_with_replacement

import numpy as np

from ..support import memory
from ..support.namespace import detach
from ..support.progress import track
from ..support.signature import to_plain
from ..support.types import PairFunction, SampleContainer
from .matrix import DeferredSimilarity
from .sample_arrays import take_samples

# Up to this number of pairs, k(b, a) is checked for all pairs; above, for one in SYMMETRY_SHARE.
SYMMETRY_PAIRS = 2000
SYMMETRY_SHARE = 25
SYMMETRY_TOLERANCE = 1e-6


def callable_similarity(
    samples: SampleContainer, k: PairFunction, indices: Sequence[int] | None = None
) -> DeferredSimilarity:
    """Build the similarity of samples under a function k, called for pairs i ≤ j.

    Error messages refer to samples by `indices`, by default their positions.
    """
    n = len(samples)
    input_indices = range(n) if indices is None else indices
    total = n * (n - 1) // 2
    pairs = f"{_count_symmetry_checks(n)}/{total}"
    settings = {"kernel": f"function {to_plain(k)}", "symmetric_pairs": pairs}

    def subset(index: np.ndarray) -> DeferredSimilarity:
        return callable_similarity(
            take_samples(samples, index), k, [input_indices[i] for i in index]
        )

    compute = partial(_evaluate_all_pairs, samples, k, input_indices)
    return DeferredSimilarity(n, compute, settings=settings, compute_part=subset)


def _evaluate_all_pairs(
    samples: SampleContainer, k: PairFunction, input_indices: Sequence[int]
) -> np.ndarray:
    n = len(samples)
    memory.require(20 * n * n, f"the similarity matrix of {n} samples", "compare fewer samples")
    K = np.empty((n, n))

    def evaluate(i: int, j: int) -> tuple[float, bool]:
        try:
            result = k(samples[i], samples[j])
        except Exception as error:
            error.add_note(f"raised by `k` for samples {input_indices[i]} and {input_indices[j]}")
            raise
        return _check_value(result, input_indices[i], input_indices[j])

    single = True
    pairs = combinations_with_replacement(range(n), 2)
    for i, j in track(pairs, n * (n + 1) // 2, "comparing pairs"):
        K[i, j], rounded = evaluate(i, j)
        K[j, i] = K[i, j]
        single &= rounded
    for i, j in zip(*_select_symmetry_pairs(n), strict=True):
        reverse, _ = evaluate(j, i)
        size = max(1.0, abs(reverse))
        if abs(reverse - K[i, j]) > SYMMETRY_TOLERANCE * size:
            raise ValueError(
                f"`k` must be symmetric, but k(samples[{input_indices[i]}], "
                f"samples[{input_indices[j]}]) = {K[i, j]:.6g} and k(samples[{input_indices[j]}], "
                f"samples[{input_indices[i]}]) = {reverse:.6g}; pass the mean of both directions"
            )
    if single:
        return K.astype(np.float32)
    return K


def _check_value(value: object, i: int, j: int) -> tuple[float, bool]:
    """Return a similarity as a float, and whether its dtype is single precision or coarser.

    Raises if `k` returned anything but a finite number for samples i and j.
    """
    if isinstance(value, float) and math.isfinite(value):  # includes np.float64
        return value, False
    scalar = detach(value)
    if getattr(scalar, "ndim", 0) and np.size(scalar) == 1:
        scalar = scalar.reshape(())  # functions for matrices return arrays of shape (1, 1)
    kind = str(getattr(scalar, "dtype", ""))
    try:
        if isinstance(scalar, (str, bytes)) or "complex" in kind or scalar is np.ma.masked:
            raise TypeError
        number = float(scalar)
    except (TypeError, ValueError):
        raise TypeError(
            f"`k` must return a number, got {type(value).__name__} for samples {i} and {j}"
        ) from None
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise ValueError(f"`k` must return finite numbers, got {number} for samples {i} and {j}")
    return number, kind.removeprefix("torch.") in ("float32", "float16", "bfloat16")


def _count_symmetry_checks(n: int) -> int:
    """Return for how many pairs the symmetry of k is checked."""
    total = n * (n - 1) // 2
    if total <= SYMMETRY_PAIRS:
        return total
    return max(SYMMETRY_PAIRS, total // SYMMETRY_SHARE)


def _select_symmetry_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Select evenly spaced pairs i < j for the check of symmetry."""
    rows, columns = np.triu_indices(n, 1)
    selected = np.linspace(0, len(rows) - 1, _count_symmetry_checks(n), dtype=int)
    return rows[selected], columns[selected]
