"""Divergences of entropies: how far two sets are apart as states of quantum information.

With unit features x a set is ρ = mean of xxᵀ, H(ρ) = −tr ρ log ρ is log VS; σ = (ρ_X + ρ_Y)/2.
"""

from __future__ import annotations

import math
import sys
from functools import partial
from typing import Any

import numpy as np

from ..arguments import refuse_gradient
from ..arrays.namespace import Samples, is_torch, scalar
from ..registry.measure import register_measure
from ..resolve.kernel_request import KernelArgument, how_of
from ..resolve.sets import read_samples
from ..similarity.base import Similarity
from ..spectral import rank_one
from ..spectral.spectrum import PSD, Spectrum, check_psd
from ..spectral.vendi import spectrum_of
from .both import half_each
from .subject import Subject

# Of every number, since none of them has a null value to be compared with.
NULL = (
    "two sets drawn from one source do not score as if they were equal: 30 questions and 30 others "
    "under n-grams have a RelativeVS of 1.94 (at most 2) and a JensenShannon of 0.66 (at most "
    "0.69). Compare the score with that of two halves of the references"
)
_register = partial(
    register_measure, needs="similarity", direction="lower", aspect="likeness", pooled=True
)


@_register(
    "JensenShannon",
    range=f"[0, {math.log(2)}]",
    source="Majtey, Lamberti & Prato, Phys. Rev. A 2005; of kernels Bach, arXiv 2202.08545",
)
def jensen_shannon(subject: Subject) -> Any:
    """The Jensen–Shannon divergence of both sets in nats: H(σ) − (H(ρ_X) + H(ρ_Y))/2.

    At order 1: 0 for a set with itself, log 2 for sets with nothing in common. Two draws of one
    source are far from 0 where samples hardly repeat: compare with two halves of the references.
    """
    _note(subject)
    both = subject.both
    return _entropy(both.spectrum) - (_entropy(subject.spectrum) + _entropy(both.of_references)) / 2


@_register(
    "RelativeVS",
    range="[1, 2]",
    source="Umegaki, 1962; of kernels Bach, arXiv 2202.08545",
    vectors=True,
)
def relative_vendi_score(subject: Subject) -> float:
    """exp of the relative entropy of the samples to both sets together, S(ρ_X ‖ σ).

    At order 1: 1 for a set with itself, 2 where no sample has anything in common with a reference.
    References that no sample is like count less than in "JensenShannon". Two draws of one source
    are far from 1 where samples hardly repeat: compare with two halves of the references.
    """
    both = subject.both
    _note(subject)
    surprises = rank_one.surprise(both.eigen)[: both.sizes[0]]
    return math.exp(scalar(surprises.mean() - _entropy(subject.spectrum)))


def surprise(
    samples: Samples,
    references: Samples,
    *,
    k: KernelArgument | None = None,
    psd: PSD = "check",
    **how: Any,
) -> np.ndarray:
    """Return how much rarer each sample is in samples and references together than in the samples.

    xᵀ (log ρ_X − log σ) x, with ρ_X = mean of xxᵀ over the samples and σ that over both sets, with
    half of the weight each; its mean is log "RelativeVS". Use it to rank samples.

    Parameters
    ----------
    samples, references : list or array
        n and m samples of the kind that `k` compares. Not changed.
    k : str, callable, dict or list, optional
        A registered kernel, a function of two samples, or a mixture; strings: "ngram_overlap".
    psd : {"check", "clip"}
        Raise for a similarity with negative eigenvalues, or set them to zero.
    **how
        `score_X`, `normalize` and options of the kernel, as for `compute`.

    Returns
    -------
    array (n,), at most log 2
        In nats: log 2 = 0.69 for a sample that has nothing in common with any reference, 0 for one
        that is as common there, below 0 for a commoner one; NaN if left out (on_error="skip").

    Raises
    ------
    TypeError, ValueError, SampleError, NotPSDError, TooLargeError
        For input that cannot be compared; see `psd`; if the spectrum would not fit in memory.

    Notes
    -----
    It is not evidence that two sources differ: of 30 questions against 30 others of one source the
    mean is 0.66 under n-grams (benchmarks/two_sets_null.py). Compare with two halves of the
    references. Time O((n + m)³), memory (n + m)²; O((n + m) d² + d³) time from d features.

    References
    ----------
    Umegaki, Kodai Math. Sem. Rep. 1962; Bach, arXiv 2202.08545.

    Examples
    --------
    >>> surprise(["a", "a", "b"], ["a", "c", "c"], k="labels").round(3)  # log 4/3, and log 2
    array([0.288, 0.288, 0.693])
    """
    read, psd = how_of({**how, "k": k}), check_psd(psd)
    own = read_samples(samples, read, "samples")
    other = read_samples(references, read, "references")
    subject = Subject(own, read, references=other, psd=psd, pooled=("similarity",))
    refuse_gradient("surprise", **how, samples=subject.both.similarity)
    every = np.full(len(subject.rows_came), np.nan)
    with np.errstate(all="ignore"):
        every[subject.rows_came >= 0] = _surprises(subject.both.eigen, subject.eigen)
    return every


def surprise_of_first(pool: Similarity, n: int, psd: PSD = "check") -> np.ndarray:
    """Return `surprise` of the first n samples of a Similarity, the others being the references."""
    if not 0 < n < pool.n:
        raise ValueError(f"`n` must be from 1 to {pool.n - 1}, to leave references, got {n}")
    with np.errstate(all="ignore"):
        together = spectrum_of(pool, half_each(pool, (n, pool.n - n)), psd, vectors=True)
        own = spectrum_of(pool.take(np.arange(n)), psd=psd, vectors=True)
        return _surprises(together, own)


def _surprises(together: Spectrum, own: Spectrum) -> np.ndarray:
    of_all = rank_one.surprise(together)[: own.n]
    return np.minimum(of_all - rank_one.surprise(own), math.log(2))


def _note(subject: Subject) -> None:
    if NULL not in subject.notes:
        subject.notes.append(NULL)


def _entropy(spectrum: Spectrum) -> Any:
    """Return H in nats."""
    number = spectrum.effective_number(1)
    return sys.modules["torch"].log(number) if is_torch(number) else math.log(number)
