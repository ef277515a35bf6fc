"""From a Similarity to its Vendi Score: the spectrum, and the effective number of every order.

The weighted matrix K_p = diag(√p) K diag(√p) has trace 1, so its eigenvalues are shares. The
Vendi Score of order q is the Hill number of those shares (Friedman & Dieng, arXiv 2210.02410;
orders: Pasarkar & Dieng, arXiv 2310.12952). Three things are worth more than a fast eigensolver,
and `choose` looks for them first: features with fewer columns than samples (their covariance has
the same non-zero eigenvalues), identical samples (merged into weights without changing the
spectrum), and orders 2 and ∞, which need a norm and one eigenvalue.

Whatever way a number came, it is looked at last: shares must sum to the trace, and an effective
number of n samples is between 1 and n.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

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
from ..similarity.base import FeatureSimilarity, Similarity
from .hill import RANGE_TOLERANCE, effective_number
from .lanczos import largest_eigenvalue
from .single import covariance_single, sensitivity

PSD = Literal["check", "clip"]

# Negative eigenvalues that sum to less than this share of the trace are rounding: clipping them
# moves log VS by no more than about 1e-6 · log n.
NEGATIVE_MASS = 1e-6
# Orders below 1 depend on shares near rounding: it is said where leaving them out may move log VS
# by more than CUT_MATTERS, and where the least share kept is not TAIL times larger than the cut.
CUT_MATTERS, TAIL = 1e-6, 1e4
# From this size on, λ_max alone is sought by Lanczos; below, all eigenvalues take milliseconds.
LANCZOS_SIZE = 500
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
class Plan:
    """Which algorithm, and why.

    Attributes
    ----------
    method : str
        "covariance", "eigenvalues", "norm" (q = 2) or "lanczos" (q = ∞).
    why : str
        The reason, in words.
    size : int
        Order of the dense matrix that is formed, 0 for none.
    """

    method: Literal["covariance", "eigenvalues", "norm", "lanczos"]
    why: str
    size: int = 0


@dataclass(frozen=True)
class Spectral:
    """Effective numbers with how they were found.

    Attributes
    ----------
    values : list of float (or 0-d torch tensors)
        One for each order asked for, in that order; each in [1, n].
    plans : list of Plan
        One for each order.
    distinct : int
        Number of samples after identical ones were merged, where they were looked for, else n.
    negative_mass : float or None
        Minus the sum of the negative eigenvalues that were set to zero, of a trace of 1; None
        where no spectrum was needed.
    cut : float
        Shares below this counted as rounding, and so as zero; 0 where none was sought.
    """

    values: list[Any]
    plans: list[Plan]
    distinct: int
    negative_mass: float | None = None
    cut: float = 0.0


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


def choose(similarity: Similarity, q: float, psd: PSD = "check") -> Plan:
    """The algorithm that `vendi` uses for one order of one similarity.

    Clipping needs all eigenvalues, unless none can be negative.

    >>> from vendiscore.similarity.base import FeatureSimilarity
    >>> choose(FeatureSimilarity(np.ones((100, 3))), q=1).method
    'covariance'
    """
    n, dim = similarity.n, similarity.dim
    small = dim is not None and dim < n
    size = dim if dim is not None and dim < n else n
    closed = psd == "check" or similarity.psd
    if q == 2 and closed:
        return Plan("norm", "order 2 is 1/‖K‖²_F, no eigenvalues needed", size if small else 0)
    if math.isinf(q) and closed and size >= LANCZOS_SIZE and is_numpy(similarity.diagonal()):
        return Plan("lanczos", "order ∞ is 1/λ_max, one eigenvalue by Lanczos iteration")
    if small:
        return Plan("covariance", f"{dim} features are fewer than {n} samples", size)
    return Plan("eigenvalues", f"all eigenvalues of the {n} × {n} similarity matrix", size)


def vendi(
    similarity: Similarity,
    orders: Sequence[float] = (1.0,),
    p: Array | None = None,
    psd: PSD = "check",
) -> Spectral:
    """The Vendi Scores of several orders, from as little work as they need.

    Parameters
    ----------
    similarity : Similarity
        With unit diagonal; not changed.
    orders : sequence of float in [0, ∞]
        One spectrum serves all that need one.
    p : array (n,), optional
        Probability weights, uniform by default.
    psd : {"check", "clip"}
        What to do about negative eigenvalues beyond rounding: raise, or set them to zero and
        restore the trace. "check" looks at the eigenvalues that an order needs: alone, order 2
        needs none and order ∞ only some, so that a negative one can go unnoticed there.

    Returns
    -------
    Spectral

    Raises
    ------
    NotPSDError
        See `psd`.
    TooLargeError
        If the matrix would not fit in memory, before it is allocated.

    Notes
    -----
    Time O(n d² + d³) from d < n features, O(n³) from a dense matrix, O(n²) for orders 2 and ∞.
    One matrix of size min(n, d)² is allocated.
    """
    full = choose(similarity, 1.0, psd)
    plans = [choose(similarity, q, psd) for q in orders]
    if full in plans:
        # The spectrum is needed anyway, and gives the orders with closed forms for nothing.
        plans = [full] * len(plans)
    merged, weights = similarity, p
    if full in plans and full.method == "eigenvalues":
        merged, weights = merge_identical(similarity, p)
    weighted = _weighted(merged, weights)
    values = [_closed_form(weighted, plan, psd) for plan in plans]
    found = None
    if any(value is None for value in values):
        found = _shares(weighted, psd, orders)
        if full not in plans:
            full = replace(full, why="Lanczos iteration was too slow")
        elif merged.n < similarity.n:
            full = replace(full, why=f"{full.why}, {merged.n} of them distinct", size=merged.n)
        plans = [full if v is None else plan for v, plan in zip(values, plans, strict=True)]
        values = [
            effective_number(found.values, q) if v is None else v
            for v, q in zip(values, orders, strict=True)
        ]
        _tell_of_cut(found, orders)
    values = [_in_range(value, q, weighted) for value, q in zip(values, orders, strict=True)]
    if found is None:
        return Spectral(values, plans, merged.n)
    return Spectral(values, plans, merged.n, found.negative_mass, found.cut)


def spectrum(similarity: Similarity, p: Array | None = None, psd: PSD = "check") -> Array:
    """The eigenvalues of K_p as shares: descending, at least 0, summing to 1.

    Those below n·ε·λ_max are rounding and set to zero, so that the number of positive ones is
    the numerical rank. As many are returned as the smaller of n and the number of features has.
    Parameters, errors and cost as for `vendi`.
    """
    if choose(similarity, q=1.0).method == "eigenvalues":
        similarity, p = merge_identical(similarity, p)
    return _shares(_weighted(similarity, p), psd, None).values


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


def _weighted(similarity: Similarity, p: Array | None) -> Similarity:
    diagonal = similarity.diagonal()
    xp = namespace(diagonal)
    p = xp.full_like(diagonal, 1 / similarity.n) if p is None else as_kind_of(p, diagonal)
    # A diagonal of 1 up to rounding becomes exactly 1, so that the trace is.
    return similarity.scaled(xp.sqrt(p) / xp.sqrt(diagonal))  # √(p/d) has no gradient at p = 0


def _closed_form(weighted: Similarity, plan: Plan, psd: PSD) -> Any:
    if plan.method == "norm":
        with np.errstate(all="ignore"):
            return 1 / weighted.squared_norm()
    if plan.method == "lanczos":
        floor = -_negative_mass(weighted) if psd == "check" else -math.inf
        largest = largest_eigenvalue(weighted, floor)
        return None if largest is None else 1 / largest
    return None


def _in_range(value: Any, q: float, weighted: Similarity) -> Any:
    """The effective number, if it can be one of n samples; rounding is taken off it."""
    n = weighted.n
    if not 1 - RANGE_TOLERANCE <= scalar(value) <= n * (1 + RANGE_TOLERANCE):
        raise ValueError(
            f"the Vendi Score of order {q:g} came out as {scalar(value):.6g}, which no {n} samples "
            f"have: {_fault(weighted)}"
        )
    return value if is_torch(value) else float(min(max(value, 1.0), n))


def _fault(weighted: Similarity) -> str:
    """What is wrong with a similarity that gave an impossible number."""
    bare = copy.copy(weighted)
    bare.scale = None
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


def _tell_of_cut(found: Shares, orders: Sequence[float]) -> None:
    """Warn where what was taken for rounding may have changed a score of small order."""
    kept = to_host(found.values)
    kept = kept[kept > 0]
    q = min(orders)  # the least order moves most
    if found.lost and q < 1:
        moved = math.log1p(found.lost * found.cut**q / float(np.sum(kept**q))) / (1 - q)
        if moved > CUT_MATTERS:
            warn(
                f"{found.lost} eigenvalues below {found.cut:.2g} of the trace may be rounding and "
                f"count as zero; order {q:g} would be up to {math.expm1(moved):.2g} larger if they "
                f"are not (relative). Orders of 1 and more do not depend on them."
            )


def _shares(weighted: Similarity, psd: PSD, orders: Sequence[float] | None) -> Shares:
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
            f"the eigenvalues of the similarity matrix were not found ({error}): {_fault(weighted)}"
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


def _negative_mass(weighted: Similarity) -> float:
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
            f"instead of 1: {_fault(weighted)}"
        )
    size = values.shape[0]
    unit = float(xp.finfo(values.dtype).eps) * scalar(values[0])
    negative_mass = -scalar(xp.sum(xp.where(values < 0, values, xp.zeros_like(values))))
    allowed = _negative_mass(weighted)
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
