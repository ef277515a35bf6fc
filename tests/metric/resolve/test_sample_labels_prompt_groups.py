"""Functions with `prompts`, compared with loops over the samples of each prompt."""

import re

import numpy as np
import pytest

from vendiscore import (
    SampleError,
    State,
    as_similarity,
    compare,
    compute,
    explain,
    group_rewards,
    growth,
    load,
    report,
    select,
    sources,
)
from vendiscore.result import key_at

rng = np.random.default_rng(0)
X = rng.normal(size=(24, 4))
Y = X[rng.permutation(24)] + rng.normal(size=(24, 4))
PROMPTS = ["u"] * 5 + ["v"] * 9 + ["w"] * 10
ORDER = rng.permutation(24)
U = {"u": rng.normal(size=4), "v": rng.normal(size=4), "w": rng.normal(size=4)}
ROWS = np.array([U[prompt] for prompt in PROMPTS])
SETS = np.array([0, 1, 1] * 8)
COSINE = {"k": "cosine"}
QUICK = {"permutations": 39, "k": "cosine"}
WITH_AND_WITHOUT_CONDITIONING = pytest.mark.parametrize("given_prompt", [False, True])


def find_indices(prompt, prompts=PROMPTS):
    """Return the indices of the samples that answer a prompt."""
    return [i for i, sample_prompt in enumerate(prompts) if sample_prompt == prompt]


def compute_vendi_score(rows, u=None, q=1.0):
    """Return the Vendi Score of rows by cosines, conditioned on prompt vector u."""
    residual_rows = []
    for row in rows:
        residual = row if u is None else row - u * (row @ u) / (u @ u)
        residual_rows.append(residual / np.linalg.norm(residual))
    K = np.array([[a @ b for b in residual_rows] for a in residual_rows])
    eigenvalues = np.linalg.eigvalsh(K / len(K))
    eigenvalues = eigenvalues[eigenvalues > 1e-12]
    if q == 1:
        return np.exp(-(eigenvalues * np.log(eigenvalues)).sum())
    return (eigenvalues**q).sum() ** (1 / (1 - q))


def compute_scores_by_prompt(rows, given_prompt, subset=None, q=1.0):
    """Return the score of the samples of each prompt, for all samples or a subset."""
    selected = range(len(rows)) if subset is None else subset
    result = []
    for prompt in "uvw":
        indices = [i for i in selected if PROMPTS[i] == prompt]
        result.append(compute_vendi_score(rows[indices], U[prompt] if given_prompt else None, q))
    return np.array(result)


def make_prompt_arguments(given_prompt):
    """Return conditioning prompts (vectors) or grouping prompts (labels)."""
    return {"prompts": ROWS if given_prompt else PROMPTS, "given_prompt": given_prompt}


@WITH_AND_WITHOUT_CONDITIONING
@pytest.mark.parametrize("q", [0.5, 1, 2])
def test_score_is_the_mean_over_prompts(given_prompt, q):
    expected = compute_scores_by_prompt(X, given_prompt, q=q)
    result = compute(X, **make_prompt_arguments(given_prompt), **COSINE, q=q, details=True)
    assert result[key_at(q)] == pytest.approx(expected.mean(), rel=1e-10)
    assert result[key_at(q) + "_se"] == pytest.approx(expected.std(ddof=1) / np.sqrt(3), rel=1e-10)
    rows = result["details"]["groups"]
    assert [row["n"] for row in rows] == [5, 9, 10]
    assert [row[key_at(q)] for row in rows] == pytest.approx(expected)
    shuffled_prompts = {
        "prompts": [make_prompt_arguments(given_prompt)["prompts"][i] for i in ORDER],
        "given_prompt": given_prompt,
    }
    assert compute(X[ORDER], **shuffled_prompts, **COSINE, q=q)[key_at(q)] == pytest.approx(
        expected.mean()
    )


