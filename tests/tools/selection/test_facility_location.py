"""Facility location greedily selects samples that represent all samples."""

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, MatrixSimilarity, TooLargeError, select
from vendiscore.tools.selection import facility_location
from vendiscore.tools.selection.candidates import Candidates
from vendiscore.tools.selection.facility_location import FacilityLocation

RNG = np.random.default_rng(0)
X = np.repeat(RNG.standard_normal((6, 5)), 30, axis=0) + 0.3 * RNG.standard_normal((180, 5))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
K = UNIT @ UNIT.T


def brute_force_greedy(K, size, allowed=None):
    """Greedily maximize the mean similarity to the nearest selected sample."""
    n = len(K)
    allowed = np.ones(n, bool) if allowed is None else allowed.copy()
    nearest, selected = np.full(n, -1.0), []
    for _ in range(size):
        gains = np.array([np.maximum(nearest, K[v]).mean() for v in range(n)])
        gains[~allowed] = -np.inf
        v = int(np.flatnonzero(gains >= gains.max() - 1e-11)[0])
        selected.append(v)
        allowed[v] = False
        nearest = np.maximum(nearest, K[v])
    return selected


def greedy_selection(similarity, size, allowed=None):
    facility_location = FacilityLocation(Candidates(similarity), None)
    allowed = np.ones(similarity.n, bool) if allowed is None else allowed.copy()
    for _ in range(size):
        v = facility_location.best_candidate(allowed)
        facility_location.add(v)
        allowed[v] = False
    return facility_location.selected


@pytest.mark.parametrize(
    "make_similarity", [lambda: FeatureSimilarity(X), lambda: MatrixSimilarity(K)]
)
@pytest.mark.parametrize("max_double_precision", [0, 2048], ids=["single", "double"])
@pytest.mark.parametrize("max_cached", [1, 1 << 27])
def test_selection_matches_brute_force_greedy(
    make_similarity, max_double_precision, max_cached, monkeypatch
):
    monkeypatch.setattr(facility_location, "MAX_DOUBLE_PRECISION_SAMPLES", max_double_precision)
    monkeypatch.setattr(
        facility_location,
        "MAX_CACHED_SIMILARITIES",
        max_cached * 180 if max_cached == 1 else max_cached,
    )
    monkeypatch.setattr(facility_location, "BATCH_SIZE", 8)
    assert greedy_selection(make_similarity(), 12) == brute_force_greedy(K, 12)


def test_selection_contains_only_allowed_samples():
    allowed = np.arange(180) % 3 == 1
    assert greedy_selection(FeatureSimilarity(X), 5, allowed) == brute_force_greedy(K, 5, allowed)


def test_ties_select_the_first_sample():
    assert greedy_selection(MatrixSimilarity(np.eye(5)), 5) == [0, 1, 2, 3, 4]
    two_blocks = np.kron(np.eye(2), np.ones((3, 3)))
    assert greedy_selection(MatrixSimilarity(two_blocks), 2) == [0, 3]


def test_select_with_objective_represent_matches_greedy():
    result = select(X, 6, k="cosine", objective="represent", swaps=False)
    assert [*result.places] == brute_force_greedy(K, 6)
    clusters = {index // 30 for index in result.places}
    assert len(clusters) >= 4


def test_selection_can_represent_a_random_subset(monkeypatch):
    monkeypatch.setattr(facility_location, "MAX_REPRESENTED", 60)
    selected = greedy_selection(FeatureSimilarity(X), 6)
    mean_similarity = K[selected].max(axis=0).mean()
    best = K[brute_force_greedy(K, 6)].max(axis=0).mean()
    assert 0.95 * best < mean_similarity <= best + 0.01


def test_problem_that_exceeds_memory_raises(monkeypatch):
    monkeypatch.setattr(
        facility_location.memory, "require", lambda *a: (_ for _ in ()).throw(TooLargeError(a[1]))
    )
    with pytest.raises(TooLargeError, match="representing 180 samples"):
        FacilityLocation(Candidates(FeatureSimilarity(X)), None)
