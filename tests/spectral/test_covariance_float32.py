"""Single-precision products: the error is known, and scores either bear it or do not use them."""

import math

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, effective_number
from vendiscore.spectral.covariance_float32 import covariance_single, sensitivity
from vendiscore.spectral.vendi import spectrum, vendi

rng = np.random.default_rng(0)
SPECTRA = {
    "white": rng.standard_normal((6000, 60)),
    "decaying": rng.standard_normal((6000, 60)) / np.arange(1, 61) + 0.1,
    "positive": rng.random((6000, 60)),
    "of rank 5": rng.standard_normal((6000, 5)) @ rng.standard_normal((5, 60)),
}


def weighted(name):
    X = SPECTRA[name].astype(np.float32)
    p = rng.dirichlet(np.full(len(X), 0.5))
    return FeatureSimilarity(X).normalized().scaled(np.sqrt(p))


@pytest.mark.parametrize("name", SPECTRA)
def test_the_estimated_error_is_that_of_the_covariance(name):
    similarity = weighted(name)
    C, error = covariance_single(similarity.X, similarity.scale)
    true = np.linalg.norm(C - similarity.covariance())
    assert true <= error < 20 * true


@pytest.mark.parametrize("q", [0.5, 0.9, 1.0, 1.1, 2.0, 4.0, math.inf])
def test_sensitivity_is_the_norm_of_the_gradient(q):
    shares = np.random.default_rng(1).dirichlet(np.full(7, 3.0))
    step = 1e-7
    gradient = np.zeros(7)
    for i in range(7):
        moved = [shares.copy(), shares.copy()]
        moved[0][i] += step
        moved[1][i] -= step
        values = [
            math.log(1 / s.max())
            if q == math.inf
            else -(s * np.log(s)).sum()
            if q == 1
            else math.log((s**q).sum()) / (1 - q)
            for s in moved
        ]
        gradient[i] = (values[0] - values[1]) / (2 * step)
    assert sensitivity(shares, q) == pytest.approx(
        np.linalg.norm(gradient - gradient.mean()), rel=1e-5
    )
    assert math.exp(values[0]) == pytest.approx(effective_number(shares, q), rel=1e-4)


def test_no_share_may_vanish():
    assert sensitivity(np.array([1.0, 0.0]), 1.0) == math.inf


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("q", [0.0, 0.5, 1.0, 3.0])
def test_scores_are_within_the_stated_tolerance(monkeypatch, name, q):
    monkeypatch.setattr("vendiscore.spectral.routes.SINGLE_SIZE", 0)
    similarity = FeatureSimilarity(SPECTRA[name].astype(np.float32)).normalized()
    exact = effective_number(spectrum(similarity), q)
    assert vendi(similarity, [q]).values[0] == pytest.approx(exact, rel=1e-6)


def test_single_precision_is_used_where_it_may_be_and_nowhere_else(monkeypatch):
    monkeypatch.setattr("vendiscore.spectral.routes.SINGLE_SIZE", 0)
    exact = []
    monkeypatch.setattr(
        FeatureSimilarity,
        "covariance",
        lambda self, original=FeatureSimilarity.covariance: exact.append(1) or original(self),
    )
    vendi(FeatureSimilarity(SPECTRA["white"].astype(np.float32)).normalized())
    assert not exact
    vendi(FeatureSimilarity(SPECTRA["of rank 5"].astype(np.float32)).normalized())
    assert exact
