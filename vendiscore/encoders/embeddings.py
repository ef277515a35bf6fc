"""Batched embedding of samples by any encoding function, with checks of every row."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..support.errors import SampleError
from ..support.namespace import is_torch
from ..support.progress import Counts
from ..support.types import Record

# Maps a list of m samples to an (m, d) array, a tensor or a list of rows.
Encode = Callable[[list[Any]], Any]


def check_no_conflict(values: Mapping[str, object], other: str) -> None:
    """Raise a ValueError if one of `values`, options by name, is not None.

    `other` is the argument, or its description, with which these options have no effect.
    """
    for name, value in values.items():
        if value is not None:
            raise ValueError(f"`{name}` has no effect with {other}; remove one of them")


def embed(
    samples: Sequence[object],
    encode: Encode,
    report: Record,
    *,
    batch_size: int,
    lengths: Sequence[int] | None = None,
) -> Counts[np.ndarray]:
    """Embed samples in batches by the function `encode`; yield the number of samples done.

    The generator returns an array with one row per sample, in their order. With `lengths`, the
    lengths of the samples, long samples are embedded first, so that batches contain samples of
    similar length. While a batch is encoded, `report["places"]` holds the indices of its samples,
    so `encode` can describe problems with them in `report`. At the end, a SampleError lists all
    samples that cannot be embedded.
    """
    n = len(samples)
    order = np.arange(n) if lengths is None else np.argsort(-np.asarray(lengths), kind="stable")
    X = np.empty((n, 0))
    problems: dict[int, str] = {}
    for start in range(0, n, batch_size):
        yield start
        batch = order[start : start + batch_size]
        while len(batch):  # until the batch contains only usable samples
            report["places"] = batch.tolist()
            try:
                rows = _as_rows(encode([samples[i] for i in batch]), len(batch))
                break
            except SampleError as error:
                new_problems = error.reindexed(batch).problems
                problems |= new_problems
                batch = batch[~np.isin(batch, list(new_problems))]
        if not len(batch):
            continue
        # An index i of a row becomes the index of its sample.
        problems |= {int(batch[i]): problem for i, problem in _describe_invalid_rows(rows).items()}
        if not X.shape[1]:  # the first batch determines the dimension and precision
            is_double = rows.dtype == np.float64
            X = np.empty((n, rows.shape[1]), np.float64 if is_double else np.float32)
        if rows.shape[1] != X.shape[1]:
            raise ValueError(
                f"`model` must return embeddings of equal length, got lengths {X.shape[1]} and "
                f"{rows.shape[1]}; it must embed each sample independently"
            )
        X[batch] = rows
    # Raised only here, so that one error lists the unusable samples of all batches.
    SampleError.check(problems)
    return X


def _as_rows(output: object, m: int) -> np.ndarray:
    """Return the output of an encoder for m samples as an array of shape (m, d), or raise."""
    if is_torch(output):
        tensor = output.detach().cpu()
        # NumPy has no bfloat16, so types of two bytes become float32.
        output = tensor.numpy() if tensor.dtype.itemsize > 2 else tensor.float().numpy()
    elif isinstance(output, (list, tuple)) and output and is_torch(output[0]):
        output = [row.detach().float().cpu().numpy() for row in output]
    try:
        rows = np.asarray(output)
    except ValueError:
        raise ValueError(
            f"`model` must return embeddings of equal length for a list of {m} samples, got rows "
            f"of different lengths"
        ) from None
    if rows.dtype.kind not in "fiu":
        raise TypeError(
            f"`model` must return an array of real numbers, one row per sample, got "
            f"{type(output).__name__} of dtype {rows.dtype}"
        )
    if rows.ndim != 2 or len(rows) != m or rows.shape[1] == 0:
        raise ValueError(
            f"`model` must return an array of shape ({m}, d) for a list of {m} samples, got shape "
            f"{rows.shape}; do not squeeze a batch of one"
        )
    return rows


def _describe_invalid_rows(rows: np.ndarray) -> dict[int, str]:
    """Describe embeddings, the rows of an array, that are zero or not finite.

    The result maps the index of a row to the description.
    """
    problems = {}
    is_finite = np.isfinite(rows).all(axis=1)
    for i in np.flatnonzero(~is_finite):
        value = rows[i][~np.isfinite(rows[i])][0]
        problems[int(i)] = (
            f"has {value} in its embedding; check the model (in half precision, try half=False), "
            f"or remove the sample"
        )
    for i in np.flatnonzero(~rows.any(axis=1)):
        problems[int(i)] = (
            "has an embedding of zeros, which has no cosine; remove the sample or use another model"
        )
    return problems
