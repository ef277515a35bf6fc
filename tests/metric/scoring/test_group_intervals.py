"""Intervals of groups, with and without pooling of recurrence over all groups."""

import itertools
import math
import warnings

import numpy as np
import pytest

from vendiscore import MatrixSimilarity, as_similarity, compute
from vendiscore.scoring.group_intervals import estimate_group_intervals, estimate_log_scores
from vendiscore.scoring.subsampling import t_critical_value

ORDERS = [0.5, 1.0, 2.0, 3.0, math.inf]
TEXTS = [
    "a cat|a cat|a dog|the dog|a cat|one bird",
    "a b|c d|e f|a g",
    "x y|x y|x y|x y",
    "a b c|d e f|a b c d|q r s|t u v",
    "a b|a b|a b|a b|c d|e f|g h|i j",
    "k l m|n o p|q r s|t u v",
    "a b c|a b d|a b e|a b f|a b c",
]


def flatten_groups(lists: list[list]) -> tuple[list, list[np.ndarray]]:
    ends = np.cumsum(list(map(len, lists)))
    return [x for group in lists for x in group], np.split(np.arange(ends[-1]), ends[:-1])


def estimate_intervals(samples: object, groups: list[np.ndarray], **options: object):
    return estimate_group_intervals(as_similarity(samples, **options), groups, ORDERS, 0.95)


def test_intervals_without_pooling_match_separate_sets():
    lists = [text.split("|") for text in TEXTS]
    samples, groups = flatten_groups(lists)
    similarity = as_similarity(samples)
    result = estimate_group_intervals(similarity, groups, ORDERS, 0.9, pool_repeats=False)
    assert result.n_pooled == 0
    for i, texts in enumerate(lists):
        for order_index, q in enumerate(ORDERS):
            with warnings.catch_warnings(action="ignore"):
                expected = list(compute(texts, q=[q], ci=0.9).values())
            values = [x[order_index, i] for x in (result.score, result.se, result.low, result.high)]
            assert values == pytest.approx(expected, abs=1e-8)


def test_groups_of_any_size_have_scores_and_intervals():
    """Groups above 64 samples are not stacked; groups of fewer than four have no interval."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6)) + 0.5
    groups = np.split(np.arange(90), [3, 5, 6, 80, 84])
    result = estimate_group_intervals(as_similarity(X, k="cosine"), groups, ORDERS, 0.95)
    for i, members in enumerate(groups):
        score = compute(X[members], k="cosine", q=ORDERS)
        assert result.score[:, i] == pytest.approx(list(score.values()))
        assert np.isnan(result.low[:, i]).all() == (len(members) < 4)
    large = compute(X[groups[3]], k="cosine", ci=0.95, q=ORDERS)
    assert result.low[:, 3] == pytest.approx([large[f"VS_q{q:g}_low"] for q in ORDERS])


def test_pooling_raises_only_lower_limits():
    lists = [text.split("|") for text in TEXTS]
    samples, groups = flatten_groups(lists)
    similarity = as_similarity(samples)
    separate = estimate_group_intervals(similarity, groups, ORDERS, 0.95, pool_repeats=False)
    pooled = estimate_group_intervals(similarity, groups, ORDERS, 0.95)
    assert pooled.n_pooled == 7
    assert (pooled.low >= separate.low).all()
    assert (pooled.low <= pooled.score).all()
    assert (pooled.low > separate.low + 0.01).any()
    for name in ("score", "se", "high"):
        assert getattr(pooled, name) == pytest.approx(getattr(separate, name))
    five_groups = estimate_group_intervals(similarity, groups[:5], ORDERS, 0.95)
    assert five_groups.n_pooled == 0
    assert five_groups.low == pytest.approx(separate.low[:, :5])


def test_pooling_narrows_intervals_only_without_duplicates():
    def low(groups: int, n_labels: int) -> float:
        labels = np.random.default_rng(0).integers(n_labels, size=(groups, 8))
        labels[0] = np.arange(8)
        members = list(np.arange(8 * groups).reshape(groups, 8))
        result = estimate_intervals(labels.ravel().tolist(), members, k="labels")
        return float(result.low[1, 0])

    assert low(5, 10**6) < low(6, 10**6) < low(30, 10**6)
    assert low(30, 10**6) > 7
    assert low(30, 10) == pytest.approx(low(5, 10), abs=0.5)


def test_intervals_do_not_depend_on_order_or_container():
    rng = np.random.default_rng(1)
    labels = rng.choice(12, (8, 6))
    members = list(np.arange(48).reshape(8, 6))
    expected = estimate_intervals(labels.ravel().tolist(), members, k="labels")
    shuffled = rng.permuted(labels, axis=1).ravel()
    for result in (
        estimate_intervals(shuffled.tolist(), members, k="labels"),
        estimate_intervals(np.eye(12)[shuffled], members, score_X=True),
        estimate_intervals(np.eye(12)[shuffled].astype(np.float32) * 3, members, k="cosine"),
    ):
        assert result.low == pytest.approx(expected.low, rel=1e-5)
        assert result.high == pytest.approx(expected.high, rel=1e-5)


@pytest.mark.parametrize("background", [0.0, 0.45, 0.9])
@pytest.mark.parametrize("n", [5, 8, 20])
def test_drop_per_duplicate_matches_all_pairs(n, background):
    """It overestimates the drop by up to 17 % in sets of five, and less in larger sets."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 12))
    X[2] = X[1]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    K = background + (1 - background) * X @ X.T
    similarity = MatrixSimilarity(K)
    result = estimate_log_scores(similarity, [np.arange(n)], ORDERS, 0.95)
    for k, q in enumerate(ORDERS):
        drops = []
        for i, j in itertools.permutations(range(n), 2):
            if {i, j} != {1, 2}:
                copied = np.r_[np.delete(np.arange(n), i), j]
                score = compute(similarity.take(copied), q=[q])[f"VS_q{q:g}"]
                drops.append(result.log[k, 0] - math.log(score))
        ratio = result.drop_per_copy[k, 0] / np.mean(drops)
        assert 1 <= ratio <= {5: 1.17, 8: 1.11, 20: 1.07}[n]


