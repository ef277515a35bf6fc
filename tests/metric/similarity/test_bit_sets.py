"""Tanimoto and Dice of rows of bits, against sets of Python."""

import numpy as np
import pytest
import scipy.sparse

from vendiscore.similarity import bit_sets
from vendiscore.similarity.bit_sets import COEFFICIENTS, BitEntries, BitSimilarity

RNG = np.random.default_rng(0)
BITS = (RNG.random((25, 40)) < RNG.uniform(0, 0.6, 40)).astype(np.uint8)
BITS[3] = BITS[7] = 0
BITS[9] = BITS[2]


def naive(bits, coefficient):
    sets = [set(np.flatnonzero(row)) for row in bits]

    def compare(a, b):
        if not a and not b:
            return 1.0
        if coefficient == "dice":
            return 2 * len(a & b) / (len(a) + len(b))
        return len(a & b) / len(a | b)

    return np.array([[compare(a, b) for b in sets] for a in sets])


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("rare", [0.0, 0.3, 1.1])
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_similarities_are_those_of_sets(coefficient, rare, make, monkeypatch):
    monkeypatch.setattr(bit_sets, "MAX_RARE_FREQUENCY", rare)
    K = BitSimilarity(make(BITS), coefficient)
    expected = naive(BITS, coefficient)
    np.testing.assert_array_equal(K.dense(), expected)
    index = np.array([5, 3, 9])
    np.testing.assert_array_equal(K.take(index).dense(), expected[np.ix_(index, index)])
    assert np.linalg.eigvalsh(expected)[0] > -1e-12
    assert K.psd


def test_single_precision_gives_the_counts_exactly():
    entries = BitEntries(BITS, "tanimoto")
    result = entries(slice(0, 5), slice(2, 9), np.float32)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, naive(BITS, "tanimoto").astype(np.float32)[:5, 2:9])


def test_few_rare_columns_of_dense_bits_stay_dense(monkeypatch):
    monkeypatch.setattr(bit_sets, "MAX_RARE_FREQUENCY", 0.3)
    for share, is_split in ((0.0, True), (1.0, False)):
        monkeypatch.setattr(bit_sets, "MIN_RARE_FRACTION", share)
        _, rare = BitEntries(BITS, "dice")._common_and_rare
        assert (rare is not None) == is_split


def test_sets_without_bits_and_identical_sets_are_reported():
    K = BitSimilarity(BITS)
    empty = np.flatnonzero(~BITS.any(axis=1)).tolist()
    assert {3, 7} <= {*empty}
    assert [*K.partial] == empty
    groups = K.groups()
    assert groups[9] == groups[2]
    assert len(np.unique(groups)) == len(np.unique(BITS, axis=0))
