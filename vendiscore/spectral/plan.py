"""Which routes to a score are the cheapest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..similarity.base import Similarity
from .routes import (
    NORM,
    Covariance,
    Eigenvalues,
    LargestEigenvalue,
    MomentRoute,
    Route,
    SpectrumRoute,
)
from .spectrum import PSD

MOMENTS: tuple[MomentRoute, ...] = (NORM, LargestEigenvalue())
SPECTRA: tuple[SpectrumRoute, ...] = (Covariance(), Eigenvalues())


@dataclass(frozen=True)
class Plan:
    """Which routes to try.

    Attributes
    ----------
    alone : list of list of MomentRoute
        For each order those that find it by itself, in the order to try them; none where the
        spectrum gives it.
    whole : SpectrumRoute
        What finds the spectrum, for the other orders and where all of those stalled.
    """

    alone: list[list[MomentRoute]]
    whole: SpectrumRoute

    @property
    def first(self) -> list[Route]:
        """The route that is tried first, for each order."""
        return [routes[0] if routes else self.whole for routes in self.alone]


def plan(
    similarity: Similarity,
    orders: Sequence[float],
    psd: PSD = "check",
    *,
    vectors: bool = False,
    each: bool = False,
) -> Plan:
    """The cheapest exact routes to some orders of one similarity.

    Orders that need no decomposition are had without; but if one of them needs the spectrum, that
    serves all, unless `each` is to be had by itself. By flops alone, order ∞ of n > d²/50 samples
    of d features would go through the covariance; that takes a sixth less time there (20,000 × 600,
    50,000 × 512), and the iteration half elsewhere (3,000 × 1,500): one rule for all is kept.

    >>> import numpy as np
    >>> from vendiscore import FeatureSimilarity
    >>> [route.name for route in plan(FeatureSimilarity(np.ones((100, 3))), orders=[1]).first]
    ['covariance']
    """
    whole = min(
        (route for route in SPECTRA if route.applies(similarity, 1.0, psd)),
        key=lambda route: route.cost(similarity, vectors).flops,
    )
    alone = [
        sorted(
            (route for route in MOMENTS if route.applies(similarity, q, psd)),
            key=lambda route: route.cost(similarity).flops,
        )
        for q in orders
    ]
    return Plan(alone if each or all(alone) else [[] for _ in orders], whole)
