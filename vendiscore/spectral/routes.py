"""The ways to a score: a norm, one eigenvalue, a covariance, or all eigenvalues.

What is looked for before a fast eigensolver is worth more than one: orders 2 and ∞ need a norm and
one eigenvalue, and features with fewer columns than samples their covariance.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ..arrays import memory
from ..arrays.namespace import Array, is_numpy, is_torch, row_blocks, scalar
from ..similarity.base import Similarity
from ..similarity.features import FeatureSimilarity
from .covariance_float32 import SINGLE_TOLERANCE, covariance_single
from .eigen import decompose
from .estimate import Estimate
from .hill import RANGE_TOLERANCE
from .lanczos import largest_eigenvalue, most_steps
from .spectrum import PSD, Source, Spectrum, cleaned, decomposed
from .weighted_similarity import fault_of, merge_identical, weighted_by

# From this size on, λ_max alone is sought by Lanczos; below, all eigenvalues take milliseconds.
LANCZOS_SIZE = 500
# Below so many multiplications, double precision takes a hundredth of a second.
SINGLE_SIZE = 10**9
# Steps that an iteration for λ_max usually takes.
USUAL_STEPS = 20


@dataclass(frozen=True)
class Cost:
    """Multiplications and additions, and bytes that are allocated."""

    flops: float
    bytes: int


class StalledError(RuntimeError):
    """A route that did not arrive; the message says why, and another is taken."""


class Route(ABC):
    """A way to effective numbers of a similarity, exact up to rounding.

    Attributes
    ----------
    name : str
        As it is reported.
    """

    name: ClassVar[str]

    @abstractmethod
    def applies(self, similarity: Similarity, q: float, psd: PSD) -> bool:
        """Whether this leads to order q of this similarity."""

    @abstractmethod
    def cost(self, similarity: Similarity) -> Cost:
        """What it takes, the entries of K included where they are not given."""

    @abstractmethod
    def why(self, similarity: Similarity) -> str:
        """The reason to take it, in words."""


class MomentRoute(Route):
    """A way to one order, without a spectrum."""

    @abstractmethod
    def run(self, weighted: Similarity, q: float, psd: PSD) -> Estimate:
        """The effective number of order q."""


class SpectrumRoute(Route):
    """A way to all eigenvalues, and so to all orders."""

    @abstractmethod
    def cost(self, similarity: Similarity, vectors: bool = False) -> Cost: ...

    @abstractmethod
    def run(
        self,
        similarity: Similarity,
        p: Array | None,
        psd: PSD,
        *,
        orders: Sequence[float] | None = None,
        vectors: bool = False,
    ) -> Spectrum:
        """The spectrum, exact; or good enough for these orders, if any are given."""

    def _require(self, similarity: Similarity, size: int, vectors: bool, more: int = 0) -> None:
        memory.require_large(
            self.cost(similarity, vectors).bytes + more,
            f"{'finding ' * vectors}the {'eigenvectors' if vectors else 'exact spectrum'} of a "
            f"{size} × {size} matrix",
            "score fewer samples"
            + ("" if vectors else ", or use q=2 or q=float('inf'), which need no spectrum"),
        )


def _is_small(similarity: Similarity) -> bool:
    """Whether the covariance is smaller than K."""
    return similarity.dim is not None and similarity.dim < similarity.n


def entries_of(similarity: Similarity) -> float:
    """Operations that find all of K, where it is made of features."""
    return 0.0 if similarity.dim is None else float(similarity.n) ** 2 * similarity.dim


def _widened(similarity: Similarity) -> int:
    """Columns of features that are copied, in double precision and scaled."""
    sparse = sp.issparse(getattr(similarity, "X", None))
    return 0 if similarity.dim is None or sparse else similarity.dim


def _covariance_bytes(similarity: Similarity) -> int:
    """What a covariance takes: itself, and from dense rows a block of them and its product."""
    d = similarity.dim or 0
    if not isinstance(similarity, FeatureSimilarity) or sp.issparse(similarity.X):
        return 8 * d**2
    rows: int = next(iter(row_blocks(similarity.n, 8 * d, least=4 * d))).stop
    return 8 * (2 * d**2 + rows * d)


class Norm(MomentRoute):
    """1/‖K_p‖²_F, which is order 2."""

    name = "norm"

    def applies(self, similarity: Similarity, q: float, psd: PSD) -> bool:
        """At order 2; clipping needs all eigenvalues, unless none can be negative."""
        return q == 2 and (psd == "check" or similarity.psd)

    def cost(self, similarity: Similarity) -> Cost:
        similarity = getattr(similarity, "distinct", similarity)  # repeats are merged
        n, dim = similarity.n, similarity.dim
        if dim is not None and dim < n:
            return Cost(n * dim**2 + 2 * dim**2, _covariance_bytes(similarity))
        if not is_numpy(similarity.diagonal()):
            return Cost(entries_of(similarity) + 2 * n**2, 16 * n**2)
        block = next(iter(row_blocks(n, 8 * n)))
        return Cost(entries_of(similarity) + 2 * n**2, 16 * n * block.stop)

    def why(self, similarity: Similarity) -> str:
        return "order 2 is 1/‖K‖²_F, no eigenvalues needed"

    def run(self, weighted: Similarity, q: float, psd: PSD) -> Estimate:
        memory.require_large(
            self.cost(weighted).bytes,
            f"the norm of the similarity matrix of {weighted.n} samples",
            "score fewer samples",
        )
        with np.errstate(all="ignore"):
            value = 1 / weighted.squared_norm()
        return _checked(value, q, weighted, self)


NORM = Norm()


class LargestEigenvalue(MomentRoute):
    """1/λ_max, which is order ∞, by Lanczos iteration."""

    name = "lanczos"

    def applies(self, similarity: Similarity, q: float, psd: PSD) -> bool:
        """At order ∞ of a large NumPy similarity; for clipping see `Norm`."""
        n, dim = similarity.n, similarity.dim
        return (
            math.isinf(q)
            and (psd == "check" or similarity.psd)
            and min(n, n if dim is None else dim) >= LANCZOS_SIZE
            and is_numpy(similarity.diagonal())
        )

    def cost(self, similarity: Similarity) -> Cost:
        n, dim = similarity.n, similarity.dim
        norm = NORM.cost(similarity)
        product = 2 * n * (n if dim is None else min(n, 2 * dim))
        steps = USUAL_STEPS
        return Cost(
            norm.flops + steps * (product + 4 * n * steps), norm.bytes + 8 * n * most_steps(n)
        )

    def why(self, similarity: Similarity) -> str:
        return "order ∞ is 1/λ_max, one eigenvalue by Lanczos iteration"

    def run(self, weighted: Similarity, q: float, psd: PSD) -> Estimate:
        memory.require_large(
            self.cost(weighted).bytes,
            f"the largest eigenvalue of the similarity matrix of {weighted.n} samples",
            "score fewer samples",
        )
        floor = -Source.of(weighted).negative_mass if psd == "check" else -math.inf
        largest = largest_eigenvalue(weighted, floor)
        if largest is None:
            raise StalledError("Lanczos iteration was too slow")
        return _checked(1 / largest, q, weighted, self)


class Covariance(SpectrumRoute):
    """The eigenvalues of Fᵀ F, which are those of F Fᵀ but for zeros."""

    name = "covariance"

    def applies(self, similarity: Similarity, q: float, psd: PSD) -> bool:
        """Where there are fewer features than samples."""
        return _is_small(similarity)

    def cost(self, similarity: Similarity, vectors: bool = False) -> Cost:
        n, d = similarity.n, similarity.dim or 0
        if not vectors:
            return Cost(n * d**2 + 4 / 3 * d**3, _covariance_bytes(similarity))
        blocks = isinstance(similarity, FeatureSimilarity)  # no copy of the features
        kept = 8 * (3 * d**2 + n * (d + (0 if blocks else _widened(similarity))))
        return Cost(3 * n * d**2 + 9 * d**3, max(_covariance_bytes(similarity), kept))

    def why(self, similarity: Similarity) -> str:
        return f"{similarity.dim} features are fewer than {similarity.n} samples"

    def run(
        self,
        similarity: Similarity,
        p: Array | None,
        psd: PSD,
        *,
        orders: Sequence[float] | None = None,
        vectors: bool = False,
    ) -> Spectrum:
        weighted = weighted_by(similarity, p)
        n, d, why = weighted.n, weighted.dim or 0, self.why(similarity)
        self._require(weighted, d, vectors)
        source = Source.of(weighted)
        features = weighted if isinstance(weighted, FeatureSimilarity) else None
        single = features is not None and features.is_single and n * d**2 >= SINGLE_SIZE
        if orders and not vectors and features and single:
            scale = None if weighted.scale is None else np.asarray(weighted.scale)
            coarse, error = covariance_single(np.asarray(features.X), scale)
            values = decompose(coarse, source.fault).values
            # What features leave open is not worth twice the time, if it is a hundred times more.
            tolerance = max(SINGLE_TOLERANCE, features.approximate / 100)
            if tolerance > SINGLE_TOLERANCE and -error <= values[0] < 0:
                kept = np.maximum(values, 0.0)
                values = kept * (values.sum() / kept.sum())
            # To first order, which holds as long as the error is small against every share.
            if 100 * error < values[0] or (tolerance > SINGLE_TOLERANCE and values[0] >= 0):
                found = cleaned(values, source, psd, self.name, why)
                found = replace(found, error=error, tolerance=tolerance)
                if all(found.serves(q) for q in orders):
                    return found
        C = weighted.covariance()
        project = partial(weighted.projected, single=single)
        return decomposed(C, source, psd, self.name, why, vectors, project if vectors else None)


class Eigenvalues(SpectrumRoute):
    """All eigenvalues of K_p, of which identical samples are one."""

    name = "eigenvalues"

    def applies(self, similarity: Similarity, q: float, psd: PSD) -> bool:
        """Always."""
        return True

    def cost(self, similarity: Similarity, vectors: bool = False) -> Cost:
        n, entries = similarity.n, entries_of(similarity)
        # Dense features are widened and scaled, a copy of them, before they are multiplied.
        copied = n * _widened(similarity)
        if not vectors:
            return Cost(entries + 4 / 3 * n**3, 8 * (n**2 + copied))
        return Cost(entries + 9 * n**3, 8 * (3 * n**2 + copied))

    def why(self, similarity: Similarity) -> str:
        n = similarity.n
        return f"all eigenvalues of the {n} × {n} similarity matrix"

    def run(
        self,
        similarity: Similarity,
        p: Array | None,
        psd: PSD,
        *,
        orders: Sequence[float] | None = None,
        vectors: bool = False,
    ) -> Spectrum:
        distinct = merge_identical(similarity, p)
        weighted = weighted_by(distinct.similarity, distinct.p)
        n, m, why = similarity.n, weighted.n, self.why(similarity)
        if m < n:
            why = f"{why}, {m} of them distinct"
        self._require(weighted, m, vectors, more=8 * n * m if vectors and m < n else 0)
        found = decomposed(weighted.dense(), Source.of(weighted), psd, self.name, why, vectors)
        U = None if found.vectors is None else distinct.repeated(found.vectors)
        return replace(found, n=n, vectors=U)


def _checked(value: Any, q: float, weighted: Similarity, route: Route) -> Estimate:
    """The effective number, if it can be one of n samples; rounding is taken off it."""
    n = weighted.n
    if not 1 - RANGE_TOLERANCE <= scalar(value) <= n * (1 + RANGE_TOLERANCE):
        raise ValueError(
            f"the Vendi Score of order {q:g} came out as {scalar(value):.6g}, which no {n} samples "
            f"have: {fault_of(weighted)}"
        )
    value = value if is_torch(value) else float(min(max(value, 1.0), n))
    return Estimate(value, route.name, route.why(weighted))
