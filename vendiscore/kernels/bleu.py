"""The kernel "bleu": sentence BLEU as computed by sacrebleu."""

from __future__ import annotations

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

# Number of pairs of texts whose matches are counted at once; 2 MB per length of n-grams.
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

    In one direction, the first text is compared with the second as its reference, by sacrebleu's
    `BLEU(effective_order=True).sentence_score`: n-grams longer than the text are ignored. Texts
    with identical tokens have similarity 1. Time is O(n²). The matrix of thousands of texts usually
    has negative eigenvalues; psd="clip" sets them to zero, and the details of a score report their
    absolute sum as `negative_mass`.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    tokenize : str, default "13a"
        A sacrebleu tokenizer: "13a", "intl", "zh", "ja-mecab", "char", "none", ….
    smooth : {"exp", "floor", "add-k", "none"}, default "exp"
        Smoothing of the precision for lengths n without a matching n-gram (Chen & Cherry, WMT
        2014).
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
    lowercase = check_bool("lowercase", lowercase)
    split_text, compute_bleu = build_sentence_bleu(tokenize, smooth, max_order, lowercase)

    def compute_mean_bleu(matches: tuple[int, ...], length_a: int, length_b: int) -> float:
        # Numbers of matching n-grams are the same in both directions.
        forward = compute_bleu(matches, length_a, length_b)
        return (forward + compute_bleu(matches, length_b, length_a)) / 2

    settings = {"max_order": max_order, "lowercase": lowercase}

    def build_similarity(tokens_by_text: list[Tokens]) -> DeferredSimilarity:
        return DeferredSimilarity(
            len(tokens_by_text),
            partial(_build_matrix, tokens_by_text, max_order, compute_mean_bleu),
            settings=settings,
            # The similarity of a subset is computed without the matrix of all texts.
            compute_part=lambda index: build_similarity([tokens_by_text[i] for i in index]),
        )

    return build_similarity(split_into_tokens(texts, split_text))


def build_sentence_bleu(
    tokenize: str, smooth: object, max_order: int, lowercase: bool, caller: str = "kernel 'bleu'"
) -> tuple[Callable[[str], list[str]], Callable[[Sequence[int], int, int], float]]:
    """Return a tokenizer, and a function that computes sentence BLEU from counts.

    `tokenize`, `smooth` and `max_order` are the tokenizer, the smoothing method and the length of
    the longest n-grams, as in sacrebleu. With `lowercase`, the returned tokenizer first converts
    texts to lower case. The arguments of the returned function are the numbers of matching n-grams
    for n = 1, …, `max_order`, the number of tokens of the text, and the number of tokens of the
    reference. `caller` is named in the error if sacrebleu is missing.
    """
    BLEU = require("sacrebleu.metrics.bleu", "text", caller).BLEU
    methods = BLEU.SMOOTH_DEFAULTS
    if not isinstance(smooth, str) or smooth not in methods:
        raise ValueError(f"`smooth` is unknown: {smooth!r}. {suggest_name(smooth, list(methods))}")
    tokenizer = load_tokenizer(tokenize, "tokenize")

    def split_text(text: str) -> list[str]:
        return tokenizer(text.lower() if lowercase else text)

    def compute_bleu(matches: Sequence[int], length: int, reference_length: int) -> float:
        # Return BLEU in [0, 1]; a text of `length` tokens has length − n + 1 n-grams.
        # With `effective_order`, lengths n of which the text has no n-grams are ignored.
        percentage = BLEU.compute_bleu(
            correct=list(matches),
            total=[max(0, length - n + 1) for n in range(1, max_order + 1)],
            sys_len=length,
            ref_len=reference_length,
            smooth_method=smooth,
            effective_order=True,
            max_ngram_order=max_order,
        ).score
        return min(percentage / 100, 1.0)  # a perfect score of sacrebleu is 100.00000000000004

    return split_text, compute_bleu


