"""As many samples as fit: random parts of more, which can be drawn anew, and which are usable."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from ...errors import MissingPackageError
from ...kernels.molecules import unreadable
from ...reading.number_tables import not_finite
from ...reading.samples import Python, Samples
from .. import quotas

_KEPT = 200  # characters of a sample that is too long to be used


def draw_indices(n: int, most: int, draw: int) -> list[int]:
    """Return at most `most` of 0, …, n − 1, in order: all, or a part that `draw` alone decides."""
    if n <= most:
        return list(range(n))
    chosen: list[int] = np.sort(np.random.default_rng(draw).permutation(n)[:most]).tolist()
    return chosen


def part_note(n: int, total: int, kind: str) -> str:
    return f"These are {n:,} of {total:,} {kind}, drawn at random: more than {n:,} do not fit here."


def part(samples: Samples, most: int, draw: int | None = None) -> Samples:
    """Return at most `most` of the samples, which keep their places, groups and problems."""
    draw = samples.draw if draw is None else draw
    return _subset(samples, draw_indices(len(samples), most, draw), draw)


def fit(samples: Samples, draw: int) -> Samples:
    """Return as many strings or rows of numbers as fit, with what keeps some from being used."""
    n, strings = len(samples), samples.kind != "vectors"
    quotas.check_count(n, max(1, n), samples.kind if strings else "rows")
    known = dict(samples.problems)
    for short in ("has no group", "has no set"):  # without the column, of the visitor's choice
        known |= {i: short for i, what in known.items() if what.endswith(short)}
    samples = replace(samples, problems=known)
    found = _usable_strings(samples, draw) if strings else _usable_rows(samples, draw)
    return replace(found, problems=dict(sorted(found.problems.items())), total=n, draw=draw)


def _usable_rows(samples: Samples, draw: int) -> Samples:
    width = samples.values.shape[1]
    quotas.check_count(width, quotas.MAX_COLUMNS, "columns")
    found = part(samples, max(1, min(quotas.MAX_VECTORS, quotas.MAX_VALUES // width)), draw)
    X = np.asarray(found.values, dtype=np.float64)
    bad = {i: what for i, (what, _) in not_finite(X).items()}
    return replace(found, values=X, problems={**bad, **found.problems})


def _usable_strings(samples: Samples, draw: int) -> Samples:
    longest = quotas.MAX_SMILES if samples.kind == "molecules" else quotas.MAX_TEXT
    sizes = [len(text) if len(text) <= longest else 0 for text in samples.values]
    found = _subset(samples, _fitting(sizes, draw), draw)
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
        with suppress(MissingPackageError):  # without RDKit nothing is found out about molecules
            problems = {**unreadable(texts), **problems}
    return replace(found, values=texts, problems={**problems, **found.problems})


def _fitting(sizes: list[int], draw: int) -> list[int]:
    """Return the indices of as many texts as fit, by their number and by all characters."""
    n = len(sizes)
    kept = draw_indices(n, quotas.MAX_SAMPLES, draw)
    order = np.random.default_rng(draw).permutation(n)[: len(kept)]
    ends = np.cumsum(np.asarray(sizes)[order])
    if ends[-1] <= quotas.MAX_CHARACTERS:
        return kept
    most = max(1, int(np.searchsorted(ends, quotas.MAX_CHARACTERS, side="right")))
    return sorted(order[:most].tolist())


def _subset(samples: Samples, kept: list[int], draw: int) -> Samples:
    n, python = len(samples), samples.python
    if len(kept) == n:
        return samples
    return replace(
        samples.subset(kept),
        notes=(*samples.notes, part_note(len(kept), n, samples.kind)),
        python=python and partial(_part_code, python, n, len(kept), draw),
        total=n,
        draw=draw,
    )


def _part_code(
    python: Python, n: int, most: int, draw: int, left: Collection[int], square: bool
) -> tuple[str, str]:
    modules, whole = python((), False)
    modules = modules if "numpy as np" in modules else f"numpy as np, {modules}"
    rows = f"np.sort(np.random.default_rng({draw}).permutation({n})[:{most}])"
    return modules, f"{whole}[{f'np.delete({rows}, {sorted(left)})' if left else rows}]"
