"""Reading files, folders and standard input as samples, according to command-line options."""

import re
import shlex
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...support.errors import MAX_LISTED_SAMPLES
from ...support.suggestions import suggestion
from ..reading.encodings import NotTextError
from ..reading.folder_samples import folder_samples
from ..reading.limits import AskError, RefusedError, Wanted
from ..reading.names import say_left_out
from ..reading.reader import read_data
from ..reading.samples import Samples
from .exit_codes import DataError, UsageError, print_message

STDIN = "-"
NO_SAMPLES = "no samples found"
_MAX_ALTERNATIVES = 12
_MAX_LISTED_ROWS = 5  # further unusable rows that an error lists
# Kernel names and aliases for sample types, in terms that users can type.
_DEFAULT_KERNELS = {
    "texts": "ngram_overlap",
    "molecules": "morgan",
    "vectors": "cosine",
    "images": "pixels",
}
_NEGATABLE_FLAGS = ("header", "index", "subfolders")  # flags that have a --no- form
# Start of a problem that names the argument of the sample, as in "of `references` is empty".
_ARGUMENT_PREFIX = re.compile("^of `.*?` ")
FOLDER_COLUMN = "folder"  # value of --by and --group-by for the folder of each file


def read_samples(path: str, read_options: Wanted, args: Namespace) -> Samples:
    """Read the samples of a file, a folder or standard input.

    `read_options` say how to read it, and `args` are the parsed arguments of the command. Unusable
    samples are dropped or raise an error, according to --on-error.
    """
    name = "standard input" if path == STDIN else path
    try:
        samples = replace(_read_file_or_folder(path, read_options), name=name)
    except AskError as error:
        commands = (f"  {command}" for command in _suggest_commands(args, error, path))
        raise UsageError("\n".join([f"{name}: {error.question} Type one of:", *commands])) from None
    except RefusedError as error:
        location = f", {error.place}" if error.place else ""
        hint = "; or pass --encoding or --type" if isinstance(error, NotTextError) else ""
        raise DataError(f"{name}{location}: {error.message}{hint}") from None
    except OSError as error:
        raise DataError(f"{name}: {_describe_os_error(error, path)}") from None
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


def _suggest_commands(args: Namespace, error: AskError, path: str) -> list[str]:
    """Return a complete command line for each way to read an ambiguous file, for a message.

    `error` contains these ways, each as a dict of options for reading files. `path` is the file or
    folder.
    """
    commands = []
    # Each choice is a pair of a label, which the command does not print, and options.
    for _, options in error.choices[:_MAX_ALTERNATIVES]:
        if "file" in options:  # a table in a folder, which is read instead of the folder
            # --subfolders and --no-subfolders apply only to folders.
            words = [word for word in args.words if not word.endswith("subfolders")]
            # The same command line with this file instead of the folder.
            commands.append(
                shlex.join(str(options["file"]) if word == path else word for word in words)
            )
        else:
            commands += [
                " ".join([args.command_line, *flags])
                for flags in _alternative_flags(args, error.known, options)
            ]
    return commands


def _alternative_flags(
    args: Namespace, detected_columns: Mapping[str, str], options: Mapping[str, object]
) -> list[list[str]]:
    """Return lists of flags that express `options`, one of the ways to read an ambiguous file.

    Each list is a separate alternative. There can be several, because a column can define sets
    (--by) or groups (--group-by); there is none if the command does not support this way to read
    the file. `detected_columns` maps options such as "prompts" to the columns that were detected
    for them, which are also expressed by flags.
    """
    has_one_file = "by" in args and len(args.files) == 1
    # `compare` and others require several sets, which one file contains only as --by or folders
    compares_sets = "by" in args and args.command != "score"
    needs_set_column = compares_sets and has_one_file
    column_flags = [
        format_flag(name, column)
        for name, column in detected_columns.items()
        if column and name in args
    ]
    # Flags for the detected column of prompts, which is kept if another column defines the sets.
    prompt_flags = [flag for flag in column_flags if flag.startswith("--prompt")]
    if "pool" in options:
        if needs_set_column:
            return []
        # With detected columns of prompts, all rows can also be one set without the column in
        # question. `select` does not group samples by prompt.
        is_prompt_allowed = prompt_flags and args.command != "select"
        return [*([column_flags] if is_prompt_allowed else []), ["--pool"]]
    flags = []
    for name, value in options.items():
        # A column of groups is handled below, because it can also be read as sets.
        if value and name != "group_by":
            flags.append(format_flag(name, value))
        elif value is False and name in _NEGATABLE_FLAGS:
            flags.append(f"--no-{name}")
        elif value is False and name == "matrix":  # the rows are vectors
            flags.append(f"-k {_DEFAULT_KERNELS['vectors']}")
    if "group_by" in options:
        column = shlex.quote(str(options["group_by"]))
        alternatives = []
        if has_one_file:
            alternatives.append([*flags, f"--by {column}", *prompt_flags])
        if "group_by" in args and not compares_sets:
            alternatives.append([*flags, f"--group-by {column}", *column_flags])
        return alternatives
    if needs_set_column and "subfolders" in options:  # this reads all subfolders as one set
        return []
    return [flags]


