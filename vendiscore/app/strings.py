"""Texts and molecules as strings: those that cannot be used are found as they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..errors import MissingPackageError
from ..kernels.molecules import unreadable
from ..reading.limits import RefusedError
from ..reading.tables import decode
from .limits import MAX_SMILES, MAX_TEXT, check_count
from .parts import fitting
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
    """Samples of strings, as many as fit, with what keeps some from being used.

    Parameters
    ----------
    values, places, unit, notes
        As of `Samples`; a value that is no string is a problem.
    kind : str
        "texts" or "molecules".
    draw : int
        Which random part is taken of more than fit.
    problems : mapping
        What is known already.
    groups : sequence of str
        The label of each sample; one without is a problem.
    """
    check_count(len(values), max(1, len(values)), kind)
    longest = MAX_SMILES if kind == "molecules" else MAX_TEXT
    found = dict(problems)
    kept: list[str] = []
    for i, value in enumerate(values):
        if value is not None and not isinstance(value, str):
            found.setdefault(i, f"is {type(value).__name__}, not a string")
        text = "" if value is None else str(value)[: 2 * MAX_TEXT + 2].strip()
        if not text:
            found.setdefault(i, "is empty")
        elif len(text) > longest:
            size = len(value.strip()) if isinstance(value, str) else len(text)
            found.setdefault(i, f"has {size:,} characters, more than {longest:,}")
        kept.append(text if len(text) <= longest else f"{text[:_KEPT]}…")
    for i, group in enumerate(groups):
        if not group:
            found.setdefault(i, "has no group")
    whole = Samples(
        kept,
        places,
        unit,
        dict(sorted(found.items())),
        tuple(notes),
        groups=groups,
        kind=kind,
        draw=draw,
    )
    samples = fitting(whole, draw)
    return _parsed(samples) if kind == "molecules" else samples


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


def _parsed(samples: Samples) -> Samples:
    """The same molecules with those that RDKit cannot read as problems, where it is there."""
    try:
        bad = unreadable(samples.values)
    except MissingPackageError:
        return samples
    problems = {**bad, **samples.problems}
    object.__setattr__(samples, "problems", dict(sorted(problems.items())))
    return samples
