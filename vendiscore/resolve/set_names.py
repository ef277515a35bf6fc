"""Names of sets or sources: keys of a dict, labels, names of folders, or A, B, …"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from ..core.arguments import is_several
from ..core.types import Record
from ..reading.folders import is_folder
from .group_labels import Groups


def by_name(sets: Mapping[Any, Any] | Sequence[Any], names: object, what: str) -> Record:
    """Return sets by name; `what` is "set" or "source", for messages."""
    if isinstance(sets, Mapping):
        if names is not None:
            raise ValueError(f"the dict already names the {what}s: leave `names` out")
        found = {str(name): each for name, each in sets.items()}
        if len(found) < len(sets):
            raise ValueError(f"two {what}s have names that are written alike; rename one")
        return found
    if names is not None and not is_several(names):
        raise TypeError(f"`names` must be strings, one for each {what}, got {names!r:.60}")
    read = _usual(sets) if names is None else list(map(str, names))  # type: ignore[call-overload]
    if len(read) != len(sets) or len(set(read)) != len(read):
        raise ValueError(
            f"`names` must be {len(sets)} that all differ, one for each {what}, got {read!r:.60}"
        )
    return dict(zip(read, sets, strict=True))


def written(labels: Groups, argument: str) -> list[str]:
    """Return labels as names, which all differ."""
    found = [str(label) for label in labels.labels]
    if twice := [name for name in found if found.count(name) > 1]:
        raise ValueError(
            f"`{argument}` has two labels written {twice[0]!r}; pass labels of one type"
        )
    return found


def _usual(sets: Sequence[Any]) -> list[str]:
    """Name sets A, B, …, and folders by their names, or by their paths where names are the same."""
    letters = [f"{letter}{i or ''}" for i in range(len(sets)) for letter in ascii_uppercase]
    paths = [os.fsdecode(each) if is_folder(each) else None for each in sets]
    for short in (True, False):
        called = [
            letter if path is None else os.path.basename(os.path.abspath(path)) if short else path
            for path, letter in zip(paths, letters, strict=False)
        ]
        if len(set(called)) == len(called):
            return called
    return letters[: len(sets)]
