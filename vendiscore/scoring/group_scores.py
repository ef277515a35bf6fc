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
    "Every group has one sample, and one sample alone scores the same whatever it is: pass several "
    "for each group (lm-eval: `repeats` and the filter `take_first_k`)."
)
Values: TypeAlias = "list[Number] | Array"  # one number per group
# Level and numbers of groups for which the coverage of intervals of means was measured. Notes state
# the lowest and highest coverage in percent, rounded down and up, on the five sources of
# benchmarks/prompt_means.py (results in benchmarks/results/prompt_means.json) that were not used
# for any choice; and the lowest coverage of Student's intervals, used for unbounded measures.
TESTED_LEVEL = 0.95
TESTED_GROUPS = (4, 30)
TESTED_COVERAGE = (92, 100)
TESTED_STUDENT_COVERAGE = 63
# A note is added if the largest group is at least this many times larger than the smallest.
UNEQUAL_SIZE_RATIO = 2
# Prompts are usually many with few answers each; a few large groups are rather models.
_MAX_SOURCES = 12
_MIN_SOURCE_SIZE = 20


def evaluate_groups(
    sample_set: SampleSet, request: ScoreRequest
) -> tuple[list[Record], Uncertainty]:
    """Return means over groups, values of measures of all groups together, and uncertainties."""
    assert sample_set.groups is not None
    each = [chosen for chosen in request.measures if not chosen.measure.groups]
    groups = sample_set.groups.sets or sample_set.groups
    _check_interval(len(groups), request, each)
    found = Uncertainty(
        meaning="NAME_se is the standard error of the mean over the groups",
        assumes="Independent groups are assumed.",
    )
    check_size(sample_set.groups, sample_set.n_input)
    if each and np.bincount(sample_set.groups.codes).max() == 1:
        warn(SINGLE_SAMPLES_NOTE)
        found.notes.append(SINGLE_SAMPLES_NOTE)
    sizes = np.bincount(sample_set.codes, minlength=len(sample_set.groups)).tolist()
    columns = _evaluate_per_group(sample_set, request, each)
    means = average_over_groups(columns, sample_set.groups, sizes, request, found)
    has_rows = request.details and "VS" in request.names and sample_set.groups.sets is None
    if request.ci is not None and has_rows and max(sizes) >= MIN_SAMPLES:
        _add_group_intervals(sample_set, request, found)
    scores: list[Record] = []
    for chosen in request.measures:
        if chosen.measure.groups:
            scores += evaluate_measures(sample_set, [chosen], request.suffixes)
        else:
            scores.append(means[chosen.measure.name])
    return scores, found


def average_over_groups(
    columns: Mapping[str, Record],
    groups: GroupLabels,
    sizes: list[int],
    request: ScoreRequest,
    uncertainty: Uncertainty,
) -> dict[str, Record]:
    """Compute means over groups per measure; add errors and a table of groups to `uncertainty`."""
    totals = sizes
    sizes_in_mean: list[float] = list(sizes)
    if groups.sets is not None:
        groups = groups.sets
        totals = np.bincount(groups.codes, sizes).astype(int).tolist()
        # mean size of the groups of a set
        sizes_in_mean = (totals / np.bincount(groups.codes)).tolist()
        columns = _average_by_set(columns, groups)
    each = [chosen for chosen in request.measures if not chosen.measure.groups]
    means = {}
    numbers = {}
    missing = ""
    for chosen in each:
        name = chosen.measure.name
        means[name] = {key: _compute_mean(values) for key, values in columns[name].items()}
        for key, values in columns[name].items():
            numbers[key] = _to_floats(values)
            spread = _estimate_mean_interval(numbers[key], chosen, sizes_in_mean, request.ci)
            uncertainty.statistics[key] = spread
            if "low" in spread:
                keys = f"{key}_low and {key}_high"
                ends = spread["low"], spread["high"]
                missing = missing or describe_missing_interval(len(values), *ends, keys)
        if request.ci is not None:
            uncertainty.methods[name] = "bootstrap" if _is_bounded(chosen) else "student"
    if missing:
        warn(missing)
        uncertainty.notes.append(missing)
    rows = zip(groups.labels, totals, *numbers.values(), strict=True)
    uncertainty.table = [dict(zip(("group", "n", *numbers), row, strict=True)) for row in rows]
    uncertainty.notes += _collect_notes(request, each, sizes_in_mean)
    return means


