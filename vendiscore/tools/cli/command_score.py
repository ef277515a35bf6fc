"""`vendiscore FILE…`: print the scores of each file, with a signature."""

import math
import re
import shlex
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import TypeVar

from ...encoders.kernel_scope import find_unsupported
from ...measures.measure import SIMILARITY_NEEDS
from ...result import ERROR_SUFFIXES, NULL_SUFFIXES, build_value_rows
from ...scoring.compute import compute
from ...scoring.typical import describe_wording_limits
from ...support.summary import truncate
from ...support.types import Options, Record
from ..reading.paths import FOLDER_COLUMN
from ..reading.samples import Samples, distinct_labels
from . import output
from .command_options import (
    drop_samples,
    parse_command_options,
    parse_score_options,
    prompt_keywords,
    read_files,
    report_file_locations,
)
from .exit_codes import PROGRAM, DataError, UsageError
from .files import format_flag
from .notes import Notes

_Result = TypeVar("_Result")

# Start of a note about orders below 1, shown only if such an order was requested.
_SMALL_ORDER_NOTE = "Eigenvalues below"
# Start of a note about few large groups, which recommends comparing them.
_SOURCES_NOTE = re.compile(r"These \d+ groups may be models")
# Maximum number of texts for the second score, by meaning, and the text if it is omitted.
_MAX_SEMANTIC_TEXTS = 20_000
_MAX_CELL_WIDTH = 60  # of labels in the text table of --worst
_STATIC_SCORE_SUFFIX = " by meaning (static word vectors, -k static)"
_ENGLISH_ONLY_NOTE = "; static word vectors and -k semantic are for English text."
_WORDING_AND_MEANING_NOTE = (
    "n-grams compare wording. Static word vectors compare meaning roughly, "
    "-k semantic more closely."
)


def run_score(args: Namespace) -> str | Iterator[str]:
    """Return the formatted scores of each set, or an HTML report on a single set.

    A set is a file, or the samples of a file with the same label of a set, for example one model.
    The result for a single set is an iterator, which yields its first scores before others are
    computed.
    """
    command_options = parse_command_options(args)
    score_keywords, request = parse_score_options(args, command_options)
    # False if no measure uses similarities. Some use distances, for which vectors need no kernel.
    needs_kernel = any(item.measure.needs in SIMILARITY_NEEDS for item in request.measures)
    sources = read_files(args.files, command_options, args.references)
    # `read_files` returns the references last.
    references = {"references": sources.pop()} if args.references else {}
    if request.group_measures and not sources[0].groups:
        raise UsageError(
            f"{', '.join(request.group_measures)} requires groups; name their column with "
            "--group-by or --prompt"
        )
    # Sets of a single file are named "FILE › SET"; its name is omitted in the table.
    file_prefix = f"{sources[0].name} › " if len(sources) == 1 else ""
    sources = [subset for source in sources for subset in split_by_set(source)]
    if getattr(args, "worst", None) is not None:
        _check_worst(args, sources)
    measures = [item.measure for item in request.measures]
    if args.format == "html":
        if len(sources) > 1:
            raise UsageError(_describe_report_alternatives(args, sources))
        keywords = command_options.keywords_for(sources[0], needs_kernel, measures) | score_keywords
        return _format_report(args, sources[0], references, keywords)
    results = []
    for source in sources:
        keywords = command_options.keywords_for(source, needs_kernel, measures) | score_keywords
        has_small_order = min(request.orders) < 1
        result = _score_set(args, source, references, keywords, has_small_order)
        source = drop_samples(source, result["details"]["dropped"])
        results.append(result)
        if len(source) == 1:
            args.notes.add_note(
                "It has only one sample, whose score is always 1; if the file contains several "
                "texts, pass --split row (one text per line) or --split blank (texts separated by "
                "blank lines)",
                source.name,
            )
        if source.kind == "molecules" and not (source.sets or args.brief):
            description = _describe_molecule_counts(source)
            if args.format in ("text", "md"):
                result["molecules"] = description
            else:  # JSON and CSV contain only values of the library
                args.notes.add_note(description, source.name)
    # The score of one set of texts by wording is printed together with the score by meaning.
    has_text_output = len(sources) == 1 and args.format == "text" and not args.brief
    has_default_measure = not (args.measures or command_options.has_comparison)
    is_text = source.kind in ("texts", "sequences") and len(source) <= _MAX_SEMANTIC_TEXTS
    if has_text_output and has_default_measure and is_text:
        # `source` and `keywords` are those of the only set.
        return _iter_single_result(
            args, results[0], partial(_score_by_meaning, args, source, keywords)
        )
    if has_text_output:
        return _iter_single_result(args, results[0], partial(_is_prose, source))
    names = [source.name.removeprefix(file_prefix) for source in sources]
    return _format_results(args, names, results)


