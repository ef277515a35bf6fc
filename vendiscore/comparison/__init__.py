"""Comparisons of sets: differences with intervals and p-values, and growth of scores."""

from .compare_sets import compare
from .comparison import LESS, MORE, SAME, Comparison, PairRow, SetRow
from .growth import Growth, growth

__all__ = [
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
