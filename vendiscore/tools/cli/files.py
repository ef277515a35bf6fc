"""Reading files, folders and standard input as samples, according to command-line options."""

import re
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from pathlib import Path

from ...resolve.kernel_builder import TEXT_KERNEL
from ...support.errors import MAX_LISTED_SAMPLES
from ...support.suggestions import suggestion
from ...support.types import Options, Record
from ..reading.alternatives import Alternative, expand_answer, find_alternatives
from ..reading.default_kernels import default_keywords
from ..reading.encodings import NotTextError
from ..reading.limits import AskError, ReadOptions, RefusedError
from ..reading.names import format_dropped_count
from ..reading.paths import read_bytes, read_content
from ..reading.samples import INDIVIDUAL, Samples
from .exit_codes import DataError, UsageError, print_message

STDIN = "-"
NO_SAMPLES = "no samples found"
_MAX_TRIED_FILES = 5  # of several files, on which suggested flags are tried
_MAX_LISTED_ROWS = 5  # further unusable rows that an error lists
_NEGATABLE_FLAGS = ("header", "index", "comments", "subfolders")  # flags that have a --no- form
# Start of a problem that names the argument of the sample, as in "of `references` is empty".
_ARGUMENT_PREFIX = re.compile("^of `.*?` ")
# Options of an answer that change how a file is read; others are options of the kernel.
_READ_OPTIONS = {"file", *(field.name for field in fields(ReadOptions))}
# Commands that analyse a single set; `report` also accepts groups, but not several sets.
_SINGLE_SET_COMMANDS = ("select", "dedup", "explain", "growth")


def read_samples(path: str, read_options: ReadOptions, args: Namespace) -> Samples:
    """Read the samples of a file, a folder or standard input.

    `read_options` say how to read it, and `args` are the parsed arguments of the command. Unusable
    samples are dropped or raise an error, according to --on-error.
    """
    name, content_path = ("standard input", "") if path == STDIN else (path, path)
    with as_data_error(name, path):
        data = _read_input(path)
        try:
            samples = replace(read_content(content_path, data, read_options), name=name)
        except AskError as error:
            raise _build_question(args, error, path, data, read_options) from None
    for note in samples.notes:
        print_message(f"{name}: {note}")
    samples = replace(samples, notes=())
    # Indices are row numbers, unless several samples share a row, as in lists of answers.
    has_one_sample_per_row = len({*samples.rows}) == len(samples)
    indices = samples.rows if has_one_sample_per_row else range(len(samples))
    # `count` is the number of samples before unusable ones are dropped.
    samples = replace(samples, index=indices, count=len(samples))
    if samples.problems:
        report_unusable_samples(samples, samples.problems, skip=args.on_error == "skip")
        samples = samples.subset([i for i in range(len(samples)) if i not in samples.problems])
    if not len(samples.values):
        raise DataError(f"{name}: {NO_SAMPLES}")
    return samples


@contextmanager
def as_data_error(name: str, path: str) -> Iterator[None]:
    """Convert errors about a file into a DataError with its name."""
    try:
        yield
    except RefusedError as error:
        location = f", {error.place}" if error.place else ""
        hint = (
            "; or pass --encoding, for example --encoding cp1252, or the type "
            "of the file, for example --type parquet"
            if isinstance(error, NotTextError)
            else ""
        )
        raise DataError(f"{name}{location}: {error.message}{hint}") from None
    except OSError as error:
        raise DataError(f"{name}: {_describe_os_error(error, path)}") from None


