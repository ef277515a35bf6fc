"""`explain` validates its arguments and computes the contribution of each sample."""

import numpy as np
import pytest

from vendiscore import as_similarity, explain, score, score_K
from vendiscore.tools.analysis.explain import check_explain_options

TEXTS = ["a b", "a b", "c d", "a c", "e f g"]


@pytest.mark.parametrize("q", [0.5, 1, 2, "inf"])
def test_adds_equals_leave_one_out_drop_of_log_score(q):
    result = explain(TEXTS, q=q, ns=[1])
    log_score = np.log(score(TEXTS, "ngram_overlap", q=q, ns=[1]))
    for i, adds in enumerate(result.adds):
        remaining = [text for j, text in enumerate(TEXTS) if j != i]
        expected = log_score - np.log(score(remaining, "ngram_overlap", q=q, ns=[1]))
        assert adds == pytest.approx(expected, abs=1e-6)


def test_adds_uses_weights():
    p = [0.1, 0.3, 0.2, 0.2, 0.2]
    result = explain(TEXTS, p=p, ns=[1])
    K = as_similarity(TEXTS, k="ngram_overlap", ns=[1]).dense()
    remaining_p = np.array(p[1:]) / 0.9
    expected = np.log(score_K(K, p=p)) - np.log(score_K(K[1:, 1:], p=remaining_p))
    assert result.adds[0] == pytest.approx(expected, abs=1e-6)


def test_near_duplicates_follow_the_threshold():
    assert explain(TEXTS, ns=[1]).redundant_of.tolist() == [-1, 0, -1, -1, -1]
    low = explain(TEXTS, ns=[1], threshold=0.5)
    assert (low.redundant_of >= 0).sum() > 1


def test_prompts_are_explained_separately():
    prompts = ["x", "x", "y", "y", "y"]
    result = explain(TEXTS, ns=[1], prompts=prompts, given_prompt=False)
    per_prompt = [explain(TEXTS[:2], ns=[1]), explain(TEXTS[2:], ns=[1])]
    expected = np.concatenate([explanation.adds for explanation in per_prompt])
    np.testing.assert_allclose(result.adds, expected, atol=1e-6)


COLUMNS = ("surprise", "adds", "unexplained", "mode", "nearest_similarity")


@pytest.mark.parametrize("copies", ["none", "within a prompt", "across prompts"])
def test_values_within_prompts_are_those_of_each_prompt_alone(copies):
    rng = np.random.default_rng(4)
    prompts = rng.permutation(np.repeat(np.arange(5), [1, 4, 4, 9, 80]))
    X = rng.standard_normal((len(prompts), 6))
    source, *targets = {
        "none": [0],
        "within a prompt": np.flatnonzero(prompts == 1)[:3],
        "across prompts": [np.argmax(prompts == 1), np.argmax(prompts == 2)],
    }[copies]
    X[targets] = X[source]
    result = explain(X, k="cosine", prompts=prompts, given_prompt=False, threshold=0.7)
    scores = []
    for prompt in np.unique(prompts):
        rows = np.flatnonzero(prompts == prompt)
        expected = explain(X[rows], k="cosine", threshold=0.7)
        scores.append(expected.score)
        for name in COLUMNS:
            values = getattr(expected, name)
            np.testing.assert_allclose(getattr(result, name)[rows], values, atol=1e-9)
        np.testing.assert_array_equal(result.nearest[rows], rows[expected.nearest])
        repeats = expected.redundant_of
        expected_repeats = np.where(repeats < 0, -1, rows[repeats])
        np.testing.assert_array_equal(result.redundant_of[rows], expected_repeats)
    assert result.score == pytest.approx(np.mean(scores), rel=1e-12)


def test_large_prompts_are_decomposed_when_needed(monkeypatch):
    rng = np.random.default_rng(0)
    prompts = ["a"] * 30 + ["b"] * 10
    X = rng.standard_normal((40, 50))
    expected = explain(X, k="cosine", prompts=prompts, given_prompt=False)
    monkeypatch.setattr("vendiscore.tools.analysis.explain.MAX_IMMEDIATE_SIZE", 20)
    result = explain(X, k="cosine", prompts=prompts, given_prompt=False)
    assert not any("eigen" in vars(part) for part in result._prompt_sets)
    np.testing.assert_allclose(result.surprise, expected.surprise, atol=1e-12)
    assert result.score == pytest.approx(expected.score, rel=1e-12)


def test_skipped_samples_keep_the_callers_indices():
    with pytest.warns(UserWarning, match="1 of 6"):
        result = explain(["", *TEXTS], ns=[1], on_error="skip")
    assert result.places.tolist() == [1, 2, 3, 4, 5]
    np.testing.assert_allclose(result.adds, explain(TEXTS, ns=[1]).adds, atol=1e-9)


def test_check_explain_options_validates_q_threshold_and_psd():
    assert check_explain_options(2, 0.5, "clip") == (2.0, 0.5, "clip")
    assert check_explain_options(1, 1, "check") == (1.0, 1.0, "check")
    assert check_explain_options("inf", -1, "check") == (np.inf, -1.0, "check")
    for q, threshold, psd, message in (
        (0, 0.5, "check", "`q` must be an order above 0"),
        (1, 1.01, "check", "`threshold` must be a similarity, from -1 to 1"),
        (1, 0.5, "x", "`psd`"),
    ):
        with pytest.raises(ValueError, match=message):
            check_explain_options(q, threshold, psd)


def test_indefinite_similarities_raise_unless_clipped():
    K = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], float)
    with pytest.raises(ValueError, match="positive semidefinite"):
        explain(K, score_K=True)
    assert explain(K, score_K=True, psd="clip").places.tolist() == [0, 1, 2]


def test_tensor_that_requires_grad_raises():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="explain cannot be differentiated"):
        explain(torch.eye(3, requires_grad=True), k="cosine")


def test_unknown_keyword_raises():
    with pytest.raises(TypeError, match="'treshold'"):
        explain(TEXTS, treshold=0.5)