run_report = run_score  # the only format of the command `report` is html


def _score_set(
    args: Namespace,
    source: Samples,
    references: Mapping[str, Samples],
    keywords: Options,
    has_small_order: bool,
) -> Record:
    """Compute the scores of a set with details; add warnings and notes to those of the command.

    `references` contains the reference set under the key "references", or is empty.
    `has_small_order` says whether a score of an order q below 1 was requested, because one note is
    only about such scores.
    """
    sets = {"samples": source, **references}
    with warnings.catch_warnings(record=True) as caught:
        result = call_with_samples(compute, sets, keywords, args.given_prompt, details=True)
    warning_texts = [str(warning.message) for warning in caught]
    _add_notes(args.notes, source, result["details"], warning_texts, has_small_order)
    return result


def _format_report(
    args: Namespace,
    source: Samples,
    references: Mapping[str, Samples],
    keywords: Options,
) -> str:
    """Return the HTML report on a set.

    `references` contains the reference set under the key "references", or is empty.
    """
    sets = {"samples": source, **references}
    from ..reports import report  # slow import that other formats do not need

    page = call_with_samples(report, sets, keywords, args.given_prompt, title=source.name)
    return f"{page.html().rstrip()}\n"


def _describe_report_alternatives(args: Namespace, sources: Sequence[Samples]) -> str:
    """Return the message of the error about a report on several sets.

    A report is about a single set. The message suggests commands that support several sets.
    """
    message = f"a report is about one set, got {len(sources):,} sets"
    if len(args.files) > 1:
        files = shlex.join(args.files)
        return f"{message}; pass one FILE, or compare the sets: {PROGRAM} compare {files}"
    # options that the suggested commands have in common with this one
    names = ("column", "by", "prompts", "type", "encoding")
    flags = [format_flag(name, getattr(args, name)) for name in names if getattr(args, name, None)]
    file_and_flags = " ".join([shlex.quote(args.files[0]), *flags])
    commands = [
        f"{args.command_line} --pool",
        f"{PROGRAM} compare {file_and_flags}",
        f"{PROGRAM} sources {file_and_flags} -f html",
    ]
    if column := sources[0].grouping.get("sets"):
        message += f" by column {column!r}"
    return "\n  ".join([f"{message}. Type one of:", *commands])


def _score_by_meaning(args: Namespace, texts: Samples, keywords: Record) -> Record:
    """Compute the score of texts by static word vectors, which compare their meaning.

    It is shown next to the score by wording, for the same `keywords`. The result is a dict with the
    key "meaning" and the scores, or with the key "no_meaning" and a sentence that says why word
    vectors are unsuitable for these texts. It is empty if the vectors are not installed, or if
    computing the score raises an error.
    """
    mismatch = find_unsupported("static", texts.values, texts.kind)
    if mismatch:
        return {
            "no_meaning": f"By meaning: not computed, because {mismatch.reason}{_ENGLISH_ONLY_NOTE}"
        }
    keywords = keywords | {"k": "static"}
    with warnings.catch_warnings(action="ignore"):  # the first score emitted the same warnings
        try:
            result = call_with_samples(
                compute, {"samples": texts}, keywords, args.given_prompt, details=True
            )
        except ImportError:
            return {}
        except ValueError as error:
            args.notes.add_note(f"no score by meaning: {error}", texts.name)
            return {}
    return {"meaning": result}


