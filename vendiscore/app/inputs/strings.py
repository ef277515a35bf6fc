"""Texts and molecules as strings: those that cannot be used are found as they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ...errors import MissingPackageError
from ...kernels.molecules import unreadable
from ...reading.limits import RefusedError
from ...reading.tables import decode
from ..quotas import MAX_SMILES, MAX_TEXT, check_count
from .parts import fitting, said
from .samples import Samples

_KEPT = 200  # characters of a sample that is too long to be used


def strings(
    values: Sequence[Any],
    places: Sequence[int | str],
    unit: str,
    kind: str,
    draw: int = 0,
    problems: Mapping[int, str] = MappingProxyType({}),
    groups: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Samples:
    """Samples of strings, as many as fit, with what keeps some from being used."""
    n = len(values)
    check_count(n, max(1, n), kind)
    longest = MAX_SMILES if kind == "molecules" else MAX_TEXT

    def size(i: int) -> int:
        length = len(values[i]) if isinstance(values[i], str) else 0
        return length if length <= longest else 0

    kept = fitting(n, size, draw)
    found: dict[int, str] = {}
    texts: list[str] = []
    for j, i in enumerate(kept):
        text, problem = _usable(values[i], longest)
        texts.append(text)
        if problem := problems.get(i, problem):
            found[j] = problem
        elif groups and not groups[i]:
            found[j] = "has no group"
    if kind == "molecules":
        found = dict(sorted({**_unreadable(texts), **found}.items()))
    part = len(kept) < n
    return Samples(
        texts,
        [places[i] for i in kept],
        unit,
        found,
        (*notes, said(len(kept), n, kind)) if part else tuple(notes),
        groups=[groups[i] for i in kept] if groups else (),
        kind=kind,
        total=n,
        draw=draw,
    )


def written(data: bytes) -> tuple[str, str]:
    """The text of a file and its encoding, if it is text at all."""
    text, encoding = decode(data)
    return plain(text), encoding


def plain(text: str) -> str:
    """The text, without a byte order mark, if it is text at all."""
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise RefusedError(
            f"Line {line:,} holds a NUL, which no text has: expected text; save it as UTF-8."
        )
    return text


def _usable(value: Any, longest: int) -> tuple[str, str]:
    """A sample as a string, and what keeps it from being used, if anything does."""
    if value is not None and not isinstance(value, str):
        return str(value)[:_KEPT], f"is {type(value).__name__}, not a string"
    text = (value or "").strip()
    if len(text) > longest:
        return f"{text[:_KEPT]}…", f"has {len(text):,} characters, more than {longest:,}"
    return text, "" if text else "is empty"


def _unreadable(texts: Sequence[str]) -> dict[int, str]:
    """The molecules that RDKit cannot read, where it is there."""
    try:
        return unreadable(texts)
    except MissingPackageError:
        return {}
