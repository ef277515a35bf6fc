"""Which samples to keep: subsets that are as diverse as can be, or that stand for the others.

These are two wishes. Samples that *differ* come from the edges of a set, rare ones first: "vendi",
"q2", "logdet" and "maxmin" spread. Samples that *stand for all* come from where there are many:
"represent" covers. `select` chooses by one of them; whichever it was, the selection has its Vendi
Score and an upper bound on that of any other of its size.

The sum that "vendi" adds up, −tr A log A of A = Σ x xᵀ, is submodular: what a sample adds only
falls as others join. It is not monotone, since a copy lowers it, so that the guarantee of greedy
choice for monotone functions, 1 − 1/e, is not one for log VS. The bound (`certificate`) needs none.
"""

from .choice import select
from .selection import Selection

__all__ = ["Selection", "select"]
