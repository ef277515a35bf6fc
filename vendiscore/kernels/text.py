"""The kernel "ngram_overlap", and tokenization of texts."""

import os
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, count
from typing import Literal

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
# Such a text has n-grams of only one of the requested lengths.
_ONE_WORD_NOTE = "is one word; n-grams of characters, or labels, suit such texts"


def fit_analyzer(
    texts: Sequence[object],
    tokenizer: Tokenizer | str | None = None,
    analyzer: object = "auto",
    **other_options: object,
) -> FittedOptions:
    """Choose words or characters for these texts unless given; return a message for the user."""
    if tokenizer is not None or not isinstance(analyzer, str) or analyzer != "auto":
        return FittedOptions({})
    strings = [text for text in texts if isinstance(text, str)]
    found = count_unspaced(strings)
    if found < max(1, len(strings) / 10):
        return FittedOptions({"analyzer": "word"})
    which = f"{found} of {len(strings)} distinct texts are in a script without spaces between words"
    if 2 * found > len(strings):
        tokenizer = suggest_tokenizer(strings)
        note = f"{which}: n-grams of characters are used for all; {tokenizer} finds words"
        fitted = "char"
    else:
        note = (
            f"{which}, so each clause counts as one word and they seem to differ more than they "
            "do: n-grams of words are used for all; analyzer='char' uses characters, and "
            f"{suggest_tokenizer(strings)} finds words"
        )
        fitted = "word"
    warn(f"{note}. Pass `analyzer` to say which is meant")
    return FittedOptions({"analyzer": fitted}, [f"{note}."])


