"""Folders of images as samples: their image files, by name."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

from ..errors import warn
from .string_patterns import IMAGES

# Of files that are left out so many are named.
_NAMED = 5
# What systems put into folders and zips, and show to nobody, besides what begins with a dot.
_HIDDEN = ("thumbs.db", "desktop.ini", "__macosx")


class Files(list[Path]):
    """The image files of a folder, in order of their names, and what to say of them.

    Attributes
    ----------
    note : str
        A sentence for whoever reads a number about them.
    """

    def __init__(self, paths: Sequence[Path], note: str) -> None:
        super().__init__(paths)
        self.note = note


def is_folder(samples: Any) -> bool:
    """Whether samples are the path of a folder, which is there."""
    return isinstance(samples, (str, os.PathLike)) and os.path.isdir(samples)


def image_files(folder: str | os.PathLike[str], name: str = "samples") -> Files:
    """The image files in a folder, ordered as `sorted` orders their names.

    A file is an image by the end of its name, whatever is in it. Folders in the folder are not
    looked into, and hidden files (".…", "Thumbs.db", "desktop.ini") count as not there.
    """
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    shown = [entry for entry in entries if not is_hidden(Path(entry.name))]
    folders = [entry.name for entry in shown if entry.is_dir()]
    files = [entry.name for entry in shown if not entry.is_dir()]
    images = [file for file in files if ending(file) in IMAGES]
    others = [file for file in files if ending(file) not in IMAGES]
    path = Path(os.fsdecode(folder))
    if not images:
        raise ValueError(
            f"`{name}` must be a collection of samples, or a folder with image files, got the "
            f"folder {str(path)!r} with {_contents(folders, others)}; "
            f"{_remedy(path, folders, others)}"
        )
    note = f"{_count(len(images), 'image file')} of the folder {str(path)!r}, by name"
    if left := [*others, *(f"{folder}/" for folder in folders)]:
        named = ", ".join(map(repr, left[:_NAMED])) + (", …" if len(left) > _NAMED else "")
        warn(
            f"`{name}` are the {note}; {len(left)} more in it {'is' if len(left) == 1 else 'are'} "
            f"left out, no image by name or a folder: {named}"
        )
        note += f", without {len(left)} more in it that {'is' if len(left) == 1 else 'are'} none"
    return Files([path / image for image in images], f"The {name} are the {note}.")


def is_hidden(path: PurePath) -> bool:
    """Whether a path within a folder is, or lies in, what systems put there and show to nobody."""
    named = [part for part in path.parts if part != ".."]
    return any(part.startswith(".") or part.lower() in _HIDDEN for part in named)


def ending(file: str) -> str:
    """What a name ends in, in small letters, without its point."""
    return os.path.splitext(file)[1].lower().removeprefix(".")


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n:,} {what}s"


def _contents(folders: Sequence[str], others: Sequence[str]) -> str:
    """What is in a folder without images."""
    parts = []
    if folders:
        named = ", ".join(map(repr, folders[:_NAMED])) + (", …" if len(folders) > _NAMED else "")
        parts.append(f"{_count(len(folders), 'folder')} ({named})")
    if others:
        kinds = Counter(ending(file) for file in others).most_common(_NAMED)
        named = ", ".join(f".{kind}" if kind else "no ending" for kind, _ in kinds)
        parts.append(f"{_count(len(others), 'other file')} ({named})")
    return " and ".join(parts) or "nothing in it"


def _remedy(path: Path, folders: Sequence[str], others: Sequence[str]) -> str:
    if folders:
        return (
            f"pass one of them, or all files: sorted(Path({str(path)!r}).rglob('*.png')), say, "
            f"with [path.parent.name for path in …] as `groups`"
        )
    if others:
        return "pass what is in the files, a list of samples, or the paths of images"
    return "check the path"
