"""Comparison of sets within groups, such as the answers to each prompt.

Each set has one score per group. Sets are compared by the mean of the differences over groups.
"""

import itertools
import math
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from functools import partial
from operator import add
from typing import TypeAlias

import numpy as np

from ...core.eigenvalues import PSD
from ...resolve.sample_labels import encode_labels
from ...scoring.subsampling import MIN_VALUES, bounded_mean_interval, compute_mean_and_error
from ...similarity.base import Similarity
from ...similarity.group_indices import group_indices, submatrices
from ...similarity.matrix import MatrixSimilarity
from ...spectral.stacked_spectra import StackedSpectra
from ...spectral.vendi_scores import compute_spectrum
from ...support.errors import short_repr, warn
from ...support.namespace import row_blocks, to_host
from ...support.progress import map_steps
from .additive_model import estimate_adjusted_means
from .compare_options import CompareOptions
from .comparison import PairRow, SetRow
from .detectable import estimate_paired_detectable
from .pair_inference import (
    can_sign_flips_reach,
    difference_level,
    estimate_paired_difference,
    estimate_paired_ratio,
    exact_p_value,
    permutation_test_steps,
    ratio_level,
    student_p_value,
    studentized_difference,
)

# For each group and set, the indices of the samples.
GroupIndices: TypeAlias = Sequence[Sequence[np.ndarray]]

# Positions of g groups with equal sizes of sets, the similarity matrices of their N samples, shape
# (g, N, N), the size of each set, and the common sample size.
GroupStack: TypeAlias = tuple[np.ndarray, np.ndarray, list[int], int]

_MAX_ENUMERATED_GROUPS = 11  # maximum number of groups for which all signs are enumerated


def match_groups(
    labels: Sequence[Hashable],
    set_codes: np.ndarray,
    names: Sequence[str],
    argument: str,
    allow_missing: bool = False,
    report: Callable[[str], None] = warn,
) -> GroupIndices:
    """Return the sample indices by group and set; groups are in order of first appearance.

    `labels` and `set_codes`, shape (n,), are the group labels and sets of the samples. A group
    needs at least two samples of each set. Otherwise an error is raised if `argument` is
    "groups"; if it is "prompts", the group is dropped with a warning.

    With `allow_missing`, a group needs at least two samples of two sets, and is dropped with a
    warning otherwise. The indices of sets with fewer than two samples in a group are empty.

    `report` is called with the message of each warning.
    """
    order = np.argsort(set_codes, kind="stable")
    groups = encode_labels([labels[i] for i in order])
    counts = np.zeros((len(groups), len(names)), dtype=int)
    np.add.at(counts, (groups.codes, set_codes[order]), 1)
    is_present = counts >= 2
    is_used = is_present.sum(axis=1) >= 2 if allow_missing else is_present.all(axis=1)
    if argument == "groups" and not allow_missing and not is_used.all():
        code, i = np.argwhere(counts < 2)[0]
        raise ValueError(
            f"`groups` must have at least two samples of each set in each group, got "
            f"{counts[code, i]} of `{names[i]}` in group {short_repr(groups.labels[code])}; remove "
            f"this group from all sets, or omit `groups`"
        )
    dropped = np.flatnonzero(~is_used)
    n_groups = np.count_nonzero(is_used)
    several = allow_missing and len(names) > 2
    if n_groups < 2:
        sets = "two sets" if several else "each set"
        condition = f" with at least two samples of {sets}" if len(dropped) else ""
        raise ValueError(
            f"`{argument}` must have at least two different labels{condition}, got {n_groups}; "
            f"omit `{argument}`"
        )
    if len(dropped):
        reason = "that a set answers fewer than two times"
        if several:
            reason = "that fewer than two sets answer at least two times"
        report(
            f"dropped {len(dropped)} of {len(groups)} {argument} {reason}, such as "
            f"{short_repr(groups.labels[dropped[0]])}"
        )
    members = group_indices(groups.codes)
    matched = []
    for code in np.flatnonzero(is_used):
        indices = np.split(order[members[code]], np.cumsum(counts[code])[:-1])
        matched.append([x if len(x) >= 2 else x[:0] for x in indices])
    used_labels = [groups.labels[i] for i in np.flatnonzero(is_used)]
    _report_missing(matched, names, used_labels, report)
    return matched


