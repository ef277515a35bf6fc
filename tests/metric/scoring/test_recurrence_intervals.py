"""Intervals of few samples: components compared with brute force, and coverage."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta, chi2, t

from vendiscore import as_similarity, compute
from vendiscore.result import key_at
from vendiscore.scoring.jackknife import jackknife
from vendiscore.scoring.recurrence_intervals import (
    RecurrenceCounts,
    compute_log_score_interval,
    count_recurrences,
    make_log_deficit,
    poisson_lower_limit,
)
from vendiscore.spectral.vendi_scores import compute_spectrum

ORDERS = [0.5, 1, 2, 3, math.inf]


@pytest.mark.parametrize("count", [0.4, 1.0, 7.0, 300.0])
def test_poisson_lower_limit_matches_garwood(count):
    assert poisson_lower_limit(count, 0.95) == pytest.approx(chi2.ppf(0.025, 2 * count) / 2)


@pytest.mark.parametrize("count", [1, 3, 8])
def test_proportion_interval_matches_jeffreys(count):
    """The posterior of a proportion after `count` of 8, with the prior Beta(1/2, 1/2)."""
    labels = as_similarity(["a"] * count + list("bcdefghi")[: 8 - count], k="labels")
    low, high = count_recurrences(labels).compute_proportion_interval(0.95)
    assert low == pytest.approx(beta.ppf(0.025, count + 0.5, 8.5 - count))
    assert high == pytest.approx(1 if count == 8 else beta.ppf(0.975, count + 0.5, 8.5 - count))


@pytest.mark.parametrize("q", ORDERS)
def test_log_deficit_of_items_matches_samples(q):
    texts = ["a cat", "a cat", "a dog", "the dog", "a cat", "one bird"]
    result = count_recurrences(as_similarity(texts))
    scored = compute(texts, q=q)[key_at(q)]
    assert make_log_deficit(q)(result.K, result.counts / 6, 6) == pytest.approx(
        math.log(6 / scored)
    )
    pair = compute([0, *range(5)], k="labels", q=q)[key_at(q)]
    proportions = np.array([2, 1, 1, 1, 1]) / 6
    assert make_log_deficit(q)(np.eye(5), proportions, 6) == pytest.approx(math.log(6 / pair))


def test_cached_log_deficits_depend_on_similarities():
    """The deficit depends on similarities and proportions; n only changes log n."""
    proportions = np.array([0.5, 0.3, 0.2])
    deficit = make_log_deficit(1.0, [(np.eye(3), proportions, 2.0)])
    assert deficit(np.eye(3), proportions, 8) == pytest.approx(
        math.log(4)
    )  # the value that was passed
    K_similar = np.full((3, 3), 0.6) + 0.4 * np.eye(3)
    for K in (K_similar, np.ones((3, 3)), K_similar):
        for n in (5, 9):
            assert deficit(K, proportions, n) == make_log_deficit(1.0)(K, proportions, n)
    assert deficit(np.ones((3, 3)), proportions, 5) == pytest.approx(math.log(5))


@pytest.mark.parametrize("n_others", [0, 4, 5, 6])
def test_upper_limit_admits_unseen_items_up_to_a_quarter_of_others(n_others):
    """The upper limit is the score with the minimum proportion of the most common label."""
    n = 20
    labels = as_similarity([0] * (n - n_others) + list(range(1, n_others + 1)), k="labels")
    result = jackknife(compute_spectrum(labels, vectors=True), 2.0)
    without_error = replace(result, error=0.0, mean_drop=0.0)
    high = compute_log_score_interval(without_error, n, 2.0, 0.95, count_recurrences(labels))[1]
    min_proportion = beta.ppf(0.025, n - n_others + 0.5, n_others + 0.5) / (n - n_others)
    proportions = np.append(min_proportion * (n - n_others), np.full(n_others, 1 / n))
    unseen = n * (1 - proportions.sum())
    proportions = np.r_[proportions, np.full(int(unseen), 1 / n), (unseen % 1) / n]
    expected = -math.log((proportions**2).sum())
    assert expected > result.log_score
    assert (high == pytest.approx(expected)) == (n_others <= n / 4)


@pytest.mark.parametrize("columns", [2, 64, 4096])
def test_products_of_equal_rows_differ_by_at_most_two_roundings(columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, columns))
    X = np.vstack([X, X * (1 + 1e-7 * rng.normal(size=X.shape))]).astype(np.float32)
    X /= np.linalg.norm(X, axis=1)[:, None]
    K = X @ X.T
    squared_norms = K.diagonal()
    distances = (squared_norms[:40] + squared_norms[40:]) / 2 - K.diagonal(40)
    assert abs(distances).max() <= 2 * np.finfo(np.float32).eps


def test_raise_central_proportion_takes_from_most_similar_items():
    K = np.array([[1, 0.1, 0.8, 0.3], [0.1, 1, 0, 0], [0.8, 0, 1, 0], [0.3, 0, 0, 1]])
    result = RecurrenceCounts(8, 7, K, np.array([4, 1, 2, 1]))
    assert result.raise_central_proportion(0.5) == pytest.approx(np.array([4, 1, 2, 1]) / 8)
    assert result.raise_central_proportion(0.7) == pytest.approx(np.array([5.6, 1, 0.4, 1]) / 8)
    assert result.raise_central_proportion(0.9) == pytest.approx(np.array([7.2, 0.8, 0, 0]) / 8)


def test_count_recurrences_counts_equal_pairs():
    result = count_recurrences(as_similarity(list("aabbbc"), k="labels"))
    assert (result.n, result.equal_pairs, result.has_few_pairs) == (6, 4, True)
    assert sorted(result.counts) == [1, 2, 3]
    assert pytest.approx(np.eye(3)) == result.K


@pytest.mark.parametrize("sigma", [0.2, 0.3, 0.5, 2.0, 3.0])
def test_vectors_are_counted_only_if_few_pairs_explain_the_deficit(sigma):
    X = np.random.default_rng(0).normal(size=(12, 5))
    similarity = as_similarity(X, k="rbf", sigma=sigma)
    result, K = count_recurrences(similarity, allow_repeats=False), similarity.dense()
    squares = np.array([K[i, j] ** 2 for j in range(12) for i in range(j)])
    has_few_pairs = squares.sum() ** 2 < 12 * (squares**2).sum()
    assert (result is not None) == has_few_pairs == (sigma < 1)
    if has_few_pairs:
        assert (result.equal_pairs, result.counts.tolist()) == (0, [1] * 12)
        assert pytest.approx(K) == result.K
    duplicated = as_similarity(np.vstack([X, X[:1]]), k="rbf", sigma=sigma)
    duplicated = count_recurrences(duplicated, allow_repeats=False)
    assert (duplicated.equal_pairs, duplicated.counts.max()) == (1, 2)


def test_many_labels_are_counted_but_many_distinct_samples_are_not():
    labels = np.random.default_rng(0).integers(0, 30, 900)
    result = count_recurrences(as_similarity(labels.tolist(), k="labels"))
    counts = np.bincount(labels)
    assert result.equal_pairs == pytest.approx((counts * (counts - 1) / 2).sum())
    assert sorted(result.counts) == sorted(counts)
    assert count_recurrences(as_similarity([str(i) for i in range(900)], k="labels")) is None
    X = as_similarity(np.random.default_rng(0).normal(size=(900, 3)), k="cosine")
    assert count_recurrences(X) is None


@pytest.mark.parametrize("q", [0.5, 1, 2, math.inf])
@pytest.mark.parametrize("n", [4, 8, 20])
@pytest.mark.parametrize("favourite", [0.0, 0.2])
def test_intervals_cover_score_of_answers_recurring_over_a_background(favourite, n, q):
    """benchmarks/few_samples.py tests more sets from a dozen populations."""
    rng = np.random.default_rng(0)
    answers = [
        f"My favourite name is {name}." for name in ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn"]
    ]
    answers += [f"{i} words of answer {i} alone" for i in range(60)] if favourite else []
    p = np.full(len(answers), (1 - favourite) / (len(answers) - 1))
    p[0] = favourite or p[0]
    limits, log_scores = [], []
    for _ in range(150):
        similarity = as_similarity(rng.choice(answers, n, p=p / p.sum()).tolist())
        result = jackknife(compute_spectrum(similarity, vectors=True), q)
        limits.append(compute_log_score_interval(result, n, q, 0.95, count_recurrences(similarity)))
        log_scores.append(result.log_score)
    low, high = np.transpose(limits)
    assert np.mean((low <= np.mean(log_scores)) & (np.mean(log_scores) <= high)) >= 0.9
    assert (high - low > 0.1).all()


@pytest.mark.parametrize("q", [0.5, 1, 2])
@pytest.mark.parametrize("n", [8, 20, 50])
@pytest.mark.parametrize(("common", "n_common"), [(0.49, 2), (0.46, 2), (0.31, 3)])
def test_intervals_cover_score_with_unseen_rare_labels(common, n_common, n, q):
    """Sets of 50 often contain only two labels of 49 %, which tie; other labels are unique."""
    rng = np.random.default_rng(0)
    ends = {}
    limits, log_scores = [], []
    for _ in range(300):
        draws = (rng.random(n) / common).astype(int)
        labels = np.where(draws < n_common, draws, n_common + np.arange(n))
        counts = tuple(np.sort(np.unique(labels, return_counts=True)[1]))
        if counts not in ends:
            similarity = as_similarity(labels.tolist(), k="labels")
            result = jackknife(compute_spectrum(similarity, vectors=True), q)
            ends[counts] = (
                *compute_log_score_interval(result, n, q, 0.95, count_recurrences(similarity)),
                result.log_score,
            )
        low, high, log_score = ends[counts]
        limits.append((low, high))
        log_scores.append(log_score)
    low, high = np.transpose(limits)
    assert (
        np.mean((low <= np.mean(log_scores) + 1e-9) & (np.mean(log_scores) - 1e-9 <= high)) >= 0.91
    )


@pytest.mark.parametrize("q", [0.5, 1, 2])
@pytest.mark.parametrize("conservative_tails", [True, False])
@pytest.mark.parametrize("counts", [[2, *[1] * 10], [3, 2, *[1] * 7], [2] * 6, [2, 2, 2, 2, 1]])
def test_limits_combine_sampling_error_and_unseen_recurrences(counts, conservative_tails, q):
    """The upper limit is the farther of two; distances to lower limits are added as squares."""
    labels = as_similarity(np.repeat(np.arange(len(counts)), counts).tolist(), k="labels")
    n = labels.n
    repeats = count_recurrences(labels)._replace(conservative_tails=conservative_tails)
    assert 0 < repeats.equal_pairs < n
    result = jackknife(compute_spectrum(labels, vectors=True), q)
    without_error = replace(result, error=0.0, mean_drop=0.0)
    below, above = np.abs(
        np.array(compute_log_score_interval(without_error, n, q, 0.95, repeats)) - result.log_score
    )
    half_width = t.ppf(0.975, n - 1) * result.error
    assert (half_width < above) == (
        max(counts) == 2 and min(counts[:4]) == 2
    )  # labels tie, or nearly tie
    low, high = compute_log_score_interval(result, n, q, 0.95, repeats)
    assert low == pytest.approx(max(0.0, result.log_score - math.hypot(half_width, below)))
    assert high == pytest.approx(min(math.log(n), result.log_score + max(half_width, above)))


def test_duplicates_are_counted_despite_rounding():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 16))[rng.integers(0, 30, 700)]
    counts = np.sort(np.unique(X[:, 0], return_counts=True)[1])
    noisy = X * (1 + 1e-9 * rng.normal(size=X.shape))
    float32_rows = (X * (1 + 1e-7 * rng.normal(size=X.shape))).astype(np.float32)
    unit_rows = noisy / np.linalg.norm(noisy, axis=1)[:, None]
    for similarity in (
        as_similarity(X, k="cosine"),
        as_similarity(noisy, k="cosine"),
        as_similarity(float32_rows, k="cosine"),
        as_similarity(unit_rows @ unit_rows.T, score_K=True),
        as_similarity((unit_rows @ unit_rows.T).astype(np.float32), score_K=True),
    ):
        for n in (700, 20):
            result = count_recurrences(similarity.take(np.arange(n)))
            expected = np.sort(np.unique(X[:n, 0], return_counts=True)[1])
            assert np.sort(result.counts).tolist() == expected.tolist()
    assert (
        count_recurrences(as_similarity(X * 1.001 + 1e-3 * rng.normal(size=X.shape), k="cosine"))
        is None
    )
    assert counts.sum() == 700


def test_duplicates_beyond_the_first_samples_are_counted():
    """Samples are counted in blocks; nearly all samples of the first block are distinct."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(380, 8))
    order = np.r_[np.arange(300), np.arange(300), np.arange(380), np.full(50, 370)]
    noisy = X[order] * (1 + 1e-9 * rng.normal(size=(len(order), 8)))
    result = count_recurrences(as_similarity(noisy, k="cosine"))
    assert result.counts.tolist() == np.bincount(order).tolist()
    unit_rows = X / np.linalg.norm(X, axis=1)[:, None]
    assert pytest.approx(unit_rows @ unit_rows.T, abs=1e-7) == result.K


