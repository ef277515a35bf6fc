"""`vendiscore FILE…`: print the scores of each file, with their signature."""

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
from ..reading.samples import Samples
from ..scoring.compute import compute
from ..scoring.group_scores import SOURCES, are_sources
from . import output
from .exit_codes import PROGRAM, UsageError, tell
from .kernel_options import How, left_out, placing, read_all, read_how, read_measuring
from .parser import COMMANDS

# How a note begins that is about orders below 1, of which most people ask none.
_OF_SMALL_ORDERS = "Eigenvalues below"
# Columns of so few groups as people call those of what wrote the samples.
_SOURCES = ("decoder", "method", "model", "model_name", "run", "source", "system")
_BESIDE = ("_se", "_low", "_high", "_corrected")


def run_score(args: Namespace) -> str:
    """Return what is printed."""
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
    sources = read_all(paths, how)
    references = sources.pop() if args.references else None
    if args.format == "html":
        given = {**how.of(sources[0], needed), **asked}
        with placing({"samples": sources[0], "references": references}):
            report = import_module("vendiscore.report").report
            made = report(**_samples(sources[0], references), **given, title=sources[0].name)
        return f"{made.html().rstrip()}\n"
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


def _samples(source: Samples, references: Samples | None) -> dict[str, Any]:
    """Return the arguments of `compute` that are samples or go with them."""
    given: dict[str, Any] = {"samples": source.values}
    given |= {"groups": source.groups} if source.groups else {}
    return given | ({} if references is None else {"references": references.values})


def _scored(
    source: Samples, references: Samples | None, keywords: dict[str, Any], how: How, small: bool
) -> dict[str, Any]:
    known = {"samples": source, "references": references}
    with placing(known), warnings.catch_warnings(record=True) as caught:
        found = compute(**_samples(source, references), **keywords, details=True)
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


def _offered(args: Namespace, path: str, source: Samples) -> str | None:
    """Offer `compare` where groups are sources by their sizes, or by the name of their column."""
    sizes = list(Counter(source.groups).values())
    named = args.group_by and args.group_by.lower() in _SOURCES and min(sizes) >= MIN_SAMPLES
    if not are_sources(sizes) and (len(sizes) < 2 or not named):
        return None
    words = ["--column", source.column] if source.column else []
    words += ["--type", args.type] if args.type else []
    command = shlex.join([PROGRAM, "compare", path, *words, "--by", args.group_by])
    return f"{SOURCES} and the mean over them says little; which is more diverse: {command}"


def _numbers(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name != "details"}


def scores(found: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers without their errors, intervals and corrections."""
    numbers = _numbers(found)
    beside = {f"{name}{end}" for name in numbers for end in _BESIDE}
    return {name: value for name, value in numbers.items() if name not in beside}


def _printed(args: Namespace, sources: list[Samples], found: list[dict[str, Any]]) -> str:
    width = args.width
    if args.brief:
        lines = (" ".join(output.exact(x, width) for x in scores(each).values()) for each in found)
        return "".join(f"{line}\n" for line in lines)
    names = [source.name for source in sources]
    if args.format == "json":
        several = [{"file": name} | each for name, each in zip(names, found, strict=True)]
        return output.as_json(several if len(found) > 1 else found[0], width)
    if args.format == "text" and len(found) == 1:
        return _one(found[0], width)
    rows = [
        {"file": name, "n": each["details"]["n"], **_numbers(each)}
        for name, each in zip(names, found, strict=True)
    ]
    signatures = [each["details"]["signature"] for each in found]
    if args.format == "csv":
        every = zip(rows, signatures, strict=True)
        return output.comma_separated([row | {"signature": said} for row, said in every], width)
    named = "\n`{1}`\n" if args.format == "md" else "{0}: {1}\n"
    said = "".join(named.format(row["file"], s) for row, s in zip(rows, signatures, strict=True))
    return output.FORMATS[args.format](rows, width) + "\n" * (args.format == "text") + said


def _one(found: Mapping[str, Any], width: int | None) -> str:
    """Print the numbers of one file, a line each, with their errors and intervals."""
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
    """Describe the error and the interval of a number in words."""
    beside = {end: output.shown(numbers.get(f"{name}{end}"), width) for end in _BESIDE}
    level = details.get("interval", {}).get("level")
    said = []
    if beside["_low"]:
        between = f"{100 * level:g} % interval {{}} to {{}}" if level else "between {} and {}"
        said.append(between.format(beside["_low"], beside["_high"]))
    if beside["_se"]:
        said.append(f"standard error {beside['_se']}")
    if beside["_corrected"]:
        said.append(f"corrected {beside['_corrected']}")
    return f" ({', '.join(said)})" if said else ""
