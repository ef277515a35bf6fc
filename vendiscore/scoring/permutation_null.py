"""Values of BetweenVS under random permutations of the group labels.

BetweenVS, the effective number of distinct groups, is the Vendi Score of all samples divided by the
mean within-group diversity.
"""

import math
from collections.abc import Sequence

import numpy as np

from ..core.hill import log_power_mean
from ..measures.measure import BETWEEN
from ..measures.sample_set import SampleSet
from ..measures.stacked_groups import MAX_STACKED_SIZE
from ..similarity.base import Similarity
from ..similarity.group_indices import iter_groups_by_size
from ..similarity.matrix import materialize_matrix
from ..spectral.stacked_spectra import StackedSpectra
from ..spectral.vendi_scores import compute_vendi_scores
from ..support.namespace import row_blocks, to_float, to_host
from ..support.types import Record
from .intervals import Uncertainty
from .score_request import ScoreRequest

# Minimum and maximum number of permutations if `permutations` is not passed.
MIN_PERMUTATIONS = 2
MAX_PERMUTATIONS = 20
# Largest difference of two values of BetweenVS, relative to their size, that may be a rounding
# error. A permuted value that is smaller than BetweenVS by at most this counts as equal.
_ROUNDING_TOLERANCE = 1e-9


def add_null_values(
    sample_set: SampleSet,
    request: ScoreRequest,
    scores: Sequence[Record],
    uncertainty: Uncertainty,
) -> None:
    """Add the null value and excess of BetweenVS to `uncertainty`, and p-values if requested.

    For each order, the null value is the mean of BetweenVS over random permutations of the group
    labels, and the excess is BetweenVS minus the null value. p-values are added if `permutations`
    of the request is positive. `scores` contains, for each measure of the request, its values by
    result key.
    """
    between_scores = scores[request.names.index(BETWEEN)]  # one value per order
    n_permutations = request.permutations or _choose_n_permutations(sample_set)
    permuted = compute_permuted_scores(sample_set, n_permutations)  # (orders, permutations)
    for i, (key, value) in enumerate(between_scores.items()):
        null = float(permuted[i].mean())
        statistics: Record = {"null": null, "excess": value - null}
        if request.permutations:
            threshold = to_float(value) - _ROUNDING_TOLERANCE * max(1.0, abs(null))
            n_extreme = (permuted[i] >= threshold).sum()
            statistics["p"] = float(1 + n_extreme) / (1 + n_permutations)
        if float(np.ptp(permuted[i])) < _ROUNDING_TOLERANCE:
            uncertainty.notes.append(
                f"No permutation of the group labels changes {key}, so groups of these sizes "
                f"cannot be compared."
            )
        uncertainty.statistics.setdefault(key, {}).update(statistics)
    key = next(iter(between_scores))  # key of the first order
    min_p = ""
    if request.permutations:
        min_p = f" {key}_p is at least {1 / (1 + n_permutations):.2g}."
    uncertainty.notes.append(
        f"{key}_null is the mean of {key} over {n_permutations} random permutations of the group "
        f"labels. {key}_excess is {key} minus {key}_null.{min_p}"
    )


def _choose_n_permutations(sample_set: SampleSet) -> int:
    """Return the default number of permutations.

    A Vendi Score of n samples takes time O(n³). The number is chosen such that the scores of all
    groups under all permutations take about twice as long as the score of all samples together. It
    is then limited to the range from `MIN_PERMUTATIONS` to `MAX_PERMUTATIONS`.
    """
    sizes = count_group_sizes(sample_set).astype(float)
    return int(np.clip(2 * sizes.sum() ** 3 / (sizes**3).sum(), MIN_PERMUTATIONS, MAX_PERMUTATIONS))


