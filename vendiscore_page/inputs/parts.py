"""As many samples as fit: random parts of more, which can be drawn anew, and which are usable.

Texts in small groups, such as the answers to each prompt, are drawn by whole groups: a random part
of the rows would leave a row or two of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from vendiscore import MissingPackageError, SampleError, as_similarity
from vendiscore.report import not_finite

from .. import quotas
from .file_code import draw_indices
from .visitor_samples import Samples

_KEPT = 200  # characters of a sample that is too long to be used
_SMALL = 30  # rows a group, of a random part of the rows: with fewer, whole groups are drawn


def part_note(n: int, total: int, kind: str, within: str = "") -> str:
    return f"A random subset of {n:,} of {total:,} {kind}{within} is used because of size limits."


def part(samples: Samples, most: int) -> Samples:
    """Return at most `most` of the samples, which keep their places, groups and problems."""
    if samples.kind == "vectors":
        return _subset(samples, draw_indices(len(samples), most, samples.draw))
    return _subset(samples, _fitting([0] * len(samples), samples.groups, most, samples.draw))


def fit(samples: Samples, draw: int) -> Samples:
    """Return as many strings or rows of numbers as fit, with what keeps some from being used."""
    n = len(samples)
    quotas.check_count(n, max(1, n), "rows" if samples.kind == "vectors" else samples.kind)
    # Without the names of columns, which the visitor chose.
    known = {i: what.rpartition("so that the sample ")[2] for i, what in samples.problems.items()}
    samples = replace(samples, problems=known, draw=draw)
    usable = {"vectors": _usable_rows, "labels": _usable_labels}
    found, bad = usable.get(samples.kind, _usable_strings)(samples)
    return replace(found, problems=dict(sorted({**bad, **found.problems}.items())), total=n)


def _usable_rows(samples: Samples) -> tuple[Samples, dict[int, str]]:
    width = samples.values.shape[1]
    quotas.check_count(width, quotas.MAX_COLUMNS, "columns")
    found = part(samples, min(quotas.MAX_VECTORS, quotas.MAX_VALUES // width))
    X = np.asarray(found.values, dtype=np.float64)
    # Rows are drawn one by one, so that questions are of the part.
    found = replace(found, values=X, all_roles=found.roles)
    return found, {i: what for i, (what, _) in not_finite(X).items()}


def _usable_labels(samples: Samples) -> tuple[Samples, dict[int, str]]:
    """Return a row for each individual, with a one at its species: others have no similarity."""
    species, codes = np.unique(samples.values, return_inverse=True)
    quotas.check_count(len(species), quotas.MAX_COLUMNS, "species")
    found = part(replace(samples, values=codes), quotas.MAX_VALUES // len(species))
    return replace(found, values=np.eye(len(species))[found.values], kind="vectors"), {}


def _usable_strings(samples: Samples) -> tuple[Samples, dict[int, str]]:
    longest = quotas.MAX_SMILES if samples.kind == "molecules" else quotas.MAX_TEXT
    sizes = [len(text) if len(text) <= longest else 0 for text in samples.values]
    found = _subset(samples, _fitting(sizes, samples.groups, quotas.MAX_SAMPLES, samples.draw))
    texts, problems = [], {}
    for i, value in enumerate(found.values):
        text = value.strip() if len(value) <= longest else f"{value[:_KEPT]}…"
        if len(value) > longest:
            problems[i] = f"has {len(value):,} characters, more than {longest:,}"
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
    return replace(found, values=texts), problems


def _fitting(sizes: Sequence[int], groups: Sequence[Hashable], most: int, draw: int) -> list[int]:
    """Return the indices of as many texts as fit, by their number and by all characters.

    Small groups are kept or left out as a whole.
    """
    n, codes = len(sizes), np.arange(len(sizes))
    whole = bool(groups) and min(n, most) < _SMALL * len({*groups})
    if whole:
        codes = np.unique(list(map(str, groups)), return_inverse=True)[1]
    drawn = np.random.default_rng(draw).permutation(codes.max(initial=0) + 1)
    used = np.stack([np.bincount(codes), np.bincount(codes, sizes)])
    limits = [[most], [quotas.MAX_CHARACTERS]]
    drawn = drawn[(used[:, drawn] <= limits).all(axis=0)]
    fits = (used[:, drawn].cumsum(axis=1) <= limits).all(axis=0)
    if whole and not fits.any():
        return _fitting(sizes, (), most, draw)
    return np.flatnonzero(np.isin(codes, drawn[fits])).tolist()


def _subset(samples: Samples, kept: list[int]) -> Samples:
    n, within = len(samples), ""
    if len(kept) == n:
        return samples
    found = samples.subset(kept)
    sizes, own = Counter(samples.groups), Counter(found.groups)
    if own.items() <= sizes.items() and len(own) < len(sizes):
        within = f", in {len(own.keys() - {''}):,} of {len(sizes.keys() - {''}):,} groups"
    return replace(
        found,
        notes=(*samples.notes, part_note(len(found), n, samples.kind, within)),
        total=n,
    )
