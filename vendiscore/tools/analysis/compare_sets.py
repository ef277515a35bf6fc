"""Compare sets of samples: from samples and their labels to rows of sets and of pairs.

`compare` reads samples with the set, and perhaps the group, of each. `comparison_steps` scores
random subsets and permutations in `unpaired_comparison`, or within groups in `paired_comparison`;
intervals and p-values of pairs are those of `pair_inference`.
"""

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from ...core.eigenvalues import PSD
from ...resolve.kernel import kernels_with_option
from ...resolve.sample_labels import GroupLabels as Labels
from ...resolve.sample_labels import (
    check_size,
    count_samples_by_set,
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
from ...support.arguments import DEFAULT_ORDER, check_no_gradient, is_collection
from ...support.errors import warn
from ...support.progress import Counts, run_with_progress
from ...support.signature import to_plain
from ...support.suggestions import replacement_hint
from ...support.types import Options, Record, SampleContainer, Samples
from .compare_options import CompareOptions, Effects
from .comparison import Comparison, GroupPairRow
from .group_comparison import compare_in_groups
from .pair_inference import adjust_p_values, min_permutations
from .paired_comparison import (
    Groups,
    match_groups,
    paired_comparison_steps,
    shuffle_larger_sets,
)
from .unpaired_comparison import unpaired_comparison_steps

# Labels of groups, for each set in order or by its name.
Labelled: TypeAlias = Sequence[object] | Options | None
# The similarity of all samples, the position of the set of each, and the label of its group.
Pooled: TypeAlias = tuple[Similarity, np.ndarray, list[Hashable] | None]

# For hints about misspelt keywords.
_KEYWORDS = ("names", "by", "groups", *CompareOptions.__dataclass_fields__)


def compare(
    *sets: Samples,
    names: Sequence[str] | None = None,
    by: object = None,
    groups: Labelled = None,
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
    """Compare the diversity of two or more sets: how much do they differ, and is it by chance?

    Parameters
    ----------
    *sets : list or array
        Two or more collections of at least 4 samples each, of one kind; one dict of them by name;
        or all samples, with `by`. A bandwidth left open follows from all together. In lists of
        lists, each place is a group (the prompt, say). Not changed.
    names, by : sequence of str, sequence of labels, optional
        One name for each set (default: A, B, …; folders have their own names); or the name of each
        sample's set: ``compare(df["answer"], by=df["model"])``.
    groups : sequence of sequences of labels, or a dict of them, optional
        For each set the group of each of its samples; with `by`, one sequence for all samples. Sets
        are compared, matched and exchanged within groups; each group must have two samples or
        more of every set; `difference` is the mean over groups.
    q : float in [0, ∞] or "inf", order of the score that is compared (default: 1)
    level : float in [0.5, 1)
        Confidence level of the intervals of sets, and of all verdicts together. Default: 0.95. A
        direction is stated where the adjusted p is 1 − level at most and the interval of the
        difference, at 1 − (1 − level)/pairs, excludes 0.
    permutations : int of at least 19
        Largest number of exchanges for each pair (default: 999), done earlier, after 99, when 20
        differ as much as the sets do. The adjusted p is at least pairs/(permutations + 1), which
        must be 1 − level at most.
    size : int of at least 4, optional
        Samples to draw of each set; by default the size of the smallest, 200 at most.
    psd : {"check", "clip"}, to raise for negative eigenvalues, or set them to zero
    seed : int of at least 0, for the random subsets and exchanges; 0 by default
    within : float above 0, optional
        Ask whether sets are the same within such a share of the score, 0.05 say; the verdict is
        "the same within 5 %" where the interval of the ratio at 1 − 2(1 − level) says so.
    effects : {"random", "fixed"}
        With groups or prompts: whether p speaks of other groups like these (signs of the
        differences are exchanged, all of them below 12 groups; of 3 to 5 groups p is that of
        Student's t, of 2 it is 1), or of these groups alone (samples are exchanged within them).
        Intervals are of other groups.
    allow_repeats : bool
        Whether intervals allow for samples that recur in a source although these do not show it
        (default: True); False states that samples are continuous measurements.
    pool_repeats : bool
        Whether intervals of single groups or prompts, `.to_frame("groups")`, take from all groups
        of a set, if they are six or more, how often its samples repeat (default: True).
    k : str, callable, dict or list, optional
        A registered kernel, a function of two samples, or a mixture; strings: "ngram_overlap".
    **how
        `score_X`, `normalize` and options of the kernel, as for `compute`; weights are not taken.
        `prompts`, a list for each set, or with `by` one list, match samples as `groups`
        do; a prompt that some set does not answer twice is left out, with a warning.

    Returns
    -------
    Comparison
        With a row for each set and each pair, `.sentence`, `.to_frame()`, `.plot()`; with groups
        also for each pair in each group, `.to_frame("groups")`.

    Raises
    ------
    TypeError, ValueError, NotPSDError, TooLargeError, SampleError
        For sets that are not of one kind or too small, groups that do not pair, or wrong keywords;
        and as `compute` does.

    Notes
    -----
    p is how often two sets drawn from one source differ as much. Sources of equal diversity can be
    told apart, too: a verdict therefore needs the interval as well as p, and where p alone is small
    it is "different, direction not shown" (see `Comparison.verdict`). Samples are taken to be
    independent: answers to one prompt need `groups`; of near-copies pass one each. If sets share
    samples, p is too large and intervals are too wide. Intervals come from the jackknife, on
    the scale of log n − log VS, from halves at order 0; T has errors by influence. A set larger
    than four times the matched size m is represented by a random part of that size. Time: the
    decomposition of each whole set, of each two together, and of some fifty exchanges, for each
    m × m (or d × d, from fewer features); for m up to 48, and order 0, of all exchanges.

    References
    ----------
    Exchanges: Chung & Romano 2013. Stopping early: Besag & Clifford 1991. Several pairs: Holm 1979.
    Intervals: Zou & Donner 2008. Equivalence: Schuirmann 1987.

    Examples
    --------
    >>> import vendiscore
    >>> copies, different = ["a b", "c d"] * 10, [f"x{i} y{i}" for i in range(20)]
    >>> found = vendiscore.compare(different, copies, names=["new", "old"], permutations=99)
    >>> found.verdict("new", "old")
    'more diverse'
    >>> round(found.pairs[0].difference, 6)  # twenty that all differ, against two
    18.0
    """
    if by is None:
        sets_by_name = name_compared_sets(sets, names, how)
        names = list(sets_by_name)
    elif names is not None:
        raise ValueError("the labels in `by` already name the sets: leave `names` out")
    else:
        set_labels = parse_set_labels(by, MIN_SAMPLES)
        names = list(map(str, set_labels.labels))
    spec = similarity_spec_from_keywords(
        {"k": k, **how}, _KEYWORDS, allow_grouping=True, allow_fit=True
    )
    options = CompareOptions(
        q, level, permutations, size, psd, seed, within, effects, allow_repeats, pool_repeats
    )
    options = options.checked()
    _check_permutations(options, math.comb(len(names), 2))
    if spec.fit in ("samples", "references"):
        raise ValueError(
            f"`fit` must be 'pool' here, got {spec.fit!r}: all sets share options that follow from "
            "the pool; pass the option itself, such as sigma=…"
        )
    if by is None:
        sets_by_name, groups = flatten_sets(sets_by_name, groups, spec)
    if (
        groups is not None
        and spec.grouping_prompts is not None
        and spec.conditioning_prompts is None
    ):
        raise ValueError(
            "sets are compared within `prompts`, or within groups: leave one of the two out, or "
            "pass given_prompt=True to take the prompts out of similarities"
        )
    if by is None:
        similarity, set_codes, labels = pool_sets(sets_by_name, groups, spec)
    else:
        similarity, set_codes, labels = pool_labelled(sets, set_labels, groups, spec)
    check_no_gradient("compare", **how, samples=similarity)
    retained = np.setdiff1d(np.arange(len(set_codes)), list(similarity.dropped))
    set_codes = set_codes[retained]
    matched_groups = None
    if labels is not None:
        argument = "prompts" if groups is None else "groups"
        labels = [labels[i] for i in retained]
        matched_groups = match_groups(labels, set_codes, names, argument)
        _check_options_with_groups(options, argument)
    elif not options.pool_repeats:
        raise TypeError(
            "`pool_repeats=False` is about intervals of single groups or prompts, and sets are not "
            "compared within groups; leave it out"
        )
    steps = comparison_steps(similarity, set_codes, names, options, matched_groups, labels)
    total = math.comb(len(names), 2) * options.permutations
    return run_with_progress(steps, total, "comparing sets")


def name_compared_sets(sets: Sequence[Samples], names: object, how: Options) -> Record:
    """Return two or more sets by name: A, B, … for sets without names."""
    given = sets[0] if len(sets) == 1 and isinstance(sets[0], Mapping) else sets
    if len(given) < 2:
        passed = []
        for name, value in how.items():
            if (
                name not in SIMILARITY_KEYWORDS
                and not kernels_with_option(name)
                and is_collection(value)
            ):
                passed.append(name)
        if len(passed) > 1:
            named = ", ".join(f"{name!r}: {name}" for name in passed)
            raise TypeError(f"sets are not passed as keywords: pass compare({{{named}}})")
        if passed and (hint := replacement_hint(passed[0], "keyword")):
            raise TypeError(f"unknown keyword `{passed[0]}`. {hint}")
        raise ValueError(
            f"compare needs two sets or more, got {len(given)}; pass compare(A, B), one dict of "
            f"them by name, or all samples in one list with the set of each as `by`"
        )
    return name_sets(given, names, "set")


def pool_sets(sets_by_name: Record, groups: object, spec: SimilaritySpec) -> Pooled:
    """Return the samples of all sets together; `groups` has labels for each set."""
    names = list(sets_by_name)
    sets = [check_collection(sets_by_name[name], spec, name, has_other_sets=True) for name in names]
    groups_by_set = []
    if groups is not None:
        sizes = dict(zip(names, count_samples_by_set(sets, spec), strict=True))
        groups_by_set = parse_groups_by_set(groups, sizes)
    spec, by_prompt = group_by_prompt(spec, sets, groups_by_set)
    labels = None
    if groups is not None:
        labels = [label for of_set in groups_by_set for label in of_set.sample_labels]
    elif by_prompt is not None:
        labels = by_prompt.sample_labels
    similarity = build_pooled_similarity(sets, replace(spec, fit="pool"), names)
    return similarity, np.repeat(np.arange(len(names)), count_samples_by_set(sets, spec)), labels


def pool_labelled(
    sets: Sequence[SampleContainer], by: Labels, groups: object, spec: SimilaritySpec
) -> Pooled:
    """Return the samples of one collection; `by` and `groups` have a label for each."""
    if len(sets) != 1 or (isinstance(sets[0], Mapping) and not isinstance(spec.k, tuple)):
        n_sets = len(sets[0]) if len(sets) == 1 else len(sets)
        raise ValueError(
            f"`by` names the set of each sample of one collection, got {n_sets} sets; pass all "
            "samples as one list, or leave `by` out"
        )
    samples = check_collection(sets[0], spec)
    if flatten_groups(samples, spec)[1] is not None:
        raise ValueError(
            "`by` names the set of each sample, but the samples are a list of lists; pass all "
            "samples as one list, with the prompt of each as `groups`"
        )
    (n,) = count_samples_by_set([samples], spec)
    check_size(by, n, "by")
    grouping = None if groups is None else parse_group_labels(groups, n=n)
    spec, by_prompt = group_by_prompt(spec, [samples], [grouping])
    if grouping is None:
        grouping = by_prompt
    (similarity,) = build_set_similarities([samples], spec, ["samples"])
    if similarity.fitted:
        similarity = similarity.noted(settings={**similarity.settings, "fit": "pool"})
    return similarity, by.codes, None if grouping is None else grouping.sample_labels


def _check_permutations(options: CompareOptions, n_pairs: int) -> None:
    """Raise a ValueError if permutations cannot give a small enough adjusted p."""
    fewest = min_permutations(options.level, n_pairs)
    if options.permutations < fewest:
        raise ValueError(
            f"`permutations` must be {fewest} or more for a difference among {n_pairs} pairs to be "
            f"beyond chance, got {options.permutations}; pass more, or compare fewer sets"
        )


def _check_options_with_groups(options: CompareOptions, argument: str) -> None:
    """Raise for options that have no effect where sets are compared within groups or prompts."""
    if options.size is not None:
        raise ValueError(f"`{argument}` are matched by size, each by itself: leave `size` out")
    if not options.allow_repeats:
        raise TypeError(
            "`allow_repeats=False` has no effect on intervals of means over prompts or groups; "
            "leave it out"
        )


def comparison_steps(
    similarity: Similarity,
    set_codes: np.ndarray,
    names: Sequence[str],
    options: CompareOptions,
    groups: Groups | None = None,
    labels: Sequence[Hashable] | None = None,
) -> Counts[Comparison]:
    """Compare sets of samples, and yield the number of permutations so far.

    `set_codes` (n,) has the position in `names` of the set of each sample. With `groups`, the
    indices of the samples of each group set by set, sets are compared within groups. `labels` (n,)
    name the group of each sample; by default groups are 0, 1, …
    """
    for name, n in zip(names, np.bincount(set_codes, minlength=len(names)).tolist(), strict=True):
        if n < MIN_SAMPLES:
            raise ValueError(
                f"`{name}` must have at least {MIN_SAMPLES} samples to be compared, got {n}; add "
                f"samples, or leave it out"
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
            group_labels = [labels[group[0][0]] for group in groups]
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
    )
    _warn_about_intervals(comparison)
    return comparison


def _warn_about_intervals(comparison: Comparison) -> None:
    """Warn once if intervals are missing, since groups are too few, or have no width."""
    n_groups = comparison.groups
    flat = [
        row.name
        for row in comparison.sets
        if row.high <= row.low or row.matched_high <= row.matched_low
    ]
    flat += [f"{pair.a} − {pair.b}" for pair in comparison.pairs if pair.high <= pair.low]
    if 0 < n_groups < MIN_VALUES:
        warn(describe_missing_interval(n_groups, math.nan, math.nan, "the ends of intervals"))
    elif flat:
        same = "all groups have the same value" if n_groups else "parts of a set have equal scores"
        others = "groups" if n_groups else "samples"
        warn(
            f"Intervals have no width for {', '.join(flat)}: {same}, and the intervals do not "
            f"cover what other {others} may show."
        )
