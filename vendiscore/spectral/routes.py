"""Which way to a score is the cheapest: a norm, one eigenvalue, a covariance, or all eigenvalues.

What is looked for before a fast eigensolver is worth more than one: orders 2 and ∞ need a norm and
one eigenvalue, and features with fewer columns than samples their covariance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from ..arrays.namespace import is_numpy
from ..similarity.base import Similarity

PSD = Literal["check", "clip"]
# From this size on, λ_max alone is sought by Lanczos; below, all eigenvalues take milliseconds.
LANCZOS_SIZE = 500


@dataclass(frozen=True)
class Plan:
    """Which algorithm, and why.

    Attributes
    ----------
    method : str
        "covariance", "eigenvalues", "norm" (q = 2) or "lanczos" (q = ∞).
    why : str
        The reason, in words.
    size : int
        Order of the dense matrix that is formed, 0 for none.
    """

    method: Literal["covariance", "eigenvalues", "norm", "lanczos"]
    why: str
    size: int = 0


def choose(similarity: Similarity, q: float, psd: PSD = "check") -> Plan:
    """The algorithm that `vendi` uses for one order of one similarity.

    Clipping needs all eigenvalues, unless none can be negative.

    >>> import numpy as np
    >>> from vendiscore import FeatureSimilarity
    >>> choose(FeatureSimilarity(np.ones((100, 3))), q=1).method
    'covariance'
    """
    n, dim = similarity.n, similarity.dim
    small = dim is not None and dim < n
    size = dim if dim is not None and dim < n else n
    closed = psd == "check" or similarity.psd
    if q == 2 and closed:
        return Plan("norm", "order 2 is 1/‖K‖²_F, no eigenvalues needed", size if small else 0)
    if math.isinf(q) and closed and size >= LANCZOS_SIZE and is_numpy(similarity.diagonal()):
        return Plan("lanczos", "order ∞ is 1/λ_max, one eigenvalue by Lanczos iteration")
    if small:
        return Plan("covariance", f"{dim} features are fewer than {n} samples", size)
    return Plan("eigenvalues", f"all eigenvalues of the {n} × {n} similarity matrix", size)
