"""Sets of samples compared under one kernel: what the page takes, and step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..explain.analysis import ORDERS
from ..request import check_orders
from ..spectral.hill import effective_number
from ..spectral.vendi import spectrum, vendi
from ..uncertainty.comparison import Comparison
from . import encoders
from .limits import MAX_SAMPLES, MAX_SETS, RefusedError, check_count
from .steps import Steps, finish

MIN_DRAWS, MAX_DRAWS = 5, 20
_SLOW = 200  # samples whose spectrum takes so long that one wants to know how far it is


def compare(sets: Sequence[Any], q: float = 1.0, draws: int = 10, **arguments: Any) -> Comparison:
    """Compare sets of samples at half the size of the smallest.

    Parameters
    ----------
    sets : sequence of list or array
        Two or three sets of at most 1,000 samples each.
    q : float in [0, ∞]
    draws : int
        Seeds 0, 1, … of the pairs of draws; from 5 to 20.
    **arguments
        As for `vendiscore.compute`. A bandwidth left open is found for all sets together, since
        scores under different kernels cannot be compared.

    Raises
    ------
    RefusedError, ValueError, TypeError
        If the sets cannot be compared or scored.

    Notes
    -----
    Two sets of one source are said to differ at most once in a hundred times; measured, from 4 to
    200 samples, it is less (see benchmarks/compare_null.py). For sets that share samples it is
    less still, since only what tells them apart can differ.
    """
    return finish(compare_steps(sets, q, draws, **arguments))


def compare_steps(
    sets: Sequence[Any], q: float = 1.0, draws: int = 10, **arguments: Any
) -> Steps[Comparison]:
    """`compare`, pausing where it takes long."""
    if not 2 <= len(sets) <= MAX_SETS:
        raise RefusedError(f"Two or three sets can be compared, got {len(sets)}; fill in another.")
    if not isinstance(draws, int) or not MIN_DRAWS <= draws <= MAX_DRAWS:
        raise RefusedError(
            f"The number of draws must be from {MIN_DRAWS} to {MAX_DRAWS}, got {draws}."
        )
    (order,) = check_orders([q])
    sizes = [len(samples) for samples in sets]
    for size in sizes:
        check_count(size, MAX_SAMPLES, "samples in a set")
    slow = max(sizes) > _SLOW
    if slow:
        yield "Comparing: 0 % done."
    together = yield from encoders.similarity(_pool(sets), arguments)
    arguments = {**arguments, **together.fitted}  # what was found for all sets together
    starts = np.cumsum([0, *sizes])
    matched = max(1, min(sizes) // 2)
    whole, scores, profiles = [], [], []
    for i, size in enumerate(sizes):
        members = np.arange(starts[i], starts[i + 1])
        whole.append(float(vendi(together.take(members), [order]).values[0]))
        table = np.empty((draws, 2, 1 + len(ORDERS)))
        for seed in range(draws):
            mixed = members[np.random.default_rng(seed).permutation(size)]
            for half, picked in enumerate((mixed[:matched], mixed[-matched:])):
                shares = spectrum(together.take(picked))
                table[seed, half] = [effective_number(shares, each) for each in (order, *ORDERS)]
            if slow:
                yield f"Comparing: {100 * (i + (seed + 1) / draws) / len(sizes):.0f} % done."
        scores.append(table[:, :, 0])
        profiles.append(table[:, :, 1:])
    return Comparison(sizes, order, arguments, matched, whole, scores, profiles)


def _pool(sets: Sequence[Any]) -> Any:
    if all(isinstance(samples, np.ndarray) for samples in sets):
        widths = [samples.shape[1] for samples in sets]
        if len(set(widths)) > 1:
            raise RefusedError(f"All sets need as many columns, got {widths}.")
        return np.concatenate(sets)
    return [sample for samples in sets for sample in samples]
