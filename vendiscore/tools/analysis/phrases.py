"""The function `phrases`: what repeated phrases cost in effective samples."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Generator, Hashable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from ...encoders.tokenizers import cache_tokens
from ...kernels.text import Analyzer, Tokenizer, Tokens, tokenize_texts
from ...measures.sample_set import SampleSet
from ...resolve.sample_labels import (
    GroupLabels,
    check_size,
    cross_groups,
    flatten_groups,
    flatten_sets,
    group_by_prompt,
)
from ...resolve.similarity_builder import check_collection
from ...resolve.similarity_spec import SimilaritySpec, similarity_spec_from_keywords
from ...similarity.base import Similarity
from ...similarity.group_indices import group_indices
from ...spectral.eigendecomposition import estimate_eigensolver_work
from ...support.arguments import DEFAULT_ORDER, check_int, check_no_gradient, check_order
from ...support.errors import SampleError, short_repr
from ...support.memory import has_room
from ...support.namespace import to_host
from ...support.progress import Counts, announce_duration, map_steps, run_with_progress
from ...support.signature import to_plain
from ...support.types import Samples, Weights
from .compare_sets import pool_sets
from .paired_comparison import GroupIndices, match_groups
from .phrase_costs import PhraseComparison, PhraseCosts, PhraseDifference, PhraseRow
from .phrase_permutations import permutation_p_values
from .repeated_phrases import (
    RepeatedPhrase,
    TextWeights,
    find_repeated_phrases,
    take_phrase_tokens,
)
from .rewritten_texts import NgramFeatures, RewrittenSets

# Minimum and maximum length of phrases, in tokens and in characters.
WORD_LENGTHS = (2, 12)
CHAR_LENGTHS = (3, 40)
MIN_TEXT_FRACTION = 0.02  # default minimum of texts that contain a phrase
MAX_SCREENED = 200  # phrases whose cost at order 2 is computed
MAX_TESTED = 50  # phrases that are tested in two sets
EXACT_MARGIN = 5  # further phrases whose cost at the requested order is computed
# All costs are computed at the requested order for sets up to the first size, and up to the second
# size those of the first five phrases.
MAX_EXACT_SIZE = 2000
MAX_TOP_SIZE = 6000
N_TOP = 5
MIN_COST = 1e-9  # smaller costs may be rounding errors
DEFAULT_PERMUTATIONS = 999
# The built-in tokenizer writes quotation marks as `` and ''.
_QUOTES = "(?:``|''|[\"“”])"


# One set of texts: what each phrase costs.
@overload
def phrases(
    texts: Samples,
    other: None = None,
    *,
    groups: Sequence[Hashable] | None = None,
    prompts: object = None,
    ns: int | Iterable[int] = (1, 2, 3, 4),
    tokenizer: Tokenizer | str | None = None,
    analyzer: Analyzer = "auto",
    on_error: str = "raise",
    q: float | str = DEFAULT_ORDER,
    p: Weights | None = None,
    n_phrases: int = 10,
    min_texts: int | None = None,
    permutations: None = None,
    seed: None = None,
) -> PhraseCosts: ...


# Two sets of texts: phrases that cost the first set more than the second one.
@overload
def phrases(
    texts: Samples,
    other: Samples,
    *,
    groups: object = None,
    prompts: object = None,
    ns: int | Iterable[int] = (1, 2, 3, 4),
    tokenizer: Tokenizer | str | None = None,
    analyzer: Analyzer = "auto",
    on_error: str = "raise",
    q: float | str = DEFAULT_ORDER,
    p: None = None,
    n_phrases: int = 10,
    min_texts: int | None = None,
    permutations: int | None = None,
    seed: int | None = None,
) -> PhraseComparison: ...


def phrases(
    texts: Samples,
    other: Samples | None = None,
    *,
    groups: object = None,
    prompts: object = None,
    ns: int | Iterable[int] = (1, 2, 3, 4),
    tokenizer: Tokenizer | str | None = None,
    analyzer: Analyzer = "auto",
    on_error: str = "raise",
    q: float | str = DEFAULT_ORDER,
    p: Weights | None = None,
    n_phrases: int = 10,
    min_texts: int | None = None,
    permutations: int | None = None,
    seed: int | None = None,
) -> PhraseCosts | PhraseComparison:
    """Find the repeated phrases that lower the score of a set of texts most.

    The cost of a phrase is the gain in the Vendi Score if each text that contains it had used words
    that occur in no other text instead. It is computed exactly, under the kernel "ngram_overlap".
    With a second set, the result lists phrases that cost the first set more than the second one,
    with p-values.

    Parameters
    ----------
    texts : list of str
        The n texts. A list of lists of texts means groups (see `groups`). Not modified.
    other : list of str, optional
        A second set of texts. Not modified.

    groups : sequence of length n of hashable labels, optional
        Score each group separately. Scores and costs are means over groups. With `other`, two
        sequences of labels, one per set; each group needs at least two texts of both sets.
    prompts : sequence of length n or dict, optional
        The prompt that each text answers. Each prompt is scored separately, as with `groups`; with
        both, each prompt within each group. With `other`, two lists of prompts, one per set;
        prompts that a set answers fewer than two times are dropped with a warning.

    ns : int or iterable of int, default (1, 2, 3, 4)
        Lengths of n-grams, as for the kernel "ngram_overlap".
    tokenizer : callable or str, optional
        A function from a str to a list of tokens, or the name of a sacrebleu tokenizer.
    analyzer : {"auto", "word", "char"}, default "auto"
        Use n-grams of tokens ("word") or of characters ("char"). Phrases have 2 to 12 tokens or 3
        to 40 characters.
    on_error : {"raise", "skip"}, default "raise"
        Raise an error for texts without tokens, or drop them with a warning.

    q : float or "inf", default 1
        Order of the score, 0 < q <= infinity.
    p : array-like of shape (n,), optional
        Non-negative weights that sum to 1; uniform by default. With groups they are normalized
        within each group. Not supported with `other`.

    n_phrases : int, default 10
        Maximum number of phrases in the result.
    min_texts : int, optional
        A phrase must occur in at least this number of texts, at least 2; by default 2 % of the
        texts, with groups 2 % of the largest group. With `other`, the texts of both sets count.
    permutations : int, optional
        Number of random permutations of the set labels, at least 19; 999 by default. Requires
        `other`.
    seed : int, optional
        Seed of the permutations and of random subsets; 0 by default. Requires `other`.

    Returns
    -------
    PhraseCosts or PhraseComparison
        One row per phrase, in descending order of cost, or with `other` in ascending order of
        p-values; with `.sentence`, `.to_frame()` and `.plot()`.

    Raises
    ------
    SampleError
        If samples are not strings or have no tokens; the message lists their indices.
    TooLargeError
        If the computation does not fit in memory; raised before allocation.
    TypeError, ValueError
        If an argument is invalid or has no effect.

    See Also
    --------
    explain : Contribution of each sample, and near-duplicates.
    compare : Test whether one set is more diverse than another.
    plots.phrases : Plot costs as bars.

    Notes
    -----
    Phrases are repeats that no longer phrase has in the same texts. If there are more than 200,
    those are used whose n-grams contribute most to the mean similarity of two texts.

    Words that belong to two phrases are counted once. The phrase with the larger cost at order 2 is
    counted first. The cost of the other one is the gain after the first has been rewritten, and
    `overlaps` names the first phrase. Phrases whose remaining words occur in fewer than `min_texts`
    texts are omitted.

    Phrases are selected by their cost at order 2, which takes time linear in the number of texts
    with the phrase. The costs of selected phrases are then computed at the order q, with all
    eigenvalues. This is done for sets of up to 2000 texts, for up to 6000 texts for the first five
    phrases, and for larger sets not at all; `cost` is NaN where it is omitted, and `cost_q2` is
    the cost at order 2.

    With `other`, both sets are compared at a common size: of the larger set, in each group,
    a random subset. The test statistic of a phrase is the difference of its costs at order 2,
    divided by the standard deviation of this difference over all permutations of the set labels
    (within groups). p is the proportion of permutations, including the observed labels, in which
    the largest statistic of all tested phrases (at most 50) is at least as large. If the texts of
    both sets come from one population, the probability that any phrase has p <= 0.05 is at most
    0.05.

    References
    ----------
    1. P. H. Westfall and S. S. Young, "Resampling-Based Multiple Testing", Wiley, 1993 (maximum
       statistic).

    Examples
    --------
    >>> from vendiscore import phrases
    >>> texts = [f"Great question! The answer is {word}." for word in ("red", "two", "Oslo")]
    >>> result = phrases(texts + ["It depends.", "Nobody knows that.", "Ask me tomorrow."])
    >>> row = result.rows[0]
    >>> row.phrase, row.n_texts, round(row.cost, 2)
    ('Great question! The answer is', 3, 1.26)
    """
    options = _check_options(q, n_phrases, min_texts, permutations, seed, other is not None)
    keywords = {"ns": ns, "tokenizer": tokenizer, "analyzer": analyzer, "on_error": on_error}
    spec = similarity_spec_from_keywords(
        {"k": "ngram_overlap", "prompts": prompts, **keywords}, phrases, allow_grouping=True
    )
    with cache_tokens():
        if other is None:
            return _phrase_costs(texts, groups, spec, p, tokenizer, options)
        if p is not None:
            raise TypeError("`p` is not supported with a second set; remove `p`")
        return _compare_phrases(texts, other, groups, spec, tokenizer, options)


@dataclass(frozen=True)
class _PhraseOptions:
    """Validated arguments of `phrases` with the same names."""

    q: float
    n_phrases: int
    min_texts: int | None
    permutations: int
    seed: int

    def default_min_texts(self, n: int) -> int:
        """Return the minimum number of texts that contain a phrase, for a set of n texts."""
        if self.min_texts is not None:
            return self.min_texts
        return max(2, math.ceil(MIN_TEXT_FRACTION * n))


def _check_options(
    q: object,
    n_phrases: object,
    min_texts: object,
    permutations: object,
    seed: object,
    has_other: bool,
) -> _PhraseOptions:
    """Validate the options; `has_other` states whether a second set was passed."""
    for name, value in (("permutations", permutations), ("seed", seed)):
        if value is not None and not has_other:
            raise TypeError(f"`{name}` requires a second set `other`; remove it, or pass one")
    if min_texts is not None:
        min_texts = check_int("min_texts", min_texts, 2)
    if permutations is None:
        permutations = DEFAULT_PERMUTATIONS
    return _PhraseOptions(
        check_order(q, allow_zero=False),
        check_int("n_phrases", n_phrases),
        min_texts,
        check_int("permutations", permutations, 19, hint="the default is 999"),
        check_int("seed", 0 if seed is None else seed, 0),
    )


def _phrase_costs(
    texts: Any,
    groups: object,
    spec: SimilaritySpec,
    p: Weights | None,
    tokenizer: Tokenizer | str | None,
    options: _PhraseOptions,
) -> PhraseCosts:
    """Compute the cost of each phrase: the gain in the score if its tokens were replaced.

    The tokens are replaced by tokens that occur in no other text. The texts are one set or, with
    groups or prompts, one set per group; scores and costs are then means over these sets. A row of
    the result contains the cost at the order `options.q`, and at order 2 (`selected.cost`).
    """
    samples, labels = _flatten_texts(texts, spec, groups, "texts")
    if labels is not None:
        check_size(labels, len(samples))
    spec, prompt_labels = group_by_prompt(spec, [samples], [labels])
    if labels is None:
        labels = prompt_labels
    elif prompt_labels is not None:
        labels = cross_groups(labels, prompt_labels)
    sample_set = SampleSet(samples, spec, name="texts", weights=p, groups=labels)
    check_no_gradient("phrases", p=p)
    similarity = _build_similarity(sample_set, labels)
    tokens = _take_tokens(samples, similarity, tokenizer)
    n = len(tokens)
    sets = [np.arange(n)]
    if labels is not None:
        sets = [indices for indices in group_indices(sample_set.codes) if len(indices)]
    weights = np.empty(n)
    for indices in sets:
        set_weights = np.ones(len(indices)) if p is None else to_host(sample_set.p)[indices]
        if not set_weights.sum():
            raise ValueError("`p` is 0 for all texts of a group; remove this group")
        weights[indices] = set_weights / set_weights.sum()
    search = _PhraseSearch(tokens, similarity.settings, sets, weights, options)
    n_exact, note = _plan_exact_costs(search.rewritten_sets.max_size, options)
    steps = _cost_steps(search, n_exact, options)
    with _announce_exact_costs(search.rewritten_sets, n_exact):
        rows, score = run_with_progress(steps, search.n_candidates + n_exact, "phrases")
    rewritten = search.rewritten_sets
    max_score = rewritten.compute_max_score(options.q)
    retained = [samples[i] for i in _retained_indices(samples, similarity)]
    result_rows = [
        PhraseRow(
            _format_phrase(retained, tokens, selected.phrase, search.analyzer),
            search.count_texts(selected.phrase),
            cost,
            cost / (max_score - score),
            selected.cost,
            tuple(
                _format_phrase(retained, tokens, phrase, search.analyzer)
                for phrase in selected.overlaps
            ),
        )
        for selected, cost in rows
    ]
    return PhraseCosts(
        result_rows,
        n,
        options.q,
        score,
        max_score,
        rewritten.compute_score_of_order_2(),
        search.min_texts,
        len(sets),
        [note] if note else [],
        to_plain(similarity.settings),
    )


def _flatten_texts(
    texts: Any, spec: SimilaritySpec, groups: object, name: str
) -> tuple[Any, GroupLabels | None]:
    """Return the texts of all groups as one list, and their group labels."""
    samples = check_collection(_check_texts(texts, name), spec, name)
    flat, labels = flatten_groups(samples, spec, groups, name=name)
    return list(flat), labels


def _check_texts(texts: Any, name: str) -> Any:
    """Raise a TypeError for a single string or a Similarity."""
    if isinstance(texts, (str, Similarity)):
        raise TypeError(
            f"`{name}` must be a list of strings, got {type(texts).__name__}: "
            f"{short_repr(texts)}; pass one string per text"
        )
    return texts


def _build_similarity(sample_set: SampleSet, labels: GroupLabels | None) -> Similarity:
    """Return the similarity of texts, after which unusable texts are known."""
    try:
        return sample_set.similarity
    except SampleError as error:
        if labels is None:
            raise
        raise labels.locate_error(error) from error.__cause__


def _retained_indices(samples: Sequence[object], similarity: Similarity) -> list[int]:
    return [i for i in range(len(samples)) if i not in similarity.dropped]


def _take_tokens(
    samples: Sequence[object], similarity: Similarity, tokenizer: Tokenizer | str | None
) -> list[Tokens]:
    """Return the tokens of the usable texts, as the kernel used them."""
    texts = [samples[i] for i in _retained_indices(samples, similarity)]
    analyzer: Any = similarity.settings["analyzer"]
    return tokenize_texts(texts, tokenizer, analyzer)


@dataclass(frozen=True, eq=False)
class SelectedPhrase:
    """A phrase with its cost at order 2, given that overlapping phrases have been rewritten.

    Attributes
    ----------
    phrase : RepeatedPhrase
        The phrase.
    cost : float
        Gain in the score of order 2 if the tokens at `positions` are replaced, after those at
        `replaced_before`.
    positions, replaced_before : array of int
        Positions of all replaced tokens, with and without this phrase.
    overlaps : list of RepeatedPhrase
        The phrases that share tokens with this one and are counted first.
    """

    phrase: RepeatedPhrase
    cost: float
    positions: np.ndarray
    replaced_before: np.ndarray
    overlaps: list[RepeatedPhrase]


class _PhraseSearch:
    """Candidates among the phrases of texts, and their costs at order 2."""

    def __init__(
        self,
        tokens: Sequence[Tokens],
        settings: Any,
        sets: Sequence[np.ndarray],
        weights: np.ndarray,
        options: _PhraseOptions,
    ) -> None:
        """Find the phrases whose costs are to be computed, `candidates`.

        `tokens` are those of each text, `settings` the options of the n-gram kernel, `sets` the
        indices of the texts of each set, and `weights` the weights of the texts.
        """
        self.features = NgramFeatures(tokens, settings["ns"])
        self.rewritten_sets = RewrittenSets(self.features, sets, weights)
        self.min_texts = options.default_min_texts(max(map(len, sets)))
        self.analyzer: str = settings["analyzer"]
        lengths = CHAR_LENGTHS if self.analyzer == "char" else WORD_LENGTHS
        set_codes = np.zeros(len(tokens), int)
        for code, indices in enumerate(sets):
            set_codes[indices] = code
        weighted_factors = self.features.compute_factors() * weights
        self.candidates = find_repeated_phrases(
            tokens,
            lengths,
            self.min_texts,
            MAX_SCREENED,
            TextWeights(orders=self.features.orders, factors=weighted_factors, codes=set_codes),
        )

    @property
    def n_candidates(self) -> int:
        return len(self.candidates)

    def count_texts(self, phrase: RepeatedPhrase, texts: np.ndarray | None = None) -> int:
        """Count the texts that contain a phrase, by default among all."""
        containing = np.unique(self.features.text_ids[phrase.starts])
        return len(containing if texts is None else np.intersect1d(containing, texts))

    def select_steps(self, max_phrases: int) -> Generator[int, None, list[SelectedPhrase]]:
        """Select phrases by their cost at order 2; yield the number of evaluated candidates.

        The phrase with the largest cost is selected first. The costs of phrases that share tokens
        with it are then recomputed, given that it has been rewritten.
        """
        score = self.rewritten_sets.compute_score_of_order_2
        score_without_changes = score()
        queue: list[tuple[float, int, int, SelectedPhrase]] = []
        for i, phrase in enumerate(self.candidates):
            yield i
            positions = phrase.positions
            cost = score(positions) - score_without_changes
            selected = SelectedPhrase(phrase, cost, positions, np.zeros(0, int), [])
            heapq.heappush(queue, (-cost, i, 0, selected))
        yield self.n_candidates
        result: list[SelectedPhrase] = []
        is_counted = np.zeros(len(self.features.text_ids), bool)
        while queue and len(result) < max_phrases:
            negative_cost, i, n_selected, entry = heapq.heappop(queue)
            if -negative_cost <= MIN_COST:
                break
            own_positions = entry.phrase.positions
            newly_selected = result[n_selected:]
            if newly_selected and is_counted[own_positions].any():
                overlapping = [
                    other.phrase
                    for other in newly_selected
                    if np.isin(own_positions, other.phrase.positions, assume_unique=True).any()
                ]
                if overlapping:
                    updated = self._after(entry, overlapping, score)
                    if updated is not None:
                        heapq.heappush(queue, (-updated.cost, i, len(result), updated))
                    continue
            result.append(entry)
            is_counted[own_positions] = True
        return result

    def _after(
        self, entry: SelectedPhrase, overlapping: list[RepeatedPhrase], score: Any
    ) -> SelectedPhrase | None:
        """Return a phrase with its cost after further phrases have been rewritten.

        None if the remaining tokens of the phrase are in fewer than `min_texts` texts.
        """
        before = [entry.replaced_before, *(phrase.positions for phrase in overlapping)]
        replaced_before = np.unique(np.concatenate(before))
        own_positions = entry.phrase.positions
        remaining = own_positions[~np.isin(own_positions, replaced_before, assume_unique=True)]
        if len(np.unique(self.features.text_ids[remaining])) < self.min_texts:
            return None
        positions = np.union1d(replaced_before, own_positions)
        return SelectedPhrase(
            entry.phrase,
            score(positions) - score(replaced_before),
            positions,
            replaced_before,
            [*entry.overlaps, *overlapping],
        )


class _CostsOfOrder:
    """Costs of phrases at one order q: gains in the score if their tokens become unique.

    Phrases that replace the same tokens share one computation of the score.
    """

    def __init__(self, sets: RewrittenSets, q: float) -> None:
        self.sets = sets
        self.q = q
        self._scores: dict[bytes, float] = {}

    def compute(self, selected: SelectedPhrase) -> float:
        """Return the gain in the score if a phrase is rewritten, after its `overlaps`."""
        before, after = selected.replaced_before, selected.positions
        return self.score(after) - self.score(before)

    def score(self, positions: np.ndarray | None = None) -> float:
        """Return the score after the tokens at some positions are replaced by unique tokens.

        By default, no token is replaced.
        """
        if positions is None:
            return self.sets.compute_score(self.q)
        key = positions.tobytes()
        if key not in self._scores:
            self._scores[key] = self.sets.compute_score(self.q, positions)
        return self._scores[key]


def _plan_exact_costs(max_size: int, options: _PhraseOptions) -> tuple[int, str]:
    """Return for how many phrases to compute the cost at order q, and a note if not for all.

    All phrases have a cost at order 2, which is faster to compute.
    """
    if options.q == 2:
        return 0, ""
    if max_size <= MAX_EXACT_SIZE:
        return options.n_phrases + EXACT_MARGIN, ""
    size = f"With more than {MAX_EXACT_SIZE} texts in a set"
    if max_size <= MAX_TOP_SIZE and has_room(4 * 8 * max_size**2):
        return min(N_TOP, options.n_phrases), (
            f"{size}, phrases are ranked by their cost at order 2, and only the first {N_TOP} "
            f"costs are computed at order {options.q:g}."
        )
    return 0, (f"With {max_size:,} texts in a set, costs are computed only at order 2 (`cost_q2`).")


def _announce_exact_costs(sets: RewrittenSets, n_exact: int) -> AbstractContextManager[None]:
    """Announce the time for all eigenvalues of each set, for each phrase and without changes."""
    work = sum(estimate_eigensolver_work(len(indices)) for indices in sets.sets)
    n_bytes = 3 * 8 * sets.max_size**2 if n_exact else 0
    description = f"Costs of {n_exact} phrases"
    return announce_duration(description, n_exact * work, n_bytes, hint="q=2 is faster")


def _cost_steps(
    search: _PhraseSearch, n_exact: int, options: _PhraseOptions
) -> Counts[tuple[list[tuple[SelectedPhrase, float]], float]]:
    """Yield the number of evaluated phrases; return phrases with their cost, and the score."""
    costs_of_order = _CostsOfOrder(search.rewritten_sets, options.q)
    all_exact = n_exact >= options.n_phrases
    selected = yield from search.select_steps(n_exact if all_exact else options.n_phrases)
    if options.q == 2:
        return [(entry, entry.cost) for entry in selected], costs_of_order.score()
    costs = [math.nan] * len(selected)
    for i, entry in enumerate(selected[:n_exact]):
        yield search.n_candidates + i
        costs[i] = costs_of_order.compute(entry)
    rows = list(zip(selected, costs, strict=True))
    if all_exact:
        rows.sort(key=lambda row: -row[1])
        rows = [row for row in rows if row[1] > MIN_COST]
    return rows[: options.n_phrases], costs_of_order.score() if n_exact else math.nan


def _compare_phrases(
    texts: Any,
    other: Any,
    groups: object,
    spec: SimilaritySpec,
    tokenizer: Tokenizer | str | None,
    options: _PhraseOptions,
) -> PhraseComparison:
    """Compare the costs of phrases in the sets a (`texts`) and b (`other`).

    In each group, the same number of texts is drawn from both sets.
    """
    texts_by_name: dict[str, Any] = {
        name: check_collection(_check_texts(set_texts, name), spec, name, has_other_sets=True)
        for name, set_texts in (("texts", texts), ("other", other))
    }
    texts_by_name, groups = flatten_sets(texts_by_name, groups, spec)
    if groups is not None and spec.grouping_prompts is not None:
        raise ValueError(
            "`prompts` and `groups` cannot be combined with a second set; remove one of them"
        )
    similarity, set_codes, labels = pool_sets(texts_by_name, groups, spec)
    samples = [text for set_texts in texts_by_name.values() for text in set_texts]
    retained = np.array(_retained_indices(samples, similarity))
    tokens = _take_tokens(samples, similarity, tokenizer)
    set_codes = set_codes[retained]
    matched: GroupIndices = [group_indices(set_codes, 2)]
    if labels is not None:
        labels = [labels[i] for i in retained]
        argument = "prompts" if groups is None else "groups"
        matched = match_groups(labels, set_codes, list(texts_by_name), argument)
    # For each group, random indices of equally many texts of both sets.
    rng = np.random.default_rng(options.seed)
    pairs = []
    for members in matched:
        size = min(map(len, members))
        pairs.append([np.sort(rng.permutation(indices)[:size]) for indices in members])
    drawn_indices = np.concatenate([indices for pair in pairs for indices in pair])
    tokens = [tokens[i] for i in drawn_indices]
    drawn_texts = [samples[i] for i in retained[drawn_indices]]
    # The drawn texts are sorted by group and by set. `sets` are the texts of both sets in a group.
    sizes = np.array([len(pair[0]) for pair in pairs])
    ends = np.cumsum(2 * sizes)
    sets = [np.arange(end - 2 * size, end) for end, size in zip(ends, sizes, strict=True)]
    a = [indices[:size] for indices, size in zip(sets, sizes, strict=True)]
    b = [indices[size:] for indices, size in zip(sets, sizes, strict=True)]
    weights = np.repeat(1 / (2 * sizes), 2 * sizes)
    search = _PhraseSearch(tokens, similarity.settings, sets, weights, options)
    n_exact, note = _plan_exact_costs(int(sizes.max()), options)
    steps = _comparison_steps(search, a, b, 2 * weights, n_exact, rng, options)
    total = search.n_candidates + 2 * MAX_TESTED
    tested, scores = run_with_progress(steps, total, "phrases")
    texts_of_sets = [np.concatenate(indices_by_group) for indices_by_group in (a, b)]
    rows = []
    for selected, p, costs in tested[: options.n_phrases]:
        n_a, n_b = (search.count_texts(selected.phrase, indices) for indices in texts_of_sets)
        phrase, *overlaps = (
            _format_phrase(drawn_texts, tokens, repeated, search.analyzer)
            for repeated in (selected.phrase, *selected.overlaps)
        )
        cost_a, cost_b = costs
        counts_and_costs = (n_a, n_b, cost_a, cost_b, cost_a - cost_b)
        rows.append(PhraseDifference(phrase, *counts_and_costs, p, tuple(overlaps)))
    notes = [note] if note else []
    return PhraseComparison(
        rows,
        int(sizes.sum()),
        options.q,
        *scores,
        options.permutations,
        len(tested),
        search.min_texts,
        len(sets),
        notes,
        to_plain(similarity.settings),
    )


def _comparison_steps(
    search: _PhraseSearch,
    a: list[np.ndarray],
    b: list[np.ndarray],
    weights: np.ndarray,
    n_exact: int,
    rng: np.random.Generator,
    options: _PhraseOptions,
) -> Counts[tuple[list[tuple[SelectedPhrase, float, tuple[float, float]]], tuple[float, float]]]:
    """Yield the progress; return tested phrases with p and costs in both sets, and the scores.

    a and b contain the texts of both sets in each group. The p-values are at order 2; the first
    `n_exact` phrases also get costs at another order. Costs that are not computed are NaN.
    """
    selected = yield from search.select_steps(MAX_TESTED)
    n_done = search.n_candidates
    positions = [(entry.replaced_before, entry.positions) for entry in selected]
    steps = permutation_p_values(search.rewritten_sets, positions, options.permutations, rng)
    p_values, statistics = yield from map_steps(steps, lambda i: n_done + i)
    order = np.lexsort((-statistics, p_values))
    costs_of_sets = [
        _CostsOfOrder(RewrittenSets(search.features, indices_by_group, weights), options.q)
        for indices_by_group in (a, b)
    ]
    rows = []
    for rank, i in enumerate(order.tolist()):
        costs = [math.nan, math.nan]
        if rank < options.n_phrases and (options.q == 2 or rank < n_exact):
            yield min(n_done + len(selected) + rank, n_done + 2 * MAX_TESTED)
            costs = [costs_of_set.compute(selected[i]) for costs_of_set in costs_of_sets]
        rows.append((selected[i], float(p_values[i]), (costs[0], costs[1])))
    scores = [math.nan, math.nan]
    if n_exact or options.q == 2:
        scores = [costs_of_set.score() for costs_of_set in costs_of_sets]
    return rows, (scores[0], scores[1])


def _format_phrase(
    texts: Sequence[str], tokens: Sequence[Tokens], phrase: RepeatedPhrase, analyzer: str
) -> str:
    """Return a phrase as it is written in the first text that contains it, on one line."""
    text, phrase_tokens = take_phrase_tokens(tokens, phrase)
    words = list(map(str, phrase_tokens))
    if analyzer == "char":
        return "".join(words)
    # Tokenizers remove spaces, and some change characters; the tokens are then joined by spaces.
    patterns = (_QUOTES if word in ("``", "''") else re.escape(word) for word in words)
    start = r"(?<!\w)" if words[0][:1].isalnum() else ""  # not within a word
    end = r"(?!\w)" if words[-1][-1:].isalnum() else ""
    match = re.search(start + r"\s*".join(patterns) + end, texts[text])
    return " ".join((match.group() if match else " ".join(words)).split())