def _is_prose(source: Samples) -> Record:
    """Return whether advice about comparing samples by meaning applies to them, as "is_prose"."""
    is_prose = (
        source.kind in ("texts", "sequences")
        and find_unsupported("semantic", source.values, source.kind) is None
    )
    return {"is_prose": is_prose}


def _describe_molecule_counts(source: Samples) -> str:
    """Describe how many molecules of a file are valid, and how many of these are distinct."""
    # slow import of RDKit, which has already been imported to read molecules
    from ...kernels.molecules import canonical_smiles

    unique = len({*canonical_smiles(source.values)})
    return f"{len(source):,} of {source.count:,} valid, {unique:,} unique"


def split_by_set(source: Samples) -> list[Samples]:
    """Return the samples of each set of a file, for example of each model, named "FILE › SET"."""
    if not source.sets:
        return [source]
    indices_by_set: dict[object, list[int]] = {}
    if table := source.counts:  # whose individuals need not be listed
        return [
            replace(
                source,
                values=part.individuals,
                groups=part.group_labels,
                sets=(),
                counts=part,
                places=range(1, len(part.individuals) + 1),
                name=f"{source.name} › {label}",
            )
            for label in dict.fromkeys(table.sets)
            if len((part := table.select_set(label)).individuals)
        ]
    for i, label in enumerate(source.sets):
        indices_by_set.setdefault(label, []).append(i)
    return [
        replace(source.subset(indices), name=f"{source.name} › {label}")
        for label, indices in indices_by_set.items()
    ]


def call_with_samples(
    function: Callable[..., _Result],
    sets: Mapping[str, Samples],
    keywords: Options,
    given_prompt: bool,
    **extra_keywords: object,
) -> _Result:
    """Call a function of the library with samples and their groups and prompts.

    `sets` maps the arguments "samples" and "references" to samples as read from files. Errors about
    samples contain their positions in these files.
    """
    table = sets["samples"].counts
    is_compute = function in (compute,)  # `report` requires individuals
    if table is not None and is_compute and keywords.get("k") == "labels":
        # Unusable rows were dropped when the table was read.
        count_keywords = {name: value for name, value in keywords.items() if name != "on_error"}
        with report_file_locations(sets):
            return function(**table.keywords, **count_keywords, **extra_keywords)
    values = {name: source.values for name, source in sets.items()}
    # References need prompts only if similarities are conditioned on them.
    prompted_sets = list(sets.values()) if given_prompt else [sets["samples"]]
    extra_keywords |= prompt_keywords(prompted_sets, given_prompt)
    # References have no groups.
    if groups := sets["samples"].groups:
        extra_keywords["groups"] = groups
    if weights := sets["samples"].weights:
        total = sum(weights)
        if not total:
            raise DataError(f"{sets['samples'].name}: all weights are 0")
        extra_keywords["p"] = [weight / total for weight in weights]
    with report_file_locations(sets):
        return function(**values, **keywords, **extra_keywords)


def _add_notes(
    notes: Notes,
    source: Samples,
    details: Record,
    warning_texts: Sequence[str],
    has_small_order: bool,
) -> None:
    """Add the warnings and notes about a set to `notes`, those of the command, each text once.

    `details` are the details of the scores, which contain notes. `has_small_order` says whether a
    score of an order q below 1 was requested, because one note is only about such scores.
    """
    warning_texts = list(dict.fromkeys(text.rstrip(".") for text in warning_texts))
    for text in warning_texts:
        notes.add_warning(text, source.name)
    for note in details["notes"]:
        is_irrelevant = note.startswith(_SMALL_ORDER_NOTE) and not has_small_order
        if note.rstrip(".") not in warning_texts and not is_irrelevant:
            # A note that recommends another command is printed before the others.
            is_minor = not _SOURCES_NOTE.match(note)
            notes.add_note(_add_compare_command(note, source), source.name, minor=is_minor)


