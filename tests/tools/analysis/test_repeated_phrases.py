"""Closed repeats: phrases that no longer phrase has in the same texts."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore.tools.analysis.repeated_phrases import (
    TextWeights,
    find_repeated_phrases,
    take_phrase_tokens,
)


def find(tokens, lengths=(2, 12), min_texts=2, max_phrases=1000):
    weights = TextWeights((1,), np.ones((1, len(tokens))), np.zeros(len(tokens), int))
    phrases = find_repeated_phrases(tokens, lengths, min_texts, max_phrases, weights)
    return {tuple(take_phrase_tokens(tokens, phrase)[1]): phrase for phrase in phrases}


def naive_closed_repeats(tokens, lengths, min_texts):
    """Map each closed repeat to the texts that contain it."""
    texts_by_phrase = {}
    for i, text in enumerate(tokens):
        for length in range(1, lengths[1] + 1):
            for start in range(len(text) - length + 1):
                phrase = tuple(text[start : start + length])
                texts_by_phrase.setdefault(phrase, set()).add(i)

    def is_closed(phrase):
        return not any(
            len(longer) == len(phrase) + 1
            and phrase in (longer[1:], longer[:-1])
            and texts_by_phrase[longer] == texts_by_phrase[phrase]
            for longer in texts_by_phrase
        )

    return {
        phrase: texts
        for phrase, texts in texts_by_phrase.items()
        if len(phrase) >= lengths[0] and len(texts) >= min_texts and is_closed(phrase)
    }


@settings(max_examples=60, deadline=None)
@given(
    tokens=st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=8), max_size=7),
    lengths=st.sampled_from([(2, 12), (1, 3), (3, 4)]),
    min_texts=st.integers(2, 4),
)
def test_closed_repeats_equal_those_of_all_substrings(tokens, lengths, min_texts):
    text_ids = np.repeat(np.arange(len(tokens)), [len(text) for text in tokens])
    found = find(tokens, lengths, min_texts)
    expected = naive_closed_repeats(tokens, lengths, min_texts)
    assert {
        phrase: set(text_ids[repeat.starts].tolist()) for phrase, repeat in found.items()
    } == expected


def test_positions_include_all_occurrences_and_overlaps():
    tokens = [["a", "b", "a", "b"], ["a", "b", "x"]]
    assert find(tokens)["a", "b"].positions.tolist() == [0, 1, 2, 3, 4, 5]


def test_largest_effects_are_returned_first():
    tokens = [["a", "b"]] * 3 + [["c", "d"]] * 2 + [["a", "b", "e"]]
    assert list(find(tokens)) == [("a", "b"), ("c", "d")]
    assert list(find(tokens, max_phrases=1)) == [("a", "b")]


def test_effects_count_only_pairs_of_the_same_set():
    tokens = [["a", "b"], ["a", "b"], ["a", "b"], ["c", "d"], ["c", "d"]]
    codes = np.array([0, 1, 2, 0, 0])
    weights = TextWeights((1, 2), np.ones((2, 5)), codes)
    phrases = find_repeated_phrases(tokens, (2, 12), 2, 1, weights)
    assert take_phrase_tokens(tokens, phrases[0]) == (3, ["c", "d"])


def test_phrases_do_not_cross_texts():
    assert find([["a", "b"], ["c"], ["a"], ["b", "c"]]) == {}
