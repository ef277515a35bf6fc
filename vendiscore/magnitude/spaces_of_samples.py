"""The documented import path of `vendiscore.magnitude.metric_space_builder`."""

from .metric_space_builder import as_space

__all__ = ["as_space"]
