"""Rarefaction, extrapolation and coverage match averages over all subsets of individuals."""

import math
from itertools import combinations

import numpy as np
import pytest

from vendiscore.tools.analysis.abundances import Abundances

CLASSES = np.array([0, 0, 0, 1, 1, 2, 2, 3, 4, 0])
N = len(CLASSES)


def rarefied_hill_number(classes, m, q):
    """Average the sums in the Hill number over all subsets of m individuals."""
    total, count = 0.0, 0
    for subset in combinations(classes.tolist(), m):
        proportions = np.bincount(subset) / m
        proportions = proportions[proportions > 0]
        total += -(proportions * np.log(proportions)).sum() if q == 1 else (proportions**q).sum()
        count += 1
    mean = total / count
    return math.exp(mean) if q == 1 else mean ** (1 / (1 - q))


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, 3])
@pytest.mark.parametrize("m", [1, 2, 5, 9, 10])
def test_diversity_of_m_individuals_equals_rarefied_hill_number(m, q):
    result = Abundances(CLASSES).diversity(m, q)
    assert result[0] == pytest.approx(rarefied_hill_number(CLASSES, m, q), rel=1e-9)


@pytest.mark.parametrize("q", [0, 1, 2])
def test_leave_one_out_values_equal_values_of_remaining_individuals(q):
    abundances = Abundances(CLASSES)
    result = abundances.diversity(5, q)[abundances.expand_indices][1:]
    for i in range(N):
        rarefied_hill_number = Abundances(np.delete(CLASSES, i)).diversity(5, q)[0]
        assert result[i] == pytest.approx(rarefied_hill_number, rel=1e-9)


@pytest.mark.parametrize("q", [0, 1])
@pytest.mark.parametrize("m", [11, 15, 30])
def test_leave_one_out_extrapolation_equals_extrapolation_of_the_others(m, q):
    abundances = Abundances(CLASSES)
    result = abundances.diversity(m, q)[abundances.expand_indices][1:]
    for i in (0, 4, 7):
        rarefied_hill_number = Abundances(np.delete(CLASSES, i)).diversity(m, q)[0]
        assert result[i] == pytest.approx(rarefied_hill_number, rel=1e-6)


def test_richness_extrapolation_approaches_chao1():
    # f1 = 2 singletons, f2 = 2 doubletons: Chao1 = 5 + (n − 1)/n · f1²/(2 f2).
    limit = 5 + (N - 1) / N * 4 / 4
    result = Abundances(CLASSES)
    richness = [result.diversity(m, 0)[0] for m in (N, 2 * N, 10**6)]
    assert richness[0] == 5
    assert richness[0] < richness[1] < richness[2]
    assert richness[2] == pytest.approx(limit)


def test_chao1_is_bias_corrected_without_doubletons():
    classes = np.array([0, 0, 0, 1, 2, 3])
    limit = 4 + 5 / 6 * 3 * 2 / 2
    assert Abundances(classes).diversity(10**7, 0)[0] == pytest.approx(limit)


def test_entropy_extrapolation_approaches_chao_wang_jost_estimate():
    counts = np.bincount(CLASSES)
    n, f1, f2 = N, 2, 2
    entropy = sum(x / n * sum(1 / k for k in range(x, n)) for x in counts)
    A = 2 * f2 / ((n - 1) * f1 + 2 * f2)
    entropy += (
        f1 / n * (1 - A) ** (1 - n) * (-math.log(A) - sum((1 - A) ** r / r for r in range(1, n)))
    )
    assert Abundances(CLASSES).diversity(10**9, 1)[0] == pytest.approx(math.exp(entropy), rel=1e-4)


@pytest.mark.parametrize("q", [0, 1])
def test_diversity_does_not_grow_without_rare_classes(q):
    classes = np.repeat(np.arange(4), 5)
    result = Abundances(classes)
    assert result.diversity(1000, q)[0] == pytest.approx(result.diversity(20, q)[0], rel=0.1)
    assert result.diversity(20, q)[0] == pytest.approx(4)
    assert result.coverage(20) == pytest.approx(1, abs=1e-9)


def test_kappa_is_0_for_distinct_individuals_and_1_for_one_class():
    assert Abundances(np.arange(6)).kappas(6, 1) == pytest.approx(np.zeros(7), abs=1e-9)
    assert Abundances(np.zeros(6, int)).kappas(4, 2) == pytest.approx(np.ones(7))
    result = Abundances(CLASSES).kappas(5, 1)
    vs = rarefied_hill_number(CLASSES, 5, 1)
    assert result[0] == pytest.approx((1 / vs - 1 / 5) / (1 - 1 / 5))
    assert len(result) == N + 1


@pytest.mark.parametrize("m", [1, 4, 9])
def test_coverage_equals_probability_that_next_class_was_observed(m):
    fractions = []
    for order in combinations(range(N), m):
        observed_classes = {CLASSES[i] for i in order}
        remaining = [i for i in range(N) if i not in order]
        fractions.append(np.mean([CLASSES[i] in observed_classes for i in remaining]))
    assert Abundances(CLASSES).coverage(m) == pytest.approx(np.mean(fractions))


def test_coverage_of_all_individuals_equals_chao_jost_estimate():
    f1, f2, n = 2, 2, N
    chao = 1 - f1 / n * ((n - 1) * f1 / ((n - 1) * f1 + 2 * f2))
    assert Abundances(CLASSES).coverage(N) == pytest.approx(chao)
