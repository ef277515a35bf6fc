"""Estimate scores of large sets with their standard errors, without computing the spectrum."""

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
# Numbers of products after which the largest eigenvalues are checked for convergence; maximum and
# typical number of products of an estimate; maximum number of independent estimates to average.
EIGENPAIR_STEPS = (6, 12, 24, 48)
MAX_STEPS = 48
TYPICAL_STEPS = 18
MAX_REPEATS = 8
LOG_ROUNDING = 1e-10  # minimum standard error of the log of a score, due to rounding


def estimate_lanczos_cost(similarity: Similarity, steps: int = TYPICAL_STEPS) -> Cost:
    """Estimate the cost of `steps` products of the similarity matrix with N_VECTORS vectors."""
    n = similarity.n
    columns = N_VECTORS * steps
    product = 2 * n * count_multiplications_per_sample(similarity)
    flops = NORM.cost(similarity).flops + columns * (product + 4 * n * columns)
    return Cost(flops, 8 * n * (columns + 6 * N_VECTORS))


def estimate_by_lanczos(
    weighted: Similarity,
    orders: Sequence[float],
    options: EstimateOptions,
    flops: float = math.inf,
) -> list[Estimate]:
    """Estimate the scores of several orders by block Lanczos with random vectors.

    Raises a ConvergenceError if the error exceeds `options.rtol` after `flops` operations. Without
    a limit of operations, emits a warning instead.
    """
    check_no_gradient("method='estimate'", samples=weighted)
    n = weighted.n
    tolerance = compute_tolerance(weighted)
    target = options.rtol / 2  # `rtol` is two standard errors
    needed_bytes = estimate_lanczos_cost(weighted, MAX_STEPS).bytes
    memory.require(needed_bytes, f"an estimate for {n} samples", "score fewer samples, or use q=2")
    diagonal = weighted.diagonal()

    def draw_signs(seed: np.random.SeedSequence) -> Array:
        """Draw random vectors of ±1, which minimize the variance."""
        rng = np.random.default_rng(seed)
        vectors = rng.choice([-1.0, 1.0], (n, min(N_VECTORS, n)))
        return asarray_like(vectors, diagonal)

    work = estimate_lanczos_cost(weighted).flops
    with announce_duration(f"Estimating the score of {n:,} samples", work, needed_bytes):
        first, *seeds = np.random.SeedSequence(options.seed).spawn(1 + MAX_REPEATS)
        top = KrylovBasis(weighted.matmul, draw_signs(first), EIGENPAIR_STEPS[-1])
        traces = np.array([n, 1.0, float(weighted.squared_norm())])
        pairs = EigenPairs(np.empty(0), top.basis[:0].T)
        estimates: list[np.ndarray] = []
        steps = 0
        is_searching = True
        for seed, depth in zip_longest(seeds, EIGENPAIR_STEPS):
            if is_searching and depth:
                top.extend(depth)
                n_previous = len(pairs.values)
                pairs = top.converged_eigenpairs(tolerance.entry_rounding(n))
                is_searching = len(pairs.values) > n_previous
                if is_searching:
                    estimates = []  # previous estimates have a larger error
            krylov = pairs.build_complement_basis(weighted.matmul, draw_signs(seed), MAX_STEPS)
            estimates.append(
                _estimate_log_scores_by_quadrature(krylov, pairs, traces, orders, target, tolerance)
            )
            steps += krylov.steps
            logs, sampling_errors, quadrature_errors = np.mean(estimates, axis=0)
            errors = np.hypot(sampling_errors / math.sqrt(len(estimates)), quadrature_errors)
            largest_error = float(errors.max())
            if (
                largest_error <= target
                or estimate_lanczos_cost(weighted, steps + top.steps).flops > flops
            ):
                break
        steps += top.steps
    if not largest_error <= target:
        if flops < math.inf or largest_error == math.inf:
            raise ConvergenceError(
                f"the relative standard error is {largest_error:.2g} after {steps} products"
            )
        warn(
            f"two relative standard errors of the estimate are {2 * largest_error:.2g} after "
            f"{steps} products, more than `rtol={options.rtol:g}`; pass a larger `rtol`, or an "
            f"order closer to 1"
        )
    n_vectors = len(estimates) * top.b
    n_exact = len(pairs.values)
    reason = f"{n_vectors} random vectors, {steps} products; {n_exact} eigenvalues exact"
    values = np.clip(np.exp(logs), 1.0, n)
    pairs_of_values = zip(values.tolist(), (values * errors).tolist(), strict=True)
    return [
        Estimate(value, "stochastic lanczos", reason, error) for value, error in pairs_of_values
    ]


