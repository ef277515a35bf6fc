"""Selection of a diverse or representative subset of samples."""

from .select_samples import select
from .selection import Selection

__all__ = ["Selection", "select"]
