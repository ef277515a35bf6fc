"""The Vendi Score as a measure, and what is made of it: with quality, and as an entropy."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..similarity.weights import PerSampleValues, check_per_sample
from ..support.arguments import check_no_gradient
from ..support.namespace import asarray_like
from ..support.types import Number
from .measure import register_measure
from .subject import Subject

if TYPE_CHECKING:
    from .stack import Stack

_register = partial(register_measure, needs="scores", weighted=True, ordered=True, stacks=True)


@_register("VS", range="[1, n]", source="Friedman & Dieng, arXiv 2210.02410")
def vendi_score(subject: Subject | Stack) -> list[Number]:
    """The Vendi Score: the effective number of eigenvalues of the similarity matrix."""
    return subject.spectral.values


def read_numbers(
    values: object,
    name: str,
    who: str,
    least: float = -np.inf,
    most: float = np.inf,
    remedy: str = "",
) -> PerSampleValues | None:
    """Return one number for each sample, of the option `name` of the measure `who`, or None.

    The numbers lie between `least` and `most`, or `remedy` ends the error.
    """
    if values is None:
        return None
    check_no_gradient(who, **{name: values})
    return check_per_sample(values, name, min_value=least, max_value=most, hint=remedy)


def read_quality(quality: object, who: str = "qVS") -> PerSampleValues | None:
    """Return one number of at least 0 for each sample, for the measure `who`, or None."""
    return read_numbers(quality, "quality", who, least=0, remedy="; shift or map it to [0, 1]")


def numbers_of(subject: Subject | Stack, values: PerSampleValues) -> np.ndarray:
    """Return the numbers (…, n) of a subject's samples, out of the numbers of all samples."""
    whole = subject.whole
    return values.for_samples(whole.n_passed, whole.groups)[subject.places_kept]


def quality_of(subject: Subject | Stack, quality: PerSampleValues | None, who: str) -> np.ndarray:
    """Return the quality of the samples of a subject; a TypeError if none was passed."""
    if quality is None:
        raise TypeError(
            f"{who} needs `quality`, a number of at least 0 for each sample, such as a reward: "
            f"pass it, or leave {who} out of `measures`"
        )
    return numbers_of(subject, quality)


@_register(
    "qVS",
    range="[0, ∞)",
    source="Nguyen & Dieng, ICML 2024, arXiv 2405.02449",
    readers={"quality": read_quality},
)
def quality_weighted(
    subject: Subject | Stack, quality: PerSampleValues | None = None
) -> list[Number]:
    """The quality-weighted Vendi Score (Σ p_i s_i) · VS, for `quality` s_i of at least 0.

    `quality` is needed: a number for each sample that comes in, also of those that are left out.
    """
    own = quality_of(subject, quality, "qVS")
    p = subject.p
    mean = own.mean(-1) if p is None else (p * asarray_like(own, p)).sum(-1)
    return [mean * value for value in subject.spectral.values]
