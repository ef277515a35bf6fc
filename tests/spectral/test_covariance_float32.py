"""Single-precision products: the error is known, and scores either bear it or do not use them."""

import math

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, effective_number
from vendiscore.spectral.covariance_float32 import (
    SINGLE_TOLERANCE,
    covariance_single,
    log_number_bound,
    nearest_shares,
)
from vendiscore.spectral.vendi import spectrum, vendi

rng = np.random.default_rng(0)
ORDERS = [0.0, 0.5, 0.9, 1.0, 1.1, 1.5, 2.0, 3.0, 5.0, 40.0, math.inf]


def normal(d=60):
    return rng.standard_normal((6000, d))


falling = np.arange(60)
turn = np.linalg.qr(normal(60)[:60])[0]
SPECTRA = {
    "white": normal(),
    "exponential in columns": normal() * np.exp(-falling / 6),
    "exponential, turned": normal() * np.exp(-falling / 6) @ turn,
    "fast exponential, turned": normal() * np.exp(-falling / 2) @ turn,
    "power law": normal() / (falling + 1) + 0.1,
    "slow power law, turned": normal() / np.sqrt(falling + 1) @ turn,
    "positive": rng.random((6000, 60)),
    "of rank 5": normal(5) @ normal(60)[:5],
    "one direction": normal() * np.where(falling == 0, 60, 1) @ turn,
    "a common mean": normal() / np.sqrt(falling + 1) @ turn + rng.standard_normal(60),
    "clusters": normal() @ turn / 9 + normal(60)[rng.integers(0, 7, 6000)],
    "digits": np.minimum(np.round(30 * np.maximum(normal(9) @ normal(60)[:9] - 2, 0)), 255) + 1,
    "scales of columns": normal() * 10.0 ** rng.uniform(-5, 2, 60),
    "columns of zeros": normal() * (falling % 3 > 0),
    "equal rows": np.repeat(normal()[:6], 1000, axis=0),
}


def weighted(name):
    X = SPECTRA[name].astype(np.float32)
    p = rng.dirichlet(np.full(len(X), 0.5))
    return FeatureSimilarity(X).normalized().scaled(np.sqrt(p))


@pytest.mark.parametrize("name", SPECTRA)
def test_the_measured_error_is_that_of_the_covariance(name):
    similarity = weighted(name)
    C, error = covariance_single(similarity.X, similarity.scale, similarity.diagonal().sum())
    true = np.linalg.norm(C - similarity.covariance())
    assert 0.8 * true <= error < 4 * true + 1e-13


# Rows of which a few blocks say nothing about the others: most of their error is somewhere else.
rows, nowhere = np.arange(6000), np.zeros(6000, bool)
UNEVEN = {
    "one block of equal rows": nowhere | ((rows >= 2184) & (rows < 4368)),
    "equal rows at the end": rows >= 5500,
    "a fifth of the rows equal": rows % 5 == 0,
    "pairs of rows": nowhere,
    "rows in order": nowhere,
    "weights over eight decades": nowhere,
}


@pytest.mark.parametrize("name", UNEVEN)
def test_the_error_of_any_block_is_measured(name):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((6000, 60))
    X[UNEVEN[name]] = X[0]
    p = np.full(6000, 1 / 6000)
    if name == "pairs of rows":
        X = np.repeat(X[:3000], 2, axis=0)
    elif name == "rows in order":
        X = X[np.argsort(X[:, 0])]
    elif name == "weights over eight decades":
        p = 10.0 ** rng.uniform(-8, 0, 6000)
    similarity = FeatureSimilarity(X.astype(np.float32)).normalized()
    similarity = similarity.scaled(np.sqrt(p / p.sum()))
    C, error = covariance_single(similarity.X, similarity.scale, similarity.diagonal().sum())
    true = np.linalg.norm(C - similarity.covariance())
    assert 0.8 * true <= error < 4 * true


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("shares", [np.full(7, 3.0), np.full(40, 0.05), 3.0 ** -np.arange(40)])
def test_no_shares_as_near_differ_by_more_than_the_bound(shares, q):
    rng = np.random.default_rng(1)
    shares = nearest_shares(np.sort(rng.dirichlet(shares))[::-1])
    for error in (1e-2, 1e-5, 1e-9):
        bound = log_number_bound(shares, error, q)
        # Random steps, those along the steepest slopes, and to and from zero.
        steps = list(rng.standard_normal((30, len(shares))))
        low = shares < error
        steps += [np.where(low, 1.0, 0), np.where(low, -1.0, 0), np.log(shares + error / 9)]
        steps += [-steps[-1], np.eye(len(shares))[0], -np.eye(len(shares))[0]]
        for step in steps:
            step = step - step.mean()
            moved = shares + error * step / (np.linalg.norm(step) or 1.0)
            moved = np.sort(moved)[::-1]
            moved = nearest_shares(moved)
            if np.linalg.norm(moved - shares) <= error:
                change = math.log(effective_number(moved, q) / effective_number(shares, q))
                assert abs(change) <= bound * (1 + 1e-6) + 1e-12


def test_the_nearest_shares_are_a_projection():
    values = np.array([0.9, 0.3, 1e-3, -1e-4, -0.2])
    shares = nearest_shares(values)
    assert shares.sum() == pytest.approx(1)
    assert (shares >= 0).all()
    for other in np.random.default_rng(0).dirichlet(np.ones(5), 200):
        assert (values - shares) @ (other - shares) <= 1e-12  # at an obtuse angle to the rest
    np.testing.assert_array_equal(nearest_shares(shares), shares)


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("q", ORDERS)
def test_scores_are_within_the_stated_tolerance(monkeypatch, name, q):
    monkeypatch.setattr("vendiscore.spectral.routes.SINGLE_SIZE", 0)
    similarity = FeatureSimilarity(SPECTRA[name].astype(np.float32)).normalized()
    exact = effective_number(spectrum(similarity), q)
    found = vendi(similarity, [q, 1.3])  # two orders, so that none goes its own way
    assert found.values[0] == pytest.approx(exact, rel=SINGLE_TOLERANCE)
    if found.spectrum.error:
        assert abs(math.log(found.values[0] / exact)) <= found.spectrum.bound(q) + 1e-12


def test_single_precision_is_used_where_it_may_be_and_is_told(monkeypatch):
    monkeypatch.setattr("vendiscore.spectral.routes.SINGLE_SIZE", 0)
    exact = []
    monkeypatch.setattr(
        FeatureSimilarity,
        "covariance",
        lambda self, original=FeatureSimilarity.covariance: exact.append(1) or original(self),
    )
    told = {
        name
        for name, X in SPECTRA.items()
        for found in vendi(FeatureSimilarity(X.astype(np.float32)).normalized()).estimates
        if "; multiplied in single precision, off by less than " in found.why
    }
    assert len(told) == len(SPECTRA) - len(exact)
    assert {"white", "power law", "digits", "one direction", "clusters"} <= told
    assert "equal rows" not in told  # whose errors add up
    decaying = FeatureSimilarity(SPECTRA["of rank 5"].astype(np.float32)).normalized()
    (found,) = vendi(decaying, [0.5]).estimates
    assert exact
    assert "single" not in found.why
