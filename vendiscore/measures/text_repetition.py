"""Measures of repeated words and bytes in texts, which need no kernel."""

import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial

import numpy as np

from ..kernels.bleu import build_sentence_bleu
from ..kernels.text import Tokens, count_ngrams, fit_analyzer, split_into_tokens, tokenize_texts
from ..resolve.kernel import Kernel
from ..resolve.kernel_builder import TEXT_KERNEL
from ..support.arguments import check_int, is_collection
from ..support.errors import SampleError, short_repr
from ..support.types import Record
from .measure import register_measure
from .sample_set import SampleSet

_BLEU_DEFAULTS: Record = {"tokenize": "13a", "smooth": "exp", "max_order": 4, "lowercase": False}
_TOKEN_OPTIONS = ("tokenizer", "analyzer")  # of the kernel "ngram_overlap"
_register = partial(register_measure, needs="samples")


def _check_sizes(sizes: object) -> tuple[int, ...]:
    """Validate the option `sizes`, one or more lengths of n-grams; return distinct lengths."""
    hint = "the default is (1, 2, 3, 4)"
    values = sizes if is_collection(sizes) else [sizes]
    lengths = [check_int("sizes", n, hint=hint) for n in values]
    if not lengths:
        raise ValueError(f"`sizes` must contain at least one length of n-grams, got none; {hint}")
    return tuple(dict.fromkeys(lengths))


@_register(
    "NgramDiversity",
    range="[0, 1]",
    source="Li et al., NAACL 2016 (distinct-n); mean over n: arXiv 2210.02410, §4.5",
    readers={"sizes": _check_sizes},
    kernel_options={TEXT_KERNEL: _TOKEN_OPTIONS},
)
def ngram_diversity(sample_set: SampleSet, sizes: Sequence[int] = (1, 2, 3, 4)) -> float:
    """The proportion of distinct n-grams among all n-grams, averaged over n in `sizes`.

    An n-gram is a sequence of n consecutive tokens of a text, which are words or characters. The
    n-grams of all texts are counted together (Li et al.). The value decreases with the number and
    length of texts, so compare sets of equal size. If the kernel "ngram_overlap" compares the
    texts, its options `tokenizer` and `analyzer` determine the tokens. Texts of fewer than n tokens
    are ignored for this n.
    """
    with _reindex_sample_errors(sample_set):
        tokens_by_text = _tokenize(sample_set)
    ratios = []
    unused_sizes = []
    ngrams = count_ngrams(tokens_by_text, sizes)
    for n, (_, grams, counts) in zip(sizes, ngrams, strict=True):
        total = sum(max(0, len(tokens) - n + 1) for tokens in tokens_by_text)
        if total:
            # `counts` omits n-grams that occur only once; codes in `grams` start from 0.
            n_unique = total - counts.sum()
            n_repeated = grams.max(initial=-1) + 1
            ratios.append((n_unique + n_repeated) / total)
        else:
            unused_sizes.append(n)
    if unused_sizes:
        longest = max(map(len, tokens_by_text))
        lengths = ", ".join(map(str, unused_sizes))
        if not ratios:
            raise ValueError(
                f"NgramDiversity with `sizes` {lengths} requires a text of at least "
                f"{min(unused_sizes)} tokens, but the longest text has {longest}; pass smaller "
                f"`sizes`"
            )
        sample_set.notes.append(
            f"NgramDiversity ignores n-grams of {lengths} tokens, because the longest text has "
            f"{longest}."
        )
    return float(np.mean(ratios))


@contextmanager
def _reindex_sample_errors(sample_set: SampleSet) -> Iterator[None]:
    """Reindex SampleErrors that are raised in the context.

    Their indices count only the retained samples of `sample_set`; they are replaced by indices into
    all samples passed by the caller, including dropped samples and other groups.
    """
    try:
        yield
    except SampleError as error:
        raise error.reindexed(sample_set.retained_indices) from error.__cause__


def _tokenize(sample_set: SampleSet) -> list[Tokens]:
    """Split each text into tokens, which are words or characters.

    If the kernel "ngram_overlap" compares the texts, its options `tokenizer` and `analyzer` apply.
    Otherwise the choice between words and characters depends on the texts of all groups together,
    so it is the same for all groups.
    """
    spec = sample_set.spec
    parent = sample_set.parent
    options: Record = {}
    if spec.k is None or (isinstance(spec.k, Kernel) and spec.k.name == TEXT_KERNEL):
        options = {name: value for name, value in spec.options.items() if name in _TOKEN_OPTIONS}
    if options.get("tokenizer") is None and options.get("analyzer", "auto") == "auto":
        # The analyzer is not set, so it is fitted to the texts.
        if parent.has_similarities and "analyzer" in parent.similarity.settings:
            options["analyzer"] = parent.similarity.settings["analyzer"]
        else:  # fitted once to the texts of all groups, and stored in the settings
            analyzer = parent.settings.get("analyzer") or fit_analyzer(parent.texts)["analyzer"]
            options["analyzer"] = str(analyzer)
    parent.settings |= options  # reported in the signature of the result
    return tokenize_texts(sample_set.texts, **options)


