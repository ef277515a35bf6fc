"""The documented import path of names of `vendiscore.tools.analysis.near_pairs`."""

from ..tools.analysis.near_pairs import Pair

__all__ = ["Pair"]
