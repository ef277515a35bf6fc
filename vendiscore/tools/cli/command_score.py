"""`vendiscore FILE…`: print the scores of each file, with a signature."""

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
from .command_options import (
    CommandOptions,
    drop_samples,
    parse_command_options,
    parse_score_options,
    prompt_keywords,
    read_files,
    report_file_locations,
)
from .exit_codes import PROGRAM, UsageError
from .files import FOLDER_COLUMN
from .notes import Notes

_Result = TypeVar("_Result")

# Start of a note about orders below 1, shown only if such an order was requested.
_SMALL_ORDER_NOTE = "Eigenvalues below"
# Start of a note about few large groups, which recommends comparing them.
_SOURCES_NOTE = "Groups this few"
# Maximum number of texts for the second score, by meaning, and the text if it is omitted.
_MAX_SEMANTIC_TEXTS = 20_000
_STATIC_SCORE_SUFFIX = " by meaning (static word vectors, -k static)"
_ENGLISH_ONLY_NOTE = "; static word vectors and -k semantic are for English text."
_WORDING_AND_MEANING_NOTE = (
    "n-grams measure wording; static word vectors see some of the meaning, -k semantic more."
)


def run_score(args: Namespace) -> str:
    command_options = parse_command_options(args)
    asked, request = parse_score_options(args, command_options)
    needed = any(each.measure.needs in SIMILARITY_NEEDS for each in request.measures)
    sources = read_files(args.files, command_options, args.references)
    others = {"references": sources.pop()} if args.references else {}
    if request.group_measures and not sources[0].groups:
        raise UsageError(
            f"{', '.join(request.group_measures)} needs groups: name them by --group-by"
        )
    above = f"{sources[0].name} › " if len(sources) == 1 else ""
    if any(source.sets for source in sources):
        sources = [each for source in sources for each in split_by_set(source)]
    if args.format == "html":
        if len(sources) > 1:
            raise UsageError(
                f"a report is of one set, and there are {len(sources):,}; name one FILE, and pass "
                f"--pool to take all sets of a table together"
            )
        sets = {"samples": sources[0], **others}
        keywords = command_options.keywords_for(sources[0], needed) | asked
        from ..reports import report  # slow import that other formats do not need

        page = call_with_samples(report, sets, keywords, args.given_prompt, title=sources[0].name)
        return f"{page.html().rstrip()}\n"
    found = []
    notes = Notes(command_options)
    try:
        for source in sources:
            sets = {"samples": source, **others}
            keywords = command_options.keywords_for(source, needed) | asked
            with warnings.catch_warnings(record=True) as caught:
                found.append(
                    call_with_samples(compute, sets, keywords, args.given_prompt, details=True)
                )
            warned = [str(warning.message) for warning in caught]
            _add_notes(notes, source, found[-1]["details"], warned, min(request.orders) < 1)
            source = drop_samples(source, found[-1]["details"]["dropped"])
            one = len(sources) == 1 and args.format == "text" and not args.brief
            plain = one and not (args.measures or command_options.has_comparison)
            few = len(source) <= _MAX_SEMANTIC_TEXTS
            if plain and few and source.kind in ("texts", "sequences"):
                found[-1] |= _score_by_meaning(command_options, source, keywords)
            if source.kind == "molecules" and not (source.sets or args.brief):
                if one:
                    found[-1]["molecules"] = _describe_molecule_counts(source)
                else:
                    command_options.print_note(
                        f"{source.name}: {_describe_molecule_counts(source)}"
                    )
    finally:
        notes.print_all()
    names = [source.name.removeprefix(above) for source in sources]
    return _format_results(args, names, found)


run_report = run_score  # with a fixed format


def _score_by_meaning(command_options: CommandOptions, texts: Samples, keywords: Record) -> Record:
    """Also score texts by static word vectors, or explain why these are unsuitable.

    Return a dict with the key "meaning" or "no_meaning"; empty if the vectors are not installed.
    """
    sequences = texts.kind == "sequences"
    scripts = MODEL_SCRIPTS[NAMED_MODELS["static"]]
    mismatch = find_mismatch(texts.values, scripts, sequences=sequences)
    if mismatch:
        return {
            "no_meaning": f"By meaning: not computed, because {mismatch.reason}{_ENGLISH_ONLY_NOTE}"
        }
    keywords = keywords | {"k": "static"}
    with warnings.catch_warnings(action="ignore"):  # the first score emitted the same warnings
        try:
            found = call_with_samples(
                compute,
                {"samples": texts},
                keywords,
                command_options.args.given_prompt,
                details=True,
            )
        except ImportError:
            return {}
        except ValueError as error:
            command_options.print_note(f"{texts.name}: there is no score by meaning: {error}")
            return {}
    return {"meaning": found}


def _describe_molecule_counts(source: Samples) -> str:
    """Describe how many molecules of a file are valid, and how many of these are distinct."""
    # does not increase start-up time, because RDKit has been imported
    from ...kernels.molecules import canonical_smiles

    unique = len({*canonical_smiles(source.values)})
    return f"{len(source):,} of {source.count:,} valid, {unique:,} unique"


