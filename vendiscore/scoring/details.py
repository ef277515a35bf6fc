"""Details of a score: settings, fitted options, dropped samples, notes and signature."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..magnitude.space import MetricSpace
from ..measures.sample_set import SampleSet
from ..resolve.kernel_builder import is_divisible
from ..resolve.similarity_builder import fit_source, format_fitted_options
from ..similarity.base import Similarity
from ..similarity.duplicate_rows import joint_groups
from ..similarity.prompt_residuals import repeated_prompt_notes
from ..spectral.spectrum import ScoresByOrder
from ..support.namespace import to_float
from ..support.optional import versions
from ..support.signature import (
    UNKNOWN_SOURCE,
    compute_digest,
    format_number,
    format_signature,
    to_plain,
)
from ..support.types import Options, Record
from .intervals import Uncertainty
from .score_request import ScoreRequest
from .typical import compare_with_typical, empty_reference_scale

_UNKNOWN_SOURCE = (
    "The signature has the name of a function or an object only, since its source or a value in it "
    "is unknown: another one of that name has the same signature. Define it in a file, on a line "
    "of its own, with numbers and text as its values."
)


def build_details(
    sample_set: SampleSet,
    request: ScoreRequest,
    computed_uncertainty: Uncertainty | None,
    values: Options,
) -> Record:
    """Return the details of the results of a sample set, without values of other measures."""
    uncertainty = computed_uncertainty or Uncertainty()
    similarity = sample_set.similarity if sample_set.has_similarities else None
    scores = sample_set.spectral if "scores" in sample_set.needs else None
    sets = [sample_set] if sample_set.groups is None else sample_set.parts
    spaces_of_sets = [each.spaces for each in sets]
    spaces = [each[0] for each in spaces_of_sets if each]
    dropped = dict(similarity.dropped) if similarity else {}

    settings = _collect_settings(sample_set, request, similarity, spaces_of_sets[0])
    settings |= _interval_settings(uncertainty, request)
    measure_options = _measure_options(request, settings)
    settings |= measure_options | {"n": sample_set.n}
    if dropped:
        settings["dropped"] = len(dropped)
    signature = format_signature(request.names, settings)

    notes = [*uncertainty.notes, *_collect_notes(sample_set, similarity, scores, spaces)]
    if UNKNOWN_SOURCE in signature:
        notes.append(_UNKNOWN_SOURCE)

    report: Record = {}
    options: Record = {}
    if similarity:
        report["kernel"], options = _split_name(_kernel_settings(similarity))
        report |= _spectrum_report(scores, request)
    if spaces or "distances" in request.pooled_needs:
        of_metric = (spaces[0] if spaces else sample_set.both).settings
        report["distance"], metric_options = _split_name(of_metric)
        options |= metric_options | measure_options
    if spaces:
        options["solver"] = spaces[0].solver.method
        report |= _solver_report(spaces)
    return {
        "n": sample_set.n,
        "distinct": sum(each.space.distinct for each in sets)
        if spaces
        else _count_distinct(sample_set),
        "dropped": dropped,
        "options": options,
        **report,
        **_interval_report(uncertainty, request),
        **_compare_with_typical(sample_set, request, values),
        "notes": notes,
        "versions": versions(),
        "signature": signature,
    }


def _split_name(settings: Options) -> tuple[Any, Record]:
    """Return the name of a kernel or metric (its first setting) and the remaining settings."""
    name, *options = to_plain(settings).items()
    return name[1], dict(options)


def _kernel_settings(similarity: Similarity) -> Options:
    return similarity.settings or {"kernel": type(similarity).__name__}


def _interval_settings(uncertainty: Uncertainty, request: ScoreRequest) -> Record:
    """Return all settings that can change intervals and permutation results."""
    settings: Record = {}
    if uncertainty.methods:
        settings["ci"] = request.ci
        settings["interval"] = list(dict.fromkeys(uncertainty.methods.values()))
        settings["allow_repeats"] = uncertainty.allow_repeats
    settings["permutations"] = request.permutations
    settings["clusters"] = None if request.clusters is None else str(request.clusters)
    return {name: value for name, value in settings.items() if value is not None}


def _interval_report(uncertainty: Uncertainty, request: ScoreRequest) -> Record:
    """Return the numbers of groups, and the methods of the intervals, if any."""
    report: Record = {}
    if uncertainty.table:
        report["groups"] = to_plain(uncertainty.table)
    if uncertainty.methods:
        report["interval"] = {
            "level": request.ci,
            "method": uncertainty.methods,
            "meaning": uncertainty.meaning,
            "assumes": uncertainty.assumes,
        }
    if uncertainty.pooled_groups is not None:
        report["interval"]["pooled_groups"] = uncertainty.pooled_groups
    return report


def _solver_report(spaces: Sequence[MetricSpace]) -> Record:
    """Report the scales, the solver and its accuracy for magnitude weights."""
    solutions = [solution for space in spaces for solution in space.solver.solutions]
    return {
        "scales": [solution.t for solution in solutions],
        "values": [solution.magnitude for solution in solutions],
        "solver": dict(Counter(solution.method for solution in solutions)),
        "residual": max((solution.residual for solution in solutions), default=0.0),
        "error": max((solution.error for solution in solutions), default=0.0),
    }


def _compare_with_typical(sample_set: SampleSet, request: ScoreRequest, values: Options) -> Record:
    """Compare the Vendi Score with reference sets if it is exact and groups have equal size."""
    key = request.vendi_key
    sizes = (
        {sample_set.n} if sample_set.groups is None else set(np.bincount(sample_set.codes).tolist())
    )
    estimated = request.estimate_options is not None
    if not sample_set.has_similarities or estimated or key not in values or len(sizes) > 1:
        return empty_reference_scale()
    ends = [to_float(values[end]) for end in (f"{key}_low", f"{key}_high") if end in values]
    if not np.isfinite(ends).all():  # such as the mean over two groups
        ends = []
    (n,) = sizes
    value = to_float(values[key])
    return compare_with_typical(sample_set, n, request.main_order, value, sample_set.samples, ends)


def _count_distinct(sample_set: SampleSet) -> int:
    """Return the number of distinct samples; with groups, the sum over groups."""
    if not sample_set.has_similarities:
        return sample_set.n
    if sample_set.groups is not None and is_divisible(sample_set.similarity):
        return sum(map(_count_distinct, sample_set.parts))  # avoids comparing groups
    same = sample_set.similarity.groups()
    if same is None:
        return sample_set.n
    if sample_set.groups is not None:
        same = joint_groups([sample_set.codes, same])
    return len(np.unique(same))


def _collect_settings(
    sample_set: SampleSet,
    request: ScoreRequest,
    similarity: Similarity | None,
    spaces: Sequence[MetricSpace],
) -> Record:
    """Return all settings that can change the results, except options of measures."""
    settings: Record = {}
    if "distances" in request.pooled_needs and not spaces:
        settings |= sample_set.both.settings
    if similarity:
        settings |= _kernel_settings(similarity)
        dtype = str(getattr(sample_set.samples, "dtype", ""))
        if dtype:
            settings["dtype"] = dtype
    for name, value in sample_set.settings.items():
        settings.setdefault(name, value)
    if spaces:
        settings |= spaces[0].settings | {"solver": spaces[0].solver.method}
    if request.pooled_needs:
        settings["references"] = sample_set.both.digest
    elif len(spaces) > 1:
        settings["references"] = compute_digest(spaces[1].D)
    if sample_set.groups is not None:
        settings["groups"] = str(sample_set.groups)
    if any(chosen.measure.weighted for chosen in request.measures):
        settings["p"] = "uniform" if sample_set.p is None else compute_digest(sample_set.p)
    if any(chosen.measure.ordered for chosen in request.measures):
        settings["q"] = [format_number(order) for order in request.orders]
        if request.estimate_options is not None:
            settings |= {"method": "estimate", **vars(request.estimate_options)}
    if request.psd != "check" and similarity:
        settings["psd"] = request.psd
    return settings


def _measure_options(request: ScoreRequest, settings: Options) -> Record:
    """Return options of measures, prefixed with the measure's name if values or settings differ."""
    every: Record = {}
    for chosen in request.measures:
        for name, value in to_plain(chosen.settings).items():
            known = every.get(name, to_plain(settings.get(name, value)))
            key = name if known == value else f"{chosen.measure.name}.{name}"
            every[key] = value
    return every


