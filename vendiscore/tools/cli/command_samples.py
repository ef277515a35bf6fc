"""`vendiscore select`, `dedup`, `explain` and `growth`: analyses of the samples of one set."""

import math
import sys
import warnings
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from ...measures.sample_set import SampleSet
from ...resolve.sample_labels import group_equal_prompts
from ...similarity.base import Similarity
from ...support.folders import file_extension
from ...support.signature import format_signature
from ...support.summary import truncate
from ...support.types import Record
from ..analysis import report_text
from ..analysis.explain import check_explain_options, explain_sample_set
from ..analysis.explanation import SAMPLE_COLUMNS, Explanation
from ..analysis.growth import growth
from ..analysis.phrases import phrases
from ..reading.formats import named_format
from ..reading.names import join_names
from ..reading.samples import Samples
from ..selection import select
from . import output
from .command_options import (
    CommandOptions,
    build_similarity,
    check_one_set,
    parse_command_options,
    parse_value,
    prompt_keywords,
    read_files,
    report_file_locations,
)
from .exit_codes import UsageError
from .files import STDIN

_MAX_CELL_WIDTH = 60  # of samples in tables
# `explain` lists phrases for up to this number of texts, for which this takes less than a second.
_MAX_TEXTS_WITH_PHRASES = 300
_MAX_EXPLAINED_PHRASES = 5


def run_select(args: Namespace) -> str:
    """Return the output of `vendiscore select`: the selected samples in the format of the file."""
    if args.size is None:
        raise UsageError(
            "select requires -n, the number of samples to select, for example -n 3 (-k is the "
            "kernel)"
        )
    _check_output_flags(args)
    command_options, source, similarity, keywords = _read_similarity(
        args, "initial", "swaps", "psd"
    )
    if source.prompts and not args.given_prompt:
        raise UsageError(
            "select does not group samples by prompt; pass --given-prompt to condition "
            "similarities on the prompt, or remove --prompt"
        )
    with report_file_locations({"samples": source}):
        selection = select(
            similarity,
            args.size,
            objective=args.objective,
            quality=source.quality or None,
            **keywords,
        )
    # In this order, the first m samples are a selection of m samples, for every m.
    indices = selection.places.tolist()
    text = _write_or_format_samples(
        command_options, source, indices, selection.sentence, selection.to_dict()
    )
    if selection.interrupted:  # by Ctrl+C; the samples selected until then are printed
        sys.stdout.write(text)
        raise KeyboardInterrupt
    return text


def run_dedup(args: Namespace) -> str:
    """Return the output of `vendiscore dedup`: the retained samples in the format of the file."""
    _check_output_flags(args)
    command_options, source, _, explanation = _explain_file(args)
    indices = explanation.kept.tolist()
    counts = explanation.counts and f"; removes {explanation.counts}"  # at other thresholds
    sentence = (
        f"Retained {len(indices):,} of {explanation.n:,} samples, without near-duplicates "
        f"(similarity {explanation.threshold:g} or more{counts})."
    )
    result = {"n": explanation.n, "threshold": args.threshold, "criterion": explanation.criterion}
    return _write_or_format_samples(command_options, source, indices, sentence, result)


def run_growth(args: Namespace) -> str:
    """Return the output of `vendiscore growth`: a sentence, and one row per number of samples."""
    _, source, similarity, keywords = _read_similarity(args, "psd", "allow_repeats")
    # None without --sizes: the library chooses the sizes.
    sizes = args.sizes and [*map(parse_value, args.sizes.split(","))]
    # The similarity is already conditioned on the prompts, if requested.
    prompts = prompt_keywords([source], given_prompt=False)
    with report_file_locations({"samples": source}):
        curve = growth(similarity, sizes, level=args.level, **prompts, **keywords)
    names = ("size", "score", "low", "high")
    columns = zip(curve.sizes, curve.scores, curve.low, curve.high, strict=True)
    rows = [dict(zip(names, row, strict=True)) for row in columns]
    settings = {**similarity.settings, "q": curve.q, "level": curve.level}
    if not prompts:  # intervals over prompts do not depend on whether samples can recur
        settings["allow_repeats"] = keywords.get("allow_repeats", True)
    signature = format_signature(["growth"], settings)
    return output.format_result(
        args, curve.to_dict, curve.sentence, rows, [("growth", rows)], signature
    )


def run_explain(args: Namespace) -> str:
    """Return the output of `vendiscore explain`.

    Text consists of a summary and tables of near-duplicates, modes, contributions and phrases; CSV
    has one row per sample.
    """
    _, source, similarity, explanation = _explain_file(args)
    rows = _build_sample_rows(explanation, source)

    def make_result() -> Record:
        return explanation.to_dict() | {"places": source.places}

    sentence = "\n".join(filter(None, [explanation.sentence, explanation.strip]))
    tables = chain(
        _iter_tables(explanation, source, rows, max_rows=args.size),
        _iter_phrase_tables(source, similarity, explanation.q, args),
    )
    settings = {**similarity.settings, "q": explanation.q, "threshold": explanation.threshold}
    signature = format_signature(["explain"], settings)
    return output.format_result(args, make_result, sentence, rows, tables, signature)


