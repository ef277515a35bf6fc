"""Graded judgements of pairs: the whole definition by loops, for every kind of judge."""

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import as_similarity, compare, compute, explain, select

TEXTS = ["red cat", "cat red", "dog", "dog", "a tree", "tree", "red cat", "sun"]
few = settings(max_examples=40)


def score(a, b):
    """Return a number that depends on the order, and of which few matrices are PSD."""
    return zlib.crc32(f"{a}|{b}".encode()) / 2**32


class Recorded:
    """A judge of pairs that lists what it was asked, a list of pairs at a time."""

    def __init__(self):
        self.batches = []

    def batch(self, pairs):
        self.batches.append(pairs)
        return [score(a, b) for a, b in pairs]

    def single(self, a, b):
        self.batches.append([(a, b)])
        return score(a, b)

    @property
    def pairs(self):
        return [pair for batch in self.batches for pair in batch]


def naive(samples, score=score):
    """Return the matrix (n, n) and δ by loops over the different samples."""
    distinct = list(dict.fromkeys(samples))
    m = len(distinct)
    K = np.zeros((m, m))
    for i in range(m):
        for j in range(m):
            both = score(distinct[i], distinct[j]) + score(distinct[j], distinct[i])
            K[i, j] = 1.0 if i == j else both / 2
    delta = max(0.0, -np.linalg.eigvals(K).real.min())
    for i in range(m):
        K[i, i] += delta
    at = [distinct.index(sample) for sample in samples]
    return np.array([[K[i, j] / (1 + delta) for j in at] for i in at]), delta


def naive_vs(K, p=None, q=1):
    p = np.full(len(K), 1 / len(K)) if p is None else np.asarray(p)
    shares = np.linalg.eigvalsh(np.sqrt(np.outer(p, p)) * K)
    shares = shares[shares > 1e-14]
    if q == 1:
        return np.exp(-(shares * np.log(shares)).sum())
    return (shares**q).sum() ** (1 / (1 - q))


def matrix(samples):
    return np.array([[score(a, b) for b in samples] for a in samples])


def listed(pairs):
    return [score(a, b) for a, b in pairs]


def as_array(pairs):
    return np.array([score(a, b) for a, b in pairs], dtype=np.float64)


JUDGES = {
    "function of two": lambda samples: score,
    "function of a list": lambda samples: listed,
    "function to an array": lambda samples: as_array,
    "matrix": matrix,
    "matrix as lists": lambda samples: matrix(samples).tolist(),
}


