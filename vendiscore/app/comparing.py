"""Two or three sets side by side, at matched size.

The score grows with the number of samples, so that sets of different sizes cannot be compared as
they are. The larger ones are drawn down to the size of the smallest, without replacement (drawing
with replacement makes duplicates, which lower the score), over several seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import check_orders
from ..spectral import effective_number, spectrum, vendi
from . import encoders
from .analysis import ORDERS
from .limits import MAX_SAMPLES, MAX_SETS, RefusedError, check_count
from .steps import Steps, finish

MAX_DRAWS = 20
_SLOW = 200  # samples whose spectrum takes so long that one wants to know how far it is


@dataclass(frozen=True)
class Comparison:
    """Sets scored at matched size.

    Attributes
    ----------
    sizes : list of int
    q : float
    arguments : mapping
        What `compute` gives the same `whole` scores with.
    matched : int
        The size of the smallest set, to which the others are drawn down.
    whole : list of float
        VS_q of each set with all its samples.
    draws : list of array (draws,)
        VS_q of each set at matched size, one number for each seed; a set of the matched size is
        always used whole, so that its numbers are equal.
    profiles : list of array (draws, len(ORDERS))
        The same for every q of `ORDERS`.
    """

    sizes: list[int]
    q: float
    arguments: Mapping[str, Any]
    matched: int
    whole: list[float]
    draws: list[np.ndarray]
    profiles: list[np.ndarray]

    def difference(self, i: int, j: int) -> tuple[float, float]:
        """Mean and standard deviation, over seeds, of the score of set i minus that of set j."""
        gaps = self.draws[i] - self.draws[j]
        return float(gaps.mean()), _deviation(gaps)

    def spread(self, i: int) -> tuple[float, float]:
        """Mean and standard deviation, over seeds, of the score of set i at matched size."""
        return float(self.draws[i].mean()), _deviation(self.draws[i])


def compare(sets: Sequence[Any], q: float = 1.0, draws: int = 10, **arguments: Any) -> Comparison:
    """Compare sets of samples at the size of the smallest.

    Parameters
    ----------
    sets : sequence of list or array
        Two or three sets of at most 1,000 samples each.
    q : float in [0, ∞]
    draws : int
        Seeds 0, 1, … of the draws; from 2 to 20.
    **arguments
        As for `vendiscore.compute`. A bandwidth left open is found for all sets together, since
        scores under different kernels cannot be compared.

    Raises
    ------
    RefusedError, ValueError, TypeError
        If the sets cannot be compared or scored.
    """
    return finish(compare_steps(sets, q, draws, **arguments))


def compare_steps(
    sets: Sequence[Any], q: float = 1.0, draws: int = 10, **arguments: Any
) -> Steps[Comparison]:
    """`compare`, pausing where it takes long."""
    if not 2 <= len(sets) <= MAX_SETS:
        raise RefusedError(f"Two or three sets can be compared, got {len(sets)}; fill in another.")
    if not isinstance(draws, int) or not 2 <= draws <= MAX_DRAWS:
        raise RefusedError(f"The number of draws must be from 2 to {MAX_DRAWS}, got {draws}.")
    (order,) = check_orders([q])
    sizes = [len(samples) for samples in sets]
    for size in sizes:
        check_count(size, MAX_SAMPLES, "samples in a set")
    slow = max(sizes) > _SLOW
    if slow:
        yield "Comparing: 0 % done."
    together = yield from encoders.similarity(_pool(sets), arguments)
    if "sigma" in together.settings:
        arguments = {**arguments, "sigma": together.settings["sigma"]}
    starts = np.cumsum([0, *sizes])
    matched = min(sizes)
    whole, scores, profiles = [], [], []
    for i, size in enumerate(sizes):
        members = np.arange(starts[i], starts[i + 1])
        whole.append(float(vendi(together.take(members), [order]).values[0]))
        rows = []
        for seed in range(draws if size > matched else 1):
            picked = np.random.default_rng(seed).choice(size, matched, replace=False)
            shares = spectrum(together.take(members[picked]))
            rows.append([effective_number(shares, each) for each in (order, *ORDERS)])
            if slow:
                yield f"Comparing: {100 * (i + (seed + 1) / draws) / len(sizes):.0f} % done."
        table = np.array(rows if size > matched else rows * draws)
        scores.append(table[:, 0])
        profiles.append(table[:, 1:])
    return Comparison(sizes, order, arguments, matched, whole, scores, profiles)


def _pool(sets: Sequence[Any]) -> Any:
    if all(isinstance(samples, np.ndarray) for samples in sets):
        widths = [samples.shape[1] for samples in sets]
        if len(set(widths)) > 1:
            raise RefusedError(f"All sets need as many columns, got {widths}.")
        return np.concatenate(sets)
    return [sample for samples in sets for sample in samples]


def _deviation(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if np.ptp(values) else 0.0
