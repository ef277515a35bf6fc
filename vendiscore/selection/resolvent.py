"""Gains of every candidate for a set, and their changes as samples join it or leave it.

With A = Σ_S x xᵀ and s_x(t) = xᵀ (A + tI)⁻¹ x, a candidate adds to the objectives

    Φ(A) = α tr A + β tr A² + Σ_t w_t log det(I + A/t)

α + β (2 xᵀAx + 1) + Σ_t w_t log(1 + s_x(t)), never more than before: Φ is submodular. A member
that leaves takes α + β (2 xᵀAx − 1) − Σ_t w_t log(1 − s_x(t)).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..core.namespace import gram
from ..spectral.quadrature import NOTHING, of_integral, of_trace, ridges, step_for
from .candidates import Candidates

# Errors of a gain, relative to a change of the trace by 1: of those that are compared in double
# precision, and of bounds on all others.
FINE, COARSE = 1e-9, 1e-4
# The least ridge: with smaller ones the rounding of inverses grows with each sample beyond the
# number of dimensions.
RIDGE = 1e-9
# Largest error of 1 − Σ z²/(λ + t) in single precision, and as a share of what is added up: bounds
# are raised by that.
SINGLE = 2e-6
# Number of samples that join or leave before eigenvalues are found again: d = 384 takes 25 ms.
CHANGES = 16


class Form(NamedTuple):
    """α, β, ridges t (r,) and weights w (r,) of an objective; see above."""

    of_trace: float
    of_square: float
    t: np.ndarray
    w: np.ndarray

    def value(self, s: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """Return what candidates add, from s (r, ...) and xᵀAx (...); s is overwritten."""
        added = squares * (2 * self.of_square)
        added += self.of_trace + self.of_square
        if len(self.t):
            np.log1p(s, out=s)
            logs = s.reshape(len(s), -1)
            weights = self.w.astype(s.dtype)
            added += (weights @ logs).reshape(s.shape[1:])
        return added

    def loss(self, left: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """Return what members take as they leave, from 1 − s (r, ...) and xᵀAx (...)."""
        lost = self.of_trace + self.of_square * (2 * squares - 1)
        if len(self.t):
            lost = lost - self.w @ np.log(left)
        return lost

    def slack(self, size: int) -> float:
        """Return how far quadrature and rounding may put a value in single precision too low."""
        logs = float(self.w @ (1 / (1 + self.t)))
        squares = 2 * abs(self.of_square) * size
        return COARSE + SINGLE * (logs + squares)


def vendi_form(q: float, size: int, tolerance: float) -> Form:
    """Return the form of (tr A^q − tr A)/(1 − q), −tr A log A at q = 1, for up to `size` samples.

    The integrand log(1 + s(t)) − 1/(t + b) falls like (b − xᵀAx − 1/2) t^{q−3}, with a known sum.
    """
    if q == 2:
        return Form(1.0, -1.0, np.empty(0), np.empty(0))
    # As if the least eigenvalue were such that the lowest ridge is RIDGE; see `ridges`.
    least = math.sqrt(RIDGE ** (1 + q) / (NOTHING * tolerance))
    t, weights = ridges(q, least, float(size), tolerance)
    b = math.sqrt(size)
    step = step_for(tolerance)
    factor = of_integral(q)
    beyond = factor * step * t[-1] ** (q - 2) / math.expm1((2 - q) * step)
    of_nodes = factor * float(weights @ (1 / (t + b)))
    # + beyond (b − xᵀAx − 1/2), written as a part of each trace term.
    first = float(of_trace(q, b)) - of_nodes + beyond * b
    return Form(first, -beyond / 2, t, factor * weights)


class Basis:
    """Eigenvalues λ of the set `places`, and coordinates z of any sample.

    As many samples as features span these: z are coordinates among eigenvectors of A, and
    s = Σ z²/(λ + t). Before, and without features, z = Uᵀ c_x, of eigenvectors U of similarities
    within the set and those c_x of x to the set, and t s = 1 − Σ z²/(λ + t). `rows` has
    the similarities (m, n) of the set to all samples if they have no features. `members` are
    coordinates of the places themselves, or of the weight of each in the set.
    """

    members: np.ndarray

    def __init__(
        self, candidates: Candidates, places: list[int], rows: np.ndarray | None = None
    ) -> None:
        self.candidates = candidates
        self._rows = rows
        self.whole = candidates.dim is not None and candidates.dim <= len(places)
        if rows is not None:
            values, U = _eigen_of_similarities(rows[:, places])
            self._V = self.members = U
        else:
            F = candidates.features(np.array(places, int))
            if self.whole:
                values, U = np.linalg.eigh(gram(F.T))
                self._V, self.members = U, F @ U
            else:
                values, U = _eigen_of_similarities(gram(F))
                self._V, self.members = F.T @ U, U
        self.values = np.maximum(values, 0.0)

    def coordinates(self, index: np.ndarray, single: bool = False) -> np.ndarray:
        """Return z (len(index), m), in single precision if asked and there are features."""
        if self._rows is not None:
            return self._rows[:, index].T @ self._V
        return self.candidates.product(index, self._V, single)

    def over(self, t: np.ndarray) -> np.ndarray:
        """Return 1/(λ + t), (m, r)."""
        return 1 / (self.values[:, None] + t)

    def resolve(self, Z: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Return s (r, n), in the precision of Z; in single precision bounds from above."""
        over = self.over(t).astype(Z.dtype)
        s = over.T @ (Z * Z).T
        if self.whole:
            return s
        length = 1 if Z.dtype == np.float64 else 1 + SINGLE
        np.subtract(length, s, out=s)
        s /= t[:, None].astype(Z.dtype)
        return np.maximum(s, 0, out=s)

    def squares(self, Z: np.ndarray) -> np.ndarray:
        """Return xᵀAx (n,)."""
        squares = Z**2 @ self.values if self.whole else np.vecdot(Z, Z)
        return np.asarray(squares, np.float64)

    def total(self, form: Form) -> float:
        """Return Φ(A)."""
        values = self.values
        logs = np.log1p(values[:, None] / form.t).sum(axis=0)
        trace, square = float(values.sum()), float(values @ values)
        return form.of_trace * trace + form.of_square * square + float(form.w @ logs)


