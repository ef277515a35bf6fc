"""Diversity and coverage of m samples, estimated from the class labels of n samples.

For m ≤ n (rarefaction), the diversity is the Hill number of the expected numbers of classes that
occur once, twice and so on among m samples (Chao et al., Ecological Monographs 2014). For m > n
(extrapolation), only order 0 (Chao1, a lower bound) and order 1 (Chao, Wang & Jost 2013) are
supported. The formulas are those of iNEXT.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import digamma, gammaln


class Abundances:
    """Class counts of n samples, and of these samples without each single one.

    `classes` contains the class code of each sample, shape (n,). A result without one sample
    depends only on the count of its class. Results of methods therefore have shape (1 + c,) for c
    distinct counts: the first entry is for all n samples, and the other entries are for all samples
    except one from a class with that count. `expand_indices`, shape (1 + n,), are positions in such
    a result: first that of all samples, then that of the set without each single sample.
    """

    def __init__(self, classes: np.ndarray) -> None:
        """Count the samples of each class; `classes`, shape (n,), are codes of n samples."""
        counts = np.bincount(classes)
        self.counts: np.ndarray
        self.n_classes: np.ndarray
        self.counts, self.n_classes = np.unique(counts, return_counts=True)
        counts_by_individual = counts[classes]
        positions = np.searchsorted(self.counts, counts_by_individual)
        self.expand_indices: np.ndarray = np.append(0, positions + 1)
        n = len(classes)
        self.n_total = n
        sizes_without_one = np.full(len(self.counts), n - 1)
        self.set_sizes: np.ndarray = np.append(n, sizes_without_one)  # shape (1 + c,)
        singletons = self.sum_over_classes(lambda x, n: x == 1)
        self.n_singletons = singletons
        doubletons = self.sum_over_classes(lambda x, n: x == 2)
        estimates_with_doubletons = singletons**2 / np.maximum(2 * doubletons, 1)
        estimates_without_doubletons = singletons * (singletons - 1) / 2
        unseen_estimates = np.where(
            doubletons, estimates_with_doubletons, estimates_without_doubletons
        )
        unseen = unseen_estimates * (self.set_sizes - 1)
        self.n_unseen: np.ndarray = unseen / self.set_sizes
        # The expected number of new classes decreases by this factor with each sample beyond n.
        self.unseen_ratio: np.ndarray = unseen / np.maximum(unseen + singletons, 1)

    def sum_over_classes(self, term: Callable[[np.ndarray, int], np.ndarray]) -> np.ndarray:
        """Return the sum of term(count, number of samples) over classes, shape (1 + c,).

        The first entry is for all n samples, the c others are without one sample (see the class).
        `term` maps an array of counts to an array of the same shape; a count of 0 must give 0.
        """
        n_total = self.n_total
        sum_of_all = np.dot(term(self.counts, n_total), self.n_classes)
        terms = np.asarray(term(self.counts, n_total - 1), dtype=float)
        terms_without_one = term(self.counts - 1, n_total - 1)
        sums_without_one = terms @ self.n_classes - terms + terms_without_one
        return np.append(sum_of_all, sums_without_one)

    def diversity(self, m: float, q: float) -> np.ndarray:
        """Estimate the Hill number of order q of m samples, shape (1 + c,).

        The first entry is estimated from all n samples, the c others without one sample, for each
        of the c distinct class counts that this sample may have.
        If m is larger than n, q must be 0 or 1.
        """
        n = self.set_sizes

        def expected_powers(counts: np.ndarray, n: int) -> np.ndarray:
            size = int(min(m, n))
            moments = [_expected_power(x, n, size, q) for x in counts]
            return np.array(moments)

        class_sum = self.sum_over_classes(expected_powers)
        observed = np.exp(class_sum) if q == 1 else class_sum ** (1 / (1 - q))
        if m <= self.n_total:
            return observed
        if q == 0:
            unseen_proportion = self.unseen_ratio ** (m - n)
            return observed + self.n_unseen * (1 - unseen_proportion)

        def entropy_terms(counts: np.ndarray, n: int) -> np.ndarray:
            gaps = digamma(n) - digamma(np.maximum(counts, 1))
            return counts / n * gaps

        entropy = self.sum_over_classes(entropy_terms)
        tail = _sum_tail(self.unseen_ratio[:, None], n[:, None])
        entropy += self.n_singletons / n * self.unseen_ratio * tail
        entropy[self.n_singletons == n] = math.inf
        observed_proportion = n / m
        limit = np.exp(entropy * (1 - observed_proportion))
        return observed**observed_proportion * limit

    def kappas(self, m: float, q: float) -> np.ndarray:
        """Return κ = (m/D − 1)/(m − 1) for the Hill number D of order q of m samples.

        The result, shape (1 + n,), is for all n samples, and then without each single sample.
        """
        # Extrapolated diversities are of m samples. Otherwise, m samples are drawn from n, or from
        # the n − 1 samples without one, which limits their number.
        sizes = m if m > self.n_total else np.minimum(m, self.set_sizes)
        inverse_sizes = 1 / sizes
        kappas = (1 / self.diversity(m, q) - inverse_sizes) / (1 - inverse_sizes)
        return np.maximum(kappas, 0.0)[self.expand_indices]  # from shape (1 + c,) to (1 + n,)

    def coverage(self, m: int) -> float:
        """Estimate which proportion of the population belongs to a class that m samples contain.

        It is 1 minus the expected number of new classes in one further sample.
        """
        diversity, *_ = self.diversity(m, 0)
        diversity_with_one_more, *_ = self.diversity(m + 1, 0)
        return float(1 + diversity - diversity_with_one_more)


def _sum_tail(r: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return Σ r^j/(n + j) over integers j ≥ 0 for each of g pairs of r and n, shape (g,).

    r and n have shape (g, 1). The sum equals the integral of e^−x / (n (1 − r e^(−x/n))) over
    x > 0, which is computed with equal steps of log x.
    """
    step = 0.25
    x = np.exp(np.arange(-80, 5, step))
    decay = np.expm1(-x / n)
    denominators = n * (1 - r - r * decay)
    integrand = x * np.exp(-x) / denominators
    return step * integrand.sum(axis=1)


def _expected_power(count: int, n: int, m: int, q: float) -> float:
    """Return the expected value of (k/m)^q, or of −(k/m) log(k/m) for q = 1, and 0 for k = 0.

    k is the number of samples of one class among m samples that are drawn without replacement from
    n samples, of which `count` belong to this class.
    """
    min_k = max(1, m - n + count)
    max_k = min(count, m)
    k = np.arange(min_k, max_k + 1)
    log_ways_inside = _log_binomial(count, k)
    log_ways_outside = _log_binomial(n - count, m - k)
    log_probabilities = log_ways_inside + log_ways_outside - _log_binomial(n, m)
    proportions = k / m
    terms = proportions**q
    if q == 1:
        terms = -proportions * np.log(proportions)
    return float(np.exp(log_probabilities) @ terms)


def _log_binomial(n: int, k: np.ndarray | int) -> np.ndarray:
    """Return the logarithm of the binomial coefficient n! / (k! (n − k)!)."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
