"""Every call with `prompts`, against plain loops over the samples of each prompt."""

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
GIVEN = pytest.mark.parametrize("given", [False, True])


def places(prompt, prompts=PROMPTS):
    """Return the places of the samples that answer a prompt."""
    return [i for i, each in enumerate(prompts) if each == prompt]


def vendi(rows, u=None, q=1.0):
    """Return the Vendi Score of rows by cosines, of what a prompt leaves of them."""
    left = []
    for row in rows:
        rest = row if u is None else row - u * (row @ u) / (u @ u)
        left.append(rest / np.linalg.norm(rest))
    K = np.array([[a @ b for b in left] for a in left])
    shares = np.linalg.eigvalsh(K / len(K))
    shares = shares[shares > 1e-12]
    if q == 1:
        return np.exp(-(shares * np.log(shares)).sum())
    return (shares**q).sum() ** (1 / (1 - q))


def scores(rows, given, of=None, q=1.0):
    """Return the score of the samples of each prompt, among some of all samples."""
    some = range(len(rows)) if of is None else of
    result = []
    for prompt in "uvw":
        own = [i for i in some if PROMPTS[i] == prompt]
        result.append(vendi(rows[own], U[prompt] if given else None, q))
    return np.array(result)


def prompts_of(given):
    """Return prompts that are labels, or of the kind of the samples."""
    return {"prompts": ROWS if given else PROMPTS, "given_prompt": given}


@GIVEN
@pytest.mark.parametrize("q", [0.5, 1, 2])
def test_score_is_the_mean_over_prompts(given, q):
    each = scores(X, given, q=q)
    result = compute(X, **prompts_of(given), **COSINE, q=q, details=True)
    assert result[key_at(q)] == pytest.approx(each.mean(), rel=1e-10)
    assert result[key_at(q) + "_se"] == pytest.approx(each.std(ddof=1) / np.sqrt(3), rel=1e-10)
    rows = result["details"]["groups"]
    assert [row["n"] for row in rows] == [5, 9, 10]
    assert [row[key_at(q)] for row in rows] == pytest.approx(each)
    turned = {"prompts": [prompts_of(given)["prompts"][i] for i in ORDER], "given_prompt": given}
    assert compute(X[ORDER], **turned, **COSINE, q=q)[key_at(q)] == pytest.approx(each.mean())


def test_grouping_prompts_match_groups():
    how = {**COSINE, "measures": ["VS", "IntDiv", "BetweenVS", "WithinVS"], "ci": 0.9}
    result = compute(X, prompts=PROMPTS, given_prompt=False, **how)
    assert result == compute(X, groups=PROMPTS, **how)
    whole = as_similarity(X, **COSINE)
    assert compute(whole, prompts=PROMPTS, given_prompt=False) == pytest.approx(
        compute(X, groups=PROMPTS, **COSINE)
    )
    distances = {"measures": "MagArea"}
    assert compute(X, prompts=PROMPTS, given_prompt=False, **distances) == compute(
        X, groups=PROMPTS, **distances
    )
    both = {"measures": "MMD", "given_prompt": False, **COSINE}
    assert compute(X, Y, prompts=PROMPTS, **both) == compute(
        X, Y, groups=PROMPTS, measures="MMD", **COSINE
    )


