"""Scores of all prefixes, from one factorization, are those of each."""

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
@pytest.mark.parametrize("few", [0, 100], ids=["factored", "one by one"])
def test_prefixes_have_the_score_of_their_samples(q, few, monkeypatch):
    monkeypatch.setattr(prefixes, "MAX_EXACT_SIZE", few)
    expected = [score_K(K[:m, :m], q) for m in range(1, 41)]
    tolerance = 1e-4 if q < 1 and not few else 1e-6
    np.testing.assert_allclose(prefix_scores(K.copy(), q), expected, rtol=tolerance)


@pytest.mark.parametrize("q", [1.0, 2.0])
def test_unrelated_samples_count_in_full(q, monkeypatch):
    monkeypatch.setattr(prefixes, "MAX_EXACT_SIZE", 0)
    np.testing.assert_allclose(prefix_scores(np.eye(30), q), np.arange(1, 31), rtol=1e-7)
    np.testing.assert_allclose(prefix_scores(np.ones((30, 30)), q), 1, rtol=1e-6)


def test_similarities_with_negative_eigenvalues_are_scored_one_by_one(monkeypatch):
    wrong = np.eye(30)
    wrong[:3, :3] = [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    expected = prefix_scores(wrong, 1.0)
    monkeypatch.setattr(prefixes, "MAX_EXACT_SIZE", 0)
    np.testing.assert_allclose(prefix_scores(wrong, 1.0), expected, rtol=1e-9)


def test_a_few_samples_are_scored_by_their_eigenvalues():
    assert exact_score(np.eye(3), 1.0) == pytest.approx(3)
    assert exact_score(K[:10, :10], 2.0) == pytest.approx(score_K(K[:10, :10], 2))
