"""`vendiscore select`, `dedup`, `explain` and `growth`: analyses of the samples of one set."""

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
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

_MAX_CELL_WIDTH = 60


def run_select(args: Namespace) -> str:
    """Return the selected samples in the format of the file."""
    if args.size is None:
        raise UsageError(
            "select requires -n, the number of samples to select, for example -n 3 (-k is the "
            "kernel)"
        )
    _check_output(args)
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
    indices = selection.places.tolist()
    text = _write_or_format_samples(
        command_options, source, indices, selection.sentence, selection.to_dict()
    )
    if selection.interrupted:
        sys.stdout.write(text)
        raise KeyboardInterrupt
    return text


def run_dedup(args: Namespace) -> str:
    """Return the samples without near-duplicates, in the format of the file."""
    _check_output(args)
    command_options, source, _, explanation = _explain_file(args)
    indices = explanation.kept.tolist()
    sentence = f"Retained {len(indices):,} of {explanation.n:,} samples, without near-duplicates"
    sentence += f" ({explanation.criterion})."
    result = {"n": explanation.n, "threshold": args.threshold, "criterion": explanation.criterion}
    return _write_or_format_samples(command_options, source, indices, sentence, result)


def run_growth(args: Namespace) -> str:
    """Return a sentence, and one row per number of samples."""
    _, source, similarity, keywords = _read_similarity(args, "psd", "allow_repeats")
    sizes = args.sizes and [*map(parse_value, args.sizes.split(","))]
    prompts = prompt_keywords([source], False)
    with report_file_locations({"samples": source}):
        curve = growth(similarity, sizes, level=args.level, **prompts, **keywords)
    names = ("size", "score", "low", "high")
    columns = zip(curve.sizes, curve.scores, curve.low, curve.high, strict=True)
    rows = [dict(zip(names, row, strict=True)) for row in columns]
    settings = {**similarity.settings, "q": curve.q, "level": curve.level}
    if not prompts:  # intervals over prompts do not depend on it
        settings["allow_repeats"] = keywords.get("allow_repeats", True)
    signature = format_signature(["growth"], settings)
    return output.format_result(
        args, curve.to_dict, curve.sentence, rows, [("growth", rows)], signature
    )


def run_explain(args: Namespace) -> str:
    """Return a summary, near-duplicates and modes, or one row per sample."""
    _, source, similarity, explanation = _explain_file(args)
    rows = _build_sample_rows(explanation, source)

    def result() -> Record:
        return explanation.to_dict() | {"places": source.places}

    sentence = "\n".join(filter(None, [explanation.sentence, explanation.strip]))
    tables = _iter_tables(explanation, source, rows, args.size)
    settings = {**similarity.settings, "q": explanation.q, "threshold": explanation.threshold}
    signature = format_signature(["explain"], settings)
    return output.format_result(args, result, sentence, rows, tables, signature)


def _iter_tables(
    explanation: Explanation, source: Samples, rows: list[Record], size: int
) -> Iterator[output.Table]:
    """Yield the tables of an explanation with their headings, with at most `size` rows each."""
    unit = source.unit

    def pick(i: int, *names: str) -> Record:
        return {name: rows[i][name] for name in names}

    near_duplicates = []
    for i, duplicates in explanation.groups[:size]:
        listed = join_names(map(str, _locate_samples(source, duplicates)))
        near_duplicates.append(pick(i, unit) | {"near-duplicates": listed} | pick(i, "sample"))
    pairs = []
    above, below = explanation.boundary()
    for i, j, similarity in [*above[::-1], *below]:
        other = pick(j, unit, "sample")
        other_columns = {f"other {name}": value for name, value in other.items()}
        pairs.append({"similarity": similarity} | pick(i, unit, "sample") | other_columns)
    modes = []
    for mode in explanation.modes():
        if len(mode.exemplars):
            row = {"share": mode.share, "members": len(mode.members)}
            modes.append(row | pick(int(mode.exemplars[0]), unit, "sample"))
    columns = (unit, "adds", "surprise", "unexplained", "sample")
    contributions = [pick(i, *columns) for i in range(len(rows))]
    contributions.sort(key=lambda row: -row["adds"])
    yield "near-duplicates", near_duplicates
    yield "pairs close to the threshold", pairs
    yield "modes", modes[:size]
    yield "samples that contribute most", contributions[:size]


