"""Functions of `vendi_score.text_utils`, with the same names and signatures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..encoders import encoder, treebank
from ..scoring.scores import score, score_X
from ..support.optional import require
from ..support.types import Device, Record
from . import raise_missing_name as __getattr__  # noqa: F401

Tokenizer = Callable[[str], Sequence[str]]
_SIMCSE = "princeton-nlp/unsup-simcse-roberta-base"


def get_ngrams(
    sents: Sequence[str],
    n: int | tuple[int, int] = 1,
    tokenizer: Tokenizer | None = None,
    return_vectorizer: bool = False,
    lowercase: bool = False,
    **kwargs: object,
) -> Any:
    """Return sparse n-gram counts, one row per text; `kwargs` are passed to CountVectorizer.

    `n` is a length, or a tuple of the shortest and the longest length. `tokenizer` splits a text
    into words, by default as NLTK's `NLTKWordTokenizer`. With `return_vectorizer`, the result is a
    tuple of the counts and the CountVectorizer of scikit-learn.
    """
    vectorizer = require("sklearn.feature_extraction.text", "compat", "get_ngrams").CountVectorizer(
        tokenizer=tokenizer or treebank.tokenize,
        token_pattern=None,
        ngram_range=n if isinstance(n, tuple) else (n, n),
        lowercase=lowercase,
        **kwargs,
    )
    X = vectorizer.fit_transform(sents)
    return (X, vectorizer) if return_vectorizer else X


def get_embeddings(
    sents: Sequence[str],
    model: object = None,
    tokenizer: object = None,
    batch_size: int = 16,
    device: Device = "cpu",
    model_path: str = _SIMCSE,
) -> np.ndarray:
    """Return the pooler output of a transformers model for each text, as a row.

    For a model without a pooler, it is the output for the first token of the text. If `model` is
    None, the model is loaded from `model_path`. `device` is used only in this case.
    """
    options: Record = {"pooling": "pooler", "batch_size": batch_size}
    if model is None:
        return encoder(model_path, device=device, **options).encode(sents)
    if getattr(model, "pooler", None) is None:
        options["pooling"] = "cls"
    return encoder(model=model, tokenizer=tokenizer, **options).encode(sents)


def single_ngram_diversity(
    sents: Sequence[str], n: int, tokenizer: Tokenizer | None = None, **kwargs: Any
) -> float:
    """Return the number of distinct n-grams divided by the number of all n-grams, for one length n.

    n-grams are counted in all texts together. `kwargs` are arguments of `get_ngrams`.
    """
    X = get_ngrams(sents, n=n, tokenizer=tokenizer, **kwargs)
    return float(X.shape[-1] / X.sum())


def ngram_diversity(
    sents: Sequence[str],
    ns: Sequence[int] = (1, 2, 3, 4),
    tokenizer: Tokenizer | None = None,
    **kwargs: object,
) -> float:
    """Return the mean of `single_ngram_diversity` over the lengths `ns`.

    For each length n, that is the number of distinct n-grams divided by the number of all n-grams.
    `kwargs` are arguments of `get_ngrams`.
    """
    return float(np.mean([single_ngram_diversity(sents, n, tokenizer, **kwargs) for n in ns]))


def bleu(hyps: Sequence[Any], refs: Sequence[Any], tokenizer: Tokenizer | None = None) -> float:
    """Return the mean over hypotheses of the sentence BLEU (NLTK) with all references.

    `hyps` and `refs` are lists of texts, or lists of lists of tokens. `tokenizer` splits a text
    into tokens.
    """
    if isinstance(hyps[0], str):
        split = tokenizer or treebank.tokenize
        hyps, refs = list(map(split, hyps)), list(map(split, refs))
    return _compute_mean_bleu((hyp, refs) for hyp in hyps)


def self_bleu(sents: Sequence[str], tokenizer: Tokenizer) -> float:
    """Return the mean over texts of the sentence BLEU with all other texts as references."""
    tokens = list(map(tokenizer, sents))
    return _compute_mean_bleu((hyp, tokens[:i] + tokens[i + 1 :]) for i, hyp in enumerate(tokens))


def pairwise_bleu(sents: Sequence[str], tokenizer: Tokenizer) -> float:
    """Return the mean sentence BLEU over all ordered pairs: a text and another one as reference."""
    tokens = list(map(tokenizer, sents))
    return _compute_mean_bleu(
        (hyp, [ref]) for i, hyp in enumerate(tokens) for j, ref in enumerate(tokens) if i != j
    )


def ngram_vendi_score(
    sents: Sequence[str], ns: Sequence[int] = (1, 2, 3, 4), tokenizer: Tokenizer | None = None
) -> float:
    """Return the Vendi Score of texts, compared by the cosine similarity of their n-gram counts.

    The similarity of two texts is the mean of their cosine similarities for n-grams of each of the
    lengths `ns`.
    """
    return float(score(sents, "ngram_overlap", ns=ns, tokenizer=tokenizer))


def embedding_vendi_score(
    sents: Sequence[str],
    model: object = None,
    tokenizer: object = None,
    batch_size: int = 16,
    device: Device = "cpu",
    model_path: str = _SIMCSE,
) -> float:
    """Return the Vendi Score of texts, compared by the cosine similarity of their embeddings.

    `get_embeddings` computes the embeddings with the same arguments.
    """
    X = get_embeddings(sents, model, tokenizer, batch_size, device, model_path)
    return float(score_X(X))


def _compute_mean_bleu(pairs: Iterable[tuple[object, object]]) -> float:
    """Return the mean sentence BLEU (NLTK) over pairs of a hypothesis and a list of references.

    A hypothesis and a reference are lists of tokens.
    """
    bleu_score = require("nltk.translate.bleu_score", "compat", "BLEU as computed by vendi_score")
    smooth = bleu_score.SmoothingFunction().method1
    scores = [bleu_score.sentence_bleu(refs, hyp, smoothing_function=smooth) for hyp, refs in pairs]
    return float(np.mean(scores))