def _eigen_of_similarities(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues and eigenvectors of similarities, with ones on their diagonal."""
    np.fill_diagonal(K, 1.0)
    values, U = np.linalg.eigh(K)
    return values, U


class Frontier:
    """Samples that are followed while some of them join the set and others leave it.

    Candidates `index`, then `members`, a list of all places of the basis or of none. `D` (r, n)
    has s of candidates and 1 − s of members. With c = xᵀ (A + tI)⁻¹ y, c²/(1 + s_y) leaves s_x as y
    joins, and c²/(1 − s_y) joins it as the member y leaves.
    """

    def __init__(self, basis: Basis, form: Form, index: np.ndarray, members: list[int]) -> None:
        self.basis = basis
        self.form = form
        self.index = np.concatenate([index, members]).astype(int)
        places = self.index.tolist()
        self.at: dict[int, int] = {place: i for i, place in enumerate(places)}
        self._first = len(index)
        self.is_member = np.arange(len(places)) >= self._first
        self._Z = basis.coordinates(self.index)
        self._over = basis.over(form.t)
        self.D = basis.resolve(self._Z, form.t)
        self.squares = basis.squares(self._Z)
        # 1 − s is at least t/(λ + t) for the largest eigenvalue there can be.
        largest = len(basis.values) + CHANGES
        self._least = (form.t / (form.t + largest))[:, None]
        if members:
            left = self._over.T @ np.square(basis.members).T
            left = 1 - left if basis.whole else left * form.t[:, None]
            self.D[:, self._first :] = left
            self._floor()
        self._F: np.ndarray | None = None
        if basis.candidates.dim is not None and not basis.whole:
            self._F = basis.candidates.features(self.index)
        self._changes: list[tuple[np.ndarray, int]] = []

    @property
    def is_old(self) -> bool:
        """True if so much changed that a new one costs less."""
        return len(self._changes) >= CHANGES

    @property
    def is_new(self) -> bool:
        """True if nothing changed."""
        return not self._changes

    def gains(self) -> np.ndarray:
        """Return what candidates add, (n,), and no matter what for members."""
        return self.form.value(self.D.copy(), self.squares)

    def losses(self, some: np.ndarray) -> np.ndarray:
        """Return what the members at these positions take as they leave."""
        return self.form.loss(self.D[:, some], self.squares[some])

    def without(self, some: np.ndarray) -> np.ndarray:
        """Return what candidates (n,) add without each of some members, (len(some), n)."""
        across = self._across(some)
        across *= across
        across /= self.D[:, some, None]
        across += self.D[:, None]
        squares = self.squares - self._similar(some) ** 2
        return self.form.value(across, squares)

    def change(self, y: int, row: np.ndarray | None = None) -> None:
        """Let the sample at position y join or leave; its `row` of similarities if there is one."""
        leaves = bool(self.is_member[y])
        before = self.D[:, y].copy()
        if leaves:
            length, after, sign = before, (1 - before) / before, -1
        else:
            length, after, sign = 1 + before, 1 / (1 + before), 1
        position = np.array([y])
        a = self._across(position, row)[:, 0]
        a /= np.sqrt(length)[:, None]
        change = a * a
        change[:, self.is_member == leaves] *= -1
        self.D += change
        self.D[:, y] = after
        self.squares += sign * self._similar(position, row)[0] ** 2
        self.is_member[y] = not leaves
        self._floor()
        self._changes.append((a, sign))

    def _floor(self) -> None:
        least = np.where(self.is_member, self._least, 0.0)
        np.maximum(self.D, least, out=self.D)

    def _similar(self, some: np.ndarray, row: np.ndarray | None = None) -> np.ndarray:
        """Return similarities (len(some), n) to some samples, with their `row` if there is one."""
        if self.basis.whole:
            return self._Z[some] @ self._Z.T
        if some[0] >= self._first:
            return self.basis.members[some - self._first] @ self._Z.T
        if self._F is not None:
            return self._F[some] @ self._F.T
        assert row is not None
        return row[None, self.index]

    def _across(self, some: np.ndarray, row: np.ndarray | None = None) -> np.ndarray:
        """Return xᵀ (A + tI)⁻¹ y of all x, (r, len(some), n)."""
        of_members = not self.basis.whole and some[0] >= self._first
        Z = self._Z[some]
        if of_members:
            Z = self.basis.members[some - self._first]
        r, m, n = len(self.form.t), len(some), len(self.index)
        weighed = Z * self._over.T[:, None]
        weighed = weighed.reshape(r * m, Z.shape[1])
        across = weighed @ self._Z.T
        across = across.reshape(r, m, n)
        if not self.basis.whole and not of_members:
            np.subtract(self._similar(some, row), across, out=across)
            across /= self.form.t[:, None, None]
            if self._first < n:  # of members, this part would be lost in rounding
                with_members = weighed @ self.basis.members.T
                across[..., self._first :] = with_members.reshape(r, m, n - self._first)
        for a, sign in self._changes:
            across -= sign * a[:, some, None] * a[:, None]
        return across
