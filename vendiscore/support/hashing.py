"""Hashes that are the same in every process: of bytes, and of unsigned integers."""

from hashlib import blake2b

import numpy as np


def hash_bytes(data: bytes) -> bytes:
    """Return eight bytes that tell one string of bytes from another."""
    return blake2b(data, digest_size=8).digest()


def mix_bits(x: np.ndarray) -> np.ndarray:
    """Return 64-bit integers that look random: the end of SplitMix64 (Steele et al., 2014)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = x ^ (x >> shift)
        x *= np.uint64(factor)
    return x ^ (x >> 31)