def _build_question(
    args: Namespace, question: AskError, path: str, data: bytes | None, read_options: ReadOptions
) -> UsageError | DataError:
    """Return an error with the question about an ambiguous file and commands that answer it.

    `data` is the content of the file, or None for a folder. Each command has been tried on the
    files of the command line. If none works, the error says why.
    """
    name, content_path = ("standard input", "") if path == STDIN else (path, path)

    def read_files(options: Options) -> Samples:
        """Read the file with options, and check that further files can be read with them."""
        changes: Record = {name: value for name, value in options.items() if name in _READ_OPTIONS}
        if changes.get("matrix") is False:  # expressed by a kernel of vectors
            changes["kind"] = "vectors"
        if file := changes.pop("file", None):  # a table in a folder, which is read instead of it
            table_options = replace(read_options, subfolders=None, **changes)
            return read_content(str(file), read_bytes(str(file)), table_options)
        new_options = replace(read_options, **changes)
        samples = read_content(content_path, data, new_options)
        other_files = [*args.files, getattr(args, "references", None)]
        other_files = [file for file in other_files if file not in (path, STDIN, None)]
        for file in other_files[:_MAX_TRIED_FILES]:
            with suppress(AskError):  # a question about this file follows
                read_content(file, _read_input(file), new_options)
        return samples

    def read(options: Options) -> tuple[Samples, Record]:
        """Read the file; return the samples, and further options that the command requires."""
        samples = read_files(options)
        problem = _describe_unsupported_samples(args, samples)
        if not problem:
            return samples, {}
        for further_options in _suggest_set_options(args, samples):
            with suppress(RefusedError):
                samples = read_files({**options, **further_options})
                if not _describe_unsupported_samples(args, samples):
                    return samples, further_options
        raise RefusedError(problem)

    def expand(question: AskError, answer: Options) -> list[Record]:
        return _expand_for_command(args, question, answer)

    alternatives, problem = find_alternatives(question, expand, read)
    if not alternatives:
        return DataError(f"{name}: {question.question} No answer can be used: {problem}")
    commands = [f"  {_format_command(args, path, alternative)}" for alternative in alternatives]
    return UsageError("\n".join([f"{name}: {question.question} Type one of:", *commands]))


def _expand_for_command(args: Namespace, question: AskError, answer: Options) -> list[Record]:
    """Return the options that express an answer to a question, one dict for each alternative.

    There can be several, because a column can define sets (--by) or groups (--group-by), and none
    if the command does not support this answer.
    """
    supported = {field.name for field in fields(ReadOptions) if field.name in args}
    has_one_file = len(args.files) == 1
    if not has_one_file:  # each file is a set
        supported.discard("by")
    if _compares_sets(args):  # their --group-by compares sets within groups, which is no answer
        supported.discard("group_by")
    if args.command == "select":  # which does not group samples by prompt
        supported.discard("prompts")
    needs_sets = _compares_sets(args) and has_one_file
    return expand_answer(answer, question.known, supported=supported, needs_sets=needs_sets)


def _compares_sets(args: Namespace) -> bool:
    """Return whether the command requires several sets."""
    return "by" in args and args.command not in ("score", "phrases")


def _describe_unsupported_samples(args: Namespace, samples: Samples) -> str:
    """Return why the command does not support the samples of its only file, or ""."""
    n_sets = len({*samples.sets}) or 1
    if args.command == "phrases" and samples.kind not in ("texts", "sequences"):
        return f"phrases requires texts, got {samples.kind}"
    if len(args.files) > 1:
        return ""
    if _compares_sets(args) and n_sets == 1 and samples.unit != INDIVIDUAL:
        return f"{args.command} requires several sets, and no column defines them"
    if args.command in _SINGLE_SET_COMMANDS and (samples.sets or samples.groups):
        return f"{args.command} requires a single set"
    if args.command == "select" and samples.prompts and not args.given_prompt:
        return "select does not group samples by prompt"
    if n_sets > {"report": 1, "phrases": 2}.get(args.command, n_sets):
        return f"{args.command} does not support {n_sets:,} sets"
    return ""


def _suggest_set_options(args: Namespace, samples: Samples) -> list[Record]:
    """Return options that may make the command support samples, the likeliest first."""
    prompt_column = samples.grouping.get("prompts") or samples.grouping.get("groups")
    prompts = {"prompts": prompt_column} if prompt_column and args.command != "select" else {}
    if not _compares_sets(args):
        # Without its groups and sets, the file is a single set, possibly with prompts.
        return [prompts, {**prompts, "pool": True}, {"pool": True}]
    from ..reading.columns import find_set_columns  # slow import that plain text does not need
    from ..reading.tables import Table

    columns = find_set_columns(samples.source) if isinstance(samples.source, Table) else []
    used_columns = (samples.column, prompt_column)
    return [{"by": name, **prompts} for name in columns if name not in used_columns]


