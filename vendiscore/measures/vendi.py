"""The Vendi Score as a measure."""

from __future__ import annotations

from typing import Any

from .registry import register_measure
from .subject import Subject


@register_measure(
    "VS",
    needs="similarity",
    range="[1, n]",
    direction="higher",
    source="Friedman & Dieng, arXiv 2210.02410",
    weighted=True,
    ordered=True,
)
def vendi_score(subject: Subject) -> list[Any]:
    """The Vendi Score: the effective number of eigenvalues of the similarity matrix."""
    return subject.spectral.values
