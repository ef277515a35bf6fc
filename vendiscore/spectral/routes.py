"""The exact routes to a score: a norm, one eigenvalue, a covariance, or all eigenvalues."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeGuard

import numpy as np

from ..core.eigenvalues import PSD, EigenvalueTolerance
from ..core.score import NUMPY_SOLVER, Solver, can_skip_eigenvalues, compute_hill_numbers
from ..similarity import sparse as sp
from ..similarity.base import Similarity
from ..similarity.covariance import FLOAT32_BLOCK_ROWS, is_float32_faster
from ..similarity.features import FeatureSimilarity
from ..support import memory
from ..support.namespace import Array, is_numpy, row_blocks
from ..support.progress import announce_duration
from .eigendecomposition import decompose, estimate_eigensolver_work, estimate_eigenvectors_bytes
from .estimate import Estimate
from .single_precision import can_use_single, compute_scores
from .spectrum import ScoresByOrder, Spectrum, compute_tolerance, project_vectors, score_matrix
from .weighted_similarity import find_repeats, merge_identical, weight_similarity

# From this size on order ∞ takes one eigenvalue by Lanczos iteration.
LANCZOS_SIZE = 500
# Lanczos iteration usually finds λ_max in so many steps (n-grams 5, independent normals 200).
TYPICAL_LANCZOS_STEPS = 60
SINGLE_PRECISION_NOTE = "multiplied in single precision"


# Operations of a matrix product that take as long as one number read or written by itself: with one
# thread, 47/3 for ‖K‖² of a matrix, 10 to 18 for products with one vector.
MEMORY_ACCESS_WORK = 20


class Cost(NamedTuple):
    """Multiplications and additions, those for entries of K included, and bytes allocated.

    `touched` numbers are read or written one by one: time, which routes are not chosen by.
    """

    flops: float
    bytes: int
    memory_accesses: float = 0.0

    @property
    def work(self) -> float:
        """The number of operations of a matrix product that take as long."""
        return self.flops + MEMORY_ACCESS_WORK * self.memory_accesses


class ConvergenceError(RuntimeError):
    """A route that found no number, with the reason; another route is taken."""


class Norm:
    """1/‖K_p‖²_F, which is order 2."""

    name: str = "norm"
    description: str = "the norm"
    reason = "order 2 is 1/‖K‖²_F, no eigenvalues needed"

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

    def solver(self, tolerance: EigenvalueTolerance, psd: PSD) -> Solver:
        """Return how the norm of a Similarity is computed, without its matrix in memory."""
        return Solver(squared_norm=lambda weighted: weighted.squared_norm())


class LargestEigenvalue:
    """1/λ_max, which is order ∞, by Lanczos iteration."""

    name: str = "lanczos"
    description: str = "the largest eigenvalue"
    reason = "order ∞ is 1/λ_max, one eigenvalue by Lanczos iteration"

    def cost(self, similarity: Similarity) -> Cost:
        from .lanczos import BASIS_SIZE

        n = similarity.n
        norm = NORM.cost(similarity)
        product = n * product_width(similarity)
        X = getattr(similarity, "X", None)
        if sp.issparse(X):
            product = X.nnz
        flops = norm.flops + TYPICAL_LANCZOS_STEPS * (2 * product + 4 * n * BASIS_SIZE)
        size = norm.bytes + 24 * n * BASIS_SIZE
        return Cost(flops, size, norm.memory_accesses + TYPICAL_LANCZOS_STEPS * product)

    def solver(self, tolerance: EigenvalueTolerance, psd: PSD) -> Solver:
        """Return how the largest eigenvalue of a Similarity is computed.

        It raises a ConvergenceError if that is slow.
        """
        floor = -tolerance.max_negative_mass if psd == "check" else -math.inf

        def compute_largest(weighted: Similarity) -> float:
            from .lanczos import compute_largest_eigenvalue

            largest = compute_largest_eigenvalue(weighted, floor)
            if largest is None:
                raise ConvergenceError("Lanczos iteration was too slow")
            return largest

        return Solver(largest_eigenvalue=compute_largest)


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
            columns += _n_copied_columns(similarity)
        kept = estimate_eigenvectors_bytes(d) + 8 * n * columns
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
    ) -> ScoresByOrder:
        """Return scores of some orders, and the spectrum that they were computed from."""
        weighted = weight_similarity(similarity, p)
        n = weighted.n
        d = weighted.dim or 0
        why = f"{d} features are fewer than {n} samples"
        with _announce_spectrum(self.cost(weighted, vectors), n, d, vectors):
            tolerance = compute_tolerance(weighted)
            C = weighted.covariance()
            scores = score_matrix(C, orders, tolerance, psd, self.name, why, vectors)
            if not vectors or scores.spectrum is None:
                return scores
            single = p is None and can_multiply_in_single(weighted)
            project = partial(weighted.projected, single=single)
            return scores._replace(spectrum=project_vectors(scores.spectrum, project))


class Eigenvalues:
    """All eigenvalues of K_p, of which identical samples are one."""

    name = "eigenvalues"

    def cost(self, similarity: Similarity, vectors: bool = False) -> Cost:
        n = similarity.n
        # Dense features are widened and scaled, a copy of them, before they are multiplied.
        copied = 8 * n * _n_copied_columns(similarity)
        entries = similarity.entries_work()
        if not vectors:
            return Cost(entries + 4 / 3 * n**3, 8 * n**2 + copied, 3 * n**2)
        return Cost(entries + 9 * n**3, estimate_eigenvectors_bytes(n) + copied, 3 * n**2)

    def run(
        self,
        similarity: Similarity,
        p: Array | None,
        psd: PSD,
        *,
        orders: Sequence[float] = (),
        vectors: bool = False,
    ) -> ScoresByOrder:
        """Return scores of some orders, and the spectrum that they were computed from."""
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
        with _announce_spectrum(cost, n, m, vectors):
            tolerance = compute_tolerance(weighted)
            scores = score_matrix(weighted.dense(), orders, tolerance, psd, self.name, why, vectors)
        spectrum = scores.spectrum
        if m == n or spectrum is None:
            return scores
        if vectors:
            spectrum = replace(spectrum, vectors=distinct.expand_vectors(spectrum.vectors))
            if spectrum.negative_eigenvalues is not None:
                negative_vectors = distinct.expand_vectors(spectrum.negative_vectors)
                spectrum = replace(spectrum, negative_vectors=negative_vectors)
        return scores._replace(spectrum=replace(spectrum, n=n))


def can_multiply_in_single(weighted: Similarity) -> TypeGuard[FeatureSimilarity]:
    """Return whether the rows of a similarity may be multiplied in single precision."""
    if not isinstance(weighted, FeatureSimilarity) or sp.issparse(weighted.X):
        return False
    return is_float32_faster(weighted.X) and can_use_single(weighted.X, weighted.bare().diagonal())


def compute_scores_in_single(
    similarity: Similarity, orders: Sequence[float]
) -> ScoresByOrder | None:
    """Return scores of evenly weighted float32 rows from products in single precision.

    It returns None for other samples, for orders below 1, and if log VS might be wrong by more
    than max(1e-8, min(2e-5, 1 % of log VS)).
    """
    if min(orders, default=0.0) < 1 or not can_multiply_in_single(similarity):
        return None
    n = similarity.n
    d = similarity.dim or 0
    if d >= n and find_repeats(similarity) is not None:  # of which fewer eigenvalues are computed
        return None
    weighted = weight_similarity(similarity, None)
    route = COVARIANCE if d < n else EIGENVALUES
    cause = compute_tolerance(weighted).describe_cause
    with _announce_spectrum(route.cost(weighted), n, min(n, d), vectors=False):
        found = compute_scores(
            similarity.X, weighted.scale, orders, lambda A: decompose(A, False, cause).values
        )
    if found is None:
        return None
    values, eigenvalues = found
    if eigenvalues is None:
        return ScoresByOrder(
            [
                Estimate(value, NORM.name, f"{NORM.reason}, {SINGLE_PRECISION_NOTE}")
                for value in values
            ],
            None,
        )
    reason = f"{d} features are fewer than {n} samples"
    if d >= n:
        reason = f"all eigenvalues of the {n} × {n} similarity matrix"
    why = f"{reason}, {SINGLE_PRECISION_NOTE}"
    spectrum = Spectrum(
        **vars(eigenvalues), n=n, route=route.name, reason=why, single_precision=True
    )
    return ScoresByOrder([Estimate(value, route.name, why) for value in values], spectrum)


MomentRoute = Norm | LargestEigenvalue
SpectrumRoute = Covariance | Eigenvalues
NORM = Norm()
LARGEST_EIGENVALUE = LargestEigenvalue()
COVARIANCE = Covariance()
EIGENVALUES = Eigenvalues()


def select_spectrum_route(similarity: Similarity) -> SpectrumRoute:
    """Return the route to the spectrum by the smaller matrix, which serves all orders."""
    if similarity.dim is None or similarity.dim >= similarity.n:
        return EIGENVALUES
    return COVARIANCE


def select_moment_route(similarity: Similarity, q: float, psd: PSD = "check") -> MomentRoute | None:
    """Return the route to order q alone; clipping needs all eigenvalues if any can be negative."""
    n = similarity.n
    size = n if similarity.dim is None else min(n, similarity.dim)
    solver = NUMPY_SOLVER
    if size >= LANCZOS_SIZE and is_numpy(similarity.diagonal()):
        solver = LARGEST_EIGENVALUE.solver(EigenvalueTolerance(n), psd)
    if not can_skip_eigenvalues([q], similarity.psd, psd, solver):
        return None
    return NORM if q == 2 else LARGEST_EIGENVALUE


def product_width(similarity: Similarity) -> int:
    """Return how many multiplications a sample takes in a product with one vector."""
    n = similarity.n
    dim = similarity.dim
    return n if dim is None else min(n, 2 * dim)


def _n_copied_columns(similarity: Similarity) -> int:
    """Return the number of columns of features that are copied in double precision."""
    if similarity.dim is None or sp.issparse(getattr(similarity, "X", None)):
        return 0
    return similarity.dim


def _covariance_bytes(similarity: Similarity) -> int:
    """Return bytes of a covariance, and for dense rows of a block of them and its product."""
    d = similarity.dim or 0
    if not isinstance(similarity, FeatureSimilarity) or sp.issparse(similarity.X):
        return 8 * d**2
    # in double precision, or twice as many in single
    rows = min(similarity.n, FLOAT32_BLOCK_ROWS // 2)
    return 8 * (2 * d**2 + rows * d)


def _announce_spectrum(
    cost: Cost, n: int, size: int, vectors: bool
) -> AbstractContextManager[None]:
    """Require the memory of a spectrum of n samples by a matrix of some size, and foretell it."""
    if cost.bytes <= memory.UNCHECKED_BYTES:
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
    work = cost.work + estimate_eigensolver_work(size, vectors)
    return announce_duration(f"{step} of {n:,} samples", work, cost.bytes, hint=tip)


def run_moment(
    route: MomentRoute,
    weighted: Similarity,
    q: float,
    psd: PSD,
) -> Estimate:
    """Find order q by its own route; it raises as `compute_hill_numbers` does."""
    n = weighted.n
    what = f"{route.description} of the similarity matrix of {n} samples"
    cost = route.cost(weighted)
    memory.require(cost.bytes, what, "score fewer samples")
    tolerance = compute_tolerance(weighted)
    solver = route.solver(tolerance, psd)
    progress = announce_duration(f"Scoring {n:,} samples, order {q:g}", cost.work, cost.bytes)
    with progress, np.errstate(all="ignore"):
        (value,), _ = compute_hill_numbers(weighted, [q], tolerance, psd, solver)
    return Estimate(value, route.name, route.reason)
