"""The Vendi Score of collections of Dask: partitions added up where they are, merged as a tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core.arguments import DEFAULT_ORDER, integer
from ..core.errors import SampleError
from ..core.shares import PSD
from ..core.types import Record, Samples
from ..optional import require
from ..scoring.state import State
from ..similarity.pools import size


def state(collection: Samples, *, split_every: int = 8, **how: Any) -> Any:
    """Return the State of all samples of a collection as a Dask `Delayed`.

    Parameters
    ----------
    collection : dask array, dataframe, series, index or bag, or list of Delayed
        Samples along the first axis of an array; rows of the numeric columns of a dataframe, or one
        column of anything that `k` compares; items of a bag; Delayed batches. Some may be empty.
    split_every : int of at least 2, how many sums are merged at once
    **how : keywords of `State.empty`, such as `k`; a model goes to the workers once

    Returns
    -------
    dask.delayed.Delayed
        Its `.compute()` gives the `State`. A worker holds one partition, its features, and the
        sums that are merged at once.

    Raises
    ------
    TypeError, ValueError, MissingPackageError
        At once, as for `State.empty`, for an object that is not a collection, for a
        dataframe with a column of text among others, and without dask; when computed, as for
        `State.update`.

    Examples
    --------
    >>> import dask.array as da
    >>> found = state(da.eye(4, chunks=2), k="cosine").compute()
    >>> found
    <State of 4 samples, 4 features: kernel='cosine'>
    """
    dask = require("dask", "dask", "scoring a collection of Dask")
    integer("split_every", split_every, 2)
    start = dask.delayed(State.empty(**how), traverse=False)
    add = dask.delayed(_added, pure=False)
    merge = dask.delayed(_merged, pure=False)
    sums: Sequence[object] = [add(start, part, i) for i, part in enumerate(_partitions(collection))]
    if not sums:
        return merge([start])
    while len(sums) > 1:
        sums = [merge(sums[i : i + split_every]) for i in range(0, len(sums), split_every)]
    return sums[0]


def score(
    collection: Samples,
    q: float | str | Iterable[float | str] = DEFAULT_ORDER,
    *,
    psd: PSD = "check",
    details: bool = False,
    split_every: int = 8,
    **how: object,
) -> Record:
    """Compute the Vendi Score of a collection now: `state(…).compute().compute(q)`.

    It raises the errors of `state` and of `State.compute`.

    Parameters
    ----------
    collection : dask array, dataframe, series, index or bag, or list of Delayed
    q : order, a float in [0, ∞] or "inf", or several
    psd : {"check", "clip"}
        Raise for negative eigenvalues, or set them to zero; a sum of x xᵀ has them by rounding.
    details : bool, whether to add how the number came about, under the key `details`
    split_every : int of at least 2, how many sums are merged at once
    **how : keywords of `State.empty`

    Returns
    -------
    dict
        {"VS": value} with 1 ≤ value ≤ n; for several orders {"VS_q0": …, "VS_q1": …}.

    Examples
    --------
    >>> import dask.bag as db
    >>> bag = db.from_sequence([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]], npartitions=2)
    >>> score(bag, q=0, k="cosine")
    {'VS': 2.0}
    """
    total: State = state(collection, split_every=split_every, **how).compute()
    return total.compute(q, psd=psd, details=details)


def _partitions(collection: Any) -> list[Any]:
    """Return a delayed batch for each partition."""
    listed = isinstance(collection, (list, tuple))
    if listed and all(hasattr(each, "__dask_graph__") for each in collection):
        return list(collection)
    root = type(collection).__module__.partition(".")[0]
    if not (root == "dask" and hasattr(collection, "to_delayed")):
        raise TypeError(
            "`collection` must be an array, dataframe or bag of Dask, or a list of Delayed, got "
            f"{type(collection).__name__}; pass samples in memory to vendiscore.compute, or to "
            "dask.bag.from_sequence"
        )
    if hasattr(collection, "rechunk"):
        if collection.ndim > 1:
            collection = collection.rechunk(dict.fromkeys(range(1, collection.ndim), -1))
        return list(collection.to_delayed().ravel())
    if getattr(collection, "ndim", 1) == 2 and len(collection.columns) > 1:
        kinds = collection.dtypes.items()
        if text := [str(name) for name, dtype in kinds if dtype.kind not in "fiub"]:
            raise TypeError(
                f"`collection` must have numeric columns only, or one column, got {text[0]!r} "
                f"among {len(collection.columns)}; pass df[[…]] of numbers, or the one column "
                f"that `k` compares"
            )
    return list(collection.to_delayed())


def _added(state: State, part: Any, i: int) -> State:
    """Add partition i, which may have no samples, to a copy of a state."""
    state = state.changed()
    if hasattr(part, "columns") and part.shape[1] == 1:
        column = part[part.columns[0]]
        part = column.tolist() if column.dtype.kind not in "fiub" else part
    elif hasattr(part, "tolist") and hasattr(part, "index"):
        part = part.tolist() if part.dtype.kind not in "fiub" else part.to_numpy()
    elif not hasattr(part, "shape"):
        part = list(part)
    if not size(part):
        return state
    try:
        return state.update(part)
    except SampleError as error:
        error.add_note(f"in partition {i}")
        raise


def _merged(states: Sequence[State]) -> State:
    return states[0].merge(*states[1:])
