"""Circulant similarity matrices, and features, with known eigenvalues."""

import math

import numpy as np

ORDERS = (0.0, 0.3, 0.6, 1.0, 1.0 + 1e-9, 1.4, 2.0, 3.0, math.inf)
# λ_0 to λ_3 of a circulant matrix of 7 samples, in which λ_k = λ_{7−k}; each sums to 1.
HALF_SPECTRA = {
    "flat": (1 / 7, 1 / 7, 1 / 7, 1 / 7),
    "falling": (0.5, 0.15, 0.07, 0.03),
    "of low rank": (0.5, 0.2, 0.05, 0.0),
    "of one direction": (1.0, 0.0, 0.0, 0.0),
    "of a small tail": (0.5, 0.2, 0.05 - 1e-9, 1e-9),
}
INDEFINITE_HALF_SPECTRA = {
    "slightly negative": (0.5, 0.2, 0.05 + 2e-7, -2e-7),
    "negative": (0.5, 0.2, 0.06, -0.01),
}


def circulant_eigenvalues(name: str) -> np.ndarray:
    """Return the eigenvalues of K / 7."""
    first, *rest_of_half = (HALF_SPECTRA | INDEFINITE_HALF_SPECTRA)[name]
    return np.array([first, *rest_of_half, *rest_of_half[::-1]])


def circulant_matrix(name: str) -> np.ndarray:
    """Return similarities (7, 7) of unit diagonal with these eigenvalues."""
    row = np.fft.fft(circulant_eigenvalues(name)).real
    i = np.arange(7)
    K = row[(i[:, None] - i) % 7]
    return (K + K.T) / 2


def circulant_features(name: str) -> np.ndarray:
    """Return unit rows (7, 7) whose products are the matrix; only for nonnegative eigenvalues."""
    values = circulant_eigenvalues(name)
    angles = 2 * np.pi * np.outer(np.arange(7), np.arange(1, 4)) / 7
    waves = [np.cos(angles), np.sin(angles)]
    columns = [
        np.full((7, 1), math.sqrt(values[0])),
        *(np.sqrt(2 * values[1:4]) * w for w in waves),
    ]
    return np.concatenate(columns, axis=1)


def circulant_score(name: str, q: float) -> float:
    """Return the Hill number of the positive eigenvalues, from its formula."""
    values = circulant_eigenvalues(name)
    positive = values[values > 0]
    positive /= positive.sum()
    if math.isinf(q):
        return 1 / positive.max()
    if abs(q - 1) < 1e-6:
        return math.exp(-np.sum(positive * np.log(positive)))
    return np.sum(positive**q) ** (1 / (1 - q))
