"""Selection and cost of algorithms for scores, and the fallback if they do not converge."""

import math
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import FeatureSimilarity, MatrixSimilarity, SumSimilarity, as_similarity
from vendiscore.spectral.routes import (
    COVARIANCE,
    EIGENVALUES,
    LARGEST_EIGENVALUE,
    NORM,
    ConvergenceError,
    select_one_order_route,
    select_spectrum_route,
)
from vendiscore.spectral.vendi_scores import compute_spectrum, compute_vendi_scores

TALL = FeatureSimilarity(np.eye(5)[np.arange(40) % 5])
WIDE = FeatureSimilarity(np.eye(5, 40))
SMALL, LARGE = MatrixSimilarity(np.eye(20)), MatrixSimilarity(np.eye(700))
LARGE_PSD = MatrixSimilarity(np.eye(700), psd=True)


@pytest.mark.parametrize(
    ("similarity", "orders", "psd", "names"),
    [
        (TALL, [1.0], "check", ["covariance"]),
        (TALL, [2.0], "check", ["norm"]),
        (TALL, [2.0], "clip", ["norm"]),  # features have no negative eigenvalues
        (TALL, [math.inf, 2.0], "check", ["covariance", "covariance"]),
        (WIDE, [0.0], "check", ["eigenvalues"]),
        (SMALL, [math.inf], "check", ["eigenvalues"]),
        (SMALL, [2.0], "clip", ["eigenvalues"]),
        (LARGE, [math.inf], "check", ["lanczos"]),
        (LARGE, [math.inf], "clip", ["eigenvalues"]),
        (LARGE_PSD, [math.inf], "clip", ["lanczos"]),
        (LARGE, [2.0, math.inf], "check", ["norm", "lanczos"]),
        (LARGE, [2.0, 1.0, math.inf], "check", ["eigenvalues"] * 3),
        (LARGE, [], "check", []),
    ],
)
def test_scores_use_the_cheapest_route_for_the_orders(similarity, orders, psd, names):
    result = compute_vendi_scores(similarity, orders, psd=psd)
    assert [estimate.route for estimate in result.estimates] == names
    assert all(estimate.reason for estimate in result.estimates)
    assert (result.spectrum is None) == (not set(names) & {"covariance", "eigenvalues"})


def test_torch_has_no_route_for_the_largest_eigenvalue():
    torch = pytest.importorskip("torch")
    similarity = MatrixSimilarity(torch.eye(700, dtype=torch.float64))
    assert select_one_order_route(similarity, math.inf) is None
    assert select_spectrum_route(similarity) is EIGENVALUES


@pytest.mark.parametrize(
    "similarity", [TALL, WIDE, SMALL, LARGE], ids=["tall", "wide", "small", "large"]
)
def test_cost_increases_from_norm_to_eigenvalues_to_eigenvectors(similarity):
    for route in (COVARIANCE, EIGENVALUES):
        if route is EIGENVALUES or (similarity.dim or similarity.n) < similarity.n:
            cost, cost_with_vectors = route.cost(similarity), route.cost(similarity, vectors=True)
            assert NORM.cost(similarity).flops < cost.flops < cost_with_vectors.flops
            assert cost.bytes < cost_with_vectors.bytes


def test_cost_of_sparse_features_counts_nonzero_entries():
    """Empty columns, which are frequent for n-grams, cost nothing."""
    rng = np.random.default_rng(0)
    X = sp.random_array((400, 800), density=0.01, rng=rng, format="csr")
    wide = sp.csr_array((X.data, X.indices, X.indptr), (400, 80_000))
    narrow_features, wide_features = FeatureSimilarity(X), FeatureSimilarity(wide)
    for route in (NORM, LARGEST_EIGENVALUE, EIGENVALUES):
        assert route.cost(narrow_features).work == route.cost(wide_features).work
    tall, taller = FeatureSimilarity(X.T.tocsr()), FeatureSimilarity(sp.vstack([X.T] * 10, "csr"))
    for route in (NORM, COVARIANCE):
        assert 1 < route.cost(taller).work / route.cost(tall).work < 10.1
    dense = FeatureSimilarity(X.toarray())
    assert NORM.cost(narrow_features).work < NORM.cost(dense).work


