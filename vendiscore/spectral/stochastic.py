"""Traces of functions of a matrix from products with a block of random signs, by block Lanczos.

zᵀ f(A) z, of mean tr f(A), is found by Gauss's rule; eigenpairs found before are summed exactly.
Golub & Meurant, Matrices, Moments and Quadrature, ch. 6–7; Ubaru, Chen & Saad, SIMAX 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core.namespace import Array, as_kind_of, namespace, to_host
from ..core.shares import EPS

# A Ritz pair counts as an eigenpair once its residual is below this share of its value: to split
# it off then moves a trace by the square of that.
CONVERGED = 1e-3


class Krylov:
    """An orthonormal basis of Z, AZ, A²Z …, and A in it: a block tridiagonal matrix."""

    def __init__(self, multiply: Callable[[Array], Array], Z: Array, most: int) -> None:
        self.multiply = multiply
        self.n, self.b = Z.shape
        self.most = min(most, self.n // self.b)
        xp = namespace(Z)
        shape = self.b * self.most, self.n
        self.basis: Any = xp.empty(shape, dtype=Z.dtype, device=Z.device)
        self._last, R = xp.linalg.qr(Z)
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
            Q = self._last
            known = (self.steps + 1) * self.b
            basis = self.basis[:known]
            basis[-self.b :] = Q.T
            W = self.multiply(Q)
            block = to_host(Q.T @ W)
            self.diagonal.append((block + block.T) / 2)
            for _ in range(2):  # twice is enough (Giraud et al., 2005)
                inside = basis.T @ (basis @ W)
                W = W - inside
            Q, R = xp.linalg.qr(W)
            # Columns of a W short of full rank are arbitrary: not yet orthogonal to the rest.
            inside = basis.T @ (basis @ Q)
            self._last, R2 = xp.linalg.qr(Q - inside)
            self.below.append(to_host(R2 @ R))

    def matrix(self) -> np.ndarray:
        """Return A in the basis."""
        steps = self.steps
        b = self.b
        T = np.zeros((steps, b, steps, b))
        for i, block in enumerate(self.diagonal):
            T[i, :, i] = block
        for i, block in enumerate(self.below[:-1]):
            T[i + 1, :, i] = block
            T[i, :, i + 1] = block.T
        return T.reshape(steps * b, steps * b)


class Pairs(NamedTuple):
    """Eigenvalues (k,) of a matrix and their eigenvectors (n, k)."""

    values: np.ndarray
    vectors: Array

    def without(self, V: Array) -> Array:
        """Return the parts of vectors that are orthogonal to these."""
        inside = self.vectors.T @ V
        return V - self.vectors @ inside

    def orthogonal_basis(self, multiply: Callable[[Array], Array], Z: Array, most: int) -> Krylov:
        """Return the Krylov basis of the matrix on vectors that are orthogonal to these."""

        def multiply_outside(V: Array) -> Array:
            return self.without(multiply(V))

        return Krylov(multiply_outside, self.without(Z), most)


def converged_pairs(krylov: Krylov, rounding: float) -> Pairs:
    """Return the pairs of a Krylov basis that are eigenpairs, and no rounding."""
    values, S = np.linalg.eigh(krylov.matrix())
    last = S[-krylov.b :]
    residuals = np.linalg.norm(krylov.below[-1] @ last, axis=0)
    least = max(krylov.n * EPS * values[-1], rounding)
    done = (residuals <= CONVERGED * values) & (values > least)
    basis = krylov.basis[: len(values)]
    coordinates = as_kind_of(S[:, done], basis)
    return Pairs(values[done], basis.T @ coordinates)


class Quadrature:
    """Gauss's rule for zᵀ f(A) z of each starting vector: nodes (m,) and weights (m, b)."""

    def __init__(self, krylov: Krylov, rounding: float = 0.0) -> None:
        values, S = np.linalg.eigh(krylov.matrix())
        self.least = float(values[0])
        self.top = float(values[-1])
        self.nodes = np.where(values > rounding, values, 0.0)
        first = S[: krylov.b]
        coordinates = first.T @ krylov.start
        self.weights = coordinates**2

    def trace(self, values: np.ndarray, moments: np.ndarray) -> tuple[float, float]:
        """Return tr f(A) and its standard error, from f at the nodes and tr I, tr A and tr A².

        A polynomial near f is summed exactly; what differs from it is averaged over the vectors.
        """
        b = self.weights.shape[1]
        powers = self.nodes[:, None] ** np.arange(3)
        mean_weights = self.weights.mean(axis=1)
        root = np.sqrt(mean_weights)
        weighted = powers * root[:, None]
        polynomial = np.linalg.lstsq(weighted, values * root, rcond=None)[0]
        differences = values - powers @ polynomial
        rest = differences @ self.weights
        mean = rest.mean()
        value = float(polynomial @ moments + mean)
        error = float(np.linalg.norm(rest - mean))
        # Less three for the polynomial, and two for Student's t, so that two errors hold 95 %.
        freedom = b * max(1, b - 6)
        return value, error / math.sqrt(freedom)
