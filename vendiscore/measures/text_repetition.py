"""Measures of repeated words and bytes in texts; they use no similarities."""

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial

import numpy as np

from ..kernels.bleu import sentence_bleu
from ..kernels.text import Tokens, count_ngrams, fit_analyzer, split_into_tokens, tokenize_texts
from ..resolve.kernel import Kernel
from ..resolve.kernel_builder import TEXT_KERNEL
from ..support.arguments import check_int, is_collection
from ..support.errors import SampleError, short_repr
from ..support.types import Record
from .measure import register_measure
from .sample_set import SampleSet

_BLEU_DEFAULTS: Record = {"tokenize": "13a", "smooth": "exp", "max_order": 4, "lowercase": False}
_register = partial(register_measure, needs="samples")


def _check_sizes(sizes: object) -> tuple[int, ...]:
    remedy = "(1, 2, 3, 4) is usual"
    several = sizes if is_collection(sizes) else [sizes]
    read = [check_int("sizes", n, hint=remedy) for n in several]
    if not read:
        raise ValueError(f"`sizes` must be one or more lengths of n-grams, got none; {remedy}")
    return tuple(dict.fromkeys(read))


@_register(
    "NgramDiversity",
    range="[0, 1]",
    source="Li et al., NAACL 2016 (distinct-n); mean over n: arXiv 2210.02410, §4.5",
    readers={"sizes": _check_sizes},
)
def ngram_diversity(sample_set: SampleSet, sizes: Sequence[int] = (1, 2, 3, 4)) -> float:
    """The number of distinct n-grams divided by all n-grams of the texts, averaged over `sizes` n.

    n-grams of all texts are counted together (Li et al.). The value falls with the number and
    length of texts: compare sets of equal size. Tokens follow the options `tokenizer` and
    `analyzer` of the kernel "ngram_overlap" if it compares the texts. Texts shorter than n are
    ignored for that n.
    """
    with _reindex_sample_errors(sample_set):
        read = _tokenize(sample_set)
    ratios = []
    left = []
    for n, (_, grams, counts) in zip(sizes, count_ngrams(read, sizes), strict=True):
        total = sum(max(0, len(tokens) - n + 1) for tokens in read)
        if total:
            ratios.append((total - counts.sum() + grams.max(initial=-1) + 1) / total)
        else:
            left.append(n)
    if left:
        longest = max(map(len, read))
        said = ", ".join(map(str, left))
        if not ratios:
            raise ValueError(
                f"NgramDiversity needs a text of {min(left)} tokens or more for n-grams of `sizes` "
                f"{said}, but the longest has {longest}; pass smaller ones"
            )
        sample_set.notes.append(
            f"NgramDiversity leaves out n-grams of {said} tokens: the longest text has {longest}."
        )
    return float(np.mean(ratios))


@contextmanager
def _reindex_sample_errors(sample_set: SampleSet) -> Iterator[None]:
    """Let errors refer to the indices of texts among all samples passed by the caller."""
    try:
        yield
    except SampleError as error:
        raise error.reindexed(sample_set.retained_indices) from error.__cause__


def _tokenize(sample_set: SampleSet) -> list[Tokens]:
    """Return the tokens of each text; words or characters, as chosen for the whole set."""
    how = sample_set.spec
    whole = sample_set.parent
    own: Record = {}
    if how.k is None or (isinstance(how.k, Kernel) and how.k.name == TEXT_KERNEL):
        shared = ("tokenizer", "analyzer")
        own = {name: value for name, value in how.options.items() if name in shared}
    if own.get("tokenizer") is None and own.get("analyzer", "auto") == "auto":
        if whole.has_similarities and "analyzer" in whole.similarity.settings:
            own["analyzer"] = whole.similarity.settings["analyzer"]
        else:  # same for all groups, computed once
            analyzer = whole.settings.get("analyzer") or fit_analyzer(whole.texts)["analyzer"]
            own["analyzer"] = str(analyzer)
    whole.settings |= own
    return tokenize_texts(sample_set.texts, **own)


