"""Estimate scores of large sets, with a standard error, without computing the spectrum."""

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
from .block_lanczos import EigenPairs, Krylov, Quadrature
from .estimate import Estimate, EstimateOptions
from .quadrature import compute_entropies, log_score_from_entropy
from .routes import NORM, ConvergenceError, Cost, SpectrumRoute, product_width
from .spectrum import compute_tolerance
from .weighted_similarity import merge_identical

# Number of random vectors per product. Up to this number, the product takes about as long as
# reading K from memory.
N_VECTORS = 16
# Numbers of products to search for the top eigenpairs; maximum and typical number of products of an
# estimate; and maximum number of independent estimates to average.
TOP_STEPS = (6, 12, 24, 48)
MAX_STEPS = 48
TYPICAL_STEPS = 18
MAX_REPEATS = 8
LOG_ROUNDING = 1e-10  # rounding error of the log of a score


def estimate_lanczos_cost(similarity: Similarity, steps: int = TYPICAL_STEPS) -> Cost:
    """Estimate the cost of `steps` products with N_VECTORS vectors."""
    n = similarity.n
    columns = N_VECTORS * steps
    product = 2 * n * product_width(similarity)
    flops = NORM.cost(similarity).flops + columns * (product + 4 * n * columns)
    return Cost(flops, 8 * n * (columns + 6 * N_VECTORS))


def estimate_by_lanczos(
    weighted: Similarity,
    orders: Sequence[float],
    options: EstimateOptions,
    flops: float = math.inf,
) -> list[Estimate]:
    """Estimate the scores of several orders by block Lanczos with random vectors.

    Raises a ConvergenceError if `flops` operations do not reach the target `options.rtol`. Without
    a limit, emits a warning instead.
    """
    check_no_gradient("An estimate", samples=weighted)
    n = weighted.n
    tolerance = compute_tolerance(weighted)
    aim = options.rtol / 2  # `rtol` is two standard errors
    needed = estimate_lanczos_cost(weighted, MAX_STEPS).bytes
    memory.require(needed, f"an estimate for {n} samples", "score fewer samples, or q=2")
    like = weighted.diagonal()

    def signs(seed: np.random.SeedSequence) -> Array:
        """Draw random vectors of ±1, which minimize the variance."""
        rng = np.random.default_rng(seed)
        vectors = rng.choice([-1.0, 1.0], (n, min(N_VECTORS, n)))
        return asarray_like(vectors, like)

    expected = estimate_lanczos_cost(weighted).flops
    with announce_duration(f"Estimating the score of {n:,} samples", expected, needed):
        first, *seeds = np.random.SeedSequence(options.seed).spawn(1 + MAX_REPEATS)
        top = Krylov(weighted.matmul, signs(first), TOP_STEPS[-1])
        traces = np.array([n, 1.0, float(weighted.squared_norm())])
        pairs = EigenPairs(np.empty(0), top.basis[:0].T)
        sets: list[np.ndarray] = []
        steps = 0
        searching = True
        for seed, depth in zip_longest(seeds, TOP_STEPS):
            if searching and depth:
                top.extend(depth)
                before = len(pairs.values)
                pairs = top.converged_pairs(tolerance.entry_rounding(n))
                searching = len(pairs.values) > before
                if searching:
                    sets = []  # previous estimates have a larger error
            krylov = pairs.orthogonal_basis(weighted.matmul, signs(seed), MAX_STEPS)
            sets.append(_extend_until_converged(krylov, pairs, traces, orders, aim, tolerance))
            steps += krylov.steps
            logs, errors, left = np.mean(sets, axis=0)
            off = np.hypot(errors / math.sqrt(len(sets)), left)
            worst = float(off.max())
            if worst <= aim or estimate_lanczos_cost(weighted, steps + top.steps).flops > flops:
                break
        steps += top.steps
    if not worst <= aim:
        if flops < math.inf or worst == math.inf:
            raise ConvergenceError(f"{steps} products left an error of {worst:.2g}")
        warn(
            f"the estimate is sure to {2 * worst:.2g} (two relative standard errors) after {steps} "
            f"products, which `rtol={options.rtol:g}` is less than; pass a larger one, or an order "
            f"nearer 1"
        )
    vectors = len(sets) * top.b
    exact = len(pairs.values)
    why = f"{vectors} random vectors, {steps} products; {exact} eigenvalues exact"
    values = np.clip(np.exp(logs), 1.0, n)
    errors = values * off
    known = zip(values.tolist(), errors.tolist(), strict=True)
    return [Estimate(value, "stochastic lanczos", why, error) for value, error in known]


