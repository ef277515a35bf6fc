"""Permutation p-values of differences between the costs of phrases in two sets."""

import numpy as np
import pytest

from vendiscore import score
from vendiscore.support.progress import run_steps
from vendiscore.tools.analysis.phrase_permutations import permutation_p_values
from vendiscore.tools.analysis.rewritten_texts import NgramFeatures, RewrittenSets

TOKENS = [list(word) for word in ("abc", "abd", "abe", "bf", "ga", "ch", "cb", "id")]
POSITIONS = [
    (np.zeros(0, int), np.array([0, 1, 3, 4, 6, 7])),
    (np.array([0, 1]), np.array([0, 1, 2, 15])),
]


def rewrite(positions):
    words = [word for text in TOKENS for word in text]
    words = [f"unique{i}" if i in positions else word for i, word in enumerate(words)]
    ends = np.cumsum([len(text) for text in TOKENS])[:-1]
    return [" ".join(text) for text in np.split(np.array(words, dtype=object), ends)]


def naive_difference(before, after, labels, sets):
    """Return the difference of costs of two sets at order 2, from scores of rewritten texts."""
    differences = []
    for indices in sets:
        gains = []
        for side in (True, False):
            members = [i for i in indices if labels[i] == side]
            scores = [
                score([rewrite(set(p))[i] for i in members], ns=(1, 2), tokenizer=str.split, q=2)
                for p in (before, after)
            ]
            gains.append(scores[1] - scores[0])
        differences.append(gains[0] - gains[1])
    return np.mean(differences)


@pytest.mark.parametrize("sizes", [[8], [4, 4]])
def test_p_values_equal_those_of_rewritten_texts(sizes):
    ends = np.cumsum(sizes)
    sets = [np.arange(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    rewritten = RewrittenSets(NgramFeatures(TOKENS, (1, 2)), sets, np.ones(8))
    steps = permutation_p_values(rewritten, POSITIONS, 30, np.random.default_rng(3))
    p_values, statistics = run_steps(steps)

    rng = np.random.default_rng(3)
    labels = np.zeros((31, 8), bool)
    for indices in sets:
        observed = np.tile(np.arange(len(indices)) < len(indices) // 2, (31, 1))
        observed[1:] = rng.permuted(observed[1:], axis=1)
        labels[:, indices] = observed
    differences = np.array(
        [[naive_difference(*pair, row, sets) for row in labels] for pair in POSITIONS]
    )
    expected = differences / differences.std(axis=1, keepdims=True)
    np.testing.assert_allclose(statistics, expected[:, 0], atol=1e-9)
    largest = expected.max(axis=0)
    np.testing.assert_allclose(
        p_values, [np.mean(largest >= value - 1e-9) for value in expected[:, 0]]
    )


def test_no_phrases_have_no_p_values():
    rewritten = RewrittenSets(NgramFeatures(TOKENS, (1,)), [np.arange(8)], np.full(8, 1 / 8))
    p_values, statistics = run_steps(
        permutation_p_values(rewritten, [], 19, np.random.default_rng(0))
    )
    assert len(p_values) == len(statistics) == 0


def test_phrases_without_variation_are_not_significant():
    rewritten = RewrittenSets(NgramFeatures(TOKENS, (1,)), [np.arange(8)], np.full(8, 1 / 8))
    nothing = np.zeros(0, int)
    steps = permutation_p_values(rewritten, [(nothing, nothing)], 19, np.random.default_rng(0))
    assert run_steps(steps)[0].tolist() == [1.0]