def _report_missing(
    groups: GroupIndices,
    names: Sequence[str],
    labels: Sequence[Hashable],
    report: Callable[[str], None],
) -> None:
    """Report that sets have no samples in some groups, if so, and how they are compared."""
    missing = [
        (i, code) for code, group in enumerate(groups) for i, x in enumerate(group) if not len(x)
    ]
    if missing:
        i, code = missing[0]
        report(
            f"{len(missing)} of {len(groups) * len(names)} cells (set × prompt) are missing, such "
            f"as `{names[i]}` in {short_repr(labels[code])}; scores are adjusted by the additive "
            f"model log VS = set + prompt"
        )


def count_missing_cells(groups: GroupIndices) -> int:
    """Return the number of combinations of a group and a set without samples."""
    return sum(not len(indices) for group in groups for indices in group)


def common_size(group: Sequence[np.ndarray]) -> int:
    """Return the size of the smallest set with samples in a group."""
    return min(len(indices) for indices in group if len(indices))


def needs_random_permutations(groups: GroupIndices, options: CompareOptions, n_pairs: int) -> bool:
    """Return whether p-values of sets that are compared within groups need random permutations.

    They do not with missing cells, with enumerated signs, or with Student's t-test.
    """
    if count_missing_cells(groups):
        return False
    level = difference_level(options.level, n_pairs)
    return options.effects == "fixed" or (
        len(groups) > _MAX_ENUMERATED_GROUPS and can_sign_flips_reach(level, len(groups))
    )


def paired_comparison_steps(
    similarity: Similarity,
    groups: GroupIndices,
    names: Sequence[str],
    set_pairs: Sequence[tuple[int, int]],
    options: CompareOptions,
    rng: np.random.Generator,
) -> Generator[int, None, tuple[list[SetRow], list[PairRow]]]:
    """Compare sets within groups; yield the number of permutations so far.

    Of sets that are larger than another set of the group, only the first samples are compared.
    Return one row per set and one per pair; p-values are not adjusted for the number of pairs yet.
    """
    if count_missing_cells(groups):
        return _compare_incomplete(similarity, groups, names, set_pairs, options)
    full_scores, matched_scores = score_groups(similarity, groups, options)
    size = sum(map(common_size, groups))
    size_per_group = size / len(groups)
    rows = []
    for i, name in enumerate(names):
        n = sum(len(group[i]) for group in groups)
        n_per_group = n / len(groups)
        score = bounded_mean_interval(full_scores[i], options.level, 1.0, n_per_group)
        matched_score = bounded_mean_interval(matched_scores[i], options.level, 1.0, size_per_group)
        rows.append(SetRow(name, n, *score, size, *matched_score, n_per_group, size_per_group))
    level = difference_level(options.level, len(set_pairs))
    pair_rows = []
    for k, (i, j) in enumerate(set_pairs):
        # Random signs are drawn for groups in this order.
        order = np.concatenate(_batch_by_size(groups, [i, j]))
        a = matched_scores[i, order]
        b = matched_scores[j, order]
        difference = estimate_paired_difference(a, b, level)
        ratio = estimate_paired_ratio(a, b, ratio_level(options.level, len(set_pairs)))
        stacks: list[GroupStack] = []
        if options.effects == "fixed":
            stacks = list(_stack_groups(similarity, groups, [i, j]))
        steps = _p_value_steps(a - b, level, stacks, similarity, options, rng)
        p, permutations, floor = yield from map_steps(steps, partial(add, k * options.permutations))
        p_floor = min(1.0, len(set_pairs) * floor)
        _, error = compute_mean_and_error(a - b)
        flips_signs = options.effects == "random"
        detectable = estimate_paired_detectable(error, len(groups), level, flips_signs)
        values = (*difference, p, p, permutations, level, p_floor, *ratio, detectable)
        pair_rows.append(PairRow(names[i], names[j], *values))
    return rows, pair_rows


