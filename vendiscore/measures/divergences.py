"""The surprise of samples: how much rarer each is in two sets together than in its own.

With unit features x a set is ρ = mean of xxᵀ; both are σ = (ρ_X + ρ_Y)/2.
"""

import math
from dataclasses import replace

import numpy as np

from ..core.arguments import integer, refuse_gradient
from ..core.shares import PSD, check_psd
from ..core.types import Samples
from ..resolve.kernel_request import KernelArgument, how_of
from ..resolve.sets import read_samples
from ..similarity.base import Similarity
from ..similarity.matrix import in_full
from ..spectral import rank_one
from ..spectral.spectrum import Spectrum
from ..spectral.vendi import spectrum_of
from .both import half_each
from .subject import Subject


def surprise(
    samples: Samples,
    references: Samples,
    *,
    k: KernelArgument | None = None,
    psd: PSD = "check",
    permutations: int = 0,
    **how: object,
) -> np.ndarray:
    """Return how much rarer each sample is in samples and references together than in the samples.

    xᵀ (log ρ_X − log σ) x, with ρ_X = mean of xxᵀ over the samples and σ that over both sets, with
    half of the weight each; its mean is the relative entropy S(ρ_X ‖ σ). Use it to rank samples.

    Parameters
    ----------
    samples, references : list or array
        n and m samples of the kind that `k` compares. Not changed.
    k : str, callable, dict or list, optional
        A registered kernel, a function of two samples, or a mixture; strings: "ngram_overlap".
    psd : {"check", "clip"}
        Raise for a similarity with negative eigenvalues, or set them to zero.
    permutations : int
        Subtract from each value its mean over so many shuffles of both sets that leave this sample
        among the samples: what is left is 0 on average where both sets have one source.
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
    Without `permutations` it ranks samples and is not evidence that two sources differ: of 30
    questions against 30 others of one source the mean is 0.66 under n-grams, with them 0.00
    (benchmarks/two_sets_null.py). Time O((n + m)³), memory (n + m)²; O((n + m) d² + d³) time from d
    features; a shuffle takes O(n³) for sets of one size, and as long as the value for others.

    References
    ----------
    Umegaki, Kodai Math. Sem. Rep. 1962; Bach, arXiv 2202.08545.

    Examples
    --------
    >>> surprise(["a", "a", "b"], ["a", "c", "c"], k="labels").round(3)  # log 4/3, and log 2
    array([0.288, 0.288, 0.693])
    """
    read = how_of({**how, "k": k})
    psd = check_psd(psd)
    permutations = integer("permutations", permutations, 0, remedy="99 are usual")
    own = read_samples(samples, read, "samples")
    other = read_samples(references, read, "references")
    subject = Subject(own, read, references=other, psd=psd, pooled=("similarity",))
    refuse_gradient("surprise", **how, samples=subject.both.similarity)
    every = np.full(subject.n_passed, np.nan)
    with np.errstate(all="ignore"):
        if permutations:
            n = subject.both.sizes[0]
            found, *drawn = shuffled(subject.both.similarity, n, permutations, psd)[:, :n]
            found = found - np.nanmean(drawn, axis=0)
        else:
            found = _surprises(subject.both.eigen, subject.eigen)
    every[subject.places_kept] = found
    return every


def shuffled(pool: Similarity, n: int, permutations: int, psd: PSD = "check") -> np.ndarray:
    """Return surprises with the first n of a pool as the samples, NaN for the others.

    And below, a row each, with n random samples of it in their place.
    """
    pool = in_full(pool, pool.n)
    rng = np.random.default_rng(0)
    turns = -(-pool.n // n)
    if permutations < turns:
        raise ValueError(
            f"`permutations` must be at least {turns}, so that each of {pool.n} is once one of {n} "
            f"samples, got {permutations}; pass more"
        )
    drawn = np.full((permutations + 1, pool.n), np.nan)
    # In two sets of one size each sample has one weight, whichever set it is in.
    known = spectrum_of(pool, psd=psd, vectors=True) if pool.n == 2 * n else None
    order = np.arange(pool.n)
    for turn, surprises in enumerate(drawn):
        if turn:
            order = np.roll(order, -n) if (turn - 1) % turns else rng.permutation(pool.n)
        if known is None:
            mixed = pool.take(order)
            halves = half_each(mixed, (n, pool.n - n))
            together = spectrum_of(mixed, halves, psd, vectors=True)
        else:
            assert known.vectors is not None
            together = replace(known, vectors=known.vectors[order])
        first = order[:n]
        own = spectrum_of(pool.take(first), psd=psd, vectors=True)
        surprises[first] = _surprises(together, own)
    return drawn


def _surprises(together: Spectrum, own: Spectrum) -> np.ndarray:
    of_all = rank_one.surprise(together)[: own.n]
    return np.minimum(of_all - rank_one.surprise(own), math.log(2))
