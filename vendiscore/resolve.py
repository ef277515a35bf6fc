"""From samples, and how to compare them, to the Similarity that is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Number
from pathlib import Path
from typing import Any, TypeAlias

from .arrays.inputs import as_matrix, as_samples
from .arrays.namespace import precision
from .checks import TEXT_KERNEL, check_arguments, check_diagonal, check_matrix, check_similarity
from .errors import warn
from .mixture import Mixture, is_mixture, mixture
from .registry import apply_kernel, distinct_samples
from .signature import plain
from .similarity.base import Similarity
from .similarity.composite import RepeatedSimilarity
from .similarity.features import FeatureSimilarity
from .similarity.pairwise import pairwise
from .strings import kernel_meant

# From here on the spacing of numbers shows in a diagonal of 1: that of single precision is finer.
COARSE = 1e-5
# What `k` may be.
KernelArgument: TypeAlias = str | Callable[[Any, Any], float] | Mixture

# What may be passed for samples of a kind, where none is named.
_WAYS = {
    "images": "k='pixels' or k='image_embeddings'",
    "molecules": "k='morgan', or another fingerprint",
    "records": (
        "one column of them, or a mixture such as "
        "k={'ngram_overlap:text': 0.5, 'labels:class': 0.5}"
    ),
    "lists of strings": (
        "a list of strings, of a table one column such as df['text'], of groups one at a time; or "
        "k='tags' for sets of labels"
    ),
    "numbers": (
        "k='cosine', 'rbf' or another kernel on vectors, score_X=True (features, compared by dot "
        "products), score_K=True (a similarity matrix), or k='labels' (classes)"
    ),
    "other": "k= your function of two samples, or the name of a kernel: vendiscore.list_kernels()",
}


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
        similarity = similarity.noted(roundoff=precision(samples))
    if normalize:
        similarity = similarity if score_K else similarity.normalized()
        similarity = similarity.noted(settings={**similarity.settings, "normalize": True})
    check_diagonal(similarity)
    return check_similarity(similarity) if isinstance(samples, Similarity) else similarity


def _compare(samples: Any, k: Any, options: Mapping[str, Any]) -> Similarity:
    if k is None:
        return _as_text(samples, options)
    if isinstance(k, str):
        return apply_kernel(k, samples, options)
    distinct, first, inverse = distinct_samples(samples)
    similarity = pairwise(distinct, k, first.tolist())
    said = {"kernel": f"function {plain(k)}", **similarity.settings}
    similarity = similarity.noted(settings=said)
    return similarity if len(first) == len(inverse) else RepeatedSimilarity(similarity, inverse)


def _as_text(samples: Any, options: Mapping[str, Any]) -> Similarity:
    """Samples that come without `k`: n-grams of strings, and a warning if they are no text."""
    strings = [s for s in samples if isinstance(s, str)] if isinstance(samples, list) else []
    if not strings:
        kind, name = _kind(samples)
        raise ValueError(
            f"`k` is missing, and samples of type {name} do not say how to compare them; pass "
            f"{_WAYS[kind]}"
        )
    similarity = apply_kernel(TEXT_KERNEL, samples, options)
    if looks := kernel_meant(strings):
        note = (
            f"The samples look like {looks[0]}, but were compared as text, by n-grams: "
            f"k={looks[1]!r} compares what they stand for, k={TEXT_KERNEL!r} says that text is "
            f"meant."
        )
        warn(note)
        return similarity.noted(notes=[note])
    return similarity


def _kind(samples: Any) -> tuple[str, str]:
    """What samples that are no strings are, among `_WAYS`, and the name of their type."""
    if not isinstance(samples, list):
        return "numbers", type(samples).__name__
    first = next((s for s in samples if s is not None), None)
    name = type(first).__name__
    if first is None:
        raise ValueError("all samples are None; check where they come from")
    if isinstance(first, Mapping):
        return "records", name
    if isinstance(first, (list, tuple, set, frozenset)) and any(isinstance(x, str) for x in first):
        return "lists of strings", name
    if isinstance(first, (Number, list, tuple)) or hasattr(first, "dtype"):
        return "numbers", name
    root = type(first).__module__.partition(".")[0]
    images = root == "PIL" or isinstance(first, (bytes, Path))
    return "images" if images else "molecules" if root == "rdkit" else "other", name
