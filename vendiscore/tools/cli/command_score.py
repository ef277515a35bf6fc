"""`vendiscore FILE…`: print the scores of each file, with their signature."""

import shlex
import warnings
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from ...encoders.sample_encoder import MODEL_SCRIPTS
from ...measures.measure import SIMILARITY_NEEDS
from ...resolve.kernel import NAMED_MODELS
from ...result import ERROR_SUFFIXES, NULL_SUFFIXES, number_rows
from ...scoring.compute import compute
from ...scoring.typical import describe_wording_limits
from ...similarity.encoder_scope import find_mismatch
from ...support.types import Options, Record
from ..reading.samples import Samples
from . import output
from .exit_codes import PROGRAM, UsageError
from .files import BY_FOLDER
from .kernel_options import (
    How,
    left_out,
    placing,
    prompts_of,
    read_all,
    read_how,
    read_measuring,
)
from .notes import Notes

_Found = TypeVar("_Found")

# The beginning of a note about orders below 1, which most people do not ask for.
_OF_SMALL_ORDERS = "Eigenvalues below"
# The beginning of a note about few large groups, which advises to compare them.
_OF_SOURCES = "Groups this few"
# The line on meaning: the number of texts beyond which it is left out, and its words.
_MOST_BY_MEANING = 20_000
_MEANING = " by meaning (static word vectors, -k static)"
_ONLY_ENGLISH = "; static word vectors and -k semantic are for English text."
_BOTH = "n-grams measure wording; static word vectors see some of the meaning, -k semantic more."


def run_score(args: Namespace) -> str:
    how = read_how(args)
    asked, request = read_measuring(args, how)
    needed = any(each.measure.needs in SIMILARITY_NEEDS for each in request.measures)
    sources = read_all(args.files, how, args.references)
    others = {"references": sources.pop()} if args.references else {}
    if request.group_measures and not sources[0].groups:
        raise UsageError(
            f"{', '.join(request.group_measures)} needs groups: name them by --group-by"
        )
    above = f"{sources[0].name} › " if len(sources) == 1 else ""
    if any(source.sets for source in sources):
        sources = [each for source in sources for each in by_set(source)]
    if args.format == "html":
        if len(sources) > 1:
            raise UsageError(
                f"a report is of one set, and there are {len(sources):,}; name one FILE, and pass "
                f"--pool to take all sets of a table together"
            )
        sets = {"samples": sources[0], **others}
        keywords = how.of(sources[0], needed) | asked
        from ..reports import report  # which other formats need not wait for

        page = _call(report, sets, keywords, args.given_prompt, title=sources[0].name)
        return f"{page.html().rstrip()}\n"
    found = []
    notes = Notes(how)
    try:
        for source in sources:
            sets = {"samples": source, **others}
            keywords = how.of(source, needed) | asked
            with warnings.catch_warnings(record=True) as caught:
                found.append(_call(compute, sets, keywords, args.given_prompt, details=True))
            warned = [str(warning.message) for warning in caught]
            _add_notes(notes, source, found[-1]["details"], warned, min(request.orders) < 1)
            source = left_out(source, found[-1]["details"]["dropped"])
            one = len(sources) == 1 and args.format == "text" and not args.brief
            plain = one and not (args.measures or how.compares)
            few = len(source) <= _MOST_BY_MEANING
            if plain and few and source.kind in ("texts", "sequences"):
                found[-1] |= _by_meaning(how, source, keywords)
            if source.kind == "molecules" and not (source.sets or args.brief):
                if one:
                    found[-1]["molecules"] = _molecule_counts(source)
                else:
                    how.note(f"{source.name}: {_molecule_counts(source)}")
    finally:
        notes.tell()
    names = [source.name.removeprefix(above) for source in sources]
    return _printed(args, names, found)


run_report = run_score  # with one format alone


def _by_meaning(how: How, texts: Samples, keywords: Record) -> Record:
    """Score texts by static word vectors too, or state why these do not suit the samples.

    Return a dict with the key "meaning" or "no_meaning", or an empty one if the vectors are not
    installed.
    """
    sequences = texts.kind == "sequences"
    scripts = MODEL_SCRIPTS[NAMED_MODELS["static"]]
    mismatch = find_mismatch(texts.values, scripts, sequences=sequences)
    if mismatch:
        return {"no_meaning": f"By meaning: not computed, because {mismatch.reason}{_ONLY_ENGLISH}"}
    keywords = keywords | {"k": "static"}
    with warnings.catch_warnings(action="ignore"):  # the first score has warned of the same
        try:
            found = _call(
                compute, {"samples": texts}, keywords, how.args.given_prompt, details=True
            )
        except ImportError:
            return {}
        except ValueError as error:
            how.note(f"{texts.name}: there is no score by meaning: {error}")
            return {}
    return {"meaning": found}


