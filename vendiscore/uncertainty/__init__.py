"""How sure a number is, and which differences chance does not explain."""

from .comparing import compare
from .comparison import LESS, MORE, SAME, Comparison, PairRow, SetRow
from .growth import Growth, growth
from .subsampling import subsample_error

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
    "subsample_error",
]