def _compare_incomplete(
    similarity: Similarity,
    groups: GroupIndices,
    names: Sequence[str],
    set_pairs: Sequence[tuple[int, int]],
    options: CompareOptions,
) -> tuple[list[SetRow], list[PairRow]]:
    """Compare sets of which some have no samples in some groups, by an additive model.

    The common size of a group is that of the smallest set with samples. `score` of a set is the
    mean over its own groups, `matched` the mean over all groups, with predictions of the model.
    """
    if options.effects == "fixed":
        raise ValueError(
            "effects='fixed' requires at least two samples of each set in each group; remove it, "
            "or remove incomplete groups"
        )
    full_scores, matched_scores = score_groups(similarity, groups, options)
    adjusted = estimate_adjusted_means(matched_scores, names)
    size = sum(map(common_size, groups))
    size_per_group = size / len(groups)
    rows = []
    for i, name in enumerate(names):
        own_scores = full_scores[i, np.isfinite(full_scores[i])]
        n = sum(len(group[i]) for group in groups)
        n_per_group = n / len(own_scores)
        score = bounded_mean_interval(own_scores, options.level, 1.0, n_per_group)
        matched_score = adjusted.estimate_mean(i, options.level, size_per_group)
        rows.append(SetRow(name, n, *score, size, *matched_score, n_per_group, size_per_group))
    level = difference_level(options.level, len(set_pairs))
    pair_rows = []
    for i, j in set_pairs:
        difference, error, p = adjusted.estimate_difference(i, j, level)
        ratio = adjusted.estimate_ratio(i, j, ratio_level(options.level, len(set_pairs)))
        n_groups = int(min(adjusted.counts[i], adjusted.counts[j]))
        detectable = estimate_paired_detectable(error, n_groups, level, flips_signs=False)
        p_floor = float(n_groups < MIN_VALUES)
        values = (*difference, p, p, 0, level, p_floor, *ratio, detectable)
        pair_rows.append(PairRow(names[i], names[j], *values))
    return rows, pair_rows


def _p_value_steps(
    differences: np.ndarray,
    level: float,
    stacks: Sequence[GroupStack],
    similarity: Similarity,
    options: CompareOptions,
    rng: np.random.Generator,
) -> Generator[int, None, tuple[float, int, float]]:
    """Yield the number of permutations; return p, that number, and the smallest possible p.

    `differences`, shape (g,), are the differences in score of two sets in g groups. With random
    effects, their signs are permuted; if there are too few groups for a p-value of 1 − level,
    Student's t-test is used. With fixed effects, samples are permuted within groups, whose
    similarities are in `stacks`.
    """
    count = len(differences)
    observed = float(_studentized_means(differences))
    has_few_groups = count < MIN_VALUES
    if options.effects == "random" and (has_few_groups or not can_sign_flips_reach(level, count)):
        return student_p_value(differences), 0, float(has_few_groups)
    if options.effects == "random" and count <= _MAX_ENUMERATED_GROUPS:
        permuted = _flip_all_signs(differences)
        return exact_p_value(observed, permuted), len(permuted), 1 / (len(permuted) + 1)
    draw: Callable[[int], np.ndarray] = partial(_flip_random_signs, differences, rng)
    if options.effects == "fixed":
        draw = partial(_permute_samples, stacks, similarity, options, rng)
    steps = permutation_test_steps(observed, draw, options.permutations, options.level)
    p, permutations = yield from steps
    return p, permutations, 1 / (options.permutations + 1)


def score_groups(
    similarity: Similarity, groups: GroupIndices, options: CompareOptions
) -> tuple[np.ndarray, np.ndarray]:
    """Return VS_q of all samples and VS_q at the common size, arrays of shape (sets, groups).

    Scores of sets without samples in a group are NaN.
    """
    sets = range(len(groups[0]))
    full_scores = np.full((len(sets), len(groups)), math.nan)
    matched_scores = full_scores.copy()
    for batch, K, sizes, size in _stack_groups(similarity, groups, sets):
        _check_stack(K, similarity, options.psd)
        ends = np.cumsum(sizes)
        for i, (n, end) in enumerate(zip(sizes, ends, strict=True)):
            if not n:
                continue
            K_set = K[:, end - n : end, end - n : end]
            full_scores[i, batch] = matched_scores[i, batch] = _score_stack(
                K_set, similarity, options
            )
            if size < n:
                matched_scores[i, batch] = _score_stack(K_set[:, :size, :size], similarity, options)
    return full_scores, matched_scores


