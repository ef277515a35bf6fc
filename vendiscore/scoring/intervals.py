"""Standard errors and confidence intervals, by the delete-one jackknife or by random halves.

The sampling units, which are drawn independently from the population, are samples or clusters. The
jackknife leaves out one unit at a time; the other method computes a measure for random halves of
the units. An item recurs if a further draw from the population can return it again.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ..measures.evaluation import ConfiguredMeasure, evaluate_measures
from ..measures.sample_set import SampleSet, SampleSubset
from ..resolve.sample_labels import GroupLabels, check_size
from ..similarity.group_indices import group_indices
from ..support.errors import warn
from ..support.namespace import to_float, to_host
from ..support.types import Options, Record
from .jackknife import NO_DEFICIT, JackknifeEstimate, delete_one_error, jackknife
from .recurrence_intervals import (
    MAX_DISTINCT_ITEMS,
    RecurrenceCounts,
    compute_deficit_interval,
    compute_score_interval,
    count_recurrences,
)
from .score_request import WITH_JACKKNIFE, ScoreRequest
from .subsampling import MIN_SAMPLES, N_DRAWS, half_sampling_error, t_critical_value

# The coverage of intervals from random halves was not measured for fewer samples.
MIN_TESTED_SAMPLES = 30
# With fewer clusters, a note warns of low coverage: 95 % intervals for near-copies under a narrow
# kernel cover 91 to 93 % with 8 clusters, 91 to 95 % with 20, and 93 to 96 % with 40
# (benchmarks/few_samples.py, part `clusters`, results in benchmarks/results/few_samples.json).
MIN_RELIABLE_CLUSTERS = 20
# A smaller standard error, for example of log VS, is a rounding error of 0.
_WIDTH_TOLERANCE = 1e-9
# The smallest value of effective numbers. Their standard errors are computed for the logarithm.
_MIN_EFFECTIVE_NUMBER = 1

# Notes on a standard error of 0, by whether the interval has positive width.
_EQUAL_CHANGE_NOTES = {
    True: "every sample changes the score equally, for example because all samples are unrelated "
    "or all are identical. The interval also covers populations in which items recur, or other "
    "items occur, although these samples do not show it.",
    False: "every sample changes the score equally, up to rounding errors, so the interval does "
    "not cover the scores of other samples from the population.",
}

STANDARD_ERROR_MEANING = (
    "NAME_se is the standard error of the score of n samples: the standard deviation of the scores "
    "of different sets of n samples from the same population"
)


@dataclass
class Uncertainty:
    """Standard errors and confidence intervals of scores, with the methods used.

    `statistics` maps result keys, such as "VS_q2", to dicts from suffixes ("se", "low", "high", …)
    to numbers. `methods` maps names of measures to the method of their intervals. `meaning` and
    `assumes` are sentences about the standard errors, and `notes` are further sentences, all for
    "details". `allow_repeats` states whether intervals allow for samples that recur in the
    population; it is None if this affects no interval. `columns` are the columns of a table with
    one row per group: its label, its size and its scores. `pooled_groups` is the number of groups
    from which a common rate of recurrence was estimated, or None without intervals of single
    groups.
    """

    statistics: dict[str, dict[str, float]] = field(default_factory=dict)  # by key and suffix
    methods: dict[str, str] = field(default_factory=dict)  # by measure
    meaning: str = STANDARD_ERROR_MEANING
    assumes: str = "Independent samples are assumed; pass `clusters` if some are not independent."
    notes: list[str] = field(default_factory=list)
    allow_repeats: bool | None = None  # None if it affects no interval
    columns: dict[str, Sequence[object]] = field(default_factory=dict)  # one value per group
    # Number of groups from which a common rate of recurrence was estimated, or None.
    pooled_groups: int | None = None

    @property
    def table(self) -> list[Record]:
        """A dict for each group, from the names of the columns to its values."""
        rows = zip(*self.columns.values(), strict=True)
        return [dict(zip(self.columns, row, strict=True)) for row in rows]

    def with_scores(self, scores: Iterable[Options]) -> Record:
        """Return all values by result key, each followed by its standard error and interval.

        `scores` contains a dict of values by result key for each measure.
        """
        values: Record = {}
        for measure_scores in scores:
            for key, value in measure_scores.items():
                values[key] = value
                for suffix, number in self.statistics.get(key, {}).items():
                    values[f"{key}_{suffix}"] = number
        return values


@dataclass(frozen=True)
class SamplingUnits:
    """The m independent sampling units of an interval: samples or clusters.

    - `level`: confidence level
    - `codes`, shape (n,): cluster code of each of the n samples; None if the units are samples
    - `recurrences`: how often each distinct item occurs, for intervals that allow for samples that
      recur in the population; None if the interval of the jackknife is used as it is
    """

    m: int
    level: float
    codes: np.ndarray | None = None
    recurrences: RecurrenceCounts | None = None


def estimate_uncertainty(
    sample_set: SampleSet, request: ScoreRequest, scores: Sequence[Options]
) -> Uncertainty:
    """Estimate the standard error and confidence interval of each score.

    `scores` contains, for each of `request.measures`, its values by result key.
    """
    uncertainty = Uncertainty()
    notes = uncertainty.notes
    units = _build_sampling_units(sample_set, request)
    for configured, values_by_key in zip(request.measures, scores, strict=True):
        name = configured.measure.name
        values = list(map(to_float, values_by_key.values()))
        if name in JACKKNIFE_INTERVALS:
            uncertainty.methods[name] = "jackknife"
            intervals = JACKKNIFE_INTERVALS[name](sample_set, units, values)
        else:
            uncertainty.methods[name] = "subsample"
            intervals = _subsampling_intervals(sample_set, units, values, configured, request)
        min_value, max_value = configured.measure.limits(sample_set.n)
        for key, (error, low, high) in zip(values_by_key, intervals, strict=True):
            low = max(low, min_value)
            high = min(high, max_value)
            uncertainty.statistics[key] = {"se": error, "low": low, "high": high}
            if high - low <= _WIDTH_TOLERANCE * max(1.0, abs(high)):
                notes.append(
                    f"The interval of {key} has width 0 (up to {_WIDTH_TOLERANCE:g}): "
                    f"{_EQUAL_CHANGE_NOTES[False]}"
                )
                warn(notes[-1])
            elif error < _WIDTH_TOLERANCE:
                notes.append(f"{key}_se is 0: {_EQUAL_CHANGE_NOTES[True]}")
    _add_notes(uncertainty, units, sample_set, request)
    return uncertainty


def _add_notes(
    uncertainty: Uncertainty, units: SamplingUnits, sample_set: SampleSet, request: ScoreRequest
) -> None:
    """Add notes on the assumptions and limits of the intervals to `uncertainty`."""
    notes = uncertainty.notes
    if units.recurrences is not None and units.recurrences.has_few_pairs:
        notes.append(
            _describe_recurrence_allowance(units.recurrences, units.level, request.allow_repeats)
        )
        if not request.allow_repeats:
            warn(notes[-1])
    if units.recurrences is not None and units.recurrences.merged is not None:
        notes.append(
            f"The {sample_set.n} samples form {len(units.recurrences.merged.counts)} groups of "
            f"near-copies, whose distances are far smaller than all others. The interval treats "
            f"near-copies as recurring samples."
        )
    if units.codes is None and JACKKNIFE_INTERVALS.keys() & request.names:
        # The signature states the method that was actually used.
        uncertainty.allow_repeats = request.allow_repeats or units.recurrences is not None
        if not uncertainty.allow_repeats:
            uncertainty.assumes += " Samples are assumed to be continuous measurements."
    if units.codes is not None:
        uncertainty.assumes = "Independent clusters are assumed."
        if units.m < MIN_RELIABLE_CLUSTERS:
            notes.append(
                f"The interval is based on {units.m} clusters. With fewer than "
                f"{MIN_RELIABLE_CLUSTERS} clusters, its coverage may be slightly below its level "
                f"if only a few clusters are similar to each other."
            )
    if "subsample" in uncertainty.methods.values() and units.m < MIN_TESTED_SAMPLES:
        unit_name = "samples" if units.codes is None else "clusters"
        notes.append(
            f"Intervals from random halves were not tested for fewer than {MIN_TESTED_SAMPLES} "
            f"{unit_name}, here {units.m}."
        )


def _describe_recurrence_allowance(
    recurrences: RecurrenceCounts, level: float, allow_repeats: bool
) -> str:
    """Return a note on the recurrence of samples that an interval allows for, and the reason.

    `recurrences` states how often each distinct item occurs among the samples. With
    `allow_repeats=False`, the caller states that samples never recur.
    """
    if not allow_repeats:
        reason = "only a few pairs of samples are similar"
        if recurrences.equal_pairs:
            reason = f"{recurrences.equal_pairs:g} pairs of samples are equal"
        return (
            f"The interval allows for recurring samples in spite of allow_repeats=False, because "
            f"{reason} and the interval of the jackknife would not be valid."
        )
    description = "that are all different"
    if n_pairs := recurrences.equal_pairs:
        description = f"with {n_pairs:g} equal pair{'s' if n_pairs != 1 else ''}"
    _, max_proportion = recurrences.compute_proportion_interval(level)
    return (
        f"{recurrences.n} samples {description} cannot rule out that a single item makes up "
        f"{max_proportion * 100:.0f} % of the population. The interval allows for this. If samples "
        f"are continuous measurements, which never recur, pass allow_repeats=False."
    )


def check_sample_count(n: int) -> None:
    """Raise a ValueError if n samples are too few for an interval, fewer than `MIN_SAMPLES`."""
    if n < MIN_SAMPLES:
        raise ValueError(
            f"`ci` requires at least {MIN_SAMPLES} samples, got {n}; add samples, or remove `ci`"
        )


def _build_sampling_units(sample_set: SampleSet, request: ScoreRequest) -> SamplingUnits:
    """Return the sampling units: the clusters if they were passed, otherwise the samples.

    Equal samples are counted only if samples are the units and a measure uses the jackknife.
    """
    assert request.ci is not None
    if request.clusters is None:
        recurrences = None
        if JACKKNIFE_INTERVALS.keys() & request.names:
            recurrences = count_recurrences(sample_set.similarity, request.allow_repeats)
        return SamplingUnits(sample_set.n, request.ci, recurrences=recurrences)
    # The row of a dropped sample is −1.
    codes = _compute_cluster_codes(request.clusters, sample_set.row_of_input >= 0)
    return SamplingUnits(int(codes.max()) + 1, request.ci, codes)


def _compute_cluster_codes(clusters: GroupLabels, is_retained: np.ndarray) -> np.ndarray:
    """Return the cluster code of each retained sample, an integer from 0.

    `is_retained` is a mask of the samples that were not dropped as unusable. Raise a ValueError if
    fewer than `MIN_SAMPLES` clusters remain.
    """
    check_size(clusters, len(is_retained), "clusters")
    codes = np.unique(clusters.codes[is_retained], return_inverse=True)[1]
    m = int(codes.max()) + 1
    if m < MIN_SAMPLES:
        raise ValueError(
            f"`clusters` must contain at least {MIN_SAMPLES} distinct labels, got {m} for "
            f"{len(codes)} samples; add samples of other clusters, or remove `clusters`"
        )
    return codes


# The standard error, and the lower and upper limit of the confidence interval.
ErrorAndInterval: TypeAlias = tuple[float, float, float]


def _vendi_score_intervals(
    sample_set: SampleSet, units: SamplingUnits, values: Sequence[float]
) -> list[ErrorAndInterval]:
    """Return the standard error and interval of the Vendi Score for each order.

    `values` are the Vendi Scores of the orders of `sample_set`.
    """
    intervals = []
    for value, q in zip(values, sample_set.orders, strict=True):
        estimate = jackknife(sample_set.eigen, q, units.codes)
        limits = compute_score_interval(
            value, estimate, sample_set.n, q, units.level, units.recurrences
        )
        intervals.append((float(value * estimate.error), *limits))
    return intervals


def _mean_similarity_interval(
    sample_set: SampleSet, units: SamplingUnits, values: Sequence[float]
) -> list[ErrorAndInterval]:
    """Return the standard error and interval of the mean similarity of two different samples.

    `values` contains only the mean similarity.
    """
    n = sample_set.n
    # The sums of the rows of the similarity matrix K, from the mean similarity of each sample to
    # all samples.
    row_sums = n * to_host(sample_set.ordinariness[1])
    total = row_sums.sum()
    diagonal = to_host(sample_set.similarity.diagonal())
    # For each unit: the number of samples without it, and the sum of its rows and columns of K.
    if units.codes is None:
        n_remaining = np.array(n - 1)
        removed_sums = 2 * row_sums - diagonal
    else:
        n_remaining = n - np.bincount(units.codes)
        clusters = map(sample_set.similarity.take, group_indices(units.codes))
        within_sums = [to_host(cluster.dense()).sum() for cluster in clusters]
        removed_sums = 2 * np.bincount(units.codes, row_sums) - within_sums
    # The mean excludes the n_remaining ones on the diagonal of K.
    leave_one_out_means = (total - removed_sums - n_remaining) / (n_remaining * (n_remaining - 1))
    error = float(delete_one_error(leave_one_out_means))
    (value,) = values
    # Non-negative similarities have a skewed distribution.
    is_skewed = units.recurrences is not None
    if not is_skewed and n <= MAX_DISTINCT_ITEMS and leave_one_out_means.min() > 0:
        is_skewed = to_host(sample_set.similarity.dense()).min() > -NO_DEFICIT
    if not is_skewed:
        half_width = t_critical_value(units.level, units.m) * error
        return [(error, value - half_width, value + half_width)]
    # Like the deficit log n − log VS, the mean similarity is 0 if no two samples are similar.
    log_error = math.inf
    if leave_one_out_means.min() > _WIDTH_TOLERANCE:
        log_error = float(delete_one_error(np.log(leave_one_out_means)))
    estimate = JackknifeEstimate(
        log_score=math.nan, error=error, log_deficit_error=log_error, n_units=units.m
    )

    def compute_mean_similarity(K: np.ndarray, w: np.ndarray, m: int) -> float:
        """Return the mean similarity of two of m samples, of which item i has the proportion w_i.

        K contains the similarities of the items. The mean over all m² ordered pairs is wᵀKw; the m
        pairs of a sample with itself, with similarity 1, are excluded.
        """
        return float(m * (w @ K @ w) - 1) / (m - 1)

    limits = compute_deficit_interval(
        value, estimate, units.level, units.recurrences, compute_mean_similarity
    )
    return [(error, *limits)]


def _internal_diversity_interval(
    sample_set: SampleSet, units: SamplingUnits, values: Sequence[float]
) -> list[ErrorAndInterval]:
    """Return the standard error and interval of IntDiv, the internal diversity.

    IntDiv = (1 − 1/n)(1 − s), where s is the mean similarity of two different samples of n.
    `values` contains only the value of IntDiv.
    """
    n = sample_set.n
    (value,) = values
    factor = 1 - 1 / n
    mean_similarity = 1 - value / factor
    ((error, low, high),) = _mean_similarity_interval(sample_set, units, [mean_similarity])
    return [(error * factor, factor * (1 - high), factor * (1 - low))]


# Functions that return the intervals of measures with cheap leave-one-out values, by measure.
JACKKNIFE_INTERVALS = dict(
    zip(
        WITH_JACKKNIFE,
        (_vendi_score_intervals, _internal_diversity_interval, _mean_similarity_interval),
        strict=True,
    )
)


def _subsampling_intervals(
    sample_set: SampleSet,
    units: SamplingUnits,
    values: Sequence[float],
    configured: ConfiguredMeasure,
    request: ScoreRequest,
) -> list[ErrorAndInterval]:
    """Return the standard errors and intervals of a measure from random halves of the units.

    `values` are the values of the measure, for example one for each order; each gets an interval.
    Intervals of measures that are at least 1, such as effective numbers, are symmetric on a
    logarithmic scale.
    """
    input_indices = np.flatnonzero(sample_set.row_of_input >= 0)  # of samples that were not dropped
    use_log = configured.measure.limits(sample_set.n)[0] >= _MIN_EFFECTIVE_NUMBER
    codes = np.arange(sample_set.n) if units.codes is None else units.codes

    def evaluate_units(drawn_units: np.ndarray) -> np.ndarray:
        """Return the values of the measure, or their logarithms, for the samples of some units."""
        rows = np.flatnonzero(np.isin(codes, drawn_units))
        subset = SampleSubset(
            sample_set, input_indices[rows], needs=frozenset([configured.measure.needs])
        )
        (values_by_key,) = evaluate_measures(subset, [configured], request.suffixes)
        subset_values = np.array(list(map(to_float, values_by_key.values())))
        return np.log(subset_values) if use_log else subset_values

    rng = np.random.default_rng(0)
    errors = half_sampling_error(units.m, evaluate_units, units.m // 2, N_DRAWS, rng).tolist()
    intervals = []
    for value, error in zip(values, errors, strict=True):
        half_width = t_critical_value(units.level, units.m) * error
        if use_log:
            factor = math.exp(half_width)
            intervals.append((value * error, value / factor, value * factor))
        else:
            intervals.append((error, value - half_width, value + half_width))
    return intervals
