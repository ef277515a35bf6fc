"""Kernels on vectors, which are rows of an array; numbers are vectors with one entry."""

import math
from functools import partial

import numpy as np

from ..resolve.kernel import Control, register_kernel
from ..similarity import sparse as sp
from ..similarity.base import Similarity
from ..similarity.exponential_kernels import (
    ExponentialEntries,
    ExponentialMatrix,
    compute_tensor_similarities,
    median_distance,
)
from ..similarity.features import FeatureSimilarity
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
    label="point in the same direction",
    by="By their directions",
)
def cosine(vectors: SampleContainer) -> Similarity:
    """The cosine of the angle between two vectors.

    Parameters
    ----------
    vectors : array-like of shape (n, d)
        The samples, one vector with d entries per row. Zero vectors are not allowed.
    """
    X = as_vectors(vectors, extra_check=_describe_zero_rows)
    try:
        with np.errstate(all="ignore"):
            return FeatureSimilarity(X).normalized()
    except SampleError:  # replaced by a message about the cosine
        raise SampleError.from_problems(_describe_zero_rows(X)) from None


@register_kernel("linear", samples="vectors", source=_VENDI, rows=True)
def linear(vectors: SampleContainer) -> Similarity:
    """The dot product x·y; for unit vectors, or with normalize=True, the cosine.

    Parameters
    ----------
    vectors : array-like of shape (n, d)
        The samples, one vector with d entries per row.
    """
    return FeatureSimilarity(as_vectors(vectors))


def _fit_sigma(
    kernel: ExponentialKernel, vectors: SampleContainer, sigma: float | None = None
) -> Record:
    """Return the fitted option `sigma` of a kernel, or no option if the user passed `sigma`.

    It is the median distance between distinct samples.
    """
    return {} if sigma is not None else {"sigma": median_distance(_as_dense_rows(vectors), kernel)}


@register_kernel(
    "rbf",
    samples="vectors",
    source=_RASMUSSEN,
    fit=partial(_fit_sigma, "gaussian"),
    label="are close",
    by="By their distances",
    controls=(_SIGMA_CONTROL,),
)
def rbf(vectors: SampleContainer, sigma: float | None = None) -> Similarity:
    """exp(−‖x − y‖² / 2σ²); by default, σ is the median distance.

    Parameters
    ----------
    vectors : array-like of shape (n, d)
        The samples, one vector with d entries per row.
    sigma : float, optional
        Bandwidth. By default the median Euclidean distance between distinct samples. To compare
        sets, pass the same value for all sets, such as ``details["options"]["sigma"]`` of the score
        of one set.
    """
    return _build_exponential("gaussian", vectors, sigma)


@register_kernel(
    "laplacian",
    samples="vectors",
    source=_RASMUSSEN,
    fit=partial(_fit_sigma, "laplace"),
    label="are close or not too distant",
    by="By their distances",
    controls=(_SIGMA_CONTROL,),
)
def laplacian(vectors: SampleContainer, sigma: float | None = None) -> Similarity:
    """exp(−Σ|x_j − y_j| / σ); by default, σ is the median Manhattan distance.

    Parameters
    ----------
    vectors : array-like of shape (n, d)
        The samples, one vector with d entries per row.
    sigma : float, optional
        Bandwidth. By default the median Manhattan distance between distinct samples. To compare
        sets, pass the same value for all sets.
    """
    return _build_exponential("laplace", vectors, sigma)


def _describe_zero_rows(X: Rows) -> dict[int, str]:
    """Describe the rows of X that consist of zeros, by row index."""
    if sp.issparse(X):
        max_magnitudes = np.asarray(abs(X).max(axis=1).toarray(), dtype=float).ravel()
    else:
        X = detach(X)
        max_magnitudes = namespace(X).max(abs(X), axis=1)
    zero_rows = np.flatnonzero((max_magnitudes == 0).tolist())
    return {int(i): "is a zero vector, which has no cosine; remove it" for i in zero_rows}


def _build_exponential(
    kernel: ExponentialKernel, vectors: SampleContainer, sigma: "Number | None"
) -> Similarity:
    """Return similarities exp(−‖x − y‖² / 2σ²) ("gaussian") or exp(−Σ|x_j − y_j| / σ) ("laplace").

    By default, σ = `sigma` is the median distance between distinct samples. For vectors in a tensor
    the result is a matrix with a gradient; for other vectors, entries are computed on demand.
    """
    X = _as_dense_rows(vectors)
    if sigma is None:  # the kernel was called directly, so σ was not fitted
        sigma = median_distance(X, kernel)
    value = detach(sigma) if is_torch(X) else sigma
    bandwidth = check_float("sigma", value, "a finite number above 0", lambda s: 0 < s < math.inf)
    settings = {"sigma": bandwidth}
    if is_torch(X):
        # A bandwidth that is a tensor keeps its gradient.
        bandwidth_of_tensor = sigma.to(X.device).double() if is_torch(sigma) else bandwidth
        _require_matrix_memory(X)
        K = compute_tensor_similarities(X, bandwidth_of_tensor, kernel)
        return ExponentialMatrix(K, psd=True, settings=settings)
    return RowsSimilarity(ExponentialEntries(X, bandwidth, kernel), psd=True, settings=settings)


def _require_matrix_memory(X: Tensor) -> None:
    """Raise a TooLargeError unless the kernel matrix (n, n) of the rows of X (n, d) fits in memory.

    A tensor on a GPU is not checked.
    """
    n, d = X.shape
    if not X.is_cuda:  # a GPU raises its own error
        description = f"the similarity matrix of {n} samples"
        # The bytes of the matrix and the rows in double precision, with temporary arrays.
        memory.require(
            12 * n * (n + 2 * d), description, "compare fewer samples, or pass X.numpy()"
        )


def _as_dense_rows(vectors: SampleContainer, extra_check: RowCheck | None = None) -> Array:
    X = as_vectors(vectors, extra_check=extra_check)
    return X.toarray() if hasattr(X, "toarray") else X