@GIVEN
def test_groups_are_scored_by_the_mean_over_their_prompts(given):
    each = [scores(X, given, np.flatnonzero(i == SETS)) for i in (0, 1)]
    means = np.array([own.mean() for own in each])
    result = compute(X, groups=SETS, **prompts_of(given), **COSINE, details=True)
    assert result["VS"] == pytest.approx(means.mean(), rel=1e-10)
    assert result["VS_se"] == pytest.approx(means.std(ddof=1) / np.sqrt(2), rel=1e-10)
    rows = result["details"]["groups"]
    assert [(row["group"], row["n"]) for row in rows] == [(0, 8), (1, 16)]
    assert [row["VS"] for row in rows] == pytest.approx(means)
    signature = result["details"]["signature"]
    other = compute(X, groups=1 - SETS[::-1], **prompts_of(given), **COSINE, details=True)
    assert other["details"]["signature"] != signature
    said = report(X, groups=SETS, **prompts_of(given), **COSINE).html()
    assert "mean effective number of rows in a group is" in said
    assert "one standard error over 2 groups" in said
    nested = [X[i == SETS].tolist() for i in (0, 1)]
    asked = [[PROMPTS[i] for i in np.flatnonzero(j == SETS)] for j in (0, 1)]
    if given:
        asked = [ROWS[i == SETS].tolist() for i in (0, 1)]
    again = compute(nested, prompts=asked, given_prompt=given, **COSINE)
    assert again["VS"] == pytest.approx(means.mean(), rel=1e-10)


@GIVEN
def test_prompts_accept_a_dict_from_group_to_prompt(given):
    by_label = {i: U["uv"[i]] if given else "uv"[i] for i in (0, 1)}
    each = [vendi(X[i == SETS], U["uv"[i]] if given else None) for i in (0, 1)]
    result = compute(X, groups=SETS, prompts=by_label, given_prompt=given, **COSINE)
    assert result["VS"] == pytest.approx(np.mean(each), rel=1e-10)
    nested = [X[i == SETS].tolist() for i in (0, 1)]
    result = compute(nested, prompts=by_label, given_prompt=given, **COSINE)
    assert result["VS"] == pytest.approx(np.mean(each), rel=1e-10)


def test_single_prompt_conditions_all_samples():
    result = compute(X, prompts=U["u"], given_prompt=True, **COSINE)
    assert result == {"VS": pytest.approx(vendi(X, U["u"]), rel=1e-10)}
    texts = ["a cat sat", "a cat ran", "the dog"]
    one = compute(texts, prompts="a cat?", given_prompt=True)
    assert one == compute(as_similarity(texts, prompts="a cat?", given_prompt=True))


@GIVEN
def test_metric_scores_within_prompts(given):
    metric = load("vendiscore", **COSINE)
    result = metric.compute(samples=X, **prompts_of(given))
    assert result["VS"] == pytest.approx(scores(X, given).mean(), rel=1e-10)
    metric.add_batch(samples=X[:7])
    metric.add_batch(samples=X[7:])
    assert metric.compute(**prompts_of(given)) == pytest.approx(result)
    kept = load("vendiscore", **COSINE, **prompts_of(given))
    assert kept.compute(samples=X) == pytest.approx(result)
    assert report(X, **prompts_of(given), **COSINE).numbers["VS"] == pytest.approx(result["VS"])


@GIVEN
def test_compare_compares_sets_within_prompts(given):
    asked = prompts_of(given)["prompts"]
    expected = []
    for prompt in "uvw":
        own, u = places(prompt), U[prompt] if given else None
        expected.append(vendi(X[own], u) - vendi(Y[own], u))
    calls = [
        compare(X, Y, prompts=[asked, asked], given_prompt=given, **QUICK),
        compare(X, Y, prompts=asked, given_prompt=given, **QUICK),
        compare(
            [*X, *Y],
            by=["A"] * 24 + ["B"] * 24,
            prompts=[*asked, *asked],
            given_prompt=given,
            **QUICK,
        ),
    ]
    for result in calls:
        assert result.groups == 3
        assert result.pairs[0].difference == pytest.approx(np.mean(expected), rel=1e-9)
        for row, rows in zip(result.sets, (X, Y), strict=True):
            assert row.score == pytest.approx(scores(rows, given).mean(), rel=1e-9)


