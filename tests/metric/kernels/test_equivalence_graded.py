"""Graded judgements of pairs, compared with a naive implementation for all types of judges."""

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import as_similarity, compare, compute, explain, select

TEXTS = ["red cat", "cat red", "dog", "dog", "a tree", "tree", "red cat", "sun"]
fewer_examples = settings(max_examples=40)


def order_dependent_score(a, b):
    """Return a score that depends on the order; few of its matrices are PSD."""
    return zlib.crc32(f"{a}|{b}".encode()) / 2**32


class RecordingJudge:
    """Judge that records the batches of pairs it receives."""

    def __init__(self):
        self.batches = []

    def judge_batch(self, text_pairs):
        self.batches.append(text_pairs)
        return [order_dependent_score(a, b) for a, b in text_pairs]

    def judge_pair(self, a, b):
        self.batches.append([(a, b)])
        return order_dependent_score(a, b)

    @property
    def judged_pairs(self):
        return [pair for batch in self.batches for pair in batch]


def naive_similarity(samples, judge=order_dependent_score):
    """Return the matrix (n, n) and the diagonal shift δ, using loops over distinct samples."""
    distinct = list(dict.fromkeys(samples))
    m = len(distinct)
    K = np.zeros((m, m))
    for i in range(m):
        for j in range(m):
            summed_scores = judge(distinct[i], distinct[j]) + judge(distinct[j], distinct[i])
            K[i, j] = 1.0 if i == j else summed_scores / 2
    delta = max(0.0, -np.linalg.eigvals(K).real.min())
    for i in range(m):
        K[i, i] += delta
    indices = [distinct.index(sample) for sample in samples]
    return np.array([[K[i, j] / (1 + delta) for j in indices] for i in indices]), delta


def naive_vendi_score(K, p=None, q=1):
    p = np.full(len(K), 1 / len(K)) if p is None else np.asarray(p)
    eigenvalues = np.linalg.eigvalsh(np.sqrt(np.outer(p, p)) * K)
    eigenvalues = eigenvalues[eigenvalues > 1e-14]
    if q == 1:
        return np.exp(-(eigenvalues * np.log(eigenvalues)).sum())
    return (eigenvalues**q).sum() ** (1 / (1 - q))


def build_judgement_matrix(samples):
    return np.array([[order_dependent_score(a, b) for b in samples] for a in samples])


def score_pairs_as_list(text_pairs):
    return [order_dependent_score(a, b) for a, b in text_pairs]


def score_pairs_as_array(text_pairs):
    return np.array([order_dependent_score(a, b) for a, b in text_pairs], dtype=np.float64)


JUDGES = {
    "function of two": lambda samples: order_dependent_score,
    "function of a list": lambda samples: score_pairs_as_list,
    "function to an array": lambda samples: score_pairs_as_array,
    "matrix": build_judgement_matrix,
    "matrix as lists": lambda samples: build_judgement_matrix(samples).tolist(),
}


