"""Traces of functions of a matrix from products with a block of random vectors.

Block Lanczos from a block Z of random signs gives, for every z of Z, the form zᵀ f(A) z as a
quadrature over the spectrum, whose mean over z is tr f(A). Three things make that mean sharp, none
of which costs a product:

- what has converged is exact: where Ritz pairs have become eigenpairs, their part of the trace is
  Σ f(θ) itself, and of z only what is orthogonal to them is random. Those that have not converged
  stay in the quadrature: f of them, summed, would be the entropy of a pinched matrix, which is too
  large;
- the traces of I, A and A² are known: the parabola nearest f on what is left of the spectrum is
  summed exactly, and only what f differs from it is random;
- the quadrature has two ends: for −x log x, x^q and all other functions that are integrals of
  resolvents, Gauss's rule and Gauss–Radau's with a node at 0 enclose the form. Half of their
  distance is the error of their mean at most. A power that is too high for the number of steps is
  below both, and takes Gauss–Radau's rule with a node above the spectrum.

References
----------
Golub & Meurant, Matrices, Moments and Quadrature, ch. 6–7 (both rules, also of blocks); Ubaru, Chen
& Saad, SIAM J. Matrix Anal. 2017 (stochastic Lanczos quadrature).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..arrays.namespace import Array, as_kind_of, namespace, to_host

# A Ritz pair counts as an eigenpair once its residual is below this share of its value: to split
# it off then moves a trace by the square of that.
CONVERGED = 1e-3
# But where eigenvalues are so many that Ritz vectors are mixtures of their vectors, and follow the
# random ones, they are no deflation: as many of them as of vectors within a share CLOSE; FEW and
# more there, or EDGE at the lower end of what has converged, in which random vectors lie by MANY
# standard deviations more than by chance.
CLOSE, FEW, EDGE, MANY = 2e-2, 4, 8, 4.0
# Ritz values below this share of the largest are zero but for rounding.
ZERO = 1e-14


class Trace(NamedTuple):
    """An estimate of tr f(A), its standard error, and how far quadrature may be off besides."""

    value: float
    error: float
    quadrature: float


class Krylov:
    """An orthonormal basis of Z, AZ, A²Z …, and A in it: a block tridiagonal matrix.

    A step is a product and 8 n·b operations for each column of the basis, which is kept orthogonal.
    """

    def __init__(self, multiply: Callable[[Array], Array], Z: Array, most: int) -> None:
        self.multiply = multiply
        n, self.b = Z.shape
        self.most = max(1, min(most, n // self.b))
        xp = namespace(Z)
        Q, R = xp.linalg.qr(Z)
        self._basis: Any = xp.empty((self.b * self.most, n), dtype=Z.dtype, device=Z.device)
        self._last = Q
        self.start = to_host(R)
        self.diagonal: list[np.ndarray] = []
        self.below: list[np.ndarray] = []

    @property
    def steps(self) -> int:
        """How many have been made."""
        return len(self.diagonal)

    def extend(self, steps: int) -> None:
        """Go on until so many steps have been made, or as many as there is room for."""
        while self.steps < min(steps, self.most):
            self._step()

    def _step(self) -> None:
        xp, Q = namespace(self._last), self._last
        known = (self.steps + 1) * self.b
        self._basis[known - self.b : known] = Q.T
        basis = self._basis[:known]
        W = self.multiply(Q)
        own = to_host(Q.T @ W)
        self.diagonal.append((own + own.T) / 2)
        for _ in range(2):  # twice is enough (Giraud et al., 2005)
            W = W - basis.T @ (basis @ W)
        Q, R = xp.linalg.qr(W)
        # Columns of a W that is short of full rank are any, and not yet orthogonal to the rest.
        Q, R2 = xp.linalg.qr(Q - basis.T @ (basis @ Q))
        self.below.append(to_host(R2 @ R))
        self._last = Q

    def matrix(self, closing: np.ndarray | None = None) -> np.ndarray:
        """Return a in the basis; with `closing` one block larger, and that is its last one."""
        blocks = [*self.diagonal, *([] if closing is None else [closing])]
        b, size = self.b, self.b * len(blocks)
        T = np.zeros((size, size))
        for i, block in enumerate(blocks):
            here, after = slice(i * b, (i + 1) * b), slice((i + 1) * b, (i + 2) * b)
            T[here, here] = block
            if i + 1 < len(blocks):
                T[after, here] = self.below[i]
                T[here, after] = self.below[i].T
        return T


class Quadrature:
    """Forms zᵀ f(A) z for the b columns of Z, and tr f(A), from a Krylov basis.

    `least` and `top` are the extreme Ritz values: an eigenvalue is below the one, and one above the
    other. `exact` are the eigenvalues that have converged, descending.
    """

    def __init__(
        self, krylov: Krylov, n: int, trace: float, squares: float, doubt: float = 0.0
    ) -> None:
        b, R, B = krylov.b, krylov.start, krylov.below[-1]
        self.b, self._doubts = b, doubt * np.array([0.0, trace, squares])
        values, S = np.linalg.eigh(krylov.matrix())
        self.least, self.top = float(values[0]), float(values[-1])
        zero = ZERO * max(self.top, 0.0)
        residuals = np.linalg.norm(B @ S[-b:], axis=0)
        forms = (S[:b].T @ R) ** 2
        some = values > zero
        done = (residuals <= CONVERGED * values) & some
        # Up to its residual, what has not converged may be of an eigenvalue of which some vectors
        # have: then these are those that the random ones lie in most.
        reach = np.max((values + residuals)[some & ~done], initial=0.0)
        done &= values > (1 + CLOSE) * reach
        done[_mixed(values, forms.mean(axis=1), done, b)] = False
        self._gauss = np.where(values > zero, values, 0.0), forms
        self._degree, self._zero = 2 * krylov.steps, zero
        self._farthest = max(float(np.max(values + residuals)), self.top * (1 + CONVERGED**2))
        self._krylov, self._ends = krylov, (values, B @ S[-b:])
        self._radau = self._closed(0.0, some)
        self.exact = values[done][::-1]
        self._done, self._rest = forms[done][::-1], forms[~done]
        self._nodes = self._gauss[0][~done]
        left = (n - len(self.exact), trace - self.exact.sum(), squares - np.sum(self.exact**2))
        self._known = np.array(left)
        lengths = np.sum(R**2, axis=0) - self._done.sum(axis=0)
        powers = [self._nodes**k @ self._rest for k in (1, 2)]
        self._moments = np.stack([lengths, *powers])

    @cached_property
    def _beyond(self) -> tuple[np.ndarray, np.ndarray]:
        """Gauss–Radau's rule with a node above the spectrum, as far as Ritz pairs show it."""
        return self._closed(self._farthest, np.full(len(self._ends[0]), True))

    def _closed(self, node: float, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return gauss–Radau's rule: the last block is what makes `node` an eigenvalue b times."""
        values, ends = self._ends[0][some], self._ends[1][:, some]
        closing = node * np.eye(self.b) + (ends / (values - node)) @ ends.T
        lobatto, S = np.linalg.eigh(self._krylov.matrix((closing + closing.T) / 2))
        forms = (S[: self.b].T @ self._krylov.start) ** 2
        return np.where(lobatto > self._zero, lobatto, 0.0), forms

    def trace(self, f: Callable[[np.ndarray], np.ndarray], order: float = 1.0) -> Trace:
        """Estimate tr f(A) for an f with f(0) = 0 that is x^order but for a line."""
        other = self._radau if order < self._degree else self._beyond
        upper, lower = (f(values) @ forms for values, forms in (self._gauss, other))
        own = f(self.exact)
        forms = (upper + lower) / 2 - own @ self._done
        value, error = min((self._beside(f, forms, k) for k in (2, 3)), key=lambda each: each[1])
        return Trace(float(own.sum()) + value, error, abs(float(np.mean(upper - lower))) / 2)

    def enclosed(self, f: Callable[[np.ndarray], np.ndarray]) -> tuple[float, float]:
        """Return tr f(A), but for chance, from below and from above for an f that falls."""
        below, above = (float(np.mean(f(x) @ forms)) for x, forms in (self._gauss, self._radau))
        return below, above

    def _beside(
        self, f: Callable[[np.ndarray], np.ndarray], forms: np.ndarray, k: int
    ) -> tuple[float, float]:
        """Return the mean of forms, and its error, of which a polynomial of k terms is known
        exactly."""
        x, weights = self._nodes, np.sqrt(self._rest.mean(axis=1))
        columns = x[:, None] ** np.arange(k) * weights[:, None]
        sizes = np.abs(columns).max(axis=0, initial=0.0)
        sizes[sizes == 0] = 1.0
        near = np.linalg.lstsq(columns / sizes, f(x) * weights, rcond=None)[0] / sizes
        random = forms - near @ self._moments[:k]
        spread = float(np.sum((random - random.mean()) ** 2))
        # The polynomial is fitted to the vectors whose spread is the error.
        error = math.sqrt(spread / self.b / max(1, self.b - k - 1))
        value = float(near @ self._known[:k] + random.mean())
        return value, math.hypot(error, *(near * self._doubts[:k]))


def _mixed(values: np.ndarray, lying: np.ndarray, done: np.ndarray, b: int) -> np.ndarray:
    """Return which Ritz vectors follow the random ones, which lie in each by so much (1 by
    chance)."""
    first, last = (np.searchsorted(values, values * (1 + c)) for c in (-CLOSE, CLOSE))
    near = np.maximum(1, last - first)
    inside = np.append(0.0, np.cumsum(lying))
    unusual = inside[last] - inside[first] > near + MANY * np.sqrt(2 * near / b)
    mixed: np.ndarray = (near >= b) | (unusual & (near >= FEW))
    left = np.flatnonzero(done & ~mixed)
    while len(left):  # the smallest of them are those that converged last
        some = left[:EDGE]
        if lying[some].mean() <= 1 + MANY * np.sqrt(2 / (b * len(some))):
            break
        mixed[some], left = True, left[EDGE:]
    return mixed


def random_signs(n: int, b: int, seed: np.random.SeedSequence, like: Array) -> Array:
    """Return n × b numbers ±1, which are the same wherever `like` is: signs have the least
    variance."""
    return as_kind_of(np.random.default_rng(seed).choice([-1.0, 1.0], (n, b)), like)
