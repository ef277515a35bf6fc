"""The documented import path of names of `vendiscore.tools.analysis.comparison`."""

from ..tools.analysis.comparison import Comparison, PairRow, SetRow

__all__ = ["Comparison", "PairRow", "SetRow"]