def compute_permuted_scores(sample_set: SampleSet, n_permutations: int) -> np.ndarray:
    """Return BetweenVS for each order and each random permutation, (orders, permutations).

    BetweenVS is the Vendi Score of all samples divided by the mean within-group diversity, the
    power mean of the Vendi Scores of the groups. Permutations of the group labels do not change
    group sizes. Samples with weight 0 are excluded.
    """
    rng = np.random.default_rng(0)
    p = None if sample_set.p is None else to_host(sample_set.p)
    included = np.arange(sample_set.n) if p is None else np.flatnonzero(p > 0)
    # After a permutation of the samples, the first belong to the first group, and so on.
    permuted = np.array([rng.permutation(included) for _ in range(n_permutations)])
    sizes = count_group_sizes(sample_set)
    K = materialize_matrix(sample_set.similarity.in_numpy(), sample_set.n)
    group_weights = np.tile(sizes.astype(float), (n_permutations, 1))
    logs = np.empty((len(sample_set.orders), *group_weights.shape))
    # Groups of equal size m are scored together; `positions` has shape (groups, m).
    for groups, positions in iter_groups_by_size(np.repeat(np.arange(len(sizes)), sizes)):
        members = permuted[:, positions]  # shape (permutations, groups, m)
        if p is not None:
            group_weights[:, groups] = p[members].sum(axis=-1)
        scores = _compute_log_scores(K, sample_set, members.reshape(-1, positions.shape[1]), p)
        logs[:, :, groups] = scores.reshape(-1, *members.shape[:2])
    within_logs = [
        _compute_log_within_group_diversity(group_weights, logs[i], q)
        for i, q in enumerate(sample_set.orders)
    ]
    total_scores = np.array([to_float(value) for value in sample_set.spectral.values])
    return total_scores[:, None] / np.exp(within_logs)


def count_group_sizes(sample_set: SampleSet) -> np.ndarray:
    """Return the number of samples with positive weight in each group; omit groups without one."""
    codes = sample_set.codes
    if sample_set.p is not None:
        codes = codes[to_host(sample_set.p) > 0]
    sizes = np.bincount(codes)
    return sizes[sizes > 0]


def _compute_log_scores(
    K: Similarity, sample_set: SampleSet, members: np.ndarray, p: np.ndarray | None
) -> np.ndarray:
    """Return log VS for each order and set of samples, (orders, sets).

    `members`, shape (sets, m), contains the indices of the m samples of each set. K is the
    similarity of all samples of `sample_set`, and `p` contains their weights, or is None.
    """
    n_sets, m = members.shape
    orders = sample_set.orders
    psd = sample_set.psd
    logs: list[np.ndarray] = []
    if m <= MAX_STACKED_SIZE:
        for batch in row_blocks(n_sets, 8 * m * max(m, K.dim or 0), min_rows=1):
            batch_members = members[batch]
            weights = _normalize_weights(p, batch_members)
            spectra = StackedSpectra(
                to_host(K.stack(batch_members)), weights, orders, psd, vectors=False, similarity=K
            )
            logs.append(np.log(spectra.values))
        return np.concatenate(logs, axis=1)
    for indices in members:
        weights = _normalize_weights(p, indices)
        scores = compute_vendi_scores(K.take(indices), orders, weights, psd, allow_single=False)
        logs.append(np.log(scores.values))
    return np.array(logs).T


def _normalize_weights(p: np.ndarray | None, members: np.ndarray) -> np.ndarray | None:
    """Return the weights of the samples of each set, normalized to sum to 1; None if p is None.

    `members` (…, m) contains the indices of the m samples of each set in p, the weights of all
    samples.
    """
    return None if p is None else p[members] / p[members].sum(axis=-1, keepdims=True)


def _compute_log_within_group_diversity(
    weights: np.ndarray, logs: np.ndarray, q: float
) -> np.ndarray:
    """Return the logarithm of the mean within-group diversity of g groups, shape (…).

    `weights` and `logs`, both of shape (…, g), are the weight and log VS_q of each group. The mean
    is the power mean of VS_q with exponent 1 − q and weights proportional to weight^q.
    """
    if math.isinf(q):  # the limit of the expression below
        log_weights = np.log(weights)
        return log_weights.max(-1) - (log_weights - logs).max(-1)
    powers = (weights / weights.max(-1, keepdims=True)) ** q
    # For p_i proportional to weight_i^q: log(Σ p_i VS_i^(1 − q))/(1 − q).
    return log_power_mean(powers / powers.sum(-1, keepdims=True), -logs, q)
