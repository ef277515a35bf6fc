"""Every pair that brute force finds at the threshold or above is listed, whatever the others."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vendiscore import MatrixSimilarity, as_similarity
from vendiscore.similarity import tiles
from vendiscore.tools.analysis import pair_search
from vendiscore.tools.analysis.duplicates import find_duplicates

WORDS = ["a", "b", "c d", "e"]
THRESHOLDS = [-1.0, 0.0, 0.5, 0.8, 0.95, 1.0]


def rows(rng, n, d=4):
    """Return rows of small integers, among which repeats and equal similarities are frequent."""
    return rng.integers(0, 2, (n, d)) + np.eye(d)[rng.integers(0, d, n)]


def steps(rng, n, d=4):
    """Return a matrix whose similarities are a few numbers: many pairs are at the threshold."""
    K = np.triu(rng.choice(THRESHOLDS[1:], (n, n)), 1)
    return MatrixSimilarity(K + K.T + np.eye(n))


KINDS = {
    "cosine": lambda rng, n: as_similarity(rows(rng, n), k="cosine"),
    "cosine, float32": lambda rng, n: as_similarity(
        rng.standard_normal((n, 3)).astype(np.float32), k="cosine"
    ),
    "rbf": lambda rng, n: as_similarity(rows(rng, n), k="rbf", sigma=1.0),
    "tanimoto": lambda rng, n: as_similarity((rng.random((n, 6)) < 0.6).astype(int), k="tanimoto"),
    "n-grams": lambda rng, n: as_similarity(
        [" ".join(rng.choice(WORDS, 4)) for _ in range(n)], k="ngram_overlap", ns=[1, 2]
    ),
    "labels": lambda rng, n: as_similarity(rng.integers(0, 5, n).tolist(), k="labels"),
    "a matrix": steps,
}


def listed(found):
    """Return the pairs of a result with repeats of identical samples written out."""
    groups = [np.flatnonzero(found._first_copy == i).tolist() for i in range(found.n)]
    pairs = {pair for group in groups for pair in itertools.combinations(group, 2)}
    above, _ = found.boundary(found.n**2, np.arange(found.n))
    for i, j, _ in above:
        pairs |= {(min(a, b), max(a, b)) for a in groups[i] for b in groups[j]}
    return pairs


def at_least(K, threshold):
    i, j = np.nonzero(np.triu(threshold <= K, 1))
    return set(zip(i.tolist(), j.tolist(), strict=True))


@pytest.mark.filterwarnings("ignore:Kernel 'ngram_overlap' does not distinguish")
@pytest.mark.filterwarnings("ignore:Kernel 'tanimoto' represents")
@settings(max_examples=60)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    seed=st.integers(0, 10**6),
    n=st.integers(1, 40),
    threshold=st.sampled_from(THRESHOLDS),
    large=st.booleans(),
)
def test_every_pair_at_the_threshold_or_above_is_listed(kind, seed, n, threshold, large):
    similarity = KINDS[kind](np.random.default_rng(seed), n)
    K = np.asarray(similarity.dense(), dtype=float)
    with pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr(pair_search, "MAX_DOUBLE_PRECISION", 0)
            patch.setattr(tiles, "TILE_SIZE", 16)
        _, result = find_duplicates(similarity, threshold)
    slack = 1e-6 if kind.endswith("float32") else 1e-9
    assert result.threshold == threshold
    assert at_least(K, threshold + slack) <= listed(result)
    if kind != "cosine, float32":
        assert at_least(K, threshold) <= listed(result)
    identical = result._first_copy[:, None] == result._first_copy
    assert listed(result) <= at_least(np.where(identical, 1.0, K), threshold - 2 * slack)
    repeats = result.representatives
    for i in np.flatnonzero(repeats >= 0):
        assert (min(i, repeats[i]), max(i, repeats[i])) in listed(result)
    for kept in itertools.combinations(result.retained.tolist(), 2):
        assert kept not in listed(result)


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("below", [0.7, 0.85, 0.949])
@pytest.mark.parametrize("above", [0.95, 0.96])
def test_pairs_below_the_threshold_do_not_crowd_out_pairs_above(above, below, large, monkeypatch):
    """A search that may keep 300 of 1,225 pairs keeps all 200 at the threshold or above."""
    n = 50
    rng = np.random.default_rng(0)
    upper = np.triu_indices(n, 1)
    values = np.full(len(upper[0]), below)
    values[rng.permutation(len(values))[:200]] = above
    K = np.eye(n)
    K[upper] = values
    K = K + np.triu(K, 1).T
    if large:
        monkeypatch.setattr(pair_search, "MAX_DOUBLE_PRECISION", 0)
        monkeypatch.setattr(tiles, "TILE_SIZE", 16)
    monkeypatch.setattr(pair_search, "BLOCK_ROWS", 8)
    monkeypatch.setattr(pair_search, "MAX_PAIRS", 300)
    _, result = find_duplicates(MatrixSimilarity(K), 0.95)
    assert result.threshold == 0.95
    assert listed(result) == at_least(K, 0.95)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), most=st.integers(1, 300), large=st.booleans())
def test_a_threshold_that_too_many_pairs_reach_rises_and_all_at_the_new_one_are_listed(
    seed, most, large
):
    similarity = steps(np.random.default_rng(seed), 30)
    K = similarity.dense()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_search, "BLOCK_ROWS", 8)
        patch.setattr(pair_search, "MAX_PAIRS", most)
        if large:
            patch.setattr(pair_search, "MAX_DOUBLE_PRECISION", 0)
            patch.setattr(tiles, "TILE_SIZE", 16)
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            _, result = find_duplicates(similarity, 0.8)
    message = f"more than {most} pairs have a similarity of at least 0.8; the threshold"
    assert [str(each.message).startswith(message) for each in shown] == [True] * len(shown)
    assert (result.threshold > 0.8) == bool(shown)
    assert result.threshold <= 1
    assert listed(result) == at_least(K, result.threshold - 1e-9)
    distinct = np.flatnonzero(result._first_copy == np.arange(result.n))
    assert bool(shown) == (len(at_least(K[np.ix_(distinct, distinct)], 0.8)) > most)
