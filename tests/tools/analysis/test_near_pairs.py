"""All pairs at or above the threshold are listed, compared with brute force."""

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


def integer_rows(rng, n, d=4):
    """Return rows of small integers, with frequent repeats and equal similarities."""
    return rng.integers(0, 2, (n, d)) + np.eye(d)[rng.integers(0, d, n)]


def coarse_matrix(rng, n, d=4):
    """Return a matrix with few distinct similarities, so many pairs are at the threshold."""
    K = np.triu(rng.choice(THRESHOLDS[1:], (n, n)), 1)
    return MatrixSimilarity(K + K.T + np.eye(n))


SIMILARITIES = {
    "cosine": lambda rng, n: as_similarity(integer_rows(rng, n), k="cosine"),
    "cosine, float32": lambda rng, n: as_similarity(
        rng.standard_normal((n, 3)).astype(np.float32), k="cosine"
    ),
    "rbf": lambda rng, n: as_similarity(integer_rows(rng, n), k="rbf", sigma=1.0),
    "tanimoto": lambda rng, n: as_similarity((rng.random((n, 6)) < 0.6).astype(int), k="tanimoto"),
    "n-grams": lambda rng, n: as_similarity(
        [" ".join(rng.choice(WORDS, 4)) for _ in range(n)], k="ngram_overlap", ns=[1, 2]
    ),
    "labels": lambda rng, n: as_similarity(rng.integers(0, 5, n).tolist(), k="labels"),
    "a matrix": coarse_matrix,
}


def list_pairs(duplicates):
    """Return all pairs of a result, including pairs with copies of identical samples."""
    groups = [np.flatnonzero(duplicates._first_copy == i).tolist() for i in range(duplicates.n)]
    pairs = {pair for group in groups for pair in itertools.combinations(group, 2)}
    above, _ = duplicates.boundary(duplicates.n**2, np.arange(duplicates.n))
    for i, j, _ in above:
        pairs |= {(min(a, b), max(a, b)) for a in groups[i] for b in groups[j]}
    return pairs


def pairs_at_least(K, threshold):
    i, j = np.nonzero(np.triu(threshold <= K, 1))
    return set(zip(i.tolist(), j.tolist(), strict=True))


@pytest.mark.filterwarnings("ignore:Kernel 'ngram_overlap' does not distinguish")
@pytest.mark.filterwarnings("ignore:Kernel 'tanimoto' represents")
@settings(max_examples=60)
@given(
    similarity_name=st.sampled_from(sorted(SIMILARITIES)),
    seed=st.integers(0, 10**6),
    n=st.integers(1, 40),
    threshold=st.sampled_from(THRESHOLDS),
    large=st.booleans(),
)
def test_all_pairs_at_or_above_the_threshold_are_listed(similarity_name, seed, n, threshold, large):
    similarity = SIMILARITIES[similarity_name](np.random.default_rng(seed), n)
    K = np.asarray(similarity.dense(), dtype=float)
    with pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr(pair_search, "MAX_DOUBLE_PRECISION", 0)
            patch.setattr(tiles, "TILE_SIZE", 16)
        _, result = find_duplicates(similarity, threshold)
    slack = 1e-6 if similarity_name.endswith("float32") else 1e-9
    assert result.threshold == threshold
    assert pairs_at_least(K, threshold + slack) <= list_pairs(result)
    if similarity_name != "cosine, float32":
        assert pairs_at_least(K, threshold) <= list_pairs(result)
    identical = result._first_copy[:, None] == result._first_copy
    assert list_pairs(result) <= pairs_at_least(np.where(identical, 1.0, K), threshold - 2 * slack)
    repeats = result.representatives
    for i in np.flatnonzero(repeats >= 0):
        assert (min(i, repeats[i]), max(i, repeats[i])) in list_pairs(result)
    for pair in itertools.combinations(result.retained.tolist(), 2):
        assert pair not in list_pairs(result)


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("value_below", [0.7, 0.85, 0.949])
@pytest.mark.parametrize("value_above", [0.95, 0.96])
def test_pairs_below_the_threshold_do_not_displace_pairs_above(
    value_above, value_below, large, monkeypatch
):
    """A limit of 300 pairs suffices for the 200 of 1,225 pairs at or above the threshold."""
    n = 50
    rng = np.random.default_rng(0)
    upper = np.triu_indices(n, 1)
    values = np.full(len(upper[0]), value_below)
    values[rng.permutation(len(values))[:200]] = value_above
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
    assert list_pairs(result) == pairs_at_least(K, 0.95)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), max_pairs=st.integers(1, 300), large=st.booleans())
def test_too_many_pairs_raise_the_threshold_and_pairs_above_are_complete(seed, max_pairs, large):
    similarity = coarse_matrix(np.random.default_rng(seed), 30)
    K = similarity.dense()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_search, "BLOCK_ROWS", 8)
        patch.setattr(pair_search, "MAX_PAIRS", max_pairs)
        if large:
            patch.setattr(pair_search, "MAX_DOUBLE_PRECISION", 0)
            patch.setattr(tiles, "TILE_SIZE", 16)
        with warnings.catch_warnings(record=True) as warning_list:
            warnings.simplefilter("always")
            _, result = find_duplicates(similarity, 0.8)
    message = f"more than {max_pairs} pairs have a similarity of at least 0.8; the threshold"
    assert [str(warning.message).startswith(message) for warning in warning_list] == [True] * len(
        warning_list
    )
    assert (result.threshold > 0.8) == bool(warning_list)
    assert result.threshold <= 1
    assert list_pairs(result) == pairs_at_least(K, result.threshold - 1e-9)
    distinct = np.flatnonzero(result._first_copy == np.arange(result.n))
    assert bool(warning_list) == (
        len(pairs_at_least(K[np.ix_(distinct, distinct)], 0.8)) > max_pairs
    )
