"""Prompts of samples, of groups and of sets, in every call that compares samples."""

import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import (
    State,
    as_similarity,
    compare,
    compute,
    explain,
    group_rewards,
    growth,
    load,
    report,
    score,
    select,
)
from vendiscore.resolve.similarity_spec import parse_prompts
from vendiscore.result import key_at
from vendiscore.similarity.shapes import nesting_depth

A = [
    "the cat sat on the mat",
    "a dog ran in the park",
    "the cat sat on a red mat",
    "what is it",
    "so many cats here",
    "dogs and the cat",
]
B = [f"{text} yes" for text in A]
U, W = "where is the cat on the mat", "what did the dog do"
X, P = np.random.default_rng(0).normal(size=(2, 9, 3))
P = P[[0, 1, 2] * 3]


def test_prompts_per_group_match_prompts_per_sample():
    each = [
        compute(A[:3], prompts=U, given_prompt=True)["VS"],
        compute(A[3:], prompts=W, given_prompt=True)["VS"],
    ]
    lists, labels = [A[:3], A[3:]], [0, 0, 0, 1, 1, 1]
    for samples, groups, prompts in (
        (lists, None, [U, W]),
        (lists, None, (p for p in (U, W))),
        (lists, None, [U] * 3 + [W] * 3),
        (A, labels, [U] * 3 + [W] * 3),
        (A, labels, {1: W, 0: U}),
        (A, labels, [U, W]),
        ([A[0], A[3], *A[1:3], *A[4:]], list("xyxxyy"), {"x": U, "y": W}),
    ):
        result = compute(samples, groups=groups, prompts=prompts, given_prompt=True)
        assert result["VS"] == pytest.approx(np.mean(each), rel=1e-12)
    with pytest.raises(
        ValueError, match=r"got 2 prompts for 6 samples; .* a dict .* such as {'x': …}"
    ):
        compute(A, groups=list("xxxyyy"), prompts=[U, W], given_prompt=True)


@pytest.mark.parametrize(
    ("prompts", "samples", "one"),
    [
        ("u", A, True),
        (["u"], A, False),
        ([1.0, 2.0, 3.0], X, True),
        (P[0], X, True),
        (P, X, False),
        (P[0], list(X), True),
        (P[0].tolist(), X.tolist(), True),
        (P, list(X), False),
        (0.5, [1.0, 2.0], True),
        ([0.5], [1.0, 2.0], False),
        ({"red"}, [["red"], ["oak"]], True),
        ({"text": "u"}, [{"text": "a"}], True),
        (np.zeros((4, 4)), np.zeros((2, 4, 4)), True),
        (np.zeros((1, 4, 4)), np.zeros((2, 4, 4)), False),
    ],
    ids=str,
)
def test_single_prompt_is_distinguished_from_a_collection(prompts, samples, one):
    depth = nesting_depth(parse_prompts(prompts, condition=True).values, samples)
    assert (depth == 0) == one


def test_list_of_one_prompt_applies_to_all_samples():
    one = compute(A, prompts=U, given_prompt=True)
    assert compute(A, prompts=[U], given_prompt=True) == pytest.approx(one, rel=1e-14)
    assert compute(A, prompts=[U] * 6, given_prompt=True) == pytest.approx(one, rel=1e-14)


def test_sparse_prompts_match_dense_prompts():
    for given in (False, True):
        how = {"k": "cosine", "given_prompt": given, "details": True}
        expected = compute(X, prompts=P, **how)
        result = compute(X, prompts=sp.csr_array(P), **how)
        assert result["VS"] == pytest.approx(expected["VS"], rel=1e-10)
        assert [row["n"] for row in result["details"]["groups"]] == [3, 3, 3]


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("samples", [A, [A[:3], A[3:]]], ids=["flat", "nested"])
def test_empty_prompts_raise(samples, given):
    with pytest.raises(ValueError, match="`prompts` is empty; pass at least one sample"):
        compute(samples, prompts={}, given_prompt=given)
    with pytest.raises(
        ValueError, match=r"one prompt per sample, got 0 prompts for 6 samples; repeat"
    ):
        compute(samples, prompts=[], given_prompt=given)


def test_ambiguous_prompts_raise():
    talk = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    other = [{"role": "system", "content": "s"}, {"role": "user", "content": "w"}]
    groups = [A[:2], A[2:4]]
    with pytest.raises(ValueError, match="one conversation or one prompt per sample"):
        compute(groups, prompts=[talk, other])
    each = compute(groups, prompts={0: talk, 1: other})
    assert compute(A[:4], prompts=[talk, talk, other, other]) == each
    larger = [A[:3], A[3:]]
    assert compute(larger, prompts=[talk, other]) == compute(larger, prompts={0: talk, 1: other})
    pairs = [groups, [B[:2], B[2:4]]]
    with pytest.raises(ValueError, match="each of its lists may contain the prompts of one set"):
        compare(*pairs, prompts=[[U, U], [W, W]], given_prompt=True)


