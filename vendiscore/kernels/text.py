"""The kernel "ngram_overlap", and tokenization of texts."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, count
from typing import Literal, TypeAlias

import numpy as np

from ..encoders import treebank
from ..encoders.tokenizers import TOKEN_CACHE, load_tokenizer
from ..resolve.kernel import Control, FittedOptions, register_kernel
from ..similarity import sparse as sp
from ..similarity.base import Similarity
from ..similarity.features import MAX_DENSE_SIZE, FeatureSimilarity
from ..support.arguments import check_choice, check_int, is_collection
from ..support.errors import SampleError, short_repr, warn
from ..support.text_detection import count_unspaced, suggest_tokenizer
from ..support.types import Rows

Tokens = Sequence[Hashable]
Tokenizer = Callable[[str], Tokens]
Analyzer = Literal["auto", "word", "char"]
# For each n-gram of each text: the index of the text, the code of the n-gram, and its count.
NgramCounts: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
_LENGTHS_CONTROL = Control(
    "ns",
    "n-grams of",
    "checks",
    value=[1, 2, 3, 4],
    choices=(1, 2, 3, 4, 5),
    most=10,
    info="how many in a row",
    phrase="of {}",
)
_UNIT_CONTROL = Control(
    "unit",
    "made of",
    "choice",
    value="word",
    choices={"word": "words", "char": "characters"},
    info="words, or characters, for writing without spaces",
    keyword="analyzer",
    phrase="{}",
)
# Not accepted as tokens: strings would be split into characters, mappings into keys.
_UNORDERED = (str, bytes, Mapping, AbstractSet)
# A text of one word has n-grams of only one of the requested lengths.
_ONE_WORD_NOTE = "is one word; for such texts, use analyzer='char' or k='labels'"


def fit_analyzer(
    texts: Sequence[object],
    tokenizer: Tokenizer | str | None = None,
    analyzer: object = "auto",
    **other_options: object,
) -> FittedOptions:
    """Choose between n-grams of words and of characters, if the user passed neither option.

    Returns the fitted option `analyzer` of the kernel "ngram_overlap", or no option if the user
    passed `tokenizer` or `analyzer`. Warns, and returns a note, if at least a tenth of the texts
    are in a script without spaces between words. `other_options` of the kernel have no effect.
    """
    if tokenizer is not None or not isinstance(analyzer, str) or analyzer != "auto":
        return FittedOptions({})
    strings = [text for text in texts if isinstance(text, str)]
    n_unspaced = count_unspaced(strings)
    if n_unspaced < max(1, len(strings) / 10):
        return FittedOptions({"analyzer": "word"})
    finding = (
        f"{n_unspaced} of {len(strings)} distinct texts are in a script without spaces between "
        f"words"
    )
    suggested_tokenizer = suggest_tokenizer(strings)
    # All texts are split in the same way: into words, unless most texts have no spaces.
    if 2 * n_unspaced > len(strings):
        note = (
            f"{finding}, so n-grams of characters are used for all texts; to split texts into "
            f"words, pass {suggested_tokenizer}"
        )
        fitted_analyzer = "char"
    else:
        note = (
            f"{finding}. N-grams of words are used for all texts, so each clause of these texts "
            "counts as one word, which increases the score; to compare characters, pass "
            f"analyzer='char'; to split texts into words, pass {suggested_tokenizer}"
        )
        fitted_analyzer = "word"
    warn(f"{note}. To avoid this warning, pass analyzer='word' or analyzer='char'")
    return FittedOptions({"analyzer": fitted_analyzer}, [f"{note}."])


@register_kernel(
    "ngram_overlap",
    samples="text",
    content=("texts", "sequences"),
    source="Friedman & Dieng, arXiv 2210.02410, §4.5",
    fit=fit_analyzer,
    label="share words",
    term="n-grams",
    by="By the words they share",
    controls=(_LENGTHS_CONTROL, _UNIT_CONTROL),
)
def ngram_overlap(
    texts: Sequence[str],
    ns: int | Iterable[int] = (1, 2, 3, 4),
    tokenizer: Tokenizer | str | None = None,
    analyzer: Analyzer = "auto",
) -> Similarity:
    """The cosine similarity of n-gram counts, averaged over the lengths n in `ns`.

    K = (1/|ns|) Σ_n K_n, where K_n is the cosine similarity of counts of n-grams. The mean is
    normalized to have k(x, x) = 1 also for texts shorter than some n. Features are sparse, and no
    matrix of all pairs of texts is needed. `settings` records the analyzer. Tokens are compared by
    code point; to ignore case and Unicode form, pass ``unicodedata.normalize("NFC", text.lower())``
    for each text.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    ns : int or iterable of int, default (1, 2, 3, 4)
        Lengths of n-grams, at least 1.
    tokenizer : callable or str, optional
        A function from a str to a list of tokens (str, int or tuple), or the name of a sacrebleu
        tokenizer (extra `text`) such as "zh" or "13a". By default, texts are split into words and
        punctuation like NLTK's `NLTKWordTokenizer`.
    analyzer : {"auto", "word", "char"}, default "auto"
        Use n-grams of tokens ("word") or of characters ("char", for example k-mers of sequences).
        "auto" means "word", except that it means "char" without a `tokenizer` if most texts are in
        a script without spaces (Chinese, Japanese, Thai, Lao, Burmese, Khmer, Tibetan). If at least
        a tenth of the texts are in such a script, a warning names a suitable tokenizer.

    Raises
    ------
    SampleError
        If samples are not strings, are empty, or have no n-gram of any length in `ns`.
    TypeError
        If the tokenizer does not return a list of tokens.
    ValueError, MissingPackageError, FileNotFoundError
        If the named tokenizer is unknown, or its package or model is missing.
    """
    hint = "pass ns=1, or ns=(1, 2, 3, 4)"
    lengths = ns if isinstance(ns, Iterable) and is_collection(ns) else [ns]
    orders = tuple(check_int("ns", n, hint=hint) for n in lengths)
    if not orders:
        raise ValueError(
            f"`ns` must be one or more integers of at least 1, got {short_repr(ns)}; {hint}"
        )
    check_choice("analyzer", analyzer, ("auto", "word", "char"))
    if analyzer == "auto":
        analyzer = fit_analyzer(texts, tokenizer=tokenizer).get("analyzer", "word")
    tokens = tokenize_texts(texts, tokenizer, analyzer, min(orders), f"every n in ns={orders}")
    settings = {"ns": list(orders), "analyzer": analyzer}
    X = _build_unit_features(tokens, orders)
    similarity = FeatureSimilarity(X, settings)
    # Report texts of one word, and texts with identical n-grams, unless a single n was requested.
    if len(orders) > 1:
        if analyzer == "word":
            similarity.partial = {
                i: _ONE_WORD_NOTE for i, words in enumerate(tokens) if len(words) == 1
            }
        checksums = np.unique(X @ np.arange(X.shape[1]))  # equal for equal rows
        similarity.merges = len(checksums) < len(tokens)
    return similarity


def _build_unit_features(tokens: Sequence[Tokens], orders: Sequence[int]) -> Rows:
    """Return unit-norm features whose dot products are mean similarities over n-gram lengths.

    The mean is over the lengths `orders`, and the similarity for each length is the cosine of the
    counts of n-grams. `tokens` are the tokens of each text. Each n-gram that occurs at least twice
    in all texts together has a column. The other n-grams do not contribute to similarities of
    different texts, so all of these in the same text share one column.
    """
    n = len(tokens)
    ngrams = count_ngrams(tokens, orders)
    weights = weight_ngrams(list(map(len, tokens)), orders, ngrams)
    unique_squares = np.zeros(n)  # squared norm of the features of n-grams that occur once
    entries = []  # for each order: rows, columns and values of the features
    width = 0
    for (rows, columns, counts), (factors, n_unique) in zip(ngrams, weights, strict=True):
        unique_squares += n_unique * factors**2
        entries.append((rows, width + columns, counts * factors[rows]))
        width += columns.max(initial=-1) + 1
    texts = np.flatnonzero(unique_squares)
    entries.append((texts, width + np.arange(len(texts)), np.sqrt(unique_squares[texts])))
    width += len(texts)
    rows, columns, values = map(np.concatenate, zip(*entries, strict=True))
    if n * width > MAX_DENSE_SIZE:
        # Entries are sorted by column, and no column is empty, as CSC requires.
        starts = np.flatnonzero(np.diff(columns, prepend=-1, append=width))
        return sp.csc_array((values, rows, starts), (n, width)).tocsr()
    X = np.zeros((n, width))
    X[rows, columns] = values
    return X


def weight_ngrams(
    lengths: Sequence[int] | np.ndarray, orders: Sequence[int], ngrams: Sequence[NgramCounts]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return, for each n in `orders`, the factors of counts, and the numbers of unique n-grams.

    `lengths` contains the number of tokens of each text, and `ngrams` the counts for each n, as
    `count_ngrams` returns them. All other n-grams of a text are treated as unique: as different
    n-grams that occur once and in no other text. Both arrays have shape (n_texts,). A factor turns
    the counts of a text into features: it divides them by their norm, and by the square root of the
    number of lengths n for which the text has n-grams.
    """
    n = len(lengths)
    # Number of n-grams of each text, shape (orders, texts).
    totals = np.maximum(np.subtract.outer(lengths, orders).T + 1, 0)
    # A text that is shorter than some orders has the same weight for each of the other orders.
    order_weights = 1 / np.sqrt((totals > 0).sum(axis=0))
    weights = []
    for total, (rows, _, counts) in zip(totals, ngrams, strict=True):
        # For each text, the number of n-grams that occur only once in all texts, and the squared
        # norm of its counts of all n-grams. Weighted counts have the norm `order_weights`.
        n_unique = total - np.bincount(rows, counts, n)
        squared_norms = n_unique + np.bincount(rows, counts**2, n)
        weights.append((order_weights / np.sqrt(np.maximum(squared_norms, 1)), n_unique))
    return weights


