"""Naive implementations of all definitions, to which the library is compared.

Nothing here calls the library. Similarities come from mpmath at 40 digits, so that no scale
overflows and no difference cancels; their spectrum from `numpy.linalg.eigvalsh` of the whole
(n, n) matrix, which no faster way of the library has in common. For magnitude see `closed_forms`.
"""

import itertools
import math
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np

MP = mpmath.MPContext()
MP.dps = 40


# similarities of two samples


def similarity_matrix(samples, k):
    """Return the matrix k(x_i, x_j) in float64."""
    n = len(samples)
    K = np.empty((n, n))
    for i in range(n):
        for j in range(i, n):
            K[i, j] = K[j, i] = float(k(samples[i], samples[j]))
    return K


def dot(x, y):
    return MP.fdot(map(MP.mpf, map(float, x)), map(MP.mpf, map(float, y)))


def cosine(x, y):
    return dot(x, y) / MP.sqrt(dot(x, x) * dot(y, y))


def differences(x, y):
    return [MP.mpf(float(a)) - MP.mpf(float(b)) for a, b in zip(x, y, strict=True)]


def euclidean(x, y):
    return MP.sqrt(MP.fsum(d**2 for d in differences(x, y)))


def manhattan(x, y):
    return MP.fsum(abs(d) for d in differences(x, y))


