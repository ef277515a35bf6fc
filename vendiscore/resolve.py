"""From samples, and how to compare them, to the Similarity that is measured."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from .arrays import as_matrix, as_samples, precision
from .checks import (
    TEXT_KERNEL,
    check_arguments,
    check_diagonal,
    check_matrix,
    check_similarity,
)
from .composite import RepeatedSimilarity
from .kernels.function import pairwise
from .mixtures import Mixture, is_mixture, mixture
from .registry import apply_kernel, distinct_samples, list_kernels
from .similarity import FeatureSimilarity, Similarity

# From here on the spacing of numbers shows in a diagonal of 1: that of single precision is finer.
COARSE = 1e-5
# What `k` may be.
KernelArgument: TypeAlias = str | Callable[[Any, Any], float] | Mixture

_WAYS = (
    "pass `k` as a kernel name ({names}) or a function k(a, b) of two samples, or say what the "
    "samples are: score_K=True (a similarity matrix), score_X=True or score_dual=True (rows of "
    "features)"
)


def as_similarity(
    samples: Any,
    *,
    k: KernelArgument | None = None,
    score_K: bool = False,
    score_X: bool = False,
    score_dual: bool = False,
    normalize: bool = False,
    **options: Any,
) -> Similarity:
    """The Similarity that `compute` scores, with a diagonal of 1; arguments and errors as there."""
    check_arguments(
        {"k": k, "score_K": score_K, "score_X": score_X, "score_dual": score_dual, **options}
    )
    similarity: Similarity
    if isinstance(samples, Similarity):
        similarity = samples
    elif score_K:
        similarity = check_matrix(samples, normalize)
    elif score_X or score_dual:
        similarity = FeatureSimilarity(as_matrix(samples), settings={"kernel": "dot products of X"})
    elif is_mixture(k):
        similarity = mixture(samples, k, **options)
    else:
        similarity = _compare(as_samples(samples), k, options)
    if not score_K and precision(samples) > COARSE:
        similarity = copy.copy(similarity)
        similarity.roundoff = precision(samples)
    if normalize:
        similarity = similarity if score_K else similarity.normalized()
        similarity.settings = {**similarity.settings, "normalize": True}
    check_diagonal(similarity)
    return check_similarity(similarity) if isinstance(samples, Similarity) else similarity


def _compare(samples: Any, k: Any, options: Mapping[str, Any]) -> Similarity:
    if k is None:
        if not (isinstance(samples, list) and any(isinstance(s, str) for s in samples)):
            kind = (
                type(samples[0]).__name__ if isinstance(samples, list) else type(samples).__name__
            )
            names = ", ".join(repr(kernel.name) for kernel in list_kernels())
            raise ValueError(
                f"`k` is missing and samples of type {kind} do not say how to compare them: "
                f"{_WAYS.format(names=names)}"
            )
        k = TEXT_KERNEL
    if isinstance(k, str):
        return apply_kernel(k, samples, options)
    distinct, first, inverse = distinct_samples(samples)
    similarity = pairwise(distinct, k, first.tolist())
    return similarity if len(first) == len(inverse) else RepeatedSimilarity(similarity, inverse)
