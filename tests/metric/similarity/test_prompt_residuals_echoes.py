"""Samples that repeat their prompts are one kind, alike to each other and to no other sample."""

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
ECHO = [1, 3]
NOTE = (
    "{} of {} samples repeat their prompt: they count as identical, and have similarity 0 with "
    "all other samples."
)


def naive(K: np.ndarray, prompt: list[int], echoes: list[bool]) -> np.ndarray:
    """Take out prompts pair by pair, then compare echoes with each other alone."""
    with np.errstate(all="ignore"):
        left = condition_by_definition(K, prompt)
    for i, one in enumerate(echoes):
        for j, other in enumerate(echoes):
            if one or other:
                left[i, j] = float(one and other)
    return left


def vendi(K: np.ndarray, q: float | str) -> float:
    values = np.linalg.eigvalsh(K / len(K))
    return float(effective_number(np.where(values > 1e-13, values, 0), float(q)))


def notes(*samples: Any, **how: Any) -> list[str]:
    details = compute(*samples, details=True, **how)["details"]
    return [note for note in details["notes"] if "repeat their prompt" in note]


@parametrize_kernels
def test_echoes_of_several_prompts_are_one_kind_under_every_kernel(name, case):
    samples, how, K = case
    own, prompt = [0, 4, 5, 2, 4, 1], [4, 4, 2, 2, 4, 4]
    every = [*own, 4, 2]
    expected = naive(
        K[np.ix_(every, every)],
        [len(own) + (u == 2) for u in prompt],
        [i == u for i, u in zip(own, prompt, strict=True)],
    )
    X, prompts = take_samples(samples, own), take_samples(samples, prompt)
    result = as_similarity(X, prompts=prompts, given_prompt=True, **how)
    np.testing.assert_allclose(result.dense(), expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(result.diagonal(), 1, rtol=0, atol=1e-12)
    assert result.psd
    assert result.echoes.tolist() == [False, True, False, True, True, False]
    for q in ORDERS:
        assert compute(result, q=q)[key_at(q)] == pytest.approx(vendi(expected, q), rel=1e-9)
    order = np.array([3, 0, 1, 1, 5])
    V = np.random.default_rng(0).standard_normal((6, 2))
    np.testing.assert_allclose(result.matmul(V), expected @ V, rtol=0, atol=1e-10)
    np.testing.assert_allclose(result.rows(order), expected[order], rtol=0, atol=1e-10)
    for part in (result.take(order), result.part(order)):
        np.testing.assert_allclose(part.dense(), expected[np.ix_(order, order)], rtol=0, atol=1e-10)
        assert part.echoes.tolist() == [True, False, True, True, False]
    places = np.array([[0, 1, 3], [2, 4, 5]])
    stack = np.array([expected[np.ix_(each, each)] for each in places])
    np.testing.assert_allclose(result.stack(places), stack, rtol=0, atol=1e-10)
    assert result.squared_norm() == pytest.approx((expected**2).sum(), rel=1e-10)
    groups = [0, 1, 0, 1, 0, 1]
    parts = [[i for i in range(6) if groups[i] == g] for g in (0, 1)]
    means = np.mean([vendi(expected[np.ix_(each, each)], 1) for each in parts])
    whole = compute(result, groups=groups)["VS"]
    assert whole == pytest.approx(means, rel=1e-9)


@parametrize_kernels
def test_a_set_of_echoes_alone_scores_one(name, case):
    samples, how, _ = case
    own = take_samples(samples, [4, 2, 4])
    for q in ORDERS:
        assert compute(own, prompts=own, given_prompt=True, q=q, **how)[key_at(q)] == pytest.approx(
            1, abs=1e-12
        )
    assert notes(own, prompts=own, given_prompt=True, **how) == [NOTE.format(3, 3)]


@settings(max_examples=60)
@given(data=st.data())
def test_properties_of_sets_with_echoes(data):
    row = st.lists(st.integers(-2, 3), min_size=3, max_size=3).filter(any)
    prompts = np.array(data.draw(st.lists(row, min_size=1, max_size=3)), float)
    rows = np.array(data.draw(st.lists(row, min_size=1, max_size=8)), float)
    n = len(rows)
    of = np.array(data.draw(st.lists(st.integers(0, len(prompts) - 1), min_size=n, max_size=n)))
    copies = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    X = np.where(copies[:, None], 2.0 * prompts[of], rows)
    k = data.draw(st.sampled_from(["cosine", "laplacian", "rbf"]))
    how: dict[str, Any] = {"k": k, **({"sigma": 1.0} if k != "cosine" else {})}
    X = X / 2 if k != "cosine" else X  # only cosines see no lengths
    X[copies] = prompts[of][copies] * (2 if k == "cosine" else 1)
    result = as_similarity(X, prompts=prompts[of], given_prompt=True, **how)
    K = result.dense()
    np.testing.assert_allclose(K.diagonal(), 1, rtol=0, atol=1e-9)
    np.testing.assert_allclose(K, K.T, rtol=0, atol=1e-9)
    assert np.linalg.eigvalsh(K).min() > -1e-8
    echoes = np.zeros(n, bool) if result.echoes is None else result.echoes
    assert echoes[copies].all()
    assert (K[np.ix_(echoes, echoes)] == 1).all()
    assert (K[np.ix_(echoes, ~echoes)] == 0).all()
    order = np.array(data.draw(st.permutations(range(n))))
    for q in ORDERS:
        score = compute(result, q=q)[key_at(q)]
        assert 1 - 1e-9 <= score <= n + 1e-9
        turned = as_similarity(X[order], prompts=prompts[of][order], given_prompt=True, **how)
        again = compute(turned, q=q)[key_at(q)]
        assert again == pytest.approx(score, rel=1e-6)


def test_scores_are_the_limit_of_prompts_that_are_taken_out_nearly():
    rng = np.random.default_rng(0)
    u, X = rng.normal(size=4), rng.normal(size=(6, 4))
    X[[1, 4]] = u, 3 * u
    limit = compute(X, prompts=u, given_prompt=True, k="cosine")["VS"]
    gaps = []
    for eps in (1e-2, 1e-3, 1e-4):
        rest = X - (1 - eps) * np.outer(X @ u, u) / (u @ u)
        gaps.append(abs(compute(rest, k="cosine")["VS"] - limit))
    assert gaps[0] < 0.02
    assert gaps[1] < 1e-3 * 0.2
    assert gaps[2] < 1e-5


@pytest.mark.parametrize(
    ("dtype", "least"), [("float64", 1e-10), ("float32", 1e-6), ("float16", 1e-6)]
)
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_what_has_a_direction_depends_on_the_precision(dtype, least, library):
    u = np.array([1.0, 0, 0], dtype)
    for share, direction in ((4 * least, True), (least / 4, False)):
        off = np.array([[1, share**0.5, 0], [1, 0, share**0.5], [0, 1, 1]], dtype)
        X: Any = off
        prompt: Any = u
        if library == "torch":
            torch = pytest.importorskip("torch")
            X, prompt = torch.tensor(off), torch.tensor(u)
        result = as_similarity(X, prompts=prompt, given_prompt=True, k="cosine")
        root = 0.5**0.5
        expected = [[1, 0, root], [0, 1, root], [root, root, 1]]
        if not direction:
            expected = [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
        K = np.asarray(result.dense())
        np.testing.assert_allclose(K, expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("k", ["cosine", "rbf", "laplacian"])
def test_near_echoes_in_double_precision_are_those_of_forty_digits(k):
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(0)
    u = rng.normal(size=4)
    off = 1e-9 if k == "laplacian" else 3e-5
    X = np.vstack([u + off * rng.normal(size=(4, 4)), rng.normal(size=(2, 4))])
    how = {"sigma": 1.0} if k in ("rbf", "laplacian") else {}
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
        left = [[K[i, j] - K[i, m] * K[m, j] / K[m, m] for j in range(m)] for i in range(m)]
        assert min(left[i][i] / K[i, i] for i in range(m)) > 1e-10
        exact = [
            [float(left[i][j] / mpmath.sqrt(left[i][i] * left[j][j])) for j in range(m)]
            for i in range(m)
        ]
    result = as_similarity(X, k=k, prompts=u, given_prompt=True, **how).dense()
    atol = 1e-10 if k == "cosine" else 1e-5
    np.testing.assert_allclose(result, exact, rtol=0, atol=atol)


@pytest.mark.parametrize("k", ["cosine", "rbf", "laplacian"])
@pytest.mark.parametrize("q", ORDERS)
def test_gradients_of_sets_with_echoes_are_finite_and_zero_for_echoes(k, q):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    rows, u = rng.normal(size=(6, 3)), torch.tensor(rng.normal(size=3), requires_grad=True)
    rows[ECHO] = u.detach()
    X = torch.tensor(rows, requires_grad=True)
    how: dict[str, Any] = {"k": k, "q": q} | ({"sigma": 1.5} if k in ("rbf", "laplacian") else {})
    key = key_at(q)
    value = compute(X, prompts=u, given_prompt=True, **how)[key]
    assert float(value.detach()) == pytest.approx(
        compute(rows, prompts=u.detach(), given_prompt=True, **how)[key]
    )
    slopes, of_prompt = torch.autograd.grad(value, (X, u))
    assert slopes.isfinite().all()
    assert of_prompt.isfinite().all()
    assert not slopes[ECHO].any()
    others = [0, 2, 4, 5]
    fixed = X.detach()

    def score(some: Any) -> Any:
        return compute(
            fixed.index_put((torch.tensor(others),), some), prompts=u, given_prompt=True, **how
        )[key]

    assert torch.autograd.gradcheck(score, (fixed[others].requires_grad_(),))


def test_states_with_echoes_merge_to_the_number_of_the_whole():
    rng = np.random.default_rng(0)
    for m in (8, 60):  # kept as rows, or as a triangle
        X, P = rng.normal(size=(m, 3)), rng.normal(size=(m, 3))
        X[[1, m - 1]] = 2 * P[[1, m - 1]]
        half = m // 2
        cuts = [slice(0, 1), slice(1, half), slice(half, m)]  # the first has none
        one = State(k="cosine")
        for cut in cuts:
            one.update(X[cut], prompts=P[cut], given_prompt=True)
        parts = [
            State(k="cosine").update(X[cut], prompts=P[cut], given_prompt=True) for cut in cuts
        ]
        merged = State(k="cosine").merge(*parts)
        K = as_similarity(X, prompts=P, given_prompt=True, k="cosine")
        for q in ORDERS:
            whole = compute(K, q=q)
            for state in (one, merged, State.from_bytes(merged.to_bytes())):
                assert state.compute(q) == pytest.approx(whole, rel=1e-10)
        assert NOTE.format(2, m) in merged.compute(details=True)["details"]["notes"]
    p = [1.0, 2, 0, 1]
    weighted = (
        State.empty(k="cosine")
        .update(X[:4], p, prompts=P[:4], given_prompt=True)
        .compute(details=True)
    )
    K = as_similarity(X[:4], prompts=P[:4], given_prompt=True, k="cosine")
    whole = compute(K, p=np.array(p) / 4)["VS"]
    assert weighted["VS"] == pytest.approx(whole, rel=1e-10)
    said = [note for note in weighted["details"]["notes"] if "repeat" in note]
    assert said[0].startswith("Samples of 0.5 of the weight repeat their prompt")


def test_notes_count_echoes_of_the_set_in_question():
    assert notes(TEXTS, prompts=U, given_prompt=True) == [NOTE.format(2, 6)]
    assert notes(TEXTS, groups=[0, 0, 1, 1, 2, 2], prompts=U, given_prompt=True) == [
        NOTE.format(2, 6)
    ]
    assert notes(TEXTS, TEXTS[2:], measures="MMD", prompts=U, given_prompt=True) == [
        NOTE.format(2, 6)
    ]
    assert notes(TEXTS, measures="MagArea", prompts=U, given_prompt=True) == [NOTE.format(2, 6)]
    assert notes(TEXTS, prompts=W, given_prompt=True) == []
    made = as_similarity(TEXTS, prompts=U, given_prompt=True)
    assert notes(made) == [NOTE.format(2, 6)]
    assert notes(made.take(np.array([0, 3]))) == [NOTE.format(1, 2)]
    assert made.dropped == {}


def test_every_call_takes_echoes():
    K = as_similarity(TEXTS, prompts=U, given_prompt=True)
    others = ["a red mat", U, "the dog", "so be it"]
    one, two = (as_similarity(each, prompts=U, given_prompt=True) for each in (TEXTS, others))
    result = compare(TEXTS, others, prompts=U, given_prompt=True)
    scores = [compute(each)["VS"] for each in (one, two)]
    assert [row.score for row in result.sets] == pytest.approx(scores)
    explained = explain(TEXTS, prompts=U, given_prompt=True)
    assert explained.score == pytest.approx(compute(K)["VS"])
    assert (ECHO[0], ECHO[1:]) in [(keep, list(rest)) for keep, rest in explained.groups]
    chosen = select(TEXTS, 4, prompts=U, given_prompt=True)
    assert len(set(ECHO) & set(chosen.places.tolist())) == 1
    assert growth(TEXTS, prompts=U, given_prompt=True).scores == pytest.approx(growth(K).scores)
    assert NOTE.format(2, 6) in report(TEXTS, prompts=U, given_prompt=True).html()
    ours = load("vendiscore").compute(samples=TEXTS, prompts=U, given_prompt=True)["VS"]
    assert ours == pytest.approx(compute(K)["VS"])
    answers = {"a": [[TEXTS[0]], ["x y z"]], "b": [[U], ["x w"]], "c": [[U], ["p q"]]}
    table = sources(answers, [U, W], given_prompt=True, level=None)
    assert table.similarity[1, 2] > table.similarity[0, 1]


def test_an_echo_is_rewarded_with_nothing():
    prompts = [U] * len(TEXTS)
    result = group_rewards(TEXTS, prompts=prompts, given_prompt=True)
    assert result[ECHO].tolist() == [0, 0]
    others = [text for text in TEXTS if text != U]
    alone = group_rewards(others, prompts=prompts[:4], given_prompt=True)
    np.testing.assert_allclose(result[[0, 2, 4, 5]], alone, rtol=1e-10)
    assert group_rewards([U, U], prompts=[U, U], given_prompt=True).tolist() == [0, 0]


def test_functions_of_two_samples_and_unusable_samples():
    def k(a: str, b: str) -> float:
        return len(set(a) & set(b)) / (len(set(a)) * len(set(b))) ** 0.5

    groups, asked = [["ab", "bx", "bcd"], ["ax", "xw"]], ["bx", "xw"]
    flat = [text for each in groups for text in each]
    result = compute(flat, groups=[0, 0, 0, 1, 1], prompts=asked, given_prompt=True, k=k)["VS"]
    alone = [
        compute(each, prompts=u, given_prompt=True, k=k)["VS"]
        for each, u in zip(groups, asked, strict=True)
    ]
    assert result == pytest.approx(np.mean(alone))
    with pytest.warns(UserWarning, match="dropped 1 of"):
        kept = as_similarity(["", *TEXTS], prompts=U, given_prompt=True, on_error="skip")
    assert list(kept.dropped) == [0]
    np.testing.assert_allclose(
        kept.dense(), as_similarity(TEXTS, prompts=U, given_prompt=True).dense(), atol=1e-14
    )


def test_details_are_plain_values():
    details = compute(TEXTS, prompts=U, given_prompt=True, details=True)["details"]
    assert NOTE.format(2, 6) in json.loads(json.dumps(details["notes"]))
