"""Diversity between groups with labels shuffled, and without each sample, by scores of each."""

import numpy as np
import pytest

from vendiscore import as_similarity, compute
from vendiscore.measures.sample_set import SampleSet
from vendiscore.resolve.sample_labels import parse_group_labels
from vendiscore.result import key_at
from vendiscore.scoring import permutation_null

ORDERS = [0.5, 1.0, 2.0, 3.0, np.inf]
X = np.random.default_rng(0).standard_normal((30, 3))
SIZES = {"small": [1, 3, 3, 8, 15], "large": [2, 28], "one each": [1] * 30}
HOW = {"k": "rbf", "sigma": 1.0}


def between(X, labels, q, **how):
    return compute(X, groups=labels, q=q, measures="BetweenVS", permutations=0, **HOW, **how)[
        key_at(q, "BetweenVS")
    ]


def subject_of(labels, p=None):
    K = as_similarity(X, **HOW)
    return SampleSet(K, orders=ORDERS, weights=p, groups=parse_group_labels(labels))


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("largest", [4, 64])
def test_permuted_scores_match_scores_of_permuted_labels(monkeypatch, sizes, largest):
    monkeypatch.setattr(permutation_null, "MAX_STACKED_SIZE", largest)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    result = permutation_null.compute_permuted_scores(subject_of(labels), 3)
    rng = np.random.default_rng(0)
    for drawn in result.T:
        at = rng.permutation(30)  # the place of the first sample of the first group, …
        expected = [between(X[at], labels, q) for q in ORDERS]
        assert drawn == pytest.approx(expected, rel=1e-9)


def test_permuted_samples_keep_weights_and_zero_weights_are_ignored():
    labels, p = np.arange(30) % 4, np.r_[np.random.default_rng(1).dirichlet(np.ones(24)), [0] * 6]
    result = permutation_null.compute_permuted_scores(subject_of(labels, p), 2)
    at = np.random.default_rng(0).permutation(24)
    by_group = np.sort(labels[:24])
    expected = [between(X[at], by_group, q, p=p[at]) for q in ORDERS]
    assert result[:, 0] == pytest.approx(expected, rel=1e-9)
