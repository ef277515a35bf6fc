"""Sets of samples compared under one kernel: what the page takes, and step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..explanation.analysis import ORDERS
from ..progress import Steps, finish, told
from ..uncertainty.comparison import Comparison, comparing
from . import encoders
from .limits import MAX_SAMPLES, MAX_SETS, RefusedError, check_count

MIN_DRAWS, MAX_DRAWS = 5, 20
_SLOW = 200  # samples whose spectrum takes so long that one wants to know how far it is


class Compared(NamedTuple):
    """A comparison, and the arguments with which `compute` gives the same whole scores."""

    comparison: Comparison
    arguments: Mapping[str, Any]


def compare_steps(
    sets: Sequence[Any], q: float = 1.0, draws: int = 10, **arguments: Any
) -> Steps[Compared]:
    """Compare sets of samples at half the size of the smallest, pausing where it takes long.

    Parameters
    ----------
    sets : sequence of list or array
        Two or three sets of at most 1,000 samples each.
    q : float in [0, ∞]
    draws : int
        Seeds 0, 1, … of the pairs of draws; from 5 to 20.
    **arguments
        As for `vendiscore.compute`. A bandwidth left open is found for all sets together.

    Raises
    ------
    RefusedError, ValueError, TypeError
        If the sets cannot be compared or scored.
    """
    if not 2 <= len(sets) <= MAX_SETS:
        raise RefusedError(f"Two or three sets can be compared, got {len(sets)}; fill in another.")
    if not isinstance(draws, int) or not MIN_DRAWS <= draws <= MAX_DRAWS:
        raise RefusedError(
            f"The number of draws must be from {MIN_DRAWS} to {MAX_DRAWS}, got {draws}."
        )
    sizes = [len(samples) for samples in sets]
    for size in sizes:
        check_count(size, MAX_SAMPLES, "samples in a set")
    slow = max(sizes) > _SLOW
    if slow:
        yield _note(0)
    together = yield from encoders.similarity(_pool(sets), arguments)
    steps = comparing(together, sizes, q, draws, orders=ORDERS)
    if slow:
        found = yield from told(steps, lambda done: _note(done / (len(sizes) * draws)))
    else:
        found = finish(steps)
    return Compared(found, {**arguments, **together.fitted})


def _note(share: float) -> str:
    return f"Comparing: {100 * share:.0f} % done."


def _pool(sets: Sequence[Any]) -> Any:
    if all(isinstance(samples, np.ndarray) for samples in sets):
        widths = [samples.shape[1] for samples in sets]
        if len(set(widths)) > 1:
            raise RefusedError(f"All sets need as many columns, got {widths}.")
        return np.concatenate(sets)
    return [sample for samples in sets for sample in samples]
