"""An upper bound on the score of any selection of a size: how close to the best is this one?

With B = Σ_S x xᵀ/k, φ(x) = (x^q − x)/(1 − q), S_q(B) = tr φ(B), any positive A with k largest
eigenvalues λ, and g_x = xᵀ φ'(A) x, von Neumann's trace inequality gives

    S_q(B) ≤ Σ_{x∈S} g_x/k + Σ_{i≤k} λ_i^q, so that the selection of largest g bounds all.

A has weights p ≤ 1/k and eigenvalues raised to the mean of those left of k (Nikolov, arXiv
1412.0036); p moves to the selection of largest g (Frank & Wolfe, 1956). Without features, x has
coordinates z in the span of some landmarks, and a rest ρ = 1 − ‖z‖².
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..core.errors import NotPSDError
from ..core.namespace import gram
from ..core.shares import NEGATIVE_MASS
from ..progress import track
from ..similarity import memory
from ..similarity.threads import at_most, each, in_order
from ..spectral.clusters import positive_shares
from ..spectral.quadrature import log_of_entropy, surprisal
from .candidates import Candidates
from .constraints import Constraints

# Steps of the search, which ends where the bound is this close to a fractional selection in log VS:
# more steps could lower it by no more than that.
STEPS, ENOUGH = 20, 5e-3
# Up to so many samples without features are all landmarks; of more, the selection and this many,
# or fewer where their coordinates would be more numbers. Measured on 2,000 digits, 60 chosen: 256
# landmarks bound VS by 26.21, 512 by 26.153, 1,024 by 26.153.
LANDMARKS, NUMBERS = 512, 1 << 25
# Numbers of features, of more of which all steps but the last are in single precision.
SINGLE = 1 << 22
# The least that eigenvalues are raised to, which keeps their powers finite; the bound counts it.
FLOOR = 1e-12


def bound(candidates: Candidates, places: np.ndarray, constraints: Constraints, q: float) -> float:
    """Bound VS_q of every selection that meets the constraints; a step takes O(N d² + d³)."""
    k, n = constraints.size, candidates.n
    space = _Space(candidates, places)
    dims = k if space.rest.any() else min(k, space.dim)
    p = constraints.even() / 2
    p[places] += 0.5 / k
    least, lowest = math.log(dims), p
    with at_most(1):
        for step in track(range(STEPS), STEPS, "bounding"):
            power, g = space.tangent(p, dims, q, space.single)
            best = constraints.best(g)
            found = _log_effective(power + float(g[best].mean()), q)
            if found <= least:
                least, lowest = found, p
            if least - _log_effective(power + float(g @ p), q) < ENOUGH:
                break
            target = np.zeros(n)
            target[best] = 1 / k
            p = p + (target - p) / (step + 4)
    if space.single:  # whose rounding would have no bound
        power, g = space.tangent(lowest, dims, q, False)
        found = _log_effective(power + float(g[constraints.best(g)].mean()), q)
        least = min(math.log(dims), found)
    return math.exp(least)


def _log_effective(S: float, q: float) -> float:
    """Return log VS_q of a matrix of trace 1 with that S_q, infinite where there is none."""
    return float(log_of_entropy(S, q)) if (1 - q) * S > -1 else math.inf


class _Space:
    """Coordinates of samples, and tangents of S_q there."""

    def __init__(self, candidates: Candidates, places: np.ndarray) -> None:
        n, dim = candidates.n, candidates.dim
        self.candidates = candidates
        self._Z: np.ndarray | None = None
        self.rest = np.zeros(n)
        self.single = dim is not None and dim <= n and n * dim > SINGLE
        if dim is not None and dim <= n:
            self.dim = dim
            return
        landmarks = np.arange(n)
        if n > LANDMARKS:
            others = np.setdiff1d(landmarks, places)
            count = min(LANDMARKS, max(1, NUMBERS // n), len(others))
            even = others[np.linspace(0, len(others) - 1, count).astype(int)]
            landmarks = np.union1d(places, even)
        memory.require(
            16 * n * len(landmarks),
            f"bounding a choice of {len(places)} of {n} samples",
            "pass fewer",
        )
        C = candidates.rows(landmarks)
        values, U = np.linalg.eigh(C[:, landmarks])
        negative = -float(values[values < 0].sum()) / len(values)
        if negative > NEGATIVE_MASS:
            raise NotPSDError(float(values[0]) / len(values), negative)
        kept = positive_shares(values) > 0
        self._Z = (C.T @ U[:, kept]) / np.sqrt(values[kept])
        self.dim = self._Z.shape[1]
        if n > LANDMARKS:
            self.rest = np.maximum(1 - np.einsum("ij,ij->i", self._Z, self._Z), 0.0)

    def blocks(self) -> Iterator[slice]:
        if self._Z is None:
            yield from self.candidates.blocks()
        else:
            yield slice(0, self.candidates.n)

    def rows(self, block: slice, single: bool) -> np.ndarray:
        """Return coordinates of a block of samples."""
        if self._Z is not None:
            return self._Z[block]
        Z = self.candidates.features(block)
        return Z.astype(np.float32) if single else Z

    def tangent(
        self, p: np.ndarray, dims: int, q: float, single: bool = False
    ) -> tuple[float, np.ndarray]:
        """Return Σ λ^q over the `dims` largest eigenvalues, and g (n,), at the A of weights p."""

        def part(block: slice) -> np.ndarray:
            Z = self.rows(block, single)
            Z = Z * np.sqrt(p[block])[:, None].astype(Z.dtype)
            return gram(Z.T)

        A = np.zeros((self.dim, self.dim))
        for some in in_order(part, self.blocks()):
            A += some
        ascending, V = np.linalg.eigh(A)
        values, V = np.maximum(ascending[::-1], FLOOR), V[:, ::-1]
        # The largest stay, the others become their mean over the dimensions left; terms are added
        # up from the least, so that a sum is never less than one of its terms.
        most = min(dims - 1, len(values))
        left = float(p @ self.rest) + np.append(np.cumsum(values[::-1])[::-1], 0.0)[: most + 1]
        levels = left / (dims - np.arange(most + 1))
        kept = int(np.argmax(levels >= np.append(values, 0.0)[: most + 1]))
        level = max(float(levels[kept]), FLOOR)
        values[kept:] = level
        slopes = _slope(values, q)
        g = self.rest * float(_slope(np.array(level), q))

        def look(block: slice) -> None:
            Z = self.rows(block, single)
            g[block] += (Z @ V.astype(Z.dtype)) ** 2 @ slopes.astype(Z.dtype)

        each(look, self.blocks())
        return float(np.sum(values[:kept] ** q)) + (dims - kept) * level**q, g


def _slope(values: np.ndarray, q: float) -> np.ndarray:
    """Return the derivative of (x^q − x)/(1 − q)."""
    return q * surprisal(np.log(values), q) - 1
