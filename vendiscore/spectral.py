"""From a Similarity to its Vendi Score: the spectrum, and the effective number of every order.

The weighted matrix K_p = diag(√p) K diag(√p) has trace 1, so its eigenvalues are shares. The
Vendi Score of order q is the Hill number of those shares (Friedman & Dieng, arXiv 2210.02410;
orders: Pasarkar & Dieng, arXiv 2310.12952). Three things are worth more than a fast eigensolver,
and `choose` looks for them first: features with fewer columns than samples (their covariance has
the same non-zero eigenvalues), identical samples (merged into weights without changing the
spectrum), and orders 2 and ∞, which need a norm and one eigenvalue.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.linalg

from . import memory
from .arrays import Array, is_numpy, namespace, scalar
from .errors import NotPSDError
from .lanczos import largest_eigenvalue
from .rounding import covariance_single, sensitivity
from .similarity import FeatureSimilarity, Similarity

PSD = Literal["check", "clip"]

# Negative eigenvalues that sum to less than this share of the trace are rounding: clipping them
# moves log VS by no more than about 1e-6 · log n.
NEGATIVE_MASS = 1e-6
# From this size on, λ_max alone is sought by Lanczos; below, all eigenvalues take milliseconds.
LANCZOS_SIZE = 500
# Single-precision products are used where they move log VS by no more than this.
SINGLE_TOLERANCE = 1e-6
# Below so many multiplications, double precision takes a hundredth of a second.
SINGLE_SIZE = 10**9
# Up to this size NumPy's eigensolver is used, which shares its threads with NumPy's products;
# above, SciPy's, which works in place.
NUMPY_SIZE = 1024


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
    """

    values: list[Any]
    plans: list[Plan]
    distinct: int
    negative_mass: float | None = None


def choose(similarity: Similarity, q: float) -> Plan:
    """The algorithm that `vendi` uses for one order of one similarity.

    >>> from vendiscore.similarity import FeatureSimilarity
    >>> choose(FeatureSimilarity(np.ones((100, 3))), q=1).method
    'covariance'
    """
    n, dim = similarity.n, similarity.dim
    small = dim is not None and dim < n
    size = dim if dim is not None and dim < n else n
    if q == 2:
        return Plan("norm", "order 2 is 1/‖K‖²_F, no eigenvalues needed", size if small else 0)
    if math.isinf(q) and size >= LANCZOS_SIZE and is_numpy(similarity.diagonal()):
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
        restore the trace. Alone, order 2 sees no eigenvalues and order ∞ only some, so that a
        negative one can go unnoticed there.

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
    full = choose(similarity, q=1.0)
    plans = [choose(similarity, q) for q in orders]
    if full in plans:
        # The spectrum is needed anyway, and gives the orders with closed forms for nothing.
        plans = [full] * len(plans)
    merged, weights = similarity, p
    if full in plans and full.method == "eigenvalues":
        merged, weights = merge_identical(similarity, p)
    weighted = _weighted(merged, weights)
    values = [_closed_form(weighted, plan, psd) for plan in plans]
    negative_mass = None
    if any(value is None for value in values):
        shares, negative_mass = _shares(weighted, psd, orders)
        if full not in plans:
            full = replace(full, why="Lanczos iteration was too slow")
        elif merged.n < similarity.n:
            full = replace(full, why=f"{full.why}, {merged.n} of them distinct", size=merged.n)
        plans = [full if v is None else plan for v, plan in zip(values, plans, strict=True)]
        values = [
            effective_number(shares, q) if v is None else v
            for v, q in zip(values, orders, strict=True)
        ]
    return Spectral(values, plans, merged.n, negative_mass)


def spectrum(similarity: Similarity, p: Array | None = None, psd: PSD = "check") -> Array:
    """The eigenvalues of K_p as shares: descending, at least 0, summing to 1.

    Those below n·ε·λ_max are rounding and set to zero, so that the number of positive ones is
    the numerical rank. As many are returned as the smaller of n and the number of features has.
    Parameters, errors and cost as for `vendi`.
    """
    if choose(similarity, q=1.0).method == "eigenvalues":
        similarity, p = merge_identical(similarity, p)
    return _shares(_weighted(similarity, p), psd, None)[0]


