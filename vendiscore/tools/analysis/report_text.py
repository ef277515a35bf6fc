"""Sentences about the content of a report, for reports, the web app and its API."""

import numpy as np

from ...measures.measure import Aspect, Measure, list_measures
from ...resolve.kernel import list_kernels
from ...support.namespace import to_float, to_host
from .comparison import DIRECTION_UNKNOWN, MORE_DIVERSE, Comparison
from .report_data import ReportData

__all__ = [
    "describe_comparison",
    "describe_direction",
    "describe_dropped",
    "describe_duplicates",
    "describe_finding",
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

# Sets with a smaller score are described as nearly identical.
ONE = 1.05
# Titles say "only" below the first proportion of the maximum, and "nearly all" from the second on.
FEW, NEARLY_ALL = 0.5, 0.9
NUMBERS = 4  # maximum number of values of a row that are shown
# Methods of intervals of means over groups.
_GROUP_METHODS = {
    "student": "Student's t",
    "bootstrap": "Bayesian bootstrap, or Student's t on the logit scale if wider",
}
# Words for more of each aspect.
_MORE: dict[Aspect, str] = {
    "diversity": "more diverse",
    "dimension": "of higher dimension",
    "fidelity": "more like the references",
    "likeness": "more similar",
}


def describe_finding(report_data: ReportData, noun: str) -> str:
    """Return a sentence with the main result of a Vendi Score, "" for other measures.

    `noun` is the plural for samples, such as "texts".
    """
    score, n = report_data.value, report_data.n
    if not report_data.is_vendi:
        return ""
    if n == 1:
        return "A single sample has nothing to differ from."
    size = sum(report_data.sizes) / len(report_data.sizes) if report_data.grouped else n
    number = f"{score:,.1f} different {'one' if f'{score:.1f}' == '1.0' else 'ones'}"
    if report_data.grouped:
        return f"In a group of {size:,.4g} {noun}, there are {number} on average."
    if score < ONE:
        return f"These {n:,} {noun} are nearly identical."
    if score >= NEARLY_ALL * size:
        return f"Nearly all {n:,} {noun} are different: they count as {score:,.1f}."
    only = "only " if round(score, 1) < FEW * size else ""
    return f"These {n:,} {noun} count as {only}{number}."


def describe_comparison(comparison: Comparison, noun: str) -> str:
    """State which set is most diverse and which least in a short sentence, for titles.

    `noun` is the plural for samples. Sets compared within groups are described as the sources of
    answers to prompts.
    """
    rows = sorted(comparison.sets, key=lambda row: -row.matched)
    best, worst = rows[0], rows[-1]
    size = best.size_per_group if comparison.groups else best.size
    verb, every = "contains", "every " if max(row.n for row in rows) > best.size else ""
    if comparison.groups:
        verb, every, noun = "gives", "", "answers" if noun == "texts" else noun
    out_of = "" if comparison.missing_cells or size is None else f" out of {every}{size:,.3g}"
    first = f"{best.name} {verb} {best.matched:,.1f} different {noun}{out_of}"
    verdict = comparison.verdict(best.name, worst.name)
    if verdict == MORE_DIVERSE:
        if comparison.groups and size is not None and round(worst.matched, 1) < FEW * size:
            return f"{first}; {worst.name} repeats itself: {worst.matched:,.1f}."
        return f"{first}; {worst.name} {verb} {worst.matched:,.1f}."
    both = f"{first}, {worst.name} {worst.matched:,.1f}"
    if verdict == DIRECTION_UNKNOWN:
        return f"{both}; they differ, but the data do not show which is more diverse."
    return f"{both}: no difference shown."


def describe_score(report_data: ReportData, noun: str) -> str:
    """Explain the main value in a sentence; `noun` is the plural for samples, such as "texts"."""
    n = report_data.n
    score = report_data.value
    if not report_data.is_vendi:
        measure = find_measure(report_data.key)
        return (
            f"{report_data.key}: {measure.summary} {describe_direction(measure).capitalize()}."
            if measure
            else ""
        )
    if report_data.grouped:
        return _describe_group_mean(report_data, noun)
    if n == 1:
        return "The score of a single sample is always 1; add more samples."
    if score < ONE:
        return f"According to this kernel, these {n:,} {noun} are nearly identical."
    share = float(to_host(report_data.spectrum.values)[0])
    return (
        f"This set of {n:,} {noun} is as diverse as {score:.1f} {noun} that have nothing in "
        f"common; its largest eigenvalue makes up {100 * share:.0f} % of the total."
    )


def _describe_group_mean(report_data: ReportData, noun: str) -> str:
    """Describe the mean score over groups and its standard error."""
    sizes = report_data.sizes
    se = report_data.interval["se"]
    if se is None:
        return (
            f"There is only one group, with {sizes[0]} {noun}; this is its score. With several "
            f"groups, their mean and its standard error are shown."
        )
    min_size = min(sizes)
    max_size = max(sizes)
    size = str(min_size) if min_size == max_size else f"{min_size} to {max_size}"
    return (
        f"The mean effective number of {noun} in a group is {report_data.value:.2f} ± {se:.2f}, of "
        f"{size}. ± is one standard error over {len(sizes):,} groups: the mean over other groups "
        f"from the same source would typically differ by about this much."
    )


def describe_interval(report_data: ReportData, noun: str) -> str:
    """Describe the interval of the main value, or why there is no interval."""
    se, low, high = report_data.interval.values()
    if report_data.request.estimate_options is not None:
        if not se:
            return (
                f"The score is exact, although an estimate was requested. {report_data.no_interval}"
            )
        error = f"This score is an estimate with a standard error of {se:.2g}."
        return f"{error} {report_data.no_interval}"
    if low is None or high is None or se is None:
        return report_data.no_interval or "No interval was requested."
    sizes = report_data.sizes
    if report_data.grouped and low <= 1 and high >= sum(sizes) / len(sizes):
        return (
            f"There is no interval, because the scores of {len(sizes)} groups differ too much. If "
            f"the groups are models, compare them instead of averaging their scores."
        )
    percent = f"{100 * float(report_data.details['interval']['level']):g}"
    if report_data.grouped:
        return (
            f"{percent} % interval of the mean over groups: {format_short(low)} to "
            f"{format_short(high)} "
            f"({_GROUP_METHODS[_interval_method(report_data)]})."
        )
    return (
        f"{percent} % interval: {format_short(low)} to {format_short(high)}. "
        f"A new set of {report_data.n:,} {noun} of "
        f"the same source would typically score within about "
        f"{format_short(se) if se >= 1 else f'{se:.2g}'} of this (one standard error)."
    )


def _interval_method(report_data: ReportData) -> str:
    """Return the method of the interval of the main value."""
    measure = find_measure(report_data.key)
    assert measure is not None
    return str(report_data.details["interval"]["method"][measure.name])


def describe_kernel(report_data: ReportData) -> str:
    """Describe the kernel or metric that compares the samples; "" if they are not compared."""
    details = report_data.details
    if "kernel" not in details:
        return f"Distances: {details['distance']}." if "distance" in details else ""
    name = str(details["kernel"])
    kernel = {registered.name: registered for registered in list_kernels()}.get(name)
    if kernel is None:
        return f"Samples were compared by {name}."
    options = ", ".join(
        f"{key}={value!r}"
        for key, value in details["options"].items()
        if key in kernel.options and value is not None and value != ""
    )
    summary = f" {kernel.summary.rstrip('.')}." if kernel.summary else ""
    prompt_note = ""
    if details["options"].get("prompts"):
        prompt_note = (
            ", conditioned on the prompt (the part of each sample that its prompt explains is "
            "removed)"
        )
    options_note = f" ({options})" if options else ""
    return f"Samples were compared by {name}{options_note}{prompt_note}.{summary}"


def describe_references(report_data: ReportData) -> str:
    """Describe which measures compare samples with references; "" if no measure does."""
    if not report_data.request.two_sample_measures:
        return ""
    measures = [chosen.measure for chosen in report_data.request.measures]
    names = ", ".join(measure.name for measure in measures if measure.references)
    return f"Samples were compared with the references by {names}."


def describe_dropped(report_data: ReportData) -> str:
    """Describe the dropped samples; "" if no samples were dropped."""
    dropped = report_data.details["dropped"]
    if not dropped:
        return ""
    index, problem = next(iter(dropped.items()))
    count = "1 sample" if len(dropped) == 1 else f"{len(dropped):,} samples"
    return f"The kernel cannot use {count} (dropped): sample {index} {problem}."


def describe_direction(measure: Measure) -> str:
    """Describe whether higher values of a measure mean more or less diversity or similarity."""
    return f"{measure.direction} is {_MORE[measure.aspect]}"


def find_measure(key: str) -> Measure | None:
    """Return the measure to which a result key belongs; None if no measure has such a key."""
    measures = {measure.name: measure for measure in list_measures()}
    names = (name for name in measures if f"{key}_".startswith(f"{name}_"))
    return measures.get(max(names, key=len, default=""))


def describe_subsample(n: int, total: int) -> str:
    """Describe how many of all samples were compared; "" if all samples were."""
    sentence = f"Pairs were compared in a random subset of {n:,} of the {total:,} samples."
    return sentence if n < total else ""


def describe_duplicates(report_data: ReportData, noun: str) -> str:
    """Describe how many samples are identical to other samples, with groups within a group."""
    n = report_data.n
    distinct = report_data.distinct
    n_repeats = n - distinct
    groups_note = " within their groups" if report_data.grouped else ""
    if n == 1:
        return ""
    if n_repeats == 0:
        return f"All {n:,} {noun} are distinct{groups_note}."
    repeats = "is an exact duplicate" if n_repeats == 1 else "are exact duplicates"
    return (
        f"According to this kernel, {n_repeats:,} of the {n:,} {noun} {repeats} of "
        f"others{groups_note}."
    )


def format_short(value: object) -> str:
    """Format a number with two decimals, or four digits if it is below 1 or above a million."""
    number = to_float(value)
    return f"{number:,.2f}" if 1 <= abs(number) < 1e6 else f"{number:.4g}"


def format_row(row: np.ndarray, digits: int = 4) -> str:
    """Format the first values of a row; −0.0 is formatted as 0."""
    text = ", ".join(f"{float(x) + 0.0:.{digits}g}" for x in row[:NUMBERS])
    return f"{text}, …" if len(row) > NUMBERS else text


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
