"""Hashes are the documented functions, so they are the same in every process and version."""

from hashlib import blake2b

import numpy as np

from vendiscore.support.hashing import hash_bytes, mix_bits

MASK = (1 << 64) - 1


def mix_one(x: int) -> int:
    """Return the output function of SplitMix64, as in Steele et al., 2014."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def test_bytes_are_hashed_by_blake2b_to_eight_bytes():
    assert hash_bytes(b"abc") == blake2b(b"abc", digest_size=8).digest()
    assert len(hash_bytes(b"")) == 8
    assert hash_bytes(b"abc").hex() == "d8bb14d833d59559"


def test_integers_are_mixed_by_splitmix64():
    numbers = [0, 1, 2, 12345, 1 << 63, MASK]
    result = mix_bits(np.array(numbers, np.uint64))
    assert result.dtype == np.uint64
    assert result.tolist() == [mix_one(number) for number in numbers]
    assert mix_one(0x9E3779B97F4A7C15) == 0xE220A8397B1DCDAF  # the first output for seed 0


def test_mixing_leaves_its_argument_unchanged():
    numbers = np.arange(5, dtype=np.uint64)
    mix_bits(numbers)
    assert numbers.tolist() == [0, 1, 2, 3, 4]


def test_mixed_integers_are_distinct_and_look_random():
    result = mix_bits(np.arange(1 << 12, dtype=np.uint64))
    assert len(np.unique(result)) == 1 << 12
    ones = np.unpackbits(result.view(np.uint8)).mean()
    assert abs(ones - 0.5) < 5 * 0.5 / (64 << 12) ** 0.5
