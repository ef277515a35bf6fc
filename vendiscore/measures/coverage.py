"""How much of their source samples cover."""

from __future__ import annotations

from typing import Any

from ..registry.measure import register_measure
from ..spectral.rank_one import coverage, novelty
from .subject import Subject


@register_measure(
    "SampleCoverage",
    needs="similarity",
    range="[0, 1]",
    direction="lower",
    source="Good, Biometrika 1953, for similarities: 1 − the mean of 1/(K⁻¹)_ii",
    weighted=True,
    vectors=True,
)
def sample_coverage(subject: Subject) -> Any:
    """The part of a sample that others explain, on average: on labels Good–Turing coverage."""
    return coverage(novelty(subject.eigen), subject.p)