def test_equal_samples_and_prompts_are_embedded_once():
    seen = []

    def model(texts):
        seen.extend(texts)
        return np.array([[text.count(c) + 0.1 for c in "abcdefgh"] for text in texts])

    compute(
        [*A, A[0]],
        k="text_embeddings",
        model=model,
        prompts=[U, W, U, W, U, W, U],
        given_prompt=True,
    )
    assert sorted(seen) == sorted({*A, U, W})


def test_calls_with_prompts_match_calls_with_conditioned_similarity():
    K, given = as_similarity(A, prompts=U, given_prompt=True), {"prompts": U, "given_prompt": True}
    assert score(A, **given) == pytest.approx(score(K))
    assert explain(A, **given).adds == pytest.approx(explain(K).adds)
    assert growth(A, **given).scores == pytest.approx(growth(K).scores)
    assert select(A, 3, **given).places.tolist() == select(K, 3).places.tolist()
    assert select(A, 3, **given).scores == pytest.approx(select(K, 3).scores)
    assert "prompts=given" in report(A, **given).html()
    weights = [0.5] + [0.1] * 5
    result = compute(A, **given, p=weights, q=[0, 1, 2])
    assert result == pytest.approx(compute(K, p=weights, q=[0, 1, 2]))
    assert compute(A, **given, ci=0.9) == pytest.approx(compute(K, ci=0.9))
    chosen = select(A, 3, prompts=[U] * 3 + [W] * 3, given_prompt=True)
    K = as_similarity(A, prompts=[U] * 3 + [W] * 3, given_prompt=True)
    assert chosen.scores == pytest.approx(select(K, 3).scores)


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
def test_compare_conditions_on_prompts_of_groups():
    scores = [
        compute([each[:3], each[3:]], prompts=[U, W], given_prompt=True)["VS"] for each in (A, B)
    ]
    groups, each = [0] * 3 + [1] * 3, [U] * 3 + [W] * 3
    of_group = {0: U, 1: W}
    result = [
        compare([A[:3], A[3:]], [B[:3], B[3:]], prompts=[U, W], given_prompt=True),
        compare(A, B, groups=[groups, groups], prompts=of_group, given_prompt=True),
        compare(A, B, groups=[groups, groups], prompts=each, given_prompt=True),
        compare(
            A + B, by=[0] * 6 + [1] * 6, groups=groups * 2, prompts=of_group, given_prompt=True
        ),
        compare(
            A + B, by=[0] * 6 + [1] * 6, groups=groups * 2, prompts=each * 2, given_prompt=True
        ),
    ]
    for comparison in result:
        assert [row.score for row in comparison.sets] == pytest.approx(scores)
        assert comparison.settings["prompts"] == "given"
    several = compare(A, B[:5], prompts=[each, each[:5]], given_prompt=True)
    assert several.sets[1].score == pytest.approx(
        compute(B[:5], prompts=each[:5], given_prompt=True)["VS"]
    )
    with pytest.raises(ValueError, match="one prompt per sample, got 6 prompts for 5 samples"):
        compare(A, B[:5], prompts=each, given_prompt=True)


def test_rewards_condition_on_prompts():
    prompts = [U] * 3 + [W] * 3
    result = group_rewards(A, prompts=prompts, given_prompt=True)
    assert result.tolist() != group_rewards(A, prompts=prompts).tolist()
    apart = [
        group_rewards(as_similarity(A[i : i + 3], prompts=prompts[i], given_prompt=True))
        for i in (0, 3)
    ]
    np.testing.assert_allclose(result, np.concatenate(apart), rtol=1e-10)
    for samples, how in (
        ([A[:3], A[3:]], {"prompts": [U, W]}),
        (A, {"groups": [0, 0, 0, 1, 1, 1], "prompts": {0: U, 1: W}}),
    ):
        again = group_rewards(samples, given_prompt=True, **how)
        np.testing.assert_allclose(again, result, rtol=1e-12)
    blank = group_rewards([*A, " ", U], prompts=[*prompts, W, U], given_prompt=True)
    assert blank[6:].tolist() == [0, 0]  # a blank text, and one that repeats its prompt
    np.testing.assert_allclose(blank[:6], result, rtol=1e-10)
    with pytest.raises(TypeError, match="`given_prompt` requires `prompts`"):
        group_rewards(A, given_prompt=True)
    with pytest.raises(TypeError, match="which cannot be conditioned on `prompts`"):
        group_rewards(as_similarity(A), prompts=prompts, given_prompt=True)


