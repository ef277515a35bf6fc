"""Near-copies: the threshold that parts them from the rest, and when samples look dependent."""

import numpy as np
import pytest

from vendiscore import as_similarity
from vendiscore.similarity.matrix import MatrixSimilarity
from vendiscore.uncertainty.near_copies import (
    DEPTH,
    LEAST,
    SHARES,
    NearestLists,
    _exponents,
    _shortest,
    best_threshold,
    dependent_share,
    excess,
    false_share,
)


def lists_of(K):
    A = np.array(K, dtype=float)
    np.fill_diagonal(A, -np.inf)
    found = NearestLists(np.arange(len(A)))
    for start in range(0, len(A), 7):
        found(A[start : start + 7], start)
    return found.lists


def normals(n, d=10, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def copied(X, times, noise, seed=1):
    rng = np.random.default_rng(seed)
    return np.repeat(X, times, axis=0) + noise * rng.standard_normal((times * len(X), X.shape[1]))


def cosines(X):
    return as_similarity(X, k="cosine").dense()


def slow_excess(lists, threshold):
    near = (lists >= threshold).sum(axis=1)
    rest = sorted(
        (np.log((1 - row[count]) / (1 - threshold)), 1 / (1 + count))
        for row, count in zip(lists, near, strict=True)
        if count < len(row)
    )
    logs, weights = np.array(rest).T
    whole, expected = weights.sum(), []
    for share in SHARES:
        end = np.searchsorted(np.cumsum(weights), max(share * whole, min(LEAST, whole)) - 1e-9)
        end = min(end, len(logs) - 1)
        count, reach = weights[: end + 1].sum(), logs[end]
        mean = reach - np.average(logs[: end + 1], weights=weights[: end + 1])
        exponents = np.geomspace(1e-3, 1e3, 400_001)
        means = 1 / exponents - reach / np.expm1(np.minimum(exponents * reach, 500))
        exponent = exponents[np.abs(means - mean).argmin()]
        expected.append(count / 2 / np.expm1(exponent * reach))
    return len(lists) - np.sum(1 / (1 + near)), max(expected)


def test_the_excess_is_that_of_a_plain_loop():
    lists = lists_of(cosines(np.vstack([normals(60), copied(normals(6, seed=2), 3, 0.1)])))
    thresholds = np.array([0.99, 0.9, 0.8])
    found = excess(lists, thresholds)
    for i, threshold in enumerate(thresholds):
        removed, false = slow_excess(lists, threshold)
        assert found.removed[i] == pytest.approx(removed, rel=1e-12)
        if false < len(lists):  # else as many as there are, and more
            assert found.false[i] == pytest.approx(false, rel=1e-3)
    assert (found.cautious >= found.false).all()


def test_the_exponent_of_a_power_law_is_found():
    for exponent, reach in ((2.0, 1.5), (10.0, 0.3), (0.5, 4.0)):
        x = np.log1p((np.arange(20_000) + 0.5) / 20_000 * np.expm1(exponent * reach)) / exponent
        mean = np.array([reach - x.mean()])
        assert _exponents(mean, np.array([reach])) == pytest.approx(exponent, rel=1e-3)


@pytest.mark.parametrize("times", [2, 5])
def test_the_threshold_stands_between_copies_and_the_rest(times):
    X = np.vstack([copied(normals(40), times, 0.02), normals(40, seed=3)])
    K = cosines(X)
    group = np.r_[np.repeat(np.arange(40), times), 40 + np.arange(40)]
    same = group[:, None] == group
    threshold = best_threshold(lists_of(K))
    assert K[~same].max() < threshold <= K[same].min()
    assert false_share(lists_of(K), threshold) < 0.01
    assert false_share(lists_of(K), 0.3) > 0.1


def test_where_nothing_stands_out_few_or_only_identical_samples_are_named():
    for seed in range(5):
        assert best_threshold(lists_of(cosines(normals(200, seed=seed)))) == 0.95
    dense = cosines(1 + 0.3 * normals(200))  # all within 0.95 of another
    assert best_threshold(lists_of(dense)) == 1.0


@pytest.mark.parametrize(("far", "expected"), [(2, 0.95), (20, 0.6)])
def test_the_usual_threshold_stays_unless_another_finds_a_fifth_more(far, expected):
    """Copies of 20 samples are 0.97 alike, and copies of two or twenty others are 0.7 alike."""
    n = 100
    K = np.full((n, n), 0.1) + 0.1 * cosines(normals(n)) + 0.8 * np.eye(n)
    for i, alike in [(i, 0.97) for i in range(20)] + [(20 + i, 0.7) for i in range(far)]:
        K[2 * i, 2 * i + 1] = K[2 * i + 1, 2 * i] = alike
    assert best_threshold(lists_of(K)) == pytest.approx(expected, abs=0.1 * (far > 2))


@pytest.mark.parametrize("level", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 40])
def test_constant_similarities_part_nothing(n, level):
    lists = lists_of(np.full((n, n), level) + (1 - level) * np.eye(n))
    assert best_threshold(lists) == (1.0 if level > 0.95 and n > 1 else 0.95)
    assert 0 <= false_share(lists, 0.5) <= 1
    assert dependent_share(MatrixSimilarity(np.full((n, n), level) + (1 - level) * np.eye(n))) == 0


def test_lists_have_distinct_samples_the_nearest_first():
    X = normals(100)
    K = cosines(np.vstack([X, X[:10]]))
    lists = lists_of(K)
    A = cosines(X) - 2 * np.eye(100)
    assert lists.shape == (100, DEPTH)
    assert np.isneginf(lists).sum() == 0
    np.testing.assert_allclose(lists[50:, 0], A.max(axis=1)[50:], atol=1e-12)


def test_the_shortest_number_in_a_gap():
    assert _shortest(0.847, 0.8713) == 0.87
    assert _shortest(0.8705, 0.8713) == 0.871
    assert _shortest(0.2, 1.0) == 1.0
    assert _shortest(0.99999, 0.999991) == 0.999991


@pytest.mark.parametrize(("n", "times"), [(8, 2), (20, 2), (20, 5), (100, 2), (100, 5)])
def test_near_copies_look_dependent(n, times):
    X = copied(normals(n // times), times, 0.02)
    assert dependent_share(as_similarity(X, k="cosine")) > 0.9
    some = np.vstack([normals(n, seed=5), copied(normals(n // 2, seed=6), 2, 0.02)])
    assert dependent_share(as_similarity(some, k="cosine")) == pytest.approx(0.5, abs=0.1)


def test_independent_samples_do_not():
    rng = np.random.default_rng(0)
    said = [
        dependent_share(as_similarity(normals(n, d, seed), k=k))
        for n in (8, 20, 60)
        for d in (2, 20)
        for k in ("cosine", "rbf")
        for seed in range(5)
    ]
    assert np.mean(np.array(said) > 0) < 0.1
    for labels in ([0] * 30, rng.integers(0, 5, 30).tolist(), list(range(30))):
        assert dependent_share(as_similarity(labels, k="labels")) == 0
    modes = 20 * rng.standard_normal((5, 1, 4)) + rng.standard_normal((5, 30, 4))
    assert dependent_share(as_similarity(modes.reshape(-1, 4), k="rbf")) == 0


def test_of_many_samples_some_rows_tell_the_share():
    X = copied(normals(900), 2, 0.02)
    assert dependent_share(as_similarity(X, k="cosine")) > 0.9
