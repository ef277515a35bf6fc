"""Details of a score: settings, fitted options, dropped samples, notes and signature."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..magnitude.space import MetricSpace
from ..measures.sample_set import SampleSet
from ..resolve.kernel_builder import can_compute_subsets_separately
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

_CLASS_KERNELS = ("equivalence", "labels")  # kernels whose values are only 0 and 1
_UNKNOWN_SOURCE_NOTE = (
    "The signature contains only the name of a function or an object, because its source code or a "
    "value that it uses is unknown. A different function or object of the same name has the same "
    "signature. To avoid this, define the function in a file, on its own line, and use only "
    "numbers and strings as values."
)


def build_details(
    sample_set: SampleSet,
    request: ScoreRequest,
    computed_uncertainty: Uncertainty | None,
    values: Options,
) -> Record:
    """Return the dict for the key "details" of a result of `compute`.

    `values` are the other entries of the result. `computed_uncertainty` contains the standard
    errors and intervals of the scores; it is None if they have none.
    """
    uncertainty = computed_uncertainty or Uncertainty()
    similarity = sample_set.similarity if sample_set.has_similarities else None
    scores = sample_set.spectral if "scores" in sample_set.needs else None
    # The set itself, or its groups; and for each of them the MetricSpaces of its samples and
    # references, if a measure uses distances.
    sets = [sample_set] if sample_set.groups is None else sample_set.parts
    spaces_by_set = [item.spaces for item in sets]
    spaces = [spaces_of_set[0] for spaces_of_set in spaces_by_set if spaces_of_set]
    dropped = dict(similarity.dropped) if similarity else {}

    # The signature contains all settings that affect the results.
    settings = _collect_settings(sample_set, request, similarity, spaces_by_set[0])
    settings |= _collect_interval_settings(uncertainty, request)
    measure_options = _collect_measure_options(request, settings)
    settings |= measure_options | {"n": sample_set.n}
    if dropped:
        settings["dropped"] = len(dropped)
    signature = format_signature(request.names, settings)

    notes = [*uncertainty.notes, *_collect_notes(sample_set, similarity, scores, spaces)]
    notes += _describe_classes(request, similarity)
    if UNKNOWN_SOURCE in signature:
        notes.append(_UNKNOWN_SOURCE_NOTE)

    # `options` are the options of the kernel, the metric and the measures; `report` contains the
    # entries of "details" that depend on what was computed.
    report: Record = {}
    options: Record = {}
    if similarity:
        report["kernel"], options = _split_name(_get_kernel_settings(similarity))
        report |= _build_spectrum_report(scores, request)
    # Distances of the samples, or only those of the samples and references as one set (`both`).
    if spaces or "distances" in request.pooled_needs:
        metric_settings = (spaces[0] if spaces else sample_set.both).settings
        report["distance"], metric_options = _split_name(metric_settings)
        options |= metric_options | measure_options
    if spaces:
        options["solver"] = spaces[0].solver.method
        report |= _build_solver_report(spaces)
    n_distinct = (
        sum(item.space.distinct for item in sets) if spaces else _count_distinct(sample_set)
    )
    return {
        "n": sample_set.n,
        "distinct": n_distinct,
        "dropped": dropped,
        "options": options,
        **report,
        **_build_interval_report(uncertainty, request),
        **_compare_with_typical(sample_set, request, values),
        "notes": notes,
        "versions": versions(),
        "signature": signature,
    }


def _split_name(settings: Options) -> tuple[Any, Record]:
    """Split the settings of a kernel or metric into its name and its other settings.

    The name is the value of the first setting.
    """
    (_, name), *options = to_plain(settings).items()
    return name, dict(options)


def _get_kernel_settings(similarity: Similarity) -> Options:
    """Return the settings of a Similarity, or the name of its class if it has none."""
    return similarity.settings or {"kernel": type(similarity).__name__}


def _collect_interval_settings(uncertainty: Uncertainty, request: ScoreRequest) -> Record:
    """Return the settings that affect intervals and permutation tests, for the signature.

    The signature is the line in "details" that identifies how a score was computed.
    """
    settings: Record = {}
    if uncertainty.methods:
        settings["ci"] = request.ci
        settings["interval"] = list(dict.fromkeys(uncertainty.methods.values()))
        settings["allow_repeats"] = uncertainty.allow_repeats
    settings["permutations"] = request.permutations
    settings["clusters"] = None if request.clusters is None else str(request.clusters)
    return {name: value for name, value in settings.items() if value is not None}


def _build_interval_report(uncertainty: Uncertainty, request: ScoreRequest) -> Record:
    """Return two entries of "details": "groups", a table with a row per group, and "interval".

    "interval" describes how intervals were computed. Each entry is omitted if it does not apply.
    """
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


def _build_solver_report(spaces: Sequence[MetricSpace]) -> Record:
    """Return the scales, values, solvers and errors of all magnitudes computed for `spaces`.

    They are entries of "details".
    """
    solutions = [solution for space in spaces for solution in space.solver.solutions]
    return {
        "scales": [solution.t for solution in solutions],
        "values": [solution.magnitude for solution in solutions],
        "solver": dict(Counter(solution.method for solution in solutions)),
        "residual": max((solution.residual for solution in solutions), default=0.0),
        "error": max((solution.error for solution in solutions), default=0.0),
    }


def _compare_with_typical(sample_set: SampleSet, request: ScoreRequest, values: Options) -> Record:
    """Return the entries of "details" that compare the Vendi Score with those of reference sets.

    The entries are empty if there is no Vendi Score, if it is an estimate, or if groups differ in
    size.
    """
    key = request.vendi_key
    sizes = {sample_set.n}
    if sample_set.groups is not None:
        sizes = set(np.bincount(sample_set.codes).tolist())
    is_estimate = request.estimate_options is not None
    if not sample_set.has_similarities or is_estimate or key not in values or len(sizes) > 1:
        return empty_reference_scale()
    interval_keys = (f"{key}_low", f"{key}_high")
    interval = [to_float(values[name]) for name in interval_keys if name in values]
    if not np.isfinite(interval).all():  # such as the interval of the mean over two groups
        interval = []
    (n,) = sizes
    value = to_float(values[key])
    return compare_with_typical(
        sample_set, n, request.main_order, value, sample_set.samples, interval
    )


def _count_distinct(sample_set: SampleSet) -> int:
    """Return the number of distinct samples; with groups, the sum over groups."""
    if not sample_set.has_similarities:
        return sample_set.n
    if sample_set.groups is not None and can_compute_subsets_separately(sample_set.similarity):
        return sum(map(_count_distinct, sample_set.parts))  # no similarities between groups
    duplicate_codes = sample_set.similarity.groups()
    if duplicate_codes is None:
        return sample_set.n
    if sample_set.groups is not None:
        duplicate_codes = joint_groups([sample_set.codes, duplicate_codes])
    return len({*duplicate_codes.tolist()})  # np.unique would import numpy.ma


def _collect_settings(
    sample_set: SampleSet,
    request: ScoreRequest,
    similarity: Similarity | None,
    spaces: Sequence[MetricSpace],
) -> Record:
    """Return the settings that affect the results, except options of measures and intervals.

    They become part of the signature, the line in "details" that identifies how a score was
    computed. `spaces` are the MetricSpaces of the samples and the references, or of the first group
    and the references. It is empty if no measure uses distances.
    """
    settings: Record = {}
    if "distances" in request.pooled_needs and not spaces:
        settings |= sample_set.both.settings
    if similarity:
        settings |= _get_kernel_settings(similarity)
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
    if any(configured.measure.weighted for configured in request.measures):
        settings["p"] = "uniform" if sample_set.p is None else compute_digest(sample_set.p)
    if any(configured.measure.ordered for configured in request.measures):
        settings["q"] = [format_number(order) for order in request.orders]
        if request.estimate_options is not None:
            settings |= {"method": "estimate", **vars(request.estimate_options)}
    if request.psd != "check" and similarity:
        settings["psd"] = request.psd
    return settings


def _collect_measure_options(request: ScoreRequest, settings: Options) -> Record:
    """Return the options of all measures of a request, as a dict from option names to values.

    If an option has a different value in an earlier measure or in `settings`, its key is prefixed
    with the name of the measure, as in "Magnitude.t".
    """
    options: Record = {}
    for configured in request.measures:
        for name, value in to_plain(configured.settings).items():
            other_value = options.get(name, to_plain(settings.get(name, value)))
            key = name if other_value == value else f"{configured.measure.name}.{name}"
            options[key] = value
    return options


def _build_spectrum_report(scores: ScoresByOrder | None, request: ScoreRequest) -> Record:
    """Return the entries of "details" that describe how Vendi Scores were computed, by order.

    They are the method, the reason for choosing it, the sum of negative eigenvalues, and the
    largest threshold below which eigenvalues were set to 0. The entries are empty if `scores` is
    None. This is the case for groups, because each group has its own spectrum, and if no measure
    uses Vendi Scores.
    """
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


def _describe_classes(request: ScoreRequest, similarity: Similarity | None) -> list[str]:
    """Return a list with a note on measures that count classes of equivalent samples.

    Such measures have the option `same_above`, for example "DistinctK". Under a kernel with values
    other than 0 and 1, their classes depend on this threshold, and the note says so. The list is
    empty under other kernels, and without such measures.
    """
    class_measures = [
        configured for configured in request.measures if "same_above" in configured.measure.options
    ]
    kernel = similarity.settings.get("kernel", "") if similarity else ""
    if not class_measures or not kernel or kernel in _CLASS_KERNELS:
        return []
    names = ", ".join(configured.measure.name for configured in class_measures)
    threshold = class_measures[0].settings["same_above"]
    verb = "uses" if len(class_measures) == 1 else "use"
    return [
        f"{names} {verb} classes of samples whose similarity under the kernel {kernel!r} exceeds "
        f"same_above={format_number(threshold)}. For classes of equivalent samples, pass "
        f"k='equivalence' or k='labels'."
    ]


def _collect_notes(
    sample_set: SampleSet,
    similarity: Similarity | None,
    scores: ScoresByOrder | None,
    spaces: Sequence[MetricSpace],
) -> list[str]:
    """Return the notes on how to use the results, which `details=True` adds to "details".

    `similarity` and `scores` are None if no measure uses them. `spaces` are the MetricSpaces of the
    samples, or of each group; empty if no measure uses distances.
    """
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
                f"Kernel options were fitted to {sets.get(source, 'the pooled sets')}: {options}. "
                "To compare other sets with this score, pass the same value."
            )
    elif spaces:
        notes += spaces[0].notes
    if scores is None:
        return notes
    spectrum = scores.spectrum
    if spectrum and min(sample_set.orders) < 1:  # small eigenvalues matter only for these orders
        notes += spectrum.notes
    if any(estimate.error for estimate in scores.estimates):
        notes.append(
            "Some scores are estimates. NAME_se is the standard error of the computation and does "
            "not include the variation between samples."
        )
        notes.append("Small negative eigenvalues are not detected by an estimate.")
    elif spectrum is None:
        notes.append("Eigenvalues were not computed, so negative eigenvalues are not detected.")
    return notes