@_register(
    "SelfBLEU",
    range="[0, 1]",
    direction="lower",
    source="Zhu et al., SIGIR 2018 (Texygen), by sacrebleu (Post, WMT 2018)",
)
def self_bleu(sample_set: SampleSet) -> float:
    """The mean sentence BLEU of each text with all others as references, from 0 to 1.

    It is sacrebleu's `sentence_score` with effective order, divided by 100. Options are those of
    the kernel "bleu" if it compares the texts, otherwise "13a", "exp", 4 and False. (Texygen uses
    NLTK's tokens.) The value grows with the number of texts: compare sets of equal size. Time and
    memory are O(total length).
    """
    how = sample_set.spec
    options = dict(_BLEU_DEFAULTS)
    if isinstance(how.k, Kernel) and how.k.name == "bleu":
        options |= {name: how.options[name] for name in options if name in how.options}
    sample_set.parent.settings |= options
    texts = sample_set.texts
    if len(texts) < 2:
        raise ValueError(
            f"SelfBLEU needs 2 texts or more, each to be compared with the others, got "
            f"{len(texts)}; pass more, or leave it out of `measures`"
        )
    words, score = sentence_bleu(**options, caller="measure 'SelfBLEU'")
    score = cache(score)
    with _reindex_sample_errors(sample_set):
        tokens = split_into_tokens(texts, words)
    lengths = np.array([len(words) for words in tokens])
    orders = range(1, options["max_order"] + 1)
    matches = [_count_matches(*ngrams, len(tokens)) for ngrams in count_ngrams(tokens, orders)]
    rows = np.column_stack([lengths, _nearest_lengths(lengths), *matches]).tolist()
    scores = [score(tuple(shared), length, nearest) for length, nearest, *shared in rows]
    return float(np.mean(scores))


def _count_matches(texts: np.ndarray, grams: np.ndarray, counts: np.ndarray, n: int) -> np.ndarray:
    """Return, for each text, Σ over n-grams of min(count, largest count in another text)."""
    if not len(grams):
        return np.zeros(n, dtype=int)
    order = np.lexsort((-counts, grams))  # by n-gram, largest count first
    grams = grams[order]
    texts = texts[order]
    counts = counts[order]
    first = np.flatnonzero(np.diff(grams, prepend=-1))
    second = np.diff(first, append=len(grams)) > 1
    runner_up = np.zeros(len(first), dtype=int)
    runner_up[second] = counts[first[second] + 1]
    others = counts[first][grams]
    others[first] = runner_up  # for the text with the largest count
    return np.bincount(texts, np.minimum(counts, others), n).astype(int)


def _nearest_lengths(lengths: np.ndarray) -> np.ndarray:
    """Return for each length the nearest length of another text; the smaller one in a tie."""
    order = np.argsort(lengths, kind="stable")
    ascending = np.r_[-np.inf, lengths[order], np.inf]  # the first and last have only one neighbour
    below = ascending[:-2]
    own = ascending[1:-1]
    above = ascending[2:]
    nearest = np.empty_like(lengths)
    nearest[order] = np.where(own - below <= above - own, below, above)
    return nearest


@_register(
    "CompressionRatio",
    range="[0, ∞)",
    direction="lower",
    source="Shaib et al., arXiv 2403.00553",
)
def compression_ratio(sample_set: SampleSet) -> float:
    """The size of all texts divided by their size after gzip compression; more means repetitive.

    Texts are joined by spaces in their order, as UTF-8, and compressed at level 9. The value
    grows with the amount of text, and only repeats within 32 kB are detected: compare sets of equal
    size, in a fixed order.
    """
    texts = sample_set.texts
    empty = [i for i, text in enumerate(texts) if not text or text.isspace()]
    with _reindex_sample_errors(sample_set):
        SampleError.check({i: f"is empty: {short_repr(texts[i])}; remove it" for i in empty})
    data = " ".join(texts).encode("utf-8", "surrogatepass")
    return len(data) / len(gzip.compress(data, mtime=0))
