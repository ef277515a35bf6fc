"""Standard errors and intervals of scores, by the delete-one jackknife or random halves."""

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
    MAX_KINDS,
    RecurrenceCounts,
    compute_deficit_interval,
    compute_score_interval,
    count_recurrences,
)
from .score_request import WITH_JACKKNIFE, ScoreRequest
from .subsampling import MIN_SAMPLES, N_DRAWS, half_sampling_error, t_critical_value

MIN_TESTED_SAMPLES = 30  # for fewer samples, the coverage of intervals from halves was not measured
# With fewer clusters, a note warns of low coverage: 95 % intervals for near-copies under a narrow
# kernel cover 91 to 93 % with 8 clusters, 91 to 95 % with 20, and 93 to 96 % with 40
# (benchmarks/few_samples.py, part `clusters`, results in benchmarks/results/few_samples.json).
MIN_RELIABLE_CLUSTERS = 20
# A smaller standard error, for example of log VS, is rounding of 0.
_WIDTH_TOLERANCE = 1e-9
# The minimum of effective numbers, whose errors are computed for the logarithm.
_MIN_EFFECTIVE_NUMBER = 1

_EQUAL_CHANGE_NOTES = {  # by whether the interval has positive width
    True: "every sample changes the score equally, for example because none repeats or all are "
    "the same. The interval covers how often other samples of the source may repeat, or differ, "
    "although these samples do not show it.",
    False: "every sample changes the score equally, and the interval does not cover what other "
    "samples of the source would score.",
}

STANDARD_ERROR_MEANING = (
    "NAME_se is the standard error of the score of n samples: how much the scores of n samples of "
    "the same source vary"
)


@dataclass
class Uncertainty:
    """Standard errors and intervals by key and suffix, with the methods used."""

    statistics: dict[str, dict[str, float]] = field(default_factory=dict)
    methods: dict[str, str] = field(default_factory=dict)  # by measure
    meaning: str = STANDARD_ERROR_MEANING
    assumes: str = "Independent samples are assumed; `clusters=` names those that came together."
    notes: list[str] = field(default_factory=list)
    allow_repeats: bool | None = None  # None if it affects no interval
    table: list[Record] = field(default_factory=list)  # one row per group
    pooled_groups: int | None = None  # number of groups with a common rate of repeats, or None

    def with_scores(self, scores: Iterable[Options]) -> Record:
        """Return the scores of all measures, each followed by its error and interval."""
        every: Record = {}
        for own in scores:
            for key, value in own.items():
                every[key] = value
                for ending, number in self.statistics.get(key, {}).items():
                    every[f"{key}_{ending}"] = number
        return every


