"""Block Lanczos: estimate traces of functions of a matrix from products with random signs.

For random vectors z of ±1, zᵀ f(A) z has mean tr f(A). It is computed by Gauss quadrature.
Converged eigenpairs are summed exactly instead.

Golub & Meurant, Matrices, Moments and Quadrature, ch. 6–7; Ubaru, Chen & Saad, SIMAX 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..core.eigenvalues import EPS
from ..support.namespace import Array, asarray_like, namespace, to_host

# A Ritz pair is an eigenpair once its residual is below this fraction of its value. Treating it as
# exact then changes a trace by the square of this fraction.
RESIDUAL_TOLERANCE = 1e-3


class Krylov:
    """An orthonormal basis of Z, AZ, A²Z, …, in which A is block tridiagonal."""

    def __init__(self, multiply: Callable[[Array], Array], Z: Array, max_steps: int) -> None:
        self.multiply = multiply
        self.n, self.b = Z.shape
        self.max_steps = min(max_steps, self.n // self.b)
        self.steps = 0
        size = self.b * self.max_steps
        self._T = np.zeros((size + self.b, size + self.b))
        xp = namespace(Z)
        self.basis: Array = xp.empty((size, self.n), dtype=Z.dtype, device=Z.device)
        self._last, R = xp.linalg.qr(Z)
        self.start = to_host(R)

    def extend(self, steps: int) -> None:
        """Extend the basis to `steps` block steps, at most `max_steps`."""
        xp = namespace(self._last)
        while self.steps < min(steps, self.max_steps):
            Q = self._last
            here = slice(self.size, self.size + self.b)
            self.steps += 1
            following = slice(self.size, self.size + self.b)
            self.basis[here] = Q.T
            basis = self.basis[: self.size]
            W = self.multiply(Q)
            block = to_host(Q.T @ W)
            self._T[here, here] = (block + block.T) / 2
            W = project_out(basis, W)
            W = project_out(basis, W)  # twice is enough (Giraud et al., 2005)
            Q, R = xp.linalg.qr(W)
            # If W is rank-deficient, some columns of Q are arbitrary, so orthogonalize again.
            Q = project_out(basis, Q)
            self._last, R2 = xp.linalg.qr(Q)
            below = to_host(R2 @ R)
            self._T[following, here] = below
            self._T[here, following] = below.T

    @property
    def size(self) -> int:
        """The number of vectors in the basis."""
        return self.steps * self.b

    def matrix(self) -> np.ndarray:
        """Return the block tridiagonal matrix of A in the basis."""
        return self._T[: self.size, : self.size]

    def converged_pairs(self, rounding: float) -> EigenPairs:
        """Return the converged eigenpairs with values above `rounding`."""
        values, S = np.linalg.eigh(self.matrix())
        last = slice(self.size - self.b, self.size)
        below = self._T[self.size : self.size + self.b, last]
        residuals = np.linalg.norm(below @ S[last], axis=0)
        least = max(self.n * EPS * values[-1], rounding)
        done = (residuals <= RESIDUAL_TOLERANCE * values) & (values > least)
        basis = self.basis[: self.size]
        coordinates = asarray_like(S[:, done], basis)
        return EigenPairs(values[done], basis.T @ coordinates)


class EigenPairs(NamedTuple):
    """Eigenvalues (k,) of a matrix and their eigenvectors (n, k)."""

    values: np.ndarray
    vectors: Array

    def orthogonal_basis(
        self,
        multiply: Callable[[Array], Array],
        Z: Array,
        max_steps: int,
    ) -> Krylov:
        """Build the Krylov basis of the matrix on the complement of these eigenvectors."""
        rows = self.vectors.T

        def multiply_outside(V: Array) -> Array:
            return project_out(rows, multiply(V))

        return Krylov(multiply_outside, project_out(rows, Z), max_steps)


def project_out(basis: Array, V: Array) -> Array:
    """Project vectors V (n, m) onto the orthogonal complement of the rows of `basis`."""
    inside = basis @ V
    return V - basis.T @ inside


class Quadrature:
    """Gauss quadrature of zᵀ f(A) z for b starting vectors: nodes (m,) and weights (m, b)."""

    def __init__(self, krylov: Krylov, rounding: float = 0.0) -> None:
        values, S = np.linalg.eigh(krylov.matrix())
        self.min_eigenvalue: float = float(values[0])
        self.nodes: np.ndarray = np.where(values > rounding, values, 0.0)
        first = S[: krylov.b]
        coordinates = first.T @ krylov.start
        self.weights: np.ndarray = coordinates**2

    def trace(self, values: np.ndarray, moments: np.ndarray) -> tuple[float, float]:
        """Estimate tr f(A) and its standard error, from `values` of f at the nodes.

        `moments` are tr I, tr A and tr A². They give the exact trace of a quadratic polynomial
        fitted to f; only the remainder is averaged over the random vectors.
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
        # Degrees of freedom: minus 3 for the polynomial, and minus 2 more to allow for Student's t,
        # so an interval of two standard errors covers 95 %.
        freedom = b * max(1, b - 6)
        return value, error / math.sqrt(freedom)
