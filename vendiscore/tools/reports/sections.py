"""The sections of a report, in order: their sentences, tables and pictures."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ...result import NULL_SUFFIXES
from ...scoring.reference_scale import render_html_strip
from ...spectral.leave_one_out import relative_drops
from ...support.optional import MissingPackageError
from ...support.signature import format_number, to_plain
from ...support.summary import render_table
from ..analysis import sentences
from ..analysis.findings import Findings
from ..analysis.python_code import reproduced
from ..analysis.sample_table import PAIRS, Explanation
from ..analysis.sentences import short
from .figures import Figure, pictures
from .markup import escape, folded, listing, more, paragraph, preformatted
from .previews import Previews

GROUPS = 60  # groups that are shown; the rest is counted
# Most entries of each list; the rest is counted.
NEAR_GROUPS = 8
NEAR_MEMBERS = 4
MODES = 8
REDUNDANT = 8
ADDING = 4
# Characters of a text in a list, and in the table of all.
LONGEST = 400
LONGEST_OF_ALL = 1_200
ROOM = 280_000  # bytes of the table of all samples
_LONGEST = 800  # characters of a setting


@dataclass(frozen=True)
class Section:
    """A section of a report.

    Attributes
    ----------
    name : str
        "score", "alike", "redundant", "groups", "growth", "pictures", "samples" or "settings"; in a
        report on sources "score", "pictures", "sources", "pairs", "prompts" or "settings".
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


def sections(found: Findings, shown: Previews) -> Iterator[Section]:
    """Return every section that has content."""
    parts = [
        ("score", "The number", score),
        ("alike", "What is alike", alike),
        ("redundant", "What repeats, and what adds", redundant),
        ("groups", "Groups", groups),
        ("growth", "Growth", growth),
        ("pictures", "Pictures", drawn),
        ("samples", "All samples", every),
        ("settings", "How the numbers came about", settings),
    ]
    for name, title, make in parts:
        if html := make(found, shown):
            yield Section(name, title, html)


def score(found: Findings, shown: Previews) -> str:
    """Return the number, its meaning, its interval, and the samples that it describes."""
    return (
        paragraph(sentences.copies(found, shown.what), sentences.left_out(found))
        + _headline(found)
        + paragraph(sentences.meaning(found, shown.what), found.details["typical"])
        + render_html_strip(found.details)
        + paragraph(sentences.interval(found, shown.what))
        + paragraph(sentences.how(found), sentences.beside(found))
        + _numbers(found)
    )


def groups(found: Findings, shown: Previews) -> str:
    """Return one row for each group, with its own numbers."""
    if not found.grouped:
        return ""
    rows = found.details["groups"]
    names = [name for name in rows[0] if name not in ("group", "n")]
    lines = []
    for row in rows[:GROUPS]:
        cells = ("–" if row[name] is None else short(row[name]) for name in names)
        lines.append([escape(str(row["group"]), 60), f"{row['n']:,}", *cells])
    beyond = more(len(rows) - GROUPS, " groups, which `numbers` has")
    return render_table(["group", "n", *map(escape, names)], lines) + beyond


def growth(found: Findings, shown: Previews) -> str:
    """Return sentences on how much more samples would add."""
    grown = found.growth
    if grown is None:
        return paragraph(found.growth_text)
    few = f"Drawn at random: {grown.n:,} of the {found.n:,} {shown.what}."
    rows = []
    for size, value, *ends in zip(grown.sizes, grown.scores, grown.low, grown.high, strict=True):
        expected = " (expected)" if size > grown.n else ""
        rows.append([f"{size:,}{expected}", short(value), " to ".join(map(short, ends))])
    head = [shown.what, "score", f"{100 * grown.level:g} % interval"]
    said = paragraph(few if grown.n < found.n else "", found.growth_text)
    return said + render_table(head, rows)


def drawn(found: Findings, shown: Previews) -> str:
    """Return the pictures, in one grid."""
    try:
        return pictured(pictures(found))
    except MissingPackageError as error:
        return paragraph(f"No pictures: {error}")


def pictured(drawn: Iterable[Figure]) -> str:
    """Return pictures in one grid, each with its caption."""
    drawings = "".join(
        f"<figure>{each.svg}<figcaption><b>{each.title}.</b> {each.text}</figcaption></figure>"
        for each in drawn
    )
    return f'<div class="grid">{drawings}</div>'


def settings(found: Findings, shown: Previews) -> str:
    """Return settings, notes, the signature, versions, and Python code that repeats the call."""
    details = found.details
    notes = listing(escape(note, 2_000) for note in details["notes"])
    code = reproduced(
        found.given, found.references, found.arguments, shown.counted(found.subject.n_input)
    )
    return (
        render_table(["setting", "value"], _settings(found))
        + (f"<h3>Notes</h3>{notes}" if details["notes"] else "")
        + "<h3>Signature</h3>"
        + paragraph("To be quoted with the numbers: equal signatures, equal ways to count.")
        + preformatted(details["signature"])
        + "<h3>The same in Python</h3>"
        + preformatted(code)
    )


