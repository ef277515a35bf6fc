"""The answer: a flat dict of numbers by name, and how they came about."""

from __future__ import annotations

from collections import Counter
from typing import Any, TypedDict

import numpy as np

from .measures.registry import measure_all
from .measures.subject import Subject
from .optional import versions
from .request import Request
from .resolve import fit_source
from .signature import digest, digits, line, plain
from .similarity.base import Similarity
from .spectral.vendi import Spectral


class Details(TypedDict, total=False):
    """How numbers came about; the keys of measures that were not asked for are missing."""

    n: int
    distinct: int
    dropped: dict[int, str]
    kernel: str
    distance: str
    options: dict[str, Any]
    # Of the Vendi Score, by order.
    method: dict[str, str]
    why: dict[str, str]
    negative_mass: float | None
    cut: float | None
    # Of magnitude: at all scales that were solved for.
    scales: list[float]
    values: list[float]
    solver: dict[str, int]
    residual: float
    error: float
    notes: list[str]
    versions: dict[str, str]
    signature: str


def answer(subject: Subject, request: Request) -> dict[str, Any]:
    """The numbers that are asked for, and "details" if they are."""
    suffixes = [f"_q{digits(order)}" for order in request.orders] if request.several else [""]
    numbers = measure_all(subject, request.measures, suffixes)
    return numbers | ({"details": details(subject, request)} if request.details else {})


def details(subject: Subject, request: Request) -> Details:
    """How the numbers of a subject that was measured came about."""
    similarity = subject.similarity if "similarities" in subject.__dict__ else None
    found = subject.spectral if "spectral" in subject.__dict__ else None
    of_measures = _of_measures(request)
    settings = _settings(subject, request, similarity)
    report: Details = {
        "n": subject.n,
        "distinct": _distinct(subject, similarity),
        "dropped": dict(similarity.dropped) if similarity else {},
        "options": {},
    }
    if similarity:
        kernel, *options = similarity.settings.items() or [("kernel", type(similarity).__name__)]
        report["kernel"] = plain(kernel[1])
        report["options"] = {name: plain(value) for name, value in options}
        report |= _of_spectrum(found, request)
    if subject.seen:
        metric, *options = subject.space.settings.items()
        report["distance"] = plain(metric[1])
        report["options"] |= {name: plain(value) for name, value in options} | of_measures
        report["options"]["solver"] = subject.space.solver.method
        report |= _of_space(subject)
    report["notes"] = _notes(subject, similarity, found)
    report["versions"] = versions()
    names = [chosen.measure.name for chosen in request.measures]
    report["signature"] = line(names, settings | of_measures | {"n": subject.n} | _left(similarity))
    return report


def _left(similarity: Similarity | None) -> dict[str, int]:
    return {"dropped": len(similarity.dropped)} if similarity and similarity.dropped else {}


def _distinct(subject: Subject, similarity: Similarity | None) -> int:
    if subject.seen:
        return subject.space.distinct
    groups = similarity.groups() if similarity else None
    return subject.n if groups is None else len(np.unique(groups))


def _settings(subject: Subject, request: Request, similarity: Similarity | None) -> dict[str, Any]:
    """All that can change the numbers, but for the options of measures."""
    settings: dict[str, Any] = {}
    if similarity:
        settings |= similarity.settings or {"kernel": type(similarity).__name__}
        dtype = str(getattr(subject.samples, "dtype", ""))
        settings |= {"dtype": dtype} if dtype else {}
    if subject.seen:
        settings |= subject.space.settings | {"solver": subject.space.solver.method}
    if len(subject.seen) > 1:
        settings["references"] = digest(subject.spaces[1].D)
    if any(chosen.measure.weighted for chosen in request.measures):
        settings["p"] = "uniform" if subject.p is None else digest(subject.p)
    if any(chosen.measure.ordered for chosen in request.measures):
        settings["q"] = [digits(order) for order in request.orders]
        settings |= {"psd": request.psd} if request.psd != "check" else {}
    return settings


def _of_measures(request: Request) -> dict[str, Any]:
    """The options of measures; with the name of their measure where two have different ones."""
    every: dict[str, Any] = {}
    for measure, own in ((chosen.measure, chosen.settings) for chosen in request.measures):
        for name, value in own.items():
            same = plain(every.get(name, value)) == plain(value)
            every[name if same else f"{measure.name}.{name}"] = value
    return every


def _of_spectrum(found: Spectral | None, request: Request) -> Details:
    spectrum = found.spectrum if found else None
    names = [digits(order) for order in request.orders]
    by_order = dict(zip(names, found.estimates, strict=True)) if found else {}
    return {
        "method": {q: estimate.route for q, estimate in by_order.items()},
        "why": {q: estimate.why for q, estimate in by_order.items()},
        "negative_mass": spectrum.negative_mass if spectrum else None,
        "cut": spectrum.cut if spectrum else 0.0 if found else None,
    }


def _of_space(subject: Subject) -> Details:
    solutions = subject.space.solver.solutions
    return {
        "scales": [solution.t for solution in solutions],
        "values": [solution.magnitude for solution in solutions],
        "solver": dict(Counter(solution.method for solution in solutions)),
        "residual": max((solution.residual for solution in solutions), default=0.0),
        "error": max((solution.error for solution in solutions), default=0.0),
    }


def _notes(subject: Subject, similarity: Similarity | None, found: Spectral | None) -> list[str]:
    """What to know before a number is used, sentence by sentence."""
    notes = [*subject.notes]
    notes += similarity.notes if similarity else [n for space in subject.seen for n in space.notes]
    fitted = similarity.fitted if similarity else {}
    told = {name: plain(value) for name, value in fitted.items() if not isinstance(value, str)}
    if told:
        by = ", ".join(f"{name}={value}" for name, value in told.items())
        source = fit_source(subject.how, subject.names) if len(subject.names) > 1 else "samples"
        which = {"samples": "these samples", "references": "the references"}
        notes.append(
            f"The kernel was fitted to {which.get(source, 'all sets together')}: {by}. Scores of "
            f"other samples can be compared with this one if they are given the same."
        )
    spectrum = found.spectrum if found else None
    if spectrum and spectrum.cut:
        notes.append(
            f"Eigenvalues below {spectrum.cut:.2g} of the trace count as rounding and so as zero: "
            f"order 0 is the numerical rank, and orders near 0 leave out shares that small."
        )
    if found and spectrum is None:
        notes.append("No eigenvalues were needed, so that negative ones were not looked for.")
    return notes
