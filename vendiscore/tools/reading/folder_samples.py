"""Folders of image or text files as samples, optionally grouped by subfolder."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from ...support.folders import file_extension, format_names, list_folder
from ...support.text_detection import IMAGE_EXTENSIONS
from ...support.types import Record
from .encodings import NotTextError, decode
from .formats import ENDINGS, TYPES
from .limits import AskError, ReadOptions, RefusedError
from .samples import Samples
from .saved_datasets import build_dataset_error, find_saved_datasets


def read_folder(folder: Path, read_options: ReadOptions) -> Samples:
    """Return the images or .txt files of a folder, in groups by their folders if these are named.

    Raises
    ------
    AskError, RefusedError
        If the folder has samples of more than one kind, or samples in it and in its folders; if it
        has no samples.
    """
    has_subfolder_labels = bool(read_options.others)
    all_files, _ = list_folder(folder, recursive=True)
    if read_options.subfolders is False and not has_subfolder_labels:
        all_files = [file for file in all_files if _is_at_top(file)]
    datasets = find_saved_datasets(all_files)
    if datasets[:1] == ["."]:
        raise build_dataset_error(folder)
    by_kind: dict[str, list[str]] = {"images": [], "texts": []}
    tables = []
    for file in all_files:
        if str(PurePath(file).parent) in datasets:
            continue
        kind = _detect_file_type(file)
        if kind in by_kind:
            by_kind[kind].append(file)
        elif kind:
            tables.append(file)
    if read_options.kind in by_kind:
        by_kind = {read_options.kind: by_kind[read_options.kind]}
        tables = []
    by_kind = {kind: files for kind, files in by_kind.items() if files}
    if not by_kind:
        if datasets and not tables:
            raise build_dataset_error(folder / datasets[0])
        hint = f"; it has {format_names(tables)}: pass that file, or one of them" * bool(tables)
        sample_type = ".txt files" if read_options.kind == "texts" else "images"
        raise RefusedError(f"the folder has no {sample_type}{hint}")
    if len(by_kind) + len(tables) > 1:
        raise _build_type_question(folder, by_kind, tables, read_options)
    ((sample_type, sample_files),) = by_kind.items()
    if read_options.subfolders is None and not has_subfolder_labels:
        top_files = [file for file in sample_files if _is_at_top(file)]
        if not top_files and not read_options.pool:
            raise AskError(
                f"The subfolders contain {_format_count(sample_type, sample_files)}, and the "
                "folder itself contains none. Are they one set?",
                _list_folder_choices(sample_type, sample_files, {}),
            )
        if 0 < len(top_files) < len(sample_files):
            raise AskError(
                f"The folder has {_format_count(sample_type, top_files)}, and its folders have "
                f"{len(sample_files) - len(top_files):,} more: which are the samples?",
                _list_folder_choices(sample_type, sample_files, {}),
            )
    chosen = set(sample_files)
    other_files = sorted(file for file in all_files if file not in chosen)
    note = (
        f"{len(sample_files):,} samples; left out, as no {sample_type}: {format_names(other_files)}"
    )
    values = paths = [str(folder / file) for file in sample_files]
    problems = {}
    if sample_type == "texts":
        values = [""] * len(paths)
        for i, path in enumerate(paths):
            try:
                values[i] = decode(Path(path).read_bytes(), read_options.encoding)[0].rstrip()
            except NotTextError as error:
                problems[i] = f"is not text: {error.place}: {error.message}"
    return Samples(
        values,
        sample_files,
        "file",
        problems,
        kind=sample_type,
        notes=(note,) if other_files else (),
        groups=[str(PurePath(file).parent) for file in sample_files]
        if has_subfolder_labels
        else (),
        written=lambda indices: "".join(f"{paths[i]}\n" for i in indices),
    )


def _detect_file_type(file: str) -> str:
    """Return "images", "texts", "tables" for another file that the readers take, or ""."""
    end = file_extension(file.removesuffix(".gz"))
    if file_extension(file) in IMAGE_EXTENSIONS:
        return "images"
    if file_extension(file) == "txt":
        return "texts"
    form = ENDINGS.get(end)
    return "tables" if form in TYPES and form != "txt" else ""


def _is_at_top(file: str) -> bool:
    return PurePath(file).parent == PurePath()


def _format_count(kind: str, files: Sequence[str]) -> str:
    name = {"images": "image", "texts": ".txt file"}[kind]
    return f"{len(files):,} {name}{'s' * (len(files) != 1)}"


def _build_type_question(
    folder: Path,
    by_kind: Mapping[str, Sequence[str]],
    tables: Sequence[str],
    read_options: ReadOptions,
) -> AskError:
    """Ask which of several kinds of files are the samples."""
    choices: list[tuple[str, Mapping[str, object]]] = []
    for kind, files in by_kind.items():
        if read_options.others or read_options.subfolders is not None:
            choices.append((kind, {"kind": kind}))
        else:
            choices += _list_folder_choices(kind, files, {"kind": kind})
    choices += [(file, {"file": str(folder / file)}) for file in tables]
    listed = [_format_count(kind, files) for kind, files in by_kind.items()]
    if tables:
        listed.append(f"tables or other data ({format_names(tables)})")
    return AskError(f"The folder has {', '.join(listed)}: which are the samples?", choices)


def _list_folder_choices(
    kind: str, files: Sequence[str], options: Record
) -> list[tuple[str, Mapping[str, object]]]:
    """Return the ways to take the files of a kind: those at the top, all, or folder by folder."""
    n_top = sum(map(_is_at_top, files))
    if n_top == len(files):
        return [(f"The {kind}", options)]
    choices: list[tuple[str, Mapping[str, object]]] = [
        (f"All {kind}, also in folders", {**options, "subfolders": True}),
        (f"The {kind} of each folder", {**options, "group_by": "folder"}),
    ]
    if n_top:
        choices.insert(0, (f"The {kind} at the top", {**options, "subfolders": False}))
    return choices
