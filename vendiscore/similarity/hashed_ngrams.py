"""n-grams as rows of fixed width: each adds its count, or its negative, to one column."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
import xxhash

from .base import scale_rows

# Rows with so little left, since n-grams have cancelled each other, are counted unsigned.
VANISHING = 1e-6


def hashed_ngrams(
    tokens: Sequence[Sequence[Hashable]], orders: Sequence[int], columns: int
) -> sp.csr_array:
    """Return rows with dot products of about Σ_n cos_n of n-gram counts (Weinberger 2009)."""
    places: list[int] = []
    values: list[float] = []
    starts = [0]
    names: dict[tuple[type, Hashable], bytes] = {}
    for words in tokens:
        encoded = [_name(word, names) for word in words]
        for n in orders:
            grams = Counter(zip(*(encoded[i:] for i in range(n)), strict=False))
            if not grams:
                continue
            unit = 1 / math.sqrt(sum(count * count for count in grams.values()))
            for gram, count in grams.items():
                digest = xxhash.xxh3_64_intdigest(b"".join(gram))
                places.append((digest >> 1) % columns)
                values.append(count * unit if digest & 1 else -count * unit)
        starts.append(len(places))
    shape = (len(tokens), columns)
    X = _summed(values, places, starts, shape)
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    if (squares < VANISHING).any():
        unsigned = _summed(np.abs(values), places, starts, shape)
        lost = (squares < VANISHING).astype(float)
        X = scale_rows(X, 1 - lost) + scale_rows(unsigned, lost)
    return X


def _summed(values: Any, places: list[int], starts: list[int], shape: tuple[int, int]) -> Any:
    X = sp.csr_array((np.array(values, dtype=float), list(places), list(starts)), shape=shape)
    X.sum_duplicates()
    return X


def _name(token: Any, names: dict[tuple[type, Hashable], bytes]) -> bytes:
    """Return bytes of a token that say where they end, the same for tokens that are equal."""
    key = (type(token), token)
    if key in names:
        return names[key]
    if isinstance(token, str):
        kind, name = b"s", token.encode("utf-8", "surrogatepass")
    elif isinstance(token, bytes):
        kind, name = b"b", token
    elif isinstance(token, tuple):
        kind, name = b"t", b"".join(_name(part, names) for part in token)
    else:
        kind, name = b"i", str(int(token)).encode()
    names[key] = b"%s%d:%s" % (kind, len(name), name)
    return names[key]
