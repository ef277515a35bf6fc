"""`select` satisfies its constraints exactly, or raises an error with a hint."""

import json
from collections import Counter

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, NotPSDError, TooLargeError, select

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
GROUPS = ["a"] * 20 + ["b"] * 15 + ["c"] * 5
OBJECTIVES = ["vendi", "represent"]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_initial_samples_come_first(objective):
    result = select(X, 8, objective=objective, initial=np.array([31, 4, 17]), k="rbf")
    assert result.places[:3].tolist() == [31, 4, 17]
    assert len(set(result.places.tolist())) == 8
    only_initial = select(X, 3, objective=objective, initial=[31, 4, 17], k="rbf")
    assert only_initial.places.tolist() == [31, 4, 17]


@pytest.mark.parametrize("swaps", [False, True])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_quota_dict_gives_exact_group_counts(objective, swaps):
    quota = {"a": 2, "c": 5, "b": 3}
    result = select(
        X, 10, objective=objective, groups=GROUPS, quota=quota, swaps=swaps, initial=[39], k="rbf"
    )
    assert Counter(GROUPS[index] for index in result.places) == quota
    assert result.places[0] == 39


@pytest.mark.parametrize("swaps", [False, True])
def test_groups_without_quota_get_no_samples(swaps):
    result = select(X, 6, groups=GROUPS, quota={"a": 5, "b": 1}, swaps=swaps, k="rbf")
    assert Counter(GROUPS[index] for index in result.places) == {"a": 5, "b": 1}


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_integer_quota_limits_the_count_of_any_group(objective):
    result = select(X, 10, objective=objective, groups=np.array(GROUPS), quota=4, k="rbf")
    assert max(Counter(GROUPS[index] for index in result.places).values()) <= 4
    unconstrained = select(X, 10, objective=objective, k="rbf")
    loosely_constrained = select(X, 10, objective=objective, groups=GROUPS, quota=10, k="rbf")
    np.testing.assert_array_equal(unconstrained.places, loosely_constrained.places)


def test_groups_can_be_arrays_tensors_or_series():
    torch, pandas = pytest.importorskip("torch"), pytest.importorskip("pandas")
    labels = np.repeat([3, 1], 20)
    expected = select(X, 6, groups=labels, quota={3: 4, 1: 2}, k="rbf").places
    for groups in (torch.tensor(labels), pandas.Series(labels), labels.tolist()):
        result = select(X, 6, groups=groups, quota={3: 4, 1: 2}, k="rbf")
        np.testing.assert_array_equal(result.places, expected)


