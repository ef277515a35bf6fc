"""Permuted scores of BetweenVS, compared with scores of permuted labels."""

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
OPTIONS = {"k": "rbf", "sigma": 1.0}


def between(X, labels, q, **options):
    return compute(
        X, groups=labels, q=q, measures="BetweenVS", permutations=0, **OPTIONS, **options
    )[key_at(q, "BetweenVS")]


def make_sample_set(labels, p=None):
    K = as_similarity(X, **OPTIONS)
    return SampleSet(K, orders=ORDERS, weights=p, groups=parse_group_labels(labels))


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("largest", [4, 64])
def test_permuted_scores_match_scores_of_permuted_labels(monkeypatch, sizes, largest):
    monkeypatch.setattr(permutation_null, "MAX_STACKED_SIZE", largest)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    result = permutation_null.compute_permuted_scores(make_sample_set(labels), 3)
    rng = np.random.default_rng(0)
    for permuted_scores in result.T:
        order = rng.permutation(30)  # order of the samples
        expected = [between(X[order], labels, q) for q in ORDERS]
        assert permuted_scores == pytest.approx(expected, rel=1e-9)


def test_permuted_samples_keep_weights_and_zero_weights_are_ignored():
    labels, p = np.arange(30) % 4, np.r_[np.random.default_rng(1).dirichlet(np.ones(24)), [0] * 6]
    result = permutation_null.compute_permuted_scores(make_sample_set(labels, p), 2)
    order = np.random.default_rng(0).permutation(24)
    sorted_labels = np.sort(labels[:24])
    expected = [between(X[order], sorted_labels, q, p=p[order]) for q in ORDERS]
    assert result[:, 0] == pytest.approx(expected, rel=1e-9)
