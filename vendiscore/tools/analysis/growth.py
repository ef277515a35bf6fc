"""The score as a function of the number of samples m, up to twice the number n of samples passed.

Scores for m > n are extrapolated on the scale κ = (m/VS − 1)/(m − 1). At order 2, the expected κ is
the mean of k² over pairs of samples for every m. At other orders κ changes slowly with m, and
converges to 1/VS of infinitely many samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.eigenvalues import PSD, check_psd
from ...core.score import NUMPY_SOLVER, can_skip_eigenvalues
from ...measures.sample_set import SampleSet
from ...resolve.sample_labels import group_by_prompt
from ...resolve.similarity_builder import check_collection
from ...resolve.similarity_spec import KernelArgument, similarity_spec_from_keywords
from ...scoring.jackknife import (
    JackknifeEstimate,
    delete_one_error,
    jackknife,
    jackknife_from_leave_one_out,
)
from ...scoring.recurrence_intervals import (
    DeficitFunction,
    RecurrenceCounts,
    compute_deficit_interval,
    compute_score_interval,
    count_recurrences,
    make_log_deficit,
)
from ...scoring.score_request import check_confidence_level
from ...scoring.subsampling import MIN_SAMPLES, bounded_mean_interval, describe_missing_interval
from ...similarity.base import Similarity
from ...similarity.matrix import materialize_matrix
from ...spectral.eigendecomposition import estimate_eigensolver_work
from ...spectral.leave_one_out import compute_log_score, leave_one_out
from ...spectral.spectrum import Spectrum
from ...spectral.stacked_spectra import StackedSpectra
from ...spectral.vendi_scores import compute_spectrum
from ...support.arguments import (
    DEFAULT_ORDER,
    check_bool,
    check_int,
    check_no_gradient,
    check_order,
    is_collection,
)
from ...support.errors import short_repr, warn
from ...support.namespace import Array, to_host
from ...support.progress import announce_duration, track
from ...support.summary import (
    SummaryMixin,
    format_with_interval,
    make_frame,
    render_html_table,
    to_json_record,
)
from ...support.types import Axes, Frame, Record, Samples
from .. import plots
from .abundances import Abundances
from .unpaired_comparison import MAX_STACKED_SIZE

# An asymptote is reported if −log κ is larger; a smaller value may be rounding.
MIN_NOVELTY = 1e-6
MIN_EXTRAPOLATED_SIZE = 16  # extrapolation requires that n/8 is at least 2 samples
_FALL_ERROR_FACTOR = 2.0  # standard error of the correction for a decreasing ratio, relative to it
_MAX_STEP_RATIO = 1 - 1e-6  # maximum ratio of successive differences of log κ
_MIN_KAPPA = 1e-12
# At this order, the similarities of pairs determine the scores of any number of samples.
_IDENTIFIED_ORDER = 2
# The jackknife fails at order 0, where a sample changes the score by 0 or by one dimension.
_MIN_JACKKNIFE_ORDER = 0.1
# The number of random subsets of m samples is _SUBSET_WORK / m³, within the following limits.
_SUBSET_WORK = 5e7
_MIN_SUBSETS, _MAX_SUBSETS = 40, 4000


@dataclass(frozen=True, repr=False)
class Growth(SummaryMixin):
    """Result of `growth`: the score at several numbers of samples.

    Attributes
    ----------
    q : float
        Order of the score.
    level : float
        Confidence level of the intervals.
    n : int
        Number of samples; with prompts, of the smallest prompt.
    sizes : tuple of int
        Numbers of samples, in ascending order.
    scores : tuple of float
        VS_q at each size.
    low : tuple of float
        Lower end of the interval at each size, for other samples from the population.
    high : tuple of float
        Upper end of the interval at each size.
    extrapolated : tuple of bool
        Whether each size is above n.
    asymptote : tuple of float or None
        Score of infinitely many samples with its interval (score, low, high); None if it is not
        identified. Below order 2 it is a lower bound, as unseen classes may add any amount.
    coverage : tuple of float or None
        For labels, the proportion of the population that samples of each size cover.
    undecided : bool or None
        Whether the interval at 2n contains both the score of n samples and twice that score, so the
        data do not show what more samples would add. None if no size is above n, and with prompts.

    See Also
    --------
    vendiscore.growth : Compute a curve.

    Examples
    --------
    >>> result = growth(["a", "b"] * 8, [16, 32], q=2, k="labels")
    >>> result.n, result.extrapolated
    (16, (False, True))
    """

    _repr_attributes = ("n", "q", "level", "sizes")

    q: float
    level: float
    n: int
    sizes: tuple[int, ...]
    scores: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    extrapolated: tuple[bool, ...]
    asymptote: tuple[float, float, float] | None = None
    coverage: tuple[float, ...] | None = None
    undecided: bool | None = None

    @property
    def sentence(self) -> str:
        """A sentence with the score of n samples, the extrapolated score and the asymptote."""
        last = {beyond: i for i, beyond in enumerate(self.extrapolated)}
        parts = []
        for beyond, i in sorted(last.items()):
            score = format_with_interval(self.scores[i], self.low[i], self.high[i])
            parts.append(f"{'about ' * beyond}{score} for {self.sizes[i]:,} samples")
        if self.asymptote:
            score = format_with_interval(*self.asymptote)
            about = "about" if self.q >= _IDENTIFIED_ORDER else "at least about"
            parts.append(f"{about} {score} for infinitely many")
        elif True in last:
            parts.append("not identified for infinitely many")
        settings = f"{100 * self.level:g} % intervals, q={self.q:g}"
        return f"Effective number of samples: {'; '.join(parts)} ({settings})."

    @property
    def caution(self) -> str:
        """A sentence if there are too few samples to predict the score of more samples, or ""."""
        if not self.undecided:
            return ""
        return (
            f"{self.n:,} samples are too few to predict the score of more samples: the interval at "
            f"{2 * self.n:,} samples contains both the score of {self.n:,} samples and twice that "
            "score. Add more samples."
        )

    def to_frame(self) -> Frame:
        """Return one row per size as a pandas DataFrame.

        Returns
        -------
        pandas DataFrame
            The rows.
        """
        return make_frame(self._columns())

    def to_dict(self) -> Record:
        """Return the result as built-in types, for JSON; order infinity becomes "inf".

        Returns
        -------
        dict
            Values of built-in types.
        """
        names = ("level", "n", "asymptote", "coverage", "undecided")
        attributes = {name: getattr(self, name) for name in names}
        return to_json_record({"q": self.q} | attributes | self._columns())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the curve with its intervals, dashed above n.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        matplotlib Axes
            The axes with the plot.
        """
        return plots.growth(self.sizes, self.scores, self.low, self.high, self.n, ax=ax)

    def with_interval(self, size: int, low: float, high: float) -> Growth:
        """Return a copy with another interval at one size, such as that of `compute`.

        Parameters
        ----------
        size : int
            A number of samples in `sizes`.
        low : float
            Lower end of the interval.
        high : float
            Upper end of the interval.

        Returns
        -------
        Growth
            The copy.
        """
        i = self.sizes.index(size)
        lower = (*self.low[:i], low, *self.low[i + 1 :])
        upper = (*self.high[:i], high, *self.high[i + 1 :])
        return replace(self, low=lower, high=upper)

    def _columns(self) -> dict[str, Sequence[object]]:
        names = ["sizes", "scores", "low", "high", "extrapolated"]
        if self.coverage:
            names.append("coverage")
        return {name.removesuffix("s"): getattr(self, name) for name in names}

    def _repr_html_(self) -> str:
        return render_html_table(self._columns())


