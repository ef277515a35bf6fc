"""Of more samples than fit a random part, which is said and can be drawn anew."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from .limits import MAX_CHARACTERS, MAX_SAMPLES, MAX_VALUES, MAX_VECTORS
from .samples import Python, Samples


def drawn(n: int, most: int, draw: int) -> list[int]:
    """At most `most` of 0, …, n − 1, in order: all, or a part that `draw` alone decides."""
    if n <= most:
        return list(range(n))
    chosen: list[int] = np.sort(np.random.default_rng(draw).permutation(n)[:most]).tolist()
    return chosen


def part(samples: Samples, most: int, draw: int | None = None) -> Samples:
    """At most `most` of the samples, which keep their places, groups and problems.

    Parameters
    ----------
    samples : Samples
    most : int
    draw : int, optional
        By default that of the samples.
    """
    draw = samples.draw if draw is None else draw
    if len(samples) <= most:
        return samples
    kept = drawn(len(samples), most, draw)
    return taken(samples, kept, draw)


def taken(samples: Samples, kept: Sequence[int], draw: int) -> Samples:
    """Some of the samples, of which it is said that they are a random part."""
    total = samples.total or len(samples)
    note = (
        f"These are {len(kept):,} of {total:,} {samples.kind}, drawn at random: more than "
        f"{len(kept):,} do not fit here."
    )
    python = samples.python
    return replace(
        samples,
        values=samples.take(kept),
        places=[samples.places[i] for i in kept],
        problems={j: samples.problems[i] for j, i in enumerate(kept) if i in samples.problems},
        groups=[samples.groups[i] for i in kept] if samples.groups else (),
        notes=(*samples.notes, note),
        python=python and _of_part(python, len(samples), len(kept), draw),
        total=total,
        draw=draw,
    )


def fitting(samples: Samples, draw: int) -> Samples:
    """As many texts or molecules as fit, by their number and by their characters together."""
    kept = drawn(len(samples), MAX_SAMPLES, draw)
    sizes = np.array([len(samples.values[i]) for i in kept], dtype=np.int64)
    if sizes.sum() > MAX_CHARACTERS:
        order = np.random.default_rng(draw).permutation(len(samples))
        lengths = np.array([len(value) for value in samples.values], dtype=np.int64)[order]
        most = max(1, int(np.searchsorted(np.cumsum(lengths), MAX_CHARACTERS, side="right")))
        kept = drawn(len(samples), min(most, MAX_SAMPLES), draw)
    return samples if len(kept) == len(samples) else taken(samples, kept, draw)


def rows_that_fit(width: int) -> int:
    """How many rows of so many numbers are scored."""
    return max(1, min(MAX_VECTORS, MAX_VALUES // max(1, width)))


def _of_part(python: Python, n: int, most: int, draw: int) -> Python:
    """The same in Python: the part is drawn there as it was here."""

    def read(left: Collection[int], square: bool) -> tuple[str, str]:
        modules, whole = python((), False)
        modules = modules if "numpy as np" in modules else f"numpy as np, {modules}"
        rows = f"np.sort(np.random.default_rng({draw}).permutation({n})[:{most}])"
        shorter = f"np.delete({rows}, {sorted(left)})" if left else rows
        return modules, f"{whole}[{shorter}]"

    return read
