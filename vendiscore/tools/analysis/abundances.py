"""Diversity and coverage of any number of individuals, from the counts of their classes.

Up to n: the Hill number of the expected counts of frequencies (Chao et al., Ecological Monographs
2014). Beyond n: orders 0 (Chao1, a lower bound) and 1 (Chao, Wang & Jost 2013), as iNEXT has them.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import digamma, gammaln


class Abundances:
    """Sums over classes, of all n individuals and then without one of a class of each count."""

    def __init__(self, classes: np.ndarray) -> None:
        counts = np.bincount(classes)
        self.counts, self.n_classes = np.unique(counts, return_counts=True)
        counts_by_individual = counts[classes]
        positions = np.searchsorted(self.counts, counts_by_individual)
        self.expand_indices: np.ndarray = np.append(0, positions + 1)
        n = len(classes)
        self.n_total = n
        sizes_without_one = np.full(len(self.counts), n - 1)
        self.n: np.ndarray = np.append(n, sizes_without_one)
        singletons = self.sum_over_classes(lambda x, n: x == 1)
        self.n_singletons = singletons
        doubletons = self.sum_over_classes(lambda x, n: x == 2)
        ratios_with_doubletons = singletons**2 / np.maximum(2 * doubletons, 1)
        ratios_without_doubletons = singletons * (singletons - 1) / 2
        unseen_ratios = np.where(doubletons, ratios_with_doubletons, ratios_without_doubletons)
        unseen = unseen_ratios * (self.n - 1)
        self.n_unseen: np.ndarray = unseen / self.n
        # Each individual beyond n adds this share of the addition of the one before.
        self.unseen_ratio: np.ndarray = unseen / np.maximum(unseen + singletons, 1)

    def sum_over_classes(self, term: Callable[[np.ndarray, int], np.ndarray]) -> np.ndarray:
        """Sum term(counts, n) over classes; the term of a count of 0 is 0."""
        n_total = self.n_total
        sum_of_all = np.dot(term(self.counts, n_total), self.n_classes)
        terms = np.asarray(term(self.counts, n_total - 1), dtype=float)
        terms_without_one = term(self.counts - 1, n_total - 1)
        sums_without_one = terms @ self.n_classes - terms + terms_without_one
        return np.append(sum_of_all, sums_without_one)

    def diversity(self, m: float, q: float) -> np.ndarray:
        """Return the diversity of order q of m individuals, at orders 0 and 1 beyond n, too."""
        n = self.n

        def rarefied(counts: np.ndarray, n: int) -> np.ndarray:
            size = int(min(m, n))
            moments = [_expected_power(x, n, size, q) for x in counts]
            return np.array(moments)

        class_sum = self.sum_over_classes(rarefied)
        observed = np.exp(class_sum) if q == 1 else class_sum ** (1 / (1 - q))
        if m <= self.n_total:
            return observed
        if q == 0:
            unseen_proportion = self.unseen_ratio ** (m - n)
            return observed + self.n_unseen * (1 - unseen_proportion)

        def entropies(counts: np.ndarray, n: int) -> np.ndarray:
            gaps = digamma(n) - digamma(np.maximum(counts, 1))
            return counts / n * gaps

        entropy = self.sum_over_classes(entropies)
        tail = _sum_tail(self.unseen_ratio[:, None], n[:, None])
        entropy += self.n_singletons / n * self.unseen_ratio * tail
        entropy[self.n_singletons == n] = math.inf
        observed_proportion = n / m
        limit = np.exp(entropy * (1 - observed_proportion))
        return observed**observed_proportion * limit

    def kappas(self, m: float, q: float) -> np.ndarray:
        """Return κ of m individuals (1 + n,), for all and without each."""
        sizes = m if m > self.n_total else np.minimum(m, self.n)
        min_inverse = 1 / sizes
        kappas = (1 / self.diversity(m, q) - min_inverse) / (1 - min_inverse)
        return np.maximum(kappas, 0.0)[self.expand_indices]

    def coverage(self, m: int) -> float:
        """Return the share of the source that m individuals cover: one more adds the rest."""
        diversity, *_ = self.diversity(m, 0)
        diversity_with_one_more, *_ = self.diversity(m + 1, 0)
        return float(1 + diversity - diversity_with_one_more)


def _sum_tail(r: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return Σ r^j/(n + j) over j ≥ 0: ∫ e^−x / (n (1 − r e^(−x/n))) dx, in steps of log x."""
    step = 0.25
    x = np.exp(np.arange(-80, 5, step))
    decay = np.expm1(-x / n)
    denominators = n * (1 - r - r * decay)
    integrand = x * np.exp(-x) / denominators
    return step * integrand.sum(axis=1)


def _expected_power(count: int, n: int, m: int, q: float) -> float:
    """Return the expected (k/m)^q, or −(k/m) log(k/m), of k > 0 of a class in m of n."""
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
    """Return the logarithm of the number of subsets of k of n."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