def _add_group_intervals(
    sample_set: SampleSet, request: ScoreRequest, uncertainty: Uncertainty
) -> None:
    """Add the standard error and interval of the Vendi Score of each group to its row."""
    assert request.ci is not None
    assert sample_set.groups is not None
    indices = group_indices(sample_set.codes, len(sample_set.groups))
    intervals = estimate_group_intervals(
        sample_set.similarity.in_numpy(),
        indices,
        request.orders,
        request.ci,
        request.psd,
        request.pool_repeats,
    )
    uncertainty.pooled_groups = intervals.pooled
    keys = [f"VS{suffix}" for suffix in request.suffixes]
    for i, row in enumerate(uncertainty.table):
        uncertainty.table[i] = {}
        for name, value in row.items():
            uncertainty.table[i][name] = value
            if name in keys:
                k = keys.index(name)
                ends = (intervals.se, intervals.low, intervals.high)
                for ending, numbers in zip(("se", "low", "high"), ends, strict=True):
                    known = math.isfinite(numbers[k, i])
                    uncertainty.table[i][f"{name}_{ending}"] = (
                        float(numbers[k, i]) if known else None
                    )
    if min(map(len, indices)) < MIN_SAMPLES:
        uncertainty.notes.append(
            f"Groups of fewer than {MIN_SAMPLES} samples have no interval of their own."
        )


def _evaluate_per_group(
    sample_set: SampleSet, request: ScoreRequest, group_measures: Sequence[ConfiguredMeasure]
) -> dict[str, Record]:
    """Return {key: values of all groups} by measure; small groups are stacked."""
    groups = sample_set.groups
    assert groups is not None
    alone = "distances" if request.details else ""  # details report the solver of each group
    stacked: list[ConfiguredMeasure] = []
    rest: list[ConfiguredMeasure] = []
    for chosen in group_measures:
        one_by_one = not chosen.measure.stacks or chosen.measure.needs == alone
        (rest if one_by_one else stacked).append(chosen)
    columns: dict[str, Record] = {chosen.measure.name: {} for chosen in group_measures}
    apart = np.ones(len(groups), dtype=bool)
    if stacked:
        found, apart = evaluate_measures_stacked(sample_set, stacked, request.suffixes)
        for chosen, numbers in zip(stacked, found, strict=True):
            column = columns[chosen.measure.name]
            for key, values in numbers.items():
                # Single values are replaced below, which tensors do not allow.
                column[key] = list(values) if apart.any() else values
    left = np.arange(len(groups)) if rest else np.flatnonzero(apart)
    parts = sample_set.parts if len(left) else []
    for i in track(left.tolist(), len(left), "scoring groups"):
        part = parts[i]
        own = group_measures if apart[i] else rest
        try:
            row = evaluate_measures(part, own, request.suffixes)
        except Exception as error:
            error.add_note(f"this is about {part.name}")
            raise
        for chosen, numbers in zip(own, row, strict=True):
            column = columns[chosen.measure.name]
            for key, value in numbers.items():
                column.setdefault(key, [None] * len(groups))[i] = value
        if not request.details:
            scored = any(chosen.measure.needs == "scores" for chosen in own)
            parts[i] = part.without_cache(part.spectral if scored else None)
    sample_set.notes += dict.fromkeys(note for part in parts for note in part.notes)
    return columns


def _average_by_set(columns: Mapping[str, Record], sets: GroupLabels) -> dict[str, Record]:
    """Return means over the prompts of each set, from values per prompt and set."""
    means: dict[str, Record] = {}
    places = group_indices(sets.codes)
    for name, column in columns.items():
        means[name] = {}
        for key, values in column.items():
            means[name][key] = [_compute_mean(take_samples(values, of_set)) for of_set in places]
    return means


def _to_floats(values: Values) -> list[float]:
    """Return the values of all groups as floats."""
    return list(map(to_float, values)) if isinstance(values, list) else to_host(values).tolist()


