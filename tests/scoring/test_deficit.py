"""Intervals of few samples: their pieces against brute force, and how often they hold."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from vendiscore import as_similarity, compute
from vendiscore.scoring import deficit
from vendiscore.scoring.deficit import log_ends, poisson, repeats_of
from vendiscore.scoring.jackknife import jackknife
from vendiscore.spectral.vendi import spectrum_of

ORDERS = [0.5, 1, 2, 3, math.inf]


@pytest.mark.parametrize("count", [0.0, 0.4, 1.0, 7.0, 300.0])
def test_a_count_has_the_ends_of_garwood(count):
    low, high = poisson(count, 0.95)
    assert high == pytest.approx(chi2.ppf(0.975, 2 * count + 2) / 2)
    assert low == pytest.approx(chi2.ppf(0.025, 2 * count) / 2 if count else 0)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("n", [4, 9, 50])
def test_closed_forms_are_scores_of_labels(n, q):
    pair = compute([0, *range(n - 1)], k="labels", q=q)["VS"]
    assert deficit.deficit_of_pair(n, q) == pytest.approx(math.log(n / pair))
    beside = compute([0] * (n - 2) + [1, 2], k="labels", q=q)["VS"]
    assert deficit.log_beside(n, 2, q) == pytest.approx(math.log(beside))


def test_pairs_are_counted():
    labels = as_similarity(list("aabbbc"), k="labels")
    assert repeats_of(labels) == (6, 4, 4, 3, True, False)
    X = np.random.default_rng(0).normal(size=(12, 5))
    similarity = as_similarity(X, k="cosine")
    found, K = repeats_of(similarity), similarity.dense()
    squares = np.array([K[i, j] ** 2 for j in range(12) for i in range(j)])
    assert found.pairs == pytest.approx(squares.sum() ** 2 / (squares**2).sum())
    assert found.squares == pytest.approx(squares.sum())
    assert (found.plain, found.negative) == (False, True)


def test_many_labels_are_counted_by_kind_and_other_samples_not_at_all():
    kinds = np.random.default_rng(0).integers(0, 30, 900)
    labels = as_similarity(kinds.tolist(), k="labels")
    found = repeats_of(labels, spectrum_of(labels))
    counts = np.bincount(kinds)
    assert found.plain
    assert found.pairs == pytest.approx((counts * (counts - 1) / 2).sum())
    assert found.odd == pytest.approx(900 - counts.max())
    X = as_similarity(np.random.default_rng(0).normal(size=(900, 3)), k="cosine")
    assert repeats_of(X, spectrum_of(X)) is None


@pytest.mark.parametrize("q", [0.5, 1, 2, math.inf])
@pytest.mark.parametrize("n", [4, 8, 20])
@pytest.mark.parametrize("kinds", ["even", "one"])
def test_intervals_of_labels_hold(kinds, n, q):
    """benchmarks/intervals.py draws more, of real data, up to 400."""
    rng = np.random.default_rng(0)
    shares = np.full(20, 1 / 20) if kinds == "even" else np.r_[0.95, np.full(5, 0.01)]
    sets = [rng.choice(len(shares), n, p=shares).tolist() for _ in range(150)]
    held, logs = [], []
    for labels in sets:
        similarity = as_similarity(labels, k="labels")
        spectrum = spectrum_of(similarity, vectors=True)
        found = jackknife(spectrum, q)
        held.append(log_ends(found, n, q, 0.95, repeats_of(similarity)))
        logs.append(found.log)
    low, high = np.transpose(held)
    assert np.mean((low <= np.mean(logs)) & (np.mean(logs) <= high)) >= 0.9
