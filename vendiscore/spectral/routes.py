"""The exact routes to a score: a norm, one eigenvalue, a covariance, or all eigenvalues."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ..core.hill import RANGE_TOLERANCE
from ..core.score import LANCZOS_SIZE, SINGLE_ROWS, can_use_single, solve_single
from ..core.shares import PSD, Rounding
from ..progress import foretell
from ..similarity import memory
from ..similarity import sparse as sp
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity
from ..support.namespace import Array, is_numpy, is_torch, row_blocks, scalar
from .eigen import decompose, eigen_work, vectors_bytes
from .estimate import Estimate
from .spectrum import Spectrum, decomposed, rounding_of
from .weighted_similarity import fault_of, merge_identical, weighted_by

# Lanczos iteration usually finds λ_max in so many steps (n-grams 5, independent normals 200).
USUAL_STEPS = 60
SINGLE = "multiplied in single precision"


# Operations of a matrix product that take as long as one number read or written by itself: with one
# thread, 47/3 for ‖K‖² of a matrix, 10 to 18 for products with one vector.
TOUCH = 20


class Cost(NamedTuple):
    """Multiplications and additions, those for entries of K included, and bytes allocated.

    `touched` numbers are read or written one by one: time, which routes are not chosen by.
    """

    flops: float
    bytes: int
    touched: float = 0.0

    @property
    def work(self) -> float:
        """The number of operations of a matrix product that take as long."""
        return self.flops + TOUCH * self.touched


class StalledError(RuntimeError):
    """A route that found no number, with the reason; another route is taken."""


class Norm:
    """1/‖K_p‖²_F, which is order 2."""

    name: str = "norm"
    what: str = "the norm"
    why = "order 2 is 1/‖K‖²_F, no eigenvalues needed"

    def cost(self, similarity: Similarity) -> Cost:
        similarity = getattr(similarity, "distinct", similarity)  # repeats are merged
        n = similarity.n
        dim = similarity.dim
        if dim is not None and dim < n:
            work = similarity.covariance_work() + 2 * dim**2
            return Cost(work, _covariance_bytes(similarity))
        rows = n
        if is_numpy(similarity.diagonal()):
            rows = next(iter(row_blocks(n, 8 * n))).stop
        work = similarity.entries_work() + 2 * n**2
        return Cost(work, 16 * n * rows, 3 * n**2)

    def value(self, weighted: Similarity, psd: PSD) -> Array | float:
        """Return the effective number of order 2."""
        with np.errstate(all="ignore"):
            return 1 / weighted.squared_norm()


class LargestEigenvalue:
    """1/λ_max, which is order ∞, by Lanczos iteration."""

    name: str = "lanczos"
    what: str = "the largest eigenvalue"
    why = "order ∞ is 1/λ_max, one eigenvalue by Lanczos iteration"

    def cost(self, similarity: Similarity) -> Cost:
        from .lanczos import BASIS

        n = similarity.n
        norm = NORM.cost(similarity)
        product = n * product_width(similarity)
        X = getattr(similarity, "X", None)
        if sp.issparse(X):
            product = X.nnz
        flops = norm.flops + USUAL_STEPS * (2 * product + 4 * n * BASIS)
        size = norm.bytes + 24 * n * BASIS
        return Cost(flops, size, norm.touched + USUAL_STEPS * product)

    def value(self, weighted: Similarity, psd: PSD) -> Array | float:
        """Return the effective number of order ∞."""
        from .lanczos import largest_eigenvalue

        floor = -math.inf
        if psd == "check":
            floor = -rounding_of(weighted).negative_mass
        largest = largest_eigenvalue(weighted, floor)
        if largest is None:
            raise StalledError("Lanczos iteration was too slow")
        return 1 / largest


class Covariance:
    """The eigenvalues of Fᵀ F, which F Fᵀ shares but for zeros."""

    name = "covariance"

    def cost(self, similarity: Similarity, vectors: bool = False) -> Cost:
        n = similarity.n
        d = similarity.dim or 0
        if not vectors:
            work = similarity.covariance_work() + 4 / 3 * d**3
            return Cost(work, _covariance_bytes(similarity), 3 * n * d)
        columns = d
        if not isinstance(similarity, FeatureSimilarity):  # which needs no copy of the features
            columns += _widened(similarity)
        kept = vectors_bytes(d) + 8 * n * columns
        size = max(_covariance_bytes(similarity), kept)
        return Cost(3 * n * d**2 + 9 * d**3, size, 3 * n * d)

    def run(
        self,
        similarity: Similarity,
        p: Array | None,
        psd: PSD,
        *,
        orders: Sequence[float] = (),
        vectors: bool = False,
    ) -> Spectrum:
        """Return the spectrum: exact, or good enough for these orders, if any are passed.

        Unit rows in single precision, of even weights, are multiplied as they are for orders from 1
        on, and in double precision where that is not accurate enough: log VS is then wrong by no
        more than max(1e-8, min(2e-5, 1 % of log VS)).
        """
        weighted = weighted_by(similarity, p)
        n = weighted.n
        d = weighted.dim or 0
        why = f"{d} features are fewer than {n} samples"
        cost = self.cost(weighted, vectors)
        rounding = rounding_of(weighted)
        single = False
        if isinstance(weighted, FeatureSimilarity) and not sp.issparse(weighted.X):
            single = can_use_single(weighted.X, weighted.bare().diagonal())
        with _prepared(cost, n, d, vectors):
            if single and p is None and min(orders, default=0.0) >= 1:
                spectrum = self._run_single(weighted.covariance(single=True), rounding, why)
                if spectrum is not None:
                    return spectrum
            project = partial(weighted.projected, single=single)
            C = weighted.covariance()
            return decomposed(C, rounding, psd, self.name, why, vectors, project)

    def _run_single(self, C: Array, rounding: Rounding, why: str) -> Spectrum | None:
        """Return the spectrum of products in single precision, None where it is not accurate."""
        trace = rounding.n if is_numpy(C) else 1.0  # rows of arrays are not scaled
        found = solve_single(C, trace, lambda A: decompose(A, rounding.fault).values)
        if found is None:
            return None
        why = f"{why}, {SINGLE}"
        return Spectrum(**vars(found), n=rounding.n, route=self.name, why=why, single=True)


class Eigenvalues:
    """All eigenvalues of K_p, of which identical samples are one."""

    name = "eigenvalues"

    def cost(self, similarity: Similarity, vectors: bool = False) -> Cost:
        n = similarity.n
        # Dense features are widened and scaled, a copy of them, before they are multiplied.
        copied = 8 * n * _widened(similarity)
        entries = similarity.entries_work()
        if not vectors:
            return Cost(entries + 4 / 3 * n**3, 8 * n**2 + copied, 3 * n**2)
        return Cost(entries + 9 * n**3, vectors_bytes(n) + copied, 3 * n**2)

    def run(
        self,
        similarity: Similarity,
        p: Array | None,
        psd: PSD,
        *,
        orders: Sequence[float] = (),
        vectors: bool = False,
    ) -> Spectrum:
        """Return the exact spectrum, whatever the orders."""
        distinct = merge_identical(similarity, p)
        weighted = distinct.weighted
        n = similarity.n
        m = weighted.n
        why = f"all eigenvalues of the {n} × {n} similarity matrix"
        if m < n:
            why = f"{why}, {m} of them distinct"
        cost = self.cost(weighted, vectors)
        if vectors and m < n:
            cost = cost._replace(bytes=cost.bytes + 8 * n * m)
        with _prepared(cost, n, m, vectors):
            found = decomposed(
                weighted.dense(), rounding_of(weighted), psd, self.name, why, vectors
            )
        if m == n:
            return found
        if vectors:
            found = replace(found, vectors=distinct.repeated(found.vectors))
            if found.negative is not None:
                negative_vectors = distinct.repeated(found.negative_vectors)
                found = replace(found, negative_vectors=negative_vectors)
        return replace(found, n=n)


MomentRoute = Norm | LargestEigenvalue
SpectrumRoute = Covariance | Eigenvalues
NORM = Norm()
LARGEST = LargestEigenvalue()
COVARIANCE = Covariance()
EIGENVALUES = Eigenvalues()


def spectrum_route(similarity: Similarity) -> SpectrumRoute:
    """Return the route to the spectrum by the smaller matrix, which serves all orders."""
    if similarity.dim is None or similarity.dim >= similarity.n:
        return EIGENVALUES
    return COVARIANCE


def moment_route(similarity: Similarity, q: float, psd: PSD = "check") -> MomentRoute | None:
    """Return the route to order q alone; clipping needs all eigenvalues if any can be negative."""
    if psd == "clip" and not similarity.psd:
        return None
    if q == 2:
        return NORM
    n = similarity.n
    size = n if similarity.dim is None else min(n, similarity.dim)
    if q == math.inf and size >= LANCZOS_SIZE and is_numpy(similarity.diagonal()):
        return LARGEST
    return None


def product_width(similarity: Similarity) -> int:
    """Return how many multiplications a sample takes in a product with one vector."""
    n = similarity.n
    dim = similarity.dim
    return n if dim is None else min(n, 2 * dim)


def _widened(similarity: Similarity) -> int:
    """Return the number of columns of features that are copied in double precision."""
    if similarity.dim is None or sp.issparse(getattr(similarity, "X", None)):
        return 0
    return similarity.dim


def _covariance_bytes(similarity: Similarity) -> int:
    """Return bytes of a covariance, and for dense rows of a block of them and its product."""
    d = similarity.dim or 0
    if not isinstance(similarity, FeatureSimilarity) or sp.issparse(similarity.X):
        return 8 * d**2
    rows = min(similarity.n, SINGLE_ROWS // 2)  # in double precision, or twice as many in single
    return 8 * (2 * d**2 + rows * d)


def _prepared(cost: Cost, n: int, size: int, vectors: bool) -> AbstractContextManager[None]:
    """Require the memory of a spectrum of n samples by a matrix of some size, and foretell it."""
    if cost.bytes <= memory.FEW_BYTES:
        return nullcontext()
    if vectors:
        what = "finding the eigenvectors"
        remedy = "score fewer samples"
        step = "Finding the spectrum and its vectors"
        tip = ""
    else:
        what = "the exact spectrum"
        remedy = (
            "score fewer samples, or use q=2 or q=float('inf'), which need no spectrum, or "
            "method='estimate', which reports its standard error"
        )
        step = "Finding the spectrum"
        tip = "orders 2 and inf alone need none"
    memory.require(cost.bytes, f"{what} of a {size} × {size} matrix", remedy)
    work = cost.work + eigen_work(size, vectors)
    return foretell(f"{step} of {n:,} samples", work, cost.bytes, tip=tip)


def run_moment(
    route: MomentRoute,
    weighted: Similarity,
    q: float,
    psd: PSD,
) -> Estimate:
    """Find order q by its own route: a number that n samples can have, or a ValueError."""
    n = weighted.n
    what = f"{route.what} of the similarity matrix of {n} samples"
    cost = route.cost(weighted)
    memory.require(cost.bytes, what, "score fewer samples")
    with foretell(f"Scoring {n:,} samples, order {q:g}", cost.work, cost.bytes):
        value = route.value(weighted, psd)
    if not 1 - RANGE_TOLERANCE <= scalar(value) <= n * (1 + RANGE_TOLERANCE):
        raise ValueError(
            f"the Vendi Score of order {q:g} came out as {scalar(value):.6g}, which {n} samples "
            f"cannot have: {fault_of(weighted)}"
        )
    if not is_torch(value):
        value = float(min(max(value, 1.0), n))
    return Estimate(value, route.name, route.why)
