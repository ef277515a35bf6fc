"""Random subsets of samples within the limits, and the problems of unusable samples.

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

_MAX_SHOWN_LENGTH = 200  # characters of a sample that is too long to be used
_MIN_ROWS_PER_GROUP = (
    30  # rows a group, of a random part of the rows: with fewer, whole groups are drawn
)


def describe_subset(n: int, total: int, kind: str, suffix: str = "") -> str:
    return f"A random subset of {n:,} of {total:,} {kind}{suffix} is used because of size limits."


def draw_subset(samples: Samples, max_n: int) -> Samples:
    """Return at most `max_n` of the samples, which keep their places, groups and problems."""
    if samples.kind == "vectors":
        return _take_subset(samples, draw_indices(len(samples), max_n, samples.draw))
    return _take_subset(
        samples, _draw_fitting_indices([0] * len(samples), samples.groups, max_n, samples.draw)
    )


def fit_to_limits(samples: Samples, draw: int) -> Samples:
    """Return as many strings or rows of numbers as fit, with what keeps some from being used."""
    n = len(samples)
    quotas.check_count(n, max(1, n), "rows" if samples.kind == "vectors" else samples.kind)
    # Without the names of columns, which the visitor chose.
    problems = {
        i: problem.rpartition("so the sample ")[2] for i, problem in samples.problems.items()
    }
    samples = replace(samples, problems=problems, draw=draw)
    checks = {"vectors": _check_rows, "labels": _check_labels}
    result, new_problems = checks.get(samples.kind, _check_strings)(samples)
    return replace(
        result, problems=dict(sorted({**new_problems, **result.problems}.items())), total=n
    )


def _check_rows(samples: Samples) -> tuple[Samples, dict[int, str]]:
    width = samples.values.shape[1]
    quotas.check_count(width, quotas.MAX_COLUMNS, "columns")
    result = draw_subset(samples, min(quotas.MAX_VECTORS, quotas.MAX_VALUES // width))
    X = np.asarray(result.values, dtype=np.float64)
    # Rows are drawn one by one, so that questions are of the part.
    result = replace(result, values=X, all_roles=result.roles)
    return result, {i: problem for i, (problem, _) in not_finite(X).items()}


def _check_labels(samples: Samples) -> tuple[Samples, dict[int, str]]:
    """Return a row for each individual, with a one at its species: others have no similarity."""
    species, codes = np.unique(samples.values, return_inverse=True)
    quotas.check_count(len(species), quotas.MAX_COLUMNS, "species")
    result = draw_subset(replace(samples, values=codes), quotas.MAX_VALUES // len(species))
    return replace(result, values=np.eye(len(species))[result.values], kind="vectors"), {}


def _check_strings(samples: Samples) -> tuple[Samples, dict[int, str]]:
    max_length = quotas.MAX_SMILES if samples.kind == "molecules" else quotas.MAX_TEXT
    sizes = [len(text) if len(text) <= max_length else 0 for text in samples.values]
    result = _take_subset(
        samples, _draw_fitting_indices(sizes, samples.groups, quotas.MAX_SAMPLES, samples.draw)
    )
    texts, problems = [], {}
    for i, value in enumerate(result.values):
        text = value.strip() if len(value) <= max_length else f"{value[:_MAX_SHOWN_LENGTH]}…"
        if len(value) > max_length:
            problems[i] = f"has {len(value):,} characters, more than {max_length:,}"
        elif not text:
            problems[i] = "is empty"
        texts.append(text)
    if samples.kind == "molecules":
        try:
            as_similarity(texts, k="morgan")
        except MissingPackageError:  # without RDKit, molecules are not validated
            pass
        except SampleError as error:
            problems = {**error.problems, **problems}
    return replace(result, values=texts), problems


def _draw_fitting_indices(
    sizes: Sequence[int], groups: Sequence[Hashable], max_n: int, draw: int
) -> list[int]:
    """Return the indices of as many texts as fit, by their number and by all characters.

    Small groups are kept or left out as a whole.
    """
    n, codes = len(sizes), np.arange(len(sizes))
    by_group = bool(groups) and min(n, max_n) < _MIN_ROWS_PER_GROUP * len({*groups})
    if by_group:
        codes = np.unique(list(map(str, groups)), return_inverse=True)[1]
    drawn = np.random.default_rng(draw).permutation(codes.max(initial=0) + 1)
    sizes_by_code = np.stack([np.bincount(codes), np.bincount(codes, sizes)])
    limits = [[max_n], [quotas.MAX_CHARACTERS]]
    drawn = drawn[(sizes_by_code[:, drawn] <= limits).all(axis=0)]
    fits = (sizes_by_code[:, drawn].cumsum(axis=1) <= limits).all(axis=0)
    if by_group and not fits.any():
        return _draw_fitting_indices(sizes, (), max_n, draw)
    return np.flatnonzero(np.isin(codes, drawn[fits])).tolist()


def _take_subset(samples: Samples, indices: list[int]) -> Samples:
    n, suffix = len(samples), ""
    if len(indices) == n:
        return samples
    result = samples.subset(indices)
    sizes, subset_sizes = Counter(samples.groups), Counter(result.groups)
    if subset_sizes.items() <= sizes.items() and len(subset_sizes) < len(sizes):
        suffix = f", in {len(subset_sizes.keys() - {''}):,} of {len(sizes.keys() - {''}):,} groups"
    return replace(
        result,
        notes=(*samples.notes, describe_subset(len(result), n, samples.kind, suffix)),
        total=n,
    )
