"""Which samples make a set as diverse as it is, and which repeat others."""

from .duplicates import Duplicates
from .layout import layout
from .modes import Mode
from .neighbours import Neighbours
from .redundancy import Pair, redundant_pairs
from .seriation import clustered_order
from .table import Explanation, explain
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
