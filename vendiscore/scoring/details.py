"""The `details` of a score: how its numbers came about."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..magnitude.space import MetricSpace
from ..measures.subject import Subject
from ..optional import versions
from ..resolve.kernel_build import is_divisible
from ..resolve.sets import fit_source, fitted_options
from ..signature import UNKNOWN, digest, digits, line, plain
from ..similarity.base import Similarity
from ..similarity.identical import joint_groups
from ..similarity.residuals import echo_notes
from ..spectral.vendi_scores import Spectral
from ..support.namespace import scalar
from ..support.types import Options, Record
from .intervals import Uncertainty
from .request import Request
from .typical import nowhere, place_among

_UNKNOWN_SOURCE = (
    "The signature has the name of a function or an object only, since its source or a value in it "
    "is unknown: another one of that name has the same signature. Define it in a file, on a line "
    "of its own, with numbers and text as its values."
)


def details(
    subject: Subject, request: Request, given: Uncertainty | None, numbers: Options
) -> Record:
    """Return how the numbers of a measured subject came about, without keys of other measures."""
    uncertainty = given or Uncertainty()
    similarity = subject.similarity if subject.has_similarities else None
    scores = subject.spectral if "scores" in subject.needs else None
    sets = [subject] if subject.groups is None else subject.parts
    spaces_of_sets = [each.spaces for each in sets]
    spaces = [each[0] for each in spaces_of_sets if each]
    settings = _settings(subject, request, similarity, spaces_of_sets[0])
    table = uncertainty.table
    methods = uncertainty.methods
    if methods:
        settings["ci"] = request.ci
        settings["interval"] = list(dict.fromkeys(methods.values()))
        if uncertainty.allow_repeats is not None:
            settings["allow_repeats"] = uncertainty.allow_repeats
    if request.permutations is not None:
        settings["permutations"] = request.permutations
    if request.clusters is not None:
        settings["clusters"] = str(request.clusters)
    of_measures = _of_measures(request, settings)
    n = subject.n
    settings |= of_measures
    settings["n"] = n
    report: Record = {
        "n": n,
        "distinct": sum(each.space.distinct for each in sets) if spaces else _distinct(subject),
        "dropped": {},
        "options": {},
    }
    if similarity:
        report["dropped"] |= similarity.dropped
        of_kernel = similarity.settings or {"kernel": type(similarity).__name__}
        kernel, *options = plain(of_kernel).items()
        report["kernel"] = kernel[1]
        report["options"] = dict(options)
        report |= _of_spectrum(scores, request)
    if spaces or "distances" in request.pooled:
        of_metric = (spaces[0] if spaces else subject.both).settings
        metric, *options = plain(of_metric).items()
        report["distance"] = metric[1]
        report["options"] |= dict(options) | of_measures
    if spaces:
        solutions = [solution for space in spaces for solution in space.solver.solutions]
        report["options"]["solver"] = spaces[0].solver.method
        report["scales"] = [solution.t for solution in solutions]
        report["values"] = [solution.magnitude for solution in solutions]
        report["solver"] = dict(Counter(solution.method for solution in solutions))
        for name in ("residual", "error"):
            report[name] = max((getattr(solution, name) for solution in solutions), default=0.0)
    if table:
        report["groups"] = plain(table)
    if methods:
        report["interval"] = {
            "level": request.ci,
            "method": methods,
            "meaning": uncertainty.meaning,
            "assumes": uncertainty.assumes,
        }
    report |= nowhere()
    order = request.main_order
    key = request.vendi_key
    sizes = {n} if subject.groups is None else set(np.bincount(subject.codes).tolist())
    if similarity and not request.estimating and key in numbers and len(sizes) == 1:
        ends = [scalar(numbers[end]) for end in (f"{key}_low", f"{key}_high") if end in numbers]
        if not np.isfinite(ends).all():  # as for the mean over two groups
            ends = []
        value = scalar(numbers[key])
        report |= place_among(subject, sizes.pop(), order, value, subject.samples, ends)
    report["notes"] = [*uncertainty.notes, *_notes(subject, similarity, scores, spaces)]
    report["versions"] = versions()
    if report["dropped"]:
        settings["dropped"] = len(report["dropped"])
    report["signature"] = line(request.names, settings)
    if UNKNOWN in report["signature"]:
        report["notes"].append(_UNKNOWN_SOURCE)
    return report


def _distinct(subject: Subject) -> int:
    """Return how many samples differ, or differ from the others of their group."""
    if not subject.has_similarities:
        return subject.n
    if subject.groups is not None and is_divisible(subject.similarity):
        return sum(map(_distinct, subject.parts))  # compares no two groups
    same = subject.similarity.groups()
    if same is None:
        return subject.n
    if subject.groups is not None:
        same = joint_groups([subject.codes, same])
    return len(np.unique(same))


def _settings(
    subject: Subject,
    request: Request,
    similarity: Similarity | None,
    spaces: Sequence[MetricSpace],
) -> Record:
    """Return all that can change the numbers, but for the options of measures."""
    settings: Record = {}
    if "distances" in request.pooled and not spaces:
        settings |= subject.both.settings
    if similarity:
        settings |= similarity.settings or {"kernel": type(similarity).__name__}
        dtype = str(getattr(subject.samples, "dtype", ""))
        if dtype:
            settings["dtype"] = dtype
    for name, value in subject.settings.items():
        settings.setdefault(name, value)
    if spaces:
        settings |= spaces[0].settings | {"solver": spaces[0].solver.method}
    if request.pooled:
        settings["references"] = subject.both.digest
    elif len(spaces) > 1:
        settings["references"] = digest(spaces[1].D)
    if subject.groups is not None:
        settings["groups"] = str(subject.groups)
    if any(chosen.measure.weighted for chosen in request.measures):
        settings["p"] = "uniform" if subject.p is None else digest(subject.p)
    if any(chosen.measure.ordered for chosen in request.measures):
        settings["q"] = [digits(order) for order in request.orders]
        if request.estimating is not None:
            settings |= {"method": "estimate", **vars(request.estimating)}
    if request.psd != "check" and similarity:
        settings["psd"] = request.psd
    return settings


def _of_measures(request: Request, settings: Options) -> Record:
    """Return the options of measures, with the measure's name where others or `settings` differ."""
    every: Record = {}
    for chosen in request.measures:
        for name, value in plain(chosen.settings).items():
            known = every.get(name, plain(settings.get(name, value)))
            key = name if known == value else f"{chosen.measure.name}.{name}"
            every[key] = value
    return every


