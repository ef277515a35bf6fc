"""Intervals of groups: those of each set by itself, and narrower ones where all are pooled."""

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


def grouped(lists: list[list]) -> tuple[list, list[np.ndarray]]:
    ends = np.cumsum(list(map(len, lists)))
    return [x for each in lists for x in each], np.split(np.arange(ends[-1]), ends[:-1])


def intervals(samples: object, groups: list[np.ndarray], **how: object):
    return estimate_group_intervals(as_similarity(samples, **how), groups, ORDERS, 0.95)


def test_intervals_without_pooling_match_separate_sets():
    lists = [text.split("|") for text in TEXTS]
    samples, groups = grouped(lists)
    similarity = as_similarity(samples)
    result = estimate_group_intervals(similarity, groups, ORDERS, 0.9, pool_repeats=False)
    assert result.n_pooled == 0
    for i, texts in enumerate(lists):
        for k, q in enumerate(ORDERS):
            with warnings.catch_warnings(action="ignore"):
                one = list(compute(texts, q=[q], ci=0.9).values())
            own = [x[k, i] for x in (result.score, result.se, result.low, result.high)]
            assert own == pytest.approx(one, abs=1e-8)


def test_groups_of_any_size_have_scores_and_intervals():
    """Groups above 64 samples one by one; fewer than four have a score alone."""
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
    samples, groups = grouped(lists)
    similarity = as_similarity(samples)
    own = estimate_group_intervals(similarity, groups, ORDERS, 0.95, pool_repeats=False)
    pooled = estimate_group_intervals(similarity, groups, ORDERS, 0.95)
    assert pooled.n_pooled == 7
    assert (pooled.low >= own.low).all()
    assert (pooled.low <= pooled.score).all()
    assert (pooled.low > own.low + 0.01).any()
    for name in ("score", "se", "high"):
        assert getattr(pooled, name) == pytest.approx(getattr(own, name))
    few = estimate_group_intervals(similarity, groups[:5], ORDERS, 0.95)
    assert few.n_pooled == 0
    assert few.low == pytest.approx(own.low[:, :5])


def test_pooling_narrows_intervals_only_without_duplicates():
    def low(groups: int, n_labels: int) -> float:
        labels = np.random.default_rng(0).integers(n_labels, size=(groups, 8))
        labels[0] = np.arange(8)
        members = list(np.arange(8 * groups).reshape(groups, 8))
        result = intervals(labels.ravel().tolist(), members, k="labels")
        return float(result.low[1, 0])

    assert low(5, 10**6) < low(6, 10**6) < low(30, 10**6)
    assert low(30, 10**6) > 7
    assert low(30, 10) == pytest.approx(low(5, 10), abs=0.5)


def test_intervals_do_not_depend_on_order_or_container():
    rng = np.random.default_rng(1)
    labels = rng.choice(12, (8, 6))
    members = list(np.arange(48).reshape(8, 6))
    one = intervals(labels.ravel().tolist(), members, k="labels")
    shuffled = rng.permuted(labels, axis=1).ravel()
    for other in (
        intervals(shuffled.tolist(), members, k="labels"),
        intervals(np.eye(12)[shuffled], members, score_X=True),
        intervals(np.eye(12)[shuffled].astype(np.float32) * 3, members, k="cosine"),
    ):
        assert other.low == pytest.approx(one.low, rel=1e-5)
        assert other.high == pytest.approx(one.high, rel=1e-5)


@pytest.mark.parametrize("background", [0.0, 0.45, 0.9])
@pytest.mark.parametrize("n", [5, 8, 20])
def test_drop_per_duplicate_matches_all_pairs(n, background):
    """It overestimates the drop by up to 17 % in sets of five, and less in larger ones."""
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


def near_copies(groups: int, n: int, pairs: int) -> np.ndarray:
    """Return unit rows (groups · n, columns), of which the first `pairs` are near-copies."""
    X = np.eye(groups * n)
    X[np.arange(pairs) * 2 + 1] = X[np.arange(pairs) * 2]
    X += 1e-3 * np.random.default_rng(0).normal(size=X.shape)
    return X / np.linalg.norm(X, axis=1)[:, None]