@pytest.mark.parametrize("kind", JUDGES)
@pytest.mark.parametrize("samples", [TEXTS, TEXTS[:1], ["a", "a"], [1, 2, 2, 7, 1.5]], ids=str)
def test_similarities_are_the_definition_by_loops(kind, samples):
    K = as_similarity(samples, k="equivalence", same=JUDGES[kind](samples), graded=True)
    expected, _ = naive(samples)
    np.testing.assert_allclose(K.dense(), expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(K.rows(slice(0, 1)), expected[:1], rtol=0, atol=1e-10)
    assert K.psd
    assert (K.diagonal() == 1).all()
    index = np.array([0, 0, len(samples) - 1])
    np.testing.assert_allclose(K.take(index).dense(), expected[np.ix_(index, index)], atol=1e-10)


@pytest.mark.parametrize("kind", JUDGES)
def test_scores_follow_from_the_definition_with_the_least_shift(kind):
    how = {"k": "equivalence", "same": JUDGES[kind](TEXTS), "graded": True, "psd": "check"}
    expected, delta = naive(TEXTS)
    assert delta > 0.01
    result = compute(TEXTS, q=[1, 2], measures=["VS", "IntDiv"], details=True, **how)
    assert result["VS_q1"] == pytest.approx(naive_vs(expected), abs=1e-10)
    assert result["VS_q2"] == pytest.approx(naive_vs(expected, q=2), abs=1e-10)
    assert result["IntDiv"] == pytest.approx(1 - expected.mean(), abs=1e-10)
    assert result["details"]["notes"] == [
        f"The scores of `same` are not positive semidefinite: up to {delta:.2g} was added to the "
        "diagonal, in 1 of 1 sets."
    ]
    values = np.linalg.eigvalsh(expected)
    assert abs(values[0]) < 1e-12  # so that no smaller δ would do


def test_scores_that_are_positive_semidefinite_stay_as_they_are():
    same = np.array([[1, 0.4, 0.1], [0.2, 1, 0.5], [0.1, 0.3, 1]])
    K = as_similarity(["a", "b", "c"], k="equivalence", same=same, graded=True)
    np.testing.assert_array_equal(K.dense(), (same + same.T) / 2)
    assert K.notes == ()
    ones = as_similarity(["a", "b", "c"], k="equivalence", same=np.ones((3, 3)), graded=True)
    np.testing.assert_array_equal(ones.dense(), np.ones((3, 3)))  # λ = 0 but for rounding
    assert ones.notes == ()


@few
@given(st.lists(st.integers(0, 6), min_size=1, max_size=12))
def test_copies_count_as_weights_and_change_no_similarity(samples):
    how = {"k": "equivalence", "same": score, "graded": True, "measures": ["VS", "IntDiv"]}
    distinct, counts = np.unique(samples, return_counts=True)
    weighted = compute(distinct.tolist(), p=counts / counts.sum(), q=[1, 2], **how)
    assert compute(samples, q=[1, 2], **how) == pytest.approx(weighted, abs=1e-10)


def test_copies_of_a_matrix_have_the_scores_of_the_first():
    same = np.array([[1, 0.9, 0.5], [0.8, 1, 0.0], [0.3, 0.0, 1]])
    K = as_similarity(["a", "a", "b"], k="equivalence", same=same, graded=True).dense()
    np.testing.assert_array_equal(K, [[1, 1, 0.4], [1, 1, 0.4], [0.4, 0.4, 1]])


GROUPS = [TEXTS, ["sun", "moon", "sun", "red cat", "cat red", "x", "y", "z"], ["dog", "tree"]]


def within(groups):
    return {(a, b) for group in groups for a in group for b in group if a != b}


@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("measures", ["VS", ["VS", "IntDiv", "DistinctK"]])
@pytest.mark.parametrize("named", [False, True])
def test_groups_are_judged_apart_and_each_ordered_pair_once(measures, details, named):
    judge = Recorded()
    samples, how = GROUPS, {"same": judge.batch, "graded": True, "batch_size": 7}
    if named:
        samples = [x for group in GROUPS for x in group]
        how["groups"] = [i for i, group in enumerate(GROUPS) for _ in group]
    result = compute(samples, k="equivalence", measures=measures, details=details, **how)
    assert len(judge.pairs) == len(set(judge.pairs))
    assert set(judge.pairs) == within(GROUPS)
    assert max(map(len, judge.batches)) == 7
    each = [naive_vs(naive(group)[0]) for group in GROUPS]
    assert result["VS"] == pytest.approx(np.mean(each), abs=1e-10)
    if details:
        rows = [row["VS"] for row in result["details"]["groups"]]
        assert rows == pytest.approx(each, abs=1e-10)
        deltas = [naive(group)[1] for group in GROUPS]
        note = f"up to {max(deltas):.2g} was added to the diagonal, in "
        note += f"{sum(d > 0 for d in deltas)} of 3 sets."
        assert result["details"]["notes"][-1].endswith(note)


def test_prompts_make_groups_that_are_judged_apart():
    judge = Recorded()
    prompts = ["p"] * 4 + ["q"] * 4
    how = {"k": "equivalence", "same": judge.single, "graded": True, "given_prompt": False}
    result = compute(TEXTS, prompts=prompts, **how)
    halves = [TEXTS[:4], TEXTS[4:]]
    assert sorted(judge.pairs) == sorted(within(halves))
    expected = np.mean([naive_vs(naive(half)[0]) for half in halves])
    assert result["VS"] == pytest.approx(expected, abs=1e-10)


def test_all_groups_of_one_size_are_asked_at_once():
    judge = Recorded()
    K = as_similarity(TEXTS, k="equivalence", same=judge.batch, graded=True)
    assert not judge.pairs
    places = np.array([[0, 2, 4], [1, 2, 3], [5, 5, 5]])
    stacked = K.stack(places)
    assert len(judge.batches) == 1
    assert len(judge.pairs) == 6 + 2
    for at, result in zip(places, stacked, strict=True):
        expected, _ = naive([TEXTS[i] for i in at])
        np.testing.assert_allclose(result, expected, atol=1e-10)
        np.testing.assert_allclose(K.part(at).dense(), expected, atol=1e-10)
    assert len(judge.pairs) == 8


def test_a_part_is_shifted_by_itself_and_a_take_as_the_whole():
    K = as_similarity(TEXTS, k="equivalence", same=score, graded=True)
    whole = K.dense()
    index = np.array([5, 0, 2])
    np.testing.assert_array_equal(K.take(index).dense(), whole[np.ix_(index, index)])
    part = K.part(index).dense()
    np.testing.assert_allclose(part, naive([TEXTS[i] for i in index])[0], atol=1e-10)
    assert abs(part - whole[np.ix_(index, index)]).max() > 0.01


def test_compare_explain_and_select_read_the_same_matrix():
    how = {"k": "equivalence", "same": score, "graded": True}
    K, _ = naive(TEXTS)
    result, expected = explain(TEXTS, **how), explain(K, score_K=True)
    assert result.score == pytest.approx(expected.score, abs=1e-10)
    chosen = select(TEXTS, 3, **how).places
    np.testing.assert_array_equal(chosen, select(K, 3, score_K=True).places)
    others = ["moon", "sun", "x", "red cat", "y", "moon", "z", "rain"]
    n = len(TEXTS)
    pool, _ = naive(TEXTS + others)
    scores = [row.score for row in compare(TEXTS, others, **how).sets]
    expected_scores = [naive_vs(pool[:n, :n]), naive_vs(pool[n:, n:])]
    assert scores == pytest.approx(expected_scores, abs=1e-10)


def test_the_signature_tells_scores_from_classes():
    def signature(**options):
        result = compute(["a", "b"], k="equivalence", same=score, details=True, **options)
        return result["details"]["signature"]

    assert "|graded=True|" in signature(graded=True)
    assert "|graded=False|" in signature() == signature(graded=False)
    K = as_similarity(["a", "b"], k="equivalence", same=score, graded=True)
    assert K.settings["graded"] is True


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ValueError, r"`graded` has no effect with a `same` that extracts answers"),
        ({"same": "exact"}, ValueError, "`graded` has no effect with a `same` that"),
        ({"same": "answer: (.*)"}, ValueError, "`graded` has no effect with a `same` that"),
        ({"same": score, "same_above": 0.5}, ValueError, "`same_above` has no effect with graded"),
        ({"same": score, "audit": 3}, ValueError, "`audit` has no effect with graded=True"),
        (
            {"same": score, "batch_size": 3},
            ValueError,
            "`batch_size` has no effect with a `same` that is not",
        ),
        ({"same": len, "device": "cpu"}, ValueError, "`device` has no effect.*path of a model"),
        ({"same": score, "graded": 1}, TypeError, "`graded` must be True or False, got 1"),
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
def test_judges_that_give_no_scores_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        compute(["a", "a", "b"], k="equivalence", **{"graded": True, **options})


def test_an_error_of_the_judge_names_its_samples():
    with pytest.raises(ZeroDivisionError) as caught:
        compute(["a", "a", "b"], k="equivalence", same=lambda a, b: 1 / 0, graded=True)
    assert caught.value.__notes__ == ["raised by `same` for samples 0 and 2"]
