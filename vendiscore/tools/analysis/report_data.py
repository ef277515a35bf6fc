"""Content of a report: the requested values, and results about single samples."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...magnitude.curve import MagnitudeCurve, magnitude_curve
from ...magnitude.solver import IndefiniteError
from ...magnitude.space import MetricSpace
from ...measures.sample_set import SampleSet
from ...resolve.similarity_spec import check_no_fit
from ...result import build_value_rows
from ...scoring.compute import build_sample_set, check_references, evaluate_sample_set
from ...scoring.intervals import JACKKNIFE_INTERVALS
from ...scoring.score_request import (
    ScoreRequest,
    check_allow_repeats,
    check_pool_repeats,
    parse_request,
)
from ...scoring.subsampling import MIN_SAMPLES, MIN_VALUES
from ...similarity.base import Similarity
from ...similarity.features import FeatureSimilarity
from ...similarity.group_indices import subsample_indices
from ...similarity.matrix import MatrixSimilarity
from ...spectral.spectrum import Spectrum
from ...support.arguments import DEFAULT_THRESHOLD, check_bool, check_no_gradient
from ...support.namespace import is_numpy, to_float, to_host
from ...support.signature import to_plain
from ...support.summary import to_json_record
from ...support.types import Options, Record, Samples
from .explain import explain_sample_set
from .explanation import Explanation, take_sample_set
from .growth import MIN_EXTRAPOLATED_SIZE, Growth, growth_from_similarity
from .layout import clustered_order, kernel_pca_coordinates
from .phrase_costs import PhraseCosts
from .phrases import phrases as compute_phrases

DEFAULT_LEVEL = 0.95  # confidence level if the caller did not request an interval
# Maximum number of samples whose pairs are compared; larger sets are subsampled.
MAX_COMPARED = 2_000
# Maximum number of samples for growth, which requires many spectra.
MAX_GROWTH_SAMPLES = 1_000
# Maximum number of texts of a set for the costs of phrases, each of which requires a spectrum.
MAX_PHRASE_TEXTS = 500
_NGRAM_OPTIONS = ("ns", "tokenizer", "analyzer")  # of the kernel, and of `phrases`


# Attributes of `ReportData` before version 0.5.
_RENAMED = {
    "alike": "similarity_explanation",
    "chosen": "subsample_rows",
    "given": "input_samples",
    "looked": "subsample",
    "places": "indices",
    "seriated": "heat_map_order",
    "subject": "sample_set",
}


@dataclass(frozen=True, eq=False)
class ReportData:
    """The results that a report shows, each computed at first use.

    Attributes
    ----------
    sample_set : SampleSet
        The samples as input of measures.
    request : ScoreRequest
        The validated arguments of `compute`.
    input_samples : list, array or Similarity
        The samples as passed by the caller.
    references : list, array, Similarity or None
        The references as passed by the caller.
    numbers : dict
        Result of `compute` with `details`.
    arguments : dict
        Arguments of `compute` that give these values.
    no_interval : str
        Why there is no interval; empty if there is one.
    threshold : float
        Threshold of near-duplicates.
    floor : float or None
        Lowest threshold that `rethreshold` supports.
    profile_orders : tuple of float
        Orders of `profile`.

    See Also
    --------
    compute_report_data : Compute the content of a report.

    Examples
    --------
    >>> from vendiscore.report import compute_report_data
    >>> result = compute_report_data(["a cat", "a cat", "the dog"], None, {"ns": [1]})
    >>> round(result.value, 3), result.distinct, result.explanation.groups
    (1.89, 2, [(0, [1])])
    """

    # Steps of 1/8 up to 5, where most curves are flat.
    profile_orders: ClassVar[tuple[float, ...]] = tuple(np.arange(0, 5.125, 0.125).tolist())

    sample_set: SampleSet = field(repr=False)
    request: ScoreRequest = field(repr=False)
    arguments: Record = field(repr=False)  # of `compute`, for the same `numbers`
    input_samples: Samples = field(repr=False)  # the samples that the caller passed
    references: Samples | None = field(repr=False)
    numbers: Record
    no_interval: str = ""  # why the numbers have no interval
    threshold: float = DEFAULT_THRESHOLD  # of near-duplicates
    floor: float | None = None  # the lowest threshold for `rethreshold`

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            if name in _RENAMED:
                return getattr(self, _RENAMED[name])
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def details(self) -> Record:
        """The details of the result of `compute`: settings, sizes and notes."""
        return self.numbers["details"]

    @property
    def n(self) -> int:
        """Number of samples, without dropped ones."""
        return int(self.details["n"])

    @property
    def distinct(self) -> int:
        """Number of distinct samples under the kernel."""
        return int(self.details["distinct"])

    @property
    def grouped(self) -> bool:
        """True if the values are means over groups."""
        return self.sample_set.groups is not None

    @property
    def sizes(self) -> list[int]:
        """Number of samples, or of samples in each group; with prompts, the mean over prompts."""
        groups = self.sample_set.groups
        if groups is None:
            return [self.n]
        sizes = [row["n"] for row in self.details["groups"]]
        if groups.sets is None:
            return sizes
        sizes_by_prompt = sizes / np.bincount(groups.sets.codes)
        return np.rint(sizes_by_prompt).astype(int).tolist()

    @cached_property
    def order(self) -> float:
        """The order that the report describes: 1 if it was requested, else the first order."""
        return self.request.main_order

    @cached_property
    def key(self) -> str:
        """Key of the main value, with which the report begins."""
        key = self.request.vendi_key
        return key if key in self.numbers else next(iter(self.numbers))

    @property
    def is_vendi(self) -> bool:
        """True if the main value is a Vendi Score."""
        return self.key == self.request.vendi_key

    @property
    def value(self) -> float:
        """The main value."""
        return to_float(self.numbers[self.key])

    @property
    def rows(self) -> list[Record]:
        """All values with their intervals, as returned by `build_value_rows`."""
        return build_value_rows(self.numbers)

    @cached_property
    def interval(self) -> dict[str, float | None]:
        """Standard error and interval of the main value: "se", "low" and "high"."""
        (row,) = (row for row in self.rows if row["key"] == self.key)
        return {name: row[name] for name in ("se", "low", "high")}

    def to_dict(self) -> Record:
        """Return the results that a report shows, as built-in types for JSON.

        Returns
        -------
        dict
            "key", "value", "se", "low", "high" and "level", the main value with its interval;
            "n" and "distinct", the numbers of samples and of distinct samples; "q", the order;
            "group_size", the mean number of samples of a group; "max_score", the largest possible
            score of this number of samples; "typical", a sentence that compares the score with
            those of reference sets of the same size; "scale", names and scores of these reference
            sets; "strip", a text of two lines that shows the score among them; "signature", a line
            that identifies the metric and its options; "by_group", a list of dicts, if there are
            groups; "shares", the normalized eigenvalues, and "profile", the score by order, if
            there are similarities and no groups; "details", the details of `compute`. Missing
            values are None.
        """
        details = self.details
        group_size = sum(self.sizes) / len(self.sizes)
        dim = None if self.similarity is None else self.similarity.dim
        spectrum = profile = None
        if self.similarity is not None and not self.grouped:
            spectrum = to_host(self.spectrum.values)
            profile = {f"{q:g}": x for q, x in zip(self.profile_orders, self.profile, strict=True)}
        return to_json_record(
            {
                "key": self.key,
                "value": self.value,
                **self.interval,
                "level": details.get("interval", {}).get("level"),
                "n": self.n,
                "distinct": self.distinct,
                "q": self.order,
                "group_size": group_size,
                "max_score": min(group_size, dim or group_size),
                **{name: details[name] for name in ("typical", "scale", "strip", "signature")},
                "by_group": details.get("groups"),
                "shares": spectrum,
                "profile": profile,
                "details": to_plain(details),
            }
        )

    def without_matrices(self) -> ReportData:
        """Return a copy without K, and without the eigenvectors of samples outside the subsample.

        Returns
        -------
        ReportData
            The copy.
        """
        attributes = {name: view for name, view in vars(self).items() if name != "K"}
        if self.similarity is not None and len(self.subsample_rows) < self.similarity.n:
            sample_set = replace(self.sample_set)  # which has computed nothing
            sample_set.similarities = self.sample_set.similarities
            attributes |= {
                "sample_set": sample_set,
                "spectrum": replace(self.spectrum, vectors=None),
            }
        reduced = object.__new__(ReportData)
        vars(reduced).update(attributes)
        return reduced

    @cached_property
    def similarity(self) -> Similarity | None:
        """Similarity of the samples; None if only their distances were computed."""
        return self.sample_set.similarity if self.sample_set.has_similarities else None

    @cached_property
    def subsample_rows(self) -> np.ndarray:
        """The rows of the subsample in `similarity`: all rows, or 2000 random ones."""
        return subsample_indices(self.sample_set.similarity.n, MAX_COMPARED)

    @cached_property
    def subsample(self) -> SampleSet:
        """The samples in tables and figures of pairs: all samples or a random part."""
        if len(self.subsample_rows) == self.sample_set.similarity.n:
            return self.sample_set
        return take_sample_set(self.sample_set, self.subsample_rows)

    @cached_property
    def indices(self) -> np.ndarray:
        """Index of each sample of the subsample in the list that the caller passed."""
        return np.flatnonzero(self.sample_set.row_of_input >= 0)[self.subsample_rows]

    @cached_property
    def explanation(self) -> Explanation:
        """The result of `explain` for the subsample."""
        return self._explain(self.subsample, self.indices)

    @cached_property
    def similarity_explanation(self) -> Explanation:
        """The result of `explain`: for all samples with dense features, else for the subsample."""
        similarity = self.similarity
        if (
            isinstance(similarity, FeatureSimilarity)
            and is_numpy(similarity.X)
            and similarity.n > self.subsample.n
        ):
            return self._explain(self.sample_set, np.flatnonzero(self.sample_set.row_of_input >= 0))
        return self.explanation

    def _explain(self, sample_set: SampleSet, indices: np.ndarray) -> Explanation:
        q = self.order or 1.0  # contributions are not defined at order 0
        return explain_sample_set(
            sample_set, q, self.threshold, self.floor, self.sample_set.samples, indices
        )

    @cached_property
    def phrases(self) -> PhraseCosts | None:
        """The repeated phrases that cost most; None unless texts are compared by n-grams.

        Of more than 500 texts, a random subset is used. For larger groups, the result is None.
        """
        samples = self.sample_set.samples
        settings = None if self.similarity is None else self.similarity.settings
        if (
            settings is None
            or settings.get("kernel") != "ngram_overlap"
            or self.sample_set.spec.conditioning_prompts is not None
            or not isinstance(samples, list | tuple)
            or not all(isinstance(text, str) for text in samples)
        ):
            return None
        rows = np.arange(self.n)
        codes = None if self.sample_set.groups is None else self.sample_set.codes
        if codes is None:
            rows = subsample_indices(self.n, MAX_PHRASE_TEXTS)
        elif np.bincount(codes).max() > MAX_PHRASE_TEXTS:
            return None
        indices = np.flatnonzero(self.sample_set.row_of_input >= 0)[rows]
        p = None
        if self.sample_set.p is not None:
            p = to_host(self.sample_set.p)[rows]
            p = p / p.sum()
        options: dict[str, Any] = {name: settings[name] for name in _NGRAM_OPTIONS}
        return compute_phrases(
            [samples[i] for i in indices],
            groups=None if codes is None else codes.tolist(),
            p=p,
            q=self.order or 1.0,  # costs are not defined at order 0
            **options,
        )

    @cached_property
    def spectrum(self) -> Spectrum:
        """Spectrum of all samples if a measure needed it, else of the compared samples."""
        full_spectrum = self.sample_set.needed_spectrum
        return (
            self.subsample.eigen
            if full_spectrum is None or full_spectrum.single_precision
            else full_spectrum
        )

    @cached_property
    def profile(self) -> np.ndarray:
        """VS_q for every q of `profile_orders`."""
        return to_host(self.spectrum.profile(self.profile_orders))

    @cached_property
    def K(self) -> np.ndarray:
        """Similarity matrix of the compared samples."""
        return to_host(self.subsample.similarity.dense())

    @cached_property
    def heat_map_order(self) -> np.ndarray:
        """Order of the compared samples in a heat map; samples of a group are adjacent."""
        order = clustered_order(MatrixSimilarity(self.K))
        return order if self.codes is None else order[np.argsort(self.codes[order], kind="stable")]

    @property
    def coordinates(self) -> np.ndarray:
        """The coordinates of the n compared samples on a map, of shape (n, 2)."""
        return kernel_pca_coordinates(self.subsample.eigen, self.subsample.p)

    @cached_property
    def codes(self) -> np.ndarray | None:
        """Group code of each compared sample; None without groups."""
        groups = self.sample_set.groups
        return None if groups is None else groups.codes[self.indices]

    @cached_property
    def no_growth(self) -> str:
        """Sentence that explains why the report does not show growth; "" if it shows growth."""
        if self.similarity is None:
            return "Growth is not shown, because only distances were computed, not similarities."
        if self.grouped:
            return "Growth is not shown; it requires one set, but the samples are in groups."
        if self.sample_set.p is not None:
            return (
                "Growth is not shown, because it requires equally weighted samples (without `p`)."
            )
        if self.similarity.n < MIN_SAMPLES:
            return f"Growth is not shown, because it requires at least {MIN_SAMPLES} samples."
        return ""

    @cached_property
    def growth(self) -> Growth | None:
        """The score of smaller sets, and of up to twice as many samples; None if not available."""
        if self.no_growth or self.similarity is None:
            return None
        similarity = self.similarity
        spectrum = None
        if similarity.n > MAX_GROWTH_SAMPLES:
            similarity = similarity.take(subsample_indices(similarity.n, MAX_GROWTH_SAMPLES))
        else:
            spectrum = self.subsample.eigen
        n = similarity.n
        q = self.order
        sizes = {n // 8, n // 4, n // 2, n, 2 * n if n >= MIN_EXTRAPOLATED_SIZE or q == 2 else n}
        requested_sizes = sorted(size for size in sizes if size > 1)
        curve = growth_from_similarity(
            similarity,
            requested_sizes,
            q,
            level=self.request.ci or DEFAULT_LEVEL,
            psd=self.sample_set.psd,
            allow_repeats=self.request.allow_repeats,
            spectrum=spectrum,
        )
        low, high = self.interval["low"], self.interval["high"]
        if low is None or high is None or n < self.similarity.n or not self.is_vendi:
            return curve
        return curve.with_interval(n, low, high)  # one number has one interval

    @property
    def growth_text(self) -> str:
        """The text about growth and its limitations, or about why it is not shown."""
        if self.growth is None:
            return self.no_growth
        return " ".join(filter(None, [self.growth.sentence, self.growth.caution]))

    @cached_property
    def curve(self) -> MagnitudeCurve | None:
        """The magnitude function, if a measure used distances."""
        if self.grouped or not self.sample_set.spaces or self.sample_set.space.n > MAX_COMPARED:
            return None
        try:
            curve = magnitude_curve(self.sample_set.space)
        except (IndefiniteError, ArithmeticError):
            return None
        return curve if curve.convergence > 0 else None


@np.errstate(all="ignore")  # as `compute` does: numbers are checked
def compute_report_data(
    samples: Samples,
    references: Samples | None,
    arguments: Options,
    *,
    similarity: Similarity | None = None,
) -> ReportData:
    """Compute what `compute` returns, with an interval if possible, for a report.

    Parameters
    ----------
    samples : list, array-like or Similarity
        The samples, as for `compute`.
    references : list, array-like or Similarity or None
        Second set, for two-sample measures.
    arguments : mapping
        Other arguments of `compute`.
    similarity : Similarity, optional
        The similarity of the samples, if it is already computed.

    Returns
    -------
    ReportData
        The values, and further results that are computed at first use.

    Raises
    ------
    SampleError
        If samples are unusable; the message lists their indices.
    NotPSDError
        If similarities have negative eigenvalues and ``psd="check"``.
    TooLargeError
        If the computation does not fit in memory; raised before allocation.
    TypeError, ValueError
        If an argument is invalid.

    See Also
    --------
    vendiscore.report.report : Write a report in one call.
    report_of : Write the report from this data.

    Examples
    --------
    >>> from vendiscore.report import compute_report_data
    >>> result = compute_report_data(["a cat", "a cat", "the dog"], None, {"ns": [1]})
    >>> round(result.value, 3), result.order
    (1.89, 1.0)
    """
    keywords = dict(arguments)
    if "details" in keywords:
        raise TypeError("a report always includes details; remove `details`")
    # Validated first, because the interval that may be added below depends on these options.
    allow_repeats = check_bool("allow_repeats", keywords.get("allow_repeats", True))
    pool_repeats = check_bool("pool_repeats", keywords.get("pool_repeats", True))
    fixed_keywords = {"details": True}
    if keywords.get("ci") is None:
        fixed_keywords |= {"allow_repeats": True, "pool_repeats": True}
    request = parse_request({**keywords, **fixed_keywords}, allow_unused=frozenset({"q"}))
    check_references(references, request)
    if references is None:
        check_no_fit(request.spec)
    sample_set = build_sample_set(samples, references, request)
    check_no_gradient(
        "report",
        **request.spec.options,
        samples=sample_set.samples,
        references=sample_set.references,
        p=request.p,
    )
    sample_set.compares_within_groups = False  # all pairs are compared
    if similarity is not None:
        sample_set.similarities = [similarity]
    missing_reason = _missing_interval_reason(sample_set, request)
    names = {chosen.measure.name for chosen in request.measures}
    is_exact = sample_set.groups is None and request.estimate_options is None
    if request.ci is None and not missing_reason:
        keywords |= {"ci": DEFAULT_LEVEL}
        request = replace(request, ci=DEFAULT_LEVEL)
    elif "VS" in names and is_exact and sample_set.similarity.n <= MAX_COMPARED:
        sample_set.decompose()
    if not allow_repeats:
        measures = [chosen.measure for chosen in request.measures]
        clusters = request.clusters is not None
        check_allow_repeats(request.ci, clusters, sample_set.groups is not None, measures)
        request = replace(request, allow_repeats=False)
    if not pool_repeats:
        check_pool_repeats(request.ci, True, [chosen.measure for chosen in request.measures])
        request = replace(request, pool_repeats=False)
    result = evaluate_sample_set(sample_set, request)
    return ReportData(sample_set, request, keywords, samples, references, result, missing_reason)


def _missing_interval_reason(sample_set: SampleSet, request: ScoreRequest) -> str:
    """Explain in a sentence why there is no interval by default; "" if there is an interval."""
    names = [chosen.measure.name for chosen in request.measures]
    if request.ci is not None:
        return ""
    if request.estimate_options is not None:
        return "An estimated score has no confidence interval; remove `method` to compute one."
    if request.p is not None:
        return "There is no interval; it requires equally weighted samples, without `p`."
    if 0 in request.orders and any(chosen.measure.ordered for chosen in request.measures):
        return "There is no interval at order 0, where the score is a whole number of dimensions."
    if sample_set.groups is not None:
        if len(sample_set.groups.sets or sample_set.groups) < MIN_VALUES:
            return (
                "There is no interval, because a mean over groups requires at least three groups. "
                "If the groups are models, compare them instead of averaging their scores."
            )
        if len(request.group_measures) == len(names):
            return "There is no interval, because these measures use all groups together."
        return ""
    slow_measures = [name for name in names if name not in JACKKNIFE_INTERVALS]
    if slow_measures or isinstance(sample_set.samples, MetricSpace):
        return (
            f"No interval was computed, because it requires {(slow_measures or names)[0]} of many "
            f"random halves of the samples, which takes long; pass ci=0.95 to compute it."
        )
    n = sample_set.similarity.n
    dim = sample_set.similarity.dim or n
    if n < MIN_SAMPLES:
        return f"There is no interval, because it requires at least {MIN_SAMPLES} samples."
    if "VS" in names and min(n, dim) > MAX_COMPARED:
        return (
            f"No interval was computed, because it requires all eigenvectors of {n:,} samples, "
            f"which takes long; pass ci=0.95 to compute it."
        )
    return ""


# Names before version 0.5.
Findings = ReportData
find = compute_report_data
