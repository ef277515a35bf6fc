"""Near-copies are detected if distances have two scales, and count as recurrences."""

import math
from dataclasses import replace

import numpy as np
import pytest

from vendiscore import as_similarity, compare, compute
from vendiscore.scoring.jackknife import jackknife
from vendiscore.scoring.near_copies import find_near_copies, merge_near_copies
from vendiscore.scoring.recurrence_intervals import (
    compute_deficit_interval,
    compute_log_score_interval,
    count_recurrences,
    make_log_deficit,
)
from vendiscore.spectral.vendi_scores import compute_spectrum

TOLERANCE = 1e-9


def make_rows(codes: np.ndarray, noise: float, seed: int = 0, columns: int = 16) -> np.ndarray:
    """Return unit rows near a random centre for each code."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(codes.max() + 1, columns))[codes]
    X += noise * rng.normal(size=X.shape)
    return X / np.linalg.norm(X, axis=1)[:, None]


@pytest.mark.parametrize("n", [4, 8, 20, 50, 200])
@pytest.mark.parametrize("noise", [1e-3, 1e-2, 0.1])
def test_near_copies_get_the_codes_of_their_centres(n, noise):
    rng = np.random.default_rng(n)
    codes = np.r_[0, 0, 1, rng.integers(0, n // 2, n - 3)]
    X = make_rows(codes, noise)
    result = find_near_copies(X @ X.T, TOLERANCE)
    assert result is not None
    assert ((result[:, None] == result) == (codes[:, None] == codes)).all()


@pytest.mark.parametrize("n", [4, 8, 20, 50])
@pytest.mark.parametrize("columns", [1, 2, 8, 64])
def test_false_positive_rate_is_at_most_the_level(n, columns):
    """The level is 5 %; a true rate of 5 % gives more than 30 of 300 with probability 2e-4."""
    n_positive = 0
    for seed in range(300):
        X = np.random.default_rng(seed).normal(size=(n, columns))
        squared = ((X[:, None] - X) ** 2).sum(axis=2)
        n_positive += find_near_copies(np.exp(-squared / 8), TOLERANCE) is not None
    assert n_positive <= 30


@pytest.mark.parametrize("k", [0, 0.3, 0.99])
def test_equally_similar_samples_have_no_near_copies(k):
    rounded = np.random.default_rng(0).normal(0, 1e-16, (9, 9))
    assert find_near_copies(np.full((9, 9), k) + (1 - k) * np.eye(9) + rounded, TOLERANCE) is None


def test_tied_distances_count_once():
    """Answers of a template have equal distances; two other answers are a little farther."""
    K = np.full((8, 8), 0.8)
    K[6:] = K[:, 6:] = 0.5
    K[6, 7] = K[7, 6] = 0.4
    np.fill_diagonal(K, 1)
    assert find_near_copies(K, TOLERANCE) is None


@pytest.mark.parametrize(
    ("distance", "is_found"), [(0.05, True), (0.4, True), (0.49, True), (0.51, False)]
)
def test_near_copies_require_a_similarity_of_at_least_half(distance, is_found):
    """Centres have distances of at least 0.999, near-copies have the distance `distance`."""
    K = np.eye(12) + 0.001 * np.random.default_rng(0).random((12, 12))
    K = (K + K.T) / 2
    K[[0, 1], [1, 0]] = 1 - distance
    np.fill_diagonal(K, 1)
    codes = find_near_copies(K, TOLERANCE)
    assert (codes is not None) == is_found
    if codes is not None:
        assert codes.tolist() == [0, 0, *range(1, 11)]


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_samples_have_no_near_copies(n):
    X = make_rows(np.zeros(n, int), 1e-3)
    assert find_near_copies(X @ X.T, TOLERANCE) is None


def test_merged_similarities_do_not_depend_on_order_of_samples():
    codes = np.array([0, 0, 0, 1, 1, 2, 3])
    counts = np.array([1, 2, 1, 3, 1, 1, 1])
    X = make_rows(codes, 0.01)
    K = X @ X.T
    merged, totals = merge_near_copies(K, counts, codes)
    assert totals.tolist() == [4, 4, 1, 1]
    a, b = counts[:3] / 4, counts[3:5] / 4
    assert merged[0, 1] == pytest.approx(a @ K[:3, 3:5] @ b)
    assert merged.diagonal() == pytest.approx(np.ones(4))
    assert np.linalg.eigvalsh(merged).min() > 0
    order = np.random.default_rng(0).permutation(7)
    reordered, reordered_totals = merge_near_copies(K[order][:, order], counts[order], codes[order])
    assert (reordered, reordered_totals) == (pytest.approx(merged), pytest.approx(totals))


@pytest.mark.parametrize("q", [0.5, 1, 2, math.inf])
@pytest.mark.parametrize("n", [4, 8, 20])
@pytest.mark.parametrize("source", ["three even", "geometric"])
def test_intervals_of_near_copies_cover_the_expected_score(source, n, q):
    """benchmarks/few_samples.py tests more populations."""
    rng = np.random.default_rng(n)
    p = np.ones(3) if source == "three even" else 0.5 ** np.arange(12)
    centres = rng.normal(size=(len(p), 32))
    limits, log_scores = [], []
    for _ in range(150):
        X = centres[rng.choice(len(p), n, p=p / p.sum())]
        similarity = as_similarity(X + 1e-3 * rng.normal(size=X.shape), k="rbf", sigma=2.0)
        result = jackknife(compute_spectrum(similarity, vectors=True), q)
        limits.append(compute_log_score_interval(result, n, q, 0.95, count_recurrences(similarity)))
        log_scores.append(result.log_score)
    low, high = np.transpose(limits)
    # 6.7 % of sets of four from the geometric population show a single centre, so only one scale.
    assert np.mean((low <= np.mean(log_scores)) & (np.mean(log_scores) <= high)) >= 0.9


@pytest.mark.parametrize("n", [4, 8, 20])
def test_interval_of_near_copies_is_close_to_interval_of_duplicates(n):
    codes = np.resize([0, 1, 2, 0], n)
    near_copies, duplicates = (make_rows(codes, noise) for noise in (1e-4, 0.0))
    expected = compute(duplicates, score_X=True, ci=0.95)
    result = compute(near_copies, score_X=True, ci=0.95, details=True)
    for end in ("VS_low", "VS_high"):
        assert result[end] == pytest.approx(expected[end], rel=0.02)
    assert f"{n} samples form 3 groups of near-copies" in result["details"]["notes"][-1]


@pytest.mark.parametrize("q", [0.5, 1])
def test_interval_excludes_error_from_near_copies(q):
    """Two samples of each of five centres tie, so distances do not show how often items recur."""
    X = make_rows(np.repeat(np.arange(5), 2), 0.1, columns=64)
    similarity = as_similarity(X, k="cosine")
    repeats = count_recurrences(similarity)
    assert repeats.merged is not None
    result = jackknife(compute_spectrum(similarity, vectors=True), q)
    deficit = make_log_deficit(q)
    proportions = repeats.merged.counts / 10
    added_deficit = deficit(repeats.merged.K, proportions, 10) - deficit(
        repeats.K, repeats.counts / 10, 10
    )
    assert 0 < result.error < abs(added_deficit)
    without_error = replace(result, error=0.0)
    ends = compute_deficit_interval(math.log(10) - result.log_score, result, 0.95, repeats, deficit)
    merged_ends = compute_deficit_interval(
        math.log(10) - result.log_score + added_deficit,
        without_error,
        0.95,
        repeats.merged,
        deficit,
    )
    unmerged_ends = compute_deficit_interval(
        math.log(10) - result.log_score, result, 0.95, repeats._replace(merged=None), deficit
    )
    expected = (
        min(unmerged_ends[0], merged_ends[0] - added_deficit),
        max(unmerged_ends[1], merged_ends[1] - added_deficit),
    )
    assert ends == pytest.approx(expected)
    assert ends != pytest.approx(unmerged_ends)


def test_upper_limit_of_few_similar_samples_matches_logit():
    X = np.array([[1, 0.01], [1, 0.12], [1, 0.2], [1, 0.33]])
    similarity = as_similarity(X, k="cosine")
    result = jackknife(compute_spectrum(similarity, vectors=True), 1.0)
    t_value, max_log_score = 3.182446, math.log(4)
    proportion = result.log_score / max_log_score
    logit = math.log(proportion / (1 - proportion)) + t_value * result.error / (
        max_log_score * proportion * (1 - proportion)
    )
    upper = max_log_score / (1 + math.exp(-logit))
    assert upper > result.log_score + t_value * result.error
    without_cluster = count_recurrences(similarity)._replace(K=np.eye(4))  # without a tight cluster
    assert compute_log_score_interval(result, 4, 1.0, 0.95, without_cluster)[1] == pytest.approx(
        upper
    )
    assert (
        compute_log_score_interval(result, 4, 1.0, 0.95, count_recurrences(similarity))[1] >= upper
    )


def test_compare_intervals_of_near_copies_match_duplicates():
    codes = np.resize([0, 1, 2, 0], 40)
    by = ["a"] * 20 + ["b"] * 20
    near_copies, duplicates = (
        compare(make_rows(codes, noise), by=by, score_X=True, permutations=19).sets
        for noise in (1e-4, 0.0)
    )
    for row, expected in zip(near_copies, duplicates, strict=True):
        assert (row.low, row.high) == pytest.approx((expected.low, expected.high), rel=0.02)