def make_near_duplicates(groups: int, n: int, pairs: int) -> np.ndarray:
    """Return unit rows (groups · n, columns); the first `pairs` pairs are near-copies."""
    X = np.eye(groups * n)
    X[np.arange(pairs) * 2 + 1] = X[np.arange(pairs) * 2]
    X += 1e-3 * np.random.default_rng(0).normal(size=X.shape)
    return X / np.linalg.norm(X, axis=1)[:, None]


@pytest.mark.parametrize("pairs", [1, 2])
def test_near_duplicates_count_as_recurring_pairs(pairs):
    """They widen the intervals of other groups, because items of one group may recur in all."""
    X = make_near_duplicates(7, 8, pairs)
    similarity = as_similarity(X, k="cosine")
    groups = list(np.arange(56).reshape(7, 8))
    scores = estimate_log_scores(similarity, groups, ORDERS, 0.95)
    assert scores.recurring_pairs.tolist() == [pairs, 0, 0, 0, 0, 0, 0]
    assert np.isnan(scores.drop_per_copy).tolist() == [[True, *[False] * 6]] * len(ORDERS)
    pooled = estimate_group_intervals(similarity, groups, ORDERS, 0.95)
    separate = estimate_group_intervals(similarity, groups, ORDERS, 0.95, pool_repeats=False)
    assert pooled.n_pooled == 7
    assert pooled.low[:, 0].tolist() == separate.low[:, 0].tolist()
    assert (pooled.low[:, 1:] > separate.low[:, 1:]).all()
    without_first_group = estimate_group_intervals(similarity, groups[1:], ORDERS, 0.95)
    assert (pooled.low[:, 1:] < without_first_group.low - 0.01).all()


@pytest.mark.parametrize("q", [0.5, 1.0, 2.0])
def test_lower_distance_matches_interval_of_continuous_samples(q):
    """If many pairs explain the deficit, Student's t applies to the scale of log n − log VS."""
    X = np.random.default_rng(0).normal(size=(12, 5))
    rows_with_duplicate = np.vstack([X[:11], X[:1]])
    continuous, duplicated = (
        estimate_log_scores(as_similarity(x, k="rbf", sigma=3.0), [np.arange(12)], [q], 0.95)
        for x in (X, rows_with_duplicate)
    )
    result = compute(X, k="rbf", sigma=3.0, q=q, ci=0.95, allow_repeats=False)
    low = math.log(result[f"VS_q{q:g}_low" if q != 1 else "VS_low"])
    assert continuous.lower_distance[0, 0] == pytest.approx(continuous.log[0, 0] - low)
    t_value = t_critical_value(0.95, 12)
    assert continuous.lower_distance[0, 0] > 1.01 * t_value * continuous.error[0, 0]
    assert duplicated.lower_distance[0, 0] == pytest.approx(t_value * duplicated.error[0, 0])


