"""Estimates of spectra with eigenvalues below the rounding errors of products."""

import math

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, MatrixSimilarity, NotPSDError, as_similarity, compute
from vendiscore.spectral.estimate import EstimateOptions
from vendiscore.spectral.stochastic_estimate import estimate_by_lanczos
from vendiscore.spectral.vendi_scores import compute_vendi_scores
from vendiscore.spectral.weighted_similarity import weight_similarity

RNG = np.random.default_rng(0)
LOW_DIMENSIONAL = RNG.standard_normal((240, 3))
LOW_RANK = RNG.standard_normal((240, 20)) @ RNG.standard_normal((20, 500))
SIMILARITIES = {
    "rbf": lambda: as_similarity(LOW_DIMENSIONAL, k="rbf", sigma=1.0),
    "wide rbf": lambda: as_similarity(LOW_DIMENSIONAL, k="rbf", sigma=5.0),
    "float32 features": lambda: FeatureSimilarity(LOW_RANK.astype(np.float32)).normalized(),
    "float64 features": lambda: FeatureSimilarity(LOW_RANK).normalized(),
    "float32 matrix": lambda: MatrixSimilarity(
        np.asarray(as_similarity(LOW_DIMENSIONAL, k="rbf", sigma=2.0).dense()).astype(np.float32)
    ).noted(roundoff=float(np.finfo(np.float32).eps)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("p", [None, "uneven"])
@pytest.mark.parametrize("name", SIMILARITIES)
def test_standard_error_includes_rounding_of_products(name, p):
    similarity = SIMILARITIES[name]()
    if p:
        p = np.random.default_rng(1).random(similarity.n) ** 4
        p /= p.sum()
    weighted = weight_similarity(similarity, p)
    for q in (0.4, 0.6, 1.0):
        (result,) = estimate_by_lanczos(weighted, [q], EstimateOptions(1e-3), math.inf)
        value = compute_vendi_scores(similarity, [q], p).values[0]
        assert abs(result.value - value) <= 4 * max(result.error, 1e-6 * value), (q, value, result)


@pytest.mark.parametrize(
    ("X", "kernel", "q", "rtol"),
    [
        (RNG.standard_normal((700, 3)), {"k": "rbf", "sigma": 1.0}, 0.5, 1e-3),
        (RNG.standard_normal((700, 3)), {"k": "rbf", "sigma": 1.0}, 0.3, 1e-3),
        (RNG.standard_normal((900, 4)), {"k": "rbf", "sigma": 3.0}, 0.5, 1e-4),
        (RNG.standard_normal((900, 4)), {"k": "rbf", "sigma": 3.0}, 0.4, 1e-3),
    ],
    ids=lambda value: str(value) if isinstance(value, float) else "",
)
@pytest.mark.filterwarnings("ignore")
def test_estimates_of_small_orders_are_accurate(X, kernel, q, rtol):
    similarity = as_similarity(X, **kernel)
    exact = compute_vendi_scores(similarity, [q]).values[0]
    for seed in range(2):
        (result,) = compute_vendi_scores(
            similarity, [q], estimate_options=EstimateOptions(rtol, seed)
        ).estimates
        assert abs(result.value - exact) <= 5 * max(result.error, 1e-5 * exact)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rank", [10, 60])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_rounding_of_a_low_precision_matrix_is_not_a_negative_eigenvalue(dtype, rank):
    X = np.random.default_rng(rank).standard_normal((700, rank))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    K = (X @ X.T).astype(dtype)
    np.fill_diagonal(K, 1)
    exact = compute(K, score_K=True)["VS"]
    result = compute(K, score_K=True, method="estimate", rtol=1e-2)
    assert abs(result["VS"] - exact) <= 5 * max(result["VS_se"], 1e-6 * exact)
    K[:99, :99] = 2 * np.eye(99) - 1
    for method in ("auto", "estimate"):
        with pytest.raises(NotPSDError):
            compute(K, score_K=True, method=method)
