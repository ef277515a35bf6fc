"""An upper bound on the score of all selections of a given size.

Let S be a selection of k samples x (unit-norm feature vectors), B = Σ_{x∈S} x xᵀ/k,
φ(λ) = (λ^q − λ)/(1 − q) and S_q(B) = tr φ(B). Let A be any positive matrix with k largest
eigenvalues λ, and g_x = xᵀ φ'(A) x. Von Neumann's trace inequality gives

    S_q(B) ≤ Σ_{x∈S} g_x/k + Σ_{i≤k} λ_i^q,

so the selection with the largest sum of g bounds all selections.

A has weights p ≤ 1/k, and its eigenvalues beyond the largest ones are replaced by their mean over
the remaining of k dimensions (Nikolov, arXiv 1412.0036). The weights p move towards the selection
with the largest g (Frank & Wolfe, 1956). Without features, a sample x is represented by coordinates
z in the span of some landmark samples, with the residual 1 − ‖z‖².
"""

import math

import numpy as np

from ...core.eigenvalues import NEGATIVE_MASS, clip_eigenvalues
from ...spectral.quadrature import compute_surprisal, log_score_from_entropy
from ...support import memory
from ...support.errors import NotPSDError
from ...support.namespace import gram
from ...support.parallel import limit_blas_threads, map_ordered, run_parallel
from ...support.progress import track
from .candidates import Candidates
from .constraints import Constraints

# The iteration ends when the bound exceeds log VS of a fractional selection by less than
# GAP_TOLERANCE, because further steps could not lower the bound by more.
MAX_STEPS = 20
GAP_TOLERANCE = 5e-3
# Without features, up to this number of samples, all samples are landmarks. In larger sets, the
# landmarks are the selection and this many other samples, or fewer if the coordinates had more than
# MAX_COORDINATES entries. For 60 of 2,000 digits, the bounds on VS are 26.21 with 256 landmarks,
# 26.153 with 512, and 26.153 with 1,024.
MAX_LANDMARKS = 512
MAX_COORDINATES = 1 << 25
# Smaller eigenvalues are raised to this value to keep their powers finite. The bound stays valid.
MIN_EIGENVALUE = 1e-12


def compute_upper_bound(
    candidates: Candidates,
    selected: np.ndarray,
    constraints: Constraints,
    q: float,
) -> float:
    """Compute an upper bound on VS_q of all selections that meet the constraints.

    `selected` holds the indices of one selection, near which the iteration starts. For N samples
    with d features, each step takes O(N d² + d³).
    """
    k = constraints.size
    coordinates = _CandidateCoordinates(candidates, selected)
    dims = k if coordinates.residuals.any() else min(k, coordinates.dim)
    p = constraints.uniform_weights() / 2
    p[selected] += 0.5 / k
    log_bound = math.log(dims)
    with limit_blas_threads(1):
        for step in track(range(MAX_STEPS), MAX_STEPS, "bounding"):
            power_sum, g = coordinates.compute_tangent(p, dims, q)
            best = constraints.best_selection(g)
            step_bound = log_score_or_infinity(power_sum + float(g[best].mean()), q)
            fractional_score = log_score_or_infinity(power_sum + float(g @ p), q)
            log_bound = min(log_bound, step_bound)
            if log_bound - fractional_score < GAP_TOLERANCE:
                break
            target = np.zeros(candidates.n)
            target[best] = 1 / k
            p = p + (target - p) / (step + 4)
    return math.exp(log_bound)


def log_score_or_infinity(S: float, q: float) -> float:
    """Compute log VS_q of a matrix with trace 1 and entropy S_q = S; infinity if none exists."""
    if (1 - q) * S <= -1:
        return math.inf
    return float(log_score_from_entropy(S, q))


