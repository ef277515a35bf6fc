"""Covariances are summed over blocks of rows."""

import numpy as np

from vendiscore.similarity.covariance import compute_covariance


def test_float32_block_products_are_summed_in_double_precision():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((17_000, 4))
    X = (X / np.linalg.norm(X, axis=1)[:, None]).astype(np.float32)
    scale = generator.random(17_000)
    F = X * scale[:, None]
    assert np.abs(compute_covariance(X, scale) - F.T @ F).max() < 1e-14 * np.sum(F * F)
    C = X.T.astype(np.float64) @ X
    assert np.abs(compute_covariance(X, None, True) - C).max() < 1e-6 * np.trace(C)