@_register(
    "SelfBLEU",
    range="[0, 1]",
    direction="lower",
    source="Zhu et al., SIGIR 2018 (Texygen), by sacrebleu (Post, WMT 2018)",
    kernel_options={"bleu": tuple(_BLEU_DEFAULTS)},
)
def self_bleu(sample_set: SampleSet) -> float:
    """The mean sentence BLEU of each text with all other texts as references, from 0 to 1.

    It is sacrebleu's `sentence_score` with effective order, divided by 100. If the kernel "bleu"
    compares the texts, its options apply, otherwise ``tokenize="13a"``, ``smooth="exp"``,
    ``max_order=4`` and ``lowercase=False``. (Texygen uses the tokens of NLTK.) The value increases
    with the number of texts, so compare sets of equal size. Time and memory are O(total length).
    """
    spec = sample_set.spec
    options = dict(_BLEU_DEFAULTS)
    if isinstance(spec.k, Kernel) and spec.k.name == "bleu":
        options |= {name: spec.options[name] for name in options if name in spec.options}
    sample_set.parent.settings |= options  # reported in the signature of the result
    texts = sample_set.texts
    if len(texts) < 2:
        raise ValueError(
            f"SelfBLEU requires at least 2 texts, got {len(texts)}; pass more texts, or remove "
            f"'SelfBLEU' from `measures`"
        )
    tokenize, compute_bleu = build_sentence_bleu(**options, caller="measure 'SelfBLEU'")
    compute_bleu = cache(compute_bleu)  # many texts have the same counts and lengths
    with _reindex_sample_errors(sample_set):
        tokens_by_text = split_into_tokens(texts, tokenize)
    n = len(tokens_by_text)
    lengths = np.array([len(tokens) for tokens in tokens_by_text])
    orders = range(1, options["max_order"] + 1)
    matches = [_count_matches(*ngrams, n) for ngrams in count_ngrams(tokens_by_text, orders)]
    # The length of the reference is that of the other text nearest in length, as in BLEU.
    rows = np.column_stack([lengths, _find_nearest_lengths(lengths), *matches]).tolist()
    scores = [
        compute_bleu(tuple(text_matches), length, nearest_length)
        for length, nearest_length, *text_matches in rows
    ]
    return float(np.mean(scores))


def _count_matches(texts: np.ndarray, grams: np.ndarray, counts: np.ndarray, n: int) -> np.ndarray:
    """Count, for each of n texts, the n-grams of one length that match another text, shape (n,).

    Each n-gram of a text contributes its count in the text, or its largest count in another text if
    that is smaller. The arrays `texts`, `grams` and `counts` have an entry for each text and each
    of its n-grams that occurs more than once in all texts: the index of the text, the integer that
    identifies the n-gram, and its count in the text.
    """
    if not len(grams):
        return np.zeros(n, dtype=int)
    order = np.lexsort((-counts, grams))  # by n-gram, largest count first
    grams = grams[order]
    texts = texts[order]
    counts = counts[order]
    # For each n-gram, the position of its largest count; the second-largest count follows, if any.
    first = np.flatnonzero(np.diff(grams, prepend=-1))
    has_second = np.diff(first, append=len(grams)) > 1
    second_counts = np.zeros(len(first), dtype=int)
    second_counts[has_second] = counts[first[has_second] + 1]
    other_counts = counts[first][grams]  # integers of n-grams are consecutive, from 0
    # For the text with the largest count itself, the largest count in another text is the second.
    other_counts[first] = second_counts
    return np.bincount(texts, np.minimum(counts, other_counts), n).astype(int)


def _find_nearest_lengths(lengths: np.ndarray) -> np.ndarray:
    """Find, for each text, the nearest length of another text; the smaller one in a tie."""
    order = np.argsort(lengths, kind="stable")
    # The shortest and the longest text have only one neighbour.
    padded = np.r_[-np.inf, lengths[order], np.inf]
    shorter = padded[:-2]
    ascending = padded[1:-1]
    longer = padded[2:]
    nearest = np.empty_like(lengths)
    nearest[order] = np.where(ascending - shorter <= longer - ascending, shorter, longer)
    return nearest


@_register(
    "CompressionRatio",
    range="[0, ∞)",
    direction="lower",
    source="Shaib et al., arXiv 2403.00553",
)
def compression_ratio(sample_set: SampleSet) -> float:
    """The size of all texts divided by their size after gzip compression; higher if texts repeat.

    Texts are joined by spaces in their order, encoded as UTF-8, and compressed at level 9. The
    value increases with the amount of text, and only repetitions within 32 kB are detected. So
    compare sets of equal size, in a fixed order.
    """
    texts = sample_set.texts
    empty = [i for i, text in enumerate(texts) if not text or text.isspace()]
    with _reindex_sample_errors(sample_set):
        SampleError.check({i: f"is empty: {short_repr(texts[i])}; remove it" for i in empty})
    # "surrogatepass" also encodes lone surrogates, for which UTF-8 would raise an error.
    data = " ".join(texts).encode("utf-8", "surrogatepass")
    return len(data) / len(gzip.compress(data, mtime=0))
