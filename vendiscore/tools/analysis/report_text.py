"""Sentences about the content of a report, for reports, the web app and its API."""

import numpy as np

from ...measures.measure import Aspect, Measure, list_measures
from ...resolve.kernel import list_kernels
from ...support.namespace import to_float, to_host
from .report_data import ReportData

__all__ = [
    "describe_direction",
    "describe_dropped",
    "describe_duplicates",
    "describe_heat_map",
    "describe_interval",
    "describe_kernel",
    "describe_references",
    "describe_score",
    "describe_subsample",
    "find_measure",
    "format_row",
    "format_short",
]

# A score below this is reported as one sample.
ONE = 1.05
NUMBERS = 4  # numbers of a row that are shown
# Methods of intervals of means over groups.
_GROUP_METHODS = {
    "student": "Student's t",
    "bootstrap": "Bayesian bootstrap, at least Student's t of the logit",
}
# Words for more of each aspect.
_MORE: dict[Aspect, str] = {
    "diversity": "more diverse",
    "dimension": "of higher dimension",
    "fidelity": "more like the references",
    "likeness": "more similar",
}


def describe_score(found: ReportData, what: str) -> str:
    """Explain the main value in a sentence; `what` is a plural noun such as "texts"."""
    n = found.n
    score = found.value
    if not found.is_vendi:
        known = find_measure(found.key)
        return (
            f"{found.key}: {known.summary} {describe_direction(known).capitalize()}."
            if known
            else ""
        )
    if found.grouped:
        return _describe_group_mean(found, what)
    if n == 1:
        return "The score of a single sample is always 1; add more samples."
    if score < ONE:
        return f"According to this kernel, these {n:,} {what} are nearly identical."
    share = float(to_host(found.spectrum.values)[0])
    return (
        f"This set of {n:,} {what} is as diverse as {score:.1f} {what} that have nothing in "
        f"common; its largest eigenvalue makes up {100 * share:.0f} % of the total."
    )


def _describe_group_mean(found: ReportData, what: str) -> str:
    sizes = found.sizes
    se = found.interval["se"]
    if se is None:
        return (
            f"There is only one group, with {sizes[0]} {what}; this is its score. Several groups "
            f"have a mean with a standard error."
        )
    least = min(sizes)
    most = max(sizes)
    size = str(least) if least == most else f"{least} to {most}"
    return (
        f"The mean effective number of {what} in a group is {found.value:.2f} ± {se:.2f}, of "
        f"{size}. ± is one standard error over {len(sizes):,} groups: the mean over other groups "
        f"from the same source would typically differ by about this much."
    )


def describe_interval(found: ReportData, what: str) -> str:
    """Describe the interval of the main value, or why it has none."""
    se, low, high = found.interval.values()
    if found.request.estimate_options is not None:
        if not se:
            return f"The score is exact, although an estimate was requested. {found.no_interval}"
        error = f"This score is an estimate with a standard error of {se:.2g}."
        return f"{error} {found.no_interval}"
    if low is None or high is None or se is None:
        return found.no_interval or "No interval was requested."
    sizes = found.sizes
    if found.grouped and low <= 1 and high >= sum(sizes) / len(sizes):
        return (
            f"There is no interval, because the scores of {len(sizes)} groups differ too much. If "
            f"the groups are models, compare them instead of averaging their scores."
        )
    percent = f"{100 * float(found.details['interval']['level']):g}"
    if found.grouped:
        return (
            f"{percent} % interval of the mean over groups: {format_short(low)} to "
            f"{format_short(high)} "
            f"({_GROUP_METHODS[_interval_method(found)]})."
        )
    return (
        f"{percent} % interval: {format_short(low)} to {format_short(high)}. "
        f"A new set of {found.n:,} {what} of "
        f"the same source would typically score within about "
        f"{format_short(se) if se >= 1 else f'{se:.2g}'} of this (one standard error)."
    )


def _interval_method(found: ReportData) -> str:
    """Return the method of the interval of the main value."""
    known = find_measure(found.key)
    assert known is not None
    return str(found.details["interval"]["method"][known.name])


