"""Measures of the average similarity between samples."""

import math
from functools import partial

import numpy as np

from ..core.hill import log_power_mean
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity
from ..support.errors import SampleError, warn
from ..support.namespace import Array, namespace, row_blocks, to_float, to_host
from ..support.types import Number
from .measure import RANGE_ROUNDING, register_measure
from .sample_set import SampleSet
from .stacked_groups import StackedGroups

_register = partial(register_measure, needs="similarity", stacks=True)

# Up to this number of samples, all similarities are checked for negative values.
MAX_EXHAUSTIVE_SAMPLES = 4096
# In larger sets, only this number of rows of the matrix is checked, because all rows would take
# much longer than LC itself (one product of the matrix with a vector).
N_CHECKED_ROWS = 256
_NEGATIVE_HINT = "use a kernel without negative values, such as k='rbf' for vectors"


@_register(
    "LC",
    range="[1, n]",
    source="Leinster & Cobbold, Ecology 2012",
    weighted=True,
    ordered=True,
)
def leinster_cobbold(sample_set: SampleSet | StackedGroups) -> list[Number]:
    """The Leinster–Cobbold diversity (Σ p_i (Kp)_i^{q−1})^{1/(1−q)} of non-negative similarities.

    K is the similarity matrix of n samples, p_i the weight of sample i (1/n by default), q the
    order, and (Kp)_i the mean similarity of sample i to all samples, weighted by p. The diversity
    is at most the Vendi Score of the same order if no similarity is negative. Negative similarities
    cause a warning, or an error if the value is not between 1 and n.
    """
    p, mean_similarities = sample_set.ordinariness
    xp = namespace(mean_similarities)
    # Powers and logarithms need positive mean similarities.
    is_invalid = (p > 0) & ~(mean_similarities > 0)
    if isinstance(sample_set, StackedGroups):
        # The caller evaluates groups that are marked as unusual again, one by one, which raises the
        # error below.
        sample_set.unusual |= to_host(is_invalid).any(axis=-1)
    else:
        indices = sample_set.retained_indices
        SampleError.check(
            {
                int(indices[i]): f"must have a positive mean similarity to all samples for LC, got "
                f"{to_float(mean_similarities[i]):.3g}; {_NEGATIVE_HINT}"
                for i in np.flatnonzero(is_invalid.tolist())
            }
        )
    # Samples of weight 0 do not contribute, also not to the maximum.
    largest = xp.max(xp.where(p > 0, mean_similarities, 0.0), axis=-1, keepdims=True)
    logs = xp.log(xp.where(p > 0, mean_similarities, largest))
    values = [
        # At order ∞, the diversity is the inverse of the largest mean similarity.
        1 / largest[..., 0] if math.isinf(q) else xp.exp(log_power_mean(p, logs, q))
        for q in sample_set.orders
    ]
    _check_negative_similarities(sample_set, p, values)
    return values


def _check_negative_similarities(
    sample_set: SampleSet | StackedGroups, p: Array, values: list[Number]
) -> None:
    """Warn about negative similarities; raise a ValueError if they move LC outside [1, n].

    LC is the Leinster–Cobbold diversity of n samples, and `values` contains its value for each
    order. Only samples of positive weight p are checked. Groups in StackedGroups with values
    outside [1, n] cause no error here, because they are computed again separately.
    """
    tolerance = RANGE_ROUNDING + 4 * sample_set.parent.roundoff
    n = sample_set.n
    scores = np.array([to_host(value) for value in values], dtype=float)
    # `scores` has shape (orders,) for a set, and (orders, g) for g stacked groups.
    is_outside = ~((scores >= 1 - tolerance) & (scores <= n * (1 + tolerance)))
    has_weight = to_host(p) > 0
    if isinstance(sample_set, StackedGroups):
        is_weighted_pair = has_weight[:, :, None] & has_weight[:, None, :]
        lowest_by_group = np.where(is_weighted_pair, to_host(sample_set.K), 0.0).min(axis=(1, 2))
        # Groups that are computed separately emit their own warning or error.
        is_final = ~(sample_set.unusual | is_outside.any(axis=0))
        lowest = float(lowest_by_group[is_final].min(initial=0.0))
    else:
        similarity = sample_set.similarity
        weighted_indices = np.flatnonzero(has_weight)
        if len(weighted_indices) < similarity.n:
            similarity = similarity.take(weighted_indices)
        lowest = compute_lowest_similarity(similarity)
    if lowest >= -tolerance:
        return
    problem = f"LC requires similarities of at least 0, got {lowest:.3g}"
    if not isinstance(sample_set, StackedGroups) and is_outside.any():
        raise ValueError(
            f"{problem}; the value of LC is {scores[is_outside][0]:.3g}, but must be between 1 "
            f"and {n}; {_NEGATIVE_HINT}"
        )
    warn(f"{problem}, so LC may be larger than the Vendi Score; {_NEGATIVE_HINT}")


def compute_lowest_similarity(similarity: Similarity) -> float:
    """Compute the lowest similarity, or return 0 if no similarity can be negative.

    For more than `MAX_EXHAUSTIVE_SAMPLES` samples, it is the lowest similarity in `N_CHECKED_ROWS`
    evenly spaced rows of the matrix.
    """
    if isinstance(similarity, FeatureSimilarity) and to_float(similarity.X.min()) >= 0:
        return 0.0  # dot products of non-negative features
    n = similarity.n
    if n <= MAX_EXHAUSTIVE_SAMPLES:
        return min(to_float(K.min()) for _, K in similarity.blocks())
    indices = np.linspace(0, n - 1, N_CHECKED_ROWS).astype(int)
    blocks = row_blocks(N_CHECKED_ROWS, 8 * n)
    return min(to_float(similarity.rows(indices[block]).min()) for block in blocks)


@_register(
    "IntDiv",
    range="[0, 1]",
    source="Polykovskiy et al., MOSES, Frontiers in Pharmacology 2020; arXiv 2210.02410, §4",
    weighted=True,
)
def internal_diversity(sample_set: SampleSet | StackedGroups) -> Number:
    """The mean of 1 − k(x, y) for two samples drawn at random with replacement, 1 − pᵀKp.

    K is the similarity matrix, and p are the weights of the samples, 1/n by default.
    """
    p, mean_similarities = sample_set.ordinariness
    return 1 - (p * mean_similarities).sum(-1)


@_register(
    "AvgSim",
    range="[−1, 1]",
    direction="lower",
    source="Limbeck et al., arXiv 2311.16054, C.1",
)
def average_similarity(sample_set: SampleSet | StackedGroups) -> Number:
    """The mean similarity of two different samples; 1 for a single sample."""
    n = sample_set.n
    p, mean_similarities = sample_set.ordinariness
    mean = (p * mean_similarities).sum(-1)
    if n == 1:
        return mean
    return (n * mean - 1) / (n - 1)  # without the n pairs of a sample with itself, k(x, x) = 1
