"""What a selection maximises: a number of the chosen, and what each candidate would make of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..arrays.namespace import row_blocks
from ..progress import track
from ..spectral.hill import effective_number
from ..spectral.rank_one import gains as exact_gains
from ..spectral.spectrum import Spectrum
from .candidates import Candidates
from .constraints import Constraints
from .resolvent import RIDGE, TOLERANCE, Resolvent, determinant_form, vendi_form

# Gains of the quadrature that differ by less than so many tolerances are compared exactly. Their
# errors differ by up to 0.2 tolerances at q <= 1.25 and 1.0 at q = 1.75: measured on digits,
# molecules and points, for sets of up to 200.
MARGIN = 2.0
# Values that differ by less are equal: the first sample is taken.
EQUAL = 1e-11
# An exchange is worth its time if it raises the sum Φ, size · log VS at q = 1, by this.
WORTH = 1e-3
# Error of exact comparisons, and about how many ridges they take.
EXACT, NODES = 1e-13, 60
# What a sample has beside the span of the set, if it is no more than this.
ROUNDING = 1e-12
# How often all members are looked at; most exchanges are found the first two times.
ROUNDS = 8
# Candidates of `Cover` that are looked at again at once.
BATCH = 64

# Which candidates of some columns may come in.
Allowed: TypeAlias = Callable[[slice], np.ndarray]


class Spectral:
    """log VS_q of the set (log det for q = None), with the log of its mean quality."""

    def __init__(
        self, candidates: Candidates, most: int, q: float | None, quality: np.ndarray | None
    ) -> None:
        self.candidates, self.q, self.quality = candidates, q, quality
        form = determinant_form() if q is None else vendi_form(q, most)
        self.resolvent = Resolvent(candidates, form, most)
        self.total = 0.0  # Φ of the set

    @property
    def places(self) -> list[int]:
        """The candidates that are in."""
        return self.resolvent.places

    def best(self, allowed: np.ndarray) -> int:
        """Return the candidate, of those `allowed` (N,), with which the set is worth most."""
        some = np.flatnonzero(allowed)
        values = self._values(self.resolvent.gains[some], some, self.total, self._quality())
        top = float(values.max())
        margin = EQUAL
        if self.q is not None:  # what is below the least ridge counts for small orders
            margin = max(MARGIN * TOLERANCE, 2 * RIDGE**self.q / self.q)
        close = some[values >= top - margin]
        if len(close) > 1 and self.places and self.q is not None:
            exact = self._exact(close, self.q)
            close = close[exact >= exact.max() - EQUAL]
        return int(close[0])

    def add(self, v: int) -> None:
        self.total += float(self.resolvent.gains[v])
        self.resolvent.add(v)

    def exchanges(self, members: np.ndarray, allowed: Allowed) -> tuple[np.ndarray, np.ndarray]:
        """Return the best candidate instead of each of these members, and its worth."""
        losses, places = self.resolvent.losses()[members], np.array(self.places)[members]
        total = (self.total - losses)[:, None]
        left = np.zeros((len(members), 1))
        if self.quality is not None:
            left = self._quality() - self.quality[places][:, None]
        own = self._values(losses[:, None], places[:, None], total, left, -1)[:, 0]
        here = np.arange(len(members))
        best, top = np.zeros(len(members), int), np.full(len(members), -np.inf)
        for columns, gains in self.resolvent.without(members):
            some = np.arange(columns.start, columns.stop)
            values = self._values(gains, some, total, left, -1)
            values[~allowed(columns)] = -np.inf
            found = values.argmax(axis=1)
            better = values[here, found] > top
            best[better] = some[found[better]]
            top[better] = values[here, found][better]
        return best, top - own

    def exchange(self, j: int, allowed: Allowed) -> bool:
        """Put the best candidate in the place of the member at position j, if it is better."""
        best, more = self.exchanges(np.array([j]), allowed)
        if not more[0] > self.least:
            return False
        changed = [*self.places]
        changed[j] = int(best[0])
        # The quadrature is not exact, and what is added up drifts.
        if not self.score(changed) > self.score(self.places) + EQUAL:
            return False
        self.total -= float(self.resolvent.losses()[j])
        self.resolvent.remove(j)
        self.add(int(best[0]))
        return True

    @property
    def least(self) -> float:
        """What an exchange must be worth, in the units of `exchanges`."""
        per_sample = self.quality is not None and self.q is not None
        return WORTH / len(self.places) if per_sample else WORTH

    def score(self, places: list[int]) -> float:
        """Return the objective of a set that is one sample away from this one, exactly."""
        known = {place: j for j, place in enumerate(self.places)}
        C = self.resolvent.rows()
        rows = (C[known[p]] if p in known else self.candidates.row(p) for p in places)
        K = np.array([row[places] for row in rows])
        own = np.ones(1) if self.quality is None else self.quality[places]
        if self.q is None:
            values = np.maximum(np.linalg.eigvalsh(K), 0.0)
            return float(np.log(values + RIDGE).sum() + 2 * np.log(own).sum())
        return math.log(vendi_of(K, self.q)) + float(np.log(own.mean()))

    def _quality(self) -> float:
        return 0.0 if self.quality is None else float(self.quality[self.places].sum())

    def _values(
        self, gains: np.ndarray, some: np.ndarray, total: Any, quality: Any, more: int = 0
    ) -> np.ndarray:
        """Return the objective with each of `some` candidates, or what orders them as it does."""
        if self.quality is None:
            return gains
        own = self.quality[some]
        if self.q is None:
            return gains + 2 * np.log(own)
        m = len(self.places) + 1 + more
        S = total + gains
        part = S / m if self.q == 1 else np.log1p((1 - self.q) * S / m) / (1 - self.q)
        return math.log(m) + part + np.log((quality + own) / m)

    def _exact(self, some: np.ndarray, q: float) -> np.ndarray:
        """Return the objective with each of `some` candidates, but for a constant, exactly."""
        m = len(self.places)
        C = self.resolvent.rows()
        values, U = np.linalg.eigh(C[:, self.places])
        values, U = values[::-1], U[:, ::-1]
        kept = values > m * np.finfo(float).eps * values[0]
        values, U = values[kept], U[:, kept]
        squares = (U.T @ C[:, some]).T ** 2 / values
        spectrum = Spectrum(values / values.sum(), m, "eigenvalues", "")
        found = np.empty(len(some))
        for rows in row_blocks(len(some), 32 * NODES):
            inside = squares[rows].sum(axis=1)
            lengths = np.where(inside > 1 - ROUNDING, inside, 1.0)  # but for rounding
            found[rows] = exact_gains(spectrum, squares[rows], lengths, 1 / m, q, tolerance=EXACT)
        if self.quality is not None:
            found += np.log(self._quality() + self.quality[some])
        return found


def vendi_of(K: np.ndarray, q: float) -> float:
    """Return VS_q of a few samples; eigenvalues that may be rounding count as 0."""
    values = np.linalg.eigvalsh(K)
    values[values < len(values) * np.finfo(float).eps * values[-1]] = 0.0
    return float(effective_number(values / values.sum(), q))


class Spread:
    """The least distance √(2 − 2k) within the set: the farthest sample from it joins (Gonzalez)."""

    def __init__(self, candidates: Candidates) -> None:
        self.candidates = candidates
        self.places: list[int] = []
        self._nearest = np.full(candidates.n, -np.inf)

    def best(self, allowed: np.ndarray) -> int:
        return int(np.argmin(np.where(allowed, self._nearest, np.inf)))

    def add(self, v: int) -> None:
        np.maximum(self._nearest, self.candidates.row(v), out=self._nearest)
        self.places.append(v)


class Cover(Spread):
    """Facility location: mean similarity of all samples to the nearest chosen; gains only fall."""

    def __init__(self, candidates: Candidates) -> None:
        super().__init__(candidates)
        self._nearest[:] = -1.0  # below which there is no similarity
        self._bounds = np.full(candidates.n, np.inf)
        self._values = [0.0]

    def best(self, allowed: np.ndarray) -> int:
        order = np.flatnonzero(allowed)
        order = order[np.argsort(-self._bounds[order], kind="stable")]
        best, top = int(order[0]), -np.inf
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            if self._bounds[some[0]] <= top:
                break
            rows = self.candidates.rows(some)
            np.maximum(rows, self._nearest, out=rows)
            rows -= self._nearest
            self._bounds[some] = rows.mean(axis=1)
            k = int(np.argmax(self._bounds[some]))
            if self._bounds[some[k]] > top:
                best, top = int(some[k]), float(self._bounds[some[k]])
        return best

    def add(self, v: int) -> None:
        super().add(v)
        self._values.append(float(self._nearest.mean()))

    @property
    def gains(self) -> np.ndarray:
        """What each sample added when it came, (m,)."""
        return np.diff(self._values)


Objective: TypeAlias = Spectral | Spread


def greedy(objective: Objective, constraints: Constraints) -> list[int]:
    """Return the places, each the best at its time, after those that are in from the start."""
    for step in track(range(constraints.size), constraints.size, "selecting"):
        if step < len(constraints.initial):
            objective.add(constraints.initial[step])
        else:
            objective.add(objective.best(constraints.open(objective.places)))
    return objective.places


def exchanged(objective: Spectral, constraints: Constraints, rounds: int = ROUNDS) -> int:
    """Exchange members for candidates, the best first, while that helps; return how many were."""
    fixed, done = set(constraints.initial), 0
    for _ in track(range(rounds), rounds, "exchanging"):
        places = np.array(objective.places)
        members = np.flatnonzero([place not in fixed for place in objective.places])
        if not len(members):
            break
        _, more = objective.exchanges(members, constraints.instead(objective.places, members))
        promising = members[np.argsort(-more)][: int((more > objective.least).sum())]
        before = done
        for place in places[promising]:
            j = objective.places.index(place)
            done += objective.exchange(j, constraints.instead(objective.places, np.array([j])))
        if done == before:
            break
    return done