def _format_command(args: Namespace, path: str, alternative: Alternative) -> str:
    """Return the complete command line for a way to read an ambiguous file, for a message."""
    options = dict(alternative.options)
    words = args.words
    if file := options.pop("file", None):  # a table in a folder, which is read instead of it
        # --subfolders and --no-subfolders apply only to folders.
        words = [word for word in words if not word.endswith("subfolders")]
        words = [str(file) if word == path else word for word in words]
    flags = []
    for name, value in options.items():
        if value:
            flags.append(format_flag(name, value))
        elif value is False and name in _NEGATABLE_FLAGS:
            flags.append(f"--no-{name}")
        elif value is False and name == "matrix":  # the rows are vectors
            flags.append(format_flag("kind", "vectors"))
    if alternative.skips and args.on_error != "skip":
        flags.append("--on-error skip")
    return " ".join([shlex.join(words), *flags])


def format_flag(name: str, value: object) -> str:
    """Format an option for reading files as a flag, for example `--prompt question`."""
    if value == "counts":  # a sample type with a flag of its own
        return "--counts"
    if name == "normalize":  # an option of matrices without a flag of its own
        return "-o normalize=true"
    if name == "kind":  # the command has no flag for sample types, but kernels imply them
        return f"-k {default_keywords(str(value)).get('k', TEXT_KERNEL)}"
    flag = f"--{'prompt' if name == 'prompts' else name.replace('_', '-')}"
    if value is True:
        return flag
    # A value such as --- would be read as a flag of its own.
    sign = "=" if str(value).startswith("-") else " "
    return f"{flag}{sign}{shlex.quote(str(value))}"


def report_unusable_samples(
    source: Samples, problems: Mapping[int, str], skip: bool, suggest_skip: bool = True
) -> None:
    """Raise a DataError that lists unusable samples of a file, or print a note if `skip`.

    `problems` maps the index of each unusable sample to what is wrong with it. With `suggest_skip`,
    the message of the error contains the flag that drops these samples.
    """
    # Samples are named by their position in the file, not by an argument of the library.
    entries = [
        (source.place(i), _ARGUMENT_PREFIX.sub("", problem)) for i, problem in problems.items()
    ]
    if skip:
        lines = [f"{location} {problem}" for location, problem in entries]
        listing = "; ".join(lines[:MAX_LISTED_SAMPLES] + ["…"] * (len(lines) > MAX_LISTED_SAMPLES))
        print_message(f"{source.name}: {format_dropped_count(len(entries), 'sample')}: {listing}")
        return
    (location, first_problem), *remaining = entries
    # Only the line or row of each sample, without the column.
    rows = [name.partition(", column ")[0] for name, _ in remaining]
    listing = ", ".join(rows[:_MAX_LISTED_ROWS]) + ", …" * (len(rows) > _MAX_LISTED_ROWS)
    suffix = f" (and {len(remaining):,} more: {listing})" if remaining else ""
    # After a semicolon, the description of the problem already states what to do.
    hint = "" if "; " in first_problem else "; correct or remove it"
    if suggest_skip:
        hint += ", or pass --on-error skip to drop unusable samples"
    raise DataError(f"{source.name}, {location} {first_problem}{suffix}{hint}")


def report_unusable_in_files(
    files: Sequence[Samples], problems: Mapping[int, str], skip: bool
) -> None:
    """Report unusable samples by file and line: raise an error or, if `skip`, print notes.

    `problems` maps indices into the concatenated samples of all files to descriptions.
    """
    start = 0  # index of the first sample of the file
    for file in files:
        file_problems = {i: problems[start + i] for i in range(len(file)) if start + i in problems}
        if file_problems:
            report_unusable_samples(file, file_problems, skip)
        start += len(file)


def _read_input(path: str) -> bytes | None:
    """Return the content of a file, or of standard input (the path "-"); None for a folder."""
    if path != STDIN:
        return read_bytes(path)
    if sys.stdin is None:
        raise OSError("it is closed; pass a file, or pipe data to the command")
    return sys.stdin.buffer.read()


def _describe_os_error(error: OSError, path: str) -> str:
    """Describe why a file cannot be read; for a missing file, suggest a similar name."""
    if isinstance(error, FileNotFoundError):
        folder = Path(path).parent
        names = [file.name for file in folder.iterdir()] if folder.is_dir() else []
        if re.fullmatch(r"0?\.\d+", path):
            return f"no such file. To set a confidence level, use -o ci={path}."
        return f"no such file. {suggestion(Path(path).name, names)}".strip()
    return (error.strerror or str(error)).rstrip(".")
