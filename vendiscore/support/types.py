"""Type aliases shared by the package; their libraries are imported only by type checkers."""

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
Rows: TypeAlias = "Array | csr_array"  # numeric, one row per sample
SampleContainer: TypeAlias = "list[Any] | Rows"  # samples after validation
PairFunction: TypeAlias = Callable[[Any, Any], float]  # a similarity or a distance of two samples
# Samples as users pass them: a list, an array, a column or the path of a folder. Which types of
# samples are supported depends on the kernel.
Samples: TypeAlias = "Iterable[object] | os.PathLike[str] | SimilarityLike"
Weights: TypeAlias = "Sequence[float] | Array"  # shape (n,), sum 1
Number: TypeAlias = "float | Tensor"  # a tensor if samples or weights require a gradient
DType: TypeAlias = "np.dtype | type"
Device: TypeAlias = "str | int | torch.device | None"
Frame: TypeAlias = "pd.DataFrame"
Axes: TypeAlias = "_Axes"
Options: TypeAlias = Mapping[str, object]  # keyword arguments, not validated yet
Record: TypeAlias = dict[str, Any]  # values by name: scores, settings or a row of a table


class SimilarityLike(Protocol):
    """A Similarity or a MetricSpace of n samples."""

    n: int
