"""The function `compare`.

`compare` validates its arguments and pools the samples of all sets. `comparison_steps` compares
sets as a whole (module `unpaired_comparison`) or within groups (module `paired_comparison`). Both
use the intervals and p-values of `pair_inference`.
"""

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from ...core.eigenvalues import PSD
from ...resolve.kernel import kernels_with_option
from ...resolve.sample_labels import GroupLabels as Labels
from ...resolve.sample_labels import (
    check_size,
    count_samples_by_set,
    encode_labels,
    flatten_groups,
    flatten_sets,
    group_by_prompt,
    name_sets,
    parse_group_labels,
    parse_groups_by_set,
    parse_set_labels,
)
from ...resolve.similarity_builder import (
    build_pooled_similarity,
    build_set_similarities,
    check_collection,
)
from ...resolve.similarity_spec import (
    SIMILARITY_KEYWORDS,
    KernelArgument,
    SimilaritySpec,
    similarity_spec_from_keywords,
)
from ...scoring.subsampling import MIN_SAMPLES, MIN_VALUES, describe_missing_interval
from ...similarity.base import Similarity
from ...similarity.sample_arrays import check_same_grouping, flatten_nested
from ...support.arguments import DEFAULT_ORDER, check_int, check_no_gradient, is_collection
from ...support.errors import short_repr, warn
from ...support.progress import Counts, run_with_progress
from ...support.signature import to_plain
from ...support.suggestions import replacement_hint
from ...support.types import Options, Record, SampleContainer, Samples
from .compare_options import CompareOptions, Effects
from .comparison import Comparison, GroupPairRow
from .equal_quality import MIN_QUALITY_SIZE, QualityParts, estimate_quality_parts
from .group_comparison import compare_in_groups
from .pair_inference import adjust_p_values, difference_level, min_permutations
from .paired_comparison import (
    GroupIndices,
    count_missing_cells,
    match_groups,
    needs_random_permutations,
    paired_comparison_steps,
    shuffle_larger_sets,
)
from .unpaired_comparison import unpaired_comparison_steps

# Group labels of the samples of each set, in a sequence or by set name.
GroupLabelsBySet: TypeAlias = Sequence[object] | Options | None
# Similarity of all samples, and the set (as a position) and the group label of each sample.
PooledSamples: TypeAlias = tuple[Similarity, np.ndarray, list[Hashable] | None]


