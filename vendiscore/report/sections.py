"""The sections of a report, in their order: what they say, their tables and their pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays.namespace import scalar, to_host
from ..errors import MissingPackageError
from ..explanation.analysis import ORDERS
from ..explanation.modes import Mode
from ..explanation.table import Explanation
from ..measures.registry import Measure, list_measures
from ..registry import get_kernel, list_kernels
from ..signature import digits, plain
from . import pictures, sentences
from .code import reproduced
from .findings import MOST, MOST_GROWN, Findings
from .markup import escape, figure, folded, listing, paragraph, preformatted, table
from .shown import Shown

# What is shown of each; the rest is counted.
NEAR_GROUPS, NEAR_MEMBERS, MODES, PAIRS, REDUNDANT, ADDING, GROUPS = 8, 3, 8, 2, 8, 4, 60
# Characters of a text in a list, and in the table of all samples.
LONGEST, LONGEST_OF_ALL = 800, 1_200
# Characters of the table of all samples.
ROOM = 230_000
_CELLS = 120  # rows of the heat map, whose picture is in the file
_ABOUT = {"higher": "higher is more diverse", "lower": "lower is more diverse"}


@dataclass(frozen=True)
class Section:
    """A part of a report.

    Attributes
    ----------
    name : str
        "score", "alike", "redundant", "groups", "growth", "pictures", "samples" or "settings".
    title : str
    html : str
        What is below the heading, whose own headings are of level 3.
    """

    name: str
    title: str
    html: str


def sections(found: Findings) -> Iterator[Section]:
    """All sections that there is something to say in."""
    shown = Shown.of(found.subject)
    parts: list[tuple[str, str, Callable[[Findings, Shown], str]]] = [
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


def score(found: Findings, shown: Shown) -> str:
    """The number, what it means, its interval, and what it is a number of."""
    details, n = found.details, found.n
    said = [
        paragraph(sentences.copies(n, int(details["distinct"]), shown.what), _left_out(found)),
        _headline(found),
        paragraph(_meaning(found, shown)),
        paragraph(_interval(found, shown)),
        paragraph(_how(found), _orders(found)),
        _numbers(found),
    ]
    return "".join(said)


def alike(found: Findings, shown: Shown) -> str:
    """Groups of near-duplicates, the closest pairs around the threshold, and modes."""
    table_of = found.explanation
    if table_of is None or found.n < 2:
        return ""
    return "".join(
        [
            paragraph(_looked_at(found), "Of all groups together." if found.grouped else ""),
            "<h3>Near-duplicates</h3>",
            _near(table_of, shown),
            _boundary(table_of, shown),
            "<h3>Modes</h3>",
            paragraph(
                "A mode is a direction that samples share; its share is how much of the set lies "
                "in it. With each, the samples that it is the most of."
            ),
            _modes(table_of, shown),
        ]
    )


def redundant(found: Findings, shown: Shown) -> str:
    """The samples that add the least, each with its nearest, and those that add the most."""
    table_of = found.explanation
    if table_of is None or found.n < 2:
        return ""
    places, adds = table_of.places, table_of.adds
    order = np.argsort(adds, kind="stable")
    least = [
        [
            shown.cell(int(places[i]), LONGEST),
            shown.cell(int(table_of.nearest[i]), LONGEST),
            f"{table_of.nearest_similarity[i]:.3f}",
            f"{_percent(adds[i])}",
        ]
        for i in order[: min(REDUNDANT, len(order) // 2)].tolist()
    ]
    most = [
        [shown.cell(int(places[i]), LONGEST), f"{_percent(adds[i])}"]
        for i in order[::-1][: min(ADDING, len(order) - len(least))].tolist()
    ]
    name = shown.word
    head = [name, f"the {name} most like it", "similarity", "adds to the score"]
    return (
        "<h3>Most redundant</h3>"
        + paragraph(
            "What a sample adds is how much higher the score is than without it; below 0 %, the "
            "set is more diverse without it."
        )
        + table(head, least)
        + "<h3>Adds the most</h3>"
        + table([name, "adds to the score"], most)
    )


def groups(found: Findings, shown: Shown) -> str:
    """One row for each group, with its own numbers."""
    if not found.grouped:
        return ""
    rows = found.details["groups"]
    names = [name for name in rows[0] if name not in ("group", "n")]
    lines = [
        [escape(str(row["group"]), 60), f"{row['n']:,}", *(_short(row[name]) for name in names)]
        for row in rows[:GROUPS]
    ]
    more = len(rows) - GROUPS
    return table(["group", "n", *map(escape, names)], lines) + paragraph(
        f"And {more:,} more groups, which `numbers` has." if more > 0 else ""
    )


def growth(found: Findings, shown: Shown) -> str:
    """Whether more samples would add much."""
    grown = found.growth
    if grown is None:
        return paragraph(f"{found.no_growth}")
    few = (
        f"Of {MOST_GROWN:,} of the {found.n:,} {shown.what}, drawn at random."
        if grown.n < found.n
        else ""
    )
    columns = zip(grown.sizes, grown.scores, grown.low, grown.high, strict=True)
    rows = [
        [
            f"{size:,}{' (expected)' if size > grown.n else ''}",
            f"{value:.2f}",
            f"{low:.2f} to {high:.2f}",
        ]
        for size, value, low, high in columns
    ]
    head = [shown.what, "score", f"{100 * grown.level:g} % interval"]
    return paragraph(few, sentences.growing(grown)) + table(head, rows)


def drawn(found: Findings, shown: Shown) -> str:
    """The pictures, in one grid."""
    try:
        return f'<div class="grid">{"".join(_figures(found))}</div>'
    except MissingPackageError as error:
        return paragraph(f"No pictures: {error}")


def every(found: Findings, shown: Shown) -> str:
    """All samples, as many as there is room for, folded."""
    explained = found.explanation
    numbered = explained if explained is not None and found.n > 1 else None
    places = numbered.places if numbered is not None else np.arange(found.n)
    head = [shown.word if shown.word == "row" else "no.", shown.word]
    if numbered is not None:
        head += ["most like", "similarity", "adds", "mode", "repeats"]
    rows: list[list[str]] = []
    left = ROOM
    for i, place in enumerate(places.tolist()):
        row = [str(place), shown.cell(place, LONGEST_OF_ALL)]
        if numbered is not None:
            row += _columns(numbered, i)
        left -= sum(map(len, row)) + 9 * len(row) + 9
        if left < 0:
            break
        rows.append(row)
    missing = found.n - len(rows)
    said = (
        f"The first {len(rows):,} of {len(places):,} that were looked at; {missing:,} "
        f"{'is' if missing == 1 else 'are'} left out, so that this file stays small."
        if missing
        else ""
    )
    numbers = "Numbers are places in the list that was given, from 0."
    summary = f"{shown.counted(len(rows))} of {found.n:,}" if missing else shown.counted(found.n)
    return paragraph(said, numbers) + (
        f"<details><summary>{escape(summary)}</summary>{table(head, rows)}</details>"
    )


def settings(found: Findings, shown: Shown) -> str:
    """Settings, notes, the signature, versions, and Python that gives the numbers again."""
    details = found.details
    notes = listing(escape(note, 2_000) for note in details["notes"]) if details["notes"] else ""
    code = reproduced(found.given, found.references, found.arguments, shown.counted(found.n))
    return "".join(
        [
            table(["setting", "value"], _settings(found)),
            f"<h3>Notes</h3>{notes}" if notes else "",
            "<h3>Signature</h3>",
            paragraph("To be quoted with the numbers: equal signatures, equal ways to count."),
            preformatted(details["signature"]),
            "<h3>The same in Python</h3>",
            preformatted(code),
        ]
    )


def _headline(found: Findings) -> str:
    value, key = found.value, escape(found.key)
    if not found.is_vendi:
        return f'<p class="number"><b>{_short(value)}</b> {key}</p>'
    if found.grouped:
        return f'<p class="number"><b>{value:.2f}</b> effectively different in a group</p>'
    share = value / found.n
    return (
        f'<p class="number">≈ <b>{value:.1f}</b> effectively different of {found.n:,}</p>'
        f'<div class="bar" role="img" aria-label="{100 * share:.0f} % of {found.n:,}">'
        f'<i style="width:{100 * share:.1f}%"></i></div>'
    )


def _meaning(found: Findings, shown: Shown) -> str:
    if not found.is_vendi:
        measure = _measure(found.key)
        if measure is None:
            return ""
        return f"{found.key}: {measure.summary} {_ABOUT[measure.direction].capitalize()}."
    if found.grouped:
        sizes = [int(row["n"]) for row in found.details["groups"]]
        return sentences.of_groups(sizes, found.value, found.beside("se"), shown.what)
    share = float(to_host(found.spectrum.values)[0])
    return sentences.diversity(found.n, found.value, share, shown.what, lambda: found.neighbours)


def _interval(found: Findings, shown: Shown) -> str:
    low, high, se = (found.beside(what) for what in ("low", "high", "se"))
    if found.request.estimating is not None:
        bounds = f"It is proved to be between {low:.4g} and {high:.4g}." if low is not None else ""
        error = f"Its computation has a standard error of {se:.2g}." if se is not None else ""
        return f"This score is an estimate. {bounds}{error} {found.no_interval}"
    if low is None or high is None or se is None:
        return found.no_interval or "No interval was asked for."
    level = float(found.details["interval"]["level"])
    if found.grouped:
        return (
            f"{100 * level:g} % interval of the mean over groups: {low:.2f} to {high:.2f} "
            f"(Student's t)."
        )
    return sentences.interval(found.n, level, low, high, se, shown.what)


def _how(found: Findings) -> str:
    details = found.details
    if "kernel" not in details:
        return f"Distances: {details['distance']}."
    name = str(details["kernel"])
    known = {kernel.name: kernel for kernel in list_kernels()}
    summary = known[name].summary if name in known else ""
    of_kernel = set(get_kernel(name).options) if name in known else set()
    options = {key: details["options"][key] for key in details["options"] if key in of_kernel}
    return sentences.kernel(name, summary, options)


def _orders(found: Findings) -> str:
    ordered = any(chosen.measure.ordered for chosen in found.request.measures)
    return " ".join(map(sentences.order, found.request.orders)) if ordered else ""


def _left_out(found: Findings) -> str:
    dropped = found.details["dropped"]
    if not dropped:
        return ""
    place, why = next(iter(dropped.items()))
    several = "1 sample was" if len(dropped) == 1 else f"{len(dropped):,} samples were"
    return f"{several} left out, which the kernel cannot use: sample {place} {why}."


def _numbers(found: Findings) -> str:
    """All numbers, where there are more than the first."""
    beside = tuple(f"_{what}" for what in ("se", "low", "high", "corrected"))
    keys = [
        key
        for key in found.numbers
        if key != "details"
        and not any(key.endswith(end) and key.removesuffix(end) in found.numbers for end in beside)
    ]
    corrected = found.beside("corrected")
    said = paragraph(
        f"Without its bias of order 1/n: {corrected:.2f}." if corrected is not None else ""
    )
    if len(keys) < 2:
        return said
    rows = []
    for key in keys:
        low, high = found.beside("low", key), found.beside("high", key)
        measure = _measure(key)
        rows.append(
            [
                escape(key),
                _short(found.numbers[key]),
                "" if low is None or high is None else f"{_short(low)} to {_short(high)}",
                escape(f"{measure.range}, {_ABOUT[measure.direction]}") if measure else "",
                escape(measure.summary, 200) if measure else "",
            ]
        )
    return said + table(["name", "value", "interval", "range", "what it is"], rows)


def _measure(key: str) -> Measure | None:
    """The measure that a number is of."""
    known = {measure.name: measure for measure in list_measures()}
    names = sorted((name for name in known if f"{key}_".startswith(f"{name}_")), key=len)
    return known[names[-1]] if names else None


def _looked_at(found: Findings) -> str:
    n = len(found.chosen)
    return (
        f"Pairs were looked at of {MOST:,} of {found.n:,}, drawn at random." if n < found.n else ""
    )


def _near(explained: Explanation, shown: Shown) -> str:
    groups = explained.groups
    removed = sum(len(rest) for _, rest in groups)
    left = explained.n - removed
    said = sentences.near_duplicates(
        len(groups), removed, explained.threshold, explained.score_without_duplicates, left
    )
    items = []
    for keep, rest in groups[:NEAR_GROUPS]:
        cells = [shown.cell(place, LONGEST) for place in (keep, *rest[:NEAR_MEMBERS])]
        more = len(rest) - NEAR_MEMBERS
        items.append(
            f"<b>{len(rest) + 1:,} alike</b>{listing(cells)}"
            + (f"<p>and {more:,} more</p>" if more > 0 else "")
        )
    more = len(groups) - NEAR_GROUPS
    return (
        paragraph(said)
        + (listing(items, "ol") if items else "")
        + paragraph(f"And {more:,} more groups." if more > 0 else "")
    )


def _boundary(explained: Explanation, shown: Shown) -> str:
    """The pairs that decide whether the threshold is the one that is meant."""
    above, below = explained.boundary(PAIRS)
    rows = [
        [f"{pair.similarity:.3f}", shown.cell(pair.i, LONGEST), shown.cell(pair.j, LONGEST), side]
        for side, pairs in (("near-duplicates", above[::-1]), ("not", below))
        for pair in pairs
    ]
    if not rows:
        return ""
    caption = "The pairs next to the threshold, identical ones taken as one"
    return table(["similarity", "one", "the other", "counted as"], rows, caption)


def _modes(explained: Explanation, shown: Shown) -> str:
    count = int(np.ceil(explained.score))
    modes = explained.modes(min(count, MODES))

    def row(mode: Mode) -> list[str]:
        cells = [shown.cell(place, LONGEST) for place in mode.exemplars]
        members = len(mode.members)
        return [
            f"{mode.number + 1}",
            f"{100 * mode.share:.1f} %",
            f"{members:,}",
            listing(cells) if cells else "",
        ]

    more = count - len(modes)
    head = ["mode", "share", shown.what, "the most of"]
    return table(head, map(row, modes)) + paragraph(
        f"And {more:,} smaller modes." if more > 0 else ""
    )


def _figures(found: Findings) -> Iterator[str]:
    if found.similarity is not None:
        label = sentences.heat(found.K)
        picture = pictures.heat_map(found.K, found.seriated, found.codes, label, cells=_CELLS)
        lines = " Lines divide the groups." if found.codes is not None else ""
        yield figure(picture, pictures.CAPTIONS["heat"] + lines)
        yield figure(
            pictures.spectrum(to_host(found.spectrum.values)), pictures.CAPTIONS["spectrum"]
        )
        whole = found.is_vendi and not found.grouped
        mark = (found.order, found.value) if whole else None
        yield figure(
            pictures.profile(ORDERS, found.profile, mark),
            pictures.CAPTIONS["profile"],
        )
    if found.growth is not None:
        yield figure(pictures.growth(found.growth), pictures.CAPTIONS["growth"])
    if (curve := found.curve) is not None:
        yield figure(
            pictures.magnitude(curve, curve.convergence, curve.at(curve.convergence)),
            pictures.CAPTIONS["magnitude"],
        )


def _columns(explained: Explanation, i: int) -> list[str]:
    of = int(explained.redundant_of[i])
    return [
        str(int(explained.nearest[i])),
        f"{explained.nearest_similarity[i]:.3f}",
        _percent(explained.adds[i]),
        str(int(explained.mode[i]) + 1),
        "" if of < 0 else str(of),
    ]


def _settings(found: Findings) -> Iterator[list[str]]:
    details = found.details
    yield ["samples", f"{found.n:,}, {details['distinct']:,} distinct"]
    for name in ("kernel", "distance"):
        if name in details:
            yield [name, escape(str(details[name]))]
    for name, value in details["options"].items():
        if name not in ("kernel", "distance"):
            yield [escape(name), folded(str(plain(value)), LONGEST)]
    yield ["q", ", ".join(digits(q) for q in found.request.orders)]
    for q, why in details.get("why", {}).items():
        yield [f"found at q={escape(q)} from", escape(why or details["method"][q], 400)]
    if "interval" in details:
        methods = ", ".join(
            f"{name} by {how}" for name, how in details["interval"]["method"].items()
        )
        yield ["interval", escape(f"{100 * details['interval']['level']:g} %: {methods}", 400)]
    for name, version in details["versions"].items():
        yield [escape(name), escape(version)]


def _percent(adds: float) -> str:
    """What a sample adds to log VS, as percent of the score."""
    value = 100 * float(np.expm1(adds))
    return f"{0.0 if abs(value) < 0.005 else value:+.2f} %"


def _short(value: Any) -> str:
    number = float(scalar(value))
    return f"{number:.2f}" if 1 <= abs(number) < 1e6 else f"{number:.4g}"
