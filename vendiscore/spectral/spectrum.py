"""The spectrum of a similarity: eigenvalues that are shares of the set, cleaned of rounding.

The weighted matrix K_p = diag(√p) K diag(√p) has trace 1, so its eigenvalues are shares. Features
with fewer columns than samples have a covariance with the same non-zero eigenvalues, and identical
samples are merged into weights without changing the spectrum. Whatever way it came, a spectrum is
looked at last: shares must sum to the trace.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..arrays import memory
from ..arrays.namespace import (
    Array,
    as_kind_of,
    is_numpy,
    is_torch,
    namespace,
    row_blocks,
    scalar,
    to_host,
)
from ..errors import NotPSDError, warn
from ..progress import announce
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity
from .hill import RANGE_TOLERANCE
from .routes import PSD, choose
from .single import covariance_single, sensitivity

# Negative eigenvalues that sum to less than this share of the trace are rounding: clipping them
# moves log VS by no more than about 1e-6 · log n.
NEGATIVE_MASS = 1e-6
# Orders below 1 depend on shares near rounding: it is said where leaving them out may move log VS
# by more than CUT_MATTERS, and where the least share kept is not TAIL times larger than the cut.
CUT_MATTERS, TAIL = 1e-6, 1e4
# Single-precision products are used where they move log VS by no more than this.
SINGLE_TOLERANCE = 1e-6
# Below so many multiplications, double precision takes a hundredth of a second.
SINGLE_SIZE = 10**9
# Up to this size NumPy's eigensolver is used, which shares its threads with NumPy's products;
# above, SciPy's, which works in place.
NUMPY_SIZE = 1024
# From here on a spectrum takes more than ten seconds, and LAPACK does not say how far it is.
LONG = 8000


@dataclass(frozen=True)
class Shares:
    """Eigenvalues as shares, descending, at least 0, summing to 1.

    Attributes
    ----------
    values : array
    negative_mass : float
        Minus the sum of negative eigenvalues.
    cut : float
        Eigenvalues below this were set to zero.
    lost : int
        How many of those may have been more than rounding of exact zeros.
    """

    values: Array
    negative_mass: float
    cut: float
    lost: int


def spectrum(similarity: Similarity, p: Array | None = None, psd: PSD = "check") -> Array:
    """The eigenvalues of K_p as shares: descending, at least 0, summing to 1.

    Those below n·ε·λ_max are rounding and set to zero, so that the number of positive ones is
    the numerical rank. As many are returned as the smaller of n and the number of features has.
    Parameters, errors and cost as for `vendi`.
    """
    if choose(similarity, q=1.0).method == "eigenvalues":
        similarity, p = merge_identical(similarity, p)
    return find_shares(weighted_by(similarity, p), psd, None).values


def merge_identical(similarity: Similarity, p: Array | None) -> tuple[Similarity, Array | None]:
    """Drop repeated samples and add up their weights; the non-zero spectrum stays the same.

    This is the identical-elements property of the Vendi Score (arXiv 2210.02410, Theorem 3.1).
    """
    groups = similarity.groups()
    if groups is None:
        return similarity, p
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    if len(first) == similarity.n:
        return similarity, p
    weights = np.full(similarity.n, 1 / similarity.n) if p is None else p
    return similarity.take(first), np.bincount(inverse, weights)


def weighted_by(similarity: Similarity, p: Array | None) -> Similarity:
    """K_p, with a trace of 1."""
    diagonal = similarity.diagonal()
    xp = namespace(diagonal)
    p = xp.full_like(diagonal, 1 / similarity.n) if p is None else as_kind_of(p, diagonal)
    # A diagonal of 1 up to rounding becomes exactly 1, so that the trace is.
    return similarity.scaled(xp.sqrt(p) / xp.sqrt(diagonal))  # √(p/d) has no gradient at p = 0


def fault_of(weighted: Similarity) -> str:
    """What is wrong with a similarity that gave an impossible number."""
    bare = weighted.bare()
    diagonal = np.sqrt(np.abs(to_host(bare.diagonal())))
    for block in row_blocks(bare.n, 8 * bare.n):
        with np.errstate(all="ignore"):
            K = to_host(bare.rows(block)) / diagonal[block, None] / diagonal
        bad = ~(np.abs(K) <= 1 + 1e-3)
        if bad.any():
            i, j = divmod(int(np.argmax(bad)), bare.n)
            return (
                f"the kernel gives {K[i, j]:.6g} for samples {i + block.start} and {j}, and "
                f"nothing is more like another than like itself; look for NaN, overflow or "
                f"negative eigenvalues in the kernel"
            )
    return "is the similarity positive semidefinite? psd='clip' sets negative eigenvalues to zero"


def find_shares(weighted: Similarity, psd: PSD, orders: Sequence[float] | None) -> Shares:
    """The spectrum, exact; or good enough for these orders, if any are given. See `_clean`."""
    n, dim = weighted.n, weighted.dim
    size = dim if dim is not None and dim < n else n
    # Dense features are widened and scaled, a copy of them, before they are multiplied.
    sparse = sp.issparse(getattr(weighted, "X", None))
    copied = 0 if dim is None or size < n or sparse else dim
    memory.require(
        8 * (size * size + n * copied),
        f"the exact spectrum of a {size} × {size} matrix",
        "score fewer samples, or use q=2 or q=float('inf'), which need no spectrum",
    )
    if (
        orders
        and isinstance(weighted, FeatureSimilarity)
        and weighted.is_single
        and size < n
        and n * size**2 >= SINGLE_SIZE
    ):
        C, error = covariance_single(weighted.X, weighted.scale)
        values = _eigenvalues(C, weighted)
        # To first order, which holds as long as the error is small against every share.
        if 100 * error < values[0]:
            found = _clean(values, weighted, psd)
            if all(error * sensitivity(found.values, q) < SINGLE_TOLERANCE for q in orders):
                return found
    return _shares_of(weighted.covariance() if size < n else weighted.dense(), weighted, psd)


def _shares_of(A: Array, weighted: Similarity, psd: PSD) -> Shares:
    if is_numpy(A):
        diagonal = A.diagonal()
        if np.count_nonzero(A) == np.count_nonzero(diagonal):
            values = np.sort(diagonal)[::-1]  # exact, however small
            return Shares(values / values.sum(), 0.0, 0.0, 0)
    return _clean(_eigenvalues(A, weighted), weighted, psd)


def _eigenvalues(A: Array, weighted: Similarity) -> Array:
    """All eigenvalues of a symmetric matrix that may be overwritten, ascending."""
    if is_torch(A) and A.requires_grad:
        A.register_hook(_check_gradient)
    try:
        if not math.isfinite(scalar(namespace(A).sum(A))):
            raise np.linalg.LinAlgError("entries are not finite")
        if is_numpy(A) and len(A) > NUMPY_SIZE:
            _announce(len(A))
            # The transpose of a C-ordered symmetric matrix is itself in LAPACK's order: no copy.
            A = A if A.flags.f_contiguous else A.T
            return scipy.linalg.eigvalsh(A, overwrite_a=True, check_finite=False)
        return namespace(A).linalg.eigvalsh(A)
    except (np.linalg.LinAlgError, RuntimeError) as error:  # torch's is a RuntimeError
        raise ValueError(
            f"the eigenvalues of the similarity matrix were not found ({error}): "
            f"{fault_of(weighted)}"
        ) from error


def _announce(n: int) -> None:
    """Say how long a spectrum of order n takes on this machine now, if that is long."""
    if n < LONG:
        return
    start = time.perf_counter()
    np.linalg.eigvalsh(np.random.default_rng(0).standard_normal((NUMPY_SIZE, NUMPY_SIZE)))
    seconds = (time.perf_counter() - start) * (n / NUMPY_SIZE) ** 3
    told = f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"
    announce(
        f"The {n:,} eigenvalues of a {n:,} × {n:,} matrix take some {told}; orders 2 and inf alone "
        f"need none"
    )


def _check_gradient(gradient: Any) -> None:
    if gradient is not None and not bool(gradient.isfinite().all()):
        raise ValueError(
            "the gradient is not finite: second derivatives need eigenvalues that all differ, and "
            "orders below 1 a matrix of full rank"
        )


def negative_mass_of(weighted: Similarity) -> float:
    """How much may be negative by rounding, of entries that came with a relative error.

    Errors of relative size u in a symmetric matrix, independent of each other, spread its zero
    eigenvalues over a semicircle (Wigner), whose negative half has an area of 0.42 σ √n with
    σ = u/√12 at most for a trace of 1; it is doubled.
    """
    return max(NEGATIVE_MASS, 0.25 * weighted.roundoff * math.sqrt(weighted.n))


def _clean(values: Array, weighted: Similarity, psd: PSD) -> Shares:
    """Eigenvalues as shares: rounding removed, sum 1, descending."""
    xp = namespace(values)
    values = xp.flip(values)
    if not abs(scalar(xp.sum(values)) - 1) <= RANGE_TOLERANCE:
        raise ValueError(
            f"the eigenvalues of the similarity matrix sum to {scalar(xp.sum(values)):.6g} "
            f"instead of 1: {fault_of(weighted)}"
        )
    size = values.shape[0]
    unit = float(xp.finfo(values.dtype).eps) * scalar(values[0])
    negative_mass = -scalar(xp.sum(xp.where(values < 0, values, xp.zeros_like(values))))
    allowed = negative_mass_of(weighted)
    if psd == "check" and negative_mass > allowed:
        raise NotPSDError(scalar(values[-1]), negative_mass)
    if psd == "check" and negative_mass > NEGATIVE_MASS:
        warn(
            f"negative eigenvalues that sum to {negative_mass:.2g} of a trace of 1 count as "
            f"rounding of the precision that the matrix came in, and were set to zero; compute "
            f"similarities in a higher one to be rid of them"
        )
    coarse = 0.0 if weighted.psd else weighted.roundoff / math.sqrt(weighted.n)
    cut = max(max(weighted.n, size) * unit, coarse)
    noise = max(4 * math.sqrt(size) * unit, coarse)
    kept = values > cut
    lost = int(xp.sum(~kept & (values > noise)))
    if scalar(xp.min(values[kept])) < TAIL * cut:  # no gap, but a tail that goes on below the cut
        lost = size - int(xp.sum(kept))
    values = xp.where(kept, values, xp.zeros_like(values))
    return Shares(values / xp.sum(values), max(0.0, negative_mass), cut, lost)
