"""Gains of candidates and swaps are the changes of the objective."""

import math

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, MatrixSimilarity, TooLargeError
from vendiscore.tools.selection import vendi_objective
from vendiscore.tools.selection.candidates import Candidates
from vendiscore.tools.selection.vendi_objective import QualityTradeoff, VendiObjective

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 8))
X /= np.linalg.norm(X, axis=1, keepdims=True)
K = X @ X.T
QUALITY = RNG.random(40) + 0.2
EVERY = np.ones(40, bool)


class Constraints:
    """A size, and everything allowed."""

    def __init__(self, size):
        self.size = size

    def allowed_swaps(self, selected, members, index):
        return np.ones((len(members), len(index)), bool)

    def best_candidates(self, values, count):
        return np.argsort(-values, kind="stable")[:count]


def objective(q=1.0, size=6, merit=None, matrix=False):
    similarity = MatrixSimilarity(K) if matrix else FeatureSimilarity(X)
    return VendiObjective(Candidates(similarity), Constraints(size), q, merit)


def worth(places, q, merit=None):
    values = np.linalg.eigvalsh(K[np.ix_(places, places)] / len(places))
    values = values[values > 1e-14]
    log = -(values * np.log(values)).sum() if q == 1 else np.log((values**q).sum()) / (1 - q)
    return log if merit is None else merit.combined(log, merit.quality[places].mean())


def greedy(q, size, merit=None):
    chosen = []
    for _ in range(size):
        others = np.setdiff1d(np.arange(40), chosen)
        values = np.array([worth([*chosen, v], q, merit) for v in others])
        chosen.append(int(others[np.flatnonzero(values >= values.max() - 1e-10)[0]]))
    return chosen


TRADEOFFS = {
    "diversity": None,
    "quality": QualityTradeoff(QUALITY, 0.5),
    "mostly quality": QualityTradeoff(QUALITY, 0.1),
}


@pytest.mark.parametrize("q", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("merit", TRADEOFFS)
@pytest.mark.parametrize("matrix", [False, True])
def test_every_pick_is_worth_most(q, merit, matrix):
    result = objective(q, merit=TRADEOFFS[merit], matrix=matrix)
    allowed = EVERY.copy()
    for _ in range(6):
        v = result.best_candidate(allowed)
        result.add(v)
        allowed[v] = False
    assert result.selected == greedy(q, 6, TRADEOFFS[merit])


def test_many_candidates_are_shortlisted_to_the_same_picks(monkeypatch):
    monkeypatch.setattr(vendi_objective, "MAX_EXHAUSTIVE_CANDIDATES", 10)
    monkeypatch.setattr(vendi_objective, "SHORTLIST_SIZE", 5)
    result = objective()
    allowed = EVERY.copy()
    for _ in range(6):
        v = result.best_candidate(allowed)
        result.add(v)
        allowed[v] = False
    assert result.selected == greedy(1.0, 6)


@pytest.mark.parametrize("q", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("merit", ["diversity", "quality"])
def test_an_exchange_has_its_worth_and_raises_the_objective(q, merit):
    result = objective(q, merit=TRADEOFFS[merit])
    start = [0, 1, 2, 3, 4, 5]
    for v in start:
        result.add(v)
    result.refresh_candidates()
    _, more = result.swap_gains(np.arange(6))
    assert more.max() > result.min_swap_gain
    j = int(more.argmax())
    before = worth(start, q, TRADEOFFS[merit])
    others = [v for v in range(40) if v not in start]
    swapped = [[*start[:j], v, *start[j + 1 :]] for v in others]
    best = max(worth(places, q, TRADEOFFS[merit]) for places in swapped)
    assert result.swap(j)
    after = worth(result.selected, q, TRADEOFFS[merit])
    assert after == pytest.approx(best, abs=1e-3)
    assert after > before
    if TRADEOFFS[merit] is not None:
        assert more[j] == pytest.approx(after - before, abs=1e-3)


def test_an_exchange_that_would_not_help_is_not_made():
    result = objective(size=2)
    for v in (0, int(K[0].argmin())):
        result.add(v)
    result.refresh_candidates()
    places = list(result.selected)
    improved = result.swap(0)
    if not improved:
        assert result.selected == places
    while result.swap(0) or result.swap(1):
        pass
    pairs = [worth([a, b], 1.0) for a in range(40) for b in range(a)]
    assert worth(result.selected, 1.0) <= max(pairs) + 1e-12
    assert not result.swap(0)


def test_losses_are_what_members_take():
    result = objective(q=2.0)
    for v in range(6):
        result.add(v)
    result.refresh_candidates()
    losses = result.removal_losses(np.arange(6))

    def total(places):
        inside = K[np.ix_(places, places)]
        return len(places) - (inside**2).sum()  # (tr A² − tr A) / (1 − 2)

    expected = [total([*range(6)]) - total([i for i in range(6) if i != j]) for j in range(6)]
    np.testing.assert_allclose(losses, expected, atol=1e-9)


def test_a_flat_objective_picks_far_samples_with_a_warning():
    rows = np.concatenate([np.eye(3), np.eye(3), [[1, 1, 0], [0, 1, 1]]])
    result = VendiObjective(Candidates(FeatureSimilarity(rows)), Constraints(6), 1.0)
    for v in range(3):
        result.add(v)
    with pytest.warns(UserWarning, match=r"with 3 samples, the score .* features \(3\)"):
        v = result.best_candidate(np.arange(8) > 2)
    assert v in (6, 7)  # the others repeat a chosen sample


def test_merit_weighs_diversity_against_quality():
    merit = QualityTradeoff(np.array([1.0, 2.0, 4.0]), 0.25)
    assert merit.combined(3.0, 2.0) == pytest.approx(0.5 * 3 + 1.5 * math.log(2))
    assert merit.combined(3.0, 0.0) == -math.inf
    assert merit.take(np.array([2, 0])).quality.tolist() == [4, 1]
    assert QualityTradeoff(np.ones(2), 0.5).combined(1.5, 1.0) == pytest.approx(1.5)


def test_room_for_the_choice_is_needed():
    huge = FeatureSimilarity(np.broadcast_to(np.ones(1), (3, 10**12)))
    candidates = Candidates.__new__(Candidates)
    candidates.n, candidates.dim, candidates.similarity = 10**9, 10**6, huge
    with pytest.raises(TooLargeError, match="selecting 1000 of 1000000000 samples"):
        VendiObjective(candidates, Constraints(1000), 1.0)


def test_candidates_that_the_quadrature_cannot_tell_apart_are_compared_exactly():
    cosines = np.array([0.5 + 1e-8, 0.5])
    rows = np.column_stack([cosines, np.sqrt(1 - cosines**2), [0, 0]])
    rows = np.concatenate([[[1.0, 0, 0]], rows])
    result = VendiObjective(Candidates(FeatureSimilarity(rows)), Constraints(2), 1.0)
    result.add(0)
    assert result.best_candidate(np.array([False, True, True])) == 2  # less similar by 1e-8


def test_the_total_follows_exchanges():
    result = objective(merit=QualityTradeoff(QUALITY, 0.5))
    for v in range(6):
        result.add(v)
    result.refresh_candidates()
    assert sum(result.swap(j) for j in range(6)) > 0
    total = result.phi
    assert total == pytest.approx(
        result._build_basis(result._coarse_form).compute_phi(result._coarse_form), abs=1e-3
    )
