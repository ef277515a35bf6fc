"""Random parts of more samples than fit, which can be drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from ...reading.samples import Python, Samples
from ..quotas import MAX_CHARACTERS, MAX_SAMPLES, MAX_VALUES, MAX_VECTORS


def draw_indices(n: int, most: int, draw: int) -> list[int]:
    """Return at most `most` of 0, …, n − 1, in order: all, or a part that `draw` alone decides."""
    if n <= most:
        return list(range(n))
    chosen: list[int] = np.sort(np.random.default_rng(draw).permutation(n)[:most]).tolist()
    return chosen


def fitting(n: int, size: Callable[[int], int], draw: int) -> list[int]:
    """Return as many of 0, …, n − 1 as fit as texts, by their number and by all characters.

    `size` is called only for texts that fit by their number.
    """
    kept = draw_indices(n, MAX_SAMPLES, draw)
    order = np.random.default_rng(draw).permutation(n)[: len(kept)].tolist()
    sizes = np.cumsum([size(i) for i in order])
    if not n or sizes[-1] <= MAX_CHARACTERS:
        return kept
    return sorted(order[: max(1, int(np.searchsorted(sizes, MAX_CHARACTERS, side="right")))])


def part_note(n: int, total: int, kind: str) -> str:
    """Say that samples are a random part."""
    return f"These are {n:,} of {total:,} {kind}, drawn at random: more than {n:,} do not fit here."


def part(samples: Samples, most: int, draw: int | None = None) -> Samples:
    """Return at most `most` of the samples, which keep their places, groups and problems."""
    draw = samples.draw if draw is None else draw
    if len(samples) <= most:
        return samples
    kept = draw_indices(len(samples), most, draw)
    python = samples.python
    return replace(
        samples.subset(kept),
        notes=(*samples.notes, part_note(len(kept), len(samples), samples.kind)),
        python=python and _of_part(python, len(samples), len(kept), draw),
        total=len(samples),
        draw=draw,
    )


def rows_that_fit(width: int) -> int:
    """Return how many rows of `width` numbers are scored."""
    return max(1, min(MAX_VECTORS, MAX_VALUES // max(1, width)))


def _of_part(python: Python, n: int, most: int, draw: int) -> Python:
    """Return code that draws the same part in Python."""

    def read(left: Collection[int], square: bool) -> tuple[str, str]:
        modules, whole = python((), False)
        modules = modules if "numpy as np" in modules else f"numpy as np, {modules}"
        rows = f"np.sort(np.random.default_rng({draw}).permutation({n})[:{most}])"
        shorter = f"np.delete({rows}, {sorted(left)})" if left else rows
        return modules, f"{whole}[{shorter}]"

    return read
