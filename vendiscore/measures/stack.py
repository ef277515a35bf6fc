"""The documented import path of `vendiscore.measures.stacked_groups`."""

from .stacked_groups import Stack, StackedGroups

__all__ = ["Stack", "StackedGroups"]
