"""Reading files, folders and standard input as samples, according to command-line options."""

import gzip
import re
import shlex
import sys
import zlib
from argparse import Namespace
from collections.abc import Mapping
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
# Kernel names and aliases for sample types, in terms that users can type.
_DEFAULT_KERNELS = {
    "texts": "ngram_overlap",
    "molecules": "morgan",
    "vectors": "cosine",
    "images": "pixels",
}
_NEGATABLE_FLAGS = ("header", "index", "subfolders")  # flags that have a --no- form
_LIBRARY_NAME_PREFIX = re.compile("^of `.*?` ")
FOLDER_COLUMN = "folder"  # value of --group-by for the folder of each file


def read_samples(path: str, read_options: Wanted, args: Namespace) -> Samples:
    """Read the samples of a file according to the options of the command."""
    name = "standard input" if path == STDIN else path
    try:
        samples = replace(_read_file_or_folder(path, read_options), name=name)
    except AskError as error:
        lines = (f"  {line}" for line in _format_alternatives(args, error, path))
        raise UsageError("\n".join([f"{name}: {error.question} Type one of:", *lines])) from None
    except RefusedError as error:
        location = f", {error.place}" if error.place else ""
        hint = "; or pass --encoding or --type" if isinstance(error, NotTextError) else ""
        raise DataError(f"{name}{location}: {error.message}{hint}") from None
    except OSError as error:
        raise DataError(f"{name}: {_describe_os_error(error, path)}") from None
    rows = samples.rows if len({*samples.rows}) == len(samples) else range(len(samples))
    samples = replace(samples, index=rows, count=len(samples))
    if samples.problems:
        report_unusable_samples(samples, samples.problems, args.on_error == "skip")
        samples = samples.subset([i for i in range(len(samples)) if i not in samples.problems])
    if not len(samples.values):
        raise DataError(f"{name}: {NO_SAMPLES}")
    return samples


def _format_alternatives(args: Namespace, error: AskError, path: str) -> list[str]:
    """Return a command for each way to resolve an ambiguous file."""
    commands = []
    is_single_table = "by" in args and len(args.files) == 1
    is_comparison = "by" in args and args.command != "score"
    known_flags = [
        format_flag(name, value) for name, value in error.known.items() if value and name in args
    ]
    prompt_flags = [flag for flag in known_flags if flag.startswith("--prompt")]
    for _, options in error.choices[:_MAX_ALTERNATIVES]:
        if "file" in options:  # of a folder
            words = [word for word in args.words if not word.endswith("subfolders")]
            commands.append(shlex.join(str(options["file"]) if w == path else w for w in words))
            continue
        if "pool" in options:
            if (
                prompt_flags
                and args.command != "select"
                and not (is_comparison and is_single_table)
            ):
                # without the column in question
                commands.append(f"{args.command_line} {' '.join(known_flags)}")
            if not (is_comparison and is_single_table):
                commands.append(f"{args.command_line} --pool")
            continue
        flags = []
        for name, value in options.items():
            if value and name != "group_by":
                flags.append(format_flag(name, value))
            elif value is False and name in _NEGATABLE_FLAGS:
                flags.append(f"--no-{name}")
            elif value is False and name == "matrix":
                flags.append(f"-k {_DEFAULT_KERNELS['vectors']}")
        if "group_by" in options:
            column = shlex.quote(str(options["group_by"]))
            if is_single_table:
                commands.append(
                    " ".join([args.command_line, *flags, f"--by {column}", *prompt_flags])
                )
            if "group_by" in args and not is_comparison:
                commands.append(
                    " ".join([args.command_line, *flags, f"--group-by {column}", *known_flags])
                )
        elif not (is_comparison and is_single_table and "subfolders" in options):
            commands.append(" ".join([args.command_line, *flags]))
    return commands


def format_flag(name: str, value: object) -> str:
    if value == "counts":
        return "--counts"
    if name == "separator":  # the name in the web app
        return "--type txt"
    if name == "kind":
        return f"-k {_DEFAULT_KERNELS[str(value)]}"
    flag = f"--{'prompt' if name == 'prompts' else name.replace('_', '-')}"
    return flag if value is True else f"{flag} {shlex.quote(str(value))}"


def report_unusable_samples(
    source: Samples, problems: Mapping[int, str], skip: bool, suggest_skip: bool = True
) -> None:
    """Report unusable samples of a file, as an error or, if they are dropped, as a note.

    With `suggest_skip`, the error names the flag that drops them. Sample names of the library, such
    as "of `references`", are replaced by positions in the file.
    """
    entries = [
        (source.place(i), _LIBRARY_NAME_PREFIX.sub("", message)) for i, message in problems.items()
    ]
    if skip:
        lines = [f"{location} {problem}" for location, problem in entries]
        listing = "; ".join(lines[:MAX_LISTED_SAMPLES] + ["…"] * (len(lines) > MAX_LISTED_SAMPLES))
        print_message(f"{source.name}: {say_left_out(len(entries), 'sample')}: {listing}")
        return
    (location, first_message), *remaining = entries
    rows = [name.partition(", column ")[0] for name, _ in remaining]
    listing = ", ".join(rows[:5]) + (", …" if len(rows) > 5 else "")
    suffix = f" (and {len(remaining):,} more: {listing})" if remaining else ""
    hint = "" if "; " in first_message else "; correct or remove it"
    hint += ", or pass --on-error skip to drop unusable samples" * suggest_skip
    raise DataError(f"{source.name}, {location} {first_message}{suffix}{hint}")


def _read_file_or_folder(path: str, read_options: Wanted) -> Samples:
    if path != STDIN and Path(path).is_dir():
        return _read_folder(Path(path), read_options)
    if read_options.subfolders is not None:
        raise RefusedError("it is not a folder; remove --subfolders and --no-subfolders")
    file = path.removesuffix(".gz") if path.lower().endswith(".gz") else path
    data = _read_bytes(path)
    return read_data("" if path == STDIN else file, data, read_options, strict=True)


def _read_folder(folder: Path, read_options: Wanted) -> Samples:
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
    labels = samples.groups
    return replace(
        samples,
        notes=(),
        sets=labels if read_options.by else (),
        groups=labels if read_options.group_by else (),
    )


def _read_bytes(path: str) -> bytes:
    if path == STDIN:
        if sys.stdin is None:
            raise OSError("it is closed")
        return sys.stdin.buffer.read()
    data = Path(path).read_bytes()
    if not path.lower().endswith(".gz"):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, zlib.error) as error:
        raise OSError(f"the file is truncated or damaged ({error})") from None


def _describe_os_error(error: OSError, path: str) -> str:
    if isinstance(error, FileNotFoundError):
        folder = Path(path).parent
        names = [file.name for file in folder.iterdir()] if folder.is_dir() else []
        return f"no such file. {suggestion(Path(path).name, names)}".strip()
    return (error.strerror or str(error)).rstrip(".")
