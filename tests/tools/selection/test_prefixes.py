"""Scores of all prefixes of a selection, computed from one Cholesky factorization."""

import numpy as np
import pytest

from vendiscore import score_K
from vendiscore.tools.selection import prefixes
from vendiscore.tools.selection.prefixes import exact_score, prefix_scores

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 12))
X[20:25] = X[3]
X /= np.linalg.norm(X, axis=1, keepdims=True)
K = X @ X.T


@pytest.mark.parametrize("q", [0.3, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("max_exact_size", [0, 100], ids=["factored", "separate"])
def test_prefix_scores_match_separate_scores(q, max_exact_size, monkeypatch):
    monkeypatch.setattr(prefixes, "MAX_EXACT_SIZE", max_exact_size)
    expected = [score_K(K[:m, :m], q) for m in range(1, 41)]
    tolerance = 1e-4 if q < 1 and not max_exact_size else 1e-6
    np.testing.assert_allclose(prefix_scores(K.copy(), q), expected, rtol=tolerance)


@pytest.mark.parametrize("q", [1.0, 2.0])
def test_prefix_scores_of_orthogonal_and_identical_samples(q, monkeypatch):
    monkeypatch.setattr(prefixes, "MAX_EXACT_SIZE", 0)
    np.testing.assert_allclose(prefix_scores(np.eye(30), q), np.arange(1, 31), rtol=1e-7)
    np.testing.assert_allclose(prefix_scores(np.ones((30, 30)), q), 1, rtol=1e-6)


def test_prefixes_with_negative_eigenvalues_use_exact_scores(monkeypatch):
    indefinite = np.eye(30)
    indefinite[:3, :3] = [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    expected = prefix_scores(indefinite, 1.0)
    monkeypatch.setattr(prefixes, "MAX_EXACT_SIZE", 0)
    np.testing.assert_allclose(prefix_scores(indefinite, 1.0), expected, rtol=1e-9)


def test_exact_score_matches_score_K():
    assert exact_score(np.eye(3), 1.0) == pytest.approx(3)
    assert exact_score(K[:10, :10], 2.0) == pytest.approx(score_K(K[:10, :10], 2))
