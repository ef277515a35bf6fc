"""Standard errors and intervals of numbers: by the delete-one jackknife, or from random halves."""

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
from .deficit import MOST_COUNTED, Repeats, deficit_ends, repeats_of, score_ends
from .jackknife import NO_DEFICIT, Jackknife, delete_one_error, jackknife
from .request import WITH_JACKKNIFE, Request
from .subsampling import DRAWS, MIN_SAMPLES, halves_error, student_reach

MEASURED = 30  # samples: for fewer, the coverage of intervals by halves was not measured
# With fewer, a note says that coverage may be low: 95 % intervals of near-copies under a narrow
# kernel cover 91 to 93 % with 8 clusters, 91 to 95 % with 20, and 93 to 96 % with 40
# (benchmarks/few_samples.py, part `clusters`, results benchmarks/results/few_samples.json).
MANY_CLUSTERS = 20
# Below this an error, of log VS say, is the rounding of 0.
_NO_WIDTH = 1e-9
_LOG = 1  # the least value of effective numbers, whose errors are found for the logarithm

_NO_EVIDENCE = {  # whether the interval has a width
    True: "every sample changes the score equally, for example because none repeats or all are "
    "the same. The interval covers how often other samples of the source may repeat, or differ, "
    "although these samples do not show it.",
    False: "every sample changes the score equally, and the interval does not cover what other "
    "samples of the source would score.",
}

MEANING = (
    "NAME_se is the standard error of the score of n samples: how much the scores of n samples of "
    "the same source vary"
)


@dataclass
class Uncertainty:
    """Errors and intervals, by keys of numbers and by suffix, and how they were found."""

    numbers: dict[str, dict[str, float]] = field(default_factory=dict)
    methods: dict[str, str] = field(default_factory=dict)  # by measure
    meaning: str = MEANING
    assumes: str = "Independent samples are assumed; `clusters=` names those that came together."
    notes: list[str] = field(default_factory=list)
    allow_repeats: bool | None = None  # None where it changes no interval
    table: list[Record] = field(default_factory=list)  # of groups, a row each
    pooled_groups: int | None = None  # whose repeats their intervals share; None without these

    def with_scores(self, scores: Iterable[Options]) -> Record:
        """Return the scores of all measures, each followed by its error and interval."""
        every: Record = {}
        for own in scores:
            for key, value in own.items():
                every[key] = value
                for ending, number in self.numbers.get(key, {}).items():
                    every[f"{key}_{ending}"] = number
        return every


def uncertainty_of(subject: SampleSet, request: Request, scores: Sequence[Options]) -> Uncertainty:
    """Find the standard error and the interval of each score."""
    found = Uncertainty()
    units = _units(subject, request)
    for chosen, own in zip(request.measures, scores, strict=True):
        name = chosen.measure.name
        values = list(map(to_float, own.values()))
        if name in CLOSED:
            found.methods[name] = "jackknife"
            every = CLOSED[name](subject, units, values)
        else:
            found.methods[name] = "subsample"
            every = _subsampled(subject, units, values, chosen, request)
        least, most = chosen.measure.limits(subject.n)
        for key, (error, low, high) in zip(own, every, strict=True):
            low = max(low, least)
            high = min(high, most)
            if high - low <= _NO_WIDTH * max(1.0, abs(high)):
                found.notes.append(f"The interval of {key} has no width: {_NO_EVIDENCE[False]}")
                warn(found.notes[-1])
            elif error < _NO_WIDTH:
                found.notes.append(f"{key}_se is 0: {_NO_EVIDENCE[True]}")
            found.numbers[key] = {"se": error, "low": low, "high": high}
    if units.repeats is not None and units.repeats.has_few_pairs:
        found.notes.append(_allowance(units.repeats, units.level, request.allow_repeats))
        if not request.allow_repeats:
            warn(found.notes[-1])
    if units.repeats is not None and units.repeats.near is not None:
        found.notes.append(
            f"{subject.n} samples are {len(units.repeats.near.counts)} kinds of near-copies, far "
            "nearer to each other than to all others: the interval takes near-copies for samples "
            "that recur."
        )
    if units.codes is None and CLOSED.keys() & request.names:
        # What was done, which the signature states.
        found.allow_repeats = request.allow_repeats or units.repeats is not None
        if not found.allow_repeats:
            found.assumes += " Samples are taken to be continuous measurements."
    if units.codes is not None:
        found.assumes = "Independent clusters are assumed."
        if units.m < MANY_CLUSTERS:
            found.notes.append(
                f"With fewer than {MANY_CLUSTERS} clusters, here {units.m}, the interval holds a "
                "little less often than its level says where few of them have anything in common."
            )
    if "subsample" in found.methods.values() and units.m < MEASURED:
        found.notes.append(
            f"Intervals by halves were not shown to hold for fewer than {MEASURED} samples or "
            f"clusters; there are {units.m} here."
        )
    return found


def _allowance(repeats: Repeats, level: float, allow_repeats: bool) -> str:
    """Return a sentence on the recurrence that an interval allows for, and why."""
    if not allow_repeats:
        reason = "only a few pairs of these samples have much in common"
        if repeats.pairs:
            reason = f"these samples have {repeats.pairs:g} equal pairs"
        return (
            f"The interval allows for samples that recur in spite of allow_repeats=False, since "
            f"{reason}, and the jackknife alone does not hold then."
        )
    seen = f"{repeats.pairs:g} equal pairs" if repeats.pairs else "no repeat"
    _, share = repeats.compute_share_interval(level)
    return (
        f"{repeats.n} samples with {seen} do not exclude that one of them makes up "
        f"{share * 100:.0f} % of the source: the interval allows for it; "
        f"allow_repeats=False states that samples are continuous measurements."
    )


