"""Sets compared at matched size, with p-values by permutation.

T = (log VS_a − log VS_b)/√(se_a² + se_b²) is studentized, so that p also holds for sources that
differ in other ways.
"""

import itertools
import math
from collections.abc import Sequence
from functools import partial
from operator import add

import numpy as np

from ..core.shares import PSD
from ..progress import Counts, counted, told
from ..resolve.kernel_request import KernelArgument, how_of
from ..scoring.subsampling import MIN_SAMPLES, MIN_VALUES, describe_missing_interval
from ..signature import plain
from ..similarity.base import Similarity
from ..support.arguments import DEFAULT_ORDER, refuse_gradient
from ..support.errors import warn
from ..support.types import Samples
from .comparison import CompareOptions, Comparison, Effects, PairRow, SetRow
from .pair_inference import holm, needed, permuted
from .paired_comparison import Groups, PairedSets
from .partition import Labelled, flat_sets, pooled_sets, read_by, read_sets, sorted_sets
from .unpaired_comparison import DrawnSets

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
        differences are exchanged, all of them below 12 groups; 6 groups can give p = 0.03), or of
        these groups alone (samples are exchanged within them). Intervals are of other groups.
    allow_repeats : bool
        Whether intervals allow for samples that recur in a source although these do not show it
        (default: True); False states that samples are continuous measurements.
    k : str, callable, dict or list, optional
        A registered kernel, a function of two samples, or a mixture; strings: "ngram_overlap".
    **how
        `score_X`, `normalize` and options of the kernel, as for `compute`; weights are not taken.
        `prompts`, a list for each set, or with `by` one list, match samples as `groups`
        do; a prompt that some set does not answer twice is left out, with a warning.

    Returns
    -------
    Comparison
        With a row for each set and each pair, `.sentence`, `.to_frame()`, `.plot()`.

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
    labels = None if by is None else read_by(by, names)
    named = {}
    if labels is None:
        named = read_sets(sets, names, how)
    names = list(named if labels is None else map(str, labels.labels))
    read = how_of({"k": k, **how}, _KEYWORDS, within=True, several=True)
    plan = CompareOptions(q, level, permutations, size, psd, seed, within, effects, allow_repeats)
    plan = plan.checked()
    pairs = math.comb(len(names), 2)
    least = needed(plan.level, pairs)
    if plan.permutations < least:
        raise ValueError(
            f"`permutations` must be {least} or more for a difference among {pairs} pairs to be "
            f"beyond chance, got {plan.permutations}; pass more, or compare fewer sets"
        )
    if read.fit in ("samples", "references"):
        raise ValueError(
            f"`fit` must be 'pool' here, got {read.fit!r}: all sets share options that follow from "
            "the pool; pass the option itself, such as sigma=…"
        )
    if labels is None:
        named, groups = flat_sets(named, groups, read)
    if groups is not None and read.asked is not None and read.prompts is None:
        raise ValueError(
            "sets are compared within `prompts`, or within groups: leave one of the two out, or "
            "pass given_prompt=True to take the prompts out of similarities"
        )
    if labels is None:
        pool, starts, paired = pooled_sets(named, groups, read)
    else:
        pool, starts, paired = sorted_sets(sets, labels, groups, read)
    refuse_gradient("compare", **how, samples=pool)
    if paired is not None and plan.size is not None:
        matched = "prompts" if groups is None else "groups"
        raise ValueError(f"`{matched}` are matched by size, each by itself: leave `size` out")
    if paired is not None and not plan.allow_repeats:
        raise TypeError(
            "`allow_repeats=False` has no effect on intervals of means over prompts or groups; "
            "leave it out"
        )
    steps = comparison_steps(pool, starts, names, plan, paired)
    return counted(steps, pairs * plan.permutations, "comparing sets")


def comparison_steps(
    pool: Similarity,
    starts: np.ndarray,
    names: Sequence[str],
    plan: CompareOptions,
    groups: Groups | None = None,
) -> Counts[Comparison]:
    """Compare sets that are pooled, step by step."""
    for name, n in zip(names, np.diff(starts).tolist(), strict=True):
        if n < MIN_SAMPLES:
            raise ValueError(
                f"`{name}` must have at least {MIN_SAMPLES} samples to be compared, got {n}; add "
                f"samples, or leave it out"
            )
    yield 0
    pairs = list(itertools.combinations(range(len(names)), 2))
    sets: DrawnSets | PairedSets
    if groups is None:
        sets = DrawnSets(pool, starts, names, plan)
    else:
        sets = PairedSets(pool, groups, names, plan)
    rows = tuple(sets.row(i) for i in range(len(names)))
    statistics = [sets.pair(i, j) for i, j in pairs]
    nulls = []
    for done, pair in enumerate(statistics):
        steps = permuted(pair, plan.permutations, plan.level)
        nulls.append((yield from told(steps, partial(add, done * plan.permutations))))
    p = [null.p for null in nulls]
    equal = max(0.0, 1 - 2 * (1 - plan.level) / len(pairs))
    compared = []
    level = plan.level if len(pairs) == 1 else 1 - (1 - plan.level) / len(pairs)
    for (i, j), pair, null, adjusted in zip(pairs, statistics, nulls, holm(p), strict=True):
        ends = pair.interval(level)
        ratio = pair.ratio(equal)
        most = plan.permutations if pair.every is None else null.drawn
        least = len(pairs) / (most + 1)
        row = PairRow(names[i], names[j], *ends, null.p, adjusted, null.drawn, level, least, *ratio)
        compared.append(row)
    _warn_about_intervals(rows, compared, len(groups or ()))
    return Comparison(
        sets=rows,
        pairs=tuple(compared),
        q=plan.q,
        level=plan.level,
        groups=len(groups or ()),
        settings=plain(pool.settings),
        within=plan.within,
        effects=plan.effects,
        allow_repeats=plan.allow_repeats if groups is None and plan.q else None,
    )


def _warn_about_intervals(rows: Sequence[SetRow], pairs: Sequence[PairRow], n_groups: int) -> None:
    """Warn once if intervals are missing, since groups are too few, or have no width."""
    flat = [row.name for row in rows if row.high <= row.low or row.matched_high <= row.matched_low]
    flat += [f"{pair.a} − {pair.b}" for pair in pairs if pair.high <= pair.low]
    if 0 < n_groups < MIN_VALUES:
        warn(describe_missing_interval(n_groups, math.nan, math.nan, "the ends of intervals"))
    elif flat:
        same = "all groups have the same value" if n_groups else "parts of a set have equal scores"
        others = "groups" if n_groups else "samples"
        warn(
            f"Intervals have no width for {', '.join(flat)}: {same}, and the intervals do not "
            f"cover what other {others} may show."
        )