def tokenize_texts(
    texts: Sequence[object],
    tokenizer: Tokenizer | str | None = None,
    analyzer: Analyzer = "word",
    min_tokens: int = 1,
    min_tokens_text: str = "1",
) -> list[Tokens]:
    """Return the tokens of each text, as used by the kernel "ngram_overlap".

    `tokenizer` and `analyzer` are options of that kernel. Raises a SampleError for texts with fewer
    than `min_tokens` tokens; its message describes this minimum as `min_tokens_text`. Tokens of
    the built-in and named tokenizers are cached in `TOKEN_CACHE`, if it is set.
    """
    tokenize = parse_tokenizer(tokenizer, analyzer)
    caches = TOKEN_CACHE.get()
    if caches is None or callable(tokenizer):  # a user's function may not be deterministic
        return split_into_tokens(texts, tokenize, min_tokens, min_tokens_text)
    cache = caches.setdefault((tokenizer, analyzer), {})
    return split_into_tokens(texts, tokenize, min_tokens, min_tokens_text, cache)


def split_into_tokens(
    texts: Sequence[object],
    tokenize: Tokenizer,
    min_tokens: int = 1,
    min_tokens_text: str = "1",
    cache: dict[str, Tokens] | None = None,
) -> list[Tokens]:
    """Split each text into tokens; raise a SampleError for texts with fewer than `min_tokens`.

    `tokenize` splits a text. The message of the error describes the minimum number of tokens as
    `min_tokens_text`. Identical texts are tokenized once. Tokens of texts in `cache` are reused,
    and tokens of other texts are added to `cache`.
    """
    tokens_by_text = {} if cache is None else cache
    strings = [text for text in texts if isinstance(text, str)]
    new_texts = [text for text in dict.fromkeys(strings) if text not in tokens_by_text]
    new_tokens: Sequence[Tokens]
    # The built-in tokenizer splits all texts at once, which is faster. Tokens of other functions
    # are checked.
    if tokenize is treebank.tokenize:
        new_tokens = treebank.tokenize_all(new_texts)
    elif tokenize is list:  # characters
        new_tokens = list(map(list, new_texts))
    else:
        new_tokens = [_call_tokenizer(text, tokenize) for text in new_texts]
    tokens_by_text.update(zip(new_texts, new_tokens, strict=True))
    tokens = [tokens_by_text[text] if isinstance(text, str) else [] for text in texts]
    problems = {}
    for i, (text, words) in enumerate(zip(texts, tokens, strict=True)):
        if len(words) >= max(min_tokens, 1):
            continue
        if not isinstance(text, str):
            hint = ""
            if isinstance(text, (list, tuple, Mapping)):
                hint = (
                    "; for a table, pass one column, such as df['text'] or "
                    "vendiscore.read(df).samples; for groups, a list of lists"
                )
            elif isinstance(text, os.PathLike):
                hint = "; for text files, pass path.read_text(); for image files, pass k='pixels'"
            problems[i] = f"must be a str, got {type(text).__name__}: {short_repr(text)}{hint}"
        elif not words:
            problems[i] = f"has no tokens: {short_repr(text)}; remove empty texts"
        else:
            token_count = "1 token" if len(words) == 1 else f"{len(words)} tokens"
            problems[i] = (
                f"has {token_count}, fewer than {min_tokens_text}; remove it or pass a smaller n"
            )
    if problems:
        SampleError.check(problems)
    return tokens


