"""One set of samples, scored, with what the score is made of and which samples make it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays.namespace import scalar, to_host
from ..measures.subject import Subject
from ..request import check_orders, read_request
from ..result import answer
from ..similarity.base import Similarity
from ..similarity.matrix import MatrixSimilarity
from ..spectral.spectrum import PSD, Spectrum
from ..spectral.vendi import spectrum_of
from .neighbours import Neighbours
from .redundancy import Pair, redundant_pairs
from .seriation import clustered_order

# Of the profile: steps of 1/8 up to 5, where most curves are flat.
ORDERS: tuple[float, ...] = tuple(np.round(np.linspace(0, 5, 41), 3).tolist())
# Redundant pairs, and samples that stand alone, that are named.
FEW = 4


@dataclass(frozen=True, eq=False)
class Analysis:
    """A set of n samples, scored; what is read off its matrix is found when first asked for.

    Attributes
    ----------
    similarity : Similarity
    q, score : float
        VS_q, in [1, n].
    details : mapping
        What `compute(details=True)` reports of the score.
    spectrum : Spectrum
    orders : tuple of float
    profile : array (len(orders),)
        VS_q for every q of `orders`.
    """

    similarity: Similarity = field(repr=False)
    q: float
    score: float
    details: Mapping[str, Any] = field(repr=False)
    spectrum: Spectrum = field(repr=False)
    orders: tuple[float, ...] = field(repr=False)
    profile: np.ndarray = field(repr=False)

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.similarity.n

    @property
    def shares(self) -> np.ndarray:
        """The eigenvalues, descending, at least 0, summing to 1."""
        return to_host(self.spectrum.values)

    @cached_property
    def K(self) -> np.ndarray:
        """Similarities of all pairs, (n, n)."""
        return to_host(self.similarity.dense())

    @cached_property
    def order(self) -> np.ndarray:
        """The samples in the order of a heat map; see `clustered_order`."""
        return clustered_order(self._matrix)

    @cached_property
    def neighbours(self) -> Neighbours:
        """The nearest other sample of each."""
        return Neighbours.of(self._matrix)

    @cached_property
    def redundant(self) -> list[Pair]:
        """The four most similar pairs."""
        return redundant_pairs(self._matrix, FEW)

    @cached_property
    def alone(self) -> list[tuple[int, float]]:
        """Up to four samples that stand alone, a third of all at most; see `Neighbours.alone`."""
        return self.neighbours.alone(min(FEW, max(1, self.n // 3)))

    @property
    def _matrix(self) -> MatrixSimilarity:
        return MatrixSimilarity(self.K)


def analyse(
    similarity: Similarity,
    q: float | str = 1.0,
    *,
    orders: Sequence[float] = ORDERS,
    psd: PSD = "check",
) -> Analysis:
    """Score samples, and keep what the score was read off.

    Parameters
    ----------
    similarity : Similarity
        Of n samples, with unit diagonal: `vendiscore.as_similarity(samples, ...)`. Not changed.
    q : float in [0, ∞] or "inf"
    orders : sequence of float in [0, ∞]
        Of the profile.
    psd : {"check", "clip"}
        As for `vendiscore.compute`.

    Returns
    -------
    Analysis

    Raises
    ------
    ValueError, TypeError
        As `vendiscore.compute` does. Negative eigenvalues are an error at every order, unless
        `psd` is "clip", since the profile needs all of them.
    TooLargeError
        If the spectrum does not fit in memory.

    Notes
    -----
    The score is that of `vendiscore.compute`, found in the same way. One matrix is decomposed
    once, whatever the orders are; a second time only where a score comes from single-precision
    products that do not serve them all. What is read off the matrix takes memory of a few n².

    Examples
    --------
    >>> import vendiscore
    >>> found = analyse(vendiscore.as_similarity(["a b", "a b", "c d"], k="ngram_overlap", ns=[1]))
    >>> round(found.score, 3)
    1.89
    >>> found.redundant
    [Pair(i=0, j=1, similarity=...)]
    """
    request = read_request({"q": q, "psd": psd, "details": True})
    chosen = tuple(check_orders(orders))
    subject = Subject(similarity, request.how, orders=request.orders, psd=request.psd)
    with np.errstate(all="ignore"):  # as `compute` does: numbers are checked
        numbers = answer(subject, request)
        spectrum = subject.spectral.spectrum
        if spectrum is None or not all(map(spectrum.serves, chosen)):
            spectrum = spectrum_of(subject.similarity, psd=request.psd)
    return Analysis(
        similarity=subject.similarity,
        q=request.orders[0],
        score=float(scalar(numbers["VS"])),
        details=numbers["details"],
        spectrum=spectrum,
        orders=chosen,
        profile=to_host(spectrum.profile(chosen)),
    )
