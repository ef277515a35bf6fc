"""Scores without each cluster: against leaving it out, and against leaving single samples out."""

import math

import numpy as np
import pytest

from vendiscore import as_similarity, effective_number
from vendiscore.core.shares import shares_above
from vendiscore.spectral.clusters import effective_numbers, leave_cluster_out, positive_shares
from vendiscore.spectral.rank_one import leave_one_out, log_score
from vendiscore.spectral.vendi_scores import spectrum_of

ORDERS = [0.5, 0.9, 1, 1.5, 1.99, 2, 2.0001, 3, 10, 300, math.inf]


def drawn(shape, kernel, clusters):
    """Return a similarity with two equal samples, its spectrum, and clusters of unequal sizes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    X[7] = X[8]
    codes = np.unique(rng.integers(clusters, size=shape[0]), return_inverse=True)[1]
    options = {"sigma": 1.0} if kernel == "rbf" else {}
    similarity = as_similarity(X, k=kernel, **options)
    return similarity, spectrum_of(similarity, vectors=True), codes


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("clusters", [4, 9, 20])
@pytest.mark.parametrize(
    ("shape", "kernel"), [((40, 60), "cosine"), ((60, 5), "cosine"), ((50, 3), "rbf")]
)
def test_every_cluster_is_left_out(shape, kernel, clusters, q):
    """To 1e-9 of log VS: the tolerance of `leave_one_out`, for clusters of a few samples."""
    similarity, spectrum, codes = drawn(shape, kernel, clusters)
    others = [similarity.take(np.flatnonzero(codes != c)) for c in range(codes.max() + 1)]
    expected = [log_score(spectrum_of(some), q) for some in others]
    assert leave_cluster_out(spectrum, codes, q) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("q", ORDERS)
def test_clusters_of_one_sample_are_samples(q):
    _, spectrum, _ = drawn((40, 60), "cosine", 9)
    found = leave_cluster_out(spectrum, np.arange(40), q)
    assert found == pytest.approx(leave_one_out(spectrum, q), abs=1e-9)


@pytest.mark.parametrize("q", [3, 40, math.inf])
def test_a_cluster_that_makes_up_most_of_a_high_order_is_left_out(q):
    """So little of Σ λ^q is left that the integral loses its decimal places."""
    X = np.vstack([np.ones((8, 60)), np.random.default_rng(0).normal(size=(52, 60))])
    similarity = as_similarity(X, k="cosine")
    codes = np.r_[np.zeros(8, int), np.arange(1, 53)]
    rest = similarity.take(np.arange(8, 60))
    found = leave_cluster_out(spectrum_of(similarity, vectors=True), codes, q)
    assert found[0] == pytest.approx(log_score(spectrum_of(rest), q), abs=1e-9)


def test_rows_of_eigenvalues_are_shares_without_rounding():
    values = np.array([[-1e-3, 1e-17, 1.0, 3.0], [0.0, 2.0, 2.0, 4.0]])
    positive = positive_shares(values)
    assert positive == pytest.approx(np.array([[0, 0, 0.25, 0.75], [0, 0.25, 0.25, 0.5]]))
    assert (positive[0, :2] == 0).all()
    assert (shares_above(values, 1.5) > 0).sum() == 4


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, math.inf])
def test_numbers_of_rows_are_those_of_each(q):
    rows = np.array([[0.7, 0.2, 0.1], [0.0, 0.6, 0.4], [1.0, 0.0, 0.0]])
    each = [effective_number(row, q) for row in rows]
    assert effective_numbers(rows, q) == pytest.approx(each, rel=1e-12)
