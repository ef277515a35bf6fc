"""Gains and losses are changes of the objective, and stay so while samples join and leave."""

import math

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, MatrixSimilarity
from vendiscore.tools.selection.candidates import Candidates
from vendiscore.tools.selection.marginal_gains import (
    COARSE_TOLERANCE,
    FINE_TOLERANCE,
    MAX_UPDATES,
    QuadratureForm,
    SetEigenbasis,
    TrackedGains,
    build_quadrature_form,
)

RNG = np.random.default_rng(0)
D = 6
X = RNG.standard_normal((30, D))
X /= np.linalg.norm(X, axis=1, keepdims=True)
K = X @ X.T
FORM = QuadratureForm(0.7, -0.2, np.array([0.01, 0.5, 3.0]), np.array([0.4, 1.0, -0.3]))
FEW, MANY = [4, 9, 11], [0, 3, 5, 8, 13, 17, 21, 29]  # fewer and more than features


def objective(places, form=FORM):
    """Return Φ(A) = α tr A + β tr A² + Σ w log det(I + A/t) of samples."""
    values = np.linalg.eigvalsh(K[np.ix_(places, places)])
    logs = np.log1p(values[:, None] / form.t).sum(axis=0) @ form.w
    return (
        form.trace_coefficient * values.sum() + form.square_coefficient * (values**2).sum() + logs
    )


def basis(places, matrix):
    candidates = Candidates(MatrixSimilarity(K) if matrix else FeatureSimilarity(X))
    rows = np.array([candidates.row(v) for v in places]) if matrix else None
    return SetEigenbasis(candidates, places, rows)


@pytest.mark.parametrize("places", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("matrix", [False, True], ids=["features", "matrix"])
class TestTrackedGains:
    def test_the_total_is_the_objective(self, places, matrix):
        assert basis(places, matrix).compute_phi(FORM) == pytest.approx(objective(places), rel=1e-9)

    def test_gains_are_what_a_candidate_adds(self, places, matrix):
        others = np.setdiff1d(np.arange(30), places)
        gains = TrackedGains(basis(places, matrix), FORM, others, []).gains()
        expected = [objective([*places, v]) - objective(places) for v in others]
        np.testing.assert_allclose(gains, expected, rtol=1e-7)

    def test_losses_are_what_a_member_takes(self, places, matrix):
        others = np.setdiff1d(np.arange(30), places)
        tracked = TrackedGains(basis(places, matrix), FORM, others, places)
        losses = tracked.losses(tracked.positions(places))
        expected = [objective(places) - objective([p for p in places if p != v]) for v in places]
        np.testing.assert_allclose(losses, expected, rtol=1e-7)

    def test_gains_without_a_member_are_those_for_the_rest(self, places, matrix):
        others = np.setdiff1d(np.arange(30), places)
        tracked = TrackedGains(basis(places, matrix), FORM, others, places)
        result = tracked.gains_without(tracked.positions(places[:2]))
        for gains, v in zip(result, places[:2], strict=True):
            rest = [p for p in places if p != v]
            expected = [objective([*rest, w]) - objective(rest) for w in others]
            np.testing.assert_allclose(gains[: len(others)], expected, rtol=1e-7)

    def test_gains_and_losses_follow_changes(self, places, matrix):
        others = np.setdiff1d(np.arange(30), places)
        tracked = TrackedGains(basis(places, matrix), FORM, others, places)
        now = list(places)
        assert tracked.is_unchanged
        for joins, leaves in ((others[2], places[0]), (others[7], others[2])):
            row = K[joins] if matrix else None
            tracked.toggle_membership(
                tracked.positions_by_index[int(leaves)], K[leaves] if matrix else None
            )
            now.remove(leaves)
            tracked.toggle_membership(tracked.positions_by_index[int(joins)], row)
            now.append(int(joins))
        assert not tracked.is_unchanged
        out = [v for v in others if v not in now]
        gains = tracked.gains()[tracked.positions(out)]
        expected = [objective([*now, v]) - objective(now) for v in out]
        np.testing.assert_allclose(gains, expected, rtol=1e-6)
        losses = tracked.losses(tracked.positions(now))
        expected = [objective(now) - objective([p for p in now if p != v]) for v in now]
        np.testing.assert_allclose(losses, expected, rtol=1e-6)


def test_a_frontier_is_outdated_after_some_changes():
    others = np.arange(30)
    tracked = TrackedGains(basis([], False), FORM, others, [])
    for v in range(MAX_UPDATES):
        assert not tracked.is_outdated
        tracked.toggle_membership(v)
    assert tracked.is_outdated
    expected = [
        objective([*range(MAX_UPDATES), v]) - objective([*range(MAX_UPDATES)]) for v in (20, 29)
    ]
    np.testing.assert_allclose(tracked.gains()[[20, 29]], expected, rtol=1e-6)


@pytest.mark.parametrize("q", [0.5, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("tolerance", [FINE_TOLERANCE, COARSE_TOLERANCE])
def test_the_form_of_the_score_is_its_entropy(q, tolerance):
    form = build_quadrature_form(q, 30, tolerance)
    for places in (FEW, MANY, [*range(30)]):
        values = np.linalg.eigvalsh(K[np.ix_(places, places)])
        values = values[values > 1e-12]
        if q == 1:
            expected = -(values * np.log(values)).sum()
        else:
            expected = ((values**q).sum() - values.sum()) / (1 - q)
        error = 10 * tolerance * len(places) + 1e-4 * (q < 1)
        assert basis(places, False).compute_phi(form) == pytest.approx(expected, abs=error)


def test_the_least_and_largest_sets_are_within_the_ridges():
    form = build_quadrature_form(1.0, 30, FINE_TOLERANCE)
    one = basis([0], False).compute_phi(form)
    assert one == pytest.approx(0, abs=1e-7)
    copies = Candidates(FeatureSimilarity(np.ones((30, 2))))
    total = SetEigenbasis(copies, [*range(30)], None).compute_phi(form)
    assert total == pytest.approx(-30 * math.log(30), rel=1e-7)