def _headline(found: Findings) -> str:
    value = found.value
    key = escape(found.key)
    if not found.is_vendi:
        return f'<p class="number"><b>{short(value)}</b> {key}</p>'
    if found.grouped:
        return f'<p class="number"><b>{value:.2f}</b> effectively different in a group</p>'
    return headline(value, found.n)


def headline(value: float, n: int, what: str = "") -> str:
    """Return a score of n samples, or of what else there is, in large letters with a bar."""
    share = 100 * value / n
    return (
        f'<p class="number">≈ <b>{value:.1f}</b> effectively different of {n:,}{what}</p>'
        f'<div class="bar" role="img" aria-label="{share:.0f} % of {n:,}">'
        f'<i style="width:{share:.1f}%"></i></div>'
    )


def _numbers(found: Findings) -> str:
    """Return a table of all numbers if there are several."""
    if len(found.rows) == 1:
        return ""
    rows = []
    for number in found.rows:
        key, low, high = number["key"], number["low"], number["high"]
        interval = "" if low is None or high is None else f"{short(low)} to {short(high)}"
        row = [escape(key), short(number["value"]), interval, "", ""]
        if not key.endswith(NULL_SUFFIXES) and (measure := sentences.measure(key)):
            about = escape(f"{measure.range}, {sentences.about(measure)}")
            row[3:] = about, folded(measure.summary, 400)
        rows.append(row)
    return render_table(["name", "value", "interval", "range", "what it is"], rows)


def _settings(found: Findings) -> Iterator[list[str]]:
    details = found.details
    yield ["samples", f"{found.n:,}, {found.distinct:,} distinct"]
    for name in ("kernel", "distance"):
        if name in details:
            yield [name, escape(str(details[name]))]
    for name, value in details["options"].items():
        if name not in ("kernel", "distance") and value is not None:
            yield [escape(name), folded(str(to_plain(value)), _LONGEST)]
    yield ["q", ", ".join(format_number(q) for q in found.request.orders)]
    for q, why in details.get("why", {}).items():
        yield [f"found at q={escape(q)} from", escape(why or details["method"][q], 400)]
    if "interval" in details:
        interval = details["interval"]
        methods = ", ".join(f"{name} by {how}" for name, how in interval["method"].items())
        yield ["interval", escape(f"{100 * interval['level']:g} %: {methods}", 400)]
    versions = (f"{name} {version}" for name, version in details["versions"].items())
    yield ["versions", escape(", ".join(versions))]


def alike(found: Findings, shown: Previews) -> str:
    """Return groups of near-duplicates, the closest pairs around the threshold, and modes."""
    if found.similarity is None or found.n < 2:
        return ""
    explained = found.alike
    modes = (
        "A mode is a direction that samples share; its share is how much of the set lies in it. "
        "With each, the samples that it is the most of."
    )
    return (
        paragraph(_of_what(found, explained))
        + "<h3>Near-duplicates</h3>"
        + _near(explained, shown)
        + _boundary(explained, shown)
        + "<h3>Modes</h3>"
        + paragraph(modes)
        + _modes(explained, shown)
    )


