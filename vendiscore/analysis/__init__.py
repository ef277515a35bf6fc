"""Which samples make a set as diverse as it is, and which repeat others."""

from .duplicates import Duplicates
from .layout import clustered_order, layout
from .redundancy import Neighbours, Pair, redundant_pairs
from .sample_table import Explanation, explain
from .spectral_modes import Mode
from .thinning import Thinning, thinning

__all__ = [
    "Duplicates",
    "Explanation",
    "Mode",
    "Neighbours",
    "Pair",
    "Thinning",
    "clustered_order",
    "explain",
    "layout",
    "redundant_pairs",
    "thinning",
]
