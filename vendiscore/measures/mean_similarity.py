"""Measures of how similar samples are to each other, on average."""

import math
from functools import partial

import numpy as np

from ..core.errors import SampleError
from ..core.hill import log_power_mean
from ..core.namespace import namespace, scalar, to_host
from ..core.types import Number
from .measure import register_measure
from .stack import Stack
from .subject import Subject

_register = partial(register_measure, needs="similarity", stacks=True)


@_register(
    "LC",
    range="[1, n]",
    source="Leinster & Cobbold, Ecology 2012",
    weighted=True,
    ordered=True,
)
def leinster_cobbold(subject: Subject | Stack) -> list[Number]:
    """The Leinster–Cobbold diversity (Σ p_i (Kp)_i^{q−1})^{1/(1−q)}, at most the Vendi Score."""
    p, ordinary = subject.ordinariness
    xp = namespace(ordinary)
    refused = (p > 0) & ~(ordinary > 0)
    if isinstance(subject, Stack):
        subject.unusual |= to_host(refused).any(axis=-1)
    else:
        places = subject.places_kept
        SampleError.check(
            {
                int(places[i]): f"must have similarities above 0 on average for LC, got "
                f"{scalar(ordinary[i]):.3g}; use a kernel without negative values"
                for i in np.flatnonzero(refused.tolist())
            }
        )
    # Samples without weight have no part in it, nor in the largest.
    largest = xp.max(xp.where(p > 0, ordinary, 0.0), axis=-1, keepdims=True)
    logs = xp.log(xp.where(p > 0, ordinary, largest))
    return [
        1 / largest[..., 0] if math.isinf(q) else xp.exp(log_power_mean(p, logs, q))
        for q in subject.orders
    ]


@_register(
    "IntDiv",
    range="[0, 1]",
    source="Polykovskiy et al., MOSES, Frontiers in Pharmacology 2020; arXiv 2210.02410, §4",
    weighted=True,
)
def internal_diversity(subject: Subject | Stack) -> Number:
    """Internal diversity 1 − pᵀKp: the mean dissimilarity of two draws, self-pairs included."""
    p, ordinary = subject.ordinariness
    return 1 - (p * ordinary).sum(-1)


@_register(
    "AvgSim",
    range="[−1, 1]",
    direction="lower",
    source="Limbeck et al., arXiv 2311.16054, C.1",
)
def average_similarity(subject: Subject | Stack) -> Number:
    """The mean similarity of two different samples; 1 for a single one."""
    n = subject.n
    p, ordinary = subject.ordinariness
    mean = (p * ordinary).sum(-1)
    if n == 1:
        return mean
    return (n * mean - 1) / (n - 1)
