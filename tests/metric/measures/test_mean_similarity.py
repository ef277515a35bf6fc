"""The Leinster–Cobbold diversity, which is not defined for negative similarities."""

import math

import numpy as np
import pytest

from vendiscore import compute
from vendiscore.measures import mean_similarity

LARGER = [[1, -0.4, 0.3], [-0.4, 1, 0.3], [0.3, 0.3, 1]]
NEGATIVE_COSINE = [[1.0, 0.0], [-0.5, math.sqrt(0.75)]]  # cosine −0.5
ROTATED = [[math.cos(a), math.sin(a)] for a in (0.0, 0.2, 1.7)]  # the smallest cosine is −0.13


def test_lc_larger_than_vendi_score_warns():
    with pytest.warns(UserWarning, match=r"at least 0, got -0\.4, so LC may be larger"):
        result = compute(LARGER, score_K=True, measures=["LC", "VS"])
    assert result["LC"] == pytest.approx(2.752, abs=1e-3)
    assert result["VS"] == pytest.approx(2.619, abs=1e-3)


@pytest.mark.parametrize("q", [0.5, 1, 2, math.inf])
def test_lc_out_of_range_raises_error_about_negative_similarity(q):
    with pytest.raises(
        ValueError, match=r"got -0\.5; the value of LC is 4, but must be between 1 and 2;"
    ):
        compute(NEGATIVE_COSINE, k="cosine", measures="LC", q=[q])


def test_lc_out_of_range_in_a_group_raises():
    groups = [ROTATED[:2], NEGATIVE_COSINE]
    with pytest.raises(
        ValueError, match=r"got -0\.5; the value of LC is 4, but must be between 1 and 2;"
    ):
        compute(groups, k="cosine", measures="LC")


def test_negative_similarities_in_groups_warn():
    with pytest.warns(UserWarning, match=r"at least 0, got -0\.129"):
        compute([ROTATED, ROTATED[:2]], k="cosine", measures="LC")


def test_lc_ignores_similarities_that_are_negative_by_rounding():
    rows = np.array([[1e-17, 1.0], [1.0, -1e-17], [0.6, 0.8]], dtype=np.float32)
    assert compute(rows, k="cosine", measures="LC")["LC"] > 1


def test_negative_similarities_of_large_sets_are_found_in_spaced_rows(monkeypatch):
    """Every sample of one half has a negative similarity with the other half."""
    monkeypatch.setattr(mean_similarity, "MAX_EXHAUSTIVE_SAMPLES", 4)
    monkeypatch.setattr(mean_similarity, "N_CHECKED_ROWS", 4)
    rows = np.array([[1.0, 0.1 * i] for i in range(10)] + [[-0.1, 3.0]] * 10)
    with pytest.warns(UserWarning, match=r"at least 0, got -0\.0333"):
        compute(rows, k="cosine", measures="LC")


@pytest.mark.parametrize("q", [0.5, 1, 2, 7, math.inf])
def test_lc_is_at_most_the_vendi_score_for_nonnegative_similarities(q):
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(2, 8))
        rows = rng.random((n, int(rng.integers(1, 6)))) ** 3
        p = rng.dirichlet(np.ones(n))
        result = list(compute(rows, k="cosine", p=p, q=[q], measures=["LC", "VS"]).values())
        assert result[0] <= result[1] + 1e-9


def test_lc_ignores_negative_similarities_of_samples_without_weight():
    K = np.array([[1, 0.5, -0.3], [0.5, 1, 0.2], [-0.3, 0.2, 1]])
    result = compute(K, score_K=True, measures="LC", p=[0.5, 0.5, 0])
    assert result["LC"] == pytest.approx(compute(K[:2, :2], score_K=True, measures="LC")["LC"])
