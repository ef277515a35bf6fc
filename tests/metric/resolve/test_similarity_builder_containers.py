"""One reader of containers: rows in any form, in any place of any call, give one number."""

import itertools
from copy import deepcopy

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from vendiscore import (
    SampleError,
    State,
    compare,
    compute,
    explain,
    group_rewards,
    load,
    select,
    sources,
)

torch = pytest.importorskip("torch")

X, Y, P = np.random.default_rng(0).normal(size=(3, 8, 3))
TWICE = [0, 1, 0, 1, 2, 3, 2, 3]  # each prompt has two samples of each set
Y, P = Y[TWICE], P[TWICE]
R = P[::-1].copy()
FORMS = {
    "array": np.asarray,
    "tensor": torch.tensor,
    "frame": pd.DataFrame,
    "lists": lambda rows: rows.tolist(),
    "tuples": lambda rows: tuple(map(tuple, rows.tolist())),
    "arrays": list,
    "tensors": lambda rows: list(torch.tensor(rows)),
    "column": lambda rows: pd.Series(list(rows)),
    "arrow": lambda rows: pa.array(rows.tolist()),
}
METRIC = load("vendiscore")
GROUPS = [0] * 3 + [1] * 5
COSINE = {"k": "cosine"}
QUICK = {"permutations": 19, "level": 0.5}


def number(found):
    """Return a result as a number, of a dict with a single score."""
    return float(next(iter(found.values())) if isinstance(found, dict) else found)


def added(rows, **options):
    """Score rows that were added one by one."""
    metric = deepcopy(METRIC)
    for row in rows:
        metric.add(prediction=row)
    return metric.compute(**COSINE, **options)


def added_batches(rows, **options):
    """Score rows that were added in a batch."""
    metric = deepcopy(METRIC)
    metric.add_batch(predictions=rows)
    return metric.compute(**COSINE, **options)


def difference(*sets, **options):
    """Return the difference that a comparison finds."""
    return compare(*sets, **COSINE, **QUICK, **options).pairs[0].difference


def rewards(samples, *quality, **options):
    """Return the rewards of samples, summed in a way that tells one order from another."""
    result = group_rewards(samples, *quality, **COSINE, **options)
    return result @ np.arange(1, len(result) + 1)


PLACES = {
    "prompts of compute": lambda a, b: compute(a, prompts=b, given_prompt=True, **COSINE),
    "prompts of explain": lambda a, b: explain(a, prompts=b, given_prompt=True, **COSINE).adds[3],
    "prompts of select": lambda a, b: select(a, 3, prompts=b, given_prompt=True, **COSINE).scores[
        -1
    ],
    "prompts of rewards": lambda a, b: rewards(a, groups=GROUPS, prompts=b, given_prompt=True),
    "prompts of a state": lambda a, b: (
        State.empty(**COSINE).update(a, prompts=b, given_prompt=True).compute()
    ),
    "prompts of the metric": lambda a, b: added_batches(a, prompts=b, given_prompt=True),
    "references": lambda a, b: compute(a, b, measures="MMD", **COSINE),
    "references of distances": lambda a, b: compute(a, b, measures="MagDiff"),
    "references that fit": lambda a, b: compute(a, b, k="rbf", measures="MMD"),
    "another set": difference,
    "another source": lambda a, b: sources({"a": a, "b": b}, level=None, **COSINE).score,
}


@pytest.mark.parametrize("place", PLACES)
def test_rows_accept_any_combination_of_containers(place):
    score = PLACES[place]
    expected = number(score(X, Y))
    for a, b in itertools.product(FORMS, FORMS):
        assert number(score(FORMS[a](X), FORMS[b](Y))) == pytest.approx(expected, 1e-9), (a, b)


@pytest.mark.parametrize("form", ["array", "tensor", "lists", "arrays", "tensors"])
def test_metric_add_accepts_rows_in_any_container(form):
    expected = number(compute(X, prompts=P, given_prompt=True, **COSINE))
    for prompts in FORMS:
        result = added(FORMS[form](X), prompts=FORMS[prompts](P), given_prompt=True)
        assert number(result) == pytest.approx(expected, 1e-12), prompts


