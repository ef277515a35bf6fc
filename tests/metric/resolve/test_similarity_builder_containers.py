"""Equal values in different containers give equal results, for all arguments."""

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
REPEATED_ROWS = [0, 1, 0, 1, 2, 3, 2, 3]  # every prompt has two samples of each set
Y, P = Y[REPEATED_ROWS], P[REPEATED_ROWS]
R = P[::-1].copy()
CONTAINERS = {
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


def extract_number(result):
    """Return the single score of a result as a float."""
    return float(next(iter(result.values())) if isinstance(result, dict) else result)


def compute_with_added_rows(rows, **options):
    """Compute the metric of rows that are added separately."""
    metric = deepcopy(METRIC)
    for row in rows:
        metric.add(prediction=row)
    return metric.compute(**COSINE, **options)


def compute_with_added_batch(rows, **options):
    """Compute the metric of rows that are added in a batch."""
    metric = deepcopy(METRIC)
    metric.add_batch(predictions=rows)
    return metric.compute(**COSINE, **options)


def compute_difference(*sets, **options):
    """Return the difference that a comparison finds."""
    return compare(*sets, **COSINE, **QUICK, **options).pairs[0].difference


def compute_weighted_rewards(samples, *quality, **options):
    """Return a sum of rewards, weighted by position to depend on their order."""
    result = group_rewards(samples, *quality, **COSINE, **options)
    return result @ np.arange(1, len(result) + 1)


TWO_ARGUMENT_CALLS = {
    "prompts of compute": lambda a, b: compute(a, prompts=b, given_prompt=True, **COSINE),
    "prompts of explain": lambda a, b: explain(a, prompts=b, given_prompt=True, **COSINE).adds[3],
    "prompts of select": lambda a, b: select(a, 3, prompts=b, given_prompt=True, **COSINE).scores[
        -1
    ],
    "prompts of rewards": lambda a, b: compute_weighted_rewards(
        a, groups=GROUPS, prompts=b, given_prompt=True
    ),
    "prompts of a state": lambda a, b: (
        State.empty(**COSINE).update(a, prompts=b, given_prompt=True).compute()
    ),
    "prompts of the metric": lambda a, b: compute_with_added_batch(a, prompts=b, given_prompt=True),
    "references": lambda a, b: compute(a, b, measures="MMD", **COSINE),
    "references of distances": lambda a, b: compute(a, b, measures="MagDiff"),
    "references that fit": lambda a, b: compute(a, b, k="rbf", measures="MMD"),
    "another set": compute_difference,
    "another source": lambda a, b: sources({"a": a, "b": b}, level=None, **COSINE).score,
}


@pytest.mark.parametrize("case", TWO_ARGUMENT_CALLS)
def test_rows_accept_any_combination_of_containers(case):
    score = TWO_ARGUMENT_CALLS[case]
    expected = extract_number(score(X, Y))
    for a, b in itertools.product(CONTAINERS, CONTAINERS):
        assert extract_number(score(CONTAINERS[a](X), CONTAINERS[b](Y))) == pytest.approx(
            expected, 1e-9
        ), (
            a,
            b,
        )


@pytest.mark.parametrize("container", ["array", "tensor", "lists", "arrays", "tensors"])
def test_metric_add_accepts_rows_in_any_container(container):
    expected = extract_number(compute(X, prompts=P, given_prompt=True, **COSINE))
    for prompts in CONTAINERS:
        result = compute_with_added_rows(
            CONTAINERS[container](X), prompts=CONTAINERS[prompts](P), given_prompt=True
        )
        assert extract_number(result) == pytest.approx(expected, 1e-12), prompts


def test_gradients_do_not_depend_on_containers():
    rows = torch.tensor(X, requires_grad=True)
    slopes = []
    for samples in (rows, list(rows)):
        for prompts in (torch.tensor(P), P, P.tolist()):
            score = compute(samples, prompts=prompts, given_prompt=True, **COSINE)["VS"]
            slopes.append(torch.autograd.grad(score, rows)[0])
    for slope in slopes[1:]:
        torch.testing.assert_close(slope, slopes[0])


@pytest.mark.parametrize("container", CONTAINERS)
def test_rewards_group_equal_prompts_in_any_container(container):
    assert compute_weighted_rewards(
        X, prompts=CONTAINERS[container](P[GROUPS])
    ) == compute_weighted_rewards(X, groups=GROUPS)


def test_prompts_with_other_row_length_raise():
    for container in CONTAINERS.values():
        with pytest.raises(ValueError, match=r"`prompts` must have .* 3 numbers\), got rows of 2"):
            compute(X, prompts=container(P[:, :2]), given_prompt=True, **COSINE)


# Nested numbers and nested prompts with nested samples.

NUMBERS = np.random.default_rng(1).uniform(0.1, 0.9, 8)
LOGS, WEIGHTS = np.log(NUMBERS), NUMBERS / NUMBERS.sum()


def split_groups(rows):
    """Split rows into the groups of GROUPS."""
    return [rows[:3], rows[3:]]


NESTED_CONTAINERS = {
    "arrays": split_groups,
    "lists": lambda rows: split_groups(rows.tolist()),
    "tensors": lambda rows: split_groups(torch.tensor(rows)),
    "lists of arrays": lambda rows: split_groups(list(rows)),
}
MEASURES = {"quality": "qVS", "logprobs": "SemanticEntropy"}


def make_measure_call(name):
    """Return a function that computes a measure with numbers as an option."""
    return lambda a, b: compute(a, measures={MEASURES[name]: {name: b}}, **COSINE)


NESTED_CALLS = {
    "prompts of compute": (lambda a, b: compute(a, prompts=b, given_prompt=True, **COSINE), P),
    "prompts of rewards": (
        lambda a, b: compute_weighted_rewards(a, prompts=b, given_prompt=True),
        P,
    ),
    "prompts of the metric": (
        lambda a, b: compute_with_added_batch(a, prompts=b, given_prompt=True),
        P,
    ),
    "quality of a measure": (make_measure_call("quality"), NUMBERS),
    "logprobs": (make_measure_call("logprobs"), LOGS),
    "weights": (lambda a, b: compute(a, p=b, **COSINE), WEIGHTS),
    "quality of rewards": (compute_weighted_rewards, NUMBERS),
}


@pytest.mark.parametrize("case", NESTED_CALLS)
def test_nested_values_must_match_nested_samples(case):
    score, values = NESTED_CALLS[case]
    lists = NESTED_CONTAINERS["lists"](X)
    expected = extract_number(score(lists, values))
    for container in NESTED_CONTAINERS:
        assert extract_number(score(lists, NESTED_CONTAINERS[container](values))) == pytest.approx(
            expected
        ), container
        result = extract_number(
            score(NESTED_CONTAINERS["lists of arrays"](X), NESTED_CONTAINERS[container](values))
        )
        assert result == pytest.approx(expected), container
    halves = X.reshape(2, 4, 3).tolist()
    result = extract_number(score(halves, values.reshape(2, 4, *values.shape[1:])))
    assert result == pytest.approx(extract_number(score(halves, values)))
    for samples, wrong_groups in ((lists, [values[:2], values[2:]]), (X, split_groups(values))):
        expected = (
            r"must (be one list in the order of .*, got lists of|contain one label per sample)"
        )
        with pytest.raises(ValueError, match=expected):
            score(samples, wrong_groups)


@pytest.mark.parametrize("container", ["arrays", "tensors"])
def test_rewards_accept_arrays_of_groups(container):
    expected = compute_weighted_rewards(split_groups(X.tolist()), NUMBERS)
    assert compute_weighted_rewards(
        NESTED_CONTAINERS[container](X), NESTED_CONTAINERS[container](NUMBERS)
    ) == pytest.approx(expected)
    halves = X.reshape(2, 4, 3)
    assert compute_weighted_rewards(halves, NUMBERS.reshape(2, 4)) == pytest.approx(
        compute_weighted_rewards(list(halves), NUMBERS)
    )


def stack_groups(*rows):
    """Return the rows of each set as an array of two groups of equal size."""
    return np.stack(rows).reshape(len(rows), 2, 4, 3)


TWO_GROUPS = pytest.mark.filterwarnings(
    "ignore:The mean over 2 groups has no interval", "ignore:intervals have width 0"
)


@TWO_GROUPS
@pytest.mark.parametrize("container", NESTED_CONTAINERS)
def test_sets_accept_separate_prompts_in_any_container(container):
    A, B = (NESTED_CONTAINERS["lists"](make_rows) for make_rows in (X, Y))
    expected_flat, expected_nested = (
        compute_difference(X, Y, prompts=[P, R], given_prompt=True),
        compute_difference(A, B, prompts=[P, R], given_prompt=True),
    )
    make_nested = NESTED_CONTAINERS[container]
    make_rows = (
        list
        if container == "lists of arrays"
        else CONTAINERS["tensors" if container == "tensors" else "lists"]
    )
    assert compute_difference(
        X, Y, prompts=[make_rows(P), make_rows(R)], given_prompt=True
    ) == pytest.approx(expected_flat)
    assert compute_difference(X, Y, prompts=np.stack([P, R]), given_prompt=True) == pytest.approx(
        expected_flat
    )
    assert compute_difference(
        A, B, prompts=[make_nested(P), make_nested(R)], given_prompt=True
    ) == pytest.approx(expected_nested)
    labelled = compute_difference(
        X, Y, groups=[GROUPS, GROUPS], prompts=[make_nested(P), make_nested(R)], given_prompt=True
    )
    assert labelled == pytest.approx(expected_nested)
    halves = stack_groups(X, Y).tolist()
    result = compute_difference(*halves, prompts=stack_groups(P, R), given_prompt=True)
    assert result == pytest.approx(compute_difference(*halves, prompts=[P, R], given_prompt=True))
    expected_mmd = extract_number(
        compute(X, Y, prompts=[P, R], given_prompt=True, measures="MMD", **COSINE)
    )
    result = compute(
        X, Y, prompts=[make_rows(P), make_rows(R)], given_prompt=True, measures="MMD", **COSINE
    )
    assert extract_number(result) == pytest.approx(expected_mmd)


# One prompt per group.

REORDERED_GROUPS = [1] * 3 + [0] * 5  # labels that do not appear in sorted order
PROMPT_PER_GROUP_CALLS = {
    "compute": lambda groups, b: compute(X, groups=groups, prompts=b, given_prompt=True, **COSINE),
    "rewards": lambda groups, b: compute_weighted_rewards(
        X, groups=groups, prompts=b, given_prompt=True
    ),
    "compare": lambda groups, b: compute_difference(
        X, Y, groups=[groups, groups], prompts=b, given_prompt=True
    ),
    "compare by": lambda groups, b: compute_difference(
        np.concatenate([X, Y]),
        by=[0] * 8 + [1] * 8,
        groups=groups * 2,
        prompts=b,
        given_prompt=True,
    ),
}


@TWO_GROUPS
@pytest.mark.parametrize("call", PROMPT_PER_GROUP_CALLS)
def test_prompts_per_group_are_assigned_by_label(call):
    score = PROMPT_PER_GROUP_CALLS[call]
    sample_prompts = P[[0] * 3 + [1] * 5]
    sample_prompts = (
        np.concatenate([sample_prompts, sample_prompts]) if call == "compare by" else sample_prompts
    )
    expected = extract_number(score(GROUPS, sample_prompts))
    for container in ("array", "lists", "arrays", "tensor", "tensors"):
        first, second = CONTAINERS[container](P[:2])
        assert extract_number(score(GROUPS, CONTAINERS[container](P[:2]))) == pytest.approx(
            expected
        )
        assert extract_number(score(GROUPS, {0: first, 1: second})) == pytest.approx(expected)
        assert extract_number(score(REORDERED_GROUPS, {0: second, 1: first})) == pytest.approx(
            expected
        )
        with pytest.raises(ValueError, match="or pass a dict from group to prompt, such as"):
            score(REORDERED_GROUPS, CONTAINERS[container](P[:2]))
    with pytest.raises(ValueError, match="must contain the prompt of each group, but has no key 1"):
        score(GROUPS, {0: P[0]})
    with pytest.raises(
        ValueError, match="must be group labels, got 'x', which is the label of no sample"
    ):
        score(GROUPS, {0: P[0], 1: P[1], "x": P[2]})


def test_nested_lists_are_labelled_by_position():
    rows = split_groups(X.tolist())
    expected = compute(rows, prompts=P[:2], given_prompt=True, **COSINE)
    assert compute(rows, prompts={1: P[1], 0: P[0]}, given_prompt=True, **COSINE) == expected
    assert compute(rows, prompts=[[P[0]], [P[1]]], given_prompt=True, **COSINE) == expected
    assert compute_with_added_batch(rows, prompts={0: P[0], 1: P[1]}, given_prompt=True) == expected
    text = ["a cat", "a dog", "the cat"], ["it was", "it is"]
    result = compute(list(text), prompts=["cat", "it"], given_prompt=True)
    assert compute(list(text), prompts={0: "cat", 1: "it"}, given_prompt=True) == result
    assert compute(list(text), prompts=[["cat"] * 3, ["it"] * 2], given_prompt=True) == result


def test_record_prompt_is_distinguished_from_dict_of_groups():
    options = {"k": {"ngram_overlap:text": 0.5, "cosine:x": 0.5}}
    records = [{"text": f"a cat {i} sat {i % 3}", "x": row.tolist()} for i, row in enumerate(X)]
    prompt, other_prompt = (
        {"text": "a cat ran", "x": P[0].tolist()},
        {"text": "a dog sat", "x": P[1].tolist()},
    )
    single_prompt_result = compute(
        records, prompts=prompt, given_prompt=True, groups=GROUPS, **options
    )
    assert (
        compute(
            records, prompts={0: prompt, 1: prompt}, given_prompt=True, groups=GROUPS, **options
        )
        == single_prompt_result
    )
    sample_prompts_result = compute(
        records,
        prompts=[prompt] * 3 + [other_prompt] * 5,
        given_prompt=True,
        groups=GROUPS,
        **options,
    )
    assert (
        compute(
            records,
            prompts={0: prompt, 1: other_prompt},
            given_prompt=True,
            groups=GROUPS,
            **options,
        )
        == sample_prompts_result
    )


def test_dict_of_prompts_requires_groups():
    prompts = {0: P[0], 1: P[1]}
    for call in (compute, explain, lambda *a, **k: select(*a, size=3, **k)):
        with pytest.raises(TypeError, match=r"`prompts` is a dict .* the samples have no groups"):
            call(X, prompts=prompts, given_prompt=True, **COSINE)
    with pytest.raises(TypeError, match="`prompts` is a dict"):
        State.empty(**COSINE).update(X, prompts=prompts, given_prompt=True)


# One number per sample.


@pytest.mark.parametrize("container", CONTAINERS)
def test_numbers_per_sample_accept_columns_in_any_container(container):
    column = CONTAINERS[container](NUMBERS[:, None])
    assert make_measure_call("quality")(X, column) == make_measure_call("quality")(X, NUMBERS)
    assert compute_weighted_rewards(X, column) == compute_weighted_rewards(X, NUMBERS)
    assert select(X, 3, quality=column, **COSINE).places.tolist() == (
        select(X, 3, quality=NUMBERS, **COSINE).places.tolist()
    )
    weights = CONTAINERS[container](WEIGHTS[:, None])
    expected = extract_number(compute(X, p=WEIGHTS, **COSINE))
    assert extract_number(compute(X, p=weights, **COSINE)) == pytest.approx(expected)
    state = State.empty(**COSINE).update(X, p=weights)
    assert extract_number(state.compute()) == pytest.approx(expected)


def test_positive_logprobs_raise():
    logs = LOGS.copy()
    logs[2] = 0.5
    with pytest.raises(SampleError, match="sample 2 of `logprobs` must be finite and at most 0"):
        make_measure_call("logprobs")(X, logs)
    logs[2] = 0.0
    assert make_measure_call("logprobs")(X, logs)["SemanticEntropy"] > 0


INVALID_NUMBERS = (3, "good", {0: 1.0}, ["x"] * 8, [None] * 8, [1j] * 8, [[1.0], 2.0] * 4)


@pytest.mark.parametrize("values", INVALID_NUMBERS, ids=str)
def test_arguments_other_than_one_number_per_sample_raise(values):
    calls = {
        "quality": [
            make_measure_call("quality"),
            compute_weighted_rewards,
            lambda a, b: select(a, 3, quality=b, **COSINE),
        ],
        "relevance": [lambda a, b: select(a, 3, relevance=b, **COSINE)],
        "logprobs": [make_measure_call("logprobs")],
        "p": [
            lambda a, b: compute(a, p=b, **COSINE),
            lambda a, b: explain(a, p=b, **COSINE),
            lambda a, b: State.empty(**COSINE).update(a, p=b),
        ],
    }
    for name, argument_calls in calls.items():
        for call in argument_calls:
            with pytest.raises((TypeError, SampleError), match=f"`{name}` must be") as caught:
                call(X, values)
            assert "number" in str(caught.value)


def test_nested_clusters_raise():
    with pytest.raises(TypeError, match="`clusters` must be a flat list with one label per sample"):
        compute(X, clusters=split_groups(GROUPS), ci=0.9, **COSINE)


def test_state_update_with_empty_batch_and_prompts_returns_same_state():
    state = State.empty(**COSINE)
    for batch, prompts in ((X[:0], P[:0]), ([], []), (X[:0], P[0]), ([], P[:1])):
        assert state.update(batch, prompts=prompts, given_prompt=True) is state
    with pytest.raises(ValueError, match="one prompt per sample, got 0 prompts for 8 samples"):
        state.update(X, prompts=P[:0], given_prompt=True)
