"""The documented import path of names of `vendiscore.tools.analysis.sample_table`."""

from ..tools.analysis.sample_table import Explanation

__all__ = ["Explanation"]