def test_gradients_do_not_depend_on_containers():
    rows = torch.tensor(X, requires_grad=True)
    slopes = []
    for samples in (rows, list(rows)):
        for prompts in (torch.tensor(P), P, P.tolist()):
            score = compute(samples, prompts=prompts, given_prompt=True, **COSINE)["VS"]
            slopes.append(torch.autograd.grad(score, rows)[0])
    for slope in slopes[1:]:
        torch.testing.assert_close(slope, slopes[0])


@pytest.mark.parametrize("form", FORMS)
def test_rewards_group_equal_prompts_in_any_container(form):
    assert rewards(X, prompts=FORMS[form](P[GROUPS])) == rewards(X, groups=GROUPS)


def test_prompts_with_other_row_length_raise():
    for form in FORMS.values():
        with pytest.raises(ValueError, match=r"`prompts` must have .* 3 numbers\), got rows of 2"):
            compute(X, prompts=form(P[:, :2]), given_prompt=True, **COSINE)


# Nested numbers and prompts of nested samples.

NUMBERS = np.random.default_rng(1).uniform(0.1, 0.9, 8)
LOGS, WEIGHTS = np.log(NUMBERS), NUMBERS / NUMBERS.sum()


def cut(rows):
    """Cut rows into the groups of GROUPS."""
    return [rows[:3], rows[3:]]


NESTED = {
    "arrays": cut,
    "lists": lambda rows: cut(rows.tolist()),
    "tensors": lambda rows: cut(torch.tensor(rows)),
    "lists of arrays": lambda rows: cut(list(rows)),
}
MEASURES = {"quality": "qVS", "logprobs": "SemanticEntropy"}


def measured(name):
    """Return a score of samples, and of numbers passed as an option of a measure."""
    return lambda a, b: compute(a, measures={MEASURES[name]: {name: b}}, **COSINE)


BESIDE = {
    "prompts of compute": (lambda a, b: compute(a, prompts=b, given_prompt=True, **COSINE), P),
    "prompts of rewards": (lambda a, b: rewards(a, prompts=b, given_prompt=True), P),
    "prompts of the metric": (lambda a, b: added_batches(a, prompts=b, given_prompt=True), P),
    "quality of a measure": (measured("quality"), NUMBERS),
    "logprobs": (measured("logprobs"), LOGS),
    "weights": (lambda a, b: compute(a, p=b, **COSINE), WEIGHTS),
    "quality of rewards": (rewards, NUMBERS),
}


@pytest.mark.parametrize("place", BESIDE)
def test_nested_values_must_match_nested_samples(place):
    score, values = BESIDE[place]
    lists = NESTED["lists"](X)
    expected = number(score(lists, values))
    for form in NESTED:
        assert number(score(lists, NESTED[form](values))) == pytest.approx(expected), form
        result = number(score(NESTED["lists of arrays"](X), NESTED[form](values)))
        assert result == pytest.approx(expected), form
    halves = X.reshape(2, 4, 3).tolist()
    result = number(score(halves, values.reshape(2, 4, *values.shape[1:])))
    assert result == pytest.approx(number(score(halves, values)))
    for samples, parts in ((lists, [values[:2], values[2:]]), (X, cut(values))):
        expected = (
            r"must (be one list in the order of .*, got lists of|contain one label per sample)"
        )
        with pytest.raises(ValueError, match=expected):
            score(samples, parts)


@pytest.mark.parametrize("form", ["arrays", "tensors"])
def test_rewards_accept_arrays_of_groups(form):
    expected = rewards(cut(X.tolist()), NUMBERS)
    assert rewards(NESTED[form](X), NESTED[form](NUMBERS)) == pytest.approx(expected)
    halves = X.reshape(2, 4, 3)
    assert rewards(halves, NUMBERS.reshape(2, 4)) == pytest.approx(rewards(list(halves), NUMBERS))


def equal(*rows):
    """Return rows of each set as an array of two equal groups."""
    return np.stack(rows).reshape(len(rows), 2, 4, 3)


TWO_GROUPS = pytest.mark.filterwarnings(
    "ignore:The mean over 2 groups has no interval", "ignore:intervals have width 0"
)


