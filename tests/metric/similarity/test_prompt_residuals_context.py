"""In-context similarities: the mean of the kernels of answers without and after their prompt."""

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

# Some texts are longer than the limit of the small model, or contain only unknown words.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Kernel 'text_embeddings' (represents|cannot represent)"
)

U, W = "where is the cat", "what did the dog do"
ANSWERS = ["on the mat", U, "me too", "at the park", "on the mat", "the cat sat on the mat"]
PROMPTS = [U, U, W, W, W, U]


def embed(texts: list[str]) -> np.ndarray:
    """Return embeddings that depend on the full text, so that a context changes them."""
    seeds = [zlib.crc32(text.encode()) for text in texts]
    return np.array([np.random.default_rng(seed).normal(size=12) + 0.5 for seed in seeds])


def unit_residual(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the residual of a vector given the prompt, scaled to unit norm."""
    x = x / np.linalg.norm(x)
    u = u / np.linalg.norm(u)
    residual = x - (x @ u) * u
    return residual / np.linalg.norm(residual)


def pairwise_similarity(answers: list[str], prompts: list[str]) -> np.ndarray:
    """Compare answers by pair; repetitions of the prompt are similar only to each other."""
    answer_residuals, context_residuals = [], []
    for answer, prompt in zip(answers, prompts, strict=True):
        if answer == prompt:
            answer_residuals.append(None)
            context_residuals.append(None)
            continue
        x, u, context = embed([answer, prompt, f"{prompt} {answer}"])
        answer_residuals.append(unit_residual(x, u))
        context_residuals.append(unit_residual(context, u))
    n = len(answers)
    K = np.eye(n)
    for i in range(n):
        for j in range(n):
            if answer_residuals[i] is None or answer_residuals[j] is None:
                K[i, j] = float(answer_residuals[i] is answer_residuals[j])
            else:
                K[i, j] = (
                    answer_residuals[i] @ answer_residuals[j]
                    + context_residuals[i] @ context_residuals[j]
                ) / 2
    return K


def similarity(answers=ANSWERS, prompts=PROMPTS, **options):
    options = {"k": "semantic", "model": embed, "given_prompt": True, **options}
    return as_similarity(answers, prompts=prompts, **options)


def test_similarity_matches_the_mean_of_both_kernels_by_pair():
    expected = pairwise_similarity(ANSWERS, PROMPTS)
    result = similarity()
    np.testing.assert_allclose(result.dense(), expected, rtol=0, atol=1e-10)
    assert result.psd
    assert result.echoes.tolist() == [False, True, False, False, False, False]
    assert result.settings["prompts"] == "given, in context"
    order = np.array([3, 0, 1, 1])
    subset_matrix = expected[np.ix_(order, order)]
    np.testing.assert_allclose(result.take(order).dense(), subset_matrix, rtol=0, atol=1e-10)
    for q in (0.5, 1, 2, "inf"):
        score = compute(expected, q=q, score_K=True)[key_at(q)]
        assert compute(result, q=q)[key_at(q)] == pytest.approx(score, rel=1e-10)


def test_single_prompt_equals_the_prompt_repeated_per_sample():
    answers = ["on the mat", "in the park", U, "me too"]
    result = similarity(answers, U).dense()
    np.testing.assert_allclose(result, pairwise_similarity(answers, [U] * 4), rtol=0, atol=1e-10)
    np.testing.assert_allclose(result, similarity(answers, [U] * 4).dense(), rtol=0, atol=1e-10)


def test_in_context_defaults_to_true_only_for_semantic():
    for k, in_context, expected in (
        ("semantic", None, True),
        ("semantic", False, False),
        ("text_embeddings", None, False),
        ("text_embeddings", True, True),
    ):
        settings = similarity(k=k, in_context=in_context).settings
        assert (settings["prompts"] == "given, in context") is expected


def test_sets_of_only_verbatim_repetitions_score_one_with_a_note():
    note = (
        "2 of 2 samples repeat their prompt: they count as identical, and have similarity 0 with "
        "all other samples."
    )
    result = compute(similarity([U, W], [U, W]), details=True)
    assert result["VS"] == pytest.approx(1, abs=1e-12)
    assert note in result["details"]["notes"]


def test_distinct_texts_are_embedded_once():
    embedded_texts: list[str] = []

    def counting(texts):
        embedded_texts.extend(texts)
        return embed(texts)

    similarity(model=counting)
    assert len(embedded_texts) == len(set(embedded_texts))
    contexts = {f"{u} {a}" for u, a in zip(PROMPTS, ANSWERS, strict=True)}
    assert set(embedded_texts) == {*ANSWERS, U, W} | contexts


def test_prompt_as_long_as_the_encoder_limit_raises_with_a_hint():
    def short(texts):
        return embed([text[:16] for text in texts])

    with pytest.raises(
        ValueError, match=r"sample 0 cannot be encoded after its prompt.*in_context=Fal"
    ):
        similarity(["on the mat", "me too"], U, model=short)
    assert similarity(["on the mat", "me too"], U, model=short, in_context=False).n == 2


def test_notes_explain_indices_of_prompts_and_answers_in_context(tmp_path):
    pytest.importorskip("transformers")
    from tiny_text_models import save_tiny_bert

    options = {"model_path": save_tiny_bert(tmp_path), "pooling": "mean", "max_length": 8}
    answers = ["the cat sat on a mat", "a dog", "it snowed"]
    result = similarity(answers, "every big red house", model=None, **options)
    assert result.notes == (
        "Kernel 'text_embeddings' represents 1 of 7 samples only in part; sample 4 is truncated "
        "at 8 tokens.",
        "In these notes, samples from index 3 are prompts, and from index 4 answers after their "
        "prompts.",
    )


def test_in_context_requires_conditioning_prompts():
    for options in ({}, {"prompts": PROMPTS, "given_prompt": False}):
        with pytest.raises(
            TypeError, match="embeds each answer together with its prompt; it requires"
        ):
            compute(ANSWERS, k="text_embeddings", model=embed, in_context=True, **options)
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


def test_skipped_samples_are_dropped_from_answers_and_contexts():
    answers = ["on the mat", None, "me too", "at the park"]
    prompts = [U, U, W, W]
    with pytest.warns(UserWarning, match="dropped 1 of"):
        result = similarity(answers, prompts, on_error="skip")
    retained = [0, 2, 3]
    expected = pairwise_similarity([answers[i] for i in retained], [prompts[i] for i in retained])
    np.testing.assert_allclose(result.dense(), expected, rtol=0, atol=1e-10)
    assert list(result.dropped) == [1]


OPTIONS = {"k": "semantic", "model": embed, "given_prompt": True}


def test_scores_within_prompts_use_the_context():
    K = pairwise_similarity(ANSWERS, PROMPTS)
    by_prompt = [[i for i, u in enumerate(PROMPTS) if u == prompt] for prompt in (U, W)]
    scores = [compute(K[np.ix_(indices, indices)], score_K=True)["VS"] for indices in by_prompt]
    mean = pytest.approx(np.mean(scores), rel=1e-10)
    assert compute(ANSWERS, prompts=PROMPTS, **OPTIONS)["VS"] == mean
    assert explain(ANSWERS, prompts=PROMPTS, **OPTIONS).score == mean


def test_state_updates_use_the_context():
    expected = compute(pairwise_similarity(ANSWERS, PROMPTS), score_K=True)["VS"]
    state = State(k="semantic", model=embed)
    for batch in (slice(4), slice(4, 6)):
        state.update(ANSWERS[batch], prompts=PROMPTS[batch], given_prompt=True)
    assert state.compute()["VS"] == pytest.approx(expected, rel=1e-9)
    assert state.settings["prompts"] == "given, in context"


@pytest.mark.filterwarnings("ignore:The mean over 2 groups has no interval")
def test_select_rewards_and_compare_use_the_context():
    expected_score = compute(pairwise_similarity(ANSWERS, PROMPTS), score_K=True)["VS"]
    assert select(ANSWERS, 6, prompts=PROMPTS, **OPTIONS).scores[-1] == pytest.approx(
        expected_score, rel=1e-9
    )
    rewards = group_rewards(ANSWERS, prompts=PROMPTS, **OPTIONS)
    rewards_without_context = group_rewards(ANSWERS, prompts=PROMPTS, in_context=False, **OPTIONS)
    assert not np.allclose(rewards, rewards_without_context)
    other_answers = ["a", "b", "c", "d", "e", "f"]
    comparison = compare(ANSWERS, other_answers, prompts=PROMPTS, **OPTIONS)
    K = pairwise_similarity([*ANSWERS, *other_answers], PROMPTS * 2)
    expected = [
        np.mean([compute(K[np.ix_(indices, indices)], score_K=True)["VS"] for indices in sets])
        for sets in (([0, 1, 5], [2, 3, 4]), ([6, 7, 11], [8, 9, 10]))
    ]
    scores = [set_result.score for set_result in comparison.sets]
    assert scores == pytest.approx(expected, rel=1e-10)


def test_sources_uses_the_context():
    answers = {"one": ["on the mat", "me too"], "two": ["at home", "in the park"]}
    result = sources(answers, [U, W], aligned=True, **OPTIONS)
    cross_similarities = [
        pairwise_similarity([a, b], [u, u])[0, 1]
        for a, b, u in zip(*answers.values(), [U, W], strict=True)
    ]
    assert result.similarity[0, 1] == pytest.approx(np.mean(cross_similarities), abs=1e-10)
