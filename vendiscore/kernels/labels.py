"""Kernels on what is known about a sample: its class, its tags, or probabilities of classes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Array, as_matrix, namespace, scalar
from ..checks import check_weights
from ..errors import SampleError
from ..registry import register_kernel
from ..similarity import FeatureSimilarity, Similarity, scale_rows
from ..spectral import effective_number

# How far from 1 a row of probabilities may sum: a softmax in single precision over many classes.
SUM_TOLERANCE = 1e-4


@register_kernel("labels", samples="labels", source="Friedman & Dieng, arXiv 2210.02410")
def labels(values: Sequence[Any]) -> Similarity:
    """1 if two labels are equal, 0 otherwise.

    The Vendi Score of order q is then the Hill number of the classes' shares.

    Parameters
    ----------
    values : sequence of hashable
        Strings, numbers, …; equal as Python says, so that 1, 1.0 and True are one label.

    Raises
    ------
    SampleError
        If a label is missing (None, NaN) or not hashable.
    """
    values = values.tolist() if hasattr(values, "tolist") else values
    for i, value in enumerate(values):
        if not isinstance(value, Hashable):
            kind = type(value).__name__
            raise SampleError(i, f"must be one label, got {kind}: {value!r:.40}; sets go to 'tags'")
        _check_present(i, value)
    return FeatureSimilarity(_indicators([[value] for value in values]))


@register_kernel("tags", samples="sets of labels", source="Salton & McGill 1983 (cosine)")
def tags(sets: Sequence[Iterable[Any]]) -> Similarity:
    """|A ∩ B| / √(|A| |B|): the cosine of the indicator vectors of two sets of labels.

    Parameters
    ----------
    sets : sequence of iterables of hashable
        Repeats within a set do not count.

    Raises
    ------
    SampleError
        If a set is empty, a single string, or has a label that is missing or not hashable.
    TypeError
        For a matrix, which is more likely indicators or scores of labels than labels.
    """
    if hasattr(sets, "shape") and len(sets.shape) > 1:
        raise TypeError(
            f"kernel 'tags' needs a list of sets of labels, got an array of shape "
            f"{tuple(sets.shape)}; compare indicator vectors by k='cosine'"
        )
    rows = []
    for i, tagged in enumerate(sets):
        if isinstance(tagged, (str, bytes, Mapping)) or not isinstance(tagged, Iterable):
            kind = type(tagged).__name__
            raise SampleError(i, f"must be a set of labels, got {kind}: {tagged!r:.40}; split it")
        row = tagged.tolist() if hasattr(tagged, "tolist") else list(tagged)
        if not row:
            raise SampleError(i, "is an empty set of labels; remove it, or give it a label of none")
        for value in row:
            if not isinstance(value, Hashable):
                raise SampleError(i, f"has a label that is not hashable: {value!r:.40}")
            _check_present(i, value)
        rows.append(list(dict.fromkeys(row)))
    sizes = np.array([len(row) for row in rows])
    return FeatureSimilarity(scale_rows(_indicators(rows), 1 / np.sqrt(sizes)))


@register_kernel(
    "probability_product",
    samples="class probabilities",
    source="Jebara, Kondor & Howard, JMLR 2004; Friedman & Dieng, arXiv 2210.02410, §4.3",
)
def probability_product(probabilities: Any) -> Similarity:
    """Σ_y √(p(y|x) p(y|x')): the overlap (Bhattacharyya coefficient) of class probabilities.

    Parameters
    ----------
    probabilities : array (n, classes)
        Rows of at least 0 that sum to 1, dense (NumPy, torch) or sparse.

    Raises
    ------
    ValueError
        If a row has a negative entry or does not sum to 1; the message names it.
    """
    P = _check_probabilities(probabilities)
    X = P.sqrt() if sp.issparse(P) else namespace(P).sqrt(P)
    return FeatureSimilarity(X).normalized()  # rows sum to 1 only up to rounding


def mode_diversity(probabilities: Any, p: Any = None) -> Any:
    """exp H(Σ_i p_i p(y|x_i)): how many modes (classes) a classifier finds in the samples.

    It is the perplexity of the mean prediction, and equals the Vendi Score of "labels" where
    every prediction is certain.

    Parameters
    ----------
    probabilities : array (n, classes)
        Rows of at least 0 that sum to 1, dense (NumPy, torch) or sparse. Not changed.
    p : array (n,), optional
        Weights of the samples that sum to 1; uniform by default.

    Returns
    -------
    float between 1 and the number of classes (a 0-d tensor for torch input)

    Raises
    ------
    ValueError
        If a row, or p, has a negative entry or does not sum to 1.

    References
    ----------
    Friedman & Dieng, TMLR 2023, arXiv 2210.02410, §4.3.

    Examples
    --------
    >>> mode_diversity([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    2.0
    """
    P = _check_probabilities(probabilities)
    n = P.shape[0]
    weights = check_weights(np.full(n, 1 / n) if p is None else p, n)
    if sp.issparse(P):
        mean = P.T @ weights
    else:
        xp = namespace(P)
        mean = xp.astype(P, xp.float64).T @ xp.asarray(weights, dtype=xp.float64)
    return effective_number(mean / mean.sum(), 1.0)


def _check_probabilities(probabilities: Any) -> Array:
    P = as_matrix(probabilities, "probabilities")
    lowest = P.min(axis=1).toarray().ravel() if sp.issparse(P) else namespace(P).min(P, axis=1)
    sums = np.asarray(P.sum(axis=1)).ravel() if sp.issparse(P) else namespace(P).sum(P, axis=1)
    xp = namespace(sums)
    bad = (lowest < 0) | (xp.abs(sums - 1) > SUM_TOLERANCE)
    if bool(xp.any(bad)):
        i = int(xp.argmax(xp.astype(bad, xp.int8)))
        found = (
            f"a minimum of {scalar(lowest[i]):.6g}"
            if scalar(lowest[i]) < 0
            else f"a sum of {scalar(sums[i]):.6g}"
        )
        raise ValueError(
            f"`probabilities` must be rows of at least 0 that sum to 1, got {found} in row {i}; "
            f"pass the softmax of logits, or divide each row by its sum"
        )
    return P


def _check_present(i: int, value: Any) -> None:
    try:
        missing = value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal nor unequal to itself
        missing = True
    if missing:
        raise SampleError(i, f"has a missing label: {value!r}; remove it, or name it 'unknown'")


def _indicators(rows: Sequence[Sequence[Hashable]]) -> sp.csr_array:
    """One column for each label, in order of appearance: CSR (rows, labels), float64."""
    columns: dict[Hashable, int] = {}
    indices = [columns.setdefault(value, len(columns)) for row in rows for value in row]
    starts = np.cumsum([0, *map(len, rows)])
    return sp.csr_array((np.ones(len(indices)), indices, starts), (len(rows), len(columns)))
