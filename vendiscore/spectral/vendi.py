"""The Vendi Score of a similarity: effective numbers of several orders, from one spectrum at most.

The Vendi Score of order q is the Hill number of the shares (Friedman & Dieng, arXiv 2210.02410;
orders: Pasarkar & Dieng, arXiv 2310.12952).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..arrays.namespace import Array
from ..errors import TooLargeError
from ..similarity.base import Similarity
from .estimate import Estimate, Estimating
from .estimators import estimated, way_out
from .plan import plan
from .routes import MomentRoute, StalledError
from .spectrum import PSD, Spectrum
from .weighted_similarity import weighted_by


@dataclass(frozen=True)
class Spectral:
    """Effective numbers with how they were found.

    Attributes
    ----------
    estimates : list of Estimate
        One for each order asked for, in that order; each value in [1, n].
    spectrum : Spectrum or None
        Where one was found: other orders can be read off it, `vendi(..., spectrum=...)`.
    """

    estimates: list[Estimate]
    spectrum: Spectrum | None = None

    @property
    def values(self) -> list[Any]:
        """The numbers alone: floats, or 0-d torch tensors."""
        return [estimate.value for estimate in self.estimates]


def vendi(
    similarity: Similarity,
    orders: Sequence[float] = (1.0,),
    p: Array | None = None,
    psd: PSD = "check",
    *,
    spectrum: Spectrum | None = None,
    estimating: Estimating | None = None,
) -> Spectral:
    """The Vendi Scores of several orders, from as little work as they need.

    Notes
    -----
    Time O(n d² + d³) from d < n features, O(n³) from a dense matrix, O(n²) for orders 2 and ∞.
    One matrix of size min(n, d)² is allocated.
    """
    if spectrum is not None:
        if spectrum.n != similarity.n:
            raise ValueError(
                f"`spectrum` must be that of the {similarity.n} samples, got one of {spectrum.n}; "
                f"leave it out"
            )
        if all(spectrum.serves(q) for q in orders):
            return Spectral(spectrum.estimates(orders), spectrum)
    similarity = similarity.compact()
    routes = plan(similarity, orders, psd, each=estimating is not None)
    weighted = weighted_by(similarity, p)
    estimates: dict[int, Estimate] = {}
    failed: dict[int, str] = {}
    for i, (q, alone) in enumerate(zip(orders, routes.alone, strict=True)):
        found, failed[i] = _first(alone, weighted, q, psd)
        if found is not None:
            estimates[i] = found
    rest = [i for i in range(len(orders)) if i not in estimates]
    if rest:
        needed = [orders[i] for i in rest]
        read = None
        if estimating:
            read = estimated(similarity, needed, p, psd, estimating, routes.whole)
        if read is None:
            try:
                spectrum = routes.whole.run(similarity, p, psd, orders=orders)
            except TooLargeError as error:
                raise TooLargeError(f"{error}{way_out(similarity, needed)}") from None
            read = spectrum.estimates(needed)
        for i, estimate in zip(rest, read, strict=True):
            estimates[i] = replace(estimate, why=failed[i] or estimate.why)
    return Spectral([estimates[i] for i in range(len(orders))], spectrum)


def _first(
    routes: Sequence[MomentRoute], weighted: Similarity, q: float, psd: PSD
) -> tuple[Estimate | None, str]:
    """What the first route that arrives finds, and why the last one that did not has stalled."""
    why = ""
    for route in routes:
        try:
            return route.run(weighted, q, psd), why
        except (StalledError, TooLargeError) as error:
            why = str(error)
    return None, why


def spectrum_of(
    similarity: Similarity, p: Array | None = None, psd: PSD = "check", *, vectors: bool = False
) -> Spectrum:
    """The spectrum of K_p by the cheapest route, in double precision.

    Notes
    -----
    Time O(n d² + d³) from d < n features, else O(n³); with vectors three times that, and
    n·min(n, d) numbers more.

    Examples
    --------
    >>> import numpy as np
    >>> from vendiscore import FeatureSimilarity
    >>> found = spectrum_of(FeatureSimilarity(np.eye(2)[[0, 0, 0, 1]]), vectors=True)
    >>> found.values
    array([0.75, 0.25])
    >>> abs(found.vectors[:, 1])
    array([0., 0., 0., 1.])
    """
    similarity = similarity.compact()
    whole = plan(similarity, [1.0], psd, vectors=vectors).whole
    return whole.run(similarity, p, psd, vectors=vectors)


def spectrum(similarity: Similarity, p: Array | None = None, psd: PSD = "check") -> Array:
    """The eigenvalues of diag(√p) K diag(√p), the shares that every Vendi Score is a number of.

    Those below n·ε·λ_max are rounding and set to zero, so that the number of positive ones is
    the numerical rank.

    Parameters
    ----------
    similarity : Similarity
        Of n samples, with unit diagonal: `as_similarity(samples, k=k)`. Not changed.
    p : array (n,), optional
        Weights that sum to 1; uniform by default.
    psd : {"check", "clip"}
        Raise for negative eigenvalues beyond rounding, or set them to zero and restore the sum.

    Returns
    -------
    array (m,), or tensor for torch input
        Descending, at least 0, summing to 1; m is at most the smaller of n and the number of
        features.

    Raises
    ------
    NotPSDError
        See `psd`.
    TooLargeError
        If the matrix would not fit in memory, before it is allocated.

    Notes
    -----
    Time O(n d² + d³) from d < n features, else O(n³), and one matrix of size min(n, d)².

    References
    ----------
    Friedman & Dieng, TMLR 2023, arXiv 2210.02410, §3.

    Examples
    --------
    >>> from vendiscore import as_similarity, effective_number
    >>> shares = spectrum(as_similarity(["a cat", "a cat", "a cat", "one dog"]))
    >>> shares.round(6)
    array([0.75, 0.25])
    >>> round(effective_number(shares, q=2), 6)  # 1 / (9/16 + 1/16)
    1.6
    """
    return spectrum_of(similarity, p, psd).values
