"""Which samples to keep: those that differ most, or those that stand for all others.

"vendi", "q2", "logdet" and "maxmin" spread over the edges of a set; "represent" covers its dense
regions. Whichever it was, a selection has its Vendi Score, and a bound on that of any other.
"""

from .choice import select
from .selection import Selection

__all__ = ["Selection", "select"]
