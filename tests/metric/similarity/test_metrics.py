"""Names, properties and options of metrics."""

import numpy as np
import pytest
import scipy.spatial.distance

from vendiscore.similarity.distance_matrix import compute_distances
from vendiscore.similarity.metrics import (
    HOMOGENEOUS,
    METRICS,
    NEGATIVE_TYPE,
    SCIPY_METRICS,
    check_metric,
    check_metric_options,
)

RNG = np.random.default_rng(0)
X = RNG.random((12, 5)) + 0.1


@pytest.mark.parametrize("metric", SCIPY_METRICS)
def test_scipy_metrics_match_cdist(metric):
    expected = scipy.spatial.distance.cdist(X, X, metric)
    np.testing.assert_allclose(compute_distances(X, metric), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("metric", [metric for metric in METRICS if metric in NEGATIVE_TYPE])
def test_negative_type_metrics_give_positive_semidefinite_similarities(metric):
    rows = RNG.integers(0, 3, (12, 5)) if metric == "hamming" else X
    rows = np.unique(rows, axis=0).astype(float)
    D = compute_distances(rows, metric)
    min_eigenvalues = [np.linalg.eigvalsh(np.exp(-t * D))[0] for t in (0.01, 0.1, 1, 10)]
    assert min(min_eigenvalues) > -1e-10


def test_chebyshev_is_not_of_negative_type():
    # The cocktail-party points of Meckes, 2013, at the maximum distance.
    rows = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1], [1, 0], [0, 1], [-1, 0], [0, -1]]) * 1.0
    rows = np.concatenate([np.column_stack([rows, s * np.ones(8)]) for s in (-1, 0, 1)])
    D = compute_distances(rows, "chebyshev")
    assert min(np.linalg.eigvalsh(np.exp(-t * D))[0] for t in np.linspace(0.1, 1, 10)) < 0
    assert "chebyshev" not in NEGATIVE_TYPE


@pytest.mark.parametrize("metric", METRICS)
def test_homogeneous_metrics_scale_with_the_rows(metric):
    scaled, unscaled = compute_distances(X * 3, metric), compute_distances(X, metric)
    is_homogeneous = np.allclose(scaled, 3 * unscaled, rtol=1e-9)
    if metric in HOMOGENEOUS:
        assert is_homogeneous
    elif metric != "minkowski":  # has its own rule for the distance scale
        assert not is_homogeneous


def test_unknown_metrics_are_rejected_with_a_suggestion():
    for metric in (*METRICS, max):
        check_metric(metric)
    check_metric("kernel", ("kernel",))
    with pytest.raises(ValueError, match=r"unknown `metric='euclidian'`.*'euclidean'"):
        check_metric("euclidian")
    for metric in ("kernel", None, 3):
        with pytest.raises(ValueError, match="unknown `metric="):
            check_metric(metric)


def test_only_minkowski_accepts_an_option():
    assert check_metric_options("minkowski", {"exponent": 3}) == {"exponent": 3.0}
    assert check_metric_options("minkowski", {"exponent": 1}) == {"exponent": 1.0}
    assert check_metric_options("euclidean", {}) == {}
    with pytest.raises(TypeError, match="`exponent` is not an option of metric 'euclidean'"):
        check_metric_options("euclidean", {"exponent": 3})
    with pytest.raises(ValueError, match=r"`exponent` must be a number of at least 1, got 0\.9"):
        check_metric_options("minkowski", {"exponent": 0.9})