def growth(
    samples: Samples,
    sizes: Sequence[int] | None = None,
    *,
    q: float | str = DEFAULT_ORDER,
    level: float = 0.95,
    psd: PSD = "check",
    allow_repeats: bool = True,
    k: KernelArgument | None = None,
    **how: object,
) -> Growth:
    """Estimate the score as a function of the number of samples.

    The result shows whether more samples would increase the score much.

    Parameters
    ----------
    samples : list, array-like or Similarity
        The n samples, at least 4, assumed to be independent draws from one population. Not
        modified.
    sizes : sequence of int, optional
        Numbers of samples, from 1 to 2n; by default from n/16 to 2n. Sizes above n require n >= 16
        unless q is 2, and for labels order 0, 1 or 2.
    q : float or "inf", default 1
        Order of the score, 0 <= q <= infinity.
    level : float, default 0.95
        Confidence level of the intervals, 0.5 <= level < 1.
    psd : {"check", "clip"}, default "check"
        What to do with negative eigenvalues beyond rounding: raise a NotPSDError, or set them to
        zero and rescale the others. With "clip", subsets are drawn also at order 2.
    allow_repeats : bool, default True
        Whether intervals allow for samples that recur in the population even if none recurs in
        this set. False states that samples are continuous measurements, which never recur.
    k : str, callable, dict or list, optional
        The kernel, as for `compute`. Strings are compared by "ngram_overlap" if omitted.
    **how
        `score_K`, `score_X`, `normalize` and options of the kernel, as for `compute`. With
        `prompts`, the result is the mean curve over prompts, up to the size of the smallest, and
        intervals are over prompts.

    Returns
    -------
    Growth
        `sizes`, `scores`, `low`, `high`, `.to_frame()` and `.plot()`; for labels also `coverage`.

    Raises
    ------
    SampleError
        If samples are unusable; the message lists their indices.
    NotPSDError
        If similarities have negative eigenvalues and ``psd="check"``.
    TooLargeError
        If the computation does not fit in memory; raised before allocation.
    TypeError, ValueError
        If there are fewer than 4 samples, or sizes or another argument are invalid.

    Warns
    -----
    UserWarning
        If a size is above n and the interval at 2n contains both the score of n samples and twice
        that score, so the data do not show what more samples would add (`undecided`).

    See Also
    --------
    compute : Score of all samples, with its interval.
    compare : Compare sets at a common sample size.

    Notes
    -----
    Up to n, the curve is the mean of log VS over random subsets without replacement, with the
    variance reduced by regression on two sums whose mean over all subsets is known. Order 2 needs
    no subsets.

    Above n, the curve continues kappa = (m / VS - 1) / (m - 1), which at order 2 is the mean of k^2
    over pairs for every m. At other orders, changes of log kappa with each doubling continue as a
    geometric series. Doubling the number of samples increases the expected score by a factor
    between 1 and 2. This is proven for the power mean of VS_q with exponent 1 - q over sets, which
    is what is estimated at orders 1 and 2, and for labels at order 0; at other orders it is a rule
    of thumb.

    For labels at orders 0 and 1, the curve is rarefaction, extrapolation and asymptote as in iNEXT,
    at order 0 the mean of VS.

    Intervals use the jackknife of the logit of kappa, and allow for what these samples do not show.
    At n the interval is that of ``compute(ci=...)``, except at order 0.

    The asymptote at order 2 is 1 / kappa with an unbiased kappa. For labels at orders 0 and 1 it is
    a lower bound (at order 0 Chao1), as unseen classes may add any amount. Elsewhere it is not
    identified.

    Time is one decomposition with eigenvectors, and 5e7 / m^3 subsets (40 to 4000) for each size m
    below n; at order 2 one pass over all pairs; for labels O(n).

    References
    ----------
    1. A. Chao et al., "Rarefaction and Extrapolation with Hill Numbers", Ecological Monographs,
       2014.
    2. A. Chao and L. Jost, "Coverage-based Rarefaction and Extrapolation", Ecology, 2012.
    3. A. Chao, Y. T. Wang and L. Jost, "Entropy and the Species Accumulation Curve", Methods in
       Ecology and Evolution, 2013.
    4. B. Efron and C. Stein, "The Jackknife Estimate of Variance", Annals of Statistics, 1981.

    Examples
    --------
    >>> import vendiscore
    >>> result = vendiscore.growth(["a", "b"] * 8, [4, 16, 32], q=2, k="labels")
    >>> [round(score, 2) for score in result.scores]  # two classes, not always both among 4 samples
    [1.67, 2.0, 2.07]
    """
    order = check_order(q)
    level = check_confidence_level("level", level)
    psd = check_psd(psd)
    spec = similarity_spec_from_keywords({"k": k, **how}, growth, allow_grouping=True)
    collection = check_collection(samples, spec)
    spec, prompt_groups = group_by_prompt(spec, [collection])
    sample_set = SampleSet(collection, spec, groups=prompt_groups)
    similarity = sample_set.similarity
    check_no_gradient("growth", **how, samples=similarity)
    allow_repeats = check_bool("allow_repeats", allow_repeats)
    if prompt_groups is not None and not allow_repeats:
        raise TypeError(
            "`allow_repeats=False` has no effect on intervals of means over prompts; remove it"
        )
    similarities = [similarity]
    prompt_note = ""
    if prompt_groups is not None:
        prompt_note = " for each prompt"
        similarities = [
            similarity_of_prompt.similarity for similarity_of_prompt in sample_set.parts
        ]
    min_n = min(similarity_of_prompt.n for similarity_of_prompt in similarities)
    if min_n < MIN_SAMPLES:
        raise ValueError(
            f"`samples` must contain at least {MIN_SAMPLES} samples{prompt_note}, got {min_n}; add "
            f"samples"
        )
    is_closed_form = has_closed_form(similarity, order, psd)
    max_size = min_n
    if len(similarities) == 1 and (is_closed_form or min_n >= MIN_EXTRAPOLATED_SIZE):
        max_size = 2 * min_n
    checked_sizes = _check_sizes(sizes, min_n, max_size)
    curves = [
        growth_from_similarity(
            similarity_of_prompt,
            checked_sizes,
            order,
            level=level,
            psd=psd,
            allow_repeats=allow_repeats,
        )
        for similarity_of_prompt in similarities
    ]
    if len(curves) > 1:
        return _average_curves(curves, min_n)
    (curve,) = curves
    if curve.caution:
        warn(curve.caution)
    return curve