def _spectrum_report(scores: ScoresByOrder | None, request: ScoreRequest) -> Record:
    """Report the spectrum of a Vendi Score; None for groups, because each has its own."""
    if scores is None:
        return {"method": {}, "why": {}, "negative_mass": None, "cut": None}
    spectrum = scores.spectrum
    estimates = dict(zip(map(format_number, request.orders), scores.estimates, strict=True))
    return {
        "method": {q: estimate.route for q, estimate in estimates.items()},
        "why": {q: estimate.reason for q, estimate in estimates.items()},
        "negative_mass": spectrum.negative_mass if spectrum else None,
        "cut": spectrum.largest_threshold if spectrum else 0.0,
    }


def _collect_notes(
    sample_set: SampleSet,
    similarity: Similarity | None,
    scores: ScoresByOrder | None,
    spaces: Sequence[MetricSpace],
) -> list[str]:
    """Return notes on the use of the results, one sentence each."""
    notes = [*sample_set.notes]
    if similarity:
        notes += [*similarity.notes, *repeated_prompt_notes(similarity)]
        options = format_fitted_options(similarity)
        if options:
            source = "samples"
            if len(sample_set.names) > 1:
                source = fit_source(sample_set.spec, sample_set.names)
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
    if spectrum and min(sample_set.orders) < 1:
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
