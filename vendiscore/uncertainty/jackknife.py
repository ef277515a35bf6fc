"""Find the standard error of log VS of n samples from what each sample or cluster adds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from ..arguments import DEFAULT_ORDER
from ..arrays.namespace import to_host
from ..spectral.clusters import leave_cluster_out
from ..spectral.rank_one import leave_one_out, log_score, surprise
from ..spectral.spectrum import Spectrum

# Above order 2 leaving one out takes a root for each eigenvalue: for more samples, the
# infinitesimal jackknife has the same errors within some percent.
MOST_ROOTS = 200
# The same limit for clusters, each of which takes the eigenvalues of small matrices.
MOST_CLUSTERS = 50
# A deficit below this is 0 but for rounding: what is left has nothing in common.
NO_DEFICIT = 1e-9


@dataclass(frozen=True)
class Jackknife:
    """log VS_q of n samples, and its error from leaving out each of `units`.

    `spread` is the standard error of log(log n − log VS), infinite where nothing in common is left
    without one of them; `corrected` is log VS without its bias of order 1/n, NaN if not found.
    """

    log: float
    error: float
    spread: float
    corrected: float
    units: int

    @property
    def saturated(self) -> bool:
        """True if the correction is within two standard errors."""
        return abs(self.corrected - self.log) <= 2 * self.error


def quantile(level: float) -> float:
    """Return how many standard errors an interval of that level reaches to each side."""
    return float(scipy.special.ndtri((1 + level) / 2))


def ends(log: float, reach: float, most: int) -> tuple[float, float]:
    """Return exp(log ± reach), in [1, most]."""
    return math.exp(max(0.0, log - reach)), math.exp(min(math.log(most), log + reach))


def sampling_error(
    spectrum: Spectrum, q: float = DEFAULT_ORDER, clusters: np.ndarray | None = None
) -> Jackknife:
    """Find the error by leaving out, or, where that takes too long, by the slopes in weights."""
    slow = 2 < q < math.inf and spectrum.n > MOST_ROOTS
    if clusters is not None:
        slow = q > 2 or clusters.max() >= MOST_CLUSTERS
    if not slow:
        return jackknife(spectrum, q, clusters)
    whole, error = log_score(spectrum, q), influence_error(spectrum, q, clusters)
    deficit = math.log(spectrum.n) - whole
    spread = error / deficit if deficit > NO_DEFICIT else math.inf
    units = spectrum.n if clusters is None else int(clusters.max()) + 1
    return Jackknife(whole, error, spread, math.nan, units)


def jackknife(
    spectrum: Spectrum, q: float = DEFAULT_ORDER, clusters: np.ndarray | None = None
) -> Jackknife:
    """Find the score of order q, its error and its bias (Efron & Stein 1981)."""
    whole, n = log_score(spectrum, q), spectrum.n
    if clusters is None:
        left = leave_one_out(spectrum, q)
        deficits = math.log(n - 1) - left
    else:  # codes from 0 to their number, less 1
        left = leave_cluster_out(spectrum, clusters, q)
        deficits = np.log(n - np.bincount(clusters)) - left
    spread, units = math.inf, len(left)
    if (deficits > NO_DEFICIT).all():
        spread = delete_one_error(np.log(deficits))
    corrected = units * whole - (units - 1) * float(left.mean())
    return Jackknife(whole, delete_one_error(left), spread, corrected, units)


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
    return gaps if q == 1 else np.asarray(q * np.expm1((1 - q) * gaps) / (1 - q))
