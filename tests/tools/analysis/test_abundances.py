"""Rarefaction, extrapolation and coverage from counts, against expectations over all subsets."""

import math
from itertools import combinations

import numpy as np
import pytest

from vendiscore.tools.analysis.abundances import Abundances

CLASSES = np.array([0, 0, 0, 1, 1, 2, 2, 3, 4, 0])
N = len(CLASSES)


def expected(classes, m, q):
    """Return the Hill number of the expected sums over all subsets of m individuals."""
    total, count = 0.0, 0
    for some in combinations(classes.tolist(), m):
        shares = np.bincount(some) / m
        shares = shares[shares > 0]
        total += -(shares * np.log(shares)).sum() if q == 1 else (shares**q).sum()
        count += 1
    mean = total / count
    return math.exp(mean) if q == 1 else mean ** (1 / (1 - q))


@pytest.mark.parametrize("q", [0, 0.5, 1, 2, 3])
@pytest.mark.parametrize("m", [1, 2, 5, 9, 10])
def test_fewer_individuals_have_the_diversity_of_expected_frequencies(m, q):
    result = Abundances(CLASSES).diversity(m, q)
    assert result[0] == pytest.approx(expected(CLASSES, m, q), rel=1e-9)


@pytest.mark.parametrize("q", [0, 1, 2])
def test_values_without_an_individual_are_those_of_the_others(q):
    whole = Abundances(CLASSES)
    result = whole.diversity(5, q)[whole.expand_indices][1:]
    for i in range(N):
        alone = Abundances(np.delete(CLASSES, i)).diversity(5, q)[0]
        assert result[i] == pytest.approx(alone, rel=1e-9)


@pytest.mark.parametrize("q", [0, 1])
@pytest.mark.parametrize("m", [11, 15, 30])
def test_extrapolation_without_an_individual_is_that_of_the_others(m, q):
    whole = Abundances(CLASSES)
    result = whole.diversity(m, q)[whole.expand_indices][1:]
    for i in (0, 4, 7):
        alone = Abundances(np.delete(CLASSES, i)).diversity(m, q)[0]
        assert result[i] == pytest.approx(alone, rel=1e-6)


def test_richness_beyond_n_approaches_chao1():
    # f1 = 2 classes seen once, f2 = 2 twice: Chao1 = 5 + (n − 1)/n · f1²/(2 f2).
    limit = 5 + (N - 1) / N * 4 / 4
    result = Abundances(CLASSES)
    numbers = [result.diversity(m, 0)[0] for m in (N, 2 * N, 10**6)]
    assert numbers[0] == 5
    assert numbers[0] < numbers[1] < numbers[2]
    assert numbers[2] == pytest.approx(limit)


def test_without_classes_seen_twice_chao1_is_bias_corrected():
    classes = np.array([0, 0, 0, 1, 2, 3])
    limit = 4 + 5 / 6 * 3 * 2 / 2
    assert Abundances(classes).diversity(10**7, 0)[0] == pytest.approx(limit)


def test_entropy_beyond_n_approaches_that_of_chao_wang_and_jost():
    counts = np.bincount(CLASSES)
    n, f1, f2 = N, 2, 2
    entropy = sum(x / n * sum(1 / k for k in range(x, n)) for x in counts)
    A = 2 * f2 / ((n - 1) * f1 + 2 * f2)
    entropy += (
        f1 / n * (1 - A) ** (1 - n) * (-math.log(A) - sum((1 - A) ** r / r for r in range(1, n)))
    )
    assert Abundances(CLASSES).diversity(10**9, 1)[0] == pytest.approx(math.exp(entropy), rel=1e-4)


@pytest.mark.parametrize("q", [0, 1])
def test_a_community_without_rare_classes_does_not_grow(q):
    classes = np.repeat(np.arange(4), 5)
    result = Abundances(classes)
    assert result.diversity(1000, q)[0] == pytest.approx(result.diversity(20, q)[0], rel=0.1)
    assert result.diversity(20, q)[0] == pytest.approx(4)
    assert result.coverage(20) == pytest.approx(1, abs=1e-9)


def test_kappa_is_0_for_distinct_individuals_and_1_for_one_class():
    assert Abundances(np.arange(6)).kappas(6, 1) == pytest.approx(np.zeros(7), abs=1e-9)
    assert Abundances(np.zeros(6, int)).kappas(4, 2) == pytest.approx(np.ones(7))
    result = Abundances(CLASSES).kappas(5, 1)
    vs = expected(CLASSES, 5, 1)
    assert result[0] == pytest.approx((1 / vs - 1 / 5) / (1 - 1 / 5))
    assert len(result) == N + 1


@pytest.mark.parametrize("m", [1, 4, 9])
def test_coverage_is_the_chance_that_one_more_is_of_a_known_class(m):
    gained = []
    for order in combinations(range(N), m):
        known = {CLASSES[i] for i in order}
        others = [i for i in range(N) if i not in order]
        gained.append(np.mean([CLASSES[i] in known for i in others]))
    assert Abundances(CLASSES).coverage(m) == pytest.approx(np.mean(gained))


def test_coverage_of_all_is_that_of_good_and_turing_nearly():
    f1, f2, n = 2, 2, N
    chao = 1 - f1 / n * ((n - 1) * f1 / ((n - 1) * f1 + 2 * f2))
    assert Abundances(CLASSES).coverage(N) == pytest.approx(chao)
