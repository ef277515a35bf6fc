"""Similarities conditioned on the prompt equal the Schur complement for all supported kernels."""

from typing import Any

import numpy as np
import pytest
from conditioning_cases import (
    ORDERS,
    UNSUPPORTED,
    case,
    condition_by_definition,
    parametrize_kernels,
    take_samples,
)
from kernel_contract import CASES

from vendiscore import as_similarity, compute
from vendiscore.magnitude.metric_space_builder import as_space
from vendiscore.result import key_at
from vendiscore.similarity.prompt_residuals import condition_on_prompts

__all__ = ["case"]

TEXTS = ["the cat sat on the mat", "a dog ran in the park", "the cat sat on a red mat", "why so"]
PROMPT = "where is the cat, and what of the mat?"


@parametrize_kernels
def test_single_prompt_matches_the_schur_complement(name, case):
    samples, options, K = case
    indices = [0, 1, 2, 3, 5]  # without the prompt, 4
    S = K[np.ix_(indices, indices)] - np.outer(K[indices, 4], K[4, indices]) / K[4, 4]
    S /= np.sqrt(np.outer(np.diag(S), np.diag(S)))
    result = as_similarity(
        take_samples(samples, indices),
        prompts=take_samples(samples, [4]),
        given_prompt=True,
        **options,
    )
    np.testing.assert_allclose(result.dense(), S, rtol=0, atol=1e-10)
    assert result.psd
    for q in ORDERS:
        scores = compute(
            take_samples(samples, indices),
            prompts=take_samples(samples, [4]),
            given_prompt=True,
            q=q,
            **options,
        )
        assert scores == pytest.approx(compute(S, score_K=True, q=q), rel=1e-10)


@parametrize_kernels
def test_prompt_per_sample_matches_the_schur_complement(name, case):
    samples, options, K = case
    indices, prompt_indices, p = [0, 1, 5, 0], [4, 2, 2, 4], [0.1, 0.2, 0.3, 0.4]
    all_indices = [*indices, 4, 2]
    expected = condition_by_definition(
        K[np.ix_(all_indices, all_indices)],
        [4 + (prompt_index == 2) for prompt_index in prompt_indices],
    )
    result = as_similarity(
        take_samples(samples, indices),
        prompts=take_samples(samples, prompt_indices),
        given_prompt=True,
        **options,
    )
    np.testing.assert_allclose(result.dense(), expected, rtol=0, atol=1e-10)
    weighted = compute(result, p=p)["VS"]
    assert weighted == pytest.approx(compute(expected, score_K=True, p=p)["VS"], rel=1e-10)


@parametrize_kernels
def test_group_scores_do_not_depend_on_other_groups(name, case):
    samples, options, _ = case
    groups, prompt_indices = [[0, 1], [2, 5, 1]], [4, 4]
    prompts = take_samples(samples, prompt_indices)
    separate_scores = [
        compute(
            take_samples(samples, indices),
            prompts=take_samples(samples, [prompt_index]),
            given_prompt=True,
            **options,
        )["VS"]
        for indices, prompt_index in zip(groups, prompt_indices, strict=True)
    ]
    nested = compute(
        take_samples(samples, [0, 1, 2, 5, 1]),
        groups=[0, 0, 1, 1, 1],
        prompts={0: prompts[0], 1: prompts[1]},
        given_prompt=True,
        details=True,
        **options,
    )
    rows = nested["details"]["groups"]
    assert [row["VS"] for row in rows] == pytest.approx(separate_scores, rel=1e-10)


@parametrize_kernels
def test_all_methods_match_the_dense_matrix(name, case):
    samples, options, _ = case
    result = as_similarity(
        take_samples(samples, [0, 1, 2, 3, 5]),
        prompts=take_samples(samples, [4, 4, 5, 4, 2]),
        given_prompt=True,
        **options,
    )
    K, index = result.dense(), np.array([3, 0, 1, 1])
    V = np.random.default_rng(0).standard_normal((5, 2))
    index_lists = np.array([[0, 1], [2, 4]])
    np.testing.assert_allclose(np.diag(K), 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.diagonal(), 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.rows(index), K[index], rtol=0, atol=1e-10)
    np.testing.assert_allclose(result.rows(slice(1, 3)), K[1:3], rtol=0, atol=1e-10)
    np.testing.assert_allclose(result.matmul(V), K @ V, rtol=0, atol=1e-10)
    for subset in (result.take(index), result.part(index)):
        np.testing.assert_allclose(subset.dense(), K[np.ix_(index, index)], rtol=0, atol=1e-10)
    stack = np.array([K[np.ix_(indices, indices)] for indices in index_lists])
    np.testing.assert_allclose(result.stack(index_lists), stack, rtol=0, atol=1e-10)
    assert result.squared_norm() == pytest.approx((K * K).sum(), rel=1e-10)
    groups = result.groups()
    assert groups[0] == groups[3]


