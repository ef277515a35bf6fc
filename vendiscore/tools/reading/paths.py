"""Reading of files and folders by their paths."""

from dataclasses import replace
from pathlib import Path

from .folder_samples import read_folder
from .limits import ReadOptions, RefusedError
from .reader import read_data
from .samples import Samples

FOLDER_COLUMN = "folder"  # name of the column with the folder of each file, for sets and groups


def read_bytes(path: str) -> bytes | None:
    """Return the content of a file; None for a folder."""
    return None if Path(path).is_dir() else Path(path).read_bytes()


def read_content(path: str, data: bytes | None, read_options: ReadOptions) -> Samples:
    """Read samples from the content of a file, or from a folder if `data` is None.

    `path` is "" if the content has no name.
    """
    if data is None:
        return _read_folder(Path(path), read_options)
    if read_options.subfolders is not None:
        raise RefusedError(f"not a folder; remove {_name_subfolders(read_options)}")
    return read_data(path, data, read_options, strict=True)


def _read_folder(folder: Path, read_options: ReadOptions) -> Samples:
    """Read each file of a folder as a sample.

    Options that apply only to tables or to several texts in a file raise an error.
    """
    # `others` are the columns of sets, groups, prompts and quality; "folder" is not a column.
    if read_options.column or {*read_options.others} - {FOLDER_COLUMN}:
        raise RefusedError(
            "a folder has no columns; remove all options that name columns, except those with the "
            f"value {FOLDER_COLUMN!r}"
        )
    if read_options.split or read_options.type not in (None, "txt"):
        raise RefusedError("each file of a folder is one sample; remove `split` and `type`")
    booleans = (read_options.header, read_options.index, read_options.comments)
    if read_options.skip_rows or any(value is not None for value in booleans):
        raise RefusedError(
            "each file of a folder is one sample; remove `skip_rows`, `header`, `index` and "
            "`comments`"
        )
    if read_options.others and read_options.subfolders is False:
        raise RefusedError(
            f"`by` and `groups` with the value {FOLDER_COLUMN!r} require files in subfolders; "
            f"remove {_name_subfolders(read_options)}"
        )
    samples = read_folder(folder, read_options)
    subfolders = samples.groups  # the subfolder of each file
    return replace(
        samples,
        sets=subfolders if read_options.by else (),
        groups=subfolders if read_options.group_by else (),
    )


def _name_subfolders(read_options: ReadOptions) -> str:
    """Return the option `subfolders` as messages name it; the command replaces it by its flag."""
    return "`subfolders`" if read_options.subfolders else "`subfolders=False`"
