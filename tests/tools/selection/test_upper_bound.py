"""No selection exceeds the bound: tried on all selections of small sets, and from known spectra."""

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


def allowed(places, constraints):
    counts = {label: sum(GROUPS[i] == label for i in places) for label in "uvw"}
    quota = constraints.get("quota", 12)
    return set(constraints.get("initial", [])) <= set(places) and all(
        counts[label] == quota[label] if isinstance(quota, dict) else counts[label] <= quota
        for label in "uvw"
    )


def best(K, size, q, constraints):
    """Return the largest VS_q of all selections."""
    all_selections = np.array(
        [list(c) for c in itertools.combinations(range(len(K)), size) if allowed(c, constraints)]
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
def test_no_selection_of_a_small_set_exceeds_the_bound(name, constraints, q):
    samples, keywords = SETS[name]
    result = select(samples, 4, q=q, **CONSTRAINTS[constraints], **keywords)
    K = as_similarity(samples, **keywords).dense()
    maximum = best(K, 4, q, CONSTRAINTS[constraints])
    assert result.bound >= maximum * (1 - 1e-9)
    assert result.scores[-1] <= maximum * (1 + 1e-9)
    assert result.scores[-1] >= 0.9 * maximum
    assert result.certified == result.scores[-1] / result.bound


@pytest.mark.parametrize("q", ORDERS)
def test_the_bound_of_any_point_holds(q, monkeypatch):
    # The first point of the search is as good a bound as the last, only larger.
    samples, keywords = SETS["rbf"]
    maximum = best(as_similarity(samples, **keywords).dense(), 4, q, {})
    bounds = []
    for steps in (1, 3, 20):
        monkeypatch.setattr(upper_bound, "MAX_STEPS", steps)
        bounds.append(select(samples, 4, q=q, **keywords).bound)
    assert bounds[0] >= bounds[1] >= bounds[2] >= maximum * (1 - 1e-9)


@pytest.mark.parametrize("q", ORDERS)
@pytest.mark.parametrize("landmarks", [1, 3, 6])
def test_few_landmarks_bound_too(landmarks, q, monkeypatch):
    samples, keywords = SETS["rbf"]
    exact = select(samples, 4, q=q, **keywords).bound
    monkeypatch.setattr(upper_bound, "MAX_LANDMARKS", landmarks)
    result = select(samples, 4, q=q, **keywords)
    maximum = best(as_similarity(samples, **keywords).dense(), 4, q, {})
    assert result.bound >= maximum * (1 - 1e-9)
    assert result.bound <= 1.5 * exact


def test_features_and_their_similarities_have_one_bound():
    X = RNG.normal(size=(60, 4))
    features = select(FeatureSimilarity(X), 8, normalize=True)
    matrix = select(as_similarity(X, k="cosine").dense(), 8, score_K=True)
    np.testing.assert_allclose(features.bound, matrix.bound, rtol=1e-6)


def test_a_basis_is_the_best_there_is():
    result = select(np.eye(5)[[0, 0, 1, 2, 3, 4]], 4, score_X=True)
    np.testing.assert_allclose(result.scores, [1, 2, 3, 4])
    assert result.bound == pytest.approx(4, rel=1e-9)
    # No more dimensions than features, however many are chosen.
    with pytest.warns(UserWarning, match="with 3 samples, the score has reached its maximum"):
        more = select(np.eye(3)[[0, 1, 2] * 4], 6, score_X=True)
    assert more.bound == pytest.approx(3, rel=1e-9)


@pytest.mark.parametrize("q", ORDERS)
def test_of_all_samples_there_is_one_selection(q):
    X = RNG.normal(size=(30, 2))  # maximum of its eigenvalues are rounding
    result = select(X, 30, q=q, k="rbf")
    assert result.certified > 1 - 1e-4
    assert select(X, 29, q=q, k="rbf").certified > 0.97


def test_selections_of_digits_are_near_the_best(mnist):
    digits = mnist["images"][:2000].reshape(2000, -1)
    result = select(digits, 60, k="cosine")
    assert result.scores[-1] > 24.65
    assert result.certified > 0.93
