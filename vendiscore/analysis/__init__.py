"""Which samples make a set as diverse as it is, and which repeat others."""

from .duplicates import Duplicates
from .layout import layout
from .nearest_samples import Neighbours
from .redundancy import Pair, redundant_pairs
from .sample_table import Explanation, explain
from .seriation import clustered_order
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
