"""The sections of a report: their text, tables and figures."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ...result import NULL_SUFFIXES
from ...scoring.reference_scale import render_html_strip
from ...spectral.leave_one_out import relative_drops
from ...support.optional import MissingPackageError
from ...support.signature import format_number, to_plain
from ...support.summary import render_table
from ..analysis import report_text
from ..analysis.explanation import BOUNDARY_PAIRS, Explanation
from ..analysis.phrase_costs import PhraseCosts
from ..analysis.python_code import format_call
from ..analysis.report_data import ReportData
from ..analysis.report_text import format_short
from .figures import Figure, pictures
from .markup import (
    escape,
    render_code,
    render_collapsible,
    render_list,
    render_paragraph,
    render_remaining_count,
)
from .previews import Previews

# Maximum number of entries that are listed. Further entries are only counted.
MAX_GROUPS = 60
MAX_DUPLICATE_GROUPS = 8
MAX_DUPLICATES_PER_GROUP = 4
MAX_MODES = 8
MAX_REDUNDANT = 8
MAX_CONTRIBUTING = 4
# Maximum number of characters of a text in lists, and in the table of all samples.
MAX_LIST_CHARACTERS = 400
MAX_TABLE_CHARACTERS = 1_200
# Maximum number of bytes of the table of all samples.
MAX_TABLE_BYTES = 280_000
_MAX_SETTING_CHARACTERS = 800


@dataclass(frozen=True)
class Section:
    """A section of a report.

    Attributes
    ----------
    name : str
        "score", "alike", "redundant", "phrases", "groups", "growth", "pictures", "samples" or
        "settings"; in a report on sources "score", "pictures", "sources", "pairs", "prompts" or
        "settings".
    title : str
        The heading.
    html : str
        The text below the heading, as HTML. Its own headings are of level 3.

    See Also
    --------
    vendiscore.report : Write a report.

    Examples
    --------
    >>> from vendiscore import report
    >>> [section.name for section in report(["a cat", "a cat", "the dog"]).sections][:2]
    ['score', 'alike']
    """

    name: str
    title: str
    html: str


def iter_sections(report_data: ReportData, previews: Previews) -> Iterator[Section]:
    """Yield the sections that have content, in order."""
    renderers = [
        ("score", "Score", score_section),
        ("alike", "Near-duplicates and modes", similarity_section),
        ("redundant", "Contribution of each sample", redundancy_section),
        ("phrases", "Repeated phrases", phrase_section),
        ("groups", "Groups", groups_section),
        ("growth", "Growth", growth_section),
        ("pictures", "Figures", figure_section),
        ("samples", "All samples", sample_section),
        ("settings", "Settings and reproducibility", settings_section),
    ]
    for name, title, render in renderers:
        if html := render(report_data, previews):
            yield Section(name, title, html)


def score_section(report_data: ReportData, previews: Previews) -> str:
    """Render the score, its meaning and interval, and the kernel."""
    return (
        render_paragraph(
            report_text.describe_duplicates(report_data, previews.plural),
            report_text.describe_dropped(report_data),
        )
        + _render_headline(report_data)
        + render_paragraph(report_text.describe_finding(report_data, previews.plural))
        + render_paragraph(
            report_text.describe_score(report_data, previews.plural), report_data.details["typical"]
        )
        + render_html_strip(report_data.details)
        + render_paragraph(report_text.describe_interval(report_data, previews.plural))
        + render_paragraph(
            report_text.describe_kernel(report_data), report_text.describe_references(report_data)
        )
        + _render_values(report_data)
    )


def groups_section(report_data: ReportData, previews: Previews) -> str:
    """Render a table with one row of scores per group."""
    if not report_data.grouped:
        return ""
    groups = report_data.details["groups"]
    names = [name for name in groups[0] if name not in ("group", "n")]
    rows = []
    for group in groups[:MAX_GROUPS]:
        values = ("–" if group[name] is None else format_short(group[name]) for name in names)
        rows.append([escape(str(group["group"]), 60), f"{group['n']:,}", *values])
    remaining = render_remaining_count(
        len(groups) - MAX_GROUPS, "group", " (see the attribute `numbers` of the report)"
    )
    return render_table(["group", "n", *map(escape, names)], rows) + remaining


def growth_section(report_data: ReportData, previews: Previews) -> str:
    """Render a description and a table of the scores of fewer and more samples."""
    growth = report_data.growth
    if growth is None:
        return render_paragraph(report_data.growth_text)
    subsample_note = _random_subset_note(growth.n, report_data.n, previews)
    rows = []
    for size, value, *ends in zip(
        growth.sizes, growth.scores, growth.low, growth.high, strict=True
    ):
        expected = " (expected)" if size > growth.n else ""
        rows.append(
            [f"{size:,}{expected}", format_short(value), " to ".join(map(format_short, ends))]
        )
    header = [previews.plural, "score", f"{100 * growth.level:g} % interval"]
    text = render_paragraph(subsample_note, report_data.growth_text)
    return text + render_table(header, rows)


def _random_subset_note(n: int, total: int, previews: Previews) -> str:
    """Describe the subset on which a section is based; "" if it is based on all samples."""
    note = f"Based on a random subset of {n:,} of the {total:,} {previews.plural}."
    return note if n < total else ""


def figure_section(report_data: ReportData, previews: Previews) -> str:
    """Render the figures, or a note if matplotlib is missing."""
    try:
        return render_figures(pictures(report_data))
    except MissingPackageError as error:
        return render_paragraph(f"No figures: {error}")


def render_figures(figures: Iterable[Figure]) -> str:
    """Render figures with their captions as a grid."""
    elements = "".join(
        f"<figure>{figure.svg}"
        f"<figcaption><b>{figure.title}.</b> {figure.text}</figcaption></figure>"
        for figure in figures
    )
    return f'<div class="grid">{elements}</div>'


def settings_section(report_data: ReportData, previews: Previews) -> str:
    """Render settings, notes, the signature, versions, and Python code that repeats the call."""
    details = report_data.details
    notes = render_list(escape(note, 2_000) for note in details["notes"])
    code = format_call(
        report_data.input_samples,
        report_data.references,
        report_data.arguments,
        previews.format_count(report_data.sample_set.n_input),
    )
    return (
        render_table(["setting", "value"], _iter_settings(report_data))
        + (f"<h3>Notes</h3>{notes}" if details["notes"] else "")
        + "<h3>Signature</h3>"
        + render_paragraph(
            "Quote this line with the score. Scores with equal signatures were computed in the "
            "same way."
        )
        + render_code(details["signature"])
        + "<h3>Python code</h3>"
        + render_code(code)
    )


def _render_headline(report_data: ReportData) -> str:
    """Return the main value in large type."""
    value = report_data.value
    key = escape(report_data.key)
    if not report_data.is_vendi:
        return f'<p class="number"><b>{format_short(value)}</b> {key}</p>'
    if report_data.grouped:
        return f'<p class="number"><b>{value:.2f}</b> effective samples per group</p>'
    return render_headline(value, report_data.n)


def render_headline(value: float, n: int, noun: str = "") -> str:
    """Render the score of n samples in large letters, with a bar.

    `noun` names other items than samples, and begins with a space.
    """
    percent = 100 * value / n
    return (
        f'<p class="number">Effective number: <b>{value:.1f}</b> of {n:,}{noun}</p>'
        f'<div class="bar" role="img" aria-label="{percent:.0f} % of {n:,}">'
        f'<i style="width:{percent:.1f}%"></i></div>'
    )


def _render_values(report_data: ReportData) -> str:
    """Render a table of all values; "" if there is only one."""
    if len(report_data.rows) == 1:
        return ""
    rows = []
    for result in report_data.rows:
        key, low, high = result["key"], result["low"], result["high"]
        interval = (
            "" if low is None or high is None else f"{format_short(low)} to {format_short(high)}"
        )
        row = [escape(key), format_short(result["value"]), interval, "", ""]
        if not key.endswith(NULL_SUFFIXES) and (measure := report_text.find_measure(key)):
            description = escape(f"{measure.range}, {report_text.describe_direction(measure)}")
            row[3:] = description, render_collapsible(measure.summary, 400)
        rows.append(row)
    return render_table(["name", "value", "interval", "range", "description"], rows)


def _iter_settings(report_data: ReportData) -> Iterator[list[str]]:
    """Yield the name and the value of each setting, as HTML."""
    details = report_data.details
    yield ["samples", f"{report_data.n:,}, {report_data.distinct:,} distinct"]
    for name in ("kernel", "distance"):
        if name in details:
            yield [name, escape(str(details[name]))]
    for name, value in details["options"].items():
        if name not in ("kernel", "distance") and value is not None:
            text = render_collapsible(str(to_plain(value)), _MAX_SETTING_CHARACTERS)
            yield [escape(name), text]
    yield ["q", ", ".join(format_number(q) for q in report_data.request.orders)]
    for q, reason in details.get("why", {}).items():
        yield [f"method for q={escape(q)}", escape(reason or details["method"][q], 400)]
    if "interval" in details:
        interval = details["interval"]
        methods = ", ".join(f"{name} by {method}" for name, method in interval["method"].items())
        yield ["interval", escape(f"{100 * interval['level']:g} %: {methods}", 400)]
    versions = (f"{name} {version}" for name, version in details["versions"].items())
    yield ["versions", escape(", ".join(versions))]


def similarity_section(report_data: ReportData, previews: Previews) -> str:
    """Render near-duplicates, the pairs closest to the threshold, and modes."""
    if report_data.similarity is None or report_data.n < 2:
        return ""
    explanation = report_data.similarity_explanation
    modes = (
        "A mode is a direction that many samples share. Its proportion is the part of the set "
        "along this direction. The table shows the samples that are closest to each mode."
    )
    return (
        render_paragraph(_subsample_note(report_data, explanation))
        + "<h3>Near-duplicates</h3>"
        + _render_near_duplicates(explanation, previews)
        + _render_boundary(explanation, previews)
        + "<h3>Modes</h3>"
        + render_paragraph(modes)
        + _render_modes(explanation, previews)
    )


def redundancy_section(report_data: ReportData, previews: Previews) -> str:
    """Render the samples with the smallest contributions, and those with the largest."""
    if report_data.similarity is None or report_data.n < 2:
        return ""
    explanation = report_data.explanation
    indices = explanation.places
    contributions = explanation.adds
    # Rounded, so that the order does not depend on rounding errors.
    order = np.argsort(np.round(contributions, 9), kind="stable")
    least_contributing = [
        [
            previews.render_html(int(indices[i]), MAX_LIST_CHARACTERS),
            previews.render_html(int(explanation.nearest[i]), MAX_LIST_CHARACTERS),
            f"{explanation.nearest_similarity[i]:.3f}",
            _format_contribution(contributions[i]),
        ]
        for i in _drop_mirrored_pairs(order, explanation, min(MAX_REDUNDANT, report_data.n // 2))
    ]
    most_contributing = [
        [
            previews.render_html(int(indices[i]), MAX_LIST_CHARACTERS),
            _format_contribution(contributions[i]),
        ]
        for i in order[::-1][: min(MAX_CONTRIBUTING, report_data.n // 2)].tolist()
    ]
    noun = previews.singular
    header = [noun, f"most similar {noun}", "similarity", "contribution"]
    return (
        render_paragraph(_subsample_note(report_data, explanation))
        + "<h3>Smallest contributions</h3>"
        + render_paragraph(
            f"The contribution of a {noun} is the percentage by which the score drops if it is "
            f"removed. If the contribution is negative, the set is more diverse without the "
            f"{noun}."
        )
        + render_table(header, least_contributing)
        + "<h3>Largest contributions</h3>"
        + render_table([noun, "contribution"], most_contributing)
    )


def _drop_mirrored_pairs(order: np.ndarray, explanation: Explanation, count: int) -> list[int]:
    """Return the first `count` positions in `order` that do not repeat a pair of samples.

    The pair of a position consists of the sample and the sample most similar to it. Two samples
    that are most similar to each other form the same pair.
    """
    pairs = np.sort(np.stack([explanation.places, explanation.nearest]), axis=0)
    _, first = np.unique(pairs[:, order], axis=1, return_index=True)
    return order[np.sort(first)[:count]].tolist()


def phrase_section(report_data: ReportData, previews: Previews) -> str:
    """Render the repeated phrases that cost most; "" unless texts are compared by n-grams."""
    result = report_data.phrases
    if result is None:
        return ""
    description = ""
    if result.rows:
        description = (
            "The cost of a phrase is the gain in the score if each text that contains it had words "
            "of its own instead. Its share is the cost divided by the gain if no two texts had a "
            "word in common. The phrases are highlighted in the texts of this report."
        )
    rows = [
        [
            f"<bdi>{escape(row.phrase, MAX_LIST_CHARACTERS)}</bdi>",
            f"{row.n_texts:,}",
            format_short(row.cost),
            f"{100 * row.share:.1f} %",
        ]
        for row in result.rows
    ]
    header = ["phrase", "texts", "cost", "share"]
    note = _random_subset_note(result.n, report_data.n, previews)
    table = render_table(header, rows) if rows else ""
    return render_paragraph(note, result.sentence) + render_paragraph(description) + table


def compile_phrases(result: PhraseCosts) -> re.Pattern[str] | None:
    """Return a pattern that matches the phrases of a result; None if there are none."""
    patterns = []
    for phrase in sorted((row.phrase for row in result.rows), key=len, reverse=True):
        pattern = r"\s+".join(map(re.escape, re.split(r"\s+", phrase)))
        if result.settings["analyzer"] == "word":  # phrases do not begin or end within a word
            pattern = rf"(?<!\w){pattern}" if phrase[:1].isalnum() else pattern
            pattern = rf"{pattern}(?!\w)" if phrase[-1:].isalnum() else pattern
        patterns.append(pattern)
    return re.compile("|".join(patterns)) if patterns else None


def sample_section(report_data: ReportData, previews: Previews) -> str:
    """Render a collapsed table of all samples, or of as many as fit into the file."""
    has_similarity = report_data.similarity is not None
    explanation = report_data.explanation if has_similarity and report_data.n > 1 else None
    indices = report_data.indices if has_similarity else np.arange(report_data.n)
    header = ["index", previews.singular]
    if explanation is not None:
        header += ["most similar", "similarity", "contribution", "mode", "duplicate of"]
    rows = []
    remaining_bytes = MAX_TABLE_BYTES
    for i, index in enumerate(indices.tolist()):
        row = [str(index), previews.render_html(index, MAX_TABLE_CHARACTERS)]
        if explanation is not None:
            mode = int(explanation.mode[i])
            original = int(explanation.redundant_of[i])
            row += [
                str(int(explanation.nearest[i])),
                f"{explanation.nearest_similarity[i]:.3f}",
                _format_contribution(explanation.adds[i]),
                str(mode + 1) if mode >= 0 else "",
                str(original) if original >= 0 else "",
            ]
        remaining_bytes -= len("".join(row).encode()) + 9 * len(row) + 30
        if remaining_bytes < 0:
            break
        rows.append(row)
    notes = []
    if len(indices) < report_data.n:
        notes.append(
            f"The table lists the random subset of {len(indices):,} of the {report_data.n:,} "
            f"samples that was compared."
        )
    if len(rows) < len(indices):
        notes.append(
            f"To keep this file small, only the first {len(rows):,} of {len(indices):,} samples "
            f"are listed."
        )
    notes.append("Indices are positions in the list of samples, from 0.")
    summary = f"<summary>{previews.format_count(len(rows))}</summary>"
    return f"{render_paragraph(*notes)}<details>{summary}{render_table(header, rows)}</details>"


def _subsample_note(report_data: ReportData, explanation: Explanation) -> str:
    """Describe which samples were compared; "" if all were, without groups."""
    subsample = report_text.describe_subsample(explanation.n, report_data.n)
    groups = "This section describes all groups together." if report_data.grouped else ""
    return f"{subsample} {groups}".strip()


def _render_near_duplicates(explanation: Explanation, previews: Previews) -> str:
    """Render groups of near-duplicates; identical samples are shown once, with their number."""
    groups = explanation.groups
    items = []
    for retained, duplicates in groups[:MAX_DUPLICATE_GROUPS]:
        indices_by_text: dict[str, list[int]] = {}
        for index in (retained, *duplicates):
            indices_by_text.setdefault(previews.describe(index), []).append(index)
        cells = []
        for identical in list(indices_by_text.values())[:MAX_DUPLICATES_PER_GROUP]:
            count = f" <b>× {len(identical):,}</b>" if len(identical) > 1 else ""
            cells.append(previews.render_html(identical[0], MAX_LIST_CHARACTERS) + count)
        cells[0] += ' <small class="keep">sample to keep</small>'
        n_unlisted = len(indices_by_text) - MAX_DUPLICATES_PER_GROUP
        items.append(
            f"<b>{len(duplicates) + 1:,} similar {previews.plural}</b>"
            + render_list(cells, css_class=previews.sample_type)
            + (f"<p>and {n_unlisted:,} more</p>" if n_unlisted > 0 else "")
        )
    summary = render_paragraph(explanation.copies)
    listed = render_list(items, "ol") if items else ""
    remaining = render_remaining_count(len(groups) - MAX_DUPLICATE_GROUPS, "group")
    return summary + listed + remaining


def _render_boundary(explanation: Explanation, previews: Previews) -> str:
    """Render the pairs closest to the threshold on both sides, to help judge the threshold."""
    above, below = explanation.boundary(BOUNDARY_PAIRS)
    rows = [
        [
            f"{pair.similarity:.3f}",
            previews.render_html(pair.i, MAX_LIST_CHARACTERS),
            previews.render_html(pair.j, MAX_LIST_CHARACTERS),
            is_duplicate,
        ]
        for is_duplicate, pairs in (("yes", above[::-1]), ("no", below))
        for pair in pairs
    ]
    if not rows:
        return ""
    noun = previews.singular
    header = ["similarity", f"first {noun}", f"second {noun}", "near-duplicates"]
    caption = "Pairs closest to the threshold; identical samples count as one"
    return render_table(header, rows, caption)


def _render_modes(explanation: Explanation, previews: Previews) -> str:
    """Render a table of the modes that are the main mode of at least one sample."""
    modes = explanation.modes()
    rows = []
    for mode in [mode for mode in modes if len(mode.members)][:MAX_MODES]:
        exemplars = render_list(
            (previews.render_html(index, MAX_LIST_CHARACTERS) for index in mode.exemplars),
            css_class=previews.sample_type,
        )
        proportion = f"{100 * mode.share:.1f} %"
        rows.append([f"{mode.number + 1}", proportion, f"{len(mode.members):,}", exemplars])
    header = ["mode", "proportion", previews.plural, "closest samples"]
    remaining = render_remaining_count(
        len(modes) - len(rows),
        "mode",
        f", smaller or not the main mode of any {previews.singular}",
    )
    return render_table(header, rows) + remaining


def _format_contribution(log_drop: float) -> str:
    """Format a leave-one-out contribution, a drop in log VS, as a relative drop in percent."""
    value = 100 * float(relative_drops(log_drop))
    return f"{0.0 if abs(value) < 0.005 else value:+.2f}\N{NO-BREAK SPACE}%"
