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

    Ranges from 0 (identical sets) to 4. `unbiased=True` computes the U-statistic, which omits the
    similarity of each sample to itself. Its expected value is 0 for two sets from the same
    distribution, so about half of these values are negative; the minimum is −1/(n−1) − 1/(m−1).
    """
    (n, m) = sample_set.both.sizes
    K = sample_set.both.similarity
    own = K.diagonal()
    halves = np.zeros((n + m, 2))
    halves[:n, 0] = 1 / n
    halves[n:, 1] = 1 / m
    V = asarray_like(halves, own)
    means = V.T @ K.matmul(V)  # mean similarities within and between the sets, including self-pairs
    of_samples = means[0, 0]
    of_references = means[1, 1]
    if unbiased:
        _check_two_samples("MMD", n, m, "leave `unbiased` out, or pass more")
        of_samples = _unbiased_mean(of_samples, own[:n])
        of_references = _unbiased_mean(of_references, own[n:])
    value = of_samples + of_references - 2 * means[0, 1]
    if unbiased or is_torch(value):
        return value
    if to_float(value) < -RANGE_ROUNDING - 4 * K.roundoff:
        raise ValueError(
            f"MMD came out as {to_float(value):.6g}, but is at least 0 for a positive semidefinite "
            "kernel; use another kernel, or leave it out of `measures`"
        )
    return max(float(value), 0.0)


def _unbiased_mean(mean: Number, diagonal: Array) -> Number:
    """Return the mean similarity of pairs of different samples, given the mean over all pairs."""
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

    Uses numeric samples as they are, otherwise the features of the kernel before normalization. For
    text, d is the number of words and phrases in both sets. The common mean over random subsets is
    a noisier estimate. The scale of the values depends on the features of the encoder.
    """
    X, Y = _raw_features(sample_set)
    n = X.shape[0]
    m = Y.shape[0]
    _check_two_samples("KID", n, m, "pass more")
    of_samples = _sum_of_cubes(X, X, exclude_diagonal=True) / (n * (n - 1))
    of_references = _sum_of_cubes(Y, Y, exclude_diagonal=True) / (m * (m - 1))
    return of_samples + of_references - 2 * _sum_of_cubes(X, Y) / (n * m)


def _raw_features(sample_set: SampleSet) -> list[Rows]:
    """Return the numeric rows of each set, or the features of the kernel before normalization."""
    rows = [as_numeric_rows(samples, sample_set.spec) for samples in sample_set.sets]
    passed = not any(X is None for X in rows)
    if passed and not (sample_set.spec.drop_unusable and sample_set.both.similarity.dropped):
        rows = list(map(_as_double_rows, rows, sample_set.names))
        check_widths(rows, sample_set.names)
        return rows
    K = sample_set.both.similarity
    n = sample_set.both.sizes[0]
    check_features(K)
    inner = getattr(K, "distinct", K)
    F = inner.bare().features()
    if not sp.issparse(F):
        F = to_host(F)
    if inner is not K:
        F = F[K.inverse]  # type: ignore[attr-defined]
    F = drop_empty_columns(F, K)
    return [F[:n], F[n:]]


def _as_double_rows(X: Rows, name: str) -> Rows:
    """Convert rows to double precision; sparse rows stay sparse."""
    rows = X if sp.issparse(X) else as_numpy_rows(X, name)
    return rows.astype(np.float64, copy=False)


def _sum_of_cubes(A: Rows, B: Rows, *, exclude_diagonal: bool = False) -> float:
    """Return Σ (a·b/d + 1)³ over pairs of rows, without i = j if `exclude_diagonal`."""
    total = 0.0
    for rows in row_blocks(A.shape[0], 8 * B.shape[0]):
        G = A[rows] @ B.T
        if sp.issparse(G):
            G = G.toarray()
        G = G / A.shape[1] + 1
        if exclude_diagonal:
            G[np.arange(len(G)), np.arange(rows.start, rows.stop)] = 0.0
        total += float((G * G * G).sum())
    return total


def _check_two_samples(name: str, n: int, m: int, hint: str) -> None:
    """Raise a ValueError unless both sets have at least two samples."""
    if min(n, m) < 2:
        raise ValueError(
            f"{name} needs 2 samples and 2 references at least, got {n} and {m}; {hint}"
        )
