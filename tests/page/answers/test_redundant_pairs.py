"""The most similar pairs, no sample in two."""

import itertools

import numpy as np
import pytest

from vendiscore_page.answers.redundant_pairs import redundant_pairs


def matrix(n: int, seed: int = 0, values: int = 5) -> np.ndarray:
    """Return a symmetric matrix of unit diagonal with few different entries, so that some are
    equal."""
    upper = np.triu(np.random.default_rng(seed).integers(-1, values, size=(n, n)) / values, 1)
    return upper + upper.T + np.eye(n)


def slow_pairs(K: np.ndarray, count: int) -> list[tuple[int, int, float]]:
    every = itertools.combinations(range(len(K)), 2)
    found: list[tuple[int, int, float]] = []
    for i, j in sorted(every, key=lambda pair: -K[pair]):  # a stable sort
        if not {i, j} & {x for *pair, _ in found for x in pair} and len(found) < count:
            found.append((i, j, K[i, j]))
    return found


@pytest.mark.parametrize("n", [1, 2, 3, 5, 12, 40])
@pytest.mark.parametrize("count", [1, 2, 4, 30])
def test_redundant_pairs_are_those_of_a_sorted_list_of_all(n, count):
    for seed in range(5):
        K = matrix(n, seed)
        assert redundant_pairs(K, count) == slow_pairs(K, count)