def _estimate_log_scores_by_quadrature(
    krylov: KrylovBasis,
    pairs: EigenPairs,
    traces: np.ndarray,
    orders: Sequence[float],
    target: float,
    tolerance: EigenvalueTolerance,
) -> np.ndarray:
    """Extend the basis until the quadrature error is small compared with the standard error.

    `krylov` is a basis of the complement of the converged eigenpairs `pairs`, and `traces` are
    tr I, tr A and tr A² of the whole matrix A. Returns three rows, with one value for each order:
    the log of the score, its standard error and the quadrature error.
    """
    powers = pairs.values[:, None] ** np.arange(3)
    traces = traces - powers.sum(axis=0)
    largest = float(pairs.values.max(initial=0.0))
    n = tolerance.n
    rounding = max(tolerance.eigensolver_rounding(n) * largest, tolerance.entry_rounding(n))
    logs: list[np.ndarray] = []
    for step in track(range(krylov.max_steps), krylov.max_steps, "estimating (at most)"):
        krylov.extend(step + 1)
        quadrature = GaussQuadrature(krylov, rounding)
        if quadrature.min_eigenvalue < -tolerance.max_negative_mass:
            raise NotPSDError(quadrature.min_eigenvalue, -quadrature.min_eigenvalue)
        log_scores = [_estimate_log_score_of_order(quadrature, pairs, traces, q) for q in orders]
        log, error = np.transpose(log_scores)
        logs.append(log)
        quadrature_error = np.full_like(log, math.inf)
        if krylov.size > krylov.n - krylov.b - len(pairs.values):
            quadrature_error = np.zeros_like(log)  # the basis spans the whole space
        elif len(logs) > 2:
            previous, last_change = np.abs(np.diff(logs[-3:], axis=0))
            # The total of all further changes if they continue to shrink geometrically (Aitken).
            shrinkage = np.maximum(abs(previous - last_change), 1e-300)
            quadrature_error = np.maximum(last_change, last_change**2 / shrinkage)
        if (quadrature_error <= np.maximum(target / 2, error / 4)).all():
            break
    return np.stack([log, error, quadrature_error])


def _estimate_log_score_of_order(
    quadrature: GaussQuadrature,
    pairs: EigenPairs,
    traces: np.ndarray,
    q: float,
) -> tuple[float, float]:
    """Estimate the log of the score of order q and its standard error.

    Eigenvalues are divided by the largest one to avoid underflow.
    """
    top = float(max([quadrature.nodes[-1], *pairs.values]))
    if not top > 0:
        return math.nan, math.inf
    of_nodes = compute_entropies(quadrature.nodes / top, q)
    of_pairs = compute_entropies(pairs.values / top, q)
    value, error = quadrature.estimate_trace(of_nodes, traces)
    entropy = top * (value + float(of_pairs.sum()))
    excess = (1 - q) * entropy
    if not excess > -1:
        return math.nan, math.inf
    log = float(log_score_from_entropy(entropy, q)) - math.log(top)
    return log, max(top * error / (1 + excess), LOG_ROUNDING)


def estimate_scores(
    similarity: Similarity,
    orders: Sequence[float],
    p: Array | None,
    psd: PSD,
    options: EstimateOptions,
    exact_route: SpectrumRoute,
) -> list[Estimate] | None:
    """Estimate the scores of several orders; return None if exact scores take no longer."""
    if psd == "clip" and not similarity.psd:
        raise ValueError(
            "psd='clip' requires all eigenvalues, which method='estimate' does not compute; remove "
            "`psd` or `method`"
        )
    weighted = merge_identical(similarity, p).weighted
    cost = exact_route.cost(weighted)
    available = memory.available_bytes()
    limit = cost.flops if cost.bytes <= available else math.inf
    if limit <= estimate_lanczos_cost(weighted).flops:
        return None
    try:
        return estimate_by_lanczos(weighted, orders, options, limit)
    except ConvergenceError as error:
        if limit < math.inf:
            return None
        raise TooLargeError(
            f"`method='estimate'` did not converge: {error}. Exact scores need "
            f"{cost.bytes / 1e9:,.1f} GB of memory, but {available / 1e9:,.1f} GB are available; "
            f"score fewer samples, or pass an order closer to 1, q=2 or q=float('inf')"
        ) from None
