"""Folders as samples: their image files, or their files of text, by name."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TypeGuard

from ..support.errors import warn
from ..support.string_patterns import IMAGES
from ..support.types import Record
from .encodings import NotTextError, decode
from .formats import ENDINGS, TYPES, ending
from .limits import AskError, RefusedError, Wanted
from .samples import Samples

# Files left out that a message names.
_NAMED = 5
# Names of files that systems hide in folders and zips, besides names that begin with a dot.
_HIDDEN = ("thumbs.db", "desktop.ini", "__macosx")


class Files(list[Path]):
    """The image files of a folder, in order of their names, and a note on them for a result."""

    def __init__(self, paths: Sequence[Path], note: str) -> None:
        super().__init__(paths)
        self.note = note


def is_folder(samples: object) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(samples, (str, os.PathLike)) and os.path.isdir(samples)


def image_files(folder: str | os.PathLike[str], name: str = "samples") -> Files:
    """Return the files of a folder whose names are of images, sorted, without hidden files."""
    path = Path(os.fsdecode(folder))
    files, folders = _listed(path)
    images = [file for file in files if ending(file) in IMAGES]
    others = [file for file in files if ending(file) not in IMAGES]
    left = [*others, *(f"{folder}/" for folder in folders)]
    if not images:
        remedy = "pass what is in the files, or the paths of images" if left else "check the path"
        if folders:
            remedy = "pass one of its folders, or all files: sorted(Path(…).rglob('*.png')), say, "
            remedy += "with [path.parent.name for path in …] as `groups`"
        raise ValueError(
            f"`{name}` must be a collection of samples, or a folder with image files, got the "
            f"folder {str(path)!r} with {_named(left) or 'nothing in it'}; {remedy}"
        )
    many = "1 image file" if len(images) == 1 else f"{len(images):,} image files"
    note = f"{many} of the folder {str(path)!r}, by name"
    if left:
        warn(
            f"`{name}` are the {note}; {len(left)} more in it {'is' if len(left) == 1 else 'are'} "
            f"left out, not named as images or folders: {_named(left)}"
        )
        note += f", without {len(left)} more in it that {'is' if len(left) == 1 else 'are'} not"
    return Files([path / image for image in images], f"The {name} are the {note}.")


def folder_samples(folder: Path, wanted: Wanted) -> Samples:
    """Return the images or .txt files of a folder, in groups by their folders if these are named.

    Raises
    ------
    AskError, RefusedError
        If the folder has samples of more than one kind, or samples in it and in its folders; if it
        has no samples.
    """
    below = bool(wanted.others)
    every, _ = _listed(folder, below=True)
    if wanted.subfolders is False and not below:
        every = [file for file in every if _is_at_top(file)]
    by_kind: dict[str, list[str]] = {"images": [], "texts": []}
    tables = []
    for file in every:
        kind = _kind_of_file(file)
        if kind in by_kind:
            by_kind[kind].append(file)
        elif kind:
            tables.append(file)
    if wanted.kind in by_kind:
        by_kind = {wanted.kind: by_kind[wanted.kind]}
        tables = []
    by_kind = {kind: files for kind, files in by_kind.items() if files}
    if not by_kind:
        remedy = f"; it has {_named(tables)}: pass that file, or one of them" * bool(tables)
        what = ".txt files" if wanted.kind == "texts" else "images"
        raise RefusedError(f"the folder has no {what}{remedy}")
    if len(by_kind) + len(tables) > 1:
        raise _kind_question(folder, by_kind, tables, wanted)
    ((what, found),) = by_kind.items()
    if wanted.subfolders is None and not below:
        top = [file for file in found if _is_at_top(file)]
        if not top:
            raise RefusedError(
                f"the folder has no {'.txt files' if what == 'texts' else 'images'}; it has "
                "folders, whose files count with --group-by folder, --by folder, or --subfolders "
                "for one set"
            )
        if len(top) < len(found):
            raise AskError(
                f"The folder has {_count(what, top)}, and its folders have "
                f"{len(found) - len(top):,} more: which are the samples?",
                _folder_choices(what, found, {}),
            )
    chosen = set(found)
    left = sorted(file for file in every if file not in chosen)
    note = f"{len(found):,} samples; left out, as no {what}: {_named(left)}"
    values = paths = [str(folder / file) for file in found]
    problems = {}
    if what == "texts":
        values = [""] * len(paths)
        for i, path in enumerate(paths):
            try:
                values[i] = decode(Path(path).read_bytes(), wanted.encoding)[0].rstrip()
            except NotTextError as error:
                problems[i] = f"is not text: {error.place}: {error.message}"
    return Samples(
        values,
        found,
        "file",
        problems,
        kind=what,
        notes=(note,) if left else (),
        groups=[str(PurePath(file).parent) for file in found] if below else (),
        written=lambda kept: "".join(f"{paths[i]}\n" for i in kept),
    )


def _kind_of_file(file: str) -> str:
    """Return "images", "texts", "tables" for another file that the readers take, or ""."""
    end = ending(file.removesuffix(".gz"))
    if ending(file) in IMAGES:
        return "images"
    if ending(file) == "txt":
        return "texts"
    form = ENDINGS.get(end)
    return "tables" if form in TYPES and form != "txt" else ""


def _is_at_top(file: str) -> bool:
    return PurePath(file).parent == PurePath()


def _count(kind: str, files: Sequence[str]) -> str:
    name = {"images": "image", "texts": ".txt file"}[kind]
    return f"{len(files):,} {name}{'s' * (len(files) != 1)}"


def _kind_question(
    folder: Path, by_kind: Mapping[str, Sequence[str]], tables: Sequence[str], wanted: Wanted
) -> AskError:
    """Ask which of several kinds of files are the samples."""
    choices: list[tuple[str, Mapping[str, object]]] = []
    for kind, files in by_kind.items():
        if wanted.others or wanted.subfolders is not None:
            choices.append((kind, {"kind": kind}))
        else:
            choices += _folder_choices(kind, files, {"kind": kind})
    choices += [(file, {"file": str(folder / file)}) for file in tables]
    listed = [_count(kind, files) for kind, files in by_kind.items()]
    if tables:
        listed.append(f"tables or other data ({_named(tables)})")
    return AskError(f"The folder has {', '.join(listed)}: which are the samples?", choices)


def _folder_choices(
    kind: str, files: Sequence[str], options: Record
) -> list[tuple[str, Mapping[str, object]]]:
    """Return the ways to take the files of a kind: those at the top, all, or folder by folder."""
    top = sum(map(_is_at_top, files))
    if top == len(files):
        return [(f"The {kind}", options)]
    choices: list[tuple[str, Mapping[str, object]]] = [
        (f"All {kind}, also in folders", {**options, "subfolders": True}),
        (f"The {kind} of each folder", {**options, "group_by": "folder"}),
    ]
    if top:
        choices.insert(0, (f"The {kind} at the top", {**options, "subfolders": False}))
    return choices


def _listed(path: Path, below: bool = False) -> tuple[list[str], list[str]]:
    """Return the files that are not hidden: at any depth with `below`, else with the folders."""
    files: list[str] = []
    for root, folders, names in os.walk(path, onerror=_raised):
        at = Path(root).relative_to(path)
        folders[:] = sorted(name for name in folders if not is_hidden(name))
        files += (str(at / name) for name in names if not is_hidden(name))
        if not below:
            return sorted(files), folders
    return sorted(files), []


def _raised(error: OSError) -> None:
    raise error


def is_hidden(path: str) -> bool:
    """Return whether a path within a folder is hidden, or lies in a hidden folder."""
    named = [part for part in PurePath(path.replace("\\", "/")).parts if part != ".."]
    return any(part.startswith(".") or part.lower() in _HIDDEN for part in named)


def _named(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:_NAMED])) + (", …" if len(names) > _NAMED else "")
