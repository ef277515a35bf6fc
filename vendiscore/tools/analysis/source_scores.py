"""Similarities of sources, the effective number of sources, and its confidence interval.

Answers are compared within prompts, which gives an array of mean similarities of shape (prompts,
sources, sources). Sets without prompts are compared as a whole. The similarity of two sources is
the cosine of their mean features, computed from sums of mean similarities. The effective number of
sources is the Vendi Score of these similarities. Its interval is that of a jackknife over prompts,
or over random blocks of samples if there are no prompts.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy

from ...core.eigenvalues import PSD, check_psd
from ...resolve.similarity_builder import build_set_similarities, has_fitted_options
from ...resolve.similarity_spec import SimilaritySpec
from ...scoring.jackknife import delete_one_error
from ...scoring.score_request import check_confidence_level
from ...scoring.subsampling import MIN_VALUES, logit_interval, t_critical_value
from ...similarity.base import Similarity
from ...similarity.group_indices import group_indices, iter_groups_by_size, submatrices
from ...similarity.matrix import MatrixSimilarity
from ...similarity.sample_arrays import take_samples
from ...similarity.set_means import (
    exclude_self_similarity,
    mean_feature_cosines,
    mean_similarities,
    sum_between_sets,
)
from ...spectral.leave_one_out import leave_one_out
from ...spectral.stacked_spectra import StackedSpectra
from ...spectral.vendi_scores import compute_spectrum
from ...support import memory
from ...support.arguments import check_bool, check_no_gradient, check_order
from ...support.errors import NotPSDError, SampleError, short_repr, warn
from ...support.namespace import row_blocks, to_float, to_host
from ...support.parallel import map_ordered
from ...support.progress import track
from ...support.types import Options
from .answer_table import AnswerTable
from .layout import clustered_order, kernel_pca_coordinates
from .sources_result import ScoreWithInterval, SourceRow, Sources

# Kernel options are fitted to at most this many random answers.
MAX_FITTED_ANSWERS = 1_000
# Maximum number of random blocks into which a set without prompts is divided, for the jackknife.
MAX_BLOCKS = 20
ROUNDING = 1e-9
CLIPPED_NOTE = (
    "Negative eigenvalues of the similarities of sources were set to zero. They occur because each "
    "pair of sources is compared only on the prompts that both answered."
)
# Coverage of intervals of MEASURED_LEVEL in benchmarks/sources.py (parts `few`, with answers of
# humans and models, and `empty`, with simulated answers; results in
# benchmarks/results/sources.json). With 8 prompts or more, it is 94 to 97 %. The lowest and highest
# coverage of all tested cases with fewer prompts, in percent, by number of prompts:
MEASURED_LEVEL = 0.95
MEASURED_COVERAGE = {3: (93, 99), 4: (91, 99), 5: (87, 98), 6: (92, 98), 7: (93, 97)}
# Descriptions of why rows of a table were dropped, by row.
Problems: TypeAlias = dict[int, str]


@dataclass(frozen=True)
class SourcesOptions:
    """Validated arguments of `sources` with the same names."""

    q: float
    level: float | None
    psd: PSD
    given_prompt: bool


class SourceSimilarity(NamedTuple):
    """Similarities of n sources over all sampling units, and without single units.

    A sampling unit is a prompt or a block. `similarity`, shape (n, n), is NaN if undefined.
    `leaving_one_out` yields arrays of shape (…, n, n), with one matrix for all units except one.
    `units` is the number of units.
    """

    similarity: np.ndarray
    leaving_one_out: Iterator[np.ndarray]
    units: int


class SourceComparison(NamedTuple):
    """Similarities of n sources, and how they were computed.

    Attributes
    ----------
    plain : SourceSimilarity
        Similarities from means over all pairs of answers.
    corrected : SourceSimilarity
        Similarities from means that exclude pairs of an answer with itself.
    counts : array of shape (n,)
        Number of answers of each source.
    within : array of shape (n,)
        Mean similarity of two answers of the same source.
    complete : bool
        Whether all sources have answers to all prompts.
    per_prompt : tuple of float
        Effective number of sources for each prompt.
    settings : mapping
        Settings of the kernel.
    dropped : Problems
        Why answers were dropped, by row.
    """

    plain: SourceSimilarity
    corrected: SourceSimilarity
    counts: np.ndarray
    within: np.ndarray
    complete: bool
    per_prompt: tuple[float, ...]
    settings: Options
    dropped: Problems


def check_sources_options(
    q: object, level: object, psd: object, given_prompt: object
) -> SourcesOptions:
    """Validate the arguments of `sources` with the same names."""
    if level is not None:
        level = check_confidence_level("level", level)
    order = check_order(q, allow_zero=False)
    return SourcesOptions(order, level, check_psd(psd), check_bool("given_prompt", given_prompt))


def compare_sources(table: AnswerTable, spec: SimilaritySpec, options: SourcesOptions) -> Sources:
    """Compare the sources of a table and return the result of `sources`."""
    check_no_gradient("sources", **spec.options, samples=table.samples)
    check_table(table, options.given_prompt)
    usable, spec, dropped = fit_kernel(table, spec, options.given_prompt)
    comparison = compare_answers(usable, spec, options) if table.prompts else compare_sets(usable)
    dropped |= comparison.dropped
    if dropped and not isinstance(spec.k, tuple):  # kernels of a mixture warn themselves
        row = min(dropped)
        warn(
            f"dropped {len(dropped)} of {len(table.source)} samples that `sources` cannot use "
            f"(on_error='skip'), for example {table.describe(row)} {dropped[row]}"
        )
    plain, corrected = comparison.plain, comparison.corrected
    S = plain.similarity
    check_defined(table.names, S)
    K = MatrixSimilarity(S)
    notes = []
    try:
        spectrum = compute_spectrum(K, psd=options.psd, vectors=True)
    except NotPSDError:
        if comparison.complete:
            raise
        spectrum = compute_spectrum(K, psd="clip", vectors=True)
        notes.append(CLIPPED_NOTE)
    value = to_float(spectrum.effective_number(options.q))
    score = estimate_score(value, plain, options, logit_interval)
    corrected_score = None
    if np.isfinite(corrected.similarity).all():
        (value,) = compute_scores(corrected.similarity[None], options.q).tolist()
        corrected_score = estimate_score(value, corrected, options, student_interval)
    units = plain.units
    if options.level is not None and 1 < units < MIN_VALUES:
        unit = "prompts" if table.prompts else "samples in the smallest set"
        notes.append(
            f"There is no interval, because it requires at least {MIN_VALUES} {unit}, got {units}."
        )
    elif options.level == MEASURED_LEVEL and table.prompts and units in MEASURED_COVERAGE:
        lowest, highest = MEASURED_COVERAGE[units]
        notes.append(
            f"With {units} prompts, 95 % intervals covered the true value in {lowest} to {highest} "
            f"% of cases in tests on human, model and simulated answers (benchmarks/sources.py)."
        )
    contributions = score.value - np.exp(leave_one_out(spectrum, options.q))
    contributions = np.where(abs(contributions) < ROUNDING, 0.0, contributions)
    return Sources(
        describe_sources(table.names, S, comparison.counts, comparison.within, contributions),
        score,
        corrected_score,
        options.q,
        options.level,
        S,
        table.prompts,
        comparison.per_prompt,
        clustered_order(K),
        kernel_pca_coordinates(spectrum),
        comparison.settings,
        tuple(notes),
        {int(table.index[row]): problem for row, problem in sorted(dropped.items())},
    )


# Kernel options and usable answers


def fit_kernel(
    table: AnswerTable, spec: SimilaritySpec, given_prompt: bool
) -> tuple[AnswerTable, SimilaritySpec, Problems]:
    """Load the model and fit the kernel options once for all prompts.

    Return the table of answers, the specification with fitted options, and the problems of dropped
    rows. Options are fitted to at most 1000 random answers. But if the kernel has a model or is a
    mixture, or if there are no prompts or at most 1000 answers, the similarity of all usable
    answers is computed here. The returned table then contains this similarity instead of the
    samples.
    """
    rows = np.arange(len(table.source))
    has_model = "model" in getattr(spec.k, "options", ())
    uses_one_call = has_model or isinstance(spec.k, tuple) or not table.prompts
    if uses_one_call or (has_fitted_options(spec) and len(rows) <= MAX_FITTED_ANSWERS):
        similarity, rows, dropped = select_usable(table, spec, given_prompt, rows)
        return table.select(rows, similarity), spec, dropped
    if has_fitted_options(spec):
        random_rows = np.random.default_rng(0).permutation(rows)[:MAX_FITTED_ANSWERS]
        similarity, _, _ = select_usable(table, spec, given_prompt, np.sort(random_rows))
        if similarity is not None:
            spec = replace(spec, options={**spec.options, **similarity.fitted})
    return table, spec, {}


def select_usable(
    table: AnswerTable, spec: SimilaritySpec, given_prompt: bool, rows: np.ndarray
) -> tuple[Similarity | None, np.ndarray, Problems]:
    """Compute the similarity of the usable answers in `rows` of the table.

    Also return the rows of these answers, and the problems of the dropped rows. Raise a SampleError
    if an answer is unusable and `spec.drop_unusable` is False.
    """
    if isinstance(table.samples, Similarity) and len(rows):
        return table.samples.take(rows), rows, {}
    dropped: Problems = {}
    strict = replace(spec, drop_unusable=False)
    while len(rows):
        if given_prompt:
            strict = strict.with_prompts(
                [table.prompts[i] for i in table.prompt[rows]], given_prompt=True
            )
        try:
            (similarity,) = build_set_similarities(
                [take_samples(table.samples, rows)], strict, ["samples"]
            )
        except SampleError as error:
            problems = error.reindexed(rows).problems
            if not spec.drop_unusable:
                raise locate_error(table, problems) from error.__cause__
            dropped |= problems
            rows = np.setdiff1d(rows, list(problems))
            continue
        dropped |= {int(rows[i]): problem for i, problem in similarity.dropped.items()}
        return similarity, np.delete(rows, list(similarity.dropped)), dropped
    return None, rows, dropped


def locate_error(table: AnswerTable, problems: Problems) -> SampleError:
    """Build the error about unusable answers; `problems` maps rows of the table to problems."""
    first = min(problems)
    by_index = {int(table.index[row]): problem for row, problem in problems.items()}
    message = f"({table.describe(first)}) {problems[first]}"
    error = SampleError(int(table.index[first]), message, by_index)
    error.problems = by_index
    return error


# Similarities of answers to prompts


def compare_answers(
    table: AnswerTable, spec: SimilaritySpec, options: SourcesOptions
) -> SourceComparison:
    """Compare the answers of sources within prompts."""
    means, counts, settings, dropped = compute_means(table, spec, options.given_prompt)
    answer_counts = counts.sum(axis=0)
    if not answer_counts.all():
        name = table.names[int(answer_counts.argmin())]
        raise ValueError(f"{name!r} has no usable answers; remove this source")
    has_answers = counts > 0
    compared = has_answers.sum(axis=1) > 1  # by at least two sources
    if not compared.any():
        raise ValueError(
            "no prompt has answers from two sources; pass sources that answer the same prompts"
        )
    check_shared(table.names, has_answers[compared])
    self_similarities = means.diagonal(axis1=1, axis2=2)
    distinct_similarities = exclude_self_similarity(self_similarities, counts)
    n_repeated = np.count_nonzero(counts > 1, axis=0)
    with np.errstate(invalid="ignore"):
        within = np.nansum(distinct_similarities, axis=0) / n_repeated
    distinct_similarities = np.where(has_answers, distinct_similarities, 0.0)
    means, self_similarities, distinct_similarities, has_answers = (
        x[compared] for x in (means, self_similarities, distinct_similarities, has_answers)
    )
    per_prompt = np.full(len(compared), np.nan)
    per_prompt[compared] = score_prompts(means, self_similarities, options.q)
    return SourceComparison(
        sum_prompts(means, self_similarities, has_answers),
        sum_prompts(means, distinct_similarities, has_answers),
        counts=answer_counts,
        within=within,
        complete=bool(has_answers.all()),
        per_prompt=tuple(per_prompt.tolist()),
        settings=settings,
        dropped=dropped,
    )


def compute_means(
    table: AnswerTable, spec: SimilaritySpec, given_prompt: bool
) -> tuple[np.ndarray, np.ndarray, Options, Problems]:
    """Compute the mean similarity of each pair of the n sources for each prompt, in threads.

    Return the means (prompts, n, n), the numbers of answers (prompts, n), the settings of the
    kernel, and the problems of dropped rows.
    """
    n = len(table.names)
    rows = group_indices(table.prompt, len(table.prompts))
    means = np.zeros((len(rows), n, n))
    counts = np.zeros((len(rows), n))
    settings: Options = {}
    dropped: Problems = {}
    compare = partial(compare_rows, table, spec, given_prompt)
    results = track(map_ordered(compare, rows), len(rows), "comparing answers")
    for prompt, result in enumerate(results):
        means[prompt], counts[prompt], kernel_settings, problems = result
        settings = kernel_settings or settings
        dropped |= problems
    return means, counts, settings, dropped


def compare_rows(
    table: AnswerTable, spec: SimilaritySpec, given_prompt: bool, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Options, Problems]:
    """Compute the mean similarity of each pair of the n sources for one prompt.

    `rows` are the row indices of its answers. Return the means (n, n), the numbers of answers (n,),
    the settings of the kernel, and the problems of dropped rows.
    """
    n = len(table.names)
    similarity, usable, dropped = select_usable(table, spec, given_prompt, rows)
    if similarity is None:
        return np.zeros((n, n)), np.zeros(n), {}, dropped
    codes = table.source[usable]
    counts = np.bincount(codes, minlength=n)
    means = mean_similarities(sum_between_sets(similarity, codes, n), counts)
    return means, counts, dict(similarity.settings), dropped


def score_prompts(means: np.ndarray, self_similarities: np.ndarray, q: float) -> np.ndarray:
    """Return the effective number of sources for each prompt, shape (prompts,).

    `means`, shape (prompts, n, n), are the mean similarities between the answers of n sources, and
    `self_similarities`, shape (prompts, n), the mean similarities within each source. A source with
    a self-similarity of 0 or less is omitted for this prompt.
    """
    scores = np.zeros(len(means))
    prompts, sources = np.nonzero(self_similarities > 0)
    for prompt_indices, positions in iter_groups_by_size(prompts):
        scores[prompt_indices] = compute_scores(
            submatrices(means[prompt_indices], sources[positions]), q
        )
    return scores


def sum_prompts(
    means: np.ndarray, self_similarities: np.ndarray, has_answers: np.ndarray
) -> SourceSimilarity:
    """Compute similarities of n sources over all prompts, and without single prompts.

    `means`, shape (prompts, n, n), are the mean similarities between the answers of n sources, and
    `self_similarities`, shape (prompts, n), the mean similarities within each source. The mask
    `has_answers`, shape (prompts, n), is True if a source answered a prompt.
    """
    between = means.sum(axis=0)
    within = self_similarities.T @ has_answers
    sums_leaving_one_out = (
        (
            between - means[block],
            within - self_similarities[block, :, None] * has_answers[block, None, :],
        )
        for block in row_blocks(len(means), between.nbytes, min_rows=1)
    )
    return compute_similarity(between, within, sums_leaving_one_out, len(means))


# Similarities of sets without prompts


def compare_sets(table: AnswerTable) -> SourceComparison:
    """Compare sets without prompts, which are divided into random blocks for the jackknife."""
    n = len(table.names)
    sizes = np.bincount(table.source, minlength=n)
    if not sizes.all():
        name = table.names[int(sizes.argmin())]
        raise ValueError(f"{name!r} has no samples; remove this source")
    blocks = int(min(MAX_BLOCKS, sizes.min()))
    cells = table.source * blocks + draw_blocks(table.source, blocks)
    sums = sum_between_sets(table.samples, cells, n * blocks).reshape(n, blocks, n, blocks)
    sizes_leaving_one_out = sizes - np.bincount(cells, minlength=n * blocks).reshape(n, blocks).T
    means = mean_similarities(sums.sum(axis=(1, 3)), sizes)
    means_leaving_one_out = mean_similarities(sums_without_blocks(sums), sizes_leaving_one_out)
    self_similarities = means.diagonal()
    self_similarities_leaving_one_out = means_leaving_one_out.diagonal(axis1=1, axis2=2)
    distinct_similarities = exclude_self_similarity(self_similarities, sizes)
    distinct_similarities_leaving_one_out = exclude_self_similarity(
        self_similarities_leaving_one_out, sizes_leaving_one_out
    )
    return SourceComparison(
        compute_similarity(
            means,
            self_similarities[:, None],
            [(means_leaving_one_out, self_similarities_leaving_one_out[..., None])],
            blocks,
        ),
        compute_similarity(
            means,
            distinct_similarities[:, None],
            [(means_leaving_one_out, distinct_similarities_leaving_one_out[..., None])],
            blocks,
        ),
        counts=sizes,
        within=distinct_similarities,
        complete=True,
        per_prompt=(),
        settings=dict(table.samples.settings),
        dropped={},
    )


def draw_blocks(codes: np.ndarray, blocks: int) -> np.ndarray:
    """Assign samples to random blocks of nearly equal size, and return block codes, shape (n,).

    `codes` contains the set of each of n samples, `blocks` is the number of blocks of each set.
    """
    rng = np.random.default_rng(0)
    block_codes = np.empty(len(codes), dtype=int)
    for rows in group_indices(codes):
        block_codes[rows] = rng.permutation(len(rows)) % blocks
    return block_codes


def sums_without_blocks(sums: np.ndarray) -> np.ndarray:
    """Return sums of similarities between n sets without single blocks, shape (blocks, n, n).

    `sums`, shape (n, blocks, n, blocks), are the sums of similarities between blocks of sets.
    """
    sums_with_block = sums.sum(axis=3).swapaxes(0, 1)
    sums_within_block = np.moveaxis(sums.diagonal(axis1=1, axis2=3), -1, 0)
    return (
        sums.sum(axis=(1, 3)) - sums_with_block - sums_with_block.swapaxes(1, 2) + sums_within_block
    )


# Similarities and scores of sources


def compute_similarity(
    between: np.ndarray,
    within: np.ndarray,
    sums_leaving_one_out: Iterable[tuple[np.ndarray, np.ndarray]],
    units: int,
) -> SourceSimilarity:
    """Compute similarities of n sources over all sampling units, and without single units.

    `between`, shape (n, n), are sums of similarities between two sources. `within` are sums within
    the source of the row, over the units that the source of the column shares with it; shape (n, n)
    or (n, 1). `sums_leaving_one_out` yields both sums without single units. Similarities are NaN if
    the sum within a source is 0 or less. The only common unit of two sources is never removed.
    """
    S = mean_feature_cosines(between, np.where(within > 1e-12, within, np.nan))
    leaving_one_out = (
        mean_feature_cosines(
            np.where(within_sums <= 0, between, sums),
            np.where(within_sums <= 0, within, within_sums),
        )
        for sums, within_sums in sums_leaving_one_out
    )
    return SourceSimilarity(S, leaving_one_out, units)


def compute_scores(stack: np.ndarray, q: float) -> np.ndarray:
    """Return VS_q of g matrices of m sources each, shape (g, m, m).

    Negative eigenvalues are set to zero.
    """
    return to_host(StackedSpectra(stack, None, [q], "clip").values[0])


def estimate_score(
    value: float,
    sources: SourceSimilarity,
    options: SourcesOptions,
    compute_interval: Callable[..., tuple[float, float]],
) -> ScoreWithInterval:
    """Return the effective number of sources, `value`, with its jackknife error and interval.

    `compute_interval` maps the value, its leave-one-out values, the level and the smallest and
    largest possible value to both ends. With fewer units than `MIN_VALUES`, there is no interval.
    """
    if options.level is None or sources.units < MIN_VALUES:
        return ScoreWithInterval(value)
    score = partial(compute_scores, q=options.q)
    scores = np.concatenate(list(map_ordered(score, sources.leaving_one_out)))
    error = float(delete_one_error(scores))
    n = float(len(sources.similarity))
    if error < ROUNDING:
        return ScoreWithInterval(
            value, 0.0, *interval_without_spread(value, sources, options.level, options.q)
        )
    return ScoreWithInterval(value, error, *compute_interval(value, scores, options.level, 1.0, n))


def student_interval(
    value: float, scores_leaving_one_out: np.ndarray, level: float, lower: float, upper: float
) -> tuple[float, float]:
    """Return both ends of Student's t interval of a value, limited to [lower, upper].

    It is used for corrected scores, which can be 1, where the logit is infinite.
    """
    half_width = t_critical_value(level, len(scores_leaving_one_out)) * float(
        delete_one_error(scores_leaving_one_out)
    )
    return max(lower, value - half_width), min(upper, value + half_width)


def interval_without_spread(
    value: float, sources: SourceSimilarity, level: float, q: float
) -> tuple[float, float]:
    """Return both ends of the interval of a score that no single prompt (or block) changes.

    The interval allows for a proportion of unobserved units, the upper end of Jeffreys' interval
    for an observed proportion of 0 (Brown, Cai & DasGupta 2001). For the lower end, all sources are
    assumed to give equal answers in unobserved units; for the upper end, completely different ones.
    """
    unseen_proportion = 1 - scipy.special.betaincinv(sources.units + 0.5, 0.5, (1 - level) / 2)
    S = sources.similarity
    extremes = np.stack([np.ones_like(S), np.eye(len(S))])
    low, high = compute_scores(S + unseen_proportion * (extremes - S), q).tolist()
    return min(low, value), max(high, value)


def describe_sources(
    names: Sequence[str],
    S: np.ndarray,
    counts: np.ndarray,
    within_similarities: np.ndarray,
    contributions: np.ndarray,
) -> tuple[SourceRow, ...]:
    """Return one row per source, with its size, contribution and most similar source.

    S, shape (n, n), are the similarities of the n sources. The other arrays contain one number per
    source, shape (n,): `counts`, of its answers; `within_similarities`, of its answers to the same
    prompt, on average; `contributions`, the score minus the score without this source.
    """
    off_diagonal = np.where(np.eye(len(S)) > 0, -np.inf, S)
    nearest = off_diagonal.argmax(axis=1).tolist()
    return tuple(
        SourceRow(
            names[i],
            int(counts[i]),
            float(contributions[i]),
            names[j],
            float(S[i, j]),
            None if np.isnan(within_similarities[i]) else float(within_similarities[i]),
        )
        for i, j in enumerate(nearest)
    )


# Checks and messages


def check_table(table: AnswerTable, given_prompt: bool) -> None:
    """Raise if prompts cannot be conditioned on, or if the similarities do not fit in memory."""
    prompts, n = len(table.prompts), len(table.names)
    if given_prompt and not prompts:
        raise TypeError(
            "`given_prompt` requires `prompts`; pass the prompts, or remove `given_prompt`"
        )
    non_strings = [prompt for prompt in table.prompts if not isinstance(prompt, str)]
    if given_prompt and non_strings:
        raise TypeError(
            f"`given_prompt` requires prompts that are strings, got {short_repr(non_strings[0])}"
        )
    memory.require(
        8 * n**2 * prompts,
        f"similarities of {n} sources for each of {prompts} prompts",
        "pass fewer sources or fewer prompts",
    )


def check_shared(names: Sequence[str], has_answers: np.ndarray) -> None:
    """Raise if two sources have no prompt in common.

    `has_answers`, shape (prompts, sources), is True where a source has answers to a prompt.
    """
    shared = has_answers.T.astype(float) @ has_answers
    disjoint = np.argwhere(np.triu(shared == 0, 1))
    if len(disjoint):
        a, b = disjoint[0]
        raise ValueError(
            f"{names[a]!r} and {names[b]!r} have no answered prompt in common; remove one of them"
        )


def check_defined(names: Sequence[str], S: np.ndarray) -> None:
    """Raise if the similarities of a source, a row of S, are NaN."""
    n_defined = np.isfinite(S).sum(axis=1)
    first_undefined = int(n_defined.argmin())
    if n_defined[first_undefined] < len(S):
        raise ValueError(
            f"the answers of {names[first_undefined]!r} to the same prompt have a mean similarity "
            f"of 0 or less, so the cosine with other sources is undefined; use a kernel without "
            f"negative values, or remove {names[first_undefined]!r}"
        )
