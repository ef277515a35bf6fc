"""Stacks of sets have the numbers of each set."""

import math

import numpy as np
import pytest

from vendiscore import MatrixSimilarity, compute
from vendiscore.scoring.jackknife import influence
from vendiscore.spectral.stacks import Spectra
from vendiscore.spectral.vendi_scores import spectrum_of

X = np.random.default_rng(0).normal(size=(4, 7, 3))
X /= np.linalg.norm(X, axis=-1, keepdims=True)
X[1, 3] = X[1, 5]  # a repeat: six samples that all differ
K = X @ X.swapaxes(-1, -2)


@pytest.mark.parametrize("q", [0.5, 1, 1.7, 2, 3, math.inf])
def test_without_each_sample_the_others_are_scored(q):
    left = Spectra(K, None, [q], vectors=True).without_each(q)
    assert left.shape == (4, 7)
    for i in range(4):
        for j in range(7):
            (score,) = compute(np.delete(X[i], j, axis=0), k="cosine", q=q).values()
            assert left[i, j] == pytest.approx(math.log(score), abs=1e-8)


@pytest.mark.parametrize("q", [0.5, 1, 3, math.inf])
def test_slopes_are_those_of_each_set(q):
    slopes = Spectra(K, None, [q], vectors=True).influence(q)
    for matrix, of_set in zip(K, slopes, strict=True):
        spectrum = spectrum_of(MatrixSimilarity(matrix), vectors=True)
        assert of_set == pytest.approx(influence(spectrum, q), abs=1e-9)
