"""List the files of a folder: image files, without hidden files."""

import os
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TypeGuard

from .errors import warn
from .text_detection import IMAGE_EXTENSIONS

# Maximum number of ignored files that a message names.
_MAX_LISTED_NAMES = 5
# Files that operating systems add to folders and zip files, besides names that begin with a dot.
_HIDDEN_NAMES = ("thumbs.db", "desktop.ini", "__macosx")


class ImageFiles(list[Path]):
    """Paths of the image files of a folder, sorted by name, with a note for users.

    The note says how many files of which folder are used.
    """

    def __init__(self, paths: Sequence[Path], note: str) -> None:
        super().__init__(paths)
        self.note = note


def file_extension(name: str) -> str:
    """Return the lower-case extension of a file name, without the dot."""
    return PurePath(name.replace("\\", "/")).suffix.lower().removeprefix(".")


def is_folder(samples: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether `samples` is the path of an existing folder."""
    return isinstance(samples, (str, os.PathLike)) and os.path.isdir(samples)


def list_image_files(folder: str | os.PathLike[str], name: str = "samples") -> ImageFiles:
    """List the files of a folder with an image extension, sorted, without hidden files.

    `name` is the argument that messages mention. Emits a warning about other files, and raises a
    ValueError if there is no image file.
    """
    path = Path(os.fsdecode(folder))
    files, folders = list_folder(path)
    images = [file for file in files if file_extension(file) in IMAGE_EXTENSIONS]
    other_files = [file for file in files if file_extension(file) not in IMAGE_EXTENSIONS]
    ignored = [*other_files, *(f"{folder}/" for folder in folders)]
    if not images:
        # The hint depends on what the folder contains instead of images.
        hint = "check the path"
        if folders:
            hint = (
                "pass one of its subfolders, or a list of all files, for example "
                "sorted(Path(…).rglob('*.png')), with [path.parent.name for path in …] as `groups`"
            )
        elif ignored:
            hint = "pass the contents of the files, or the paths of images"
        raise ValueError(
            f"`{name}` must be a collection of samples, or a folder with image files, got the "
            f"folder {str(path)!r} with {format_names(ignored) or 'no files'}; {hint}"
        )
    count = "1 image file" if len(images) == 1 else f"{len(images):,} image files"
    note = f"{count} of the folder {str(path)!r}, by name"
    if ignored:
        is_single = len(ignored) == 1
        entries = (
            "1 other file or folder" if is_single else f"{len(ignored)} other files or folders"
        )
        warn(
            f"`{name}` are the {note}; {entries} {'is' if is_single else 'are'} ignored: "
            f"{format_names(ignored)}"
        )
        note += f", without {entries}"
    return ImageFiles([path / image for image in images], f"The {name} are the {note}.")


def list_folder(path: Path, recursive: bool = False) -> tuple[list[str], list[str]]:
    """Return the names of the files and of the subfolders of a folder, without hidden ones.

    If `recursive`, return the relative paths of all files at any depth, and no subfolders.
    """
    files: list[str] = []
    for root, folders, names in os.walk(path, onerror=_raise_error):
        relative = Path(root).relative_to(path)
        # Changed in place, so that os.walk does not enter hidden folders.
        folders[:] = sorted(name for name in folders if not is_hidden(name))
        files += (str(relative / name) for name in names if not is_hidden(name))
        if not recursive:
            return sorted(files), folders
    return sorted(files), []


def _raise_error(error: OSError) -> None:
    """Raise an error of os.walk, for its argument `onerror`; by default it ignores errors."""
    raise error


def is_hidden(path: str) -> bool:
    """Return whether a path within a folder is hidden, or lies in a hidden folder."""
    parts = [
        component for component in PurePath(path.replace("\\", "/")).parts if component != ".."
    ]
    return any(
        component.startswith(".") or component.lower() in _HIDDEN_NAMES for component in parts
    )


def format_names(names: Sequence[str]) -> str:
    """Format at most five names as a list in quotes, such as "'a', 'b', …"."""
    return ", ".join(map(repr, names[:_MAX_LISTED_NAMES])) + (
        ", …" if len(names) > _MAX_LISTED_NAMES else ""
    )