@pytest.mark.parametrize("q", [0.5, 1, 2, math.inf])
@pytest.mark.parametrize("n", [4, 8, 20])
@pytest.mark.parametrize("source", ["even", "one"])
def test_intervals_cover_score_of_labels(source, n, q):
    """benchmarks/intervals.py tests real data with up to 400 samples."""
    rng = np.random.default_rng(0)
    proportions = np.full(20, 1 / 20) if source == "even" else np.r_[0.95, np.full(5, 0.01)]
    sets = [rng.choice(len(proportions), n, p=proportions).tolist() for _ in range(150)]
    limits, log_scores = [], []
    for labels in sets:
        similarity = as_similarity(labels, k="labels")
        spectrum = compute_spectrum(similarity, vectors=True)
        result = jackknife(spectrum, q)
        limits.append(compute_log_score_interval(result, n, q, 0.95, count_recurrences(similarity)))
        log_scores.append(result.log_score)
    low, high = np.transpose(limits)
    assert np.mean((low <= np.mean(log_scores)) & (np.mean(log_scores) <= high)) >= 0.9


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("n", [4, 8, 20])
@pytest.mark.parametrize("k", [0.3, 0.9])
def test_upper_limit_of_equally_similar_samples_admits_other_items(k, n, q):
    """The upper limit is the score with Jeffreys' minimum proportion of these samples."""
    K = np.full((n, n), k) + (1 - k) * np.eye(n)
    similarity = as_similarity(K, score_K=True)
    result = jackknife(compute_spectrum(similarity, vectors=True), q)
    proportion = beta.ppf(0.025, n + 0.5, 0.5)
    n_others = n * (1 - proportion)
    other_proportions = [1 / n] * int(n_others) + [(n_others - int(n_others)) / n]
    values = np.r_[proportion * np.linalg.eigvalsh(K) / n, other_proportions]
    values = values[values > 1e-12]
    if q == 1:
        log = -(values * np.log(values)).sum()
    else:
        log = -math.log(values.max()) if q == math.inf else np.log((values**q).sum()) / (1 - q)
    high = compute_log_score_interval(result, n, q, 0.95, count_recurrences(similarity))[1]
    assert high == pytest.approx(min(log, math.log(n)))
    assert high > result.log_score + 0.01


