"""An upper bound on the score of any selection of a size: how close to the best is this one?

With B = Σ_S x xᵀ/k, φ(x) = (x^q − x)/(1 − q), S_q(B) = tr φ(B), any positive A with k largest
eigenvalues λ, and g_x = xᵀ φ'(A) x, von Neumann's trace inequality gives

    S_q(B) ≤ Σ_{x∈S} g_x/k + Σ_{i≤k} λ_i^q, so that the selection of largest g bounds all.

A has weights p ≤ 1/k and eigenvalues raised to the mean of those left of k (Nikolov, arXiv
1412.0036); p moves to the selection of largest g (Frank & Wolfe, 1956). Without features, x has
coordinates z in the span of some landmarks, and a rest ρ = 1 − ‖z‖².
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

# Steps of the search, which ends where the bound is this close to a fractional selection in log VS:
# more steps could lower it by no more than that.
STEPS = 20
ENOUGH = 5e-3
# Up to so many samples without features are all landmarks; of more, the selection and this many,
# or fewer where their coordinates would be more numbers. Measured on 2,000 digits, 60 chosen: 256
# landmarks bound VS by 26.21, 512 by 26.153, 1,024 by 26.153.
LANDMARKS = 512
NUMBERS = 1 << 25
# The least that eigenvalues are raised to, which keeps their powers finite; the bound counts it.
FLOOR = 1e-12


def bound(
    candidates: Candidates,
    places: np.ndarray,
    constraints: Constraints,
    q: float,
) -> float:
    """Bound VS_q of every selection that meets the constraints; a step takes O(N d² + d³)."""
    k = constraints.size
    space = _Space(candidates, places)
    dims = k if space.rest.any() else min(k, space.dim)
    p = constraints.even() / 2
    p[places] += 0.5 / k
    least = math.log(dims)
    with limit_blas_threads(1):
        for step in track(range(STEPS), STEPS, "bounding"):
            power, g = space.tangent(p, dims, q)
            best = constraints.best(g)
            of_best = _log_effective(power + float(g[best].mean()), q)
            of_fractional = _log_effective(power + float(g @ p), q)
            least = min(least, of_best)
            if least - of_fractional < ENOUGH:
                break
            target = np.zeros(candidates.n)
            target[best] = 1 / k
            p = p + (target - p) / (step + 4)
    return math.exp(least)


def _log_effective(S: float, q: float) -> float:
    """Return log VS_q of a matrix of trace 1 with that S_q, infinite where there is none."""
    if (1 - q) * S <= -1:
        return math.inf
    return float(log_score_from_entropy(S, q))


class _Space:
    """Coordinates of samples, and tangents of S_q there."""

    def __init__(self, candidates: Candidates, places: np.ndarray) -> None:
        n = candidates.n
        dim = candidates.dim
        self.rest = np.zeros(n)
        if dim is not None and dim <= n:
            self.dim = dim
            self.blocks = list(candidates.blocks())
            self.rows = candidates.features
            return
        landmarks = np.arange(n)
        if n > LANDMARKS:
            others = np.setdiff1d(landmarks, places)
            most = max(1, NUMBERS // n)
            count = min(LANDMARKS, most, len(others))
            even = np.linspace(0, len(others) - 1, count, dtype=int)
            landmarks = np.union1d(places, others[even])
        memory.require(
            16 * n * len(landmarks),
            f"bounding a choice of {len(places)} of {n} samples",
            "pass fewer",
        )
        C = candidates.rows(landmarks)
        among = C[:, landmarks]
        values, U = np.linalg.eigh(among)
        shares = values / len(values)
        negative = -float(shares[shares < 0].sum())
        if negative > NEGATIVE_MASS:
            raise NotPSDError(float(shares[0]), negative)
        kept = clip_eigenvalues(values) > 0
        Z = C.T @ U[:, kept]
        Z /= np.sqrt(values[kept])
        self.dim = Z.shape[1]
        self.blocks = [slice(0, n)]
        self.rows = Z.__getitem__
        if n > LANDMARKS:
            self.rest = np.maximum(1 - np.vecdot(Z, Z), 0.0)

    def tangent(
        self,
        p: np.ndarray,
        dims: int,
        q: float,
    ) -> tuple[float, np.ndarray]:
        """Return Σ λ^q over the `dims` largest eigenvalues, and g (n,), at the A of weights p."""

        def part(block: slice) -> np.ndarray:
            roots = np.sqrt(p[block])
            Z = self.rows(block) * roots[:, None]
            return gram(Z.T)

        A = np.zeros((self.dim, self.dim))
        for some in map_ordered(part, self.blocks):
            A += some
        power, V, slopes = tangent(A, dims, q, float(p @ self.rest))
        g = self.rest * slopes[-1]

        def look(block: slice) -> None:
            Z = self.rows(block) @ V
            g[block] += Z**2 @ slopes[:-1]

        run_parallel(look, self.blocks)
        return power, g


def tangent(
    A: np.ndarray, dims: int, q: float, rest: float = 0.0
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return Σ λ^q of the `dims` largest eigenvalues of A (d, d), its eigenvectors V, and slopes.

    Rows x in its space have g = (x V)² @ slopes[:-1]. Outside of it, where A has the trace `rest`,
    the last slope multiplies ‖x‖².
    """
    ascending, V = np.linalg.eigh(A)
    V = V[:, ::-1]
    values = np.maximum(ascending[::-1], FLOOR)
    # The largest stay, the others become their mean over the dimensions left; terms are added
    # up from the least, so that a sum is never less than one of its terms.
    count = min(dims, len(values) + 1)
    next_value = np.append(values, 0.0)
    from_least = np.cumsum(next_value[::-1])
    left = rest + from_least[::-1]
    levels = left[:count] / (dims - np.arange(count))
    kept = int(np.argmax(levels >= next_value[:count]))
    level = max(float(levels[kept]), FLOOR)
    values[kept:] = level
    # The derivatives of (x^q − x)/(1 − q), of the level last.
    logs = np.log(np.append(values, level))
    largest = float(np.sum(values[:kept] ** q))
    return largest + (dims - kept) * level**q, V, q * compute_surprisal(logs, q) - 1