def _average_curves(curves: Sequence[Growth], n: int) -> Growth:
    """Average the curves of prompts; intervals are over prompts.

    All curves have the same sizes, of at most n samples.
    """
    first = curves[0]
    scores = np.array([curve.scores for curve in curves])
    means = []
    missing = ""
    for m, values in zip(first.sizes, scores.T, strict=True):
        means.append(bounded_mean_interval(values, first.level, 1.0, float(m)))
        if m > 1:  # the score of one sample is always 1
            _, _, low, high = means[-1]
            missing = missing or describe_missing_interval(
                len(curves), low, high, "low and high", "prompts"
            )
    if missing:
        warn(missing)
    mean, _, lower, upper = map(tuple, np.array(means).T.tolist())
    return Growth(first.q, first.level, n, first.sizes, mean, lower, upper, first.extrapolated)


def growth_from_similarity(
    similarity: Similarity,
    sizes: Sequence[int],
    q: float,
    *,
    level: float = 0.95,
    psd: PSD = "check",
    allow_repeats: bool = True,
    spectrum: Spectrum | None = None,
) -> Growth:
    """Compute growth at ascending `sizes`; `spectrum` is that of all samples, if available."""
    n = similarity.n
    larger_sizes = [m for m in sizes if m > n]
    classes = None
    if similarity.settings.get("kernel") == "labels":
        classes = similarity.groups()
    coverage = None
    limit_estimate = None
    log_scores: JackknifeEstimate | None
    # The scores at n and 2n show whether more samples would increase the score.
    all_sizes = sorted({*sizes, n, 2 * n} if larger_sizes else {*sizes, n})
    if classes is not None:
        abundances = Abundances(classes)
        coverage = tuple(map(abundances.coverage, sizes))
    if classes is not None and q in (0, 1):
        points = {m: redundancy_estimate(abundances.kappas(max(m, 2), q)) for m in all_sizes}
        limit_estimate = redundancy_estimate(abundances.kappas(math.inf, q))
        log_scores = _jackknife_log_scores(
            np.log(abundances.diversity(n, q)[abundances.expand_indices])
        )
    elif has_closed_form(similarity, q, psd):
        kappas = _mean_squared_similarity(similarity)
        limit_estimate = redundancy_estimate(kappas)
        points = dict.fromkeys(all_sizes, limit_estimate)
        inverse_sizes = 1 / np.append(n, np.full(n, n - 1))
        log_scores = _jackknife_log_scores(-np.log(inverse_sizes + (1 - inverse_sizes) * kappas))
    else:
        halves = [n // 8, n // 4, n // 2] if larger_sizes else []
        subset_sizes = sorted({m for m in all_sizes if m <= n} | {*halves})
        points, spectrum = _subsampled_redundancy(similarity, subset_sizes, q, psd, spectrum)
        last_estimates = [points[m] for m in [*halves, n]]
        for m in all_sizes:
            if m > n:
                points[m] = extrapolate_redundancy(last_estimates, math.log2(m / n))
        log_scores = jackknife(spectrum, q) if q else None
    repeats = count_recurrences(similarity, allow_repeats)
    deficit = make_log_deficit(q)
    # For each of `all_sizes`: the score, and both ends of its interval.
    curve = np.array([points[m].scores(m, deficit, level, repeats) for m in all_sizes])
    if q and log_scores is not None:  # the interval of `compute(ci=…)`, which has none at order 0
        n_position = all_sizes.index(n)
        curve[n_position, 1:] = compute_score_interval(
            curve[n_position, 0], log_scores, n, q, level, repeats, deficit
        )
        # Scores do not decrease with the number of samples, so neither may the ends of intervals.
        curve[:n_position, 1:] = np.minimum(curve[:n_position, 1:], curve[n_position, 1:])
        curve[n_position:, 1:] = np.maximum(curve[n_position:, 1:], curve[n_position, 1:])
    # The power mean of VS with exponent 1 − q never decreases with the number of samples. Means of
    # log VS are therefore made non-decreasing at all orders.
    curve[:, 0] = np.maximum.accumulate(curve[:, 0])
    curve[:, 1] = curve.min(axis=1)
    curve[:, 2] = curve.max(axis=1)
    undecided = None  # whether the interval at 2n contains both VS and 2 VS, so it excludes nothing
    if larger_sizes:
        _, low, high = curve[-1]
        score = curve[all_sizes.index(n), 0]
        undecided = bool(low <= score and high >= 2 * score)
    curve = curve[np.isin(all_sizes, sizes)]
    scores, low, high = map(tuple, curve.T.tolist())
    asymptote = None
    if limit_estimate and -math.inf < limit_estimate.log < -MIN_NOVELTY:
        asymptote = limit_estimate.scores(math.inf, deficit, level, None)
        # The score cannot exceed the number of features.
        if classes is None and similarity.dim and asymptote[0] > similarity.dim:
            asymptote = None
    is_beyond = tuple(m > n for m in sizes)
    return Growth(
        q, level, n, tuple(sizes), scores, low, high, is_beyond, asymptote, coverage, undecided
    )


def has_closed_form(similarity: Similarity, q: float, psd: PSD) -> bool:
    """Return whether the squares of similarities determine the scores of all numbers of samples.

    This is the case at q = 2, unless negative eigenvalues are clipped.
    """
    return can_skip_eigenvalues([q], similarity.psd, psd, NUMPY_SOLVER)


def _check_sizes(sizes: object, n: int, max_size: int) -> list[int]:
    """Validate `sizes`, at most `max_size`; return them in ascending order, or default sizes.

    n is the number of samples.
    """
    if sizes is None:
        doublings = np.arange(-8, 3) / 2
        default_sizes = np.round(n * 2.0**doublings).astype(int)
        return sorted({m for m in default_sizes.tolist() if 2 <= m <= max_size})
    requested = list(sizes) if is_collection(sizes) else []  # iterators can be read only once
    if not requested:
        raise TypeError(
            f"`sizes` must be a list of integers, got {short_repr(sizes)}; use for example [{n}]"
        )
    hint = f"sizes above {2 * n} cannot be extrapolated from {n} samples"
    if max_size == n:
        hint = (
            f"sizes above {n} require one set (without prompts) of at least "
            f"{MIN_EXTRAPOLATED_SIZE} samples, or of any size at q=2"
        )
    return sorted({check_int("sizes", m, 1, max_size, hint) for m in requested})


def _mean_squared_similarity(similarity: Similarity) -> np.ndarray:
    """Return the mean of k² over pairs of samples, shape (1 + n,).

    The first entry is for all n samples, and the following n entries are without each of them.
    """
    n = similarity.n
    sums = np.empty(n)
    for rows, K in similarity.blocks():
        sums[rows] = np.sum(to_host(K) ** 2, axis=1)
    sums -= to_host(similarity.diagonal()) ** 2
    total = sums.sum()
    mean = total / (n * (n - 1))
    means_leaving_one_out = (total - 2 * sums) / ((n - 1) * (n - 2))
    return np.append(mean, means_leaving_one_out)


def _jackknife_log_scores(logs: np.ndarray) -> JackknifeEstimate:
    """Return the jackknife estimate of log VS.

    `logs`, shape (1 + n,), is log VS of all n samples, and then without each single sample.
    """
    return jackknife_from_leave_one_out(float(logs[0]), logs[1:])


def _subsampled_redundancy(
    similarity: Similarity,
    sizes: Sequence[int],
    q: float,
    psd: PSD,
    spectrum: Spectrum | None,
) -> tuple[dict[int, RedundancyEstimate], Spectrum]:
    """Estimate κ = (m/VS − 1)/(m − 1) for each size m from random subsets of the n samples.

    VS is the geometric mean over subsets. Two control variates reduce the variance of log VS: the
    sums of squares and of cubes of mλ − 1 over eigenvalues λ, whose means over all subsets are
    known. The relative changes of κ without single samples are taken from κ of all n samples. Also
    return the spectrum of all samples.
    """
    n = similarity.n
    similarity_matrix = materialize_matrix(similarity, n)
    rng = np.random.default_rng(0)
    points = {}
    work = sum(
        _MIN_SUBSETS * estimate_eigensolver_work(min(m, similarity_matrix.dim or n)) for m in sizes
    )
    with announce_duration(f"Scoring subsets of {n:,} samples", work):
        if spectrum is None:
            spectrum = compute_spectrum(similarity_matrix, psd=psd, vectors=True)
        log = compute_log_score(spectrum, q)
        log_scores_leaving_one_out = leave_one_out(spectrum, max(q, _MIN_JACKKNIFE_ORDER))
        relative_kappas = np.expm1(
            math.log(n)
            - log
            - np.append(0, log_scores_leaving_one_out - log_scores_leaving_one_out.mean())
        )
        relative_kappas /= max(relative_kappas[0], _MIN_KAPPA)
        full_power_sums = _power_sums(spectrum.values, n)
        for m in track(sizes, len(sizes), "drawing subsets"):
            mean = log if m == n else 0.0
            error = 0.0
            if 1 < m < n:
                rows = _score_random_subsets(similarity_matrix, m, q, psd, rng)
                pair_probability = m * (m - 1) / (n * (n - 1))
                gaps = rows[:, 1:] - full_power_sums * pair_probability * np.array(
                    [1, (m - 2) / (n - 2)]
                )
                mean, error = _regression_intercept(rows[:, 0], gaps)
            ratio_excess = math.expm1(math.log(m) - mean)  # m/VS − 1
            kappa_error = error * (1 + 1 / max(ratio_excess, _MIN_KAPPA))
            points[m] = redundancy_estimate(
                ratio_excess / max(m - 1, 1) * relative_kappas, kappa_error
            )
    return points, spectrum


def _score_random_subsets(
    similarity: Similarity, m: int, q: float, psd: PSD, rng: np.random.Generator
) -> np.ndarray:
    """Return log VS and both `_power_sums` of g random subsets of m samples, shape (g, 3)."""
    count = int(np.clip(_SUBSET_WORK / m**3, _MIN_SUBSETS, _MAX_SUBSETS))
    subsets = np.argsort(rng.random((count, similarity.n)), axis=1)[:, :m]
    rows = np.empty((count, 3))
    unstacked = np.arange(count)
    if m <= MAX_STACKED_SIZE:
        stack = StackedSpectra(
            to_host(similarity.stack(subsets)), None, [q, DEFAULT_ORDER], psd, similarity=similarity
        )
        rows = np.column_stack([np.log(stack.values[0]), _power_sums(stack.eigenvalues.values, m)])
        unstacked = np.flatnonzero(stack.unusual)  # such as invalid similarities
    for i in unstacked:
        of_subset = compute_spectrum(similarity.take(subsets[i]), psd=psd)
        rows[i] = [compute_log_score(of_subset, q), *_power_sums(of_subset.values, m)]
    return rows


def _power_sums(values: Array, m: int) -> np.ndarray:
    """Return Σ (mλ − 1)² and Σ (mλ − 1)³ over m eigenvalues λ, shape (…, 2).

    `values`, shape (…, r), are the first r eigenvalues; the others are 0.
    """
    gaps = m * to_host(values)[..., None] - 1
    powers = np.array([2, 3])
    return np.sum(gaps**powers, axis=-2) + (m - gaps.shape[-2]) * (-1) ** powers


def _regression_intercept(logs: np.ndarray, gaps: np.ndarray) -> tuple[float, float]:
    """Regress g values `logs` on two variables, `gaps` of shape (g, 2), by least squares.

    Return the intercept and its standard error.
    """
    design = np.column_stack([np.ones(len(logs)), gaps])
    inverse = np.linalg.pinv(design, rcond=1e-12)
    solution = inverse @ logs
    error = np.linalg.norm(inverse[0]) * np.std(logs - design @ solution)
    return float(solution[0]), float(error)


@dataclass(frozen=True)
class RedundancyEstimate:
    """Estimate of log κ for some number of samples m, where κ = (m/VS − 1)/(m − 1).

    `changes`, shape (n,), are the changes of log κ if each of the n samples is removed in turn.
    `model_error` is the standard error of the extrapolation, or of the mean over random subsets.
    """

    log: float
    changes: np.ndarray
    model_error: float = 0.0

    @property
    def error(self) -> float:
        """Standard error of log κ, from the jackknife error and the model error.

        κ is (m/VS − 1)/(m − 1) for m samples.
        """
        return math.hypot(delete_one_error(self.changes), self.model_error)

    def scores(
        self, m: float, deficit: DeficitFunction, level: float, repeats: RecurrenceCounts | None
    ) -> tuple[float, float, float]:
        """Return VS_q of m samples, and the lower and upper end of its interval.

        The interval is symmetric on the scale log(κ/(1 − κ)), where κ is (m/VS − 1)/(m − 1).
        `deficit` computes log n − log VS for the interval, `level` is its confidence level, and
        `repeats` contains the counts of recurring samples, or is None.
        """
        unclipped_kappa = math.exp(self.log)
        kappa = min(unclipped_kappa, 1 - _MIN_KAPPA)

        def odds(K: np.ndarray, w: np.ndarray, n: int) -> float:
            kappa = min(math.expm1(deficit(K, w, n)) / (n - 1), 1 - _MIN_KAPPA)
            return kappa / (1 - kappa)

        observed_odds = kappa / (1 - kappa)
        spread = self.error / (1 - kappa) if kappa else math.inf
        odds_estimate = JackknifeEstimate(
            self.log, observed_odds * self.error / (1 - kappa), spread, len(self.changes)
        )
        low, high = compute_deficit_interval(observed_odds, odds_estimate, level, repeats, odds)
        low = max(low, 0.0)
        kappas = np.array([unclipped_kappa, 1 / (1 + 1 / high), low / (1 + low)])
        inverse = 1 / m + (1 - 1 / m) * kappas
        score, lower, upper = (1 / inverse).tolist()
        return score, lower, upper


def redundancy_estimate(values: np.ndarray, model_error: float = 0.0) -> RedundancyEstimate:
    """Build the estimate of log κ, where κ = (m/D − 1)/(m − 1) for m samples of diversity D.

    `values`, shape (1 + n,), contains κ of all n samples, and then without each single sample.
    `model_error` is the standard error of log κ from the extrapolation; it is 0 without one.
    """
    if values[0] <= _MIN_KAPPA:
        return RedundancyEstimate(-math.inf, np.zeros(len(values) - 1))
    relative_values = values[1:] / values[0]
    # If κ without some sample is nearly 0, log κ diverges; use its linear approximation instead.
    changes = np.log(relative_values) if relative_values.min() > 0.01 else relative_values - 1
    return RedundancyEstimate(math.log(values[0]), changes, model_error)


def extrapolate_redundancy(
    kappas: Sequence[RedundancyEstimate], doublings: float
) -> RedundancyEstimate:
    """Extrapolate κ to n · 2^doublings samples from κ of n/8, n/4, n/2 and n samples.

    Differences of log κ between successive doublings continue as a geometric series, with the ratio
    of the last two differences, which is at least 1/2 (the ratio of a bias proportional to 1/n). If
    this ratio is smaller than the ratio before it, a correction assumes that it decreases again.
    """
    with np.errstate(all="ignore"):
        steps = np.nan_to_num(np.diff([kappa.log for kappa in kappas]), posinf=0.0, neginf=0.0)
        ratios = np.nan_to_num(steps[1:] / steps[:-1], posinf=0.0)
    previous_ratio, ratio = np.clip(ratios, 0.5, _MAX_STEP_RATIO).tolist()
    future_change = float(steps[-1]) * (1 - ratio**doublings) / (1 - ratio)
    ratio_correction = max(0.0, previous_ratio - ratio) * future_change
    log = kappas[-1].log + ratio * future_change - ratio_correction
    return replace(kappas[-1], log=log, model_error=_FALL_ERROR_FACTOR * abs(ratio_correction))