def test_compare_drops_prompts_of_only_one_set():
    whole = compare(X, Y, prompts=PROMPTS, given_prompt=False, **QUICK)
    more = rng.normal(size=(4, 4))
    said = re.escape("dropped 2 of 5 prompts that a set answers fewer than two times")
    with pytest.warns(UserWarning, match=f"{said}, such as 'x'"):
        result = compare(
            [*X, *more],
            Y,
            prompts=[[*PROMPTS, "x", "x", "y", "y"], PROMPTS],
            given_prompt=False,
            **QUICK,
        )
    assert result.pairs[0].difference == pytest.approx(whole.pairs[0].difference, rel=1e-12)
    with pytest.raises(
        ValueError,
        match="at least two different labels with at least two samples of each set, got 0",
    ):
        compare(X, Y, prompts=[PROMPTS, ["x"] * 24], given_prompt=False, **QUICK)


@GIVEN
def test_explain_explains_samples_within_prompts(given):
    result = explain(X, **prompts_of(given), **COSINE, threshold=0.6)
    pairs = []
    for prompt in "uvw":
        own = np.array(places(prompt))
        u = U[prompt] if given else None
        whole = vendi(X[own], u)
        for place in own:
            rest = [i for i in own if i != place]
            adds = np.log(whole) - np.log(vendi(X[rest], u))
            assert result.adds[place] == pytest.approx(adds, abs=1e-9)
            left = {i: two(X[place], X[i], u) for i in rest}
            best = max(left, key=left.__getitem__)
            assert result.nearest[place] == best
            assert result.nearest_similarity[place] == pytest.approx(left[best], abs=1e-9)
            pairs += [(place, i) for i in rest if i > place and left[i] >= 0.6]
        alone = explain(X[own], prompts=u, given_prompt=given, **COSINE) if given else None
        alone = alone or explain(X[own], **COSINE)
        assert result.surprise[own] == pytest.approx(alone.surprise)
        assert result.unexplained[own] == pytest.approx(alone.unexplained)
    above, _ = result.boundary(len(pairs) + 9)
    assert sorted((pair.i, pair.j) for pair in above) == sorted(pairs)
    assert pairs
    assert result.score == pytest.approx(scores(X, given).mean())
    kept = [
        vendi(X[[i for i in places(p) if i in result.kept]], U[p] if given else None) for p in U
    ]
    assert result.score_without_duplicates == pytest.approx(np.mean(kept))
    assert " within a prompt, in the mean over 3 (q=1)" in result.sentence
    assert {place for mode in result.modes(24) for place in mode.members} == set(range(24))


def two(a, b, u):
    """Return the cosine of two rows, of what a prompt leaves of them."""
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


@GIVEN
def test_growth_is_the_mean_curve_up_to_the_smallest_prompt(given):
    result = growth(X, **prompts_of(given), **COSINE, q=2)
    assert result.n == result.sizes[-1] == 5
    assert not any(result.extrapolated)
    for m, score in zip(result.sizes, result.scores, strict=True):
        each = []
        for prompt in "uvw":
            rows, u = X[places(prompt)], U[prompt] if given else None
            n = len(rows)
            squares = [two(rows[i], rows[j], u) ** 2 for i in range(n) for j in range(n) if i != j]
            each.append(1 / (1 / m + (1 - 1 / m) * np.mean(squares)))
        assert score == pytest.approx(np.mean(each), rel=1e-9)
    ends = zip(result.low, result.scores, result.high, strict=True)
    assert all(low <= score <= high for low, score, high in ends)
    drawn = growth(X, [3, 5], **prompts_of(given), **COSINE)
    alone = []
    for prompt in "uvw":
        taken = {"prompts": U[prompt], "given_prompt": True} if given else {}
        alone.append(growth(X[places(prompt)], [3, 5], **taken, **COSINE).scores)
    assert drawn.scores == pytest.approx(np.mean(alone, axis=0))


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
    "compare": lambda x, **how: compare(x, [*x[1:], x[0]], **how),
    "metric": lambda x, **how: load("vendiscore").compute(samples=x, **how),
}
OF_ONE_SET = {
    "select": lambda x, **how: select(x, 2, **how),
    "as_similarity": as_similarity,
    "State": lambda x, **how: State.empty(k="cosine").update(x, **how),
    "State.empty": lambda x, **how: State.empty(k="cosine", **how),
}


