"""Measures derived from the Vendi Score: quality-weighted scores and the entropy of order two."""

import json
import math

import numpy as np
import pytest

from vendiscore import compute

CLOUD = np.random.default_rng(0).standard_normal((24, 3))
RBF = {"k": "rbf", "sigma": 1.0}
ORDERS = [0, 0.5, 1, 2, 3, "inf"]
QUALITY = np.random.default_rng(1).random(24)
WEIGHTS = np.random.default_rng(2).dirichlet(np.ones(24)) * (np.arange(24) != 5)
WEIGHTS /= WEIGHTS.sum()


def compute_rbf_kernel(X=CLOUD):
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 2)


def compute_eigenvalues(K, p=None):
    """Return eigenvalues of the weighted matrix, descending."""
    p = np.full(len(K), 1 / len(K)) if p is None else p
    return np.linalg.eigvalsh(np.sqrt(p)[:, None] * K * np.sqrt(p))[::-1]


def compute_hill_number(proportions, q):
    proportions = proportions[proportions > 1e-14]
    q = float(q)
    if q == 1:
        return math.exp(-(proportions * np.log(proportions)).sum())
    return 1 / proportions.max() if q == math.inf else (proportions**q).sum() ** (1 / (1 - q))


def make_keys(name):
    return [f"{name}_q{q}" for q in ORDERS]


class TestQualityWeightedVendiScore:
    def test_qvs_matches_example_of_its_authors(self):
        # Quality-Weighted-Vendi-Score, README: samples [0, 0, 2], s = exp(−|a − 2|)
        result = compute(
            [0, 0, 2],
            k=lambda a, b: math.exp(-abs(a - b)),
            measures="qVS",
            quality=[math.exp(-2), math.exp(-2), 1],
        )
        assert result["qVS"] == pytest.approx(0.793705659274703, abs=1e-12)

    @pytest.mark.parametrize("p", [None, WEIGHTS], ids=["uniform", "weighted"])
    def test_qvs_equals_mean_quality_times_vendi_score(self, p):
        result = compute(CLOUD, measures="qVS", quality=QUALITY, q=ORDERS, p=p, **RBF)
        mean = QUALITY.mean() if p is None else p @ QUALITY
        for key, q in zip(make_keys("qVS"), ORDERS, strict=True):
            assert result[key] == pytest.approx(
                mean * compute_hill_number(compute_eigenvalues(compute_rbf_kernel(), p), q),
                rel=1e-8,
            )

    def test_qvs_with_quality_one_equals_vendi_score(self):
        for p in (None, WEIGHTS):
            result = compute(CLOUD, measures=["VS", "qVS"], quality=np.ones(24), p=p, **RBF)
            assert result["qVS"] == pytest.approx(result["VS"], rel=1e-12)
        assert compute(CLOUD, measures="qVS", quality=[0] * 24, **RBF) == {"qVS": 0.0}

    @pytest.mark.parametrize(
        "make_container", [list, iter, np.float32, lambda x: np.array(x)[:, None]]
    )
    def test_quality_accepts_any_container(self, make_container):
        quality = np.arange(24) / 8
        result = compute(CLOUD, measures="qVS", quality=make_container(quality), **RBF)
        assert result == compute(CLOUD, measures="qVS", quality=quality, **RBF)

    def test_quality_of_dropped_samples_is_dropped(self):
        X, quality = CLOUD.copy(), QUALITY.copy()
        X[[3, 7]], quality[[3, 7]] = 0, 100
        retained = np.delete(np.arange(24), [3, 7])
        expected = compute(X[retained], measures="qVS", quality=quality[retained], k="cosine")
        with pytest.warns(UserWarning, match="dropped 2 of 24 samples"):
            result = compute(X, measures="qVS", quality=quality, k="cosine", on_error="skip")
        assert result == pytest.approx(expected, rel=1e-12)

    def test_qvs_of_groups_uses_quality_of_each_group(self):
        labels = np.random.default_rng(3).permutation(np.repeat([0, 1, 2], [5, 8, 11]))
        masks = [labels == group for group in range(3)]
        for p in (None, WEIGHTS):
            separate_values = [
                compute(
                    CLOUD[mask],
                    measures="qVS",
                    quality=QUALITY[mask],
                    p=None if p is None else p[mask] / p[mask].sum(),
                    **RBF,
                )["qVS"]
                for mask in masks
            ]
            result = compute(CLOUD, measures="qVS", quality=QUALITY, groups=labels, p=p, **RBF)
            assert result["qVS"] == pytest.approx(np.mean(separate_values), rel=1e-10)

    def test_qvs_has_interval_and_signature_contains_quality(self):
        options = {"measures": ["qVS", "t_conv"], "ci": 0.9, "details": True, **RBF}
        result = compute(CLOUD, quality=QUALITY, **options)
        assert 0 <= result["qVS_low"] < result["qVS"] < result["qVS_high"]
        other = compute(CLOUD, quality=QUALITY[::-1], **options)
        assert "|quality=" in result["details"]["signature"]
        json.dumps(result["details"])
        assert result["details"]["signature"] != other["details"]["signature"]

    @pytest.mark.parametrize(
        ("quality", "error", "message"),
        [
            (None, TypeError, "qVS requires `quality`, one number of at least 0 per sample"),
            ([1, 2], ValueError, "`quality` must have one number for each of 24 samples, got 2"),
            ([1] * 23 + [-0.5], ValueError, "sample 23 of `quality` must be finite and at"),
            ([1] * 23 + [np.nan], ValueError, "sample 23 of `quality` must be finite"),
            (
                np.ones((24, 2)),
                ValueError,
                "`quality` must be one list in the order",
            ),
            (3, TypeError, "`quality` must be numbers, one for each sample, got 3"),
        ],
    )
    def test_qvs_rejects_invalid_quality(self, quality, error, message):
        with pytest.raises(error, match=message):
            compute(CLOUD, measures="qVS", quality=quality, **RBF)


