"""Which samples to keep: subsets that are as diverse as can be, or that stand for the others."""

from .choice import select
from .selection import Selection

__all__ = ["Selection", "select"]
