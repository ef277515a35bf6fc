"""Scores of each group, their mean over groups, and its standard error."""

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from ..measures.evaluation import ConfiguredMeasure, evaluate_measures, evaluate_measures_stacked
from ..measures.sample_set import SampleSet
from ..resolve.sample_labels import GroupLabels, check_size
from ..similarity.group_indices import group_indices
from ..similarity.sample_arrays import take_samples
from ..support.errors import warn
from ..support.namespace import Array, to_float, to_host
from ..support.progress import track
from ..support.types import Number, Record
from .group_intervals import estimate_group_intervals
from .intervals import Uncertainty
from .score_request import ScoreRequest, check_allow_repeats
from .subsampling import (
    MIN_SAMPLES,
    bounded_mean_interval,
    compute_mean_and_error,
    describe_missing_interval,
)

SINGLE_SAMPLES_NOTE = (
    "Every group contains a single sample, so all groups have the same score. Pass several samples "
    "per group (in lm-eval: `repeats` and the filter `take_first_k`)."
)
Values: TypeAlias = "list[Number] | Array"  # the values of a measure, one per group
# Confidence level and numbers of groups for which the coverage of intervals of means was measured,
# and its results: the lowest and highest coverage in percent, rounded down and up; and the lowest
# coverage of Student's intervals, which are used for unbounded measures. The five sources of data
# are those of benchmarks/prompt_means.py (results in benchmarks/results/prompt_means.json) that
# were not used to choose a method.
TESTED_LEVEL = 0.95
TESTED_GROUPS = (4, 30)
TESTED_COVERAGE = (92, 100)
TESTED_STUDENT_COVERAGE = 63
# A note is added if the largest group is at least this many times larger than the smallest.
UNEQUAL_SIZE_RATIO = 2
# A note suggests `compare` for at most this many groups with at least this mean number of samples:
# such groups are probably models, because prompts are usually many with few answers each.
_MAX_SOURCES = 12
_MIN_SOURCE_SIZE = 20


def evaluate_groups(
    sample_set: SampleSet, request: ScoreRequest, *, warn_about_single_samples: bool = True
) -> tuple[list[Record], Uncertainty]:
    """Return the values of each measure by result key, and their standard errors and intervals.

    The value of a measure is its mean over groups, except for measures such as BetweenVS, which are
    computed from all groups together. With `warn_about_single_samples`, a warning is emitted if
    every group contains a single sample.
    """
    assert sample_set.groups is not None
    averaged_measures = [
        configured for configured in request.measures if not configured.measure.groups
    ]
    # If groups and prompts were passed, `sample_set.groups` contains a group for each combination,
    # and its attribute `sets` the groups that were passed, such as models. The mean is over these.
    groups = sample_set.groups.sets or sample_set.groups
    _check_interval_of_mean(len(groups), request, averaged_measures)
    uncertainty = Uncertainty(
        meaning="NAME_se is the standard error of the mean over the groups",
        assumes="Independent groups are assumed.",
    )
    check_size(sample_set.groups, sample_set.n_input)  # one label per sample
    if averaged_measures and np.bincount(sample_set.groups.codes).max() == 1:
        if warn_about_single_samples:
            warn(SINGLE_SAMPLES_NOTE)
        uncertainty.notes.append(SINGLE_SAMPLES_NOTE)
    sizes = np.bincount(sample_set.codes, minlength=len(sample_set.groups)).tolist()
    columns = _evaluate_per_group(sample_set, request, averaged_measures)
    means = average_over_groups(columns, sample_set.groups, sizes, request, uncertainty)
    # The table of groups is part of the details. With sets, its rows are sets, not single groups.
    has_group_rows = request.details and "VS" in request.names and sample_set.groups.sets is None
    if request.ci is not None and has_group_rows and max(sizes) >= MIN_SAMPLES:
        _add_group_intervals(sample_set, request, uncertainty)
    scores: list[Record] = []
    for configured in request.measures:
        if configured.measure.groups:
            scores += evaluate_measures(sample_set, [configured], request.suffixes)
        else:
            scores.append(means[configured.measure.name])
    return scores, uncertainty


