"""`vendiscore FILE…`: the numbers of each file, with their signature."""

from __future__ import annotations

import shlex
import warnings
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from ..comparison.options import MIN_SAMPLES
from ..scoring.compute import compute
from ..scoring.group_scores import SOURCES, are_sources
from . import output
from .exit_codes import PROGRAM, UsageError, tell
from .kernel_options import How, left_out, placing, read_all, read_how, read_measuring
from .parser import COMMANDS
from .reading import read
from .sources import Source

# How a note begins that is about orders below 1, of which most people ask none.
_OF_SMALL_ORDERS = "Eigenvalues below"
# Columns of so few groups as people call those of what wrote the samples.
_SOURCES = ("decoder", "method", "model", "model_name", "run", "source", "system")
_BESIDE = ("_se", "_low", "_high", "_corrected")


def run(args: Namespace) -> str:
    """What is printed."""
    misplaced = [name for name in args.files if name in COMMANDS and not Path(name).exists()]
    if misplaced:
        name = misplaced[0]
        raise UsageError(f"a command comes first, vendiscore {name} …; a file is called ./{name}")
    if args.format == "html" and (len(args.files) > 1 or args.brief):
        raise UsageError("-f html is a report of one FILE, without -b")
    how = read_how(args)
    asked, request = read_measuring(args, how)
    needed = any(each.measure.needs == "similarity" for each in request.measures)
    paths = [*args.files, *([args.references] if args.references else [])]
    sources = read_all(read, paths, how.wanted(args), how)
    references = sources.pop() if args.references else None
    if args.format == "html":
        return _report(sources[0], references, {**how.of(sources[0], needed), **asked})
    if any(not chosen.measure.groups for chosen in request.measures):
        for path, source in zip(args.files, sources, strict=True):
            if offer := _offered(args, path, source):
                how.note(f"{source.name}: {offer}")
    small = min(request.orders) < 1
    found = [
        _scored(source, references, {**how.of(source, needed), **asked}, how, small)
        for source in sources
    ]
    return _printed(args, sources, found)


def _given(source: Source, references: Source | None, keywords: dict[str, Any]) -> dict[str, Any]:
    given = {**keywords, "samples": source.values}
    if source.groups:
        given["groups"] = source.groups
    return given | ({} if references is None else {"references": references.values})


def _scored(
    source: Source, references: Source | None, keywords: dict[str, Any], how: How, small: bool
) -> dict[str, Any]:
    known = {"samples": source} | ({} if references is None else {"references": references})
    with placing(known), warnings.catch_warnings(record=True) as caught:
        found = compute(**_given(source, references, keywords), details=True)
    warned = dict.fromkeys(str(warning.message).rstrip(".") for warning in caught)
    for said in warned:
        tell(f"warning: {source.name}: {said}")
    left_out(source, found["details"]["dropped"])
    for note in found["details"]["notes"]:
        if note.startswith(SOURCES):
            continue  # said by `_offered`
        known_already = note.rstrip(".") in warned
        if not known_already and (small or not note.startswith(_OF_SMALL_ORDERS)):
            how.note(f"{source.name}: {note}")
    return found


def _offered(args: Namespace, path: str, source: Source) -> str | None:
    """Offer `compare` where groups are sources by their sizes, or by the name of their column."""
    sizes = list(Counter(source.groups).values())
    named = args.group_by and args.group_by.lower() in _SOURCES and min(sizes) >= MIN_SAMPLES
    if not are_sources(sizes) and (len(sizes) < 2 or not named):
        return None
    words = ["--column", source.column] if source.column else []
    words += ["--type", args.type] if args.type else []
    command = shlex.join([PROGRAM, "compare", path, *words, "--by", args.group_by])
    return f"{SOURCES} and the mean over them says little; which is more diverse: {command}"


def _report(source: Source, references: Source | None, keywords: dict[str, Any]) -> str:
    known = {"samples": source} | ({} if references is None else {"references": references})
    with placing(known):
        report = import_module("vendiscore.report").report
        made = report(**_given(source, references, keywords), title=source.name)
    text: str = made.html()
    return text if text.endswith("\n") else f"{text}\n"


def _numbers(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name != "details"}


def scores(found: Mapping[str, Any]) -> dict[str, float]:
    """The numbers without what stands beside them, their errors and intervals."""
    numbers = _numbers(found)

    def beside(name: str) -> bool:
        return any(name.endswith(end) and name.removesuffix(end) in numbers for end in _BESIDE)

    return {name: value for name, value in numbers.items() if not beside(name)}


def _printed(args: Namespace, sources: list[Source], found: list[dict[str, Any]]) -> str:
    width = args.width
    if args.brief:
        lines = (" ".join(output.exact(x, width) for x in scores(each).values()) for each in found)
        return "".join(f"{line}\n" for line in lines)
    if args.format == "json":
        several = [
            {"file": source.name} | each for source, each in zip(sources, found, strict=True)
        ]
        return output.as_json(several if len(found) > 1 else found[0], width)
    rows = [
        {"file": source.name, "n": each["details"]["n"], **_numbers(each)}
        for source, each in zip(sources, found, strict=True)
    ]
    signatures = [each["details"]["signature"] for each in found]
    if args.format == "csv":
        return output.comma_separated(
            [row | {"signature": said} for row, said in zip(rows, signatures, strict=True)], width
        )
    if args.format == "md":
        said = "".join(f"\n`{signature}`\n" for signature in signatures)
        return output.markdown(rows, width) + said
    if len(found) > 1:
        named = (f"{row['file']}: {said}\n" for row, said in zip(rows, signatures, strict=True))
        return output.table(rows, width) + "\n" + "".join(named)
    return _one(found[0], width)


def _one(found: Mapping[str, Any], width: int | None) -> str:
    """The numbers of one file, a line each, with what stands beside them."""
    numbers, details = _numbers(found), found["details"]
    lines = [
        f"{name} = {output.shown(value, width)}{_sure(name, numbers, details, width)}"
        for name, value in scores(found).items()
    ]
    lines.append(f"n = {details['n']:,}")
    if "groups" in details:
        lines.append("\n" + output.table(details["groups"], width))
    return "\n".join([*lines, details["signature"], ""])


def _sure(name: str, numbers: Mapping[str, Any], details: Any, width: int | None) -> str:
    """What stands beside a number, in words."""
    beside = {end: output.shown(numbers.get(f"{name}{end}"), width) for end in _BESIDE}
    level = details.get("interval", {}).get("level")
    said = []
    if beside["_low"]:
        what = f"{100 * level:g} % interval " if level else "between "
        joint = " to " if level else " and "
        said.append(f"{what}{beside['_low']}{joint}{beside['_high']}")
    if beside["_se"]:
        said.append(f"standard error {beside['_se']}")
    if beside["_corrected"]:
        said.append(f"corrected {beside['_corrected']}")
    return f" ({', '.join(said)})" if said else ""
