"""Scores of groups: mean, standard error, interval and rows of details."""

import math

import numpy as np
import pytest

from vendiscore import compute
from vendiscore.scoring.group_scores import UNEQUAL_SIZE_RATIO
from vendiscore.scoring.subsampling import bounded_mean_interval, compute_mean_and_error

RNG = np.random.default_rng(0)
SIZES = [3, 4, 5, 3]
LABELS = np.repeat(list("abcd"), SIZES)
X = RNG.standard_normal((15, 3))
OPTIONS = {"k": "rbf", "sigma": 1.0}
GROUP_SCORES = np.array([compute(X[label == LABELS], **OPTIONS)["VS"] for label in "abcd"])


def test_score_of_groups_is_the_mean_of_their_scores():
    result = compute(X, groups=LABELS, **OPTIONS)
    assert result["VS"] == pytest.approx(GROUP_SCORES.mean(), rel=1e-12)
    assert result["VS_se"] == pytest.approx(GROUP_SCORES.std(ddof=1) / 2, rel=1e-12)
    assert result["VS_se"] == pytest.approx(compute_mean_and_error(GROUP_SCORES)[1], rel=1e-12)


def test_score_does_not_depend_on_order_or_labels():
    order = RNG.permutation(15)
    shuffled = compute(X[order], groups=LABELS[order], **OPTIONS)
    assert shuffled["VS"] == pytest.approx(GROUP_SCORES.mean(), rel=1e-12)
    lists = compute([list(X[label == LABELS]) for label in "abcd"], **OPTIONS)
    assert lists == pytest.approx(compute(X, groups=LABELS, **OPTIONS))


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_interval_of_a_mean_uses_bounds_of_scores(level):
    result = compute(X, groups=LABELS, ci=level, **OPTIONS)
    # A score is between 1 and the number of samples.
    _, se, low, high = bounded_mean_interval(GROUP_SCORES, level, 1.0, np.mean(SIZES))
    assert [result[f"VS_{end}"] for end in ("se", "low", "high")] == pytest.approx([se, low, high])
    assert 1 <= low < GROUP_SCORES.mean() < high <= np.mean(SIZES)


def test_details_list_scores_of_groups():
    result = compute(X, groups=LABELS, details=True, q=[1, 2], **OPTIONS)["details"]
    rows = result["groups"]
    assert [row["group"] for row in rows] == list("abcd")
    assert [row["n"] for row in rows] == SIZES
    assert [row["VS_q1"] for row in rows] == pytest.approx(GROUP_SCORES)
    second = compute(X, groups=LABELS, q=2, **OPTIONS)["VS_q2"]
    assert np.mean([row["VS_q2"] for row in rows]) == pytest.approx(second)


def test_scores_of_large_groups_match_separate_evaluation():
    rows = RNG.standard_normal((150, 3))
    labels = np.repeat([0, 1, 2], [70, 65, 15])
    separate_scores = [compute(rows[labels == i], **OPTIONS)["VS"] for i in range(3)]
    assert compute(rows, groups=labels, **OPTIONS)["VS"] == pytest.approx(
        np.mean(separate_scores), rel=1e-9
    )


def test_stacked_and_other_measures_can_be_combined():
    measures = ["VS", "CompressionRatio", "IntDiv"]
    texts = ["a b c", "a b d", "e f", "e f g", "h", "i j k"]
    labels = [0, 0, 0, 1, 1, 1]
    result = compute(texts, groups=labels, measures=measures)
    for name in measures:
        separate_values = [compute(texts[i : i + 3], measures=[name])[name] for i in (0, 3)]
        assert result[name] == pytest.approx(np.mean(separate_values))


def test_group_measures_have_no_standard_error():
    result = compute(X, groups=LABELS, measures=["VS", "WithinVS"], ci=0.9, details=True, **OPTIONS)
    assert {"VS_se", "VS_low", "VS_high"} <= {*result}
    assert "WithinVS_se" not in result
    notes = result["details"]["notes"]
    assert any("together have no interval: WithinVS" in note for note in notes)


@pytest.mark.parametrize(
    ("n", "is_noted"), [(3 * UNEQUAL_SIZE_RATIO, True), (3 * UNEQUAL_SIZE_RATIO - 1, False)]
)
def test_groups_of_unequal_sizes_are_noted(n, is_noted):
    rows = RNG.standard_normal((n + 3, 2))
    notes = compute(rows, groups=[0] * 3 + [1] * n, details=True, **OPTIONS)["details"]["notes"]
    assert any(f"Groups have 3 to {n} samples" in note for note in notes) == is_noted


@pytest.mark.parametrize(
    ("groups", "size", "is_noted"),
    [(12, 20, True), (13, 20, False), (12, 19, False), (1, 20, False)],
)
def test_few_large_groups_are_noted_as_possible_sources(groups, size, is_noted):
    labels = np.repeat(np.arange(groups), size)
    rows = RNG.standard_normal((len(labels), 2))
    notes = compute(rows, groups=labels, details=True, **OPTIONS)["details"]["notes"]
    assert any("may be models or other sources" in note for note in notes) == is_noted


def test_single_sample_groups_warn():
    with pytest.warns(UserWarning, match="Every group contains a single sample"):
        result = compute(X[:3], groups=[0, 1, 2], **OPTIONS)
    assert result["VS"] == 1.0


def test_not_psd_error_names_the_group():
    K = np.eye(6)
    K[3, 4] = K[4, 3] = K[4, 5] = K[5, 4] = 1.0
    with pytest.raises(ValueError, match="positive semidefinite") as caught:
        compute(K, score_K=True, groups=list("aaabbb"))
    assert any("'b'" in note or "group b" in note for note in caught.value.__notes__)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": [0] * 15, "ci": 0.9}, "requires at least 2 groups"),
        (
            {"groups": LABELS, "ci": 0.9, "measures": ["WithinVS"]},
            "averaged over groups, but WithinVS is computed from all groups",
        ),
        (
            {"groups": LABELS, "ci": 0.9, "clusters": LABELS},
            "`clusters` is not supported with groups",
        ),
    ],
)
def test_unsupported_intervals_raise(arguments, message):
    with pytest.raises(ValueError, match=message):
        compute(X, **arguments, **OPTIONS)


def test_details_contain_intervals_of_groups():
    rows = RNG.standard_normal((60, 3))
    labels = np.repeat([0, 1, 2], [25, 25, 10])
    result = compute(rows, groups=labels, ci=0.9, details=True, **OPTIONS)["details"]["groups"]
    assert {"VS_se", "VS_low", "VS_high"} <= {*result[0]}
    assert result[0]["VS_low"] < result[0]["VS"] < result[0]["VS_high"]
    values = [row[f"VS_{end}"] for row in result for end in ("se", "low", "high")]
    assert all(value is None or math.isfinite(value) for value in values)


def test_gradient_of_mean_over_groups_matches_separate_evaluation():
    torch = pytest.importorskip("torch")
    rows = torch.tensor(X, requires_grad=True)
    compute(rows, k="cosine", groups=LABELS)["VS"].backward()
    gradient = rows.grad.clone()
    rows.grad = None
    separate_scores = [compute(rows[label == LABELS], k="cosine")["VS"] for label in "abcd"]
    (sum(separate_scores) / 4).backward()
    np.testing.assert_allclose(gradient.numpy(), rows.grad.numpy(), atol=1e-10)