def median_distance(rows, distance):
    """Return the median over all pairs of distinct rows, 0.0 and −0.0 being one number; 1 without
    any."""
    distinct = list(dict.fromkeys(tuple(float(x) + 0.0 for x in row) for row in rows))
    result = sorted(distance(x, y) for x, y in itertools.combinations(distinct, 2))
    if not result:
        return MP.mpf(1)
    return (result[(len(result) - 1) // 2] + result[len(result) // 2]) / 2


def rbf(rows, sigma=None):
    s = median_distance(rows, euclidean) if sigma is None else MP.mpf(float(sigma))
    return lambda x, y: MP.exp(-((euclidean(x, y) / s) ** 2) / 2)


def laplacian(rows, sigma=None):
    s = median_distance(rows, manhattan) if sigma is None else MP.mpf(float(sigma))
    return lambda x, y: MP.exp(-manhattan(x, y) / s)


def ngram_overlap(ns, tokenize):
    """Return the mean over ns of the cosines of n-gram counts, divided by its own diagonal."""

    def counts(text, n):
        words = tokenize(text)
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    def overlap(a, b, n):
        A, B = counts(a, n), counts(b, n)
        if not A or not B:
            return 0.0
        shared = sum(A[g] * B[g] for g in A)
        return shared / math.sqrt(sum(c * c for c in A.values()) * sum(c * c for c in B.values()))

    def mean(a, b):
        return math.fsum(overlap(a, b, n) for n in ns) / len(ns)

    return lambda a, b: mean(a, b) / math.sqrt(mean(a, a) * mean(b, b))


def same_label(a, b):
    return float(a == b)


def tags(a, b):
    return len(set(a) & set(b)) / math.sqrt(len(set(a)) * len(set(b)))


def probability_product(a, b):
    def overlap(x, y):
        pairs = zip(x, y, strict=True)
        return MP.fsum(MP.sqrt(MP.mpf(float(p)) * MP.mpf(float(q))) for p, q in pairs)

    return overlap(a, b) / MP.sqrt(overlap(a, a) * overlap(b, b))


def tanimoto(a, b):
    """Return the Tanimoto similarity of two sets of bits; it is 1 for two empty ones."""
    return len(a & b) / len(a | b) if a | b else 1.0


def dice(a, b):
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0


# the Vendi Score


def normalized_eigenvalues(K, p=None):
    """Return the eigenvalues of diag(√p) K diag(√p) in ascending order."""
    K = np.asarray(K, dtype=float)
    n = len(K)
    p = np.full(n, 1 / n) if p is None else np.asarray(p, dtype=float) / math.fsum(p)
    K_p = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            K_p[i, j] = math.sqrt(p[i]) * (K[i, j] + K[j, i]) / 2 * math.sqrt(p[j])
    return np.linalg.eigvalsh(K_p)


def hill_number(values, q):
    """Return (Σ λ^q)^{1/(1−q)}, where λ are the positive values divided by their sum."""
    values = [float(v) for v in values if v > 0]
    total = math.fsum(values)
    logs = [math.log(v / total) for v in values]
    if q == 0:
        return float(len(values))
    if math.isinf(q):
        return math.exp(-max(logs))
    if q == 1:
        return math.exp(-math.fsum(math.exp(x) * x for x in logs))
    if abs(q - 1) < 0.01:  # Σ λ^q − 1 cancels
        return float(_hill_number_mp(logs, q))
    top = max(logs)
    scaled_log_sum = math.log(math.fsum(math.exp(q * (x - top)) for x in logs))
    return math.exp(q / (1 - q) * top + scaled_log_sum / (1 - q))


def _hill_number_mp(logs, q):
    logs = [MP.mpf(x) for x in logs]
    total = MP.fsum(MP.exp(x) for x in logs)
    return MP.fsum((MP.exp(x) / total) ** MP.mpf(q) for x in logs) ** (1 / (1 - MP.mpf(q)))


def vendi_score(K, q=1.0, p=None):
    """Return VS_q of the similarity matrix K of n samples with weights p.

    Eigenvalues below n·ε·λ_max may be rounding errors and are set to zero, where ε is the machine
    epsilon and λ_max the largest eigenvalue.
    """
    values = normalized_eigenvalues(K, p)
    noise = len(values) * np.finfo(float).eps * values[-1]
    return hill_number(np.where(values > noise, values, 0.0), q)


def score_bounds(values, q, noise=0.0):
    """Return the smallest and the largest VS_q that are possible with rounded eigenvalues.

    Of n eigenvalues, those below n·ε·λ_max count as zero, where ε is the machine epsilon and λ_max
    the largest eigenvalue. The results of two correct programs may differ by half of this limit, or
    by n·`noise`·λ_max if the similarities have an error of `noise`. Only orders below 1 are
    sensitive to these differences.
    """
    n, top = len(values), float(values[-1])
    threshold = n * np.finfo(float).eps * top
    error = max(threshold / 2, n * noise * top)
    result = []
    for shift in (-error, 0.0, error):
        moved = values + shift
        result.append(hill_number(np.where(moved > threshold, moved, 0.0), q))
    return min(result), max(result)


# other measures


def normalize_weights(n, p=None):
    return [1 / n] * n if p is None else [float(x) / math.fsum(p) for x in p]


def ordinariness(K, p=None):
    p = normalize_weights(len(K), p)
    return p, [math.fsum(K[i][j] * p[j] for j in range(len(p))) for i in range(len(p))]


def leinster_cobbold(K, q=1.0, p=None):
    """Return the Leinster-Cobbold diversity of order q in extended precision."""
    p, z = ordinariness(K, p)
    terms = [(MP.mpf(a), MP.log(MP.mpf(b))) for a, b in zip(p, z, strict=True) if a > 0]
    if q == 1:
        return float(MP.exp(-MP.fsum(a * b for a, b in terms)))
    if math.isinf(q):
        return float(MP.exp(-max(b for _, b in terms)))
    q = MP.mpf(q)
    total = MP.fsum(a for a, _ in terms)
    return float((MP.fsum(a / total * MP.exp((q - 1) * b) for a, b in terms)) ** (1 / (1 - q)))


def internal_diversity(K, p=None):
    p, z = ordinariness(K, p)
    return 1 - math.fsum(a * b for a, b in zip(p, z, strict=True))


def average_similarity(K):
    n = len(K)
    if n == 1:
        return 1.0
    return math.fsum(K[i][j] for i in range(n) for j in range(n) if i != j) / (n * (n - 1))


def geometric_mean_std(rows):
    """Return the geometric mean of the standard deviations of the columns, in rational
    arithmetic."""
    product = MP.mpf(1)
    columns = [[Fraction(float(x)) for x in column] for column in zip(*rows, strict=True)]
    for column in columns:
        mean = sum(column) / len(column)
        variance = sum((x - mean) ** 2 for x in column) / len(column)
        product *= MP.mpf(variance.numerator) / MP.mpf(variance.denominator)
    return float(product ** (MP.mpf(1) / (2 * len(columns))))