@pytest.mark.parametrize("pairs", [1, 2])
def test_near_duplicates_count_as_recurring_pairs(pairs):
    """Other groups are wider with them: what recurs in one group may recur in all."""
    X = near_copies(7, 8, pairs)
    similarity = as_similarity(X, k="cosine")
    groups = list(np.arange(56).reshape(7, 8))
    scores = estimate_log_scores(similarity, groups, ORDERS, 0.95)
    assert scores.recurring_pairs.tolist() == [pairs, 0, 0, 0, 0, 0, 0]
    assert np.isnan(scores.drop_per_copy).tolist() == [[True, *[False] * 6]] * len(ORDERS)
    pooled = estimate_group_intervals(similarity, groups, ORDERS, 0.95)
    own = estimate_group_intervals(similarity, groups, ORDERS, 0.95, pool_repeats=False)
    assert pooled.n_pooled == 7
    assert pooled.low[:, 0].tolist() == own.low[:, 0].tolist()
    assert (pooled.low[:, 1:] > own.low[:, 1:]).all()
    without = estimate_group_intervals(similarity, groups[1:], ORDERS, 0.95)
    assert (pooled.low[:, 1:] < without.low - 0.01).all()


@pytest.mark.parametrize("q", [0.5, 1.0, 2.0])
def test_lower_distance_matches_interval_of_continuous_samples(q):
    """Where many pairs make up the deficit, Student's t holds on the scale of log n − log VS."""
    X = np.random.default_rng(0).normal(size=(12, 5))
    copied = np.vstack([X[:11], X[:1]])
    skewed, even = (
        estimate_log_scores(as_similarity(x, k="rbf", sigma=3.0), [np.arange(12)], [q], 0.95)
        for x in (X, copied)
    )
    alone = compute(X, k="rbf", sigma=3.0, q=q, ci=0.95, allow_repeats=False)
    low = math.log(alone[f"VS_q{q:g}_low" if q != 1 else "VS_low"])
    assert skewed.lower_distance[0, 0] == pytest.approx(skewed.log[0, 0] - low)
    reach = t_critical_value(0.95, 12)
    assert skewed.lower_distance[0, 0] > 1.01 * reach * skewed.error[0, 0]
    assert even.lower_distance[0, 0] == pytest.approx(reach * even.error[0, 0])


def test_pooled_intervals_cover_the_expected_score():
    """Of 40 tables with 10 prompts; 300 labels that are equally likely."""
    rng = np.random.default_rng(0)
    similarity = as_similarity(list(range(300)), k="labels")
    many = list(rng.integers(300, size=(4000, 8)))
    truth = estimate_log_scores(similarity, many, [1.0], 0.95).log.mean()
    held = widths = 0.0
    for _ in range(40):
        table = list(rng.integers(300, size=(10, 8)))
        result = estimate_group_intervals(similarity, table, [1.0], 0.95)
        held += np.mean((np.log(result.low) <= truth) & (truth <= np.log(result.high))) / 40
        widths += np.median(result.high - result.low) / 40
    assert held >= 0.93
    assert widths < 2  # 3.33 of a set by itself


LABELS = [[0, 1, 2, 3, 4, 5, 6, 7], [0, 0, 1, 2, 3, 4, 5, 6], *[list(range(8))] * 5, [1, 2, 3]]


def test_details_contain_intervals_of_groups():
    how = {"k": "labels", "ci": 0.9, "details": True}
    samples, members = grouped(LABELS)
    groups = np.repeat(range(8), list(map(len, LABELS))).tolist()
    result = compute(samples, groups=groups, q=[1, 2], **how)["details"]
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
    own = compute(samples, groups=groups, pool_repeats=False, **how)["details"]
    assert own["interval"]["pooled_groups"] == 0
    for row, labels in zip(own["groups"][:7], LABELS, strict=False):
        one = compute(labels, k="labels", ci=0.9)
        assert row["VS_low"] == pytest.approx(one["VS_low"])
        assert row["VS_high"] == pytest.approx(one["VS_high"])


def test_rows_of_groups_without_interval_contain_only_scores():
    samples, _ = grouped(LABELS)
    groups = np.repeat(range(8), list(map(len, LABELS))).tolist()
    result = compute(samples, groups=groups, k="labels", details=True)["details"]
    assert list(result["groups"][0]) == ["group", "n", "VS"]
    assert "interval" not in result
    few = compute(
        [1, 2, 3, 1, 1, 2, 5, 5, 5],
        groups=[0] * 3 + [1] * 3 + [2] * 3,
        k="labels",
        ci=0.9,
        details=True,
    )["details"]
    assert list(few["groups"][0]) == ["group", "n", "VS"]
    assert "pooled_groups" not in few["interval"]


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
    how = {"groups": [0] * 4 + [1] * 4, "ci": 0.9, "details": True, **options}
    with pytest.raises(TypeError, match=f"`pool_repeats=False` {message}"):
        compute(list("abcdabcc"), k="labels", pool_repeats=False, **how)
    with pytest.raises(TypeError, match="`pool_repeats` must be True or False, got 0"):
        compute(list("abcdabcc"), k="labels", pool_repeats=0)
