"""Decomposition of diversity into components within and between groups.

With K_T = 1 within groups and 0 otherwise: γ = VS_q(K), α = VS_q(K ∘ K_T) / D_q(w) and β = γ / α,
where D_q(w) is the Hill number of the group weights w. β ≤ D_q(w), because K ∘ K_T is a pinching of
K; β ≥ 1 at order 1 (Holevo), and at any order if all groups have the same weight.
"""

from functools import partial

import numpy as np

from ..core.hill import effective_number
from ..support.namespace import Array, namespace, to_float
from ..support.types import Number
from .measure import BETWEEN, register_measure
from .sample_set import SampleSet

_JOST = "Jost, Ecology 2007, of eigenvalues"
_register = partial(
    register_measure,
    needs="scores",
    weighted=True,
    ordered=True,
    groups=True,
)


@_register("TotalVS", range="[1, n]", source="Friedman & Dieng, arXiv 2210.02410")
def total_vendi_score(sample_set: SampleSet) -> list[Number]:
    """The Vendi Score of all groups as a single set (γ)."""
    return sample_set.spectral.values


@_register("WithinVS", range="[1, n]", source=_JOST, needs="similarity")
def within_vendi_score(sample_set: SampleSet) -> list[Number]:
    """The mean Vendi Score within groups (α); the weighted geometric mean at order 1."""
    parts = sample_set.parts
    p = sample_set.p
    if p is None:
        weights: Array = np.array([len(part.rows) for part in parts]) / sample_set.similarity.n
    else:
        weights = namespace(p).stack([p[part.rows].sum() for part in parts])
    pairs = zip(weights, parts, strict=True)
    every = [weight * part.spectrum.values for weight, part in pairs if to_float(weight) > 0]
    xp = namespace(every[0])
    shares = xp.concat(every)
    shares = shares / xp.sum(shares)
    return [effective_number(shares, q) / effective_number(weights, q) for q in sample_set.orders]


@_register(
    BETWEEN,
    range="(0, n]",
    source=f"{_JOST}; at order 1 exp of Holevo's quantity (1973)",
)
def between_vendi_score(sample_set: SampleSet) -> list[Number]:
    """The effective number of distinct groups (β = γ / α); from 1 to exp H(w) at order 1.

    β is biased upwards for small groups, whose samples have little in common with other groups just
    by chance. For example, 20 groups of 4 samples from the same distribution have β = 2.9 with 10
    distinct items and β = 15.6 with 200 (benchmarks/two_sets_null.py). BetweenVS_excess, which
    corrects for this, is close to 0 there.
    """
    return [
        a / b
        for a, b in zip(total_vendi_score(sample_set), within_vendi_score(sample_set), strict=True)
    ]
