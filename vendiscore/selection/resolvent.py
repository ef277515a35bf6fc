"""What every candidate would add to a set, kept up to date as the set changes.

Let A = Σ_S x xᵀ over the chosen samples, of trace m, and s_x(t) = xᵀ (A + tI)⁻¹ x. The objectives
that are read off the spectrum of A are all of one form,

    Φ(A) = α tr A + β tr A² + Σ_t w_t log det(I + A/t),

so that a candidate adds α + β (2 xᵀAx + 1) + Σ_t w_t log(1 + s_x(t)), and a member takes away
α + β (2 xᵀAx − 1) − Σ_t w_t log(1 − s_x(t)). For the Vendi Score of order q the ridges and weights
are those of `quadrature`; one ridge near 0 alone is log det; no ridge at all, order 2.

A sample v that comes changes s_x(t) by −(xᵀ(A + tI)⁻¹v)² / (1 + s_v(t)), one that goes by
+(xᵀ(A + tI)⁻¹v)² / (1 − s_v(t)). From the similarities C (m, N) of the chosen to all, with the
small matrices R_t = (C_S + tI)⁻¹,

    xᵀ(A + tI)⁻¹v = (k_xv − c_xᵀ R_t c_v) / t,  and of a member v = c_xᵀ R_t e_v,

so that a step is one product of a (ridges, m) and an (m, N) matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from ..spectral.quadrature import of_integral, of_trace, ridges, step_for
from .candidates import Candidates

# Error of a gain, relative to a change of the trace by 1; what is closer is compared exactly.
TOLERANCE = 1e-4
# Candidates that are looked at together, so that their numbers stay in a core's cache.
COLUMNS = 4096
# log det of a set that has more samples than dimensions is taken beside a ridge.
RIDGE = 1e-9


# Of some columns of candidates: xᵀ(A + tI)⁻¹v, and what its square is divided by.
Parts: TypeAlias = Iterable[tuple[slice, np.ndarray, np.ndarray]]


class Form(NamedTuple):
    """α, β, ridges t (r,) and weights w (r,) of an objective; see above."""

    of_trace: float
    of_square: float
    t: np.ndarray
    w: np.ndarray

    def value(self, s: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """What candidates add, from s (r, ...) and xᵀAx (...); s is overwritten."""
        added = self.of_trace + self.of_square * (2 * squares + 1)
        if len(self.t):
            added += self.w @ np.log1p(s, out=s)
        return np.asarray(added)


def vendi_form(q: float, size: int) -> Form:
    """That of (tr A^q − tr A)/(1 − q), or −tr A log A at q = 1, of sets of up to `size` samples.

    The integrand is log(1 + s(t)) − 1/(t + b), whose tail falls like (b − b_x) t^{q−3} with
    b_x = xᵀAx + 1/2. One b serves all candidates, since the sum beyond the last node is known.
    """
    if q == 2:
        return Form(1.0, -1.0, np.empty(0), np.empty(0))
    t, weights = ridges(q, 0.0, float(size), TOLERANCE)
    b, step, factor = math.sqrt(size), step_for(TOLERANCE), of_integral(q)
    beyond = step * t[-1] ** (q - 2) / math.expm1((2 - q) * step)
    first = float(of_trace(q, b)) - factor * float(weights @ (1 / (t + b)))
    # + beyond (b − xᵀAx − 1/2), written as a part of each trace term.
    return Form(first + factor * beyond * b, -factor * beyond / 2, t, factor * weights)


def determinant_form() -> Form:
    """log det(A + tI) − log det(tI) at the least ridge."""
    return Form(0.0, 0.0, np.array([RIDGE]), np.ones(1))


class Resolvent:
    """The set so far, and what each candidate would add.

    Parameters
    ----------
    candidates : Candidates
        Of N samples.
    form : Form
    most : int
        How many samples may be in the set at once.

    Attributes
    ----------
    places : list of int
        The set, in no order that means anything.
    gains : array (N,)
        What each candidate would add.

    Notes
    -----
    A step takes O(ridges · m · N + ridges · m²) for a set of m; memory (ridges + m) · N.
    """

    def __init__(self, candidates: Candidates, form: Form, most: int) -> None:
        self.candidates, self.form, self.most = candidates, form, most
        self.places: list[int] = []
        r, n = len(form.t), candidates.n
        self._s = np.repeat(1 / form.t, n).reshape(r, n)
        self._squares = np.zeros(n)
        self.gains = np.full(n, form.value(1 / form.t, np.zeros(())))
        self._prepare()

    def _prepare(self) -> None:
        r = len(self.form.t)
        self._C = np.empty((self.most, self.candidates.n))
        self._R = np.empty((r, self.most, self.most))

    def rows(self) -> np.ndarray:
        """Similarities (m, N) of the set to all."""
        return self._C[: len(self.places)]

    def loss(self, j: int) -> float:
        """What the member at position j adds to the others."""
        form, left = self.form, self._left(j)
        square = 2 * float(self._squares[self.places[j]]) - 1
        return form.of_trace + form.of_square * square - float(form.w @ np.log(left))

    def without(self, j: int) -> np.ndarray:
        """What each candidate would add to the set without the member at position j, (N,)."""
        found = np.empty(self.candidates.n)
        left, row = self._left(j)[:, None], self._row(j)
        for columns, D in self._of_member(j):
            D *= D
            D /= left
            D += self._s[:, columns]
            found[columns] = self.form.value(D, self._squares[columns] - row[columns] ** 2)
        return found

    def add(self, v: int) -> None:
        """Take the candidate v in."""
        row = self.candidates.row(v)
        parts = self._enter(v, row)
        self._squares += row**2
        self.places.append(v)
        self._change(parts, -1)

    def remove(self, j: int) -> None:
        """Take the member at position j out; the last takes its position."""
        left = self._left(j)[:, None]
        self._squares -= self._row(j) ** 2
        self._change(((columns, D, left) for columns, D in self._of_member(j)), 1)
        self._leave(j)
        last = self.places.pop()
        if j < len(self.places):
            self.places[j] = last

    def _change(self, parts: Parts, sign: int) -> None:
        for columns, D, by in parts:
            D *= D
            D /= by
            s = self._s[:, columns]
            if sign > 0:
                s += D
            else:
                s -= D
                np.maximum(s, 0.0, out=s)
            np.copyto(D, s)
            self.gains[columns] = self.form.value(D, self._squares[columns])

    def _blocks(self) -> Iterator[slice]:
        n = self.candidates.n
        return (slice(start, min(start + COLUMNS, n)) for start in range(0, n, COLUMNS))

    def _row(self, j: int) -> np.ndarray:
        """Similarities of the member at position j to all."""
        return self._C[j]

    def _left(self, j: int) -> np.ndarray:
        """1 − s_v(t) of the member at position j, above 0."""
        return np.maximum(self.form.t * self._R[:, j, j], np.finfo(float).tiny)

    def _of_member(self, j: int) -> Iterator[tuple[slice, np.ndarray]]:
        """xᵀ(A + tI)⁻¹v for the member v at position j."""
        m = len(self.places)
        across = np.ascontiguousarray(self._R[:, j, :m])
        for columns in self._blocks():
            yield columns, across @ self._C[:m, columns]

    def _enter(self, v: int, row: np.ndarray) -> Parts:
        """xᵀ(A + tI)⁻¹v and 1 + s_v(t), with R_t already that of the larger set."""
        m, t = len(self.places), self.form.t[:, None]
        C, R = self._C[:m], self._R[:, :m, :m]
        c = C[:, v]
        inner = R @ c
        # Of a copy of a member this is t, but for rounding.
        left = np.maximum(1 - inner @ c, 0.0)[:, None] + t
        outer = inner / left
        for each, a, b in zip(R, inner, outer, strict=True):
            each += np.outer(a, b)
        self._R[:, m, :m] = self._R[:, :m, m] = -outer
        self._R[:, m, m] = 1 / left[:, 0]
        self._C[m] = row
        inner /= t

        def parts() -> Parts:
            for columns in self._blocks():
                D = inner @ C[:, columns]
                np.subtract(row[columns] / t, D, out=D)
                yield columns, D, left / t

        return parts()

    def _leave(self, j: int) -> None:
        m = len(self.places)
        for each in self._R:
            across = each[j, :m].copy()
            each[:m, :m] -= np.outer(across, across / across[j])
        if j < m - 1:
            self._R[:, j, :m] = self._R[:, m - 1, :m]
            self._R[:, :m, j] = self._R[:, :m, m - 1]
            self._R[:, j, j] = self._R[:, m - 1, m - 1]
            self._C[j] = self._C[m - 1]
