"""Sets of samples compared under one kernel: what the page takes, and step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..explanation.analysis import ORDERS
from ..progress import Counts, Steps, finish, told
from ..uncertainty import Comparison
from ..uncertainty.comparing import comparing
from ..uncertainty.plan import MIN_SAMPLES, Plan
from . import encoders
from .limits import MAX_SAMPLES, MAX_SETS, RefusedError, check_count

# Of three pairs the least p is 3/300, which is what LEVEL asks for.
MIN_PERMUTATIONS, MAX_PERMUTATIONS = 299, 999
LEVEL = 0.99  # sets of one source are said to differ once in a hundred times
LARGEST = 100  # samples that are decomposed at once: two cores serve all visitors
NAMES = "ABC"
_SLOW = 50  # samples whose permutations take so long that one wants to know how far they are


class Compared(NamedTuple):
    """A comparison, and the arguments with which `compute` gives the same whole scores."""

    comparison: Comparison
    arguments: Mapping[str, Any]


def compare_steps(
    sets: Sequence[Any], q: float = 1.0, permutations: int = MIN_PERMUTATIONS, **arguments: Any
) -> Steps[Compared]:
    """Compare sets of samples at the size of the smallest or 100, pausing where it takes long.

    Parameters
    ----------
    sets : sequence of list or array
        Two or three sets of at least 4 and at most 1,000 samples each.
    q : float in [0, ∞]
    permutations : int
        From 299 to 999.
    **arguments
        As for `vendiscore.compute`. A bandwidth left open is found for all sets together.

    Raises
    ------
    RefusedError, ValueError, TypeError
        If the sets cannot be compared or scored.
    """
    if not 2 <= len(sets) <= MAX_SETS:
        raise RefusedError(f"Two or three sets can be compared, got {len(sets)}; fill in another.")
    if not isinstance(permutations, int) or not (
        MIN_PERMUTATIONS <= permutations <= MAX_PERMUTATIONS
    ):
        raise RefusedError(
            f"The number of permutations must be from {MIN_PERMUTATIONS} to {MAX_PERMUTATIONS}, "
            f"got {permutations}."
        )
    sizes = [len(samples) for samples in sets]
    for name, size in zip(NAMES, sizes, strict=False):
        check_count(size, MAX_SAMPLES, "samples in a set")
        if size < MIN_SAMPLES:
            raise RefusedError(
                f"Set {name} has too few samples to be compared: {size}, where a comparison needs "
                f"at least {MIN_SAMPLES} in every set."
            )
    slow = max(sizes) > _SLOW
    if slow:
        yield _note(0)
    together = yield from encoders.similarity(_pool(sets), arguments)
    size = min(*sizes, LARGEST)
    plan = Plan(q, LEVEL, permutations, size=size, orders=ORDERS).checked()
    starts = np.cumsum([0, *sizes])
    steps = comparing(together, starts, list(NAMES[: len(sets)]), plan)
    pairs = len(sets) * (len(sets) - 1) // 2
    if slow:
        found = yield from _by_percent(steps, pairs * permutations)
    else:
        found = finish(steps)
    return Compared(found, {**arguments, **together.fitted})


def _by_percent(steps: Counts[Comparison], total: int) -> Steps[Comparison]:
    """The steps in words, one for each percent."""
    last = 0

    def note(done: int) -> str | None:
        nonlocal last
        before, last = last, 100 * done // total
        return _note(done / total) if last > before else None

    return told(steps, note)


def _note(share: float) -> str:
    return f"Comparing: {100 * share:.0f} % done."


def _pool(sets: Sequence[Any]) -> Any:
    if all(isinstance(samples, np.ndarray) for samples in sets):
        widths = [samples.shape[1] for samples in sets]
        if len(set(widths)) > 1:
            raise RefusedError(f"All sets need as many columns, got {widths}.")
        return np.concatenate(sets)
    return [sample for samples in sets for sample in samples]