@pytest.mark.parametrize("n", [4, 8])
def test_intervals_cover_score_with_a_rare_template(n):
    """A third of sets of four samples contain only one template."""
    rng = np.random.default_rng(n)
    texts = [f"I would call it {i}." for i in range(15)]
    texts += [f"The best name for a ship, to my mind, is the {i}." for i in range(40)]
    p = np.r_[np.full(15, 0.05), np.full(40, 0.25 / 40)]
    limits, log_scores = [], []
    for _ in range(150):
        similarity = as_similarity(rng.choice(texts, n, p=p).tolist())
        result = jackknife(compute_spectrum(similarity, vectors=True), 1)
        limits.append(compute_log_score_interval(result, n, 1, 0.95, count_recurrences(similarity)))
        log_scores.append(result.log_score)
    low, high = np.transpose(limits)
    assert np.mean((low <= np.mean(log_scores)) & (np.mean(log_scores) <= high)) >= 0.93


def make_tight_cluster_with_outliers(rng, n):
    """Return unit vectors of a tight cluster, of which 7 % have random directions."""
    rows = 0.02 * rng.standard_normal((n, 24)) + np.eye(24)[0]
    outliers = rng.random(n) < 0.07
    rows[outliers] = rng.standard_normal((int(outliers.sum()), 24))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("n", [4, 8, 20])