class TestRenyiKernelEntropy:
    @pytest.mark.parametrize("p", [None, WEIGHTS], ids=["uniform", "weighted"])
    @pytest.mark.parametrize("q", [1, 2, [0.5, "inf"]])
    @pytest.mark.parametrize("other_measures", [["VS"], ["VS", "SampleCoverage"]], ids=str)
    def test_rke_has_order_two_for_any_q_and_other_measures(self, p, q, other_measures):
        result = compute(CLOUD, measures=[*other_measures, "RKE"], q=q, p=p, **RBF)["RKE"]
        single_measure = compute(CLOUD, measures="RKE", p=p, **RBF)["RKE"]
        assert result == pytest.approx(single_measure, rel=1e-10)
        w = np.full(24, 1 / 24) if p is None else p
        assert result == pytest.approx(-math.log(w @ compute_rbf_kernel() ** 2 @ w), rel=1e-10)
        assert result == pytest.approx(
            math.log(compute(CLOUD, q=2, p=p, **RBF)["VS_q2"]), rel=1e-10
        )


def test_identical_samples_have_the_minimum_values():
    options = {"measures": ["qVS", "RKE"], "quality": [0.5] * 4, **RBF}
    minimum = {"qVS": 0.5, "RKE": 0.0}
    assert compute(np.ones((4, 2)), **options) == pytest.approx(minimum, abs=1e-12)
    assert compute(np.ones((1, 2)), **{**options, "quality": [0.5]}) == minimum


@pytest.mark.parametrize("name", ["qVS", "RKE", "KernelLanguageEntropy"])
def test_gradients_match_finite_differences_and_quality_gradient_raises(name):
    torch = pytest.importorskip("torch")
    X = torch.tensor(CLOUD[:7], dtype=torch.float64)
    options = {"quality": QUALITY[:7]} if name == "qVS" else {}

    def value(X, p=None):
        return compute(X, k="cosine", p=p, measures={name: options})[name]

    assert float(value(X)) == pytest.approx(value(CLOUD[:7]), rel=1e-10)
    assert torch.autograd.gradcheck(value, X.clone().requires_grad_())
    p = torch.full((7,), 1 / 7, dtype=torch.float64, requires_grad=True)
    value(X, p).backward()
    assert torch.isfinite(p.grad).all()
    quality = torch.ones(7, requires_grad=True)
    with pytest.raises(TypeError, match=r"qVS cannot be differentiated; pass quality\.detach"):
        compute(X, k="cosine", measures="qVS", quality=quality)
