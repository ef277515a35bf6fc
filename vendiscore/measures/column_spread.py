"""The measure GMStds: the geometric mean of the standard deviations of feature columns."""

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
def geometric_mean_of_deviations(sample_set: SampleSet) -> float:
    """The geometric mean of the standard deviations of all columns; 0 if a column is constant.

    Columns are those of the samples if these are vectors, otherwise those of the features of the
    kernel. For labels, each class is a column. N-gram kernels are not supported, because their
    feature columns depend on the samples.
    """
    X = sample_set.features
    if sp.issparse(X):
        X = sp.csc_array(X)
    n, d = X.shape
    # Blocks of columns, of 8 bytes per value, limit the memory of dense copies.
    blocks = [_compute_standard_deviations(X[:, columns]) for columns in row_blocks(d, 8 * n)]
    with np.errstate(divide="ignore"):  # log 0 = −∞ gives a mean of 0
        logs = np.log(np.concatenate(blocks))
    return float(np.exp(logs.mean()))


def _compute_standard_deviations(columns: Rows) -> np.ndarray:
    """Compute the standard deviation of each column of a matrix, dense or sparse.

    It is exactly 0 if all values of a column are equal.
    """
    dense = columns.toarray() if sp.issparse(columns) else to_host(columns)
    X = np.asarray(dense, dtype=np.float64)
    # Divide by a power of two near the maximum of each column, which is exact: the squares of 1e200
    # would overflow.
    _, exponents = np.frexp(np.abs(X).max(axis=0))
    scale = np.ldexp(1.0, exponents - 1)
    deviations = np.std(X / scale, axis=0) * scale
    # Rounding can make the mean of equal values differ from them.
    return np.where(X.min(axis=0) < X.max(axis=0), deviations, 0.0)
