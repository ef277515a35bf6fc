"""The share of samples of kinds that the references lack."""

from __future__ import annotations

import math

import numpy as np

from ..arguments import number
from ..arrays import memory
from ..arrays import sparse as sp
from ..arrays.namespace import gram, to_host
from ..registry.measure import register_measure
from ..similarity.base import Similarity
from ..spectral.cholesky import factor_of
from ..spectral.eigen import decompose
from ..spectral.spectrum import EPS
from ..spectral.weighted_similarity import fault_of, merge_identical
from .both import Both
from .subject import Subject


def _read_eta(eta: object) -> float:
    expected, remedy = "a finite number of at least 0", "1 is usual"
    return number("eta", eta, expected, lambda x: 0 <= x < math.inf, remedy)


@register_measure(
    "KEN",
    needs="similarity",
    range="[0, ∞)",
    direction="higher",
    source="Zhang, Li & Farnia, ICML 2024, arXiv 2402.17287",
    readers={"eta": _read_eta},
    aspect="novelty",
    pooled=True,
    null=True,
)
def kernel_entropic_novelty(subject: Subject, eta: float = 1.0) -> float:
    """Kernel entropic novelty: how much of C_X − ηC_Y is positive, times the entropy of its modes.

    Σ λ⁺ log(S/λ⁺) for positive eigenvalues λ⁺ of sum S: the share of samples of kinds more than η
    times as common as among references, times the entropy of these kinds. One new kind alone scores
    0. With η = 0 it is log VS of the samples.
    """
    both = subject.both
    own, other = _covariances(both)
    size = np.linalg.norm(own) + eta * np.linalg.norm(other)
    rounding = both.similarity.n * EPS * size
    other *= -eta
    own += other
    values = decompose(own, lambda: fault_of(both.similarity)).values
    found = values[values > rounding]
    total = found.sum()
    return max(float(total * math.log(total) - found @ np.log(found)), 0.0) if len(found) else 0.0


def _covariances(both: Both) -> tuple[np.ndarray, np.ndarray]:
    """Return C_X and C_Y (r, r) in one orthonormal basis of both, of few dimensions."""
    K, (n, m) = both.similarity, both.sizes
    few = K.dim is not None and K.dim < K.n
    if not few and ("eigen" in both.__dict__ or not K.psd):
        values, vectors = to_host(both.eigen.values), both.eigen.vectors
        assert vectors is not None
        values = values[: vectors.shape[1]]
        own = gram((to_host(vectors)[:n] * np.sqrt(2 * values)).T)  # weights are 1/2n and 1/2m
        other = -own
        np.einsum("ii->i", other)[:] += 2 * values
        return own, other
    if few:
        F = K.normalized().features()
        F = F.toarray() if sp.issparse(F) else to_host(F)
    else:
        F = _factor(K)
    return gram(F[:n].T) / n, gram(F[n:].T) / m


def _factor(K: Similarity) -> np.ndarray:
    """Return F (n + m, r) with F Fᵀ = K; copies have the same row, to the last digit."""
    distinct = merge_identical(K, None)
    what = f"comparing {distinct.similarity.n} samples and references with each other"
    memory.require_large(32 * distinct.similarity.n**2, what, "compare fewer")
    F = factor_of(np.ascontiguousarray(to_host(distinct.similarity.normalized().dense())))
    return F if distinct.inverse is None else F[distinct.inverse]
