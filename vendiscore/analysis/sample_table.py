"""The documented import path of names of `vendiscore.tools.analysis.explanation`."""

from ..tools.analysis.explanation import Explanation

__all__ = ["Explanation"]
