"""Conditioning prompts of samples, groups and sets, in all functions that compare samples."""

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
    group_scores = [
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
        assert result["VS"] == pytest.approx(np.mean(group_scores), rel=1e-12)
    with pytest.raises(
        ValueError, match=r"got 2 prompts for 6 samples; .* a dict .* such as {'x': …}"
    ):
        compute(A, groups=list("xxxyyy"), prompts=[U, W], given_prompt=True)


@pytest.mark.parametrize(
    ("prompts", "samples", "is_single"),
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
def test_single_prompt_is_distinguished_from_a_collection(prompts, samples, is_single):
    depth = nesting_depth(parse_prompts(prompts, condition=True).values, samples)
    assert (depth == 0) == is_single


def test_list_of_one_prompt_applies_to_all_samples():
    expected = compute(A, prompts=U, given_prompt=True)
    assert compute(A, prompts=[U], given_prompt=True) == pytest.approx(expected, rel=1e-14)
    assert compute(A, prompts=[U] * 6, given_prompt=True) == pytest.approx(expected, rel=1e-14)


def test_sparse_prompts_match_dense_prompts():
    for given_prompt in (False, True):
        options = {"k": "cosine", "given_prompt": given_prompt, "details": True}
        expected = compute(X, prompts=P, **options)
        result = compute(X, prompts=sp.csr_array(P), **options)
        assert result["VS"] == pytest.approx(expected["VS"], rel=1e-10)
        assert [row["n"] for row in result["details"]["groups"]] == [3, 3, 3]


@pytest.mark.parametrize("given_prompt", [False, True])
@pytest.mark.parametrize("samples", [A, [A[:3], A[3:]]], ids=["flat", "nested"])
def test_empty_prompts_raise(samples, given_prompt):
    with pytest.raises(ValueError, match="`prompts` is empty; pass at least one sample"):
        compute(samples, prompts={}, given_prompt=given_prompt)
    with pytest.raises(
        ValueError, match=r"one prompt per sample, got 0 prompts for 6 samples; repeat"
    ):
        compute(samples, prompts=[], given_prompt=given_prompt)


def test_ambiguous_prompts_raise():
    first_conversation = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    second_conversation = [{"role": "system", "content": "s"}, {"role": "user", "content": "w"}]
    groups = [A[:2], A[2:4]]
    with pytest.raises(ValueError, match="one conversation or one prompt per sample"):
        compute(groups, prompts=[first_conversation, second_conversation])
    expected = compute(groups, prompts={0: first_conversation, 1: second_conversation})
    assert (
        compute(
            A[:4],
            prompts=[
                first_conversation,
                first_conversation,
                second_conversation,
                second_conversation,
            ],
        )
        == expected
    )
    larger = [A[:3], A[3:]]
    assert compute(larger, prompts=[first_conversation, second_conversation]) == compute(
        larger, prompts={0: first_conversation, 1: second_conversation}
    )
    pairs = [groups, [B[:2], B[2:4]]]
    with pytest.raises(ValueError, match="each of its lists may contain the prompts of one set"):
        compare(*pairs, prompts=[[U, U], [W, W]], given_prompt=True)


def test_equal_samples_and_prompts_are_embedded_once():
    embedded = []

    def model(texts):
        embedded.extend(texts)
        return np.array([[text.count(c) + 0.1 for c in "abcdefgh"] for text in texts])

    compute(
        [*A, A[0]],
        k="text_embeddings",
        model=model,
        prompts=[U, W, U, W, U, W, U],
        given_prompt=True,
    )
    assert sorted(embedded) == sorted({*A, U, W})


def test_calls_with_prompts_match_calls_with_conditioned_similarity():
    K, prompt_arguments = (
        as_similarity(A, prompts=U, given_prompt=True),
        {"prompts": U, "given_prompt": True},
    )
    assert score(A, **prompt_arguments) == pytest.approx(score(K))
    assert explain(A, **prompt_arguments).adds == pytest.approx(explain(K).adds)
    assert growth(A, **prompt_arguments).scores == pytest.approx(growth(K).scores)
    assert select(A, 3, **prompt_arguments).places.tolist() == select(K, 3).places.tolist()
    assert select(A, 3, **prompt_arguments).scores == pytest.approx(select(K, 3).scores)
    assert "prompts=given" in report(A, **prompt_arguments).html()
    weights = [0.5] + [0.1] * 5
    result = compute(A, **prompt_arguments, p=weights, q=[0, 1, 2])
    assert result == pytest.approx(compute(K, p=weights, q=[0, 1, 2]))
    assert compute(A, **prompt_arguments, ci=0.9) == pytest.approx(compute(K, ci=0.9))
    selection = select(A, 3, prompts=[U] * 3 + [W] * 3, given_prompt=True)
    K = as_similarity(A, prompts=[U] * 3 + [W] * 3, given_prompt=True)
    assert selection.scores == pytest.approx(select(K, 3).scores)


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
def test_compare_conditions_on_prompts_of_groups():
    scores = [
        compute([sample_prompts[:3], sample_prompts[3:]], prompts=[U, W], given_prompt=True)["VS"]
        for sample_prompts in (A, B)
    ]
    groups, sample_prompts = [0] * 3 + [1] * 3, [U] * 3 + [W] * 3
    prompt_by_group = {0: U, 1: W}
    result = [
        compare([A[:3], A[3:]], [B[:3], B[3:]], prompts=[U, W], given_prompt=True),
        compare(A, B, groups=[groups, groups], prompts=prompt_by_group, given_prompt=True),
        compare(A, B, groups=[groups, groups], prompts=sample_prompts, given_prompt=True),
        compare(
            A + B,
            by=[0] * 6 + [1] * 6,
            groups=groups * 2,
            prompts=prompt_by_group,
            given_prompt=True,
        ),
        compare(
            A + B,
            by=[0] * 6 + [1] * 6,
            groups=groups * 2,
            prompts=sample_prompts * 2,
            given_prompt=True,
        ),
    ]
    for comparison in result:
        assert [row.score for row in comparison.sets] == pytest.approx(scores)
        assert comparison.settings["prompts"] == "given"
    unequal_sets = compare(
        A, B[:5], prompts=[sample_prompts, sample_prompts[:5]], given_prompt=True
    )
    assert unequal_sets.sets[1].score == pytest.approx(
        compute(B[:5], prompts=sample_prompts[:5], given_prompt=True)["VS"]
    )
    with pytest.raises(ValueError, match="one prompt per sample, got 6 prompts for 5 samples"):
        compare(A, B[:5], prompts=sample_prompts, given_prompt=True)


def test_rewards_condition_on_prompts():
    prompts = [U] * 3 + [W] * 3
    result = group_rewards(A, prompts=prompts, given_prompt=True)
    assert result.tolist() != group_rewards(A, prompts=prompts).tolist()
    separate_rewards = [
        group_rewards(as_similarity(A[i : i + 3], prompts=prompts[i], given_prompt=True))
        for i in (0, 3)
    ]
    np.testing.assert_allclose(result, np.concatenate(separate_rewards), rtol=1e-10)
    for samples, options in (
        ([A[:3], A[3:]], {"prompts": [U, W]}),
        (A, {"groups": [0, 0, 0, 1, 1, 1], "prompts": {0: U, 1: W}}),
    ):
        result_with_groups = group_rewards(samples, given_prompt=True, **options)
        np.testing.assert_allclose(result_with_groups, result, rtol=1e-12)
    blank = group_rewards([*A, " ", U], prompts=[*prompts, W, U], given_prompt=True)
    assert blank[6:].tolist() == [0, 0]  # a blank text, and one that repeats its prompt
    np.testing.assert_allclose(blank[:6], result, rtol=1e-10)
    with pytest.raises(TypeError, match="`given_prompt` requires `prompts`"):
        group_rewards(A, given_prompt=True)
    with pytest.raises(TypeError, match="which cannot be conditioned on `prompts`"):
        group_rewards(as_similarity(A), prompts=prompts, given_prompt=True)


def test_match_length_ignores_case_and_punctuation_of_prompts():
    changed_prompts = [U.upper() + "!"] * 6
    result = group_rewards(A, prompts=changed_prompts, given_prompt=True, match_length=True)
    expected = group_rewards(A, prompts=[U] * 6, given_prompt=True, match_length=True)
    np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_state_updates_condition_on_prompts():
    state = State.empty(k="cosine").update(X[:4], prompts=P[:4], given_prompt=True)
    state = state + State.empty(k="cosine").update(X[4:], prompts=P[4:], given_prompt=True)
    for q in (0.5, 1, 2, "inf"):
        expected_score = compute(as_similarity(X, k="cosine", prompts=P, given_prompt=True), q=q)[
            key_at(q)
        ]
        assert state.compute(q)[key_at(q)] == pytest.approx(expected_score, rel=1e-10)
    assert "|prompts=given|" in state.compute(details=True)["details"]["signature"]
    restored = State.from_bytes(state.to_bytes())
    assert restored.settings == state.settings
    single_prompt_state = (
        State.empty(k="text_embeddings", model=embed, prompts=U, given_prompt=True)
        .update(A[:2])
        .update(A[2:])
    )
    expected_score = compute(A, k="text_embeddings", model=embed, prompts=U, given_prompt=True)[
        "VS"
    ]
    assert single_prompt_state.compute()["VS"] == pytest.approx(expected_score, rel=1e-10)
    weighted = (
        State.empty(k="cosine")
        .update(X[:2], [1, 3], prompts=P[:2], given_prompt=True)
        .compute()["VS"]
    )
    K = as_similarity(X[:2], k="cosine", prompts=P[:2], given_prompt=True)
    expected = compute(K, p=[0.25, 0.75])["VS"]
    assert weighted == pytest.approx(expected, rel=1e-10)


def embed(texts):
    return np.array([[text.count(c) + 0.1 for c in "abcdefgh"] for text in texts])


def test_states_with_and_without_prompts_cannot_be_merged():
    with_prompts, without_prompts = (
        State.empty(k="cosine").update(X, prompts=P, given_prompt=True),
        State.empty(k="cosine").update(X),
    )
    with pytest.raises(ValueError, match="for all batches of a State or for none"):
        with_prompts.update(X)
    with pytest.raises(ValueError, match="for all batches of a State or for none"):
        without_prompts.update(X, prompts=P, given_prompt=True)
    with pytest.raises(ValueError, match="`prompts` is 'given' and 'nothing'"):
        with_prompts.merge(without_prompts)
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
    cosine_metric = load("vendiscore", k="cosine")
    cosine_metric.add_batch(samples=X)
    assert cosine_metric.compute(prompts=P, given_prompt=True) == compute(
        X, k="cosine", prompts=P, given_prompt=True
    )
    configured_metric = load("vendiscore", k="cosine", prompts=P[0], given_prompt=True)
    configured_metric.add_batch(samples=X[:4])
    configured_metric.add_batch(samples=X[4:])
    assert configured_metric.compute() == compute(X, k="cosine", prompts=P[0], given_prompt=True)


def test_measures_other_than_vs_condition_on_prompts():
    for measure in ("IntDiv", "RKE", "WithinVS", "TotalVS", "Magnitude"):
        result = compute([A[:3], A[3:]], prompts=[U, W], given_prompt=True, measures=measure)
        K = as_similarity(A, prompts=[U] * 3 + [W] * 3, given_prompt=True)
        assert result == pytest.approx(compute(K, groups=[0] * 3 + [1] * 3, measures=measure))
    self_bleu = compute(A, prompts=U, given_prompt=True, measures="SelfBLEU", k="ngram_overlap")
    assert self_bleu == compute(A, measures="SelfBLEU")
