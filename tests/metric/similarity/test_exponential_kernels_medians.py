"""Medians of the distances of all pairs: exact, whatever the drawn pairs say."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from vendiscore import get_kernel
from vendiscore.similarity import exponential_kernels

N = 330
rng = np.random.default_rng(0)
X = rng.standard_normal((N, 30))


def naive(numbers: np.ndarray) -> tuple[float, float]:
    n = len(numbers)
    ordered = np.sort(numbers)
    return ordered[(n - 1) // 2], ordered[n // 2]


def of_pairs(D: np.ndarray, drawn: np.ndarray | None = None) -> tuple[float, float]:
    if drawn is None:
        drawn = D[exponential_kernels.sample_pairs(len(D))]
    return exponential_kernels.find_middle_distances(
        len(D), lambda rows, columns: D[rows, columns].copy(), drawn
    )


def apart(X: np.ndarray) -> np.ndarray:
    return cdist(X, X)


SETS = {
    "normal": lambda n: apart(rng.standard_normal((n, 4))),
    "few distinct": lambda n: apart(rng.integers(0, 3, (n, 2)).astype(float)),
    "all equal": lambda n: np.ones((n, n)),
    "almost equal": lambda n: 1 + 1e-15 * rng.integers(0, 9, (n, n)),
    "sixteen scales": lambda n: apart(10.0 ** rng.uniform(-8, 8, (n, 1))),
    "half and half": lambda n: apart(np.arange(n)[:, None] % 2),
    "infinite": lambda n: np.where(apart(rng.random((n, 1))) > 0.1, np.inf, 1.0),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("n", [2, 3, 65, 200, 600])
def test_the_middle_of_all_pairs_is_exact(name, n, monkeypatch):
    monkeypatch.setattr(exponential_kernels, "MIN_SAMPLED_PAIRS", 500)
    D = SETS[name](n)
    assert of_pairs(D) == naive(D[np.triu_indices(n, 1)])


@pytest.mark.parametrize("drawn", [[0.0], [0.0] * 2000, [9.0] * 2000, np.linspace(2, 3, 999)])
def test_a_sample_that_misleads_costs_passes_and_no_digit(drawn):
    D = apart(rng.random((300, 3)))
    assert of_pairs(D, np.asarray(drawn)) == naive(D[np.triu_indices(300, 1)])


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("d", [2, 30])
@pytest.mark.parametrize("whole", [False, True])
def test_the_bandwidth_of_many_samples_is_their_median_distance(kernel, d, whole):
    Y = np.random.default_rng(d).standard_normal((900, d))
    Y = np.vstack([Y, Y[:300]])
    Y = np.round(Y) if whole else Y
    metric = "euclidean" if kernel == "rbf" else "cityblock"
    expected = np.median(pdist(np.unique(Y + 0.0, axis=0), metric))
    assert get_kernel(kernel).fit(Y) == pytest.approx({"sigma": expected}, rel=1e-13)


def test_one_outlier_or_two_clusters_do_not_mislead_the_bandwidth():
    for far in (np.eye(N, 1) * 1e9, 1e9 * (np.arange(N)[:, None] < N * 0.3)):
        Y = X + far
        expected = np.median(pdist(Y))
        assert get_kernel("rbf").fit(Y)["sigma"] == pytest.approx(expected, rel=1e-13)
