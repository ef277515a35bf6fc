"""Equivalence classes by NoveltyBench's rule: separate for each set, with one judgement a pair."""

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

few_examples = settings(max_examples=60)


@st.composite
def judgement_matrices(draw, max_n=9):
    """Return a matrix of judgements that need not be transitive."""
    n = draw(st.integers(1, max_n))
    bits = draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    equal = np.array(bits).reshape(n, n)
    return equal | equal.T | np.eye(n, dtype=bool)


def sequential_classes(equal):
    """Return class codes: a sample joins the first class whose first member is equivalent to it."""
    founders, codes = [], []
    for i in range(len(equal)):
        code = next((c for c, f in enumerate(founders) if equal[f, i]), len(founders))
        founders += [i] if code == len(founders) else []
        codes.append(code)
    return codes


class MatrixJudge:
    """A judge that looks up judgements in a matrix and records the judged pairs."""

    def __init__(self, matrix):
        self.matrix, self.judged_pairs = matrix, []

    def __call__(self, pairs):
        self.judged_pairs += pairs
        return [self.matrix[pair] for pair in pairs]


def make_equivalence(equal, audit=0, index=None):
    ids = np.arange(len(equal)) if index is None else np.asarray(index)
    return EquivalenceSimilarity(Judgements(MatrixJudge(equal), audit), ids)


@few_examples
@given(judgement_matrices(), st.sampled_from([0, 5, 20]))
def test_classes_match_the_sequential_rule_for_any_judge(same, audit):
    assert make_equivalence(same, audit).codes.tolist() == sequential_classes(same)


