"""Sets are drawn down to one size or coverage; permutations stop once p is known."""

import math

import numpy as np
import pytest
from sources import sentences

from vendiscore import compare
from vendiscore.comparison import MORE
from vendiscore.comparison.permutation import holm, permuted
from vendiscore.comparison.subsets import Matched, coverage_curve, matched, size_for, windows
from vendiscore.progress import finish
from vendiscore.similarity.features import FeatureSimilarity
from vendiscore.similarity.matrix import MatrixSimilarity


def compared(*sets, **options):
    return compare(*sets, **{"permutations": 99, **options})


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


def test_sets_are_drawn_down_to_the_least_coverage():
    rng = np.random.default_rng(0)
    thin, wide = sentences(rng, 60, 0.7), sentences(rng, 60, 0.2)
    found = compared(thin, wide, match="coverage")
    a, b = found.sets
    assert (a.coverage, b.size) == (b.coverage, 60)
    assert 4 <= a.size < 60
    assert found.verdict("B", "A") == MORE
    assert "at a coverage of" in found.sentence


def test_two_sets_of_one_source_do_not_differ_at_matched_coverage():
    p = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        sets = [sentences(rng, 24, 0.5), sentences(rng, 40, 0.5)]
        p.append(compared(*sets, match="coverage").pairs[0].p)
    assert np.mean(np.array(p) <= 0.05) <= 0.2
    assert 0.2 < np.mean(p) < 0.8


def test_windows_meet_every_sample_about_as_often():
    for n, m in ((40, 40), (42, 40), (79, 40), (80, 40), (130, 40), (1000, 40), (5, 2)):
        runs = windows(n, m)
        assert all(run.stop - run.start == m for run in runs)
        met = np.zeros(n)
        for run in runs:
            met[run] += 1
        assert (met[: min(n, 4 * m)] >= 1).all()
        assert met.max() <= len(runs)


def test_the_error_of_a_mean_over_windows_is_that_of_all_samples():
    """Of a mean of x the error at n = 2 m is σ/√n, whatever m is."""
    x = np.random.default_rng(0).normal(size=80)

    def score(places):
        return Matched(x[places].mean(), x.std() / math.sqrt(len(places)))

    assert matched(score, np.arange(80), 40) == pytest.approx((x.mean(), x.std() / math.sqrt(80)))


def test_permutations_stop_once_p_is_known():
    rng = np.random.default_rng(0)
    found = finish(permuted(0.1, rng.normal, 9999))
    assert 99 <= len(found.drawn) < 200
    assert found.p > 0.5
    found = finish(permuted(2.5, rng.normal, 999))
    assert len(found.drawn) == 999
    assert found.reach(0.95) == pytest.approx(1.96, abs=0.2)


def test_p_by_stopping_early_is_not_too_small():
    rng = np.random.default_rng(0)
    p = np.array([finish(permuted(rng.normal(), rng.normal, 999)).p for _ in range(500)])
    for level in (0.01, 0.05, 0.2):
        assert np.mean(p <= level) <= level + 3 * math.sqrt(level / 500)


def test_size_for_a_coverage_that_is_never_reached_is_all():
    assert size_for(np.array([0, 0.2, 0.4]), 0.9) == 3


def test_adjusted_p_is_that_of_holm():
    p = [0.01, 0.04, 0.03, 0.005]
    assert holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.7]) == [0.7]
    assert holm([0.6, 0.5]) == [1.0, 1.0]
