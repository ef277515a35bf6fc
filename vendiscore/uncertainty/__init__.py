"""How sure a number is, and which differences chance does not explain."""

from .comparison import FEW, LESS, MORE, SAME, Comparison, compare

__all__ = ["FEW", "LESS", "MORE", "SAME", "Comparison", "compare"]
