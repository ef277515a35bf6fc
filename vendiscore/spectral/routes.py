"""Routes, the exact methods to compute a score: norm, largest eigenvalue, covariance, eigenvalues.

A route is a method to compute exact scores. Scores of the same order are equal for all routes, but
the cheapest one is selected. K_p denotes the weighted similarity matrix of n samples, with entries
√p_i K_ij √p_j for similarities K and weights p. If the similarity has features, the rows of F
(n, d) are the feature vectors of the samples times √p_i, so K_p = F Fᵀ.
"""

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
from .single_precision import can_use_single_precision, compute_scores_if_accurate
from .spectrum import ScoresByOrder, Spectrum, compute_tolerance, project_vectors, score_matrix
from .weighted_similarity import find_identical_samples, merge_identical, weight_similarity

# From this size of the matrix on, order ∞ uses Lanczos iteration for the largest eigenvalue.
LANCZOS_SIZE = 300
# Typical number of Lanczos steps for the largest eigenvalue (5 for n-grams, 200 for independent
# normally distributed features).
TYPICAL_LANCZOS_STEPS = 60
SINGLE_PRECISION_NOTE = "multiplied in single precision"


# Cost of reading or writing one number, in operations of a matrix product. Measured with one
# thread: 16 for ‖K‖² of a matrix (47 for the three accesses to each entry), and 10 to 18 for
# products with one vector.
MEMORY_ACCESS_WORK = 20


class Cost(NamedTuple):
    """Cost of a method to compute scores: floating-point operations, bytes, and memory accesses.

    `flops` is the number of floating-point operations, including those that compute the entries of
    the similarity matrix. `bytes` is the memory to allocate. `memory_accesses` is the number of
    entries that are read or written. It affects only the duration that is announced to users, not
    the choice between methods.
    """

    flops: float
    bytes: int
    memory_accesses: float = 0.0

    @property
    def work(self) -> float:
        """The estimated time, in units of one floating-point operation of a matrix product."""
        return self.flops + MEMORY_ACCESS_WORK * self.memory_accesses


class ConvergenceError(RuntimeError):
    """An iterative method to compute a score did not converge; the caller uses another method."""


class Norm:
    """The method for order 2: VS_2 = 1/‖K_p‖²_F.

    ‖K_p‖_F is the Frobenius norm of the weighted similarity matrix of the samples.
    """

    name: str = "norm"
    description: str = "the norm"
    reason = "order 2 is 1/‖K‖²_F, no eigenvalues needed"

    def cost(self, similarity: Similarity) -> Cost:
        """Estimate the cost of computing the squared Frobenius norm of the similarity matrix."""
        similarity = getattr(similarity, "distinct", similarity)  # identical samples are merged
        n = similarity.n
        dim = similarity.dim
        # For features F (n, dim), F Fᵀ is the similarity matrix. Fᵀ F has the same norm.
        if dim is not None and dim < n:
            flops = similarity.covariance_work() + 2 * dim**2
            return Cost(flops, bytes=_estimate_covariance_bytes(similarity))
        rows_in_memory = n
        if is_numpy(similarity.diagonal()):  # tensors are not processed in blocks
            rows_in_memory = next(iter(row_blocks(n, 8 * n))).stop
        flops = similarity.entries_work() + 2 * n**2
        # Two float64 arrays of these rows. Each entry is written once and read twice.
        return Cost(flops, bytes=16 * n * rows_in_memory, memory_accesses=3 * n**2)

    def solver(self, tolerance: EigenvalueTolerance, psd: PSD) -> Solver:
        """Return a Solver that computes the norm of a Similarity without storing its matrix.

        `tolerance` and `psd` have no effect. They are parameters of the same method of
        LargestEigenvalue.
        """
        return Solver(squared_norm=lambda weighted: weighted.squared_norm())