def _call_tokenizer(text: str, tokenize: Tokenizer) -> Tokens:
    """Return the tokens of a text by a user's function, `tokenize`.

    Raises a TypeError unless the function returns an ordered collection of strings, integers or
    tuples of these.
    """
    try:
        result: object = tokenize(text)
    except Exception as error:
        error.add_note(f"raised by `tokenizer` for {short_repr(text)}")
        raise
    tokens = None
    # Arrays are converted to lists. Strings, mappings and sets are not lists of tokens.
    if hasattr(result, "tolist"):
        tokens = result.tolist()
    elif isinstance(result, Iterable) and not isinstance(result, _UNORDERED):
        tokens = list(result)
    if not isinstance(tokens, list):
        raise TypeError(
            f"`tokenizer` must return a list of tokens, got {type(result).__name__} for "
            f"{short_repr(text)}; pass a function such as str.split"
        )
    for token in tokens:
        if type(token) is not str and not _is_token(token):  # the first condition is fast
            raise TypeError(
                f"`tokenizer` must return tokens that are str or int, got {type(token).__name__} "
                f"{short_repr(token)} for {short_repr(text)}; return their text"
            )
    return tokens


def _is_token(token: object) -> bool:
    """Return whether a token is a string, an integer or a tuple of these.

    Other objects are not accepted as tokens: they may be equal only to themselves, so that no two
    texts would have a token in common.
    """
    if isinstance(token, tuple):
        return all(map(_is_token, token))
    return isinstance(token, (str, bytes, int, np.integer))