def _read_similarity(
    args: Namespace, *extra_names: str
) -> tuple[CommandOptions, Samples, Similarity, Record]:
    """Return options, usable samples, their similarity, and the keywords q and `extra_names`."""
    command_options = parse_command_options(args, extra_names)
    source, *other_files = read_files(args.files, command_options)
    if other_files:
        raise UsageError(f"{args.command} requires exactly one FILE, got {len(args.files)}")
    check_one_set(source, allow_prompts=args.command != "select")
    if "output" in args:
        _check_output_file(args, source)
    keywords = command_options.keywords_for(source)
    extra_keywords = {"q": command_options.order} | {
        name: keywords.pop(name) for name in extra_names if name in keywords
    }
    source, similarity = build_similarity(source, keywords, args.given_prompt)
    if similarity.dropped:
        similarity = similarity.noted(dropped={})
    return command_options, source, similarity, extra_keywords


def _explain_file(args: Namespace) -> tuple[CommandOptions, Samples, Similarity, Explanation]:
    command_options, source, similarity, keywords = _read_similarity(args, "psd")
    with report_file_locations({"samples": source}):
        order, threshold, psd = check_explain_options(
            keywords["q"], args.threshold, keywords.get("psd", "check")
        )
        groups = group_equal_prompts(source.prompts) if source.prompts else None
        sample_set = SampleSet(similarity, orders=[order], psd=psd, groups=groups)
        within = groups is not None
        explanation = explain_sample_set(
            sample_set, order, threshold, texts=source.values, within=within
        )
    return command_options, source, similarity, explanation


def _check_output(args: Namespace) -> None:
    """Raise a UsageError for contradictory output flags."""
    flags = [flag for flag in ("rows", "indices") if getattr(args, flag)]
    if args.format == "json" and flags:
        raise UsageError(f"-f json already contains row numbers and indices; remove --{flags[0]}")
    if len(flags) > 1:
        raise UsageError("--rows and --indices are mutually exclusive; remove one of them")


def _check_output_file(args: Namespace, source: Samples) -> None:
    """Raise if samples cannot be written to the output file: arrays as text, or text as arrays."""
    extension = args.output and file_extension(args.output)
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
    is_existing = Path(args.output).exists() and args.files != [STDIN]
    if is_existing and Path(args.output).samefile(args.files[0]):
        raise UsageError(f"--output must not be the input file, got {args.output}")
    is_binary = named_format(args.output) in ("npy", "npz", "parquet")
    if (is_binary and extension not in source.endings) or not (is_binary or source.written):
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
    """Write samples to a file if requested; return the text to print.

    This is the samples in the format of the file, their numbers or indices, or `result` as JSON.
    """
    args = command_options.args
    args.notes.add_note(sentence, source.name)
    indices = [int(source.index[i]) for i in selected]
    if args.output:
        _write_samples(args.output, source, selected)
    if args.format == "json":
        return output.as_json(
            {**result, "samples": _locate_samples(source, selected), "index": indices}
        )
    if args.indices:
        return "".join(f"{index}\n" for index in indices)
    if args.output and not args.rows:
        return ""
    if source.written and not args.rows:
        return source.written(selected)
    return "".join(f"{location}\n" for location in _locate_samples(source, selected))


def _write_samples(path: str, source: Samples, selected: Sequence[int]) -> None:
    if source.saved and file_extension(path) in source.endings:
        source.saved(selected, path)
    elif source.written:
        Path(path).write_text(source.written(selected), encoding="utf-8", newline="")


def _locate_samples(source: Samples, selected: Sequence[int]) -> list[int | str]:
    return [source.places[i] for i in selected]


def _build_sample_rows(explanation: Explanation, source: Samples) -> list[Record]:
    """Return one row per sample, with indices into the file."""
    rows: list[Record] = [{source.unit: location} for location in source.places]
    for name in SAMPLE_COLUMNS:
        for row, value in zip(rows, getattr(explanation, name).tolist(), strict=True):
            row[name] = None if value != value else value
            if name in ("nearest", "redundant_of"):
                row[name] = source.places[value] if value >= 0 else None
    for row, sample in zip(rows, source.values, strict=True):
        if isinstance(sample, np.ndarray):
            row["sample"] = report_text.format_row(sample.ravel())
        else:
            row["sample"] = truncate(" ".join(str(sample).split()), _MAX_CELL_WIDTH)
    return rows
