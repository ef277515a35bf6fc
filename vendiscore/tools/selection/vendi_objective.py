"""The objective "vendi": log VS_q of the selected set, and the gains of candidates and swaps."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...core.eigenvalues import clip_eigenvalues
from ...spectral.leave_one_out import log_scores_with_each_added
from ...spectral.quadrature import log_score_from_entropy
from ...support import memory
from ...support.errors import warn
from ...support.namespace import row_blocks
from ...support.parallel import map_ordered, run_parallel, slices
from .candidates import Candidates
from .constraints import Constraints
from .marginal_gains import (
    COARSE_TOLERANCE,
    FINE_TOLERANCE,
    MAX_UPDATES,
    MIN_NODE,
    QuadratureForm,
    SetEigenbasis,
    TrackedGains,
    build_quadrature_form,
)

# Values that differ by less are equal; the first sample is selected.
GAIN_TOLERANCE = 1e-11
# In sets of at most this size, candidates whose gains differ by less than the quadrature error are
# compared exactly. In larger sets a coarser quadrature is used; its error of log VS is below 1e-6.
MAX_EXACT_SIZE = 100
QUADRATURE_TOLERANCE = 1e-7
# The score is at most the number of features d; the objective is flat if log VS is this close to
# log d.
FLAT_TOLERANCE = 1e-3
# Minimum gain of a swap, in the sum Φ (size · log VS at q = 1).
MIN_SWAP_GAIN = 1e-3
# At most this many candidates are all evaluated at each step. Of more, only the `SHORTLIST_SIZE`
# best are, as long as no other can be better; gains never increase.
MAX_EXHAUSTIVE_CANDIDATES = 2048
SHORTLIST_SIZE = 1024
# Maximum number of candidates for swaps: those with the largest gain for the whole set.
MAX_SWAP_CANDIDATES = 1024
# Maximum number of array entries while the swaps of many members are evaluated.
MAX_SWAP_ENTRIES = 1 << 22


class QualityTradeoff(NamedTuple):
    """Quality of each sample, and the weight s of diversity against it.

    The objective is 2 s log VS + 2 (1 − s) log(mean quality).
    """

    quality: np.ndarray
    diversity_weight: float

    def take(self, indices: np.ndarray) -> QualityTradeoff:
        """Return the trade-off of a subset of the samples."""
        return QualityTradeoff(self.quality[indices], self.diversity_weight)

    def combined(self, log_score: np.ndarray, mean_quality: np.ndarray) -> np.ndarray:
        """Compute the objective from log VS and the mean quality."""
        with np.errstate(divide="ignore"):
            log_quality = np.log(mean_quality)
        return 2 * self.diversity_weight * log_score + 2 * (1 - self.diversity_weight) * log_quality


class VendiObjective:
    """log VS_q of the selected set, or its combination with the log of the mean quality.

    `selected` lists the indices of the selected samples, in order. `phi` is Φ of the set, see
    `marginal_gains`. `nearest_similarities` is None until the objective is flat, and then the
    similarity of each candidate to its nearest selected sample.
    """

    def __init__(
        self,
        candidates: Candidates,
        constraints: Constraints,
        q: float,
        quality_tradeoff: QualityTradeoff | None = None,
    ) -> None:
        """Check that memory suffices, and start with an empty selection."""
        self.candidates = candidates
        self.constraints = constraints
        self.q = q
        self.quality_tradeoff = quality_tradeoff
        size = constraints.size
        self._fine_form = build_quadrature_form(q, size, FINE_TOLERANCE)
        self._coarse_form = build_quadrature_form(q, size, COARSE_TOLERANCE)
        n = candidates.n
        dim = candidates.dim
        per_candidate = len(self._fine_form.t) * min(size, MAX_UPDATES) + 2 * (dim or size)
        tracked_entries = min(n, MAX_EXHAUSTIVE_CANDIDATES + size) * per_candidate
        member_entries = size * n if dim is None else 2 * size * dim
        memory.require(
            8 * (3 * n + tracked_entries + member_entries),
            f"selecting {size} of {n} samples",
            "select fewer samples, or pass fewer samples",
        )
        self.selected: list[int] = []
        self.phi: float = 0.0
        self._similarity_rows = np.empty((size, n)) if dim is None else None
        # Exact gains of the tracked candidates, upper bounds on the gains of all others.
        self._gain_bounds = np.full(n, np.inf)
        self._tracked: TrackedGains | None = None
        self._swap_candidates = np.empty(0, int)
        self.nearest_similarities: np.ndarray | None = None

    def best_candidate(self, allowed: np.ndarray) -> int:
        """Return the index of the best of the n samples among those where `allowed` (n,) is True.

        If the objective is flat, it is the candidate least similar to its nearest selected sample.
        """
        if self.nearest_similarities is None and self._is_flat:
            self.nearest_similarities = self.candidates.rows(np.array(self.selected)).max(axis=0)
            warn(
                f"with {len(self.selected):,} samples, the score has reached its maximum, the "
                f"number of features ({self.candidates.dim:,}); each further sample is the one "
                f"least similar to its nearest selected sample"
            )
        if self.nearest_similarities is not None:
            return int(np.argmin(np.where(allowed, self.nearest_similarities, np.inf)))
        tracked = self._tracked
        if tracked is None or tracked.is_outdated:
            tracked = self._rebuild(allowed)
        while True:
            indices = tracked.indices
            self._gain_bounds[indices] = tracked.gains()
            values = self._objective_values(self._gain_bounds[indices], indices)
            values[~allowed[indices]] = -np.inf
            top = float(values.max())
            if tracked.is_unchanged or top >= self._max_untracked_value(allowed, indices):
                break
            tracked = self._rebuild(allowed)
        compare_exactly = 0 < len(self.selected) <= MAX_EXACT_SIZE
        margin = QUADRATURE_TOLERANCE  # in an empty set, all gains are equal
        if compare_exactly:
            # Eigenvalues below the smallest quadrature node matter for small orders.
            margin = max(QUADRATURE_TOLERANCE, 2 * MIN_NODE**self.q / self.q)
        elif self.selected:
            margin = GAIN_TOLERANCE
        close = indices[values >= top - margin]
        if compare_exactly and len(close) > 1:
            exact = self._exact_values(close)
            close = close[exact >= exact.max() - GAIN_TOLERANCE]
        return int(close[0])

    def add(self, index: int) -> None:
        """Add a candidate to the set."""
        row = None
        if self._similarity_rows is not None:
            row = self._similarity_rows[len(self.selected)] = self.candidates.row(index)
        tracked = self._tracked
        if self.nearest_similarities is not None:
            new_similarities = self.candidates.row(index)
            np.maximum(self.nearest_similarities, new_similarities, out=self.nearest_similarities)
        elif tracked is not None and index in tracked.positions_by_index:
            self.phi += float(self._gain_bounds[index])
            tracked.toggle_membership(tracked.positions_by_index[index], row)
        else:
            self._tracked = None
        self.selected.append(index)

    def swap_gains(self, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the best replacements of members, and the gains of these swaps.

        `members`, shape (m,), are positions in `selected` of m members to replace. Replacements are
        sample indices. Both results have shape (m,), one value per member.
        """
        tracked = self._tracked_for_swaps()
        tracked_members = tracked.positions([self.selected[j] for j in members])
        step = max(1, MAX_SWAP_ENTRIES // max(1, tracked.resolvents.size))

        def find_best_swaps(block: slice) -> tuple[np.ndarray, np.ndarray]:
            """Return the best replacement for each member of a block, and its gain."""
            leaving_positions = tracked_members[block]
            indices = tracked.indices
            leaving = indices[leaving_positions, None]
            losses = tracked.losses(leaving_positions)[:, None]
            gains = tracked.gains_without(leaving_positions)
            values = self._objective_values(gains, indices, losses, leaving)
            allowed = self.constraints.allowed_swaps(self.selected, members[block], indices)
            values[~allowed | tracked.is_member] = -np.inf
            unswapped = self._objective_values(losses, leaving, losses, leaving)[:, 0]
            best = values.argmax(axis=1)
            return indices[best], values.max(axis=1) - unswapped

        blocks = map_ordered(find_best_swaps, slices(len(members), step))
        replacements, gains = zip(*blocks, strict=True)
        return np.concatenate(replacements), np.concatenate(gains)

    def swap(self, j: int) -> bool:
        """Replace the member at position j by a better candidate; return False if there is none."""
        replacements, gain = self.swap_gains(np.array([j]))
        if not gain[0] > self.min_swap_gain:
            return False
        tracked = self._tracked_for_swaps()
        joining = int(replacements[0])
        leaving_position, joining_position = tracked.positions([self.selected[j], joining])
        row = None
        if self._similarity_rows is not None:
            row = self.candidates.row(joining)
            self._similarity_rows[j] = row
        losses = tracked.losses(np.array([leaving_position]))
        self.phi -= float(losses[0])
        tracked.toggle_membership(leaving_position)
        gains = tracked.gains()
        self.phi += float(gains[joining_position])
        tracked.toggle_membership(joining_position, row)
        self.selected[j] = joining
        return True

    def refresh_candidates(self) -> None:
        """Evaluate all candidates again, and choose those that may be swapped in."""
        n = self.candidates.n
        remaining = np.setdiff1d(np.arange(n), self.selected)
        if self.has_untracked:
            values = np.full(n, -np.inf)
            values[remaining] = self._bound_gains(self._build_basis(self._coarse_form), remaining)
            best = self.constraints.best_candidates(values, MAX_SWAP_CANDIDATES)
            remaining = np.setdiff1d(best, self.selected)
        self._swap_candidates = remaining
        self._tracked = None

    @property
    def has_untracked(self) -> bool:
        """Whether there are too many candidates to track all of them."""
        return self.candidates.n - len(self.selected) > MAX_EXHAUSTIVE_CANDIDATES

    def removal_losses(self, members: np.ndarray) -> np.ndarray:
        """Compute the decreases of Φ if single members leave the set, shape (len(members),).

        `members` are positions in `selected`.
        """
        tracked = self._tracked_for_swaps()
        return tracked.losses(tracked.positions([self.selected[j] for j in members]))

    @property
    def _is_flat(self) -> bool:
        """Whether VS is so close to its maximum, the dimension, that more samples have no gain."""
        m = len(self.selected)
        dim = self.candidates.dim
        if self.quality_tradeoff is not None or dim is None or m < dim:
            return False
        log_score = math.log(m) + log_score_from_entropy(self.phi / m, self.q)
        return bool(log_score > math.log(dim) - FLAT_TOLERANCE)

    @property
    def min_swap_gain(self) -> float:
        """The minimum gain for which a swap is made, in the units of `swap_gains`."""
        return MIN_SWAP_GAIN * self._phi_scale

    @property
    def _phi_scale(self) -> float:
        """The factor between Φ and the values of the objective."""
        if self.quality_tradeoff is None:
            return 1.0
        return 1 / max(1, len(self.selected))

    def _build_basis(self, form: QuadratureForm) -> SetEigenbasis:
        """Compute the eigenbasis of the selected set, and update `phi`."""
        rows = self._similarity_rows
        if rows is not None:
            rows = rows[: len(self.selected)]
        basis = SetEigenbasis(self.candidates, self.selected, rows)
        self.phi = basis.compute_phi(form)
        return basis

    def _rebuild(self, allowed: np.ndarray) -> TrackedGains:
        """Track the allowed candidates, or a shortlist of them."""
        indices = np.flatnonzero(allowed)
        form = self._fine_form if len(self.selected) < MAX_EXACT_SIZE else self._coarse_form
        basis = self._build_basis(form)
        if len(indices) > MAX_EXHAUSTIVE_CANDIDATES:
            indices = self._build_shortlist(basis, indices)
        self._tracked = TrackedGains(basis, form, indices, [])
        return self._tracked

    def _tracked_for_swaps(self) -> TrackedGains:
        """Return the gains of swap candidates and members, rebuilt if they are outdated."""
        if self._tracked is None or self._tracked.is_outdated:
            form = self._coarse_form
            indices = np.setdiff1d(self._swap_candidates, self.selected)
            self._tracked = TrackedGains(self._build_basis(form), form, indices, self.selected)
        return self._tracked

    def _build_shortlist(self, basis: SetEigenbasis, indices: np.ndarray) -> np.ndarray:
        """Return the best candidates, evaluating only those whose bounds require it."""
        n_done = 0
        step = max(2 * SHORTLIST_SIZE, len(indices) // 8)
        values = self._objective_values(self._gain_bounds[indices], indices)
        order = np.argsort(-values, kind="stable")
        while n_done < len(indices):
            batch = np.sort(order[n_done : n_done + step])
            values[batch] = self._bound_gains(basis, indices[batch])
            n_done += len(batch)
            evaluated = values[order[:n_done]]
            worst_listed = np.partition(evaluated, -SHORTLIST_SIZE)[-SHORTLIST_SIZE]
            if n_done < len(indices) and worst_listed >= values[order[n_done]]:
                break
        best = np.argsort(-values, kind="stable")[:SHORTLIST_SIZE]
        return np.sort(indices[best])

    def _bound_gains(self, basis: SetEigenbasis, indices: np.ndarray) -> np.ndarray:
        """Update the gain bounds of candidates, and return the corresponding objective values.

        The bounds exceed the gains by at most 2 COARSE_TOLERANCE.
        """
        form = self._coarse_form
        gains = np.empty(len(indices))

        def compute_block(block: slice) -> None:
            Z = basis.coordinates(indices[block])
            s = basis.resolvent_values(Z, form.t)
            gains[block] = form.gains(s, basis.quadratic_forms(Z))

        dim = self.candidates.dim or len(self.selected)
        run_parallel(compute_block, row_blocks(len(indices), 64 * dim, 1024))
        gains += COARSE_TOLERANCE
        self._gain_bounds[indices] = gains
        return self._objective_values(gains, indices)

    def _max_untracked_value(self, allowed: np.ndarray, tracked_indices: np.ndarray) -> float:
        """Bound the objective with any untracked candidate, less twice the error of the bounds."""
        untracked = allowed.copy()
        untracked[tracked_indices] = False
        indices = np.flatnonzero(untracked)
        values = self._objective_values(self._gain_bounds[indices], indices)
        upper = float(values.max(initial=-np.inf))
        if len(self.selected) > MAX_EXACT_SIZE:
            upper -= 2 * COARSE_TOLERANCE * self._phi_scale
        return upper

    def _exact_values(self, indices: np.ndarray) -> np.ndarray:
        """Compute the exact objective with a candidate added, for several candidates.

        All values differ from the objective by the same constant.
        """
        m = len(self.selected)
        basis = self._build_basis(self._fine_form)
        eigenvalues = clip_eigenvalues(basis.values)
        positive = np.flatnonzero(eigenvalues)
        Z = basis.coordinates(indices)
        squares = Z[:, positive] ** 2
        if not basis.spans_features:
            squares = squares / basis.values[positive]
        log_scores = log_scores_with_each_added(eigenvalues[positive], squares, self.q, 1 / m)
        if self.quality_tradeoff is None:
            return log_scores
        quality = self.quality_tradeoff.quality
        set_quality = quality[self.selected].sum()
        return self.quality_tradeoff.combined(log_scores, set_quality + quality[indices])

    def _objective_values(
        self,
        gains: np.ndarray,
        indices: np.ndarray,
        losses: np.ndarray | None = None,
        leaving: np.ndarray | None = None,
    ) -> np.ndarray:
        """Compute values that order candidates like the objective after the candidate is added.

        `gains` are the gains of the candidates `indices`. With `losses`, the members `leaving` are
        removed first.
        """
        if self.quality_tradeoff is None:
            return gains
        quality = self.quality_tradeoff.quality
        m = len(self.selected) + 1
        phi = self.phi + gains
        quality_sums = quality[self.selected].sum() + quality[indices]
        if losses is not None:
            m -= 1
            phi = phi - losses
            quality_sums = quality_sums - quality[leaving]
        log_scores = math.log(m) + log_score_from_entropy(phi / m, self.q)
        return self.quality_tradeoff.combined(log_scores, quality_sums / m)
