"""The Vendi Score as a measure, and what is made of it: with quality, and as an entropy."""

import math
from functools import partial
from typing import Any

import numpy as np

from ..core.arguments import refuse_gradient
from ..core.namespace import as_kind_of, is_torch, namespace
from ..core.types import Number
from ..similarity.weights import PerSample, per_sample
from ..spectral.vendi import vendi
from .measure import register_measure
from .subject import Subject

_register = partial(register_measure, needs="scores", weighted=True, ordered=True)


@_register("VS", range="[1, n]", source="Friedman & Dieng, arXiv 2210.02410", stacks=True)
def vendi_score(subject: Subject) -> list[Number]:
    """The Vendi Score: the effective number of eigenvalues of the similarity matrix."""
    return subject.spectral.values


def read_numbers(values: object, name: str, who: str, **bounds: Any) -> PerSample | None:
    """Return one number for each sample, of the option `name` of the measure `who`, or None.

    `bounds` are options of `per_sample`.
    """
    if values is None:
        return None
    refuse_gradient(who, **{name: values})
    return per_sample(values, name, **bounds)


def read_quality(quality: object, who: str = "qVS") -> PerSample | None:
    """Return one number of at least 0 for each sample, for the measure `who`, or None."""
    return read_numbers(quality, "quality", who, least=0, remedy="; shift or map it to [0, 1]")


def numbers_of(subject: Subject, values: PerSample) -> np.ndarray:
    """Return the numbers of a subject's samples, out of the numbers of all samples."""
    whole = subject.whole
    return values.of(whole.n_passed, whole.groups)[subject.places_kept]


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


def log_score(subject: Subject, q: float) -> Number:
    """Return log VS of order q; of order 2 by a norm where no measure needs the spectrum."""
    K = subject.similarity
    known = subject.needed_spectrum
    number = vendi(K, [q], subject.p, subject.psd, spectrum=known).values[0]
    return namespace(number).log(number) if is_torch(number) else math.log(number)


_register_entropy = partial(register_measure, needs="similarity", range="[0, ∞)", weighted=True)


@_register_entropy("RKE", source="Jalali, Li & Farnia, NeurIPS 2023")
def renyi_kernel_entropy(subject: Subject) -> Number:
    """The Rényi kernel entropy of order 2, −log Σ p_i p_j k_ij²: log VS of q = 2, for any `q`."""
    return log_score(subject, 2.0)


@_register_entropy("KernelLanguageEntropy", source="Nikitin et al., NeurIPS 2024, arXiv 2405.20003")
def kernel_language_entropy(subject: Subject) -> Number:
    """The von Neumann entropy of the semantic kernel with unit trace, in nats: log VS of q = 1.

    It takes answers under any kernel, whatever `q` is: at most log n. Under k="equivalence" it is
    SemanticEntropy, which has no nearness between classes.
    """
    return log_score(subject, 1.0)


@register_measure(
    "SampleCoverage",
    needs="eigenvectors",
    range="[0, 1]",
    direction="lower",
    source="Good, Biometrika 1953, for similarities: 1 − the mean of 1/(K⁻¹)_ii",
    weighted=True,
)
def sample_coverage(subject: Subject) -> Number:
    """The part of a sample that others explain, on average: on labels Good–Turing coverage."""
    from ..spectral.rank_one import coverage, unexplained

    return coverage(unexplained(subject.eigen), subject.p)