def _molecule_counts(source: Samples) -> str:
    """Return how many molecules of a file are valid, and how many of these are different."""
    from ...kernels.molecules import canonical_smiles  # RDKit has read them already

    unique = len({*canonical_smiles(source.values)})
    return f"{len(source):,} of {source.count:,} valid, {unique:,} unique"


def by_set(source: Samples) -> list[Samples]:
    """Return the samples of each set, such as of a model, by themselves."""
    if not source.sets:
        return [source]
    places: dict[object, list[int]] = {}
    for i, label in enumerate(source.sets):
        places.setdefault(label, []).append(i)
    named = ((f"{source.name} › {label}", some) for label, some in places.items())
    return [replace(source.subset(some), name=name) for name, some in named]


def _call(
    function: Callable[..., _Found],
    sets: Mapping[str, Samples],
    keywords: Options,
    given: bool,
    **more: object,
) -> _Found:
    """Call a function with samples, their groups and their prompts; errors name places."""
    values = {name: source.values for name, source in sets.items()}
    asked = list(sets.values()) if given else [sets["samples"]]
    more |= prompts_of(asked, given)
    if groups := sets["samples"].groups:
        more["groups"] = groups
    with placing(sets):
        return function(**values, **keywords, **more)


def _add_notes(
    notes: Notes, source: Samples, details: Record, warned: Sequence[str], small: bool
) -> None:
    """Collect the warnings and notes on a file, each once; `small` if an order is below 1."""
    warned = list(dict.fromkeys(text.rstrip(".") for text in warned))
    for text in warned:
        notes.warn(source.name, text)
    for note in details["notes"]:
        idle = note.startswith(_OF_SMALL_ORDERS) and not small
        if note.rstrip(".") not in warned and not idle:
            notes.note(source.name, _with_command(note, source))


def _with_command(note: str, source: Samples) -> str:
    """Return a note; one that advises `compare` gets the command with the columns in use."""
    column = source.grouping.get("groups") or (BY_FOLDER if source.unit == "file" else "")
    if not note.startswith(_OF_SOURCES) or not column:
        return note
    file = source.name.partition(" › ")[0]
    words = [PROGRAM, "compare", file, "--by", column]
    if prompts := source.grouping.get("prompts"):
        words += ["--prompt", prompts]
    return (
        f"These {len({*source.groups}):,} groups may be sources, such as models, and the mean "
        f"over them says little. To compare them: {shlex.join(words)}"
    )


def _printed(args: Namespace, names: list[str], found: list[Record]) -> str:
    if args.brief:
        text = ""
        for each in found:
            rows = number_rows(each, (*ERROR_SUFFIXES, *NULL_SUFFIXES))
            text += " ".join(output.exact(row["value"]) for row in rows) + "\n"
        return text
    one = len(found) == 1
    if one and args.format == "text":
        return _one(args, found[0])
    if args.format == "json":
        named = [{"file": name} | each for name, each in zip(names, found, strict=True)]
        return output.as_json(found[0] if one else named)
    rows = []
    signatures = []
    for name, each in zip(names, found, strict=True):
        details = each.pop("details")
        row = {"file": name, "n": details["n"]} | each
        rows.append(row)
        if args.format == "csv":
            row["signature"] = details["signature"]
        else:
            signatures.append(f"{name}: {details['signature']}")
    return output.signed(args, [output.FORMATS[args.format](rows)], *signatures)


def _one(args: Namespace, found: Record) -> str:
    """Print the numbers of one file, a line each, and the numbers by meaning, if any."""
    details = found["details"]
    meaning = found.pop("meaning", {})
    no_meaning = found.pop("no_meaning", "")
    molecules = found.pop("molecules", "")
    lines = _lines(found)
    lines += [line + _MEANING for line in _lines(meaning)]
    if no_meaning:
        lines.append(no_meaning)
    lines.append(f"n = {details['n']:,}")
    wording = ""  # the line that replaces the number by meaning gives the reason
    if meaning:
        wording = _BOTH
    elif not no_meaning:
        wording = describe_wording_limits(details)
    lines += filter(None, [molecules, details["typical"], details["strip"], wording])
    parts = ["".join(f"{line}\n" for line in lines)]
    if "groups" in details:
        parts.append(output.table(details["groups"]))
    return output.signed(args, parts, details["signature"])


def _lines(found: Record) -> list[str]:
    """Return a line for each number, with its error and interval."""
    lines = []
    for row in number_rows(found):
        errors = []
        if row["low"] is not None:  # the mean over two groups has none
            level = found["details"]["interval"]["level"]
            low, high = output.shown(row["low"]), output.shown(row["high"])
            errors.append(f"{100 * level:g} % interval {low} to {high}")
        if row["se"] is not None:
            errors.append(f"standard error {output.shown(row['se'])}")
        more = f" ({', '.join(errors)})" if errors else ""
        lines.append(f"{row['key']} = {output.shown(row['value'])}{more}")
    return lines
