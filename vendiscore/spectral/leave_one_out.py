"""Compute scores of a set without each sample, or with an added sample, from one spectrum.

Let x_i be the unit-norm feature vector of sample i and p_i its weight, y_i = √p_i x_i, and
A = Σ_i y_i y_iᵀ, which has trace 1. Its entropy of order q is S_q(A) = tr (A^q − A)/(1 − q). Let y
be one of the vectors y_i, or that of an added sample. Let c = yᵀy and s(t) = yᵀ (A + tI)⁻¹ y for
t > 0. For sample i of the set, s(t) is Σ_j λ_j U_ij²/(λ_j + t), where λ_j are the eigenvalues of
the weighted similarity matrix, and U_ij the entries of its eigenvectors. Then, for any b > 0,

    S_q(A) − S_q(A − yyᵀ) = −c [b^{q−1} + (b^{q−1} − 1)/(q−1)]
                            + q sinc(1−q) ∫₀^∞ t^{q−1} [−log(1 − s(t)) − c/(t+b)] dt,

where sinc(z) = sin(πz)/(πz). For an added sample, S_q(A + yyᵀ) − S_q(A) is the same expression,
with log(1 + s(t)) instead of −log(1 − s(t)). Proof: docs/identity.md.

With b = yᵀAy/c − c/2, or + c/2 for an added sample, few quadrature nodes are needed for orders up
to 2. Above order 2, samples are treated as clusters of one sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..core.hill import log_power_mean
from ..support.arguments import DEFAULT_ORDER, check_float, check_order
from ..support.namespace import Array, row_blocks, to_float, to_host
from ..support.types import Number, Weights
from .leave_cluster_out import leave_cluster_out
from .quadrature import (
    TOLERANCE,
    compute_quadrature_nodes,
    compute_surprisal,
    compute_trace_term,
    log_score_from_change,
)
from .spectrum import Spectrum, positive_eigenpairs

# Ridge parameter for residual fractions, relative to the weight 1/n of a sample.
RIDGE = 1e-9
# A sample of larger weight cannot be left out, because the remaining weights sum to 0.
MAX_SAMPLE_WEIGHT = 1 - 1e-12
# Maximum error of log VS with a sample added, and maximum squared distance of a sample from the
# span of the set that may be a rounding error.
GAIN_TOLERANCE = 1e-13
SPAN_TOLERANCE = 1e-12


def leave_one_out(spectrum: Spectrum, q: float = DEFAULT_ORDER) -> Array:
    """Compute log VS_q of the set without each of its n samples, shape (n,).

    `spectrum` contains the eigenvectors of the set. If negative eigenvalues of the set were
    clipped to 0, those of the remaining samples are clipped as well.
    """
    q = check_order(q, allow_zero=False)
    is_clipped = spectrum.negative_eigenvalues is not None
    values, U = positive_eigenpairs(spectrum, q)  # (r,) and (n, r)
    if spectrum.n < 2:
        raise ValueError(
            "leave-one-out scores require at least 2 samples, got 1; pass more samples"
        )
    logs = np.empty(len(U))
    for rows, squares in _iter_squared_blocks(U):
        p = squares @ values  # the weights of the samples
        if (p > MAX_SAMPLE_WEIGHT).any():
            i = int(np.argmax(p)) + rows.start
            raise ValueError(
                f"cannot leave out sample {i}: its weight is 1, so the remaining weights sum to 0; "
                f"pass a positive weight for another sample"
            )
        # `log_scores_leaving_each_out` computes an integral, which is accurate for orders up to 2
        # and does not apply to clipped eigenvalues. Other scores are computed after the loop.
        if q <= 2 and not is_clipped:
            # 1/n is a typical weight; it only determines the range of the quadrature nodes.
            logs[rows] = log_scores_leaving_each_out(
                values, squares, q, sample_weight=1 / spectrum.n
            )
    if q > 2 or is_clipped:  # samples are treated as clusters of one sample
        return leave_cluster_out(spectrum, np.arange(len(U)), q)
    # Scores of n − 1 samples are between 1 and n − 1, except for errors of the quadrature.
    return np.clip(logs, 0.0, math.log(spectrum.n - 1))


def log_score_drops(spectrum: Spectrum, q: float = DEFAULT_ORDER) -> Array:
    """Compute log VS_q of the set minus log VS_q without each of its n samples, shape (n,)."""
    return compute_log_score(spectrum, q) - leave_one_out(spectrum, q)


def relative_drops(log_drops: object) -> Array:
    """Convert drops d of log VS to relative drops of VS, which are 1 − exp(−d)."""
    return -np.expm1(-np.asarray(log_drops))


def log_scores_with_each_added(
    values: np.ndarray, squares: np.ndarray, q: float, weight: float
) -> np.ndarray:
    """Compute log VS_q of a set after adding each of m samples separately, for q ≤ 2.

    A score is a function of the entropy of order q. The change of the entropy is an integral, which
    is computed by numerical quadrature; see docs/identity.md.

    Parameters
    ----------
    values : ndarray (r,)
        The positive eigenvalues of the set.
    squares : ndarray (m, r)
        Squared coordinates of the unit-norm feature vectors of the m samples along the
        eigenvectors of the set.
    q : float
        The order.
    weight : float
        The weight of an added sample, relative to a total weight of 1 of the set.

    Returns
    -------
    ndarray (m,)
        The log scores.
    """
    t, node_weights = compute_quadrature_nodes(
        q,
        smallest=values.min(),
        largest=values.max(),
        tolerance=GAIN_TOLERANCE,
        sample_weight=weight,
    )
    resolvents = 1 / (values[:, None] + t)  # (r, nodes), eigenvalues of (A + tI)⁻¹ for each node
    logs = np.empty(len(squares))
    for rows in row_blocks(len(squares), 32 * len(t), min_rows=1024):
        block = squares[rows]
        sums = block.sum(axis=1)
        # The squared norm of the feature vector x of a sample, which is 1 up to rounding. If x is
        # in the span of the set, its squared coordinates sum to its squared norm. This sum is then
        # used instead of 1, so that the squared distance of x from the span is exactly 0.
        squared_norms = np.where(sums > 1 - SPAN_TOLERANCE, sums, 1.0)
        squared_distances = _squared_distances_from_span(block, squared_norms)
        # Let y = √weight x, and A the sum of the weighted x xᵀ of the set. The change of the
        # entropy, with the trace term T and the node weights w(t) dt, is
        #     S_q(A + yyᵀ) − S_q(A) = c T(b) + ∫ [log(1 + s(t)) − c/(t + b)] w(t) dt
        # for c = yᵀy, b = yᵀAy/c + c/2 and s(t) = yᵀ (A + tI)⁻¹ y.
        g = block * weight  # squared coordinates of y
        c = squared_norms * weight
        b = (g @ values) / c + c / 2
        change = c * compute_trace_term(q, b)
        # The part of y outside the span, where the eigenvalues of A are 0, contributes ‖·‖²/t.
        s = g @ resolvents + (squared_distances * weight)[:, None] / t
        integrand = np.log1p(s) - c[:, None] / (t + b[:, None])
        change += integrand @ node_weights
        logs[rows] = log_score_from_change(values, change, 1 + c, q)
    return logs


def log_score_gains(spectrum: Spectrum, Z: np.ndarray, q: float, weight: float) -> np.ndarray:
    """Compute the increase of log VS_q if each of m samples is added to the set, shape (m,).

    `spectrum` is that of the set. `Z` (m, r) are the coordinates of the unit-norm feature vectors
    of the m samples along the r eigenvectors of the set, and `weight` is the weight of an added
    sample, relative to a total weight of 1 of the set.
    """
    values = to_host(spectrum.values)
    logs = log_scores_with_each_added(values[values > 0], Z**2, q, weight)
    return logs - compute_log_score(spectrum, q)


def check_novelty_order(q: object) -> float:
    """Return the order q as a float; raise unless it is in (0, 2].

    Novelty, the change of the score if a sample is added, can be computed only for these orders.
    """
    expected = "a number above 0 and at most 2, because samples are added to a set"
    return check_float("q", q, expected, lambda order: 0 < order <= 2)


def compute_surprise(spectrum: Spectrum, q: float = DEFAULT_ORDER) -> Array:
    """Compute the surprisal log(xᵀ A^{q−1} x)/(1 − q) of each of the n samples, shape (n,).

    x is the unit-norm feature vector of the sample, and A the sum of p x xᵀ over all samples, with
    weights p that sum to 1. At q = 1, the surprisal is −xᵀ log(A) x. It is NaN for samples of
    weight 0. `spectrum` contains the eigenvectors of the set.
    """
    q = check_order(q, allow_zero=False)
    values, U = positive_eigenpairs(spectrum, q)
    surprises = np.empty(len(U))
    for rows, squares in _iter_squared_blocks(U):
        surprises[rows] = surprise_from_eigenvectors(values, squares, q)
    return surprises


def surprise_from_eigenvectors(
    values: np.ndarray,
    squares: np.ndarray,
    q: float,
) -> np.ndarray:
    """Compute the surprisals of n samples, shape (…, n); leading axes are independent sets.

    `values` (…, 1, r) are the r eigenvalues of the weighted similarity matrix of a set, and
    `squares` (…, n, r) the squared entries of its eigenvectors. The surprisal of order q is −log of
    the power mean of the eigenvalues with exponent q − 1. The weight of an eigenvalue is the
    squared component of the unit-norm feature vector of the sample along the eigenvector. At order
    ∞, the power mean is the largest eigenvalue whose eigenvector is not orthogonal to the feature
    vector.
    """
    with np.errstate(all="ignore"):
        contributions = squares * values  # of each eigenvalue to the weights of the samples
        p = contributions.sum(axis=-1, keepdims=True)  # the weights of the samples
        # Squared components of the unit-norm feature vectors; NaN for samples of weight 0.
        fractions = contributions / p
        largest = values.max(axis=-1, keepdims=True)
        # Eigenvalues of 0 have fractions of 0, so any finite log can replace theirs.
        logs = np.log(np.where(values > 0, values, largest))
        if math.isinf(q):
            # Fractions up to 1e-12 are rounding errors of 0.
            surprises = np.where(fractions <= 1e-12, np.inf, -logs).min(axis=-1)
        else:
            surprises = log_power_mean(fractions, logs, q)
    surprises[p[..., 0] == 0] = np.nan
    return np.maximum(surprises, 0.0)


def influence_from_surprisals(excess_surprisals: np.ndarray, q: float) -> np.ndarray:
    """Compute the derivative of log VS_q with respect to the weight of each sample, for finite q.

    `excess_surprisals` are the surprisals of order q of the samples, minus log VS_q of their set.
    The surprisal of a sample is log(xᵀ A^{q−1} x)/(1 − q), where x is its unit-norm feature vector,
    and A is the weighted sum of x xᵀ over all samples. For an excess e, the derivative is
    q (exp((1 − q) e) − 1)/(1 − q), or e at q = 1.
    """
    # compute_surprisal(log x, q) is (x^{q−1} − 1)/(1 − q), here with log x = −e.
    return q * compute_surprisal(-excess_surprisals, q)


def compute_residual_fractions(spectrum: Spectrum) -> Array:
    """Compute the fraction of each sample that the others do not explain, 1/(K⁻¹)_ii, shape (n,).

    K are the similarities of the n samples, with ones on the diagonal. The fraction is the squared
    distance of the feature vector of a sample from the span of those of the other samples.
    `spectrum` contains the eigenvectors of the set.
    """
    values, U = positive_eigenpairs(spectrum, 0)  # order 0: those of the numerical rank
    fractions = np.zeros(len(U))
    for rows, squares in _iter_squared_blocks(U):
        fractions[rows] = residual_fractions_from_eigenvectors(values, squares, spectrum.n)
    return fractions


def residual_fractions_from_eigenvectors(
    values: np.ndarray, squares: np.ndarray, n: int
) -> np.ndarray:
    """Compute the residual fractions of n samples, shape (…, n); leading axes are independent sets.

    The residual fraction of a sample is the squared distance of its unit-norm feature vector from
    the span of those of the other samples. It is 1 if the sample has nothing in common with them.
    It is computed as 1/((K + r I)⁻¹)_ii − r with the ridge parameter r = RIDGE, which avoids a
    division by 0. The result is larger than 1/(K⁻¹)_ii if eigenvalues of K are not large relative
    to r.

    `values` (…, r) are the r eigenvalues λ_j of the weighted similarity matrix of a set, and
    `squares` (…, n, r) the squared entries U_ij² of its eigenvectors. With t = RIDGE / n, the
    fraction of sample i of weight p_i is
    t Σ_j U_ij² λ_j/(λ_j + t) / (p_i (1 − Σ_j U_ij² λ_j/(λ_j + t))).
    """
    t = RIDGE / n
    column = values[..., None]
    shifted_values = column + t
    p = squares @ column  # the weights of the samples
    leverage = squares @ (column / shifted_values)
    # 1 − leverage, computed without cancellation as 1 − Σ_j U_ij² + t Σ_j U_ij²/(λ_j + t).
    complement = _squared_distances_from_span(squares)[..., None] + t * (
        squares @ (1 / shifted_values)
    )
    fractions = np.zeros(p.shape)
    np.divide(t * leverage, p * complement, out=fractions, where=p > 0)
    return np.clip(fractions[..., 0], 0.0, 1.0)


def compute_coverage(residual_fractions: np.ndarray, p: Weights | None = None) -> Number:
    """Compute 1 minus the mean of the residual fractions (…, n) of n samples.

    The residual fraction of a sample is the part of it that the other samples do not explain. The
    mean is weighted by `p` (n,), by default with equal weights. If samples are labels, and only
    equal labels are similar, the result is the Good–Turing estimate of coverage: of the probability
    that a new sample has a label that already occurs.
    """
    weights = None if p is None else to_host(p)
    return 1 - np.average(residual_fractions, axis=-1, weights=weights)


def compute_log_score(spectrum: Spectrum, q: float) -> float:
    """Compute log VS_q, the log of the Vendi Score of order q, from the spectrum of a set."""
    return math.log(to_float(spectrum.effective_number(q)))


def log_scores_leaving_each_out(
    values: np.ndarray,
    squares: np.ndarray,
    q: float,
    sample_weight: float,
    tolerance: float = TOLERANCE,
) -> np.ndarray:
    """Compute log VS_q of a set without each of its n samples, for q ≤ 2.

    A score is a function of the entropy of order q. The change of the entropy is an integral, which
    is computed by numerical quadrature; see docs/identity.md.

    Parameters
    ----------
    values : ndarray (…, r)
        The r eigenvalues of the weighted similarity matrix of a set; leading axes are independent
        sets.
    squares : ndarray (…, n, r)
        The squared entries of its eigenvectors; set to 0 for eigenvalues of 0.
    q : float
        The order.
    sample_weight : float
        A typical weight of a sample, which determines the range of the quadrature nodes.
    tolerance : float
        Maximum error of log VS_q without sample i, divided by the weight of sample i.

    Returns
    -------
    ndarray (…, n)
        The log scores.
    """
    # Sample i has the unit-norm feature vector x_i and the weight p_i. Let y_i = √p_i x_i and
    # A = Σ y_i y_iᵀ. With the trace term T and the node weights w(t) dt, leaving out sample i
    # changes the entropy by
    #     S_q(A) − S_q(A − y_i y_iᵀ) = p_i T(b) − ∫ [log(1 − s(t)) + p_i/(t + b)] w(t) dt
    # for s(t) = y_iᵀ (A + tI)⁻¹ y_i and any b > 0. With b = y_iᵀ A y_i / p_i − p_i/2, few nodes are
    # needed.
    column = values[..., None]
    p = (squares @ column)[..., 0]
    second_moments = (squares @ column**2)[..., 0]
    with np.errstate(all="ignore"):
        b = np.where(p > 0, second_moments / p - p / 2, 1.0)
    change = p * compute_trace_term(q, b)
    smallest = float(values[values > 0].min())
    largest = float(values.max())
    t, node_weights = compute_quadrature_nodes(q, smallest, largest, tolerance, sample_weight)
    # With the eigenvalues λ_j and the entries U_ij of the eigenvectors, s(t) is Σ_j U_ij² λ_j/(λ_j
    # + t), and 1 − s(t) is Σ_j U_ij² t/(λ_j + t) plus 1 − Σ_j U_ij². Compute log(1 − s(t)) in
    # place, without cancellation: from 1 − s(t) for t below the largest eigenvalue, and from −s(t)
    # for larger t.
    n_small = int(np.searchsorted(t, largest))
    small_t, large_t = t[:n_small], t[n_small:]
    small_t_factors = small_t / (column + small_t)
    large_t_factors = -column / (column + large_t)
    integrand = squares @ np.concatenate([small_t_factors, large_t_factors], axis=-1)
    small_t_part = integrand[..., :n_small]
    large_t_part = integrand[..., n_small:]
    small_t_part += _squared_distances_from_span(squares)[..., None]
    with np.errstate(divide="ignore"):
        np.log(small_t_part, out=small_t_part)
    np.log1p(large_t_part, out=large_t_part)
    integrand += p[..., None] / (t + b[..., None])
    change -= integrand @ node_weights
    return log_score_from_change(values, -change, 1 - p, q)


def _squared_distances_from_span(
    squares: np.ndarray, squared_norms: np.ndarray | float = 1.0
) -> np.ndarray:
    """Compute the squared distances (…) of vectors from the span of r orthonormal eigenvectors.

    `squared_norms` are those of the vectors, and `squares` (…, r) their squared coordinates along
    the eigenvectors. Distances that may be rounding errors are set to 0.
    """
    distances = squared_norms - squares.sum(axis=-1)
    # Callers divide by small numbers or take logarithms, which would amplify these errors.
    distances[distances < 1e-13 * squares.shape[-1]] = 0.0
    return distances


def _iter_squared_blocks(U: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield (rows, squares) for blocks of rows of the matrix U.

    `rows` is the slice of the row indices of a block, and `squares` are its squared entries.
    """
    for rows in row_blocks(len(U), 8 * U.shape[1]):
        yield rows, np.square(U[rows], dtype=np.float64)