def redundant(found: Findings, shown: Previews) -> str:
    """Return the samples that add the least, with their nearest, and the samples that add most."""
    if found.similarity is None or found.n < 2:
        return ""
    explained = found.explanation
    places = explained.places
    adds = explained.adds
    order = np.argsort(np.round(adds, 9), kind="stable")  # an order that rounding does not change
    least = [
        [
            shown.cell(int(places[i]), LONGEST),
            shown.cell(int(explained.nearest[i]), LONGEST),
            f"{explained.nearest_similarity[i]:.3f}",
            _percent(adds[i]),
        ]
        for i in _one_of_each(order, explained, min(REDUNDANT, found.n // 2))
    ]
    most = [
        [shown.cell(int(places[i]), LONGEST), _percent(adds[i])]
        for i in order[::-1][: min(ADDING, found.n // 2)].tolist()
    ]
    name = shown.word
    head = [name, f"the {name} most like it", "similarity", "adds to the score"]
    return (
        paragraph(_of_what(found, explained))
        + "<h3>Most redundant</h3>"
        + paragraph(
            "A sample adds the share of the score that would be lost without it; below 0 %, the "
            "set is more diverse without it."
        )
        + render_table(head, least)
        + "<h3>Adds the most</h3>"
        + render_table([name, "adds to the score"], most)
    )


def _one_of_each(order: np.ndarray, explained: Explanation, count: int) -> list[int]:
    """Return the first rows of an order, but only one of two that are nearest to each other."""
    pairs = np.sort(np.stack([explained.places, explained.nearest]), axis=0)
    _, first = np.unique(pairs[:, order], axis=1, return_index=True)
    return order[np.sort(first)[:count]].tolist()


def every(found: Findings, shown: Previews) -> str:
    """Return a folded table of all samples, or of as many as the file has room for."""
    numbered = found.explanation if found.similarity is not None and found.n > 1 else None
    places = found.places if found.similarity is not None else np.arange(found.n)
    head = ["no.", shown.word]
    if numbered is not None:
        head += ["most like", "similarity", "adds", "mode", "repeats"]
    rows = []
    left = ROOM
    for i, place in enumerate(places.tolist()):
        row = [str(place), shown.cell(place, LONGEST_OF_ALL)]
        if numbered is not None:
            mode = int(numbered.mode[i])
            of = int(numbered.redundant_of[i])
            row += [
                str(int(numbered.nearest[i])),
                f"{numbered.nearest_similarity[i]:.3f}",
                _percent(numbered.adds[i]),
                str(mode + 1) if mode >= 0 else "",
                str(of) if of >= 0 else "",
            ]
        left -= len("".join(row).encode()) + 9 * len(row) + 30
        if left < 0:
            break
        rows.append(row)
    said = []
    if len(places) < found.n:
        said.append(f"The {len(places):,} of {found.n:,} that were looked at are here.")
    if missing := len(places) - len(rows):
        said.append(
            f"The first {len(rows):,} are here; {missing:,} {'is' if missing == 1 else 'are'} left "
            f"out, so that this file stays small."
        )
    said.append("Numbers are places in the list that was given, from 0.")
    summary = f"<summary>{shown.counted(len(rows))}</summary>"
    return f"{paragraph(*said)}<details>{summary}{render_table(head, rows)}</details>"


def _of_what(found: Findings, explained: Explanation) -> str:
    """Return a sentence on which samples were compared, unless all were."""
    few = sentences.looked_at(explained.n, found.n)
    return f"{few} {'This is about all groups together.' if found.grouped else ''}".strip()


def _near(explained: Explanation, shown: Previews) -> str:
    groups = explained.groups
    items = []
    for keep, rest in groups[:NEAR_GROUPS]:
        places: dict[str, list[int]] = {}
        for place in (keep, *rest):
            places.setdefault(shown.label(place), []).append(place)
        cells = []
        for same in list(places.values())[:NEAR_MEMBERS]:
            count = f" <b>× {len(same):,}</b>" if len(same) > 1 else ""
            cells.append(shown.cell(same[0], LONGEST) + count)
        cells[0] += ' <small class="keep">the one to keep</small>'
        beyond = len(places) - NEAR_MEMBERS
        items.append(
            f"<b>{len(rest) + 1:,} alike</b>{listing(cells, name=shown.kind)}"
            + (f"<p>and {beyond:,} more</p>" if beyond > 0 else "")
        )
    said = paragraph(explained.copies)
    found = listing(items, "ol") if items else ""
    return said + found + more(len(groups) - NEAR_GROUPS, " groups")


def _boundary(explained: Explanation, shown: Previews) -> str:
    """Return the closest pairs on both sides of the threshold, by which to judge it."""
    above, below = explained.boundary(PAIRS)
    rows = [
        [f"{pair.similarity:.3f}", shown.cell(pair.i, LONGEST), shown.cell(pair.j, LONGEST), side]
        for side, pairs in (("near-duplicates", above[::-1]), ("not", below))
        for pair in pairs
    ]
    if not rows:
        return ""
    caption = "The pairs next to the threshold, identical ones taken as one"
    return render_table(["similarity", "one", "the other", "counted as"], rows, caption)


def _modes(explained: Explanation, shown: Previews) -> str:
    every = explained.modes()
    rows = []
    for mode in [mode for mode in every if len(mode.members)][:MODES]:
        most = listing((shown.cell(place, LONGEST) for place in mode.exemplars), name=shown.kind)
        share = f"{100 * mode.share:.1f} %"
        members = f"{len(mode.members):,}"
        rows.append([f"{mode.number + 1}", share, members, most])
    head = ["mode", "share", shown.what, "the most of"]
    beyond = more(len(every) - len(rows), f", smaller or the main one of no {shown.word}")
    return render_table(head, rows) + beyond


def _percent(adds: float) -> str:
    """Return the share of the score that is lost without a sample, in percent."""
    value = 100 * float(relative_drops(adds))
    return f"{0.0 if abs(value) < 0.005 else value:+.2f}\N{NO-BREAK SPACE}%"
