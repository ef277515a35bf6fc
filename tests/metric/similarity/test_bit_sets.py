"""Tanimoto and Dice similarities of bit vectors, compared with Python sets."""

import numpy as np
import pytest
import scipy.sparse

from vendiscore.similarity import bit_sets
from vendiscore.similarity.bit_sets import COEFFICIENTS, BitEntries, BitSimilarity

RNG = np.random.default_rng(0)
BITS = (RNG.random((25, 40)) < RNG.uniform(0, 0.6, 40)).astype(np.uint8)
BITS[3] = BITS[7] = 0
BITS[9] = BITS[2]


def similarity_of_python_sets(bits, coefficient):
    sets = [set(np.flatnonzero(row)) for row in bits]

    def compare(a, b):
        if not a and not b:
            return 1.0
        if coefficient == "dice":
            return 2 * len(a & b) / (len(a) + len(b))
        return len(a & b) / len(a | b)

    return np.array([[compare(a, b) for b in sets] for a in sets])


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("max_rare_frequency", [0.0, 0.3, 1.1])
@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_similarities_match_python_sets(coefficient, max_rare_frequency, container, monkeypatch):
    monkeypatch.setattr(bit_sets, "MAX_RARE_FREQUENCY", max_rare_frequency)
    K = BitSimilarity(container(BITS), coefficient)
    expected = similarity_of_python_sets(BITS, coefficient)
    np.testing.assert_array_equal(K.dense(), expected)
    index = np.array([5, 3, 9])
    np.testing.assert_array_equal(K.take(index).dense(), expected[np.ix_(index, index)])
    assert np.linalg.eigvalsh(expected)[0] > -1e-12
    assert K.psd


def test_single_precision_entries_are_exactly_rounded():
    entries = BitEntries(BITS, "tanimoto")
    result = entries(slice(0, 5), slice(2, 9), np.float32)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(
        result, similarity_of_python_sets(BITS, "tanimoto").astype(np.float32)[:5, 2:9]
    )


def test_rare_columns_of_dense_bits_are_split_above_min_fraction(monkeypatch):
    monkeypatch.setattr(bit_sets, "MAX_RARE_FREQUENCY", 0.3)
    for min_fraction, is_split in ((0.0, True), (1.0, False)):
        monkeypatch.setattr(bit_sets, "MIN_RARE_FRACTION", min_fraction)
        _, rare = BitEntries(BITS, "dice")._common_and_rare
        assert (rare is not None) == is_split


def test_empty_and_identical_bit_sets_are_reported():
    K = BitSimilarity(BITS)
    empty = np.flatnonzero(~BITS.any(axis=1)).tolist()
    assert {3, 7} <= {*empty}
    assert [*K.partial] == empty
    groups = K.groups()
    assert groups[9] == groups[2]
    assert len(np.unique(groups)) == len(np.unique(BITS, axis=0))
