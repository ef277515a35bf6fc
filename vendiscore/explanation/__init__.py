"""Which samples make a set as diverse as it is, and which repeat others."""

from .analysis import Analysis, analyse
from .duplicates import Duplicates
from .modes import Mode
from .neighbours import Neighbours
from .redundancy import Pair, redundant_pairs
from .seriation import clustered_order
from .table import Explanation, explain

__all__ = [
    "Analysis",
    "Duplicates",
    "Explanation",
    "Mode",
    "Neighbours",
    "Pair",
    "analyse",
    "clustered_order",
    "explain",
    "redundant_pairs",
]
