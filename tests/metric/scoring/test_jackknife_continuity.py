"""No interval jumps where the number of clusters or samples, or the order, passes a switch."""

import math

import numpy as np
import pytest

from vendiscore import compare, compute, growth
from vendiscore.result import key_at

# Samples of clusters are also scored without `clusters`, which causes a warning.

SIZES = {"five each": [5], "1 to 10": range(1, 11), "1, 1, 1, 8": [1, 1, 1, 8]}
KERNELS = [{"k": "cosine"}, {"k": "rbf", "sigma": 2.0}]


def in_clusters(sizes, clusters, seed=0):
    """Return rows near one centre for each cluster, and the cluster of each row."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(clusters), np.resize(SIZES[sizes], clusters))
    falling = np.exp(-np.arange(32) / 8)
    centres = rng.standard_normal((clusters, 32))
    return (centres[codes] + 0.3 * rng.standard_normal((len(codes), 32))) * falling, codes


def ends(found):
    key = next(iter(found))
    return np.array([found[f"{key}_low"], found[f"{key}_high"]])


def error(found):
    return found[f"{next(iter(found))}_se"]


def check_alike(one, other):
    """Check that ends agree within a tenth of the width, and widths are in proportion to errors."""
    width = np.ptp(ends(one))
    assert ends(other) == pytest.approx(ends(one), abs=0.1 * width)
    assert np.ptp(ends(other)) / width == pytest.approx(error(other) / error(one), rel=0.1)


@pytest.mark.parametrize("how", KERNELS, ids=["cosine", "rbf"])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("q", [1, 2, 3])
def test_interval_is_continuous_at_fifty_clusters(sizes, q, how):
    X, codes = in_clusters(sizes, 51)
    fifty = codes < 50
    one = compute(X[fifty], q=q, ci=0.95, clusters=codes[fifty], **how)
    other = compute(X, q=q, ci=0.95, clusters=codes, **how)
    key = key_at(q)
    low, high = ends(other) - (other[key] - one[key])  # the score itself is of more samples
    check_alike(one, other | {f"{key}_low": low, f"{key}_high": high})


@pytest.mark.parametrize("how", KERNELS, ids=["cosine", "rbf"])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("clusters", [8, 60])
def test_interval_is_continuous_at_order_two(sizes, clusters, how):
    X, codes = in_clusters(sizes, clusters)
    for of in ({"clusters": codes}, {}):
        check_alike(*(compute(X, q=q, ci=0.95, **of, **how) for q in (2, 2.0001)))


@pytest.mark.parametrize(
    "how", [*KERNELS, {"k": "rbf", "sigma": 0.5}], ids=["cosine", "rbf", "narrow"]
)
@pytest.mark.parametrize("q", [3, 10, "inf"])
def test_interval_is_continuous_at_two_hundred_samples(q, how):
    X = np.random.default_rng(0).standard_normal((201, 16))
    check_alike(*(compute(X[:n], q=q, ci=0.95, **how) for n in (200, 201)))


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("samples", ["vectors", "labels"])
def test_interval_is_continuous_at_four_hundred_samples(samples, q):
    rng = np.random.default_rng(0)
    X, how = rng.standard_normal((401, 16)), {"k": "cosine"}
    if samples == "labels":
        X, how = rng.integers(0, 50, 401).tolist(), {"k": "labels"}
    check_alike(*(compute(X[:n], q=q, ci=0.95, **how) for n in (400, 401)))


@pytest.mark.parametrize("how", KERNELS, ids=["cosine", "rbf"])
@pytest.mark.parametrize("q", [1, 2, 3, math.inf])
def test_intervals_of_compute_growth_and_compare_agree(q, how):
    X, _ = in_clusters("five each", 40)
    one = compute(X, q=q, ci=0.95, **how)
    row = growth(X, [len(X)], q=q, **how)
    width = np.ptp(ends(one))
    assert (row.low[0], row.high[0]) == pytest.approx(ends(one), abs=0.15 * width)
    both = compare(X, X + 0.1, q=q, permutations=19, level=0.9, size=len(X), **how)
    (pair,), (of_set, _) = both.pairs, both.sets
    assert pair.high - pair.low <= 1.6 * (of_set.matched_high - of_set.matched_low)
    narrow = compute(X, q=q, ci=0.9, **how)
    assert (of_set.low, of_set.high) == pytest.approx(ends(narrow), rel=1e-6)
