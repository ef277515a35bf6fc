"""A prior for the rate at which samples recur, estimated from all groups.

A few answers to a single prompt rarely show how often answers recur, but the answers to many
prompts do. The model is hierarchical. For each group, σ is the probability that two samples from
its population are equal. σ varies between groups with a truncated gamma distribution, evaluated on
a grid of σ. The parameters of the gamma distribution, its shape and mean, have a grid of their own.
Each point of this second grid is weighted by the likelihood of the observed numbers of equal pairs
in all groups.

The number of equal pairs among n samples has the mean σ n(n − 1)/2. Its variance is that of a
Poisson distribution if no sample is equal to several others. It is largest if only a single item
recurs, whose proportion in the population is then √σ, because Σ p³ ≤ (Σ p²)^{3/2} for all
proportions p of items. The number of pairs is modelled as Poisson, or as negative binomial with
this largest variance, with equal prior probability. With conservative tails, for which the
probability of each tail of an interval is limited, it is always modelled as negative binomial.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

# Minimum number of groups for estimating how often samples recur (benchmarks/pooled_repeats.py).
MIN_GROUPS = 6
# The grid of gamma distributions: shapes, and means before truncation to the range of `_SIGMA`,
# which lowers the largest means (0.7 becomes 0.12 at shape 0.1). All have equal prior weight. The
# grid was chosen by hand to cover all rates of recurrence almost evenly on a logarithmic scale;
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

    - `masses`, shape (m, points): m gamma distributions, as probabilities of the points of a grid
      of σ
    - `weights`, shape (m,): posterior probability of each gamma distribution
    - `conservative_tails`: whether numbers of equal pairs are always modelled with the largest
      possible variance
    """

    masses: np.ndarray
    weights: np.ndarray
    conservative_tails: bool = False


def fit_recurrence_prior(
    pairs: ArrayLike, sizes: ArrayLike, conservative_tails: bool = False
) -> RecurrencePrior:
    """Compute the posterior probabilities of the gamma distributions of σ from all groups.

    σ is the probability that two samples of a group are equal. Its distribution over groups is one
    of the gamma distributions of a grid.

    `pairs` and `sizes`, both of shape (groups,), are the numbers of equal pairs and of samples in
    each group. Sizes may differ, but must be at least 3. With `conservative_tails`, numbers of
    pairs are modelled with their largest possible variance.
    """
    # Groups with equal numbers of pairs and samples have equal likelihoods, computed only once.
    distinct_rows, n_groups = np.unique(np.transpose([pairs, sizes]), axis=0, return_counts=True)
    distinct_pairs, distinct_sizes = distinct_rows.T
    masses = _compute_gamma_masses()
    likelihoods = (
        _compute_likelihoods(distinct_pairs, distinct_sizes, conservative_tails) @ masses.T
    )
    log_likelihoods = n_groups @ np.log(np.maximum(likelihoods, _MIN_LIKELIHOOD))
    weights = np.exp(log_likelihoods - log_likelihoods.max())
    return RecurrencePrior(masses, weights / weights.sum(), conservative_tails)


def estimate_upper_pair_counts(
    prior: RecurrencePrior, pairs: ArrayLike, sizes: ArrayLike, level: float
) -> np.ndarray:
    """Return an upper limit of the expected number of equal pairs in each group, shape (groups,).

    `pairs` and `sizes`, both of shape (groups,), are the numbers of equal pairs and of samples in
    each group. The expected number exceeds the limit with the posterior probability (1 − level)/2.
    """
    # Groups with equal numbers of pairs and samples have equal limits, computed only once.
    distinct_rows, row_of_group = np.unique(
        np.transpose([pairs, sizes]), axis=0, return_inverse=True
    )
    distinct_pairs, n = distinct_rows.T
    likelihoods = _compute_likelihoods(distinct_pairs, n, prior.conservative_tails)
    # `prior.weights` already include the likelihood of all groups. For each group, the posterior of
    # σ given a gamma distribution is its mass times the likelihood, divided by their sum.
    weights = prior.weights / np.maximum(likelihoods @ prior.masses.T, _MIN_LIKELIHOOD)
    posterior = (weights @ prior.masses) * likelihoods
    cumulative = np.cumsum(posterior, axis=1)
    quantile_points = np.argmax(cumulative >= (1 + level) / 2 * cumulative[:, -1:], axis=1)
    upper: np.ndarray = (_SIGMA[quantile_points] * n * (n - 1) / 2)[row_of_group.ravel()]
    return upper


@lru_cache(maxsize=1)
def _compute_gamma_masses() -> np.ndarray:
    """Return m truncated gamma distributions as probabilities of the grid points of σ, (m, points).

    σ is the probability that two samples of a group are equal. The distributions are truncated to
    the range of the grid, from almost 0 to almost 1. Each of the m rows has the sum 1. The array is
    cached and read-only.
    """
    shapes, means = (grid.ravel()[:, None] for grid in np.meshgrid(_SHAPES, _MEANS))
    # The gamma density is proportional to σ^(shape − 1) exp(−σ shape/mean). The grid points are
    # equally spaced in log σ, so their probabilities are proportional to the density times σ.
    log_masses = shapes * np.log(_SIGMA / means) - shapes / means * _SIGMA
    masses: np.ndarray = np.exp(log_masses - log_masses.max(axis=1, keepdims=True))
    masses /= masses.sum(axis=1, keepdims=True)
    masses.setflags(write=False)
    return masses


def _compute_likelihoods(
    pairs: np.ndarray, sizes: np.ndarray, conservative_tails: bool
) -> np.ndarray:
    """Return the likelihood of the number of equal pairs at each grid point of σ, (groups, points).

    `pairs` and `sizes`, both of shape (groups,), are the numbers of equal pairs and of samples n of
    each group. σ is the probability that two samples of a group are equal.

    If only a single item recurs, with proportion s = √σ in the population, the number of equal
    pairs has Var − mean = n(n − 1)(n − 2)(s³ − s⁴) − n(n − 1)/2 s⁴ ≤ n(n − 1)(n − 2)(s³ − s⁴).
    A negative binomial distribution with the same mean and the parameter
    r = n(n − 1)/(4(n − 2)) s/(1 − s), its number of successes, attains this bound.
    Its likelihood is returned. Without `conservative_tails`, the Poisson likelihood is added, which
    gives both models equal prior probability: the factor 1/2 has no effect on posteriors.
    """
    count = pairs[:, None]
    n = sizes[:, None]
    s = np.sqrt(_SIGMA)
    mean = _SIGMA * n * (n - 1) / 2
    r = n * (n - 1) / (4 * (n - 2)) * s / (1 - s)
    logs = scipy.special.gammaln(count + r) - scipy.special.gammaln(r)
    logs += r * np.log(r / (r + mean)) + count * np.log(mean / (r + mean))
    constant = scipy.special.gammaln(count + 1)
    likelihoods: np.ndarray = np.exp(logs - constant)
    if not conservative_tails:
        likelihoods = likelihoods + np.exp(count * np.log(mean) - mean - constant)
    return likelihoods