def test_cost_of_kernel_entries_grows_with_the_number_of_columns():
    rng = np.random.default_rng(0)
    bits = (rng.random((300, 512)) < 0.3).astype(np.uint8)
    for k in ("tanimoto", "rbf", {"tanimoto": 0.5, "rbf": 0.5}):
        narrow, wide = (as_similarity(bits[:, :d], k=k) for d in (64, 512))
        for route in (NORM, LARGEST_EIGENVALUE, EIGENVALUES):
            assert route.cost(narrow).work < route.cost(wide).work


def measure_peak_memory(function):
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("shape", [(4000, 800), (900, 2000), (1000, None)], ids=str)
def test_estimated_bytes_match_the_allocated_memory(shape, vectors):
    n, d = shape
    X = np.random.default_rng(0).standard_normal((n, d or 2 * n)) + 0.0
    similarity = FeatureSimilarity(X).normalized()
    similarity.diagonal()
    if d is None:
        similarity = MatrixSimilarity(similarity.dense())
    route = select_spectrum_route(similarity)
    cost = route.cost(similarity, vectors).bytes
    peak = measure_peak_memory(lambda: compute_spectrum(similarity, vectors=vectors))
    if vectors and route is EIGENVALUES and np.lib.NumpyVersion(np.__version__) < "2.5.0":
        peak += 16 * n**2  # LAPACK workspace, which older NumPy does not report
    assert 0.6 * cost < peak < 1.15 * cost + 2**23  # temporary blocks of rows


def test_available_memory_is_queried_only_for_large_computations(monkeypatch):
    def fail_if_queried(*_):
        raise AssertionError("memory was queried")

    monkeypatch.setattr("vendiscore.support.memory.available_bytes", fail_if_queried)
    compute_vendi_scores(SMALL, [1.0])
    compute_vendi_scores(LARGE, [2.0])
    with pytest.raises(AssertionError, match="memory was queried"):
        compute_vendi_scores(MatrixSimilarity(np.eye(3000)), [1.0])


def test_unconverged_route_falls_back_to_the_full_spectrum(monkeypatch):
    def raise_convergence_error(*_):
        raise ConvergenceError("no convergence in a test")

    monkeypatch.setattr(
        "vendiscore.spectral.lanczos.compute_largest_eigenvalue", raise_convergence_error
    )
    result = compute_vendi_scores(LARGE, [math.inf, 2.0])
    assert [e.route for e in result.estimates] == ["eigenvalues", "norm"]
    assert [e.reason for e in result.estimates] == ["no convergence in a test", NORM.reason]
    assert result.values == pytest.approx([700, 700])


def test_covariance_is_used_if_the_lanczos_basis_does_not_fit(monkeypatch):
    X = np.random.default_rng(0).standard_normal((20_000, 510))
    similarity = FeatureSimilarity(X).normalized()
    monkeypatch.setattr("vendiscore.support.memory.available_bytes", lambda: 4 * 10**7)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 1 << 19)
    (estimate,) = compute_vendi_scores(similarity, [math.inf]).estimates
    assert estimate.route == "covariance"
    assert "the largest eigenvalue of the similarity matrix of 20000 samples" in estimate.reason


def test_reason_mentions_merged_samples():
    X = np.eye(3, 9)[np.arange(6) % 3]
    (estimate,) = compute_vendi_scores(FeatureSimilarity(X)).estimates
    assert (
        estimate.reason == "all eigenvalues of the 6 × 6 similarity matrix, with 3 distinct samples"
    )


def test_sum_of_features_uses_the_covariance_route():
    components = [FeatureSimilarity(np.eye(40, d)[np.arange(40) % d]) for d in (3, 4)]
    assert select_spectrum_route(SumSimilarity(components, [0.5, 0.5])) is COVARIANCE
