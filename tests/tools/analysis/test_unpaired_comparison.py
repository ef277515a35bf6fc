"""Sets are reduced to the common sample size and scored in windows."""

import math

import numpy as np
import pytest
from populations import POPULATIONS

from vendiscore import MatrixSimilarity, compare, score
from vendiscore.scoring.jackknife import influence, influence_error
from vendiscore.spectral.leave_one_out import compute_log_score
from vendiscore.spectral.vendi_scores import compute_spectrum
from vendiscore.tools.analysis.compare_options import CompareOptions
from vendiscore.tools.analysis.unpaired_comparison import (
    average_errors,
    score_subsets,
    window_slices,
    window_weights,
)


def test_windows_cover_samples_evenly():
    for n, m in ((40, 40), (42, 40), (79, 40), (80, 40), (130, 40), (1000, 40), (5, 2)):
        windows = window_slices(n, m)
        assert all(window.stop - window.start == m for window in windows)
        counts = np.zeros(n)
        for window in windows:
            counts[window] += 1
        assert (counts[: min(n, 4 * m)] >= 1).all()
        assert counts.max() <= len(windows)


def test_error_of_a_mean_over_windows_uses_all_samples():
    """For any m, the error of a mean over n = 2 m samples is σ/√n."""
    x = np.random.default_rng(0).normal(size=80)
    errors = np.full(2, x.std() / math.sqrt(40))
    assert window_weights(80, 40) @ x == pytest.approx(x.mean())
    assert average_errors(errors, 80, 40) == pytest.approx(x.std() / math.sqrt(80))


@pytest.mark.parametrize("name", ["texts, n-grams", "vectors, cosine"])
@pytest.mark.parametrize("q", [0.5, 1, 2, math.inf])
def test_screened_p_matches_exact_p_for_large_sets(name, q, monkeypatch):
    """Permutations of sets of 60 samples, or 60 and 130, are screened by a linear approximation."""
    source, options = POPULATIONS[name]
    rng = np.random.default_rng(3)
    for other_size in (60, 130):
        sets = [source(rng, 60), source(rng, other_size, 0.3)]
        screened_p = compare(*sets, q=q, permutations=99, **options).pairs[0].p
        monkeypatch.setattr("vendiscore.tools.analysis.unpaired_comparison.MAX_STACKED_SIZE", 64)
        exact_p = compare(*sets, q=q, permutations=99, **options).pairs[0].p
        monkeypatch.undo()
        assert screened_p == pytest.approx(exact_p, abs=0.02 + 0.1 * exact_p)


@pytest.mark.parametrize("q", [0, 0.3, 1, 1.7, 2, 4, math.inf])
def test_stacked_scores_and_errors_match_separate_sets(q):
    X = np.random.default_rng(0).normal(size=(30, 5))
    similarity = MatrixSimilarity(np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(-1)))
    indices = np.array([np.random.default_rng(s).permutation(30)[:8] for s in range(5)])
    logs, errors = score_subsets(similarity, indices, CompareOptions(q))
    for subset_indices, log, error in zip(indices, logs, errors, strict=True):
        spectrum = compute_spectrum(similarity.take(subset_indices), vectors=True)
        assert log == pytest.approx(compute_log_score(spectrum, q), abs=1e-9)
        expected = influence_error(spectrum, q) if q else 0
        assert error == pytest.approx(expected, abs=1e-9)


def test_influence_matches_numerical_derivative():
    X = np.random.default_rng(0).normal(size=(6, 3))
    K = MatrixSimilarity(np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1)))
    for q in (0.5, 1, 3, math.inf):
        slopes = influence(compute_spectrum(K, vectors=True), q)
        for i in range(6):
            p = np.full(6, (1 - 1e-6) / 6)
            p[i] += 1e-6
            increase = math.log(score(K, q=q, p=p)) - math.log(score(K, q=q))
            assert increase / 1e-6 == pytest.approx(slopes[i], abs=1e-4)


@pytest.mark.filterwarnings("ignore:intervals have width 0")
def test_interval_at_order_0_stays_between_1_and_n():
    different, repeated = compare(list("abcdefgh"), list("aabbccdd"), k="labels", q=0).sets
    assert different.score == pytest.approx(8)
    assert repeated.score == pytest.approx(4)
    for row in (different, repeated):
        assert 1 <= row.low <= row.score <= row.high <= row.n + 1e-9
