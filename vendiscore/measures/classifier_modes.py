"""The number of modes that a classifier finds in samples."""

from __future__ import annotations

import numpy as np

from ..arrays import sparse as sp
from ..arrays.inputs import choose
from ..arrays.weights import check_weights
from ..core.hill import effective_number
from ..core.namespace import namespace
from ..core.types import Number, Weights
from ..kernels.labels import check_probabilities
from ..magnitude.space import MetricSpace
from ..registry.measure import register_measure
from ..similarity.base import Similarity
from .subject import Subject, UnsuitedError


@register_measure(
    "ModeDiversity",
    needs="samples",
    range="[1, ∞)",
    direction="higher",
    source="Friedman & Dieng, arXiv 2210.02410, §4.3",
    weighted=True,
)
def modes(subject: Subject) -> Number:
    """exp H of the mean of the samples, rows of class probabilities: how many classes there are."""
    rows, how = subject.samples, subject.how
    first = rows[0] if isinstance(rows, list) else rows
    others = isinstance(first, (str, Similarity, MetricSpace))
    if others or isinstance(how.k, tuple) or how.given == "K":
        kind = "similarities" if how.given == "K" else type(first).__name__
        raise UnsuitedError(f"samples that are rows of class probabilities, got {kind}")
    kept = np.flatnonzero(subject.rows_of_passed >= 0)
    with subject.located():
        rows = choose(rows, kept) if len(kept) < subject.n_passed else rows
        return mode_diversity(rows, subject.p)


def mode_diversity(probabilities: object, p: Weights | None = None) -> Number:
    """Return exp H(Σ_i p_i p(y|x_i)): how many modes (classes) a classifier finds in the samples.

    It equals the Vendi Score of "labels" where every prediction is certain.

    Parameters
    ----------
    probabilities, p : array (n, classes), array (n,) or None
        Rows of at least 0 that sum to 1, dense (NumPy, torch) or sparse, not changed; and weights
        of the samples that sum to 1, uniform by default.

    Returns
    -------
    float between 1 and the number of classes (a 0-d tensor for torch input)

    Raises
    ------
    SampleError, ValueError
        If a row, or p, has a negative entry or does not sum to 1.

    References
    ----------
    Friedman & Dieng, TMLR 2023, arXiv 2210.02410, §4.3.

    Examples
    --------
    >>> mode_diversity([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    2.0
    """
    P = check_probabilities(probabilities)
    n = P.shape[0]
    weights = check_weights(np.full(n, 1 / n) if p is None else p, n, like=P)
    if not sp.issparse(P):
        xp = namespace(P)
        P, weights = xp.astype(P, xp.float64), xp.asarray(weights)
    mean = P.T @ weights
    return effective_number(mean / mean.sum(), 1.0)
