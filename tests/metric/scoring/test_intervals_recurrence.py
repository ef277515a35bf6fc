"""Intervals of recurring samples: containers, coverage and `allow_repeats`."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vendiscore import as_similarity, compare, compute, growth
from vendiscore.result import key_at
from vendiscore.tools.analysis.report_data import compute_report_data

ENDS = ("VS_low", "VS_high")
NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gil", "Hana", "Ines", "Jon"]
TEMPLATE = [f"My favourite name is {name}." for name in NAMES]


def make_containers(K: np.ndarray) -> list[tuple[object, dict]]:
    """Return samples with similarities K as a matrix, embeddings, records and tuples."""
    values, vectors = np.linalg.eigh(K)
    rows = vectors * np.sqrt(values.clip(0))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    tuples = [(i, "item") for i in range(len(K))]
    return [
        (K, {"score_K": True}),
        (as_similarity(K, score_K=True), {}),
        (rows, {"score_X": True}),
        (7 * rows, {"k": "cosine"}),
        (rows.tolist(), {"k": "cosine"}),
        (tuples, {"k": lambda a, b: K[a[0], b[0]]}),
        ([{"row": row} for row in rows], {"k": {"cosine:row": 1.0}}),
    ]


def compute_interval(samples: object, **options: object) -> tuple[float, float]:
    with warnings.catch_warnings(action="ignore"):
        result = compute(samples, ci=0.95, **options)
    key = key_at(options.get("q", 1))
    return result[f"{key}_low"], result[f"{key}_high"]


texts = st.lists(
    st.lists(st.sampled_from("abcde"), min_size=4, max_size=6).map(" ".join),
    min_size=4,
    max_size=12,
)


@given(texts, st.sampled_from([0.5, 1, 2, math.inf]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_interval_does_not_depend_on_container(samples, q, allow_repeats):
    arguments = {"q": q, "allow_repeats": allow_repeats}
    expected = compute_interval(samples, **arguments)
    for other_samples, options in make_containers(as_similarity(samples).dense()):
        result = compute_interval(other_samples, **options, **arguments)
        # Order ∞ is the largest eigenvalue; rounding breaks ties.
        assert result == pytest.approx(expected, rel=1e-10 if q != math.inf else 1e-6)


@given(arrays(np.int8, st.integers(4, 15), elements=st.integers(0, 3)))
@settings(max_examples=40, deadline=None)
def test_interval_of_labels_matches_indicator_vectors(labels):
    expected = compute_interval(labels.tolist(), k="labels")
    assert compute_interval(np.eye(4)[labels], score_X=True) == pytest.approx(expected, rel=1e-10)
    assert compute_interval(
        [(int(x),) for x in labels], k=lambda a, b: float(a == b)
    ) == pytest.approx(expected, rel=1e-10)


def test_intervals_of_mixture_compare_and_growth_match_across_containers():
    expected = compute_interval(TEMPLATE)
    assert compute_interval([{"t": text} for text in TEMPLATE], k={"ngram_overlap:t": 1.0}) == (
        pytest.approx(expected, rel=1e-10)
    )
    K = as_similarity(TEMPLATE).dense()
    rows = np.linalg.cholesky(K)
    by = ["a"] * 5 + ["b"] * 5
    expected_sets = compare(TEMPLATE, by=by, permutations=19).sets
    for samples, options in ((K, {"score_K": True}), (rows, {"score_X": True})):
        result = compare(samples, by=by, permutations=19, **options).sets
        for row, other in zip(expected_sets, result, strict=True):
            assert (other.low, other.high) == pytest.approx((row.low, row.high), rel=1e-10)
    curve = growth(TEMPLATE, [5, 10])
    other = growth(rows, [5, 10], score_X=True)
    assert other.low == pytest.approx(curve.low, rel=1e-10)


@pytest.mark.parametrize("container", ["matrix", "embeddings", "tuples"])
def test_interval_covers_score_of_ten_recurring_names(container):
    """A naive interval of a matrix covers 47 %; benchmarks/recurrence.py has four populations."""
    K = as_similarity(TEMPLATE).dense()
    i = {"matrix": 0, "embeddings": 2, "tuples": 5}[container]
    rng = np.random.default_rng(0)
    sets = rng.choice(len(K), (100, 4))
    cases = [make_containers(K[set_indices][:, set_indices])[i] for set_indices in sets]
    limits, log_scores = [], []
    for samples, options in cases:
        result = compute(samples, ci=0.95, **options)
        limits.append([result[end] for end in ENDS])
        log_scores.append(math.log(result["VS"]))
    low, high = np.log(limits).T
    truth = np.mean(log_scores)  # its error, 0.03, is small compared with the widths, 0.5
    # The acceptance criterion is 93 of 100; true coverage of 99 % fails with probability 1e-4.
    assert np.sum((low <= truth) & (truth <= high)) >= 93
    assert (high - low > 1e-6).all()


def test_interval_covers_score_with_a_recurring_vector():
    """One vector in five recurs; a naive interval covers 80.7 %."""
    rng = np.random.default_rng(0)
    vector = rng.normal(size=32)
    ends, log_scores = [], []
    for _ in range(100):
        X = rng.normal(size=(8, 32))
        X[rng.random(8) < 0.2] = vector
        result = compute(X, k="cosine", ci=0.95)
        ends.append([result[end] for end in ENDS])
        log_scores.append(math.log(result["VS"]))
    low, high = np.log(ends).T
    assert np.sum((low <= np.mean(log_scores)) & (np.mean(log_scores) <= high)) >= 93


def test_allow_repeats_false_narrows_interval_and_changes_signature():
    X = np.random.default_rng(0).normal(size=(8, 32))
    default = compute(X, k="cosine", ci=0.95, details=True)
    narrow = compute(X, k="cosine", ci=0.95, allow_repeats=False, details=True)
    assert default["VS"] == narrow["VS"]
    assert default["VS_low"] < narrow["VS_low"] < narrow["VS_high"] <= default["VS_high"]
    signatures = [result["details"]["signature"] for result in (default, narrow)]
    assert "allow_repeats=True" in signatures[0]
    assert signatures[1] == signatures[0].replace("allow_repeats=True", "allow_repeats=False")
    assert "continuous measurements" in narrow["details"]["interval"]["assumes"]
    signature_without_ci = compute(X, k="cosine", details=True)["details"]["signature"]
    assert "allow_repeats" not in signature_without_ci
    over_groups = compute(X, k="cosine", groups=[1, 1, 2, 2, 3, 3, 3, 3], ci=0.95, details=True)
    assert "allow_repeats" not in over_groups["details"]["signature"]
    sets = [
        compare(X[:4], X[4:], k="cosine", permutations=19, allow_repeats=allow)
        for allow in (True, False)
    ]
    assert [result.to_dict()["allow_repeats"] for result in sets] == [True, False]


def test_allow_repeats_false_is_overridden_for_equal_samples():
    X = np.random.default_rng(0).normal(size=(8, 32))
    X[1] = X[0]
    expected = "in spite of allow_repeats=False, because 1 pairs of samples are equal"
    with pytest.warns(UserWarning, match=expected):
        result = compute(X, k="cosine", ci=0.95, allow_repeats=False, details=True)
    assert compute_interval(X, k="cosine") == (result["VS_low"], result["VS_high"])
    assert any(expected in note for note in result["details"]["notes"])
    assert "|allow_repeats=True|" in result["details"]["signature"]  # the value that was used


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "requires `ci`; pass ci=0.95, or remove `allow_repeats`"),
        ({"ci": 0.95, "groups": [1, 1, 2, 2, 3, 3]}, "no effect on the interval of a mean over"),
        ({"ci": 0.95, "clusters": range(6)}, "no effect with `clusters`"),
        ({"ci": 0.95, "measures": "LC"}, "affects only intervals of VS, IntDiv, AvgSim"),
    ],
)
def test_allow_repeats_without_effect_raises(options, message):
    with pytest.raises(TypeError, match=message):
        compute(list("aabbcd"), k="labels", allow_repeats=False, **options)


def test_allow_repeats_without_effect_raises_in_other_functions():
    groups = [["a b", "c d"], ["d e", "e f"], ["f g", "g h"]]
    with pytest.raises(TypeError, match="no effect on the interval of a mean over groups"):
        compute(groups, ci=0.95, allow_repeats=False)
    with pytest.raises(TypeError, match="no effect on intervals of means over prompts"):
        compare(groups * 2, groups * 2, permutations=19, allow_repeats=False)
    with pytest.raises(TypeError, match="no effect at q=0"):
        compare(list("abcd"), list("abcc"), k="labels", q=0, allow_repeats=False)
    with pytest.raises(TypeError, match="`allow_repeats` must be True or False, got 0"):
        compute(list("abcd"), k="labels", ci=0.95, allow_repeats=0)
    with pytest.raises(TypeError, match="requires `ci`"):
        compute_report_data(list("abcd"), None, {"k": "labels", "q": 0, "allow_repeats": False})


def test_compare_over_two_prompts_has_no_interval():
    answers = [["a b", "c d"], ["e f", "g h"]]
    other_answers = [["a b", "a b"], ["e f", "e f"]]
    with pytest.warns(UserWarning, match="The mean over 2 groups has no interval") as caught:
        result = compare(answers, other_answers, permutations=99, effects="fixed")
    assert len(caught) == 1
    (pair,) = result.pairs
    assert pair.difference == pytest.approx(1)
    assert np.isnan([pair.low, pair.high]).all()
    assert all(math.isnan(row.low) and row.score > 0 for row in result.sets)
    assert "no interval" in result.sentence
    assert "nan" not in result.sentence


def test_growth_over_two_prompts_has_no_interval():
    prompts = ["x"] * 4 + ["y"] * 4
    with pytest.warns(UserWarning, match="The mean over 2 prompts has no interval") as caught:
        result = growth(list("abcdaabb"), [2, 4], prompts=prompts, given_prompt=False, k="labels")
    assert len(caught) == 1
    assert np.isnan([result.low, result.high]).all()


def test_report_and_growth_have_equal_intervals():
    for level in (0.95, 0.8):
        result = compute_report_data(TEMPLATE[:8], None, {"ci": level})
        i = result.growth.sizes.index(8)
        ends = [result.numbers[end] for end in ENDS]
        assert [result.growth.low[i], result.growth.high[i]] == ends
        assert result.growth.level == level
    X = np.random.default_rng(0).normal(size=(8, 32))
    narrow = compute_report_data(X, None, {"k": "cosine", "allow_repeats": False})
    i = narrow.growth.sizes.index(8)
    assert narrow.growth.low[i] == narrow.numbers["VS_low"]
    assert "allow_repeats=False" in narrow.details["signature"]