def _extend_until_converged(
    krylov: Krylov,
    pairs: EigenPairs,
    traces: np.ndarray,
    orders: Sequence[float],
    target: float,
    tolerance: EigenvalueTolerance,
) -> np.ndarray:
    """Extend the basis until the quadrature error is small compared with the standard error.

    Returns, for each order, the log of the score, its standard error and the quadrature error.
    """
    powers = pairs.values[:, None] ** np.arange(3)
    traces = traces - powers.sum(axis=0)
    largest = float(pairs.values.max(initial=0.0))
    n = tolerance.n
    rounding = max(tolerance.eigensolver_rounding(n) * largest, tolerance.entry_rounding(n))
    logs: list[np.ndarray] = []
    for step in track(range(krylov.max_steps), krylov.max_steps, "estimating (at most)"):
        krylov.extend(step + 1)
        quadrature = Quadrature(krylov, rounding)
        if quadrature.min_eigenvalue < -tolerance.max_negative_mass:
            raise NotPSDError(quadrature.min_eigenvalue, -quadrature.min_eigenvalue)
        readings = [_estimate_log_score(quadrature, pairs, traces, q) for q in orders]
        log, error = np.transpose(readings)
        logs.append(log)
        left = np.full_like(log, math.inf)
        if krylov.size > krylov.n - krylov.b - len(pairs.values):
            left = np.zeros_like(log)  # the basis spans the whole space
        elif len(logs) > 2:
            before, last = np.abs(np.diff(logs[-3:], axis=0))
            # Remaining change if steps continue to shrink geometrically (Aitken).
            shrinkage = np.maximum(abs(before - last), 1e-300)
            left = np.maximum(last, last**2 / shrinkage)
        if (left <= np.maximum(target / 2, error / 4)).all():
            break
    return np.stack([log, error, left])


def _estimate_log_score(
    quadrature: Quadrature,
    pairs: EigenPairs,
    traces: np.ndarray,
    q: float,
) -> tuple[float, float]:
    """Estimate the log of a score and its standard error.

    Eigenvalues are divided by the largest to avoid underflow.
    """
    top = float(max([quadrature.nodes[-1], *pairs.values]))
    if not top > 0:
        return math.nan, math.inf
    of_nodes = compute_entropies(quadrature.nodes / top, q)
    of_pairs = compute_entropies(pairs.values / top, q)
    value, error = quadrature.trace(of_nodes, traces)
    entropy = top * (value + float(of_pairs.sum()))
    growth = (1 - q) * entropy
    if not growth > -1:
        return math.nan, math.inf
    log = float(log_score_from_entropy(entropy, q)) - math.log(top)
    return log, max(top * error / (1 + growth), LOG_ROUNDING)


def estimate_scores(
    similarity: Similarity,
    orders: Sequence[float],
    p: Array | None,
    psd: PSD,
    options: EstimateOptions,
    exact_route: SpectrumRoute,
) -> list[Estimate] | None:
    """Estimate the scores of several orders, or return None if exact scores are not slower."""
    if psd == "clip" and not similarity.psd:
        raise ValueError(
            "psd='clip' needs all eigenvalues, which an estimate does not find; leave out one of "
            "`psd` and `method`"
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
            f"`method='estimate'` found no score: {error}. Exact scores need "
            f"{cost.bytes / 1e9:,.1f} GB, of which {available / 1e9:,.1f} GB are free: "
            f"score fewer samples, or pass an order nearer 1, q=2 or q=float('inf')"
        ) from None
