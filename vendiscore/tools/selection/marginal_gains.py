"""Marginal gains of candidates for a set, updated as samples join the set or leave it.

Samples x are unit-norm feature vectors, S is the set of selected samples, A = Σ_{x∈S} x xᵀ, and
s_x(t) = xᵀ (A + tI)⁻¹ x. The objectives have the form

    Φ(A) = α tr A + β tr A² + Σ_t w_t log det(I + A/t).

A candidate x adds α + β (2 xᵀAx + 1) + Σ_t w_t log(1 + s_x(t)). This gain never increases as the
set grows, so Φ is submodular. Removing a member x subtracts
α + β (2 xᵀAx − 1) − Σ_t w_t log(1 − s_x(t)).
"""

import math
from typing import NamedTuple

import numpy as np

from ...spectral.quadrature import (
    TRUNCATION_FACTOR,
    compute_quadrature_nodes,
    compute_quadrature_step,
    compute_trace_term,
)
from ...support.namespace import gram
from .candidates import Candidates

# Errors of a gain, relative to a change of the trace by 1. The fine one is for gains that are
# compared, the coarse one for upper bounds on the gains of all other candidates.
FINE_TOLERANCE = 1e-9
COARSE_TOLERANCE = 1e-4
# The smallest quadrature node t. With smaller ones, the rounding errors of inverses would grow with
# each sample beyond the number of dimensions.
MIN_NODE = 1e-9
# Number of samples that join or leave before eigenvalues are recomputed, in 25 ms for d = 384.
MAX_UPDATES = 16


class QuadratureForm(NamedTuple):
    """Coefficients of Φ: α, β, r nodes t and r weights w; see the docstring of the module."""

    trace_coefficient: float
    square_coefficient: float
    t: np.ndarray
    w: np.ndarray

    def gains(self, s: np.ndarray, quadratic_forms: np.ndarray) -> np.ndarray:
        """Compute the gains α + β (2 xᵀAx + 1) + Σ_t w_t log(1 + s_x(t)) of candidates x.

        A is the sum of y yᵀ over the selected samples y, and s_x(t) = xᵀ(A + tI)⁻¹x. `s` contains
        s_x(t) for each of the r nodes t, shape (r, ...), and is overwritten. `quadratic_forms`
        contains xᵀAx, shape (...).
        """
        gains = quadratic_forms * (2 * self.square_coefficient)
        gains += self.trace_coefficient + self.square_coefficient
        if len(self.t):
            np.log1p(s, out=s)
            logs = s.reshape(len(s), -1)
            log_terms = self.w @ logs
            gains += log_terms.reshape(s.shape[1:])
        return gains

    def losses(self, one_minus_s: np.ndarray, quadratic_forms: np.ndarray) -> np.ndarray:
        """Compute the losses α + β (2 xᵀAx − 1) − Σ_t w_t log(1 − s_x(t)) if a member x is removed.

        A is the sum of y yᵀ over the selected samples y, including x, and s_x(t) = xᵀ(A + tI)⁻¹x.
        `one_minus_s` contains 1 − s_x(t) for each of the r nodes t, shape (r, ...), and
        `quadratic_forms` contains xᵀAx, shape (...).
        """
        losses = self.trace_coefficient + self.square_coefficient * (2 * quadratic_forms - 1)
        return losses - self.w @ np.log(one_minus_s)


