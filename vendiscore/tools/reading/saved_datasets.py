"""Folders in which the package `datasets` saved a dataset, which are converted before reading."""

from collections.abc import Sequence
from pathlib import Path, PurePath

from ...support.folders import file_extension
from .limits import RefusedError

# Keys of the files next to the Arrow files of a dataset that `datasets` saves.
_DATASET_KEYS = ({"_data_files", "_fingerprint"}, {"features", "citation", "license"})


def find_saved_datasets(files: Sequence[str]) -> list[str]:
    """Return the folders, "." for the top, in which `datasets` saved a dataset with Arrow files."""
    arrow_folders = {PurePath(file).parent for file in files if file_extension(file) == "arrow"}
    folders = {PurePath(file).parent for file in files if PurePath(file).name == "state.json"}
    # A dataset with splits has a folder for each of them.
    split_folders = {
        PurePath(file).parent for file in files if PurePath(file).name == "dataset_dict.json"
    }
    datasets = folders & arrow_folders
    datasets |= split_folders & {folder.parent for folder in datasets}
    return sorted(map(str, datasets))


def build_dataset_error(folder: Path) -> RefusedError:
    """Return the error about a dataset in a folder, with the call that converts it."""
    has_splits = (folder / "dataset_dict.json").is_file()
    splits = sorted(path.parent.name for path in folder.glob("*/state.json")) if has_splits else []
    conversion = describe_conversion(str(folder), splits[0] if splits else "")
    return RefusedError(f"the folder has a dataset that `datasets` saved; {conversion}")


def check_no_dataset(value: object) -> None:
    """Refuse a document that describes a dataset, whose samples are in Arrow files next to it."""
    if not isinstance(value, dict):
        return
    splits = value.get("splits") if len(value) == 1 else None
    split = splits[0] if isinstance(splits, list) and splits and isinstance(splits[0], str) else ""
    if split or any(keys <= value.keys() for keys in _DATASET_KEYS):
        raise RefusedError(
            "it describes a dataset that `datasets` saved, and has no samples; "
            f"{describe_conversion(split=split)}"
        )


def describe_conversion(folder: str = "FOLDER", split: str = "") -> str:
    """Return how to read a dataset that `datasets` saved in a folder."""
    conversion = format_conversion(folder, split)
    return f"save its samples as parquet in Python, and pass that file: {conversion}"


def format_conversion(folder: str = "FOLDER", split: str = "") -> str:
    """Return the call that converts a dataset in a folder to parquet."""
    selected = f"[{split!r}]" if split else ""
    file = f"{split or 'data'}.parquet"
    return f"datasets.load_from_disk({folder!r}){selected}.to_parquet({file!r})"
