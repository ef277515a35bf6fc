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
        if len(self.t):
            np.log1p(s, out=s)
            added += (self.w.astype(s.dtype) @ s.reshape(len(s), -1)).reshape(s.shape[1:])
        added += self.of_trace + self.of_square
        return added

    def loss(self, left: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """Return what members take as they leave, from 1 − s (r, ...) and xᵀAx (...)."""
        logs = np.log(left) if len(self.t) else left
        return np.asarray(self.of_trace + self.of_square * (2 * squares - 1) - self.w @ logs)

    def slack(self, size: int) -> float:
        """Return how far quadrature and rounding may put a value in single precision too low."""
        added = float(self.w @ (1 / (1 + self.t))) + 2 * abs(self.of_square) * size
        return COARSE + SINGLE * added


def vendi_form(q: float, size: int, tolerance: float) -> Form:
    """Return the form of (tr A^q − tr A)/(1 − q), −tr A log A at q = 1, for up to `size` samples.

    The integrand log(1 + s(t)) − 1/(t + b) falls like (b − xᵀAx − 1/2) t^{q−3}, with a known sum.
    """
    if q == 2:
        return Form(1.0, -1.0, np.empty(0), np.empty(0))
    # As if the least eigenvalue were such that the lowest ridge is RIDGE; see `ridges`.
    least = math.sqrt(RIDGE ** (1 + q) / (NOTHING * tolerance))
    t, weights = ridges(q, least, float(size), tolerance)
    b, step, factor = math.sqrt(size), step_for(tolerance), of_integral(q)
    beyond = step * t[-1] ** (q - 2) / math.expm1((2 - q) * step)
    first = float(of_trace(q, b)) - factor * float(weights @ (1 / (t + b)))
    # + beyond (b − xᵀAx − 1/2), written as a part of each trace term.
    return Form(first + factor * beyond * b, -factor * beyond / 2, t, factor * weights)


class Basis:
    """Eigenvalues λ of the set `places`, and coordinates z of any sample.

    As many samples as features span these: z are coordinates among eigenvectors of A, and
    s = Σ z²/(λ + t). Before, and without features, z = Uᵀ c_x, of eigenvectors U of similarities
    within the set and those c_x of x to the set, and t s = 1 − Σ z²/(λ + t). `rows` has
    the similarities (m, n) of the set to all samples if they have no features.
    """

    def __init__(
        self, candidates: Candidates, places: list[int], rows: np.ndarray | None = None
    ) -> None:
        self._rows, dim = rows, candidates.dim
        self.candidates = candidates
        self.whole: bool = dim is not None and dim <= len(places)
        F = np.empty((0, 0)) if rows is not None else candidates.features(np.array(places, int))
        K = rows[:, places] if rows is not None else gram(F.T if self.whole else F)
        if not self.whole:
            np.fill_diagonal(K, 1.0)
        values, U = np.linalg.eigh(K)
        self.values: np.ndarray = np.maximum(values, 0.0)
        # For the places themselves: coordinates, or coordinates of the weight of each in the set.
        self.own: np.ndarray = F @ U if self.whole else U
        self._V = U if self.whole or rows is not None else F.T @ U

    def coordinates(self, index: np.ndarray, single: bool = False) -> np.ndarray:
        """Return z (len(index), m), in single precision if asked and there are features."""
        if self._rows is not None:
            return np.asarray(self._rows[:, index].T @ self._V)
        return self.candidates.product(index, self._V, single)

    def over(self, t: np.ndarray) -> np.ndarray:
        """Return 1/(λ + t), (m, r)."""
        return np.asarray(1 / (self.values[:, None] + t))

    def resolve(self, Z: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Return s (r, n), in the precision of Z; in single precision bounds from above."""
        s = self.over(t).T.astype(Z.dtype) @ (Z * Z).T
        if not self.whole:
            np.subtract(1 if Z.dtype == np.float64 else 1 + SINGLE, s, out=s)
            s /= t[:, None].astype(Z.dtype)
            np.maximum(s, 0, out=s)
        return s

    def squares(self, Z: np.ndarray) -> np.ndarray:
        """Return xᵀAx (n,)."""
        return np.asarray(Z**2 @ self.values if self.whole else np.vecdot(Z, Z), np.float64)

    def total(self, form: Form) -> float:
        """Return Φ(A)."""
        values, w = self.values, form.w
        more = float(w @ np.log1p(values[:, None] / form.t).sum(axis=0))
        return form.of_trace * float(values.sum()) + form.of_square * float(values @ values) + more


class Frontier:
    """Samples that are followed while some of them join the set and others leave it.

    Candidates `index`, then `members`, a list of all places of the basis or of none. `D` (r, n)
    has s of candidates and 1 − s of members. With c = xᵀ (A + tI)⁻¹ y, c²/(1 + s_y) leaves s_x as y
    joins, and c²/(1 − s_y) joins it as the member y leaves.
    """

    def __init__(self, basis: Basis, form: Form, index: np.ndarray, members: list[int]) -> None:
        self.basis = basis
        self.form = form
        self.index: np.ndarray = np.concatenate([index, members]).astype(int)
        self.at: dict[int, int] = {v: i for i, v in enumerate(self.index.tolist())}
        self._Z = basis.coordinates(self.index)
        self._over = basis.over(form.t)
        self._first = len(index)
        self.D = basis.resolve(self._Z, form.t)
        self.squares = basis.squares(self._Z)
        self.is_member: np.ndarray = np.arange(len(self.index)) >= self._first
        self._own = basis.own if members else basis.own[:0]
        # 1 − s is at least t/(λ + t) for the largest eigenvalue there can be.
        self._least = (form.t / (form.t + len(basis.values) + CHANGES))[:, None]
        if members:
            own = basis.own
            left = self._over.T @ (own * own).T
            self.D[:, self._first :] = 1 - left if basis.whole else left * form.t[:, None]
            self._floor()
        features = basis.candidates.dim is not None and not basis.whole
        self._F = basis.candidates.features(self.index) if features else None
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
        leaves, was = bool(self.is_member[y]), self.D[:, y].copy()
        some = np.array([y])
        similar = self._similar(some, row)[0]
        a = self._across(some, row)[:, 0]
        a /= np.sqrt(was if leaves else 1 + was)[:, None]
        change = a * a
        change[:, self.is_member == leaves] *= -1
        self.D += change
        self.squares += -(similar**2) if leaves else similar**2
        self.D[:, y] = (1 - was) / was if leaves else 1 / (1 + was)
        self.is_member[y] = not leaves
        self._floor()
        self._changes.append((a, -1 if leaves else 1))

    def _floor(self) -> None:
        np.maximum(self.D, np.where(self.is_member, self._least, 0.0), out=self.D)

    def _similar(self, some: np.ndarray, row: np.ndarray | None = None) -> np.ndarray:
        """Return similarities (len(some), n) to some samples, with their `row` if there is one."""
        if self.basis.whole:
            return self._Z[some] @ self._Z.T
        if some[0] >= self._first:
            return self.basis.own[some - self._first] @ self._Z.T
        if self._F is not None:
            return self._F[some] @ self._F.T
        assert row is not None
        return row[None, self.index]

    def _across(self, some: np.ndarray, row: np.ndarray | None = None) -> np.ndarray:
        """Return xᵀ (A + tI)⁻¹ y of all x, (r, len(some), n)."""
        whole = self.basis.whole
        of_set = not whole and some[0] >= self._first
        own = self.basis.own[some - self._first] if of_set else self._Z[some]
        r, m, n = len(self.form.t), len(some), len(self.index)
        weighed = (own * self._over.T[:, None]).reshape(r * m, own.shape[1])
        across = (weighed @ self._Z.T).reshape(r, m, n)
        if not whole and not of_set:
            np.subtract(self._similar(some, row), across, out=across)
            across /= self.form.t[:, None, None]
            if len(self._own):  # of members, this part would be lost in rounding
                across[..., self._first :] = (weighed @ self._own.T).reshape(r, m, len(self._own))
        for a, sign in self._changes:
            across -= sign * a[:, some, None] * a[:, None]
        return across
