"""Select a diverse subset of rows in many partitions, with an upper bound on all subsets.

Select 2k rows in each partition, and k rows of their union (GreeDi: Mirzasoleiman, Karbasi, Sarkar
& Krause, NeurIPS 2013). If the first k rows of a partition have a higher score, use them instead. A
second pass computes an upper bound on the score of any k rows, and adds the rows with the largest
gradient to the candidates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from vendiscore import compute, select
from vendiscore.tools.selection.upper_bound import compute_tangent

Over: TypeAlias = Callable[..., list[Any]]  # over(function, *more) returns one result per partition


def over_dask(parts: Sequence[Any]) -> Over:
    """Return a function that maps over partitions (`Delayed` or futures) on Dask workers."""
    import dask

    return lambda f, *more: list(dask.compute(*(dask.delayed(f)(part, *more) for part in parts)))


def over_ray(parts: Sequence[Any]) -> Over:
    """Return a function that maps over partitions (Ray object references) on Ray workers."""
    import ray

    return lambda f, *more: ray.get([ray.remote(f).remote(part, *more) for part in parts])


def unit(rows: np.ndarray) -> np.ndarray:
    """Return the rows, shape (n, d), scaled to length 1."""
    rows = np.asarray(rows, dtype=float)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def chosen(rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Select up to 2k rows of a partition; also return the sum of x xᵀ and the number of rows."""
    x = unit(rows)
    selected = select(rows, min(2 * k, len(rows)), k="cosine").places
    return x[selected], x.T @ x, len(x)


def steepest(rows: np.ndarray, slopes: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k largest gradients xᵀ M x of a partition, and the rows that they belong to."""
    x = unit(rows)
    gradients = np.vecdot(x @ slopes, x)
    order = np.argsort(-gradients)[:k]
    return gradients[order], x[order]


def greedi(over: Over, k: int) -> dict[str, Any]:
    """Select k rows by the Vendi Score of order 1, in two passes.

    Returns a dict with "rows", their score "VS", and "bound", the upper bound.
    """
    results = over(chosen, k)
    union = np.concatenate([rows for rows, _, _ in results])
    candidates = [again(union, k), *(rows[:k] for rows, _, _ in results if len(rows) >= k)]
    best = max(candidates, key=score)
    moments = sum(moment for _, moment, _ in results) / sum(n for _, _, n in results)
    dims = min(k, len(moments))
    power, V, slopes = compute_tangent((moments + best.T @ best / k) / 2, dims, 1.0)
    passed = over(steepest, V * slopes[:-1] @ V.T, k)
    largest = np.sort(np.concatenate([gradients for gradients, _ in passed]))[-k:]
    best = max(best, again(np.concatenate([union, *(rows for _, rows in passed)]), k), key=score)
    bound = min(float(dims), math.exp(power + largest.mean()))
    return {"rows": best, "VS": score(best), "bound": bound}


def again(rows: np.ndarray, k: int) -> np.ndarray:
    """Select k of these rows."""
    return rows[select(rows, k, k="cosine").places]


def score(rows: np.ndarray) -> float:
    """Return the Vendi Score of rows."""
    return float(compute(rows, k="cosine")["VS"])
