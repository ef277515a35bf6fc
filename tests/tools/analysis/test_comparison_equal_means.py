"""Between sources of equal mean score, `compare` hardly ever states which is more diverse."""

import numpy as np
import pytest
from scipy import stats

from vendiscore import as_similarity, compare
from vendiscore.scoring.recurrence_intervals import RecurrenceCounts

RUNS = 100
# One label of 40.59 % among unique ones, and eight equally likely labels, have the same mean log VS
# at n = 8.
COMMON = 0.4059


def stated(pairs, pool):
    """Return how many comparisons find a difference, and how many state a direction."""
    differ = directions = 0
    for seed, (a, b) in enumerate(pairs):
        n = len(a)
        result = compare(
            pool.take(np.concatenate([a, b])), by=[0] * n + [1] * n, permutations=99, seed=seed
        )
        differ += result.pairs[0].p <= 0.05
        directions += result.states_direction("0", "1")
    return differ, directions


def test_no_direction_is_stated_between_labels_of_equal_mean_score():
    rng = np.random.default_rng(0)
    pool = as_similarity([*range(8), "common", *(f"unique {i}" for i in range(8))], k="labels")
    pairs = [
        (rng.integers(8, size=8), np.where(rng.random(8) < COMMON, 8, 9 + np.arange(8)))
        for _ in range(RUNS)
    ]
    _, directions = stated(pairs, pool)
    assert directions <= 2.5 / 100 * RUNS


@pytest.mark.parametrize(("n", "proportion"), [(8, 0.223), (20, 0.2157)])
def test_no_direction_is_stated_between_texts_of_equal_mean_score(n, proportion):
    """One text recurs among unlike ones; texts that all share four words hardly vary in score.

    At these proportions both mean log VS are equal, to 0.002 in 6,000 sets.
    """
    rng = np.random.default_rng(0)
    unlike = [f"{' '.join(f'u{i}x{j}' for j in range(9))}" for i in range(300)]
    similar = [
        f"all texts share these {' '.join(f'w{i}x{j}' for j in range(6))}" for i in range(40)
    ]
    pool = as_similarity([*unlike, *similar], k="ngram_overlap")
    pairs = []
    for _ in range(RUNS // 2):
        recurring = np.where(rng.random(n) < proportion, 0, rng.integers(1, 300, n))
        pairs.append((recurring, 300 + rng.permutation(40)[:n]))
    differ, directions = stated(pairs, pool)
    assert directions <= 1
    assert differ > 1 or n > 8


@pytest.mark.parametrize("n", [4, 8, 20, 50])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_each_tail_of_the_share_in_a_difference_holds_half_of_the_rest(n, count):
    """At an exact end, as few (or as many) samples of the commonest kind occur in 2.5 %."""
    counts = np.array([count, *[1] * (n - count)])
    repeats = RecurrenceCounts(n, 0.0, np.eye(len(counts)), counts, conservative_tails=True)
    low, high = repeats.compute_proportion_interval(0.95)
    assert stats.binom.cdf(count, n, high) == pytest.approx(0.025)
    assert stats.binom.sf(count - 1, n, low) == pytest.approx(0.025)
    usual = repeats._replace(conservative_tails=False).compute_proportion_interval(0.95)
    assert low < usual[0] < usual[1] < high
    assert stats.binom.cdf(count, n, usual[1]) > 0.025
