"""Gains and losses are changes of the objective, and stay so while samples join and leave."""

import math

import numpy as np
import pytest

from vendiscore import FeatureSimilarity, MatrixSimilarity
from vendiscore.tools.selection.candidates import Candidates
from vendiscore.tools.selection.resolvent import (
    CHANGES,
    COARSE,
    FINE,
    Basis,
    Form,
    Frontier,
    vendi_form,
)

RNG = np.random.default_rng(0)
D = 6
X = RNG.standard_normal((30, D))
X /= np.linalg.norm(X, axis=1, keepdims=True)
K = X @ X.T
FORM = Form(0.7, -0.2, np.array([0.01, 0.5, 3.0]), np.array([0.4, 1.0, -0.3]))
FEW, MANY = [4, 9, 11], [0, 3, 5, 8, 13, 17, 21, 29]  # fewer and more than features


def objective(places, form=FORM):
    """Return Φ(A) = α tr A + β tr A² + Σ w log det(I + A/t) of samples."""
    values = np.linalg.eigvalsh(K[np.ix_(places, places)])
    logs = np.log1p(values[:, None] / form.t).sum(axis=0) @ form.w
    return form.of_trace * values.sum() + form.of_square * (values**2).sum() + logs


def basis(places, matrix):
    candidates = Candidates(MatrixSimilarity(K) if matrix else FeatureSimilarity(X))
    rows = np.array([candidates.row(v) for v in places]) if matrix else None
    return Basis(candidates, places, rows)


@pytest.mark.parametrize("places", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("matrix", [False, True], ids=["features", "matrix"])
class TestFrontier:
    def test_the_total_is_the_objective(self, places, matrix):
        assert basis(places, matrix).total(FORM) == pytest.approx(objective(places), rel=1e-9)

    def test_gains_are_what_a_candidate_adds(self, places, matrix):
        others = np.setdiff1d(np.arange(30), places)
        gains = Frontier(basis(places, matrix), FORM, others, []).gains()
        expected = [objective([*places, v]) - objective(places) for v in others]
        np.testing.assert_allclose(gains, expected, rtol=1e-7)

    def test_losses_are_what_a_member_takes(self, places, matrix):
        others = np.setdiff1d(np.arange(30), places)
        frontier = Frontier(basis(places, matrix), FORM, others, places)
        losses = frontier.losses(frontier.positions(places))
        expected = [objective(places) - objective([p for p in places if p != v]) for v in places]
        np.testing.assert_allclose(losses, expected, rtol=1e-7)

    def test_gains_without_a_member_are_those_for_the_rest(self, places, matrix):
        others = np.setdiff1d(np.arange(30), places)
        frontier = Frontier(basis(places, matrix), FORM, others, places)
        found = frontier.without(frontier.positions(places[:2]))
        for gains, v in zip(found, places[:2], strict=True):
            rest = [p for p in places if p != v]
            expected = [objective([*rest, w]) - objective(rest) for w in others]
            np.testing.assert_allclose(gains[: len(others)], expected, rtol=1e-7)

    def test_gains_and_losses_follow_changes(self, places, matrix):
        others = np.setdiff1d(np.arange(30), places)
        frontier = Frontier(basis(places, matrix), FORM, others, places)
        now = list(places)
        assert frontier.is_new
        for joins, leaves in ((others[2], places[0]), (others[7], others[2])):
            row = K[joins] if matrix else None
            frontier.change(frontier.at[int(leaves)], K[leaves] if matrix else None)
            now.remove(leaves)
            frontier.change(frontier.at[int(joins)], row)
            now.append(int(joins))
        assert not frontier.is_new
        out = [v for v in others if v not in now]
        gains = frontier.gains()[frontier.positions(out)]
        expected = [objective([*now, v]) - objective(now) for v in out]
        np.testing.assert_allclose(gains, expected, rtol=1e-6)
        losses = frontier.losses(frontier.positions(now))
        expected = [objective(now) - objective([p for p in now if p != v]) for v in now]
        np.testing.assert_allclose(losses, expected, rtol=1e-6)


def test_a_frontier_is_old_after_some_changes():
    others = np.arange(30)
    frontier = Frontier(basis([], False), FORM, others, [])
    for v in range(CHANGES):
        assert not frontier.is_old
        frontier.change(v)
    assert frontier.is_old
    expected = [objective([*range(CHANGES), v]) - objective([*range(CHANGES)]) for v in (20, 29)]
    np.testing.assert_allclose(frontier.gains()[[20, 29]], expected, rtol=1e-6)


@pytest.mark.parametrize("q", [0.5, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("tolerance", [FINE, COARSE])
def test_the_form_of_the_score_is_its_entropy(q, tolerance):
    form = vendi_form(q, 30, tolerance)
    for places in (FEW, MANY, [*range(30)]):
        values = np.linalg.eigvalsh(K[np.ix_(places, places)])
        values = values[values > 1e-12]
        if q == 1:
            expected = -(values * np.log(values)).sum()
        else:
            expected = ((values**q).sum() - values.sum()) / (1 - q)
        error = 10 * tolerance * len(places) + 1e-4 * (q < 1)
        assert basis(places, False).total(form) == pytest.approx(expected, abs=error)


def test_the_least_and_largest_sets_are_within_the_ridges():
    form = vendi_form(1.0, 30, FINE)
    one = basis([0], False).total(form)
    assert one == pytest.approx(0, abs=1e-7)
    copies = Candidates(FeatureSimilarity(np.ones((30, 2))))
    total = Basis(copies, [*range(30)], None).total(form)
    assert total == pytest.approx(-30 * math.log(30), rel=1e-7)
