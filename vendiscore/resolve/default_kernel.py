"""Samples that come without a kernel: strings are text, and all others are asked for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays.namespace import Samples
from ..errors import warn
from ..reading.string_patterns import looks_like
from ..registry.kernel import get_kernel
from ..similarity.base import Similarity
from .kernel_build import apply_kernel
from .kernel_request import TEXT_KERNEL, How

# What may be passed for samples of a kind, where none is named.
_WAYS = {
    "images": "k='pixels' or k='image_embeddings'",
    "molecules": "k='morgan', or another fingerprint",
    "fingerprints": "k='tanimoto'",
    "records": (
        "one column of them, or a mixture such as "
        "k={'ngram_overlap:text': 0.5, 'labels:class': 0.5}"
    ),
    "lists of strings": (
        "a list of strings, of a table one column such as df['text'], of groups a list of lists "
        "(which `compute` and the metrics read); or k='tags' for sets of labels"
    ),
    "numbers": (
        "k='cosine', 'rbf' or another kernel on vectors, score_X=True (features, compared by dot "
        "products), score_K=True (a similarity matrix), or k='labels' (classes)"
    ),
    "other": "k= your function of two samples, or the name of a kernel: vendiscore.list_kernels()",
}


def as_text(
    samples: Samples, how: How, fit_to: np.ndarray | None, sets: Sequence[Any]
) -> Similarity:
    """Samples that come without `k`: n-grams of strings, and a warning if a set is no text."""
    if not _strings(samples):
        kind, name = _kind(samples)
        raise ValueError(
            f"`k` is missing, and samples of type {name} do not say how to compare them; pass "
            f"{_WAYS[kind]}"
        )
    similarity = apply_kernel(get_kernel(TEXT_KERNEL), samples, how.options, how.skip, fit_to)
    looks = next(filter(None, (looks_like(_strings(each)) for each in sets)), None)
    if looks is None:
        return similarity
    note = (
        f"The samples look like {looks.what}, but were compared as text, by n-grams: "
        f"k={looks.kernel!r} compares what they stand for{looks.first}, k={TEXT_KERNEL!r} says "
        f"that text is meant."
    )
    warn(note)
    return similarity.noted(notes=[note])


def _strings(samples: Any) -> list[str]:
    return [s for s in samples if isinstance(s, str)] if isinstance(samples, list) else []


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
    if root == "PIL" or isinstance(first, (bytes, Path)):
        return "images", name
    if root == "rdkit":
        return "molecules" if hasattr(first, "GetNumAtoms") else "fingerprints", name
    return "other", name
