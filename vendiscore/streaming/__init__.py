"""Scores of samples that nobody holds all at once: added up batch by batch, merged, sent on.

The covariance Σ w x xᵀ of samples of unit length has the spectrum of their similarities, and is a
sum: of batches, of files, of machines. `State` is that sum with what it is a sum of.
"""

from .state import State

__all__ = ["State"]
