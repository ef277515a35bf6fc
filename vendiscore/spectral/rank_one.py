"""What one sample changes: all leave-one-out scores, and all gains, from one spectrum.

Let A = Σ_i y_i y_iᵀ with y_i = √p_i x_i, the weighted rows: its eigenvalues λ are those of K_p, of
trace 1. Leaving sample i out subtracts y_i y_iᵀ, adding one adds such a term, and the matrix
determinant lemma makes of the change of log det(I + A/t) one number of the resolvent,

    log det(A + yyᵀ + tI) − log det(A + tI) = log(1 + s(t)),      s(t) = yᵀ (A + tI)⁻¹ y,
    log det(A + tI) − log det(A − yyᵀ + tI) = −log(1 − s(t)).

A power sum of eigenvalues is an integral of log det over all ridges t (see `quadrature`), so that
with S_q(A) = tr (A^q − A)/(1 − q), whose limit at q = 1 is −tr A log A, and c = yᵀy, for any b

    S_q(A) − S_q(A − yyᵀ) = −c [b^{q−1} + (b^{q−1} − 1)/(q−1)]
                            + q sinc(1−q) ∫₀^∞ t^{q−1} [−log(1 − s(t)) − c/(t+b)] dt,

and the same with log(1 + s) for a gain. With b = yᵀAy/c ∓ c/2 the integrand falls like t^{q−3}, not
t^{q−2}: few nodes serve every order up to 2, and at q = 2 the first term says all. In the
eigenvectors of A, s is one product of an (n, r) and an (r, nodes) matrix for all samples: with the
rows U of the spectrum's vectors, s = Σ_j λ_j U_ij²/(λ_j + t), and

    1 − s = (1 − Σ_j U_ij²) + t Σ_j U_ij²/(λ_j + t)

without cancellation. Orders above 2 look at the largest eigenvalues alone, roots of a secular
equation each: see `secular`. Scores of what is left are those of a matrix of trace 1 − p_i, divided
by it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arguments import DEFAULT_ORDER, number
from ..arrays.namespace import row_blocks, scalar, to_host
from .quadrature import of_integral, of_trace, ridges
from .secular import powers
from .spectrum import Spectrum

# Error of log VS of what is left, times 1/p_i: far below what samples differ by.
TOLERANCE = 1e-10
# Novelty is that beside a ridge of this share of a sample.
RIDGE = 1e-9
# A sample that holds more of the weight than this leaves nothing behind.
ALL = 1 - 1e-12


def leave_one_out(
    spectrum: Spectrum, q: float = DEFAULT_ORDER, *, tolerance: float = TOLERANCE
) -> Any:
    """Find log VS_q of the set without each sample, shape (n,).

    Time O(n r · nodes) for r positive eigenvalues and 25 to 60 nodes; O(n r² · 60) at most above
    order 2. Memory beside the vectors: a block of rows.

    >>> from vendiscore import FeatureSimilarity
    >>> from .vendi import spectrum_of
    >>> found = spectrum_of(FeatureSimilarity(np.eye(2)[[0, 0, 1]]), vectors=True)
    >>> np.exp(leave_one_out(found)).round(9)  # without the last, there are two of a kind
    array([2., 2., 1.])
    """
    q = check_order(q)
    values, U = _parts(spectrum)
    if spectrum.n < 2:
        raise ValueError("a set of one sample has nothing left without it; pass two samples")
    left = np.empty(len(U))
    for rows, squares in _squares(U):
        p = squares @ values
        if (p > ALL).any():
            i = int(np.argmax(p)) + rows.start
            raise ValueError(f"sample {i} has all the weight: without it nothing is left")
        left[rows] = _without(values, squares, p, q, tolerance, 1 / spectrum.n)
    return np.clip(left, 0.0, math.log(spectrum.n - 1))


def adds(spectrum: Spectrum, q: float = DEFAULT_ORDER, *, tolerance: float = TOLERANCE) -> Any:
    """Find log VS_q of the set minus that without each sample, shape (n,).

    Above 0 where a sample adds to the diversity of the set, below where it repeats others.
    """
    return log_score(spectrum, q) - leave_one_out(spectrum, q, tolerance=tolerance)


def lost(adds: Any) -> Any:
    """Return the share of a score that is lost without each sample, from what it adds to log VS."""
    return -np.expm1(-np.asarray(adds))


def gains(
    spectrum: Spectrum,
    squares: np.ndarray,
    lengths: np.ndarray,
    weight: float,
    q: float = DEFAULT_ORDER,
    *,
    tolerance: float = TOLERANCE,
) -> Any:
    """Return log VS_q with each of some candidates added, minus log VS_q of the set."""
    q = check_order(q)
    values = _positive(spectrum)
    outside = _outside(squares, lengths) * weight
    g = squares * weight  # of y = √w x, in the eigenvectors of A
    c = lengths * weight
    if q > 2:
        changed = powers(values, g, outside, q, sign=1)
        return _log_of_powers(changed, 1 + c, q) - log_score(spectrum, q)
    b = (g @ values) / c + c / 2
    change = c * of_trace(q, b)
    if factor := of_integral(q):
        t, w = ridges(q, values[-1], values[0], tolerance, weight)
        s = g @ (1 / (values[:, None] + t)) + outside[:, None] / t
        change += factor * ((np.log1p(s) - c[:, None] / (t + b[:, None])) @ w)
    return _log_of_trace(_tsallis(values, q) + change, 1 + c, q) - log_score(spectrum, q)


def surprise(spectrum: Spectrum, q: float = DEFAULT_ORDER) -> Any:
    """Find how surprising each sample is to the set, shape (n,): −xᵀ log(A) x at order 1.

    Its mean, weighted by p, is log VS exactly: the score, shared out among the samples without any
    sampling. At order q it is log(xᵀ A^{q−1} x)/(1−q), with Σ p xᵀ A^{q−1} x = VS_q^{1−q}; at
    q = ∞ minus the log of the largest share that the sample has a part in. NaN for samples of
    weight 0, of which the spectrum knows nothing. Time O(n r).

    >>> from vendiscore import FeatureSimilarity
    >>> from .vendi import spectrum_of
    >>> found = spectrum_of(FeatureSimilarity(np.eye(2)[[0, 0, 0, 1]]), vectors=True)
    >>> np.exp(surprise(found)).round(6)
    array([1.333333, 1.333333, 1.333333, 4.      ])
    """
    q = check_order(q)
    values, U = _parts(spectrum)
    logs = np.log(values)
    found = np.empty(len(U))
    with np.errstate(all="ignore"):
        for rows, squares in _squares(U):
            parts = squares * values
            p = parts.sum(axis=1)
            if q == 1:
                found[rows] = -(parts @ logs) / p
            elif math.isinf(q):
                some = parts > 1e-12 * p[:, None]
                found[rows] = np.where(some, -logs, np.inf).min(axis=1)
            elif abs(q - 1) < 0.5:  # as `log_power_mean` has it
                found[rows] = np.log1p(parts @ np.expm1((q - 1) * logs) / p) / (1 - q)
            else:
                # The largest term is taken out: λ^{q−1} overflows or vanishes.
                top = logs[0] if q > 1 else logs[-1]
                powered = parts @ np.exp((q - 1) * (logs - top)) / p
                found[rows] = np.log(powered) / (1 - q) - top
            found[rows][p == 0] = np.nan
    return np.maximum(found, 0.0)


def novelty(spectrum: Spectrum) -> Any:
    """Find the part of each sample that no other explains, 1/(K⁻¹)_ii, shape (n,), in [0, 1].

    It is the squared distance of x_i from the span of the others (its leverage in kernel ridge
    regression as the ridge vanishes): 1 for a sample that has nothing in common with any, 0 for a
    copy, and as a rule where samples outnumber features. On labels 1 − mean novelty is the
    Good–Turing coverage. Beside a ridge of 1e-9 of a sample, which is what rounding allows.

    >>> from vendiscore import FeatureSimilarity
    >>> from .vendi import spectrum_of
    >>> found = spectrum_of(FeatureSimilarity(np.eye(2)[[0, 0, 0, 1]]), vectors=True)
    >>> novelty(found).round(6)
    array([0., 0., 0., 1.])
    """
    values, U = _parts(spectrum)
    t = RIDGE / spectrum.n
    found = np.zeros(len(U))
    for rows, squares in _squares(U):
        p = squares @ values
        explained = squares @ (values / (values + t))
        rest = _outside(squares) + t * (squares @ (1 / (values + t)))
        np.divide(t * explained, p * rest, out=found[rows], where=p > 0)
    return np.clip(found, 0.0, 1.0)


def coverage(novelties: np.ndarray, p: Any = None) -> float:
    """Return 1 − the mean of what `novelty` gives, weighted by p: how much of its source a set
    covers.

    As a rule 1 where samples outnumber features and explain each other; a class of one does not.
    """
    n = len(novelties)
    weights = np.full(n, 1 / n) if p is None else to_host(p)
    return 1 - float(weights @ novelties)


def log_score(spectrum: Spectrum, q: float) -> float:
    """Return log VS_q of the set."""
    return math.log(scalar(spectrum.effective_number(q)))


def check_order(q: float) -> float:
    """Return an order above 0; order 0 counts dimensions, of which one sample changes one or
    none."""
    remedy = "q=0 counts dimensions: take a small order such as 0.1, or q=1"
    return number("q", q, "an order above 0", lambda order: order > 0, remedy)


def _without(
    values: np.ndarray,
    squares: np.ndarray,
    p: np.ndarray,
    q: float,
    tolerance: float,
    share: float,
) -> np.ndarray:
    """Return log VS_q without each sample of a block, whose weights are p; `share` is a usual
    one."""
    if q > 2:
        g = squares * values
        return _log_of_powers(powers(values, g, 0.0, q, sign=-1), 1 - p, q)
    with np.errstate(all="ignore"):
        b = np.where(p > 0, (squares @ values**2) / p - p / 2, 1.0)
    change = p * of_trace(q, b)
    if factor := of_integral(q):
        t, w = ridges(q, values[-1], values[0], tolerance, share)
        outside = _outside(squares)
        # 1 − s below the largest eigenvalue, s above it: each without cancellation.
        mid = int(np.searchsorted(t, values[0]))
        logs = squares @ np.hstack(
            [t[:mid] / (values[:, None] + t[:mid]), -values[:, None] / (values[:, None] + t[mid:])]
        )
        with np.errstate(divide="ignore"):
            np.log(logs[:, :mid] + outside[:, None], out=logs[:, :mid])
        np.log1p(logs[:, mid:], out=logs[:, mid:])
        logs += p[:, None] / (t + b[:, None])
        change -= factor * (logs @ w)
    return _log_of_trace(_tsallis(values, q) - change, 1 - p, q)


def _outside(squares: np.ndarray, lengths: np.ndarray | float = 1.0) -> np.ndarray:
    """Return the squared length that is left of each row beside these squared coordinates."""
    outside = np.asarray(lengths - squares.sum(axis=1))
    # Rounding, which would be all there is at the smallest ridges.
    outside[outside < 1e-13 * squares.shape[1]] = 0.0
    return outside


def _tsallis(values: np.ndarray, q: float) -> float:
    """Return s_q of a matrix of trace 1."""
    if q == 1:
        return -float(values @ np.log(values))
    return float(values @ np.expm1((q - 1) * np.log(values))) / (1 - q)


def _log_of_trace(S: np.ndarray, trace: np.ndarray, q: float) -> np.ndarray:
    """Return log VS_q of a matrix with that S_q and trace, once divided by its trace."""
    S = S / trace
    inner = S if q == 1 else np.log1p((1 - q) * S) / (1 - q)
    return np.asarray(np.log(trace) + inner)


def _log_of_powers(powered: np.ndarray, trace: np.ndarray, q: float) -> np.ndarray:
    """Return the same from log Σ μ^q, or log μ_max at q = ∞."""
    if math.isinf(q):
        return np.log(trace) - powered
    return np.asarray((powered - q * np.log(trace)) / (1 - q))


def _positive(spectrum: Spectrum) -> np.ndarray:
    values = to_host(spectrum.values)
    return values[values > 0]


def _parts(spectrum: Spectrum) -> tuple[np.ndarray, np.ndarray]:
    """Return positive eigenvalues (r,) and the eigenvectors (n, r)."""
    if spectrum.vectors is None:
        raise ValueError("`spectrum` has no vectors; pass spectrum_of(similarity, vectors=True)")
    return _positive(spectrum), to_host(spectrum.vectors)


def _squares(U: np.ndarray) -> Any:
    """Return blocks of rows, squared."""
    for rows in row_blocks(len(U), 8 * U.shape[1]):
        yield rows, np.square(U[rows], dtype=np.float64)