def average_over_groups(
    columns: Mapping[str, Record],
    groups: GroupLabels,
    sizes: list[int],
    request: ScoreRequest,
    uncertainty: Uncertainty,
) -> dict[str, Record]:
    """Return the mean over groups of each value, as a dict by measure and result key ("VS_q2").

    Parameters
    ----------
    columns : dict
        For each measure, a dict from result keys to the values of all groups.
    groups : GroupLabels
        The groups. If `groups.sets` is not None, each group belongs to a larger set; for example,
        there is one group per prompt, and one set per model. Values are then first averaged over
        the groups of each set, and these means are averaged over sets.
    sizes : list of int
        Number of samples of each group.
    request : ScoreRequest
        The measures, and the confidence level.
    uncertainty : Uncertainty
        Standard errors, intervals, notes and the columns of a table with one row per group are
        added to it. With sets, the table has one row per set.
    """
    row_sizes = sizes  # number of samples of each row of the table
    mean_sizes: list[float] = list(sizes)  # or, for each set, the mean size of its groups
    if groups.sets is not None:
        groups = groups.sets
        row_sizes = np.bincount(groups.codes, sizes).astype(int).tolist()
        mean_sizes = (row_sizes / np.bincount(groups.codes)).tolist()
        columns = _average_by_set(columns, groups)
    averaged_measures = [
        configured for configured in request.measures if not configured.measure.groups
    ]
    means = {}
    group_values = {}
    problem = ""
    for configured in averaged_measures:
        name = configured.measure.name
        means[name] = {key: _compute_mean(values) for key, values in columns[name].items()}
        for key, values in columns[name].items():
            group_values[key] = _to_floats(values)
            statistics = _estimate_mean_interval(
                group_values[key], configured, mean_sizes, request.ci
            )
            uncertainty.statistics[key] = statistics
            if "low" in statistics and not problem:  # a single warning for the first such key
                keys = f"{key}_low and {key}_high"
                problem = describe_missing_interval(
                    len(values), statistics["low"], statistics["high"], keys
                )
        if request.ci is not None:
            uncertainty.methods[name] = "bootstrap" if _is_bounded(configured) else "student"
    if problem:
        warn(problem)
        uncertainty.notes.append(problem)
    uncertainty.columns = {"group": groups.labels, "n": row_sizes, **group_values}
    uncertainty.notes += _collect_notes(request, averaged_measures, mean_sizes)
    return means


def _add_group_intervals(
    sample_set: SampleSet, request: ScoreRequest, uncertainty: Uncertainty
) -> None:
    """Add the standard error and interval of each group's Vendi Score to `uncertainty.columns`.

    The standard error and the limits of the interval are inserted after the score, and are None if
    they are undefined. With `pool_repeats`, the rate at which samples recur is estimated from all
    groups together.
    """
    assert request.ci is not None
    assert sample_set.groups is not None
    indices_by_group = group_indices(sample_set.codes, len(sample_set.groups))
    intervals = estimate_group_intervals(
        sample_set.similarity.in_numpy(),
        indices_by_group,
        request.orders,
        request.ci,
        request.psd,
        request.pool_repeats,
    )
    uncertainty.pooled_groups = intervals.n_pooled
    keys = [f"VS{suffix}" for suffix in request.suffixes]
    statistics = {"se": intervals.se, "low": intervals.low, "high": intervals.high}
    columns: dict[str, Sequence[object]] = {}
    for name, column in uncertainty.columns.items():
        columns[name] = column
        if name in keys:
            k = keys.index(name)
            for suffix, values in statistics.items():
                numbers = values[k].tolist()
                columns[f"{name}_{suffix}"] = [x if math.isfinite(x) else None for x in numbers]
    uncertainty.columns = columns
    if min(map(len, indices_by_group)) < MIN_SAMPLES:
        uncertainty.notes.append(
            f"Single groups with fewer than {MIN_SAMPLES} samples have no interval."
        )