def check_asked(n: int) -> None:
    """Raise a ValueError for samples that are too few for an interval."""
    if n < MIN_SAMPLES:
        raise ValueError(
            f"`ci` needs at least {MIN_SAMPLES} samples, got {n}, which are too few to tell how "
            "other samples would score; score more samples, or leave `ci` out"
        )


@dataclass(frozen=True)
class Units:
    """Independent units: samples, or clusters of them, of which each sample has a code."""

    m: int
    level: float
    codes: np.ndarray | None = None
    repeats: Repeats | None = None


def _units(subject: SampleSet, request: Request) -> Units:
    assert request.ci is not None
    if request.clusters is None:
        closed = CLOSED.keys() & request.names
        repeats = None
        if closed:
            repeats = repeats_of(subject.similarity, request.allow_repeats)
        return Units(subject.n, request.ci, None, repeats)
    codes = _cluster_codes(request.clusters, subject.row_of_input >= 0)
    return Units(int(codes.max()) + 1, request.ci, codes)


def _cluster_codes(clusters: GroupLabels, is_retained: np.ndarray) -> np.ndarray:
    """Return the cluster code of each sample that is retained, of enough clusters."""
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


# An interval: the standard error, and both ends.
Ends: TypeAlias = tuple[float, float, float]


def _of_spectrum(subject: SampleSet, units: Units, values: Sequence[float]) -> list[Ends]:
    """Return the intervals of the Vendi Score for each order."""
    every = []
    for value, q in zip(values, subject.orders, strict=True):
        found = jackknife(subject.eigen, q, units.codes)
        ends = score_ends(value, found, subject.n, q, units.level, units.repeats)
        every.append((float(value * found.error), *ends))
    return every


def _of_similarity(subject: SampleSet, units: Units, values: Sequence[float]) -> list[Ends]:
    """Return the interval of the mean similarity of two samples."""
    n = subject.n
    rows = n * to_host(subject.ordinariness[1])  # sums of the rows of K
    total = rows.sum()
    own = to_host(subject.similarity.diagonal())
    if units.codes is None:
        rest = np.array(n - 1)
        lost = 2 * rows - own
    else:
        rest = n - np.bincount(units.codes)
        parts = map(subject.similarity.take, group_indices(units.codes))
        within = [to_host(part.dense()).sum() for part in parts]
        lost = 2 * np.bincount(units.codes, rows) - within
    left = (total - lost - rest) / (rest * (rest - 1))
    error = float(delete_one_error(left))
    (value,) = values
    skewed = units.repeats is not None
    if not skewed and n <= MOST_COUNTED and left.min() > 0:
        skewed = to_host(subject.similarity.dense()).min() > -NO_DEFICIT
    if not skewed:
        reach = student_reach(units.level, units.m) * error
        return [(error, value - reach, value + reach)]
    spread = delete_one_error(np.log(left)) if left.min() > _NO_WIDTH else math.inf
    found = Jackknife(math.nan, error, spread, units.m)

    def mean(K: np.ndarray, w: np.ndarray, m: int) -> float:
        return float(m * (w @ K @ w) - 1) / (m - 1)

    return [(error, *deficit_ends(value, found, units.level, units.repeats, mean))]


def _of_diversity(subject: SampleSet, units: Units, values: Sequence[float]) -> list[Ends]:
    """Return the interval of IntDiv, which is 1 − 1/n less of the mean similarity."""
    n = subject.n
    (value,) = values
    share = 1 - 1 / n
    ((error, low, high),) = _of_similarity(subject, units, [1 - value / share])
    return [(error * share, share * (1 - high), share * (1 - low))]


# Measures whose leave-one-out values cost no more than the measure itself.
CLOSED = dict(zip(WITH_JACKKNIFE, (_of_spectrum, _of_diversity, _of_similarity), strict=True))


def _subsampled(
    subject: SampleSet,
    units: Units,
    values: Sequence[float],
    chosen: ConfiguredMeasure,
    request: Request,
) -> list[Ends]:
    """Return the intervals of any measure, from halves of the samples or clusters."""
    places = np.flatnonzero(subject.row_of_input >= 0)
    of_log = chosen.measure.limits(subject.n)[0] >= _LOG
    codes = np.arange(subject.n) if units.codes is None else units.codes

    def scores(some: np.ndarray) -> np.ndarray:
        rows = np.flatnonzero(np.isin(codes, some))
        part = SampleSubset(subject, places[rows], needs=frozenset([chosen.measure.needs]))
        (found,) = evaluate_measures(part, [chosen], request.suffixes)
        numbers = np.array(list(map(to_float, found.values())))
        return np.log(numbers) if of_log else numbers

    rng = np.random.default_rng(0)
    errors = halves_error(units.m, scores, units.m // 2, DRAWS, rng).tolist()
    every = []
    for value, error in zip(values, errors, strict=True):
        reach = student_reach(units.level, units.m) * error
        if of_log:
            factor = math.exp(reach)
            every.append((value * error, value / factor, value * factor))
        else:
            every.append((error, value - reach, value + reach))
    return every
