"""Build the similarity of samples from a user's function k(a, b) of two samples."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import combinations_with_replacement

import numpy as np

from ..support import memory
from ..support.namespace import detach
from ..support.progress import track
from ..support.signature import to_plain
from ..support.suggestions import resolve_synonyms
from ..support.synonyms import SYNONYMS
from ..support.types import PairFunction, SampleContainer
from .matrix import DeferredSimilarity
from .sample_arrays import take_samples

# The symmetry k(a, b) = k(b, a) is checked for all pairs if there are at most MIN_SYMMETRY_CHECKS,
# otherwise for one in SYMMETRY_CHECK_INTERVAL pairs, but at least for this number of pairs.
MIN_SYMMETRY_CHECKS = 2000
SYMMETRY_CHECK_INTERVAL = 25
# Maximum difference of k(a, b) and k(b, a), relative to the value if it exceeds 1.
SYMMETRY_TOLERANCE = 1e-6


def callable_similarity(
    samples: SampleContainer, k: PairFunction, indices: Sequence[int] | None = None
) -> DeferredSimilarity:
    """Build the similarity of samples under a function k of two samples.

    On first use of the matrix, k is called for all pairs of samples i ≤ j, and for some pairs in
    reverse order to check its symmetry. `indices` are the indices of the samples to report in error
    messages, by default 0, 1, ….
    """
    n = len(samples)
    input_indices = range(n) if indices is None else indices
    n_pairs = n * (n - 1) // 2
    settings = {
        "kernel": f"function {to_plain(k)}",
        "symmetric_pairs": f"{_count_symmetry_checks(n)}/{n_pairs}",
    }

    def build_subset(index: np.ndarray) -> DeferredSimilarity:
        return callable_similarity(
            take_samples(samples, index), k, [input_indices[i] for i in index]
        )

    compute = partial(_evaluate_all_pairs, samples, k, input_indices)
    return DeferredSimilarity(n, compute, settings=settings, compute_part=build_subset)


def _evaluate_all_pairs(
    samples: SampleContainer, k: PairFunction, input_indices: Sequence[int]
) -> np.ndarray:
    """Compute the matrix of k(x, y) for n samples, (n, n), and check that k is symmetric.

    The matrix is in single precision if all values of k are in single precision or lower.
    `input_indices` are the indices of the samples to report in error messages.
    """
    n = len(samples)
    memory.require(20 * n * n, f"the similarity matrix of {n} samples", "compare fewer samples")
    K = np.empty((n, n))

    def evaluate(i: int, j: int) -> tuple[float, bool]:
        """Return k(samples[i], samples[j]), and whether it is in single precision or lower."""
        try:
            result = k(samples[i], samples[j])
        except Exception as error:
            if hint := _describe_matrix_function(k, samples):
                raise TypeError(hint) from error
            error.add_note(f"raised by `k` for samples {input_indices[i]} and {input_indices[j]}")
            raise
        return _check_similarity_value(result, input_indices[i], input_indices[j])

    all_in_single_precision = True
    pairs = combinations_with_replacement(range(n), 2)
    for i, j in track(pairs, n * (n + 1) // 2, "comparing pairs"):
        K[i, j], is_single_precision = evaluate(i, j)
        K[j, i] = K[i, j]
        all_in_single_precision &= is_single_precision
    for i, j in zip(*_select_symmetry_pairs(n), strict=True):
        reverse, _ = evaluate(j, i)
        if abs(reverse - K[i, j]) > SYMMETRY_TOLERANCE * max(1.0, abs(reverse)):
            raise ValueError(
                f"`k` must be symmetric, but k(samples[{input_indices[i]}], "
                f"samples[{input_indices[j]}]) = {K[i, j]:.6g} and k(samples[{input_indices[j]}], "
                f"samples[{input_indices[i]}]) = {reverse:.6g}; pass the mean of both directions"
            )
    if all_in_single_precision:
        return K.astype(np.float32)
    return K


def _describe_matrix_function(k: PairFunction, samples: SampleContainer) -> str:
    """Describe the error that `k` is a function of two matrices, with hints; "" if it is not.

    Such a function returns the similarities of all pairs of rows, as those of scikit-learn do.
    """
    rows = samples[:2]
    try:
        values = np.asarray(k(rows, rows), dtype=float)
    except Exception:
        return ""
    if values.shape != (len(rows), len(rows)) or not (np.diagonal(values) > 0).all():
        return ""
    name = getattr(k, "__name__", "k")
    normalize = "" if np.allclose(np.diagonal(values), 1) else ", normalize=True"
    kernels = resolve_synonyms(name, SYNONYMS["kernel"], "kernel")
    hint = f"pass k={kernels[0]!r}, or use " if kernels else "use "
    return (
        f"`k` must be a function of two samples, but {name} is a function of two matrices; {hint}"
        f"compute({name}(X, X), score_K=True{normalize})"
    )


def _check_similarity_value(value: object, i: int, j: int) -> tuple[float, bool]:
    """Return a value of `k` as a float, and whether its dtype is single precision or lower.

    Raises an error if the value is not a finite number; the message mentions samples i and j.
    """
    if isinstance(value, float) and math.isfinite(value):  # includes np.float64
        return value, False
    scalar = detach(value)
    if getattr(scalar, "ndim", 0) and np.size(scalar) == 1:
        scalar = scalar.reshape(())  # functions for matrices return arrays of shape (1, 1)
    dtype = str(getattr(scalar, "dtype", ""))
    try:
        # `float` would accept these.
        if isinstance(scalar, (str, bytes)) or "complex" in dtype or scalar is np.ma.masked:
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
    return number, dtype.removeprefix("torch.") in ("float32", "float16", "bfloat16")


def _count_symmetry_checks(n: int) -> int:
    """Return for how many pairs of n samples the symmetry of k is checked."""
    n_pairs = n * (n - 1) // 2
    if n_pairs <= MIN_SYMMETRY_CHECKS:
        return n_pairs
    return max(MIN_SYMMETRY_CHECKS, n_pairs // SYMMETRY_CHECK_INTERVAL)


def _select_symmetry_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Select evenly spaced pairs i < j of n samples, for which k(i, j) = k(j, i) is checked."""
    rows, columns = np.triu_indices(n, 1)
    selected = np.linspace(0, len(rows) - 1, _count_symmetry_checks(n), dtype=int)
    return rows[selected], columns[selected]
