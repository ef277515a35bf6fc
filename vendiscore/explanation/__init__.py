"""Which samples make a set as diverse as it is."""

from .analysis import Analysis, analyse
from .neighbours import Neighbours
from .redundancy import Pair, redundant_pairs
from .seriation import clustered_order

__all__ = ["Analysis", "Neighbours", "Pair", "analyse", "clustered_order", "redundant_pairs"]