def estimate_uncertainty(
    sample_set: SampleSet, request: ScoreRequest, scores: Sequence[Options]
) -> Uncertainty:
    """Estimate the standard error and interval of each score."""
    found = Uncertainty()
    units = _build_sampling_units(sample_set, request)
    for chosen, own in zip(request.measures, scores, strict=True):
        name = chosen.measure.name
        values = list(map(to_float, own.values()))
        if name in JACKKNIFE_INTERVALS:
            found.methods[name] = "jackknife"
            every = JACKKNIFE_INTERVALS[name](sample_set, units, values)
        else:
            found.methods[name] = "subsample"
            every = _subsampling_intervals(sample_set, units, values, chosen, request)
        least, most = chosen.measure.limits(sample_set.n)
        for key, (error, low, high) in zip(own, every, strict=True):
            low = max(low, least)
            high = min(high, most)
            if high - low <= _WIDTH_TOLERANCE * max(1.0, abs(high)):
                found.notes.append(
                    f"The interval of {key} has no width: {_EQUAL_CHANGE_NOTES[False]}"
                )
                warn(found.notes[-1])
            elif error < _WIDTH_TOLERANCE:
                found.notes.append(f"{key}_se is 0: {_EQUAL_CHANGE_NOTES[True]}")
            found.statistics[key] = {"se": error, "low": low, "high": high}
    if units.repeats is not None and units.repeats.has_few_pairs:
        found.notes.append(
            _describe_recurrence_allowance(units.repeats, units.level, request.allow_repeats)
        )
        if not request.allow_repeats:
            warn(found.notes[-1])
    if units.repeats is not None and units.repeats.near is not None:
        found.notes.append(
            f"{sample_set.n} samples are {len(units.repeats.near.counts)} kinds of near-copies, "
            "far "
            "nearer to each other than to all others: the interval takes near-copies for samples "
            "that recur."
        )
    if units.codes is None and JACKKNIFE_INTERVALS.keys() & request.names:
        # the method actually used, for the signature
        found.allow_repeats = request.allow_repeats or units.repeats is not None
        if not found.allow_repeats:
            found.assumes += " Samples are taken to be continuous measurements."
    if units.codes is not None:
        found.assumes = "Independent clusters are assumed."
        if units.m < MIN_RELIABLE_CLUSTERS:
            found.notes.append(
                f"With fewer than {MIN_RELIABLE_CLUSTERS} clusters, here {units.m}, the interval "
                "holds a "
                "little less often than its level says where few of them have anything in common."
            )
    if "subsample" in found.methods.values() and units.m < MIN_TESTED_SAMPLES:
        found.notes.append(
            f"Intervals by halves were not shown to hold for fewer than {MIN_TESTED_SAMPLES} "
            "samples or "
            f"clusters; there are {units.m} here."
        )
    return found


def _describe_recurrence_allowance(
    repeats: RecurrenceCounts, level: float, allow_repeats: bool
) -> str:
    """Describe the recurrence that an interval allows for, and the reason."""
    if not allow_repeats:
        reason = "only a few pairs of these samples have much in common"
        if repeats.pairs:
            reason = f"these samples have {repeats.pairs:g} equal pairs"
        return (
            f"The interval allows for samples that recur in spite of allow_repeats=False, since "
            f"{reason}, and the jackknife alone does not hold then."
        )
    seen = f"{repeats.pairs:g} equal pairs" if repeats.pairs else "no repeat"
    _, share = repeats.compute_proportion_interval(level)
    return (
        f"{repeats.n} samples with {seen} do not exclude that one of them makes up "
        f"{share * 100:.0f} % of the source: the interval allows for it; "
        f"allow_repeats=False states that samples are continuous measurements."
    )


def check_sample_count(n: int) -> None:
    """Raise a ValueError if there are too few samples for an interval."""
    if n < MIN_SAMPLES:
        raise ValueError(
            f"`ci` needs at least {MIN_SAMPLES} samples, got {n}, which are too few to tell how "
            "other samples would score; score more samples, or leave `ci` out"
        )


@dataclass(frozen=True)
class SamplingUnits:
    """Independent sampling units: samples, or clusters given by a code per sample."""

    m: int
    level: float
    codes: np.ndarray | None = None
    repeats: RecurrenceCounts | None = None


def _build_sampling_units(sample_set: SampleSet, request: ScoreRequest) -> SamplingUnits:
    assert request.ci is not None
    if request.clusters is None:
        closed = JACKKNIFE_INTERVALS.keys() & request.names
        repeats = None
        if closed:
            repeats = count_recurrences(sample_set.similarity, request.allow_repeats)
        return SamplingUnits(sample_set.n, request.ci, None, repeats)
    codes = _cluster_codes(request.clusters, sample_set.row_of_input >= 0)
    return SamplingUnits(int(codes.max()) + 1, request.ci, codes)


def _cluster_codes(clusters: GroupLabels, is_retained: np.ndarray) -> np.ndarray:
    """Return the cluster code of each retained sample; raise if there are too few clusters."""
    check_size(clusters, len(is_retained), "clusters")
    codes = np.unique(clusters.codes[is_retained], return_inverse=True)[1]
    m = int(codes.max()) + 1
    if m < MIN_SAMPLES:
        raise ValueError(
            f"`clusters` must be at least {MIN_SAMPLES}, got {m} of {len(codes)} samples, which "
            "are too few to tell how others would score; add samples of other clusters, or leave "
            "them out"
        )
    return codes


