"""Kernels on metadata of samples: class labels, tags and class probabilities."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from ..resolve.kernel import register_kernel
from ..resolve.sample_labels import is_hashable, is_missing
from ..similarity import sparse as sp
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity
from ..similarity.group_indices import factorize
from ..similarity.sample_arrays import as_matrix, machine_epsilon
from ..similarity.shapes import check_label_shape
from ..support.errors import SampleError, short_repr
from ..support.namespace import is_torch, namespace, scale_rows, to_float
from ..support.types import Rows

# Tolerance for the sum of probabilities, sufficient for a softmax over many classes in single
# precision. Lower precisions get a multiple of their machine epsilon.
SUM_TOLERANCE = 1e-4
SUM_ROUNDING = 2


@register_kernel("labels", samples="labels", source="Friedman & Dieng, arXiv 2210.02410")
def labels(values: Sequence[object]) -> Similarity:
    """1 if two labels are equal, 0 otherwise.

    The Vendi Score of order q is then the Hill number of the class proportions.

    Parameters
    ----------
    values : sequence of hashable
        One label per sample, such as a string or a number. Labels are compared with ``==``; 1, 1.0
        and True are the same label.

    Raises
    ------
    SampleError
        If labels are missing (None, NaN) or not hashable.
    """
    check_label_shape(values, "samples")
    values = values.tolist() if hasattr(values, "tolist") else values
    SampleError.check(
        {
            i: problem
            for i, value in enumerate(values)
            if (problem := _describe_label_problem(value))
        }
    )
    return FeatureSimilarity(_build_indicator_matrix([[value] for value in values]))


@register_kernel("tags", samples="sets of labels", source="Salton & McGill 1983 (cosine)")
def tags(sets: Sequence[Iterable[object]]) -> Similarity:
    """|A ∩ B| / √(|A| |B|): the cosine of the indicator vectors of two sets of labels.

    Parameters
    ----------
    sets : sequence of iterables of hashable
        One set of labels per sample; repeated labels are ignored.

    Raises
    ------
    SampleError
        If a set is empty or a single string, or a label is missing or not hashable.
    TypeError
        If `sets` is a matrix, such as one of indicator vectors.
    """
    if hasattr(sets, "shape") and len(sets.shape) > 1:
        raise TypeError(
            f"kernel 'tags' requires a list of sets of labels, got an array of shape "
            f"{tuple(sets.shape)}; for indicator vectors, use k='cosine'"
        )
    parsed = [_parse_tag_set(tag_set) for tag_set in sets]
    SampleError.check({i: problem for i, (_, problem) in enumerate(parsed) if problem})
    rows = [row for row, _ in parsed]
    sizes = np.array([len(row) for row in rows])
    return FeatureSimilarity(scale_rows(_build_indicator_matrix(rows), 1 / np.sqrt(sizes)))


def _parse_tag_set(tag_set: object) -> tuple[list[Hashable], str]:
    """Return the distinct labels of a set, and "" or a description of why the set is invalid."""
    if isinstance(tag_set, (str, bytes, Mapping)) or not isinstance(tag_set, Iterable):
        return (
            [],
            f"must be a set of labels, got {type(tag_set).__name__}: {short_repr(tag_set)}; pass a "
            f"list of labels",
        )
    row = tag_set.tolist() if hasattr(tag_set, "tolist") else list(tag_set)
    if not isinstance(row, list) or not row:
        return [], "is an empty set of labels; remove it, or add a label such as 'none'"
    for value in row:
        if problem := _describe_label_problem(value):
            return [], problem
    return list(dict.fromkeys(row)), ""


@register_kernel(
    "probability_product",
    samples="class probabilities",
    source="Jebara, Kondor & Howard, JMLR 2004; Friedman & Dieng, arXiv 2210.02410, §4.3",
)
def probability_product(probabilities: object) -> Similarity:
    """Σ_y √(p(y|x) p(y|x')): the overlap (Bhattacharyya coefficient) of class probabilities.

    Parameters
    ----------
    probabilities : array of shape (n, n_classes)
        One row p(y|x) per sample x with the probabilities of the classes y, which are at least 0
        and sum to 1. Dense or sparse.

    Raises
    ------
    SampleError
        If rows have negative entries or do not sum to 1.
    """
    tolerance = max(SUM_TOLERANCE, SUM_ROUNDING * machine_epsilon(probabilities))
    describe_improper_rows = partial(_describe_improper_rows, tolerance=tolerance)
    P = as_matrix(probabilities, "probabilities", describe_improper_rows)
    SampleError.check(describe_improper_rows(P))
    if is_torch(P):
        # The derivative of √p at 0 is infinite, so p = 0 (also a softmax that underflows) is
        # replaced by 1 before the root, which gives it a gradient of 0.
        xp = namespace(P)
        X = xp.where(P > 0, xp.sqrt(xp.where(P > 0, P, xp.ones_like(P))), xp.zeros_like(P))
    else:
        X = P.sqrt() if sp.issparse(P) else np.sqrt(P)
    return FeatureSimilarity(X).normalized()  # rows sum to 1 only up to rounding


def _describe_improper_rows(P: Rows, tolerance: float) -> dict[int, str]:
    """Describe the rows of P that are not probabilities, by row index.

    Probabilities are at least 0, and their sum differs from 1 by at most `tolerance`.
    """
    xp = np if sp.issparse(P) else namespace(P)
    if sp.issparse(P):
        lowest = P.min(axis=1).toarray().ravel()
        sums = np.asarray(P.sum(axis=1)).ravel()
    else:
        with np.errstate(over="ignore"):  # an infinite sum is improper
            lowest = xp.min(P, axis=1)
            sums = xp.sum(P, axis=1)
    is_improper = (lowest < 0) | ~(xp.abs(sums - 1) <= tolerance)
    problems = {}
    if bool(xp.any(is_improper)):
        for i in map(int, np.flatnonzero(is_improper.tolist())):
            low = to_float(lowest[i])
            value = f"a minimum of {low:.6g}" if low < 0 else f"a sum of {to_float(sums[i]):.6g}"
            problems[i] = (
                f"of `probabilities` must be at least 0 and sum to 1, got {value}; pass the "
                f"softmax of logits, or divide each row by its sum"
            )
    return problems


def _describe_label_problem(value: object) -> str:
    """Return a description of why a label is invalid, or "" if it is valid."""
    if not is_hashable(value):
        type_name = type(value).__name__
        return (
            f"has a label that is not hashable, {type_name}: {short_repr(value)}; for sets of "
            "labels, use k='tags'"
        )
    if is_missing(value):
        return f"has a missing label: {value!r}; remove it, or use a label such as 'unknown'"
    return ""


def _build_indicator_matrix(rows: Sequence[Sequence[Hashable]]) -> sp.csr_array:
    """Return a CSR matrix with one row per set of labels and one column per distinct label.

    An entry is 1 if the label is in the set. `rows` contains the distinct labels of each set.
    """
    columns, indices = factorize([value for row in rows for value in row])
    starts = np.cumsum([0, *map(len, rows)])
    return sp.csr_array((np.ones(len(indices)), indices, starts), (len(rows), len(columns)))