@pytest.mark.parametrize("name", sorted(UNSUPPORTED))
def test_kernels_that_cannot_be_conditioned_raise(name):
    samples = CASES[name].samples
    with pytest.raises(TypeError, match=UNSUPPORTED[name]):
        compute(samples, k=name, prompts=samples[0], given_prompt=True)


def test_callable_kernel_gets_only_pairs_within_a_group_and_its_prompt():
    compared_pairs = set()

    def k(a: str, b: str) -> float:
        compared_pairs.add((a, b))
        return len(set(a) & set(b)) / len(set(a) | set(b))

    prompts = {0: "bx", 1: "xw"}
    result = compute(
        ["ab", "bcd", "ax", "yz"], groups=[0, 0, 1, 1], prompts=prompts, given_prompt=True, k=k
    )
    allowed = ({"ab", "bcd", "bx"}, {"ax", "yz", "xw"})
    assert all({a, b} <= allowed[0] or {a, b} <= allowed[1] for a, b in compared_pairs)
    separate_results = [
        compute(["ab", "bcd"], prompts="bx", given_prompt=True, k=k),
        compute(["ax", "yz"], prompts="xw", given_prompt=True, k=k),
    ]
    assert result["VS"] == pytest.approx(
        np.mean([group_result["VS"] for group_result in separate_results]), rel=1e-12
    )


def test_callable_with_too_large_prompt_similarity_is_rejected():
    def k(a: str, b: str) -> float:
        return 1.0 if a == b else {"a": 2.0, "b": 0.1}[min(a, b)]

    with pytest.raises(ValueError, match=r"sample 0 with its prompt, 2, must be at most .* = 1;"):
        compute(["a", "b"], prompts="u", given_prompt=True, k=k)


def test_distances_and_mixtures_are_conditioned_on_the_prompt():
    mixture = {"ngram_overlap": 0.5, "word_overlap": 0.5}
    result = as_similarity(TEXTS, k=mixture, prompts=PROMPT, given_prompt=True)
    K = as_similarity([*TEXTS, PROMPT], k=mixture).dense()
    np.testing.assert_allclose(
        result.dense(), condition_by_definition(K, [4] * 4), rtol=0, atol=1e-10
    )
    score = compute(TEXTS, k=mixture, prompts=PROMPT, given_prompt=True, measures="MagArea")
    assert score == pytest.approx(compute(result, measures="MagArea"))
    assert score != pytest.approx(compute(TEXTS, k=mixture, measures="MagArea"))
    product = as_similarity(
        TEXTS, k=list(mixture), combine="product", prompts=[PROMPT] * 4, given_prompt=True
    )
    K = as_similarity([*TEXTS, PROMPT], k=list(mixture), combine="product").dense()
    np.testing.assert_allclose(
        product.dense(), condition_by_definition(K, [4] * 4), rtol=0, atol=1e-10
    )


def test_records_accept_records_as_prompts():
    rows = [{"text": text, "year": [float(i)]} for i, text in enumerate(TEXTS)]
    options = {
        "k": {"ngram_overlap:text": 0.5, "rbf:year": 0.5},
        "options": {"rbf:year": {"sigma": 1}},
    }
    result = as_similarity(
        rows, prompts={"text": PROMPT, "year": [9.0]}, given_prompt=True, **options
    )
    K = as_similarity([*rows, {"text": PROMPT, "year": [9.0]}], **options).dense()
    np.testing.assert_allclose(
        result.dense(), condition_by_definition(K, [4] * 4), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_in_both_precisions_match_the_schur_complement(dtype):
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(20, 8)).astype(dtype), rng.normal(size=(20, 8)).astype(dtype)
    Z = np.vstack([X, U]).astype(float)
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    expected = condition_by_definition(Z @ Z.T, [20 + i for i in range(20)])
    for options in ({"k": "cosine"}, {"score_X": True, "normalize": True}):
        np.testing.assert_allclose(
            as_similarity(X, prompts=U, given_prompt=True, **options).dense(),
            expected,
            rtol=0,
            atol=1e-7,
        )