def build_quadrature_form(q: float, size: int, tolerance: float) -> QuadratureForm:
    """Build the form of the entropy S_q(A) for sets of up to `size` samples.

    S_q(A) is (tr A^q − tr A)/(1 − q), and −tr A log A at q = 1. Beyond the largest node, the
    integrand log(1 + s(t)) − 1/(t + b) decreases like (b − xᵀAx − 1/2) t^{q−3}, whose sum is known.
    """
    if q == 2:
        return QuadratureForm(1.0, -1.0, np.empty(0), np.empty(0))
    # Smallest eigenvalue for which the smallest node is MIN_NODE; see `compute_quadrature_nodes`.
    squared_eigenvalue = MIN_NODE ** (1 + q) / (TRUNCATION_FACTOR * tolerance)
    min_eigenvalue = math.sqrt(squared_eigenvalue)
    t, weights = compute_quadrature_nodes(q, min_eigenvalue, float(size), tolerance)
    b = math.sqrt(size)
    step = compute_quadrature_step(tolerance)
    last_term = float(weights[-1]) / t[-1] ** 2
    tail = last_term / math.expm1((2 - q) * step)
    node_sum = float(weights @ (1 / (t + b)))
    # tail · (b − xᵀAx − 1/2) is added to each trace term.
    trace_coefficient = float(compute_trace_term(q, b)) - node_sum
    trace_coefficient += tail * b
    return QuadratureForm(trace_coefficient, -tail / 2, t, weights)


