"""What samples and references are in each other's neighbourhoods: balls that reach k neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays.distances import UNIT_ROUNDING, check_truths, unit_rows
from ..arrays.metrics import BOOLEAN, check_options
from ..arrays.namespace import row_blocks, to_host
from ..arrays.neighbours import (
    EPS,
    MetricPairs,
    Pairs,
    RowPairs,
    Squared,
    members,
    nearest,
)
from ..magnitude.distances import (
    KERNEL_ROUNDING,
    KERNEL_TOLERANCE,
    metric_of_rows,
    precision_of,
    stacked,
)
from ..resolve.how import How
from ..similarity.base import Similarity
from ..similarity.matrix import MatrixSimilarity

# Neighbours that are found at once: some more than are asked for cost nothing.
AT_ONCE = 10
SETS = ("samples", "references")


@dataclass(frozen=True, eq=False)
class Balls:
    """Who is in whose ball, of n samples and m references; a ball has its boundary.

    The ball of a point reaches to the k-th nearest other point of its own set. Clipped ones reach
    no further than the median ball of their set.

    Attributes
    ----------
    k : int
    around, around_clipped : int array (n,)
        In how many balls of references each sample is, and in how many clipped ones.
    met : int array (m,)
        How many samples are in the ball of each reference.
    recalled : int array (m,)
        In how many balls of samples each reference is; none where there are k samples or fewer.
    """

    k: int
    around: np.ndarray
    around_clipped: np.ndarray
    met: np.ndarray
    recalled: np.ndarray


class Neighbourhoods:
    """Nearest neighbours and balls of samples and references, each found once, when asked for.

    One pass over the distances within each set, for any k; one over those between the sets for each
    k, and one over those of references again for their clipped balls. Memory: some blocks of rows.

    Parameters
    ----------
    pairs : Pairs
        The distances of samples and, after them, references.
    sizes : tuple of two int
    whole : Neighbourhoods, optional
        Those of more samples beside the same references.
    """

    def __init__(
        self, pairs: Pairs, sizes: tuple[int, int], whole: Neighbourhoods | None = None
    ) -> None:
        self.pairs, self.sizes = pairs, sizes
        # Distances that are found in another way may be of another unit, or rounded otherwise.
        self._whole = whole if whole is not None and type(whole.pairs) is type(pairs) else None
        self._sides = slice(0, sizes[0]), slice(sizes[0], sum(sizes))
        self._nearest: list[np.ndarray | None] = [None, None]
        self._balls: dict[int, Balls] = {}
        self._own: dict[int, np.ndarray] = {}

    def radii(self, side: int, k: int) -> np.ndarray:
        """How far the k-th nearest other is from each sample (side 0) or reference (1)."""
        if side == 1 and self._whole is not None:
            return self._whole.radii(1, k)
        found = self._nearest[side]
        if found is None or found.shape[1] < k:
            most = min(max(k, AT_ONCE), self.sizes[side] - 1)
            what = f"nearest neighbours of {SETS[side]}"
            found = self._nearest[side] = nearest(self.pairs, self._sides[side], most, what)
        return found[:, k - 1]

    def clipped(self, k: int) -> np.ndarray:
        """The radii of references, of which none is above their median."""
        radii = self.radii(1, k)
        ordered = np.sort(radii)
        low, high = ordered[(len(radii) - 1) // 2], ordered[len(radii) // 2]
        return np.minimum(radii, self.pairs.middle(float(low), float(high)))

    def balls(self, k: int) -> Balls:
        """Who is in whose ball; there are more than k references."""
        if k not in self._balls:
            samples, references = self._sides
            radii = [self.radii(1, k)[None], self.clipped(k)[None]]
            if self.sizes[0] > k:
                radii.append(self.radii(0, k)[:, None])
            found = members(self.pairs, samples, references, radii, "samples beside references")
            (around, met), (around_clipped, _), *others = found
            recalled = others[0][1] if others else np.zeros_like(met)
            self._balls[k] = Balls(k, around, around_clipped, met, recalled)
        return self._balls[k]

    def own(self, k: int) -> np.ndarray:
        """In how many clipped balls of other references each reference (m,) is."""
        if self._whole is not None:
            return self._whole.own(k)
        if k not in self._own:
            references = self._sides[1]
            radii = [self.clipped(k)[None]]
            ((found, _),) = members(
                self.pairs, references, references, radii, "references beside others"
            )
            self._own[k] = found
        return self._own[k]


def pairs_of_rows(sets: Sequence[np.ndarray], how: How) -> Pairs:
    """The distances of rows of numbers of two sets, by a metric that SciPy has."""
    metric = str(metric_of_rows(how))
    options = check_options(metric, how.metric_options, sets[0].shape[1])
    if metric in BOOLEAN:
        for X, name in zip(sets, SETS, strict=True):
            check_truths(X, metric, name)
    if metric in ("cosine", "correlation") and not options:
        units = [unit_rows(X, metric, name) for X, name in zip(sets, SETS, strict=True)]
        return RowPairs(stacked(units, SETS), UNIT_ROUNDING, squared=True)
    X = stacked(sets, SETS)
    if metric == "seuclidean":
        return RowPairs(X / np.sqrt(options["V"]))
    if metric in ("euclidean", "sqeuclidean") and not options:
        return RowPairs(X, squared=metric == "sqeuclidean")
    return MetricPairs(X, metric, options, (0, len(sets[0])), SETS)


def pairs_of_kernel(similarity: Similarity, n: int, how: How) -> Pairs:
    """The distances of a kernel, of n samples and the references after them."""
    squared = how.metric == "1-k"
    if similarity.dim is None:
        return _KernelPairs(similarity, n, squared)
    F: Any = similarity.features()
    if sp.issparse(F):
        return _SparsePairs(similarity, n, squared, F.tocsr())
    return RowPairs(np.asarray(to_host(F), np.float64), UNIT_ROUNDING, squared=squared)


class _KernelPairs(Squared):
    """√(k(x, x) + k(y, y) − 2 k(x, y)) of what a kernel compares, computed when asked.

    Similarities are known to their rounding: squares that differ by less count as equal.
    """

    threaded = False  # whatever the kernel is

    def __init__(self, similarity: Similarity, n: int, squared: bool) -> None:
        self.n, self.squared = similarity.n, squared
        self.rounding = KERNEL_ROUNDING * precision_of(similarity)
        self.parts = [(slice(0, self.n), similarity)]
        if not isinstance(similarity, MatrixSimilarity):  # of one set half as many are computed
            sides = (slice(0, n), slice(n, self.n))
            own = [(side, similarity.take(np.arange(side.start, side.stop))) for side in sides]
            self.parts = [*own, *self.parts]
        self.diagonal = np.asarray(to_host(similarity.diagonal()), np.float64)
        groups = similarity.groups()
        repeated = groups is not None and len(np.unique(groups)) < self.n
        self.groups = np.asarray(groups) if repeated else None

    def block(self, rows: slice, columns: slice) -> np.ndarray:
        side, part = next(
            (side, part)
            for side, part in self.parts
            if all(side.start <= some.start and some.stop <= side.stop for some in (rows, columns))
        )
        K = to_host(part.rows(slice(rows.start - side.start, rows.stop - side.start)))
        K = K[:, columns.start - side.start : columns.stop - side.start]
        D = np.multiply(K, -2.0, dtype=np.float64)
        D += self.diagonal[rows, None]
        D += self.diagonal[columns]
        if not D.min() >= -2 * KERNEL_TOLERANCE:
            i, j = divmod(int(np.argmin(D)), D.shape[1])
            raise ValueError(
                f"distances need a similarity of at most 1, got {1 - D[i, j] / 2:.6g} for points "
                f"{rows.start + i} and {columns.start + j} of samples and references; pass "
                f"normalize=True or a positive semidefinite kernel with k(x, x) = 1"
            )
        D[self.rounding > D] = 0.0
        if self.groups is not None:
            D[self.groups[rows, None] == self.groups[columns]] = 0.0
        return np.asarray(D)

    def reach(self, r: np.ndarray) -> np.ndarray:
        return np.asarray(super().reach(r) + self.rounding)

    def lengths(self, i: np.ndarray, j: np.ndarray, found: np.ndarray) -> np.ndarray:
        return np.sqrt(found)

    def within(self, i: np.ndarray, j: np.ndarray, found: np.ndarray, r: np.ndarray) -> np.ndarray:
        return np.asarray(found <= self.reach(r))


class _SparsePairs(_KernelPairs):
    """The same of a kernel with sparse features F, by their differences where that is in doubt."""

    def __init__(self, similarity: Similarity, n: int, squared: bool, F: Any) -> None:
        super().__init__(similarity, n, squared)
        self.F = F
        # As many products in a sum as a row has numbers, of vectors of length 1.
        self.rounding = 4 * (int(np.diff(F.indptr).max(initial=0)) + 16) * EPS

    def lengths(self, i: np.ndarray, j: np.ndarray, found: np.ndarray) -> np.ndarray:
        squares = np.empty(len(i))
        for part in row_blocks(len(i), 1 << 10):
            gap = self.F[i[part]] - self.F[j[part]]
            squares[part] = np.asarray(gap.multiply(gap).sum(axis=1)).ravel()
        squares[squares < UNIT_ROUNDING] = 0.0
        return np.sqrt(squares)

    def within(self, i: np.ndarray, j: np.ndarray, found: np.ndarray, r: np.ndarray) -> np.ndarray:
        inside = found < r * r - 2 * self.rounding
        doubt = np.flatnonzero(~inside)
        inside[doubt] = self.lengths(i[doubt], j[doubt], found[doubt]) <= r[doubt]
        return np.asarray(inside)