class LargestEigenvalue:
    """The method for order ∞: VS_∞ = 1/λ_max, by Lanczos iteration.

    λ_max is the largest eigenvalue of the weighted similarity matrix of the samples.
    """

    name: str = "lanczos"
    description: str = "the largest eigenvalue"
    reason = "order ∞ is 1/λ_max, one eigenvalue by Lanczos iteration"

    def cost(self, similarity: Similarity) -> Cost:
        """Estimate the cost of computing the largest eigenvalue of the similarity matrix."""
        from .lanczos import BASIS_SIZE

        n = similarity.n
        # Computing the norm of K also means computing its entries once.
        norm_cost = NORM.cost(similarity)
        n_multiplications = n * count_multiplications_per_sample(similarity)
        X = getattr(similarity, "X", None)
        if sp.issparse(X):
            n_multiplications = X.nnz
        # A step multiplies by K, and orthogonalizes the result against the basis.
        step_flops = 2 * n_multiplications + 4 * n * BASIS_SIZE
        # Three float64 arrays have the size of the basis.
        return Cost(
            flops=norm_cost.flops + TYPICAL_LANCZOS_STEPS * step_flops,
            bytes=norm_cost.bytes + 24 * n * BASIS_SIZE,
            memory_accesses=norm_cost.memory_accesses + TYPICAL_LANCZOS_STEPS * n_multiplications,
        )

    def solver(self, tolerance: EigenvalueTolerance, psd: PSD) -> Solver:
        """Return a Solver that computes the largest eigenvalue of a Similarity.

        The Solver raises a ConvergenceError if the iteration does not converge. If psd="check", it
        raises a NotPSDError if it detects a negative eigenvalue that exceeds the bound of rounding
        errors, `tolerance.max_negative_mass`.
        """
        min_valid_eigenvalue = -tolerance.max_negative_mass if psd == "check" else -math.inf

        def compute_largest(weighted: Similarity) -> float:
            from .lanczos import compute_largest_eigenvalue

            largest = compute_largest_eigenvalue(weighted, min_valid_eigenvalue)
            if largest is None:  # the caller then computes all eigenvalues
                raise ConvergenceError("Lanczos iteration did not converge")
            return largest

        return Solver(largest_eigenvalue=compute_largest)


class Covariance:
    """The method for d features of n samples, with d < n: eigenvalues of the d × d matrix Fᵀ F.

    The rows of F (n, d) are the weighted feature vectors of the samples. The non-zero eigenvalues
    of Fᵀ F are those of the weighted similarity matrix F Fᵀ.
    """

    name = "covariance"

    def cost(self, similarity: Similarity, vectors: bool = False) -> Cost:
        """Estimate the cost of computing Fᵀ F and its eigenvalues, and eigenvectors if `vectors`.

        The rows of F are the feature vectors of the samples.
        """
        n = similarity.n
        d = similarity.dim or 0
        covariance_bytes = _estimate_covariance_bytes(similarity)
        if not vectors:  # reduction to tridiagonal form takes 4/3 d³ operations
            flops = similarity.covariance_work() + 4 / 3 * d**3
            return Cost(flops, bytes=covariance_bytes, memory_accesses=3 * n * d)
        columns = d
        if not isinstance(similarity, FeatureSimilarity):  # other classes copy their features
            columns += _count_copied_columns(similarity)
        vectors_bytes = estimate_eigenvectors_bytes(d) + 8 * n * columns
        # n d² for Fᵀ F, 9 d³ for its eigenvectors V, and 2 n d² for F V, those of the n samples.
        return Cost(
            flops=3 * n * d**2 + 9 * d**3,
            bytes=max(covariance_bytes, vectors_bytes),
            memory_accesses=3 * n * d,
        )

    def run(
        self,
        similarity: Similarity,
        p: Array | None,
        psd: PSD,
        *,
        orders: Sequence[float] = (),
        vectors: bool = False,
    ) -> ScoresByOrder:
        """Compute scores and the spectrum from the d × d matrix Fᵀ F.

        The rows of F are the weighted feature vectors of the samples. `p` are the weights of the
        samples (None if uniform). If `psd` is "check", negative eigenvalues beyond rounding errors
        raise a NotPSDError; if "clip", they are set to 0. `orders` may be empty, to compute only
        the spectrum. If `vectors`, the spectrum contains eigenvectors.
        """
        weighted = weight_similarity(similarity, p)
        n = weighted.n
        d = weighted.dim or 0
        # Why this method was selected, for the results.
        reason = f"{d} features are fewer than {n} samples"
        with _announce_spectrum(self.cost(weighted, vectors), n, d, vectors):
            tolerance = compute_tolerance(weighted)
            C = weighted.covariance()
            scores = score_matrix(C, orders, tolerance, psd, self.name, reason, vectors)
            if not vectors or scores.spectrum is None:
                return scores
            # Convert eigenvectors of Fᵀ F to those of the weighted similarity matrix. Features are
            # multiplied in single precision only if `compute_scores_in_single_precision` would also
            # do this: if all weights are equal, and float32 features are large.
            use_single = p is None and can_multiply_in_single_precision(weighted)
            project = partial(weighted.projected, single=use_single)
            return scores._replace(spectrum=project_vectors(scores.spectrum, project))