@pytest.mark.parametrize("call", CALLS)
def test_given_prompt_is_false_by_default(call):
    """Without a warning about it; pytest makes any an error."""
    prompts = ["u"] * 8 + ["v"] * 8 + ["w"] * 8
    result = CALLS[call](X, prompts=prompts, k="cosine")
    expected = CALLS[call](X, prompts=prompts, given_prompt=False, k="cosine")
    assert str(result) == str(expected)


@pytest.mark.parametrize("call", CALLS)
def test_single_prompt_requires_given_prompt(call):
    texts = ["a cat", "a dog", "the cat", "it rained"]
    said = r"one prompt per sample, got the single prompt 'what\?'; pass given_prompt=True"
    with pytest.raises(TypeError, match=said):
        CALLS[call](texts, prompts="what?")


@pytest.mark.parametrize("call", [*CALLS, *OF_ONE_SET])
def test_given_prompt_needs_prompts(call):
    with pytest.raises(TypeError, match="`given_prompt` requires `prompts`"):
        {**CALLS, **OF_ONE_SET}[call](X, given_prompt=True)


@pytest.mark.parametrize("call", OF_ONE_SET)
@pytest.mark.parametrize("how", [{}, {"given_prompt": False}])
def test_calls_with_one_set_reject_grouping_prompts(call, how):
    with pytest.raises(TypeError, match=r"pass given_prompt=True .* as `groups` with `quota`"):
        OF_ONE_SET[call](X, prompts=PROMPTS, **how)


def test_prompts_accept_conversations_and_reject_missing_values():
    talks = [[{"role": "user", "content": prompt}] for prompt in PROMPTS]
    result = compute(X, prompts=talks, given_prompt=False, **COSINE)
    assert result == compute(X, groups=PROMPTS, **COSINE)
    with pytest.raises(SampleError, match="sample 3 has no label in `prompts`, got nan"):
        compute(X, prompts=[*PROMPTS[:3], np.nan, *PROMPTS[4:]], given_prompt=False, **COSINE)


def test_gradient_of_mean_over_prompts_matches_finite_differences():
    torch = pytest.importorskip("torch")
    how = {"groups": SETS, "prompts": PROMPTS, "given_prompt": False, **COSINE}
    rows = torch.tensor(X, requires_grad=True)
    score = compute(rows, **how)["VS"]
    score.backward()
    step = np.zeros_like(X)
    step[4, 2] = 1e-6
    slope = (compute(X + step, **how)["VS"] - compute(X - step, **how)["VS"]) / 2e-6
    assert rows.grad[4, 2].item() == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda **own: compute(X, **COSINE, **own, measures="BetweenVS", groups=SETS),
            "groups with several prompts",
        ),
        (lambda **own: compute(X, **COSINE, **own, groups=SETS[:5]), "got 5"),
        (lambda **own: compare(X, Y, **QUICK, **own, groups=[SETS, SETS]), "given_prompt=True"),
        (lambda **own: compare(X, Y, **QUICK, **own, size=5), "`size` is not supported with"),
        (
            lambda **own: growth(X[1:], **COSINE, **{**own, "prompts": SETS}),
            "one prompt per sample, got",
        ),
        (lambda **own: growth(X, [6], **COSINE, **own), "`sizes` must be .* 5"),
        (
            lambda **own: growth(X[3:], **COSINE, **{**own, "prompts": PROMPTS[3:]}),
            "for each prompt",
        ),
    ],
)
def test_unsupported_combinations_with_prompts_raise(call, said):
    with pytest.raises(ValueError, match=said):
        call(prompts=PROMPTS, given_prompt=False)
