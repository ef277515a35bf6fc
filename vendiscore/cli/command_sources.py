"""`vendiscore sources`: find how many models, annotators or generators effectively differ."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

from ..arrays.pools import pooled
from ..errors import SampleError
from ..reading.samples import Samples
from ..report.markup import cut
from ..sources import sources
from ..sources.between_sources import Sources
from ..sources.calculation import read_plan
from . import output
from .exit_codes import DataError, UsageError
from .files import BY_FOLDER, check
from .kernel_options import read_all, read_how

# Rows of a table of text, pairs and prompts of each end, and characters of a name or a prompt.
_ROWS, _PAIRS, _PROMPTS, _LETTERS = 20, 5, 3, 60
_COLUMNS = ("name", "n", "adds", "nearest", "similarity", "within")


def run_sources(args: Namespace) -> str:
    _check_arguments(args)
    how = read_how(args, ("psd",))
    try:
        read_plan(how.order, args.level, "check", args.given_prompt)
    except ValueError as error:
        said = str(error).replace("`level`", "--level").replace("`q`", "-q")
        raise UsageError(said) from None
    try:
        files = read_all(args.files, how)
        if not args.prompts and len(files) == 1 and args.by != BY_FOLDER:
            how.note("sources are compared as whole sets; of answers to prompts, name --prompt")
        asked = how.of(files[0]) | {"level": args.level, "q": how.order}
        if args.by:
            labels: Sequence[Any] = files[0].sets
        else:
            labels = [file.name for file in files for _ in range(len(file))]
        prompts = list(chain.from_iterable(file.prompts for file in files)) or None
        values = pooled([file.values for file in files])
        found = sources(values, prompts, by=labels, given_prompt=args.given_prompt, **asked)
    except SampleError as error:
        _name(files, error.problems, skip=False)
        raise
    except (TypeError, ValueError, MemoryError) as error:
        raise DataError(_in_flags(args, str(error))) from error
    _name(files, found.dropped, skip=True)
    for note in found.notes:
        how.note(note)
    return _printed(args, found)


def _check_arguments(args: Namespace) -> None:
    """Raise unless there are several files, or one whose column tells its sources apart."""
    count = len(args.files)
    if args.by and count > 1:
        raise UsageError(f"--source tells the sources in one file apart, got {count} files")
    if not args.by and (count < 2 or len(set(args.files)) < count):
        raise UsageError(
            "sources takes one table, whose column of models, say, is named by --source model, or "
            "two files or more, each once, each of one source"
        )
    if args.given_prompt and not args.prompts:
        raise UsageError("--given-prompt needs the column of prompts: name it with --prompt")


def _name(files: Sequence[Samples], problems: Mapping[int, str], skip: bool) -> None:
    """Name the files and lines of samples that cannot be used, as an error or in notes."""
    start = 0
    for file in files:
        some = {i: problems[start + i] for i in range(len(file)) if start + i in problems}
        if some:
            check(file, {file.place(i): why for i, why in some.items()}, skip)
        start += len(file)


def _in_flags(args: Namespace, said: str) -> str:
    """Return a message of the library or of a reader with the flags for its keywords."""
    words = {"`by`": f"--source {args.by or 'FILE'}", "`prompts`": f"--prompt {args.prompts}"}
    words |= {"by `compute`": "by `vendiscore FILE`", "psd='clip'": "-o psd=clip"}
    words |= {"--by and --group-by": "--source and --prompt", "--group-by folder and ": ""}
    words |= {"--by": "--source", "--group-by": "--prompt", "has no set": "has no source"}
    for word, flag in words.items():
        said = said.replace(word, flag)
    name = "" if len(args.files) > 1 or said.startswith(args.files[0]) else f"{args.files[0]}: "
    return name + said


def _printed(args: Namespace, found: Sources) -> str:
    if args.format == "json":
        return output.as_json(found.to_dict(), args.width)
    if args.format == "csv":
        return output.comma_separated([asdict(row) for row in found.sources], args.width)
    heading = "### {}\n\n" if args.format == "md" else "{}:\n"
    made = output.FORMATS[args.format]
    parts = [f"{found.sentence}\n"]
    for title, rows, more in _tables(found):
        rest = f"\nAnd {more:,} more sources, which -f csv and -f json have.\n" if more else ""
        parts.append(heading.format(title) + made(rows, args.width) + rest)
    return "\n".join([*parts, f"{found.signature}\n"])


def _tables(found: Sources) -> Iterator[tuple[str, list[dict[str, Any]], int]]:
    """Yield titles, rows and how many rows there are beyond them."""
    largest = sorted(found.sources, key=lambda row: -row.adds)
    known = [name for name in _COLUMNS if any(getattr(row, name) is not None for row in largest)]
    rows = [{name: _cell(getattr(row, name)) for name in known} for row in largest[:_ROWS]]
    yield "sources, those that add most first", rows, len(largest) - len(rows)
    every = len(largest) * (len(largest) - 1) // 2
    if every <= 2 * _PAIRS:
        yield "pairs, the nearest first", _pairs(found.pairs(every)), 0
    else:
        yield "nearest pairs", _pairs(found.pairs(_PAIRS)), 0
        yield "farthest pairs", _pairs(found.pairs(_PAIRS, farthest=True)), 0
    asked = [{"prompt": _cell(row["prompt"]), "VS": row["VS"]} for row in found.rows("prompts")]
    asked.sort(key=lambda row: -row["VS"])
    if len(asked) <= 2 * _PROMPTS:
        ends = {"prompts, those that tell sources apart most first": asked}
    else:
        ends = {"prompts that tell sources apart most": asked[:_PROMPTS]}
        ends["prompts that tell them apart least"] = asked[: -_PROMPTS - 1 : -1]
    yield from ((title, rows, 0) for title, rows in ends.items() if rows)


def _pairs(found: Sequence[tuple[str, str, float]]) -> list[dict[str, Any]]:
    return [{"a": _cell(a), "b": _cell(b), "similarity": value} for a, b, value in found]


def _cell(value: Any) -> Any:
    return cut(value, _LETTERS) if isinstance(value, str) else value
