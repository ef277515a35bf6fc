"""The standard error of log VS from what each sample adds: the delete-one jackknife.

All leave-one-out scores follow from the one spectrum, so that the error costs little more than the
score. It is that of the score *of n samples*: how far another n samples of the same source would
score from these. It says nothing about what more samples would add: see `growth`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from ..spectral.rank_one import leave_one_out, log_score
from ..spectral.spectrum import Spectrum


@dataclass(frozen=True)
class Jackknife:
    """A score with its standard error, on the scale of logarithms, where errors are even.

    Attributes
    ----------
    n : int
        Number of samples.
    log : float
        log VS_q, at least 0.
    error : float
        Standard error of `log`, so that of VS is about VS · error.
    corrected : float
        n log − (n−1) · the mean of log VS without each sample: `log` without its bias of order
        1/n (Quenouille). All of the bias only where the set is nearly saturated.
    """

    n: int
    log: float
    error: float
    corrected: float

    def interval(self, level: float) -> tuple[float, float]:
        """The interval for the score of n samples, in [1, n]: exp(log ± z · error)."""
        reach = float(ndtri((1 + level) / 2)) * self.error
        low, high = np.exp([self.log - reach, self.log + reach])
        return max(1.0, float(low)), min(float(self.n), float(high))

    @property
    def saturated(self) -> bool:
        """Whether the correction is within two standard errors."""
        return abs(self.corrected - self.log) <= 2 * self.error


def jackknife(spectrum: Spectrum, q: float = 1.0) -> Jackknife:
    """The score of order q, its standard error and its bias.

    Parameters
    ----------
    spectrum : Spectrum
        With vectors, of two samples or more.
    q : float in (0, ∞]

    Raises
    ------
    ValueError
        For order 0, for a spectrum without vectors, and for a single sample.

    References
    ----------
    Efron & Stein, Annals of Statistics 1981. The leave-one-out scores: `spectral.rank_one`.

    Examples
    --------
    >>> from vendiscore import FeatureSimilarity
    >>> from vendiscore.spectral.vendi import spectrum_of
    >>> found = spectrum_of(FeatureSimilarity(np.eye(2)[[0, 0, 1]]), vectors=True)
    >>> jackknife(found).error.__round__(3)
    0.462
    """
    left, whole = leave_one_out(spectrum, q), log_score(spectrum, q)
    n = len(left)
    mean = float(left.mean())
    error = float(np.sqrt((n - 1) / n * np.sum((left - mean) ** 2)))
    return Jackknife(n, whole, error, n * whole - (n - 1) * mean)