class Eigenvalues:
    """The method that computes all eigenvalues of the weighted similarity matrix.

    Identical samples are merged first, and their weights added.
    """

    name = "eigenvalues"

    def cost(self, similarity: Similarity, vectors: bool = False) -> Cost:
        """Estimate the cost of all n eigenvalues for n samples, with eigenvectors if `vectors`."""
        n = similarity.n
        # Dense features are copied to convert and scale them before they are multiplied.
        copied_bytes = 8 * n * _count_copied_columns(similarity)
        decomposition_flops = 9 * n**3 if vectors else 4 / 3 * n**3
        decomposition_bytes = estimate_eigenvectors_bytes(n) if vectors else 8 * n**2
        return Cost(
            flops=similarity.entries_work() + decomposition_flops,
            bytes=decomposition_bytes + copied_bytes,
            memory_accesses=3 * n**2,
        )

    def run(
        self,
        similarity: Similarity,
        p: Array | None,
        psd: PSD,
        *,
        orders: Sequence[float] = (),
        vectors: bool = False,
    ) -> ScoresByOrder:
        """Compute scores of several orders, and the spectrum, with eigenvectors if `vectors`.

        `p` are the weights of the samples (None if uniform). If `psd` is "check", negative
        eigenvalues beyond rounding errors raise a NotPSDError; if "clip", they are set to 0.
        `orders` may be empty, to compute only the spectrum.
        """
        merged_duplicates = merge_identical(similarity, p)
        weighted = merged_duplicates.weighted
        n = similarity.n
        m = weighted.n
        reason = f"all eigenvalues of the {n} × {n} similarity matrix"
        if m < n:
            reason = f"{reason}, with {m} distinct samples"
        cost = self.cost(weighted, vectors)
        if vectors and m < n:  # the eigenvectors are expanded to all n samples
            cost = cost._replace(bytes=cost.bytes + 8 * n * m)
        with _announce_spectrum(cost, n, m, vectors):
            tolerance = compute_tolerance(weighted)
            scores = score_matrix(
                weighted.dense(), orders, tolerance, psd, self.name, reason, vectors
            )
        spectrum = scores.spectrum
        if m == n or spectrum is None:
            return scores
        if vectors:
            spectrum = replace(spectrum, vectors=merged_duplicates.expand_vectors(spectrum.vectors))
            if spectrum.negative_eigenvalues is not None:
                negative_vectors = merged_duplicates.expand_vectors(spectrum.negative_vectors)
                spectrum = replace(spectrum, negative_vectors=negative_vectors)
        return scores._replace(spectrum=replace(spectrum, n=n))


def can_multiply_in_single_precision(weighted: Similarity) -> TypeGuard[FeatureSimilarity]:
    """Return whether features of a weighted similarity may be multiplied in single precision.

    This requires dense float32 features that are large enough to save time, with rows of length 1.
    """
    if not isinstance(weighted, FeatureSimilarity) or sp.issparse(weighted.X):
        return False
    if not is_float32_faster(weighted.X):
        return False
    # `bare` removes the weights, so its diagonal contains the squared lengths of the rows.
    return weighted.has_unit_diagonal or can_use_single_precision(
        weighted.X, weighted.bare().diagonal()
    )