def _evaluate_per_group(
    sample_set: SampleSet, request: ScoreRequest, group_measures: Sequence[ConfiguredMeasure]
) -> dict[str, Record]:
    """Return for each measure a dict from result keys to the values of all groups.

    Measures registered with `stacks=True` are evaluated for all small groups of equal size at once,
    stacked in one array. All remaining pairs of a measure and a group are evaluated one by one.
    """
    groups = sample_set.groups
    assert groups is not None
    # Details report the solver for distances of each group, so these groups are not stacked.
    unstacked_needs = "distances" if request.details else ""
    stacked_measures: list[ConfiguredMeasure] = []
    single_measures: list[ConfiguredMeasure] = []
    for configured in group_measures:
        can_stack = configured.measure.stacks and configured.measure.needs != unstacked_needs
        (stacked_measures if can_stack else single_measures).append(configured)
    columns: dict[str, Record] = {configured.measure.name: {} for configured in group_measures}
    is_single = np.ones(len(groups), dtype=bool)  # groups that were not evaluated in a stack
    if stacked_measures:
        stacked_values, is_single = evaluate_measures_stacked(
            sample_set, stacked_measures, request.suffixes
        )
        for configured, values_by_key in zip(stacked_measures, stacked_values, strict=True):
            column = columns[configured.measure.name]
            for key, values in values_by_key.items():
                # Values of single groups are assigned below, which tensors do not support.
                column[key] = list(values) if is_single.any() else values
    single_groups = np.arange(len(groups)) if single_measures else np.flatnonzero(is_single)
    subsets = sample_set.parts if len(single_groups) else []
    for i in track(single_groups.tolist(), len(single_groups), "scoring groups"):
        subset = subsets[i]
        subset_measures = group_measures if is_single[i] else single_measures
        try:
            results = evaluate_measures(subset, subset_measures, request.suffixes)
        except Exception as error:
            error.add_note(f"this error refers to {subset.name}")
            raise
        for configured, values_by_key in zip(subset_measures, results, strict=True):
            column = columns[configured.measure.name]
            for key, value in values_by_key.items():
                column.setdefault(key, [None] * len(groups))[i] = value
        if not request.details:  # free the memory of all results except Vendi Scores
            has_scores = any(configured.measure.needs == "scores" for configured in subset_measures)
            subsets[i] = subset.without_cache(subset.spectral if has_scores else None)
    sample_set.notes += dict.fromkeys(note for subset in subsets for note in subset.notes)
    return columns


def _average_by_set(columns: Mapping[str, Record], sets: GroupLabels) -> dict[str, Record]:
    """Return the mean over the groups of each set, for each measure and result key.

    A set consists of several groups, such as a model with one group per prompt; `sets` contains the
    set of each group. `columns` contains for each measure a dict from result keys to one value per
    group. The result has the same format, with one value per set.
    """
    means: dict[str, Record] = {}
    groups_by_set = group_indices(sets.codes)
    for name, column in columns.items():
        means[name] = {}
        for key, values in column.items():
            means[name][key] = [
                _compute_mean(take_samples(values, groups)) for groups in groups_by_set
            ]
    return means


def _to_floats(values: Values) -> list[float]:
    """Return the values of all groups as floats, from a list of numbers or an array."""
    return list(map(to_float, values)) if isinstance(values, list) else to_host(values).tolist()


def _compute_mean(values: Values) -> Number:
    """Return the mean of values; for tensors, a differentiable tensor."""
    if isinstance(values, np.ndarray):
        return float(values.mean())
    return sum(values) / len(values) if isinstance(values, list) else values.mean()


def _check_interval_of_mean(
    n: int, request: ScoreRequest, group_measures: Sequence[ConfiguredMeasure]
) -> None:
    """Raise a TypeError or ValueError if a request is not supported with n groups.

    The arguments `ci`, `clusters` and `allow_repeats` of the request are checked. `group_measures`
    are its measures that are averaged over groups.
    """
    if request.clusters is not None:
        raise ValueError(
            "`clusters` is not supported with groups, because the confidence interval already "
            "treats the groups as independent; remove `clusters`, or remove `groups`"
        )
    if not request.allow_repeats:
        measures = [configured.measure for configured in request.measures]
        check_allow_repeats(request.ci, has_clusters=False, has_groups=True, measures=measures)
    if request.ci is not None and not group_measures:
        raise ValueError(
            f"`ci` requires a measure that is averaged over groups, but "
            f"{', '.join(request.group_measures)} is computed from all groups together; add 'VS' "
            f"to `measures`, or remove `ci`"
        )
    if request.ci is not None and n < 2:
        raise ValueError(
            "`ci` requires at least 2 groups for an interval of the mean over groups, got 1; add "
            "groups, or remove `ci`"
        )


