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
        own = counts[classes]
        at = np.searchsorted(self.counts, own)
        self.expand_indices: np.ndarray = np.append(0, at + 1)
        n = len(classes)
        self.n_total = n
        left = np.full(len(self.counts), n - 1)
        self.n: np.ndarray = np.append(n, left)
        once = self.sum_over_classes(lambda x, n: x == 1)
        self.n_singletons = once
        twice = self.sum_over_classes(lambda x, n: x == 2)
        with_twice = once**2 / np.maximum(2 * twice, 1)
        without = once * (once - 1) / 2
        pairs = np.where(twice, with_twice, without)
        unseen = pairs * (self.n - 1)
        self.n_unseen: np.ndarray = unseen / self.n
        # Each individual beyond n adds this share of the addition of the one before.
        self.unseen_ratio: np.ndarray = unseen / np.maximum(unseen + once, 1)

    def sum_over_classes(self, term: Callable[[np.ndarray, int], np.ndarray]) -> np.ndarray:
        """Sum term(counts, n) over classes; the term of a count of 0 is 0."""
        n = self.n_total
        every = np.dot(term(self.counts, n), self.n_classes)
        each = np.asarray(term(self.counts, n - 1), dtype=float)
        fewer = term(self.counts - 1, n - 1)
        left = each @ self.n_classes - each + fewer
        return np.append(every, left)

    def diversity(self, m: float, q: float) -> np.ndarray:
        """Return the diversity of order q of m individuals, at orders 0 and 1 beyond n, too."""
        n = self.n

        def rarefied(counts: np.ndarray, n: int) -> np.ndarray:
            size = int(min(m, n))
            moments = [_expected_power(x, n, size, q) for x in counts]
            return np.array(moments)

        total = self.sum_over_classes(rarefied)
        observed = np.exp(total) if q == 1 else total ** (1 / (1 - q))
        if m <= self.n_total:
            return observed
        if q == 0:
            missed = self.unseen_ratio ** (m - n)
            return observed + self.n_unseen * (1 - missed)

        def entropies(counts: np.ndarray, n: int) -> np.ndarray:
            gaps = digamma(n) - digamma(np.maximum(counts, 1))
            return counts / n * gaps

        entropy = self.sum_over_classes(entropies)
        tail = _sum_tail(self.unseen_ratio[:, None], n[:, None])
        entropy += self.n_singletons / n * self.unseen_ratio * tail
        entropy[self.n_singletons == n] = math.inf
        share = n / m
        limit = np.exp(entropy * (1 - share))
        return observed**share * limit

    def kappas(self, m: float, q: float) -> np.ndarray:
        """Return κ of m individuals (1 + n,), for all and without each."""
        sizes = m if m > self.n_total else np.minimum(m, self.n)
        least = 1 / sizes
        kappas = (1 / self.diversity(m, q) - least) / (1 - least)
        return np.maximum(kappas, 0.0)[self.expand_indices]

    def coverage(self, m: int) -> float:
        """Return the share of the source that m individuals cover: one more adds the rest."""
        now, *_ = self.diversity(m, 0)
        more, *_ = self.diversity(m + 1, 0)
        return float(1 + now - more)


def _sum_tail(r: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return Σ r^j/(n + j) over j ≥ 0: ∫ e^−x / (n (1 − r e^(−x/n))) dx, in steps of log x."""
    step = 0.25
    x = np.exp(np.arange(-80, 5, step))
    fall = np.expm1(-x / n)
    below = n * (1 - r - r * fall)
    parts = x * np.exp(-x) / below
    return step * parts.sum(axis=1)


def _expected_power(count: int, n: int, m: int, q: float) -> float:
    """Return the expected (k/m)^q, or −(k/m) log(k/m), of k > 0 of a class in m of n."""
    fewest = max(1, m - n + count)
    most = min(count, m)
    k = np.arange(fewest, most + 1)
    inside = _log_binomial(count, k)
    outside = _log_binomial(n - count, m - k)
    logs = inside + outside - _log_binomial(n, m)
    shares = k / m
    parts = shares**q
    if q == 1:
        parts = -shares * np.log(shares)
    return float(np.exp(logs) @ parts)


def _log_binomial(n: int, k: np.ndarray | int) -> np.ndarray:
    """Return the logarithm of the number of subsets of k of n."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
