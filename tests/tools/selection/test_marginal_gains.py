"""Gains and losses equal changes of the objective, also after samples are added or removed."""

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
FEW_INDICES = [4, 9, 11]  # fewer than features
MANY_INDICES = [0, 3, 5, 8, 13, 17, 21, 29]  # more than features


def objective(indices, form=FORM):
    """Return Φ(A) = α tr A + β tr A² + Σ w log det(I + A/t) of samples."""
    values = np.linalg.eigvalsh(K[np.ix_(indices, indices)])
    logs = np.log1p(values[:, None] / form.t).sum(axis=0) @ form.w
    return (
        form.trace_coefficient * values.sum() + form.square_coefficient * (values**2).sum() + logs
    )


def build_basis(indices, matrix):
    candidates = Candidates(MatrixSimilarity(K) if matrix else FeatureSimilarity(X))
    rows = np.array([candidates.row(v) for v in indices]) if matrix else None
    return SetEigenbasis(candidates, indices, rows)


@pytest.mark.parametrize("indices", [FEW_INDICES, MANY_INDICES], ids=["few", "many"])
@pytest.mark.parametrize("matrix", [False, True], ids=["features", "matrix"])
class TestTrackedGains:
    def test_phi_equals_the_objective(self, indices, matrix):
        assert build_basis(indices, matrix).compute_phi(FORM) == pytest.approx(
            objective(indices), rel=1e-9
        )

    def test_gains_equal_increases_of_the_objective(self, indices, matrix):
        candidates = np.setdiff1d(np.arange(30), indices)
        gains = TrackedGains(build_basis(indices, matrix), FORM, candidates, []).gains()
        expected = [objective([*indices, v]) - objective(indices) for v in candidates]
        np.testing.assert_allclose(gains, expected, rtol=1e-7)

    def test_losses_equal_decreases_of_the_objective(self, indices, matrix):
        candidates = np.setdiff1d(np.arange(30), indices)
        tracked = TrackedGains(build_basis(indices, matrix), FORM, candidates, indices)
        losses = tracked.losses(tracked.positions(indices))
        expected = [objective(indices) - objective([p for p in indices if p != v]) for v in indices]
        np.testing.assert_allclose(losses, expected, rtol=1e-7)

    def test_gains_without_a_member_equal_gains_of_the_remaining_set(self, indices, matrix):
        candidates = np.setdiff1d(np.arange(30), indices)
        tracked = TrackedGains(build_basis(indices, matrix), FORM, candidates, indices)
        result = tracked.gains_without(tracked.positions(indices[:2]))
        for gains, v in zip(result, indices[:2], strict=True):
            remaining = [p for p in indices if p != v]
            expected = [objective([*remaining, w]) - objective(remaining) for w in candidates]
            np.testing.assert_allclose(gains[: len(candidates)], expected, rtol=1e-7)

    def test_gains_and_losses_are_correct_after_swaps(self, indices, matrix):
        candidates = np.setdiff1d(np.arange(30), indices)
        tracked = TrackedGains(build_basis(indices, matrix), FORM, candidates, indices)
        current = list(indices)
        assert tracked.is_unchanged
        for added, removed in ((candidates[2], indices[0]), (candidates[7], candidates[2])):
            row = K[added] if matrix else None
            tracked.toggle_membership(
                tracked.positions_by_index[int(removed)], K[removed] if matrix else None
            )
            current.remove(removed)
            tracked.toggle_membership(tracked.positions_by_index[int(added)], row)
            current.append(int(added))
        assert not tracked.is_unchanged
        remaining_candidates = [v for v in candidates if v not in current]
        gains = tracked.gains()[tracked.positions(remaining_candidates)]
        expected = [objective([*current, v]) - objective(current) for v in remaining_candidates]
        np.testing.assert_allclose(gains, expected, rtol=1e-6)
        losses = tracked.losses(tracked.positions(current))
        expected = [objective(current) - objective([p for p in current if p != v]) for v in current]
        np.testing.assert_allclose(losses, expected, rtol=1e-6)


def test_tracked_gains_are_outdated_after_max_updates():
    candidates = np.arange(30)
    tracked = TrackedGains(build_basis([], False), FORM, candidates, [])
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
def test_quadrature_form_matches_entropy(q, tolerance):
    form = build_quadrature_form(q, 30, tolerance)
    for indices in (FEW_INDICES, MANY_INDICES, [*range(30)]):
        values = np.linalg.eigvalsh(K[np.ix_(indices, indices)])
        values = values[values > 1e-12]
        if q == 1:
            expected = -(values * np.log(values)).sum()
        else:
            expected = ((values**q).sum() - values.sum()) / (1 - q)
        error = 10 * tolerance * len(indices) + 1e-4 * (q < 1)
        assert build_basis(indices, False).compute_phi(form) == pytest.approx(expected, abs=error)


def test_quadrature_form_matches_smallest_and_largest_entropies():
    form = build_quadrature_form(1.0, 30, FINE_TOLERANCE)
    single = build_basis([0], False).compute_phi(form)
    assert single == pytest.approx(0, abs=1e-7)
    copies = Candidates(FeatureSimilarity(np.ones((30, 2))))
    total = SetEigenbasis(copies, [*range(30)], None).compute_phi(form)
    assert total == pytest.approx(-30 * math.log(30), rel=1e-7)
