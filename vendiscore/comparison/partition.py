"""Sets as the parts of one collection of samples, by the label of each sample."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays.inputs import as_samples
from ..resolve.group_labels import Groups as Labels
from ..resolve.group_labels import check_labels, check_size, grouped, read_labels
from ..resolve.kernel_request import How
from ..resolve.sets import is_whole, resolve_sets
from ..similarity.base import Similarity
from .options import MIN_SAMPLES
from .within_groups import Groups, read_groups

_SHOWN = 5


class Partition(NamedTuple):
    """Samples one set after the other, where each set begins, and the groups within sets."""

    pool: Similarity
    starts: np.ndarray
    groups: Groups | None


def read_by(by: Any, names: Sequence[str] | None) -> Labels:
    """Return the labels of samples, each a name of a set of enough samples."""
    if names is not None:
        raise ValueError("`names` are the labels in `by`: leave `names` out")
    read = read_labels(by, "by")
    called = [str(label) for label in read.labels]
    labels = [None if not called[code].strip() else called[code] for code in read.codes.tolist()]
    check_labels(labels, "by")
    if len(set(called)) < len(called):
        twice = next(name for name in called if called.count(name) > 1)
        raise ValueError(f"`by` has two labels written {twice!r}; pass labels of one type")
    if len(called) < 2:
        raise ValueError(
            f"`by` must have two labels or more, which name the sets, got {called[0]!r} alone; add "
            f"the samples of another set, or call `compute` for the score of this one"
        )
    counts = np.bincount(read.codes).tolist()
    few = [f"{name!r} with {n}" for name, n in zip(called, counts, strict=True) if n < MIN_SAMPLES]
    if few:
        listed = ", ".join(few[:_SHOWN]) + (", …" if len(few) > _SHOWN else "")
        raise ValueError(
            f"`by` must have at least {MIN_SAMPLES} samples of each label, got {len(few)} of "
            f"{len(called)} labels with fewer: {listed}; add samples, leave out those labels, or, "
            f"if they are prompts, pass them as `groups`"
        )
    return Labels(tuple(called), read.codes)


def partition(sets: Sequence[Any], by: Labels, groups: Any, how: How) -> Partition:
    """Return the samples sorted by their labels; `groups` has one label for each sample."""
    if len(sets) != 1 or (isinstance(sets[0], Mapping) and not isinstance(how.k, tuple)):
        many = len(sets[0]) if len(sets) == 1 else len(sets)
        raise ValueError(
            f"`by` has the set of each sample of one collection, got {many} sets; pass all samples "
            f"as one list, or leave `by` out"
        )
    samples = sets[0] if is_whole(sets[0], how) else as_samples(sets[0])
    if grouped(samples, how)[1] is not None:
        raise ValueError(
            "`by` has the set of each sample, and the samples are a list of lists; pass all "
            "samples as one list, with the prompt of each as `groups`"
        )
    prompts = None if groups is None else read_labels(groups)
    pool = resolve_sets([samples], how, ["samples"])[0]
    if pool.fitted:
        pool = pool.noted(settings={**pool.settings, "fit": "pool"})
    n = pool.n + len(pool.dropped)
    check_size(by, n, "by")
    kept = np.setdiff1d(np.arange(n), list(pool.dropped))
    order = np.argsort(by.codes[kept], kind="stable")
    starts = np.searchsorted(by.codes[kept][order], np.arange(len(by) + 1))
    paired = None
    if prompts is not None:
        check_size(prompts, n)
        told = [prompts.labels[code] for code in prompts.codes[kept][order]]
        apart = [told[a:b] for a, b in itertools.pairwise(starts.tolist())]
        paired = read_groups(apart, list(map(str, by.labels)), starts, ())
    return Partition(pool.take(order), starts, paired)
