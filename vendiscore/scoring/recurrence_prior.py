"""A prior for the rate of repeated samples, estimated from all groups of a table.

A few answers to a prompt rarely show how often answers repeat; the answers to many prompts do. The
probability σ that two samples of a group are equal has a truncated gamma distribution over groups,
evaluated on a grid of σ. The parameters of this distribution are uncertain: they have a grid of
their own, weighted by the likelihood of all groups (a hierarchical model with a posterior of the
hyperparameters).

The number of equal pairs among n samples has the mean σ n(n − 1)/2. Its variance is that of a
Poisson distribution if no sample is equal to several others. It is largest if a single item with
proportion √σ recurs, since Σ p³ ≤ (Σ p²)^{3/2} for all proportions p. The count is modelled as
Poisson or as negative binomial with this largest variance, with equal prior probability, or only as
the latter if no tail of an interval may exceed its level.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

# Minimum number of groups for estimating how often samples repeat (benchmarks/pooled_repeats.py).
MIN_GROUPS = 6
# The grid of gamma distributions: shapes, and means before truncation to the range of `_SIGMA`,
# which lowers the largest means (0.7 becomes 0.12 at shape 0.1). All have equal prior weight. The
# grid was chosen by hand to cover all rates of repeats almost evenly on a logarithmic scale;
# benchmarks/pooled_repeats.py measures the coverage of the resulting intervals.
_SHAPES = (0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 3, 5, 8, 15, 30, 60)
_MEANS = (
    *(1e-4, 3e-4, 1e-3, 2e-3, 4e-3, 7e-3, 0.012, 0.02, 0.03),
    *(0.05, 0.08, 0.12, 0.18, 0.25, 0.35, 0.5, 0.7),
)
_SIGMA = np.geomspace(1e-6, 0.999, 250)
# Above the smallest double, to avoid infinite logarithms and division by 0.
_MIN_LIKELIHOOD = 1e-300


class RecurrencePrior(NamedTuple):
    """Distributions of σ, the probability that two samples of a group are equal.

    `masses` (m, points) are m gamma distributions on a grid, `weights` (m,) their posterior. With
    `conservative_tails`, counts have the largest possible variance.
    """

    masses: np.ndarray
    weights: np.ndarray
    conservative_tails: bool = False


def fit_recurrence_prior(
    pairs: ArrayLike, sizes: ArrayLike, conservative_tails: bool = False
) -> RecurrencePrior:
    """Weight distributions of σ by the numbers of equal pairs in groups of these sizes, (groups,).

    Groups may differ in size, but need at least 3 samples.
    """
    counts, times = np.unique(np.transpose([pairs, sizes]), axis=0, return_counts=True)
    masses = _gamma_masses()
    equal, n = counts.T
    likelihoods = _compute_likelihoods(equal, n, conservative_tails) @ masses.T
    logs = times @ np.log(np.maximum(likelihoods, _MIN_LIKELIHOOD))
    weights = np.exp(logs - logs.max())
    return RecurrencePrior(masses, weights / weights.sum(), conservative_tails)


def estimate_upper_pair_counts(
    prior: RecurrencePrior, pairs: ArrayLike, sizes: ArrayLike, level: float
) -> np.ndarray:
    """Return the upper end of the expected number of equal pairs in each group, (groups,).

    The posterior probability above it, given the pairs of the group, is (1 − level)/2.
    """
    rows = np.transpose([pairs, sizes])
    counts, groups = np.unique(rows, axis=0, return_inverse=True)
    equal, n = counts.T
    likelihoods = _compute_likelihoods(equal, n, prior.conservative_tails)
    weights = prior.weights / np.maximum(likelihoods @ prior.masses.T, _MIN_LIKELIHOOD)
    posterior = (weights @ prior.masses) * likelihoods
    below = np.cumsum(posterior, axis=1)
    point = np.argmax(below >= (1 + level) / 2 * below[:, -1:], axis=1)
    upper: np.ndarray = (_SIGMA[point] * n * (n - 1) / 2)[groups.ravel()]
    return upper


@lru_cache(maxsize=1)
def _gamma_masses() -> np.ndarray:
    """Return the masses of truncated gamma distributions on the grid, each with sum 1.

    The array is cached and read-only.
    """
    shapes, means = (grid.ravel()[:, None] for grid in np.meshgrid(_SHAPES, _MEANS))
    logs = shapes * np.log(_SIGMA / means) - shapes / means * _SIGMA
    masses: np.ndarray = np.exp(logs - logs.max(axis=1, keepdims=True))
    masses /= masses.sum(axis=1, keepdims=True)
    masses.setflags(write=False)
    return masses


def _compute_likelihoods(
    pairs: np.ndarray, sizes: np.ndarray, conservative_tails: bool
) -> np.ndarray:
    """Return the probability of each number of pairs at each grid point, (counts, points).

    An item with proportion s = √σ has Var − mean = n(n − 1)(n − 2)(s³ − s⁴) − n(n − 1)/2 s⁴ ≤ n(n −
    1)(n − 2)(s³ − s⁴). This bound is Var − mean of a negative binomial count with parameter r = n(n
    − 1)/(4(n − 2)) s/(1 − s).
    """
    count = pairs[:, None]
    n = sizes[:, None]
    share = np.sqrt(_SIGMA)
    mean = _SIGMA * n * (n - 1) / 2
    r = n * (n - 1) / (4 * (n - 2)) * share / (1 - share)
    logs = scipy.special.gammaln(count + r) - scipy.special.gammaln(r)
    logs += r * np.log(r / (r + mean)) + count * np.log(mean / (r + mean))
    constant = scipy.special.gammaln(count + 1)
    likelihoods: np.ndarray = np.exp(logs - constant)
    if not conservative_tails:
        likelihoods = likelihoods + np.exp(count * np.log(mean) - mean - constant)
    return likelihoods
