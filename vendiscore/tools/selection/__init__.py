"""Choice of the samples to keep: those that differ most, or those that stand for all others."""

from .choice import select
from .selection import Selection

__all__ = ["Selection", "select"]
