"""Kernels on classes, tags and class probabilities, and the diversity of modes."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from vendiscore import SampleError, as_similarity, compute, effective_number

names = st.lists(st.sampled_from("abcde"), min_size=1, max_size=30)


def entropy(shares) -> float:
    return -sum(s * math.log(s) for s in shares if s > 0)


@given(names)
def test_score_of_labels_is_the_hill_number_of_their_shares(values):
    shares = [values.count(v) / len(values) for v in set(values)]
    scores = compute(values, k="labels", q=[0, 1, 2, "inf"])
    expected = [
        len(shares),
        math.exp(entropy(shares)),
        1 / sum(s * s for s in shares),
        1 / max(shares),
    ]
    np.testing.assert_allclose(list(scores.values()), expected, rtol=1e-9)


def test_labels_may_be_any_hashable():
    mixed = [1, 1.0, "1", (1, 2), b"1", frozenset([1])]
    K = as_similarity(mixed, k="labels").dense()
    np.testing.assert_array_equal(
        K,
        np.eye(6)
        + np.eye(6, k=1) * (np.arange(6) == 0)[:, None]
        + np.eye(6, k=-1) * (np.arange(6) == 1)[:, None],
    )
    assert compute(np.array([3, 3, 4]), k="labels") == compute(["x", "x", "y"], k="labels")


@pytest.mark.parametrize("kernel", ["labels", "tags"])
def test_missing_labels_are_refused(kernel):
    wrap = (lambda x: x) if kernel == "labels" else (lambda x: [x])
    for missing in (None, float("nan"), pd.NA, pd.NaT):
        with pytest.raises(SampleError, match="sample 1 has a missing label"):
            compute([wrap("a"), wrap(missing)], k=kernel)


def test_labels_that_are_no_label_are_refused():
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
def test_tags_are_compared_by_the_cosine_of_sets(sets):
    K = as_similarity([sorted(s) for s in sets], k="tags").dense()
    expected = [[len(a & b) / math.sqrt(len(a) * len(b)) for b in sets] for a in sets]
    np.testing.assert_allclose(K, expected, atol=1e-12)


def test_a_matrix_of_indicators_is_not_taken_for_sets():
    with pytest.raises(TypeError, match=r"got an array of shape \(2, 3\).*k='cosine'"):
        compute(np.array([[1, 0, 1], [0, 1, 1]]), k="tags")


def test_repeats_and_order_within_tags_do_not_count():
    K = as_similarity([["a", "b", "a"], ("b", "a"), {"a"}, np.array(["a", "b"])], k="tags").dense()
    np.testing.assert_allclose(K[0], [1, 1, math.sqrt(0.5), 1])


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, np.ndarray.tolist])
def test_probability_product_is_the_sum_of_roots(kind):
    P = np.random.default_rng(0).dirichlet(np.full(4, 0.3), size=9)
    K = as_similarity(kind(P), k="probability_product").dense()
    expected = [[sum(math.sqrt(a * b) for a, b in zip(x, y, strict=True)) for y in P] for x in P]
    np.testing.assert_allclose(K, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], r"sample 1 .* sum to 1, got a sum of 0\.9; pass the softmax"),
        ([[0.5, 0.5], [1.5, -0.5]], r"sample 1 .* at least 0 .* got a minimum of -0\.5"),
    ],
)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_rows_that_are_no_probabilities_are_refused(rows, message, kind):
    P = kind(np.array(rows))
    with pytest.raises(ValueError, match=message):
        compute(P, k="probability_product")


@given(names)
def test_modes_of_certain_predictions_are_labels(values):
    P = np.array([[value == name for name in "abcde"] for value in values], dtype=float)
    labels = compute(values, k="labels")["VS"]
    assert effective_number(P.mean(axis=0)) == pytest.approx(labels)
    assert compute(P, k="probability_product")["VS"] == pytest.approx(labels)


def test_a_tuple_that_holds_a_list_is_no_label():
    for samples, kernel in (([("a", ["b"])], "labels"), ([[("a", ["b"])]], "tags")):
        with pytest.raises(SampleError, match=r"sample 0 .*"):
            compute(samples, k=kernel)


def test_tags_may_be_iterators_that_are_read_once():
    def sets():
        return [iter(["a"]), iter([]), iter(["a", "b"])]

    with pytest.warns(UserWarning, match="dropped 1 of 3"):
        K = as_similarity(sets(), k="tags", on_error="skip").dense()
    np.testing.assert_allclose(K, [[1, math.sqrt(0.5)], [math.sqrt(0.5), 1]])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("classes", [3, 1000])
def test_probabilities_in_half_precision_sum_to_one_as_well_as_they_can(dtype, classes):
    torch = pytest.importorskip("torch")
    logits = torch.randn(20, classes, generator=torch.Generator().manual_seed(0))
    exact = compute(logits.double().softmax(1), k="probability_product")["VS"].item()
    half = logits.to(getattr(torch, dtype)).softmax(-1)
    for P in (half, half / half.sum(-1, keepdim=True), list(half)):
        assert compute(P, k="probability_product")["VS"].item() == pytest.approx(exact, rel=1e-2)
    for P in (half.double() * 1.001, half * 1.1):  # what half precision cannot do by itself
        with pytest.raises(
            SampleError, match=r"sample 0 of `probabilities` .* got a sum of 1.[01]"
        ):
            compute(P, k="probability_product")


def test_probabilities_that_end_in_zero_have_a_gradient():
    torch = pytest.importorskip("torch")
    logits = torch.tensor([[0.0, 1.0, -1e4], [1.0, 0.0, 0.0]], requires_grad=True)
    compute(logits.softmax(1), k="probability_product")["VS"].backward()
    assert bool(torch.isfinite(logits.grad).all())
    assert logits.grad.abs().max() > 0


def test_all_rows_that_are_no_probabilities_are_named_at_once():
    P = [[0.5, 0.5], [math.nan, 1], [0.5, 0.4], [1.5, -0.5], [1, 0]]
    with pytest.raises(SampleError) as caught:
        compute(P, k="probability_product")
    assert list(caught.value.problems) == [1, 2, 3]
