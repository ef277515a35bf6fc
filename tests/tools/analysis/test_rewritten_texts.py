"""Scores of rewritten texts equal the scores of texts with unique words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import score
from vendiscore.tools.analysis import rewritten_texts
from vendiscore.tools.analysis.rewritten_texts import NgramFeatures, RewrittenSets

WORDS = list("abcdef")


def draw_texts(rng, n, min_tokens, words=WORDS):
    lengths = rng.integers(min_tokens, 9, size=n)
    return [rng.choice(words, length).tolist() for length in lengths]


def rewrite(tokens, positions):
    """Replace the tokens at positions in the concatenated texts by unique ones."""
    result, start = [], 0
    for text in tokens:
        result.append(
            [
                f"unique{start + i}" if start + i in positions else token
                for i, token in enumerate(text)
            ]
        )
        start += len(text)
    return result


def naive_score(tokens, sets, weights, ns, q):
    """Return the mean over sets of the score of texts, computed by the public function."""
    scores = []
    for indices in sets:
        texts = [" ".join(tokens[i]) for i in indices]
        scores.append(score(texts, ns=ns, tokenizer=str.split, q=q, p=weights[indices]))
    return float(np.mean(scores))


@pytest.mark.filterwarnings("ignore:Kernel 'ngram_overlap' represents")
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    ns=st.sampled_from([(1,), (1, 2, 3, 4), (2, 3), (3, 1)]),
    q=st.sampled_from([0.5, 1.0, 2.0, 3.0, float("inf")]),
    n_sets=st.integers(1, 4),
    has_weights=st.booleans(),
)
def test_score_of_rewritten_texts_equals_score_of_texts_with_unique_words(
    seed, ns, q, n_sets, has_weights
):
    rng = np.random.default_rng(seed)
    n = 12
    tokens = draw_texts(rng, n, min(ns))
    codes = rng.permutation(np.arange(n) % n_sets)
    sets = [np.flatnonzero(codes == code) for code in range(n_sets)]
    weights = rng.random(n) + 0.1 if has_weights else np.ones(n)
    for indices in sets:
        weights[indices] /= weights[indices].sum()
    rewritten = RewrittenSets(NgramFeatures(tokens, ns), sets, weights)
    total = sum(map(len, tokens))
    positions = np.sort(rng.choice(total, rng.integers(0, total // 2), replace=False))
    expected = naive_score(rewrite(tokens, set(positions)), sets, weights, ns, q)
    assert rewritten.compute_score(q, positions) == pytest.approx(expected, abs=1e-9)
    assert rewritten.compute_score(q) == pytest.approx(
        naive_score(tokens, sets, weights, ns, q), abs=1e-9
    )


@pytest.mark.parametrize("limit", ["blocks", "memory", "rows"])
def test_scores_do_not_depend_on_how_similarities_are_split(limit, monkeypatch):
    rng = np.random.default_rng(0)
    tokens = draw_texts(rng, 150, 2, words=[f"w{i}" for i in range(40)])
    sets = [np.arange(start, start + 50) for start in (0, 50, 100)]
    features = NgramFeatures(tokens, (1, 2))
    positions = np.arange(0, sum(map(len, tokens)), 3)

    def compute_scores():
        rewritten = RewrittenSets(features, sets, np.full(150, 1 / 50))
        return [rewritten.compute_score(q, positions) for q in (1.0, 2.0)]

    expected = compute_scores()
    if limit == "blocks":
        monkeypatch.setattr(rewritten_texts, "MAX_BLOCK_SIZE", 1)
    elif limit == "memory":
        monkeypatch.setattr(rewritten_texts, "has_room", lambda size: False)
    else:
        monkeypatch.setattr(rewritten_texts, "MAX_ROW_VALUES", 1)
    np.testing.assert_allclose(compute_scores(), expected, rtol=1e-12)


def test_score_without_common_words_is_the_maximum():
    tokens = [["a", "b"], ["a", "c"], ["a", "d"]]
    rewritten = RewrittenSets(NgramFeatures(tokens, (1,)), [np.arange(3)], np.full(3, 1 / 3))
    assert rewritten.compute_max_score(1) == pytest.approx(3)
    assert rewritten.compute_score(1, np.arange(6)) == pytest.approx(3)


def test_texts_outside_all_sets_have_no_effect():
    tokens = [["a", "b"], ["a", "c"], ["a", "d"]]
    features = NgramFeatures(tokens, (1,))
    rewritten = RewrittenSets(features, [np.array([0, 2])], np.full(3, 1 / 2))
    expected = score(["a b", "a d"], ns=1, tokenizer=str.split)
    assert rewritten.compute_score(1, np.array([2, 3])) == pytest.approx(expected)


def test_changes_of_squared_similarities_are_those_of_rewritten_texts():
    rng = np.random.default_rng(1)
    tokens = draw_texts(rng, 12, 1)
    sets = [np.arange(5), np.arange(5, 12)]
    rewritten = RewrittenSets(NgramFeatures(tokens, (1, 2)), sets, np.ones(12))
    positions = np.array([0, 1, 2, 30, 31])
    new = NgramFeatures(rewrite(tokens, set(positions)), (1, 2))
    after = dict(RewrittenSets(new, sets, np.ones(12)).iter_squared_similarities())
    before = dict(rewritten.iter_squared_similarities())
    changes = list(rewritten.iter_squared_changes(positions))
    assert changes
    for code, rows, differences in changes:
        np.testing.assert_allclose(differences, (after[code] - before[code])[rows], atol=1e-12)
