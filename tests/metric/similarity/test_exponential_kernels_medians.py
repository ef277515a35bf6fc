"""Median distances of all pairs are exact, whichever pairs are sampled first."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from vendiscore import get_kernel
from vendiscore.similarity import exponential_kernels

N = 330
rng = np.random.default_rng(0)
X = rng.standard_normal((N, 30))


def middle_values(values: np.ndarray) -> tuple[float, float]:
    n = len(values)
    ordered = np.sort(values)
    return ordered[(n - 1) // 2], ordered[n // 2]


def middle_distances(
    D: np.ndarray, sampled_distances: np.ndarray | None = None
) -> tuple[float, float]:
    if sampled_distances is None:
        sampled_distances = D[exponential_kernels.sample_pairs(len(D))]
    return exponential_kernels.find_middle_distances(
        len(D), lambda rows, columns: D[rows, columns].copy(), sampled_distances
    )


def pairwise_distances(X: np.ndarray) -> np.ndarray:
    return cdist(X, X)


SETS = {
    "normal": lambda n: pairwise_distances(rng.standard_normal((n, 4))),
    "few distinct": lambda n: pairwise_distances(rng.integers(0, 3, (n, 2)).astype(float)),
    "all equal": lambda n: np.ones((n, n)),
    "almost equal": lambda n: 1 + 1e-15 * rng.integers(0, 9, (n, n)),
    "scales over 16 decades": lambda n: pairwise_distances(10.0 ** rng.uniform(-8, 8, (n, 1))),
    "two values": lambda n: pairwise_distances(np.arange(n)[:, None] % 2),
    "infinite": lambda n: np.where(pairwise_distances(rng.random((n, 1))) > 0.1, np.inf, 1.0),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("n", [2, 3, 65, 200, 600])
def test_middle_distances_of_all_pairs_are_exact(name, n, monkeypatch):
    monkeypatch.setattr(exponential_kernels, "MIN_SAMPLED_PAIRS", 500)
    D = SETS[name](n)
    assert middle_distances(D) == middle_values(D[np.triu_indices(n, 1)])


@pytest.mark.parametrize(
    "sampled_distances", [[0.0], [0.0] * 2000, [9.0] * 2000, np.linspace(2, 3, 999)]
)
def test_middle_distances_are_exact_for_misleading_pair_samples(sampled_distances):
    D = pairwise_distances(rng.random((300, 3)))
    assert middle_distances(D, np.asarray(sampled_distances)) == middle_values(
        D[np.triu_indices(300, 1)]
    )


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("d", [2, 30])
@pytest.mark.parametrize("is_rounded", [False, True])
def test_bandwidth_of_many_samples_is_their_median_distance(kernel, d, is_rounded):
    Y = np.random.default_rng(d).standard_normal((900, d))
    Y = np.vstack([Y, Y[:300]])
    Y = np.round(Y) if is_rounded else Y
    metric = "euclidean" if kernel == "rbf" else "cityblock"
    expected = np.median(pdist(np.unique(Y + 0.0, axis=0), metric))
    assert get_kernel(kernel).fit(Y) == pytest.approx({"sigma": expected}, rel=1e-13)


def test_bandwidth_is_exact_with_outlier_or_two_clusters():
    for offsets in (np.eye(N, 1) * 1e9, 1e9 * (np.arange(N)[:, None] < N * 0.3)):
        Y = X + offsets
        expected = np.median(pdist(Y))
        assert get_kernel("rbf").fit(Y)["sigma"] == pytest.approx(expected, rel=1e-13)