def _build_matrix(
    tokens_by_text: Sequence[Tokens],
    max_order: int,
    compute_bleu: Callable[[tuple[int, ...], int, int], float],
) -> np.ndarray:
    """Compute the matrix of BLEU similarities of texts in blocks of rows.

    `compute_bleu` computes a similarity from the numbers of matching n-grams for n = 1, …,
    `max_order`, and the numbers of tokens of both texts. It is called once for each distinct
    combination of these arguments.
    """
    n = len(tokens_by_text)
    # The matrix and, for each pair of a block, the numbers of matches and temporary arrays.
    needed_bytes = 8 * n * n + (8 * max_order + 80) * min(n * n, MAX_PAIRS_PER_BLOCK)
    memory.require(needed_bytes, f"the similarity matrix of {n} samples", "compare fewer samples")
    ngram_counts = count_ngrams(tokens_by_text, range(1, max_order + 1))
    indicators = [_build_count_indicators(*counts, n) for counts in ngram_counts]
    lengths = np.array([len(tokens) for tokens in tokens_by_text])
    id_by_tokens: dict[tuple[Hashable, ...], int] = {}
    text_ids = np.array(
        [id_by_tokens.setdefault(tuple(tokens), len(id_by_tokens)) for tokens in tokens_by_text]
    )
    cached_bleu = cache(compute_bleu)
    K = np.empty((n, n))
    size = max(1, MAX_PAIRS_PER_BLOCK // n)
    for i in track(range(0, n, size), -(-n // size), "comparing pairs"):
        rows = slice(i, i + size)
        columns = slice(i, n)  # the other columns follow by symmetry
        row_lengths, column_lengths = np.broadcast_arrays(
            lengths[rows, None], lengths[None, columns]
        )
        matches = [(B[rows] @ B[columns].T).toarray().astype(int) for B in indicators]
        first, inverse = _find_distinct_tuples([row_lengths, column_lengths, *matches])
        scores = [
            cached_bleu(
                tuple(int(m.flat[j]) for m in matches),
                int(row_lengths.flat[j]),
                int(column_lengths.flat[j]),
            )
            for j in first
        ]
        block = np.array(scores)[inverse].reshape(row_lengths.shape)
        # Exactly 1 for identical texts, despite rounding errors of BLEU.
        block[text_ids[rows, None] == text_ids[None, columns]] = 1
        K[rows, columns] = block
        K[columns, rows] = block.T
    return K


def _build_count_indicators(
    texts: np.ndarray, grams: np.ndarray, counts: np.ndarray, n: int
) -> sp.csr_array:
    """Return a 0/1 matrix with one row per text, and one column per n-gram and m = 1, 2, ….

    An entry is 1 if the n-gram occurs at least m times in the text. The dot product of the rows of
    two texts is then the number of matching n-grams: the sum, over all n-grams, of the smaller of
    the two counts. The arrays have one element for each of the `n` texts and each distinct n-gram
    in it: the index of the text, the code of the n-gram, and how often it occurs in the text.
    """
    width = int(grams.max(initial=0)) + 1
    # Each n-gram has one element for each of its occurrences in a text; `repeats` numbers these
    # from 0.
    repeats = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    indices = np.repeat(texts, counts), np.repeat(grams, counts) + width * repeats
    return sp.csr_array((np.ones(len(repeats)), indices), (n, width * int(counts.max(initial=1))))


def _find_distinct_tuples(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Find the distinct tuples of values at the same position of several arrays of integers ≥ 0.

    All arrays have the same shape and are flattened. Returns the first position of each distinct
    tuple, and for each position the number of its tuple among the distinct ones.
    """
    # Combine the values to one integer per position, with values below `n_keys`.
    keys = np.zeros(arrays[0].size, dtype=np.int64)
    n_keys = 1
    for array in arrays:
        radix = int(array.max()) + 1
        if n_keys * radix > np.iinfo(np.int64).max:  # renumber the keys to avoid an overflow
            keys = np.unique(keys, return_inverse=True)[1]
            n_keys = int(keys.max()) + 1
        keys = keys * radix + array.ravel()
        n_keys *= radix
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first, inverse