def test_grouping_prompts_match_groups():
    options = {**COSINE, "measures": ["VS", "IntDiv", "BetweenVS", "WithinVS"], "ci": 0.9}
    result = compute(X, prompts=PROMPTS, given_prompt=False, **options)
    assert result == compute(X, groups=PROMPTS, **options)
    similarity = as_similarity(X, **COSINE)
    assert compute(similarity, prompts=PROMPTS, given_prompt=False) == pytest.approx(
        compute(X, groups=PROMPTS, **COSINE)
    )
    distances = {"measures": "MagArea"}
    assert compute(X, prompts=PROMPTS, given_prompt=False, **distances) == compute(
        X, groups=PROMPTS, **distances
    )
    reference_options = {"measures": "MMD", "given_prompt": False, **COSINE}
    assert compute(X, Y, prompts=PROMPTS, **reference_options) == compute(
        X, Y, groups=PROMPTS, measures="MMD", **COSINE
    )


@WITH_AND_WITHOUT_CONDITIONING
def test_groups_are_scored_by_the_mean_over_their_prompts(given_prompt):
    scores_by_set = [
        compute_scores_by_prompt(X, given_prompt, np.flatnonzero(i == SETS)) for i in (0, 1)
    ]
    means = np.array([prompt_scores.mean() for prompt_scores in scores_by_set])
    result = compute(X, groups=SETS, **make_prompt_arguments(given_prompt), **COSINE, details=True)
    assert result["VS"] == pytest.approx(means.mean(), rel=1e-10)
    assert result["VS_se"] == pytest.approx(means.std(ddof=1) / np.sqrt(2), rel=1e-10)
    rows = result["details"]["groups"]
    assert [(row["group"], row["n"]) for row in rows] == [(0, 8), (1, 16)]
    assert [row["VS"] for row in rows] == pytest.approx(means)
    signature = result["details"]["signature"]
    other = compute(
        X, groups=1 - SETS[::-1], **make_prompt_arguments(given_prompt), **COSINE, details=True
    )
    assert other["details"]["signature"] != signature
    html = report(X, groups=SETS, **make_prompt_arguments(given_prompt), **COSINE).html()
    assert "mean effective number of rows in a group is" in html
    assert "one standard error over 2 groups" in html
    nested = [X[i == SETS].tolist() for i in (0, 1)]
    nested_prompts = [[PROMPTS[i] for i in np.flatnonzero(j == SETS)] for j in (0, 1)]
    if given_prompt:
        nested_prompts = [ROWS[i == SETS].tolist() for i in (0, 1)]
    nested_result = compute(nested, prompts=nested_prompts, given_prompt=given_prompt, **COSINE)
    assert nested_result["VS"] == pytest.approx(means.mean(), rel=1e-10)


@WITH_AND_WITHOUT_CONDITIONING
def test_prompts_accept_a_dict_from_group_to_prompt(given_prompt):
    prompt_by_group = {i: U["uv"[i]] if given_prompt else "uv"[i] for i in (0, 1)}
    expected = [
        compute_vendi_score(X[i == SETS], U["uv"[i]] if given_prompt else None) for i in (0, 1)
    ]
    result = compute(X, groups=SETS, prompts=prompt_by_group, given_prompt=given_prompt, **COSINE)
    assert result["VS"] == pytest.approx(np.mean(expected), rel=1e-10)
    nested = [X[i == SETS].tolist() for i in (0, 1)]
    result = compute(nested, prompts=prompt_by_group, given_prompt=given_prompt, **COSINE)
    assert result["VS"] == pytest.approx(np.mean(expected), rel=1e-10)


def test_single_prompt_conditions_all_samples():
    result = compute(X, prompts=U["u"], given_prompt=True, **COSINE)
    assert result == {"VS": pytest.approx(compute_vendi_score(X, U["u"]), rel=1e-10)}
    texts = ["a cat sat", "a cat ran", "the dog"]
    text_result = compute(texts, prompts="a cat?", given_prompt=True)
    assert text_result == compute(as_similarity(texts, prompts="a cat?", given_prompt=True))


@WITH_AND_WITHOUT_CONDITIONING
def test_metric_scores_within_prompts(given_prompt):
    metric = load("vendiscore", **COSINE)
    result = metric.compute(samples=X, **make_prompt_arguments(given_prompt))
    assert result["VS"] == pytest.approx(
        compute_scores_by_prompt(X, given_prompt).mean(), rel=1e-10
    )
    metric.add_batch(samples=X[:7])
    metric.add_batch(samples=X[7:])
    assert metric.compute(**make_prompt_arguments(given_prompt)) == pytest.approx(result)
    configured_metric = load("vendiscore", **COSINE, **make_prompt_arguments(given_prompt))
    assert configured_metric.compute(samples=X) == pytest.approx(result)
    assert report(X, **make_prompt_arguments(given_prompt), **COSINE).numbers[
        "VS"
    ] == pytest.approx(result["VS"])


