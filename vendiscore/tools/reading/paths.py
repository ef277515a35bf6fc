"""Reading of files and folders by their paths."""

from dataclasses import replace
from pathlib import Path

from .folder_samples import folder_samples
from .limits import RefusedError, Wanted
from .reader import read_data
from .samples import Samples

FOLDER_COLUMN = "folder"  # name of the column with the folder of each file, for sets and groups


def read_bytes(path: str) -> bytes | None:
    """Return the content of a file; None for a folder."""
    return None if Path(path).is_dir() else Path(path).read_bytes()


def read_content(path: str, data: bytes | None, wanted: Wanted) -> Samples:
    """Read samples from the content of a file, or from a folder if `data` is None.

    `path` is "" if the content has no name.
    """
    if data is None:
        return _read_folder(Path(path), wanted)
    if wanted.subfolders is not None:
        raise RefusedError(f"not a folder; remove {_name_subfolders(wanted)}")
    return read_data(path, data, wanted, strict=True)


def _read_folder(folder: Path, wanted: Wanted) -> Samples:
    """Read each file of a folder as a sample.

    Options that apply only to tables or to several texts in a file raise an error.
    """
    # `others` are the columns of sets, groups, prompts and quality; "folder" is not a column.
    if wanted.column or {*wanted.others} - {FOLDER_COLUMN}:
        raise RefusedError(
            "a folder has no columns; remove all options that name columns, except those with the "
            f"value {FOLDER_COLUMN!r}"
        )
    if wanted.split or wanted.type not in (None, "txt"):
        raise RefusedError("each file of a folder is one sample; remove `split` and `type`")
    if wanted.skip_rows or wanted.header is not None or wanted.index is not None:
        raise RefusedError(
            "each file of a folder is one sample; remove `skip_rows`, `header` and `index`"
        )
    if wanted.others and wanted.subfolders is False:
        raise RefusedError(
            f"`by` and `groups` with the value {FOLDER_COLUMN!r} require files in subfolders; "
            f"remove {_name_subfolders(wanted)}"
        )
    samples = folder_samples(folder, wanted)
    subfolders = samples.groups  # the subfolder of each file
    return replace(
        samples,
        sets=subfolders if wanted.by else (),
        groups=subfolders if wanted.group_by else (),
    )


def _name_subfolders(wanted: Wanted) -> str:
    """Return the option `subfolders` as messages name it; the command replaces it by its flag."""
    return "`subfolders`" if wanted.subfolders else "`subfolders=False`"
