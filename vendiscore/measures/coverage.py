"""How much of their source samples cover."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.namespace import to_host
from ..spectral.rank_one import novelty
from .registry import register_measure
from .subject import Subject


@register_measure(
    "SampleCoverage",
    needs="similarity",
    range="[0, 1]",
    direction="lower",
    source="Good, Biometrika 1953, for similarities: 1 − the mean of 1/(K⁻¹)_ii",
    weighted=True,
)
def sample_coverage(subject: Subject) -> Any:
    """The part of a sample that others explain, on average: on labels Good–Turing coverage."""
    found = novelty(subject.eigen)
    n = len(found)
    p = np.full(n, 1 / n) if subject.p is None else to_host(subject.p)
    return 1 - float(p @ found)
