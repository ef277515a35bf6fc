"""Candidates and swaps of `VendiObjective` match brute force."""

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
ALL = np.ones(40, bool)


class NoConstraints:
    """A selection size without further constraints."""

    def __init__(self, size):
        self.size = size

    def allowed_swaps(self, selected, members, index):
        return np.ones((len(members), len(index)), bool)

    def best_candidates(self, values, count):
        return np.argsort(-values, kind="stable")[:count]


def build_objective(q=1.0, size=6, tradeoff=None, matrix=False):
    similarity = MatrixSimilarity(K) if matrix else FeatureSimilarity(X)
    return VendiObjective(Candidates(similarity), NoConstraints(size), q, tradeoff)


def objective_value(indices, q, tradeoff=None):
    values = np.linalg.eigvalsh(K[np.ix_(indices, indices)] / len(indices))
    values = values[values > 1e-14]
    log = -(values * np.log(values)).sum() if q == 1 else np.log((values**q).sum()) / (1 - q)
    return log if tradeoff is None else tradeoff.combined(log, tradeoff.quality[indices].mean())


def brute_force_greedy(q, size, tradeoff=None):
    selected = []
    for _ in range(size):
        candidates = np.setdiff1d(np.arange(40), selected)
        values = np.array([objective_value([*selected, v], q, tradeoff) for v in candidates])
        selected.append(int(candidates[np.flatnonzero(values >= values.max() - 1e-10)[0]]))
    return selected


TRADEOFFS = {
    "diversity": None,
    "quality": QualityTradeoff(QUALITY, 0.5),
    "mostly quality": QualityTradeoff(QUALITY, 0.1),
}


@pytest.mark.parametrize("q", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("tradeoff_name", TRADEOFFS)
@pytest.mark.parametrize("matrix", [False, True])
def test_best_candidate_matches_brute_force(q, tradeoff_name, matrix):
    result = build_objective(q, tradeoff=TRADEOFFS[tradeoff_name], matrix=matrix)
    allowed = ALL.copy()
    for _ in range(6):
        v = result.best_candidate(allowed)
        result.add(v)
        allowed[v] = False
    assert result.selected == brute_force_greedy(q, 6, TRADEOFFS[tradeoff_name])


def test_shortlist_gives_the_brute_force_selection(monkeypatch):
    monkeypatch.setattr(vendi_objective, "MAX_EXHAUSTIVE_CANDIDATES", 10)
    monkeypatch.setattr(vendi_objective, "SHORTLIST_SIZE", 5)
    result = build_objective()
    allowed = ALL.copy()
    for _ in range(6):
        v = result.best_candidate(allowed)
        result.add(v)
        allowed[v] = False
    assert result.selected == brute_force_greedy(1.0, 6)


@pytest.mark.parametrize("q", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("tradeoff_name", ["diversity", "quality"])
def test_swap_matches_brute_force_and_its_predicted_gain(q, tradeoff_name):
    result = build_objective(q, tradeoff=TRADEOFFS[tradeoff_name])
    start = [0, 1, 2, 3, 4, 5]
    for v in start:
        result.add(v)
    result.refresh_candidates()
    _, gains = result.swap_gains(np.arange(6))
    assert gains.max() > result.min_swap_gain
    j = int(gains.argmax())
    before = objective_value(start, q, TRADEOFFS[tradeoff_name])
    candidates = [v for v in range(40) if v not in start]
    swapped = [[*start[:j], v, *start[j + 1 :]] for v in candidates]
    best = max(objective_value(indices, q, TRADEOFFS[tradeoff_name]) for indices in swapped)
    assert result.swap(j)
    after = objective_value(result.selected, q, TRADEOFFS[tradeoff_name])
    assert after == pytest.approx(best, abs=1e-3)
    assert after > before
    if TRADEOFFS[tradeoff_name] is not None:
        assert gains[j] == pytest.approx(after - before, abs=1e-3)


def test_swap_keeps_the_selection_if_no_candidate_is_better():
    result = build_objective(size=2)
    for v in (0, int(K[0].argmin())):
        result.add(v)
    result.refresh_candidates()
    before = list(result.selected)
    improved = result.swap(0)
    if not improved:
        assert result.selected == before
    while result.swap(0) or result.swap(1):
        pass
    pairs = [objective_value([a, b], 1.0) for a in range(40) for b in range(a)]
    assert objective_value(result.selected, 1.0) <= max(pairs) + 1e-12
    assert not result.swap(0)


def test_removal_losses_match_differences_of_the_objective():
    result = build_objective(q=2.0)
    for v in range(6):
        result.add(v)
    result.refresh_candidates()
    losses = result.removal_losses(np.arange(6))

    def order_2_objective(indices):
        K_selected = K[np.ix_(indices, indices)]
        return len(indices) - (K_selected**2).sum()  # (tr A² − tr A) / (1 − 2)

    expected = [
        order_2_objective([*range(6)]) - order_2_objective([i for i in range(6) if i != j])
        for j in range(6)
    ]
    np.testing.assert_allclose(losses, expected, atol=1e-9)


def test_flat_objective_warns_and_selects_a_distant_sample():
    rows = np.concatenate([np.eye(3), np.eye(3), [[1, 1, 0], [0, 1, 1]]])
    result = VendiObjective(Candidates(FeatureSimilarity(rows)), NoConstraints(6), 1.0)
    for v in range(3):
        result.add(v)
    with pytest.warns(UserWarning, match=r"with 3 samples, the score .* features \(3\)"):
        v = result.best_candidate(np.arange(8) > 2)
    assert v in (6, 7)  # the other candidates are copies of selected samples


def test_quality_tradeoff_combines_log_score_and_log_quality():
    tradeoff = QualityTradeoff(np.array([1.0, 2.0, 4.0]), 0.25)
    assert tradeoff.combined(3.0, 2.0) == pytest.approx(0.5 * 3 + 1.5 * math.log(2))
    assert tradeoff.combined(3.0, 0.0) == -math.inf
    assert tradeoff.take(np.array([2, 0])).quality.tolist() == [4, 1]
    assert QualityTradeoff(np.ones(2), 0.5).combined(1.5, 1.0) == pytest.approx(1.5)


def test_selection_that_exceeds_memory_raises():
    similarity = FeatureSimilarity(np.broadcast_to(np.ones(1), (3, 10**12)))
    candidates = Candidates.__new__(Candidates)
    candidates.n, candidates.dim, candidates.similarity = 10**9, 10**6, similarity
    with pytest.raises(TooLargeError, match="selecting 1000 of 1000000000 samples"):
        VendiObjective(candidates, NoConstraints(1000), 1.0)


def test_near_ties_are_compared_exactly():
    cosines = np.array([0.5 + 1e-8, 0.5])
    rows = np.column_stack([cosines, np.sqrt(1 - cosines**2), [0, 0]])
    rows = np.concatenate([[[1.0, 0, 0]], rows])
    result = VendiObjective(Candidates(FeatureSimilarity(rows)), NoConstraints(2), 1.0)
    result.add(0)
    assert result.best_candidate(np.array([False, True, True])) == 2  # less similar by 1e-8


def test_phi_is_updated_by_swaps():
    result = build_objective(tradeoff=QualityTradeoff(QUALITY, 0.5))
    for v in range(6):
        result.add(v)
    result.refresh_candidates()
    assert sum(result.swap(j) for j in range(6)) > 0
    order_2_objective = result.phi
    assert order_2_objective == pytest.approx(
        result._build_basis(result._coarse_form).compute_phi(result._coarse_form), abs=1e-3
    )