@WITH_AND_WITHOUT_CONDITIONING
def test_compare_compares_sets_within_prompts(given_prompt):
    prompts = make_prompt_arguments(given_prompt)["prompts"]
    expected = []
    for prompt in "uvw":
        indices, u = find_indices(prompt), U[prompt] if given_prompt else None
        expected.append(compute_vendi_score(X[indices], u) - compute_vendi_score(Y[indices], u))
    calls = [
        compare(X, Y, prompts=[prompts, prompts], given_prompt=given_prompt, **QUICK),
        compare(X, Y, prompts=prompts, given_prompt=given_prompt, **QUICK),
        compare(
            [*X, *Y],
            by=["A"] * 24 + ["B"] * 24,
            prompts=[*prompts, *prompts],
            given_prompt=given_prompt,
            **QUICK,
        ),
    ]
    for result in calls:
        assert result.groups == 3
        assert result.pairs[0].difference == pytest.approx(np.mean(expected), rel=1e-9)
        for row, rows in zip(result.sets, (X, Y), strict=True):
            assert row.score == pytest.approx(
                compute_scores_by_prompt(rows, given_prompt).mean(), rel=1e-9
            )


def test_compare_drops_prompts_of_only_one_set():
    expected = compare(X, Y, prompts=PROMPTS, given_prompt=False, **QUICK)
    extra_rows = rng.normal(size=(4, 4))
    message = re.escape("dropped 2 of 5 prompts that a set answers fewer than two times")
    with pytest.warns(UserWarning, match=f"{message}, such as 'x'"):
        result = compare(
            [*X, *extra_rows],
            Y,
            prompts=[[*PROMPTS, "x", "x", "y", "y"], PROMPTS],
            given_prompt=False,
            **QUICK,
        )
    assert result.pairs[0].difference == pytest.approx(expected.pairs[0].difference, rel=1e-12)
    with pytest.raises(
        ValueError,
        match="at least two different labels with at least two samples of each set, got 0",
    ):
        compare(X, Y, prompts=[PROMPTS, ["x"] * 24], given_prompt=False, **QUICK)


@WITH_AND_WITHOUT_CONDITIONING
def test_explain_explains_samples_within_prompts(given_prompt):
    result = explain(X, **make_prompt_arguments(given_prompt), **COSINE, threshold=0.6)
    pairs = []
    for prompt in "uvw":
        indices = np.array(find_indices(prompt))
        u = U[prompt] if given_prompt else None
        score = compute_vendi_score(X[indices], u)
        for index in indices:
            other_indices = [i for i in indices if i != index]
            adds = np.log(score) - np.log(compute_vendi_score(X[other_indices], u))
            assert result.adds[index] == pytest.approx(adds, abs=1e-9)
            similarities = {i: compute_cosine(X[index], X[i], u) for i in other_indices}
            nearest = max(similarities, key=similarities.__getitem__)
            assert result.nearest[index] == nearest
            assert result.nearest_similarity[index] == pytest.approx(
                similarities[nearest], abs=1e-9
            )
            pairs += [(index, i) for i in other_indices if i > index and similarities[i] >= 0.6]
        explanation = (
            explain(X[indices], prompts=u, given_prompt=given_prompt, **COSINE)
            if given_prompt
            else None
        )
        explanation = explanation or explain(X[indices], **COSINE)
        assert result.surprise[indices] == pytest.approx(explanation.surprise)
        assert result.unexplained[indices] == pytest.approx(explanation.unexplained)
    pairs_above, _ = result.boundary(len(pairs) + 9)
    assert sorted((pair.i, pair.j) for pair in pairs_above) == sorted(pairs)
    assert pairs
    assert result.score == pytest.approx(compute_scores_by_prompt(X, given_prompt).mean())
    scores_without_duplicates = [
        compute_vendi_score(
            X[[i for i in find_indices(p) if i in result.kept]], U[p] if given_prompt else None
        )
        for p in U
    ]
    assert result.score_without_duplicates == pytest.approx(np.mean(scores_without_duplicates))
    assert " within a prompt, in the mean over 3 (q=1)" in result.sentence
    assert {index for mode in result.modes(24) for index in mode.members} == set(range(24))