def test_fitted_bandwidth_ignores_prompts():
    X = np.random.default_rng(0).normal(size=(9, 3))
    result = as_similarity(X, k="rbf", prompts=[100.0, 100.0, 0.0], given_prompt=True)
    assert result.fitted == as_similarity(X, k="rbf").fitted


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("kernel", ["cosine", "rbf", "laplacian"])
def test_gradients_flow_to_samples_and_prompts(kernel, q):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X, U = (torch.tensor(rng.normal(size=(n, 3)), requires_grad=True) for n in (5, 2))
    kernel_options = {"sigma": 1.5} if kernel in ("rbf", "laplacian") else {}

    for groups in ([0, 0, 1, 1, 1], None):

        def score(X: Any, U: Any, groups: Any = groups) -> Any:
            prompts = {0: U[0], 1: U[1]} if groups else U[0]
            return compute(
                X,
                k=kernel,
                groups=groups,
                prompts=prompts,
                given_prompt=True,
                q=q,
                **kernel_options,
            )[key_at(q)]

        value = score(X, U).detach()
        assert float(value) == pytest.approx(score(X.detach().numpy(), U.detach().numpy()))
        assert torch.autograd.gradcheck(score, (X, U))


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        (
            {"prompts": [PROMPT] * 2},
            ValueError,
            "one prompt per sample, got 2 prompts for 4 samples",
        ),
        (
            {"prompts": [PROMPT] * 3, "groups": [0, 0, 1, 1]},
            ValueError,
            "or pass a dict from group to prompt, such as {0: …}",
        ),
        ({"prompts": ["a", "a", " ", " "]}, ValueError, "the prompt of sample 2 in `prompts`"),
        (
            {"prompts": [1.0] * 4},
            ValueError,
            r"`prompts` must have the same sample type as `samples` \(str",
        ),
        (
            {"samples": np.eye(3), "score_K": True, "prompts": [1, 0, 0]},
            TypeError,
            "no similarities to prompts",
        ),
        (
            {"samples": as_similarity(TEXTS), "prompts": PROMPT},
            TypeError,
            "cannot be conditioned on `prompts`",
        ),
        (
            {"samples": as_space(TEXTS), "prompts": PROMPT, "measures": "MagArea"},
            TypeError,
            "`samples` is a MetricSpace, which cannot be conditioned on",
        ),
        (
            {"samples": np.eye(3), "prompts": [1.0, 1, 1], "metric": "euclidean"}
            | {"measures": "MagArea"},
            TypeError,
            "remove `metric`",
        ),
        (
            {"samples": np.eye(3), "prompts": [1.0, 1, 1], "measures": "MagArea"},
            ValueError,
            "`k` is required",
        ),
    ],
    ids=str,
)
def test_invalid_prompts_are_rejected(arguments, error, match):
    arguments = {"samples": TEXTS, **arguments}
    with pytest.raises(error, match=match):
        compute(arguments.pop("samples"), given_prompt=True, **arguments)


def test_signature_includes_conditioning_prompts():
    details = compute(TEXTS, prompts=PROMPT, given_prompt=True, details=True)["details"]
    assert "|prompts=given|" in details["signature"]
    assert "prompts" not in compute(TEXTS, details=True)["details"]["signature"]


def test_references_are_conditioned_on_the_same_prompts():
    references = ["a cat", "the red dog sat", "what is a mat", "mat why"]
    for prompts in (PROMPT, [PROMPT] * 4, [[PROMPT] * 4, [PROMPT] * 4]):
        result = compute(TEXTS, references, measures="MMD", prompts=prompts, given_prompt=True)
        similarity, reference_similarity = (
            as_similarity(texts, prompts=PROMPT, given_prompt=True) for texts in (TEXTS, references)
        )
        joint = as_similarity([*TEXTS, *references], prompts=PROMPT, given_prompt=True)
        assert joint.n == similarity.n + reference_similarity.n
        expected = compute(joint.features()[:4], joint.features()[4:], score_X=True, measures="MMD")
        assert result["MMD"] == pytest.approx(expected["MMD"], rel=1e-10)


def test_condition_on_prompts_accepts_any_similarity():
    similarity = as_similarity(np.eye(3)[[0, 1, 2]] + 0.1, score_X=True, normalize=True)
    result = condition_on_prompts(similarity, 2, np.array([0, 0]), 2.0**-52)
    np.testing.assert_allclose(
        result.dense(), condition_by_definition(similarity.dense(), [2, 2]), rtol=0, atol=1e-12
    )
