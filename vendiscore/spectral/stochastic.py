"""Traces of functions of a matrix from products with a block of random signs, by block Lanczos.

zᵀ f(A) z, of mean tr f(A), is found by Gauss's rule; eigenpairs found before are summed exactly.
Golub & Meurant, Matrices, Moments and Quadrature, ch. 6–7; Ubaru, Chen & Saad, SIMAX 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..arrays.namespace import Array, as_kind_of, namespace, to_host

# A Ritz pair counts as an eigenpair once its residual is below this share of its value: to split
# it off then moves a trace by the square of that.
CONVERGED = 1e-3
EPS = float(np.finfo(np.float64).eps)


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
            Q, R = xp.linalg.qr(W)
            # Columns of a W short of full rank are arbitrary: not yet orthogonal to the rest.
            self._last, R2 = xp.linalg.qr(Q - basis.T @ (basis @ Q))
            self.below.append(to_host(R2 @ R))

    def matrix(self) -> np.ndarray:
        """Return A in the basis."""
        b, size = self.b, self.b * self.steps
        T = np.zeros((size, size))
        for i, block in enumerate(self.diagonal):
            here, after = slice(i * b, (i + 1) * b), slice((i + 1) * b, (i + 2) * b)
            T[here, here] = block
            if i + 1 < self.steps:
                T[after, here] = self.below[i]
                T[here, after] = self.below[i].T
        return T


class Pairs(NamedTuple):
    """Eigenvalues (k,) of a matrix and their eigenvectors (n, k)."""

    values: np.ndarray
    vectors: Array

    def beside(self, multiply: Callable[[Array], Array]) -> Callable[[Array], Array]:
        """Return products of the matrix with vectors that are orthogonal to these."""
        return lambda V: self.without(multiply(V))

    def without(self, V: Array) -> Array:
        """Return V without its parts along the eigenvectors."""
        return V - self.vectors @ (self.vectors.T @ V)


def converged_pairs(krylov: Krylov, rounding: float = 0.0) -> Pairs:
    """Return the pairs of a Krylov basis that are eigenpairs, and no rounding."""
    values, S = np.linalg.eigh(krylov.matrix())
    residuals = np.linalg.norm(krylov.below[-1] @ S[-krylov.b :], axis=0)
    done = (residuals <= CONVERGED * values) & (values > max(krylov.n * EPS * values[-1], rounding))
    basis = krylov.basis[: len(values)]
    return Pairs(values[done], basis.T @ as_kind_of(S[:, done], basis))


class Quadrature:
    """Gauss's rule for zᵀ f(A) z of each starting vector: nodes (m,) and weights (m, b)."""

    def __init__(self, krylov: Krylov, rounding: float = 0.0) -> None:
        values, S = np.linalg.eigh(krylov.matrix())
        self.least, self.top = float(values[0]), float(values[-1])
        self.nodes = np.where(values > rounding, values, 0.0)
        self.weights = (S[: krylov.b].T @ krylov.start) ** 2

    def trace(
        self, f: Callable[[np.ndarray], np.ndarray], moments: np.ndarray
    ) -> tuple[float, float]:
        """Return tr f(A) and its standard error, from tr I, tr A and tr A².

        A polynomial near f is summed exactly; what differs from it is averaged over the vectors.
        """
        b, x = self.weights.shape[1], self.nodes
        powers = x[:, None] ** np.arange(3)
        root = np.sqrt(self.weights.mean(axis=1))
        near = np.linalg.lstsq(powers * root[:, None], f(x) * root, rcond=None)[0]
        random = (f(x) - powers @ near) @ self.weights
        error = float(np.linalg.norm(random - random.mean()))
        value = float(near @ moments + random.mean())
        # Less three for the polynomial, and two for Student's t, so that two errors hold 95 %.
        return value, error / math.sqrt(b * max(1, b - 6))


def random_signs(n: int, b: int, seed: np.random.SeedSequence, like: Array) -> Array:
    """Return n × b numbers ±1, of the kind of `like`: signs have the least variance."""
    return as_kind_of(np.random.default_rng(seed).choice([-1.0, 1.0], (n, b)), like)