def count_ngrams(tokens: Sequence[Tokens], orders: Sequence[int]) -> list[NgramCounts]:
    """Count the n-grams in each text, for each n in `orders`.

    N-grams that occur only once in all texts together are omitted. `tokens` are the tokens of each
    text. The result for one n consists of three arrays with an element for each n-gram of each
    text: the index of the text, the code of the n-gram, and its count in the text. They are sorted
    by code and then by text. Codes are integers from 0, different for each n-gram of this length.
    """
    text_ids = np.repeat(np.arange(len(tokens)), list(map(len, tokens)))
    results = {}
    for n, (grams, starts) in enumerate(iter_ngrams(tokens, max(orders)), 1):
        if n in orders:
            results[n] = count_by_text(grams, text_ids[starts], len(tokens))
    return [results[n] for n in orders]


def count_by_text(grams: np.ndarray, text_ids: np.ndarray, n_texts: int) -> NgramCounts:
    """Count the occurrences of each n-gram in each text.

    `grams` and `text_ids` contain the code and the text of each occurrence. The result is described
    in `count_ngrams`.
    """
    # A key for each pair of an n-gram and a text that contains it.
    keys, counts = np.unique(grams * n_texts + text_ids, return_counts=True)
    codes_in_texts, text_indices = np.divmod(keys, n_texts)
    return text_indices, codes_in_texts, counts