def test_match_length_ignores_case_and_punctuation_of_prompts():
    words = [U.upper() + "!"] * 6
    result = group_rewards(A, prompts=words, given_prompt=True, match_length=True)
    plain = group_rewards(A, prompts=[U] * 6, given_prompt=True, match_length=True)
    np.testing.assert_allclose(result, plain, rtol=1e-12)


def test_state_updates_condition_on_prompts():
    state = State.empty(k="cosine").update(X[:4], prompts=P[:4], given_prompt=True)
    state = state + State.empty(k="cosine").update(X[4:], prompts=P[4:], given_prompt=True)
    for q in (0.5, 1, 2, "inf"):
        whole = compute(as_similarity(X, k="cosine", prompts=P, given_prompt=True), q=q)[key_at(q)]
        assert state.compute(q)[key_at(q)] == pytest.approx(whole, rel=1e-10)
    assert "|prompts=given|" in state.compute(details=True)["details"]["signature"]
    again = State.from_bytes(state.to_bytes())
    assert again.settings == state.settings
    one = (
        State.empty(k="text_embeddings", model=lengths, prompts=U, given_prompt=True)
        .update(A[:2])
        .update(A[2:])
    )
    whole = compute(A, k="text_embeddings", model=lengths, prompts=U, given_prompt=True)["VS"]
    assert one.compute()["VS"] == pytest.approx(whole, rel=1e-10)
    weighted = (
        State.empty(k="cosine")
        .update(X[:2], [1, 3], prompts=P[:2], given_prompt=True)
        .compute()["VS"]
    )
    K = as_similarity(X[:2], k="cosine", prompts=P[:2], given_prompt=True)
    expected = compute(K, p=[0.25, 0.75])["VS"]
    assert weighted == pytest.approx(expected, rel=1e-10)


def lengths(texts):
    return np.array([[text.count(c) + 0.1 for c in "abcdefgh"] for text in texts])


def test_states_with_and_without_prompts_cannot_be_merged():
    with_prompts, without = (
        State.empty(k="cosine").update(X, prompts=P, given_prompt=True),
        State.empty(k="cosine").update(X),
    )
    with pytest.raises(ValueError, match="for all batches of a State or for none"):
        with_prompts.update(X)
    with pytest.raises(ValueError, match="for all batches of a State or for none"):
        without.update(X, prompts=P, given_prompt=True)
    with pytest.raises(ValueError, match="`prompts` is 'given' and 'nothing'"):
        with_prompts.merge(without)
    with pytest.raises(ValueError, match="samples cannot be added"):
        State.from_bytes(
            State.empty(k="cosine", prompts=P[0], given_prompt=True).to_bytes()
        ).update(X)


def test_metric_accepts_prompts_of_added_samples():
    prompts = [U] * 3 + [W] * 3
    metric = load("vendiscore")
    assert metric.compute(predictions=A, prompts=prompts, given_prompt=True) == compute(
        A, prompts=prompts, given_prompt=True
    )
    metric.add_batch(predictions=A[:3], groups=[0] * 3)
    metric.add_batch(predictions=A[3:], groups=[1] * 3)
    assert metric.compute(prompts={0: U, 1: W}, given_prompt=True) == compute(
        [A[:3], A[3:]], prompts=[U, W], given_prompt=True
    )
    sums = load("vendiscore", k="cosine")
    sums.add_batch(samples=X)
    assert sums.compute(prompts=P, given_prompt=True) == compute(
        X, k="cosine", prompts=P, given_prompt=True
    )
    kept = load("vendiscore", k="cosine", prompts=P[0], given_prompt=True)
    kept.add_batch(samples=X[:4])
    kept.add_batch(samples=X[4:])
    assert kept.compute() == compute(X, k="cosine", prompts=P[0], given_prompt=True)


def test_other_measures_condition_on_prompts():
    for measure in ("IntDiv", "RKE", "WithinVS", "TotalVS", "Magnitude"):
        result = compute([A[:3], A[3:]], prompts=[U, W], given_prompt=True, measures=measure)
        K = as_similarity(A, prompts=[U] * 3 + [W] * 3, given_prompt=True)
        assert result == pytest.approx(compute(K, groups=[0] * 3 + [1] * 3, measures=measure))
    words = compute(A, prompts=U, given_prompt=True, measures="SelfBLEU", k="ngram_overlap")
    assert words == compute(A, measures="SelfBLEU")