def _of_spectrum(scores: Spectral | None, request: Request) -> Record:
    """Report the spectrum of a Vendi Score; None of groups, each of which has its own."""
    report: Record = {"method": {}, "why": {}, "negative_mass": None, "cut": None}
    if scores:
        report["cut"] = 0.0
        for order, estimate in zip(request.orders, scores.estimates, strict=True):
            report["method"][digits(order)] = estimate.route
            report["why"][digits(order)] = estimate.why
        if scores.spectrum:
            report["negative_mass"] = scores.spectrum.negative_mass
            report["cut"] = scores.spectrum.cut
    return report


def _notes(
    subject: Subject,
    similarity: Similarity | None,
    scores: Spectral | None,
    spaces: Sequence[MetricSpace],
) -> list[str]:
    """Return what to know before a number is used, a sentence each."""
    notes = [*subject.notes]
    if similarity:
        notes += [*similarity.notes, *echo_notes(similarity)]
        options = fitted_options(similarity)
        if options:
            source = "samples"
            if len(subject.names) > 1:
                source = fit_source(subject.how, subject.names)
            sets = {"samples": "these samples", "references": "the references"}
            notes.append(
                f"The kernel was fitted to {sets.get(source, 'all sets together')}: {options}. "
                "Scores of other samples can be compared with this one if they are given the same."
            )
    elif spaces:
        notes += spaces[0].notes
    if scores is None:
        return notes
    spectrum = scores.spectrum
    if spectrum and min(subject.orders) < 1:
        notes += spectrum.notes
    if any(estimate.error for estimate in scores.estimates):
        notes.append(
            "Some scores are estimates: NAME_se is the standard error of the computation; it does "
            "not say how other samples would score."
        )
        notes.append("An estimate finds large negative eigenvalues only.")
    elif spectrum is None:
        notes.append("No eigenvalues were needed, so negative ones were not checked for.")
    return notes