def test_intervals_cover_score_of_tight_cluster_with_outliers(n):
    rng = np.random.default_rng(n)
    truth = np.mean(
        [compute_log_score(make_tight_cluster_with_outliers(rng, n)) for _ in range(1000)]
    )
    covered = 0
    for _ in range(100):
        result = compute(make_tight_cluster_with_outliers(rng, n), k="cosine", ci=0.95)
        covered += result["VS_low"] <= math.exp(truth) <= result["VS_high"]
    assert covered >= 90  # 22 to 78 % if outliers are ignored


def compute_log_score(rows):
    values = np.linalg.eigvalsh(rows @ rows.T / len(rows))
    values = values[values > 1e-12]
    return -float(values @ np.log(values))


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-5, 1e-2])
def test_upper_limit_of_nearly_equal_samples_matches_equal_samples(noise):
    rows = np.eye(24)[[0] * 8] + noise * np.random.default_rng(0).standard_normal((8, 24))
    result = compute(rows, k="cosine", ci=0.95)
    equal = compute(np.eye(24)[[0] * 8], k="cosine", ci=0.95)
    assert result["VS_high"] >= 0.99 * equal["VS_high"] > 2


def test_main_cluster_requires_similarities_above_half():
    K = np.full((8, 8), 0.49) + 0.51 * np.eye(8)
    K[0, 1] = K[1, 0] = 0.4
    repeats = count_recurrences(as_similarity(K, score_K=True))
    assert repeats.find_main_cluster().sum() == 1
    K[K == 0.49] = 0.51
    assert count_recurrences(as_similarity(K, score_K=True)).find_main_cluster().sum() >= 7
