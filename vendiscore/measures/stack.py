"""The documented import path of the classes in `vendiscore.measures.stacked_groups`."""

from .stacked_groups import Stack, StackedGroups

__all__ = ["Stack", "StackedGroups"]