def _compute_mean(values: Values) -> Number:
    """Return the mean of values; for tensors, a differentiable tensor."""
    if isinstance(values, np.ndarray):
        return float(values.mean())
    return sum(values) / len(values) if isinstance(values, list) else values.mean()


def _check_interval(
    n: int, request: ScoreRequest, group_measures: Sequence[ConfiguredMeasure]
) -> None:
    if request.clusters is not None:
        raise ValueError(
            "`clusters` is for one set of samples, but with groups the groups are the independent "
            "units; leave one of the two out"
        )
    if not request.allow_repeats:
        measures = [chosen.measure for chosen in request.measures]
        check_allow_repeats(request.ci, False, True, measures)
    if request.ci is not None and not group_measures:
        raise ValueError(
            f"`ci` with groups is for a mean over them, but {', '.join(request.group_measures)} "
            "looks "
            "at all groups together; add 'VS' to `measures`, or leave `ci` out"
        )
    if request.ci is not None and n < 2:
        raise ValueError(
            "`ci` with groups is the interval of a mean over them, but there is one group; pass "
            "two or more, or leave `ci` out"
        )


def _collect_notes(
    request: ScoreRequest, group_measures: Sequence[ConfiguredMeasure], sizes: Sequence[float]
) -> list[str]:
    """Return notes on the values of groups."""
    names = ", ".join(chosen.measure.name for chosen in group_measures)
    notes = []
    if group_measures:
        notes.append(f"Means over {len(sizes)} groups, which all count alike: {names}.")
        if max(sizes) >= UNEQUAL_SIZE_RATIO * min(sizes):
            notes.append(
                f"Groups have {min(sizes):g} to {max(sizes):g} samples, and most scores are larger "
                f"for more samples: compare groups of one size."
            )
        if 1 < len(sizes) <= _MAX_SOURCES and sum(sizes) >= _MIN_SOURCE_SIZE * len(sizes):
            notes.append(
                "Groups this few and this large are often sources, such as models, and the mean "
                "over them says little: `compare`, with these labels as `by`, says which source is "
                "more diverse, and how sure that is."
            )
    if request.ci is not None and request.group_measures:
        together = ", ".join(request.group_measures)
        notes.append(f"Computed of all groups together, without an interval: {together}.")
    fewest, most = TESTED_GROUPS
    if request.ci == TESTED_LEVEL and fewest <= len(sizes) <= most:
        notes += _describe_coverage(group_measures)
    return notes


def _describe_coverage(group_measures: Sequence[ConfiguredMeasure]) -> list[str]:
    """Describe the measured coverage of 95 % intervals of means over few groups."""
    notes = []
    lowest, highest = TESTED_COVERAGE
    groups = "{} to {} groups".format(*TESTED_GROUPS)
    if any(map(_is_bounded, group_measures)):
        notes.append(
            f"In tests on real answers, 95 % intervals of means over {groups} covered {lowest} to "
            f"{highest} % (benchmarks/prompt_means.py)."
        )
    if unbounded := ", ".join(
        chosen.measure.name for chosen in group_measures if not _is_bounded(chosen)
    ):
        notes.append(
            f"In tests on real answers, 95 % intervals of means over {groups} that know no bounds, "
            f"such as those of {unbounded}, covered as little as {TESTED_STUDENT_COVERAGE} % "
            "where a few "
            f"groups are unlike the rest (benchmarks/prompt_means.py)."
        )
    return notes


def _is_bounded(configured: ConfiguredMeasure) -> bool:
    """Return whether a measure has a bounded range, which its interval respects."""
    return all(map(math.isfinite, configured.measure.limits(1)))


def _estimate_mean_interval(
    group_values: Sequence[float],
    configured: ConfiguredMeasure,
    sizes: Sequence[float],
    level: float | None,
) -> dict[str, float]:
    """Return the standard error of a mean, and its interval if a level is given."""
    values = np.array(group_values)
    if len(values) < 2:
        return {}
    if level is None:
        return {"se": compute_mean_and_error(values)[1]}
    limits = [configured.measure.limits(size) for size in sizes]
    least, most = np.mean(limits, axis=0).tolist()
    _, se, low, high = bounded_mean_interval(values, level, least, most)
    return {"se": se, "low": low, "high": high}
