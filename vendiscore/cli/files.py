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

from ..core.errors import SHOWN
from ..hints import suggestion
from ..reading.encodings import NotTextError
from ..reading.folders import folder_samples
from ..reading.limits import AskError, RefusedError, Wanted
from ..reading.names import say_left_out
from ..reading.reader import read_data
from ..reading.samples import Samples
from .exit_codes import DataError, UsageError, tell

STDIN = "-"
NO_SAMPLES = "there are no samples in it"
_MOST_WAYS = 12
# Kernels that stand for a kind of samples, in what a person can type.
_KERNELS = {"texts": "ngram_overlap", "molecules": "morgan", "vectors": "cosine"}
_CALLED = re.compile("^of `.*?` ")
BY_FOLDER = "folder"  # what --group-by calls the folder that a file is in


def read(path: str, wanted: Wanted, args: Namespace) -> Samples:
    """Return the samples of a file, as the options of a command say."""
    name = "standard input" if path == STDIN else path
    try:
        found = replace(_read(path, wanted), name=name)
    except AskError as error:
        lines = (f"  {args.typed} {flags}" for flags in _ways(args, error))
        raise UsageError("\n".join([f"{name}: {error.question} Type one of:", *lines])) from None
    except RefusedError as error:
        at = f", {error.place}" if error.place else ""
        remedy = "; or name its --encoding or --type" if isinstance(error, NotTextError) else ""
        raise DataError(f"{name}{at}: {error.message}{remedy}") from None
    except OSError as error:
        raise DataError(f"{name}: {_why(error, path)}") from None
    if found.problems:
        check(found, found.problems, args.on_error == "skip")
        found = found.subset([i for i in range(len(found)) if i not in found.problems])
    if not len(found.values):
        raise DataError(f"{name}: {NO_SAMPLES}")
    return found


def _ways(args: Namespace, error: AskError) -> list[str]:
    """Return the flags to add to a command for each answer to a question."""
    ways = []
    compares = "by" in args
    one_set = "--by" if compares else "--group-by" * ("group_by" in args)
    alone = compares and len(args.files) == 1
    for _, asked in error.choices[:_MOST_WAYS]:
        if "pool" in asked and alone:
            continue
        if "group_by" in asked:
            if one_set and (alone or not compares):
                ways.append(f"{one_set} {shlex.quote(str(asked['group_by']))}")
            continue
        flags = [_flag(name, value) for name, value in asked.items() if value]
        flags += [f"--no-{name}" for name in ("header", "index") if asked.get(name) is False]
        flags += [f"-k {_KERNELS['vectors']}"] * (asked.get("matrix") is False)
        ways.append(" ".join(flags))
    return ways


def _flag(name: str, value: object) -> str:
    if value == "counts":
        return "--counts"
    if name == "separator":  # of the page
        return "--type txt"
    if name == "kind":
        return f"-k {_KERNELS[str(value)]}"
    flag = f"--{name.replace('_', '-')}"
    return flag if value is True else f"{flag} {shlex.quote(str(value))}"


def check(source: Samples, problems: Mapping[int, str], skip: bool, helps: bool = True) -> None:
    """Say which samples of a file cannot be used, as an error or, if they are left out, a note.

    The error names the option that leaves them out, where it `helps`. The name of the samples in
    the library, as in "of `references` is missing", gives way to their place in the file.
    """
    found = [(source.place(i), _CALLED.sub("", why)) for i, why in problems.items()]
    if skip:
        shown = [f"{where} {problem}" for where, problem in found]
        listed = "; ".join(shown[:SHOWN] + ["…"] * (len(shown) > SHOWN))
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
    file = path.removesuffix(".gz") if path.lower().endswith(".gz") else path
    data = _bytes(path)
    return read_data("" if path == STDIN else file, data, wanted)


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
    found = folder_samples(folder, wanted.kind, bool(wanted.others), wanted.encoding)
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
        close = suggestion(Path(path).name, names, look=" ") if names else ""
        return f"there is no such file. {close}".partition("Available")[0].strip()
    return (error.strerror or str(error)).rstrip(".")
