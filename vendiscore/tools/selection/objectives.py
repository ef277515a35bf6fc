"""Objectives of a selection: a number of the chosen, and what each candidate would make of it."""

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
from .resolvent import (
    CHANGES,
    COARSE,
    FINE,
    RIDGE,
    Basis,
    Form,
    Frontier,
    vendi_form,
)

# Values that differ by less are equal: the first sample is taken.
EQUAL = 1e-11
# Up to so many samples in the set, candidates whose gains differ by less than the quadrature may be
# off are compared exactly. With more, fewer ridges do: they put log VS off by less than 1e-6.
EXACTLY = 100
NEAR = 1e-7
# No more is to be gained in log VS than this: d columns score d at most.
FLAT = 1e-3
# An exchange is worth its time if it raises the sum Φ, size · log VS at q = 1, by this.
WORTH = 1e-3
# Up to so many candidates are all looked at for each pick; of more, the best ones are, as many as
# `SHORTLIST`, for as long as none of the others can be better: their gains only fall.
FEW = 2048
SHORTLIST = 1024
# Candidates of more that may come in for a member, those that add most to the whole set.
NEWCOMERS = 1024
# Numbers that are held at once where many members are looked at.
SWEPT = 1 << 22


class Merit(NamedTuple):
    """Quality of each sample, and the share of diversity in 2 s log VS + 2 (1 − s) log quality."""

    quality: np.ndarray
    share: float

    def of(self, places: np.ndarray) -> Merit:
        """Return the merit of some samples."""
        return Merit(self.quality[places], self.share)

    def joined(self, diversity: np.ndarray, quality: np.ndarray) -> np.ndarray:
        """Return the objective from log VS and the mean quality."""
        with np.errstate(divide="ignore"):
            return 2 * self.share * diversity + 2 * (1 - self.share) * np.log(quality)


