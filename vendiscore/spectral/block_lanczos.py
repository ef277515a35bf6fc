"""Block Lanczos: estimate tr f(A) for functions f from products of A with random vectors.

A is a symmetric matrix, such as a weighted similarity matrix. Scores are functions of such traces.

For a vector z of random signs ±1, zᵀ f(A) z has mean tr f(A), and is computed by Gauss quadrature.
The contributions of converged eigenpairs are computed exactly instead.

Golub & Meurant, Matrices, Moments and Quadrature, ch. 6–7; Ubaru, Chen & Saad, SIMAX 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..core.eigenvalues import EPS
from ..support.namespace import Array, asarray_like, is_numpy, namespace, to_host

# An approximate (Ritz) eigenpair counts as converged if its residual is below this fraction of its
# eigenvalue. The relative error of its contribution to a trace is the square of this fraction.
RESIDUAL_TOLERANCE = 1e-3


class KrylovBasis:
    """An orthonormal basis of the span of Z, AZ, A²Z, …, in which A is block tridiagonal.

    A is a symmetric n × n matrix, and Z are b starting vectors. Each step of the block Lanczos
    iteration multiplies A with b vectors, and adds b vectors to the basis.

    Parameters
    ----------
    multiply : callable
        Returns the product of the symmetric matrix A with vectors of shape (n, b).
    Z : array (n, b)
        Starting vectors.
    max_steps : int
        Maximum number of steps.

    Attributes
    ----------
    basis : array (b * max_steps, n)
        The basis vectors as rows, of which the first `size` have been computed.
    start : ndarray (b, b)
        Coordinates of the columns of Z along the first b basis vectors, which span the same space.
    steps : int
        Number of steps performed.
    """

    def __init__(self, multiply: Callable[[Array], Array], Z: Array, max_steps: int) -> None:
        # `multiply` computes products of the symmetric matrix A with b vectors, shape (n, b).
        # Z (n, b) are the starting vectors.
        self.multiply = multiply
        self.n: int
        self.b: int
        self.n, self.b = Z.shape
        self.max_steps: int = min(max_steps, self.n // self.b)  # at most n vectors are independent
        self.steps: int = 0
        max_size = self.b * self.max_steps
        # The matrix A in the basis, and one more block, which couples it to the next step.
        self._T = np.zeros((max_size + self.b, max_size + self.b))
        xp = namespace(Z)
        self.basis: Array = xp.empty((max_size, self.n), dtype=Z.dtype, device=Z.device)
        self._next_block, R = orthonormalize(Z)  # (n, b), the vectors that the next step adds
        self.start = to_host(R)

    def extend(self, steps: int) -> None:
        """Extend the basis until `steps` steps have been performed in total, or `max_steps`.

        A step of the block Lanczos iteration adds as many basis vectors as there are starting
        vectors.
        """
        while self.steps < min(steps, self.max_steps):
            Q = self._next_block  # the new basis vectors, as columns
            current = slice(self.size, self.size + self.b)
            self.steps += 1
            following = slice(self.size, self.size + self.b)
            self.basis[current] = Q.T
            basis = self.basis[: self.size]
            W = self.multiply(Q)  # A Q
            diagonal_block = to_host(Q.T @ W)
            self._T[current, current] = (diagonal_block + diagonal_block.T) / 2
            # Two projections make W orthogonal to the basis up to rounding (Giraud et al., 2005).
            W = project_out(basis, W)
            W = project_out(basis, W)
            Q, R = orthonormalize(W)
            # If W is rank-deficient, some columns of Q are arbitrary, so orthogonalize again.
            Q = project_out(basis, Q)
            self._next_block, R2 = orthonormalize(Q)
            # W is the next block times R2 @ R, which is the block of A below the diagonal block.
            block_below = to_host(R2 @ R)
            self._T[following, current] = block_below
            self._T[current, following] = block_below.T

    @property
    def size(self) -> int:
        """The number of basis vectors: for each step performed, as many as starting vectors."""
        return self.steps * self.b

    def matrix(self) -> np.ndarray:
        """Return the block tridiagonal matrix B A Bᵀ that represents a matrix A in the basis.

        The rows of B are the basis vectors. A is the symmetric matrix whose products with the
        starting vectors span the basis.
        """
        return self._T[: self.size, : self.size]

    def approximate_largest_eigenpair(self) -> tuple[float, float, np.ndarray]:
        """Approximate the largest eigenvalue of A; return it, its residual and its eigenvector.

        A is the symmetric matrix whose products with vectors span the basis. The residual of an
        eigenvalue λ with the eigenvector v (n,) is ‖A v − λ v‖, and A has an eigenvalue whose
        distance from λ is at most the residual. The usual smaller bound residual² / gap is not
        used: v may be a mixture of the eigenvectors of two eigenvalues that are close to each
        other, and the gap between these is unknown.
        """
        values, S = np.linalg.eigh(self.matrix())
        residual = float(self._residuals(S)[-1])
        return float(values[-1]), residual, to_host(self.basis[: self.size].T @ S[:, -1])

    def _residuals(self, S: np.ndarray) -> np.ndarray:
        """Return ‖A v − λ v‖ of approximate eigenvectors with coordinates S along the basis.

        S has a column for each. The part of A v that is outside the basis comes from the last block
        only.
        """
        last = slice(self.size - self.b, self.size)
        block_below = self._T[self.size : self.size + self.b, last]
        return np.linalg.norm(block_below @ S[last], axis=0)

    def converged_eigenpairs(self, rounding: float) -> EigenPairs:
        """Return the converged approximate eigenpairs of A with eigenvalues above rounding errors.

        A is the symmetric matrix (n, n) whose products with vectors span the basis. Eigenpairs are
        computed from the matrix that represents A in the basis. An eigenpair (λ, v) counts
        as converged if ‖A v − λ v‖ is at most RESIDUAL_TOLERANCE times λ. Eigenvalues must exceed
        the bound `rounding` of errors due to rounded entries of A, and n EPS times the largest
        eigenvalue, a bound of the rounding errors of the iteration.
        """
        # The columns of S are the coordinates of approximate eigenvectors along the basis.
        values, S = np.linalg.eigh(self.matrix())
        residuals = self._residuals(S)
        threshold = max(self.n * EPS * values[-1], rounding)
        is_converged = (residuals <= RESIDUAL_TOLERANCE * values) & (values > threshold)
        basis = self.basis[: self.size]
        coordinates = asarray_like(S[:, is_converged], basis)
        return EigenPairs(values[is_converged], basis.T @ coordinates)


class EigenPairs(NamedTuple):
    """k eigenvalues of an n × n matrix, shape (k,), and their eigenvectors as columns (n, k)."""

    values: np.ndarray
    vectors: Array

    def build_complement_basis(
        self,
        multiply: Callable[[Array], Array],
        Z: Array,
        max_steps: int,
    ) -> KrylovBasis:
        """Build a KrylovBasis of the orthogonal complement of these eigenvectors.

        The product with the matrix (`multiply`) and the starting vectors `Z` (n, b) are projected
        onto the complement. `max_steps` is the maximum number of steps of the block Lanczos
        iteration.
        """
        rows = self.vectors.T  # the eigenvectors, as `project_out` expects them

        def multiply_outside(V: Array) -> Array:
            return project_out(rows, multiply(V))

        return KrylovBasis(multiply_outside, project_out(rows, Z), max_steps)


def project_out(basis: Array, V: Array) -> Array:
    """Project the columns of V onto the orthogonal complement of the rows of `basis`.

    The rows are orthonormal.
    """
    coordinates = basis @ V
    return V - basis.T @ coordinates


def orthonormalize(V: Array) -> tuple[Array, Array]:
    """Return an orthonormal basis Q (n, b) of the columns of V, and R (b, b), with V = Q R."""
    if is_numpy(V) and V.shape[1] == 1:
        length = np.linalg.norm(V)
        if length > 0:  # faster than a decomposition
            return V / length, np.full((1, 1), length)
    Q, R = namespace(V).linalg.qr(V)
    return Q, R


class GaussQuadrature:
    """Gauss quadrature of zᵀ f(A) z for each of the b starting vectors z of a KrylovBasis.

    A is the symmetric matrix of the KrylovBasis `krylov`, and f any function. If the vectors z
    consist of random signs, the mean of zᵀ f(A) z is the trace of f(A). Nodes are the m eigenvalues
    of the m × m matrix that represents A in the basis.

    Attributes
    ----------
    nodes : ndarray (m,)
        The nodes; those up to `rounding`, which may be rounding errors, are set to 0.
    weights : ndarray (m, b)
        Weights of the nodes for each starting vector: zᵀ f(A) z ≈ Σ weight · f(node).
    min_eigenvalue : float
        The smallest node before rounding errors are set to 0.
    """

    def __init__(self, krylov: KrylovBasis, rounding: float = 0.0) -> None:
        # Nodes up to `rounding` may be rounding errors of 0. The weight of a node, for a starting
        # vector, is the squared component of this vector along the eigenvector of the node. The
        # columns of S are the eigenvectors.
        values, S = np.linalg.eigh(krylov.matrix())
        self.min_eigenvalue: float = float(values[0])
        self.nodes: np.ndarray = np.where(values > rounding, values, 0.0)
        coordinates = S[: krylov.b].T @ krylov.start  # of starting vectors along eigenvectors
        self.weights: np.ndarray = coordinates**2

    def estimate_trace(self, values: np.ndarray, moments: np.ndarray) -> tuple[float, float]:
        """Estimate tr f(A) and its standard error, from the `values` (m,) of f at the nodes.

        A is the symmetric matrix of the quadrature, and f a function of its eigenvalues. `moments`
        are the exact traces of A⁰, A¹ and A². With them, the trace of a quadratic
        polynomial of A is computed exactly. The polynomial is fitted to f, so only the trace of the
        difference between f and the polynomial is estimated, by the mean over the random starting
        vectors.
        """
        b = self.weights.shape[1]
        powers = self.nodes[:, None] ** np.arange(3)
        root_weights = np.sqrt(self.weights.mean(axis=1))
        # Coefficients of the polynomial, by least squares with the mean weights of the nodes.
        polynomial = np.linalg.lstsq(
            powers * root_weights[:, None], values * root_weights, rcond=None
        )[0]
        differences = values - powers @ polynomial
        trace_differences = differences @ self.weights  # (b,), one estimate per random vector
        mean = trace_differences.mean()
        value = float(polynomial @ moments + mean)
        error = float(np.linalg.norm(trace_differences - mean))
        # b − 1 degrees of freedom, minus 3 for the polynomial, and minus 2 more to allow for
        # Student's t, so an interval of two standard errors covers 95 %.
        divisor = b * max(1, b - 6)
        return value, error / math.sqrt(divisor)
