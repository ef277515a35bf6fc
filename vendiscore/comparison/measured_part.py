"""Subsets scored by a registered measure other than the Vendi Score."""

from __future__ import annotations

import numpy as np

from ..arrays.namespace import scalar
from ..arrays.types import Record
from ..measures.evaluation import Chosen, measure_each, read_measures
from ..measures.subject import Subject
from ..similarity.base import Similarity
from ..spectral.spectrum import PSD
from ..uncertainty.jackknife import delete_one_error
from ..uncertainty.subsampling import DRAWS, halves_error, student_reach
from .subsets import MATCHED, Ends, Matched, Part, matched


def read_measure(measures: object, how: Record) -> Chosen | None:
    """Read the measure of a comparison and its options, removed from `how`; None for VS."""
    if measures is None or measures == "VS":
        return None
    chosen = read_measures(measures, how)
    names = [each.measure.name for each in chosen]
    if len(names) > 1:
        raise ValueError(f"`measures` must name one measure for each call, got {names!r:.80}")
    measure = chosen[0].measure
    if measure.references or measure.groups or measure.sequence:
        raise ValueError(
            f"`measures` must look at one set of samples in any order, but {measure.name} does "
            "not; pass it to `compute`"
        )
    if measure.needs not in ("similarity", "distances"):
        raise ValueError(
            "`measures` must be computed from similarities, since subsets are scored, but "
            f"{measure.name} reads {measure.needs}; pass each set to `compute`"
        )
    return None if measure.name == "VS" else chosen[0]


class MeasuredPart(Part):
    """Some samples, of which many subsets are scored by a measure; `log` is its value."""

    def __init__(self, similarity: Similarity, q: float, psd: PSD, m: int, chosen: Chosen) -> None:
        self.n: int = similarity.n
        self.similarity = similarity
        self.chosen = chosen
        self.subject: Subject = Subject(similarity, orders=[q], psd=psd)

    def value(self, places: np.ndarray) -> float:
        """Return the value of the measure for the samples at `places`."""
        (found,) = measure_each(self.subject.part(places), [self.chosen], [""])
        return float(scalar(next(iter(found.values()))))

    def score(self, places: np.ndarray) -> Matched:
        """Return the value with its delete-one error, or its error by halves of large sets."""
        m = len(places)
        if m > MATCHED:
            rng = np.random.default_rng(0)
            error = halves_error(m, lambda at: self.value(places[at]), m // 2, DRAWS, rng)
        else:
            error = delete_one_error(np.array([self.value(np.delete(places, i)) for i in range(m)]))
        return Matched(self.value(places), float(error))

    def measured(self, order: np.ndarray, m: int, seed: int) -> Matched:
        """Return the mean value over windows of m, with its error."""
        return matched(self.score, order, m)

    def quick(self, places: np.ndarray) -> Matched:
        """Return the values of sets at `places` (g, m), which are exchanged without errors."""
        return Matched(np.array([self.value(at) for at in places]), np.zeros(len(places)))

    def ends(self, found: Matched, level: float, m: int) -> Ends:
        """Return the value for m samples, and both ends of its interval."""
        low, high = self.chosen.measure.limits(m)
        reach = student_reach(level, found.units) * found.error
        return found.log, max(low, found.log - reach), min(high, found.log + reach)

    def standard_error(self, found: Matched) -> float:
        """Return the standard error of the value."""
        return float(found.error)
