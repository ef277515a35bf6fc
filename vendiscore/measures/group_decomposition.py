"""Decomposition of diversity into components within and between groups.

Let K be the similarities of all samples, G the matrix of the same shape with 1 for two samples of
the same group and 0 otherwise, and ∘ the elementwise product. The weight w of a group is its
proportion of the samples, or the total weight of its samples. D_q(w) is the Hill number of order q
of the group weights, (Σ w^q)^{1/(1−q)}. The total diversity is γ = VS_q(K), the mean diversity
within groups α = VS_q(K ∘ G) / D_q(w), and the diversity between groups β = γ / α.

β ≤ D_q(w), because K ∘ G is a pinching of K: if samples are sorted by group, it keeps the diagonal
blocks of K and replaces other entries by 0. β ≥ 1 at order 1 (Holevo), and at any order if all
groups have the same weight.
"""

from functools import partial

import numpy as np

from ..core.hill import effective_number
from ..support.namespace import Array, namespace, to_float
from ..support.types import Number
from .measure import BETWEEN, register_measure
from .sample_set import SampleSet

_JOST = "Jost, Ecology 2007, applied to eigenvalues"
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
    """The mean Vendi Score within groups (α); the weighted geometric mean at order 1.

    α = VS_q(K ∘ G) / D_q(w), where K ∘ G are the similarities K of all samples with 0 for samples
    of different groups, and D_q(w) is the Hill number of the group weights w. Weights of groups are
    their proportions of the samples, or the total weights of their samples.
    """
    subsets = sample_set.parts
    p = sample_set.p
    if p is None:
        n = sample_set.similarity.n
        group_weights: Array = np.array([len(subset.rows) for subset in subsets]) / n
    else:
        group_weights = namespace(p).stack([p[subset.rows].sum() for subset in subsets])
    # α is the Vendi Score of the similarities K with those between groups set to 0, divided by the
    # effective number of groups. This matrix is block-diagonal, so its eigenvalues are those of the
    # groups, times the group weights. Groups of weight 0 contribute none, and their own weights
    # cannot be normalized.
    weighted_eigenvalues = [
        weight * subset.spectrum.values
        for weight, subset in zip(group_weights, subsets, strict=True)
        if to_float(weight) > 0
    ]
    xp = namespace(weighted_eigenvalues[0])
    eigenvalues = xp.concat(weighted_eigenvalues)
    eigenvalues = eigenvalues / xp.sum(eigenvalues)  # their sum is 1 up to rounding
    return [
        effective_number(eigenvalues, q) / effective_number(group_weights, q)
        for q in sample_set.orders
    ]


@_register(
    BETWEEN,
    range="(0, n]",
    source=f"{_JOST}; at order 1 exp of Holevo's quantity (1973)",
)
def between_vendi_score(sample_set: SampleSet) -> list[Number]:
    """The effective number of distinct groups (β = γ / α); at order 1 from 1 to exp H(w).

    γ is the Vendi Score of all groups as a single set (TotalVS), α the mean Vendi Score within
    groups (WithinVS), and H(w) the entropy of the group weights w, which are 1/g for g groups of
    equal size. β is biased upwards for small groups: even groups from the same distribution share
    few samples. For example, 20 groups of 4 samples from the same distribution have β = 2.9 if it
    contains 10 distinct items and β = 15.6 if it contains 200 (benchmarks/two_sets_null.py).
    BetweenVS_excess, the difference between β and its mean over permutations of the group labels,
    corrects for this, and is close to 0 for these groups.
    """
    total_scores = total_vendi_score(sample_set)
    within_scores = within_vendi_score(sample_set)
    return [total / within for total, within in zip(total_scores, within_scores, strict=True)]
