"""For sources of equal mean score, `compare` rarely states which source is more diverse."""

import numpy as np
import pytest
from scipy import stats

from vendiscore import as_similarity, compare
from vendiscore.scoring.recurrence_intervals import RecurrenceCounts

RUNS = 100
# At n = 8, a label with probability 40.59 % among unique labels has the same mean log VS as eight
# equally likely labels.
COMMON = 0.4059


def count_differences_and_directions(pairs, similarity):
    """Count comparisons with a significant difference, and comparisons that state a direction."""
    differ = directions = 0
    for seed, (a, b) in enumerate(pairs):
        n = len(a)
        result = compare(
            similarity.take(np.concatenate([a, b])),
            by=[0] * n + [1] * n,
            permutations=99,
            seed=seed,
        )
        differ += result.pairs[0].p <= 0.05
        directions += result.states_direction("0", "1")
    return differ, directions


def test_compare_states_no_direction_for_labels_of_equal_mean_score():
    rng = np.random.default_rng(0)
    similarity = as_similarity(
        [*range(8), "common", *(f"unique {i}" for i in range(8))], k="labels"
    )
    pairs = [
        (rng.integers(8, size=8), np.where(rng.random(8) < COMMON, 8, 9 + np.arange(8)))
        for _ in range(RUNS)
    ]
    _, directions = count_differences_and_directions(pairs, similarity)
    assert directions <= 2.5 / 100 * RUNS


@pytest.mark.parametrize(("n", "proportion"), [(8, 0.223), (20, 0.2157)])
def test_compare_states_no_direction_for_texts_of_equal_mean_score(n, proportion):
    """A recurring text among dissimilar texts, compared with texts that share four words.

    At these proportions, the mean log VS of both sources agrees within 0.002 (6,000 sets).
    """
    rng = np.random.default_rng(0)
    dissimilar = [f"{' '.join(f'u{i}x{j}' for j in range(9))}" for i in range(300)]
    similar = [
        f"all texts share these {' '.join(f'w{i}x{j}' for j in range(6))}" for i in range(40)
    ]
    similarity = as_similarity([*dissimilar, *similar], k="ngram_overlap")
    pairs = []
    for _ in range(RUNS // 2):
        recurring = np.where(rng.random(n) < proportion, 0, rng.integers(1, 300, n))
        pairs.append((recurring, 300 + rng.permutation(40)[:n]))
    differ, directions = count_differences_and_directions(pairs, similarity)
    assert directions <= 1
    assert differ > 1 or n > 8


@pytest.mark.parametrize("n", [4, 8, 20, 50])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_conservative_proportion_interval_has_equal_tails(n, count):
    """At each bound, the tail of the count of the most common label has probability 2.5 %."""
    counts = np.array([count, *[1] * (n - count)])
    recurrence = RecurrenceCounts(n, 0.0, np.eye(len(counts)), counts, conservative_tails=True)
    low, high = recurrence.compute_proportion_interval(0.95)
    assert stats.binom.cdf(count, n, high) == pytest.approx(0.025)
    assert stats.binom.sf(count - 1, n, low) == pytest.approx(0.025)
    default = recurrence._replace(conservative_tails=False).compute_proportion_interval(0.95)
    assert low < default[0] < default[1] < high
    assert stats.binom.cdf(count, n, default[1]) > 0.025
