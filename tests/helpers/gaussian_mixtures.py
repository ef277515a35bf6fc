"""Samples of Gaussian mixtures with five components, and their RBF similarities."""

import numpy as np

from vendiscore import as_similarity


def make_gaussian_mixture(n=600, d=8, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) + 3 * rng.standard_normal((5, d))[rng.integers(0, 5, n)]


def make_rbf_similarity(n=600, d=8, seed=0, sigma=2.0):
    return as_similarity(make_gaussian_mixture(n, d, seed), k="rbf", sigma=sigma)


def normalized_similarity_matrix(similarity) -> np.ndarray:
    return np.asarray(similarity.dense()) / similarity.n