def _collect_notes(
    request: ScoreRequest, group_measures: Sequence[ConfiguredMeasure], sizes: Sequence[float]
) -> list[str]:
    """Return notes on means over groups, for "details".

    `group_measures` are the measures that are averaged over groups, and `sizes` the number of
    samples of each group. If values were first averaged over the groups of each set, such as the
    prompts of a model, `sizes` has one entry per set: the mean size of its groups.
    """
    names = ", ".join(configured.measure.name for configured in group_measures)
    notes = []
    if group_measures:
        verb = "is the mean" if len(group_measures) == 1 else "are means"
        if len(sizes) > 1:
            notes.append(f"{names} {verb} over {len(sizes)} groups, equally weighted.")
        if max(sizes) >= UNEQUAL_SIZE_RATIO * min(sizes):
            notes.append(
                f"Groups have {min(sizes):g} to {max(sizes):g} samples. Most scores increase with "
                f"the number of samples, so compare only groups of equal size."
            )
        if 1 < len(sizes) <= _MAX_SOURCES and sum(sizes) >= _MIN_SOURCE_SIZE * len(sizes):
            notes.append(
                f"These {len(sizes)} groups may be models or other sources. To test which of them "
                f"is more diverse, pass their labels to `compare` as `by`."
            )
    if request.ci is not None and request.group_measures:
        joint_names = ", ".join(request.group_measures)
        notes.append(f"Measures computed from all groups together have no interval: {joint_names}.")
    min_groups, max_groups = TESTED_GROUPS
    if request.ci == TESTED_LEVEL and min_groups <= len(sizes) <= max_groups:
        notes += _describe_coverage(group_measures)
    return notes


def _describe_coverage(group_measures: Sequence[ConfiguredMeasure]) -> list[str]:
    """Return notes on the coverage that 95 % intervals of means over few groups had in benchmarks.

    `group_measures` are the measures that are averaged over groups.
    """
    notes = []
    lowest, highest = TESTED_COVERAGE
    groups = "{} to {} groups".format(*TESTED_GROUPS)
    if any(map(_is_bounded, group_measures)):
        notes.append(
            f"In tests on real answers, 95 % intervals of means over {groups} had a coverage of "
            f"{lowest} to {highest} % (benchmarks/prompt_means.py)."
        )
    if unbounded := ", ".join(
        configured.measure.name for configured in group_measures if not _is_bounded(configured)
    ):
        notes.append(
            f"In tests on real answers, 95 % intervals of means over {groups} of unbounded "
            f"measures, such as {unbounded}, had a coverage as low as {TESTED_STUDENT_COVERAGE} % "
            f"if a few groups had unusual values (benchmarks/prompt_means.py)."
        )
    return notes


def _is_bounded(configured: ConfiguredMeasure) -> bool:
    """Return whether the range of a measure is bounded; intervals are then limited to the range."""
    return all(map(math.isfinite, configured.measure.limits(1)))


def _estimate_mean_interval(
    group_values: Sequence[float],
    configured: ConfiguredMeasure,
    sizes: Sequence[float],
    level: float | None,
) -> dict[str, float]:
    """Return the standard error "se" of a mean over groups, and its interval "low" to "high".

    `sizes` are the numbers of samples of the groups, on which the range of the measure, and thus
    that of the mean, may depend. If `level` is None, the result contains only "se". For a single
    group, it is empty.
    """
    values = np.array(group_values)
    if len(values) < 2:
        return {}
    if level is None:
        return {"se": compute_mean_and_error(values)[1]}
    bounds = [configured.measure.limits(size) for size in sizes]
    lower_bound, upper_bound = np.mean(bounds, axis=0).tolist()
    _, se, low, high = bounded_mean_interval(values, level, lower_bound, upper_bound)
    return {"se": se, "low": low, "high": high}
