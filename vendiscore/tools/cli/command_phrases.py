"""`vendiscore phrases`: phrases that lower the score of texts, and differences of two sets."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

from ...support.arguments import check_int, check_order
from ...support.signature import format_signature
from ...support.types import Record
from ..analysis.phrase_costs import PhraseComparison, PhraseCosts
from ..analysis.phrases import DEFAULT_PERMUTATIONS, phrases
from ..reading.samples import Samples
from . import output
from .command_options import (
    CommandOptions,
    as_usage_error,
    build_similarity,
    parse_command_options,
    read_files,
    report_file_locations,
)
from .exit_codes import DataError, UsageError

_KERNEL = "ngram_overlap"
_KERNEL_OPTIONS = ("ns", "tokenizer", "analyzer")


def run_phrases(args: Namespace) -> str:
    """Return the output of `vendiscore phrases`: a sentence, and one row per phrase."""
    command_options = parse_command_options(args, ("min_texts",))
    _check_flags(args, command_options)
    sources = _split_into_sets(read_files(args.files, command_options))
    keywords = _parse_keywords(command_options, sources)
    if args.on_error == "skip":
        kernel_keywords = {
            name: value
            for name, value in keywords.items()
            if name in (*_KERNEL_OPTIONS, "on_error")
        }
        sources = [
            build_similarity(source, {"k": _KERNEL, **kernel_keywords}, False)[0]
            for source in sources
        ]
        keywords.pop("on_error")
    if len(sources) == 2:
        keywords |= {"permutations": args.permutations, "seed": args.seed}
        return _compare_two_sets(args, sources, keywords)
    (source,) = sources
    if prompts := source.prompts or source.groups:
        keywords["prompts"] = list(prompts)
    with report_file_locations({"texts": source}):
        result = phrases(source.values, **keywords)
    columns = ("phrase", "n_texts", "cost", "share")
    if any(np.isnan(row.cost) for row in result.rows):
        columns = ("phrase", "n_texts", "cost", "cost_q2")
    return _format(args, result, result.sentence, {}, columns, {})


def _compare_two_sets(args: Namespace, sources: Sequence[Samples], keywords: Record) -> str:
    """Format the phrases that cost set A more than set B; `sources` are the two sets.

    `keywords` are arguments of `phrases`. If both sets have prompts, they are added to them.
    """
    prompts = [list(source.prompts or source.groups) for source in sources]
    if all(prompts):
        keywords["prompts"] = prompts
    a, b = sources
    with report_file_locations({"texts": a, "other": b}):
        result = phrases(a.values, b.values, **keywords)
    names = {"a": a.name, "b": b.name}
    sentence = f"{result.sentence} Set A is {a.name}, set B is {b.name}."
    columns = ("phrase", "n_texts_a", "n_texts_b", "cost_a", "cost_b", "p")
    options = {"permutations": args.permutations, "seed": args.seed}
    return _format(args, result, sentence, names, columns, options)


def _format(
    args: Namespace,
    result: PhraseCosts | PhraseComparison,
    sentence: str,
    names: Record,
    columns: Sequence[str],
    options: Record,
) -> str:
    """Format a result; text shows some of its columns, and CSV all."""
    rows = [asdict(row) | {"overlaps": " | ".join(row.overlaps)} for row in result.rows]
    table = [{name: row[name] for name in columns} for row in rows]
    settings = {**result.settings, "q": result.q, "min_texts": result.min_texts, **options}
    signature = format_signature(["phrases"], settings)
    return output.format_result(
        args, lambda: names | result.to_dict(), sentence, rows, [("phrases", table)], signature
    )


def _check_flags(args: Namespace, command_options: CommandOptions) -> None:
    """Raise a UsageError for flags that phrases do not support, before files are read."""
    for flag in ("matrix", "counts", "given_prompt"):
        if getattr(args, flag):
            name = flag.replace("_", "-")
            raise UsageError(f"phrases are computed from texts and do not support --{name}")
    with as_usage_error():
        check_order(command_options.order, "-q", allow_zero=False)
        check_int("--size", args.size)
        check_int("--permutations", args.permutations, 19)
    kernel = command_options.keywords.get("k", _KERNEL)
    if kernel != _KERNEL:
        raise UsageError(f"phrases are computed with -k {_KERNEL}, got -k {kernel}; remove -k")
    supported = {"k", "min_texts", "on_error", *_KERNEL_OPTIONS}
    if unsupported := [name for name in command_options.keywords if name not in supported]:
        raise UsageError(f"phrases do not support -o {unsupported[0]}; remove it")


def _split_into_sets(sources: Sequence[Samples]) -> list[Samples]:
    """Return one or two sets: each file is a set, or a column of one file assigns sets."""
    if len(sources) > 2:
        raise UsageError(f"phrases requires one or two FILEs, got {len(sources)}")
    if len(sources) == 2:
        for source in sources:
            if source.sets:
                raise UsageError(
                    f"{source.name}: expected one set per file, but a column assigns rows to "
                    f"{len({*source.sets})} sets; pass --pool"
                )
        return list(sources)
    (source,) = sources
    if not source.sets:
        return [source]
    names = list(dict.fromkeys(source.sets))
    if len(names) != 2:
        raise UsageError(
            f"{source.name}: expected one or two sets, but the samples are in {len(names)} sets by "
            f"column {source.grouping.get('sets')!r}; pass --pool to use all samples as one set, "
            "or --by COLUMN for a column with two values"
        )
    labels = list(source.sets)
    return [
        replace(
            source.subset([i for i, label in enumerate(labels) if label == name]),
            name=str(name),
            sets=(),
        )
        for name in names
    ]


def _parse_keywords(command_options: CommandOptions, sources: Sequence[Samples]) -> Record:
    """Return the keywords of `phrases`; raise an error if files contain no texts or flags."""
    args = command_options.args
    if sources[0].kind != "texts":
        raise DataError(f"{sources[0].name}: phrases requires texts, got {sources[0].kind}")
    if len(sources) == 1 and (args.permutations != DEFAULT_PERMUTATIONS or args.seed):
        flag = "--seed" if args.seed else "--permutations"
        raise UsageError(f"{flag} requires a second FILE; remove it")
    keywords = command_options.keywords_for(sources[0])
    keywords.pop("k", None)
    return keywords | {"q": command_options.order, "n_phrases": args.size}
