"""The spread of columns, as a measure."""

import numpy as np

from ..similarity import sparse as sp
from ..support.namespace import row_blocks, to_host
from ..support.types import Rows
from .measure import register_measure
from .sample_set import SampleSet


@register_measure(
    "GMStds",
    needs="features",
    range="[0, ∞)",
    source="Lai et al., 2020; Limbeck et al., arXiv 2311.16054, C.1",
)
def geometric_mean_of_deviations(subject: SampleSet) -> float:
    """The geometric mean of the standard deviations of all columns; 0 if one is constant.

    The columns of labels are their own classes; n-grams are refused, as they have no fixed ones.
    """
    X = subject.features
    if sp.issparse(X):
        X = sp.csc_array(X)
    n, d = X.shape
    blocks = [_deviations(X[:, columns]) for columns in row_blocks(d, 8 * n)]
    with np.errstate(divide="ignore"):
        logs = np.log(np.concatenate(blocks))
    return float(np.exp(logs.mean()))


def _deviations(columns: Rows) -> np.ndarray:
    """Return the standard deviation of each column; exactly 0 for one of equal numbers."""
    dense = columns.toarray() if sp.issparse(columns) else to_host(columns)
    X = np.asarray(dense, dtype=np.float64)
    # Powers of two, which take no digit: squares of 1e200 overflow.
    _, exponents = np.frexp(np.abs(X).max(axis=0))
    top = np.ldexp(1.0, exponents - 1)
    deviations = np.std(X / top, axis=0) * top
    # Rounding makes the mean of equal numbers differ from them.
    return np.where(X.min(axis=0) < X.max(axis=0), deviations, 0.0)