def compute_cosine(a, b, u):
    """Return the cosine of two rows, conditioned on prompt vector u."""
    if u is not None:
        a, b = (row - u * (row @ u) / (u @ u) for row in (a, b))
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def test_duplicates_across_prompts_are_not_redundant():
    texts = ["a cat", "a cat", "A cat!", "the dog", "it rains"]
    result = explain(texts, prompts=[0, 1, 1, 0, 2], given_prompt=False, ns=[1])
    assert result.redundant_of.tolist() == [-1, -1, 1, -1, -1]
    assert result.nearest.tolist() == [3, 2, 1, 0, 4]
    assert result.adds[4] == 0


def test_adds_is_zero_for_a_sample_with_all_weight_of_its_prompt():
    weights = [0.0] * 24
    weights[0], weights[7], weights[20] = 0.4, 0.3, 0.3
    result = explain(X, prompts=PROMPTS, given_prompt=False, **COSINE, p=weights)
    assert result.adds.tolist() == [0] * 24
    assert result.score == pytest.approx(1)


@WITH_AND_WITHOUT_CONDITIONING
def test_growth_is_the_mean_curve_up_to_the_smallest_prompt(given_prompt):
    result = growth(X, **make_prompt_arguments(given_prompt), **COSINE, q=2)
    assert result.n == result.sizes[-1] == 5
    assert not any(result.extrapolated)
    for m, score in zip(result.sizes, result.scores, strict=True):
        prompt_scores = []
        for prompt in "uvw":
            rows, u = X[find_indices(prompt)], U[prompt] if given_prompt else None
            n = len(rows)
            squares = [
                compute_cosine(rows[i], rows[j], u) ** 2
                for i in range(n)
                for j in range(n)
                if i != j
            ]
            prompt_scores.append(1 / (1 / m + (1 - 1 / m) * np.mean(squares)))
        assert score == pytest.approx(np.mean(prompt_scores), rel=1e-9)
    points = zip(result.low, result.scores, result.high, strict=True)
    assert all(low <= score <= high for low, score, high in points)
    two_sizes = growth(X, [3, 5], **make_prompt_arguments(given_prompt), **COSINE)
    separate_scores = []
    for prompt in "uvw":
        conditioning = {"prompts": U[prompt], "given_prompt": True} if given_prompt else {}
        separate_scores.append(
            growth(X[find_indices(prompt)], [3, 5], **conditioning, **COSINE).scores
        )
    assert two_sizes.scores == pytest.approx(np.mean(separate_scores, axis=0))


def test_rewards_and_sources_accept_prompts():
    result = group_rewards(X, prompts=PROMPTS, **COSINE)
    assert result == pytest.approx(group_rewards(X, groups=PROMPTS, **COSINE))
    answers = {"A": ["a cat", "it rained", "so be it"], "B": ["a dog", "it snowed", "be it so"]}
    assert sources(answers, ["u", "v", "w"]).prompts == ("u", "v", "w")


def test_select_and_state_condition_on_prompts():
    K = as_similarity(X, prompts=ROWS, given_prompt=True, **COSINE)
    result = select(X, 5, prompts=ROWS, given_prompt=True, **COSINE)
    assert result.scores == pytest.approx(select(K, 5).scores)
    state = State.empty(**COSINE).update(X, prompts=ROWS, given_prompt=True)
    assert state.compute()["VS"] == pytest.approx(compute(K)["VS"])


CALLS = {
    "compute": compute,
    "explain": explain,
    "growth": growth,
    "compare": lambda x, **options: compare(x, [*x[1:], x[0]], **options),
    "metric": lambda x, **options: load("vendiscore").compute(samples=x, **options),
}
CALLS_WITH_ONE_SET = {
    "select": lambda x, **options: select(x, 2, **options),
    "as_similarity": as_similarity,
    "State": lambda x, **options: State.empty(k="cosine").update(x, **options),
    "State.empty": lambda x, **options: State.empty(k="cosine", **options),
}