def _iter_tables(
    explanation: Explanation, source: Samples, rows: list[Record], max_rows: int
) -> Iterator[output.Table]:
    """Yield the title and the rows of each table about an explanation of a score.

    The tables list near-duplicates, pairs close to the threshold, modes, and the samples that
    contribute most. `rows` contains a dict that describes each sample: its position in the file,
    its values and its text. Tables have at most `max_rows` rows.
    """
    unit = source.unit  # name of the column with the position in the file, such as "line"

    def describe_sample(i: int, *columns: str) -> Record:
        return {column: rows[i][column] for column in columns}

    near_duplicates = []
    for i, duplicates in explanation.groups[:max_rows]:
        positions = join_names(map(str, _list_positions(source, duplicates)))
        near_duplicates.append(
            describe_sample(i, unit) | {"near-duplicates": positions} | describe_sample(i, "sample")
        )
    yield "near-duplicates", near_duplicates
    pairs = []
    above, below = explanation.boundary()  # both start at the threshold
    for i, j, similarity in [*above[::-1], *below]:  # in descending order
        other_sample = {
            f"other {column}": value for column, value in describe_sample(j, unit, "sample").items()
        }
        pairs.append({"similarity": similarity} | describe_sample(i, unit, "sample") | other_sample)
    yield "pairs close to the threshold", pairs
    modes = []
    for mode in explanation.modes():
        # The exemplar, a typical sample, represents the mode in the table.
        if len(mode.exemplars):
            mode_row = {"share": mode.share, "members": len(mode.members)}
            modes.append(mode_row | describe_sample(int(mode.exemplars[0]), unit, "sample"))
    yield "modes", modes[:max_rows]
    columns = (unit, "adds", "surprise", "unexplained", "sample")
    contributions = [describe_sample(i, *columns) for i in range(len(rows))]
    contributions.sort(key=lambda row: -row["adds"])
    yield "samples that contribute most", contributions[:max_rows]


def _iter_phrase_tables(
    source: Samples, similarity: Similarity, q: float, args: Namespace
) -> Iterator[output.Table]:
    """Yield the title and the rows of a table of phrases, for few texts compared by n-grams."""
    settings = similarity.settings
    is_supported = source.kind == "texts" and settings.get("kernel") == "ngram_overlap"
    if not is_supported or args.given_prompt or len(source.values) > _MAX_TEXTS_WITH_PHRASES:
        return
    options: Record = {name: settings[name] for name in ("ns", "tokenizer", "analyzer")}
    n_phrases = min(args.size, _MAX_EXPLAINED_PHRASES)
    with warnings.catch_warnings():  # the kernel has already warned about these texts
        warnings.simplefilter("ignore")
        result = phrases(
            source.values, prompts=source.prompts or None, q=q, n_phrases=n_phrases, **options
        )
    columns = ("phrase", "n_texts", "cost")
    rows = [{name: getattr(row, name) for name in columns} for row in result.rows]
    yield "phrases that cost most", rows


def _read_similarity(
    args: Namespace, *extra_names: str
) -> tuple[CommandOptions, Samples, Similarity, Record]:
    """Read the samples of a file, and compute their similarity.

    `extra_names` are the keywords that the analysis of the command accepts in addition to those of
    the similarity. Return the options of the command, the samples that the kernel can use, their
    similarity, and the keywords of the analysis: q, and those of `extra_names` that the user
    passed.
    """
    command_options = parse_command_options(args, extra_names)
    source, *other_files = read_files(args.files, command_options)
    if other_files:
        raise UsageError(f"{args.command} requires exactly one FILE, got {len(args.files)}")
    # `select` has no flag that restricts comparisons to samples with the same prompt.
    check_one_set(source, allow_prompts=args.command != "select")
    # Only `select` and `dedup` write samples to a file.
    if "output" in args:
        _check_output_file(args, source)
    keywords = command_options.keywords_for(source)
    extra_keywords = {"q": command_options.order} | {
        name: keywords.pop(name) for name in extra_names if name in keywords
    }
    source, similarity = build_similarity(source, keywords, args.given_prompt)
    if similarity.dropped:  # a note lists the samples, so results need not list them again
        similarity = similarity.noted(dropped={})
    return command_options, source, similarity, extra_keywords


def _explain_file(args: Namespace) -> tuple[CommandOptions, Samples, Similarity, Explanation]:
    """Read the samples of a file, and compute an explanation of their score.

    Samples with different prompts are neither near-duplicates nor in the same mode. Return the
    options of the command, the samples that the kernel can use, their similarity, and the
    explanation.
    """
    command_options, source, similarity, keywords = _read_similarity(args, "psd")
    with report_file_locations({"samples": source}):
        # "check" is the default of psd: clearly negative eigenvalues raise an error.
        order, threshold, psd = check_explain_options(
            keywords["q"], args.threshold, keywords.get("psd", "check")
        )
        groups = group_equal_prompts(source.prompts) if source.prompts else None
        sample_set = SampleSet(similarity, orders=[order], psd=psd, groups=groups)
        explanation = explain_sample_set(
            sample_set, order, threshold, texts=source.values, by_group=groups is not None
        )
    return command_options, source, similarity, explanation


