"""Find the standard error of log VS of n samples from what each sample or cluster adds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from ..core.arguments import DEFAULT_ORDER
from ..core.hill import surprisal
from ..core.namespace import to_host
from ..spectral.clusters import leave_cluster_out
from ..spectral.rank_one import leave_one_out, log_score, surprise
from ..spectral.spectrum import Spectrum

# A deficit below this is 0 but for rounding: what is left has nothing in common.
NO_DEFICIT = 1e-9


@dataclass(frozen=True)
class Jackknife:
    """log VS_q of n samples, and its error from leaving out each of `units`; arrays for many sets.

    `spread` is the standard error of log(log n − log VS), infinite where nothing in common is left
    without one of them.
    """

    log: Any
    error: Any
    spread: float = math.inf
    units: int = 0


def quantile(level: float) -> float:
    """Return how many standard errors an interval of that level reaches to each side."""
    return float(scipy.special.ndtri((1 + level) / 2))


def ends(log: float, reach: float, most: int) -> tuple[float, float]:
    """Return exp(log ± reach), in [1, most]."""
    return math.exp(max(0.0, log - reach)), math.exp(min(math.log(most), log + reach))


def jackknife(
    spectrum: Spectrum, q: float = DEFAULT_ORDER, clusters: np.ndarray | None = None
) -> Jackknife:
    """Find the score of order q and its error (Efron & Stein 1981).

    Deficits without clusters of unlike sizes vary with these sizes, log VS hardly: the spread of
    clusters is the error of log VS over the deficit of all.
    """
    whole, n = log_score(spectrum, q), spectrum.n
    left = without_each(spectrum, q, clusters)
    error, units, spread = delete_one_error(left), len(left), math.inf
    deficits = math.log(n - 1) - left
    if clusters is not None:
        deficit = math.log(n) - whole
        spread = error / deficit if deficit > NO_DEFICIT else math.inf
    elif (deficits > NO_DEFICIT).all():
        spread = delete_one_error(np.log(deficits))
    return Jackknife(whole, error, spread, units)


def without_each(
    spectrum: Spectrum, q: float = DEFAULT_ORDER, clusters: np.ndarray | None = None
) -> np.ndarray:
    """Return log VS_q without each sample, or without each cluster, of codes 0 to m − 1."""
    if clusters is None and (q <= 2 or math.isinf(q)):
        return leave_one_out(spectrum, q)
    return leave_cluster_out(spectrum, np.arange(spectrum.n) if clusters is None else clusters, q)


def delete_one_error(left: np.ndarray) -> float:
    """Return the standard error of a number from its values without each unit in turn."""
    m = len(left)
    return float(np.sqrt((m - 1) / m * np.sum((left - left.mean()) ** 2)))


def influence_error(
    spectrum: Spectrum, q: float = DEFAULT_ORDER, clusters: np.ndarray | None = None
) -> float:
    """Find the standard error of log VS_q by the infinitesimal jackknife (Jaeckel 1972), O(n r)."""
    slopes, times = influence(spectrum, q), 1.0
    if clusters is not None:
        slopes = np.bincount(clusters, slopes)
        times = len(slopes) / max(1, len(slopes) - 1)
    return float(np.sqrt(times * np.sum(slopes**2))) / spectrum.n


def influence(spectrum: Spectrum, q: float = DEFAULT_ORDER) -> np.ndarray:
    """Find the slope of log VS_q in the share of each sample, (n,), of mean 0."""
    if math.isinf(q):
        if spectrum.vectors is None:
            raise ValueError(
                "`spectrum` has no vectors; pass spectrum_of(similarity, vectors=True)"
            )
        return np.asarray(1 - spectrum.n * to_host(spectrum.vectors)[:, 0] ** 2)
    return influence_of(surprise(spectrum, q) - log_score(spectrum, q), q)


def influence_of(gaps: np.ndarray, q: float) -> np.ndarray:
    """Find slopes from how much more surprising samples are than their set, at a finite order."""
    return q * surprisal(-gaps, q)
