"""Classes by NoveltyBench's rule: each set by itself, each pair judged once."""

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import as_similarity, compute
from vendiscore.similarity.judgements import (
    EquivalenceSimilarity,
    GradedSimilarity,
    Judgements,
    count_open_triples,
)

few = settings(max_examples=60)


@st.composite
def judgements(draw, most=9):
    """Return a matrix of judgements that need not be transitive."""
    n = draw(st.integers(1, most))
    bits = draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    same = np.array(bits).reshape(n, n)
    return same | same.T | np.eye(n, dtype=bool)


def naive(same):
    """Return each sample in turn joins the first class whose first member it is the same as."""
    founders, codes = [], []
    for i in range(len(same)):
        code = next((c for c, f in enumerate(founders) if same[f, i]), len(founders))
        founders += [i] if code == len(founders) else []
        codes.append(code)
    return codes


class Counted:
    """A judge by a matrix that lists what it was asked."""

    def __init__(self, same):
        self.same, self.asked = same, []

    def __call__(self, pairs):
        self.asked += pairs
        return [self.same[pair] for pair in pairs]


def classes(same, audit=0, index=None):
    ids = np.arange(len(same)) if index is None else np.asarray(index)
    return EquivalenceSimilarity(Judgements(Counted(same), audit), ids)


@few
@given(judgements(), st.sampled_from([0, 5, 20]))
def test_classes_are_those_of_the_rule_for_any_judge(same, audit):
    assert classes(same, audit).codes.tolist() == naive(same)