def _add_compare_command(note: str, source: Samples) -> str:
    """Return a note with a complete command line, if the note recommends the command `compare`.

    The command line compares the groups of `source`. Other notes are returned unchanged.
    """
    column = source.grouping.get("groups") or (FOLDER_COLUMN if source.unit == "file" else "")
    if not _SOURCES_NOTE.match(note) or not column:
        return note
    # Sets of a file are named "FILE › SET".
    file = source.name.partition(" › ")[0]
    words = [PROGRAM, "compare", file, "--by", column]
    if prompts := source.grouping.get("prompts"):
        words += ["--prompt", prompts]
    return (
        f"These {len(distinct_labels(source.groups)):,} groups may be models or other sources. "
        f"To compare them: {shlex.join(words)}"
    )


def _format_results(args: Namespace, names: Sequence[str], results: Sequence[Record]) -> str:
    """Format the results of one or more sets as requested by -f, -b, --worst and --signature.

    `names` are the names of the sets, and `results` their scores with details.
    """
    if args.brief:
        text = ""
        for result in results:
            # Errors, intervals, and values under a null hypothesis have keys with these suffixes;
            # -b prints only the scores.
            rows = build_value_rows(result, (*ERROR_SUFFIXES, *NULL_SUFFIXES))
            text += " ".join(output.format_exact(row["value"]) for row in rows) + "\n"
        return text
    is_single = len(results) == 1
    if args.format == "json":
        named_results = [
            {"file": name} | result for name, result in zip(names, results, strict=True)
        ]
        return output.as_json(results[0] if is_single else named_results)
    # "molecules" is not a score, but a sentence that counts molecules, printed below the table.
    score_keys = [row["key"] for row in build_value_rows(results[0]) if row["key"] != "molecules"]
    worst = _find_worst_groups(args, names, results) if args.worst else []
    if worst and args.format == "csv":
        if args.signature:
            signatures_by_set = {
                name: result["details"]["signature"]
                for name, result in zip(names, results, strict=True)
            }
            worst = [row | {"signature": signatures_by_set[row["file"]]} for row in worst]
        return output.format_csv(worst)
    rows = []
    signatures = []
    molecule_lines = ""
    for name, result in zip(names, results, strict=True):
        # The remaining entries of the result are the scores, which become columns.
        details = result.pop("details")
        if sentence := result.pop("molecules", ""):
            molecule_lines += f"{name}: {sentence}\n"
        row = {"file": name, "n": details["n"]} | result
        rows.append(row)
        if args.format == "csv":
            row["signature"] = details["signature"]
        else:
            signatures.append(f"{name}: {details['signature']}")
    parts = [output.FORMATS[args.format](rows, score_keys)]
    if molecule_lines:
        parts.append(molecule_lines)
    if worst:
        parts.append(_format_worst_groups(args, worst, score_keys))
    return output.append_signatures(args, parts, *signatures)


def _check_worst(args: Namespace, sources: Sequence[Samples]) -> None:
    """Raise a UsageError if --worst, the number of groups to list, is 0 or has no effect."""
    if args.worst < 1:
        raise UsageError("--worst must be at least 1, got 0")
    if args.format == "json":
        raise UsageError("--worst has no effect with -f json, which lists all groups; remove it")
    if args.brief or args.format == "html":
        flag = "-b" if args.brief else "-f html"
        raise UsageError(f"--worst has no effect with {flag}; remove one of them")
    if not any(source.groups or source.prompts for source in sources):
        raise UsageError(
            f"--worst requires groups or prompts, and {args.files[0]} is read without them; name "
            "their column with --prompt or --group-by"
        )