def _check_output_flags(args: Namespace) -> None:
    """Raise a UsageError if flags of `select` and `dedup` request two kinds of output."""
    flags = [flag for flag in ("rows", "indices") if getattr(args, flag)]
    if args.format == "json" and flags:
        raise UsageError(f"-f json already contains row numbers and indices; remove --{flags[0]}")
    if len(flags) > 1:
        raise UsageError("--rows and --indices are mutually exclusive; remove one of them")


def _check_output_file(args: Namespace, source: Samples) -> None:
    """Raise a UsageError if selected samples cannot be printed or written as requested.

    If `source` was read from a text format, it has a function `source.written` that formats its
    samples in this format. If it was read from a binary format, it has a function `source.saved`
    that writes them to a file whose name has one of `source.endings`. Samples of parquet files have
    both.
    """
    if args.rows and source.saved:
        raise UsageError(
            f"--rows is not supported, because rows of {source.name} have no numbers; pass "
            "--indices to print their indices, from 0"
        )
    is_printed = args.format != "json" and not (args.output or args.indices)
    if is_printed and source.saved and not source.written:
        raise UsageError(
            f"{source.name} is an array, which cannot be printed; pass --output "
            f"FILE.{source.endings[0]} to write the selected rows to a file, or --indices to "
            "print their indices, from 0"
        )
    if not args.output:
        return
    can_be_input = Path(args.output).exists() and args.files != [STDIN]
    if can_be_input and Path(args.output).samefile(args.files[0]):
        raise UsageError(f"--output must not be the input file, got {args.output}")
    # Binary formats are written by `saved`, others as text by `written`.
    if named_format(args.output) in ("npy", "npz", "parquet"):
        is_supported = file_extension(args.output) in source.endings
    else:
        is_supported = bool(source.written)
    if not is_supported:
        endings = [f".{end}" for end in source.endings] or ["that of a text file, for example .csv"]
        raise UsageError(
            f"--output {args.output} cannot store samples of {source.name}; the ending must be "
            f"{' or '.join(endings)}"
        )


def _write_or_format_samples(
    command_options: CommandOptions,
    source: Samples,
    selected: list[int],
    sentence: str,
    result: Mapping[str, object],
) -> str:
    """Write the selected samples to the file of --output, and return the text to print.

    `selected` are the indices of these samples in `source`. By default, the text consists of the
    samples in the format of the input file; with --output, it is empty. With -f json, it contains
    `result`, and the positions of the samples in the file; with --indices, their indices from 0;
    with --rows, their line or row numbers. `sentence` summarizes the result and is added as a note.
    """
    args = command_options.args
    args.notes.add_note(sentence, source.name)
    if args.output:
        _write_samples(args.output, source, selected)
    positions = _list_positions(source, selected)
    # Indices into the samples of the file, including those that were dropped from `source`.
    indices = [int(source.index[i]) for i in selected]
    if args.format == "json":
        return output.as_json({**result, "samples": positions, "index": indices})
    if args.indices:
        return "".join(f"{index}\n" for index in indices)
    if args.output and not args.rows:
        return ""
    if source.written and not args.rows:
        return source.written(selected)
    return "".join(f"{position}\n" for position in positions)  # also of files in a folder


def _write_samples(path: str, source: Samples, selected: Sequence[int]) -> None:
    """Write selected samples to a file in the format of the file from which `source` was read.

    The ending of `path` has already been checked.
    """
    if source.saved and file_extension(path) in source.endings:
        source.saved(selected, path)
    elif source.written:
        Path(path).write_text(source.written(selected), encoding="utf-8", newline="")


def _list_positions(source: Samples, selected: Sequence[int]) -> list[int | str]:
    """Return the line or row number of each selected sample, or its file name in a folder."""
    return [source.places[i] for i in selected]


def _build_sample_rows(explanation: Explanation, source: Samples) -> list[Record]:
    """Return one row per sample: its position in the file, its values, and the sample itself.

    If a value refers to another sample, such as the nearest one, it is the position of that sample
    in the file, or None.
    """
    rows: list[Record] = [{source.unit: position} for position in source.places]
    for name in SAMPLE_COLUMNS:
        refers_to_sample = name in ("nearest", "redundant_of")
        for row, value in zip(rows, getattr(explanation, name).tolist(), strict=True):
            if refers_to_sample:  # an index, or -1 for none
                row[name] = source.places[value] if value >= 0 else None
            else:
                row[name] = None if math.isnan(value) else value
    for row, sample in zip(rows, source.values, strict=True):
        if isinstance(sample, np.ndarray):
            row["sample"] = report_text.format_row(sample.ravel())
        else:
            row["sample"] = truncate(" ".join(str(sample).split()), _MAX_CELL_WIDTH)
    return rows