# the standard error and both ends of an interval
ErrorAndInterval: TypeAlias = tuple[float, float, float]


def _vendi_score_intervals(
    sample_set: SampleSet, units: SamplingUnits, values: Sequence[float]
) -> list[ErrorAndInterval]:
    """Return intervals of the Vendi Score for each order."""
    every = []
    for value, q in zip(values, sample_set.orders, strict=True):
        found = jackknife(sample_set.eigen, q, units.codes)
        ends = compute_score_interval(value, found, sample_set.n, q, units.level, units.repeats)
        every.append((float(value * found.error), *ends))
    return every


def _mean_similarity_interval(
    sample_set: SampleSet, units: SamplingUnits, values: Sequence[float]
) -> list[ErrorAndInterval]:
    """Return the interval of the mean similarity of two samples."""
    n = sample_set.n
    rows = n * to_host(sample_set.ordinariness[1])  # row sums of K
    total = rows.sum()
    own = to_host(sample_set.similarity.diagonal())
    if units.codes is None:
        rest = np.array(n - 1)
        lost = 2 * rows - own
    else:
        rest = n - np.bincount(units.codes)
        parts = map(sample_set.similarity.take, group_indices(units.codes))
        within = [to_host(part.dense()).sum() for part in parts]
        lost = 2 * np.bincount(units.codes, rows) - within
    left = (total - lost - rest) / (rest * (rest - 1))
    error = float(delete_one_error(left))
    (value,) = values
    skewed = units.repeats is not None
    if not skewed and n <= MAX_KINDS and left.min() > 0:
        skewed = to_host(sample_set.similarity.dense()).min() > -NO_DEFICIT
    if not skewed:
        reach = t_critical_value(units.level, units.m) * error
        return [(error, value - reach, value + reach)]
    spread = delete_one_error(np.log(left)) if left.min() > _WIDTH_TOLERANCE else math.inf
    found = JackknifeEstimate(math.nan, error, spread, units.m)

    def mean(K: np.ndarray, w: np.ndarray, m: int) -> float:
        return float(m * (w @ K @ w) - 1) / (m - 1)

    return [(error, *compute_deficit_interval(value, found, units.level, units.repeats, mean))]


def _internal_diversity_interval(
    sample_set: SampleSet, units: SamplingUnits, values: Sequence[float]
) -> list[ErrorAndInterval]:
    """Return the interval of IntDiv, which is (1 − 1/n)(1 − mean similarity)."""
    n = sample_set.n
    (value,) = values
    share = 1 - 1 / n
    ((error, low, high),) = _mean_similarity_interval(sample_set, units, [1 - value / share])
    return [(error * share, share * (1 - high), share * (1 - low))]


# Measures whose leave-one-out values cost no more than the measure itself.
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
    """Return the intervals of any measure from random halves of the samples or clusters."""
    places = np.flatnonzero(sample_set.row_of_input >= 0)
    of_log = configured.measure.limits(sample_set.n)[0] >= _MIN_EFFECTIVE_NUMBER
    codes = np.arange(sample_set.n) if units.codes is None else units.codes

    def evaluate_units(units_drawn: np.ndarray) -> np.ndarray:
        rows = np.flatnonzero(np.isin(codes, units_drawn))
        part = SampleSubset(sample_set, places[rows], needs=frozenset([configured.measure.needs]))
        (found,) = evaluate_measures(part, [configured], request.suffixes)
        numbers = np.array(list(map(to_float, found.values())))
        return np.log(numbers) if of_log else numbers

    rng = np.random.default_rng(0)
    errors = half_sampling_error(units.m, evaluate_units, units.m // 2, N_DRAWS, rng).tolist()
    every = []
    for value, error in zip(values, errors, strict=True):
        reach = t_critical_value(units.level, units.m) * error
        if of_log:
            factor = math.exp(reach)
            every.append((value * error, value / factor, value * factor))
        else:
            every.append((error, value - reach, value + reach))
    return every