@TWO_GROUPS
@pytest.mark.parametrize("form", NESTED)
def test_sets_accept_separate_prompts_in_any_container(form):
    A, B = (NESTED["lists"](rows) for rows in (X, Y))
    flat, nested = (
        difference(X, Y, prompts=[P, R], given_prompt=True),
        difference(A, B, prompts=[P, R], given_prompt=True),
    )
    parts = NESTED[form]
    rows = list if form == "lists of arrays" else FORMS["tensors" if form == "tensors" else "lists"]
    assert difference(X, Y, prompts=[rows(P), rows(R)], given_prompt=True) == pytest.approx(flat)
    assert difference(X, Y, prompts=np.stack([P, R]), given_prompt=True) == pytest.approx(flat)
    assert difference(A, B, prompts=[parts(P), parts(R)], given_prompt=True) == pytest.approx(
        nested
    )
    apart = difference(
        X, Y, groups=[GROUPS, GROUPS], prompts=[parts(P), parts(R)], given_prompt=True
    )
    assert apart == pytest.approx(nested)
    halves = equal(X, Y).tolist()
    result = difference(*halves, prompts=equal(P, R), given_prompt=True)
    assert result == pytest.approx(difference(*halves, prompts=[P, R], given_prompt=True))
    both = number(compute(X, Y, prompts=[P, R], given_prompt=True, measures="MMD", **COSINE))
    result = compute(X, Y, prompts=[rows(P), rows(R)], given_prompt=True, measures="MMD", **COSINE)
    assert number(result) == pytest.approx(both)


# One prompt for each group.

TURNED = [1] * 3 + [0] * 5  # labels that appear in another order than the sorted one
ONE_EACH = {
    "compute": lambda groups, b: compute(X, groups=groups, prompts=b, given_prompt=True, **COSINE),
    "rewards": lambda groups, b: rewards(X, groups=groups, prompts=b, given_prompt=True),
    "compare": lambda groups, b: difference(
        X, Y, groups=[groups, groups], prompts=b, given_prompt=True
    ),
    "compare by": lambda groups, b: difference(
        np.concatenate([X, Y]),
        by=[0] * 8 + [1] * 8,
        groups=groups * 2,
        prompts=b,
        given_prompt=True,
    ),
}


@TWO_GROUPS
@pytest.mark.parametrize("call", ONE_EACH)
def test_prompts_per_group_are_assigned_by_label(call):
    score = ONE_EACH[call]
    each = P[[0] * 3 + [1] * 5]
    each = np.concatenate([each, each]) if call == "compare by" else each
    expected = number(score(GROUPS, each))
    for form in ("array", "lists", "arrays", "tensor", "tensors"):
        one, other = FORMS[form](P[:2])
        assert number(score(GROUPS, FORMS[form](P[:2]))) == pytest.approx(expected)
        assert number(score(GROUPS, {0: one, 1: other})) == pytest.approx(expected)
        assert number(score(TURNED, {0: other, 1: one})) == pytest.approx(expected)
        with pytest.raises(ValueError, match="or pass a dict from group to prompt, such as"):
            score(TURNED, FORMS[form](P[:2]))
    with pytest.raises(ValueError, match="must contain the prompt of each group, but has no key 1"):
        score(GROUPS, {0: P[0]})
    with pytest.raises(
        ValueError, match="must be group labels, got 'x', which is the label of no sample"
    ):
        score(GROUPS, {0: P[0], 1: P[1], "x": P[2]})


def test_nested_lists_are_labelled_by_position():
    rows = cut(X.tolist())
    expected = compute(rows, prompts=P[:2], given_prompt=True, **COSINE)
    assert compute(rows, prompts={1: P[1], 0: P[0]}, given_prompt=True, **COSINE) == expected
    assert compute(rows, prompts=[[P[0]], [P[1]]], given_prompt=True, **COSINE) == expected
    assert added_batches(rows, prompts={0: P[0], 1: P[1]}, given_prompt=True) == expected
    text = ["a cat", "a dog", "the cat"], ["it was", "it is"]
    result = compute(list(text), prompts=["cat", "it"], given_prompt=True)
    assert compute(list(text), prompts={0: "cat", 1: "it"}, given_prompt=True) == result
    assert compute(list(text), prompts=[["cat"] * 3, ["it"] * 2], given_prompt=True) == result


