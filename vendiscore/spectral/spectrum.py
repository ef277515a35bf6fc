"""The spectrum of a set: eigenvalues of its weighted similarity matrix, and eigenvectors if needed.

K_p denotes the weighted similarity matrix diag(√p) K diag(√p) of similarities K and weights p.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ..core.eigenvalues import PSD, EigenvalueTolerance, NormalizedEigenvalues
from ..core.hill import clip_to_range
from ..core.score import Solver, compute_hill_numbers
from ..similarity.base import Similarity
from ..support.arguments import DEFAULT_ORDER
from ..support.namespace import Array, is_numpy, namespace, to_float, to_host
from ..support.types import Number
from .eigendecomposition import decompose, describe_eigensolver
from .estimate import Estimate
from .weighted_similarity import describe_invalid_similarity


@dataclass(frozen=True, eq=False, kw_only=True)
class Spectrum(NormalizedEigenvalues):
    """Normalized eigenvalues of a weighted similarity matrix, with eigenvectors if needed.

    The matrix has the entries √p_i K_ij √p_j for similarities K and weights p of n samples. The
    eigenvalues, `values`, are in descending order and sum to 1.

    Attributes
    ----------
    vectors : array (n, r), optional
        The eigenvectors of the r positive eigenvalues, as columns.
    n : int
        The number of samples.
    route : str
        Name of the method that computed the eigenvalues.
    reason : str
        Why this method was selected.
    negative_eigenvalues : ndarray (s,), optional
        The s negative eigenvalues that psd="clip" set to zero, multiplied by the same factor as the
        positive ones in `values`. Leave-one-out scores need them to compute and clip the
        eigenvalues of the remaining samples.
    negative_vectors : array (n, s), optional
        The eigenvectors of the negative eigenvalues.
    single_precision : bool, default False
        Whether eigenvalues were computed in single precision, and are valid only for orders of at
        least 1.
    """

    n: int
    route: str
    reason: str
    negative_eigenvalues: np.ndarray | None = None
    negative_vectors: Array | None = field(default=None, repr=False)
    single_precision: bool = False

    def effective_number(self, q: float = DEFAULT_ORDER) -> Number:
        """Return the Vendi Score: the Hill number of order q of the eigenvalues, in [1, n]."""
        if self.single_precision and q < 1:
            raise ValueError(
                f"order {q:g} requires a spectrum in double precision, but this one was computed "
                f"in single precision; use compute_spectrum(similarity), or pass the order to "
                f"compute_vendi_scores(similarity, orders)"
            )
        return self.hill_number(q)

    def profile(self, orders: Sequence[float]) -> Array:
        """Return the Vendi Scores of several orders as an array, or a tensor for torch input."""
        scores = [self.effective_number(q) for q in orders]
        if is_numpy(self.values):
            return np.array(scores)
        return namespace(self.values).stack(scores)

    def estimates(self, orders: Sequence[float]) -> list[Estimate]:
        """Return the exact score of each order; warn if truncated eigenvalues may have changed one.

        Each score is an Estimate with a standard error of 0. Truncated eigenvalues are those that
        were set to 0 because they may be rounding errors.
        """
        self.warn_about_truncation(orders)
        return [Estimate(self.effective_number(q), self.route, self.reason) for q in orders]

    @property
    def notes(self) -> list[str]:
        """Notes for users about eigenvalues that were set to 0 as possible rounding errors.

        The list is empty if no threshold was applied.
        """
        if not self.largest_threshold:
            return []
        return [
            f"Eigenvalues below {self.largest_threshold:.2g} of the trace are treated as rounding "
            f"errors and set to zero, so order 0 is the numerical rank, and orders near 0 ignore "
            f"smaller eigenvalues."
        ]


def positive_eigenpairs(
    spectrum: Spectrum, q: float = DEFAULT_ORDER
) -> tuple[np.ndarray, np.ndarray]:
    """Return r positive eigenvalues (r,) and their eigenvectors (n, r) as NumPy arrays.

    They are those from which the score of order q is computed: orders below 1 ignore eigenvalues
    that may be caused by rounding of the input. For q = 0, r is the numerical rank. A ValueError is
    raised if `spectrum` contains no eigenvectors.
    """
    if spectrum.vectors is None:
        raise ValueError(
            "`spectrum` must contain eigenvectors; pass compute_spectrum(similarity, vectors=True)"
        )
    values = to_host(spectrum.values_at(q))
    values = values[values > 0]
    return values, to_host(spectrum.vectors)[:, : len(values)]


def retained_and_clipped_eigenpairs(spectrum: Spectrum) -> tuple[np.ndarray, np.ndarray]:
    """Return the positive eigenvalues followed by the clipped negative ones, and all eigenvectors.

    Clipped eigenvalues are negative ones that psd="clip" set to 0. This function returns their
    negative values. All eigenvalues are divided by the sum of the positive ones. The shapes of the
    NumPy arrays are (r,) and (n, r) for r eigenvalues and n samples.
    """
    values, U = positive_eigenpairs(spectrum)
    if spectrum.negative_eigenvalues is None:
        return values, U
    all_values = np.concatenate([values, spectrum.negative_eigenvalues])
    return all_values, np.concatenate([U, to_host(spectrum.negative_vectors)], axis=1)


class ScoresByOrder(NamedTuple):
    """One score (Estimate) for each order, and the spectrum from which scores were computed.

    The spectrum is None if it was not needed.
    """

    estimates: list[Estimate]
    spectrum: Spectrum | None = None

    @property
    def values(self) -> list[Number]:
        """The scores: floats, or 0-d torch tensors."""
        return [estimate.value for estimate in self.estimates]


def compute_tolerance(weighted: Similarity) -> EigenvalueTolerance:
    """Return the bounds of rounding errors in the eigenvalues of a weighted similarity.

    They depend on the number of samples, on the precision of the entries, and on whether the matrix
    is positive semidefinite by construction.
    """
    return EigenvalueTolerance(
        weighted.n,
        entry_precision=weighted.roundoff,
        semidefinite=weighted.psd,
        describe_cause=partial(describe_invalid_similarity, weighted),
    )


def compute_spectrum_from_covariance(
    C: Array, n: int, psd: PSD = "check", vectors: bool = False
) -> Spectrum:
    """Compute the spectrum of n samples from a matrix C proportional to Σ w x xᵀ, shape (d, d).

    The sum is over the feature vectors x (d,) of samples with weights w. If `psd` is "check",
    negative eigenvalues beyond rounding errors raise a NotPSDError; if "clip", they are set to 0.
    If `vectors`, the spectrum contains the eigenvectors of C.
    """
    spectrum = score_covariance(C, n, orders=(), psd=psd, vectors=vectors).spectrum
    assert spectrum is not None  # without orders, eigenvalues are always computed
    return spectrum


def score_covariance(
    C: Array, n: int, orders: Sequence[float], psd: PSD = "check", vectors: bool = False
) -> ScoresByOrder:
    """Compute scores of n samples from a matrix C proportional to Σ w x xᵀ, shape (d, d).

    The sum is over the feature vectors x (d,) of samples with weights w. A `State` computes such a
    sum while samples are added to it. Scores of all `orders` are clipped to [1, n], to remove
    rounding errors. If `psd` is "check", negative eigenvalues beyond rounding errors raise a
    NotPSDError; if "clip", they are set to 0. If `vectors`, the spectrum contains the eigenvectors
    of C.
    """
    # Divide C by its trace below, because eigenvalues must sum to 1.
    xp = namespace(C)
    C = xp.astype(C, xp.float64, copy=False)
    trace = xp.linalg.trace(C)
    if not 0 < to_float(trace) < math.inf:
        hint = "check the added samples for NaN and overflow"
        if to_float(trace) == 0:
            hint = "add samples with features that are not all 0"
        raise ValueError(
            f"`C` must have a finite, positive trace, got {to_float(trace):.6g}; {hint}"
        )
    tolerance = EigenvalueTolerance(
        n, describe_cause=lambda: "check the added samples for NaN and overflow"
    )
    reason = f"a covariance of {C.shape[0]} features was passed"
    scores = score_matrix(C / trace, orders, tolerance, psd, "covariance", reason, vectors)
    estimates = [
        replace(estimate, value=clip_to_range(estimate.value, n)) for estimate in scores.estimates
    ]
    return scores._replace(estimates=estimates)


def score_matrix(
    A: Array,
    orders: Sequence[float],
    tolerance: EigenvalueTolerance,
    psd: PSD,
    route: str,
    reason: str,
    vectors: bool = False,
) -> ScoresByOrder:
    """Compute scores and the spectrum of a matrix A of trace 1, which is overwritten.

    The spectrum is None if order 2 is the only order and `vectors` is False. `tolerance` contains
    bounds of rounding errors in eigenvalues. `psd` is "check" to raise a NotPSDError for negative
    eigenvalues beyond these bounds, or "clip" to set them to 0. The name of the method (`route`)
    and why it was selected (`reason`) are stored in the results. If `vectors`, the spectrum
    contains the eigenvectors of positive eigenvalues.
    """
    solver = Solver(partial(decompose, describe_cause=tolerance.describe_cause), vectors=vectors)
    if eigensolver := describe_eigensolver(A, vectors):
        reason = f"{reason}, {eigensolver}"
    values, eigenvalues = compute_hill_numbers(A, orders, tolerance, psd, solver)
    estimates = [Estimate(value, route, reason) for value in values]
    if eigenvalues is None:
        return ScoresByOrder(estimates)
    spectrum = Spectrum(**vars(eigenvalues), n=tolerance.n, route=route, reason=reason)
    if vectors:
        # Retain eigenvectors of positive eigenvalues; those of clipped ones are stored separately.
        spectrum = _split_vectors(spectrum, psd)
    return ScoresByOrder(estimates, spectrum)


def _split_vectors(spectrum: Spectrum, psd: PSD) -> Spectrum:
    """Split `spectrum.vectors` into eigenvectors of positive and of clipped negative eigenvalues.

    The latter exist only if `psd` is "clip"; they are stored in `negative_vectors` of the returned
    spectrum. Eigenvectors of eigenvalues that may be rounding errors of 0 are removed.
    """
    V = spectrum.vectors
    assert V is not None
    # `computed` are the eigenvalues before clipping, in descending order, as the columns of V.
    n_negative = int(np.count_nonzero(spectrum.computed < -spectrum.largest_threshold))
    if psd == "clip" and n_negative:
        # Clipping rescales the positive eigenvalues to sum to 1; scale the negative ones equally.
        scale = to_host(spectrum.values)[0] / spectrum.computed[0]
        spectrum = replace(
            spectrum,
            negative_eigenvalues=spectrum.computed[-n_negative:] * scale,
            negative_vectors=V[:, -n_negative:],
        )
    V = V[:, : spectrum.rank]
    return replace(spectrum, vectors=np.ascontiguousarray(V) if is_numpy(V) else V)


def project_vectors(spectrum: Spectrum, project: Callable[[Array], Array]) -> Spectrum:
    """Convert the spectrum of Fᵀ F to that of F Fᵀ; `project(V)` computes F V.

    The rows of F are the weighted feature vectors of the samples, so F Fᵀ is the weighted
    similarity matrix. The positive eigenvalues of both matrices are equal. If V are the
    eigenvectors of Fᵀ F, those of F Fᵀ are the columns of F V, divided by their lengths.
    """
    U = project(spectrum.vectors)
    if is_numpy(U):  # in place, to save memory
        U /= np.sqrt(np.einsum("ij,ij->j", U, U))
    else:
        U = U / namespace(U).linalg.vector_norm(U, axis=0)
    return replace(spectrum, vectors=U, negative_eigenvalues=None, negative_vectors=None)
