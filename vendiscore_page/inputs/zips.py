"""Files in zips, by their names without what systems add."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

from vendiscore.report import RefusedError, join_names, named_format
from vendiscore.support.folders import is_hidden
from vendiscore.tools.reading.zip_archives import open_zip

from ..quotas import MAX_ENTRIES, MAX_NAME, MAX_UNPACKED, MAX_UPLOAD

# Names of files that often accompany samples.
_COMPANION = re.compile(
    r"(readme|licen[cs]e)([-_. ].*)?"
    r"|(authors|changelog|citation|contributing|copying|manifest|metadata|notice)(\.\w+)*",
    re.IGNORECASE,
)


def read_sizes(data: bytes) -> dict[str, int]:
    """Return the bytes of each entry, as the zip declares them; no more of one is ever read."""
    with open_zip(data, MAX_ENTRIES) as (_, entries):
        return {
            entry.filename: entry.file_size for entry in entries if not is_hidden(entry.filename)
        }


def read_sample_files(name: str, data: bytes) -> tuple[list[tuple[str, bytes]], list[str]]:
    """Return the images, the files of text or the only table in a zip, and the names of the rest.

    Raises a RefusedError if a zip contains samples of several kinds, or none.
    """
    formats = {entry: named_format(entry) for entry in read_sizes(data) if not entry.endswith("/")}
    names = [entry for entry, form in formats.items() if form not in (None, "zip")]
    names = [entry for entry in names if not is_companion(entry)] or names
    kinds = {formats[entry] for entry in names}
    if not names or (len(names) > 1 and kinds not in ({"image"}, {"txt"})):
        found = _describe_kinds({entry: formats[entry] for entry in names}) or join_names(formats)
        raise RefusedError(
            f"{name:.60} must contain images, .txt files or a single table, got "
            f"{found or 'nothing'}; send the file with the samples."
        )
    selected = set(names)
    other_names = [base_name(entry)[:MAX_NAME] for entry in formats if entry not in selected]
    return list(iter_contents(data, selected.__contains__)), other_names


def is_companion(name: str) -> bool:
    """Return whether a file describes samples by its name, such as README.md or metadata.csv."""
    return _COMPANION.fullmatch(base_name(name)) is not None


def _describe_kinds(formats: Mapping[str, str | None]) -> str:
    """Return the files by kind: "1 .txt file (b.txt) and 1 table or other file (a.csv)"."""
    entries_by_kind: dict[str, list[str]] = {}
    for entry, form in formats.items():
        kind = {"image": "image", "txt": ".txt file"}.get(str(form), "table or other file")
        entries_by_kind.setdefault(kind, []).append(entry)
    return " and ".join(
        f"{len(entries):,} {kind.replace(' or', 's or') if len(entries) > 1 else kind}"
        f"{'s' * (len(entries) > 1)} ({join_names(entries)})"
        for kind, entries in entries_by_kind.items()
    )


def iter_contents(data: bytes, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    selected = {name: size for name, size in read_sizes(data).items() if is_wanted(name)}
    with open_zip(data, MAX_ENTRIES) as (archive, _):
        if sum(selected.values()) > MAX_UNPACKED or max(selected.values(), default=0) > MAX_UPLOAD:
            raise RefusedError(
                f"The zip unpacks to more than {MAX_UNPACKED // 10**6} MB, or an entry to more "
                f"than {MAX_UPLOAD // 10**6} MB; send fewer or smaller files."
            )
        for name, size in selected.items():
            with archive.open(name) as file:  # which gives no more than the declared size
                yield base_name(name), file.read(size + 1)


def base_name(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name
