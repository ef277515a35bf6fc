"""Names of types that folders share, for type checkers only: nothing is imported for them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from .namespace import Array

if TYPE_CHECKING:
    import os

    import numpy as np
    import pandas as pd
    import torch
    from matplotlib.axes import Axes as _Axes
    from scipy.sparse import csr_array

Tensor: TypeAlias = "torch.Tensor"
Rows: TypeAlias = "Array | csr_array"  # of numbers, a row for each sample
SampleContainer: TypeAlias = "list[Any] | Rows"  # samples that have been read
PairFunction: TypeAlias = Callable[[Any, Any], float]  # k(x, y), or a distance
# Samples to be read: a list, an array, a column, a folder's path; the kernel limits their kind.
Samples: TypeAlias = "Iterable[object] | os.PathLike[str] | SimilarityLike"
Weights: TypeAlias = "Sequence[float] | Array"  # of n samples, summing to 1
Number: TypeAlias = "float | Tensor"  # a tensor where samples or weights have a gradient
DType: TypeAlias = "np.dtype | type"
Device: TypeAlias = "str | int | torch.device | None"
Frame: TypeAlias = "pd.DataFrame"
Axes: TypeAlias = "_Axes"
Options: TypeAlias = Mapping[str, object]  # by keyword, checked by their reader
Record: TypeAlias = dict[str, Any]  # numbers and words by their names: a row, a score, settings


class SimilarityLike(Protocol):
    """A Similarity or a MetricSpace: n samples that have been compared."""

    n: int
