"""Scores of samples that nobody holds all at once, from sums of batches, files or machines."""

from .state import State

__all__ = ["State"]
