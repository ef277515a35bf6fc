"""Scores of sets that are too large for a spectrum: with bounds, or with a standard error.

What the spectrum is like decides, and turns out on the way. Where some rows of K say nearly all of
it, they give bounds (`cholesky`); elsewhere products with random vectors give a mean with its
standard error (`stochastic`). Both cost n² operations where a spectrum costs n³. What they hold has
n rows, and up to n/4 columns for bounds or some thousand for a mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ..arguments import refuse_gradient
from ..arrays import memory
from ..arrays.namespace import Array, is_numpy
from ..errors import NotPSDError, TooLargeError, warn
from ..progress import track
from ..similarity.base import Similarity
from .cholesky import BLOCK, Factor, certified
from .estimate import Estimate, Estimating
from .hill import effective_number
from .products import Products
from .routes import NORM, Cost, SpectrumRoute, StalledError, entries_of
from .spectrum import PSD, Source
from .stochastic import Krylov, Quadrature, random_signs
from .weighted_similarity import merge_identical, weighted_by

# Random vectors at once: with as many, a product of a kept K takes as long as reading K does. Of
# more samples than MANY K is found anew for each product, which takes longer than to multiply it.
VECTORS, MORE_VECTORS, MANY = 16, 64, 50_000
# The numbers of products after which the error is looked at.
CHECKS = (4, 6, 8, 12, 16, 24, 32, 48, 64)
# How many it usually takes, for the cost.
USUAL_STEPS = 12
# Independent estimates that are averaged at most, where one does not reach the tolerance.
SETS = 4
# Quadrature is gone on with until its error is below this share of the standard error, so that
# this is what the number is off by; or below that share of the tolerance.
AMONG_ERRORS, AMONG_TOLERANCE = 0.5, 0.2
# Products in single precision are tried for errors of this size, and made again in double where
# what they do not resolve is more than the share COARSE of it. Trace and norm of the same matrix
# are then known to the share DOUBT_SINGLE, and else to that of rounding.
SINGLE, COARSE = 1e-5, 0.5
DOUBT_SINGLE, DOUBT = 1e-7, 1e-13
# Columns of the Cholesky factor, as a share of the samples and of the memory that is left.
MOST_COLUMNS, MOST_MEMORY = 0.25, 0.25


class PivotedCholesky:
    """Bounds from some rows of K."""

    name = "pivoted cholesky"

    def run(
        self, weighted: Similarity, orders: Sequence[float], how: Estimating, flops: float
    ) -> list[Estimate]:
        """Return the effective numbers of some orders, for no more than so many operations."""
        n = weighted.n
        room = MOST_MEMORY * memory.available_bytes() / (8 * n)
        most = int(min(MOST_COLUMNS * n, math.sqrt(flops / (2 * n)), room))
        if most < BLOCK:
            raise StalledError("too few samples for bounds")
        factor = Factor(weighted, most, how.seed)

        def is_enough(least: np.ndarray, even: np.ndarray) -> bool:
            return all(_width(least, even, q) <= math.log1p(how.rtol) for q in orders)

        found = certified(factor, is_enough, _aim(how.rtol, n))
        why = f"{factor.size} rows leave {factor.left:.2g} of the trace"
        if found is None:
            raise StalledError(why)
        estimates = []
        for q in orders:
            low, high = sorted(effective_number(shares, q) for shares in found)
            estimates.append(Estimate(math.sqrt(low * high), self.name, why, low=low, high=high))
        return estimates


def _width(least: np.ndarray, even: np.ndarray, q: float) -> float:
    """Return half of what is between the logarithms of the two numbers."""
    return math.log(effective_number(even, q) / effective_number(least, q)) / 2


def _aim(rtol: float, n: int) -> float:
    """Return the trace ε that is left when bounds at order 1 are as narrow: ε log(n/ε) is about 2
    rtol.

    >>> round(_aim(1e-5, 5000) * 1e7)
    9
    """
    aim = rtol
    for _ in range(3):
        aim = 2 * rtol / math.log(n / aim)
    return aim


class Found(NamedTuple):
    """The logarithm of a score, its standard error, and what else it may be off by.

    `quadrature` is what quadrature may add; `rounding` what eigenvalues may that products do not
    resolve, of which `unresolved` is sure to stay.
    """

    log: float
    error: float
    quadrature: float
    rounding: float = 0.0
    unresolved: float = 0.0

    @property
    def off(self) -> float:
        """All errors together."""
        return math.hypot(self.error, self.quadrature, self.rounding)

    def is_enough(self, rtol: float, sets: int = 1) -> bool:
        """Return whether the mean of so many would be good enough."""
        error = self.error / math.sqrt(sets)
        least = max(AMONG_ERRORS * error, AMONG_TOLERANCE * rtol)
        off = math.hypot(error, self.quadrature, self.rounding)
        return off <= rtol and self.quadrature <= least


class CoarseError(RuntimeError):
    """Eigenvalues that decide are below what single precision resolves."""


UNKNOWN = Found(math.nan, math.inf, math.inf)


class StochasticLanczos:
    """A mean over random vectors, with its standard error."""

    name = "stochastic lanczos"

    def cost(self, similarity: Similarity, steps: int = USUAL_STEPS) -> Cost:
        """Return the cost of so many products with `VECTORS` vectors."""
        n, dim, vectors = similarity.n, similarity.dim, _vectors(similarity)
        columns = vectors * steps
        product = 2 * n * (n if dim is None else min(n, 2 * dim))
        flops = entries_of(similarity) * (dim is None) + columns * (product + 4 * n * columns)
        return Cost(NORM.cost(similarity).flops + flops, 8 * n * (columns + 6 * vectors))

    def run(
        self, weighted: Similarity, orders: Sequence[float], how: Estimating, flops: float
    ) -> list[Estimate]:
        """Return the effective numbers of some orders, for no more than so many operations.

        Where that is infinite, the best there is, with a warning if it is not `how.rtol`.
        """
        refuse_gradient("An estimate", samples=weighted)
        memory.require_large(
            self.cost(weighted, CHECKS[-1]).bytes,
            f"an estimate for {weighted.n} samples",
            "score fewer samples, or q=2",
        )
        if how.rtol >= SINGLE and is_numpy(weighted.diagonal()):
            try:
                return self._run(Products(weighted, True, how.seed), orders, how, flops)
            except CoarseError:
                pass
        return self._run(Products(weighted, False), orders, how, flops)

    def _run(
        self, products: Products, orders: Sequence[float], how: Estimating, flops: float
    ) -> list[Estimate]:
        """Run with products of one precision; raise a CoarseError if that is too low."""
        weighted = products.weighted
        n, vectors = weighted.n, _vectors(weighted)
        squares = float(weighted.squared_norm(products.single))
        doubt = DOUBT_SINGLE if products.single else DOUBT
        seeds = np.random.SeedSequence(how.seed).spawn(SETS)
        sets: list[list[Found]] = []
        steps = exact = 0
        spent = 0.0
        for i, seed in enumerate(seeds):
            Z = random_signs(n, min(vectors, n), seed, weighted.diagonal())
            fit = [c for c in CHECKS if spent + self.cost(weighted, c).flops <= flops]
            most = max(fit, default=CHECKS[0])
            krylov = Krylov(products, Z, most)
            read = partial(Quadrature, krylov, n, 1.0, squares, doubt)
            found = self._converged(krylov, read, products, orders, how.rtol, i + 1)
            steps, exact = steps + krylov.steps, len(found[1])
            sets.append(found[0])
            means = [_mean(each) for each in zip(*sets, strict=True)]
            if all(mean.is_enough(how.rtol) for mean in means):
                break
            spent += self.cost(weighted, krylov.steps).flops
            hopeless = not all(mean.is_enough(how.rtol, SETS) for mean in means)
            if spent + self.cost(weighted).flops > flops or (hopeless and flops < math.inf):
                worst = max(mean.off for mean in means)
                raise StalledError(f"{steps} products left an error of {worst:.2g}")
        worst = max(mean.off for mean in means)
        if worst == math.inf or (worst > how.rtol and flops < math.inf):
            raise StalledError(f"{steps} products left an error of {worst:.2g}")
        if worst > how.rtol:
            warn(
                f"the estimate is sure to {worst:.2g} (relative, one standard error) after "
                f"{steps} products, which `rtol={how.rtol:g}` is less than; pass a larger one, "
                f"or an order nearer 1"
            )
        why = f"{len(sets) * vectors} random vectors, {steps} products; {exact} eigenvalues exact"
        return [
            Estimate(value, self.name, why, error=value * mean.off)
            for mean in means
            for value in [min(max(math.exp(mean.log), 1.0), float(n))]
        ]

    def _converged(
        self,
        krylov: Krylov,
        read: Callable[[], Quadrature],
        products: Products,
        orders: Sequence[float],
        rtol: float,
        sets: int,
    ) -> tuple[list[Found], np.ndarray]:
        """Return what is found once that is enough, or all steps are made; and exact
        eigenvalues."""
        floor = Source.of(products.weighted).negative_mass
        steps = track(range(krylov.most), krylov.most, "estimating (at most)")
        for step in steps:
            krylov.extend(step + 1)
            if step + 1 not in CHECKS and step + 1 < krylov.most:
                continue
            quadrature = read()
            if quadrature.least < -floor:
                raise NotPSDError(quadrature.least, -quadrature.least)
            resolution = products.resolution(quadrature.top)
            found = [_found(quadrature, q, resolution) for q in orders]
            if products.is_coarse(quadrature.top) and any(
                each.unresolved > COARSE * rtol for each in found
            ):
                raise CoarseError
            if all(each.is_enough(rtol * math.sqrt(sets)) for each in found):
                break
        return found, quadrature.exact


def _vectors(similarity: Similarity) -> int:
    """Return how many random vectors are multiplied at once."""
    return MORE_VECTORS if similarity.dim is None and similarity.n > MANY else VECTORS


def _found(quadrature: Quadrature, q: float, resolution: float = 0.0) -> Found:
    """Read one order off a quadrature, in shares of the largest Ritz value: no sum underflows."""
    top, entropy = quadrature.top, _entropy(q)
    if not top > 0:
        return UNKNOWN

    def rising(x: np.ndarray) -> np.ndarray:  # up to `top`, by a line that sums to 1/top
        return x / top + entropy(x / top)

    def blurred(x: np.ndarray) -> np.ndarray:
        """Return by how much f(x) moves where smaller numbers than the resolution are noise.

        Larger ones are off by means of errors of either sign.
        """
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
    """Return by how much log(1 + factor·x)/factor, x = 0, is too large if x is off by `error`.

    It is infinite where half of what the logarithm is of is unknown.

    >>> _log_error(0.1, 0), round(_log_error(0.1, 4), 3), _log_error(0.1, 5)
    (0.1, 0.128, inf)
    """
    share = factor * error
    if not share < 0.5:
        return math.inf
    return -math.log1p(-share) / factor if factor else error


def _entropy(q: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return (x^q − x)/(1 − q) and its limit −x log x, of x ≥ 0."""

    def f(x: np.ndarray) -> np.ndarray:
        logs = np.log(np.where(x > 0, x, 1.0))
        return -x * logs if q == 1 else x * np.expm1((q - 1) * logs) / (1 - q)

    return f


