"""Kernels for labels, tags and class probabilities."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from vendiscore import SampleError, as_similarity, compute, effective_number

names = st.lists(st.sampled_from("abcde"), min_size=1, max_size=30)


def compute_entropy(proportions) -> float:
    return -sum(proportion * math.log(proportion) for proportion in proportions if proportion > 0)


@given(names)
def test_score_of_labels_is_hill_number_of_proportions(values):
    proportions = [values.count(value) / len(values) for value in set(values)]
    scores = compute(values, k="labels", q=[0, 1, 2, "inf"])
    expected = [
        len(proportions),
        math.exp(compute_entropy(proportions)),
        1 / sum(proportion * proportion for proportion in proportions),
        1 / max(proportions),
    ]
    np.testing.assert_allclose(list(scores.values()), expected, rtol=1e-9)


def test_labels_can_be_any_hashable():
    labels = [1, 1.0, "1", (1, 2), b"1", frozenset([1])]
    K = as_similarity(labels, k="labels").dense()
    np.testing.assert_array_equal(
        K,
        np.eye(6)
        + np.eye(6, k=1) * (np.arange(6) == 0)[:, None]
        + np.eye(6, k=-1) * (np.arange(6) == 1)[:, None],
    )
    assert compute(np.array([3, 3, 4]), k="labels") == compute(["x", "x", "y"], k="labels")


@pytest.mark.parametrize("kernel", ["labels", "tags"])
def test_missing_labels_are_rejected(kernel):
    wrap = (lambda x: x) if kernel == "labels" else (lambda x: [x])
    for missing in (None, float("nan"), pd.NA, pd.NaT):
        with pytest.raises(SampleError, match="sample 1 has a missing label"):
            compute([wrap("a"), wrap(missing)], k=kernel)


def test_invalid_labels_and_tags_are_rejected():
    with pytest.raises(
        SampleError, match=r"sample 1 has a label that is not hashable, list.*'tags'"
    ):
        compute(["a", ["b"]], k="labels")
    with pytest.raises(SampleError, match="sample 0 has a label that is not hashable"):
        compute([[{}]], k="tags")
    with pytest.raises(SampleError, match="sample 1 is an empty set"):
        compute([["b"], []], k="tags")
    with pytest.raises(
        SampleError, match="sample 0 must be a set of labels, got str: 'a;b'; pass a list"
    ):
        compute(["a;b"], k="tags")


@given(st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), min_size=1, max_size=12))
def test_tags_use_cosine_of_sets(sets):
    K = as_similarity([sorted(s) for s in sets], k="tags").dense()
    expected = [[len(a & b) / math.sqrt(len(a) * len(b)) for b in sets] for a in sets]
    np.testing.assert_allclose(K, expected, atol=1e-12)


def test_tags_reject_indicator_matrix():
    with pytest.raises(TypeError, match=r"got an array of shape \(2, 3\).*k='cosine'"):
        compute(np.array([[1, 0, 1], [0, 1, 1]]), k="tags")


def test_tags_ignore_repetition_and_order():
    K = as_similarity([["a", "b", "a"], ("b", "a"), {"a"}, np.array(["a", "b"])], k="tags").dense()
    np.testing.assert_allclose(K[0], [1, 1, math.sqrt(0.5), 1])


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, np.ndarray.tolist])
def test_probability_product_is_sum_of_roots(convert):
    P = np.random.default_rng(0).dirichlet(np.full(4, 0.3), size=9)
    K = as_similarity(convert(P), k="probability_product").dense()
    expected = [[sum(math.sqrt(a * b) for a, b in zip(x, y, strict=True)) for y in P] for x in P]
    np.testing.assert_allclose(K, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], r"sample 1 .* sum to 1, got a sum of 0\.9; pass the softmax"),
        ([[0.5, 0.5], [1.5, -0.5]], r"sample 1 .* at least 0 .* got a minimum of -0\.5"),
    ],
)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_rows_that_are_not_probabilities_are_rejected(rows, message, convert):
    P = convert(np.array(rows))
    with pytest.raises(ValueError, match=message):
        compute(P, k="probability_product")


@given(names)
def test_one_hot_probabilities_match_labels(values):
    P = np.array([[value == name for name in "abcde"] for value in values], dtype=float)
    expected = compute(values, k="labels")["VS"]
    assert effective_number(P.mean(axis=0)) == pytest.approx(expected)
    assert compute(P, k="probability_product")["VS"] == pytest.approx(expected)


def test_tuple_with_list_is_rejected_as_label():
    for samples, kernel in (([("a", ["b"])], "labels"), ([[("a", ["b"])]], "tags")):
        with pytest.raises(SampleError, match=r"sample 0 .*"):
            compute(samples, k=kernel)


def test_tags_accept_iterators():
    def make_iterators():
        return [iter(["a"]), iter([]), iter(["a", "b"])]

    with pytest.warns(UserWarning, match="dropped 1 of 3"):
        K = as_similarity(make_iterators(), k="tags", on_error="skip").dense()
    np.testing.assert_allclose(K, [[1, math.sqrt(0.5)], [math.sqrt(0.5), 1]])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("n_classes", [3, 1000])
def test_half_precision_probabilities_are_accepted(dtype, n_classes):
    torch = pytest.importorskip("torch")
    logits = torch.randn(20, n_classes, generator=torch.Generator().manual_seed(0))
    expected = compute(logits.double().softmax(1), k="probability_product")["VS"].item()
    half_precision = logits.to(getattr(torch, dtype)).softmax(-1)
    for P in (
        half_precision,
        half_precision / half_precision.sum(-1, keepdim=True),
        list(half_precision),
    ):
        assert compute(P, k="probability_product")["VS"].item() == pytest.approx(expected, rel=1e-2)
    for P in (
        half_precision.double() * 1.001,
        half_precision * 1.1,
    ):  # larger errors than half-precision rounding
        with pytest.raises(
            SampleError, match=r"sample 0 of `probabilities` .* got a sum of 1.[01]"
        ):
            compute(P, k="probability_product")


def test_zero_probabilities_have_finite_gradient():
    torch = pytest.importorskip("torch")
    logits = torch.tensor([[0.0, 1.0, -1e4], [1.0, 0.0, 0.0]], requires_grad=True)
    compute(logits.softmax(1), k="probability_product")["VS"].backward()
    assert bool(torch.isfinite(logits.grad).all())
    assert logits.grad.abs().max() > 0


def test_all_rows_that_are_not_probabilities_are_named():
    P = [[0.5, 0.5], [math.nan, 1], [0.5, 0.4], [1.5, -0.5], [1, 0]]
    with pytest.raises(SampleError) as caught:
        compute(P, k="probability_product")
    assert list(caught.value.problems) == [1, 2, 3]
