"""Facility location picks, greedily, the sample that is near to most others."""

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


def greedy(K, size, allowed=None):
    """Return the samples that raise the mean of the largest similarity most, one by one."""
    n = len(K)
    allowed = np.ones(n, bool) if allowed is None else allowed.copy()
    nearest, chosen = np.full(n, -1.0), []
    for _ in range(size):
        gains = np.array([np.maximum(nearest, K[v]).mean() for v in range(n)])
        gains[~allowed] = -np.inf
        v = int(np.flatnonzero(gains >= gains.max() - 1e-11)[0])
        chosen.append(v)
        allowed[v] = False
        nearest = np.maximum(nearest, K[v])
    return chosen


def pick(similarity, size, allowed=None):
    cover = FacilityLocation(Candidates(similarity), None)
    allowed = np.ones(similarity.n, bool) if allowed is None else allowed.copy()
    for _ in range(size):
        v = cover.best_candidate(allowed)
        cover.add(v)
        allowed[v] = False
    return cover.selected


@pytest.mark.parametrize("make", [lambda: FeatureSimilarity(X), lambda: MatrixSimilarity(K)])
@pytest.mark.parametrize("few", [0, 2048], ids=["single", "double"])
@pytest.mark.parametrize("max_cached", [1, 1 << 27])
def test_samples_are_those_of_the_greedy_algorithm(make, few, max_cached, monkeypatch):
    monkeypatch.setattr(facility_location, "MAX_DOUBLE_PRECISION_SAMPLES", few)
    monkeypatch.setattr(
        facility_location,
        "MAX_CACHED_SIMILARITIES",
        max_cached * 180 if max_cached == 1 else max_cached,
    )
    monkeypatch.setattr(facility_location, "BATCH_SIZE", 8)
    assert pick(make(), 12) == greedy(K, 12)


def test_only_allowed_samples_are_taken():
    allowed = np.arange(180) % 3 == 1
    assert pick(FeatureSimilarity(X), 5, allowed) == greedy(K, 5, allowed)


def test_equal_gains_take_the_first_sample():
    assert pick(MatrixSimilarity(np.eye(5)), 5) == [0, 1, 2, 3, 4]
    two = np.kron(np.eye(2), np.ones((3, 3)))
    assert pick(MatrixSimilarity(two), 2) == [0, 3]


def test_select_represents_by_this_objective():
    result = select(X, 6, k="cosine", objective="represent", swaps=False)
    assert [*result.places] == greedy(K, 6)
    clusters = {place // 30 for place in result.places}
    assert len(clusters) >= 4


def test_a_sample_of_many_is_represented(monkeypatch):
    monkeypatch.setattr(facility_location, "MAX_REPRESENTED", 60)
    chosen = pick(FeatureSimilarity(X), 6)
    mean_similarity = K[chosen].max(axis=0).mean()
    best = K[greedy(K, 6)].max(axis=0).mean()
    assert 0.95 * best < mean_similarity <= best + 0.01


def test_more_than_fits_in_memory_is_refused(monkeypatch):
    monkeypatch.setattr(
        facility_location.memory, "require", lambda *a: (_ for _ in ()).throw(TooLargeError(a[1]))
    )
    with pytest.raises(TooLargeError, match="representing 180 samples"):
        FacilityLocation(Candidates(FeatureSimilarity(X)), None)