@register_kernel(
    "ngram_overlap",
    samples="text",
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
    n × n matrix is needed. `settings` records the analyzer. Tokens are compared by code point; to
    ignore case and Unicode form, pass ``unicodedata.normalize("NFC", text.lower())``.

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
        a tenth of the texts are, a warning names a suitable tokenizer.

    Raises
    ------
    SampleError
        If samples are not strings, are empty, or have no n-gram of any length in `ns`.
    TypeError
        If the tokenizer does not return a list of tokens.
    ValueError, MissingPackageError, FileNotFoundError
        If the named tokenizer is unknown, or its package or model is missing.
    """
    remedy = "pass ns=1, or ns=(1, 2, 3, 4)"
    several = ns if isinstance(ns, Iterable) and is_collection(ns) else [ns]
    orders = tuple(check_int("ns", n, hint=remedy) for n in several)
    if not orders:
        raise ValueError(
            f"`ns` must be one or more integers of at least 1, got {short_repr(ns)}; {remedy}"
        )
    check_choice("analyzer", analyzer, ("auto", "word", "char"))
    if analyzer == "auto":
        analyzer = fit_analyzer(texts, tokenizer=tokenizer).get("analyzer", "word")
    least, than = min(orders), f"every n in ns={orders}"
    tokens = tokenize_texts(texts, tokenizer, analyzer, least, than)
    settings = {"ns": list(orders), "analyzer": analyzer}
    X = _unit_features(tokens, orders)
    similarity = FeatureSimilarity(X, settings)
    if len(orders) > 1:  # for a single n, this was requested
        if analyzer == "word":
            similarity.partial = {
                i: _ONE_WORD_NOTE for i, own in enumerate(tokens) if len(own) == 1
            }
        sums = np.unique(X @ np.arange(X.shape[1]))  # equal for equal rows
        similarity.merges = len(sums) < len(tokens)
    return similarity


def _unit_features(tokens: Sequence[Tokens], orders: Sequence[int]) -> Rows:
    """Return unit-norm features for all n; n-grams that occur once share one column per text."""
    n = len(tokens)
    numbers = np.maximum(np.subtract.outer(list(map(len, tokens)), orders).T + 1, 0)
    scales = 1 / np.sqrt((numbers > 0).sum(axis=0))
    alone = np.zeros(n)
    parts = []
    width = 0
    for number, (rows, columns, counts) in zip(numbers, count_ngrams(tokens, orders), strict=True):
        others = number - np.bincount(rows, counts, n)
        squares = others + np.bincount(rows, counts**2, n)
        factors = scales / np.sqrt(np.maximum(squares, 1))
        alone += others * factors**2
        parts.append((rows, width + columns, counts * factors[rows]))
        width += columns.max(initial=-1) + 1
    own = np.flatnonzero(alone)
    parts.append((own, width + np.arange(len(own)), np.sqrt(alone[own])))
    width += len(own)
    rows, columns, values = map(np.concatenate, zip(*parts, strict=True))
    if n * width > MAX_DENSE_SIZE:
        starts = np.flatnonzero(np.diff(columns, prepend=-1, append=width))
        return sp.csc_array((values, rows, starts), (n, width)).tocsr()
    X = np.zeros((n, width))
    X[rows, columns] = values
    return X


def tokenize_texts(
    texts: Sequence[object],
    tokenizer: Tokenizer | str | None = None,
    analyzer: Analyzer = "word",
    min_tokens: int = 1,
    min_tokens_text: str = "1",
) -> list[Tokens]:
    """Return the tokens of each text, as used by `ngram_overlap`."""
    tokenize = parse_tokenizer(tokenizer, analyzer)
    memory = TOKEN_CACHE.get()
    if memory is None or callable(tokenizer):  # a user's function may not be deterministic
        return split_into_tokens(texts, tokenize, min_tokens, min_tokens_text)
    remembered = memory.setdefault((tokenizer, analyzer), {})
    return split_into_tokens(texts, tokenize, min_tokens, min_tokens_text, remembered)


def split_into_tokens(
    texts: Sequence[object],
    tokenize: Tokenizer,
    min_tokens: int = 1,
    min_tokens_text: str = "1",
    cache: dict[str, Tokens] | None = None,
) -> list[Tokens]:
    """Split each text into at least `min_tokens` tokens, called `min_tokens_text` in errors."""
    by_text = {} if cache is None else cache
    strings = [text for text in texts if isinstance(text, str)]
    new = [text for text in dict.fromkeys(strings) if text not in by_text]
    split: Sequence[Tokens]
    if tokenize is treebank.tokenize:
        split = treebank.tokenize_all(new)
    elif tokenize is list:
        split = list(map(list, new))
    else:
        split = [_call_tokenizer(text, tokenize) for text in new]
    by_text.update(zip(new, split, strict=True))
    tokens = [by_text[text] if isinstance(text, str) else [] for text in texts]
    problems = {}
    for i, (text, own) in enumerate(zip(texts, tokens, strict=True)):
        if len(own) >= max(min_tokens, 1):
            continue
        if not isinstance(text, str):
            remedy = ""
            if isinstance(text, (list, tuple, Mapping)):
                remedy = (
                    "; of a table pass one column, such as df['text'], of groups a list of lists"
                )
            elif isinstance(text, os.PathLike):
                remedy = "; of files pass path.read_text(); for image files, pass k='pixels'"
            problems[i] = f"must be a str, got {type(text).__name__}: {short_repr(text)}{remedy}"
        elif not own:
            problems[i] = f"has no tokens: {short_repr(text)}; remove empty texts"
        else:
            number = "1 token" if len(own) == 1 else f"{len(own)} tokens"
            problems[i] = (
                f"has {number}, fewer than {min_tokens_text}; remove it or pass a smaller n"
            )
    if problems:
        SampleError.check(problems)
    return tokens


def _call_tokenizer(text: str, tokenize: Tokenizer) -> Tokens:
    try:
        found: object = tokenize(text)
    except Exception as error:
        error.add_note(f"the tokenizer was reading {short_repr(text)}")
        raise
    tokens = None
    if hasattr(found, "tolist"):
        tokens = found.tolist()
    elif isinstance(found, Iterable) and not isinstance(found, _UNORDERED):
        tokens = list(found)
    if not isinstance(tokens, list):
        raise TypeError(
            f"`tokenizer` must return a list of tokens, got {type(found).__name__} for "
            f"{short_repr(text)}; pass a function such as str.split"
        )
    for token in tokens:
        if type(token) is not str and not _is_token(token):
            raise TypeError(
                f"`tokenizer` must return tokens that are str or int, got {type(token).__name__} "
                f"{short_repr(token)} for {short_repr(text)}; take their text"
            )
    return tokens


def _is_token(token: object) -> bool:
    """Return whether a token is a value; other objects may be equal only to themselves."""
    if isinstance(token, tuple):
        return all(map(_is_token, token))
    return isinstance(token, (str, bytes, int, np.integer))


def count_ngrams(
    tokens: Sequence[Tokens], orders: Sequence[int]
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Count n-grams per text, for each n in `orders`; n-grams that occur only once are omitted.

    Each result is (text indices, n-gram codes, counts), sorted by n-gram code and then text index.
    """
    number: defaultdict[Hashable, int] = defaultdict(count().__next__)
    text = np.repeat(np.arange(len(tokens)), list(map(len, tokens)))
    every = map(number.__getitem__, chain.from_iterable(tokens))
    grams = np.fromiter(every, int, len(text))
    starts = np.arange(len(text))
    found = {}
    for n in range(1, max(orders) + 1):
        if n > 1:
            at = np.full(len(text), -1)
            at[starts] = grams
            left, right = at[:-1], at[1:]
            starts = np.flatnonzero((left >= 0) & (right >= 0) & (text[:-1] == text[1:]))
            pairs = left[starts] * len(text) + right[starts]
            grams = np.unique(pairs, return_inverse=True)[1]
        recurs = np.bincount(grams) > 1
        starts = starts[recurs[grams]]
        grams = (np.cumsum(recurs) - 1)[grams[recurs[grams]]]
        if n in orders:
            pairs, counts = np.unique(grams * len(tokens) + text[starts], return_counts=True)
            of_texts, texts = np.divmod(pairs, len(tokens))
            found[n] = texts, of_texts, counts
    return [found[n] for n in orders]


def parse_tokenizer(tokenizer: Tokenizer | str | None, analyzer: str) -> Tokenizer:
    """Return the function that splits a text into tokens, words or characters."""
    if tokenizer is not None and not isinstance(tokenizer, str) and not callable(tokenizer):
        raise TypeError(
            f"`tokenizer` must be a callable from str to a list of str, or the name of one of "
            f"sacrebleu, got {type(tokenizer).__name__}; pass a function such as str.split, or 'zh'"
        )
    if analyzer == "char":
        if tokenizer is not None:
            raise ValueError("`tokenizer` has no effect with analyzer='char'; leave one out")
        return list
    if isinstance(tokenizer, str):
        return load_tokenizer(tokenizer)
    return treebank.tokenize if tokenizer is None else tokenizer