class _CandidateCoordinates:
    """Features of the candidates, or their coordinates in the span of landmark samples.

    `residuals` are the squared lengths of the n candidates outside this span, shape (n,).
    """

    def __init__(self, candidates: Candidates, selected: np.ndarray) -> None:
        """Use the features of the candidates, or compute coordinates from landmark samples.

        Landmarks are used if there are no dense features, or more features than candidates. They
        are the selected samples and evenly spaced other samples, or all samples if there are few.
        If similarities of landmarks are U diag(λ) Uᵀ, and Cᵀ those of all samples to landmarks, the
        coordinates are Cᵀ U diag(λ)^(−1/2).
        """
        n = candidates.n
        dim = candidates.dim
        self.residuals = np.zeros(n)
        if dim is not None and dim <= n:
            self.dim = dim
            self.blocks = list(candidates.iter_blocks())
            self.rows = candidates.features
            return
        landmarks = np.arange(n)
        if n > MAX_LANDMARKS:
            remaining = np.setdiff1d(landmarks, selected)
            max_count = max(1, MAX_COORDINATES // n)
            count = min(MAX_LANDMARKS, max_count, len(remaining))
            evenly_spaced = np.linspace(0, len(remaining) - 1, count, dtype=int)
            landmarks = np.union1d(selected, remaining[evenly_spaced])
        memory.require(
            16 * n * len(landmarks),
            f"the upper bound for {len(selected)} of {n} samples",
            "pass fewer samples",
        )
        C = candidates.rows(landmarks)
        landmark_similarities = C[:, landmarks]
        values, U = np.linalg.eigh(landmark_similarities)
        normalized = values / len(values)
        negative_mass = -float(normalized[normalized < 0].sum())
        if negative_mass > NEGATIVE_MASS:
            raise NotPSDError(float(normalized[0]), negative_mass)
        is_positive = clip_eigenvalues(values) > 0
        Z = C.T @ U[:, is_positive]
        Z /= np.sqrt(values[is_positive])
        self.dim = Z.shape[1]
        self.blocks = [slice(0, n)]
        self.rows = Z.__getitem__
        if n > MAX_LANDMARKS:
            self.residuals = np.maximum(1 - np.vecdot(Z, Z), 0.0)

    def compute_tangent(
        self,
        p: np.ndarray,
        dims: int,
        q: float,
    ) -> tuple[float, np.ndarray]:
        """Compute Σ λ^q over the `dims` largest eigenvalues λ of A, and g of all n samples.

        A is the second moment of the samples with weights p, and g_x = xᵀ φ'(A) x; see the module
        docstring.
        """

        def compute_second_moment(block: slice) -> np.ndarray:
            roots = np.sqrt(p[block])
            Z = self.rows(block) * roots[:, None]
            return gram(Z.T)

        A = np.zeros((self.dim, self.dim))
        for block_moment in map_ordered(compute_second_moment, self.blocks):
            A += block_moment
        power_sum, V, slopes = compute_tangent(A, dims, q, float(p @ self.residuals))
        g = self.residuals * slopes[-1]

        def add_block_slopes(block: slice) -> None:
            Z = self.rows(block) @ V
            g[block] += Z**2 @ slopes[:-1]

        run_parallel(add_block_slopes, self.blocks)
        return power_sum, g


def compute_tangent(
    A: np.ndarray, dims: int, q: float, residual_trace: float = 0.0
) -> tuple[float, np.ndarray, np.ndarray]:
    """Compute Σ λ^q of the `dims` largest eigenvalues λ of A, its eigenvectors V, and slopes.

    A, shape (d, d), is the weighted sum of x xᵀ over samples x with d coordinates. The d + 1 slopes
    are values of φ', from which g_x of the module docstring is computed: g_x is
    (x V)² @ slopes[:-1] for the coordinates x of a sample. The part of a sample outside the space
    of coordinates, where the trace is `residual_trace`, adds slopes[-1] times its squared length.
    """
    ascending, V = np.linalg.eigh(A)
    V = V[:, ::-1]
    values = np.maximum(ascending[::-1], MIN_EIGENVALUE)
    # The largest eigenvalues stay, all others become their mean over the remaining dimensions.
    # Terms are added from the smallest, so a sum is never less than one of its terms.
    count = min(dims, len(values) + 1)
    next_value = np.append(values, 0.0)
    sums_from_smallest = np.cumsum(next_value[::-1])
    remaining_trace = residual_trace + sums_from_smallest[::-1]
    levels = remaining_trace[:count] / (dims - np.arange(count))
    n_unchanged = int(np.argmax(levels >= next_value[:count]))
    level = max(float(levels[n_unchanged]), MIN_EIGENVALUE)
    values[n_unchanged:] = level
    # The derivatives of (x^q − x)/(1 − q) at the eigenvalues, and at the level.
    logs = np.log(np.append(values, level))
    power_sum = float(np.sum(values[:n_unchanged] ** q))
    slopes = q * compute_surprisal(logs, q) - 1
    return power_sum + (dims - n_unchanged) * level**q, V, slopes