def _find_worst_groups(
    args: Namespace, names: Sequence[str], results: Sequence[Record]
) -> list[Record]:
    """Return rows about the groups with the lowest scores: `args.worst` groups of each set.

    `names` and `results` are the names and scores of the sets. Groups are ranked by the first score
    that was requested.
    """
    worst = []
    for name, result in zip(names, results, strict=True):
        groups = result["details"].get("groups", [])
        # The first score that groups also have; "" if there are no groups or no such score.
        key = next((key for key in result if groups and key in groups[0]), "")
        if key:
            scored_groups = (group for group in groups if not math.isnan(group[key]))
            ranked = sorted(scored_groups, key=itemgetter(key))
            worst += [{"file": name} | group for group in ranked[: args.worst]]
    return worst


def _format_worst_groups(
    args: Namespace, worst: Sequence[Record], score_keys: Sequence[str]
) -> str:
    """Format a table of the groups with the lowest score, with a title.

    `worst` are its rows, and `score_keys` are the names of columns with scores.
    """
    if args.format == "text":
        worst = [row | {"group": truncate(str(row["group"]), _MAX_CELL_WIDTH)} for row in worst]
    key = next(key for key in worst[0] if key in score_keys)
    title = f"groups with the lowest {key}"
    return output.format_titled_table(args.format, title, worst, score_keys)


def _iter_single_result(
    args: Namespace, result: Record, add_entries: Callable[[], Record]
) -> Iterator[str]:
    """Yield the scores of one file, one per line, then sentences and tables about them.

    `add_entries` is called after the first scores were printed. It returns "meaning", the scores of
    texts by meaning, which follow those by wording, or "no_meaning", a sentence that says why there
    are none, or "is_prose", which is False if the samples are no texts in prose.
    """
    details = result["details"]
    # An entry of this command, not of the library, so that only scores remain in `result`.
    molecules = result.pop("molecules", "")
    yield "".join(f"{output.emphasize(line)}\n" for line in _format_score_lines(result))
    entries = add_entries()
    meaning = entries.get("meaning", {})
    no_meaning = entries.get("no_meaning", "")
    is_prose = entries.get("is_prose", True)
    lines = [line + _STATIC_SCORE_SUFFIX for line in _format_score_lines(meaning)]
    if no_meaning:
        lines.append(no_meaning)
    lines.append(f"n = {details['n']:,}")
    wording = ""
    if meaning:
        wording = _WORDING_AND_MEANING_NOTE
    elif is_prose and not no_meaning:  # which states that -k semantic is also unsuitable
        wording = describe_wording_limits(details)
    lines += filter(None, [molecules, details["typical"], details["strip"], wording])
    parts = ["".join(f"{line}\n" for line in lines)]
    if "groups" in details:
        score_keys = [row["key"] for row in build_value_rows(result)]
        if args.worst:
            worst = _find_worst_groups(args, [""], [result])
            worst = [{key: row[key] for key in row if key != "file"} for row in worst]
            parts.append(_format_worst_groups(args, worst, score_keys))
        else:
            parts.append(output.format_text_table(details["groups"], score_keys))
    yield output.append_signatures(args, parts, details["signature"])


def _format_score_lines(result: Record) -> list[str]:
    """Format each score as a line with its standard error and interval."""
    lines = []
    for row in build_value_rows(result):
        errors = []
        if row["low"] is not None:  # a mean over two groups has no interval
            level = result["details"]["interval"]["level"]
            low, high = output.format_short(row["low"]), output.format_short(row["high"])
            errors.append(f"{100 * level:g} % interval {low} to {high}")
        if row["se"] is not None:
            errors.append(f"standard error {output.format_short(row['se'])}")
        suffix = f" ({', '.join(errors)})" if errors else ""
        lines.append(f"{row['key']} = {output.format_short(row['value'])}{suffix}")
    return lines
