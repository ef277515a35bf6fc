"""Gains of every candidate for a set, and their changes as samples join it or leave it.

With A = Σ_S x xᵀ and s_x(t) = xᵀ (A + tI)⁻¹ x, a candidate adds to the objectives

    Φ(A) = α tr A + β tr A² + Σ_t w_t log det(I + A/t)

α + β (2 xᵀAx + 1) + Σ_t w_t log(1 + s_x(t)), never more than before: Φ is submodular. A member
that leaves takes α + β (2 xᵀAx − 1) − Σ_t w_t log(1 − s_x(t)).
"""

import math
from typing import NamedTuple

import numpy as np

from ...spectral.quadrature import TRUNCATION_FACTOR, quadrature_nodes, quadrature_step, trace_term
from ...support.namespace import gram
from .candidates import Candidates

# Errors of a gain, relative to a change of the trace by 1: of gains that are compared, and of
# bounds on all others.
FINE = 1e-9
COARSE = 1e-4
# The least ridge: with smaller ones the rounding of inverses grows with each sample beyond the
# number of dimensions.
RIDGE = 1e-9
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
            of_ridges = self.w @ logs
            added += of_ridges.reshape(s.shape[1:])
        return added

    def loss(self, left: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """Return what members take as they leave, from 1 − s (r, ...) and xᵀAx (...)."""
        lost = self.of_trace + self.of_square * (2 * squares - 1)
        return lost - self.w @ np.log(left)


def vendi_form(q: float, size: int, tolerance: float) -> Form:
    """Return the form of (tr A^q − tr A)/(1 − q), −tr A log A at q = 1, for up to `size` samples.

    The integrand log(1 + s(t)) − 1/(t + b) falls like (b − xᵀAx − 1/2) t^{q−3}, with a known sum.
    """
    if q == 2:
        return Form(1.0, -1.0, np.empty(0), np.empty(0))
    # As if the least eigenvalue were such that the lowest ridge is RIDGE; see `quadrature_nodes`.
    square = RIDGE ** (1 + q) / (TRUNCATION_FACTOR * tolerance)
    least = math.sqrt(square)
    t, weights = quadrature_nodes(q, least, float(size), tolerance)
    b = math.sqrt(size)
    step = quadrature_step(tolerance)
    last = float(weights[-1]) / t[-1] ** 2
    beyond = last / math.expm1((2 - q) * step)
    of_nodes = float(weights @ (1 / (t + b)))
    # + beyond (b − xᵀAx − 1/2), written as a part of each trace term.
    first = float(trace_term(q, b)) - of_nodes
    first += beyond * b
    return Form(first, -beyond / 2, t, weights)


class Basis:
    """Eigenvalues λ of the set `places`, and coordinates z of any sample.

    As many samples as features span these: z are coordinates among eigenvectors of A, and
    s = Σ z²/(λ + t). Before, and without features, z = Uᵀ c_x, of eigenvectors U of similarities
    within the set and those c_x of x to the set, and t s = 1 − Σ z²/(λ + t). `rows` has
    the similarities (m, n) of the set to all samples if they have no features. `members` are
    coordinates of the places themselves, or of the weight of each in the set.
    """

    def __init__(
        self,
        candidates: Candidates,
        places: list[int],
        rows: np.ndarray | None,
    ) -> None:
        self.candidates = candidates
        self._rows = rows
        self.whole: bool = candidates.dim is not None and candidates.dim <= len(places)
        if rows is None:
            F = candidates.features(np.array(places, int))
            K = gram(F.T if self.whole else F)
        else:
            K = rows[:, places]
        if not self.whole:
            np.fill_diagonal(K, 1.0)
        values, U = np.linalg.eigh(K)
        self._V = U
        self.members: np.ndarray = U
        if self.whole:
            self.members = F @ U
        elif rows is None:
            self._V = F.T @ U
        self.values: np.ndarray = np.maximum(values, 0.0)

    def coordinates(self, index: np.ndarray, F: np.ndarray | None = None) -> np.ndarray:
        """Return z (len(index), m), from the features of these samples if they are known."""
        if self._rows is None:
            return (self.candidates.features(index) if F is None else F) @ self._V
        similarities = self._rows[:, index]
        return similarities.T @ self._V

    def over(self, t: np.ndarray) -> np.ndarray:
        """Return 1/(λ + t), (m, r)."""
        return 1 / (self.values[:, None] + t)

    def resolve(self, Z: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Return s (r, n)."""
        squares = Z * Z
        s = self.over(t).T @ squares.T
        if self.whole:
            return s
        np.subtract(1, s, out=s)
        s /= t[:, None]
        return np.maximum(s, 0, out=s)

    def squares(self, Z: np.ndarray) -> np.ndarray:
        """Return xᵀAx (n,)."""
        if self.whole:
            return Z**2 @ self.values
        return np.vecdot(Z, Z)

    def total(self, form: Form) -> float:
        """Return Φ(A)."""
        values = self.values
        logs = np.log1p(values[:, None] / form.t)
        of_ridges = float(form.w @ logs.sum(axis=0))
        trace = float(values.sum())
        square = float(values @ values)
        return form.of_trace * trace + form.of_square * square + of_ridges


class Frontier:
    """Samples that are followed while some of them join the set and others leave it.

    Candidates `index`, then `members`, a list of all places of the basis or of none. `D` (r, n)
    has s of candidates and 1 − s of members. With c = xᵀ (A + tI)⁻¹ y, c²/(1 + s_y) leaves s_x as y
    joins, and c²/(1 − s_y) joins it as the member y leaves.
    """

    def __init__(
        self,
        basis: Basis,
        form: Form,
        index: np.ndarray,
        members: list[int],
    ) -> None:
        self.basis = basis
        self.form = form
        self.index: np.ndarray = np.concatenate([index, members]).astype(int)
        numbered = enumerate(self.index.tolist())
        self.at: dict[int, int] = {place: i for i, place in numbered}
        self._first = len(index)
        self.is_member: np.ndarray = np.arange(len(self.index)) >= self._first
        self._F: np.ndarray | None = None
        if basis.candidates.dim is not None and not basis.whole:
            self._F = basis.candidates.features(self.index)
        self._Z = basis.coordinates(self.index, self._F)
        self._over = basis.over(form.t)
        self.D = basis.resolve(self._Z, form.t)
        self.squares: np.ndarray = basis.squares(self._Z)
        # 1 − s is at least t/(λ + t) for the largest eigenvalue there can be.
        largest = len(basis.values) + CHANGES
        t = form.t[:, None]
        self._least = t / (t + largest)
        if members:
            squares = np.square(basis.members)
            s = self._over.T @ squares.T
            left = 1 - s if basis.whole else t * s
            self.D[:, self._first :] = left
            self._floor()
        self._changes: list[tuple[np.ndarray, int]] = []

    @property
    def is_old(self) -> bool:
        """True if so much changed that a new one costs less."""
        return len(self._changes) >= CHANGES

    @property
    def is_new(self) -> bool:
        """True if nothing changed."""
        return not self._changes

    def positions(self, places: list[int]) -> np.ndarray:
        """Return where some samples are in `index`."""
        return np.array([self.at[place] for place in places])

    def gains(self) -> np.ndarray:
        """Return what candidates add, (n,), and no matter what for members."""
        return self.form.value(self.D.copy(), self.squares)

    def losses(self, some: np.ndarray) -> np.ndarray:
        """Return what the members at these positions take as they leave."""
        return self.form.loss(self.D[:, some], self.squares[some])

    def without(self, some: np.ndarray) -> np.ndarray:
        """Return what candidates (n,) add without each of some members, (len(some), n)."""
        s = self._across(some)
        s *= s
        s /= self.D[:, some, None]
        s += self.D[:, None]
        similar = self._similar(some)
        squares = self.squares - similar**2
        return self.form.value(s, squares)

    def change(self, y: int, row: np.ndarray | None = None) -> None:
        """Let the sample at position y join or leave; its `row` of similarities if there is one."""
        leaves = bool(self.is_member[y])
        before = self.D[:, y].copy()
        if leaves:
            sign = -1
            length = before
            after = (1 - before) / length
        else:
            sign = 1
            length = 1 + before
            after = 1 / length
        position = np.array([y])
        a = self._across(position, row)[:, 0]
        a /= np.sqrt(length)[:, None]
        change = a * a
        falling = self.is_member == leaves
        change[:, falling] *= -1
        self.D += change
        self.D[:, y] = after
        similar = self._similar(position, row)[0]
        self.squares += sign * similar**2
        self.is_member[y] = not leaves
        self._floor()
        self._changes.append((a, sign))

    def _floor(self) -> None:
        least = np.where(self.is_member, self._least, 0.0)
        np.maximum(self.D, least, out=self.D)

    def _similar(self, some: np.ndarray, row: np.ndarray | None = None) -> np.ndarray:
        """Return similarities (len(some), n) to some samples, with their `row` if there is one."""
        if self.basis.whole or self._of_members(some):
            return self._coordinates(some) @ self._Z.T
        if self._F is not None:
            return self._F[some] @ self._F.T
        assert row is not None
        return row[None, self.index]

    def _of_members(self, some: np.ndarray) -> bool:
        """Return whether some positions are of members, coordinates of which are weights."""
        return not self.basis.whole and bool(some[0] >= self._first)

    def _coordinates(self, some: np.ndarray) -> np.ndarray:
        if self._of_members(some):
            return self.basis.members[some - self._first]
        return self._Z[some]

    def _across(self, some: np.ndarray, row: np.ndarray | None = None) -> np.ndarray:
        """Return xᵀ (A + tI)⁻¹ y of all x, (r, len(some), n)."""
        Z = self._coordinates(some)
        r = len(self.form.t)
        m = len(some)
        n = len(self.index)
        weighed = Z * self._over.T[:, None]
        weighed = weighed.reshape(r * m, Z.shape[1])
        across = (weighed @ self._Z.T).reshape(r, m, n)
        if not self.basis.whole and not self._of_members(some):
            similar = self._similar(some, row)
            np.subtract(similar, across, out=across)
            across /= self.form.t[:, None, None]
            if self._first < n:  # this part would be lost in rounding
                with_members = weighed @ self.basis.members.T
                across[..., self._first :] = with_members.reshape(r, m, n - self._first)
        for a, sign in self._changes:
            changed = a[:, some, None] * a[:, None]
            across -= sign * changed
        return across
