"""Kernels on vectors: rows of an array, or plain numbers as vectors of length 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import memory
from ..arrays import Array, as_matrix, is_torch, namespace
from ..distances import manhattan, median_distance, squared_euclidean
from ..registry import register_kernel
from ..similarity import FeatureSimilarity, MatrixSimilarity, Similarity

_VENDI = "Friedman & Dieng, arXiv 2210.02410"
_RASMUSSEN = "Rasmussen & Williams, Gaussian Processes for Machine Learning, §4.2"


@register_kernel("cosine", samples="vectors", source=_VENDI)
def cosine(vectors: Any) -> Similarity:
    """The cosine of the angle between two vectors."""
    return FeatureSimilarity(_rows(vectors)).normalized()


@register_kernel("linear", samples="vectors", source=_VENDI, unit_diagonal=False)
def linear(vectors: Any) -> Similarity:
    """The dot product x·y; of unit vectors, or with normalize=True, the cosine."""
    return FeatureSimilarity(_rows(vectors))


@register_kernel("rbf", samples="vectors", source=_RASMUSSEN)
def rbf(vectors: Any, sigma: float | None = None) -> Similarity:
    """exp(−‖x − y‖² / 2σ²); σ is the median distance unless given."""
    X = _dense_rows(vectors)
    D = squared_euclidean(X)
    bandwidth = _bandwidth(sigma) or median_distance(D, X, power=2)
    D /= -2 * bandwidth**2
    return _exponential(D, bandwidth)


@register_kernel("laplacian", samples="vectors", source=_RASMUSSEN)
def laplacian(vectors: Any, sigma: float | None = None) -> Similarity:
    """exp(−Σ|x_j − y_j| / σ); σ is the median Manhattan distance unless given."""
    X = _dense_rows(vectors)
    D = manhattan(X)
    bandwidth = _bandwidth(sigma) or median_distance(D, X)
    D /= -bandwidth
    return _exponential(D, bandwidth)


@register_kernel("polynomial", samples="vectors", source=_RASMUSSEN)
def polynomial(vectors: Any, degree: int = 3, c: float = 1.0) -> Similarity:
    """(x·y + c)^degree, divided by its value at (x, x) and (y, y) to have a diagonal of 1."""
    if isinstance(degree, bool) or not isinstance(degree, (int, np.integer)) or degree < 1:
        raise ValueError(f"`degree` must be an integer of at least 1, got {degree!r}")
    if not 0 <= c < math.inf:
        raise ValueError(f"`c` must be a finite number of at least 0, got {c}")
    X = _dense_rows(vectors)
    xp, n = namespace(X), X.shape[0]
    memory.require(8 * n * n, f"the similarity matrix of {n} samples", "compare fewer samples")
    # x·y + c is the dot product of rows with one more column; of unit vectors, no power overflows.
    X = xp.concat([X, xp.full_like(X[:, :1], math.sqrt(c))], axis=1)
    K = FeatureSimilarity(X).normalized().dense()
    return MatrixSimilarity(K**degree, psd=True)


def _rows(vectors: Any) -> Any:
    if isinstance(vectors, list) and vectors and isinstance(vectors[0], (int, float)):
        vectors = [[x] if isinstance(x, (int, float)) else x for x in vectors]
    elif hasattr(vectors, "ndim") and vectors.ndim == 1:
        vectors = vectors.reshape(-1, 1)
    return as_matrix(vectors)


def _dense_rows(vectors: Any) -> Array:
    X = _rows(vectors)
    return X.toarray() if hasattr(X, "toarray") else X


def _bandwidth(sigma: float | None) -> float | None:
    if sigma is not None and not 0 < sigma < math.inf:
        raise ValueError(f"`sigma` must be a finite number above 0, got {sigma}")
    return sigma


def _exponential(exponent: Array, bandwidth: float) -> Similarity:
    K = exponent.exp() if is_torch(exponent) else namespace(exponent).exp(exponent, out=exponent)
    return MatrixSimilarity(K, psd=True, settings={"sigma": bandwidth})
