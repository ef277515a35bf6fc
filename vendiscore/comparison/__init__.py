"""Comparisons of sets: differences with intervals and p-values, and growth of scores."""

from .compare_sets import compare
from .comparison import FEW, LESS, MORE, SAME, Comparison, PairRow, SetRow
from .growth import Growth, growth

__all__ = [
    "FEW",
    "LESS",
    "MORE",
    "SAME",
    "Comparison",
    "Growth",
    "PairRow",
    "SetRow",
    "compare",
    "growth",
]