class Spectral:
    """log VS_q of the set, with the log of its mean quality."""

    def __init__(
        self,
        candidates: Candidates,
        constraints: Constraints,
        q: float,
        merit: Merit | None = None,
    ) -> None:
        self.candidates = candidates
        self.constraints = constraints
        self.q = q
        self.merit = merit
        most = constraints.size
        self._fine = vendi_form(q, most, FINE)
        self._coarse = vendi_form(q, most, COARSE)
        n = candidates.n
        dim = candidates.dim
        of_each = len(self._fine.t) * min(most, CHANGES) + 2 * (dim or most)
        of_followed = min(n, FEW + most) * of_each
        of_members = most * n if dim is None else 2 * most * dim
        memory.require(
            8 * (3 * n + of_followed + of_members),
            f"choosing {most} of {n} samples",
            "choose fewer, or from fewer",
        )
        self.places: list[int] = []
        self.total: float = 0.0  # Φ of the set
        self._rows = np.empty((most, n)) if dim is None else None
        # Exact gains of the candidates that are followed, bounds on the gains of all others.
        self._bounds = np.full(n, np.inf)
        self._frontier: Frontier | None = None
        # Similarities to the nearest member, once no score is left to be gained.
        self.nearest: np.ndarray | None = None

    def best(self, allowed: np.ndarray) -> int:
        """Return the candidate, of those `allowed` (N,), with which the set is worth most."""
        if self.nearest is None and self._is_flat:
            self.nearest = self.candidates.rows(np.array(self.places)).max(axis=0)
            warn(
                f"from sample {len(self.places) + 1:,} on, the objective is flat: features of "
                f"{self.candidates.dim:,} columns score no more than that; further samples are "
                f"chosen far from all chosen ones"
            )
        if self.nearest is not None:
            return int(np.argmin(np.where(allowed, self.nearest, np.inf)))
        frontier = self._frontier
        if frontier is None or frontier.is_old:
            frontier = self._renew(allowed)
        while True:
            some = frontier.index
            self._bounds[some] = frontier.gains()
            values = self._values(self._bounds[some], some)
            values[~allowed[some]] = -np.inf
            top = float(values.max())
            if frontier.is_new or top >= self._others(allowed, some):
                break
            frontier = self._renew(allowed)
        compared = 0 < len(self.places) <= EXACTLY
        margin = NEAR  # alone, all add the same
        if compared:
            # Eigenvalues below the least ridge count for small orders.
            margin = max(NEAR, 2 * RIDGE**self.q / self.q)
        elif self.places:
            margin = EQUAL
        close = some[values >= top - margin]
        if compared and len(close) > 1:
            exact = self._exact(close)
            close = close[exact >= exact.max() - EQUAL]
        return int(close[0])

    def add(self, v: int) -> None:
        row = None
        if self._rows is not None:
            row = self._rows[len(self.places)] = self.candidates.row(v)
        frontier = self._frontier
        if self.nearest is not None:
            np.maximum(self.nearest, self.candidates.row(v), out=self.nearest)
        elif frontier is not None and v in frontier.at:
            self.total += float(self._bounds[v])
            frontier.change(frontier.at[v], row)
        else:
            self._frontier = None
        self.places.append(v)

    def exchanges(self, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the best candidate instead of each of these members, and its worth."""
        frontier = self._followed()
        here = frontier.positions([self.places[j] for j in members])
        step = max(1, SWEPT // max(1, frontier.D.size))

        def best(some: slice) -> tuple[np.ndarray, np.ndarray]:
            at = here[some]
            index = frontier.index
            leaving = index[at, None]
            losses = frontier.losses(at)[:, None]
            gains = frontier.without(at)
            values = self._values(gains, index, losses, leaving)
            allowed = self.constraints.instead(self.places, members[some], index)
            values[~allowed | frontier.is_member] = -np.inf
            kept = self._values(losses, leaving, losses, leaving)[:, 0]
            best = values.argmax(axis=1)
            return index[best], values.max(axis=1) - kept

        parts = map_ordered(best, slices(len(members), step))
        places, worth = zip(*parts, strict=True)
        return np.concatenate(places), np.concatenate(worth)

    def exchange(self, j: int) -> bool:
        """Put the best candidate in the place of the member at position j, if it is better."""
        best, more = self.exchanges(np.array([j]))
        if not more[0] > self.least:
            return False
        frontier = self._followed()
        place = int(best[0])
        old, new = frontier.positions([self.places[j], place])
        row = None
        if self._rows is not None:
            row = self.candidates.row(place)
            self._rows[j] = row
        losses = frontier.losses(np.array([old]))
        self.total -= float(losses[0])
        frontier.change(old)
        gains = frontier.gains()
        self.total += float(gains[new])
        frontier.change(new, row)
        self.places[j] = place
        return True

    def follow(self) -> None:
        """Look at all candidates again, and follow the best newcomers."""
        n = self.candidates.n
        every = np.setdiff1d(np.arange(n), self.places)
        if self.has_many:
            values = np.full(n, -np.inf)
            values[every] = self._looked_at(self._basis(self._coarse), every)
            best = self.constraints.newcomers(values, NEWCOMERS)
            every = np.setdiff1d(best, self.places)
        self._newcomers = every
        self._frontier = None

    @property
    def has_many(self) -> bool:
        """True if some candidates are not followed."""
        return self.candidates.n - len(self.places) > FEW

    def losses(self, members: np.ndarray) -> np.ndarray:
        """Return what members take from Φ as they leave."""
        frontier = self._followed()
        here = frontier.positions([self.places[j] for j in members])
        return frontier.losses(here)

    @property
    def _is_flat(self) -> bool:
        m = len(self.places)
        dim = self.candidates.dim
        if self.merit is not None or dim is None or m < dim:
            return False
        log = math.log(m) + log_score_from_entropy(self.total / m, self.q)
        return bool(log > math.log(dim) - FLAT)

    @property
    def least(self) -> float:
        """The least gain for which an exchange is made, in the units of `exchanges`."""
        return WORTH * self._unit

    @property
    def _unit(self) -> float:
        """The factor by which Φ is multiplied in values."""
        if self.merit is None:
            return 1.0
        return 1 / max(1, len(self.places))

    def _basis(self, form: Form) -> Basis:
        rows = self._rows
        if rows is not None:
            rows = rows[: len(self.places)]
        basis = Basis(self.candidates, self.places, rows)
        self.total = basis.total(form)
        return basis

    def _renew(self, allowed: np.ndarray) -> Frontier:
        """Follow the candidates that are best now."""
        some = np.flatnonzero(allowed)
        form = self._fine if len(self.places) < EXACTLY else self._coarse
        basis = self._basis(form)
        if len(some) > FEW:
            some = self._shortlist(basis, some)
        self._frontier = Frontier(basis, form, some, [])
        return self._frontier

    def _followed(self) -> Frontier:
        """Return the frontier of exchanges, made again if much changed."""
        if self._frontier is None or self._frontier.is_old:
            form = self._coarse
            every = np.setdiff1d(self._newcomers, self.places)
            self._frontier = Frontier(self._basis(form), form, every, self.places)
        return self._frontier

    def _shortlist(self, basis: Basis, some: np.ndarray) -> np.ndarray:
        """Return the best candidates, having looked at as many as their bounds leave to look at."""
        done = 0
        step = max(2 * SHORTLIST, len(some) // 8)
        values = self._values(self._bounds[some], some)
        order = np.argsort(-values, kind="stable")
        while done < len(some):
            part = np.sort(order[done : done + step])
            values[part] = self._looked_at(basis, some[part])
            done += len(part)
            exact = values[order[:done]]
            least = np.partition(exact, -SHORTLIST)[-SHORTLIST]
            if done < len(some) and least >= values[order[done]]:
                break
        best = np.argsort(-values, kind="stable")[:SHORTLIST]
        return np.sort(some[best])

    def _looked_at(self, basis: Basis, some: np.ndarray) -> np.ndarray:
        """Bound what `some` add, by no more than 2 COARSE too much, and return their values."""
        form = self._coarse
        gains = np.empty(len(some))

        def look(part: slice) -> None:
            Z = basis.coordinates(some[part])
            s = basis.resolve(Z, form.t)
            gains[part] = form.value(s, basis.squares(Z))

        dim = self.candidates.dim or len(self.places)
        run_parallel(look, row_blocks(len(some), 64 * dim, 1024))
        gains += COARSE
        self._bounds[some] = gains
        return self._values(gains, some)

    def _others(self, allowed: np.ndarray, followed: np.ndarray) -> float:
        """Return what others can be worth at most, but for twice the error of their bounds."""
        others = allowed.copy()
        others[followed] = False
        some = np.flatnonzero(others)
        values = self._values(self._bounds[some], some)
        most = float(values.max(initial=-np.inf))
        if len(self.places) > EXACTLY:
            most -= 2 * COARSE * self._unit
        return most

    def _exact(self, some: np.ndarray) -> np.ndarray:
        """Return the objective with each of `some` candidates, but for a constant, exactly."""
        m = len(self.places)
        basis = self._basis(self._fine)
        shares = clip_eigenvalues(basis.values)
        positive = np.flatnonzero(shares)
        Z = basis.coordinates(some)
        squares = Z[:, positive] ** 2
        if not basis.whole:
            squares = squares / basis.values[positive]
        logs = log_scores_with_each_added(shares[positive], squares, self.q, 1 / m)
        if self.merit is None:
            return logs
        quality = self.merit.quality
        of_set = quality[self.places].sum()
        return self.merit.joined(logs, of_set + quality[some])

    def _values(
        self,
        gains: np.ndarray,
        some: np.ndarray,
        losses: np.ndarray | None = None,
        leaving: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the objective with each of `some` candidates, or what orders them as it does.

        Members `leaving`, with their `losses`, are out of the set.
        """
        if self.merit is None:
            return gains
        quality = self.merit.quality
        m = len(self.places) + 1
        total = self.total + gains
        sums = quality[self.places].sum() + quality[some]
        if losses is not None:
            m -= 1
            total = total - losses
            sums = sums - quality[leaving]
        log = math.log(m) + log_score_from_entropy(total / m, self.q)
        return self.merit.joined(log, sums / m)
