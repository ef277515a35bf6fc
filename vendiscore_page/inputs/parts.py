"""As many samples as fit: random parts of more, which can be drawn anew, and which are usable.

Texts in small groups, such as the answers to each prompt, are drawn by whole groups: a random part
of the rows would leave a row or two of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from vendiscore import MissingPackageError, SampleError, as_similarity
from vendiscore.report import not_finite

from .. import quotas
from .visitor_samples import Python, Samples

_KEPT = 200  # characters of a sample that is too long to be used
_SMALL = 30  # rows a group, of a random part of the rows: with fewer, whole groups are drawn


def draw_indices(n: int, most: int, draw: int) -> list[int]:
    """Return at most `most` of 0, …, n − 1, in order: all, or a part that `draw` alone decides."""
    if n <= most:
        return list(range(n))
    chosen: list[int] = np.sort(np.random.default_rng(draw).permutation(n)[:most]).tolist()
    return chosen


def part_note(n: int, total: int, kind: str) -> str:
    return f"These are {n:,} of {total:,} {kind}, drawn at random: more than {n:,} do not fit here."


def part(samples: Samples, most: int) -> Samples:
    """Return at most `most` of the samples, which keep their places, groups and problems."""
    sizes, groups = [0] * len(samples), samples.groups if samples.kind != "vectors" else ()
    return _subset(samples, _fitting(sizes, groups, most, samples.draw))


def fit(samples: Samples, draw: int) -> Samples:
    """Return as many strings or rows of numbers as fit, with what keeps some from being used."""
    n = len(samples)
    quotas.check_count(n, max(1, n), "rows" if samples.kind == "vectors" else samples.kind)
    known = dict(samples.problems)
    for short in ("has no group", "has no set"):  # without the column, of the visitor's choice
        known |= {i: short for i, what in known.items() if what.endswith(short)}
    samples = replace(samples, problems=known, draw=draw)
    usable = {"vectors": _usable_rows, "labels": _usable_labels}
    found = usable.get(samples.kind, _usable_strings)(samples)
    return replace(found, problems=dict(sorted(found.problems.items())), total=n)


def _usable_rows(samples: Samples) -> Samples:
    width = samples.values.shape[1]
    quotas.check_count(width, quotas.MAX_COLUMNS, "columns")
    found = part(samples, max(1, min(quotas.MAX_VECTORS, quotas.MAX_VALUES // width)))
    X = np.asarray(found.values, dtype=np.float64)
    bad = {i: what for i, (what, _) in not_finite(X).items()}
    # Rows are drawn one by one, so that questions are of the part.
    return replace(found, values=X, all_roles=found.roles, problems={**bad, **found.problems})


def _usable_labels(samples: Samples) -> Samples:
    """Return a row for each individual, with a one at its species: others have no similarity."""
    species = sorted({*samples.values})
    quotas.check_count(len(species), quotas.MAX_COLUMNS, "species")
    found = part(samples, min(quotas.MAX_VECTORS, quotas.MAX_VALUES // len(species)))
    places = {name: i for i, name in enumerate(species)}
    codes = [places[label] for label in found.values]
    return replace(found, values=np.eye(len(species))[codes], kind="vectors")


def _usable_strings(samples: Samples) -> Samples:
    longest = quotas.MAX_SMILES if samples.kind == "molecules" else quotas.MAX_TEXT
    sizes = [len(text) if len(text) <= longest else 0 for text in samples.values]
    found = _subset(samples, _fitting(sizes, samples.groups, quotas.MAX_SAMPLES, samples.draw))
    texts, problems = [], {}
    for i, value in enumerate(found.values):
        text = value.strip()
        if len(text) > longest:
            problems[i] = f"has {len(text):,} characters, more than {longest:,}"
            text = f"{text[:_KEPT]}…"
        elif not text:
            problems[i] = "is empty"
        texts.append(text)
    if samples.kind == "molecules":
        try:
            as_similarity(texts, k="morgan")
        except MissingPackageError:  # without RDKit nothing is found out about molecules
            pass
        except SampleError as error:
            problems = {**error.problems, **problems}
    return replace(found, values=texts, problems={**problems, **found.problems})


def _fitting(sizes: Sequence[int], groups: Sequence[Hashable], most: int, draw: int) -> list[int]:
    """Return the indices of as many texts as fit, by their number and by all characters.

    Small groups are kept or left out as a whole.
    """
    n, codes = len(sizes), np.arange(len(sizes))
    whole = bool(groups) and min(n, most) < _SMALL * len({*groups})
    if whole:
        order = {label: i for i, label in enumerate(sorted({*map(str, groups)}))}
        codes = np.array([order[str(label)] for label in groups])
    drawn = np.random.default_rng(draw).permutation(codes.max(initial=0) + 1)
    used = np.stack([np.bincount(codes), np.bincount(codes, sizes)])
    limits = [[most], [quotas.MAX_CHARACTERS]]
    drawn = drawn[(used[:, drawn] <= limits).all(axis=0)]
    fits = (used[:, drawn].cumsum(axis=1) <= limits).all(axis=0)
    if whole and not fits.any():
        return _fitting(sizes, (), most, draw)
    return np.flatnonzero(np.isin(codes, drawn[fits])).tolist()


def _subset(samples: Samples, kept: list[int]) -> Samples:
    n, python = len(samples), samples.python
    if len(kept) == n:
        return samples
    found = samples.subset(kept)
    return replace(
        found,
        notes=(*samples.notes, _note(samples, found)),
        python=python and partial(_part_code, python, n, len(kept), samples.draw),
        total=n,
    )


def _note(samples: Samples, found: Samples) -> str:
    """Say which part was drawn, of rows or of whole groups."""
    n, kind = len(found), samples.kind
    every, own = Counter(samples.groups), {*found.groups}
    if len(own) == len(every) or sum(every[label] for label in own) > n:
        return part_note(n, len(samples), kind)
    groups = f"{len(own - {''}):,} of {len({*every} - {''}):,} groups"
    return (
        f"These are {n:,} of {len(samples):,} {kind}, in {groups}, drawn at random as a whole: "
        f"more do not fit here."
    )


def _part_code(
    python: Python, n: int, most: int, draw: int, left: Collection[int], square: bool
) -> tuple[str, str]:
    modules, whole = python((), False)
    rows = f"np.sort(np.random.default_rng({draw}).permutation({n})[:{most}])"
    return modules, f"{whole}[{f'np.delete({rows}, {sorted(left)})' if left else rows}]"