def effective_number(shares: Array, q: float = 1.0) -> Any:
    """The Hill number of order q of shares that sum to 1: (Σ λ^q)^{1/(1−q)}.

    q = 0 counts the positive shares, q = 1 is exp(−Σ λ log λ), q = 2 is 1/Σλ² and q = ∞ is
    1/λ_max. It does not increase with q, and lies between 1 and the number of positive shares.

    Parameters
    ----------
    shares : array (m,)
        At least 0, summing to 1; zeros are ignored.
    q : float in [0, ∞]

    Returns
    -------
    float (a 0-d tensor for torch input, differentiable)

    References
    ----------
    Hill, Ecology 1973; Pasarkar & Dieng, arXiv 2310.12952, eq. (3).

    Examples
    --------
    >>> effective_number(np.array([0.5, 0.5, 0.0]), q=1)
    2.0
    """
    xp = namespace(shares)
    positive = shares[shares > 0]
    logs = xp.log(positive)
    if q == 0:
        return float(positive.shape[0])
    if math.isinf(q):
        value = 1 / xp.max(shares)
    elif q == 1:
        value = xp.exp(-xp.sum(positive * logs))
    elif abs(q - 1) < 0.5:
        # Σ λ^q = 1 + Σ λ (λ^{q−1} − 1): exact as q → 1, where the plain formula is 0/0.
        value = xp.exp(xp.log1p(xp.sum(positive * xp.expm1((q - 1) * logs))) / (1 - q))
    else:
        top = xp.max(logs)
        value = xp.exp((q * top + xp.log(xp.sum(xp.exp(q * (logs - top))))) / (1 - q))
    if not is_numpy(shares):
        return value
    return float(min(max(float(value), 1.0), positive.shape[0]))


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
    p = (
        xp.full_like(diagonal, 1 / similarity.n)
        if p is None
        else xp.asarray(p, dtype=diagonal.dtype)
    )
    # A diagonal of 1 up to rounding becomes exactly 1, so that the trace is.
    return similarity.scaled(xp.sqrt(p / diagonal))


def _closed_form(weighted: Similarity, plan: Plan, psd: PSD) -> Any:
    if plan.method == "norm":
        value = 1 / weighted.squared_norm()
    elif plan.method == "lanczos":
        largest = largest_eigenvalue(weighted, -NEGATIVE_MASS if psd == "check" else -math.inf)
        if largest is None:
            return None
        value = 1 / largest
    else:
        return None
    return float(min(max(value, 1.0), weighted.n)) if not hasattr(value, "requires_grad") else value


def _shares(weighted: Similarity, psd: PSD, orders: Sequence[float] | None) -> tuple[Array, float]:
    """The spectrum, exact; or good enough for these orders, if any are given. See `_clean`."""
    n, dim = weighted.n, weighted.dim
    size = dim if dim is not None and dim < n else n
    memory.require(
        8 * size * size,
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
        shares, negative_mass = _clean(_eigenvalues(C), n, psd)
        # To first order, which holds as long as the error is small against every share.
        small = 100 * error < shares[-1]
        if small and all(error * sensitivity(shares, q) < SINGLE_TOLERANCE for q in orders):
            return shares, negative_mass
    values = _eigenvalues(weighted.covariance() if size < n else weighted.dense())
    return _clean(values, n, psd)


def _eigenvalues(A: Array) -> Array:
    """All eigenvalues of a symmetric matrix that may be overwritten, ascending."""
    if is_numpy(A) and len(A) > NUMPY_SIZE:
        # The transpose of a C-ordered symmetric matrix is itself in LAPACK's order: no copy.
        A = A if A.flags.f_contiguous else A.T
        return scipy.linalg.eigvalsh(A, overwrite_a=True, check_finite=False)
    return namespace(A).linalg.eigvalsh(A)


def _clean(values: Array, n: int, psd: PSD) -> tuple[Array, float]:
    """Eigenvalues as shares (rounding removed, sum 1, descending), and how much was negative."""
    xp = namespace(values)
    values = xp.flip(values)
    noise = max(n, values.shape[0]) * float(xp.finfo(values.dtype).eps) * scalar(values[0])
    negative_mass = -scalar(xp.sum(xp.where(values < 0, values, xp.zeros_like(values))))
    if psd == "check" and negative_mass > NEGATIVE_MASS:
        raise NotPSDError(scalar(values[-1]), negative_mass)
    values = xp.where(values > noise, values, xp.zeros_like(values))
    return values / xp.sum(values), max(0.0, negative_mass)
