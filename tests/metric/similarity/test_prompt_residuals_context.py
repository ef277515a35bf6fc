"""Answers in their context: the mean of two kernels, alone and after the prompt, prompt removed."""

import zlib

import numpy as np
import pytest

from vendiscore import (
    State,
    as_similarity,
    compare,
    compute,
    explain,
    group_rewards,
    select,
    sources,
)
from vendiscore.result import key_at

# Some shared texts are too long for the small model, or have no word that it knows.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Kernel 'text_embeddings' (represents|cannot represent)"
)

U, W = "where is the cat", "what did the dog do"
ANSWERS = ["on the mat", U, "me too", "at the park", "on the mat", "the cat sat on the mat"]
PROMPTS = [U, U, W, W, W, U]


def embed(texts: list[str]) -> np.ndarray:
    """Return rows that depend on each text as a whole, so that a context changes them."""
    seeds = [zlib.crc32(text.encode()) for text in texts]
    return np.array([np.random.default_rng(seed).normal(size=12) + 0.5 for seed in seeds])


def unit_rest(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the direction of what a prompt leaves of a vector."""
    x = x / np.linalg.norm(x)
    u = u / np.linalg.norm(u)
    rest = x - (x @ u) * u
    return rest / np.linalg.norm(rest)


def naive(answers: list[str], prompts: list[str]) -> np.ndarray:
    """Compare answers pair by pair: echoes are alike to each other and to nothing else."""
    alone, after = [], []
    for answer, prompt in zip(answers, prompts, strict=True):
        if answer == prompt:
            alone.append(None)
            after.append(None)
            continue
        x, u, context = embed([answer, prompt, f"{prompt} {answer}"])
        alone.append(unit_rest(x, u))
        after.append(unit_rest(context, u))
    n = len(answers)
    K = np.eye(n)
    for i in range(n):
        for j in range(n):
            if alone[i] is None or alone[j] is None:
                K[i, j] = float(alone[i] is alone[j])
            else:
                K[i, j] = (alone[i] @ alone[j] + after[i] @ after[j]) / 2
    return K


def similarity(answers=ANSWERS, prompts=PROMPTS, **how):
    how = {"k": "semantic", "model": embed, "given_prompt": True, **how}
    return as_similarity(answers, prompts=prompts, **how)


def test_the_kernel_is_the_mean_of_both_pair_by_pair():
    expected = naive(ANSWERS, PROMPTS)
    result = similarity()
    np.testing.assert_allclose(result.dense(), expected, rtol=0, atol=1e-10)
    assert result.psd
    assert result.echoes.tolist() == [False, True, False, False, False, False]
    assert result.settings["prompts"] == "given, in context"
    order = np.array([3, 0, 1, 1])
    part = expected[np.ix_(order, order)]
    np.testing.assert_allclose(result.take(order).dense(), part, rtol=0, atol=1e-10)
    for q in (0.5, 1, 2, "inf"):
        alone = compute(expected, q=q, score_K=True)[key_at(q)]
        assert compute(result, q=q)[key_at(q)] == pytest.approx(alone, rel=1e-10)


def test_one_prompt_for_all_is_the_same_as_its_repeats():
    answers = ["on the mat", "in the park", U, "me too"]
    result = similarity(answers, U).dense()
    np.testing.assert_allclose(result, naive(answers, [U] * 4), rtol=0, atol=1e-10)
    np.testing.assert_allclose(result, similarity(answers, [U] * 4).dense(), rtol=0, atol=1e-10)


def test_semantic_is_in_context_and_others_on_request():
    for k, given, expected in (
        ("semantic", None, True),
        ("semantic", False, False),
        ("text_embeddings", None, False),
        ("text_embeddings", True, True),
    ):
        settings = similarity(k=k, in_context=given).settings
        assert (settings["prompts"] == "given, in context") is expected


def test_echoes_alone_are_echoes_in_context():
    note = (
        "2 of 2 samples repeat their prompt: they count as identical, and have similarity 0 with "
        "all other samples."
    )
    result = compute(similarity([U, W], [U, W]), details=True)
    assert result["VS"] == pytest.approx(1, abs=1e-12)
    assert note in result["details"]["notes"]


def test_each_distinct_text_is_embedded_once():
    seen: list[str] = []

    def counting(texts):
        seen.extend(texts)
        return embed(texts)

    similarity(model=counting)
    assert len(seen) == len(set(seen))
    contexts = {f"{u} {a}" for u, a in zip(PROMPTS, ANSWERS, strict=True)}
    assert set(seen) == {*ANSWERS, U, W} | contexts


def test_a_prompt_that_fills_the_model_is_refused_with_a_remedy():
    def short(texts):
        return embed([text[:16] for text in texts])

    with pytest.raises(
        ValueError, match=r"sample 0 cannot be encoded after its prompt.*in_context=Fal"
    ):
        similarity(["on the mat", "me too"], U, model=short)
    assert similarity(["on the mat", "me too"], U, model=short, in_context=False).n == 2


def test_notes_say_which_texts_are_in_context(tmp_path):
    sentences = pytest.importorskip("sentences")
    how = {"model_path": sentences.tiny_bert(tmp_path), "pooling": "mean", "max_length": 8}
    answers = ["the cat sat on a mat", "a dog", "it snowed"]
    result = similarity(answers, "every big red house", model=None, **how)
    assert result.notes == (
        "Kernel 'text_embeddings' represents 1 of 7 samples only in part; sample 4 is truncated "
        "at 8 tokens.",
        "In these notes, samples from index 3 are prompts, and from index 4 answers after their "
        "prompts.",
    )


def test_in_context_without_prompts_to_take_out_is_refused():
    for how in ({}, {"prompts": PROMPTS, "given_prompt": False}):
        with pytest.raises(
            TypeError, match="embeds each answer together with its prompt; it requires"
        ):
            compute(ANSWERS, k="text_embeddings", model=embed, in_context=True, **how)
    with pytest.raises(TypeError, match="`in_context` must be"):
        similarity(in_context="yes")
    with pytest.raises(TypeError, match="requires a single kernel, `prompts`"):
        compute(
            ANSWERS,
            k={"text_embeddings": 0.5, "ngram_overlap": 0.5},
            options={"text_embeddings": {"model": embed, "in_context": True}},
            prompts=PROMPTS,
            given_prompt=True,
        )


def test_samples_left_out_keep_answers_and_contexts_in_step():
    answers = ["on the mat", None, "me too", "at the park"]
    prompts = [U, U, W, W]
    with pytest.warns(UserWarning, match="dropped 1 of"):
        result = similarity(answers, prompts, on_error="skip")
    kept = [0, 2, 3]
    expected = naive([answers[i] for i in kept], [prompts[i] for i in kept])
    np.testing.assert_allclose(result.dense(), expected, rtol=0, atol=1e-10)
    assert list(result.dropped) == [1]


HOW = {"k": "semantic", "model": embed, "given_prompt": True}


def test_scores_within_prompts_compare_answers_in_their_context():
    K = naive(ANSWERS, PROMPTS)
    by_prompt = [[i for i, u in enumerate(PROMPTS) if u == prompt] for prompt in (U, W)]
    scores = [compute(K[np.ix_(at, at)], score_K=True)["VS"] for at in by_prompt]
    mean = pytest.approx(np.mean(scores), rel=1e-10)
    assert compute(ANSWERS, prompts=PROMPTS, **HOW)["VS"] == mean
    assert explain(ANSWERS, prompts=PROMPTS, **HOW).score == mean


def test_a_state_adds_up_answers_in_their_context():
    whole = compute(naive(ANSWERS, PROMPTS), score_K=True)["VS"]
    state = State(k="semantic", model=embed)
    for at in (slice(4), slice(4, 6)):
        state.update(ANSWERS[at], prompts=PROMPTS[at], given_prompt=True)
    assert state.compute()["VS"] == pytest.approx(whole, rel=1e-9)
    assert state.settings["prompts"] == "given, in context"


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
def test_select_rewards_and_comparisons_see_the_context():
    whole = compute(naive(ANSWERS, PROMPTS), score_K=True)["VS"]
    assert select(ANSWERS, 6, prompts=PROMPTS, **HOW).scores[-1] == pytest.approx(whole, rel=1e-9)
    rewards = group_rewards(ANSWERS, prompts=PROMPTS, **HOW)
    alone = group_rewards(ANSWERS, prompts=PROMPTS, in_context=False, **HOW)
    assert not np.allclose(rewards, alone)
    other = ["a", "b", "c", "d", "e", "f"]
    both = compare(ANSWERS, other, prompts=PROMPTS, **HOW)
    K = naive([*ANSWERS, *other], PROMPTS * 2)
    expected = [
        np.mean([compute(K[np.ix_(at, at)], score_K=True)["VS"] for at in sets])
        for sets in (([0, 1, 5], [2, 3, 4]), ([6, 7, 11], [8, 9, 10]))
    ]
    scores = [each.score for each in both.sets]
    assert scores == pytest.approx(expected, rel=1e-10)


def test_sources_compare_answers_in_their_context():
    answers = {"one": ["on the mat", "me too"], "two": ["at home", "in the park"]}
    result = sources(answers, [U, W], aligned=True, **HOW)
    between = [
        naive([a, b], [u, u])[0, 1] for a, b, u in zip(*answers.values(), [U, W], strict=True)
    ]
    assert result.similarity[0, 1] == pytest.approx(np.mean(between), abs=1e-10)
