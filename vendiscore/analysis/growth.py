"""The documented import path of names of `vendiscore.tools.analysis.growth`."""

from ..tools.analysis.growth import Growth

__all__ = ["Growth"]
