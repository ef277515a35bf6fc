"""The spectrum of K_p: normalized eigenvalues, with eigenvectors if needed."""

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
from .eigendecomposition import decompose, describe_driver
from .estimate import Estimate
from .weighted_similarity import describe_matrix_problem


@dataclass(frozen=True, eq=False, kw_only=True)
class Spectrum(NormalizedEigenvalues):
    """Normalized eigenvalues of K_p in descending order.

    `vectors` (n, r) are the eigenvectors of the positive ones. `negative_eigenvalues` (s,) are the
    eigenvalues that psd="clip" set to zero, scaled like `values`, with `negative_vectors` (n, s).
    Leave-one-out scores need them to clip the matrix of the other samples.
    """

    n: int
    route: str
    reason: str
    negative_eigenvalues: np.ndarray | None = None
    negative_vectors: Array | None = field(default=None, repr=False)
    single_precision: bool = False  # computed in single precision, valid for orders from 1 on

    def effective_number(self, q: float = DEFAULT_ORDER) -> Number:
        """Return the Vendi Score: the Hill number of order q of the eigenvalues, in [1, n]."""
        if self.single_precision and q < 1:
            raise ValueError(
                f"order {q:g} depends on shares that single-precision products do not resolve; "
                f"use compute_spectrum(similarity), or pass the order to "
                f"compute_vendi_scores(similarity, orders)"
            )
        return self.hill_number(q)

    def profile(self, orders: Sequence[float]) -> Array:
        """Return the effective numbers of several orders, shape (len(orders),)."""
        numbers = [self.effective_number(q) for q in orders]
        if is_numpy(self.values):
            return np.array(numbers)
        return namespace(self.values).stack(numbers)

    def estimates(self, orders: Sequence[float]) -> list[Estimate]:
        """Return the scores of `orders`; warn if truncated eigenvalues may have changed one."""
        self.warn_about_truncation(orders)
        return [Estimate(self.effective_number(q), self.route, self.reason) for q in orders]

    @property
    def notes(self) -> list[str]:
        """Sentences about truncated eigenvalues."""
        if not self.largest_threshold:
            return []
        return [
            f"Eigenvalues below {self.largest_threshold:.2g} of the trace count as rounding and "
            f"so as zero: order 0 is the numerical rank, and orders near 0 leave out shares that "
            f"small."
        ]


def positive_eigenpairs(
    spectrum: Spectrum, q: float = DEFAULT_ORDER
) -> tuple[np.ndarray, np.ndarray]:
    """Return the positive eigenvalues (r,) that order q uses, and eigenvectors (n, r), in NumPy.

    For q = 0, r is the numerical rank.
    """
    if spectrum.vectors is None:
        raise ValueError(
            "`spectrum` has no vectors; pass compute_spectrum(similarity, vectors=True)"
        )
    values = to_host(spectrum.values_at(q))
    values = values[values > 0]
    return values, to_host(spectrum.vectors)[:, : len(values)]


def signed_eigenpairs(spectrum: Spectrum) -> tuple[np.ndarray, np.ndarray]:
    """Return positive and then clipped negative eigenvalues, and their eigenvectors, in NumPy."""
    values, U = positive_eigenpairs(spectrum)
    if spectrum.negative_eigenvalues is None:
        return values, U
    vectors = to_host(spectrum.negative_vectors)
    return np.concatenate([values, spectrum.negative_eigenvalues]), np.concatenate(
        [U, vectors], axis=1
    )


class ScoresByOrder(NamedTuple):
    """One score for each order, and the spectrum they were computed from, if any."""

    estimates: list[Estimate]
    spectrum: Spectrum | None = None

    @property
    def values(self) -> list[Number]:
        """The scores: floats, or 0-d torch tensors."""
        return [estimate.value for estimate in self.estimates]


def compute_tolerance(weighted: Similarity) -> EigenvalueTolerance:
    """Return the bounds of rounding errors in the eigenvalues of a weighted similarity."""
    cause = partial(describe_matrix_problem, weighted)
    return EigenvalueTolerance(weighted.n, weighted.roundoff, weighted.psd, cause)


def from_covariance(C: Array, n: int, psd: PSD = "check", vectors: bool = False) -> Spectrum:
    """Compute the spectrum of n samples from C ∝ Σ w x xᵀ (d, d); `vectors` are those of C."""
    spectrum = score_covariance(C, n, (), psd, vectors).spectrum
    assert spectrum is not None
    return spectrum


def score_covariance(
    C: Array, n: int, orders: Sequence[float], psd: PSD = "check", vectors: bool = False
) -> ScoresByOrder:
    """Compute scores of n samples from C ∝ Σ w x xᵀ (d, d); scores are at most n."""
    xp = namespace(C)
    C = xp.astype(C, xp.float64, copy=False)
    trace = xp.linalg.trace(C)
    if not 0 < to_float(trace) < math.inf:
        raise ValueError(
            f"`C` must have a finite, positive trace, got {to_float(trace):.6g}; look for NaN and "
            f"overflow, or add samples"
        )
    tolerance = EigenvalueTolerance(
        n, describe_cause=lambda: "look for NaN and overflow in what was added up"
    )
    why = f"a covariance of {C.shape[0]} features was given"
    scores = score_matrix(C / trace, orders, tolerance, psd, "covariance", why, vectors)
    estimates = [replace(each, value=clip_to_range(each.value, n)) for each in scores.estimates]
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
    """Compute scores and spectrum of a weighted matrix A of trace 1, which is overwritten.

    With `vectors`, the spectrum has the eigenvectors of positive eigenvalues.
    """
    solver = Solver(partial(decompose, describe_cause=tolerance.describe_cause), vectors=vectors)
    if driver := describe_driver(A, vectors):
        reason = f"{reason}, {driver}"
    values, eigenvalues = compute_hill_numbers(A, orders, tolerance, psd, solver)
    estimates = [Estimate(value, route, reason) for value in values]
    if eigenvalues is None:
        return ScoresByOrder(estimates, None)
    spectrum = Spectrum(**vars(eigenvalues), n=tolerance.n, route=route, reason=reason)
    if vectors:
        spectrum = _split_vectors(spectrum, psd)
    return ScoresByOrder(estimates, spectrum)


def _split_vectors(spectrum: Spectrum, psd: PSD) -> Spectrum:
    """Split eigenvectors into those of positive and, if clipped, of negative eigenvalues."""
    V = spectrum.vectors
    assert V is not None
    n_negative = int(np.count_nonzero(spectrum.computed < -spectrum.largest_threshold))
    if psd == "clip" and n_negative:
        unit = to_host(spectrum.values)[0] / spectrum.computed[0]
        spectrum = replace(
            spectrum,
            negative_eigenvalues=spectrum.computed[-n_negative:] * unit,
            negative_vectors=V[:, -n_negative:],
        )
    V = V[:, : spectrum.rank]
    return replace(spectrum, vectors=np.ascontiguousarray(V) if is_numpy(V) else V)


def project_vectors(spectrum: Spectrum, project: Callable[[Array], Array]) -> Spectrum:
    """Convert the spectrum of Fᵀ F to that of F Fᵀ; `project(V)` computes F V."""
    U = project(spectrum.vectors)
    if is_numpy(U):
        U /= np.sqrt(np.einsum("ij,ij->j", U, U))
    else:
        U = U / namespace(U).linalg.vector_norm(U, axis=0)
    return replace(spectrum, vectors=U, negative_eigenvalues=None, negative_vectors=None)
