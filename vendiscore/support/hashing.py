"""Hashes of bytes and of unsigned integers that are the same in every process."""

from hashlib import blake2b

import numpy as np


def hash_bytes(data: bytes | memoryview) -> bytes:
    """Return a hash of eight bytes."""
    return blake2b(data, digest_size=8).digest()


def mix_bits(x: np.ndarray) -> np.ndarray:
    """Hash an array of uint64 integers by the finalizer of SplitMix64.

    The shifts and factors come from Steele et al., OOPSLA 2014.
    """
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        # Products of uint64 wrap around modulo 2⁶⁴, as intended.
        x = x ^ (x >> shift)
        x *= np.uint64(factor)
    return x ^ (x >> 31)
