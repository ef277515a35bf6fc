"""Standard errors and intervals of numbers: by the delete-one jackknife, or from random halves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays.namespace import scalar, to_host
from ..errors import warn
from ..measures.evaluation import Chosen, measure_each
from ..measures.subject import Subject
from ..uncertainty.jackknife import influence_error, jackknife, quantile
from ..uncertainty.subsampling import DRAWS, MIN_SAMPLES, halves_error
from .request import Request

LEAST = 3  # of two samples, leaving one out leaves one, of which every score is the same
# Above order 2 leaving one out takes a root for each eigenvalue: of more samples than these, the
# infinitesimal jackknife has the same errors but for some percent.
MOST_ROOTS = 200
# Below this an error, of log VS say, is the rounding of 0.
_NO_WIDTH = 1e-9
_LOG = 1  # the least value of effective numbers, whose errors are those of the logarithm

MEANING = (
    "NAME_se is the standard error of the score of n samples: how much the scores of n samples of "
    "the same source vary"
)


@dataclass
class Sureness:
    """Errors and intervals, by keys of numbers and by suffix, and how they were found."""

    numbers: dict[str, dict[str, float]] = field(default_factory=dict)
    methods: dict[str, str] = field(default_factory=dict)  # by measure
    meaning: str = MEANING
    notes: list[str] = field(default_factory=list)
    table: list[dict[str, Any]] | None = None  # of groups, a row each
    spectra: tuple[float, float] | None = None  # of groups, the largest negative mass and cut

    def beside(self, scores: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the scores of all measures, each followed by its error and interval."""
        every: dict[str, Any] = {}
        for key, value in (item for own in scores for item in own.items()):
            every[key] = value
            every |= {f"{key}_{what}": x for what, x in self.numbers.get(key, {}).items()}
        return every


def sureness(subject: Subject, request: Request, scores: Sequence[Mapping[str, Any]]) -> Sureness:
    """Find the standard error, interval and corrected value of each score, as asked for."""
    found = Sureness()
    for chosen, own in zip(request.measures, scores, strict=True):
        name = chosen.measure.name
        closed = CLOSED.get(name) if request.interval != "subsample" else None
        if request.ci is not None:
            found.methods[name] = "jackknife" if closed else "subsample"
            errors = closed(subject) if closed else _subsampled(subject, chosen, request)
            limits = chosen.measure.limits(subject.n)
            for (key, value), error in zip(own.items(), errors, strict=True):
                if error < _NO_WIDTH:
                    found.notes.append(
                        f"{key}_se is 0 for want of evidence: no sample tells more than another, "
                        f"as where none repeats or all are one. The interval says nothing of what "
                        f"other samples of the source would score."
                    )
                found.numbers[key] = _interval(scalar(value), error, request.ci, limits)
        if request.corrected and name == "VS":
            for key, q in zip(own, subject.orders, strict=True):
                found.numbers.setdefault(key, {})["corrected"] = _corrected(subject, q, key)
    return found


def check_asked(n: int, request: Request) -> None:
    """Raise a ValueError for too few samples, and for a measure without such an error."""
    names = [chosen.measure.name for chosen in request.measures]
    without = [name for name in names if name not in CLOSED]
    if request.interval == "jackknife" and without:
        raise ValueError(
            f"`interval='jackknife'` is for {', '.join(CLOSED)}, and {without[0]} has no such "
            f"form; pass interval='auto', which takes subsampling for it"
        )
    if request.corrected and "VS" not in names:
        raise ValueError(
            "`corrected` is for the Vendi Score, which `measures` does not name; add 'VS' to it, "
            "or leave `corrected` out"
        )
    name = "corrected" if request.ci is None else "ci"
    drawn = request.ci is not None and (bool(without) or request.interval == "subsample")
    least = MIN_SAMPLES if drawn else LEAST
    if n < least:
        raise ValueError(
            f"`{name}` needs at least {least} samples, got {n}, of which nobody can tell how far "
            f"others would be; score more samples, or leave `{name}` out"
        )


def needs_vectors(request: Request) -> bool:
    """Return whether the eigenvectors of the similarity will be looked at."""
    of_vendi = any(chosen.measure.name == "VS" for chosen in request.measures)
    by_vectors = request.ci is not None and request.interval != "subsample"
    return of_vendi and (request.corrected or by_vectors)


def _interval(
    value: float, error: float, level: float, limits: tuple[float, float]
) -> dict[str, float]:
    reach = quantile(level) * error
    se, low, high = error, value - reach, value + reach
    if limits[0] >= _LOG:
        se, low, high = error * value, value * math.exp(-reach), value * math.exp(reach)
    return {"se": se, "low": max(low, limits[0]), "high": min(high, limits[1])}


def _corrected(subject: Subject, q: float, key: str) -> float:
    found = jackknife(subject.eigen, q)
    corrected = math.exp(max(0.0, found.corrected))
    if not found.saturated:
        warn(
            f"{key} is far from saturated: {subject.n} samples score {math.exp(found.log):.4g}, "
            f"{corrected:.4g} without the bias of order 1/n, and more samples would still add to "
            f"it; {key}_corrected takes off only part of the bias"
        )
    return corrected


def _of_spectrum(subject: Subject) -> list[float]:
    """Return the errors of log VS for each order."""
    spectrum = subject.eigen

    def error(q: float) -> float:
        slow = 2 < q < math.inf and spectrum.n > MOST_ROOTS
        return influence_error(spectrum, q) if slow else jackknife(spectrum, q).error

    return [error(q) for q in subject.orders]


def _of_sums(
    value: Callable[[int, np.ndarray], np.ndarray],
) -> Callable[[Subject], list[float]]:
    """Return the error of a measure of a sum, from the sums without each sample, shape (n,)."""

    def closed(subject: Subject) -> list[float]:
        n = subject.n
        rows = n * to_host(subject.ordinariness[1])  # sums of the rows of K
        own = to_host(subject.similarity.diagonal())
        left = value(n - 1, rows.sum() - 2 * rows + own)
        return [float(np.sqrt((n - 1) / n * np.sum((left - left.mean()) ** 2)))]

    return closed


# Measures whose leave-one-out values cost no more than the measure itself.
CLOSED: dict[str, Callable[[Subject], list[float]]] = {
    "VS": _of_spectrum,
    "IntDiv": _of_sums(lambda n, total: 1 - total / n**2),
    "AvgSim": _of_sums(lambda n, total: (total - n) / (n * (n - 1))),
}


def _subsampled(subject: Subject, chosen: Chosen, request: Request) -> list[float]:
    """Return the error of each number of any measure, from halves of the samples."""
    similar = "similarities" in subject.__dict__
    places = np.flatnonzero(subject.rows_came >= 0) if similar else np.arange(subject.n)
    of_log = chosen.measure.limits(subject.n)[0] >= _LOG

    def scores(rows: np.ndarray) -> np.ndarray:
        (found,) = measure_each(subject.part(places[rows]), [chosen], request.suffixes)
        values = np.array([scalar(value) for value in found.values()])
        return np.log(values) if of_log else values

    n = subject.n
    errors: np.ndarray = halves_error(n, scores, n // 2, DRAWS, np.random.default_rng(0))
    return errors.tolist()