def _mean(found: Sequence[Found]) -> Found:
    logs, errors, *others = zip(*found, strict=True)
    means = (float(np.mean(each)) for each in others)
    return Found(float(np.mean(logs)), math.hypot(*errors) / len(found), *means)


CHOLESKY, LANCZOS = PivotedCholesky(), StochasticLanczos()


def estimated(
    similarity: Similarity,
    orders: Sequence[float],
    p: Array | None,
    psd: PSD,
    how: Estimating,
    exact: SpectrumRoute,
) -> list[Estimate] | None:
    """Estimate some orders, or return None where the exact ones cost no more.

    Bounds from k rows: time O(n k²), memory n·k. Means: 4 to 64 products with 16 vectors, O(n²)
    each (O(nnz) of sparse features), and n·16 numbers a product; up to four times, where one is not
    enough. 64 vectors of more than 50,000 samples without features.
    """
    if psd == "clip" and not similarity.psd:
        raise ValueError(
            "psd='clip' needs all eigenvalues, which an estimate does not find; leave out one of "
            "`psd` and `method`"
        )
    how.check_orders(orders)
    distinct = merge_identical(similarity, p)
    weighted = weighted_by(distinct.similarity, distinct.p)
    cost, usual = exact.cost(weighted), LANCZOS.cost(weighted).flops
    fits = cost.bytes <= memory.available_bytes()
    if fits and cost.flops <= usual:
        return None
    if is_numpy(weighted.diagonal()):
        try:
            return CHOLESKY.run(weighted, orders, how, usual)
        except StalledError:
            pass
    try:
        return LANCZOS.run(weighted, orders, how, cost.flops if fits else math.inf)
    except StalledError as error:
        if fits:
            return None
        raise TooLargeError(
            f"`method='estimate'` found no score: {error}. Exact scores need "
            f"{cost.bytes / 1e9:,.1f} GB, of which {memory.available_bytes() / 1e9:,.1f} GB are "
            f"free: score fewer samples, or pass an order nearer 1, q=2 or q=float('inf')"
        ) from None


def way_out(similarity: Similarity, orders: Sequence[float]) -> str:
    """Return what to say where the exact numbers do not fit in memory."""
    needed = LANCZOS.cost(similarity).bytes
    if 0 in orders or needed > memory.available_bytes():
        return ""
    return (
        f", or pass method='estimate', which needs {needed / 1e9:,.1f} GB and gives its standard "
        f"error or bounds with the number"
    )