def test_select_accepts_one_and_two_samples():
    result = select(X[:1], 1, k="rbf", sigma=1.0)
    assert (result.places.tolist(), result.scores.tolist(), result.bound) == ([0], [1.0], 1.0)
    pair = select(X[:2], 2, k="rbf", sigma=1.0)
    assert pair.certified == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"size": 41}, ValueError, "`size` must be an integer from 1 to 40, got 41; there are 40"),
        ({"size": 0}, ValueError, "`size` must be an integer from 1 to 40, got 0"),
        ({"size": 2.0}, TypeError, "`size` must be an integer from 1 to 40, got 2.0"),
        (
            {"size": 2, "initial": [1, 2, 3]},
            ValueError,
            "`initial` must have at most `size`=2 indices, got 3",
        ),
        (
            {"initial": [1, 1]},
            ValueError,
            "`initial` must have distinct indices, got 1 more",
        ),
        (
            {"initial": [40]},
            ValueError,
            "`initial[0]` must be an integer from 0 to 39, got 40; indices",
        ),
        ({"initial": [-1]}, ValueError, "`initial[0]` must be an integer from 0 to 39, got -1"),
        ({"initial": 3}, TypeError, "`initial` must be a list of sample indices, got 3"),
        ({"q": 0}, ValueError, "`q` must be an order above 0 and at most 2, got 0; the default"),
        ({"q": -1}, ValueError, "`q` must be an order above 0 and at most 2, got -1"),
        ({"q": 2.5}, ValueError, "`q` must be an order above 0 and at most 2, got 2.5"),
        ({"q": np.inf}, ValueError, "`q` must be an order above 0 and at most 2, got inf"),
        ({"q": np.nan}, ValueError, "`q` must be an order above 0 and at most 2, got nan"),
        ({"q": "inf"}, ValueError, "`q` must be an order above 0 and at most 2, got inf"),
        ({"objective": "vndi"}, ValueError, "`objective` must be 'vendi' or 'represent', got 'v"),
        ({"swaps": 1}, TypeError, "`swaps` must be True or False, got 1"),
        ({"psd": "no"}, ValueError, "`psd` must be 'check' or 'clip', got 'no'"),
        ({"groups": GROUPS}, ValueError, "`groups` requires `quota`; pass `quota`, the number"),
        ({"quota": {"a": 5}}, ValueError, "`quota` requires `groups`; pass `groups`, a list"),
        ({"groups": GROUPS[:9], "quota": 3}, ValueError, "got 9 labels for 40 samples"),
        (
            {"groups": "abc", "quota": 3},
            TypeError,
            "`groups` must contain one label per sample, got the str",
        ),
        (
            {"groups": [[1]] * 40, "quota": 3},
            TypeError,
            "must be a flat list with one label per sample",
        ),
        (
            {"groups": [None] * 40, "quota": 5},
            ValueError,
            "sample 0 has no label in `groups`, got None",
        ),
        (
            {"groups": [np.nan] * 40, "quota": 5},
            ValueError,
            "sample 0 has no label in `groups`, got nan",
        ),
        (
            {"groups": GROUPS, "quota": {"c": 6}, "size": 6},
            ValueError,
            "`quota` of group 'c' must be at most 5, the size of the group, got 6; decrease",
        ),
        (
            {"groups": GROUPS, "quota": {"d": 1, "a": 4}},
            ValueError,
            "`quota` of group 'd' must be at most 0, the size of the group, got 1",
        ),
        (
            {"groups": GROUPS, "quota": {"a": 1, "b": 2}},
            ValueError,
            "the counts of `quota` must sum to `size`=5, got 3; change `quota`",
        ),
        (
            {"groups": GROUPS, "quota": 1},
            ValueError,
            "`quota`=1 allows at most 3 samples of 3 groups, but `size` is 5; increase",
        ),
        ({"groups": GROUPS, "quota": 0}, ValueError, "`quota` must be an integer of at least 1"),
        ({"groups": GROUPS, "quota": {"a": -5}}, ValueError, "`quota` must be an integer of at"),
        (
            {"groups": GROUPS, "quota": {"a": 4, "c": 1}, "initial": [35, 36]},
            ValueError,
            "`initial` exceeds the quota of group 'c': 2 selected, at most 1 allowed; inc",
        ),
        ({"quality": 3}, TypeError, "`quality` must be numbers, one for each sample, got 3"),
        ({"quality": ["x"] * 40}, ValueError, "sample 0 of `quality` must be a number, got 'x'"),
        (
            {"quality": [1.0] * 39},
            ValueError,
            "each of 40 samples, got 39; pass them in",
        ),
        (
            {"quality": [1.0] * 39 + [-1]},
            ValueError,
            "sample 39 of `quality` must be finite and at least 0, got -1; add a",
        ),
        (
            {"quality": [1.0] * 39 + [np.nan]},
            ValueError,
            "sample 39 of `quality` must be finite and at least 0, got nan",
        ),
        ({"quality": [1e308] * 40}, ValueError, "must have a finite sum, got values up to 1e+308"),
        (
            {"quality": [0] * 40},
            ValueError,
            "above 0 for at least one sample, but all values",
        ),
        (
            {"quality": [1] * 40, "objective": "represent"},
            ValueError,
            "`quality` is not supported by objective='represent'; remove `quality`",
        ),
        (
            {"relevance": [1] * 40, "quality": [1] * 40},
            TypeError,
            "are mutually exclusive",
        ),
        ({"relevance": [1] * 39 + [np.inf]}, ValueError, "of `relevance` must be finite, got inf"),
        (
            {"relevance": [1] * 39},
            ValueError,
            "`relevance` must have one number for each of 40",
        ),
        (
            {"relevance": [1] * 40, "objective": "represent"},
            ValueError,
            "`relevance` is not supported by objective='represent'",
        ),
        (
            {"tradeoff": 0.5},
            ValueError,
            "`tradeoff` requires `relevance` or `quality`; pass",
        ),
        ({"tradeoff": 2, "quality": [1] * 40}, ValueError, "from 0 (only quality) to 1"),
        ({"p": [1 / 40] * 40}, TypeError, "pass a score for each sample as `quality`"),
        ({"metric": "euclidean"}, TypeError, "`metric` is not supported by `select`"),
        ({"swap": True}, TypeError, "swap"),
    ],
)
def test_invalid_constraints_raise_with_a_hint(options, error, message):
    with pytest.raises(error) as caught:
        select(X, **({"size": 5, "k": "rbf", "sigma": 1.0} | options))
    assert message in str(caught.value)


def test_dropped_initial_sample_raises():
    texts = ["a b", "", "c d", "e f"]
    with (
        pytest.warns(UserWarning, match="dropped"),
        pytest.raises(ValueError, match="`initial` has sample 1, which was dropped because it"),
    ):
        select(texts, 2, k="ngram_overlap", ns=[1], on_error="skip", initial=[1])


def test_selection_that_exceeds_memory_raises(monkeypatch):
    from vendiscore.support import memory

    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    monkeypatch.setattr(memory, "UNCHECKED_BYTES", 0)
    with pytest.raises(TooLargeError, match=r"selecting 20 of 40 samples needs .*select fewer"):
        select(FeatureSimilarity(np.eye(40)), 20)


def test_indefinite_similarity_raises_unless_clipped():
    K = np.array([[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]])
    with pytest.raises(NotPSDError, match="psd='clip'"):
        select(K, 3, score_K=True)
    clipped = select(K, 3, score_K=True, psd="clip")
    assert sorted(clipped.places.tolist()) == [0, 1, 2]
    with pytest.raises(NotPSDError):
        _ = clipped.bound
    record = json.loads(json.dumps(clipped.to_dict()))
    assert record["scores"] == clipped.scores.tolist()
    assert record["bound"] is record["certified"] is None
    assert len(clipped.plot().lines) == 1
