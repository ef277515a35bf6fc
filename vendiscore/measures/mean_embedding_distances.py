"""Distances between the mean embeddings of two sets in the feature space of a kernel."""

from functools import partial

import numpy as np

from ..magnitude.metric_space_builder import check_widths
from ..similarity import sparse as sp
from ..similarity.distance_matrix import as_numpy_rows
from ..support.arguments import check_bool
from ..support.namespace import Array, asarray_like, is_torch, row_blocks, to_float, to_host
from ..support.types import Number, Rows
from .measure import RANGE_ROUNDING, register_measure
from .sample_set import SampleSet, as_numeric_rows, check_features, drop_empty_columns


@register_measure(
    "MMD",
    needs="similarity",
    range="[−2, 4]",
    direction="lower",
    source="Gretton et al., JMLR 2012, equation 5; Lemma 6 with `unbiased`",
    readers={"unbiased": partial(check_bool, "unbiased")},
    aspect="likeness",
    pooled=True,
)
def maximum_mean_discrepancy(sample_set: SampleSet, unbiased: bool = False) -> Number:
    """The squared maximum mean discrepancy under the kernel: ‖mean of φ(x) − mean of φ(y)‖².

    φ maps samples x and references y to the feature space of the kernel. The value is between 0
    (identical sets) and 4. `unbiased=True` computes the U-statistic, which omits the similarity of
    each sample to itself. The expected value of the U-statistic is 0 for two sets from the same
    distribution, so about half of its values are negative. Its minimum is −1/(n−1) − 1/(m−1) for n
    samples and m references.
    """
    n, m = sample_set.both.sizes
    K = sample_set.both.similarity
    diagonal = K.diagonal()
    weights = np.zeros((n + m, 2))  # one column for each set
    weights[:n, 0] = 1 / n
    weights[n:, 1] = 1 / m
    set_weights = asarray_like(weights, diagonal)
    # Mean similarities (2, 2) within and between the sets, including pairs of a sample with itself.
    means = set_weights.T @ K.matmul(set_weights)
    sample_mean = means[0, 0]
    reference_mean = means[1, 1]
    if unbiased:
        _check_two_samples("MMD", n, m, "omit `unbiased`, or pass larger sets")
        sample_mean = _exclude_self_pairs(sample_mean, diagonal[:n])
        reference_mean = _exclude_self_pairs(reference_mean, diagonal[n:])
    value = sample_mean + reference_mean - 2 * means[0, 1]
    if unbiased or is_torch(value):
        return value  # an unbiased value may be negative, and a tensor keeps its gradient
    if to_float(value) < -RANGE_ROUNDING - 4 * K.roundoff:
        raise ValueError(
            f"MMD must be at least 0, got {to_float(value):.6g}, so the kernel is not positive "
            f"semidefinite; use another kernel, or remove 'MMD' from `measures`"
        )
    return max(float(value), 0.0)


def _exclude_self_pairs(mean: Number, diagonal: Array) -> Number:
    """Compute the mean similarity of two different samples of a set.

    `mean` is the mean of all n² entries of the similarity matrix of the n samples, and `diagonal`
    contains the similarities of the samples to themselves.
    """
    n = len(diagonal)
    return (n * n * mean - diagonal.sum()) / (n * (n - 1))


@register_measure(
    "KID",
    needs="features",
    range="(−∞, ∞)",
    direction="lower",
    source="Bińkowski et al., ICLR 2018, arXiv 1801.01401",
    aspect="likeness",
    pooled=True,
)
def kernel_inception_distance(sample_set: SampleSet) -> float:
    """The kernel inception distance: unbiased squared MMD under (x·y/d + 1)³ of raw features.

    x and y are the features of two samples, d is the number of features, and MMD is the maximum
    mean discrepancy. Features are the samples if these are numeric, otherwise the features of the
    kernel before normalization. N-gram kernels are not supported. Other programs compute the mean
    over random subsets, which is a noisier estimate. The scale of the values depends on the
    features of the encoder.
    """
    X, Y = _compute_raw_features(sample_set)
    n = X.shape[0]
    m = Y.shape[0]
    _check_two_samples("KID", n, m, "pass larger sets")
    sample_mean = _sum_cubic_kernel(X, X, exclude_diagonal=True) / (n * (n - 1))
    reference_mean = _sum_cubic_kernel(Y, Y, exclude_diagonal=True) / (m * (m - 1))
    return sample_mean + reference_mean - 2 * _sum_cubic_kernel(X, Y) / (n * m)


def _compute_raw_features(sample_set: SampleSet) -> list[Rows]:
    """Return the features of the samples and of the references, (n, d) and (m, d).

    They are the samples and references themselves if these are numeric rows, otherwise the features
    of the kernel before normalization.
    """
    rows = [as_numeric_rows(samples, sample_set.spec) for samples in sample_set.sets]
    is_numeric = not any(X is None for X in rows)
    if is_numeric and not (sample_set.spec.drop_unusable and sample_set.both.similarity.dropped):
        rows = list(map(_as_double_rows, rows, sample_set.names))
        check_widths(rows, sample_set.names)
        return rows
    K = sample_set.both.similarity
    n = sample_set.both.sizes[0]
    check_features(K)
    # A RepeatedSimilarity stores the features of distinct samples, and in `inverse` the position of
    # each sample among them.
    stored = getattr(K, "distinct", K)
    F = stored.bare().features()  # `bare` removes the normalization
    if not sp.issparse(F):
        F = to_host(F)
    if stored is not K:
        F = F[K.inverse]  # type: ignore[attr-defined]
    F = drop_empty_columns(F, K)
    return [F[:n], F[n:]]


def _as_double_rows(X: Rows, name: str) -> Rows:
    """Convert rows to double precision; sparse rows stay sparse.

    `name` is the argument with the rows, for error messages.
    """
    rows = X if sp.issparse(X) else as_numpy_rows(X, name)
    return rows.astype(np.float64, copy=False)


def _sum_cubic_kernel(A: Rows, B: Rows, *, exclude_diagonal: bool = False) -> float:
    """Compute Σ (a·b/d + 1)³ over all pairs of a row a of A and a row b of B, both of length d.

    If `exclude_diagonal`, pairs of rows with the same index in A and B are omitted.
    """
    total = 0.0
    for block in row_blocks(A.shape[0], 8 * B.shape[0]):
        bases = A[block] @ B.T  # the dot products a·b, later a·b/d + 1
        if sp.issparse(bases):
            bases = bases.toarray()
        bases = bases / A.shape[1] + 1
        if exclude_diagonal:
            bases[np.arange(len(bases)), np.arange(block.start, block.stop)] = 0.0
        total += float((bases * bases * bases).sum())
    return total


def _check_two_samples(name: str, n: int, m: int, hint: str) -> None:
    """Raise a ValueError unless there are at least two of the n samples and of the m references.

    `name` is the measure that requires them, and `hint` the end of the message.
    """
    if min(n, m) < 2:
        raise ValueError(
            f"{name} requires at least 2 samples and 2 references, got {n} and {m}; {hint}"
        )
