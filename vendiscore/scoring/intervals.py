"""How sure each number is: standard errors and intervals, by what suits its measure.

The Vendi Score and averages of similarities have all their leave-one-out values at the cost of one:
their error is the delete-one jackknife. Other measures are computed again for halves of the
samples, drawn without replacement. Either is the standard error of the score *of n samples*: how
far another n of the same source would come out, and no estimate for more of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy

from ..arrays.namespace import scalar, to_host
from ..errors import warn
from ..measures.evaluation import Chosen, measure_each
from ..measures.subject import Subject
from ..uncertainty.jackknife import influence_error, jackknife
from ..uncertainty.subsampling import MIN_SAMPLES, subsample_error
from .request import Request

# Leaving one of two samples out leaves one, of which every score is the same.
LEAST = 3
# Above order 2 leaving one out takes a root for each eigenvalue: of more samples than these, errors
# are those of the infinitesimal jackknife, which by then is as large but for some percent.
MOST_ROOTS = 200
# Below this an error, of log VS say, is the rounding of 0.
_NO_WIDTH = 1e-9

MEANING = (
    "NAME_se is the standard error of the score of n samples: how much the scores of n samples of "
    "the same source vary"
)


@dataclass
class Sureness:
    """What is added to the numbers, by their keys and by suffix, and how it was found."""

    numbers: dict[str, dict[str, float]] = field(default_factory=dict)
    methods: dict[str, str] = field(default_factory=dict)  # by measure
    meaning: str = MEANING
    notes: list[str] = field(default_factory=list)

    def beside(self, scores: Mapping[str, Any]) -> dict[str, Any]:
        """Return the scores, each followed by what goes with it."""
        every: dict[str, Any] = {}
        for key, value in scores.items():
            every[key] = value
            every |= {f"{key}_{what}": x for what, x in self.numbers.get(key, {}).items()}
        return every


def sureness(
    subject: Subject,
    request: Request,
    scores: Sequence[Mapping[str, Any]],
) -> Sureness:
    """Return the standard error and interval of each score, and its corrected value, as asked
    for."""
    found = Sureness()
    for chosen, own in zip(request.measures, scores, strict=True):
        name = chosen.measure.name
        closed = CLOSED.get(name)
        limits = chosen.measure.limits(subject.n)
        if request.ci is not None:
            method = request.interval
            if method == "auto":
                method = "jackknife" if closed else "subsample"
            if method == "jackknife" and closed is not None:
                errors = closed(subject)
            else:
                errors = _subsampled(subject, chosen, request.suffixes, len(own))
            found.methods[name] = method
            for (key, value), error in zip(own.items(), errors, strict=True):
                if error.se < _NO_WIDTH:
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


@dataclass(frozen=True)
class _Error:
    """A standard error, on the scale of logarithms or of the number itself."""

    se: float
    of_log: bool


def _interval(
    value: float, error: _Error, level: float, limits: tuple[float, float]
) -> dict[str, float]:
    reach = float(scipy.special.ndtri((1 + level) / 2)) * error.se
    low, high = value - reach, value + reach
    if error.of_log:
        low, high = value * math.exp(-reach), value * math.exp(reach)
    se = error.se * value if error.of_log else error.se
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


def _of_spectrum(subject: Subject) -> list[_Error]:
    """Return the errors of the Vendi Score for each order."""
    spectrum = subject.eigen

    def error(q: float) -> float:
        slow = 2 < q < math.inf and spectrum.n > MOST_ROOTS
        return influence_error(spectrum, q) if slow else jackknife(spectrum, q).error

    return [_Error(error(q), True) for q in subject.orders]


def _of_sums(
    value: Callable[[int, np.ndarray], np.ndarray],
) -> Callable[[Subject], list[_Error]]:
    """Return the error of a measure of a sum, from the sums without each sample, shape (n,)."""

    def closed(subject: Subject) -> list[_Error]:
        n = subject.n
        rows = n * to_host(subject.ordinariness[1])  # sums of the rows of K
        own = to_host(subject.similarity.diagonal())
        left = value(n - 1, rows.sum() - 2 * rows + own)
        return [_Error(float(np.sqrt((n - 1) / n * np.sum((left - left.mean()) ** 2))), False)]

    return closed


# Measures whose leave-one-out values cost no more than the measure itself.
CLOSED: dict[str, Callable[[Subject], list[_Error]]] = {
    "VS": _of_spectrum,
    "IntDiv": _of_sums(lambda n, total: 1 - total / n**2),
    "AvgSim": _of_sums(lambda n, total: (total - n) / (n * (n - 1))),
}


def _subsampled(
    subject: Subject, chosen: Chosen, suffixes: Sequence[str], numbers: int
) -> list[_Error]:
    """Return the error of each number of any measure, from halves of the samples."""
    similar = "similarities" in subject.__dict__
    places = np.flatnonzero(subject.row_of >= 0) if similar else np.arange(subject.n)
    of_log = chosen.measure.limits(subject.n)[0] >= 1  # such as effective numbers
    known: dict[bytes, list[float]] = {}

    def scores(rows: np.ndarray) -> list[float]:
        key = rows.tobytes()
        if key not in known:
            (found,) = measure_each(subject.part(places[rows]), [chosen], suffixes)
            values = [scalar(value) for value in found.values()]
            known[key] = [math.log(value) for value in values] if of_log else values
        return known[key]

    def error(i: int) -> _Error:
        return _Error(subsample_error(subject.n, lambda rows: scores(rows)[i]), of_log)

    return [error(i) for i in range(numbers)]