class SetEigenbasis:
    """Eigenvalues λ of the selected set, and coordinates z of any sample in its eigenbasis.

    If the set has at least as many samples as features, its eigenvectors span all features: z are
    coordinates among eigenvectors of A, and s = Σ z²/(λ + t). Otherwise, and without features,
    z = Uᵀ c_x, with eigenvectors U of the similarities within the set and similarities c_x of x to
    the set, and t s = 1 − Σ z²/(λ + t).

    `rows`, shape (m, n), are the similarities of the m selected samples to all n samples. They are
    required if there are no features.
    `member_coordinates` are the coordinates of the selected samples themselves, or U.
    """

    def __init__(
        self,
        candidates: Candidates,
        selected: list[int],
        rows: np.ndarray | None,
    ) -> None:
        """Decompose A, or similarities K of the selected samples if they are fewer than features.

        `selected` are the indices of the selected samples. `rows`, shape (len(selected), n), are
        their similarities to all n samples, or None if samples have features.
        """
        self.candidates = candidates
        self._rows = rows
        self.spans_features: bool = candidates.dim is not None and candidates.dim <= len(selected)
        if rows is None:
            F = candidates.features(np.array(selected, int))
            K = gram(F.T if self.spans_features else F)
        else:
            K = rows[:, selected]
        if not self.spans_features:
            np.fill_diagonal(K, 1.0)
        values, U = np.linalg.eigh(K)
        self._projection = U
        self.member_coordinates: np.ndarray = U
        if self.spans_features:
            self.member_coordinates = F @ U
        elif rows is None:
            self._projection = F.T @ U
        self.values: np.ndarray = np.maximum(values, 0.0)

    def coordinates(self, indices: np.ndarray, F: np.ndarray | None = None) -> np.ndarray:
        """Compute the coordinates z of samples in the eigenbasis of the selected set.

        The result has shape (len(indices), number of eigenvectors). `F` are the features of these
        samples; if it is None, they are computed.
        """
        if self._rows is None:
            return (self.candidates.features(indices) if F is None else F) @ self._projection
        similarities = self._rows[:, indices]
        return similarities.T @ self._projection

    def shifted_inverses(self, t: np.ndarray) -> np.ndarray:
        """Compute 1/(λ + t) for m eigenvalues λ and r nodes t, shape (m, r)."""
        return 1 / (self.values[:, None] + t)

    def resolvent_values(self, Z: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Compute s_x(t) for r nodes t and n samples x, shape (r, n), from their coordinates Z."""
        squares = Z * Z
        s = self.shifted_inverses(t).T @ squares.T
        if self.spans_features:
            return s
        np.subtract(1, s, out=s)
        s /= t[:, None]
        return np.maximum(s, 0, out=s)

    def quadratic_forms(self, Z: np.ndarray) -> np.ndarray:
        """Compute xᵀAx for n samples x, shape (n,), from their coordinates Z."""
        if self.spans_features:
            return Z**2 @ self.values
        return np.vecdot(Z, Z)

    def compute_phi(self, form: QuadratureForm) -> float:
        """Compute Φ(A)."""
        values = self.values
        logs = np.log1p(values[:, None] / form.t)
        log_terms = float(form.w @ logs.sum(axis=0))
        trace = float(values.sum())
        square = float(values @ values)
        return form.trace_coefficient * trace + form.square_coefficient * square + log_terms


class TrackedGains:
    """Gains of candidates and losses of members, updated as samples join or leave the set.

    `indices` are the indices of n samples: the candidates, then the members (all samples of the
    basis, or none). `resolvents`, shape (r, n), contains s_x(t) = xᵀ(A + tI)⁻¹x of candidates and
    1 − s_x(t) of members, for r nodes t. With c = xᵀ(A + tI)⁻¹y, s_x(t) decreases by
    c²/(1 + s_y(t)) if y joins, and increases by c²/(1 − s_y(t)) if the member y leaves.
    """

    def __init__(
        self,
        basis: SetEigenbasis,
        form: QuadratureForm,
        candidate_indices: np.ndarray,
        members: list[int],
    ) -> None:
        """Compute s_x(t) = xᵀ(A + tI)⁻¹x of candidates and 1 − s_x(t) of members.

        A is the sum of y yᵀ over the selected samples y, and t are the nodes of the quadrature. See
        the docstring of the module for the gains that follow from s_x(t).
        """
        self.basis = basis
        self.form = form
        self.indices: np.ndarray = np.concatenate([candidate_indices, members]).astype(int)
        enumerated = enumerate(self.indices.tolist())
        self.positions_by_index: dict[int, int] = {index: i for i, index in enumerated}
        self._n_candidates = len(candidate_indices)
        self.is_member: np.ndarray = np.arange(len(self.indices)) >= self._n_candidates
        self._F: np.ndarray | None = None
        if basis.candidates.dim is not None and not basis.spans_features:
            self._F = basis.candidates.features(self.indices)
        self._Z = basis.coordinates(self.indices, self._F)
        self._shifted_inverses = basis.shifted_inverses(form.t)
        self.resolvents: np.ndarray = basis.resolvent_values(self._Z, form.t)
        self.quadratic_forms: np.ndarray = basis.quadratic_forms(self._Z)
        # For a member, 1 − s_x(t) is at least t/(λ + t); λ is the largest possible eigenvalue of A.
        max_eigenvalue = len(basis.values) + MAX_UPDATES
        t = form.t[:, None]
        self._min_member_values = t / (t + max_eigenvalue)
        if members:
            squares = np.square(basis.member_coordinates)
            s = self._shifted_inverses.T @ squares.T
            # If eigenvectors do not span all features, they are those of the similarities K of the
            # members. The sum `s` is then a diagonal entry of (K + tI)⁻¹, and 1 − s_x(t) is t s.
            one_minus_s = 1 - s if basis.spans_features else t * s
            self.resolvents[:, self._n_candidates :] = one_minus_s
            self._clip_to_minimum()
        self._updates: list[tuple[np.ndarray, int]] = []

    @property
    def is_outdated(self) -> bool:
        """Whether there were so many updates that a new object costs less."""
        return len(self._updates) >= MAX_UPDATES

    @property
    def is_unchanged(self) -> bool:
        """Whether there was no update yet."""
        return not self._updates

    def positions(self, indices: list[int]) -> np.ndarray:
        """Return the positions in `self.indices` of the samples with these indices."""
        return np.array([self.positions_by_index[index] for index in indices])

    def gains(self) -> np.ndarray:
        """Compute the gain of each sample in `indices`; values of members are meaningless."""
        return self.form.gains(self.resolvents.copy(), self.quadratic_forms)

    def losses(self, members: np.ndarray) -> np.ndarray:
        """Compute the loss of each member if removed; `members` are positions in `indices`."""
        return self.form.losses(self.resolvents[:, members], self.quadratic_forms[members])

    def gains_without(self, members: np.ndarray) -> np.ndarray:
        """Compute the gain of each sample in `indices` after each member is removed in turn.

        `members` are positions in `indices`. The result has shape (len(members), len(indices)), and
        only values of candidates are meaningful.
        """
        s = self._cross_resolvents(members)
        s *= s
        s /= self.resolvents[:, members, None]
        s += self.resolvents[:, None]
        similarities = self._compute_similarities(members)
        quadratic_forms = self.quadratic_forms - similarities**2
        return self.form.gains(s, quadratic_forms)

    def toggle_membership(self, y: int, row: np.ndarray | None = None) -> None:
        """Let the sample at position y join the set, or leave it if it is a member.

        `row` holds its similarities to all samples, required for candidates without features.
        """
        # For y, `resolvents` changes from s to 1 − s' = 1/(1 + s) if it joins, and from 1 − s to
        # s' = s/(1 − s) if it leaves. For other samples x, s_x changes as described in the class.
        leaves = bool(self.is_member[y])
        previous = self.resolvents[:, y].copy()
        if leaves:
            sign = -1
            denominator = previous
            updated = (1 - previous) / denominator
        else:
            sign = 1
            denominator = 1 + previous
            updated = 1 / denominator
        position = np.array([y])
        scaled_cross_resolvents = self._cross_resolvents(position, row)[:, 0]
        scaled_cross_resolvents /= np.sqrt(denominator)[:, None]
        change = scaled_cross_resolvents**2
        is_decreasing = self.is_member == leaves
        change[:, is_decreasing] *= -1
        self.resolvents += change
        self.resolvents[:, y] = updated
        similarities = self._compute_similarities(position, row)[0]
        self.quadratic_forms += sign * similarities**2
        self.is_member[y] = not leaves
        self._clip_to_minimum()
        self._updates.append((scaled_cross_resolvents, sign))

    def _clip_to_minimum(self) -> None:
        """Raise `resolvents` that are smaller than possible, because of rounding errors."""
        minimum = np.where(self.is_member, self._min_member_values, 0.0)
        np.maximum(self.resolvents, minimum, out=self.resolvents)

    def _compute_similarities(
        self, positions: np.ndarray, row: np.ndarray | None = None
    ) -> np.ndarray:
        """Compute the similarities of the samples at these positions to all samples in `indices`.

        The result has shape (len(positions), len(indices)). `row` contains the similarities of a
        single sample to all samples, required for candidates without features.
        """
        if self.basis.spans_features or self._are_members(positions):
            return self._coordinates(positions) @ self._Z.T
        if self._F is not None:
            return self._F[positions] @ self._F.T
        assert row is not None
        return row[None, self.indices]

    def _are_members(self, positions: np.ndarray) -> bool:
        """Return whether the samples at these positions were members when this object was built.

        Only if eigenvectors do not span all features: `basis.member_coordinates` are then the
        eigenvectors of the similarities of these members.
        """
        return not self.basis.spans_features and bool(positions[0] >= self._n_candidates)

    def _coordinates(self, positions: np.ndarray) -> np.ndarray:
        if self._are_members(positions):
            return self.basis.member_coordinates[positions - self._n_candidates]
        return self._Z[positions]

    def _cross_resolvents(self, positions: np.ndarray, row: np.ndarray | None = None) -> np.ndarray:
        """Compute xᵀ(A + tI)⁻¹y for all samples x in `indices` and those y at the positions.

        The result has shape (r, len(positions), len(indices)), for r nodes t.
        """
        Z = self._coordinates(positions)
        r = len(self.form.t)
        m = len(positions)
        n = len(self.indices)
        scaled = Z * self._shifted_inverses.T[:, None]
        scaled = scaled.reshape(r * m, Z.shape[1])
        products = (scaled @ self._Z.T).reshape(r, m, n)
        if not self.basis.spans_features and not self._are_members(positions):
            similarities = self._compute_similarities(positions, row)
            np.subtract(similarities, products, out=products)
            products /= self.form.t[:, None, None]
            if self._n_candidates < n:  # for members, this difference would be lost in rounding
                member_products = scaled @ self.basis.member_coordinates.T
                shape = r, m, n - self._n_candidates
                products[..., self._n_candidates :] = member_products.reshape(shape)
        for a, sign in self._updates:
            update = a[:, positions, None] * a[:, None]
            products -= sign * update
        return products
