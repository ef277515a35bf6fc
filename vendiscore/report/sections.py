"""The sections of a report, in their order: what they say, their tables and their pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..arrays.namespace import to_host
from ..errors import MissingPackageError
from ..explanation.analysis import ORDERS
from ..measures.registry import Measure, list_measures
from ..registry import get_kernel, list_kernels
from . import pictures, sentences
from .findings import Findings
from .likeness import alike, every, redundant
from .markup import escape, figure, folded, paragraph, table
from .sentences import short
from .settings import settings
from .shown import Shown

GROUPS = 60  # that are shown; the rest is counted
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


def sections(found: Findings, shown: Shown) -> Iterator[Section]:
    """All sections that there is something to say in."""
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
    where = " within their groups" if found.grouped else ""
    said = [
        paragraph(
            sentences.copies(n, int(details["distinct"]), shown.what, where), _left_out(found)
        ),
        _headline(found),
        paragraph(_meaning(found, shown)),
        paragraph(_interval(found, shown)),
        paragraph(_how(found), _orders(found), _beside(found)),
        _numbers(found),
    ]
    return "".join(said)


def groups(found: Findings, shown: Shown) -> str:
    """One row for each group, with its own numbers."""
    if not found.grouped:
        return ""
    rows = found.details["groups"]
    names = [name for name in rows[0] if name not in ("group", "n")]
    lines = [
        [escape(str(row["group"]), 60), f"{row['n']:,}", *(short(row[name]) for name in names)]
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
        f"Of {grown.n:,} of the {found.n:,} {shown.what}, drawn at random."
        if grown.n < found.n
        else ""
    )
    columns = zip(grown.sizes, grown.scores, grown.low, grown.high, strict=True)
    rows = [
        [
            f"{size:,}{' (expected)' if size > grown.n else ''}",
            short(value),
            f"{short(low)} to {short(high)}",
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
        if not se and low == high:
            return f"An estimate was asked for, and the score came out exact. {found.no_interval}"
        bounds = f"It is proved to be between {low:.4g} and {high:.4g}." if low is not None else ""
        error = f"Its computation has a standard error of {se:.2g}." if se is not None else ""
        return f"This score is an estimate. {bounds}{error} {found.no_interval}"
    if low is None or high is None or se is None:
        return found.no_interval or "No interval was asked for."
    level = float(found.details["interval"]["level"])
    if found.grouped:
        return (
            f"{100 * level:g} % interval of the mean over groups: {short(low)} to {short(high)} "
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


def _beside(found: Findings) -> str:
    if not found.request.pairs:
        return ""
    names = ", ".join(
        each.measure.name for each in found.request.measures if each.measure.references
    )
    return f"Compared with the references by {names}."


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
                short(found.numbers[key]),
                "" if low is None or high is None else f"{short(low)} to {short(high)}",
                escape(f"{measure.range}, {_ABOUT[measure.direction]}") if measure else "",
                folded(measure.summary, 400) if measure else "",
            ]
        )
    return said + table(["name", "value", "interval", "range", "what it is"], rows)


def _measure(key: str) -> Measure | None:
    """The measure that a number is of."""
    known = {measure.name: measure for measure in list_measures()}
    names = sorted((name for name in known if f"{key}_".startswith(f"{name}_")), key=len)
    return known[names[-1]] if names else None


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
