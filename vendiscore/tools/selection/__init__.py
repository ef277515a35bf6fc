"""Selection of a diverse or representative subset of samples."""

from .partitioned_selection import BatchSelection, select_batches
from .select_samples import select
from .selection import Selection

__all__ = ["BatchSelection", "Selection", "select", "select_batches"]