def compare(
    *sets: Samples,
    names: Sequence[str] | None = None,
    by: object = None,
    groups: GroupLabelsBySet = None,
    correct: GroupLabelsBySet = None,
    q: float | str = DEFAULT_ORDER,
    level: float = 0.95,
    permutations: int = 999,
    size: int | None = None,
    psd: PSD = "check",
    seed: int = 0,
    within: float | None = None,
    effects: Effects = "random",
    allow_repeats: bool = True,
    pool_repeats: bool = True,
    k: KernelArgument | None = None,
    **how: object,
) -> Comparison:
    """Compare the diversity of two or more sets and test whether they differ.

    Sets are compared at a common sample size. The result contains a score with a confidence
    interval for each set, and a difference with an interval and a p-value for each pair.

    Parameters
    ----------
    *sets : list or array-like
        Two or more sets with at least 4 samples each, all of one type; one dict from names to
        sets; or one list of all samples, with `by`. Options that are fitted to data, such as a
        bandwidth, are fitted to all sets together. In lists of lists, the lists at the same
        position in each set form a group, for example the answers to one prompt. Not modified.
    names : sequence of str, optional
        One name per set; by default A, B, and so on, or the name of the folder.
    by : sequence of labels, optional
        Name of the set of each sample, as in ``compare(df["answer"], by=df["model"])``.
    groups : sequence of sequences of labels, or dict of these, optional
        For each set, the group of each of its samples; with `by`, one sequence for all samples.
        Sets are then compared within groups, and differences are means over groups. With two sets,
        groups with fewer than two samples of a set are dropped, with a warning. With more sets, see
        the note about missing cells.
    correct : sequence of sequences of bool, or dict of these, optional
        For each set, whether each of its samples is correct; with `by`, one sequence for all
        samples. For a threshold on a quality, pass ``quality >= 0.5``. The result then also shows
        in `quality_parts` how much of each difference is due to correct answers and how much to
        failures. Requires `groups` or `prompts`.
    q : float or "inf", default 1
        Order of the score, 0 <= q <= infinity.
    level : float, default 0.95
        Confidence level of the intervals of sets and of all verdicts together, 0.5 <= level < 1.
        A verdict states a direction if the adjusted p-value is at most 1 - level and the interval
        of the difference, at level 1 - (1 - level) / pairs, excludes 0.
    permutations : int, default 999
        Maximum number of permutations per pair, at least 19. After 99, permutations stop as soon
        as 20 of them have a difference at least as large as the observed one. The smallest
        possible adjusted p-value, pairs / (permutations + 1), must be at most 1 - level, unless
        p-values need no random permutations: up to 11 groups, or sets that lack some groups.
    size : int, optional
        Common sample size, at least 4; by default the size of the smallest set, at most 200. With
        `correct`, the number of correct answers to each prompt in `quality_parts`, at least 2; by
        default 4, or 3 or 2 if fewer than half of the prompts, or fewer than 3 prompts, have 4 (or
        3) of both sets.
    psd : {"check", "clip"}, default "check"
        What to do with negative eigenvalues beyond rounding: raise a NotPSDError, or set them to
        zero and rescale the others to sum to 1.
    seed : int, default 0
        Seed of the random subsets and permutations.
    within : float, optional
        Margin of an equivalence test, as a fraction of the score, such as 0.05. The verdict is
        "the same within 5 %" if the interval of the ratio at level 1 - 2 (1 - level) is within
        the margin.
    effects : {"random", "fixed"}, default "random"
        With groups or prompts, whether p-values generalize to other groups ("random") or apply to
        these groups only ("fixed"). "random" permutes the signs of the differences of groups, all
        combinations for fewer than 12 groups; with 3 to 5 groups it uses Student's t, with 2 groups
        p is 1. "fixed" permutes samples within groups. Intervals always generalize to other groups.
    allow_repeats : bool, default True
        Whether intervals allow for samples that recur in the population even if none recurs in a
        set. False states that samples are continuous measurements, which never recur.
    pool_repeats : bool, default True
        Whether the intervals of single groups, in ``.to_frame("groups")``, estimate from all groups
        of a set, if there are at least six, how often samples repeat.
    k : str, callable, dict or list, optional
        The kernel, as for `compute`. Strings are compared by "ngram_overlap" if omitted.
    **how
        `score_X`, `normalize` and options of the kernel, as for `compute`. Weights are not
        supported. `prompts`, one list per set or with `by` a single list, define groups.

    Returns
    -------
    Comparison
        One row per set and per pair, with `.sentence`, `.to_frame()` and `.plot()`; with groups
        also one row per pair and group, ``.to_frame("groups")``; with `correct` also one row per
        pair, ``.to_frame("quality")``.

    Raises
    ------
    SampleError
        If samples are unusable; the message lists their indices.
    NotPSDError
        If similarities have negative eigenvalues and ``psd="check"``.
    TooLargeError
        If the computation does not fit in memory; raised before allocation.
    TypeError, ValueError
        If sets differ in type or are too small, groups do not match, or an argument is invalid.

    See Also
    --------
    compute : Score of one set, with its interval.
    sources : Effective number of models or annotators.
    growth : Score as a function of the number of samples.

    Notes
    -----
    p is the probability of a difference at least as large between two sets drawn from one
    population. A small p does not imply unequal diversity, because populations of equal diversity
    can be told apart. A verdict therefore also requires that the interval excludes 0; otherwise it
    is "different, direction not shown" (see `Comparison.verdict`).

    Samples are assumed to be independent. For several answers to one prompt, pass `groups`. Of
    several near-copies, pass only one. If sets share samples, p is too large and intervals are too
    wide.

    With three or more sets, a set may have fewer than two samples in some groups. These cells are
    missing; their number is `Comparison.missing_cells`, and a warning reports it. Scores are then
    adjusted by the model log VS = set + group, fitted by least squares: `matched` is the mean over
    all groups of the observed scores and of predictions for missing ones. Standard errors come from
    the jackknife that leaves out one group at a time, and p-values from Student's t. A group needs
    at least two samples of two sets. Without missing cells, no model is used.

    Intervals come from the jackknife on the scale of log n - log VS, at order 0 from half samples.
    A set more than four times larger than the common size is represented by a random subset of four
    times that size.

    Time is the decomposition of each set, of each pair together, and of some fifty permutations of
    size m x m (or d x d, for fewer features), where m is the common size; for m up to 48 and at
    order 0, of all permutations.

    References
    ----------
    1. E. Chung and J. P. Romano, "Exact and Asymptotically Robust Permutation Tests", Annals of
       Statistics, 2013.
    2. J. Besag and P. Clifford, "Sequential Monte Carlo p-values", Biometrika, 1991.
    3. S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal
       of Statistics, 1979.
    4. G. Y. Zou and A. Donner, "Construction of Confidence Limits about Effect Measures",
       Statistics in Medicine, 2008.
    5. D. J. Schuirmann, "A Comparison of the Two One-Sided Tests Procedure", Journal of
       Pharmacokinetics and Biopharmaceutics, 1987.

    Examples
    --------
    >>> import vendiscore
    >>> copies, different = ["a b", "c d"] * 10, [f"x{i} y{i}" for i in range(20)]
    >>> result = vendiscore.compare(different, copies, names=["new", "old"], permutations=99)
    >>> result.verdict("new", "old")
    'more diverse'
    >>> round(result.pairs[0].difference, 6)  # twenty different samples, against two
    18.0
    """
    if by is None:
        sets_by_name = name_compared_sets(sets, names, how)
        names = list(sets_by_name)
    elif names is not None:
        raise ValueError(
            "`names` cannot be combined with `by`, whose labels are the names; remove `names`"
        )
    else:
        set_labels = parse_set_labels(by, MIN_SAMPLES)
        names = list(map(str, set_labels.labels))
    spec = similarity_spec_from_keywords(
        {"k": k, **how}, compare, allow_grouping=True, allow_fit=True
    )
    quality_size = None
    if correct is not None:
        quality_size, size = size, None
    if quality_size is not None:
        quality_size = check_int("size", quality_size, MIN_QUALITY_SIZE)
    options = CompareOptions(
        q, level, permutations, size, psd, seed, within, effects, allow_repeats, pool_repeats
    )
    options = options.checked()
    n_pairs = math.comb(len(names), 2)
    if spec.fit in ("samples", "references"):
        raise ValueError(
            f"`fit` must be 'pool' in compare, got {spec.fit!r}; remove it to fit options to all "
            "sets together, or pass the options themselves, such as sigma=2"
        )
    nested_groups: Any = None
    if by is None:
        passed_groups = groups
        sets_by_name, groups = flatten_sets(sets_by_name, groups, spec)
        if passed_groups is None and groups is not None:
            nested_groups = groups
            _check_same_number_of_lists(nested_groups)
    if (
        groups is not None
        and spec.grouping_prompts is not None
        and spec.conditioning_prompts is None
    ):
        raise ValueError(
            "`prompts` and `groups` cannot be combined unless given_prompt=True; remove one of "
            "them, or pass given_prompt=True to condition similarities on the prompts"
        )
    if groups is None and spec.grouping_prompts is None:
        _check_permutations(options, n_pairs)
    if by is None:
        similarity, set_codes, labels = pool_sets(sets_by_name, groups, spec)
    else:
        similarity, set_codes, labels = pool_labelled_samples(sets, set_labels, groups, spec)
    check_no_gradient("compare", **how, samples=similarity)
    is_correct = None
    if correct is not None:
        if labels is None:
            raise TypeError(
                "`correct` requires `groups` or `prompts`, because the same number of correct "
                "answers to each prompt is compared; pass the prompt of each sample as `prompts`"
            )
        is_correct = parse_correct(
            correct, set_codes, names, nested_groups, in_one_list=by is not None
        )
    retained = np.setdiff1d(np.arange(len(set_codes)), list(similarity.dropped))
    set_codes = set_codes[retained]
    matched_groups = None
    if labels is not None:
        argument = "prompts" if groups is None else "groups"
        labels = [labels[i] for i in retained]
        matched_groups = match_groups(labels, set_codes, names, argument, allow_missing=True)
        _check_options_with_groups(options, argument)
        if needs_random_permutations(matched_groups, options, n_pairs):
            _check_permutations(options, n_pairs)
    elif not options.pool_repeats:
        raise TypeError("`pool_repeats=False` requires `groups` or `prompts`; remove it")
    quality_parts: list[QualityParts] = []
    if is_correct is not None and matched_groups is not None:
        quality_parts = estimate_quality_parts(
            similarity,
            matched_groups,
            names,
            list(itertools.combinations(range(len(names)), 2)),
            is_correct[retained],
            quality_size,
            q=options.q,
            level=difference_level(options.level, n_pairs),
            psd=options.psd,
            seed=options.seed,
        )
    steps = comparison_steps(similarity, set_codes, names, options, matched_groups, labels)
    comparison = run_with_progress(steps, n_pairs * options.permutations, "comparing sets")
    return replace(comparison, quality_parts=tuple(quality_parts))


