"""Samples that repeat their prompts are identical to each other and dissimilar to all others."""

import json
from typing import Any

import numpy as np
import pytest
from conditioning_cases import (
    ORDERS,
    case,
    condition_by_definition,
    parametrize_kernels,
    take_samples,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import (
    State,
    as_similarity,
    compare,
    compute,
    effective_number,
    explain,
    group_rewards,
    growth,
    load,
    report,
    select,
    sources,
)
from vendiscore.result import key_at

__all__ = ["case"]

U, W = "where is the cat", "what did the dog do"
TEXTS = ["the cat sat on the mat", U, "a dog ran in the park", U, "why so", "the cat is here"]
REPETITIONS = [1, 3]
NOTE = (
    "{} of {} samples repeat their prompt: they count as identical, and have similarity 0 with "
    "all other samples."
)


def similarity_with_repetitions(
    K: np.ndarray, prompt_indices: list[int], echoes: list[bool]
) -> np.ndarray:
    """Condition on the prompts, then set similarities of verbatim repetitions to 1 or 0."""
    with np.errstate(all="ignore"):
        residual = condition_by_definition(K, prompt_indices)
    for i, is_first in enumerate(echoes):
        for j, is_second in enumerate(echoes):
            if is_first or is_second:
                residual[i, j] = float(is_first and is_second)
    return residual


def vendi_score(K: np.ndarray, q: float | str) -> float:
    values = np.linalg.eigvalsh(K / len(K))
    return float(effective_number(np.where(values > 1e-13, values, 0), float(q)))


def repetition_notes(*samples: Any, **options: Any) -> list[str]:
    details = compute(*samples, details=True, **options)["details"]
    return [note for note in details["notes"] if "repeat their prompt" in note]


@parametrize_kernels
def test_repetitions_of_different_prompts_are_identical_for_all_kernels(name, case):
    samples, options, K = case
    indices, prompt_indices = [0, 4, 5, 2, 4, 1], [4, 4, 2, 2, 4, 4]
    all_indices = [*indices, 4, 2]
    expected = similarity_with_repetitions(
        K[np.ix_(all_indices, all_indices)],
        [len(indices) + (prompt_index == 2) for prompt_index in prompt_indices],
        [i == prompt_index for i, prompt_index in zip(indices, prompt_indices, strict=True)],
    )
    X, prompts = take_samples(samples, indices), take_samples(samples, prompt_indices)
    result = as_similarity(X, prompts=prompts, given_prompt=True, **options)
    np.testing.assert_allclose(result.dense(), expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(result.diagonal(), 1, rtol=0, atol=1e-12)
    assert result.psd
    assert result.echoes.tolist() == [False, True, False, True, True, False]
    for q in ORDERS:
        assert compute(result, q=q)[key_at(q)] == pytest.approx(vendi_score(expected, q), rel=1e-9)
    order = np.array([3, 0, 1, 1, 5])
    V = np.random.default_rng(0).standard_normal((6, 2))
    np.testing.assert_allclose(result.matmul(V), expected @ V, rtol=0, atol=1e-10)
    np.testing.assert_allclose(result.rows(order), expected[order], rtol=0, atol=1e-10)
    for subset in (result.take(order), result.part(order)):
        np.testing.assert_allclose(
            subset.dense(), expected[np.ix_(order, order)], rtol=0, atol=1e-10
        )
        assert subset.echoes.tolist() == [True, False, True, True, False]
    index_lists = np.array([[0, 1, 3], [2, 4, 5]])
    stack = np.array([expected[np.ix_(members, members)] for members in index_lists])
    np.testing.assert_allclose(result.stack(index_lists), stack, rtol=0, atol=1e-10)
    assert result.squared_norm() == pytest.approx((expected**2).sum(), rel=1e-10)
    groups = [0, 1, 0, 1, 0, 1]
    group_members = [[i for i in range(6) if groups[i] == g] for g in (0, 1)]
    mean_score = np.mean(
        [vendi_score(expected[np.ix_(members, members)], 1) for members in group_members]
    )
    score = compute(result, groups=groups)["VS"]
    assert score == pytest.approx(mean_score, rel=1e-9)


@parametrize_kernels
def test_sets_of_only_repetitions_score_one(name, case):
    samples, options, _ = case
    repetitions = take_samples(samples, [4, 2, 4])
    for q in ORDERS:
        assert compute(repetitions, prompts=repetitions, given_prompt=True, q=q, **options)[
            key_at(q)
        ] == pytest.approx(1, abs=1e-12)
    assert repetition_notes(repetitions, prompts=repetitions, given_prompt=True, **options) == [
        NOTE.format(3, 3)
    ]


@settings(max_examples=60)
@given(data=st.data())
def test_random_sets_with_repetitions_have_a_valid_similarity(data):
    row = st.lists(st.integers(-2, 3), min_size=3, max_size=3).filter(any)
    prompts = np.array(data.draw(st.lists(row, min_size=1, max_size=3)), float)
    rows = np.array(data.draw(st.lists(row, min_size=1, max_size=8)), float)
    n = len(rows)
    prompt_index = np.array(
        data.draw(st.lists(st.integers(0, len(prompts) - 1), min_size=n, max_size=n))
    )
    is_copy = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    X = np.where(is_copy[:, None], 2.0 * prompts[prompt_index], rows)
    k = data.draw(st.sampled_from(["cosine", "laplacian", "rbf"]))
    options: dict[str, Any] = {"k": k, **({"sigma": 1.0} if k != "cosine" else {})}
    X = X / 2 if k != "cosine" else X  # only cosines ignore lengths
    X[is_copy] = prompts[prompt_index][is_copy] * (2 if k == "cosine" else 1)
    result = as_similarity(X, prompts=prompts[prompt_index], given_prompt=True, **options)
    K = result.dense()
    np.testing.assert_allclose(K.diagonal(), 1, rtol=0, atol=1e-9)
    np.testing.assert_allclose(K, K.T, rtol=0, atol=1e-9)
    assert np.linalg.eigvalsh(K).min() > -1e-8
    echoes = np.zeros(n, bool) if result.echoes is None else result.echoes
    assert echoes[is_copy].all()
    assert (K[np.ix_(echoes, echoes)] == 1).all()
    assert (K[np.ix_(echoes, ~echoes)] == 0).all()
    order = np.array(data.draw(st.permutations(range(n))))
    for q in ORDERS:
        score = compute(result, q=q)[key_at(q)]
        assert 1 - 1e-9 <= score <= n + 1e-9
        permuted = as_similarity(
            X[order], prompts=prompts[prompt_index][order], given_prompt=True, **options
        )
        permuted_score = compute(permuted, q=q)[key_at(q)]
        assert permuted_score == pytest.approx(score, rel=1e-6)


def test_scores_are_the_limit_of_removing_nearly_all_of_the_prompt():
    rng = np.random.default_rng(0)
    u, X = rng.normal(size=4), rng.normal(size=(6, 4))
    X[[1, 4]] = u, 3 * u
    limit = compute(X, prompts=u, given_prompt=True, k="cosine")["VS"]
    gaps = []
    for eps in (1e-2, 1e-3, 1e-4):
        residual = X - (1 - eps) * np.outer(X @ u, u) / (u @ u)
        gaps.append(abs(compute(residual, k="cosine")["VS"] - limit))
    assert gaps[0] < 0.02
    assert gaps[1] < 1e-3 * 0.2
    assert gaps[2] < 1e-5


@pytest.mark.parametrize(
    ("dtype", "threshold"), [("float64", 1e-10), ("float32", 1e-6), ("float16", 1e-6)]
)
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_repetition_threshold_depends_on_the_input_precision(dtype, threshold, library):
    u = np.array([1.0, 0, 0], dtype)
    for fraction, has_direction in ((4 * threshold, True), (threshold / 4, False)):
        rows = np.array([[1, fraction**0.5, 0], [1, 0, fraction**0.5], [0, 1, 1]], dtype)
        X: Any = rows
        prompt: Any = u
        if library == "torch":
            torch = pytest.importorskip("torch")
            X, prompt = torch.tensor(rows), torch.tensor(u)
        result = as_similarity(X, prompts=prompt, given_prompt=True, k="cosine")
        root = 0.5**0.5
        expected = [[1, 0, root], [0, 1, root], [root, root, 1]]
        if not has_direction:
            expected = [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
        K = np.asarray(result.dense())
        np.testing.assert_allclose(K, expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("k", ["cosine", "rbf", "laplacian"])
def test_near_repetitions_match_forty_digit_arithmetic(k):
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(0)
    u = rng.normal(size=4)
    offset_size = 1e-9 if k == "laplacian" else 3e-5
    X = np.vstack([u + offset_size * rng.normal(size=(4, 4)), rng.normal(size=(2, 4))])
    options = {"sigma": 1.0} if k in ("rbf", "laplacian") else {}
    with mpmath.workdps(40):
        rows = [[mpmath.mpf(float(x)) for x in row] for row in [*X, u]]

        def dot(a, b):
            return mpmath.fsum(x * y for x, y in zip(a, b, strict=True))

        def rbf(a, b):
            return mpmath.exp(-mpmath.fsum((x - y) ** 2 for x, y in zip(a, b, strict=True)) / 2)

        def laplacian(a, b):
            return mpmath.exp(-mpmath.fsum(abs(x - y) for x, y in zip(a, b, strict=True)))

        pair = {"cosine": dot, "rbf": rbf, "laplacian": laplacian}[k]
        K = mpmath.matrix([[pair(a, b) for b in rows] for a in rows])
        m = len(X)
        residuals = [[K[i, j] - K[i, m] * K[m, j] / K[m, m] for j in range(m)] for i in range(m)]
        assert min(residuals[i][i] / K[i, i] for i in range(m)) > 1e-10
        exact = [
            [
                float(residuals[i][j] / mpmath.sqrt(residuals[i][i] * residuals[j][j]))
                for j in range(m)
            ]
            for i in range(m)
        ]
    result = as_similarity(X, k=k, prompts=u, given_prompt=True, **options).dense()
    atol = 1e-10 if k == "cosine" else 1e-5
    np.testing.assert_allclose(result, exact, rtol=0, atol=atol)


@pytest.mark.parametrize("k", ["cosine", "rbf", "laplacian"])
@pytest.mark.parametrize("q", ORDERS)
def test_gradients_are_finite_and_zero_for_repetitions(k, q):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    rows, u = rng.normal(size=(6, 3)), torch.tensor(rng.normal(size=3), requires_grad=True)
    rows[REPETITIONS] = u.detach()
    X = torch.tensor(rows, requires_grad=True)
    options: dict[str, Any] = {"k": k, "q": q} | (
        {"sigma": 1.5} if k in ("rbf", "laplacian") else {}
    )
    key = key_at(q)
    value = compute(X, prompts=u, given_prompt=True, **options)[key]
    assert float(value.detach()) == pytest.approx(
        compute(rows, prompts=u.detach(), given_prompt=True, **options)[key]
    )
    gradient, prompt_gradient = torch.autograd.grad(value, (X, u))
    assert gradient.isfinite().all()
    assert prompt_gradient.isfinite().all()
    assert not gradient[REPETITIONS].any()
    other_indices = [0, 2, 4, 5]
    fixed = X.detach()

    def score(other_rows: Any) -> Any:
        return compute(
            fixed.index_put((torch.tensor(other_indices),), other_rows),
            prompts=u,
            given_prompt=True,
            **options,
        )[key]

    assert torch.autograd.gradcheck(score, (fixed[other_indices].requires_grad_(),))


def test_merged_states_with_repetitions_match_the_full_set():
    rng = np.random.default_rng(0)
    for m in (8, 60):  # stored as rows, or as a triangle
        X, P = rng.normal(size=(m, 3)), rng.normal(size=(m, 3))
        X[[1, m - 1]] = 2 * P[[1, m - 1]]
        half = m // 2
        slices = [slice(0, 1), slice(1, half), slice(half, m)]  # the first has no repetition
        updated = State(k="cosine")
        for batch in slices:
            updated.update(X[batch], prompts=P[batch], given_prompt=True)
        states = [
            State(k="cosine").update(X[batch], prompts=P[batch], given_prompt=True)
            for batch in slices
        ]
        merged = State(k="cosine").merge(*states)
        K = as_similarity(X, prompts=P, given_prompt=True, k="cosine")
        for q in ORDERS:
            expected = compute(K, q=q)
            for state in (updated, merged, State.from_bytes(merged.to_bytes())):
                assert state.compute(q) == pytest.approx(expected, rel=1e-10)
        assert NOTE.format(2, m) in merged.compute(details=True)["details"]["notes"]
    p = [1.0, 2, 0, 1]
    weighted = (
        State.empty(k="cosine")
        .update(X[:4], p, prompts=P[:4], given_prompt=True)
        .compute(details=True)
    )
    K = as_similarity(X[:4], prompts=P[:4], given_prompt=True, k="cosine")
    expected = compute(K, p=np.array(p) / 4)["VS"]
    assert weighted["VS"] == pytest.approx(expected, rel=1e-10)
    weight_notes = [note for note in weighted["details"]["notes"] if "repeat" in note]
    assert weight_notes[0].startswith("Samples of 0.5 of the weight repeat their prompt")


def test_note_counts_samples_of_the_scored_set_that_repeat_their_prompt():
    assert repetition_notes(TEXTS, prompts=U, given_prompt=True) == [NOTE.format(2, 6)]
    assert repetition_notes(TEXTS, groups=[0, 0, 1, 1, 2, 2], prompts=U, given_prompt=True) == [
        NOTE.format(2, 6)
    ]
    assert repetition_notes(TEXTS, TEXTS[2:], measures="MMD", prompts=U, given_prompt=True) == [
        NOTE.format(2, 6)
    ]
    assert repetition_notes(TEXTS, measures="MagArea", prompts=U, given_prompt=True) == [
        NOTE.format(2, 6)
    ]
    assert repetition_notes(TEXTS, prompts=W, given_prompt=True) == []
    similarity = as_similarity(TEXTS, prompts=U, given_prompt=True)
    assert repetition_notes(similarity) == [NOTE.format(2, 6)]
    assert repetition_notes(similarity.take(np.array([0, 3]))) == [NOTE.format(1, 2)]
    assert similarity.dropped == {}


def test_all_analyses_support_repetitions():
    K = as_similarity(TEXTS, prompts=U, given_prompt=True)
    other_texts = ["a red mat", U, "the dog", "so be it"]
    first, second = (
        as_similarity(item, prompts=U, given_prompt=True) for item in (TEXTS, other_texts)
    )
    result = compare(TEXTS, other_texts, prompts=U, given_prompt=True)
    scores = [compute(item)["VS"] for item in (first, second)]
    assert [row.score for row in result.sets] == pytest.approx(scores)
    explained = explain(TEXTS, prompts=U, given_prompt=True)
    assert explained.score == pytest.approx(compute(K)["VS"])
    assert (REPETITIONS[0], REPETITIONS[1:]) in [
        (retained, list(similar)) for retained, similar in explained.groups
    ]
    chosen = select(TEXTS, 4, prompts=U, given_prompt=True)
    assert len(set(REPETITIONS) & set(chosen.places.tolist())) == 1
    assert growth(TEXTS, prompts=U, given_prompt=True).scores == pytest.approx(growth(K).scores)
    assert NOTE.format(2, 6) in report(TEXTS, prompts=U, given_prompt=True).html()
    metric_score = load("vendiscore").compute(samples=TEXTS, prompts=U, given_prompt=True)["VS"]
    assert metric_score == pytest.approx(compute(K)["VS"])
    answers = {"a": [[TEXTS[0]], ["x y z"]], "b": [[U], ["x w"]], "c": [[U], ["p q"]]}
    table = sources(answers, [U, W], given_prompt=True, level=None)
    assert table.similarity[1, 2] > table.similarity[0, 1]


def test_repetitions_get_reward_zero():
    prompts = [U] * len(TEXTS)
    result = group_rewards(TEXTS, prompts=prompts, given_prompt=True)
    assert result[REPETITIONS].tolist() == [0, 0]
    other_texts = [text for text in TEXTS if text != U]
    rewards_of_others = group_rewards(other_texts, prompts=prompts[:4], given_prompt=True)
    np.testing.assert_allclose(result[[0, 2, 4, 5]], rewards_of_others, rtol=1e-10)
    assert group_rewards([U, U], prompts=[U, U], given_prompt=True).tolist() == [0, 0]


def test_callable_kernels_and_skipped_samples_support_repetitions():
    def k(a: str, b: str) -> float:
        return len(set(a) & set(b)) / (len(set(a)) * len(set(b))) ** 0.5

    groups, prompts = [["ab", "bx", "bcd"], ["ax", "xw"]], ["bx", "xw"]
    flat = [text for group in groups for text in group]
    result = compute(flat, groups=[0, 0, 0, 1, 1], prompts=prompts, given_prompt=True, k=k)["VS"]
    separate_scores = [
        compute(group, prompts=prompt, given_prompt=True, k=k)["VS"]
        for group, prompt in zip(groups, prompts, strict=True)
    ]
    assert result == pytest.approx(np.mean(separate_scores))
    with pytest.warns(UserWarning, match="dropped 1 of"):
        similarity = as_similarity(["", *TEXTS], prompts=U, given_prompt=True, on_error="skip")
    assert list(similarity.dropped) == [0]
    np.testing.assert_allclose(
        similarity.dense(), as_similarity(TEXTS, prompts=U, given_prompt=True).dense(), atol=1e-14
    )


def test_notes_are_json_serializable():
    details = compute(TEXTS, prompts=U, given_prompt=True, details=True)["details"]
    assert NOTE.format(2, 6) in json.loads(json.dumps(details["notes"]))
