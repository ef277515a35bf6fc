"""Names of types that folders share, for type checkers only: nothing is imported for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from .namespace import Array, Rows, Tensor

if TYPE_CHECKING:
    import os

    import matplotlib.axes
    import numpy as np
    import pandas as pd
    import torch

Pool: TypeAlias = "list[Any] | Rows"  # samples that have been read
# Samples to be read: a list, an array, a column, a folder's path; the kernel limits their kind.
Samples: TypeAlias = "Iterable[Any] | os.PathLike[str] | SimilarityLike"
Weights: TypeAlias = "Sequence[float] | Array"  # of n samples, summing to 1
Number: TypeAlias = "float | Tensor"  # a tensor where samples or weights have a gradient
DType: TypeAlias = "np.dtype | type"
Device: TypeAlias = "str | int | torch.device | None"
Frame: TypeAlias = "pd.DataFrame"
Axes: TypeAlias = "matplotlib.axes.Axes"
Options: TypeAlias = Mapping[str, object]  # by keyword, checked by their reader
Record: TypeAlias = dict[str, Any]  # numbers and words by their names: a row, a score, settings


class SimilarityLike(Protocol):
    """A Similarity or a MetricSpace: n samples that have been compared."""

    n: int