def describe_kernel(found: ReportData) -> str:
    """Describe the kernel or metric that compares the samples."""
    details = found.details
    if "kernel" not in details:
        return f"Distances: {details['distance']}."
    name = str(details["kernel"])
    kernel = {each.name: each for each in list_kernels()}.get(name)
    if kernel is None:
        return f"Samples were compared by {name}."
    said = ", ".join(
        f"{key}={value!r}"
        for key, value in details["options"].items()
        if key in kernel.options and value is not None and value != ""
    )
    summary = f" {kernel.summary.rstrip('.')}." if kernel.summary else ""
    given = ", given the prompt" if details["options"].get("prompts") else ""
    return f"Samples were compared by {name}{f' ({said})' if said else ''}{given}.{summary}"


def describe_references(found: ReportData) -> str:
    """Describe which measures compare samples with references; empty if none does."""
    if not found.request.two_sample_measures:
        return ""
    measures = [chosen.measure for chosen in found.request.measures]
    names = ", ".join(each.name for each in measures if each.references)
    return f"Samples were compared with the references by {names}."


def describe_dropped(found: ReportData) -> str:
    """Describe the dropped samples; empty if there are none."""
    dropped = found.details["dropped"]
    if not dropped:
        return ""
    place, why = next(iter(dropped.items()))
    several = "1 sample" if len(dropped) == 1 else f"{len(dropped):,} samples"
    return f"The kernel cannot use {several} (dropped): sample {place} {why}."


def describe_direction(measure: Measure) -> str:
    """Describe what higher or lower values of a measure mean."""
    return f"{measure.direction} is {_MORE[measure.aspect]}"


def find_measure(key: str) -> Measure | None:
    """Return the measure that a result key belongs to; None if there is none."""
    known = {measure.name: measure for measure in list_measures()}
    names = (name for name in known if f"{key}_".startswith(f"{name}_"))
    return known.get(max(names, key=len, default=""))


def describe_subsample(n: int, total: int) -> str:
    """Describe how many of all samples were compared; empty if all were."""
    said = f"Pairs were compared among {n:,} of the {total:,} samples, drawn at random."
    return said if n < total else ""


def describe_duplicates(found: ReportData, what: str) -> str:
    """Describe how many samples are identical to others, or to others of their group."""
    n = found.n
    distinct = found.distinct
    again = n - distinct
    where = " within their groups" if found.grouped else ""
    if n == 1:
        return ""
    if again == 0:
        return f"All {n:,} {what} are distinct{where}."
    repeats = "is an exact repeat" if again == 1 else "are exact repeats"
    return f"According to this kernel, {again:,} of the {n:,} {what} {repeats} of others{where}."


def format_short(value: object) -> str:
    """Format a number with two decimals, or four digits if it is below 1 or above a million."""
    number = to_float(value)
    return f"{number:,.2f}" if 1 <= abs(number) < 1e6 else f"{number:.4g}"


def format_row(row: np.ndarray, digits: int = 4) -> str:
    """Format the first numbers of a row, without a negative zero."""
    said = ", ".join(f"{float(x) + 0.0:.{digits}g}" for x in row[:NUMBERS])
    return f"{said}, …" if len(row) > NUMBERS else said


def describe_heat_map(K: np.ndarray) -> str:
    """Describe a heat map of the similarities `K`."""
    n = len(K)
    if n == 1:
        return "Similarity of one sample with itself"
    mean = (K.sum() - np.trace(K)) / (n * (n - 1))
    return f"Similarities of {n} samples; the mean of all pairs is {mean:.2f}"


# Names before version 0.5.
_RENAMED = {
    "about": describe_direction,
    "beside": describe_references,
    "copies": describe_duplicates,
    "heat": describe_heat_map,
    "how": describe_kernel,
    "interval": describe_interval,
    "left_out": describe_dropped,
    "looked_at": describe_subsample,
    "meaning": describe_score,
    "measure": find_measure,
    "numbers": format_row,
    "short": format_short,
}


def __getattr__(name: str) -> object:
    if name in _RENAMED:
        return _RENAMED[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
