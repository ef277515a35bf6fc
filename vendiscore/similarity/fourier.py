"""Random Fourier features: rows of length 1 whose dot products are similarities on average."""

from __future__ import annotations

import math
import sys
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import memory
from ..arrays.namespace import is_torch, row_blocks, to_host
from ..arrays.threads import each
from ..arrays.types import Rows
from ..distances.medians import draw_pairs
from ..distances.pairs import Law

# Up to this many columns, points that fill the cube evenly have a smaller error than orthogonal
# frequencies: of log VS two to ten times at 2 columns, as much at 16.
EVEN_COLUMNS = 8
# Pairs of samples that the error is measured on.
PAIRS = 1000
# Turns of a frequency beyond which a phase has fewer than 20 bits after the point.
MOST_TURNS = 2.0**32


def fourier_features(X: Rows, sigma: Any, n_features: int, law: Law, seed: int) -> Rows:
    """Return (cos ω·x, sin ω·x)/√m for m = `n_features` frequencies ω: float32 (n, 2m), or tensors.

    Rahimi & Recht, NIPS 2007; Sutherland & Schneider, UAI 2015 (the pairs of cosines and sines);
    Yu et al., NIPS 2016 (orthogonal); Avron et al., JMLR 2016 (evenly spread).
    """
    n, d = X.shape
    what = f"{n_features} random Fourier features of {n} samples"
    memory.require_large(8 * (3 * d + n) * n_features, what, "pass a smaller `n_features`")
    W = frequencies(law, d, n_features, seed) / (2 * math.pi)
    root = 1 / math.sqrt(n_features)
    if is_torch(X):
        torch = sys.modules["torch"]
        turns = X.double() @ torch.as_tensor(W, device=X.device) / sigma
        _check_turns(float(turns.detach().abs().max()))
        phases = 2 * math.pi * (turns - turns.detach().round())
        return torch.cat([phases.cos(), phases.sin()], dim=1) * root
    largest = max(float(X.max()), -float(X.min()))
    with np.errstate(all="ignore"):
        _check_turns(largest / sigma * math.sqrt(d * float(np.vecdot(W.T, W.T).max())))
        W = W / sigma
    F = np.empty((n, 2 * n_features), np.float32)

    def fill(rows: slice) -> None:
        with np.errstate(all="ignore"):
            P = X[rows].astype(np.float64) @ W
        P -= np.rint(P)
        narrow = (P * (2 * math.pi)).astype(np.float32)  # multiplied before it is rounded
        np.cos(narrow, out=F[rows, :n_features])
        np.sin(narrow, out=F[rows, n_features:])
        F[rows] *= np.float32(root)

    each(fill, row_blocks(n, 8 * n_features))
    return F


def _check_turns(largest: float) -> None:
    if not largest < MOST_TURNS:
        raise ValueError(
            "`n_features` needs samples that are not very far from 0 compared with `sigma`, got "
            f"phases of {largest:.3g} turns, which have no digits left; subtract the mean of all "
            "samples, or leave `n_features` out"
        )


@lru_cache(maxsize=4)
def frequencies(law: Law, d: int, m: int, seed: int) -> np.ndarray:
    """Return frequencies (d, m) of exp(−‖x‖²/2) ("gaussian") or exp(−Σ|x_j|) ("laplace")."""
    rng = np.random.default_rng(seed)
    if law == "laplace":
        W = rng.standard_cauchy((d, m))
    elif d <= EVEN_COLUMNS:
        W = _even_normal(d, m, rng)
    else:
        W = _orthogonal_normal(d, m, rng)
    W.flags.writeable = False
    return W


def _even_normal(d: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """Return normal columns from m points of Sobol's sequence, shifted at random."""
    from scipy.special import ndtri
    from scipy.stats.qmc import Sobol

    points = Sobol(d, scramble=False).random_base2(math.ceil(math.log2(m)))[:m]
    points = (points + rng.random(d)) % 1
    tiny = 2.0**-40
    return np.asarray(ndtri(points.clip(tiny, 1 - tiny)).T)


def _orthogonal_normal(d: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """Return normal columns, orthogonal to each other in blocks of d."""
    W = np.empty((d, m))
    for start in range(0, m, d):
        G = rng.standard_normal((d, min(d, m - start)))
        Q, R = np.linalg.qr(G)
        # With these signs all rotations are equally likely (Mezzadri, Notices AMS 2007).
        W[:, start : start + d] = Q * np.sign(np.diagonal(R))
    W *= np.sqrt(rng.chisquare(d, m))
    return W


def measured_error(X: Rows, F: Rows, sigma: float, law: Law) -> tuple[float, int]:
    """Return the root mean square error of F Fᵀ for some pairs of rows, and how many."""
    pairs = draw_pairs(X.shape[0], PAIRS)
    size, total = len(pairs[0]), 0.0
    for part in row_blocks(size, 8 * (2 * X.shape[1] + F.shape[1])):
        x, y = (to_host(X[at[part]]).astype(np.float64) for at in pairs)
        f, g = (to_host(F[at[part]]).astype(np.float64) for at in pairs)
        with np.errstate(all="ignore"):
            gap = (x - y) / sigma
            distance = np.vecdot(gap, gap) / 2 if law == "gaussian" else np.abs(gap).sum(axis=1)
            total += float(np.sum((np.vecdot(f, g) - np.exp(-distance)) ** 2))
    return math.sqrt(total / max(1, size)), size
