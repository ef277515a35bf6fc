"""Scores of sets that are too large for a spectrum: with bounds, or with a standard error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arguments import refuse_gradient
from ..arrays import memory
from ..arrays.namespace import Array, is_numpy
from ..errors import NotPSDError, TooLargeError, warn
from ..progress import foretell, passes
from ..similarity.base import Similarity
from .cholesky import bounds
from .estimate import Estimate, Estimating
from .products import Products
from .routes import NORM, Cost, SpectrumRoute, StalledError
from .spectrum import PSD, Source
from .stochastic import Krylov, Quadrature, random_signs
from .weighted_similarity import merge_identical, weighted_by

# Random vectors at once: with as many, a product of a kept K takes as long as reading K does. For
# MANY samples K is computed anew for each product, which takes longer than to multiply it: there
# are up to MORE_VECTORS then, if SOME of the samples need as many.
VECTORS, MORE_VECTORS, MANY, SOME = 16, 64, 50_000, 4000
# The numbers of products after which the error is looked at, and how many it usually takes; of
# MANY samples it is looked at after each product.
CHECKS, USUAL_STEPS = (4, 6, 8, 12, 16, 24, 32, 48, 64), 12
# Times as long as to multiply K takes it to be computed and multiplied, of 64 columns.
ANEW = 4
# The share of the largest error that the standard error may take, in that look.
AMONG_ERRORS = 0.8
# Independent estimates that are averaged at most, where one does not reach the tolerance.
SETS = 4
# Products in single precision are tried for errors of this size, and made again in double where
# what they do not resolve is more than the share COARSE of it.
SINGLE, COARSE = 1e-5, 0.5


class Found(NamedTuple):
    """The log of a score, its standard error, and how far quadrature can be off at most.

    `rounding` is what products do not resolve.
    """

    log: float
    error: float
    quadrature: float
    rounding: float = 0.0
    unresolved: float = 0.0

    @property
    def off(self) -> float:
        """All errors together, as a standard error: a bound is two of them."""
        return math.hypot(self.error, self.quadrature / 2, self.rounding)

    def is_enough(self, error: float, sets: int = 1) -> bool:
        """Return whether the mean of so many sets would be good enough."""
        return self._replace(error=self.error / math.sqrt(sets)).off <= error


class CoarseError(RuntimeError):
    """Eigenvalues that decide are below what single precision resolves."""


UNKNOWN = Found(math.nan, math.inf, math.inf)


def lanczos_cost(similarity: Similarity, steps: int = USUAL_STEPS, vectors: int = VECTORS) -> Cost:
    """Return the cost of so many products with so many vectors."""
    n, dim = similarity.n, similarity.dim
    columns = vectors * steps
    product = 2 * n * (n if dim is None else min(n, 2 * dim))
    flops = NORM.cost(similarity).flops + columns * (product + 4 * n * columns)
    return Cost(flops, 8 * n * (columns + 6 * vectors))


def estimate_by_lanczos(
    weighted: Similarity, orders: Sequence[float], how: Estimating, flops: float = math.inf
) -> list[Estimate]:
    """Estimate orders in so many operations, or raise a StalledError; with no limit, warn."""
    refuse_gradient("An estimate", samples=weighted)
    if how.error >= SINGLE and is_numpy(weighted.diagonal()):
        try:
            return _estimate(Products(weighted, True, how.seed), orders, how, flops)
        except CoarseError:
            pass
    return _estimate(Products(weighted, False), orders, how, flops)


def _estimate(
    products: Products, orders: Sequence[float], how: Estimating, flops: float
) -> list[Estimate]:
    """Estimate with products of one precision; raise a CoarseError if that is too low."""
    weighted = products.weighted
    n, vectors = weighted.n, _vectors(products, orders, how)
    needed = lanczos_cost(weighted, CHECKS[-1], vectors).bytes
    what = f"an estimate for {n} samples"
    memory.require_large(needed, what, "score fewer samples, or q=2")
    usual = lanczos_cost(weighted, USUAL_STEPS, vectors).flops
    work = usual if n <= MANY or weighted.dim is not None else ANEW * usual
    words = f"Estimating the score of {n:,} samples"
    with foretell(words, work, needed, single=products.single):
        return _means(products, orders, how, flops, vectors)


def _means(
    products: Products, orders: Sequence[float], how: Estimating, flops: float, vectors: int
) -> list[Estimate]:
    """Average sets of random vectors until the orders are found well enough."""
    weighted, n = products.weighted, products.weighted.n
    sets: list[list[Found]] = []
    steps, spent, stalled = 0, 0.0, False
    for seed in np.random.SeedSequence(how.seed).spawn(SETS):
        Z = random_signs(n, vectors, seed, weighted.diagonal())
        fit = [c for c in CHECKS if spent + lanczos_cost(weighted, c, vectors).flops <= flops]
        krylov = Krylov(products, Z, max(fit, default=CHECKS[0]))
        found, exact = _converge(products, krylov, orders, how.error, len(sets) + 1)
        steps += krylov.steps
        sets.append(found)
        means = [_mean(each) for each in zip(*sets, strict=True)]
        if all(mean.is_enough(how.error) for mean in means):
            break
        spent += lanczos_cost(weighted, krylov.steps, vectors).flops
        hopeless = not all(mean.is_enough(how.error, SETS) for mean in means)
        stalled = spent + lanczos_cost(weighted).flops > flops or (hopeless and flops < math.inf)
        if stalled:
            break
    worst = max(mean.off for mean in means)
    if stalled or worst == math.inf or (worst > how.error and flops < math.inf):
        raise StalledError(f"{steps} products left an error of {worst:.2g}")
    if worst > how.error:
        warn(
            f"the estimate is sure to {2 * worst:.2g} (two relative standard errors) after {steps} "
            f"products, which `rtol={how.rtol:g}` is less than; pass a larger one, or an order "
            f"nearer 1"
        )
    why = f"{len(sets) * vectors} random vectors, {steps} products; {exact} eigenvalues exact"
    values = [min(max(math.exp(mean.log), 1.0), float(n)) for mean in means]
    return [
        Estimate(value, "stochastic lanczos", why, error=value * mean.off)
        for value, mean in zip(values, means, strict=True)
    ]


def _converge(
    products: Products, krylov: Krylov, orders: Sequence[float], error: float, sets: int
) -> tuple[list[Found], int]:
    """Extend the basis until the orders are found well enough; also count exact eigenvalues."""
    floor = Source.of(products.weighted).negative_mass
    checks = CHECKS if products.weighted.n <= MANY else range(CHECKS[0], CHECKS[-1])
    for step in passes(krylov.most, "estimating (at most)"):
        krylov.extend(step + 1)
        if step + 1 not in checks and step + 1 < krylov.most:
            continue
        quadrature = Quadrature(krylov, products.squares, products.doubt)
        if quadrature.least < -floor:
            raise NotPSDError(quadrature.least, -quadrature.least)
        resolution = products.resolution(quadrature.top)
        found = [_found(quadrature, q, resolution) for q in orders]
        unresolved = any(each.unresolved > COARSE * error for each in found)
        if unresolved and products.is_coarse(quadrature.top):
            raise CoarseError
        if all(each.is_enough(error * math.sqrt(sets)) for each in found):
            break
    return found, len(quadrature.exact)


def _vectors(products: Products, orders: Sequence[float], how: Estimating) -> int:
    """Return how many random vectors to multiply at once: of MANY samples as some of them need."""
    weighted = products.weighted
    if weighted.dim is not None or weighted.n <= MANY:
        return min(VECTORS, weighted.n)
    seed = np.random.SeedSequence(how.seed)
    index = np.sort(np.random.default_rng(seed).choice(weighted.n, SOME, replace=False))
    part = weighted.take(index)
    trace = np.asarray(part.diagonal()).sum()
    some = Products(part.scaled(np.full(SOME, 1 / math.sqrt(trace))), products.single, how.seed)
    krylov = Krylov(some, random_signs(SOME, VECTORS, seed, part.diagonal()), USUAL_STEPS)
    krylov.extend(USUAL_STEPS)
    quadrature = Quadrature(krylov, some.squares, some.doubt)
    error = max(_found(quadrature, q).error for q in orders) / (AMONG_ERRORS * how.error)
    return VECTORS * math.ceil(min(error**2, MORE_VECTORS / VECTORS)) or VECTORS


def _found(quadrature: Quadrature, q: float, resolution: float = 0.0) -> Found:
    """Read one order off a quadrature, in shares of the largest Ritz value: no sum underflows."""
    top = quadrature.top
    if not top > 0:
        return UNKNOWN

    def rising(x: np.ndarray) -> np.ndarray:  # up to `top`, by a line that sums to 1/top
        return x / top + _entropy(x / top, q)

    def blurred(x: np.ndarray) -> np.ndarray:
        """Return by how much f(x) moves where numbers below the resolution are noise."""
        x = np.maximum(x, resolution)
        return np.maximum(rising(x) - rising(x - resolution), 0.0) * resolution / x

    with np.errstate(over="ignore", invalid="ignore"):
        trace = quadrature.trace(rising, q)
    excess = (1 - q) * (top * trace.value - 1)
    if not -1 < excess < math.inf:
        return UNKNOWN
    errors = [trace.error, trace.quadrature]
    errors += reversed(quadrature.enclosed(blurred)) if resolution else (0.0, 0.0)
    log = top * trace.value - 1 if q == 1 else math.log1p(excess) / (1 - q)
    scale = top / (1 + excess)
    return Found(log - math.log(top), *(_log_error(scale * e, abs(1 - q)) for e in errors))


def _log_error(error: float, factor: float) -> float:
    """Return how far log(1 + factor·x)/factor at x = 0 is off if x is off by `error`.

    >>> _log_error(0.1, 0), round(_log_error(0.1, 4), 3), _log_error(0.1, 5)
    (0.1, 0.128, inf)
    """
    share = factor * error
    if not share < 0.5:
        return math.inf
    return -math.log1p(-share) / factor if factor else error


def _entropy(x: np.ndarray, q: float) -> np.ndarray:
    """Return (x^q − x)/(1 − q), or its limit −x log x at q = 1, of x ≥ 0."""
    logs = np.log(np.where(x > 0, x, 1.0))
    return -x * logs if q == 1 else x * np.expm1((q - 1) * logs) / (1 - q)


def _mean(found: Sequence[Found]) -> Found:
    logs, errors, *others = zip(*found, strict=True)
    means = (float(np.mean(each)) for each in others)
    return Found(float(np.mean(logs)), math.hypot(*errors) / len(found), *means)


def estimated(
    similarity: Similarity,
    orders: Sequence[float],
    p: Array | None,
    psd: PSD,
    how: Estimating,
    exact: SpectrumRoute,
) -> list[Estimate] | None:
    """Estimate some orders, or return None where the exact ones cost no more."""
    if psd == "clip" and not similarity.psd:
        raise ValueError(
            "psd='clip' needs all eigenvalues, which an estimate does not find; leave out one of "
            "`psd` and `method`"
        )
    distinct = merge_identical(similarity, p)
    weighted = weighted_by(distinct.similarity, distinct.p)
    cost, usual = exact.cost(weighted), lanczos_cost(weighted).flops
    fits = cost.bytes <= memory.available_bytes()
    if fits and cost.flops <= usual:
        return None
    if is_numpy(weighted.diagonal()):
        try:
            return bounds(weighted, orders, how, usual)
        except StalledError:
            pass
    try:
        return estimate_by_lanczos(weighted, orders, how, cost.flops if fits else math.inf)
    except StalledError as error:
        if fits:
            return None
        raise TooLargeError(
            f"`method='estimate'` found no score: {error}. Exact scores need "
            f"{cost.bytes / 1e9:,.1f} GB, of which {memory.available_bytes() / 1e9:,.1f} GB are "
            f"free: score fewer samples, or pass an order nearer 1, q=2 or q=float('inf')"
        ) from None


def way_out(similarity: Similarity, orders: Sequence[float]) -> str:
    """Return the remedy for exact numbers that do not fit in memory."""
    needed = lanczos_cost(similarity).bytes
    if 0 in orders or needed > memory.available_bytes():
        return ""
    return (
        f", or pass method='estimate', which needs {needed / 1e9:,.1f} GB and gives its standard "
        f"error or bounds with the number"
    )