def _check_same_number_of_lists(codes_by_name: Mapping[str, Sequence[int]]) -> None:
    """Raise a ValueError unless all sets are lists of the same number of lists."""
    counts = {name: max(codes) + 1 for name, codes in codes_by_name.items()}
    if len({*counts.values()}) > 1:
        described = ", ".join(f"{count} of `{name}`" for name, count in counts.items())
        raise ValueError(
            f"sets that are lists of lists must have the same number of lists, because lists at "
            f"the same position are compared, got {described}; if a set does not answer some "
            f"prompts, pass flat lists and the prompt of each sample as `prompts`"
        )


def parse_correct(
    correct: Any,
    set_codes: np.ndarray,
    names: Sequence[str],
    nested_groups: Mapping[str, Sequence[int]] | None,
    *,
    in_one_list: bool,
) -> np.ndarray:
    """Return whether each of the n pooled samples is correct, shape (n,), as bools.

    `set_codes` has the set of each sample, and `in_one_list` says whether all samples were passed
    in one list. If sets are lists of lists, `nested_groups` has the number of the inner list of
    each sample, and the values of a set may be nested in the same way.
    """
    if in_one_list:
        values = parse_group_labels(correct, "correct", len(set_codes)).sample_labels
    else:
        if isinstance(correct, Mapping) and set(correct) == set(names):
            correct = [correct[name] for name in names]
        if is_collection(correct) and not isinstance(correct, Mapping):
            by_set = list(correct)
            codes = [None if nested_groups is None else nested_groups.get(name) for name in names]
            if len(by_set) == len(names):
                correct = list(map(_flatten_values, by_set, codes))
        sizes = np.bincount(set_codes, minlength=len(names)).tolist()
        labels_by_set = parse_groups_by_set(
            correct, dict(zip(names, sizes, strict=True)), "correct"
        )
        values = [label for labels in labels_by_set for label in labels.sample_labels]
    for i, value in enumerate(values):
        if value not in (0, 1):
            raise TypeError(
                f"`correct` must contain True or False for each sample, got {short_repr(value)} "
                f"for sample {i}; for a threshold on a quality, pass quality >= 0.5"
            )
    return np.array(values, dtype=bool)


