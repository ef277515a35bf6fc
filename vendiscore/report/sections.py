"""The sections of a report, in order: their sentences, tables and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ..analysis import sentences
from ..analysis.findings import Findings
from ..analysis.python_code import reproduced
from ..analysis.sentences import short
from ..core.errors import MissingPackageError
from ..signature import digits, plain
from .figures import Figure, pictures
from .markup import escape, folded, listing, more, paragraph, preformatted, table
from .previews import Previews
from .sample_sections import alike, every, redundant

GROUPS = 60  # groups that are shown; the rest is counted
_LONGEST = 800  # characters of a setting


@dataclass(frozen=True)
class Section:
    """A part of a report.

    Attributes
    ----------
    name : str
        "score", "alike", "redundant", "groups", "growth", "pictures", "samples" or "settings"; for
        sources "score", "pictures", "sources", "pairs", "prompts" or "settings".
    title, html : str, the heading, and the text below it, whose own headings are of level 3

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
    parts: list[tuple[str, str, Callable[[Findings, Previews], str]]] = [
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
        + paragraph(sentences.interval(found, shown.what))
        + paragraph(sentences.how(found), sentences.orders(found), sentences.beside(found))
        + _numbers(found)
    )


def groups(found: Findings, shown: Previews) -> str:
    """Return one row for each group, with its own numbers."""
    if not found.grouped:
        return ""
    rows = found.details["groups"]
    names = [name for name in rows[0] if name not in ("group", "n")]
    lines = [
        [escape(str(row["group"]), 60), f"{row['n']:,}", *(short(row[name]) for name in names)]
        for row in rows[:GROUPS]
    ]
    beyond = more(len(rows) - GROUPS, " groups, which `numbers` has")
    return table(["group", "n", *map(escape, names)], lines) + beyond


def growth(found: Findings, shown: Previews) -> str:
    """Return sentences on how much more samples would add."""
    grown = found.growth
    if grown is None:
        return paragraph(found.no_growth)
    few = f"Drawn at random: {grown.n:,} of the {found.n:,} {shown.what}."
    rows = []
    for size, value, *ends in zip(grown.sizes, grown.scores, grown.low, grown.high, strict=True):
        expected = " (expected)" if size > grown.n else ""
        rows.append([f"{size:,}{expected}", short(value), " to ".join(map(short, ends))])
    head = [shown.what, "score", f"{100 * grown.level:g} % interval"]
    said = paragraph(few if grown.n < found.n else "", sentences.growing(grown))
    return said + table(head, rows)


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
        found.given, found.references, found.arguments, shown.counted(found.subject.n_passed)
    )
    if found.request.ci is None and found.beside("low") is not None:
        code += "\n# With ci=0.95 it gives intervals too; intervals of other measures take long."
    return (
        table(["setting", "value"], _settings(found))
        + (f"<h3>Notes</h3>{notes}" if details["notes"] else "")
        + "<h3>Signature</h3>"
        + paragraph("To be quoted with the numbers: equal signatures, equal ways to count.")
        + preformatted(details["signature"])
        + "<h3>The same in Python</h3>"
        + preformatted(code)
    )


def _headline(found: Findings) -> str:
    value, key = found.value, escape(found.key)
    if not found.is_vendi:
        return f'<p class="number"><b>{short(value)}</b> {key}</p>'
    if found.grouped:
        return f'<p class="number"><b>{value:.2f}</b> effectively different in a group</p>'
    share = value / found.n
    return (
        f'<p class="number">≈ <b>{value:.1f}</b> effectively different of {found.n:,}</p>'
        f'<div class="bar" role="img" aria-label="{100 * share:.0f} % of {found.n:,}">'
        f'<i style="width:{100 * share:.1f}%"></i></div>'
    )


def _numbers(found: Findings) -> str:
    """Return a table of all numbers if there are several."""
    ends = ("se", "low", "high")
    keys = found.numbers.keys() - {f"{key}_{end}" for key in found.numbers for end in ends}
    if len(keys) <= 2:  # the first, and details
        return ""
    rows = []
    for key in found.numbers:
        if key not in keys or key == "details":
            continue
        low, high = found.beside("low", key), found.beside("high", key)
        interval = "" if low is None or high is None else f"{short(low)} to {short(high)}"
        row = [escape(key), short(found.numbers[key]), interval, "", ""]
        if not key.endswith(("_null", "_excess")) and (measure := sentences.measure(key)):
            about = escape(f"{measure.range}, {sentences.about(measure)}")
            row[3:] = about, folded(measure.summary, 400)
        rows.append(row)
    return table(["name", "value", "interval", "range", "what it is"], rows)


def _settings(found: Findings) -> Iterator[list[str]]:
    details = found.details
    yield ["samples", f"{found.n:,}, {found.distinct:,} distinct"]
    for name in ("kernel", "distance"):
        if name in details:
            yield [name, escape(str(details[name]))]
    for name, value in details["options"].items():
        if name not in ("kernel", "distance") and value is not None:
            yield [escape(name), folded(str(plain(value)), _LONGEST)]
    yield ["q", ", ".join(digits(q) for q in found.request.orders)]
    for q, why in details.get("why", {}).items():
        yield [f"found at q={escape(q)} from", escape(why or details["method"][q], 400)]
    if "interval" in details:
        interval = details["interval"]
        methods = ", ".join(f"{name} by {how}" for name, how in interval["method"].items())
        yield ["interval", escape(f"{100 * interval['level']:g} %: {methods}", 400)]
    versions = (f"{name} {version}" for name, version in details["versions"].items())
    yield ["versions", escape(", ".join(versions))]
