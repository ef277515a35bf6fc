"""Coverage of the first samples of an order against the formula of Good and Turing."""

import math

import numpy as np
import pytest

from vendiscore.comparison.coverage import coverage_curve
from vendiscore.similarity.features import FeatureSimilarity
from vendiscore.similarity.matrix import MatrixSimilarity


def test_coverage_is_that_of_good_and_turing_at_every_size():
    rng = np.random.default_rng(0)
    labels = np.minimum(rng.geometric(0.2, size=60), 25)
    counts = np.bincount(labels)
    whole = FeatureSimilarity(np.eye(26)[labels])
    curves = np.mean(
        [coverage_curve(whole, np.random.default_rng(s).permutation(60)) for s in range(40)], axis=0
    )
    assert curves[-1] == pytest.approx(1 - (counts == 1).sum() / 60, abs=1e-6)
    for m in (2, 10, 30):
        missing = [
            n / 60 * math.comb(60 - n, m - 1) / math.comb(59, m - 1) for n in counts if n > 0
        ]
        assert curves[m - 1] == pytest.approx(1 - sum(missing), abs=0.03)
    assert (np.diff(coverage_curve(whole, np.arange(60))) >= 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_coverage_of_copies_is_known_whatever_rounding_makes_of_their_matrix(dtype):
    X = np.random.default_rng(0).normal(size=(20, 40))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    whole = MatrixSimilarity((X @ X.T).astype(dtype)[np.ix_([*range(20)] * 2, [*range(20)] * 2)])
    curve = coverage_curve(whole, np.random.default_rng(1).permutation(40))
    assert curve[-1] == pytest.approx(1, abs=1e-4)
    assert curve[5] < 0.5


def test_coverage_of_a_clipped_matrix_is_a_share():
    K = np.kron(np.eye(4), np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]))
    curve = coverage_curve(MatrixSimilarity(K), np.arange(12))
    assert (curve >= 0).all()
    assert (curve <= 1).all()
