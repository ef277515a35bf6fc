"""The documented import path of `vendiscore.measures.stacked_groups`."""

from .stacked_groups import StackedGroups

__all__ = ["StackedGroups"]
