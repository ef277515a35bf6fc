"""Scores with method="estimate", for a set of 1,500 samples."""

import numpy as np
import pytest
from gaussian_mixtures import make_gaussian_mixture

from vendiscore import MatrixSimilarity, TooLargeError, as_similarity, compute
from vendiscore.support import memory


@pytest.fixture
def large():
    return make_gaussian_mixture(1500, 24)


def test_estimate_returns_score_with_standard_error(large):
    exact = compute(large, k="rbf", sigma=3.0)["VS"]
    result = compute(large, k="rbf", sigma=3.0, method="estimate", details=True)
    details = result.pop("details")
    assert list(result) == ["VS", "VS_se"]
    assert details["method"] == {"1": "stochastic lanczos"}
    assert 0 < result["VS_se"] <= 1e-3 * result["VS"]
    assert abs(result["VS"] - exact) < 5 * result["VS_se"]
    assert any("standard error of the computation" in note for note in details["notes"])
    assert "method=estimate" in details["signature"]


def test_estimate_of_low_dimensional_samples_is_within_rtol():
    X = make_gaussian_mixture(1500, 2)
    exact = compute(X, k="rbf", sigma=3.0)["VS"]
    estimate = compute(X, k="rbf", sigma=3.0, method="estimate", rtol=1e-3)
    assert list(estimate) == ["VS", "VS_se"]
    assert abs(estimate["VS"] - exact) <= 3 * max(estimate["VS_se"], 1e-9 * exact)


def test_orders_two_and_infinity_are_exact(large):
    exact = compute(large, k="rbf", sigma=3.0, q=[2, "inf"])
    result = compute(large, k="rbf", sigma=3.0, q=[1, 2, "inf"], method="estimate")
    assert result["VS_q2_se"] == result["VS_qinf_se"] == 0
    assert result["VS_q1_se"] > 0
    for key, value in exact.items():
        assert result[key] == pytest.approx(value, rel=1e-9)


def test_small_sets_have_exact_scores():
    X = make_gaussian_mixture(200)
    result = compute(X, k="rbf", sigma=2.0, method="estimate")
    assert result == compute(X, k="rbf", sigma=2.0) | {"VS_se": 0.0}


def test_seed_determines_the_estimate(large):
    first, repeated, other_seed = (
        compute(large, k="rbf", sigma=3.0, method="estimate", seed=seed)["VS"] for seed in (1, 1, 2)
    )
    assert first == repeated != other_seed


@pytest.mark.parametrize("case", ["matrix", "float32", "mixture", "repeats", "weights"])
def test_estimates_of_all_similarity_types_match_exact_scores(large, case):
    p = None
    if case == "mixture":
        similarity = as_similarity(
            [{"x": x.tolist(), "y": str(i % 7)} for i, x in enumerate(large)],
            k={"rbf:x": 0.7, "labels:y": 0.3},
            options={"rbf:x": {"sigma": 3.0}},
        )
    else:
        similarity = as_similarity(large, k="rbf", sigma=3.0)
        K = np.asarray(similarity.dense())
        if case == "matrix":
            similarity = MatrixSimilarity(K, psd=True)
        if case == "float32":
            similarity = MatrixSimilarity(K.astype(np.float32), psd=True)
        if case == "repeats":
            similarity = similarity.take(np.r_[np.arange(1500), np.arange(100), np.arange(100)])
        if case == "weights":
            p = np.random.default_rng(0).random(1500)
            p[:300] = 0
            p /= p.sum()
    exact = compute(similarity, p=p)["VS"]
    result = compute(similarity, p=p, method="estimate", rtol=5e-3, details=True)
    assert result["details"]["method"] == {"1": "stochastic lanczos"}
    assert abs(result["VS"] - exact) < 5 * result["VS_se"]


def test_estimate_of_a_tensor_matches_exact_score(large):
    torch = pytest.importorskip("torch")
    K = torch.as_tensor(np.asarray(as_similarity(large, k="rbf", sigma=3.0).dense()))
    result = compute(K, score_K=True, method="estimate")
    exact = compute(K, score_K=True)["VS"].item()
    assert abs(float(result["VS"]) - exact) < 5 * result["VS_se"]
    with pytest.raises(TypeError, match="cannot be differentiated"):
        compute(K.requires_grad_(), score_K=True, method="estimate")


def test_too_large_error_suggests_estimate(large, monkeypatch):
    similarity = as_similarity(large, k="rbf", sigma=3.0)
    monkeypatch.setattr(memory, "available_bytes", lambda: 16_000_000)
    monkeypatch.setattr("vendiscore.support.memory.UNCHECKED_BYTES", 1 << 19)
    with pytest.raises(TooLargeError, match="method='estimate', which reports"):
        compute(similarity)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"rtol": 0.1}, TypeError, "`rtol` requires method='estimate'"),
        ({"method": "fast"}, ValueError, "`method` must be 'auto' or 'estimate', got 'fast'"),
        ({"method": "estimate", "rtol": 0}, ValueError, "`rtol` must be a relative error.*got 0"),
        ({"method": "estimate", "seed": -1}, ValueError, "`seed` must be"),
        ({"method": "estimate", "q": 0}, ValueError, "q=0 .* is not supported with"),
        ({"method": "estimate", "ci": 0.95}, ValueError, "`ci` is not supported with `method"),
        (
            {"method": "estimate", "measures": ["VS", "IntDiv"]},
            ValueError,
            "supports only the measure 'VS', got IntDiv",
        ),
        ({"method": "estimate", "groups": [0, 1] * 10}, ValueError, "is not supported with groups"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_invalid_estimate_arguments_raise(arguments, error, message):
    with pytest.raises(error, match=message):
        compute(make_gaussian_mixture(20), k="cosine", **arguments)


def test_estimate_rejects_psd_clip(large):
    K = np.asarray(as_similarity(large, k="rbf", sigma=3.0).dense())
    with pytest.raises(ValueError, match="psd='clip' requires all eigenvalues"):
        compute(K, score_K=True, psd="clip", method="estimate")


def test_metric_accepts_method(large, fresh):
    result = fresh.compute(samples=large, k="rbf", sigma=3.0, method="estimate", rtol=1e-2)
    assert result["VS_se"] <= 1e-2 * result["VS"]
