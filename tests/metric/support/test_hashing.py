"""Hash functions match their published definitions, so hashes are stable across versions."""

from hashlib import blake2b

import numpy as np

from vendiscore.support.hashing import hash_bytes, mix_bits

MASK = (1 << 64) - 1


def splitmix64(x: int) -> int:
    """Return the output function of SplitMix64, as in Steele et al., 2014."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def test_hash_bytes_matches_blake2b_with_eight_bytes():
    assert hash_bytes(b"abc") == blake2b(b"abc", digest_size=8).digest()
    assert len(hash_bytes(b"")) == 8
    assert hash_bytes(b"abc").hex() == "d8bb14d833d59559"


def test_mix_bits_matches_splitmix64():
    integers = [0, 1, 2, 12345, 1 << 63, MASK]
    result = mix_bits(np.array(integers, np.uint64))
    assert result.dtype == np.uint64
    assert result.tolist() == [splitmix64(number) for number in integers]
    assert splitmix64(0x9E3779B97F4A7C15) == 0xE220A8397B1DCDAF  # the first output for seed 0


def test_mix_bits_does_not_modify_its_argument():
    integers = np.arange(5, dtype=np.uint64)
    mix_bits(integers)
    assert integers.tolist() == [0, 1, 2, 3, 4]


def test_mix_bits_returns_distinct_random_looking_integers():
    result = mix_bits(np.arange(1 << 12, dtype=np.uint64))
    assert len(np.unique(result)) == 1 << 12
    mean_bit = np.unpackbits(result.view(np.uint8)).mean()
    assert abs(mean_bit - 0.5) < 5 * 0.5 / (64 << 12) ** 0.5