@few
@given(judgements(), st.data())
def test_a_part_is_judged_by_itself_and_a_take_is_not(same, data):
    index = np.array(data.draw(st.permutations(range(len(same)))))[: len(same) // 2 + 1]
    K = classes(same)
    assert K.part(index).codes.tolist() == naive(same[np.ix_(index, index)])
    dense = K.dense()
    np.testing.assert_array_equal(K.take(index).dense(), dense[np.ix_(index, index)])
    np.testing.assert_array_equal(K.compact().dense(), dense)
    stacked = K.stack(np.array([index, index[::-1]]))
    np.testing.assert_array_equal(stacked[1], K.part(index[::-1]).dense())


@few
@given(judgements())
def test_each_pair_is_asked_once_and_no_more_than_the_rule_needs(same):
    K = classes(same)
    expected = naive(same)
    K.part(np.arange(K.n))._groups()
    assert K.codes.tolist() == expected
    asked = K.judgements.judge.asked
    assert len(asked) == len(set(asked))
    founders = [expected.index(code) for code in range(max(expected) + 1)]
    needed = {(f, i) for i, c in enumerate(expected) for f in founders[: c + 1] if f < i}
    assert set(asked) == needed


@few
@given(judgements())
def test_open_triples_are_counted_as_by_three_loops(same):
    n, count = len(same), 0
    for b in range(n):
        for a in range(n):
            for c in range(a + 1, n):
                count += b not in (a, c) and same[a, b] and same[b, c] and not same[a, c]
    assert count_open_triples(same) == count
    K = classes(same, audit=20)
    _ = K.codes
    assert bool(K.notes) == bool(count)
    assert not count or f"in {count:,} triples" in K.notes[0]


def test_larger_sets_are_not_audited_and_say_so():
    K = classes(np.eye(5, dtype=bool), audit=4)
    assert K.notes == ()
    _ = K.part(np.arange(3)).codes, K.codes
    assert "checked in 1 of 2 sets: those with at most 4 distinct samples" in K.notes[-1]
    assert len(K.noted(notes=["Another."]).notes) == 2
    assert K.noted(notes=["Another."]).part(np.arange(3)).notes.count(K.notes[0]) == 1


def test_repeats_need_no_judgement():
    K = classes(np.eye(2, dtype=bool), index=[1, 0, 1, 1])
    assert K.codes.tolist() == [0, 1, 0, 0]
    assert K.judgements.judge.asked == [(1, 0)]


def recorded(asked):
    def same(a, b):
        asked.append((a, b))
        return a[0] == b[0]

    return same


GROUPS = [["ant", "ape", "bee"], ["cat", "cow", "cod", "ant"], ["dog", "elk", "dog"]]


@pytest.mark.parametrize("measures", ["VS", "DistinctK", "SemanticEntropy", ["VS", "IntDiv"]])
@pytest.mark.parametrize("details", [False, True])
def test_no_pair_of_two_groups_is_judged(measures, details):
    asked = []
    compute(GROUPS, k="equivalence", same=recorded(asked), measures=measures, details=details)
    assert len(asked) == len(set(asked)) == 3 + 6 + 1
    together = [{*group} for group in GROUPS]
    assert all(any({a, b} <= group for group in together) for a, b in asked)


def test_no_pair_of_two_groups_is_judged_of_a_similarity_made_before():
    asked = []
    K = as_similarity([x for group in GROUPS for x in group], k="equivalence", same=recorded(asked))
    labels = [i for i, group in enumerate(GROUPS) for _ in group]
    result = compute(K, groups=labels, measures=["VS", "DistinctK"], details=True)
    assert result["DistinctK"] == pytest.approx(2)
    assert result["details"]["distinct"] == 6
    assert len(asked) == 10


@few
@given(st.lists(st.integers(2, 5), min_size=2, max_size=5), st.integers(0, 99), st.randoms())
def test_a_group_scores_the_same_whatever_the_others_are(sizes, seed, random):
    """The judge is neither transitive nor symmetric, and several groups have the same texts."""
    texts = [[f"{g % 2}:{i}" for i in range(size)] for g, size in enumerate(sizes)]
    for group in texts:
        random.shuffle(group)

    def same(a, b):
        return zlib.crc32(f"{a}{b}{seed}".encode()) % 3 == 0

    how = {"k": "equivalence", "same": same, "measures": ["VS", "DistinctK"]}
    rows = compute(texts, details=True, **how)["details"]["groups"]
    for row, group in zip(rows, texts, strict=True):
        alone = compute(group, **how)
        assert row["VS"] == pytest.approx(alone["VS"], abs=1e-12)
        assert row["DistinctK"] == alone["DistinctK"]


def test_weights_and_other_measures_read_the_same_classes():
    asked = []
    texts = ["ant", "ape", "bee", "cat"]
    how = {"k": "equivalence", "same": recorded(asked)}
    result = compute(texts, p=[0.1, 0.4, 0.3, 0.2], measures=["VS", "IntDiv"], q=[0, 1, 2], **how)
    expected = compute(list("aabc"), p=[0.1, 0.4, 0.3, 0.2], k="labels", q=[0, 1, 2],
                       measures=["VS", "IntDiv"])  # fmt: skip
    assert result == pytest.approx(expected)
    assert len(asked) == 6


def graded(scores, ids=None):
    ids = np.arange(len(scores)) if ids is None else np.asarray(ids)
    return GradedSimilarity(Judgements(Counted(scores), 0), ids)


def naive_matrix(scores):
    """Return the mean of both orders, with the least δ that makes no eigenvalue negative."""
    m = len(scores)
    K = np.eye(m)
    for i in range(m):
        for j in range(m):
            K[i, j] = 1 if i == j else (scores[i, j] + scores[j, i]) / 2
    delta = max(0, -np.linalg.eigvals(K).real.min())
    return (K + delta * np.eye(m)) / (1 + delta), delta


@few
@given(st.integers(1, 8), st.integers(0, 999), st.booleans())
def test_scores_become_a_matrix_with_the_least_shift(m, seed, coarse):
    scores = np.random.default_rng(seed).random((m, m))
    scores = scores.round() if coarse else scores
    K = graded(scores)
    expected, delta = naive_matrix(scores)
    np.testing.assert_allclose(K.dense(), expected, rtol=0, atol=1e-10)
    lowest = np.linalg.eigvalsh(K.dense())[0]
    assert lowest > -1e-12
    assert bool(K.notes) == (delta > 1e-12 * m)
    assert not K.notes or abs(lowest) < 1e-12
    asked = K.judgements.judge.asked
    assert sorted(asked) == [(i, j) for i in range(m) for j in range(m) if i != j]


@few
@given(st.lists(st.integers(0, 4), min_size=1, max_size=9), st.integers(0, 99), st.data())
def test_parts_takes_and_stacks_of_scores_are_by_definition(ids, seed, data):
    scores = np.random.default_rng(seed).random((5, 5))
    K = graded(scores, ids)

    def of(places):
        things = sorted({ids[i] for i in places})
        at = [things.index(ids[i]) for i in places]
        return naive_matrix(scores[np.ix_(things, things)])[0][np.ix_(at, at)]

    whole = of(range(K.n))
    places = st.lists(st.integers(0, K.n - 1), min_size=3, max_size=3)
    sets = np.array(data.draw(st.lists(places, min_size=1, max_size=4)))
    expected = np.array([of(at) for at in sets])
    np.testing.assert_allclose(K.stack(sets), expected, rtol=0, atol=1e-10)
    s = np.arange(1.0, K.n + 1)
    for at, each in zip(sets, expected, strict=True):
        np.testing.assert_allclose(K.part(at).dense(), each, atol=1e-10)
        np.testing.assert_allclose(K.take(at).dense(), whole[np.ix_(at, at)], atol=1e-10)
        factors = np.outer(s[at], s[at])
        np.testing.assert_allclose(K.scaled(s).part(at).dense(), factors * each, atol=1e-8)
    np.testing.assert_allclose(K.compact().dense(), whole, atol=1e-10)
    np.testing.assert_allclose(K.matmul(s), whole @ s, atol=1e-10)
    asked = K.judgements.judge.asked
    assert len(asked) == len(set(asked))
    same = K.groups()
    assert all(same[i] == same[j] for i in range(K.n) for j in range(K.n) if ids[i] == ids[j])


def test_the_note_counts_sets_and_has_the_largest_shift():
    scores = np.eye(6)
    scores[0, 1] = scores[1, 0] = scores[1, 2] = scores[2, 1] = 1
    K = graded(scores)
    assert K.notes == ()
    for part in ([0, 1, 2], [3, 4, 5], [2, 1, 0], [0, 1]):
        K.part(np.array(part)).dense()
    note = "up to 0.41 was added to the diagonal, in 1 of 3 sets."  # √2 − 1
    assert K.notes == (f"The scores of `same` are not positive semidefinite: {note}",)
    noted = K.noted(notes=["Another."]).part(np.arange(6))
    noted.dense()
    assert noted.notes == ("Another.", K.notes[0])
    assert "in 2 of 4 sets" in K.notes[0]