def _flatten_values(values: Any, codes: Sequence[int] | None) -> Any:
    """Return the values of a set as a flat list; they may be nested as its samples are."""
    if not (is_collection(values) and values is not None):
        return values
    rows = list(values)
    if not rows or not all(map(is_collection, rows)):
        return values
    flat, sizes = flatten_nested(rows, "correct")
    check_same_grouping("correct", sizes, None if codes is None else encode_labels(codes))
    return flat


def name_compared_sets(sets: Sequence[Samples], names: object, keywords: Options) -> Record:
    """Return a dict from names to sets; raise unless there are at least two sets.

    `keywords` are the other keywords of the call, which may contain sets by mistake.
    """
    sets_or_dict = sets[0] if len(sets) == 1 and isinstance(sets[0], Mapping) else sets
    if len(sets_or_dict) < 2:
        collection_keywords = []
        for name, value in keywords.items():
            if (
                name not in SIMILARITY_KEYWORDS
                and not kernels_with_option(name)
                and is_collection(value)
            ):
                collection_keywords.append(name)
        if len(collection_keywords) > 1:
            example = ", ".join(f"{name!r}: {name}" for name in collection_keywords)
            raise TypeError(f"sets cannot be passed as keywords; pass compare({{{example}}})")
        if collection_keywords and (hint := replacement_hint(collection_keywords[0], "keyword")):
            raise TypeError(f"unknown keyword {collection_keywords[0]!r}. {hint}")
        raise ValueError(
            f"compare requires at least two sets, got {len(sets_or_dict)}; pass compare(A, B), a "
            f"dict from names to sets, or one list of all samples with the set of each sample as "
            f"`by`"
        )
    return name_sets(sets_or_dict, names, "set")