@few_examples
@given(judgement_matrices(), st.data())
def test_part_is_judged_separately_and_take_keeps_classes(same, data):
    index = np.array(data.draw(st.permutations(range(len(same)))))[: len(same) // 2 + 1]
    K = make_equivalence(same)
    assert K.part(index).codes.tolist() == sequential_classes(same[np.ix_(index, index)])
    dense = K.dense()
    np.testing.assert_array_equal(K.take(index).dense(), dense[np.ix_(index, index)])
    np.testing.assert_array_equal(K.compact().dense(), dense)
    stacked = K.stack(np.array([index, index[::-1]]))
    np.testing.assert_array_equal(stacked[1], K.part(index[::-1]).dense())


@few_examples
@given(judgement_matrices())
def test_judge_gets_only_needed_pairs_and_none_twice(same):
    K = make_equivalence(same)
    expected = sequential_classes(same)
    K.part(np.arange(K.n))._groups()
    assert K.codes.tolist() == expected
    judged_pairs = K.judgements.judge.judged_pairs
    assert len(judged_pairs) == len(set(judged_pairs))
    founders = [expected.index(code) for code in range(max(expected) + 1)]
    needed = {(f, i) for i, c in enumerate(expected) for f in founders[: c + 1] if f < i}
    assert set(judged_pairs) == needed


@few_examples
@given(judgement_matrices())
def test_count_open_triples_matches_brute_force(same):
    n, count = len(same), 0
    for b in range(n):
        for a in range(n):
            for c in range(a + 1, n):
                count += b not in (a, c) and same[a, b] and same[b, c] and not same[a, c]
    assert count_open_triples(same) == count
    K = make_equivalence(same, audit=20)
    _ = K.codes
    assert bool(K.notes) == bool(count)
    assert not count or f"in {count:,} triples" in K.notes[0]


def test_note_counts_sets_that_are_too_large_for_the_audit():
    K = make_equivalence(np.eye(5, dtype=bool), audit=4)
    assert K.notes == ()
    _ = K.part(np.arange(3)).codes, K.codes
    assert "checked in 1 of 2 sets: those with at most 4 distinct samples" in K.notes[-1]
    assert len(K.noted(notes=["Another."]).notes) == 2
    assert K.noted(notes=["Another."]).part(np.arange(3)).notes.count(K.notes[0]) == 1


def test_identical_samples_are_not_judged():
    K = make_equivalence(np.eye(2, dtype=bool), index=[1, 0, 1, 1])
    assert K.codes.tolist() == [0, 1, 0, 0]
    assert K.judgements.judge.judged_pairs == [(1, 0)]


def recording_judge(judged_pairs):
    def same(a, b):
        judged_pairs.append((a, b))
        return a[0] == b[0]

    return same


GROUPS = [["ant", "ape", "bee"], ["cat", "cow", "cod", "ant"], ["dog", "elk", "dog"]]


@pytest.mark.parametrize("measures", ["VS", "DistinctK", "SemanticEntropy", ["VS", "IntDiv"]])
@pytest.mark.parametrize("details", [False, True])
def test_pairs_across_groups_are_not_judged(measures, details):
    judged_pairs = []
    compute(
        GROUPS,
        k="equivalence",
        same=recording_judge(judged_pairs),
        measures=measures,
        details=details,
    )
    assert len(judged_pairs) == len(set(judged_pairs)) == 3 + 6 + 1
    group_sets = [{*group} for group in GROUPS]
    assert all(any({a, b} <= group for group in group_sets) for a, b in judged_pairs)


def test_similarity_passed_to_compute_does_not_judge_across_groups():
    judged_pairs = []
    K = as_similarity(
        [x for group in GROUPS for x in group], k="equivalence", same=recording_judge(judged_pairs)
    )
    labels = [i for i, group in enumerate(GROUPS) for _ in group]
    result = compute(K, groups=labels, measures=["VS", "DistinctK"], details=True)
    assert result["DistinctK"] == pytest.approx(2)
    assert result["details"]["distinct"] == 6
    assert len(judged_pairs) == 10


@few_examples
@given(st.lists(st.integers(2, 5), min_size=2, max_size=5), st.integers(0, 99), st.randoms())
def test_group_score_does_not_depend_on_other_groups(sizes, seed, random):
    """The judge is neither transitive nor symmetric, and several groups have the same texts."""
    texts = [[f"{g % 2}:{i}" for i in range(size)] for g, size in enumerate(sizes)]
    for group in texts:
        random.shuffle(group)

    def same(a, b):
        return zlib.crc32(f"{a}{b}{seed}".encode()) % 3 == 0

    options = {"k": "equivalence", "same": same, "measures": ["VS", "DistinctK"]}
    rows = compute(texts, details=True, **options)["details"]["groups"]
    for row, group in zip(rows, texts, strict=True):
        group_result = compute(group, **options)
        assert row["VS"] == pytest.approx(group_result["VS"], abs=1e-12)
        assert row["DistinctK"] == group_result["DistinctK"]


def test_weights_and_other_measures_use_the_same_classes():
    judged_pairs = []
    texts = ["ant", "ape", "bee", "cat"]
    options = {"k": "equivalence", "same": recording_judge(judged_pairs)}
    result = compute(
        texts, p=[0.1, 0.4, 0.3, 0.2], measures=["VS", "IntDiv"], q=[0, 1, 2], **options
    )
    expected = compute(list("aabc"), p=[0.1, 0.4, 0.3, 0.2], k="labels", q=[0, 1, 2],
                       measures=["VS", "IntDiv"])  # fmt: skip
    assert result == pytest.approx(expected)
    assert len(judged_pairs) == 6


def make_graded(scores, ids=None):
    ids = np.arange(len(scores)) if ids is None else np.asarray(ids)
    return GradedSimilarity(Judgements(MatrixJudge(scores), 0), ids)


def shifted_mean_matrix(scores):
    """Return the shifted mean of both orders, and the smallest δ without negative eigenvalues."""
    m = len(scores)
    K = np.eye(m)
    for i in range(m):
        for j in range(m):
            K[i, j] = 1 if i == j else (scores[i, j] + scores[j, i]) / 2
    delta = max(0, -np.linalg.eigvals(K).real.min())
    return (K + delta * np.eye(m)) / (1 + delta), delta


@few_examples
@given(st.integers(1, 8), st.integers(0, 999), st.booleans())
def test_graded_scores_get_the_smallest_positive_semidefinite_shift(m, seed, is_binary):
    scores = np.random.default_rng(seed).random((m, m))
    scores = scores.round() if is_binary else scores
    K = make_graded(scores)
    expected, delta = shifted_mean_matrix(scores)
    np.testing.assert_allclose(K.dense(), expected, rtol=0, atol=1e-10)
    min_eigenvalue = np.linalg.eigvalsh(K.dense())[0]
    assert min_eigenvalue > -1e-12
    assert bool(K.notes) == (delta > 1e-12 * m)
    assert not K.notes or abs(min_eigenvalue) < 1e-12
    judged_pairs = K.judgements.judge.judged_pairs
    assert sorted(judged_pairs) == [(i, j) for i in range(m) for j in range(m) if i != j]


@few_examples
@given(st.lists(st.integers(0, 4), min_size=1, max_size=9), st.integers(0, 99), st.data())
def test_subsets_and_stacks_of_graded_scores_match_the_definition(ids, seed, data):
    scores = np.random.default_rng(seed).random((5, 5))
    K = make_graded(scores, ids)

    def expected_block(indices):
        item_ids = sorted({ids[i] for i in indices})
        positions = [item_ids.index(ids[i]) for i in indices]
        return shifted_mean_matrix(scores[np.ix_(item_ids, item_ids)])[0][
            np.ix_(positions, positions)
        ]

    full_matrix = expected_block(range(K.n))
    index_lists = st.lists(st.integers(0, K.n - 1), min_size=3, max_size=3)
    sets = np.array(data.draw(st.lists(index_lists, min_size=1, max_size=4)))
    expected = np.array([expected_block(indices) for indices in sets])
    np.testing.assert_allclose(K.stack(sets), expected, rtol=0, atol=1e-10)
    factors_by_sample = np.arange(1.0, K.n + 1)
    for indices, matrix in zip(sets, expected, strict=True):
        np.testing.assert_allclose(K.part(indices).dense(), matrix, atol=1e-10)
        np.testing.assert_allclose(
            K.take(indices).dense(), full_matrix[np.ix_(indices, indices)], atol=1e-10
        )
        factors = np.outer(factors_by_sample[indices], factors_by_sample[indices])
        np.testing.assert_allclose(
            K.scaled(factors_by_sample).part(indices).dense(), factors * matrix, atol=1e-8
        )
    np.testing.assert_allclose(K.compact().dense(), full_matrix, atol=1e-10)
    np.testing.assert_allclose(
        K.matmul(factors_by_sample), full_matrix @ factors_by_sample, atol=1e-10
    )
    judged_pairs = K.judgements.judge.judged_pairs
    assert len(judged_pairs) == len(set(judged_pairs))
    groups = K.groups()
    assert all(groups[i] == groups[j] for i in range(K.n) for j in range(K.n) if ids[i] == ids[j])


def test_note_counts_shifted_sets_and_gives_the_largest_shift():
    scores = np.eye(6)
    scores[0, 1] = scores[1, 0] = scores[1, 2] = scores[2, 1] = 1
    K = make_graded(scores)
    assert K.notes == ()
    for index in ([0, 1, 2], [3, 4, 5], [2, 1, 0], [0, 1]):
        K.part(np.array(index)).dense()
    note = "up to 0.41 was added to the diagonal, in 1 of 3 sets."  # √2 − 1
    assert K.notes == (f"The scores of `same` are not positive semidefinite: {note}",)
    noted = K.noted(notes=["Another."]).part(np.arange(6))
    noted.dense()
    assert noted.notes == ("Another.", K.notes[0])
    assert "in 2 of 4 sets" in K.notes[0]