@pytest.mark.parametrize("judge_type", JUDGES)
@pytest.mark.parametrize("samples", [TEXTS, TEXTS[:1], ["a", "a"], [1, 2, 2, 7, 1.5]], ids=str)
def test_similarities_match_definition(judge_type, samples):
    K = as_similarity(samples, k="equivalence", same=JUDGES[judge_type](samples), graded=True)
    expected, _ = naive_similarity(samples)
    np.testing.assert_allclose(K.dense(), expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(K.rows(slice(0, 1)), expected[:1], rtol=0, atol=1e-10)
    assert K.psd
    assert (K.diagonal() == 1).all()
    index = np.array([0, 0, len(samples) - 1])
    np.testing.assert_allclose(K.take(index).dense(), expected[np.ix_(index, index)], atol=1e-10)


@pytest.mark.parametrize("judge_type", JUDGES)
def test_scores_use_smallest_diagonal_shift(judge_type):
    options = {
        "k": "equivalence",
        "same": JUDGES[judge_type](TEXTS),
        "graded": True,
        "psd": "check",
    }
    expected, delta = naive_similarity(TEXTS)
    assert delta > 0.01
    result = compute(TEXTS, q=[1, 2], measures=["VS", "IntDiv"], details=True, **options)
    assert result["VS_q1"] == pytest.approx(naive_vendi_score(expected), abs=1e-10)
    assert result["VS_q2"] == pytest.approx(naive_vendi_score(expected, q=2), abs=1e-10)
    assert result["IntDiv"] == pytest.approx(1 - expected.mean(), abs=1e-10)
    assert result["details"]["notes"] == [
        f"The scores of `same` are not positive semidefinite: up to {delta:.2g} was added to the "
        "diagonal, in 1 of 1 sets."
    ]
    values = np.linalg.eigvalsh(expected)
    assert abs(values[0]) < 1e-12  # so δ is as small as possible


def test_positive_semidefinite_scores_are_not_shifted():
    same = np.array([[1, 0.4, 0.1], [0.2, 1, 0.5], [0.1, 0.3, 1]])
    K = as_similarity(["a", "b", "c"], k="equivalence", same=same, graded=True)
    np.testing.assert_array_equal(K.dense(), (same + same.T) / 2)
    assert K.notes == ()
    identical_samples = as_similarity(
        ["a", "b", "c"], k="equivalence", same=np.ones((3, 3)), graded=True
    )
    np.testing.assert_array_equal(
        identical_samples.dense(), np.ones((3, 3))
    )  # λ = 0 except for rounding
    assert identical_samples.notes == ()


@fewer_examples
@given(st.lists(st.integers(0, 6), min_size=1, max_size=12))
def test_duplicates_are_equivalent_to_weights(samples):
    options = {
        "k": "equivalence",
        "same": order_dependent_score,
        "graded": True,
        "measures": ["VS", "IntDiv"],
    }
    distinct, counts = np.unique(samples, return_counts=True)
    weighted = compute(distinct.tolist(), p=counts / counts.sum(), q=[1, 2], **options)
    assert compute(samples, q=[1, 2], **options) == pytest.approx(weighted, abs=1e-10)


def test_duplicates_use_first_row_of_score_matrix():
    same = np.array([[1, 0.9, 0.5], [0.8, 1, 0.0], [0.3, 0.0, 1]])
    K = as_similarity(["a", "a", "b"], k="equivalence", same=same, graded=True).dense()
    np.testing.assert_array_equal(K, [[1, 1, 0.4], [1, 1, 0.4], [0.4, 0.4, 1]])


GROUPS = [TEXTS, ["sun", "moon", "sun", "red cat", "cat red", "x", "y", "z"], ["dog", "tree"]]


def list_ordered_pairs(groups):
    return {(a, b) for group in groups for a in group for b in group if a != b}


@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("measures", ["VS", ["VS", "IntDiv", "DistinctK"]])
@pytest.mark.parametrize("with_labels", [False, True])
def test_groups_are_judged_separately_and_pairs_once(measures, details, with_labels):
    judge = RecordingJudge()
    samples, options = GROUPS, {"same": judge.judge_batch, "graded": True, "batch_size": 7}
    if with_labels:
        samples = [sample for group in GROUPS for sample in group]
        options["groups"] = [i for i, group in enumerate(GROUPS) for _ in group]
    result = compute(samples, k="equivalence", measures=measures, details=details, **options)
    assert len(judge.judged_pairs) == len(set(judge.judged_pairs))
    assert set(judge.judged_pairs) == list_ordered_pairs(GROUPS)
    assert max(map(len, judge.batches)) == 7
    expected = [naive_vendi_score(naive_similarity(group)[0]) for group in GROUPS]
    assert result["VS"] == pytest.approx(np.mean(expected), abs=1e-10)
    if details:
        rows = [row["VS"] for row in result["details"]["groups"]]
        assert rows == pytest.approx(expected, abs=1e-10)
        deltas = [naive_similarity(group)[1] for group in GROUPS]
        note = f"up to {max(deltas):.2g} was added to the diagonal, in "
        note += f"{sum(d > 0 for d in deltas)} of 3 sets."
        assert result["details"]["notes"][-1].endswith(note)


def test_prompts_define_separately_judged_groups():
    judge = RecordingJudge()
    prompts = ["p"] * 4 + ["q"] * 4
    options = {"k": "equivalence", "same": judge.judge_pair, "graded": True, "given_prompt": False}
    result = compute(TEXTS, prompts=prompts, **options)
    halves = [TEXTS[:4], TEXTS[4:]]
    assert sorted(judge.judged_pairs) == sorted(list_ordered_pairs(halves))
    expected = np.mean([naive_vendi_score(naive_similarity(half)[0]) for half in halves])
    assert result["VS"] == pytest.approx(expected, abs=1e-10)


def test_equal_sized_groups_are_judged_in_single_batch():
    judge = RecordingJudge()
    K = as_similarity(TEXTS, k="equivalence", same=judge.judge_batch, graded=True)
    assert not judge.judged_pairs
    indices = np.array([[0, 2, 4], [1, 2, 3], [5, 5, 5]])
    stacked = K.stack(indices)
    assert len(judge.batches) == 1
    assert len(judge.judged_pairs) == 6 + 2
    for subset_indices, result in zip(indices, stacked, strict=True):
        expected, _ = naive_similarity([TEXTS[i] for i in subset_indices])
        np.testing.assert_allclose(result, expected, atol=1e-10)
        np.testing.assert_allclose(K.part(subset_indices).dense(), expected, atol=1e-10)
    assert len(judge.judged_pairs) == 8


def test_part_is_shifted_separately_and_take_with_parent():
    K = as_similarity(TEXTS, k="equivalence", same=order_dependent_score, graded=True)
    parent_matrix = K.dense()
    index = np.array([5, 0, 2])
    np.testing.assert_array_equal(K.take(index).dense(), parent_matrix[np.ix_(index, index)])
    subset_matrix = K.part(index).dense()
    np.testing.assert_allclose(
        subset_matrix, naive_similarity([TEXTS[i] for i in index])[0], atol=1e-10
    )
    assert abs(subset_matrix - parent_matrix[np.ix_(index, index)]).max() > 0.01


def test_compare_explain_and_select_use_same_matrix():
    options = {"k": "equivalence", "same": order_dependent_score, "graded": True}
    K, _ = naive_similarity(TEXTS)
    result, expected = explain(TEXTS, **options), explain(K, score_K=True)
    assert result.score == pytest.approx(expected.score, abs=1e-10)
    selected_indices = select(TEXTS, 3, **options).places
    np.testing.assert_array_equal(selected_indices, select(K, 3, score_K=True).places)
    other_texts = ["moon", "sun", "x", "red cat", "y", "moon", "z", "rain"]
    n = len(TEXTS)
    pooled_matrix, _ = naive_similarity(TEXTS + other_texts)
    scores = [row.score for row in compare(TEXTS, other_texts, **options).sets]
    expected_scores = [
        naive_vendi_score(pooled_matrix[:n, :n]),
        naive_vendi_score(pooled_matrix[n:, n:]),
    ]
    assert scores == pytest.approx(expected_scores, abs=1e-10)


def test_signature_includes_graded():
    def signature(**options):
        result = compute(
            ["a", "b"], k="equivalence", same=order_dependent_score, details=True, **options
        )
        return result["details"]["signature"]

    assert "|graded=True|" in signature(graded=True)
    assert "|graded=False|" in signature() == signature(graded=False)
    K = as_similarity(["a", "b"], k="equivalence", same=order_dependent_score, graded=True)
    assert K.settings["graded"] is True


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ValueError, r"`graded` has no effect with a `same` that extracts answers"),
        ({"same": "exact"}, ValueError, "`graded` has no effect with a `same` that"),
        ({"same": "answer: (.*)"}, ValueError, "`graded` has no effect with a `same` that"),
        (
            {"same": order_dependent_score, "same_above": 0.5},
            ValueError,
            "`same_above` has no effect with graded",
        ),
        (
            {"same": order_dependent_score, "audit": 3},
            ValueError,
            "`audit` has no effect with graded=True",
        ),
        (
            {"same": order_dependent_score, "batch_size": 3},
            ValueError,
            "`batch_size` has no effect with a `same` that is not",
        ),
        ({"same": len, "device": "cpu"}, ValueError, "`device` has no effect.*path of a model"),
        (
            {"same": order_dependent_score, "graded": 1},
            TypeError,
            "`graded` must be True or False, got 1",
        ),
        ({"same": lambda a, b: 1.5}, ValueError, "got 1.5 for samples 0 and 2; rescale them"),
        ({"same": lambda a, b: None}, TypeError, "got None for samples 0 and 2"),
        ({"same": lambda x: [-0.1] * 2}, ValueError, r"0 to 1, got -0.1 for samples [02] and [02]"),
        ({"same": lambda x: [0, np.inf]}, ValueError, r"got inf .*torch\.nn\.Sigmoid\(\)"),
        ({"same": lambda x: [0.5]}, TypeError, "a number for each of 2 pairs, got array"),
        (
            {"same": lambda x: 0.5},
            TypeError,
            r"got array\(0.5\); pass a function from a list of pairs",
        ),
        ({"same": lambda x: ["yes", "no"]}, TypeError, "a number for each of 2 pairs"),
        ({"same": np.full((3, 3), 2)}, ValueError, "got 2 for samples 0 and 2"),
        ({"same": np.full((3, 3), np.nan)}, ValueError, "got nan for samples 0 and 2"),
        ({"same": np.eye(2)}, ValueError, r"\(3, 3\) of 3 samples, got shape \(2, 2\)"),
        ({"same": 7}, TypeError, "or a matrix of judgements, got int"),
    ],
)
def test_graded_rejects_invalid_judges(options, error, message):
    with pytest.raises(error, match=message):
        compute(["a", "a", "b"], k="equivalence", **{"graded": True, **options})


def test_error_of_graded_judge_names_samples():
    with pytest.raises(ZeroDivisionError) as caught:
        compute(["a", "a", "b"], k="equivalence", same=lambda a, b: 1 / 0, graded=True)
    assert caught.value.__notes__ == ["raised by `same` for samples 0 and 2"]
