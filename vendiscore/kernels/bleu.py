"""The kernel "bleu": sentence BLEU as computed by sacrebleu."""

from collections.abc import Callable, Hashable, Sequence
from functools import cache, partial

import numpy as np

from ..encoders.tokenizers import load_tokenizer
from ..resolve.kernel import register_kernel
from ..similarity import sparse as sp
from ..similarity.base import Similarity
from ..similarity.matrix import DeferredSimilarity
from ..support import memory
from ..support.arguments import check_bool, check_int
from ..support.optional import require
from ..support.progress import track
from ..support.suggestions import suggest_name
from .text import Tokens, count_ngrams, split_into_tokens

# Pairs of texts counted at once; 2 MB per order of n-grams.
MAX_PAIRS_PER_BLOCK = 1 << 18


@register_kernel(
    "bleu",
    samples="text",
    source="Papineni et al., ACL 2002, as in sacrebleu (Post, WMT 2018)",
    psd=False,
    needs="text",
)
def bleu(
    texts: Sequence[str],
    tokenize: str = "13a",
    smooth: str = "exp",
    max_order: int = 4,
    lowercase: bool = False,
) -> Similarity:
    """The mean sentence BLEU of two texts over both directions, from 0 to 1.

    Each direction is sacrebleu's `BLEU(effective_order=True).sentence_score`: n-gram orders longer
    than the text are ignored. Texts with identical tokens have similarity 1. Time is O(n²), with at
    most one call of `compute_bleu` per pair. The matrix of thousands of texts usually has negative
    eigenvalues; psd="clip" sets them to zero, and the details report their sum as `negative_mass`.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    tokenize : str, default "13a"
        A sacrebleu tokenizer: "13a", "intl", "zh", "ja-mecab", "char", "none", ….
    smooth : {"exp", "floor", "add-k", "none"}, default "exp"
        Smoothing of n-gram orders without a match (Chen & Cherry, WMT 2014).
    max_order : int, default 4
        Length of the longest n-grams, at least 1.
    lowercase : bool, default False
        Whether to convert texts to lower case first.

    Raises
    ------
    SampleError
        If samples are not strings or have no tokens.
    TooLargeError
        If the similarity matrix (8 n² bytes) does not fit in memory.
    ValueError
        If the tokenizer or the smoothing is unknown.
    MissingPackageError, FileNotFoundError
        If a package or model of the tokenizer is not installed.
    """
    max_order = check_int("max_order", max_order)
    words, score = sentence_bleu(tokenize, smooth, max_order, check_bool("lowercase", lowercase))

    def mean_score(matches: tuple[int, ...], a: int, b: int) -> float:
        return (score(matches, a, b) + score(matches, b, a)) / 2

    tokens = split_into_tokens(texts, words)
    settings = {"max_order": max_order, "lowercase": lowercase}

    def build(tokens: list[Tokens]) -> DeferredSimilarity:
        return DeferredSimilarity(
            len(tokens),
            partial(_build_matrix, tokens, max_order, mean_score),
            settings=settings,
            compute_part=lambda index: build([tokens[i] for i in index]),
        )

    return build(tokens)


def sentence_bleu(
    tokenize: str, smooth: object, max_order: int, lowercase: bool, caller: str = "kernel 'bleu'"
) -> tuple[Callable[[str], list[str]], Callable[[Sequence[int], int, int], float]]:
    """Return a tokenizer, and a function that maps matches and text lengths to BLEU.

    The arguments of the function are the matches for n = 1, 2, …, the length of the text and the
    length of the reference.
    """
    BLEU = require("sacrebleu.metrics.bleu", "text", caller).BLEU
    methods = BLEU.SMOOTH_DEFAULTS
    if not isinstance(smooth, str) or smooth not in methods:
        raise ValueError(f"`smooth` is unknown: {smooth!r}. {suggest_name(smooth, methods)}")
    split = load_tokenizer(tokenize, "tokenize")

    def words(text: str) -> list[str]:
        return split(text.lower() if lowercase else text)

    def score(matches: Sequence[int], length: int, other: int) -> float:
        percentage = BLEU.compute_bleu(
            correct=list(matches),
            total=[max(0, length - n) for n in range(max_order)],
            sys_len=length,
            ref_len=other,
            smooth_method=smooth,
            effective_order=True,
            max_ngram_order=max_order,
        ).score
        return min(percentage / 100, 1.0)  # a perfect score of sacrebleu is 100.00000000000004

    return words, score


def _build_matrix(
    tokens: Sequence[Tokens],
    max_order: int,
    score: Callable[[tuple[int, ...], int, int], float],
) -> np.ndarray:
    """Return the matrix of scores; `score` gets matches by n-gram length and two text lengths."""
    n = len(tokens)
    needed_bytes = 8 * n * n + (8 * max_order + 80) * min(n * n, MAX_PAIRS_PER_BLOCK)
    memory.require(needed_bytes, f"the similarity matrix of {n} samples", "compare fewer samples")
    ngram_counts = count_ngrams(tokens, range(1, max_order + 1))
    indicators = [_indicator_columns(*counts, n) for counts in ngram_counts]
    lengths = np.array([len(words) for words in tokens])
    ids: dict[tuple[Hashable, ...], int] = {}
    text_ids = np.array([ids.setdefault(tuple(words), len(ids)) for words in tokens])
    cached_score = cache(score)
    K = np.empty((n, n))
    size = max(1, MAX_PAIRS_PER_BLOCK // n)
    for i in track(range(0, n, size), -(-n // size), "comparing pairs"):
        rows = slice(i, i + size)
        columns = slice(i, n)
        a, b = np.broadcast_arrays(lengths[rows, None], lengths[None, columns])
        matches = [(B[rows] @ B[columns].T).toarray().astype(int) for B in indicators]
        first, inverse = _find_distinct([a, b, *matches])
        scores = [
            cached_score(tuple(int(m.flat[j]) for m in matches), int(a.flat[j]), int(b.flat[j]))
            for j in first
        ]
        block = np.array(scores)[inverse].reshape(a.shape)
        block[text_ids[rows, None] == text_ids[None, columns]] = 1
        K[rows, columns] = block
        K[columns, rows] = block.T
    return K


def _indicator_columns(
    texts: np.ndarray, grams: np.ndarray, counts: np.ndarray, n: int
) -> sp.csr_array:
    """For each n-gram and m = 1, 2, …, return a 0/1 column: whether it occurs at least m times.

    Dot products of the rows of two texts are the sum of the smaller counts of their n-grams.
    """
    width = int(grams.max(initial=0)) + 1
    repeats = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    indices = np.repeat(texts, counts), np.repeat(grams, counts) + width * repeats
    return sp.csr_array((np.ones(len(repeats)), indices), (n, width * int(counts.max(initial=1))))


def _find_distinct(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the first index of each distinct tuple of column values, and the inverse mapping."""
    key = np.zeros(columns[0].size, dtype=np.int64)
    span = 1
    for column in columns:
        radix = int(column.max()) + 1
        if span * radix > np.iinfo(np.int64).max:
            key = np.unique(key, return_inverse=True)[1]
            span = int(key.max()) + 1
        key = key * radix + column.ravel()
        span *= radix
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return first, inverse