def pool_sets(sets_by_name: Record, groups: object, spec: SimilaritySpec) -> PooledSamples:
    """Compute the similarity of the samples of all sets, with set codes and group labels.

    `groups` contains the group labels of each set, or is None.
    """
    names = list(sets_by_name)
    sets = [check_collection(sets_by_name[name], spec, name, has_other_sets=True) for name in names]
    groups_by_set = []
    if groups is not None:
        sizes = dict(zip(names, count_samples_by_set(sets, spec), strict=True))
        groups_by_set = parse_groups_by_set(groups, sizes)
    spec, prompt_groups = group_by_prompt(spec, sets, groups_by_set)
    labels = None
    if groups is not None:
        labels = [label for of_set in groups_by_set for label in of_set.sample_labels]
    elif prompt_groups is not None:
        labels = prompt_groups.sample_labels
    similarity = build_pooled_similarity(sets, replace(spec, fit="pool"), names)
    return similarity, np.repeat(np.arange(len(names)), count_samples_by_set(sets, spec)), labels


def pool_labelled_samples(
    sets: Sequence[SampleContainer], set_labels: Labels, groups: object, spec: SimilaritySpec
) -> PooledSamples:
    """Compute the similarity of one list of samples, with set codes and group labels.

    `set_labels` and `groups` have one label per sample.
    """
    # A mixture of kernels compares a dict of columns; for other kernels, a dict contains sets.
    is_mixture = isinstance(spec.k, tuple)
    if len(sets) != 1 or (isinstance(sets[0], Mapping) and not is_mixture):
        n_sets = len(sets[0]) if len(sets) == 1 else len(sets)
        raise ValueError(
            f"`by` requires one list of all samples, got {n_sets} sets; pass all samples as one "
            "list, or remove `by`"
        )
    samples = check_collection(sets[0], spec)
    if flatten_groups(samples, spec)[1] is not None:
        raise ValueError(
            "`by` requires a flat list of samples, got a list of lists; pass all samples as one "
            "list, with the prompt of each sample as `groups`"
        )
    (n,) = count_samples_by_set([samples], spec)
    check_size(set_labels, n, "by")
    grouping = None if groups is None else parse_group_labels(groups, n=n)
    spec, prompt_groups = group_by_prompt(spec, [samples], [grouping])
    if grouping is None:
        grouping = prompt_groups
    (similarity,) = build_set_similarities([samples], spec, ["samples"])
    if similarity.fitted:
        similarity = similarity.noted(settings={**similarity.settings, "fit": "pool"})
    return similarity, set_labels.codes, None if grouping is None else grouping.sample_labels


def _check_permutations(options: CompareOptions, n_pairs: int) -> None:
    """Raise if the smallest possible adjusted p-value is above 1 − level."""
    min_count = min_permutations(options.level, n_pairs)
    if options.permutations < min_count:
        raise ValueError(
            f"`permutations` must be at least {min_count} for {n_pairs} pairs at level "
            f"{options.level:g}, got {options.permutations}; pass more permutations, or compare "
            f"fewer sets"
        )


