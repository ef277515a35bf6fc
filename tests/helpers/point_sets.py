"""Random points, their pairwise distances and their magnitude weights by direct solution."""

import numpy as np


def solve_weights(D: np.ndarray, t: float) -> np.ndarray:
    return np.linalg.solve(np.exp(-t * D), np.ones(len(D)))


def make_normal_rows(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def pairwise_distances(X: np.ndarray) -> np.ndarray:
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
