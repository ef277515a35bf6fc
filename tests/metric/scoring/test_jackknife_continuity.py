"""Intervals change little where the number of samples or the order switches the method."""

import math

import numpy as np
import pytest

from vendiscore import compare, compute, growth
from vendiscore.result import key_at

# Clustered samples are also scored without `clusters`.

SIZES = {"five each": [5], "1 to 10": range(1, 11), "1, 1, 1, 8": [1, 1, 1, 8]}
KERNELS = [{"k": "cosine"}, {"k": "rbf", "sigma": 2.0}]


def make_clusters(sizes, n_clusters, seed=0):
    """Return rows near one centre per cluster, and the cluster of each row."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_clusters), np.resize(SIZES[sizes], n_clusters))
    falling = np.exp(-np.arange(32) / 8)
    centres = rng.standard_normal((n_clusters, 32))
    return (centres[codes] + 0.3 * rng.standard_normal((len(codes), 32))) * falling, codes


def compute_limits(result):
    key = next(iter(result))
    return np.array([result[f"{key}_low"], result[f"{key}_high"]])


def get_standard_error(result):
    return result[f"{next(iter(result))}_se"]


def check_similar_intervals(first, second):
    """Check that limits agree within a tenth of the width; widths are proportional to errors."""
    width = np.ptp(compute_limits(first))
    assert compute_limits(second) == pytest.approx(compute_limits(first), abs=0.1 * width)
    assert np.ptp(compute_limits(second)) / width == pytest.approx(
        get_standard_error(second) / get_standard_error(first), rel=0.1
    )


@pytest.mark.parametrize("options", KERNELS, ids=["cosine", "rbf"])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("q", [1, 2, 3])
def test_interval_is_continuous_at_fifty_clusters(sizes, q, options):
    X, codes = make_clusters(sizes, 51)
    in_first_fifty = codes < 50
    with_fifty = compute(X[in_first_fifty], q=q, ci=0.95, clusters=codes[in_first_fifty], **options)
    with_fifty_one = compute(X, q=q, ci=0.95, clusters=codes, **options)
    key = key_at(q)
    low, high = compute_limits(with_fifty_one) - (
        with_fifty_one[key] - with_fifty[key]
    )  # remove the difference between the scores
    check_similar_intervals(with_fifty, with_fifty_one | {f"{key}_low": low, f"{key}_high": high})


@pytest.mark.parametrize("options", KERNELS, ids=["cosine", "rbf"])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("n_clusters", [8, 60])
def test_interval_is_continuous_at_order_two(sizes, n_clusters, options):
    X, codes = make_clusters(sizes, n_clusters)
    for cluster_options in ({"clusters": codes}, {}):
        check_similar_intervals(
            *(compute(X, q=q, ci=0.95, **cluster_options, **options) for q in (2, 2.0001))
        )


@pytest.mark.parametrize(
    "options", [*KERNELS, {"k": "rbf", "sigma": 0.5}], ids=["cosine", "rbf", "narrow"]
)
@pytest.mark.parametrize("q", [3, 10, "inf"])
def test_interval_is_continuous_at_two_hundred_samples(q, options):
    X = np.random.default_rng(0).standard_normal((201, 16))
    check_similar_intervals(*(compute(X[:n], q=q, ci=0.95, **options) for n in (200, 201)))


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("samples", ["vectors", "labels"])
def test_interval_is_continuous_at_four_hundred_samples(samples, q):
    rng = np.random.default_rng(0)
    X, options = rng.standard_normal((401, 16)), {"k": "cosine"}
    if samples == "labels":
        X, options = rng.integers(0, 50, 401).tolist(), {"k": "labels"}
    check_similar_intervals(*(compute(X[:n], q=q, ci=0.95, **options) for n in (400, 401)))


@pytest.mark.parametrize("options", KERNELS, ids=["cosine", "rbf"])
@pytest.mark.parametrize("q", [1, 2, 3, math.inf])
def test_intervals_of_compute_growth_and_compare_agree(q, options):
    X, _ = make_clusters("five each", 40)
    result = compute(X, q=q, ci=0.95, **options)
    curve = growth(X, [len(X)], q=q, **options)
    width = np.ptp(compute_limits(result))
    assert (curve.low[0], curve.high[0]) == pytest.approx(compute_limits(result), abs=0.15 * width)
    comparison = compare(X, X + 0.1, q=q, permutations=19, level=0.9, size=len(X), **options)
    (pair,), (first_set, _) = comparison.pairs, comparison.sets
    assert pair.high - pair.low <= 1.6 * (first_set.matched_high - first_set.matched_low)
    narrower = compute(X, q=q, ci=0.9, **options)
    assert (first_set.low, first_set.high) == pytest.approx(compute_limits(narrower), rel=1e-6)
