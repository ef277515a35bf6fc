"""Compute the spectra of many small sets at once, for example of the answers to each prompt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from ..core.eigenvalues import (
    NEGATIVE_MASS,
    PSD,
    EigenvalueTolerance,
    NormalizedEigenvalues,
    clip_eigenvalues,
)
from ..core.hill import hill_number
from ..core.score import Solver, compute_hill_numbers
from ..similarity.base import Similarity
from ..support.arguments import DEFAULT_ORDER
from ..support.namespace import Array, asarray_like, detach, namespace, to_host
from .eigendecomposition import decompose
from .leave_one_out import (
    influence_from_surprisals,
    log_scores_leaving_each_out,
    residual_fractions_from_eigenvectors,
    surprise_from_eigenvectors,
)

# Sets with a positive weight below this are scored one by one, because rounding may turn it to 0.
MIN_WEIGHT = 1e-12


class StackedSpectra:
    """Vendi Scores of g sets of m samples each, from the similarities within each set.

    Parameters
    ----------
    K : array (g, m, m)
        Similarities within each set, with any positive diagonal.
    p : array (g, m), optional
        Weights in each set; uniform by default.
    orders : sequence of float
        Orders of the scores.
    psd : {"check", "clip"}, default "check"
        Whether negative eigenvalues mark a set as `unusual` or are set to zero.
    vectors : bool, default False
        Whether to compute eigenvectors.
    similarity : Similarity, optional
        The similarity from which K was taken. It determines the precision of the entries, and
        whether they can have negative eigenvalues. By default, the entries are exact in float64.

    Attributes
    ----------
    values : list of array (g,)
        For each order, the scores of the g sets.
    unusual : ndarray (g,) of bool
        Sets whose results here are not valid. They must be scored one by one by
        `compute_vendi_scores`, which emits a warning or raises an error, for example about negative
        eigenvalues or entries that are not finite.
    """

    def __init__(
        self,
        K: Array,
        p: Array | None = None,
        orders: Sequence[float] = (DEFAULT_ORDER,),
        psd: PSD = "check",
        vectors: bool = False,
        similarity: Similarity | None = None,
    ) -> None:
        # K (g, m, m) are the similarities of the m samples of each of the g sets, p (g, m) their
        # weights. Multiply the similarities K_ij, divided by √(K_ii K_jj), by √p_i √p_j.
        xp = namespace(K)
        diagonal = xp.linalg.diagonal(K)
        m = K.shape[1]
        root_p = math.sqrt(1 / m) if p is None else xp.sqrt(asarray_like(p, diagonal))
        factors = root_p / xp.sqrt(diagonal)
        K = K * factors[:, :, None] * factors[:, None, :]
        # (g,); the sum is NaN or infinite if an entry is.
        is_unusual = ~xp.isfinite(detach(K).sum(-1).sum(-1))
        if p is not None:  # rounding may turn positive weights below MIN_WEIGHT to 0
            is_tiny = (factors > 0) & (factors < math.sqrt(MIN_WEIGHT))
            is_unusual = is_unusual | is_tiny.any(-1)
        # Replace unusual sets by any valid matrix; their results are not used.
        if bool(is_unusual.any()):
            identity = xp.eye(m, dtype=K.dtype)
            K = xp.where(is_unusual[:, None, None], identity, K)
        self.K = K
        self.vectors: Array | None = None
        tolerance = EigenvalueTolerance(
            m,
            entry_precision=0.0 if similarity is None else similarity.roundoff,
            semidefinite=similarity is not None and similarity.psd,
            describe_cause=lambda: "check the kernel for NaN",
        )
        solver = Solver(
            eigenvalues=partial(decompose, describe_cause=tolerance.describe_cause), vectors=vectors
        )
        self.values: list[Array]
        self._eigenvalues: NormalizedEigenvalues | None
        self.values, self._eigenvalues = compute_hill_numbers(K, orders, tolerance, psd, solver)
        eigenvalues = self._eigenvalues
        self.unusual: np.ndarray = to_host(is_unusual)
        if eigenvalues is None:  # order 2 was the only order; its score is NaN if impossible
            for values in self.values:
                self.unusual = self.unusual | np.isnan(to_host(values))
            return
        self.vectors = eigenvalues.vectors
        # Which sets have negative eigenvalues that psd="clip" set to 0, (g,).
        smallest = eigenvalues.computed[:, -1]
        self.is_clipped: np.ndarray = (smallest < -eigenvalues.threshold) & (psd == "clip")
        self.unusual = self.unusual | eigenvalues.is_impossible
        if psd == "check":  # scoring these one by one emits a warning
            self.unusual |= eigenvalues.negative_mass > NEGATIVE_MASS

    @property
    def eigenvalues(self) -> NormalizedEigenvalues:
        """The eigenvalues of the weighted similarity matrices of all sets.

        They are not available if order 2 was the only order, which needs no eigenvalues.
        """
        assert self._eigenvalues is not None
        return self._eigenvalues

    def warn_about_truncation(self, orders: Sequence[float]) -> None:
        """Emit one warning for all sets if setting eigenvalues to 0 may have changed their scores.

        Eigenvalues that may be rounding errors are set to 0. This affects only `orders` below 1.
        """
        if self._eigenvalues is not None:
            self._eigenvalues.warn_about_truncation(orders)

    def compute_influence(self, q: float) -> np.ndarray:
        """Compute the derivative of log VS_q with respect to the weight of each sample, (g, m).

        VS_q is the Vendi Score of each of the g sets of m samples. After a change of one weight,
        the weights are divided by their sum, so with uniform weights the derivatives sum to 0.
        """
        # log VS_∞ is log(trace / λ) for the largest eigenvalue λ. If the weight of sample i
        # increases from 1/m, log λ increases at the rate m U_i² with the eigenvector U, and the log
        # of the trace at the rate given by `_compute_relative_diagonals`.
        if math.isinf(q):
            first_vectors = to_host(self.vectors)[:, :, 0]
            return self._compute_relative_diagonals() - self.K.shape[1] * first_vectors**2
        # For other orders, the derivative depends on how much the surprisal of a sample exceeds log
        # VS_q, the log of the power mean of the eigenvalues.
        log_scores = np.log(self.eigenvalues.hill_number(q))
        excess_surprisals = self.compute_surprise(q) - log_scores[:, None]
        influence = influence_from_surprisals(excess_surprisals, q)
        return self._compute_relative_diagonals() * influence

    def _compute_relative_diagonals(self) -> np.ndarray:
        """Compute m times the diagonal of the weighted similarity matrix of each set, shape (g, m).

        There are g sets of m samples. The diagonal entry of a sample is its part of the trace, 1/m
        for uniform weights. It differs from the weight if negative eigenvalues were clipped to 0,
        because it is computed from the remaining eigenvalues λ and eigenvectors U as Σ_j λ_j U_ij².
        """
        squares = np.square(to_host(self.vectors))
        diagonals = squares @ to_host(self.eigenvalues.values)[..., None]
        return self.K.shape[1] * diagonals[..., 0]

    def compute_surprise(self, q: float) -> np.ndarray:
        """Compute the surprisal of order q of each sample of each set, shape (g, m).

        It is log(xᵀ A^{q−1} x)/(1 − q), where x is the unit-norm feature vector of the sample, and
        A is the sum of p x xᵀ over the samples of the set, with weights p that sum to 1.
        """
        values = to_host(self.eigenvalues.values_at(q))
        squares = np.square(to_host(self.vectors))
        return surprise_from_eigenvectors(values[:, None, :], squares, q)

    def compute_residual_fractions(self) -> np.ndarray:
        """Compute the fraction of each sample that the others in its set do not explain, (g, m).

        It is 1/(K⁻¹)_ii for sample i of a set with similarities K: the squared distance of its
        unit-norm feature vector from the span of those of the other samples.
        """
        values = to_host(self.eigenvalues.values_at(0))
        # Eigenvectors of eigenvalues of 0 are outside the span of the samples.
        squares = np.square(to_host(self.vectors)) * (values > 0)[:, None, :]
        return residual_fractions_from_eigenvectors(values, squares, self.K.shape[1])

    def log_scores_leaving_each_out(self, q: float) -> np.ndarray:
        """Compute log VS_q of each set without each of its samples, shape (g, m), for m ≥ 2.

        If negative eigenvalues of a set were clipped to 0, those of the remaining samples are
        clipped as well.
        """
        m = self.K.shape[1]
        logs = np.empty(self.K.shape[:2])
        # `log_scores_leaving_each_out` is accurate for q ≤ 2, and does not apply to clipped
        # eigenvalues. In other cases, the eigenvalues of the remaining samples are computed.
        needs_eigenvalues = self.is_clipped | (q > 2)
        if needs_eigenvalues.any():
            logs[needs_eigenvalues] = self._leave_each_out_by_eigenvalues(needs_eigenvalues, q)
        if not needs_eigenvalues.all():
            values = to_host(self.eigenvalues.values_at(q))[~needs_eigenvalues]
            squares = np.square(to_host(self.vectors)[~needs_eigenvalues])
            squares *= (values > 0)[:, None, :]  # eigenvectors of eigenvalues of 0 are arbitrary
            logs[~needs_eigenvalues] = log_scores_leaving_each_out(
                values, squares, q, sample_weight=1 / m
            )
        # Scores of m − 1 samples are between 1 and m − 1, except for numerical errors.
        return np.clip(logs, 0.0, math.log(m - 1))

    def _leave_each_out_by_eigenvalues(self, is_selected: np.ndarray, q: float) -> np.ndarray:
        """Compute log VS_q of the remaining samples after leaving out each sample of some sets.

        The eigenvalues of each submatrix of the weighted similarity matrix are computed.
        `is_selected` (g,) selects k of the g sets. The result has shape (k, m).
        """
        m = self.K.shape[1]
        remaining = np.array([np.delete(np.arange(m), i) for i in range(m)])
        rows = remaining[:, :, None]
        columns = remaining[:, None, :]
        # One set at a time, because its submatrices take m times its memory.
        eigenvalues = [np.linalg.eigvalsh(K[rows, columns]) for K in to_host(self.K)[is_selected]]
        return np.log(hill_number(clip_eigenvalues(np.array(eigenvalues)), q))