def compute_scores_in_single_precision(
    similarity: Similarity, orders: Sequence[float]
) -> ScoresByOrder | None:
    """Compute scores of equally weighted float32 rows from matrix products in single precision.

    Scores in double precision are needed if the result is None: for similarities that are not dot
    products of float32 rows of length 1, for small sets, for orders below 1, and if the error of
    log VS could exceed max(1e-8, min(2e-5, 1 % of log VS)).
    """
    # Orders below 1 depend on eigenvalues below the precision of float32. Without orders, the
    # spectrum may be used for any order.
    if min(orders, default=0.0) < 1 or not can_multiply_in_single_precision(similarity):
        return None
    n = similarity.n
    d = similarity.X.shape[1]
    if d >= n and find_identical_samples(similarity) is not None:
        return None  # merging them and computing in double precision is faster
    # Rows of NumPy arrays are neither weighted nor scaled, and computing these factors takes time.
    weighted = similarity if is_numpy(similarity.X) else weight_similarity(similarity, None)
    scale = None if is_numpy(similarity.X) else weighted.scale
    route = COVARIANCE if d < n else EIGENVALUES
    describe_cause = compute_tolerance(weighted).describe_cause

    def compute_eigenvalues(A: Array) -> Array:
        return decompose(A, vectors=False, describe_cause=describe_cause).values

    with _announce_spectrum(route.cost(weighted), n, min(n, d), vectors=False):
        scores = compute_scores_if_accurate(similarity.X, scale, orders, compute_eigenvalues)
    if scores is None:
        return None
    values, eigenvalues = scores
    if eigenvalues is None:  # order 2 was the only order
        reason = f"{NORM.reason}, {SINGLE_PRECISION_NOTE}"
        return ScoresByOrder([Estimate(value, NORM.name, reason) for value in values])
    reason = f"{d} features are fewer than {n} samples"
    if d >= n:
        reason = f"all eigenvalues of the {n} × {n} similarity matrix"
    reason = f"{reason}, {SINGLE_PRECISION_NOTE}"
    spectrum = Spectrum(
        **vars(eigenvalues), n=n, route=route.name, reason=reason, single_precision=True
    )
    return ScoresByOrder([Estimate(value, route.name, reason) for value in values], spectrum)


OneOrderRoute = Norm | LargestEigenvalue  # computes one order, without the spectrum
SpectrumRoute = Covariance | Eigenvalues  # computes the spectrum, and all orders from it
NORM = Norm()
LARGEST_EIGENVALUE = LargestEigenvalue()
COVARIANCE = Covariance()
EIGENVALUES = Eigenvalues()


def select_spectrum_route(similarity: Similarity) -> SpectrumRoute:
    """Select the method that computes the spectrum from the smaller matrix.

    For d features of n samples, this is the d × d covariance matrix if d < n, otherwise the n × n
    similarity matrix.
    """
    if similarity.dim is None or similarity.dim >= similarity.n:
        return EIGENVALUES
    return COVARIANCE


def select_one_order_route(
    similarity: Similarity, q: float, psd: PSD = "check"
) -> OneOrderRoute | None:
    """Select the method that computes only the score of order q; None if it needs all eigenvalues.

    Order 2 needs only the Frobenius norm, and order ∞ the largest eigenvalue. With psd="clip", a
    matrix that may have negative eigenvalues needs all eigenvalues.
    """
    if q not in (2.0, math.inf):
        return None
    n = similarity.n
    size = n if similarity.dim is None else min(n, similarity.dim)
    # Without Lanczos iteration, order ∞ needs all eigenvalues. For small matrices these are faster,
    # and tensors have no Lanczos iteration.
    solver = NUMPY_SOLVER
    if size >= LANCZOS_SIZE and is_numpy(similarity.diagonal()):
        solver = LARGEST_EIGENVALUE.solver(EigenvalueTolerance(n), psd)
    if not can_skip_eigenvalues([q], similarity.psd, psd, solver):
        return None
    return NORM if q == 2 else LARGEST_EIGENVALUE