@pytest.mark.parametrize("call", CALLS)
def test_given_prompt_is_false_by_default(call):
    """The default also does not warn, because pytest turns warnings into errors."""
    prompts = ["u"] * 8 + ["v"] * 8 + ["w"] * 8
    result = CALLS[call](X, prompts=prompts, k="cosine")
    expected = CALLS[call](X, prompts=prompts, given_prompt=False, k="cosine")
    assert str(result) == str(expected)


@pytest.mark.parametrize("call", CALLS)
def test_single_prompt_requires_given_prompt(call):
    texts = ["a cat", "a dog", "the cat", "it rained"]
    message = r"one prompt per sample, got the single prompt 'what\?'; pass given_prompt=True"
    with pytest.raises(TypeError, match=message):
        CALLS[call](texts, prompts="what?")


@pytest.mark.parametrize("call", [*CALLS, *CALLS_WITH_ONE_SET])
def test_given_prompt_needs_prompts(call):
    with pytest.raises(TypeError, match="`given_prompt` requires `prompts`"):
        {**CALLS, **CALLS_WITH_ONE_SET}[call](X, given_prompt=True)


@pytest.mark.parametrize("call", CALLS_WITH_ONE_SET)
@pytest.mark.parametrize("options", [{}, {"given_prompt": False}])
def test_calls_with_one_set_reject_grouping_prompts(call, options):
    with pytest.raises(TypeError, match=r"pass given_prompt=True .* as `groups` with `quota`"):
        CALLS_WITH_ONE_SET[call](X, prompts=PROMPTS, **options)


def test_prompts_accept_conversations_and_reject_missing_values():
    talks = [[{"role": "user", "content": prompt}] for prompt in PROMPTS]
    result = compute(X, prompts=talks, given_prompt=False, **COSINE)
    assert result == compute(X, groups=PROMPTS, **COSINE)
    with pytest.raises(SampleError, match="sample 3 has no label in `prompts`, got nan"):
        compute(X, prompts=[*PROMPTS[:3], np.nan, *PROMPTS[4:]], given_prompt=False, **COSINE)


def test_gradient_of_mean_over_prompts_matches_finite_differences():
    torch = pytest.importorskip("torch")
    options = {"groups": SETS, "prompts": PROMPTS, "given_prompt": False, **COSINE}
    rows = torch.tensor(X, requires_grad=True)
    score = compute(rows, **options)["VS"]
    score.backward()
    step = np.zeros_like(X)
    step[4, 2] = 1e-6
    slope = (compute(X + step, **options)["VS"] - compute(X - step, **options)["VS"]) / 2e-6
    assert rows.grad[4, 2].item() == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda **prompt_arguments: compute(
                X, **COSINE, **prompt_arguments, measures="BetweenVS", groups=SETS
            ),
            "groups with several prompts",
        ),
        (
            lambda **prompt_arguments: compute(X, **COSINE, **prompt_arguments, groups=SETS[:5]),
            "got 5",
        ),
        (
            lambda **prompt_arguments: compare(
                X, Y, **QUICK, **prompt_arguments, groups=[SETS, SETS]
            ),
            "given_prompt=True",
        ),
        (
            lambda **prompt_arguments: compare(X, Y, **QUICK, **prompt_arguments, size=5),
            "`size` is not supported with",
        ),
        (
            lambda **prompt_arguments: growth(
                X[1:], **COSINE, **{**prompt_arguments, "prompts": SETS}
            ),
            "one prompt per sample, got",
        ),
        (
            lambda **prompt_arguments: growth(X, [6], **COSINE, **prompt_arguments),
            "`sizes` must be .* 5",
        ),
        (
            lambda **prompt_arguments: growth(
                X[3:], **COSINE, **{**prompt_arguments, "prompts": PROMPTS[3:]}
            ),
            "for each prompt",
        ),
    ],
)
def test_unsupported_combinations_with_prompts_raise(call, message):
    with pytest.raises(ValueError, match=message):
        call(prompts=PROMPTS, given_prompt=False)
