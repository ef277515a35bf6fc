"""The documented import path of names of `vendiscore.tools.analysis.comparison`."""

from ..tools.analysis.comparison import Comparison, PairRow, QualityParts, SetRow

__all__ = ["Comparison", "PairRow", "QualityParts", "SetRow"]