def test_pooled_intervals_cover_the_expected_score():
    """Coverage over 40 tables with 10 prompts and 300 equally likely labels."""
    rng = np.random.default_rng(0)
    similarity = as_similarity(list(range(300)), k="labels")
    many_sets = list(rng.integers(300, size=(4000, 8)))
    truth = estimate_log_scores(similarity, many_sets, [1.0], 0.95).log.mean()
    coverage = mean_width = 0.0
    for _ in range(40):
        table = list(rng.integers(300, size=(10, 8)))
        result = estimate_group_intervals(similarity, table, [1.0], 0.95)
        coverage += np.mean((np.log(result.low) <= truth) & (truth <= np.log(result.high))) / 40
        mean_width += np.median(result.high - result.low) / 40
    assert coverage >= 0.93
    assert mean_width < 2  # 3.33 without pooling


LABELS = [[0, 1, 2, 3, 4, 5, 6, 7], [0, 0, 1, 2, 3, 4, 5, 6], *[list(range(8))] * 5, [1, 2, 3]]


def test_details_contain_intervals_of_groups():
    options = {"k": "labels", "ci": 0.9, "details": True}
    samples, members = flatten_groups(LABELS)
    groups = np.repeat(range(8), list(map(len, LABELS))).tolist()
    result = compute(samples, groups=groups, q=[1, 2], **options)["details"]
    expected = estimate_group_intervals(
        as_similarity(samples, k="labels"), members, [1.0, 2.0], 0.9
    )
    assert result["interval"]["pooled_groups"] == expected.n_pooled == 7
    for i, row in enumerate(result["groups"]):
        keys = [f"VS_q{q}{end}" for q in (1, 2) for end in ("", "_se", "_low", "_high")]
        assert list(row) == ["group", "n", *keys]
        columns = (expected.score, expected.se, expected.low, expected.high)
        values = [column[k, i] for k in range(2) for column in columns]
        assert [row[key] for key in keys] == pytest.approx(
            [None if math.isnan(value) else value for value in values]
        )
    notes = " ".join(result["notes"])
    assert "Single groups with fewer than 4 samples have no interval." in notes
    without_pooling = compute(samples, groups=groups, pool_repeats=False, **options)["details"]
    assert without_pooling["interval"]["pooled_groups"] == 0
    for row, labels in zip(without_pooling["groups"][:7], LABELS, strict=False):
        separate = compute(labels, k="labels", ci=0.9)
        assert row["VS_low"] == pytest.approx(separate["VS_low"])
        assert row["VS_high"] == pytest.approx(separate["VS_high"])


def test_rows_of_groups_without_interval_contain_only_scores():
    samples, _ = flatten_groups(LABELS)
    groups = np.repeat(range(8), list(map(len, LABELS))).tolist()
    result = compute(samples, groups=groups, k="labels", details=True)["details"]
    assert list(result["groups"][0]) == ["group", "n", "VS"]
    assert "interval" not in result
    small_groups = compute(
        [1, 2, 3, 1, 1, 2, 5, 5, 5],
        groups=[0] * 3 + [1] * 3 + [2] * 3,
        k="labels",
        ci=0.9,
        details=True,
    )["details"]
    assert list(small_groups["groups"][0]) == ["group", "n", "VS"]
    assert "pooled_groups" not in small_groups["interval"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ci": None}, "requires `ci`; pass ci=0.95"),
        ({"details": False}, "affects only the intervals of groups in `details`; pass"),
        ({"measures": "IntDiv"}, "affects only intervals of VS"),
        ({"groups": None}, "requires groups; pass `groups`"),
        ({"prompts": list("abababab")}, "has no effect on means over the prompts of each group"),
    ],
)
def test_pool_repeats_without_effect_raises(options, message):
    arguments = {"groups": [0] * 4 + [1] * 4, "ci": 0.9, "details": True, **options}
    with pytest.raises(TypeError, match=f"`pool_repeats=False` {message}"):
        compute(list("abcdabcc"), k="labels", pool_repeats=False, **arguments)
    with pytest.raises(TypeError, match="`pool_repeats` must be True or False, got 0"):
        compute(list("abcdabcc"), k="labels", pool_repeats=0)
