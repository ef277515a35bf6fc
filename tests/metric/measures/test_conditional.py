"""The measure ConditionalVS, compared with `conditional_score`."""

import math
from typing import Any

import numpy as np
import pytest

from vendiscore import as_similarity, compute, conditional_score

RBF = {"k": "rbf", "sigma": 1.0}
PROMPTS = ["tell a joke", "tell a story", "tell a joke", "sing", "tell a joke", "sing"]
ORDERS = [0, 0.5, 1, 2, "inf"]


def make_normal_rows(n: int = 6, seed: int = 0, d: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def compute_conditional_vs(X: Any, given: Any = PROMPTS, **options: Any) -> float:
    return compute(X, measures="ConditionalVS", given=given, **{**RBF, **options})["ConditionalVS"]


def compute_naively(K: np.ndarray, prompt_K: np.ndarray, p: np.ndarray) -> float:
    """Return ConditionalVS at order 1 from the eigenvalues of K ∘ T and T."""

    def entropy(A: np.ndarray) -> float:
        values = np.linalg.eigvalsh(np.sqrt(p)[:, None] * A * np.sqrt(p))
        values = values[values > 1e-14]
        return -float(values @ np.log(values))

    return math.exp(entropy(K * prompt_K) - entropy(prompt_K))


@pytest.mark.parametrize("p", [None, [0.1, 0.2, 0.3, 0.1, 0.1, 0.2], [0.5, 0.5, 0, 0, 0, 0]])
@pytest.mark.parametrize("given_k", [None, "labels"])
def test_conditional_vs_matches_ratio_of_joint_and_prompt_diversity(
    p: list | None, given_k: str | None
) -> None:
    X = make_normal_rows()
    K = as_similarity(X, **RBF).dense()
    prompt_K = as_similarity(PROMPTS, k=given_k).dense()
    weights = np.full(6, 1 / 6) if p is None else np.array(p)
    result = compute_conditional_vs(X, given_k=given_k, p=p)
    assert result == pytest.approx(compute_naively(K, prompt_K, weights), rel=1e-9)
    assert result == conditional_score(X, PROMPTS, given_k=given_k, p=p, **RBF)


def test_conditional_vs_matches_conditional_score_at_every_order() -> None:
    X = make_normal_rows()
    options = {"given": PROMPTS, "given_k": "labels", **RBF}
    result = compute(X, measures=["VS", "ConditionalVS"], q=ORDERS, **options)
    for q in ORDERS:
        expected = conditional_score(X, PROMPTS, given_k="labels", q=q, **RBF)
        assert result[f"ConditionalVS_q{q}"] == pytest.approx(expected, rel=1e-12)
    within_vs = compute(X, groups=PROMPTS, measures="WithinVS", **RBF)["WithinVS"]
    assert compute_conditional_vs(X, given_k="labels") == pytest.approx(within_vs, rel=1e-12)


def test_constant_condition_returns_vs_and_distinct_conditions_return_one() -> None:
    X = make_normal_rows()
    assert compute_conditional_vs(X, ["same"] * 6) == pytest.approx(
        compute(X, **RBF)["VS"], rel=1e-12
    )
    assert compute_conditional_vs(X, list("abcdef"), given_k="labels") == pytest.approx(
        1, rel=1e-12
    )
    assert compute_conditional_vs(X[:1], ["a"]) == 1.0


@pytest.mark.parametrize(
    "container", ["list", "tuple", "generator", "array", "Similarity", "vectors"]
)
def test_given_accepts_all_sample_containers(container: str) -> None:
    X, labels = make_normal_rows(), np.array([0, 1, 0, 2, 0, 2])
    similarity = as_similarity(labels, k="labels")
    given, given_k = {
        "list": (labels.tolist(), "labels"),
        "tuple": (tuple(labels.tolist()), "labels"),
        "generator": ((i for i in labels.tolist()), "labels"),
        "array": (labels, "labels"),
        "Similarity": (similarity, None),
        "vectors": (np.eye(3)[labels], "cosine"),
    }[container]
    expected = compute_conditional_vs(X, labels, given_k="labels")
    groups = np.arange(6) % 2  # so the given values are used more than once
    group_scores = [compute_conditional_vs(X[i::2], labels[i::2], given_k="labels") for i in (0, 1)]
    result = compute(
        X, measures="ConditionalVS", given=given, given_k=given_k, groups=groups, **RBF
    )
    assert result["ConditionalVS"] == pytest.approx(np.mean(group_scores), rel=1e-12)
    if container != "generator":
        assert compute_conditional_vs(X, given, given_k=given_k) == pytest.approx(
            expected, rel=1e-12
        )


def test_nested_groups_use_given_values_in_flattened_order() -> None:
    texts = [["a cat", "a dog"], ["red", "blue", "a cat"]]
    given = ["pet", "pet", "hue", "hue", "pet"]
    result = compute(texts, measures="ConditionalVS", given=given, given_k="labels")
    group_scores = [
        conditional_score(texts[0], given[:2], given_k="labels"),
        conditional_score(texts[1], given[2:], given_k="labels"),
    ]
    assert result["ConditionalVS"] == pytest.approx(np.mean(group_scores), rel=1e-12)


def test_dropped_samples_drop_their_given_values() -> None:
    X, p = make_normal_rows(), np.array([1, 2, 3, 4, 5, 6]) / 21
    X[2] = 0
    options = {"k": "cosine", "given_k": "labels"}
    retained = [0, 1, 3, 4, 5]
    retained_prompts = [PROMPTS[i] for i in retained]
    with pytest.warns(UserWarning, match="dropped 1 of 6 samples"):
        result = compute(
            X, measures="ConditionalVS", given=PROMPTS, on_error="skip", p=p, **options
        )["ConditionalVS"]
    retained_weights = p[retained] / p[retained].sum()
    expected = conditional_score(X[retained], retained_prompts, p=retained_weights, **options)
    assert result == pytest.approx(expected, rel=1e-12)
    labels = [0, 0, 0, 1, 1, 1]
    with pytest.warns(UserWarning, match="dropped 1 of 6 samples"):
        grouped = compute(
            X, measures="ConditionalVS", given=PROMPTS, on_error="skip", groups=labels, **options
        )["ConditionalVS"]
    group_scores = [
        conditional_score(X[i], [PROMPTS[j] for j in i], **options) for i in ([0, 1], [3, 4, 5])
    ]
    assert grouped == pytest.approx(np.mean(group_scores), rel=1e-12)


def test_conditional_score_drops_given_values_of_dropped_samples() -> None:
    texts, given = ["a b", "", "c", "c", "e"], ["one", "none", "two", "two", "three"]
    p = [0.1, 0.2, 0.3, 0.2, 0.2]
    for weights in (None, p):
        options = {"on_error": "skip", "p": weights}
        with pytest.warns(UserWarning, match="dropped"):
            result = conditional_score(texts, given, **options)
        with pytest.warns(UserWarning, match="dropped"):
            assert (
                result
                == compute(texts, measures="ConditionalVS", given=given, **options)["ConditionalVS"]
            )
    retained_texts = [x for i, x in enumerate(texts) if i != 1]
    retained_weights = np.delete(p, 1) / np.delete(p, 1).sum()
    assert result == pytest.approx(
        conditional_score(retained_texts, ["one", "two", "two", "three"], p=retained_weights)
    )


def test_interval_returns_standard_error_smaller_than_the_value() -> None:
    X = make_normal_rows(40)
    prompts = [f"p{i % 4}" for i in range(40)]
    result = compute(X, measures="ConditionalVS", given=prompts, given_k="labels", ci=0.95, **RBF)
    assert 0 < result["ConditionalVS_se"] < result["ConditionalVS"]


def test_conditional_vs_is_differentiable() -> None:
    torch = pytest.importorskip("torch")
    X = torch.tensor(make_normal_rows(), requires_grad=True)
    compute_conditional_vs(X, given_k="labels").backward()
    assert bool(X.grad.isfinite().all())
    assert float(abs(X.grad).max()) > 1e-3


def test_signature_contains_a_digest_of_given_values() -> None:
    def signature(given: Any, **options: Any) -> str:
        result = compute(
            make_normal_rows(),
            measures=["ConditionalVS", "MagArea"],
            given=given,
            details=True,
            **RBF,
            **options,
        )
        assert isinstance(result["details"]["options"]["given"], str)
        return result["details"]["signature"]

    copied_prompts = ["".join(list(prompt)) for prompt in PROMPTS]
    assert signature(PROMPTS) == signature(copied_prompts) != signature(PROMPTS[::-1])
    assert signature(PROMPTS) != signature(PROMPTS, given_k="labels")
    assert "sing" not in signature(PROMPTS)
    similarities = [
        as_similarity(labels, k="labels") for labels in (list("aabbcc"), list("ababcc"))
    ]
    assert signature(similarities[0]) != signature(similarities[1])


def test_conditional_vs_rejects_missing_or_invalid_given() -> None:
    with pytest.raises(TypeError, match="ConditionalVS requires `given`, with one value per sam"):
        compute(make_normal_rows(), measures="ConditionalVS", **RBF)
    for call in (compute_conditional_vs, lambda X, given: conditional_score(X, given, **RBF)):
        with pytest.raises(
            ValueError, match="must contain one value for each of the 6 samples, got 2"
        ):
            call(make_normal_rows(), ["a", "b"])
        with pytest.raises(ValueError) as error_info:
            call(make_normal_rows(), [None] * 6)
        assert error_info.value.__notes__ == ["raised for the argument `given`"]
    with pytest.raises(
        TypeError, match="`given` is an option of ConditionalVS; add this measure to `measures`"
    ):
        compute(make_normal_rows(), given=PROMPTS, **RBF)
