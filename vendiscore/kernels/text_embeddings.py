"""Texts by the cosine of their embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..encode import check_batch_size, embed, external, is_network, no_effect
from ..errors import SampleError
from ..networks import (
    Pooling,
    check_pooling,
    describe,
    evaluating,
    load_pretrained,
    pick_device,
    pick_dtype,
    pool,
)
from ..packages import require
from ..registry import register_kernel
from ..similarity import FeatureSimilarity, Similarity

# What the reference implementation embeds with; trained so that its pooled output is the embedding.
MODEL_PATH = "princeton-nlp/unsup-simcse-roberta-base"


@register_kernel(
    "text_embeddings",
    samples="text",
    needs="text",
    source="Friedman & Dieng, arXiv 2210.02410, §4.5; SimCSE: Gao et al., arXiv 2104.08821",
)
def text_embeddings(
    texts: Sequence[str],
    model_path: str | Path = MODEL_PATH,
    model: Any = None,
    tokenizer: Any = None,
    pooling: Pooling = "pooler",
    batch_size: int = 64,
    max_length: int | None = None,
    device: Any = None,
    half: bool | None = None,
    revision: str | None = None,
) -> Similarity:
    """The cosine of the embeddings of two texts.

    Parameters
    ----------
    texts : sequence of str
        The empty string is a text like another, as long as the model has tokens for it.
    model_path : str or Path
        Hub id or local folder of a transformers model and its tokenizer.
    model : object, optional
        Instead of `model_path`: an object with `.encode(list of str)` (sentence-transformers,
        model2vec, a wrapper of a web API), a function of such a list that returns an (n, d)
        array, or, with `tokenizer`, a transformers model. It must embed each text by itself,
        whatever else is in the list. Evaluated without dropout and gradients, left as it was.
    tokenizer : transformers tokenizer, optional
        The one of a transformers `model`.
    pooling : {"pooler", "cls", "mean"}
        The model's own pooled output, its first token, or the mean of its tokens. For a
        sentence-transformers model loaded by path it is most often "mean" (see its card).
    batch_size : int
    max_length : int, optional
        Texts are cut to so many tokens; by default to what the model takes. How many (distinct)
        texts were cut is reported as `truncated`.
    device : str or torch.device, optional
        A GPU if there is one, otherwise the CPU; a `model` stays where it is unless given.
    half : bool, optional
        Half precision. By default on a GPU, for a model loaded here; False asks for single.
    revision : str, optional
        Branch, tag or commit on the Hub.

    Returns
    -------
    Similarity
        With float32 features (n, d); `settings` has model, revision, dims, dtype, truncated.

    Raises
    ------
    SampleError
        If a text is no str or has no tokens, or its embedding is zero or not finite.
    MissingPackageError
        Without torch and transformers (extra `text`), unless `model` needs neither.
    TypeError, ValueError
        For a model that returns no such array, has no such pooling, or lacks trained weights.

    Notes
    -----
    Time is that of the model; texts of similar length share a batch, only a batch at a time is
    on the device, and nothing is cached. Memory n·d numbers.
    """
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise SampleError(i, f"must be a str, got {type(text).__name__}: {text!r:.40}")
    check_pooling(pooling)
    check_batch_size(batch_size)
    lengths = [len(text) for text in texts]
    if model is not None:
        no_effect({"model_path": model_path != MODEL_PATH, "revision": revision}, "model=…")
        if tokenizer is None:
            return _external(texts, lengths, model, batch_size, pooling, max_length, device, half)
        no_effect({"half": half is not None}, "model=…, which has its own precision")
        if not (is_network(model) and hasattr(model, "config")):
            raise TypeError(
                f"`tokenizer` goes with a transformers `model`, got {type(model).__name__}; leave "
                f"it out if the model encodes by itself"
            )
        place = None if device is None else pick_device(device, "text")
    else:
        no_effect({"tokenizer": tokenizer is not None}, "model_path=…, which has its own")
        place = pick_device(device, "text")
        model = load_pretrained(
            model_path, pooling, extra="text", revision=revision, dtype=pick_dtype(half, place)
        )
        tokenizer = _load_tokenizer(model_path, revision)
    limit = _limit(model, tokenizer, max_length)
    with evaluating(model, place) as (where, dtype):
        encode = _Transformer(model, tokenizer, pooling, limit, where)
        X = embed(texts, encode, batch_size=batch_size, lengths=lengths, what="texts")
    settings = {
        **describe(model),
        "tokenizer": type(tokenizer).__name__,
        "pooling": pooling,
        "max_length": limit,
        "truncated": encode.truncated,
        "dims": X.shape[1],
        "device": where.type,
        "half": dtype.itemsize == 2,
    }
    return FeatureSimilarity(X, settings).normalized()


def _external(
    texts: Sequence[str],
    lengths: Sequence[int],
    model: Any,
    batch_size: int,
    pooling: Pooling,
    max_length: int | None,
    device: Any,
    half: bool | None,
) -> Similarity:
    encode = external(model)
    if encode is None:
        raise TypeError(
            f"`tokenizer` is missing: `model` is a torch network ({type(model).__name__}) without "
            f"a method encode(list of str); pass the tokenizer that goes with it"
        )
    no_effect(
        {
            "pooling": pooling != "pooler",
            "max_length": max_length is not None,
            "device": device is not None,
            "half": half is not None,
        },
        "a model that encodes by itself",
    )
    X = embed(texts, encode, batch_size=batch_size, lengths=lengths, what="texts")
    name = getattr(model, "__qualname__", type(model).__qualname__)
    idle = dict.fromkeys(("model_path", "pooling"))
    return FeatureSimilarity(X, {**idle, "model": name, "dims": X.shape[1]}).normalized()


class _Transformer:
    """Tokenizer, network and pooling as one encoder that counts the texts it cuts."""

    def __init__(
        self, model: Any, tokenizer: Any, pooling: Pooling, limit: int | None, device: Any
    ) -> None:
        self.model, self.tokenizer, self.pooling = model, tokenizer, pooling
        self.limit, self.device, self.truncated = limit, device, 0
        if getattr(model.config, "is_encoder_decoder", False):
            self.forward = model.get_encoder()
        else:
            self.forward = getattr(model, "get_text_features", model)

    def __call__(self, texts: list[str]) -> Any:
        inputs = self._tokenize(texts)
        lengths = inputs["attention_mask"].sum(dim=1)
        if self.limit is not None and inputs["input_ids"].shape[1] > self.limit:
            self.truncated += int((lengths > self.limit).sum())
            inputs = self._tokenize(texts, truncation=True, max_length=self.limit)
        if not bool(lengths.all()):
            i = int(lengths.argmin())
            raise SampleError(i, f"has no tokens: {texts[i]!r:.40}; remove empty texts")
        output = self.forward(**inputs.to(self.device))
        return pool(output, self.pooling, inputs["attention_mask"])

    def _tokenize(self, texts: list[str], **options: Any) -> Any:
        # Padding goes to the right, so that the first token is where pooling looks for it.
        return self.tokenizer(
            texts, padding=True, padding_side="right", return_tensors="pt", verbose=False, **options
        )


def _load_tokenizer(model_path: str | Path, revision: str | None) -> Any:
    transformers = require("transformers", "text", "kernel 'text_embeddings'")
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_path, revision=revision)
    if tokenizer.pad_token is None:  # masked, so any token does
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def _limit(model: Any, tokenizer: Any, max_length: int | None) -> int | None:
    """The number of tokens to cut at: `max_length`, or what tokenizer and positions allow."""
    positions = getattr(model.config, "max_position_embeddings", None)
    for name, module in model.named_modules():
        # RoBERTa and its kin count positions from behind the padding index.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            positions = module.num_embeddings - module.padding_idx - 1
    if max_length is None:
        bounds = [tokenizer.model_max_length, positions]
        # Tokenizers without a limit of their own say 10³⁰.
        known = [bound for bound in bounds if bound is not None and bound < 1 << 24]
        return min(known, default=None)
    if not isinstance(max_length, int) or max_length < 1:
        raise ValueError(f"`max_length` must be an integer of at least 1, got {max_length!r}")
    if positions is not None and max_length > positions:
        raise ValueError(f"`max_length` must be at most {positions} here, got {max_length}")
    return max_length
