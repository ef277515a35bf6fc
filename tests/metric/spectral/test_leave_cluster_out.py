"""Leave-cluster-out scores, compared with scores of subsets and with leave-one-out scores."""

import math

import numpy as np
import pytest

from vendiscore import as_similarity
from vendiscore.spectral.leave_cluster_out import leave_cluster_out
from vendiscore.spectral.leave_one_out import compute_log_score, leave_one_out
from vendiscore.spectral.vendi_scores import compute_spectrum

ORDERS = [0.5, 0.9, 1, 1.5, 1.99, 2, 2.0001, 3, 10, 300, math.inf]


def make_clustered_similarity(shape, kernel, clusters):
    """Return a similarity with two identical samples, its spectrum and unequal cluster codes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    X[7] = X[8]
    codes = np.unique(rng.integers(clusters, size=shape[0]), return_inverse=True)[1]
    options = {"sigma": 1.0} if kernel == "rbf" else {}
    similarity = as_similarity(X, k=kernel, **options)
    return similarity, compute_spectrum(similarity, vectors=True), codes


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("clusters", [4, 9, 20])
@pytest.mark.parametrize(
    ("shape", "kernel"), [((40, 60), "cosine"), ((60, 5), "cosine"), ((50, 3), "rbf")]
)
def test_leave_cluster_out_matches_scores_of_the_other_clusters(shape, kernel, clusters, q):
    """The tolerance of log VS is 1e-9, as for `leave_one_out`."""
    similarity, spectrum, codes = make_clustered_similarity(shape, kernel, clusters)
    subsets = [similarity.take(np.flatnonzero(codes != c)) for c in range(codes.max() + 1)]
    expected = [compute_log_score(compute_spectrum(subset), q) for subset in subsets]
    assert leave_cluster_out(spectrum, codes, q) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("q", ORDERS)
def test_leave_cluster_out_of_single_samples_equals_leave_one_out(q):
    _, spectrum, _ = make_clustered_similarity((40, 60), "cosine", 9)
    result = leave_cluster_out(spectrum, np.arange(40), q)
    assert result == pytest.approx(leave_one_out(spectrum, q), abs=1e-9)


@pytest.mark.parametrize("q", [3, 40, math.inf])
def test_leave_cluster_out_is_accurate_for_a_dominant_cluster(q):
    """The remaining Σ λ^q is so small that the integral loses precision."""
    X = np.vstack([np.ones((8, 60)), np.random.default_rng(0).normal(size=(52, 60))])
    similarity = as_similarity(X, k="cosine")
    codes = np.r_[np.zeros(8, int), np.arange(1, 53)]
    remaining = similarity.take(np.arange(8, 60))
    result = leave_cluster_out(compute_spectrum(similarity, vectors=True), codes, q)
    assert result[0] == pytest.approx(compute_log_score(compute_spectrum(remaining), q), abs=1e-9)
