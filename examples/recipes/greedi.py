"""A subset of rows in many partitions, and a bound on the score of any other subset.

Each partition chooses 2k rows, of which k are chosen (GreeDi: Mirzasoleiman, Karbasi, Sarkar &
Krause, NeurIPS 2013), or the first k of one partition if they score more. One more pass bounds
every choice of k rows, and its rows of largest gradient take part in the choice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from vendiscore import compute, select
from vendiscore.tools.selection.certificate import tangent

Over: TypeAlias = Callable[..., list[Any]]  # over(function, *more): of each partition, in order


def over_dask(parts: Sequence[Any]) -> Over:
    """Return what applies a function to partitions, `Delayed` or futures, on workers of Dask."""
    import dask

    return lambda f, *more: list(dask.compute(*(dask.delayed(f)(part, *more) for part in parts)))


def over_ray(parts: Sequence[Any]) -> Over:
    """Return what applies a function to partitions, references of Ray, on its workers."""
    import ray

    return lambda f, *more: ray.get([ray.remote(f).remote(part, *more) for part in parts])


def unit(rows: np.ndarray) -> np.ndarray:
    """Return rows (n, d) of length 1."""
    rows = np.asarray(rows, dtype=float)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def chosen(rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return 2k rows of a partition, and the sum of x xᵀ of all; fewer if it has fewer."""
    x = unit(rows)
    places = select(rows, min(2 * k, len(rows)), k="cosine").places
    return x[places], x.T @ x, len(x)


def steepest(rows: np.ndarray, slopes: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k largest gradients xᵀ M x of a partition, and their rows."""
    x = unit(rows)
    gradients = np.vecdot(x @ slopes, x)
    places = np.argsort(-gradients)[:k]
    return gradients[places], x[places]


def greedi(over: Over, k: int) -> dict[str, Any]:
    """Choose k rows by the Vendi Score of order 1: {"rows", "VS", "bound"}; two passes."""
    found = over(chosen, k)
    union = np.concatenate([rows for rows, _, _ in found])
    best = max([again(union, k), *(rows[:k] for rows, _, _ in found if len(rows) >= k)], key=score)
    whole = sum(moment for _, moment, _ in found) / sum(n for _, _, n in found)
    dims = min(k, len(whole))
    power, V, slopes = tangent((whole + best.T @ best / k) / 2, dims, 1.0)
    passed = over(steepest, V * slopes[:-1] @ V.T, k)
    largest = np.sort(np.concatenate([gradients for gradients, _ in passed]))[-k:]
    best = max(best, again(np.concatenate([union, *(rows for _, rows in passed)]), k), key=score)
    bound = min(float(dims), math.exp(power + largest.mean()))
    return {"rows": best, "VS": score(best), "bound": bound}


def again(rows: np.ndarray, k: int) -> np.ndarray:
    """Return k of these rows."""
    return rows[select(rows, k, k="cosine").places]


def score(rows: np.ndarray) -> float:
    """Return the Vendi Score of rows."""
    return float(compute(rows, k="cosine")["VS"])