def count_multiplications_per_sample(similarity: Similarity) -> int:
    """Return the number of multiplications per sample in a product of K with a vector.

    For the n × n similarity matrix K, there are n. With d features F, K v is F (Fᵀ v), which takes
    2d multiplications per sample. The smaller number is returned.
    """
    n = similarity.n
    dim = similarity.dim
    return n if dim is None else min(n, 2 * dim)


def _count_copied_columns(similarity: Similarity) -> int:
    """Count the columns of dense features, which are copied in double precision.

    Returns 0 for sparse features, and for similarities without features.
    """
    if similarity.dim is None or sp.issparse(getattr(similarity, "X", None)):
        return 0
    return similarity.dim


def _estimate_covariance_bytes(similarity: Similarity) -> int:
    """Estimate the bytes to compute Fᵀ F from the features F (n, d) of n samples.

    These are the bytes of the d × d matrix and, for dense features, those of a block of rows of F
    and of its product.
    """
    d = similarity.dim or 0
    if not isinstance(similarity, FeatureSimilarity) or sp.issparse(similarity.X):
        return 8 * d**2
    # Rows of a block in double precision; in single precision, twice as many take the same memory.
    rows = min(similarity.n, FLOAT32_BLOCK_ROWS // 2)
    return 8 * (2 * d**2 + rows * d)


def _announce_spectrum(
    cost: Cost, n: int, size: int, vectors: bool
) -> AbstractContextManager[None]:
    """Check that the spectrum of n samples fits in memory, and announce long computations.

    Returns a context manager, in which the spectrum is computed. `cost` is the cost of computing
    the matrix of shape (size, size) and its eigenvalues, with eigenvectors if `vectors`. A
    TooLargeError is raised if the available memory is not sufficient.
    """
    if cost.bytes <= memory.UNCHECKED_BYTES:  # too small to check or announce
        return nullcontext()
    if vectors:
        description = "computing the eigenvectors"
        memory_hint = "score fewer samples"
        step = "Computing the spectrum and eigenvectors"
        duration_hint = ""
    else:
        description = "computing the exact spectrum"
        memory_hint = (
            "score fewer samples, or use q=2 or q=float('inf'), which need no spectrum, or "
            "method='estimate', which reports its standard error"
        )
        step = "Computing the spectrum"
        duration_hint = "orders 2 and inf do not need the spectrum"
    memory.require(cost.bytes, f"{description} of a {size} × {size} matrix", memory_hint)
    work = cost.work + estimate_eigensolver_work(size, vectors)
    return announce_duration(f"{step} of {n:,} samples", work, cost.bytes, hint=duration_hint)


def score_one_order(
    route: OneOrderRoute,
    weighted: Similarity,
    q: float,
    psd: PSD,
) -> Estimate:
    """Compute the score of order q by a `route` (method) that does not compute the spectrum.

    `weighted` is the weighted similarity √p_i K_ij √p_j of similarities K and weights p. Raises a
    NotPSDError or ValueError for eigenvalues or norms that no similarity matrix has, a
    TooLargeError if memory is not sufficient, and a ConvergenceError if the iteration for order ∞
    does not converge.
    """
    n = weighted.n
    description = f"{route.description} of the similarity matrix of {n} samples"
    cost = route.cost(weighted)
    memory.require(cost.bytes, description, "score fewer samples")
    tolerance = compute_tolerance(weighted)
    solver = route.solver(tolerance, psd)
    progress = announce_duration(f"Scoring {n:,} samples, order {q:g}", cost.work, cost.bytes)
    with progress, np.errstate(all="ignore"):
        (value,), _ = compute_hill_numbers(weighted, [q], tolerance, psd, solver)
    return Estimate(value, route.name, route.reason)
