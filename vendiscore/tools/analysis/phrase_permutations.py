"""A permutation test of the difference between the costs of phrases in two sets of texts."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from ...support.memory import require
from .rewritten_texts import RewrittenSets

_TOLERANCE = 1e-9  # statistics that differ by less are equal except for rounding


def permutation_p_values(
    sets: RewrittenSets,
    positions: Sequence[tuple[np.ndarray, np.ndarray]],
    permutations: int,
    rng: np.random.Generator,
) -> Generator[int, None, tuple[np.ndarray, np.ndarray]]:
    """Test whether phrases cost set A more than set B; yield the number of phrases so far.

    The cost of a phrase is the increase of VS at order 2 if the phrase is rewritten, averaged over
    `sets`. The test statistic is the cost in A minus the cost in B, divided by the standard
    deviation of this difference over all permutations.

    In each of `sets`, the first half of the texts belongs to A and the second half to B.
    `positions` contains, for each phrase, the positions of tokens that are replaced before and
    after it is rewritten. Labels are permuted within each of `sets`. Return p-values, adjusted by
    the maximum statistic, and the statistics of the observed labels.
    """
    sizes = [len(indices) for indices in sets.sets]
    n_rows = permutations + 1
    require(10 * n_rows * max(sizes) + n_rows * sum(sizes), "permutations", "pass fewer texts")
    # For each set, which texts belong to A, for the observed labels and each permutation.
    in_a = []
    for size in sizes:
        labels = np.tile(np.arange(size) < size // 2, (n_rows, 1))
        labels[1:] = rng.permuted(labels[1:], axis=1)
        in_a.append(labels)
    # Sums of squared similarities within A and B, shape (n_sets, 2, permutations + 1).
    sums = np.empty((len(sizes), 2, n_rows))
    for code, K in sets.iter_squared_similarities():
        for side, members in enumerate(_split_membership(in_a[code])):
            sums[code, side] = ((members @ K) * members).sum(axis=1)
    squared_halves = np.array([(size // 2) ** 2 for size in sizes])[:, None, None]
    differences = np.empty((len(positions), n_rows))
    for i, (before, after) in enumerate(positions):
        yield i
        sums_after = _replace_tokens(sets, after, sums, in_a)
        sums_before = _replace_tokens(sets, before, sums, in_a) if len(before) else sums
        # VS at order 2 of m texts is m² divided by the sum of squared similarities.
        costs = np.mean(squared_halves / sums_after - squared_halves / sums_before, axis=0)
        differences[i] = costs[0] - costs[1]
    return _compute_adjusted_p_values(differences)


def _split_membership(in_a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 for members and 0 for other texts, for set A and for set B."""
    members = in_a.astype(float)
    return members, 1 - members


def _replace_tokens(
    sets: RewrittenSets, positions: np.ndarray, sums: np.ndarray, in_a: Sequence[np.ndarray]
) -> np.ndarray:
    """Return the sums of squared similarities after the tokens at `positions` are replaced."""
    sums = sums.copy()
    for code, changed, differences in sets.iter_squared_changes(positions):
        # Pairs with an unchanged text occur twice in the sum, in a changed row and column.
        differences[:, changed] /= 2
        for side, members in enumerate(_split_membership(in_a[code])):
            products = members @ differences.T
            sums[code, side] += 2 * (products * members[:, changed]).sum(axis=1)
    return sums


def _compute_adjusted_p_values(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return p-values and observed statistics from differences (phrases, permutations + 1).

    The first column has the observed differences. Each phrase is divided by its standard deviation
    over all columns, which does not depend on the order of the columns.
    """
    if not len(differences):
        return np.zeros(0), np.zeros(0)
    spread = differences.std(axis=1, keepdims=True)
    has_spread = spread > _TOLERANCE
    statistics = np.where(has_spread, differences / np.where(has_spread, spread, 1), 0.0)
    largest = statistics.max(axis=0)
    p_values = np.mean(largest >= statistics[:, :1] - _TOLERANCE, axis=1)
    return p_values, statistics[:, 0]
