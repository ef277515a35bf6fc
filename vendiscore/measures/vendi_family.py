"""The Vendi Score as a measure, and what is made of it: with quality, cut short, as an entropy."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ..arguments import flag, integer, refuse_gradient
from ..arrays.namespace import as_kind_of, is_torch, namespace, scalar
from ..arrays.types import Number
from ..arrays.weights import PerSample, per_sample
from ..registry.measure import register_measure
from ..spectral.hill import effective_number
from ..spectral.rank_one import coverage, novelty
from ..spectral.vendi import vendi
from .subject import Subject

# Share of the mean of squared similarities that may be rounding where pairs have none.
NOTHING = 1e-12
_register = partial(
    register_measure, needs="similarity", direction="higher", weighted=True, ordered=True
)


@_register("VS", range="[1, n]", source="Friedman & Dieng, arXiv 2210.02410", stacks=True)
def vendi_score(subject: Subject) -> list[Number]:
    """The Vendi Score: the effective number of eigenvalues of the similarity matrix."""
    return subject.spectral.values


def read_numbers(
    values: object,
    name: str,
    who: str,
    least: float = -math.inf,
    most: float = math.inf,
    remedy: str = "",
) -> PerSample | None:
    """Return one number for each sample, of the option `name` of the measure `who`, or None."""
    if values is None:
        return None
    refuse_gradient(who, **{name: values})
    return per_sample(values, name, least=least, most=most, remedy=remedy)


def read_quality(quality: object, who: str = "qVS") -> PerSample | None:
    """Return one number of at least 0 for each sample, for the measure `who`, or None."""
    return read_numbers(quality, "quality", who, least=0, remedy="; shift or map it to [0, 1]")


def numbers_of(subject: Subject, values: PerSample) -> np.ndarray:
    """Return the numbers of a subject's samples, out of the numbers of all samples."""
    whole = subject.whole
    return values.of(whole.came, whole.groups)[subject.places_kept]


def quality_of(subject: Subject, quality: PerSample | None, who: str) -> np.ndarray:
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
def quality_weighted(subject: Subject, quality: Any = None) -> list[Number]:
    """The quality-weighted Vendi Score (Σ p_i s_i) · VS, for `quality` s_i of at least 0.

    `quality` is needed: a number for each sample that comes in, also of those that are left out.
    """
    own = quality_of(subject, quality, "qVS")
    mean = own.mean() if subject.p is None else subject.p @ as_kind_of(own, subject.p)
    return [mean * value for value in subject.spectral.values]


@_register(
    "TruncatedVS",
    range="[1, n]",
    source="Ospanov & Farnia, UAI 2025, arXiv 2410.21719",
    readers={"top": partial(integer, "top")},
)
def truncated(subject: Subject, top: int = 500) -> list[Number]:
    """The Vendi Score of the `top` t largest eigenvalues, each raised by 1/t of what they leave.

    For n samples from one source it settles once n is a multiple of t, where VS may go on growing:
    compare it for one t below n. For t samples or fewer it is VS. The authors have t = 500.
    """
    found = subject.spectral.spectrum  # the error of VS, which is good for these orders
    values = (subject.spectrum if found is None else found).values
    rest = values[top:]
    # Where they leave exactly nothing; otherwise rounding would raise zeros, which would count.
    if bool((rest > 0).any()):
        values = values[:top] + rest.sum() / top
    return [effective_number(values, q) for q in subject.orders]


def score_of(subject: Subject, q: float) -> Number:
    """Return the Vendi Score of order q; of order 2 by a norm where no spectrum is known."""
    known = subject.__dict__.get("eigen", subject.__dict__.get("spectrum"))
    if known is None and "spectral" in subject.__dict__:
        known = subject.spectral.spectrum
    return vendi(subject.similarity, [q], subject.p, subject.psd, spectrum=known).values[0]


@register_measure(
    "RKE",
    needs="similarity",
    range="[0, ∞)",
    direction="higher",
    source="Jalali, Li & Farnia, NeurIPS 2023",
    weighted=True,
    readers={"unbiased": partial(flag, "unbiased")},
)
def renyi_kernel_entropy(subject: Subject, unbiased: bool = False) -> Number:
    """The Rényi kernel entropy −log Σ p_i p_j k_ij² of order 2: log VS of q = 2, whatever `q` is.

    `unbiased` takes pairs of two different samples (a U-statistic): larger, with no value where
    no two samples have anything in common.
    """
    p, number = subject.p, score_of(subject, 2.0)
    log = namespace(number).log if is_torch(number) else math.log
    if not unbiased:
        return log(number)
    same = 1 / subject.n if p is None else p @ p  # one is drawn twice
    purity = 1 / number
    pairs = purity - same
    if subject.n < 2 or not scalar(pairs) > NOTHING * scalar(purity):
        what = "has one sample" if subject.n < 2 else "has no two that have anything in common"
        raise ValueError(
            f"RKE with unbiased=True compares pairs of different samples, but this set {what}; "
            "pass more samples, or leave `unbiased` out"
        )
    return -log(pairs / (1 - same))


@register_measure(
    "SampleCoverage",
    needs="similarity",
    range="[0, 1]",
    direction="lower",
    source="Good, Biometrika 1953, for similarities: 1 − the mean of 1/(K⁻¹)_ii",
    weighted=True,
    vectors=True,
)
def sample_coverage(subject: Subject) -> Number:
    """The part of a sample that others explain, on average: on labels Good–Turing coverage."""
    return coverage(novelty(subject.eigen), subject.p)