def iter_ngrams(
    tokens: Sequence[Tokens], max_order: int, min_texts: int | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the occurrences of recurrent n-grams for n = 1, …, `max_order`, in linear memory.

    By default, an n-gram is recurrent if it occurs at least twice in all texts together; with
    `min_texts`, if it occurs in at least this number of texts. For each n, two arrays are yielded:
    the code of the n-gram of each occurrence (integers from 0), and the position of its first token
    in the concatenated texts, in ascending order.
    """
    code_by_token: defaultdict[Hashable, int] = defaultdict(count().__next__)
    text_ids = np.repeat(np.arange(len(tokens)), list(map(len, tokens)))
    codes = map(code_by_token.__getitem__, chain.from_iterable(tokens))
    # The n-grams of the current length: their codes, and the positions of their first tokens in
    # the concatenated texts.
    grams = np.fromiter(codes, int, len(text_ids))
    starts = np.arange(len(text_ids))
    for n in range(1, max_order + 1):
        if n > 1:
            # An n-gram is a pair of overlapping (n − 1)-grams of the same text. If one of them
            # is not recurrent, neither is the n-gram, and it is omitted.
            grams_by_start = np.full(len(text_ids), -1)
            grams_by_start[starts] = grams
            left, right = grams_by_start[:-1], grams_by_start[1:]
            starts = np.flatnonzero((left >= 0) & (right >= 0) & (text_ids[:-1] == text_ids[1:]))
            # A code for each pair of codes, which are less than the number of tokens.
            pairs = left[starts] * len(text_ids) + right[starts]
            grams = np.unique(pairs, return_inverse=True)[1]
        if min_texts is None:
            is_recurrent = np.bincount(grams) > 1
        else:
            codes_in_texts = count_by_text(grams, text_ids[starts], len(tokens))[1]
            is_recurrent = np.bincount(codes_in_texts) >= min_texts
        # Omit n-grams that are not recurrent, and renumber the others from 0.
        starts = starts[is_recurrent[grams]]
        grams = (np.cumsum(is_recurrent) - 1)[grams[is_recurrent[grams]]]
        yield grams, starts


def parse_tokenizer(tokenizer: Tokenizer | str | None, analyzer: str) -> Tokenizer:
    """Return the function that splits a text into tokens.

    `tokenizer` is a function, the name of a sacrebleu tokenizer, or None for the built-in one.
    `analyzer` is "char" for characters instead of tokens. Raises an error for invalid values.
    """
    if tokenizer is not None and not isinstance(tokenizer, str) and not callable(tokenizer):
        raise TypeError(
            "`tokenizer` must be a function from a text to a list of tokens, or the name of a "
            f"sacrebleu tokenizer, got {type(tokenizer).__name__}; pass, for example, str.split "
            "or 'zh'"
        )
    if analyzer == "char":
        if tokenizer is not None:
            raise ValueError("`tokenizer` has no effect with analyzer='char'; remove one of them")
        return list
    if isinstance(tokenizer, str):
        return load_tokenizer(tokenizer)
    return treebank.tokenize if tokenizer is None else tokenizer
