"""Traces of functions of a matrix from products with a block of random signs, by block Lanczos.

zᵀ f(A) z, of mean tr f(A), is between Gauss's rule and Gauss–Radau's; converged pairs are exact.
Golub & Meurant, Matrices, Moments and Quadrature, ch. 6–7; Ubaru, Chen & Saad, SIMAX 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..arguments import DEFAULT_ORDER
from ..arrays.namespace import Array, as_kind_of, namespace, to_host

# A Ritz pair counts as an eigenpair once its residual is below this share of its value: to split
# it off then moves a trace by the square of that.
CONVERGED = 1e-3
# Except Ritz vectors that are mixtures and follow the random vectors: as many of them as of random
# vectors within a share CLOSE; FEW and more there, or EDGE at the lower end of those that have
# converged, in which random vectors lie by MANY standard deviations more than by chance.
CLOSE, FEW, EDGE, MANY = 2e-2, 4, 8, 4.0
# Ritz values below this share of the largest are zero but for rounding.
ZERO = 1e-14


class Trace(NamedTuple):
    """An estimate of tr f(A), its standard error, and the error of quadrature."""

    value: float
    error: float
    quadrature: float


class Krylov:
    """An orthonormal basis of Z, AZ, A²Z …, and A in it: a block tridiagonal matrix."""

    def __init__(self, multiply: Callable[[Array], Array], Z: Array, most: int) -> None:
        self.multiply = multiply
        self.n, self.b = Z.shape
        self.most = max(1, min(most, self.n // self.b))
        xp = namespace(Z)
        Q, R = xp.linalg.qr(Z)
        self.basis: Any = xp.empty((self.b * self.most, self.n), dtype=Z.dtype, device=Z.device)
        self._last = Q
        self.start = to_host(R)
        self.diagonal: list[np.ndarray] = []
        self.below: list[np.ndarray] = []

    @property
    def steps(self) -> int:
        """The number of steps that have been made."""
        return len(self.diagonal)

    def extend(self, steps: int) -> None:
        """Go on until so many steps have been made, or as many as there is room for."""
        xp = namespace(self._last)
        while self.steps < min(steps, self.most):
            Q, known = self._last, (self.steps + 1) * self.b
            self.basis[known - self.b : known] = Q.T
            basis = self.basis[:known]
            W = self.multiply(Q)
            own = to_host(Q.T @ W)
            self.diagonal.append((own + own.T) / 2)
            for _ in range(2):  # twice is enough (Giraud et al., 2005)
                W = W - basis.T @ (basis @ W)
            if self.b == 1 and (size := float(xp.linalg.vector_norm(W))) > ZERO * abs(own[0, 0]):
                self._last = W / size
                self.below.append(np.array([[size]]))
                continue
            Q, R = xp.linalg.qr(W)
            # Columns of a W short of full rank are arbitrary: not yet orthogonal to the rest.
            self._last, R2 = xp.linalg.qr(Q - basis.T @ (basis @ Q))
            self.below.append(to_host(R2 @ R))

    def matrix(self, closing: np.ndarray | None = None) -> np.ndarray:
        """Return A in the basis, with the block `closing` added as the last one, if any."""
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
    """zᵀ f(A) z and tr f(A) from a Krylov basis; `squares` is tr A², of relative error `doubt`."""

    def __init__(self, krylov: Krylov, squares: float, doubt: float = 0.0) -> None:
        b, R, B = krylov.b, krylov.start, krylov.below[-1]
        self.b, self._doubts = b, doubt * np.array([0.0, 1.0, squares])
        values, S = np.linalg.eigh(krylov.matrix())
        self.least, self.top = float(values[0]), float(values[-1])
        zero = ZERO * max(self.top, 0.0)
        residuals = np.linalg.norm(B @ S[-b:], axis=0)
        forms = (S[:b].T @ R) ** 2
        some = values > zero
        done = (residuals <= CONVERGED * values) & some
        # A pair that has not converged may belong to the same eigenvalue as others that have.
        reach = np.max((values + residuals)[some & ~done], initial=0.0)
        done &= values > (1 + CLOSE) * reach
        done[_mixed(values, forms.mean(axis=1), done, b)] = False
        self._gauss = np.where(some, values, 0.0), forms
        self._degree, self._zero = 2 * krylov.steps, zero
        self._farthest = max(float(np.max(values + residuals)), self.top * (1 + CONVERGED**2))
        self._krylov, self._ends = krylov, (values, B @ S[-b:])
        self._radau = self._closed(0.0, some)
        self.exact = values[done][::-1]
        self._done, self._rest = forms[done][::-1], forms[~done]
        self._nodes = self._gauss[0][~done]
        traces = krylov.n, 1.0, squares
        self._known = np.array([t - np.sum(self.exact**k) for k, t in enumerate(traces)])
        lengths = np.sum(R**2, axis=0) - self._done.sum(axis=0)
        powers = [self._nodes**k @ self._rest for k in (1, 2)]
        self._moments = np.stack([lengths, *powers])

    @cached_property
    def _beyond(self) -> tuple[np.ndarray, np.ndarray]:
        """Gauss–Radau's rule with a node above the spectrum, as far as Ritz pairs show it."""
        return self._closed(self._farthest, np.full(len(self._ends[0]), True))

    def _closed(self, node: float, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return Gauss–Radau's rule, whose last block makes `node` an eigenvalue b times."""
        values, ends = self._ends[0][some], self._ends[1][:, some]
        closing = node * np.eye(self.b) + (ends / (values - node)) @ ends.T
        lobatto, S = np.linalg.eigh(self._krylov.matrix((closing + closing.T) / 2))
        forms = (S[: self.b].T @ self._krylov.start) ** 2
        return np.where(lobatto > self._zero, lobatto, 0.0), forms

    def trace(self, f: Callable[[np.ndarray], np.ndarray], order: float = DEFAULT_ORDER) -> Trace:
        """Estimate tr f(A) for an f with f(0) = 0 that is x^order plus a line."""
        other = self._radau if order < self._degree else self._beyond
        upper, lower = (f(values) @ forms for values, forms in (self._gauss, other))
        own = f(self.exact)
        forms = (upper + lower) / 2 - own @ self._done
        value, error = min((self._beside(f, forms, k) for k in (2, 3)), key=lambda each: each[1])
        return Trace(float(own.sum()) + value, error, abs(float(np.mean(upper - lower))) / 2)

    def enclosed(self, f: Callable[[np.ndarray], np.ndarray]) -> tuple[float, float]:
        """Bound tr f(A), but for chance, from below and above, for an f that falls."""
        below, above = (float(np.mean(f(x) @ forms)) for x, forms in (self._gauss, self._radau))
        return below, above

    def _beside(
        self, f: Callable[[np.ndarray], np.ndarray], forms: np.ndarray, k: int
    ) -> tuple[float, float]:
        """Return the mean of forms, and its error, with a polynomial of k terms summed exactly."""
        x, weights = self._nodes, np.sqrt(self._rest.mean(axis=1))
        columns = x[:, None] ** np.arange(k) * weights[:, None]
        sizes = np.abs(columns).max(axis=0, initial=0.0)
        sizes[sizes == 0] = 1.0
        near = np.linalg.lstsq(columns / sizes, f(x) * weights, rcond=None)[0] / sizes
        random = forms - near @ self._moments[:k]
        spread = float(np.sum((random - random.mean()) ** 2))
        error = math.sqrt(spread / self.b / max(1, self.b - k - 1))
        value = float(near @ self._known[:k] + random.mean())
        return value, math.hypot(error, *(near * self._doubts[:k]))


def _mixed(values: np.ndarray, lying: np.ndarray, done: np.ndarray, b: int) -> np.ndarray:
    """Return which Ritz vectors follow the random ones, by how much those lie in each."""
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
    """Return n × b numbers ±1, of the kind of `like`: signs have the least variance."""
    return as_kind_of(np.random.default_rng(seed).choice([-1.0, 1.0], (n, b)), like)