def format_flag(name: str, value: object) -> str:
    """Format an option for reading files as a flag, for example `--prompt question`."""
    if value == "counts":  # a sample type with a flag of its own
        return "--counts"
    if name == "normalize":  # an option of matrices without a flag of its own
        return "-o normalize=true"
    if name == "separator":  # option of the web app for one text per line, the meaning of .txt
        return "--type txt"
    if name == "kind":  # the command has no flag for sample types, but kernels imply them
        return f"-k {_DEFAULT_KERNELS[str(value)]}"
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
        print_message(f"{source.name}: {say_left_out(len(entries), 'sample')}: {listing}")
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


def _read_file_or_folder(path: str, read_options: Wanted) -> Samples:
    """Read the samples of a file, of a folder, or of standard input (the path "-")."""
    if path != STDIN and Path(path).is_dir():
        return _read_folder(Path(path), read_options)
    if read_options.subfolders is not None:
        flag = "--subfolders" if read_options.subfolders else "--no-subfolders"
        raise RefusedError(f"not a folder; remove {flag}")
    return read_data("" if path == STDIN else path, _read_bytes(path), read_options, strict=True)


def _read_folder(folder: Path, read_options: Wanted) -> Samples:
    """Read each file of a folder as a sample.

    Options that apply only to tables or to several texts in a file raise an error.
    """
    # `others` are the columns of sets, groups, prompts and quality; "folder" is not a column.
    if read_options.column or {*read_options.others} - {FOLDER_COLUMN}:
        raise RefusedError(
            f"a folder has no columns; remove all options that name columns, except --group-by "
            f"{FOLDER_COLUMN} and --by {FOLDER_COLUMN}"
        )
    if read_options.split or read_options.type not in (None, "txt"):
        raise RefusedError("each file of a folder is one sample; remove --split and --type")
    if read_options.skip_rows or read_options.header is not None or read_options.index is not None:
        raise RefusedError(
            "each file of a folder is one sample; remove --skip-rows, --header and --index"
        )
    if read_options.others and read_options.subfolders is False:
        raise RefusedError(
            f"--by {FOLDER_COLUMN} and --group-by {FOLDER_COLUMN} require files in subfolders; "
            "remove --no-subfolders"
        )
    samples = folder_samples(folder, read_options)
    for note in samples.notes:
        print_message(f"{folder}: {note}")
    subfolders = samples.groups  # the subfolder of each file
    return replace(
        samples,
        notes=(),
        sets=subfolders if read_options.by else (),
        groups=subfolders if read_options.group_by else (),
    )


def _read_bytes(path: str) -> bytes:
    """Return the content of a file, or of standard input (the path "-")."""
    if path == STDIN:
        if sys.stdin is None:
            raise OSError("it is closed; pass a file, or pipe data to the command")
        return sys.stdin.buffer.read()
    return Path(path).read_bytes()


def _describe_os_error(error: OSError, path: str) -> str:
    """Describe why a file cannot be read; for a missing file, suggest a similar name."""
    if isinstance(error, FileNotFoundError):
        folder = Path(path).parent
        names = [file.name for file in folder.iterdir()] if folder.is_dir() else []
        if re.fullmatch(r"0?\.\d+", path):
            return f"no such file. To set a confidence level, use -o ci={path}."
        return f"no such file. {suggestion(Path(path).name, names)}".strip()
    return (error.strerror or str(error)).rstrip(".")
