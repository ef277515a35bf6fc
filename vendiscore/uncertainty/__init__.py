"""How sure a number is, and which differences chance does not explain."""

from .comparing import compare
from .comparison import LESS, MORE, SAME, Comparison, PairRow, SetRow
from .subsampling import subsample_error

__all__ = [
    "LESS",
    "MORE",
    "SAME",
    "Comparison",
    "PairRow",
    "SetRow",
    "compare",
    "subsample_error",
]
