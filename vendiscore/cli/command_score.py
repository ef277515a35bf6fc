"""`vendiscore FILE…`: print the scores of each file, with their signature."""

from __future__ import annotations

import shlex
import warnings
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from ..core.types import Record
from ..reading.samples import Samples
from ..registry.measure import OF_SIMILARITIES
from ..scoring.compute import compute
from ..scoring.group_scores import SOURCES, are_sources
from ..scoring.typical import wording_sentence
from ..uncertainty.subsampling import MIN_SAMPLES
from . import output
from .exit_codes import PROGRAM, UsageError, tell
from .kernel_options import (
    How,
    given_prompts,
    left_out,
    placing,
    read_all,
    read_how,
    read_measuring,
    which_labels,
)
from .parser import COMMANDS

# The beginning of a note about orders below 1, which most people do not ask for.
_OF_SMALL_ORDERS = "Eigenvalues below"
# Usual names of columns that say who or what wrote each sample.
_SOURCES = ("decoder", "method", "model", "model_name", "run", "source", "system")
_BESIDE = ("_se", "_low", "_high")


def run_score(args: Namespace) -> str:
    for name in args.files:
        if name in COMMANDS and not Path(name).exists():
            said = f"put a command first, as in {PROGRAM} {name} …; name a file ./{name}"
            raise UsageError(said)
    if args.format == "html" and (len(args.files) > 1 or args.brief):
        raise UsageError("-f html writes a report of one FILE; leave out -b and more files")
    what = which_labels(args)
    if what == "clusters" and not args.ci:
        raise UsageError("--clusters is for intervals: pass --ci with it")
    how = read_how(args)
    asked, request = read_measuring(args, how)
    needed = any(each.measure.needs in OF_SIMILARITIES for each in request.measures)
    sources = read_all([*args.files, *([args.references] if args.references else [])], how)
    others = {"references": sources.pop()} if args.references else {}
    if args.format == "html":
        sets, keywords = {"samples": sources[0], **others}, how.of(sources[0], needed) | asked
        report = import_module("vendiscore.report").report
        return f"{_call(report, sets, keywords, what, title=sources[0].name).html().rstrip()}\n"
    if any(not chosen.measure.groups for chosen in request.measures):
        for path, source in zip(args.files, sources, strict=True):
            if offer := _offered(args, path, source):
                how.note(f"{source.name}: {offer}")
    found = []
    for source in sources:
        sets, keywords = {"samples": source, **others}, how.of(source, needed) | asked
        with warnings.catch_warnings(record=True) as caught:
            found.append(_call(compute, sets, keywords, what, details=True))
        warned = [str(warning.message) for warning in caught]
        _tell(how, source, found[-1]["details"], warned, min(request.orders) < 1)
    return _printed(args, sources, found)


def _call(
    function: Callable[..., Any],
    sets: Mapping[str, Samples],
    keywords: Any,
    what: str,
    **more: Any,
) -> Any:
    """Call a function with samples and their "groups" or "clusters"; errors name places."""
    groups = sets["samples"].groups
    values = {name: source.values for name, source in sets.items()}
    more |= given_prompts(list(sets.values()))
    with placing(sets):
        return function(**values, **({what: groups} if groups else {}), **keywords, **more)


def _tell(
    how: How, source: Samples, details: Mapping[str, Any], warned: list[str], small: bool
) -> None:
    """Print the warnings and notes on a file, each once; `small` if an order is below 1."""
    warned = list(dict.fromkeys(said.rstrip(".") for said in warned))
    for said in warned:
        tell(f"warning: {source.name}: {said}")
    left_out(source, details["dropped"])
    idle = (SOURCES,) if small else (SOURCES, _OF_SMALL_ORDERS)  # `_offered` says the first
    for note in details["notes"]:
        if note.rstrip(".") not in warned and not note.startswith(idle):
            how.note(f"{source.name}: {note}")


def _offered(args: Namespace, path: str, source: Samples) -> str | None:
    """Offer `compare` where groups are sources by their sizes, or by the name of their column."""
    sizes = list(Counter(source.groups).values())
    if args.clusters:
        return None
    named = args.group_by and args.group_by.lower() in _SOURCES and min(sizes) >= MIN_SAMPLES
    if not are_sources(sizes) and (len(sizes) < 2 or not named):
        return None
    words = ["--column", source.column] if source.column else []
    words += ["--type", args.type] if args.type else []
    command = shlex.join([PROGRAM, "compare", path, *words, "--by", args.group_by])
    return f"{SOURCES} and the mean over them says little; which is more diverse: {command}"


def scores(found: Mapping[str, Any], *more: str) -> dict[str, float]:
    """Return the numbers without errors, intervals, corrections and keys that end in `more`."""
    beside = {"details", *(f"{name}{end}" for name in found for end in (*_BESIDE, *more))}
    return {name: value for name, value in found.items() if name not in beside}


def _printed(args: Namespace, sources: list[Samples], found: list[dict[str, Any]]) -> str:
    width = args.width
    if args.brief:
        lines = (scores(each, "_null", "_excess", "_p").values() for each in found)
        return "".join(f"{' '.join(output.exact(x, width) for x in line)}\n" for line in lines)
    files = [{"file": source.name} | each for source, each in zip(sources, found, strict=True)]
    if args.format == "json":
        return output.as_json(files if len(files) > 1 else found[0], width)
    if args.format == "text" and len(files) == 1:
        return _one(found[0], width)
    rows, signatures = [], []
    for row in files:
        details = row.pop("details")
        rows.append({"file": row["file"], "n": details["n"], **row})
        signatures.append(details["signature"])
    if args.format == "csv":
        every = zip(rows, signatures, strict=True)
        return output.comma_separated([row | {"signature": said} for row, said in every], width)
    named = "\n`{1}`\n" if args.format == "md" else "{0}: {1}\n"
    said = "".join(named.format(row["file"], s) for row, s in zip(rows, signatures, strict=True))
    return output.FORMATS[args.format](rows, width) + "\n" * (args.format == "text") + said


def _one(found: Record, width: int | None) -> str:
    """Print the numbers of one file, a line each, with their errors and intervals."""
    details = found["details"]
    level = details.get("interval", {}).get("level")
    between = f"{100 * level:g} % interval {{}} to {{}}" if level else "between {} and {}"
    lines = []
    for name, value in scores(found).items():
        beside = (found.get(f"{name}{end}") for end in _BESIDE)
        se, low, high = (output.shown(each, width) for each in beside)
        said = [between.format(low, high)] if low else []
        said += [f"standard error {se}"] if se else []
        sure = f" ({', '.join(said)})" if said else ""
        lines.append(f"{name} = {output.shown(value, width)}{sure}")
    lines.append(f"n = {details['n']:,}")
    kernel = {"kernel": details.get("kernel")}
    lines += filter(None, [details["typical"], wording_sentence(kernel)])
    if "groups" in details:
        lines.append("\n" + output.table(details["groups"], width))
    return "\n".join([*lines, details["signature"], ""])
