"""Estimate scores of large sets with their standard errors, without computing the spectrum.

A score is a function of tr f(A), where A is the weighted similarity matrix. The trace is estimated
by the mean of zᵀ f(A) z over random vectors z, which is computed from products of A with vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from ..core.eigenvalues import PSD, EigenvalueTolerance
from ..similarity.base import Similarity
from ..support import memory
from ..support.arguments import check_no_gradient
from ..support.errors import NotPSDError, warn
from ..support.memory import TooLargeError
from ..support.namespace import Array, asarray_like
from ..support.progress import announce_duration, track
from .block_lanczos import EigenPairs, GaussQuadrature, KrylovBasis
from .estimate import Estimate, EstimateOptions
from .quadrature import compute_entropies, log_score_from_entropy
from .routes import NORM, ConvergenceError, Cost, SpectrumRoute, count_multiplications_per_sample
from .spectrum import compute_tolerance
from .weighted_similarity import merge_identical

# Number of random vectors per matrix product. Up to this number, a product takes about as long as
# reading the similarity matrix from memory.
N_VECTORS = 16
# Numbers of products after which the search for the largest eigenpairs checks for convergence.
EIGENPAIR_STEPS = (6, 12, 24, 48)
MAX_STEPS = 48  # maximum number of products of an estimate
TYPICAL_STEPS = 18  # typical number of products of an estimate
MAX_REPEATS = 8  # maximum number of independent estimates to average
LOG_ROUNDING = 1e-10  # minimum standard error of the log of a score, due to rounding


def estimate_lanczos_cost(similarity: Similarity, steps: int = TYPICAL_STEPS) -> Cost:
    """Estimate the cost of `steps` products of the similarity matrix with N_VECTORS vectors.

    It includes the squared Frobenius norm of the matrix, and the orthogonalization of the basis
    that consists of the results of these products.
    """
    n = similarity.n
    basis_size = N_VECTORS * steps
    product_flops = 2 * n * count_multiplications_per_sample(similarity)
    # Each new vector is projected twice out of the basis, which has half of its final size on
    # average. Memory is that of the basis, and of six work arrays with N_VECTORS vectors.
    flops = NORM.cost(similarity).flops + basis_size * (product_flops + 4 * n * basis_size)
    return Cost(flops, 8 * n * (basis_size + 6 * N_VECTORS))


def estimate_by_lanczos(
    weighted: Similarity,
    orders: Sequence[float],
    options: EstimateOptions,
    max_flops: float = math.inf,
) -> list[Estimate]:
    """Estimate the scores of several orders by block Lanczos with random vectors.

    `weighted` is the weighted similarity √p_i K_ij √p_j of similarities K and weights p. The
    largest eigenvalues are computed exactly. The contribution of all other eigenvalues to a score
    is estimated by random vectors.

    There are up to MAX_REPEATS rounds. Each round draws new random vectors, and the estimates of
    the rounds are averaged. The first rounds also search for more of the largest eigenvalues; if
    one is found, previous estimates are discarded, because they are less accurate. Rounds stop if
    two standard errors, divided by the score, are at most `options.rtol`, or after about
    `max_flops` floating-point operations.

    If the error is still too large at the end, a ConvergenceError is raised. Without a limit
    `max_flops`, a warning is emitted instead if the error is finite.
    """
    check_no_gradient("method='estimate'", samples=weighted)
    n = weighted.n
    tolerance = compute_tolerance(weighted)
    target_error = options.rtol / 2  # `rtol` is two standard errors
    needed_bytes = estimate_lanczos_cost(weighted, MAX_STEPS).bytes
    memory.require(needed_bytes, f"an estimate for {n} samples", "score fewer samples, or use q=2")
    diagonal = weighted.diagonal()

    def draw_signs(seed: np.random.SeedSequence) -> Array:
        """Draw random vectors of entries ±1, which minimize the variance of trace estimates."""
        rng = np.random.default_rng(seed)
        vectors = rng.choice([-1.0, 1.0], (n, min(N_VECTORS, n)))
        return asarray_like(vectors, diagonal)

    work = estimate_lanczos_cost(weighted).flops
    with announce_duration(f"Estimating the score of {n:,} samples", work, needed_bytes):
        first, *seeds = np.random.SeedSequence(options.seed).spawn(1 + MAX_REPEATS)
        eigenpair_basis = KrylovBasis(weighted.matmul, draw_signs(first), EIGENPAIR_STEPS[-1])
        # The traces of A⁰, A¹ and A², where A is the weighted similarity matrix.
        traces = np.array([n, 1.0, float(weighted.squared_norm())])
        pairs = EigenPairs(np.empty(0), eigenpair_basis.basis[:0].T)  # none yet
        estimates: list[np.ndarray] = []
        steps = 0
        has_new_pairs = True
        # Later rounds have an `eigenpair_steps` of None, so they search for no more eigenpairs.
        for seed, eigenpair_steps in zip_longest(seeds, EIGENPAIR_STEPS):
            if has_new_pairs and eigenpair_steps is not None:
                eigenpair_basis.extend(eigenpair_steps)
                n_previous = len(pairs.values)
                pairs = eigenpair_basis.converged_eigenpairs(tolerance.entry_rounding(n))
                has_new_pairs = len(pairs.values) > n_previous
                if has_new_pairs:
                    estimates = []  # previous estimates have a larger error
            krylov = pairs.build_complement_basis(weighted.matmul, draw_signs(seed), MAX_STEPS)
            estimates.append(
                _estimate_log_scores_by_quadrature(
                    krylov, pairs, traces, orders, target_error, tolerance
                )
            )
            steps += krylov.steps
            logs, sampling_errors, quadrature_errors = np.mean(estimates, axis=0)
            # Sampling errors of independent estimates average out, quadrature errors may not.
            errors = np.hypot(sampling_errors / math.sqrt(len(estimates)), quadrature_errors)
            largest_error = float(errors.max())
            cost = estimate_lanczos_cost(weighted, steps + eigenpair_basis.steps)
            if largest_error <= target_error or cost.flops > max_flops:
                break
        steps += eigenpair_basis.steps
    if not largest_error <= target_error:  # also true for NaN
        # With a limit, the caller computes exact scores instead.
        if max_flops < math.inf or largest_error == math.inf:
            raise ConvergenceError(
                f"the relative standard error is {largest_error:.2g} after {steps} products"
            )
        warn(
            f"two relative standard errors of the estimate are {2 * largest_error:.2g} after "
            f"{steps} products, more than `rtol={options.rtol:g}`; pass a larger `rtol`, or an "
            f"order closer to 1"
        )
    n_vectors = len(estimates) * eigenpair_basis.b
    n_exact = len(pairs.values)
    reason = f"{n_vectors} random vectors, {steps} products; {n_exact} eigenvalues exact"
    scores = np.clip(np.exp(logs), 1.0, n)
    standard_errors = scores * errors  # `errors` are those of the logs
    return [
        Estimate(score, "stochastic lanczos", reason, error)
        for score, error in zip(scores.tolist(), standard_errors.tolist(), strict=True)
    ]


def _estimate_log_scores_by_quadrature(
    krylov: KrylovBasis,
    pairs: EigenPairs,
    traces: np.ndarray,
    orders: Sequence[float],
    target_error: float,
    tolerance: EigenvalueTolerance,
) -> np.ndarray:
    """Estimate the log of the score of each order, by one set of random vectors.

    A score is a function of the eigenvalues of A, the weighted similarity matrix. `pairs` are the
    eigenpairs of A that were computed exactly. `krylov` is a basis that starts from the random
    vectors, projected onto the orthogonal complement of these eigenvectors. The contribution of the
    other eigenvalues is estimated by Gauss quadrature in this basis, which is extended until the
    quadrature error is small compared with `target_error` or with the standard error. `traces` are
    the traces of A⁰, A¹ and A². `tolerance` contains bounds of rounding errors in eigenvalues.

    Returns three rows, with one value for each order: the log of the score, its standard error and
    the quadrature error.
    """
    powers = pairs.values[:, None] ** np.arange(3)
    # Traces of the powers of A restricted to the complement of the exact eigenvectors.
    complement_traces = traces - powers.sum(axis=0)
    largest = float(pairs.values.max(initial=0.0))
    n = tolerance.n
    # Bound of rounding errors of small eigenvalues, by the eigensolver and by the entries of A.
    rounding = max(tolerance.eigensolver_rounding(n) * largest, tolerance.entry_rounding(n))
    logs: list[np.ndarray] = []
    for step in track(range(krylov.max_steps), krylov.max_steps, "estimating (at most)"):
        krylov.extend(step + 1)
        quadrature = GaussQuadrature(krylov, rounding)
        if quadrature.min_eigenvalue < -tolerance.max_negative_mass:
            raise NotPSDError(quadrature.min_eigenvalue, -quadrature.min_eigenvalue)
        estimates = [
            _estimate_log_score_of_order(quadrature, pairs, complement_traces, q) for q in orders
        ]
        log_scores, standard_errors = np.transpose(estimates)
        logs.append(log_scores)
        quadrature_errors = np.full_like(log_scores, math.inf)
        # The quadrature error is unknown until three steps have been performed.
        if krylov.size > krylov.n - krylov.b - len(pairs.values):
            # No further block of b vectors fits into the complement, which the basis spans.
            quadrature_errors = np.zeros_like(log_scores)
        elif len(logs) > 2:
            previous_change, last_change = np.abs(np.diff(logs[-3:], axis=0))
            # The total of all further changes if they continue to shrink geometrically (Aitken).
            # The minimum of `shrinkage` avoids a division by 0.
            shrinkage = np.maximum(abs(previous_change - last_change), 1e-300)
            quadrature_errors = np.maximum(last_change, last_change**2 / shrinkage)
        if (quadrature_errors <= np.maximum(target_error / 2, standard_errors / 4)).all():
            break
    return np.stack([log_scores, standard_errors, quadrature_errors])


def _estimate_log_score_of_order(
    quadrature: GaussQuadrature,
    pairs: EigenPairs,
    complement_traces: np.ndarray,
    q: float,
) -> tuple[float, float]:
    """Estimate the log of the score of order q and its standard error; NaN and ∞ on failure.

    The score is a function of the entropy Σ (λ^q − λ)/(1 − q) of the eigenvalues λ of A, the
    weighted similarity matrix. The terms of the eigenvalues in `pairs`, which were computed
    exactly, are added to an estimate for all other eigenvalues, by the Gauss quadrature
    `quadrature`. `complement_traces` are the number of the other eigenvalues, their sum, and the
    sum of their squares. Eigenvalues are divided by the largest one to avoid underflow.
    """
    largest = float(max([quadrature.nodes[-1], *pairs.values]))
    if not largest > 0:
        return math.nan, math.inf
    node_entropies = compute_entropies(quadrature.nodes / largest, q)
    pair_entropies = compute_entropies(pairs.values / largest, q)
    complement_entropy, error = quadrature.estimate_trace(node_entropies, complement_traces)
    # Divide by the trace of A / largest, which is 1 / largest.
    entropy = largest * (complement_entropy + float(pair_entropies.sum()))
    # 1 + power_change is Σ λ^q of eigenvalues λ of A, times a positive constant.
    power_change = (1 - q) * entropy
    if not power_change > -1:
        return math.nan, math.inf
    log_score = float(log_score_from_entropy(entropy, q)) - math.log(largest)
    return log_score, max(largest * error / (1 + power_change), LOG_ROUNDING)


def estimate_scores(
    similarity: Similarity,
    orders: Sequence[float],
    p: Array | None,
    psd: PSD,
    options: EstimateOptions,
    exact_route: SpectrumRoute,
) -> list[Estimate] | None:
    """Estimate the scores of several orders; return None if exact scores take no longer.

    `similarity` is not weighted yet; `p` are the weights of its samples (None if uniform).
    `exact_route` is the method that would compute the scores exactly, used to compare the costs. If
    an estimate does not converge, None is returned as well; or a TooLargeError is raised if exact
    scores do not fit in memory. `psd` must not be "clip" for similarities that may have negative
    eigenvalues.
    """
    if psd == "clip" and not similarity.psd:
        raise ValueError(
            "psd='clip' requires all eigenvalues, which method='estimate' does not compute; remove "
            "`psd` or `method`"
        )
    weighted = merge_identical(similarity, p).weighted
    exact_cost = exact_route.cost(weighted)
    available = memory.available_bytes()
    # An estimate may take at most as long as exact scores, unless these do not fit in memory.
    max_flops = exact_cost.flops if exact_cost.bytes <= available else math.inf
    if max_flops <= estimate_lanczos_cost(weighted).flops:
        return None
    try:
        return estimate_by_lanczos(weighted, orders, options, max_flops)
    except ConvergenceError as error:
        if max_flops < math.inf:
            return None
        raise TooLargeError(
            f"`method='estimate'` did not converge: {error}. Exact scores need "
            f"{exact_cost.bytes / 1e9:,.1f} GB of memory, but {available / 1e9:,.1f} GB are "
            f"available; score fewer samples, or pass q=2, q=float('inf') or an order closer to 1"
        ) from None