def shuffle_larger_sets(groups: GroupIndices, rng: np.random.Generator) -> GroupIndices:
    """Shuffle the samples of sets that are larger than the smallest set of their group."""
    shuffled = []
    for group in groups:
        size = common_size(group)
        shuffled.append([rng.permutation(x) if len(x) > size else x for x in group])
    return shuffled


def _batch_by_size(groups: GroupIndices, sets: Sequence[int]) -> list[np.ndarray]:
    """Return positions of groups, in batches with equal sizes of `sets` and equal common size."""
    batches: dict[tuple[int, ...], list[int]] = {}
    for code, group in enumerate(groups):
        sizes = (*(len(group[i]) for i in sets), common_size(group))
        batches.setdefault(sizes, []).append(code)
    return list(map(np.array, batches.values()))


def _stack_groups(
    similarity: Similarity, groups: GroupIndices, sets: Sequence[int]
) -> Iterator[GroupStack]:
    """Yield the similarity matrices of the samples of `sets`, stacked for groups of equal sizes."""
    for batch in _batch_by_size(groups, sets):
        group = groups[batch[0]]
        sizes = [len(group[i]) for i in sets]
        size = common_size(group)
        indices = np.array([np.concatenate([groups[code][i] for i in sets]) for code in batch])
        for rows in row_blocks(len(batch), 8 * sum(sizes) ** 2):
            yield batch[rows], to_host(similarity.stack(indices[rows])), sizes, size


def _check_stack(K: np.ndarray, similarity: Similarity, psd: PSD) -> None:
    """Raise or warn if one of g similarity matrices of m samples, shape (g, m, m), is invalid."""
    for matrix in K[StackedSpectra(K, None, [], psd, similarity=similarity).unusual]:
        compute_spectrum(MatrixSimilarity(matrix).noted(roundoff=similarity.roundoff), psd=psd)


def _score_stack(K: np.ndarray, similarity: Similarity, options: CompareOptions) -> np.ndarray:
    """Return VS_q of g sets of m samples, shape (g,), from similarities K, shape (g, m, m)."""
    return StackedSpectra(K, None, [options.q], options.psd, similarity=similarity).values[0]


def _studentized_means(differences: np.ndarray) -> np.ndarray:
    """Divide mean differences by their standard errors; `differences` has shape (…, groups)."""
    error = differences.std(axis=-1, ddof=1) / math.sqrt(differences.shape[-1])
    return studentized_difference(differences.mean(axis=-1), error)


def _flip_all_signs(differences: np.ndarray) -> np.ndarray:
    """Return the test statistics after all possible flips of the signs of `differences`.

    `differences`, shape (g,), are those of g groups. The result has one value per pattern of signs.
    The first sign is never flipped, because only absolute statistics matter.
    """
    signs = [
        (1, *other_signs) for other_signs in itertools.product([1, -1], repeat=len(differences) - 1)
    ]
    return _studentized_means(np.array(signs[1:]) * differences)


def _flip_random_signs(differences: np.ndarray, rng: np.random.Generator, count: int) -> np.ndarray:
    """Return the test statistics after `count` random flips of the signs of `differences`.

    `differences`, shape (g,), are those of g groups. The result has shape (count,).
    """
    return _studentized_means(rng.choice([-1, 1], (count, len(differences))) * differences)


def _permute_samples(
    stacks: Sequence[GroupStack],
    similarity: Similarity,
    options: CompareOptions,
    rng: np.random.Generator,
    count: int,
) -> np.ndarray:
    """Return the test statistics of `count` random permutations of set labels within groups."""
    differences = []
    for _ in range(count):
        scores = []
        for _, K, (n_a, n_b), size in stacks:
            order = np.tile(np.arange(n_a + n_b), (len(K), 1))
            halves = np.split(rng.permuted(order, axis=1), [n_a], axis=1)
            K_subsets = (submatrices(K, half[:, :size]) for half in halves)
            a, b = (_score_stack(K_subset, similarity, options) for K_subset in K_subsets)
            scores.append(a - b)
        differences.append(np.concatenate(scores))
    return _studentized_means(np.array(differences))
