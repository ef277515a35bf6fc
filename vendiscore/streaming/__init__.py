"""Scores of samples that nobody holds all at once, from sums of batches, files or machines.

The covariance Σ w x xᵀ of samples of unit length has the spectrum of their similarities.
"""

from .state import State

__all__ = ["State"]
