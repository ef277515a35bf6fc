"""Similarity given the prompt: dot products of what the prompt of a sample leaves of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import sparse as sp
from ..arrays.identical import joint_groups
from ..arrays.namespace import Array, is_numpy, is_torch, namespace, to_host
from ..errors import SampleError, warn
from .base import Index, Similarity, scale_rows
from .features import FeatureSimilarity

# The direction of what is left of a sample is off by 6e-8 / √left in single precision: by 6e-5
# here, where the cosine of sample and prompt is 1 − 5e-7. Equal samples are nearer than that.
LEAST_LEFT = 1e-6


class ExplainedError(SampleError):
    """Samples that their prompts explain wholly, by their places."""


def given(
    both: Similarity, n: int, prompt: np.ndarray, *, skip: bool = False, remedy: str = ""
) -> Similarity:
    """Return the cosines of φ(x_i) − c_i φ(u_i), c_i = k(x_i, u_i) / k(u_i, u_i), of n samples.

    `both` has the n samples that came in, less those dropped, and after them all prompts, of which
    `prompt` (n,) has the place of each sample's own. K' = T K Tᵀ for T = [I, −diag(c) P] is, for
    one prompt, the Schur complement K − k_u k_uᵀ / k_uu. Samples of which nothing is left are
    dropped where `skip` says so.
    """
    kept = np.setdiff1d(np.arange(n), list(both.dropped))
    at, of = np.arange(len(kept)), len(kept) + prompt[kept]
    rows: Any = None
    if both.dim is not None:
        F = both.features()
        one = not sp.issparse(F) and (of == of[0]).all()
        X, U = F[: len(kept)], F[of[:1] if one else of]
        own, cross, prompts = _dots(X, X), _dots(X, U), _dots(U, U)
        share = cross / prompts
        rows = X - scale_rows(U, share)
        left = _dots(rows, rows)
    else:
        own, cross, prompts = _pairs(both, of)
        share = cross / prompts
        left = own - share * cross
    rest = to_host(left) / to_host(own)
    least = max(LEAST_LEFT, both.roundoff**2)
    if not (rest >= -least).all():  # nor where it is NaN
        i = int(np.argmin(rest >= -least))
        raise ValueError(
            f"what a prompt explains is not defined: the similarity of sample {kept[i]} with its "
            f"prompt, {float(cross[i]):.6g}, must be at most √(k(x, x) k(u, u)) = "
            f"{float((own * prompts)[i]) ** 0.5:.6g}; pass a positive semidefinite kernel"
        )
    why = f"is explained wholly by its prompt, so that nothing is left to compare; {remedy}"
    empty = {int(kept[i]): why for i in np.flatnonzero(rest <= least)}
    if empty and not skip:
        raise ExplainedError(*next(iter(empty.items())), empty)
    some: Similarity
    if rows is None:
        some = _Residual(both, at, of, share, left)
    else:
        error = getattr(getattr(both, "distinct", both), "approximate", 0.0)
        some = FeatureSimilarity(rows, approximate=error)
    if empty:
        if len(empty) == len(kept):
            raise ValueError(f"no sample is left: sample {min(empty)} {why}")
        warn(f"left out {len(empty)} of {n} samples, as asked: sample {min(empty)} {why}")
        some = some.take(np.flatnonzero(rest > least))
    return some.normalized().noted(
        settings={**both.settings, "prompts": "given"},
        fitted=both.fitted,
        notes=both.notes,
        roundoff=both.roundoff,
        dropped=dict(sorted({**both.dropped, **empty}.items())),
    )


def _dots(A: Any, B: Any) -> Array:
    """Return the dot product of each row of A with the same row of B."""
    if sp.issparse(A):
        return np.asarray(A.multiply(B).sum(axis=1)).ravel()
    return namespace(A).linalg.vecdot(A, B)


def _pairs(both: Similarity, of: np.ndarray) -> tuple[Array, Array, Array]:
    """Return k(x, x), k(x, u) and k(u, u) of samples and their prompts, at the places `of`."""
    order = np.argsort(of, kind="stable")
    found = []
    groups = np.split(order, np.flatnonzero(np.diff(of[order])) + 1)
    for places in groups:
        places = np.append(places, of[places[0]])
        part = both if len(groups) == 1 else both.part(places)
        own = places if len(groups) == 1 else np.arange(len(places))
        diagonal, row = part.diagonal()[own], part.rows(own[-1:])[0][own]
        xp = namespace(diagonal)
        ones = xp.ones_like(diagonal[:-1])
        row = xp.astype(row[:-1], xp.float64)
        found.append(xp.stack([diagonal[:-1], row, diagonal[-1] * ones]))
    xp = namespace(found[0])
    every = xp.concat(found, axis=1)[:, np.argsort(order)]
    return every[0], every[1], every[2]


class _Residual(Similarity):
    """T K Tᵀ of a Similarity without features: of samples `at` less `share` of prompts `of`."""

    def __init__(
        self, both: Similarity, at: np.ndarray, of: np.ndarray, share: Array, left: Array
    ) -> None:
        self.n, self.psd = len(at), both.psd
        self.both, self.at, self.of, self.share, self.left = both, at, of, share, left

    def _diagonal(self) -> Array:
        return self.left

    def _rows(self, index: Index) -> Array:
        prompts, place = np.unique(self.of[index], return_inverse=True)
        K = self.both.rows(self.at[index])
        K = K - self.both.rows(prompts)[place] * self.share[index][:, None]
        return K[:, self.at] - K[:, self.of] * self.share

    def _take(self, index: np.ndarray) -> Similarity:
        own = self.at[index], self.of[index], self.share[index], self.left[index]
        return _Residual(self.both, *own)

    def _part(self, index: np.ndarray) -> Similarity:
        at, of = self.at[index], self.of[index]
        places, new = np.unique(np.concatenate([at, of]), return_inverse=True)
        at, of = new[: len(index)], new[len(index) :]
        return _Residual(self.both.part(places), at, of, self.share[index], self.left[index])

    def _stack(self, places: np.ndarray) -> Array:
        at, of, c = self.at[places], self.of[places], self.share[places]
        if (of == of[:, :1]).all():
            of = of[:, :1]
        K, m = self.both.stack(np.concatenate([at, of], axis=1)), at.shape[1]
        K = K[:, :m] - K[:, m:] * c[:, :, None]
        return K[:, :, :m] - K[:, :, m:] * c[:, None, :]

    def _matmul(self, V: Array, single: bool = False) -> Array:
        if not is_numpy(V) or is_torch(self.share):
            return super()._matmul(V, single)
        ones, i = np.ones(self.n), np.arange(self.n)
        places = np.tile(i, 2), np.append(self.at, self.of)
        T = sp.csr_array((np.append(ones, -self.share), places), (self.n, self.both.n))
        return T @ self.both.matmul(T.T @ V, single)

    def _groups(self) -> np.ndarray | None:
        same = self.both.groups()
        return None if same is None else joint_groups([same[self.at], same[self.of]])