def test_record_prompt_is_distinguished_from_dict_of_groups():
    how = {"k": {"ngram_overlap:text": 0.5, "cosine:x": 0.5}}
    records = [{"text": f"a cat {i} sat {i % 3}", "x": row.tolist()} for i, row in enumerate(X)]
    prompt, other = (
        {"text": "a cat ran", "x": P[0].tolist()},
        {"text": "a dog sat", "x": P[1].tolist()},
    )
    one = compute(records, prompts=prompt, given_prompt=True, groups=GROUPS, **how)
    assert (
        compute(records, prompts={0: prompt, 1: prompt}, given_prompt=True, groups=GROUPS, **how)
        == one
    )
    each = compute(
        records, prompts=[prompt] * 3 + [other] * 5, given_prompt=True, groups=GROUPS, **how
    )
    assert (
        compute(records, prompts={0: prompt, 1: other}, given_prompt=True, groups=GROUPS, **how)
        == each
    )


def test_dict_of_prompts_requires_groups():
    prompts = {0: P[0], 1: P[1]}
    for call in (compute, explain, lambda *a, **k: select(*a, size=3, **k)):
        with pytest.raises(TypeError, match=r"`prompts` is a dict .* the samples have no groups"):
            call(X, prompts=prompts, given_prompt=True, **COSINE)
    with pytest.raises(TypeError, match="`prompts` is a dict"):
        State.empty(**COSINE).update(X, prompts=prompts, given_prompt=True)


# Numbers of samples.


@pytest.mark.parametrize("form", FORMS)
def test_numbers_per_sample_accept_columns_in_any_container(form):
    column = FORMS[form](NUMBERS[:, None])
    assert measured("quality")(X, column) == measured("quality")(X, NUMBERS)
    assert rewards(X, column) == rewards(X, NUMBERS)
    assert select(X, 3, quality=column, **COSINE).places.tolist() == (
        select(X, 3, quality=NUMBERS, **COSINE).places.tolist()
    )
    weights = FORMS[form](WEIGHTS[:, None])
    expected = number(compute(X, p=WEIGHTS, **COSINE))
    assert number(compute(X, p=weights, **COSINE)) == pytest.approx(expected)
    state = State.empty(**COSINE).update(X, p=weights)
    assert number(state.compute()) == pytest.approx(expected)


def test_positive_logprobs_raise():
    logs = LOGS.copy()
    logs[2] = 0.5
    with pytest.raises(SampleError, match="sample 2 of `logprobs` must be finite and at most 0"):
        measured("logprobs")(X, logs)
    logs[2] = 0.0
    assert measured("logprobs")(X, logs)["SemanticEntropy"] > 0


NOT_NUMBERS = (3, "good", {0: 1.0}, ["x"] * 8, [None] * 8, [1j] * 8, [[1.0], 2.0] * 4)


@pytest.mark.parametrize("values", NOT_NUMBERS, ids=str)
def test_arguments_other_than_one_number_per_sample_raise(values):
    calls = {
        "quality": [measured("quality"), rewards, lambda a, b: select(a, 3, quality=b, **COSINE)],
        "relevance": [lambda a, b: select(a, 3, relevance=b, **COSINE)],
        "logprobs": [measured("logprobs")],
        "p": [
            lambda a, b: compute(a, p=b, **COSINE),
            lambda a, b: explain(a, p=b, **COSINE),
            lambda a, b: State.empty(**COSINE).update(a, p=b),
        ],
    }
    for name, places in calls.items():
        for place in places:
            with pytest.raises((TypeError, SampleError), match=f"`{name}` must be") as caught:
                place(X, values)
            assert "number" in str(caught.value)


def test_nested_clusters_raise():
    with pytest.raises(TypeError, match="`clusters` must be a flat list with one label per sample"):
        compute(X, clusters=cut(GROUPS), ci=0.9, **COSINE)


def test_state_update_with_empty_batch_and_prompts_returns_same_state():
    state = State.empty(**COSINE)
    for batch, prompts in ((X[:0], P[:0]), ([], []), (X[:0], P[0]), ([], P[:1])):
        assert state.update(batch, prompts=prompts, given_prompt=True) is state
    with pytest.raises(ValueError, match="one prompt per sample, got 0 prompts for 8 samples"):
        state.update(X, prompts=P[:0], given_prompt=True)
