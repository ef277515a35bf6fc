"""What every candidate would add to a set, kept up to date as the set changes.

With A = Σ_S x xᵀ and s_x(t) = xᵀ (A + tI)⁻¹ x, a candidate adds to the objectives

    Φ(A) = α tr A + β tr A² + Σ_t w_t log det(I + A/t)

α + β (2 xᵀAx + 1) + Σ_t w_t log(1 + s_x(t)). With R_t = (C_S + tI)⁻¹ for similarities C (m, N) of
the chosen to all, t s_x(t) grows by (c_xᵀ R_t e_j)² / (e_jᵀ R_t e_j) as the member at j leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..arrays import memory
from ..spectral.quadrature import NOTHING, of_integral, of_trace, ridges, step_for
from .candidates import Candidates

# Error of a gain, relative to a change of the trace by 1; what is closer is compared exactly.
TOLERANCE = 1e-4
# Candidates that are looked at together, so that their numbers stay in a core's cache.
COLUMNS = 4096
# Numbers that are held at once where many members are looked at.
SWEPT = 1 << 18
# The least ridge: with smaller ones the rounding of inverses grows with each sample beyond the
# number of dimensions. log det is taken at it.
RIDGE = 1e-9


class Form(NamedTuple):
    """α, β, ridges t (r,) and weights w (r,) of an objective; see above."""

    of_trace: float
    of_square: float
    t: np.ndarray
    w: np.ndarray

    def value(self, v: np.ndarray, squares: np.ndarray) -> np.ndarray:
        """Return what candidates add, from t (1 + s) (r, ...) and xᵀAx (...); v is overwritten."""
        fixed = self.of_trace + self.of_square - float(self.w @ np.log(self.t))
        added = squares * (2 * self.of_square)
        if len(self.t):
            np.log(v, out=v)
            added += (self.w @ v.reshape(len(v), -1)).reshape(v.shape[1:])
        added += fixed
        return added


def vendi_form(q: float, size: int) -> Form:
    """Return the form of (tr A^q − tr A)/(1 − q), −tr A log A at q = 1, for up to `size` samples.

    The integrand log(1 + s(t)) − 1/(t + b) falls like (b − xᵀAx − 1/2) t^{q−3}, with a known sum.
    """
    if q == 2:
        return Form(1.0, -1.0, np.empty(0), np.empty(0))
    # As if the least eigenvalue were such that the lowest ridge is RIDGE; see `ridges`.
    least = math.sqrt(RIDGE ** (1 + q) / (NOTHING * TOLERANCE))
    t, weights = ridges(q, least, float(size), TOLERANCE)
    b, step, factor = math.sqrt(size), step_for(TOLERANCE), of_integral(q)
    beyond = step * t[-1] ** (q - 2) / math.expm1((2 - q) * step)
    first = float(of_trace(q, b)) - factor * float(weights @ (1 / (t + b)))
    # + beyond (b − xᵀAx − 1/2), written as a part of each trace term.
    return Form(first + factor * beyond * b, -factor * beyond / 2, t, factor * weights)


def determinant_form() -> Form:
    """Return log det(A + tI) − log det(tI) at the least ridge, plus log t for each sample."""
    return Form(math.log(RIDGE), 0.0, np.array([RIDGE]), np.ones(1))


class Resolvent:
    """The set so far, `places`, and the `gains` (N,) of candidates, in O(ridges · m · (N + m))."""

    def __init__(self, candidates: Candidates, form: Form, most: int) -> None:
        self.candidates, self.form = candidates, form
        self.places: list[int] = []
        r, n = len(form.t), candidates.n
        memory.require_large(
            8 * ((r + most) * n + r * most**2),
            f"choosing {most} of {n} samples",
            "choose fewer, from fewer, or by objective='maxmin', which needs a row at a time",
        )
        self._v = np.repeat(form.t + 1, n).reshape(r, n)  # t (1 + s)
        self._squares = np.zeros(n)  # xᵀAx
        self._C = np.empty((most, n))
        # R_t, or while samples only come the lower factors W_t with R_t = W_tᵀ W_t: those get a
        # row with each, where all of R_t would change.
        self._R = np.zeros((r, most, most))
        self._factored = True
        self.gains = np.full(n, form.value(form.t + 1, np.zeros(1))[0])

    def rows(self) -> np.ndarray:
        """Return similarities (m, N) of the set to all."""
        return self._C[: len(self.places)]

    def losses(self) -> np.ndarray:
        """Return what each member adds to the others, (m,)."""
        m, form = len(self.places), self.form
        self._multiply()
        left = form.t[:, None] * np.diagonal(self._R[:, :m, :m], axis1=1, axis2=2)
        logs = form.w @ np.log(np.maximum(left, np.finfo(float).tiny))
        squares = 2 * self._squares[self.places] - 1
        return np.asarray(form.of_trace + form.of_square * squares - logs)

    def without(self, members: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield, some columns at a time, what candidates add without each member (a position)."""
        m, r = len(self.places), len(self.form.t)
        self._multiply()
        diagonal = self._R[:, members, members]
        across = self._R[:, members, :m] / np.sqrt(diagonal)[:, :, None]
        across = across.reshape(r * len(members), m)
        width = max(64, SWEPT // max(1, len(across)))
        for start in range(0, self.candidates.n, width):
            columns = slice(start, min(start + width, self.candidates.n))
            C = self._C[:m, columns]
            v = across @ C
            v *= v
            v = v.reshape(r, len(members), C.shape[1])
            v += self._v[:, None, columns]
            yield columns, self.form.value(v, self._squares[columns] - C[members] ** 2)

    def add(self, v: int) -> None:
        """Take the candidate v in."""
        m, R = len(self.places), self._R
        self._C[m] = self.candidates.row(v)
        self._squares += self._C[m] ** 2
        c = self._C[:m, v]
        inner = half = R[:, :m, :m] @ c
        if self._factored:
            inner = (half[:, None, :] @ R[:, :m, :m])[:, 0]
        # t (1 + s_v): of a copy of a member it is t, but for rounding.
        left = np.maximum(1 - inner @ c, 0.0) + self.form.t
        across = np.empty((len(left), m + 1))
        across[:, :m] = -inner
        across[:, m] = 1.0
        across /= np.sqrt(left)[:, None]
        if self._factored:
            R[:, m, : m + 1] = across
        else:
            R[:, m, : m + 1] = 0.0
            R[:, :m, m] = 0.0
            R[:, : m + 1, : m + 1] += across[:, :, None] * across[:, None, :]
        self.places.append(v)
        self._change(across, -1)

    def remove(self, j: int) -> None:
        """Take the member at position j out; the last takes its position."""
        m, R = len(self.places), self._R
        self._multiply()
        self._squares -= self._C[j] ** 2
        # Its product with C, squared, is what t (1 + s) is larger by without the member.
        across = R[:, j, :m] / np.sqrt(R[:, j, j])[:, None]
        self._change(across, 1)
        R[:, :m, :m] -= across[:, :, None] * across[:, None, :]
        R[:, j, :m] = R[:, m - 1, :m]
        R[:, :m, j] = R[:, :m, m - 1]
        R[:, j, j] = R[:, m - 1, m - 1]
        self._C[j] = self._C[m - 1]
        self.places[j] = self.places[m - 1]
        self.places.pop()

    def _multiply(self) -> None:
        """Multiply the factors of R_t, if they are not multiplied yet."""
        if self._factored:
            m = len(self.places)
            for W in self._R:
                W[:m, :m] = W[:m, :m].T @ W[:m, :m]
            self._factored = False

    def _change(self, across: np.ndarray, sign: int) -> None:
        """Add the squares of across @ C to t (1 + s), or take them off, some columns at a time."""
        n, m = self.candidates.n, across.shape[1]
        for start in range(0, n, COLUMNS):
            columns = slice(start, min(start + COLUMNS, n))
            change = across @ self._C[:m, columns]
            change *= change
            v = self._v[:, columns]
            if sign > 0:
                v += change
            else:
                v -= change
                np.maximum(v, self.form.t[:, None], out=v)  # but for rounding
            np.copyto(change, v)
            self.gains[columns] = self.form.value(change, self._squares[columns])
