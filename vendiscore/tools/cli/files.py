"""Files, folders and standard input as samples, as the options of a command say."""

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
from ...support.suggestions import suggest_name
from ..reading.encodings import NotTextError
from ..reading.folder_samples import folder_samples
from ..reading.limits import AskError, RefusedError, Wanted
from ..reading.names import say_left_out
from ..reading.reader import read_data
from ..reading.samples import Samples
from .exit_codes import DataError, UsageError, tell

STDIN = "-"
NO_SAMPLES = "there are no samples in it"
_MOST_WAYS = 12
# Kernels that stand for a kind of samples, in what a person can type.
_KERNELS = {
    "texts": "ngram_overlap",
    "molecules": "morgan",
    "vectors": "cosine",
    "images": "pixels",
}
_EITHER = ("header", "index", "subfolders")  # options that --no- turns off
_CALLED = re.compile("^of `.*?` ")
BY_FOLDER = "folder"  # what --group-by calls the folder that a file is in


def read(path: str, wanted: Wanted, args: Namespace) -> Samples:
    """Return the samples of a file, as the options of a command say."""
    name = "standard input" if path == STDIN else path
    try:
        found = replace(_read(path, wanted), name=name)
    except AskError as error:
        lines = (f"  {line}" for line in _ways(args, error, path))
        raise UsageError("\n".join([f"{name}: {error.question} Type one of:", *lines])) from None
    except RefusedError as error:
        at = f", {error.place}" if error.place else ""
        remedy = "; or name its --encoding or --type" if isinstance(error, NotTextError) else ""
        raise DataError(f"{name}{at}: {error.message}{remedy}") from None
    except OSError as error:
        raise DataError(f"{name}: {_why(error, path)}") from None
    rows = found.rows if len({*found.rows}) == len(found) else range(len(found))
    found = replace(found, index=rows, count=len(found))
    if found.problems:
        check(found, found.problems, args.on_error == "skip")
        found = found.subset([i for i in range(len(found)) if i not in found.problems])
    if not len(found.values):
        raise DataError(f"{name}: {NO_SAMPLES}")
    return found


def _ways(args: Namespace, error: AskError, path: str) -> list[str]:
    """Return the command to type for each answer to a question about a file."""
    ways = []
    alone = "by" in args and len(args.files) == 1
    compares = "by" in args and args.command != "score"
    known = [_flag(name, value) for name, value in error.known.items() if value and name in args]
    prompts = [flag for flag in known if flag.startswith("--prompt")]
    for _, asked in error.choices[:_MOST_WAYS]:
        if "file" in asked:  # of a folder
            words = [word for word in args.words if not word.endswith("subfolders")]
            ways.append(shlex.join(str(asked["file"]) if w == path else w for w in words))
            continue
        if "pool" in asked:
            if prompts and args.command != "select" and not (compares and alone):
                ways.append(f"{args.typed} {' '.join(known)}")  # the column of the question is out
            if not (compares and alone):
                ways.append(f"{args.typed} --pool")
            continue
        flags = []
        for name, value in asked.items():
            if value and name != "group_by":
                flags.append(_flag(name, value))
            elif value is False and name in _EITHER:
                flags.append(f"--no-{name}")
            elif value is False and name == "matrix":
                flags.append(f"-k {_KERNELS['vectors']}")
        if "group_by" in asked:
            column = shlex.quote(str(asked["group_by"]))
            if alone:
                ways.append(" ".join([args.typed, *flags, f"--by {column}", *prompts]))
            if "group_by" in args and not compares:
                ways.append(" ".join([args.typed, *flags, f"--group-by {column}", *known]))
        elif not (compares and alone and "subfolders" in asked):
            ways.append(" ".join([args.typed, *flags]))
    return ways


def _flag(name: str, value: object) -> str:
    if value == "counts":
        return "--counts"
    if name == "separator":  # of the page
        return "--type txt"
    if name == "kind":
        return f"-k {_KERNELS[str(value)]}"
    flag = f"--{'prompt' if name == 'prompts' else name.replace('_', '-')}"
    return flag if value is True else f"{flag} {shlex.quote(str(value))}"


def check(source: Samples, problems: Mapping[int, str], skip: bool, helps: bool = True) -> None:
    """Say which samples of a file cannot be used, as an error or, if they are left out, a note.

    The error names the option that leaves them out, where it `helps`. The name of the samples in
    the library, as in "of `references` is missing", gives way to their place in the file.
    """
    found = [(source.place(i), _CALLED.sub("", why)) for i, why in problems.items()]
    if skip:
        shown = [f"{where} {problem}" for where, problem in found]
        listed = "; ".join(shown[:MAX_LISTED_SAMPLES] + ["…"] * (len(shown) > MAX_LISTED_SAMPLES))
        tell(f"{source.name}: {say_left_out(len(found), 'sample')}: {listed}")
        return
    (where, said), *more = found
    rows = [name.partition(", column ")[0] for name, _ in more]
    listed = ", ".join(rows[:5]) + (", …" if len(rows) > 5 else "")
    others = f" (and {len(more):,} more: {listed})" if more else ""
    remedy = "" if "; " in said else "; correct or remove it"
    remedy += ", or pass --on-error skip to leave out what cannot be used" * helps
    raise DataError(f"{source.name}, {where} {said}{others}{remedy}")


def _read(path: str, wanted: Wanted) -> Samples:
    if path != STDIN and Path(path).is_dir():
        return _of_folder(Path(path), wanted)
    if wanted.subfolders is not None:
        raise RefusedError("it is not a folder; remove --subfolders and --no-subfolders")
    file = path.removesuffix(".gz") if path.lower().endswith(".gz") else path
    data = _bytes(path)
    return read_data("" if path == STDIN else file, data, wanted, strict=True)


def _of_folder(folder: Path, wanted: Wanted) -> Samples:
    if wanted.column or {*wanted.others} - {BY_FOLDER}:
        raise RefusedError(
            f"it is a folder, which has no columns; leave out all options that name columns, but "
            f"for --group-by {BY_FOLDER} and --by {BY_FOLDER}"
        )
    if wanted.split or wanted.type not in (None, "txt"):
        raise RefusedError(
            "it is a folder, whose samples are a file each; leave out --split and --type"
        )
    if wanted.skip_rows or wanted.header is not None or wanted.index is not None:
        raise RefusedError(
            "it is a folder, whose samples are a file each; leave out the options of tables"
        )
    if wanted.others and wanted.subfolders is False:
        raise RefusedError(
            f"--by {BY_FOLDER} and --group-by {BY_FOLDER} take files in subfolders; remove "
            "--no-subfolders"
        )
    found = folder_samples(folder, wanted)
    for note in found.notes:
        tell(f"{folder}: {note}")
    labels = found.groups
    return replace(
        found, notes=(), sets=labels if wanted.by else (), groups=labels if wanted.group_by else ()
    )


def _bytes(path: str) -> bytes:
    if path == STDIN:
        if sys.stdin is None:
            raise OSError("it is not open")
        return sys.stdin.buffer.read()
    data = Path(path).read_bytes()
    if not path.lower().endswith(".gz"):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, zlib.error) as error:
        raise OSError(f"it is cut short or damaged ({error})") from None


def _why(error: OSError, path: str) -> str:
    if isinstance(error, FileNotFoundError):
        folder = Path(path).parent
        names = [file.name for file in folder.iterdir()] if folder.is_dir() else []
        close = suggest_name(Path(path).name, names, fallback=" ") if names else ""
        return f"there is no such file. {close}".partition("Available")[0].strip()
    return (error.strerror or str(error)).rstrip(".")
