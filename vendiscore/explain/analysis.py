"""All that the page says about one set of samples, as numbers.

The score itself is that of the metric, by `vendiscore.compute`. What goes beside it (spectrum,
profile, order of the heat map, pairs, magnitude) comes from the same Similarity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from ..scoring import compute
from ..similarity.base import Similarity
from ..spectral.hill import effective_number
from ..spectral.vendi import spectrum

ORDERS = tuple(np.round(np.linspace(0, 5, 41), 3).tolist())  # of the profile
PAIRS = 4  # redundant pairs, and samples that stand alone, that are shown


@dataclass(frozen=True)
class Analysis:
    """One set of samples, scored.

    Attributes
    ----------
    n : int
    score : float
        VS_q, in [1, n].
    q : float
    arguments : mapping
        What `compute` gives the score of the samples with.
    details : mapping
        What `compute(details=True)` reports.
    similarity : Similarity
    K : array (n, n)
        Similarities.
    shares : array
        The eigenvalues, descending, at least 0, summing to 1.
    profile : array
        VS_q for every q of `ORDERS`.
    order : int array (n,)
        The samples in the order of a dendrogram (average linkage), similar ones side by side.
    nearest : int array (n,)
        The most similar other sample of each (its own number where n = 1).
    pairs : list of (i, j, similarity)
        The most similar pairs, no sample in two of them.
    alone : list of (i, similarity)
        The samples whose nearest other sample is the least similar.
    """

    n: int
    score: float
    q: float
    arguments: Mapping[str, Any]
    details: Mapping[str, Any]
    similarity: Similarity = field(repr=False)
    K: np.ndarray = field(repr=False)
    shares: np.ndarray = field(repr=False)
    profile: np.ndarray = field(repr=False)
    order: np.ndarray = field(repr=False)
    nearest: np.ndarray = field(repr=False)
    pairs: list[tuple[int, int, float]]
    alone: list[tuple[int, float]]

    @property
    def similarity_to_nearest(self) -> np.ndarray:
        """How similar each sample is to its nearest other one, shape (n,)."""
        return np.asarray(self.K[np.arange(self.n), self.nearest])

    @property
    def mean_similarity(self) -> np.ndarray:
        """The mean similarity of each sample to all others, shape (n,); 0 for a single sample."""
        return np.asarray((self.K.sum(axis=1) - self.K.diagonal()) / max(1, self.n - 1))


def analyse(similarity: Similarity, q: float, arguments: Mapping[str, Any]) -> Analysis:
    """Score samples and look at the similarities behind the score.

    Parameters
    ----------
    similarity : Similarity
        Of the samples under `arguments`.
    q, arguments
        As for `vendiscore.compute`.

    Raises
    ------
    ValueError, TypeError
        As `vendiscore.compute` does.

    Notes
    -----
    Time O(n³), memory a few n²: for the sizes that the page allows.
    """
    psd = arguments.get("psd", "check")
    result = compute(similarity, q=q, psd=psd, details=True)
    shares = spectrum(similarity, psd=psd)
    K = similarity.dense()
    nearest = _nearest(K)
    return Analysis(
        n=similarity.n,
        score=float(result["VS"]),
        q=q,
        arguments=arguments,
        details=result["details"],
        similarity=similarity,
        K=K,
        shares=shares,
        profile=np.array([effective_number(shares, order) for order in ORDERS]),
        order=_order(K),
        nearest=nearest,
        pairs=_pairs(K),
        alone=_alone(K, nearest),
    )


def _order(K: np.ndarray) -> np.ndarray:
    n = K.shape[0]
    if n < 3:
        return np.arange(n)
    D = np.maximum(1 - K, 0)
    np.fill_diagonal(D, 0)
    # Ordering the leaves optimally costs up to O(n⁴): a nicety for small sets.
    tree = linkage(squareform((D + D.T) / 2, checks=False), "average", optimal_ordering=n <= 100)
    return np.asarray(leaves_list(tree))


def _nearest(K: np.ndarray) -> np.ndarray:
    if len(K) == 1:
        return np.zeros(1, dtype=int)
    others = K.copy()
    np.fill_diagonal(others, -np.inf)
    return np.asarray(np.argmax(others, axis=1))


def _pairs(K: np.ndarray) -> list[tuple[int, int, float]]:
    rows, columns = np.triu_indices(len(K), 1)
    values = K[rows, columns]
    best = np.argsort(-values, kind="stable")
    used: set[int] = set()
    pairs: list[tuple[int, int, float]] = []
    for place in best:
        i, j = int(rows[place]), int(columns[place])
        if not used & {i, j}:
            used |= {i, j}
            pairs.append((i, j, float(values[place])))
        if len(pairs) == PAIRS:
            break
    return pairs


def _alone(K: np.ndarray, nearest: np.ndarray) -> list[tuple[int, float]]:
    if len(K) == 1:
        return []
    closest = K[np.arange(len(K)), nearest]
    few = min(PAIRS, max(1, len(K) // 3))
    return [(int(i), float(closest[i])) for i in np.argsort(closest, kind="stable")[:few]]
