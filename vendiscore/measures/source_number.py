"""The effective number of different groups, as sources of samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import refuse_gradient
from ..arrays.namespace import scalar
from ..arrays.types import Number
from ..errors import NotPSDError
from ..registry.measure import register_measure
from ..resolve.group_labels import Groups, check_size, read_labels
from ..similarity.matrix import MatrixSimilarity
from ..similarity.set_means import cosines, mean_similarities, set_sums
from ..spectral.spectrum import PSD
from ..spectral.vendi import spectrum_of, vendi
from .subject import Subject

REPAIRED = (
    "Similarities of sources have negative eigenvalues, which are set to zero: each two sources "
    "are compared over the prompts that both have answers to."
)


def psd_of_sources(S: np.ndarray, psd: PSD, complete: bool, notes: list[str]) -> PSD:
    """Return "clip", with a note, if missing answers make S indefinite, and otherwise `psd`."""
    if complete or psd == "clip":
        return psd
    try:
        spectrum_of(MatrixSimilarity(S))
    except NotPSDError:
        notes.append(REPAIRED)
        return "clip"
    return psd


def _read_prompts(prompts: object) -> Groups | None:
    return None if prompts is None else read_labels(prompts, "prompts")


@register_measure(
    "SourcesVS",
    needs="similarity",
    range="[1, n]",
    direction="higher",
    source="mean features: Muandet et al. 2017; question: Jiang et al., arXiv 2510.22954",
    readers={"prompts": _read_prompts},
    ordered=True,
    groups=True,
)
def source_number(subject: Subject, prompts: Any = None) -> list[Number]:
    """Effective number of groups as different sources: VS of the cosines of their mean features.

    With `prompts`, a label of each sample, the mean is over prompts, and answers to one are
    compared with each other alone; `vendiscore.sources` has the interval, and what is
    near. It is too large for few samples: differences within a group count too.
    """
    assert subject.groups is not None
    refuse_gradient("SourcesVS", samples=subject.similarity)
    similarity = subject.similarity.in_numpy()
    kept = subject.rows_came >= 0
    codes = np.unique(subject.groups.codes[kept], return_inverse=True)[1]
    n = int(codes.max()) + 1
    asked = np.zeros(len(codes), dtype=int)
    if prompts is not None:
        check_size(prompts, subject.came, "prompts")
        asked = prompts.codes[kept]
    sums, own, complete = np.zeros((n, n)), np.zeros((n, n)), True
    for prompt in np.unique(asked):
        at = np.flatnonzero(asked == prompt)
        counts = np.bincount(codes[at], minlength=n)
        complete = complete and np.count_nonzero(counts) in (1, n)
        means = mean_similarities(set_sums(similarity.take(at), codes[at], n), counts)
        sums += means
        own += np.outer(means.diagonal(), counts > 0)
    if not own.all():
        a, b = (subject.groups.labels[i] for i in np.argwhere(own == 0)[0])
        raise ValueError(
            f"groups {a!r} and {b!r} have samples of no prompt in common; leave one of them out"
        )
    S = cosines(sums, own)
    psd = psd_of_sources(S, subject.psd, complete, subject.notes)
    return [scalar(x) for x in vendi(MatrixSimilarity(S), subject.orders, psd=psd).values]
