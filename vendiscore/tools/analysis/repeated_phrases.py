"""Phrases that occur in several texts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...kernels.text import Tokens, count_by_text, iter_ngrams


@dataclass(frozen=True, eq=False)
class RepeatedPhrase:
    """A phrase of `length` tokens; `starts` are the positions of its occurrences, ascending.

    Positions refer to the tokens of all texts, concatenated.
    """

    length: int
    starts: np.ndarray

    @property
    def positions(self) -> np.ndarray:
        """The positions of all tokens of all occurrences, which may overlap."""
        return np.unique(self.starts[:, None] + np.arange(self.length))


class TextWeights(NamedTuple):
    """Weights of texts from which the effect of a phrase is approximated.

    Attributes
    ----------
    orders : sequence of int
        Lengths n of the n-grams that the kernel compares.
    factors : array (len(orders), n_texts)
        For each n, the weight of a text times the feature of an n-gram that occurs once in it.
    codes : array (n_texts,)
        The set of each text: similarities of texts in different sets have no effect.
    """

    orders: Sequence[int]
    factors: np.ndarray
    codes: np.ndarray


def find_repeated_phrases(
    tokens: Sequence[Tokens],
    lengths: tuple[int, int],
    min_texts: int,
    max_phrases: int,
    weights: TextWeights,
) -> list[RepeatedPhrase]:
    """Find closed repeats: phrases that no longer phrase has in the same texts.

    Phrases have between `lengths[0]` and `lengths[1]` tokens and occur in at least `min_texts`
    texts. If there are more than `max_phrases`, those with the largest effect on the mean
    similarity of two texts are returned, in descending order of this effect. The effect of a phrase
    is approximated by the sum of the products of the features of its n-grams over all pairs of
    texts. Memory is linear in the number of tokens.
    """
    phrases: list[RepeatedPhrase] = []
    effects = np.zeros(0)
    for length, closed_phrases in _iter_closed_repeats(tokens, lengths[1], min_texts):
        if length < lengths[0] or not closed_phrases.n_phrases:
            continue
        new_effects = _approximate_effects(length, closed_phrases, weights)
        best = np.argsort(-new_effects, kind="stable")[:max_phrases]
        phrases += [RepeatedPhrase(length, starts) for starts in closed_phrases.select(best)]
        effects = np.append(effects, new_effects[best])
        order = np.argsort(-effects, kind="stable")[:max_phrases]
        phrases = [phrases[i] for i in order]
        effects = effects[order]
    return phrases


@dataclass(frozen=True, eq=False)
class _Occurrences:
    """Occurrences of phrases of the same length: their codes, first positions and texts."""

    codes: np.ndarray
    starts: np.ndarray
    text_ids: np.ndarray
    n_texts: int

    @property
    def n_phrases(self) -> int:
        return int(self.codes.max(initial=-1)) + 1

    def count_texts(self) -> np.ndarray:
        """Count the texts that contain each phrase."""
        return np.bincount(count_by_text(self.codes, self.text_ids, self.n_texts)[1])

    def subset(self, is_selected: np.ndarray) -> _Occurrences:
        """Return the occurrences of the selected phrases, which are renumbered."""
        rows = is_selected[self.codes]
        codes = (np.cumsum(is_selected) - 1)[self.codes[rows]]
        return _Occurrences(codes, self.starts[rows], self.text_ids[rows], self.n_texts)

    def select(self, codes: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the first positions of all occurrences of each of the phrases `codes`."""
        order = np.argsort(self.codes, kind="stable")
        ends = np.cumsum(np.bincount(self.codes, minlength=self.n_phrases))
        starts = np.split(self.starts[order], ends[:-1])
        return (starts[code] for code in codes)


def _iter_closed_repeats(
    tokens: Sequence[Tokens], max_length: int, min_texts: int
) -> Iterator[tuple[int, _Occurrences]]:
    """Yield the occurrences of the closed repeats of each length, 1, …, `max_length`."""
    sizes = list(map(len, tokens))
    text_ids = np.repeat(np.arange(len(tokens)), sizes)
    previous: _Occurrences | None = None
    previous_counts = np.zeros(0, int)
    for length, (codes, starts) in enumerate(iter_ngrams(tokens, max_length, min_texts), 1):
        current = _Occurrences(codes, starts, text_ids[starts], len(tokens))
        counts = current.count_texts()
        if previous is not None:
            # A phrase is not closed if one that is longer by a token occurs in as many texts.
            is_closed = np.ones(len(previous_counts), bool)
            code_by_start = np.full(len(text_ids) + 1, -1)
            code_by_start[previous.starts] = previous.codes
            for shorter in (code_by_start[starts], code_by_start[starts + 1]):
                is_closed[shorter[previous_counts[shorter] == counts[codes]]] = False
            yield length - 1, previous.subset(is_closed)
        if not len(codes):
            return
        previous, previous_counts = current, counts
    if previous is not None:
        yield max_length, previous


def _approximate_effects(
    length: int, occurrences: _Occurrences, weights: TextWeights
) -> np.ndarray:
    """Approximate the part of the mean similarity that is due to the n-grams of each phrase."""
    n_sets = int(weights.codes.max(initial=0)) + 1
    text_ids, codes, _ = count_by_text(occurrences.codes, occurrences.text_ids, occurrences.n_texts)
    keys, inverse = np.unique(codes * n_sets + weights.codes[text_ids], return_inverse=True)
    effects = np.zeros(occurrences.n_phrases)
    for n, factors in zip(weights.orders, weights.factors, strict=True):
        sums = np.bincount(inverse, factors[text_ids], len(keys))
        n_grams = max(length - n + 1, 0)
        effects += n_grams * np.bincount(keys // n_sets, sums**2, len(effects))
    return effects


def take_phrase_tokens(
    tokens: Sequence[Tokens], phrase: RepeatedPhrase
) -> tuple[int, list[Hashable]]:
    """Return the index of the first text that contains a phrase, and the tokens of the phrase."""
    ends = np.cumsum(list(map(len, tokens)))
    text = int(np.searchsorted(ends, phrase.starts[0], side="right"))
    start = int(phrase.starts[0] - ends[text] + len(tokens[text]))
    return text, list(tokens[text][start : start + phrase.length])
