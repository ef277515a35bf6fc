"""Entropies are logarithms of Vendi Scores; SampleCoverage is 1 minus the mean residual."""

import math

import numpy as np
import pytest

from vendiscore import compute, score_K

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 4))
X /= np.linalg.norm(X, axis=1, keepdims=True)
K = X @ X.T
P = RNG.dirichlet(np.ones(12))


def evaluate(name, K=K, **arguments):
    return compute(K, score_K=True, measures=[name], **arguments)[name]


@pytest.mark.parametrize("p", [None, P], ids=["uniform", "weights"])
def test_rke_equals_log_of_order_two_vendi_score(p):
    weights = np.full(12, 1 / 12) if p is None else p
    expected = -math.log(weights @ K**2 @ weights)
    assert evaluate("RKE", p=p) == pytest.approx(expected, rel=1e-12)
    assert evaluate("RKE", p=p) == pytest.approx(math.log(score_K(K, 2, p=p)), rel=1e-12)


@pytest.mark.parametrize("p", [None, P], ids=["uniform", "weights"])
def test_kernel_language_entropy_equals_von_neumann_entropy(p):
    weights = np.full(12, 1 / 12) if p is None else p
    values = np.linalg.eigvalsh(K * np.sqrt(np.outer(weights, weights)))
    values = values[values > 1e-12]
    expected = -(values * np.log(values)).sum()
    assert evaluate("KernelLanguageEntropy", p=p) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["RKE", "KernelLanguageEntropy"])
def test_entropies_ignore_q_of_other_measures(name):
    result = compute(K, score_K=True, measures=["VS", name], q=[0.5, 2])
    assert result[name] == pytest.approx(evaluate(name), rel=1e-12)
    assert evaluate(name, np.eye(5)) == pytest.approx(math.log(5))
    assert evaluate(name, np.ones((5, 5))) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", ["RKE", "KernelLanguageEntropy", "SampleCoverage"])
def test_value_of_groups_is_mean_over_groups(name):
    groups = np.repeat([0, 1, 2], 4)
    values = [evaluate(name, K[g : g + 4, g : g + 4]) for g in (0, 4, 8)]
    assert evaluate(name, groups=groups) == pytest.approx(np.mean(values), rel=1e-9)


def test_sample_coverage_equals_one_minus_mean_residual():
    regularized = 0.7 * K + 0.3 * np.eye(12)
    residuals = 1 / np.linalg.inv(regularized).diagonal()  # without the ridge of 1e-9
    assert evaluate("SampleCoverage", regularized) == pytest.approx(1 - residuals.mean(), rel=1e-7)
    expected = 1 - P @ residuals
    assert evaluate("SampleCoverage", regularized, p=P) == pytest.approx(expected, rel=1e-7)


def test_sample_coverage_of_labels_matches_good_turing_estimate():
    labels = list("aabbbcd")  # two of them occur once
    result = compute(labels, k="labels", measures=["SampleCoverage"])["SampleCoverage"]
    assert result == pytest.approx(1 - 2 / 7)


def test_entropy_gradients_match_gradients_of_log_vendi_scores():
    torch = pytest.importorskip("torch")
    for name, order in (("RKE", 2), ("KernelLanguageEntropy", 1)):
        rows = torch.tensor(X[:4], requires_grad=True)
        gradients = []
        for value in (
            compute(rows, k="cosine", measures=[name])[name],
            compute(rows, k="cosine", q=[order])[f"VS_q{order}"].log(),
        ):
            rows.grad = None
            value.backward()
            gradients.append(rows.grad.numpy().copy())
        np.testing.assert_allclose(*gradients, rtol=1e-9, atol=1e-12)
        assert np.abs(gradients[0]).max() > 1e-3
