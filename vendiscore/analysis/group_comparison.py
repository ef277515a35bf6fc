"""Two sets compared in each group, such as the answers of two models to each prompt.

Each score has the interval of `scoring.group_intervals`: from six groups on, how often samples of a
set repeat is estimated from all groups of this set.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from ..scoring.group_intervals import GroupIntervals, estimate_group_intervals
from ..similarity.base import Similarity
from .compare_options import CompareOptions
from .comparison import GroupPairRow
from .pair_inference import difference_level, estimate_difference
from .paired_comparison import Groups, shuffle_larger_sets


def compare_in_groups(
    similarity: Similarity,
    groups: Groups,
    labels: Sequence[Hashable],
    names: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    options: CompareOptions,
) -> tuple[list[GroupPairRow], int]:
    """Compare each pair of sets in each group.

    Return a row for each pair and group, and the number of groups from which repeats were
    estimated, 0 where each group has intervals by itself.
    """
    # The samples are those of the mean over groups.
    groups = shuffle_larger_sets(groups, np.random.default_rng(options.seed))
    sizes = [min(map(len, group)) for group in groups]
    level = difference_level(options.level, len(pairs))
    of_sets: list[tuple[GroupIntervals, GroupIntervals]] = []
    for i in range(len(names)):
        indices = [group[i][:size] for group, size in zip(groups, sizes, strict=True)]

        def estimate(level: float, exact: bool, indices: list[np.ndarray]) -> GroupIntervals:
            return estimate_group_intervals(
                similarity, indices, [options.q], level, options.psd, options.pool_repeats, exact
            )

        # Neither tail of a difference may exceed its level.
        own = estimate(options.level, False, indices)
        of_sets.append((own, estimate(level, True, indices)))
    rows = []
    for i, j in pairs:
        for k, (label, size) in enumerate(zip(labels, sizes, strict=True)):
            (a, exact_a), (b, exact_b) = (
                [(x.score[0, k], x.low[0, k], x.high[0, k]) for x in of_sets[s]] for s in (i, j)
            )
            difference = estimate_difference(exact_a, exact_b)
            values = (*a, *b, *difference)
            rows.append(GroupPairRow(label, names[i], names[j], size, *map(float, values)))
    pooled = max((own.pooled for own, _ in of_sets), default=0)
    return rows, pooled