def split_by_set(source: Samples) -> list[Samples]:
    """Split samples by set, for example by model."""
    if not source.sets:
        return [source]
    places: dict[object, list[int]] = {}
    for i, label in enumerate(source.sets):
        places.setdefault(label, []).append(i)
    named = ((f"{source.name} › {label}", some) for label, some in places.items())
    return [replace(source.subset(some), name=name) for name, some in named]


def call_with_samples(
    function: Callable[..., _Result],
    sets: Mapping[str, Samples],
    keywords: Options,
    given_prompt: bool,
    **extra_keywords: object,
) -> _Result:
    """Call a function with samples, groups and prompts; errors name positions in files."""
    values = {name: source.values for name, source in sets.items()}
    asked = list(sets.values()) if given_prompt else [sets["samples"]]
    extra_keywords |= prompt_keywords(asked, given_prompt)
    if groups := sets["samples"].groups:
        extra_keywords["groups"] = groups
    with report_file_locations(sets):
        return function(**values, **keywords, **extra_keywords)


def _add_notes(
    notes: Notes,
    source: Samples,
    details: Record,
    warning_texts: Sequence[str],
    has_small_order: bool,
) -> None:
    """Collect the distinct warnings and notes on a file; `has_small_order`: an order is below 1."""
    warning_texts = list(dict.fromkeys(text.rstrip(".") for text in warning_texts))
    for text in warning_texts:
        notes.warn(source.name, text)
    for note in details["notes"]:
        idle = note.startswith(_SMALL_ORDER_NOTE) and not has_small_order
        if note.rstrip(".") not in warning_texts and not idle:
            notes.note(source.name, _add_compare_command(note, source))


def _add_compare_command(note: str, source: Samples) -> str:
    """Add the `compare` command for the columns in use to a note that recommends it."""
    column = source.grouping.get("groups") or (FOLDER_COLUMN if source.unit == "file" else "")
    if not note.startswith(_SOURCES_NOTE) or not column:
        return note
    file = source.name.partition(" › ")[0]
    words = [PROGRAM, "compare", file, "--by", column]
    if prompts := source.grouping.get("prompts"):
        words += ["--prompt", prompts]
    return (
        f"These {len({*source.groups}):,} groups may be sources, such as models, and the mean "
        f"over them says little. To compare them: {shlex.join(words)}"
    )


def _format_results(args: Namespace, names: list[str], results: list[Record]) -> str:
    if args.brief:
        text = ""
        for each in results:
            rows = number_rows(each, (*ERROR_SUFFIXES, *NULL_SUFFIXES))
            text += " ".join(output.format_exact(row["value"]) for row in rows) + "\n"
        return text
    one = len(results) == 1
    if one and args.format == "text":
        return _format_single_result(args, results[0])
    if args.format == "json":
        named = [{"file": name} | each for name, each in zip(names, results, strict=True)]
        return output.as_json(results[0] if one else named)
    rows = []
    signatures = []
    for name, each in zip(names, results, strict=True):
        details = each.pop("details")
        row = {"file": name, "n": details["n"]} | each
        rows.append(row)
        if args.format == "csv":
            row["signature"] = details["signature"]
        else:
            signatures.append(f"{name}: {details['signature']}")
    return output.append_signatures(args, [output.FORMATS[args.format](rows)], *signatures)


def _format_single_result(args: Namespace, result: Record) -> str:
    """Format the scores of one file, one per line, with the scores by meaning if available."""
    details = result["details"]
    meaning = result.pop("meaning", {})
    no_meaning = result.pop("no_meaning", "")
    molecules = result.pop("molecules", "")
    lines = _format_score_lines(result)
    lines += [line + _STATIC_SCORE_SUFFIX for line in _format_score_lines(meaning)]
    if no_meaning:
        lines.append(no_meaning)
    lines.append(f"n = {details['n']:,}")
    wording = ""  # the line that replaces the score by meaning states the reason
    if meaning:
        wording = _WORDING_AND_MEANING_NOTE
    elif not no_meaning:
        wording = describe_wording_limits(details)
    lines += filter(None, [molecules, details["typical"], details["strip"], wording])
    parts = ["".join(f"{line}\n" for line in lines)]
    if "groups" in details:
        parts.append(output.format_table(details["groups"]))
    return output.append_signatures(args, parts, details["signature"])


def _format_score_lines(result: Record) -> list[str]:
    """Format each score as a line with its standard error and interval."""
    lines = []
    for row in number_rows(result):
        errors = []
        if row["low"] is not None:  # a mean over two groups has no interval
            level = result["details"]["interval"]["level"]
            low, high = output.format_short(row["low"]), output.format_short(row["high"])
            errors.append(f"{100 * level:g} % interval {low} to {high}")
        if row["se"] is not None:
            errors.append(f"standard error {output.format_short(row['se'])}")
        more = f" ({', '.join(errors)})" if errors else ""
        lines.append(f"{row['key']} = {output.format_short(row['value'])}{more}")
    return lines
