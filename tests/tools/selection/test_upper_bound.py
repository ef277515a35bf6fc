"""The upper bound exceeds all selections of small sets, and is tight for known spectra."""

import itertools

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, as_similarity, select
from vendiscore.tools.selection import upper_bound

RNG = np.random.default_rng(0)
ORDERS = [0.25, 0.5, 1.0, 1.5, 2.0]
SETS = {
    "rbf": (RNG.normal(size=(12, 3)), {"k": "rbf", "sigma": 1.0}),
    "cosine": (RNG.normal(size=(12, 3)) + 1, {"k": "cosine"}),
    "copies": (RNG.normal(size=(4, 3))[RNG.integers(0, 4, 12)], {"k": "rbf", "sigma": 1.0}),
    "labels": (list("aaabbbccddef"), {"k": "labels"}),
}
GROUPS = list("uuuvvvvvwwww")
CONSTRAINTS = {
    "free": {},
    "initial": {"initial": [3, 7]},
    "quota": {"groups": GROUPS, "quota": {"u": 2, "v": 1, "w": 1}},
    "at maximum": {"groups": GROUPS, "quota": 2, "initial": [0]},
}


def satisfies_constraints(indices, constraints):
    counts = {label: sum(GROUPS[i] == label for i in indices) for label in "uvw"}
    quota = constraints.get("quota", 12)
    return set(constraints.get("initial", [])) <= set(indices) and all(
        counts[label] == quota[label] if isinstance(quota, dict) else counts[label] <= quota
        for label in "uvw"
    )


def brute_force_maximum(K, size, q, constraints):
    """Return the largest VS_q of all selections."""
    all_selections = np.array(
        [
            list(c)
            for c in itertools.combinations(range(len(K)), size)
            if satisfies_constraints(c, constraints)
        ]
    )
    values = np.linalg.eigvalsh(K[all_selections[:, :, None], all_selections[:, None, :]] / size)
    values = np.where(values > 1e-14, values, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(values > 0, np.log(values), 0.0)
    powers = np.where(values > 0, values**q, 0.0).sum(axis=1)
    result = np.exp(-(values * logs).sum(axis=1)) if q == 1 else powers ** (1 / (1 - q))
    return result.max()


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("constraints", CONSTRAINTS)
@pytest.mark.parametrize("name", SETS)
def test_bound_exceeds_the_brute_force_maximum(name, constraints, q):
    samples, keywords = SETS[name]
    result = select(samples, 4, q=q, **CONSTRAINTS[constraints], **keywords)
    K = as_similarity(samples, **keywords).dense()
    maximum = brute_force_maximum(K, 4, q, CONSTRAINTS[constraints])
    assert result.bound >= maximum * (1 - 1e-9)
    assert result.scores[-1] <= maximum * (1 + 1e-9)
    assert result.scores[-1] >= 0.9 * maximum
    assert result.certified == result.scores[-1] / result.bound


@pytest.mark.parametrize("q", ORDERS)
def test_bound_holds_after_any_number_of_steps(q, monkeypatch):
    # All points of the search give valid bounds, which decrease.
    samples, keywords = SETS["rbf"]
    maximum = brute_force_maximum(as_similarity(samples, **keywords).dense(), 4, q, {})
    bounds = []
    for steps in (1, 3, 20):
        monkeypatch.setattr(upper_bound, "MAX_STEPS", steps)
        bounds.append(select(samples, 4, q=q, **keywords).bound)
    assert bounds[0] >= bounds[1] >= bounds[2] >= maximum * (1 - 1e-9)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("landmarks", [1, 3, 6])
def test_bound_with_few_landmarks_holds(landmarks, q, monkeypatch):
    samples, keywords = SETS["rbf"]
    exact = select(samples, 4, q=q, **keywords).bound
    monkeypatch.setattr(upper_bound, "MAX_LANDMARKS", landmarks)
    result = select(samples, 4, q=q, **keywords)
    maximum = brute_force_maximum(as_similarity(samples, **keywords).dense(), 4, q, {})
    assert result.bound >= maximum * (1 - 1e-9)
    assert result.bound <= 1.5 * exact


def test_features_and_matrix_give_the_same_bound():
    X = RNG.normal(size=(60, 4))
    features = select(FeatureSimilarity(X), 8, normalize=True)
    matrix = select(as_similarity(X, k="cosine").dense(), 8, score_K=True)
    np.testing.assert_allclose(features.bound, matrix.bound, rtol=1e-6)


def test_bound_is_tight_for_orthogonal_samples():
    result = select(np.eye(5)[[0, 0, 1, 2, 3, 4]], 4, score_X=True)
    np.testing.assert_allclose(result.scores, [1, 2, 3, 4])
    assert result.bound == pytest.approx(4, rel=1e-9)
    # The score is at most the number of features.
    with pytest.warns(UserWarning, match="with 3 samples, the score has reached its maximum"):
        repeated = select(np.eye(3)[[0, 1, 2] * 4], 6, score_X=True)
    assert repeated.bound == pytest.approx(3, rel=1e-9)


@pytest.mark.parametrize("q", ORDERS)
def test_bound_is_tight_if_all_samples_are_selected(q):
    X = RNG.normal(size=(30, 2))  # most eigenvalues are rounding errors
    result = select(X, 30, q=q, k="rbf")
    assert result.certified > 1 - 1e-4
    assert select(X, 29, q=q, k="rbf").certified > 0.97


def test_selections_of_digits_are_certified_as_nearly_optimal(mnist):
    digits = mnist["images"][:2000].reshape(2000, -1)
    result = select(digits, 60, k="cosine")
    assert result.scores[-1] > 24.65
    assert result.certified > 0.93
