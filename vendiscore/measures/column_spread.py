"""The spread of columns, as a measure."""

import numpy as np

from ..core.namespace import to_host
from ..similarity import sparse as sp
from .measure import register_measure
from .subject import Subject


@register_measure(
    "GMStds",
    needs="features",
    range="[0, ∞)",
    source="Lai et al., 2020; Limbeck et al., arXiv 2311.16054, C.1",
)
def geometric_mean_of_deviations(subject: Subject) -> float:
    """The geometric mean of the standard deviations of all columns; 0 if one is constant.

    The columns of labels are their own classes; n-grams are refused, as they have no fixed ones.
    """
    X = subject.features
    if sp.issparse(X):
        X = sp.csc_array(X).astype(np.float64)
        n = X.shape[0]
        least = X.min(axis=0).toarray()
        most = X.max(axis=0).toarray()
        mean = X.mean(axis=0)
        stored = np.diff(X.indptr)
        X.data = (X.data - np.repeat(mean, stored)) ** 2
        squares = X.sum(axis=0) + (n - stored) * mean**2
        deviations = np.sqrt(squares / n)
    else:
        X = np.asarray(to_host(X), dtype=np.float64)
        least = X.min(axis=0)
        most = X.max(axis=0)
        # Powers of two, which take no digit: squares of 1e200 overflow.
        _, exponents = np.frexp(np.abs(X).max(axis=0))
        top = np.ldexp(1.0, exponents - 1)
        deviations = np.std(X / top, axis=0) * top
    # Rounding makes the mean of equal numbers differ from them.
    if not (deviations > 0).all() or (least == most).any():
        return 0.0
    return float(np.exp(np.log(deviations).mean()))
