"""Finite metric spaces: distances between distinct points, with magnitude and weights."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..support.call_hints import AttributeHintMixin
from ..support.namespace import row_blocks
from ..support.summary import format_repr
from .magnitude_options import SolverName
from .solver import EPS, MAX_ERROR, Solution, Solver

# Maximum relative difference between the distances of two identical samples to a third sample.
ZERO_DISTANCE_TOLERANCE = 1e-6
# Maximum relative error bound of magnitudes of stacked spaces. Others are computed one by one.
STACKED_TOLERANCE = 1e-12


class MetricSpace(AttributeHintMixin):
    """The distinct points among samples, with their distances; create it with `as_space`.

    Magnitude weights that were computed for a scale are stored for later calls. A space is
    thread-safe: if several threads compute weights, they wait for each other.

    Attributes
    ----------
    n : int
        Number of samples.
    distinct : int
        Number of distinct points; samples at distance 0 are one point.
    D : array of shape (distinct, distinct)
        Distances between the distinct points, already validated.
    inverse : array of int of shape (n,)
        Row of D for each sample.
    settings : mapping
        How the distances were computed: `metric`, `kernel`, and the options of both.
    fitted : mapping
        Kernel options that were computed from the samples, such as a bandwidth.
    notes : tuple of str
        Notes of the kernel for users, about how similarities and distances were computed.
    unit : float or None
        Distance between two samples with similarity 0, for distances of a kernel; None for other
        metrics.

    See Also
    --------
    vendiscore.magnitude.metric_space_builder.as_space : Create a metric space from samples.

    Examples
    --------
    >>> space = MetricSpace(np.array([[0.0, 0.0, 2.0], [0.0, 0.0, 2.0], [2.0, 2.0, 0.0]]))
    >>> space.n, space.distinct
    (3, 2)
    >>> space.weights(1.0).round(3)
    array([0.44 , 0.44 , 0.881])
    """

    _has_method_hints = False

    def __init__(
        self,
        D: np.ndarray,
        inverse: np.ndarray | None = None,
        settings: Mapping[str, object] | None = None,
        solver: SolverName = "auto",
        *,
        negative_type: bool = False,
        hilbert: bool = False,
        fitted: Mapping[str, object] | None = None,
        notes: Sequence[str] = (),
        slack: float = 0.0,
        unit: float | None = None,
    ) -> None:
        # `inverse` contains the row of D of each sample; by default each sample has a row.
        # Distances up to `slack` may have been rounded to 0, so the distances of two samples at
        # distance 0 to a third sample may differ by `slack`. The solver uses two properties of the
        # distances: whether exp(−tD) is positive definite for all scales t > 0 (`negative_type`),
        # and whether they are distances between points of a Hilbert space (`hilbert`).
        if inverse is None:
            inverse = np.arange(len(D))
        # Merge rows of D at distance 0 into one point. `sample_indices` contains a sample for each
        # row, for messages.
        _, sample_indices = np.unique(inverse, return_index=True)
        first_rows, point_of_row = _merge_identical(D, slack, sample_indices)
        if len(first_rows) < len(D):
            D = D[np.ix_(first_rows, first_rows)]
        self.inverse: np.ndarray = point_of_row[inverse]
        self.D = D
        self.settings: dict[str, object] = dict(settings or {})
        self.fitted: dict[str, object] = dict(fitted or {})
        self.n: int = len(self.inverse)
        self.distinct: int = len(D)
        self.notes: tuple[str, ...] = tuple(notes)
        self.unit = unit
        self.convergence_scales: dict[float, float] = {}  # convergence scales by ε
        self.solver: Solver = Solver(D, solver, is_negative_type=negative_type, is_hilbert=hilbert)

    def __repr__(self) -> str:
        return format_repr("MetricSpace", {"n": self.n, "distinct": self.distinct, **self.settings})

    def __str__(self) -> str:
        return f"Distances between {self.n:,} samples, {self.distinct:,} of them distinct."

    def solve(self, t: float) -> Solution:
        """Solve for the weights of the distinct points at one scale; the result is stored.

        Parameters
        ----------
        t : float
            Scale in units of 1 / distance, above 0.

        Returns
        -------
        Solution
            The weights, their error bound and the magnitude.
        """
        return self.solver(t)

    def magnitude(self, t: float) -> float:
        """Compute the magnitude at one scale.

        Parameters
        ----------
        t : float
            Scale in units of 1 / distance, at least 0; the magnitude at 0 is 1.

        Returns
        -------
        float
            The magnitude.
        """
        if t == 0 or self.distinct == 1:
            return 1.0
        value = self.solver.magnitude(t)
        # An accepted solution is within the theoretical range up to MAX_ERROR.
        upper = self.distinct if self.solver.is_negative_type else np.inf
        if not 1 - MAX_ERROR <= value <= upper * (1 + MAX_ERROR):
            raise ArithmeticError(
                f"the magnitude at scale t={t:.6g} must be between 1 and {upper:g}, got {value!r} "
                f"because of rounding errors; use larger scales, or remove nearly identical samples"
            )
        return value

    def weights(self, t: float) -> np.ndarray:
        """Compute the magnitude weight of each sample at one scale.

        Parameters
        ----------
        t : float
            Scale in units of 1 / distance, above 0.

        Returns
        -------
        array of shape (n,)
            The weights. Identical samples share the weight of their point equally.
        """
        w = np.ones(1) if self.distinct == 1 else self.solve(t).weights
        return (w / np.bincount(self.inverse))[self.inverse]

    @np.errstate(under="ignore", over="ignore")
    def spread(self, t: float) -> float:
        """Compute Willerton's spread at one scale.

        Parameters
        ----------
        t : float
            Scale in units of 1 / distance, at least 0.

        Returns
        -------
        float
            The sum of 1 / sum_j exp(-t d_ij) over distinct points i, for distances d_ij.
        """
        total = 0.0
        for block in row_blocks(self.distinct, 16 * self.distinct):
            total_similarities = np.exp(self.D[block] * np.float64(-t)).sum(axis=1)
            total += float((1 / total_similarities).sum())
        return total


class StackedSpaces:
    """g metric spaces of n distinct points each, from distances D (g, n, n), which are overwritten.

    Distances must be of negative type, so that exp(−tD) is positive definite for all scales t > 0.
    `unit` is the distance between samples with similarity 0, for distances of a kernel. The result
    for a space is NaN if it must be computed by a MetricSpace, because a distance between two
    points is 0 or invalid, or because rounding errors are too large.
    """

    def __init__(self, D: np.ndarray, unit: float | None = None) -> None:
        # D has shape (g, n, n) and is modified: invalid matrices are replaced.
        self.n: int = D.shape[1]
        self.unit = unit
        equal_distances = 1 - np.eye(self.n)
        is_diagonal = equal_distances == 0
        is_valid_entry = np.isfinite(D) & (D > 0) | is_diagonal
        self.is_valid: np.ndarray = is_valid_entry.all(axis=(1, 2))
        D[~self.is_valid] = equal_distances  # any valid distances; their results become NaN
        self.D = D

    def compute_magnitudes(self, t: np.ndarray) -> np.ndarray:
        """Compute the magnitude of each of the g spaces at T scales, shape (g, T).

        Scales t have shape (T,), or (g, T) if they differ between spaces. For the distances D of a
        space, the weights w solve Z w = 1 with Z = exp(−tD). The magnitude is Σ w. It is computed
        as 1ᵀw + wᵀr with the residual r = 1 − Z w, which corrects errors of w.
        """
        scales = np.where(t > 0, t, 1.0)  # Z is singular at scale 0, where the magnitude is 1
        Z = np.exp(self.D[:, None] * -scales[..., None, None])  # (g, T, n, n); w is (g, T, n, 1)
        try:
            w = np.linalg.solve(Z, np.ones((self.n, 1)))
        except np.linalg.LinAlgError:  # a matrix of the stack is singular
            w = np.full((*Z.shape[:-1], 1), np.nan)
        r = 1 - Z @ w
        values = (w + w * r).sum((-1, -2))
        # Bound of the error rᵀ Z⁻¹ r if eigenvalues of Z are at least EPS, plus rounding errors.
        error = (r * r).sum((-1, -2)) / EPS + EPS * np.abs(w).sum((-1, -2)) ** 2
        is_accurate = (error <= STACKED_TOLERANCE * values) & self.is_valid[:, None]
        return np.where(t == 0, 1.0, np.where(is_accurate, values, np.nan))

    def spread(self, t: float) -> np.ndarray:
        """Compute the spread Σ_i 1 / Σ_j exp(−t d_ij) of each of the g spaces, shape (g,).

        d_ij are the distances of a space, and t is the scale.
        """
        total_similarities = np.exp(self.D * -t).sum(axis=2)
        return np.where(self.is_valid, (1 / total_similarities).sum(axis=1), np.nan)


def _merge_identical(
    D: np.ndarray, slack: float, sample_indices: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Group the rows of the distance matrix D (n, n) that are at distance 0 from each other.

    Returns the index of the first row of each group, and the code of the group of each row, shape
    (n,). If two rows at distance 0 have different distances to a third row, a ValueError is raised.
    Differences due to rounding errors, plus `slack`, are allowed. `sample_indices` (n,) contains,
    for each row, the index of its sample, for the message.
    """
    n = len(D)
    first = np.empty(n, dtype=int)  # the first row at distance 0 from each row
    for block in row_blocks(n, 2 * n):
        first[block] = np.argmax(D[block] == 0, axis=1)
    for i in np.flatnonzero(first < np.arange(n)):
        differences = np.abs(D[i] - D[first[i]])
        is_wrong = differences > ZERO_DISTANCE_TOLERANCE * np.maximum(D[i], D[first[i]]) + slack
        if is_wrong.any():
            j = int(np.argmax(is_wrong))
            raise ValueError(
                f"samples {sample_indices[first[i]]} and {sample_indices[i]} have distance 0, but "
                f"different distances {D[first[i], j]:.6g} and {D[i, j]:.6g} to sample "
                f"{sample_indices[j]}, which is impossible for a metric; check how the distances "
                f"were computed"
            )
        first[i] = first[first[i]]  # so that chains of rows at distance 0 form one group
    return np.unique(first, return_inverse=True)
