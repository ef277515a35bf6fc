"""Kernels on text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ..errors import SampleError
from ..registry import register_kernel
from ..similarity import FeatureSimilarity, Similarity

Tokenizer = Callable[[str], Sequence[str]]


@register_kernel(
    "ngram_overlap", samples="text", source="Friedman & Dieng, arXiv 2210.02410, §4.5"
)
def ngram_overlap(
    texts: Sequence[str],
    ns: int | Iterable[int] = (1, 2, 3, 4),
    tokenizer: Tokenizer | None = None,
    analyzer: Literal["word", "char"] = "word",
) -> Similarity:
    """The mean over ns of the cosine similarities of bags of n-grams.

    K = (1/|ns|) Σ_n K_n with K_n the cosines of n-gram counts; it is cosine-normalised after
    averaging, so that k(x, x) = 1 also for a text shorter than some n.

    Parameters
    ----------
    texts : sequence of str
    ns : int or ints of at least 1
        Lengths of n-grams.
    tokenizer : callable str → list of str, optional
        NLTK's Treebank-style `NLTKWordTokenizer` by default; case is kept.
    analyzer : {"word", "char"}
        Whether n-grams are of tokens or of characters (k-mers of a sequence).

    Returns
    -------
    Similarity
        With CSR features, one column for each distinct n-gram: no n² memory.

    Raises
    ------
    SampleError
        If a text is not a string, is empty, or has no n-gram of any length in `ns`.
    """
    orders = _check_ns(ns)
    tokenize = _tokenizer(tokenizer, analyzer)
    tokens = read_tokens(texts, tokenize)
    for i, words in enumerate(tokens):
        if len(words) < min(orders):
            raise SampleError(
                i,
                f"has {len(words)} tokens, fewer than every n in ns={orders}; "
                f"remove it or pass a smaller n",
            )
    F = sp.hstack([_unit_rows(count_ngrams(tokens, n)) for n in orders], format="csr")
    # Sums of one unit vector for each n that a text is long enough for.
    lengths = np.array([sum(len(t) >= n for n in orders) for t in tokens])
    return FeatureSimilarity(sp.diags_array(1 / np.sqrt(lengths), format="csr") @ F)


def read_tokens(texts: Sequence[str], tokenize: Tokenizer) -> list[list[str]]:
    """The tokens of each text; a SampleError for one that is not a string or has none."""
    tokens = []
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise SampleError(i, f"must be a str, got {type(text).__name__}: {text!r:.40}")
        tokens.append(list(tokenize(text)))
        if not tokens[-1]:
            raise SampleError(i, f"has no tokens: {text!r:.40}; remove empty texts")
    return tokens


def count_ngrams(tokens: Sequence[Sequence[str]], n: int) -> sp.csr_array:
    """How often each n-gram is in each list of tokens: CSR (texts, distinct n-grams), float64."""
    columns: dict[Any, int] = {}
    indices: list[int] = []
    counts: list[int] = []
    starts = [0]
    for words in tokens:
        grams = Counter(zip(*(words[i:] for i in range(n)), strict=False))
        indices.extend(columns.setdefault(gram, len(columns)) for gram in grams)
        counts.extend(grams.values())
        starts.append(len(indices))
    shape = (len(tokens), max(1, len(columns)))
    return sp.csr_array((np.array(counts, dtype=float), indices, starts), shape=shape)


def _unit_rows(X: sp.csr_array) -> sp.csr_array:
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return sp.diags_array(inverse, format="csr") @ X


def _check_ns(ns: int | Iterable[int]) -> tuple[int, ...]:
    orders = (ns,) if isinstance(ns, int) else tuple(ns)
    if not orders or not all(isinstance(n, (int, np.integer)) and n >= 1 for n in orders):
        raise ValueError(f"`ns` must be one or more integers of at least 1, got {ns!r}")
    return tuple(int(n) for n in orders)


def _tokenizer(tokenizer: Tokenizer | None, analyzer: str) -> Tokenizer:
    if analyzer not in ("word", "char"):
        raise ValueError(f"`analyzer` must be 'word' or 'char', got {analyzer!r}")
    if tokenizer is not None and not callable(tokenizer):
        raise TypeError(
            f"`tokenizer` must be a callable from str to a list of str, "
            f"got {type(tokenizer).__name__}"
        )
    if analyzer == "char":
        if tokenizer is not None:
            raise ValueError("`tokenizer` has no effect with analyzer='char'; leave one of them out")
        return list
    if tokenizer is not None:
        return tokenizer
    from nltk.tokenize import NLTKWordTokenizer

    tokenize: Tokenizer = NLTKWordTokenizer().tokenize
    return tokenize