def _check_options_with_groups(options: CompareOptions, argument: str) -> None:
    """Raise for options that have no effect if sets are compared within groups or prompts."""
    if options.size is not None:
        raise ValueError(
            f"`size` is not supported with `{argument}`, where each group has its own sample size; "
            f"remove `size`"
        )
    if not options.allow_repeats:
        raise TypeError(
            "`allow_repeats=False` has no effect on intervals of means over prompts or groups; "
            "remove it"
        )


def comparison_steps(
    similarity: Similarity,
    set_codes: np.ndarray,
    names: Sequence[str],
    options: CompareOptions,
    groups: GroupIndices | None = None,
    labels: Sequence[Hashable] | None = None,
) -> Counts[Comparison]:
    """Compare sets of samples: yield the number of permutations so far, return the comparison.

    `set_codes`, shape (n,), is the set of each of the n samples, as a position in `names`. `groups`
    has the sample indices of each group and set; if passed, sets are compared within groups.
    `labels`, shape (n,), are the group labels of the samples, by default 0, 1, …
    """
    for name, n in zip(names, np.bincount(set_codes, minlength=len(names)).tolist(), strict=True):
        if n < MIN_SAMPLES:
            raise ValueError(
                f"`{name}` must have at least {MIN_SAMPLES} samples to be compared, got {n}; add "
                f"samples, or remove this set"
            )
    yield 0
    pairs = list(itertools.combinations(range(len(names)), 2))
    rows_by_group: list[GroupPairRow] = []
    pooled_groups = None
    if groups is None:
        steps = unpaired_comparison_steps(similarity, set_codes, names, pairs, options)
        set_rows, pair_rows = yield from steps
    else:
        rng = np.random.default_rng(options.seed)
        groups = shuffle_larger_sets(groups, rng)
        steps = paired_comparison_steps(similarity, groups, names, pairs, options, rng)
        set_rows, pair_rows = yield from steps
        group_labels: Sequence[Hashable] = range(len(groups))
        if labels is not None:
            group_labels = [labels[np.concatenate(group)[0]] for group in groups]
        rows_by_group, pooled_groups = compare_in_groups(
            similarity, groups, group_labels, names, pairs, options
        )
    adjusted = adjust_p_values([row.p for row in pair_rows])
    pair_rows = [replace(row, p_adjusted=p) for row, p in zip(pair_rows, adjusted, strict=True)]
    comparison = Comparison(
        sets=tuple(set_rows),
        pairs=tuple(pair_rows),
        q=options.q,
        level=options.level,
        groups=len(groups or ()),
        settings=to_plain(similarity.settings),
        within=options.within,
        effects=options.effects,
        allow_repeats=options.allow_repeats if groups is None and options.q else None,
        pairs_by_group=tuple(rows_by_group),
        pooled_groups=pooled_groups,
        missing_cells=count_missing_cells(groups or ()),
    )
    _warn_about_intervals(comparison)
    return comparison


def _warn_about_intervals(comparison: Comparison) -> None:
    """Warn once if intervals are missing because of too few groups, or have width 0."""
    n_groups = comparison.groups
    zero_width_names = [
        row.name
        for row in comparison.sets
        if row.high <= row.low or row.matched_high <= row.matched_low
    ]
    zero_width_names += [
        f"{pair.a} − {pair.b}" for pair in comparison.pairs if pair.high <= pair.low
    ]
    if 0 < n_groups < MIN_VALUES:
        warn(describe_missing_interval(n_groups, math.nan, math.nan, "the ends of intervals"))
    elif zero_width_names:
        reason = "all groups have the same value" if n_groups else "all subsets have equal scores"
        unit = "groups" if n_groups else "samples"
        warn(
            f"intervals have width 0 for {', '.join(zero_width_names)}, because {reason}; they do "
            f"not account for other {unit}, which may have other values"
        )
