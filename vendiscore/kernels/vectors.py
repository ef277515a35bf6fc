"""Kernels on vectors: rows of an array, or numbers as vectors of length 1."""

import math
from functools import partial

import numpy as np

from ..resolve.kernel import Control, register_kernel
from ..similarity import sparse as sp
from ..similarity.base import Similarity
from ..similarity.exponential_kernels import (
    ExponentialEntries,
    compute_tensor_similarities,
    median_distance,
)
from ..similarity.features import FeatureSimilarity
from ..similarity.matrix import MatrixSimilarity
from ..similarity.row_distances import ExponentialKernel
from ..similarity.rows import RowsSimilarity
from ..similarity.sample_arrays import RowCheck, as_vectors
from ..support import memory
from ..support.arguments import check_float
from ..support.errors import SampleError
from ..support.namespace import Array, detach, is_torch, namespace
from ..support.types import Number, Record, Rows, SampleContainer, Tensor

_VENDI = "Friedman & Dieng, arXiv 2210.02410"
_RASMUSSEN = "Rasmussen & Williams, Gaussian Processes for Machine Learning, §4.2"
_SIGMA_CONTROL = Control(
    "sigma",
    "scale σ",
    info="distance beyond which samples are hardly similar; 0 for the median distance",
    phrase="σ {}",
)


@register_kernel(
    "cosine",
    samples="vectors",
    source=_VENDI,
    rows=True,
    label="point the same way",
    by="By their directions",
)
def cosine(vectors: SampleContainer) -> Similarity:
    """The cosine of the angle between two vectors.

    Parameters
    ----------
    vectors : array-like of shape (n, d)
        The samples.
    """
    problem = "is a zero vector, which has no cosine; remove it"
    X = as_vectors(vectors, extra_check=lambda X: _mark_problems(_max_magnitudes(X) == 0, problem))
    return _normalize_rows(X, problem)


@register_kernel("linear", samples="vectors", source=_VENDI, rows=True)
def linear(vectors: SampleContainer) -> Similarity:
    """The dot product x·y; for unit vectors, or with normalize=True, the cosine.

    Parameters
    ----------
    vectors : array-like of shape (n, d)
        The samples.
    """
    return FeatureSimilarity(as_vectors(vectors))


def _fit_sigma(
    kernel: ExponentialKernel, vectors: SampleContainer, sigma: float | None = None
) -> Record:
    """Return the fitted option: by default, σ is the median distance between distinct samples."""
    return {} if sigma is not None else {"sigma": median_distance(_as_dense_rows(vectors), kernel)}


@register_kernel(
    "rbf",
    samples="vectors",
    source=_RASMUSSEN,
    fit=partial(_fit_sigma, "gaussian"),
    label="lie close",
    by="By their distances",
    controls=(_SIGMA_CONTROL,),
)
def rbf(vectors: SampleContainer, sigma: float | None = None) -> Similarity:
    """exp(−‖x − y‖² / 2σ²); by default, σ is the median distance.

    Parameters
    ----------
    vectors : array-like of shape (n, d)
        The samples.
    sigma : float, optional
        Bandwidth. By default the median Euclidean distance between distinct samples. To compare
        sets, pass the same value for all, for example ``details["options"]["sigma"]`` of the first.
    """
    return _build_exponential("gaussian", vectors, sigma)


@register_kernel(
    "laplacian",
    samples="vectors",
    source=_RASMUSSEN,
    fit=partial(_fit_sigma, "laplace"),
    label="lie close, or not too far",
    by="By their distances",
    controls=(_SIGMA_CONTROL,),
)
def laplacian(vectors: SampleContainer, sigma: float | None = None) -> Similarity:
    """exp(−Σ|x_j − y_j| / σ); by default, σ is the median Manhattan distance.

    Parameters
    ----------
    vectors : array-like of shape (n, d)
        The samples.
    sigma : float, optional
        Bandwidth. By default the median Manhattan distance between distinct samples. To compare
        sets, pass the same value for all.
    """
    return _build_exponential("laplace", vectors, sigma)


def _normalize_rows(X: Rows, zero_problem: str) -> FeatureSimilarity:
    try:
        with np.errstate(all="ignore"):
            return FeatureSimilarity(X).normalized()
    except SampleError:
        raise SampleError.from_problems(
            _mark_problems(_max_magnitudes(X) == 0, zero_problem)
        ) from None


def _max_magnitudes(X: Rows) -> Array:
    """Return max_j |x_j| of every row, without gradient."""
    if sp.issparse(X):
        return np.asarray(abs(X).max(axis=1).toarray(), dtype=float).ravel()
    X = detach(X)
    return namespace(X).max(abs(X), axis=1)


def _mark_problems(bad: Array, problem: str) -> dict[int, str]:
    return {int(i): problem for i in np.flatnonzero(bad.tolist())}


def _build_exponential(
    kernel: ExponentialKernel, vectors: SampleContainer, sigma: "Number | None"
) -> Similarity:
    X = _as_dense_rows(vectors)
    if sigma is None:  # called without `fit`
        sigma = median_distance(X, kernel)
    value = detach(sigma) if is_torch(X) else sigma
    width = check_float("sigma", value, "a finite number above 0", lambda s: 0 < s < math.inf)
    settings = {"sigma": width}
    if is_torch(X):
        with_gradient = sigma.to(X.device).double() if is_torch(sigma) else width
        _require_matrix(X)
        return MatrixSimilarity(
            compute_tensor_similarities(X, with_gradient, kernel), psd=True, settings=settings
        )
    return RowsSimilarity(ExponentialEntries(X, width, kernel), psd=True, settings=settings)


def _require_matrix(X: Tensor) -> None:
    """Check that the kernel matrix of a tensor fits in memory; a GPU raises its own error."""
    n, d = X.shape
    if not X.is_cuda:
        description = f"the similarity matrix of {n} samples"
        memory.require(
            12 * n * (n + 2 * d), description, "compare fewer samples, or pass X.numpy()"
        )


def _as_dense_rows(vectors: SampleContainer, extra_check: RowCheck | None = None) -> Array:
    X = as_vectors(vectors, extra_check=extra_check)
    return X.toarray() if hasattr(X, "toarray") else X
