"""Comparison of two sets in single groups, such as the answers of two models to one prompt.

Intervals of scores are those of `scoring.group_intervals`. How often the samples of a set recur is
estimated from all its groups if there are at least six, otherwise from the single group.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ...scoring.group_intervals import Tails, estimate_several_intervals
from ...similarity.base import Similarity
from .compare_options import CompareOptions
from .comparison import GroupPairRow
from .pair_inference import difference_level, estimate_difference
from .paired_comparison import GroupIndices, common_size


def compare_in_groups(
    similarity: Similarity,
    groups: GroupIndices,
    labels: Sequence[Hashable],
    names: Sequence[str],
    set_pairs: Sequence[tuple[int, int]],
    options: CompareOptions,
) -> tuple[list[GroupPairRow], int]:
    """Compare pairs of sets in each group, at the size of the smallest set in the group.

    Of larger sets, only the first samples are used. `groups[k][i]` are the sample indices of set i
    in group k, `labels` are the group labels, and `names` the set names. `set_pairs` are pairs of
    positions in `names`. Return one row per pair and group, and the number of groups from which
    recurrences were estimated, 0 if only from the single group.
    """
    sizes = list(map(common_size, groups))
    level = difference_level(options.level, len(set_pairs))
    # Verdicts depend on one end of the interval of a difference, so both tails are conservative.
    tails_by_use = [Tails(options.level), Tails(level, conservative=True)]
    intervals_by_set = []
    # For each set, the position of each group among those in which it has samples.
    positions_by_set: list[dict[int, int]] = []
    for i in range(len(names)):
        present = [k for k, group in enumerate(groups) if len(group[i])]
        positions_by_set.append({k: position for position, k in enumerate(present)})
        indices = [groups[k][i][: sizes[k]] for k in present]
        intervals_by_set.append(
            estimate_several_intervals(
                similarity, indices, [options.q], tails_by_use, options.psd, options.pool_repeats
            )
        )
    rows = []
    for i, j in set_pairs:
        for k, (label, size) in enumerate(zip(labels, sizes, strict=True)):
            if any(k not in positions_by_set[s] for s in (i, j)):
                continue
            (a, exact_a), (b, exact_b) = (
                [(x.score[0, at], x.low[0, at], x.high[0, at]) for x in intervals_by_set[s]]
                for s, at in ((s, positions_by_set[s][k]) for s in (i, j))
            )
            values = (*a, *b, *estimate_difference(exact_a, exact_b), level)
            rows.append(GroupPairRow(label, names[i], names[j], size, *map(float, values)))
    return rows, max(intervals.n_pooled for intervals, _ in intervals_by_set)
