"""n-grams as rows of fixed width: each adds its count, or its negative, to one column."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ..arrays import sparse as sp
from ..arrays.hashing import FACTOR, hash_bytes, mix
from .base import scale_rows

# Rows with so little left, since n-grams have cancelled each other, are counted unsigned.
VANISHING = 1e-6


def hashed_ngrams(
    tokens: Sequence[Sequence[Hashable]], orders: Sequence[int], columns: int
) -> sp.csr_array:
    """Return rows with dot products of about Σ_n cos_n of n-gram counts (Weinberger 2009)."""
    shape = (len(tokens), columns)
    found = list(_hashes(tokens, orders))
    X = sum((_row_sums(*each, shape, signed=True) for each in found), sp.csr_array(shape))
    lost = X.multiply(X).sum(axis=1) < VANISHING
    if lost.any():
        unsigned = sum((_row_sums(*each, shape, signed=False) for each in found), 0 * X)
        X = scale_rows(X, 1.0 - lost) + scale_rows(unsigned, 1.0 * lost)
    return X


def _hashes(
    tokens: Sequence[Sequence[Hashable]], orders: Sequence[int]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for each n in `orders`, the text and the hash of each n-gram of all texts."""
    every = list(chain.from_iterable(tokens))
    known = {token: hash_bytes(_name(token)) for token in dict.fromkeys(every)}
    hashes = np.frombuffer(b"".join(map(known.__getitem__, every)), "<u8")
    text = np.repeat(np.arange(len(tokens)), list(map(len, tokens)))
    grams = {1: hashes}
    for n in range(2, max(orders) + 1):
        grams[n] = mix(grams[n - 1][:-1] * FACTOR + hashes[n - 1 :])
    for n in orders:
        inside = text[: len(grams[n])] == text[n - 1 :]
        yield text[: len(grams[n])][inside], grams[n][inside]


def _row_sums(
    texts: np.ndarray, grams: np.ndarray, shape: tuple[int, int], signed: bool
) -> sp.csr_array:
    """Return the counts of n-grams of one length, divided by their norm, summed by column."""
    n, columns = shape
    # Equal n-grams of one text have one number.
    numbers = grams ^ mix(texts.astype(np.uint64))
    _, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    squares = np.bincount(texts[first], counts**2.0, n)
    signs = np.where(grams & 1, 1.0, -1.0) if signed else np.ones(len(grams))
    starts = np.searchsorted(texts, np.arange(n + 1))
    S = sp.csr_array((signs, (grams >> 1) % columns, starts), shape)
    S.sum_duplicates()  # whole numbers, the same in any order
    return scale_rows(S, 1 / np.sqrt(np.maximum(squares, 1)))


def _name(token: Any) -> bytes:
    """Return bytes of a token that say where they end, the same for tokens that are equal."""
    if isinstance(token, str):
        kind, name = b"s", token.encode("utf-8", "surrogatepass")
    elif isinstance(token, bytes):
        kind, name = b"b", token
    elif isinstance(token, tuple):
        kind, name = b"t", b"".join(map(_name, token))
    else:
        kind, name = b"i", str(int(token)).encode()
    return b"%s%d:%s" % (kind, len(name), name)
